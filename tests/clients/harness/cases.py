"""The list of cases, and the checks that read well in them.

A suite is a module that registers functions with `@case("group/name")`; each gets a fresh `World`. A walk through
someone else's client is one process with many results, so `@walk(...)` registers a function that yields
`(name, trouble)` pairs, where `trouble` is None for a case that passed.
"""

import dataclasses
import os
import time
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Case:
    """One registered function; `walk` says whether it yields results of its own."""

    name: str
    run: Callable
    walk: bool
    slow: bool


CASES: list[Case] = []

# Deadlines are for hanging, not for speed: a busy machine or an unoptimised binary may need more.
PATIENCE = float(os.environ.get("HYPHAE_PATIENCE", "20"))


def _register(name: str, *, is_walk: bool, slow: bool, supervised: bool):
    def keep(run):
        def run_supervised(world):
            world.supervise()
            return run(world)

        runs = {name: run} | ({f"supervised/{name}": run_supervised} if supervised else {})
        for called, each in runs.items():
            if any(known.name == called for known in CASES):
                raise ValueError(f"two cases are called {called}")
            CASES.append(Case(called, each, is_walk, slow))
        return run

    return keep


def case(name: str, *, slow: bool = False, supervised: bool = False):
    """Registers one case. `slow` cases are started first, so that they do not trail behind the others. With
    `supervised` it is run once more with the console under `hyphae-server acp`."""
    return _register(name, is_walk=False, slow=slow, supervised=supervised)


def walk(name: str, *, supervised: bool = False):
    """Registers a walk: a generator of (name, trouble)."""
    return _register(name, is_walk=True, slow=True, supervised=supervised)


class Failed(AssertionError):
    """What a case found wrong."""


def check(condition, what: str) -> None:
    if not condition:
        raise Failed(what)


def equal(got, want, what: str) -> None:
    if got != want:
        raise Failed(f"{what}: got {shorten(got)}, wanted {shorten(want)}")


def shorten(value, limit: int = 400) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def wait_until(condition, what: str, patience: float | None = None):
    """Polls until `condition()` is truthy and returns it; fails at the deadline."""
    deadline = time.monotonic() + (patience or PATIENCE)
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failed(f"waited in vain for {what}")
        time.sleep(0.02)
