"""Agents that we did not write under `hyphae-server acp`: small ones on the SDKs, and whole products without credentials.

What every one of them gains is checked: sessions are listed, loaded and deleted, and no process is left of it.
"""

from harness.agent import Agent, Refused, rpc
from harness.cases import case, check, equal, wait_until
from harness.world import CLIENTS, World

TYPESCRIPT = "acp-ts-2.4.0/node_modules/@agentclientprotocol/sdk"
ECHOES = {
    "python-sdk-0.12.1": ["{tools}/acp-py-0.12.1/bin/python", "{agents}/python_sdk.py"],
    "python-sdk-1.0.0rc3": ["{tools}/acp-py-1.0.0rc3/bin/python", "{agents}/python_sdk.py"],
    "typescript-sdk-2.4.0": ["node", "{agents}/typescript_sdk.mjs", "{tools}/" + TYPESCRIPT],
}
# Without credentials, some open no session.
PRODUCTS = {
    "claude-agent-acp-0.101.0": (["{tools}/claude-agent-acp-0.101.0/node_modules/.bin/claude-agent-acp"], True),
    "codex-acp-0.16.0": (["{tools}/codex-acp-0.16.0/node_modules/.bin/codex-acp"], False),
}


class Foreign(Agent):
    """Another agent: it may say what ours would not, but each request is answered once and the wire is clean."""

    def _check_rules(self) -> None:
        equal(self.torn, b"", "bytes after the last newline of stdout")
        answers: dict[str, int] = {}
        for _, line in self.lines:
            message = rpc(line)
            if "method" not in message:
                answers[str(message["id"])] = answers.get(str(message["id"]), 0) + 1
        equal(answers, {id: 1 for id in self.sent}, "the number of answers to each request")
        self.check_log()


def supervised(world: World, command: list[str]) -> Foreign:
    places = {"tools": world.tools, "agents": CLIENTS / "agents"}
    world.supervise(*(part.format(**places) for part in command), options=["--stop-grace", "1"])
    return Foreign(world, recorded=False)


def listed(agent: Agent) -> list[str]:
    return [session["sessionId"] for session in agent.call("session/list", {})["sessions"]]


def gone(world: World, agent: Agent) -> None:
    agent.end()
    wait_until(lambda: not world.leftovers(), "every process of the agent to be gone")


def loading(world: World, session: str) -> dict:
    return {"sessionId": session, "cwd": str(world.project), "mcpServers": []}


for name, command in ECHOES.items():

    @case(f"supervised/agents/{name}")
    def _(world: World, command=command):
        with supervised(world, command) as agent:
            agent.initialize()
            session = agent.new()
            equal(agent.say(session, "hello"), ["hello"], "the echo")
            gone(world, agent)
        with supervised(world, command) as agent:
            capabilities = agent.initialize()["agentCapabilities"]
            check(capabilities["loadSession"] and "list" in capabilities["sessionCapabilities"], capabilities)
            equal(listed(agent), [session], "the list")
            agent.call("session/load", loading(world, session))
            shown = [(update["sessionUpdate"], update["content"]["text"]) for update in agent.updates(session)]
            equal(shown, [("user_message_chunk", "hello"), ("agent_message_chunk", "hello")], "what is shown again")
            # It knows nothing of the former process, and is told.
            announced, told, said = agent.say(session, "again")
            check(announced.startswith("The agent was started anew"), announced)
            check("agent: hello" in told, told)
            equal(said, "again", "the echo")
            agent.call("session/delete", {"sessionId": session})
            equal(listed(agent), [], "the list")
            gone(world, agent)


for name, (command, opens) in PRODUCTS.items():

    @case(f"supervised/agents/{name}", slow=True)
    def _(world: World, command=command, opens=opens):
        with supervised(world, command) as agent:
            answer = agent.initialize()
            check(answer["agentInfo"]["name"] and answer["agentCapabilities"]["loadSession"], answer)
            try:
                session = agent.new()
            except Refused as refused:
                equal((refused.code, opens), (-32000, False), "a session is refused for want of credentials only")
                equal(listed(agent), [], "the list")
            else:
                equal(listed(agent), [session], "the list")
                agent.call("session/close", {"sessionId": session})
                agent.call("session/load", loading(world, session))
                agent.call("session/delete", {"sessionId": session})
                equal(listed(agent), [], "the list")
            gone(world, agent)
