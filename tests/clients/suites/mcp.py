"""The MCP server, driven by clients that we did not write: the Inspector's CLI, the Python SDK, FastMCP, and a scanner that
looks for poisoned descriptions. Each calls every tool.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path

from harness.cases import PATIENCE, Failed, case, check, equal, walk
from harness.world import CLIENTS, World
from suites.foreign import walked

sys.path.insert(0, str(CLIENTS / "walks"))
import mcp_steps  # noqa: E402

INSPECTOR = "inspector-2.12.0"
SCANNER = "mcp-scanner-4.8.7/bin/mcp-scanner"


def run(world: World, *command, expected: int = 0) -> subprocess.CompletedProcess:
    """Runs somebody else's program in a world to its end."""
    # The last one keeps a library of the scanner from asking the network for prices.
    env = world.env | {"NO_COLOR": "1", "HYPHAE_LOG": "warn", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    try:
        done = subprocess.run(
            [str(part) for part in command], env=env, cwd=world.project, capture_output=True, text=True,
            timeout=4 * PATIENCE, stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{command[0]} did not end: {late.stdout} {late.stderr}") from late
    equal(done.returncode, expected, f"exit code of {' '.join(map(str, command[-6:]))}: {done.stdout[-800:]} {done.stderr[-800:]}")
    return done


def server(world: World) -> Path:
    """A command that starts the server as this world's person: clients hand on little of their environment."""
    command = world.root / "server"
    if not command.exists():
        env = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in world.env.items())
        command.write_text(f'#!/bin/sh\n{env}export HYPHAE_LOG=warn\nexec {shlex.quote(str(world.binary))} mcp-stdio\n')
        command.chmod(0o755)
    return command


def drive(mark: str, call) -> None:
    """Goes through all steps; `call(tool, arguments, code)` returns the structured result, or the text of a failure."""
    equal(mcp_steps.tools_called(), set(mcp_steps.TOOLS), "the tools that are called")
    steps = mcp_steps.steps(mark)
    step = next(steps)
    while True:
        tool, arguments, *code = step
        try:
            step = steps.send(call(tool, arguments, code[0] if code else None))
        except StopIteration:
            return
        except AssertionError as wrong:
            raise Failed(f"after {tool} {arguments}: {wrong}") from wrong


def node_of(tools: Path) -> Path:
    """The Inspector needs a newer Node than the image may have; it came with it."""
    found = sorted((tools / INSPECTOR / "node_modules").glob("node-*/bin/node"))
    return found[0] if found else Path("node")


def inspect(world: World, *arguments, expected: int = 0) -> subprocess.CompletedProcess:
    cli = world.tools / INSPECTOR / "node_modules/.bin/mcp-inspector"
    return run(world, node_of(world.tools), cli, "--cli", server(world), *arguments, expected=expected)


@case("mcp/inspector/list-strict")
def _(world: World):
    done = inspect(world, "--method", "tools/list", "--strict")
    check("arning" not in done.stderr, done.stderr)
    names = [tool["name"] for tool in json.loads(done.stdout)["tools"]]
    equal(tuple(names), mcp_steps.TOOLS, "the tools")
    for method in ("prompts/list", "resources/list", "resources/templates/list"):
        check(json.loads(inspect(world, "--method", method).stdout), method)


@case("mcp/inspector/negotiates-each-era")
def _(world: World):
    for era, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("modern", "2026-07-28")):
        done = inspect(world, "--protocol-era", era, "--method", "initialize")
        check(version in done.stdout, f"{era}: {done.stdout}")


for era in ("legacy", "modern"):

    @case(f"mcp/inspector/every-tool-{era}", slow=True)
    def _(world: World, era=era):
        def call(tool, arguments, code):
            done = inspect(
                world, "--protocol-era", era, "--method", "tools/call", "--tool-name", tool,
                "--tool-args-json", json.dumps(arguments), "--format", "json", "-q", expected=5 if code else 0,
            )
            check("unknown format" not in done.stderr, done.stderr)
            result = json.loads(done.stdout)["result"]
            if code:
                text = result["content"][0]["text"]
                check(f"code: {code}" in text, text)
                return text
            return result["structuredContent"]

        drive(f"inspector {era}", call)


@case("mcp/fastmcp/lists-every-tool", slow=True)
def _(world: World):
    listed = run(world, world.tools / "fastmcp-4.2.3/bin/fastmcp", "list", "--command", server(world), "--input-schema")
    for tool in mcp_steps.TOOLS:
        check(f"{tool}(" in listed.stdout, f"{tool} is not listed: {listed.stdout}")


@case("mcp/scanner/finds-nothing", slow=True)
def _(world: World):
    done = run(
        world, world.tools / SCANNER, "--analyzers", "yara", "--format", "raw",
        "stdio", "--stdio-command", server(world),
    )
    results = json.loads(done.stdout[done.stdout.index("{") :])["scan_results"]
    equal({result["tool_name"] for result in results}, set(mcp_steps.TOOLS), "the tools that were looked at")
    for result in results:
        check(result["is_safe"], f"{result['tool_name']}: {result['findings']}")


for name in ("mcp-py-2.3.0", "fastmcp-4.2.3"):

    @walk(f"mcp/{name}")
    def _(world: World, name=name):
        script = "mcp_python.py" if name.startswith("mcp-py") else "mcp_fastmcp.py"
        python = world.tools / name / "bin/python"
        yield from walked([python, CLIENTS / "walks" / script, server(world), world.project], world.env, world)
