"""An agent on the Python SDK that repeats the texts of its prompt and keeps no sessions."""

import asyncio
import uuid

from acp import Agent, InitializeResponse, NewSessionResponse, PromptResponse, run_agent
from acp.schema import AgentMessageChunk


class Echo(Agent):
    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, **_):
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd, **_):
        return NewSessionResponse(session_id=uuid.uuid4().hex)

    async def prompt(self, prompt, session_id, **_):
        for block in prompt:
            if block.type == "text":
                update = AgentMessageChunk(session_update="agent_message_chunk", content=block)
                await self.client.session_update(session_id=session_id, update=update)
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(Echo()))
