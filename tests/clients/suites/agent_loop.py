"""A whole loop: somebody else's coding agent, spoken to over ACP, is given our MCP server by its client, stores a memory
through it, and the memory console recalls it. The agent is Qwen Code; its model is played from a script.
"""

import json
import os
import subprocess
import threading

from harness.cases import PATIENCE, Failed, case, check, equal, wait_until
from harness.model import ScriptedModel
from harness.world import World

TOOL = "qwen-0.15.10/node_modules/.bin/qwen"
SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True},
}


class Qwen:
    """Qwen Code as an ACP agent in one world, spoken to line by line; it may do whatever it asks to do."""

    def __init__(self, world: World, model: ScriptedModel):
        folder = world.home / ".qwen"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps(SETTINGS))
        env = world.env | {
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "scripted", "NO_COLOR": "1",
        }
        self.log = world.root / "qwen.log"
        self.arrived: list[dict] = []
        self.asked = 0
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [world.tools / TOOL, "--acp"], env=env, cwd=world.project, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                allow = message["params"]["options"][0]["optionId"]
                outcome = {"outcome": {"outcome": "selected", "optionId": allow}}
                self._send({"id": message["id"], "result": outcome})
            self.arrived.append(message)

    def _send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def call(self, method: str, params: dict) -> dict:
        self.asked += 1
        me = self.asked
        self._send({"id": me, "method": method, "params": params})
        try:
            wait_until(lambda: self._answer(me), f"the answer to {method}", 3 * PATIENCE)
        except Failed as late:
            raise Failed(f"{late}; its log ends: {self.log.read_text(errors='replace')[-600:]}") from late
        answer = self._answer(me)
        check("result" in answer, f"{method}: {answer}")
        return answer["result"]

    def _answer(self, id: int) -> dict | None:
        return next((m for m in list(self.arrived) if m.get("id") == id and "method" not in m), None)

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def calls_of(request: dict) -> list[str]:
    """The names of the tools that were called so far in a conversation."""
    messages = request["messages"]
    return [call["function"]["name"] for m in messages for call in m.get("tool_calls") or []]


def results_of(request: dict) -> list[str]:
    """What the tools answered so far."""
    texts = []
    for message in request["messages"]:
        if message["role"] == "tool":
            content = message["content"]
            texts.append(content if isinstance(content, str) else "".join(part.get("text", "") for part in content))
    return texts


def script(request: dict):
    """Looks the tools up, stores, recalls what was stored, and repeats it."""
    made = calls_of(request)
    if "tool_search" not in made:
        return [("tool_search", {"query": "select:mcp__hyphae__store,mcp__hyphae__recall"})]
    if "mcp__hyphae__store" not in made:
        return [("mcp__hyphae__store", {"content": "The release train leaves on Tuesdays", "type": "Decision"})]
    if "mcp__hyphae__recall" not in made:
        return [("mcp__hyphae__recall", {"query": "when does the release train leave"})]
    return f"From memory: {results_of(request)[-1]}"


@case("agent-loop/an-agent-stores-through-mcp-and-the-console-recalls", slow=True)
def _(world: World):
    server = {
        "name": "hyphae", "command": str(world.binary), "args": ["mcp-stdio"],
        "env": [{"name": name, "value": value} for name, value in (world.env | {"HYPHAE_API_KEY": world.key}).items()],
    }
    with ScriptedModel(script) as model:
        qwen = Qwen(world, model)
        qwen.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        session = qwen.call("session/new", {"cwd": os.path.realpath(world.project), "mcpServers": [server]})["sessionId"]
        prompt = [{"type": "text", "text": "Remember when the release train leaves."}]
        done = qwen.call("session/prompt", {"sessionId": session, "prompt": prompt})
        equal(done["stopReason"], "end_turn", "how the agent's turn ended")
        last = model.requests[-1]
        qwen.end()
    equal(calls_of(last), ["tool_search", "mcp__hyphae__store", "mcp__hyphae__recall"], "the tools that were called")
    stored, recalled = results_of(last)[-2:]
    check('"outcome":"created"' in stored.replace(" ", ""), f"the store answered {stored}")
    check("The release train leaves on Tuesdays" in recalled, f"the recall answered {recalled}")
    shown = world.hyphae("console", "/recall when does the release train leave", env={"HYPHAE_API_KEY": world.key})
    equal(shown.returncode, 0, f"the console's exit ({shown.stderr[-300:]})")
    check("type=Decision\nThe release train leaves on Tuesdays" in shown.stdout, f"the console recalled {shown.stdout}")
