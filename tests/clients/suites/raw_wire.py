"""Raw lines against the rows of the wire: framing, bad lines, limits, pipelining, stray messages, the end."""

import json
import os
import signal
import threading
import time
from pathlib import Path

from harness.agent import INITIALIZE, LATEST, Agent, prompt_params
from harness.cases import case, check, equal, wait_until
from harness.world import World

SMALL = 65536


@case("raw/wire/crlf-bom-and-blank-lines-are-tolerated")
def _(world: World):
    with Agent(world) as agent:
        agent.send_bytes(b"\xef\xbb\xbf" + agent.message("initialize", INITIALIZE).replace(b"\n", b"\r\n"))
        equal(agent.result(1)["protocolVersion"], LATEST, "the version")
        agent.send_bytes(b"\n\r\n   \n\t\r\n" + agent.message("session/list", {}) + b"\n\n")
        check("sessions" in agent.result(2), "a list after blank lines")


@case("raw/wire/bytes-may-arrive-one-by-one-and-many-lines-at-once")
def _(world: World):
    with Agent(world) as agent:
        for byte in agent.message("initialize", INITIALIZE):
            agent.send_bytes(bytes([byte]))
        agent.result(1)
        agent.send_bytes(b"".join(agent.message("session/list", {}) for _ in range(200)))
        for id in range(2, 202):
            agent.result(id)


@case("raw/wire/text-of-every-script-comes-back-as-it-went")
def _(world: World):
    content = "naïve – 北京 \U0001f469\u200d\U0001f469\u200d\U0001f467 \u05e9\u05dc\u05d5\u05dd \u2028 \"quoted\" back\\slash\ttab"
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.say(session, f"/store {content}")
        (found,) = agent.say(session, content)
        equal(found.split("\n", 1)[1], content, "the content recalled")


BROKEN = {
    "half-an-object": b'{"jsonrpc":"2.0","id":7,"method":"%s',
    "words": b"hello %s",
    "not-utf-8": b'{"jsonrpc":"2.0","id":7,"method":"\xff\xfe%s"}',
    "two-objects-on-a-line": b'{"jsonrpc":"2.0","id":7,"method":"a"}{"x":"%s"}',
    "nul": b'{"jsonrpc":"2.0",\x00"id":7,"method":"%s"}',
    "half-a-member": b'{"jsonrpc":"2.0","id":"%s","method":',
    "bad-escape": b'{"jsonrpc":"2.0","id":"%s","method":"\\q"}',
    "control-character": b'{"jsonrpc":"2.0","id":"%s","method":"a\x01b"}',
    "trailing-comma": b'{"jsonrpc":"2.0","id":"%s","method":"session/list",}',
    "deep": b'{"jsonrpc":"2.0","id":"%s","method":"session/list","params":{"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}}",
}
for name, line in BROKEN.items():

    @case(f"raw/wire/parse-error/{name}")
    def _(world: World, line=line):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            secret = world.secret("broken").encode()
            agent.send_bytes(line % secret + b"\n")
            error = agent.null_answer(-32700)
            check(secret.decode() not in json.dumps(error), f"the line is echoed: {error}")
            agent.say(session, "/help")


NO_OBJECT = {
    "batch": '[{"jsonrpc":"2.0","id":7,"method":"session/list","params":{}}]', "empty-array": "[]", "number": "7",
    "string": '"session/list"', "true": "true", "null": "null",
}
for name, line in NO_OBJECT.items():

    @case(f"raw/wire/not-an-object/{name}")
    def _(world: World, line=line):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            agent.send_bytes(line.encode() + b"\n")
            agent.null_answer(-32600)
            agent.say(session, "/help")


@case("raw/wire/ids-come-back-exactly-as-they-went")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        for id in (0, -5, 2**53 + 1, 2**63 - 1, "", "7", "x" * 300, "ümlaut \U0001f344", "a\nb"):
            agent.ask("session/list", {}, id=id)
            check("result" in agent.answer(id), f"id {id!r}")


