"""Raw lines against the rows of turns: superseding, cancelling, closing, and that each request ends exactly once.

The console is fast and deterministic, so a cancel and the end of its turn race: where both ends are legitimate both are
accepted, but never two answers, and nothing after the answer (the rules of every conversation see to that).
"""

import json

from harness.agent import Agent, prompt_params, texts
from harness.cases import case, check, equal
from harness.world import World

EITHER = ("cancelled", "end_turn")
IMAGE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}


def cancel_request(id) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}).encode() + b"\n"


def cancel(session: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}).encode() + b"\n"


@case("raw/turn/updates-come-before-the-answer-and-name-the-session")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        one, two = agent.new(), agent.new()
        for n in range(5):
            for session in (one, two):
                equal(agent.say(session, f"/unknown{n}"), [f'error: unknown command "/unknown{n}"; try /help'], "the answer")


@case("raw/turn/a-valid-prompt-supersedes-any-number-in-a-row")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for count in (2, 3, 10):
            start = len(agent.lines)
            lines = [agent.message("session/prompt", prompt_params(session, f"/unknown{n}")) for n in range(count)]
            ids = list(range(agent.ids - count + 1, agent.ids + 1))
            agent.send_bytes(b"".join(lines))
            reasons = [agent.result(id)["stopReason"] for id in ids]
            equal(reasons[-1], "end_turn", "the last prompt")
            check(all(reason in EITHER for reason in reasons), f"the reasons: {reasons}")
            order = [m["id"] for m in agent.messages(start) if "method" not in m]
            equal(order, ids, "the order of the answers")
            # The text names its turn, so that nothing of an earlier turn can hide after its answer.
            turn = 0
            for m in agent.messages(start):
                if "method" not in m:
                    turn += 1
                elif "content" in m["params"]["update"]:
                    text = m["params"]["update"]["content"]["text"]
                    check(f'"/unknown{turn}"' in text, f"in turn {turn}: {text}")
        agent.say(session, "/help")


@case("raw/turn/an-invalid-prompt-in-a-turn-disturbs-nothing")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for n in range(5):
            start = len(agent.lines)
            good = agent.message("session/prompt", prompt_params(session, f"/store the {n}th hornbeam"), id=f"good{n}")
            bad = [
                agent.message("session/prompt", params, id=f"bad{n}-{i}")
                for i, params in enumerate((prompt_params(session, IMAGE), prompt_params(session, " "), {"sessionId": session}))
            ]
            agent.send_bytes(good + b"".join(bad))
            for i in range(3):
                equal(agent.answer(f"bad{n}-{i}")["error"]["code"], -32602, "the code of an invalid prompt")
            equal(agent.result(f"good{n}")["stopReason"], "end_turn", "the turn that was under way")
            check(texts(agent.updates(session, start))[0].startswith("stored "), "what the turn said")


@case("raw/turn/a-pipelined-cancel-ends-the-turn-once-and-the-next-prompt-works")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for n in range(20):
            id = f"p{n}"
            agent.send_bytes(agent.message("session/prompt", prompt_params(session, f"/store maple {n}"), id=id) + cancel(session))
            check(agent.result(id)["stopReason"] in EITHER, "the stop reason")
            equal(len(agent.say(session, "/help")), 1, "the next prompt")


@case("raw/turn/a-cancelled-turn-stored-all-or-nothing")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        outcomes = {}
        for n in range(12):
            start = len(agent.lines)
            id = f"p{n}"
            agent.send_bytes(agent.message("session/prompt", prompt_params(session, f"/store rowan{n}berry"), id=id) + cancel(session))
            agent.result(id)
            outcomes[n] = texts(agent.turn(session, start, id))
        for n, said in outcomes.items():
            found = agent.say(session, f"/recall --k 1 rowan{n}berry")[0]
            if said and said[0].startswith("stored "):
                check(said[0].split()[1] in found, f"acknowledged but not found: {said}, {found}")


@case("raw/turn/cancel-when-idle-or-unknown-is-silent-and-fenced")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for id in (session, "nobody", "00000000-0000-7000-8000-000000000000"):
            agent.send_bytes(cancel(id))
        for n in range(5):
            # An idle cancel must not end the turn that comes after it.
            prompt = agent.message("session/prompt", prompt_params(session, "/help"), id=f"after{n}")
            agent.send_bytes(cancel(session) + prompt)
            equal(agent.result(f"after{n}")["stopReason"], "end_turn", "a prompt right behind an idle cancel")


@case("raw/turn/a-cancel-of-one-session-leaves-the-others-alone")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        one, two = agent.new(), agent.new()
        for n in range(10):
            agent.send_bytes(
                agent.message("session/prompt", prompt_params(one, "/store yew"), id=f"one{n}")
                + agent.message("session/prompt", prompt_params(two, "/store box"), id=f"two{n}")
                + cancel(one)
            )
            equal(agent.result(f"two{n}")["stopReason"], "end_turn", "the other session's turn")
            check(agent.result(f"one{n}")["stopReason"] in EITHER, "the cancelled session's turn")


