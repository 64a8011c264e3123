"""Holds every recorded conversation against the JSON Schema that the TypeScript SDK ships.

Runs `validate.py` with the interpreter that has `jsonschema`, once over all captures, and turns its findings into one
result for each group of cases.
"""

import json
import subprocess
import time
from pathlib import Path

SCHEMA = "acp-ts-2.4.0/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"


def validate(captures: Path, tools: Path):
    """Yields (name, trouble, seconds) for each group of cases that left a capture."""
    start = time.monotonic()
    done = subprocess.run(
        [tools / "acp-py-0.12.1/bin/python", Path(__file__).with_name("validate.py"), tools / SCHEMA, captures],
        capture_output=True, text=True, timeout=300,
    )
    if done.returncode != 0:
        yield "wire-captures", f"the validator failed: {done.stderr}", time.monotonic() - start
        return
    for group, found in json.loads(done.stdout).items():
        problems = found["problems"]
        trouble = None
        if problems:
            trouble = f"{len(problems)} problems in {found['messages']} messages\n" + "\n".join(problems[:10])
        elif not found["messages"]:
            trouble = "nothing that the agent sent was recorded"
        yield f"wire-captures/{group} ({found['messages']} messages)", trouble, time.monotonic() - start
        start = time.monotonic()
