"""The 20 cases of the acpx conformance profile `acp-core-v1`, mirrored under their ids in our own words.

Four of them are about permissions. The console asks for none, whatever it is prompted to do, and a client's policy can
therefore not be broken: those four check just that. All of them are run once more with the console under the supervisor.
"""

import json

from harness.agent import Agent, prompt_params, texts
from harness.cases import case, check, equal
from harness.world import World

NAME = "acpx-profile/acp.v1"


def ready(agent: Agent) -> str:
    agent.initialize()
    return agent.new()


def cancel(session: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}).encode() + b"\n"


@case(f"{NAME}.initialize.handshake", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        answer = agent.initialize()
        equal(answer["protocolVersion"], 1, "the version")
        check(isinstance(answer["agentCapabilities"], dict), "capabilities")


@case(f"{NAME}.session.new.basic", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        check(isinstance(ready(agent), str), "a session id")


@case(f"{NAME}.session.prompt.single_turn", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        session = ready(agent)
        start = len(agent.lines)
        id = agent.prompt(session, "hello")
        equal(agent.result(id)["stopReason"], "end_turn", "the stop reason")
        check(texts(agent.turn(session, start, id)), "at least one update")


@case(f"{NAME}.session.update.termination", supervised=True)
def _(world: World):
    """Updates come, then the answer, then nothing: the last part is a rule of every conversation."""
    with Agent(world) as agent:
        session = ready(agent)
        check(len(agent.say(session, "/help")) >= 1, "updates before the answer")


@case(f"{NAME}.session.cancel.in_flight", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        session = ready(agent)
        agent.send_bytes(agent.message("session/prompt", prompt_params(session, "/store stay busy"), id="busy") + cancel(session))
        check(agent.result("busy")["stopReason"] in ("cancelled", "end_turn"), "the stop reason")


@case(f"{NAME}.session.cancel.idle", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        session = ready(agent)
        agent.send_bytes(cancel(session))
        agent.say(session, "/help")


@case(f"{NAME}.session.prompt.multi_turn", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        session = ready(agent)
        stored = agent.say(session, "/store the second turn knows the first")[0]
        check(stored.split()[1] in agent.say(session, "the second turn knows the first")[0], "what the first turn stored")


@case(f"{NAME}.errors.invalid_params", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        equal(agent.refusal("session/new", {"cwd": 42, "mcpServers": []})["code"], -32602, "the code")


@case(f"{NAME}.errors.invalid_prompt_session_type", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        ready(agent)
        for id in (42, None, {}, []):
            equal(agent.refusal("session/prompt", prompt_params(id, "hello"))["code"], -32602, f"the code for {id!r}")


@case(f"{NAME}.errors.invalid_params.cwd_null", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        equal(agent.refusal("session/new", {"cwd": None, "mcpServers": []})["code"], -32602, "the code")


@case(f"{NAME}.errors.unknown_session", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        equal(agent.refusal("session/prompt", prompt_params("unknown-session", "hello"))["code"], -32002, "the code")


@case(f"{NAME}.session.prompt.echo_empty", supervised=True)
def _(world: World):
    """An empty prompt is refused (a choice of ours); a bare verb gets its usage."""
    with Agent(world) as agent:
        session = ready(agent)
        for blocks in ([], [""], [" "]):
            equal(agent.refusal("session/prompt", prompt_params(session, *blocks))["code"], -32602, "the code")
        check("/store" in agent.say(session, "/store")[0], "the usage")


@case(f"{NAME}.session.prompt.unrecognized", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        session = ready(agent)
        equal(agent.say(session, "/frobnicate now"), ['error: unknown command "/frobnicate"; try /help'], "the answer")
        check(agent.say(session, "frobnicate now"), "an answer to plain words")


@case(f"{NAME}.session.prompt.structured_blocks", supervised=True)
def _(world: World):
    link = {"type": "resource_link", "uri": "file:///plan.md", "name": "plan.md", "mimeType": "text/markdown", "size": 12}
    with Agent(world) as agent:
        session = ready(agent)
        check(agent.say(session, "/store read this:", link, "and that")[0].startswith("stored "), "stored")


@case(f"{NAME}.session.prompt.background_completion", supervised=True)
def _(world: World):
    """The client goes on with other requests while a turn runs, and the turn ends all the same."""
    with Agent(world) as agent:
        session = ready(agent)
        agent.send_bytes(
            agent.message("session/prompt", prompt_params(session, "/store done in the background"), id="behind")
            + agent.message("session/list", {}, id="list")
            + agent.message("session/new", {"cwd": str(world.project), "mcpServers": []}, id="new")
        )
        other = agent.result("new")["sessionId"]
        agent.result("list")
        agent.say(other, "/help")
        equal(agent.result("behind")["stopReason"], "end_turn", "the stop reason")


@case(f"{NAME}.session.cancel.followup_prompt", supervised=True)
def _(world: World):
    with Agent(world) as agent:
        session = ready(agent)
        agent.send_bytes(agent.message("session/prompt", prompt_params(session, "/store stay busy"), id="busy") + cancel(session))
        agent.result("busy")
        agent.say(session, "/help")


PERMISSIONS = {
    "errors.permission_denied": "read the file notes.txt", "errors.permission_denied.write": "write the file notes.txt",
    "permissions.read.approved": "read the file notes.txt", "permissions.write.approved": "write hello into notes.txt",
}
for name, prompt in PERMISSIONS.items():

    @case(f"{NAME}.{name}", supervised=True)
    def _(world: World, prompt=prompt):
        (world.project / "notes.txt").write_text("as it was")
        with Agent(world) as agent:
            session = ready(agent)
            agent.say(session, prompt)
            agent.say(session, f"/store {prompt}")
            agent.end()  # checks that the agent asked its client for nothing
        equal((world.project / "notes.txt").read_text(), "as it was", "the file")
