"""A raw-line client for one process of the world's agent, `hyphae-server acp-stdio` unless it is supervised.

It writes the bytes it is told to, keeps every line that comes back in order, and when the process ends it holds the
whole conversation against the rules that no case may break (`_check_rules`).
"""

import json
import os
import signal
import subprocess
import threading
import time

from .cases import PATIENCE, Failed, check, equal, shorten
from .world import World

LATEST = 1
INITIALIZE = {
    "protocolVersion": LATEST,
    "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
    "clientInfo": {"name": "hyphae-clients", "version": "0"},
}
CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update", "plan")
EXIT_WITHIN = 3.0
NO_KEY = "no key"  # as `key`: the environment holds none, and the key file decides


class Refused(Exception):
    """The agent answered with an error."""

    def __init__(self, error: dict):
        super().__init__(json.dumps(error))
        self.error = error
        self.code = error.get("code")
        self.message = error.get("message")
        self.data = error.get("data")


class Agent:
    """Use as a context manager: the normal end is EOF, exit code 0, all rules kept."""

    def __init__(self, world: World, *arguments: str, key: str | None = None, env: dict | None = None,
                 reading=True, recorded=True, stderr: int | None = None):
        self.world = world
        self.lines: list[tuple[float, bytes]] = []
        self.torn = b""
        self.arrived = threading.Condition()
        self.sent: dict = {}  # id (as JSON text) -> (place in `lines` when it was sent, method, params)
        self.ids = 0
        self.null_answers = 0  # how many answers with id null the case has called for
        self.ended = False
        self.optional: set = set()  # ids (as JSON text) whose request may end without an answer
        self.record = open(world.capture(), "a", encoding="utf-8") if recorded else None
        self.stderr_path = world.root / f"stderr-{len(world.agents)}.log"
        self.may_read = threading.Event()
        if reading:
            self.may_read.set()
        environment = world.env | ({} if key == NO_KEY else {"HYPHAE_API_KEY": key or world.key}) | (env or {})
        self.started = time.monotonic()
        with open(self.stderr_path, "wb") as log:
            self.process = subprocess.Popen(
                [world.binary, *world.command, *arguments], env=environment, cwd=world.project, bufsize=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log if stderr is None else stderr,
            )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        world.agents.append(self)

    def __enter__(self):
        return self

    def __exit__(self, kind, _value, _trace):
        if kind is not None:
            self.kill()
        elif not self.ended:
            self.end()

    # --- out ---------------------------------------------------------------------------------------------------

    def send_bytes(self, data: bytes) -> None:
        self._keep({"sent": shorten(data.decode(errors="replace"), 4096)})
        try:
            self.process.stdin.write(data)
        except BrokenPipeError as gone:
            raise Failed(f"the agent stopped reading; its log ends: {self.log_tail()}") from gone

    def message(self, method: str, params=None, *, id=...) -> bytes:
        """One request line; gives it the next id unless one is given, and remembers that it needs an answer."""
        if id is ...:
            self.ids += 1
            id = self.ids
        body = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            body["params"] = params
        self.expect(id, method, params)
        return json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"

    def expect(self, id, method: str, params=None) -> None:
        """Declares that what is about to be sent is a request that needs one answer."""
        with self.arrived:
            self.sent[json.dumps(id)] = (len(self.lines), method, params)
        self._keep({"from": "client", "line": json.dumps({"id": id, "method": method})})

    def _keep(self, entry: dict) -> None:
        with self.arrived:
            if self.record and not self.record.closed:
                self.record.write(json.dumps(entry) + "\n")

    def ask(self, method: str, params=None, *, id=...) -> object:
        """Sends a request and returns its id at once."""
        self.send_bytes(self.message(method, params, id=id))
        return self.ids if id is ... else id

    def notify(self, method: str, params=None) -> None:
        body = {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})
        self.send_bytes(json.dumps(body).encode() + b"\n")

    # --- in ----------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        self.may_read.wait()
        if self.process.stdout.closed:
            return
        buffer = b""
        while data := os.read(self.process.stdout.fileno(), 1 << 16):
            *whole, buffer = (buffer + data).split(b"\n")
            with self.arrived:
                for line in whole:
                    self.lines.append((time.monotonic(), line))
                self.arrived.notify_all()
            for line in whole:
                self._keep({"from": "agent", "line": line.decode(errors="surrogateescape")})
        with self.arrived:
            self.torn = buffer
            if self.record:
                self.record.close()
            self.arrived.notify_all()

    def messages(self, since: int = 0) -> list[dict]:
        with self.arrived:
            lines = list(self.lines[since:])
        found = []
        for _, line in lines:
            try:
                found.append(json.loads(line))
            except ValueError as broken:
                raise Failed(f"a line on stdout is not JSON: {shorten(line)}") from broken
        return found

    def until(self, condition, what: str, patience: float | None = None):
        """Waits for the first message of the conversation for which `condition` holds."""
        deadline = time.monotonic() + (patience or PATIENCE)
        seen = 0
        while True:
            for message in self.messages(seen):
                seen += 1
                if condition(message):
                    return message
            with self.arrived:
                if len(self.lines) == seen:
                    ended = not self.reader.is_alive()
                    if ended or not self.arrived.wait(max(0.0, deadline - time.monotonic())):
                        how = f"the agent ended ({self.process.poll()})" if ended else "nothing came in time"
                        raise Failed(f"waited in vain for {what}: {how}; its log ends: {self.log_tail()}")

    def answer(self, id, patience: float | None = None) -> dict:
        """The whole answer to the request with this id."""
        _, method, _ = self.sent.get(json.dumps(id), (0, "a frame", None))
        return self.until(
            lambda m: "method" not in m and "id" in m and same_id(m["id"], id), f"the answer to {method} ({id!r})", patience
        )

    def result(self, id, patience: float | None = None):
        answer = self.answer(id, patience)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def call(self, method: str, params=None, patience: float | None = None):
        return self.result(self.ask(method, params), patience)

    def refusal(self, method: str, params=None) -> dict:
        """The error that a request must be answered with."""
        answer = self.answer(self.ask(method, params))
        check("error" in answer, f"{method} with {shorten(params)} succeeded: {shorten(answer)}")
        return answer["error"]

    def null_answer(self, code: int) -> dict:
        """Expects one more answer with id null, and with this code."""
        self.null_answers += 1
        wanted, seen = self.null_answers, []

        def is_it(message):
            if "id" in message and message["id"] is None:
                seen.append(message)
            return len(seen) == wanted

        found = self.until(is_it, f"the answer with id null and code {code}")
        equal(found.get("error", {}).get("code"), code, f"the code of {shorten(found)}")
        return found["error"]

    # --- the walk that most cases start with -----------------------------------------------------------------------

    def initialize(self, **over) -> dict:
        return self.call("initialize", INITIALIZE | over)

    def new(self, cwd=None, **more) -> str:
        return self.call("session/new", {"cwd": str(cwd or self.world.project), "mcpServers": []} | more)["sessionId"]

    def prompt(self, session: str, *blocks) -> object:
        return self.ask("session/prompt", prompt_params(session, *blocks))

    def say(self, session: str, *blocks) -> list[str]:
        """Prompts, waits for `end_turn`, and returns what the agent said, message by message."""
        since = len(self.lines)
        id = self.prompt(session, *blocks)
        equal(self.result(id)["stopReason"], "end_turn", f"the stop reason of {shorten(blocks)}")
        return texts(self.turn(session, since, id))

    def turn(self, session: str, since: int, id) -> list[dict]:
        """The updates of `session` between line `since` and the answer to `id`."""
        found = []
        for message in self.messages(since):
            if "method" not in message and same_id(message.get("id"), id):
                break
            if message.get("method") == "session/update" and message["params"]["sessionId"] == session:
                found.append(message["params"]["update"])
        return found

    def updates(self, session: str, since: int = 0) -> list[dict]:
        return [
            m["params"]["update"] for m in self.messages(since)
            if m.get("method") == "session/update" and m["params"]["sessionId"] == session
        ]

    def log_tail(self) -> str:
        return shorten(self.stderr()[-600:].strip(), 600)

    def stderr(self) -> str:
        return self.stderr_path.read_text(errors="replace")

    # --- the end ---------------------------------------------------------------------------------------------------

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.may_read.set()
        self.ended = True

    def end(self, how: str | int = "eof", code: int = 0) -> None:
        """Ends the agent by EOF or by a signal and checks how it went and all that was said."""
        start = time.monotonic()
        if how == "eof":
            self.process.stdin.close()
        else:
            self.process.send_signal(how)
        name = how if how == "eof" else signal.Signals(how).name
        try:
            got = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired as hanging:
            raise Failed(f"still running {PATIENCE:.0f} s after {name}; its log ends: {self.log_tail()}") from hanging
        took = time.monotonic() - start
        self.ended = True
        self.may_read.set()
        self.reader.join(PATIENCE)
        check(not self.reader.is_alive(), f"after {name} something still holds the agent's stdout")
        equal(got, code, f"the exit code after {name} (log: {self.log_tail()})")
        check(took <= EXIT_WITHIN, f"{name} took {took:.1f} s to end it")
        self._check_rules()

    def _check_rules(self) -> None:
        """What holds in every conversation, whatever the case is about."""
        equal(self.torn, b"", "bytes after the last newline of stdout")
        answers: dict[str, int] = {}
        busy: dict[str, set] = {}  # session -> requests under way that may send its updates
        waiting = sorted(self.sent.items(), key=lambda item: item[1][0])
        for place, (_, line) in enumerate(self.lines):
            while waiting and waiting[0][1][0] <= place:
                id, (_, method, params) = waiting.pop(0)
                if method in ("session/prompt", "session/load") and isinstance(params, dict):
                    busy.setdefault(json.dumps(params.get("sessionId")), set()).add(id)
            message = rpc(line)
            if "method" in message:
                check("id" not in message, f"the console asked something of its client: {shorten(message)}")
                equal(message["method"], "session/update", "the method of a notification")
                update = message["params"]["update"]["sessionUpdate"]
                if update in CHUNKS:
                    under_way = busy.get(json.dumps(message["params"]["sessionId"]))
                    check(under_way, f"an update came when no turn or load was under way: {shorten(line.decode())}")
                continue
            id = json.dumps(message["id"])
            answers[id] = answers.get(id, 0) + 1
            for under_way in busy.values():
                under_way.discard(id)
        equal(answers.pop("null", 0), self.null_answers, "the number of answers with id null")
        for id, (_, method, _) in self.sent.items():
            count = answers.pop(id, 0)
            if count != 0 or id not in self.optional:
                equal(count, 1, f"the number of answers to {method} (id {id})")
        equal(answers, {}, "answers to requests that were never made")
        self.check_log()

    def check_log(self) -> None:
        log = self.stderr()
        for word in self.world.secrets:
            place = log.find(word)
            check(place < 0, f"the log holds {word}: {shorten(log[max(0, place - 200):place + 100])}")


