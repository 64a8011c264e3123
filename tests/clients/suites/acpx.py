"""acpx, the headless client: one-shot prompts, named sessions, cancel, resume after its agent has gone, its lists.

Each named session has a process of acpx that keeps the agent for `--ttl` seconds. The cases use short ones, and a world
ends whatever is left of them.
"""

import json
import subprocess

from harness.cases import PATIENCE, Failed, case, check, equal, wait_until
from harness.world import Connection, World

TOOL = "acpx-0.19.1/node_modules/.bin/acpx"
STORE = "/store --type Decision --salience 0.9 We ship Postgres for V1"


class Acpx:
    """acpx in one world, with the tapped agent as its command."""

    def __init__(self, world: World):
        self.world = world
        self.agent, self.env = world.tapped()

    def run(self, *arguments: str, stdin: str | None = None, code: int = 0, agent=True, env: dict | None = None) -> str:
        """Runs acpx to its end and returns its stdout."""
        command = [str(self.world.tools / TOOL), *(["--agent", str(self.agent)] if agent else []), *arguments]
        try:
            done = subprocess.run(
                command, env=self.env | (env or {}), cwd=self.world.project, capture_output=True, text=True,
                timeout=2 * PATIENCE, **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
            )
        except subprocess.TimeoutExpired as late:
            raise Failed(f"acpx {' '.join(arguments)} did not end; it had printed {late.stdout}") from late
        check(done.returncode == code, f"acpx {' '.join(arguments)}: exit {done.returncode}, {done.stdout} {done.stderr}")
        return done.stdout

    def quiet(self, *arguments: str, **more) -> str:
        return self.run("--format", "quiet", *arguments, **more).strip()

    def lines(self, *arguments: str) -> list[dict]:
        """The JSON-RPC stream that acpx prints in its JSON format."""
        return [json.loads(line) for line in self.run("--format", "json", "--json-strict", *arguments).splitlines()]

    def requests(self, method: str) -> list[dict]:
        """The parameters of all requests of this method so far, over all connections."""
        return [
            m.get("params", {}) for c in self.world.connections() for m in c.from_client if m.get("method") == method
        ]

    def latest(self) -> Connection:
        return self.world.connections()[-1]


@case("acpx/exec/quiet-stores-and-plain-text-recalls", slow=True)
def _(world: World):
    acpx = Acpx(world)
    stored = acpx.quiet("exec", STORE)
    check(stored.startswith("stored "), stored)
    id = stored.removeprefix("stored ")
    match = f"{id} distance=0.0000 type=Decision\nWe ship Postgres for V1"
    equal(acpx.quiet("exec", "We ship Postgres for V1"), match, "the identical text")
    check(acpx.quiet("exec", "what do we ship").startswith(f"{id} distance="), "a question about it")
    equal(acpx.quiet("exec", "/query --layer L2 anything"), "no results", "an empty layer")
    world.check_connections()


