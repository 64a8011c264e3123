"""One call of each tool at least, in an order that makes sense, for any client.

`steps()` is a generator: it yields (tool, arguments), is sent the structured result, and checks it. A tool that is
expected to fail is yielded with a third value, the code of the failure, and its text is sent back.
"""

TOOLS = (
    "recall", "query", "get", "conflicts", "updates", "store", "update", "link", "confirm", "forget", "resolve",
)  # fmt: skip


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def steps(mark: str):
    """`mark` keeps the memories of one walk apart from those of another on the same database."""
    left = yield "store", {"content": f"The {mark} gateway listens on port 8080", "type": "Decision", "salience": 0.9}
    check(left["outcome"] == "created" and left["searchable"], left)
    right = yield "store", {"content": f"The {mark} gateway must never listen on 8080", "tags": ["network"]}
    again = yield "store", {"content": f"The {mark} gateway listens on port 8080", "type": "Decision"}
    check(again["outcome"] == "unchanged" and again["id"] == left["id"], again)
    topic = yield "store", {"content": f"The {mark} release is on Thursday", "topic": f"{mark} release"}
    topic = yield "store", {"content": f"The {mark} release is on Friday", "topic": f"{mark} release"}
    check(topic["outcome"] == "revised" and topic["revision"] == 2, topic)

    found = yield "recall", {"query": f"on which port does the {mark} gateway listen", "k": 5}
    check(left["id"] in [hit["id"] for hit in found["hits"]], found)
    distances = [hit["distance"] for hit in found["hits"]]
    check(distances == sorted(distances), distances)
    nothing = yield "recall", {"query": "zymurgy of the antipodes"}
    check(nothing["matched"] == 0, nothing)
    briefing = yield "recall", {}
    check(briefing["mode"] == "briefing" and briefing["hits"], briefing)
    listed = yield "query", {"layer": "L0", "types": ["Decision"], "k": 100}
    check(left["id"] in [hit["id"] for hit in listed["hits"]], listed)

    full = yield "get", {"ids": [topic["id"], left["id"][:13] + left["id"][13:], "00000000"], "include": ["history"]}
    check(full["missing"] == ["00000000"], full)
    check(full["memories"][0]["history"][0]["content"].endswith("Thursday"), full)
    changed = yield "update", {
        "id": left["id"], "expected_revision": 1, "content": f"The {mark} gateway listens on port 8443", "reason": "TLS",
    }  # fmt: skip
    check(changed["revision"] == 2, changed)
    text = yield "update", {"id": left["id"], "expected_revision": 1, "salience": 0.1}, "revision_conflict"
    check("revision" in text, text)

    edge = yield "link", {"from": left["id"], "to": right["id"], "relation": "contradicts", "reason": "both cannot be"}
    check(edge["conflict_id"], edge)
    open_ones = yield "conflicts", {"ids": [left["id"]]}
    check([c["conflict_id"] for c in open_ones["conflicts"]] == [edge["conflict_id"]], open_ones)
    decided = yield "resolve", {"conflict_id": edge["conflict_id"], "verdict": "left", "reason": "the user said so"}
    check(decided["superseded"] == [right["id"]], decided)
    voices = yield "confirm", {"ids": [topic["id"]], "evidence": "the calendar says so"}
    check(voices["items"][0]["outcome"] == "author", voices)

    news = yield "updates", {"from_others": False, "k": 100}
    check({"added", "revised", "superseded", "conflict"} <= {diff["kind"] for diff in news["diffs"]}, news)
    none = yield "updates", {"cursor": news["next_cursor"], "from_others": False}
    check(none["diffs"] == [] and not none["more"], none)

    shown = yield "forget", {"ids": [topic["id"]], "mode": "erase"}
    check(not shown["applied"] and shown["confirm"], shown)
    text = yield "forget", {"ids": [topic["id"]], "mode": "erase", "apply": True}, "confirmation_required"
    check("preview" in text, text)


async def drive(mark: str, call) -> None:
    """Goes through all steps with a client; `await call(tool, arguments)` returns (failed, text, structured result)."""
    import json

    walk = steps(mark)
    step = next(walk)
    while True:
        tool, arguments, *code = step
        failed, text, structured = await call(tool, arguments)
        if code:
            check(failed and f"code: {code[0]}" in text, text)
        else:
            check(not failed and json.loads(text) == structured, text)
        try:
            step = walk.send(text if code else structured)
        except StopIteration:
            return


def tools_called():
    """The tools that `steps` calls, without a server: used to see that none is forgotten."""
    import re
    from pathlib import Path

    return set(re.findall(r'yield "([a-z]+)"', Path(__file__).read_text()))
