"""Walks with clients that we did not write: the Python SDK in two versions, the TypeScript SDK, and acp-client.

Each walk is a script of ours on their library, run as a process; it starts the agent itself, through the tap.
"""

import json
import subprocess

from harness.cases import PATIENCE, Failed, walk
from harness.world import CLIENTS, World

TYPESCRIPT = "acp-ts-2.4.0/node_modules/@agentclientprotocol/sdk"
WALKS = {
    "python-sdk-0.12.1": ["{tools}/acp-py-0.12.1/bin/python", "{walks}/python_sdk.py"],
    "python-sdk-1.0.0rc3": ["{tools}/acp-py-1.0.0rc3/bin/python", "{walks}/python_sdk.py"],
    "typescript-sdk-2.4.0": ["node", "{walks}/typescript_sdk.mjs", "{tools}/" + TYPESCRIPT],
    "acp-client-0.1.0": ["{tools}/acp-py-0.12.1/bin/python", "{walks}/acp_client_walk.py"],
}


def walked(command: list, env: dict, world: World):
    """Runs a walk and passes on what it prints; a walk that stops half-way has failed."""
    try:
        done = subprocess.run(
            [str(part) for part in command], env=env, cwd=world.project, capture_output=True, text=True,
            timeout=4 * PATIENCE, stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"the walk did not end; it had printed {late.stdout}") from late
    count, finished = 0, None
    for line in done.stdout.splitlines():
        result = json.loads(line)
        if "done" in result:
            finished = result["done"]
        else:
            count += 1
            yield result["case"], result["trouble"]
    if finished != count or done.returncode != 0:
        raise Failed(f"the walk broke off after {count} cases (exit {done.returncode}): {done.stderr[-1500:]}")


def results(world: World, command: list[str]):
    """Walks through the console with what a foreign client started."""
    agent, env = world.tapped()
    places = {"tools": world.tools, "walks": CLIENTS / "walks"}
    command = [part.format(**places) for part in command]
    yield from walked([*command, agent, world.project], env, world)
    world.check_connections()
    yield "its-agents-ended-with-code-0-and-kept-their-secrets", None


for name, command in WALKS.items():

    @walk(name, supervised=True)
    def _(world: World, command=command):
        yield from results(world, command)
