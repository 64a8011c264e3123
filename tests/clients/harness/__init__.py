"""What the suites stand on: scratch worlds, a raw-line client, a recorder of the wire, and the list of cases."""
