"""mcp_fastmcp.py SERVER CWD: calls every tool of the MCP server with FastMCP's client.

Prints one JSON object a case, {"case", "trouble"}, and at last {"done": cases}.
"""

import asyncio
import json
import sys
import traceback

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp_steps import TOOLS, check, drive

SERVER, CWD = sys.argv[1], sys.argv[2]


async def walk():
    async with Client(StdioTransport(command=SERVER, args=[], cwd=CWD)) as client:

        async def call(tool, arguments):
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            return result.is_error, "".join(block.text for block in result.content), result.structured_content

        tools = await client.list_tools()
        check(tuple(tool.name for tool in tools) == TOOLS, tools)
        await drive("fastmcp", call)


try:
    asyncio.run(asyncio.wait_for(walk(), 60))
    trouble = None
except Exception:
    trouble = traceback.format_exc()
print(json.dumps({"case": "every-tool", "trouble": trouble}))
print(json.dumps({"done": 1}))
