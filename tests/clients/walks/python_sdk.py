"""python_sdk.py AGENT CWD: walks through the agent with the Python SDK that this interpreter has.

Works with 0.12.1 and 1.0.0rc3. Prints one JSON object a case, {"case", "trouble"}, and at last {"done": cases}.
"""

import asyncio
import json
import os
import sys
import traceback
from contextlib import asynccontextmanager

from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process
from acp.schema import (
    AudioContentBlock,
    ClientCapabilities,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    Implementation,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

AGENT, CWD = sys.argv[1], sys.argv[2]
cases = 0


class Client:
    """Collects what the agent says; the console asks its client for nothing, so nothing else is offered."""

    def __init__(self):
        self.updates = []

    async def session_update(self, session_id, update, **_):
        self.updates.append((session_id, update))

    def messages(self, session_id, kinds=("agent_message_chunk", "user_message_chunk")):
        return [
            (u.session_update, u.message_id, u.content.text if u.content.type == "text" else u.content.uri)
            for s, u in self.updates
            if s == session_id and u.session_update in kinds
        ]

    def said(self, session_id):
        return [text for kind, _, text in self.messages(session_id) if kind == "agent_message_chunk"]


def text(words):
    return TextContentBlock(type="text", text=words)


@asynccontextmanager
async def connected():
    client = Client()
    async with spawn_agent_process(client, AGENT, env=dict(os.environ), cwd=CWD) as (agent, process):
        # The SDK sets `_meta` from unknown keyword arguments, and so none are given.
        answer = await agent.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(),
            client_info=Implementation(name="python-walk", version="0"),
        )
        yield client, agent, answer
    check(process.returncode == 0, f"the agent ended with {process.returncode}")


def check(condition, what):
    if not condition:
        raise AssertionError(what)


async def refused(code, call):
    try:
        answer = await call
    except RequestError as error:
        check(error.code == code, f"code {error.code} ({error}, {error.data}), wanted {code}")
        return error
    raise AssertionError(f"accepted: {answer!r}")


async def delete(agent, session_id):
    if hasattr(agent, "delete_session"):
        return await agent.delete_session(session_id=session_id)
    # 0.12.1 has no method for it, but the connection takes any.
    return await agent._conn.send_request("session/delete", {"sessionId": session_id})


async def listed(agent):
    answer = await agent.list_sessions()
    return [session.session_id for session in answer.sessions]


async def until(condition, what):
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"waited in vain for {what}")


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