@case("raw/wire/a-request-before-initialize-is-refused-and-harms-nothing")
def _(world: World):
    with Agent(world) as agent:
        error = agent.refusal("session/new", {"cwd": str(world.project), "mcpServers": []})
        equal(error["code"], -32600, "the code")
        agent.initialize()
        agent.say(agent.new(), "/help")


@case("raw/wire/what-is-pipelined-behind-initialize-is-served-after-its-answer")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.say(session, "/store pipelines carry water")
    with Agent(world) as agent:
        place = {"cwd": str(world.project)}
        agent.send_bytes(
            agent.message("initialize", INITIALIZE, id="hello")
            + agent.message("session/resume", place | {"sessionId": session}, id="back")
            + agent.message("session/prompt", prompt_params(session, "pipelines carry water"), id="ask")
            + agent.message("session/new", place | {"mcpServers": []}, id="new")
            + agent.message("session/list", {}, id="list")
        )
        equal(agent.result("ask")["stopReason"], "end_turn", "the stop reason")
        for id in ("hello", "back", "new", "list"):
            agent.result(id)
        order = [m["id"] for m in agent.messages() if "method" not in m]
        equal(order[0], "hello", "the first answer")
        check(order.index("back") < order.index("ask"), f"one session out of order: {order}")
        check(any("pipelines carry water" in u["content"]["text"] for u in agent.turn(session, 0, "ask") if "content" in u),
              "the pipelined prompt found its memory")


@case("raw/wire/a-last-line-without-a-newline-is-served-at-the-end-of-input")
def _(world: World):
    """`printf '…' | hyphae-server acp-stdio` is how people try an agent out."""
    agent = Agent(world)
    agent.initialize()
    agent.send_bytes(agent.message("session/list", {}).rstrip(b"\n"))
    agent.end("eof")


@case("raw/wire/two-pipelined-initialize-requests-are-both-answered")
def _(world: World):
    """CodeCompanion opens with two, when a chat starts with a prompt."""
    with Agent(world) as agent:
        agent.send_bytes(
            agent.message("initialize", INITIALIZE, id="one") + agent.message("initialize", INITIALIZE, id="two")
            + agent.message("session/new", {"cwd": str(world.project), "mcpServers": []}, id="new")
        )
        equal(agent.result("one"), agent.result("two"), "the two answers")
        agent.say(agent.result("new")["sessionId"], "/help")


@case("raw/wire/the-first-line-on-stdout-is-the-answer-to-initialize")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        equal(agent.messages()[0].get("id"), 1, "the id of the first line")


UNKNOWN = ("session/unknown", "fs/read_text_file", "terminal/create", "session/update", "session/request_permission",
           "_hyphae/unknown", "_", "", "mcp/message", "session/set_model", "Initialize", "$/unknown")
for method in UNKNOWN:

    @case(f"raw/wire/unknown-request/{method or 'empty'}")
    def _(world: World, method=method):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            secret = world.secret("unknown")
            for params in ({"sessionId": session, "key": secret}, {}, None):
                error = agent.refusal(method, params)
                equal(error["code"], -32601, f"the code of {method!r}")
                check(secret not in json.dumps(error), f"the parameters are echoed: {error}")


@case("raw/wire/notifications-are-never-answered")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for method, params in (
            ("session/unknown", {}), ("_hyphae/unknown", {"x": 1}), ("$/unknown", None), ("session/cancel", {}),
            ("session/cancel", {"sessionId": 7}), ("session/cancel", None), ("session/cancel", {"sessionId": "nobody"}),
            ("$/cancel_request", {}), ("$/cancel_request", {"requestId": "nobody"}), ("$/cancel_request", {"requestId": {}}),
            ("session/prompt", prompt_params(session, "/help")), ("session/new", {"cwd": 7}), ("initialize", {}),
            ("session/list", {"cursor": 7}), ("session/close", {"sessionId": "nobody"}),
        ):
            agent.notify(method, params)
        agent.say(session, "/help")


