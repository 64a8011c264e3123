"""The rows of the official test kit for v1, mirrored under their ids in our own words.

Like the kit, each row starts a fresh agent and advertises no client capabilities unless it needs some. Where the kit
waits for quiet, these end the input: then everything that the agent had to say is there.
"""

import json
import uuid

from harness.agent import Agent, prompt_params, rpc, text_block
from harness.cases import case, check, equal
from harness.world import World

STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
PLAIN = {"protocolVersion": 1, "clientCapabilities": {}}


def start(agent: Agent) -> dict:
    return agent.call("initialize", PLAIN)


def place(world: World, session: str) -> dict:
    return {"sessionId": session, "cwd": str(world.project), "mcpServers": []}


def basic_exchange(agent: Agent) -> str:
    """Handshake, session, one store and one recall."""
    start(agent)
    session = agent.new()
    agent.say(session, "/store the kit asks for a basic exchange")
    agent.say(session, "what does the kit ask for")
    return session


@case("tck/TRANSPORT-001")
def _(world: World):
    """Every stdout line is one message: `end` parses all of them."""
    with Agent(world) as agent:
        basic_exchange(agent)
        agent.end()
        check(len(agent.lines) >= 5, f"only {len(agent.lines)} lines")
        for _, line in agent.lines:
            rpc(line)


@case("tck/TRANSPORT-002")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        session = agent.new()
        agent.say(session, "/store zażółć gęślą jaźń \U0001f344")
        agent.say(session, "zażółć gęślą jaźń \U0001f344")
        agent.end()
        for _, line in agent.lines:
            line.decode("utf-8")


@case("tck/JSONRPC-001")
def _(world: World):
    with Agent(world) as agent:
        for id in (17, "seventeen", "17", 0):
            agent.ask("initialize" if id == 17 else "session/list", PLAIN if id == 17 else {}, id=id)
            got = agent.answer(id)["id"]
            equal((type(got), got), (type(id), id), "the id")


@case("tck/JSONRPC-002")
def _(world: World):
    with Agent(world) as agent:
        basic_exchange(agent)
        agent.refusal("no/such/method", {})
        agent.refusal("session/new", {})
        agent.refusal("session/prompt", prompt_params("nobody", "hello"))


@case("tck/JSONRPC-003")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        for method in ("no/such/notification", "_no/such", "session/cancel", "session/prompt", "session/new"):
            agent.notify(method, {"sessionId": "nobody"})
            agent.notify(method, {"sessionId": {}})
        agent.call("session/list", {})


@case("tck/JSONRPC-004")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        equal(agent.refusal("no/such/method", {})["code"], -32601, "the code")


@case("tck/JSONRPC-005")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        agent.refusal("session/new", {"cwd": 1})
        agent.say(agent.new(), "/help")


@case("tck/INIT-001")
def _(world: World):
    with Agent(world) as agent:
        check(type(start(agent)["protocolVersion"]) is int, "an integer version")


@case("tck/INIT-002")
def _(world: World):
    with Agent(world) as agent:
        equal(start(agent)["protocolVersion"], 1, "the version for 1")


@case("tck/INIT-003")
def _(world: World):
    with Agent(world) as agent:
        info = {"name": "kit", "version": "0"}
        got = agent.call("initialize", PLAIN | {"protocolVersion": 65535, "info": info, "clientInfo": info})["protocolVersion"]
        check(got != 65535 and got >= 1, f"answered {got}")


@case("tck/INIT-004")
def _(world: World):
    with Agent(world) as agent:
        info = start(agent)["agentInfo"]
        check(info["name"] and info["version"], f"agentInfo: {info}")


@case("tck/SCHEMA-001")
@case("tck/SCHEMA-002")
def _(world: World):
    """What is recorded here is validated with all other captures, root keys included."""
    with Agent(world) as agent:
        basic_exchange(agent)


@case("tck/SESSION-001")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        check(agent.new(), "an empty id")


@case("tck/SESSION-002")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        check(agent.new() != agent.new(), "two calls, one id")


@case("tck/PROMPT-001")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        check(agent.call("session/prompt", prompt_params(agent.new(), "hello"))["stopReason"] in STOP_REASONS, "the stop reason")


@case("tck/PROMPT-002")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        agent.new()
        session = agent.new()
        since = len(agent.lines)
        id = agent.prompt(session, "hello")
        agent.result(id)
        updates = [m for m in agent.messages(since) if m.get("method") == "session/update"]
        chunks = [m for m in updates if m["params"]["update"]["sessionUpdate"] == "agent_message_chunk"]
        check(chunks and all(m["params"]["sessionId"] == session for m in chunks), f"updates: {updates}")


