"""Raw lines against the rows of sessions: new, load, resume, list, close, delete, and whose they are."""

import datetime
import json
import time
import unicodedata
import uuid

from harness.agent import Agent, by_message, prompt_params, texts
from harness.cases import case, check, equal, wait_until
from harness.world import World

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


def setup(world: World, session: str, cwd=None) -> dict:
    return {"sessionId": session, "cwd": str(cwd or world.project), "mcpServers": []}


def listed(agent: Agent, **filters) -> list[dict]:
    """All pages of the list."""
    found, params = [], dict(filters)
    while True:
        page = agent.call("session/list", params)
        found += page["sessions"]
        if page.get("nextCursor") is None:
            return found
        params["cursor"] = page["nextCursor"]


@case("raw/new/ids-are-uuids-of-version-7-and-distinct")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        ids = [agent.new() for _ in range(5)]
        equal(len(set(ids)), 5, "distinct ids")
        for id in ids:
            equal((uuid.UUID(id).version, str(uuid.UUID(id))), (7, id), "the version and form")


@case("raw/new/the-project-is-the-canonical-cwd")
def _(world: World):
    (world.root / "link").symlink_to(world.project)
    (world.root / "elsewhere").mkdir()
    with Agent(world) as agent:
        agent.initialize()
        agent.say(agent.new(), "/store the walnut tree is old")
        (found,) = agent.say(agent.new(world.root / "link"), "the walnut tree is old")
        check("walnut" in found, f"through a link: {found}")
        (found,) = agent.say(agent.new(f"{world.project}/../project/."), "the walnut tree is old")
        check("walnut" in found, f"through dots: {found}")
        equal(agent.say(agent.new(world.root / "elsewhere"), "the walnut tree is old"), ["no results"], "another project")


@case("raw/new/a-folder-with-odd-characters-in-its-name")
def _(world: World):
    odd = world.root / "a b'c\"d;ü\U0001f344%20"
    odd.mkdir()
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new(odd)
        agent.say(session, "/store odd names are names")
        check("odd names" in agent.say(session, "odd names are names")[0], "recall in an odd folder")
        equal([s["sessionId"] for s in listed(agent, cwd=str(odd))], [session], "list by cwd")


@case("raw/new/mcp-servers-are-dropped-and-their-secrets-stay-out-of-the-log")
def _(world: World):
    secret = world.secret("token")
    mark = world.root / "was-run"
    servers = [
        {"name": "runner", "command": "/bin/sh", "args": ["-c", f"touch {mark}"], "env": [{"name": "TOKEN", "value": secret}]},
        {"type": "http", "name": "web", "url": f"http://127.0.0.1:9/{secret}", "headers": [{"name": "A", "value": secret}]},
        {"type": "sse", "name": "events", "url": "http://127.0.0.1:9/", "headers": []},
    ]
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new(mcpServers=servers)
        agent.say(session, "/help")
        agent.call("session/load", setup(world, session) | {"mcpServers": servers})
        agent.call("session/resume", setup(world, session) | {"mcpServers": servers})
        agent.say(session, "/help")
    check(not mark.exists(), "the server's command was run")


@case("raw/load/replays-everything-in-order-with-the-same-ids-before-it-answers")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        prompts = ["/store the first pear is ripe", "/store the second pear is not", "which pear is ripe", "/recal", "/help"]
        for prompt in prompts:
            agent.say(session, prompt)
        lived = by_message(agent.updates(session), ("agent_message_chunk",))
    check(all(id for _, id, _ in lived) and len({id for _, id, _ in lived}) == len(lived), f"message ids: {lived}")

    replays = []
    for _ in range(2):
        with Agent(world) as again:
            again.initialize()
            since = len(again.lines)
            id = again.ask("session/load", setup(world, session))
            equal(again.result(id), {}, "the answer to load")
            before = by_message(again.turn(session, since, id))
            replays.append(before)
            said = [m for m in before if m[0] == "agent_message_chunk"]
            equal(said[: len(lived)], lived, "what the agent said")
            asked = [text for kind, _, text in before if kind == "user_message_chunk"]
            equal(asked[: len(prompts)], prompts, "what was asked")
            equal(before[0][0], "user_message_chunk", "the first message")
            again.say(session, "/help")
            # `say` adds to the transcript; the rules of every conversation check that no replay came after.
    equal(replays[1][: len(replays[0])], replays[0], "the second replay, as far as the first went")
    equal(len(replays[1]), len(replays[0]) + 2, "one more prompt and answer")