@case("raw/wire/stray-answers-and-errors-with-a-null-id-are-ignored")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for stray in (
            {"jsonrpc": "2.0", "id": 99, "result": {}},
            {"jsonrpc": "2.0", "id": "x", "error": {"code": -32603, "message": "no"}},
            {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no such notification"}},
            {"jsonrpc": "2.0", "id": None, "result": None},
            {"id": None, "error": {"code": -32601, "message": "no such notification"}},
            {"jsonrpc": "2.0", "id": 1, "result": {"outcome": {"outcome": "cancelled"}}},
        ):
            agent.send_bytes(json.dumps(stray).encode() + b"\n")
        agent.say(session, "/help")


@case("raw/wire/a-frame-over-the-limit-is-skipped-and-every-session-lives-on")
def _(world: World):
    with Agent(world, "--max-frame-bytes", str(SMALL)) as agent:
        agent.initialize()
        session = agent.new()
        word = world.secret("large")
        agent.ask("session/prompt", prompt_params(session, f"/store {word} " + "x" * 2 * SMALL), id="large")
        error = agent.answer("large")["error"]
        equal(error["code"], -32600, "the code")
        check(str(SMALL) in error["message"], f"the limit is not named: {error}")
        check(word not in json.dumps(error), f"the frame is echoed: {error}")
        agent.say(session, "/help")


@case("raw/wire/a-frame-over-the-limit/its-id-is-looked-for-in-the-first-4-kib")
def _(world: World):
    filler = "x" * 2 * SMALL
    with Agent(world, "--max-frame-bytes", str(SMALL)) as agent:
        agent.initialize()
        session = agent.new()
        early = json.dumps({"method": "session/prompt", "id": "early", "params": filler})
        agent.expect("early", "session/prompt")
        agent.send_bytes(early.encode() + b"\n")
        equal(agent.answer("early")["error"]["code"], -32600, "the code")
        late = json.dumps({"jsonrpc": "2.0", "method": "session/prompt", "params": filler, "id": "late"})
        agent.send_bytes(late.encode() + b"\n")
        agent.null_answer(-32600)
        nested = json.dumps({"jsonrpc": "2.0", "method": "session/prompt", "params": {"id": 7, "text": '{"id":8,', "f": filler}})
        agent.send_bytes(nested.encode() + b"\n")
        agent.null_answer(-32600)
        agent.say(session, "/help")


@case("raw/wire/a-frame-of-exactly-the-limit-is-taken")
def _(world: World):
    with Agent(world, "--max-frame-bytes", str(SMALL)) as agent:
        agent.initialize()
        for over in (0, 2):
            bare = agent.message("session/list", {"_meta": {"fill": ""}})
            id = agent.ids
            frame = bare.replace(b'"fill": ""', b'"fill": "' + b"x" * (SMALL + over - len(bare) + 1) + b'"')
            agent.send_bytes(frame)
            equal("result" in agent.answer(id), over == 0, f"a frame of the limit and {over} bytes is taken")


@case("raw/wire/a-frame-of-64-mib-is-skipped-in-constant-memory", slow=True)
def _(world: World):
    with Agent(world, "--max-frame-bytes", str(SMALL)) as agent:
        agent.initialize()
        before = peak_memory(agent)
        agent.expect("huge", "session/list")
        agent.send_bytes(b'{"jsonrpc":"2.0","id":"huge","method":"session/list","params":{"x":"')
        for _ in range(64):
            agent.send_bytes(b"x" * (1 << 20))
        agent.send_bytes(b'"}}\n')
        equal(agent.answer("huge")["error"]["code"], -32600, "the code")
        grown = peak_memory(agent) - before
        check(grown < 8 << 20, f"the peak memory grew by {grown >> 20} MiB")


@case("raw/wire/the-default-limit-is-32-mib", slow=True)
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        for size, fits in ((31 << 20, True), (33 << 20, False)):
            id = f"size-{size}"
            agent.expect(id, "session/list")
            head = json.dumps({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {"_meta": {"x": ""}}}).encode()
            start, end = head.split(b'""')
            for piece in (start + b'"', *[b"x" * (1 << 20)] * (size >> 20), b'"' + end + b"\n"):
                agent.send_bytes(piece)
            equal("result" in agent.answer(id), fits, f"a frame of {size >> 20} MiB is taken")


@case("raw/wire/memory-stays-flat-when-the-client-does-not-read", slow=True)
def _(world: World):
    # An answer repeats its request's id, and so 30,000 long ids call for 90 MB of answers.
    ids = [f"{n}-{'x' * 3000}" for n in range(30_000)]
    with Agent(world, reading=False, recorded=False) as agent:
        lines = [agent.message("initialize", INITIALIZE)]
        lines += [agent.message("_hyphae/nothing", {}, id=id) for id in ids]
        writer = threading.Thread(target=lambda: agent.process.stdin.write(b"".join(lines)), daemon=True)
        writer.start()
        # Stuck, since nobody reads: either the writer is blocked or everything sits in the agent.
        wait_until(lambda: not writer.is_alive() or is_idle(agent), "the agent to be full")
        memory = peak_memory(agent)
        check(memory < 64 << 20, f"the agent holds {memory >> 20} MiB")
        agent.may_read.set()
        equal(agent.answer(ids[-1])["error"]["code"], -32601, "the code of the last answer")
        writer.join()


VERSIONS = {"1": (1, {1}), "65535": (65535, {1, 2}), "0": (0, {1, 2}), "2-is-a-preview": (2, {1, 2})}
for name, (asked, allowed) in VERSIONS.items():

    @case(f"raw/wire/version/{name}")
    def _(world: World, asked=asked, allowed=allowed):
        with Agent(world) as agent:
            got = agent.call("initialize", INITIALIZE | {"protocolVersion": asked, "info": {"name": "t", "version": "0"}})
            check(got["protocolVersion"] in allowed, f"asked for {asked}, answered {got['protocolVersion']}")


@case("raw/wire/meta-unknown-keys-and-broken-optional-fields-are-tolerated")
def _(world: World):
    meta = {"_meta": {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "deep": {"x": [1]}}, "unknown": 7}
    with Agent(world) as agent:
        agent.initialize(clientCapabilities={"fs": "yes", "terminal": 7, "elicitation": {}}, clientInfo=None, **meta)
        session = agent.new(**meta)
        equal(agent.call("session/prompt", prompt_params(session, "/help") | meta)["stopReason"], "end_turn", "the prompt")
        for method in ("session/resume", "session/load"):
            agent.call(method, {"sessionId": session, "cwd": str(world.project), "mcpServers": []} | meta)
        agent.call("session/list", meta)
        agent.call("session/close", {"sessionId": session} | meta)
        agent.call("session/delete", {"sessionId": session} | meta)


ENDS = {"eof": "eof", "sigterm": signal.SIGTERM, "sigint": signal.SIGINT}
for name, how in ENDS.items():

    @case(f"raw/end/{name}-ends-it-with-exit-code-0/idle")
    def _(world: World, how=how):
        agent = Agent(world)
        agent.initialize()
        agent.say(agent.new(), "/help")
        agent.end(how)

    @case(f"raw/end/{name}-ends-it-with-exit-code-0/before-initialize")
    def _(world: World, how=how):
        agent = Agent(world)
        if how != "eof":
            wait_until(lambda: catches(agent, how), "the agent to heed signals")
        agent.end(how)

    @case(f"raw/end/{name}-ends-it-with-exit-code-0/in-a-turn")
    def _(world: World, how=how):
        agent = Agent(world)
        agent.initialize()
        session = agent.new()
        stored = agent.say(session, "/store what was answered is on disk")
        busy = [agent.prompt(session, f"/store memory number {n}") for n in range(20)]
        if how != "eof":
            # A signal may overtake what is still in the pipe, and so those requests may never be read.
            agent.optional = {json.dumps(id) for id in busy}
        agent.end(how)
        with Agent(world) as again:
            again.initialize()
            (found,) = again.say(again.new(), "/recall --k 1 what was answered is on disk")
            check(found.split()[0] == stored[0].split()[1], f"stored {stored}, found {found}")


@case("raw/end/a-client-that-is-gone-altogether-ends-it")
def _(world: World):
    agent = Agent(world, reading=False)
    agent.process.stdout.close()
    agent.ask("initialize", INITIALIZE)
    for _ in range(3):
        agent.ask("session/list", {})
    agent.process.stdin.close()
    wait_until(lambda: agent.process.poll() is not None, "the agent to end", patience=3)
    agent.kill()


@case("raw/end/no-child-process-no-socket-no-request-to-the-client")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.say(session, "/store a memory that needs the model")
        agent.say(session, "which memory needs the model")
        pid = agent.process.pid
        children = [p.read_text() for p in Path(f"/proc/{pid}/task").glob("*/children")]
        equal("".join(children).strip(), "", "children of the agent")
        links = [str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()]
        sockets = {link[8:-1] for link in links if link.startswith("socket:")}
        for table in ("tcp", "tcp6", "udp", "udp6"):
            for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                check(row.split()[9] not in sockets, f"the agent holds a {table} socket: {row}")


@case("raw/log/at-trace-level-it-holds-neither-the-key-nor-what-is-remembered")
def _(world: World):
    """Every case runs at this level; here every text that can go in is a secret, and `end` looks for each in the log."""
    words = [world.secret(about) for about in ("content", "query", "link", "typo", "flag", "title", "cursor", "name")]
    content, query, link, typo, flag, title, cursor, name = words
    with Agent(world) as agent:
        agent.initialize(clientInfo={"name": "log", "version": "0", "title": name})
        session = agent.new()
        agent.say(session, f"{title} is the first prompt")
        agent.say(session, f"/store --type Decision {content} is stored")
        agent.say(session, f"{query} {content}", {"type": "resource_link", "name": link, "uri": f"file:///{link}"})
        agent.say(session, f"/{typo} x")
        agent.say(session, f"/store --type {flag} x")
        agent.refusal("session/list", {"cursor": cursor})
        agent.call("session/load", {"sessionId": session, "cwd": str(world.project), "mcpServers": []})
        agent.call("session/list", {})
        agent.end()
        check(agent.stderr().strip(), "there is no log at trace level, and so nothing was checked")
        key = world.key[4:]
        check(key[:16] not in agent.stderr() and key[-16:] not in agent.stderr(), "a part of the key is in the log")


@case("raw/log/a-client-that-never-reads-stderr-does-not-stop-it")
def _(world: World):
    """The SDK for Python gives its agent a pipe and never reads it; a pipe holds 64 KiB."""
    world.env.pop("HYPHAE_LOG")
    unread, end = os.pipe()
    with Agent(world, stderr=end) as agent:
        os.close(end)
        agent.initialize()
        session = agent.new()
        for _ in range(40):
            asked = [agent.ask("session/prompt", prompt_params(session, " ")) for _ in range(50)]
            equal([agent.answer(id)["error"]["code"] for id in asked], [-32602] * 50, "the codes")
            agent.say(session, "/recal")
        agent.end()
    os.close(unread)


@case("raw/log/a-closed-stderr-does-not-stop-it")
def _(world: World):
    unread, end = os.pipe()
    os.close(unread)
    with Agent(world, stderr=end) as agent:
        os.close(end)
        agent.initialize()
        session = agent.new()
        agent.say(session, "/store nobody reads the log")
        equal(agent.refusal("session/prompt", prompt_params(session, " "))["code"], -32602, "the code")
        agent.say(session, "who reads the log")


def peak_memory(agent: Agent) -> int:
    """The most memory, in bytes, that the agent has held so far."""
    for line in Path(f"/proc/{agent.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel gives no VmHWM")


def catches(agent: Agent, number: int) -> bool:
    """Whether the agent has a handler for this signal."""
    for line in Path(f"/proc/{agent.process.pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def is_idle(agent: Agent) -> bool:
    """Whether the agent used no processor time for a while."""

    def used() -> str:
        return Path(f"/proc/{agent.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]

    before = used()
    for _ in range(10):
        time.sleep(0.1)
        if used() != before:
            return False
    return True