@case("acpx/exec/json-strict-prints-the-whole-conversation", slow=True)
def _(world: World):
    acpx = Acpx(world)
    lines = acpx.lines("exec", STORE)
    check(all(line.get("jsonrpc") == "2.0" for line in lines), f"{lines}")
    check(any(line.get("result", {}).get("stopReason") == "end_turn" for line in lines), f"{lines}")
    said = [line["params"]["update"]["content"]["text"] for line in lines
            if line.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"]
    check(len(said) == 1 and said[0].startswith("stored "), f"{said}")
    world.check_connections()


@case("acpx/exec/text-format-ends-with-done")
def _(world: World):
    out = Acpx(world).run("exec", "/help")
    check("/store" in out and "[done] end_turn" in out, out)


@case("acpx/exec/mistakes-are-answers-and-end-normally", slow=True)
def _(world: World):
    acpx = Acpx(world)
    equal(acpx.quiet("exec", "/recal gossip"), 'error: unknown command "/recal"; try /help', "a typo")
    check("/store" in acpx.quiet("exec", "/store"), "the usage")
    check("--layer" in acpx.quiet("exec", "/query --LAYER L1 x"), "the nearest flag")


@case("acpx/exec/prompt-from-stdin-and-from-a-file", slow=True)
def _(world: World):
    acpx = Acpx(world)
    check(acpx.quiet("exec", "-f", "-", stdin="/store from stdin,\nin two lines").startswith("stored "), "stdin")
    equal(acpx.quiet("exec", "/recall --k 1 from stdin, in two lines").split("\n", 1)[1], "from stdin,\nin two lines", "content")
    (world.root / "prompt.txt").write_text("/recal from a file")
    check("unknown command" in acpx.quiet("exec", "-f", str(world.root / "prompt.txt")), "a file")


@case("acpx/exec/without-fs-and-terminal")
def _(world: World):
    acpx = Acpx(world)
    check("/store" in acpx.quiet("--no-fs", "--no-terminal", "exec", "/help"), "the answer")
    can = acpx.requests("initialize")[0]["clientCapabilities"]
    equal((can["fs"], can["terminal"]), ({"readTextFile": False, "writeTextFile": False}, False), "what acpx offered")


@case("acpx/exec/mcp-servers-are-passed-and-dropped")
def _(world: World):
    acpx = Acpx(world)
    token = world.secret("token")
    mark = world.root / "was-run"
    server = {"name": "runner", "command": "/bin/sh", "args": ["-c", f"touch {mark}"], "env": [{"name": "TOKEN", "value": token}]}
    (world.root / "mcp.json").write_text(json.dumps({"mcpServers": [server]}))
    check("/store" in acpx.quiet("--mcp-config", str(world.root / "mcp.json"), "exec", "/help"), "the answer")
    passed = acpx.requests("session/new")[0]["mcpServers"]
    equal([s["name"] for s in passed], ["runner"], "what acpx passed")
    check(not mark.exists(), "the server's command was run")
    world.check_connections()


@case("acpx/exec/approvals-are-never-asked-for", slow=True)
def _(world: World):
    acpx = Acpx(world)
    for policy in ("--approve-all", "--deny-all"):
        check(acpx.quiet(policy, "exec", "read notes.txt and run ls") == "no results", policy)
    asked = [m for c in world.connections() for m in c.from_agent if "method" in m and "id" in m]
    equal(asked, [], "requests of the agent")


CONFIGS = {"command": lambda agent: {"command": agent}, "command-and-args": lambda agent: {"command": agent, "args": []},
           "argv": lambda agent: {"argv": [agent]}}
for name, entry in CONFIGS.items():

    @case(f"acpx/config/agent-as-{name}")
    def _(world: World, entry=entry):
        acpx = Acpx(world)
        (world.home / ".acpx").mkdir()
        (world.home / ".acpx/config.json").write_text(json.dumps({"agents": {"hyphae": entry(str(acpx.agent))}}))
        check("/store" in acpx.quiet("hyphae", "exec", "/help", agent=False), "the answer")


@case("acpx/errors/a-bad-key-is-an-error-that-names-the-remedy")
def _(world: World):
    acpx = Acpx(world)
    acpx.run("exec", "/help", code=1, env={"HYPHAE_API_KEY": "hyk_" + "0" * 64})
    connection = acpx.latest()
    wait_until(lambda: acpx.latest().exit == "2", "exit code 2 of the agent")
    check("hyphae-server" in connection.log or "HYPHAE_API_KEY" in connection.log, f"the agent said: {connection.log}")


@case("acpx/errors/a-mode-that-does-not-exist-is-refused-and-the-session-lives-on", slow=True)
def _(world: World):
    acpx = Acpx(world)
    acpx.run("--ttl", "30", "sessions", "new", "--name", "s")
    acpx.run("--ttl", "30", "set-mode", "-s", "s", "code", code=1)
    check("/store" in acpx.quiet("--ttl", "30", "prompt", "-s", "s", "/help"), "a prompt after it")
    acpx.run("sessions", "close", "s")


@case("acpx/sessions/two-prompts-in-a-named-session-list-history-close", slow=True)
def _(world: World):
    acpx = Acpx(world)
    acpx.run("--ttl", "60", "sessions", "new", "--name", "s1")
    session = json.loads(acpx.run("--format", "json", "sessions", "show", "s1"))["acpSessionId"]
    stored = acpx.quiet("--ttl", "60", "prompt", "-s", "s1", STORE)
    check(stored.startswith("stored "), stored)
    found = acpx.quiet("--ttl", "60", "prompt", "-s", "s1", "we ship Postgres for V1")
    check(found.startswith(stored.removeprefix("stored ")), found)
    equal({p["sessionId"] for p in acpx.requests("session/prompt")}, {session}, "the session of both prompts")
    equal(len(acpx.requests("session/new")), 1, "new sessions")

    listed = json.loads(acpx.run("--format", "json", "sessions", "list"))
    equal(listed["source"], "agent", "where the list comes from")
    rows = {row["sessionId"]: row for row in listed["sessions"]}
    equal((rows[session]["title"], rows[session]["cwd"]), (STORE, str(world.project)), "the row")
    elsewhere = json.loads(acpx.run("--format", "json", "sessions", "--filter-cwd", str(world.home), "list"))
    equal(elsewhere["sessions"], [], "sessions of another folder")

    history = acpx.run("sessions", "history", "s1")
    for part in (STORE, stored, "we ship Postgres for V1", "type=Decision"):
        check(part in history, f"{part} is missing in {history}")
    acpx.run("sessions", "close", "s1")
    wait_until(lambda: not world.leftovers(), "acpx and its agents to end")
    equal([p["sessionId"] for p in acpx.requests("session/close")], [session], "session/close")
    world.check_connections()


@case("acpx/sessions/resume-after-its-ttl", slow=True)
def _(world: World):
    acpx = Acpx(world)
    acpx.run("--ttl", "1", "sessions", "new", "--name", "s")
    stored = acpx.quiet("--ttl", "1", "prompt", "-s", "s", STORE)
    wait_until(lambda: not world.leftovers(), "the agent to be let go")
    before = len(world.connections())
    found = acpx.quiet("--ttl", "1", "prompt", "-s", "s", "/recall --k 1 we ship Postgres for V1")
    check(found.startswith(stored.removeprefix("stored ")), found)
    again = world.connections()[before]
    equal([m for m in again.methods() if m.startswith("session/")], ["session/resume", "session/prompt"], "what acpx sent")
    equal(len({p["sessionId"] for p in acpx.requests("session/prompt")}), 1, "sessions that were prompted")
    equal(len(acpx.requests("session/new")), 1, "new sessions")
    wait_until(lambda: not world.leftovers(), "the agent to be let go again")
    world.check_connections()


@case("acpx/sessions/cancel-and-prompt-again", slow=True)
def _(world: World):
    acpx = Acpx(world)
    acpx.run("--ttl", "60", "sessions", "new", "--name", "s")
    acpx.quiet("--ttl", "60", "prompt", "-s", "s", "/help")
    check("cancel" in acpx.run("cancel", "-s", "s"), "an idle cancel")
    command = [str(world.tools / TOOL), "--agent", str(acpx.agent), "--ttl", "60", "prompt", "-s", "s", "/store in flight"]
    prompt = subprocess.Popen(
        command, env=acpx.env, cwd=world.project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    acpx.run("cancel", "-s", "s")
    out, _ = prompt.communicate(timeout=2 * PATIENCE)
    check("[done] cancelled" in out or "[done] end_turn" in out, f"exit {prompt.returncode}: {out}")
    check("/store" in acpx.quiet("--ttl", "60", "prompt", "-s", "s", "/help"), "the next prompt")
    acpx.run("sessions", "close", "s")
    wait_until(lambda: not world.leftovers(), "acpx and its agents to end")
    for connection in world.connections():
        prompts = [m["id"] for m in connection.from_client if m.get("method") == "session/prompt"]
        for id in prompts:
            equal(sum(m.get("id") == id and "method" not in m for m in connection.from_agent), 1, "answers to a prompt")
    world.check_connections()


@case("acpx/sessions/a-queue-of-prompts-is-answered-in-order", slow=True)
def _(world: World):
    acpx = Acpx(world)
    acpx.run("--ttl", "60", "sessions", "new", "--name", "s")
    for n in range(2):
        acpx.run("--ttl", "60", "prompt", "-s", "s", "--no-wait", f"/unknown{n}")
    acpx.quiet("--ttl", "60", "prompt", "-s", "s", "/unknown2")
    history = acpx.run("sessions", "history", "s")
    places = [history.find(f'unknown command "/unknown{n}"') for n in range(3)]
    check(-1 not in places and places == sorted(places), history)
    acpx.run("sessions", "close", "s")