def rpc(line: bytes) -> dict:
    """Parses a line strictly: one JSON-RPC 2.0 object."""
    try:
        message = json.loads(line.decode())
    except ValueError as broken:
        raise Failed(f"a line on stdout is not UTF-8 JSON: {shorten(line)}") from broken
    check(isinstance(message, dict) and message.get("jsonrpc") == "2.0", f"not a JSON-RPC 2.0 message: {shorten(line)}")
    if "method" not in message:
        check("id" in message, f"an answer without an id: {shorten(line)}")
        check(("result" in message) != ("error" in message), f"neither or both of result and error: {shorten(line)}")
        if "error" in message:
            error = message["error"]
            check(type(error.get("code")) is int and isinstance(error.get("message"), str), f"a broken error: {shorten(line)}")
    return message


def same_id(one, other) -> bool:
    return type(one) is type(other) and one == other


def text_block(text: str) -> dict:
    return {"type": "text", "text": text}


def prompt_params(session, *blocks) -> dict:
    return {"sessionId": session, "prompt": [text_block(b) if isinstance(b, str) else b for b in blocks]}


def by_message(updates: list[dict], kinds=("agent_message_chunk", "user_message_chunk")) -> list[tuple]:
    """Chunks joined into messages, in order: (kind, message id, text). Chunks of one message may be coalesced."""
    found: list[list] = []
    for update in updates:
        kind = update["sessionUpdate"]
        if kind not in kinds:
            continue
        content = update["content"]
        text = content["text"] if content["type"] == "text" else json.dumps(content)
        id = update.get("messageId")
        if found and id is not None and found[-1][:2] == [kind, id]:
            found[-1][2] += text
        else:
            found.append([kind, id, text])
    return [tuple(message) for message in found]


def texts(updates: list[dict]) -> list[str]:
    return [text for _, _, text in by_message(updates, ("agent_message_chunk",))]