@case("raw/turn/cancel-request-of-a-prompt-ends-it-cancelled")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for n in range(10):
            id = f"p{n}" if n % 2 else 1000 + n
            agent.send_bytes(agent.message("session/prompt", prompt_params(session, f"/store alder {n}"), id=id) + cancel_request(id))
            check(agent.result(id)["stopReason"] in EITHER, "the stop reason")
            agent.say(session, "/help")


@case("raw/turn/cancel-request-of-anything-else-is-harmless")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.send_bytes(cancel_request("nobody") + cancel_request(1) + cancel_request(None))
        for method, params in (("session/list", {}), ("session/new", {"cwd": str(world.project), "mcpServers": []})):
            agent.send_bytes(agent.message(method, params, id=method) + cancel_request(method))
            answer = agent.answer(method)
            check("result" in answer or answer["error"]["code"] == -32800, f"the answer: {answer}")
        # An id as text is not the id as a number.
        agent.send_bytes(agent.message("session/prompt", prompt_params(session, "/help"), id=5000) + cancel_request("5000"))
        equal(agent.result(5000)["stopReason"], "end_turn", "a prompt whose id looks like the cancelled one")


@case("raw/turn/close-with-a-prompt-under-way-ends-both-once")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        for n in range(5):
            session = agent.new()
            agent.send_bytes(
                agent.message("session/prompt", prompt_params(session, f"/store lime {n}"), id=f"p{n}")
                + agent.message("session/close", {"sessionId": session}, id=f"c{n}")
            )
            check(agent.result(f"p{n}")["stopReason"] in EITHER, "the stop reason")
            equal(agent.result(f"c{n}"), {}, "the answer to close")
            order = [m["id"] for m in agent.messages() if m.get("id") in (f"p{n}", f"c{n}")]
            equal(order, [f"p{n}", f"c{n}"], "the turn is answered before the close")
            equal(agent.refusal("session/prompt", prompt_params(session, "/help"))["code"], -32002, "after close")


@case("raw/turn/delete-with-a-prompt-under-way-ends-both-once")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        for n in range(5):
            session = agent.new()
            agent.send_bytes(
                agent.message("session/prompt", prompt_params(session, f"/store plane {n}"), id=f"p{n}")
                + agent.message("session/delete", {"sessionId": session}, id=f"d{n}")
            )
            answer = agent.answer(f"p{n}")
            check(answer.get("result", {}).get("stopReason") in EITHER, f"the answer to the prompt: {answer}")
            equal(agent.result(f"d{n}"), {}, "the answer to delete")
        equal(agent.call("session/list", {})["sessions"], [], "sessions left")


@case("raw/turn/load-with-a-prompt-under-way-answers-both-once")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for n in range(5):
            agent.send_bytes(
                agent.message("session/prompt", prompt_params(session, f"/store aspen {n}"), id=f"p{n}")
                + agent.message("session/load", {"sessionId": session, "cwd": str(world.project), "mcpServers": []}, id=f"l{n}")
            )
            check(agent.result(f"p{n}")["stopReason"] in EITHER, "the stop reason")
            check("error" in agent.answer(f"l{n}") or agent.answer(f"l{n}")["result"] == {}, "the answer to load")
        agent.say(session, "/help")


@case("raw/turn/many-sessions-at-once-are-each-answered-once", slow=True)
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        sessions = [agent.new() for _ in range(12)]
        for n in range(4):
            for session in sessions:
                agent.send_bytes(agent.message("session/prompt", prompt_params(session, f"/store {n} in {session}"), id=f"{session}{n}"))
                if n % 2:
                    agent.send_bytes(cancel(session))
            for session in sessions:
                check(agent.result(f"{session}{n}")["stopReason"] in EITHER, "the stop reason")


@case("raw/turn/end-of-input-right-behind-prompts-answers-each-once")
def _(world: World):
    agent = Agent(world)
    agent.initialize()
    sessions = [agent.new() for _ in range(3)]
    for n in range(3):
        for session in sessions:
            agent.prompt(session, f"/store larch {n} in {session}")
    agent.end("eof")


@case("raw/turn/an-acknowledged-memory-survives-a-kill", slow=True)
def _(world: World):
    kept = []
    for round_ in range(4):
        agent = Agent(world)
        agent.initialize()
        session = agent.new()
        for n in range(3):
            content = f"acorn{round_}x{n} fell from the tree"
            kept.append((content, agent.say(session, f"/store {content}")[0].split()[1]))
        agent.prompt(session, f"/store round {round_} that may be lost")
        agent.kill()
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        for content, id in kept:
            check(agent.say(session, f"/recall --k 1 {content}")[0].startswith(id), f"lost: {content}")
        rows = agent.call("session/list", {})["sessions"]
        equal(len(rows), 5, "sessions after four kills")
        for row in rows:
            agent.call("session/load", {"sessionId": row["sessionId"], "cwd": str(world.project), "mcpServers": []})