@case("raw/load/on-the-connection-that-made-it-and-twice")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.say(session, "/help")
        seen = []
        for _ in range(2):
            since = len(agent.lines)
            id = agent.ask("session/load", setup(world, session))
            agent.result(id)
            seen.append(by_message(agent.turn(session, since, id)))
        equal(len(seen[0]), 2, "one prompt and one answer")
        equal(seen[0], seen[1], "two replays")


@case("raw/load/an-empty-session-and-a-long-one")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        empty, long = agent.new(), agent.new()
        for n in range(60):
            agent.say(long, f"/unknown{n}")
        for session, count in ((empty, 0), (long, 120)):
            since = len(agent.lines)
            id = agent.ask("session/load", setup(world, session))
            agent.result(id)
            replay = by_message(agent.turn(session, since, id))
            equal(len(replay), count, "messages replayed")
            equal([t for k, _, t in replay if k == "user_message_chunk"], [f"/unknown{n}" for n in range(count // 2)], "prompts")


@case("raw/resume/replays-nothing-and-needs-no-servers")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.say(session, "/store the oak is taller than the elm")
    with Agent(world) as again:
        again.initialize()
        result = again.call("session/resume", {"sessionId": session, "cwd": str(world.project)})
        check(isinstance(result, dict), f"the answer to resume: {result}")
        check("the oak" in again.say(session, "/recall --k 1 the oak is taller than the elm")[0], "a prompt after resume")
        equal(len(texts(again.updates(session))), 1, "messages of the agent, history or not")


@case("raw/commands/are-sent-after-new-load-and-resume-and-once-more")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = None
        for method in ("session/new", "session/load", "session/resume"):
            since = len(agent.lines)
            params = {"cwd": str(world.project), "mcpServers": []} if session is None else setup(world, session)
            id = agent.ask(method, params)
            session = agent.result(id).get("sessionId", session)

            def sent(since=since):
                found = []
                for m in agent.messages(since):
                    if m.get("method") == "session/update" and m["params"]["sessionId"] == session:
                        if m["params"]["update"]["sessionUpdate"] == "available_commands_update":
                            found.append(m["params"]["update"]["availableCommands"])
                return found

            wait_until(lambda: len(sent()) >= 2, f"two updates after {method}", patience=5)
            before = [u for u in agent.turn(session, since, id) if u["sessionUpdate"] == "available_commands_update"]
            check(not before, f"commands came before the answer to {method}")
            for commands in sent():
                equal([c["name"] for c in commands][:4], ["store", "recall", "query", "help"], "the names")
                check(all(c["description"] for c in commands), f"descriptions: {commands}")
            agent.say(session, "/help")
        equal(len(sent()), 2, "the number of updates after resume and a prompt")


@case("raw/list/newest-first-with-title-time-and-cwd")
def _(world: World):
    other = world.root / "other"
    other.mkdir()
    with Agent(world) as agent:
        agent.initialize()
        first, second, third = agent.new(), agent.new(), agent.new(other)
        agent.say(second, "/recall hazel")
        agent.say(first, "/recall birch")
        agent.say(first, "/recall larch")
        rows = listed(agent)
        equal({r["sessionId"] for r in rows}, {first, second, third}, "the sessions")
        for row in rows:
            check(datetime.datetime.fromisoformat(row["updatedAt"]).tzinfo, f"a time without a zone: {row}")
        equal([r["sessionId"] for r in rows], [third, second, first], "newest first, by when they were made")
        by_id = {r["sessionId"]: r for r in rows}
        equal(by_id[first]["title"], "/recall birch", "the title")
        equal(by_id[third]["cwd"], str(other), "the cwd")
        mine = [r["sessionId"] for r in listed(agent, cwd=str(world.project))]
        equal(mine, [second, first], "filtered by cwd")
        check(by_id[first]["updatedAt"] > by_id[second]["updatedAt"], "the time of the last prompt")
        equal(listed(agent, cwd="/nonexistent/folder"), [], "a cwd that nobody uses")
        for empty in ({}, {"cwd": None, "cursor": None}, None):
            equal(len(agent.call("session/list", empty)["sessions"]), 3, f"with parameters {empty}")


TITLES = {
    "long-words": ("word " * 60, 80), "families": (FAMILY * 100, 80), "accents": ("e\u0301" * 200, 80),
    "many-lines": ("one line\nand another\nand a third", 80), "short": ("short", 5),
}
for name, (prompt, most) in TITLES.items():

    @case(f"raw/list/the-title-is-80-whole-characters-of-the-first-prompt/{name}")
    def _(world: World, name=name, prompt=prompt, most=most):
        unit = {"families": FAMILY, "accents": "e\u0301"}.get(name)
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            agent.say(session, prompt)
            (row,) = listed(agent)
            title = row["title"].removesuffix("…")
            if name == "accents":
                title = unicodedata.normalize("NFD", title)
            count = title.count(unit) if unit else len(title)
            check(0 < count <= most, f"{count} characters: {title}")
            if unit:
                equal(title, unit * count, "a cut character")
            elif name != "many-lines":
                check(prompt.startswith(title), f"the title: {title!r}")


@case("raw/list/pages-hold-every-session-once-by-an-opaque-stable-cursor", slow=True)
def _(world: World):
    count = 230
    with Agent(world) as agent:
        agent.initialize()
        asked = [agent.ask("session/new", {"cwd": str(world.project), "mcpServers": []}) for _ in range(count)]
        made = [agent.result(id)["sessionId"] for id in asked]
        page = agent.call("session/list", {})
        cursor = page.get("nextCursor")
        check(cursor, f"{len(page['sessions'])} sessions came at once, without a cursor")
        again = agent.call("session/list", {"cursor": cursor})
        fresh = agent.new()
        equal(agent.call("session/list", {"cursor": cursor}), again, "the second page after a new session")
        agent.call("session/delete", {"sessionId": fresh})
        rows = listed(agent)
        equal(len(rows), count, "sessions on all pages")
        equal({r["sessionId"] for r in rows}, set(made), "each once")
        ids = [r["sessionId"] for r in rows]
        equal(ids, sorted(ids, reverse=True), "newest first across pages: the ids are time-ordered")
        other = world.create_key("other")
    with Agent(world, key=other) as stranger:
        stranger.initialize()
        answer = stranger.answer(stranger.ask("session/list", {"cursor": cursor}))
        equal(answer.get("result", {}).get("sessions", []), [], "what a foreign cursor shows")


@case("raw/close/frees-the-session-and-load-brings-it-back")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.say(session, "/help")
        equal(agent.call("session/close", {"sessionId": session}), {}, "the answer to close")
        for method, params in (
            ("session/prompt", prompt_params(session, "/help")), ("session/close", {"sessionId": session}),
        ):
            error = agent.refusal(method, params)
            equal((error["code"], error.get("data")), (-32002, {"sessionId": session}), f"{method} after close")
        equal([r["sessionId"] for r in listed(agent)], [session], "it is still listed")
        agent.call("session/load", setup(world, session))
        agent.say(session, "/help")
        agent.call("session/close", {"sessionId": session})
        agent.call("session/resume", setup(world, session))
        agent.say(session, "/help")


@case("raw/delete/erases-and-unknown-ids-succeed")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session, kept = agent.new(), agent.new()
        agent.say(session, "/help")
        for id in (session, session, str(uuid.uuid4()), "nobody"):
            equal(agent.call("session/delete", {"sessionId": id}), {}, f"deleting {id}")
        equal([r["sessionId"] for r in listed(agent)], [kept], "the sessions left")
        for method, params in (
            ("session/prompt", prompt_params(session, "/help")), ("session/load", setup(world, session)),
            ("session/resume", setup(world, session)), ("session/close", {"sessionId": session}),
        ):
            equal(agent.refusal(method, params)["code"], -32002, f"{method} after delete")


def absent_id(kind: str, world: World, owner: Agent) -> str:
    """An id that the asking key cannot use, of each kind."""
    if kind == "foreign":
        session = owner.new()
        owner.say(session, "/store a private thought")
        return session
    return {"unknown": lambda: str(uuid.UUID(int=(int(time.time() * 1000) << 80) | 7 << 76 | 2 << 62 | 12345)),
            "not-a-uuid": lambda: "nobody", "empty": lambda: ""}[kind]()


ABSENT = ("session/prompt", "session/load", "session/resume", "session/close")
for method in ABSENT:

    @case(f"raw/absent/{method}-answers-the-same-bytes-for-unknown-foreign-and-closed")
    def _(world: World, method=method):
        other = world.create_key("other")
        with Agent(world, key=other) as owner, Agent(world) as agent:
            owner.initialize()
            agent.initialize()
            answers = {}
            kinds = ["unknown", "foreign", "not-a-uuid", "empty"]
            if method in ("session/prompt", "session/close"):
                kinds += ["closed", "deleted"]
            else:
                kinds += ["deleted"]
            for kind in kinds:
                if kind in ("closed", "deleted"):
                    session = agent.new()
                    agent.say(session, "/help")
                    agent.call("session/close" if kind == "closed" else "session/delete", {"sessionId": session})
                else:
                    session = absent_id(kind, world, owner)
                id = f"ask-{kind}"
                params = prompt_params(session, "/help") if method == "session/prompt" else setup(world, session)
                agent.ask(method, params, id=id)
                error = agent.answer(id).get("error", {})
                equal((error.get("code"), error.get("data")), (-32002, {"sessionId": session}), f"{kind}: {error}")
                line = next(l for _, l in agent.lines if json.loads(l).get("id") == id)
                answers[kind] = line.replace(json.dumps(id).encode(), b"ID").replace(json.dumps(session).encode(), b"SESSION")
            equal(len(set(answers.values())), 1, f"kinds of answers: {answers}")


@case("raw/absent/a-foreign-session-cannot-be-deleted-or-seen")
def _(world: World):
    other = world.create_key("other")
    with Agent(world, key=other) as owner, Agent(world) as agent:
        owner.initialize()
        agent.initialize()
        session = owner.new()
        owner.say(session, "/help")
        equal(agent.call("session/delete", {"sessionId": session}), {}, "deleting a foreign session")
        agent.notify("session/cancel", {"sessionId": session})
        equal(listed(agent), [], "the sessions of the other key")
        equal([r["sessionId"] for r in listed(owner)], [session], "the owner's sessions")
        owner.say(session, "/help")


@case("raw/sessions/two-connections-of-one-key-share-the-store")
def _(world: World):
    with Agent(world) as one, Agent(world) as two:
        one.initialize()
        two.initialize()
        session = one.new()
        one.say(session, "/store the plum is purple")
        check("the plum" in two.say(two.new(), "the plum is purple")[0], "another process recalls")
        equal(two.refusal("session/prompt", prompt_params(session, "/help"))["code"], -32002, "inactive on this connection")
        two.call("session/resume", setup(world, session))
        two.say(session, "/help")
        check(session in [r["sessionId"] for r in listed(two)], "listed by the other process")


@case("raw/sessions/many-processes-write-at-once-and-nothing-is-refused-or-lost", slow=True)
def _(world: World):
    agents = [Agent(world) for _ in range(4)]
    sessions, asked = [], []
    for agent in agents:
        agent.initialize()
        sessions.append(agent.new())
    for n in range(10):
        for i, (agent, session) in enumerate(zip(agents, sessions, strict=True)):
            if asked and n:
                agent.result(asked[-len(agents)])
            asked.append(agent.prompt(session, f"/store gull{n}of{i} cries over the harbour"))
    for agent, id in zip(agents, asked[-len(agents) :], strict=True):
        agent.result(id)
    for agent, session in zip(agents, sessions, strict=True):
        said = texts(agent.updates(session))
        check(len(said) == 10 and all(text.startswith("stored ") for text in said), f"not all were stored: {said}")
    found = agents[0].say(sessions[0], "/recall --k 100 gull cries over the harbour")
    equal(len(found), 40, "memories of all processes")
    for agent in agents:
        agent.end()


@case("raw/sessions/two-keys-share-a-project-but-no-sessions")
def _(world: World):
    other = world.create_key("other")
    with Agent(world) as one, Agent(world, key=other) as two:
        one.initialize()
        two.initialize()
        one.say(one.new(), "/store the medlar is brown")
        check("the medlar" in two.say(two.new(), "the medlar is brown")[0], "visibility is the project by default")
        equal(len(listed(one)), 1, "sessions of the first key")
        equal(len(listed(two)), 1, "sessions of the second key")


@case("raw/sessions/fork-is-there-only-where-it-is-advertised")
def _(world: World):
    with Agent(world) as agent:
        check("fork" not in agent.initialize()["agentCapabilities"]["sessionCapabilities"], "advertised")
        error = agent.refusal("session/fork", setup(world, agent.new()))
        equal(error["code"], -32601, "the code")


@case("raw/sessions/fork-copies-the-history-under-the-unstable-flag")
def _(world: World):
    # Not recorded: the stable schema, which all captures are held against, has no fork.
    with Agent(world, "--unstable", recorded=False) as agent:
        check("fork" in agent.initialize()["agentCapabilities"]["sessionCapabilities"], "not advertised")
        session = agent.new()
        agent.say(session, "/recall the first words")
        fork = agent.call("session/fork", setup(world, session))["sessionId"]
        check(fork != session, "the same id")
        agent.say(fork, "/recall words of the fork")
        agent.say(session, "/recall more words")
        replays = {}
        for id in (session, fork):
            since = len(agent.lines)
            asked = agent.ask("session/load", setup(world, id))
            agent.result(asked)
            replays[id] = [t for k, _, t in by_message(agent.turn(id, since, asked)) if k == "user_message_chunk"]
        equal(replays[session], ["/recall the first words", "/recall more words"], "the first")
        equal(replays[fork], ["/recall the first words", "/recall words of the fork"], "the fork")