@case("tck/PROMPT-003")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        agent.say(agent.new(), "see", {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"})


@case("tck/CANCEL-001")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        session = agent.new()
        line = agent.message("session/prompt", prompt_params(session, "/store keep busy"), id="busy")
        cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
        agent.send_bytes(line + json.dumps(cancel).encode() + b"\n")
        check(agent.result("busy")["stopReason"] in ("cancelled", "end_turn"), "the stop reason")


@case("tck/CANCEL-002")
def _(world: World):
    """The rules of every conversation refuse an update after the answer."""
    with Agent(world) as agent:
        start(agent)
        session = agent.new()
        for n in range(5):
            line = agent.message("session/prompt", prompt_params(session, "keep busy"), id=f"busy{n}")
            cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
            agent.send_bytes(line + json.dumps(cancel).encode() + b"\n")
            agent.result(f"busy{n}")


def stored_session(world: World) -> str:
    with Agent(world) as agent:
        return basic_exchange(agent)


@case("tck/LOAD-001")
@case("tck/LOAD-002")
@case("tck/LOAD-003")
def _(world: World):
    session = stored_session(world)
    with Agent(world) as agent:
        check(start(agent)["agentCapabilities"]["loadSession"] is True, "advertised")
        since = len(agent.lines)
        id = agent.ask("session/load", place(world, session))
        equal(agent.result(id), {}, "the answer")
        kinds = [u["sessionUpdate"] for u in agent.turn(session, since, id)]
        equal(kinds[:2], ["user_message_chunk", "agent_message_chunk"], "the replay before the answer")


@case("tck/RESUME-001")
@case("tck/RESUME-002")
def _(world: World):
    session = stored_session(world)
    with Agent(world) as agent:
        check("resume" in start(agent)["agentCapabilities"]["sessionCapabilities"], "advertised")
        since = len(agent.lines)
        id = agent.ask("session/resume", {"sessionId": session, "cwd": str(world.project)})
        check(isinstance(agent.result(id), dict), "an object")
        equal([u for u in agent.turn(session, since, id) if "content" in u], [], "history before the answer")


@case("tck/LIST-001")
@case("tck/LIST-002")
def _(world: World):
    with Agent(world) as agent:
        check("list" in start(agent)["agentCapabilities"]["sessionCapabilities"], "advertised")
        agent.new()
        equal(len(agent.call("session/list", {})["sessions"]), 1, "sessions")
        equal(agent.call("session/list", {"cwd": f"/nobody/{uuid.uuid4()}"})["sessions"], [], "of a cwd that nobody uses")


@case("tck/DELETE-001")
@case("tck/DELETE-002")
def _(world: World):
    with Agent(world) as agent:
        check("delete" in start(agent)["agentCapabilities"]["sessionCapabilities"], "advertised")
        session = agent.new()
        for id in (session, session, str(uuid.uuid4())):
            check(isinstance(agent.call("session/delete", {"sessionId": id}), dict), "an object")


@case("tck/CLOSE-001")
def _(world: World):
    with Agent(world) as agent:
        check("close" in start(agent)["agentCapabilities"]["sessionCapabilities"], "advertised")
        check(isinstance(agent.call("session/close", {"sessionId": agent.new()}), dict), "an object")


@case("tck/CLOSE-002")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        session = agent.new()
        agent.send_bytes(
            agent.message("session/prompt", prompt_params(session, "keep busy"), id="busy")
            + agent.message("session/close", {"sessionId": session}, id="close")
        )
        check(agent.result("busy")["stopReason"] in ("cancelled", "end_turn"), "the stop reason")
        check(isinstance(agent.result("close"), dict), "an object")


@case("tck/ADDDIRS-001")
def _(world: World):
    with Agent(world) as agent:
        can = start(agent)["agentCapabilities"]["sessionCapabilities"]
        # Not advertised by the console; a client that sends some all the same is not turned away.
        more = {"additionalDirectories": [str(world.root)]}
        answer = agent.answer(agent.ask("session/new", {"cwd": str(world.project), "mcpServers": []} | more))
        check("result" in answer or "additionalDirectories" not in can, f"the answer: {answer}")


@case("tck/MODES-001")
@case("tck/MODES-002")
@case("tck/CONFIG-001")
@case("tck/CONFIG-002")
@case("tck/CONFIG-003")
def _(world: World):
    """The console has neither modes nor options: it must not return any, and must refuse to set them."""
    with Agent(world) as agent:
        start(agent)
        answer = agent.call("session/new", {"cwd": str(world.project), "mcpServers": []})
        check(not answer.get("modes") and not answer.get("configOptions"), f"the answer: {answer}")
        session = answer["sessionId"]
        agent.refusal("session/set_mode", {"sessionId": session, "modeId": "code"})
        agent.refusal("session/set_config_option", {"sessionId": session, "configId": "model", "value": "x"})


KINDS = {"001": {"type": "image", "mimeType": "image/png", "data": "AAAA"}, "002": {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
         "003": {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "a"}}}
for number, block in KINDS.items():

    @case(f"tck/PROMPTCAP-{number}")
    def _(world: World, block=block):
        """Not advertised, and so refused and not quietly dropped."""
        with Agent(world) as agent:
            can = start(agent)["agentCapabilities"].get("promptCapabilities", {})
            equal([can.get(kind, False) for kind in ("image", "audio", "embeddedContext")], [False] * 3, "advertised")
            equal(agent.refusal("session/prompt", prompt_params(agent.new(), "see", block))["code"], -32602, "the code")


@case("tck/AUTH-001")
@case("tck/AUTH-002")
@case("tck/AUTH-003")
@case("tck/AUTH-005")
def _(world: World):
    with Agent(world) as agent:
        methods = start(agent).get("authMethods", [])
        ids = [method["id"] for method in methods]
        equal(len(set(ids)), len(ids), "distinct ids")
        check(all(method.get("type", "agent") != "terminal" for method in methods), f"methods: {methods}")
        for id in ids:
            check(isinstance(agent.call("authenticate", {"methodId": id}), dict), "an object")
        agent.new()


@case("tck/AUTH-004")
def _(world: World):
    """`logout` only where it is advertised; the console's key belongs to the process."""
    with Agent(world) as agent:
        advertised = "logout" in start(agent)["agentCapabilities"].get("auth", {})
        answer = agent.answer(agent.ask("logout", {}))
        check(isinstance(answer.get("result"), dict) if advertised else "error" in answer, f"the answer: {answer}")


for number in ("001", "002", "003"):

    @case(f"tck/CLIENTCAP-{number}")
    def _(world: World):
        """The rules of every conversation refuse any request of the agent."""
        with Agent(world) as agent:
            session = basic_exchange(agent)
            agent.say(session, "read the file /etc/hostname and run ls")


@case("tck/EXT-001")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        equal(agent.refusal("_kit/unknown", {"x": 1})["code"], -32601, "the code")


@case("tck/META-001")
def _(world: World):
    meta = {"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01", "tracestate": "a=b", "baggage": "c=d"}
    with Agent(world) as agent:
        start(agent)
        agent.call("session/prompt", {"sessionId": agent.new(), "prompt": [text_block("hello") | {"_meta": {"x": 1}}], "_meta": meta})
        for m in agent.messages():
            for part in (m, m.get("params", {}), m.get("result", {})):
                check("_meta" not in part or isinstance(part["_meta"], dict), f"_meta is no object: {m}")


@case("tck/ERROR-001")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        for method, params in (("no/such", {}), ("session/new", {}), ("session/prompt", prompt_params("nobody", "x")),
                               ("session/list", {"cursor": "x"}), ("authenticate", {"methodId": "x"})):
            message = agent.refusal(method, params)["message"]
            check(message.strip() and "\n" not in message, f"the message: {message!r}")


@case("tck/SHUTDOWN-001")
def _(world: World):
    agent = Agent(world)
    basic_exchange(agent)
    agent.end("eof")


@case("tck/STDERR-001")
def _(world: World):
    """Without a wish for more, the log of a basic exchange is short."""
    world.env.pop("HYPHAE_LOG")
    with Agent(world) as agent:
        basic_exchange(agent)
        agent.end()
        check(len(agent.stderr()) < 10_000, f"{len(agent.stderr())} characters of log")


@case("tck/INFO-PARSE-001")
def _(world: World):
    with Agent(world) as agent:
        agent.send_bytes(b"{this is not json\n")
        agent.null_answer(-32700)
        start(agent)


@case("tck/INFO-INVALIDREQ-001")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        agent.expect("odd", "an odd method")
        agent.optional.add('"odd"')
        for line in ('{"foo":"bar"}', '{"jsonrpc":"2.0","id":"odd","method":7}'):
            agent.send_bytes(line.encode() + b"\n")
        agent.say(agent.new(), "/help")
        odd = [m for m in agent.messages() if "method" not in m and m["id"] in (None, "odd")]
        check(all("error" in m for m in odd), f"accepted: {odd}")
        # Recorded, not judged: how many of them are answered.
        agent.null_answers = sum(m["id"] is None for m in odd)


@case("tck/INFO-UNKNOWNSESSION-001")
def _(world: World):
    with Agent(world) as agent:
        start(agent)
        equal(agent.refusal("session/prompt", prompt_params("nobody", "hello"))["code"], -32002, "the code")
        agent.new()
