"""The suites; each module registers its cases when it is imported."""
