"""acp_client_walk.py AGENT CWD: walks through the agent with `acp-client`, a small client library of somebody else.

It shows text and no codes, so that is what is checked. Prints one JSON object a case, and at last {"done": cases}.
"""

import asyncio
import json
import sys
import traceback
from contextlib import asynccontextmanager
from pathlib import Path

from acp_client import Agent, AgentError

AGENT, CWD = sys.argv[1], Path(sys.argv[2])
cases = 0


@asynccontextmanager
async def case(name):
    global cases
    cases += 1
    trouble = None
    try:
        yield
    except Exception:
        trouble = traceback.format_exc(limit=4)
    print(json.dumps({"case": name, "trouble": trouble}), flush=True)


def check(condition, what):
    if not condition:
        raise AssertionError(what)


async def walk():
    first = Agent([AGENT], CWD)
    async with case("ask-stores-and-recalls"):
        stored = await first.ask("/store --type Lesson measure twice, cut once")
        check(stored.startswith("stored "), stored)
        found = await first.ask("measure twice, cut once")
        check(found.startswith(stored.removeprefix("stored ")) and "type=Lesson\nmeasure twice, cut once" in found, found)

    async with case("answers-grow-and-a-typo-is-an-answer"):
        grown = []
        answer = await first.ask("/recal x", on_text=grown.append)
        check(answer == 'error: unknown command "/recal"; try /help' and grown[-1] == answer, f"{answer} {grown}")

    async with case("a-blank-question-is-refused-and-the-next-one-works"):
        try:
            answer = await first.ask("   ")
            raise AssertionError(f"accepted: {answer}")
        except AgentError as error:
            check("-32602" in str(error), str(error))
        check("/store" in await first.ask("/help"), "the next question")

    async with case("giving-up-a-question-cancels-it"):
        question = asyncio.create_task(first.ask("/store given up"))
        await asyncio.sleep(0)
        question.cancel()
        await asyncio.gather(question, return_exceptions=True)
        check("/store" in await first.ask("/help"), "the next question")
    session = first.session
    await first.stop()

    async with case("an-earlier-session-is-carried-on"):
        heard = []
        again = Agent([AGENT], CWD, session=session)
        await again.start(on_update=heard.append)
        check(again.session == session and not again.fresh, f"{again.session} instead of {session}")
        words = [u["content"]["text"] for u in heard if u["sessionUpdate"] == "user_message_chunk"]
        check(words[:3] == ["/store --type Lesson measure twice, cut once", "measure twice, cut once", "/recal x"], f"{words}")
        check("measure twice" in await again.ask("measure twice, cut once"), "a question after it")
        await again.stop()

    async with case("a-session-that-is-gone-becomes-a-new-one"):
        lost = Agent([AGENT], CWD, session="00000000-0000-7000-8000-000000000000")
        await lost.start()
        check(lost.session and lost.fresh, "a new session")
        await lost.stop()


asyncio.run(walk())
print(json.dumps({"done": cases}), flush=True)
