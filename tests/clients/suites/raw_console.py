"""Raw lines against the grammar and the answers of the memory console."""

import re

from harness.agent import Agent
from harness.cases import case, check, equal
from harness.world import World

STORED = re.compile(r"stored [0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
MATCH = re.compile(r"([0-9a-f-]{36}) distance=([01]\.\d{4}) type=(\w+)\n(.*)", re.DOTALL)
TYPES = "Decision Constraint Risk Pattern Lesson Fact Preference Context Task".split()


def one(agent: Agent, session: str, text: str) -> str:
    said = agent.say(session, text)
    equal(len(said), 1, f"the number of messages for {text!r}: {said}")
    return said[0]


def matches(said: list[str]) -> list[tuple]:
    """(id, distance, type, content) of each message, which must all be matches."""
    found = [MATCH.fullmatch(text) for text in said]
    check(all(found), f"not all are matches: {said}")
    return [(m[1], float(m[2]), m[3], m[4]) for m in found]


# Prompts that store, and the content and type that must be found.
STORES = {
    "plain": ("/store elder grows by the wall", "elder grows by the wall", "Fact"),
    "verb-folds": ("/STORE elder grows by the wall", "elder grows by the wall", "Fact"),
    "flags": ("/store --type Decision --salience 0.9 We ship Postgres for V1", "We ship Postgres for V1", "Decision"),
    "flags-the-other-way-round": ("/store --salience 0 --type risk the dam may leak", "the dam may leak", "Risk"),
    "equals-form": ("/store --type=LESSON --salience=1 measure before cutting", "measure before cutting", "Lesson"),
    "double-dash-ends-flags": ("/store -- --type is a flag", "--type is a flag", "Fact"),
    "double-dash-after-flags": ("/store --type Task -- --salience is next", "--salience is next", "Task"),
    "flags-only-before-the-content": ("/store the flag --type Risk stays", "the flag --type Risk stays", "Fact"),
    "content-with-newlines": ("/store line one\n\n  line two\n\tline three", "line one\n\n  line two\n\tline three", "Fact"),
    "verb-and-newline": ("/store\nthe content is on the next line", "the content is on the next line", "Fact"),
    "symbols-and-sql": ("/store C++ rm -rf \"x\" ' OR 1=1; -- NEAR(a b) *:^", "C++ rm -rf \"x\" ' OR 1=1; -- NEAR(a b) *:^", "Fact"),
} | {f"type-{t}": (f"/store --type {t.swapcase()} a memory of this kind", "a memory of this kind", t) for t in TYPES}
for name, (prompt, content, kind) in STORES.items():

    @case(f"raw/console/store/{name}")
    def _(world: World, prompt=prompt, content=content, kind=kind):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            stored = one(agent, session, prompt)
            check(STORED.fullmatch(stored), f"the answer to {prompt!r}: {stored}")
            # A query that begins with dashes needs the marker too; with it, content is content.
            (found,) = matches(agent.say(session, f"/recall -- {content}"))
            equal(found, (stored.split()[1], 0.0, kind, content), "the match")


# Prompts that must do nothing but say what is wrong; each part must be in the answer.
WRONG = {
    "typo": ("/recal gossip", ['error: unknown command "/recal"; try /help']),
    "unknown-verb-in-capitals": ("/STOR x", ['error: unknown command "/STOR"; try /help']),
    "slash-alone": ("/", ["error: unknown command"]),
    "two-slashes": ("//store x", ["error: unknown command"]),
    "path": ("/etc/hosts is wrong", ["error: unknown command", "space"]),
    "code": ("/usr/bin/env python3 fails", ["error: unknown command", "space"]),
    "flag-in-capitals": ("/query --LAYER L1 x", ["--LAYER", "--layer"]),
    "flag-mistyped": ("/store --tpye Risk x", ["--tpye", "--type"]),
    "flag-of-another-verb": ("/store --k 3 x", ["--k"]),
    "flag-twice": ("/recall --k 3 --k 4 x", ["--k"]),
    "type-unknown": ("/store --type Rumour x", ["Rumour", *TYPES]),
    "type-without-value": ("/store --type", []),
    "salience-too-large": ("/store --salience 1.0001 x", ["1.0001", "0", "1"]),
    "salience-negative": ("/store --salience -0.1 x", ["-0.1"]),
    "salience-nan": ("/store --salience NaN x", ["NaN"]),
    "salience-infinite": ("/store --salience inf x", ["inf"]),
    "salience-word": ("/store --salience high x", ["high"]),
    "k-zero": ("/recall --k 0 x", ["0", "1", "100"]),
    "k-too-large": ("/recall --k 101 x", ["101", "100"]),
    "k-negative": ("/recall --k -1 x", ["-1"]),
    "k-fraction": ("/recall --k 1.5 x", ["1.5"]),
    "k-huge": ("/recall --k 99999999999999999999 x", ["99999999999999999999"]),
    "layer-unknown": ("/query --layer L3 x", ["L3", "L0", "L1", "L2"]),
    "layer-missing": ("/query x", ["/query --layer"]),
    "store-without-content": ("/store", ["/store"]),
    "store-with-blanks": ("/store  \n ", ["/store"]),
    "store-with-flags-only": ("/store --type Risk", ["/store"]),
    "recall-without-query": ("/recall", ["/recall"]),
    "recall-with-flag-only": ("/recall --k 3", ["/recall"]),
    "query-without-query": ("/query --layer L0", ["/query"]),
    "content-too-long": ("/store " + "x" * 8001, ["8"]),
    "content-with-nul": ("/store a\0b", []),
}
for name, (prompt, parts) in WRONG.items():

    @case(f"raw/console/wrong/{name}")
    def _(world: World, prompt=prompt, parts=parts):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            answer = one(agent, session, prompt)
            for part in parts:
                check(part.lower() in answer.lower(), f"{part!r} is missing in {answer!r}")
            check(not STORED.search(answer), f"stored by {prompt[:80]!r}: {answer}")
            equal(agent.say(session, "/recall x"), ["no results"], "a recall afterwards")


@case("raw/console/help-shows-the-grammar")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for text in ("/help", "/HELP", " /help", "/help me"):
            answer = "\n".join(agent.say(session, text))
            if text.startswith("/"):
                for verb in ("/store", "/recall", "/query", "/help", "--type", "--salience", "--k", "--layer"):
                    check(verb in answer, f"{verb} is missing in the answer to {text!r}: {answer}")


@case("raw/console/plain-text-and-recall-are-the-same-and-two-runs-give-the-same-bytes")
def _(world: World):
    memories = ["Postgres holds the production data", "SQLite is used on laptops", "The cat sleeps on the printer",
                "We postponed the Postgres migration to May", "Backups of Postgres run at night", "Printers jam on Mondays"]
    runs = []
    for _ in range(2):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            if not runs:
                for memory in memories:
                    one(agent, session, f"/store {memory}")
            answers = [agent.say(session, text) for text in ("postgres backups", "/recall postgres backups", "/RECALL --k=10 postgres backups")]
            equal(answers[1], answers[0], "plain text and /recall")
            equal(answers[2], answers[0], "and with the default k said")
            found = matches(answers[0])
            distances = [distance for _, distance, _, _ in found]
            equal(distances, sorted(distances), "nearest first")
            equal(found[0][3], "Backups of Postgres run at night", "the nearest")
            runs.append(answers[0])
    equal(runs[1], runs[0], "the second run")


@case("raw/console/k-limits-the-matches-and-keeps-their-order")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for n in range(15):
            one(agent, session, f"/store heron number {n} stands in the reeds")
        all_ = matches(agent.say(session, "/recall --k 100 heron in the reeds"))
        equal(len(all_), 15, "all matches")
        equal(len(matches(agent.say(session, "heron in the reeds"))), 10, "the default of ten")
        for k in (1, 3, 15):
            equal(matches(agent.say(session, f"/recall --k {k} heron in the reeds")), all_[:k], f"k={k}")


@case("raw/console/each-match-is-a-message-of-its-own")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for n in range(3):
            one(agent, session, f"/store plover {n} on the beach")
        start = len(agent.lines)
        id = agent.prompt(session, "plover on the beach")
        agent.result(id)
        chunks = [u for u in agent.turn(session, start, id) if u["sessionUpdate"] == "agent_message_chunk"]
        equal(len({u["messageId"] for u in chunks}), 3, "message ids")


@case("raw/console/query-looks-in-one-layer")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        equal(agent.say(session, "/recall anything at all"), ["no results"], "an empty memory")
        one(agent, session, "/store --type Pattern curlews call at dusk")
        for layer in ("L0", "l0"):
            equal(len(matches(agent.say(session, f"/query --layer {layer} curlews call at dusk"))), 1, layer)
        equal(len(matches(agent.say(session, "/QUERY --k 3 --layer=l0 curlews call at dusk"))), 1, "flags in any order")
        for layer in ("L1", "l2"):
            equal(agent.say(session, f"/query --layer {layer} curlews call at dusk"), ["no results"], layer)


@case("raw/console/the-terminal-and-the-editor-share-one-memory")
def _(world: World):
    done = world.hyphae("console", "/store --type Lesson told in a terminal")
    check(done.returncode == 0 and STORED.search(done.stdout), f"exit {done.returncode}: {done.stdout} {done.stderr[-300:]}")
    with Agent(world) as agent:
        agent.initialize()
        (found,) = matches(agent.say(agent.new(), "told in a terminal"))
        equal(found[2:], ("Lesson", "told in a terminal"), "the match")


@case("raw/console/storing-the-same-again-is-one-memory")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for _ in range(2):
            one(agent, session, "/store lapwings nest on the ground")
        equal(len(matches(agent.say(session, "lapwings nest on the ground"))), 1, "matches")


CONTENTS = {
    "longest": "y" * 8000, "longest-in-characters": "ü" * 8000, "emoji": "\U0001f344\U0001f9e0 \U0001f1eb\U0001f1f7",
    "right-to-left": "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "many-lines": "\n".join(f"row {n}" for n in range(900)),
    "lone-words-of-sql": "select * from cells where 1=1; drop table cells", "cjk": "\u5317\u4eac\u662f\u9996\u90fd",
    "symbols-only": "--- *** ???", "control-characters": "a\x07b\x1b[31mc",
}
for name, content in CONTENTS.items():

    @case(f"raw/console/content/{name}")
    def _(world: World, content=content):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            check(STORED.fullmatch(one(agent, session, f"/store -- {content}")), "stored")
            (found,) = matches(agent.say(session, f"/recall -- {content}"))
            equal((found[1], found[3]), (0.0, content), "the match")


QUERIES = ("the of and", "*", '"', "a AND (b OR", "content:x", "NEAR/3", "; drop table cells", "' or ''='", "%_", "\U0001f344", "\\", "?" * 5000)


@case("raw/console/queries-are-searched-for-not-parsed")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        one(agent, session, "/store a plain memory")
        for query in QUERIES:
            said = agent.say(session, f"/recall -- {query}")
            check(said == ["no results"] or matches(said), f"the answer to {query!r}: {said}")


@case("raw/console/a-lone-surrogate-harms-nothing")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.expect("odd", "session/prompt", {"sessionId": session})
        line = '{"jsonrpc":"2.0","id":"odd","method":"session/prompt","params":{"sessionId":"%s","prompt":[{"type":"text","text":"/store \\ud800 x"}]}}'
        agent.send_bytes((line % session).encode() + b"\n")
        # serde refuses the escape as broken JSON, and then there is no id to answer to.
        answer = agent.until(lambda m: "method" not in m and m.get("id") in ("odd", None), "an answer")
        if answer["id"] is None:
            equal(answer["error"]["code"], -32700, "the code")
            agent.optional.add('"odd"')
            agent.null_answers += 1
        agent.say(session, "/help")