async def walk():
    async with connected() as (client, agent, hello):
        async with case("initialize"):
            can = hello.agent_capabilities
            check(hello.protocol_version == 1 and can.load_session, f"{hello}")
            check(not can.prompt_capabilities.image and not can.prompt_capabilities.audio, "image and audio are off")
            sessions = can.session_capabilities
            check(sessions.list is not None and sessions.resume is not None and sessions.close is not None, f"{sessions}")
            check(hello.agent_info.name and hello.auth_methods, f"{hello}")

        async with case("authenticate"):
            await agent.authenticate(method_id=hello.auth_methods[0].id)
            await refused(-32602, agent.authenticate(method_id="no-such-method"))

        session = (await agent.new_session(cwd=CWD, mcp_servers=[])).session_id
        async with case("new"):
            check(session and (await agent.new_session(cwd=CWD, mcp_servers=[])).session_id != session, "two sessions")
            await refused(-32602, agent.new_session(cwd="relative", mcp_servers=[]))

        async with case("commands-are-announced"):
            is_it = lambda s, u: s == session and u.session_update == "available_commands_update"  # noqa: E731
            await until(lambda: sum(is_it(s, u) for s, u in client.updates) >= 2, "two updates")

        async with case("prompt-stores-and-recalls"):
            answer = await agent.prompt(session_id=session, prompt=[text("/store --type Decision We ship Postgres for V1")])
            check(answer.stop_reason == "end_turn", answer.stop_reason)
            await until(lambda: len(client.said(session)) == 1, "one message")
            id = client.said(session)[0].removeprefix("stored ")
            answer = await agent.prompt(session_id=session, prompt=[text("we ship Postgres for V1")])
            await until(lambda: len(client.said(session)) == 2, "two messages")
            check(client.said(session)[1].startswith(f"{id} distance="), client.said(session)[1])
            check(client.said(session)[1].endswith("type=Decision\nWe ship Postgres for V1"), client.said(session)[1])

        async with case("prompt-takes-a-resource-link"):
            link = ResourceContentBlock(type="resource_link", name="plan.md", uri="file:///plan.md")
            answer = await agent.prompt(session_id=session, prompt=[text("/recall --k 1 what is in"), link])
            check(answer.stop_reason == "end_turn", answer.stop_reason)

        async with case("prompt-refuses-image-audio-and-resource-and-stores-nothing"):
            for block in (
                ImageContentBlock(type="image", data="AAAA", mime_type="image/png"),
                AudioContentBlock(type="audio", data="AAAA", mime_type="audio/wav"),
                EmbeddedResourceContentBlock(type="resource", resource=TextResourceContents(uri="file:///a.txt", text="a")),
            ):
                await refused(-32602, agent.prompt(session_id=session, prompt=[text("/store zanzibar cloves"), block]))
            before = len(client.said(session))
            await agent.prompt(session_id=session, prompt=[text("/recall --k 1 zanzibar cloves")])
            await until(lambda: len(client.said(session)) > before, "an answer")
            check("zanzibar" not in client.said(session)[-1], client.said(session)[-1])

        async with case("a-typo-is-an-answer-not-an-error"):
            before = len(client.said(session))
            answer = await agent.prompt(session_id=session, prompt=[text("/recal gossip")])
            await until(lambda: len(client.said(session)) > before, "an answer")
            check(client.said(session)[-1] == 'error: unknown command "/recal"; try /help', client.said(session)[-1])
            check(answer.stop_reason == "end_turn", answer.stop_reason)

        async with case("empty-prompts-are-refused"):
            await refused(-32602, agent.prompt(session_id=session, prompt=[]))
            await refused(-32602, agent.prompt(session_id=session, prompt=[text("  ")]))

        async with case("cancel-in-flight-and-idle"):
            for n in range(5):
                running = asyncio.create_task(agent.prompt(session_id=session, prompt=[text(f"/store cancelled {n}")]))
                await asyncio.sleep(0)
                await agent.cancel(session_id=session)
                check((await running).stop_reason in ("cancelled", "end_turn"), "the stop reason")
            await agent.cancel(session_id=session)
            answer = await agent.prompt(session_id=session, prompt=[text("/help")])
            check(answer.stop_reason == "end_turn", answer.stop_reason)

        async with case("list"):
            rows = (await agent.list_sessions(cwd=CWD)).sessions
            row = next(row for row in rows if row.session_id == session)
            check(row.cwd == CWD and row.updated_at and row.title.startswith("/store --type Decision"), f"{row}")
            await refused(-32602, agent.list_sessions(cursor="not a cursor"))

        async with case("unknown-sessions-are-not-found"):
            error = await refused(-32002, agent.prompt(session_id="nobody", prompt=[text("hello")]))
            check(error.data == {"sessionId": "nobody"}, f"{error.data}")
            await refused(-32002, agent.load_session(cwd=CWD, session_id="nobody", mcp_servers=[]))
            await refused(-32002, agent.resume_session(cwd=CWD, session_id="nobody"))
            await refused(-32002, agent.close_session(session_id="nobody"))

        async with case("close"):
            await agent.close_session(session_id=session)
            await refused(-32002, agent.prompt(session_id=session, prompt=[text("/help")]))
            check(session in await listed(agent), "a closed session is still listed")
        lived = [m for m in client.messages(session) if m[0] == "agent_message_chunk"]

    async with connected() as (client, agent, _):
        async with case("load-replays-in-order-with-the-same-message-ids"):
            await agent.load_session(cwd=CWD, session_id=session, mcp_servers=[])
            await until(lambda: len(client.said(session)) >= len(lived), "the replay")
            replay = client.messages(session)
            check([m for m in replay if m[0] == "agent_message_chunk"] == lived, f"{replay} instead of {lived}")
            check(replay[0][0] == "user_message_chunk" and replay[0][2].startswith("/store --type Decision"), f"{replay[0]}")

    async with connected() as (client, agent, _):
        async with case("resume-replays-nothing"):
            await agent.resume_session(cwd=CWD, session_id=session)
            await agent.prompt(session_id=session, prompt=[text("/recall --k 1 we ship Postgres for V1")])
            await until(lambda: client.said(session), "an answer")
            check(len(client.messages(session)) == 1 and "Postgres" in client.said(session)[0], f"{client.updates}")

        async with case("delete"):
            await delete(agent, session)
            await delete(agent, session)
            check(session not in await listed(agent), "a deleted session is not listed")
            await refused(-32002, agent.load_session(cwd=CWD, session_id=session, mcp_servers=[]))


asyncio.run(walk())
print(json.dumps({"done": cases}), flush=True)
