"""mcp_python.py SERVER CWD: walks through the MCP server with the Python SDK, in both eras of the protocol.

Prints one JSON object a case, {"case", "trouble"}, and at last {"done": cases}.
"""

import asyncio
import json
import sys
import traceback

from mcp import Client, StdioServerParameters
from mcp.types import PromptReference, ResourceTemplateReference
from mcp_steps import TOOLS, check, drive

SERVER, CWD = sys.argv[1], sys.argv[2]
cases = 0


def report(case, trouble):
    global cases
    cases += 1
    print(json.dumps({"case": case, "trouble": trouble}), flush=True)


async def call_each(client, mark):
    async def call(tool, arguments):
        result = await client.call_tool(tool, arguments)
        return result.is_error, "".join(block.text for block in result.content), result.structured_content

    await drive(mark, call)


async def look_around(client):
    tools = await client.list_tools()
    check(tuple(tool.name for tool in tools.tools) == TOOLS, tools)
    prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
    check(prompts == {"remember", "brief-me", "review-conflicts"}, prompts)
    brief = await client.get_prompt("brief-me", {})
    check([m.content.type for m in brief.messages] == ["text", "resource"], brief)
    for resource in (await client.list_resources()).resources:
        contents = (await client.read_resource(str(resource.uri))).contents
        check(json.loads(contents[0].text), contents)
    templates = {t.uri_template for t in (await client.list_resource_templates()).resource_templates}
    check(templates == {"hyphae://memory/{id}", "hyphae://project/{project}/briefing"}, templates)


async def complete(client):
    stored = await client.call_tool("store", {"content": "Completion works", "topic": "zebra crossing", "tags": ["zebra"]})
    memory = stored.structured_content["id"]
    for reference, argument, typed, want in [
        (PromptReference(type="ref/prompt", name="remember"), "topic", "ze", "zebra crossing"),
        (PromptReference(type="ref/prompt", name="remember"), "tags", "a,ze", "a,zebra"),
        (PromptReference(type="ref/prompt", name="brief-me"), "project", CWD[:3], CWD),
        (ResourceTemplateReference(type="ref/resource", uri="hyphae://memory/{id}"), "id", memory[:9], memory),
    ]:
        done = await client.complete(reference, {"name": argument, "value": typed})
        check(want in done.completion.values, (argument, done))
    read = await client.read_resource(f"hyphae://memory/{memory}")
    check(json.loads(read.contents[0].text)["content"] == "Completion works", read)


async def era(mode, version):
    server = StdioServerParameters(command=SERVER, cwd=CWD)
    async with Client(server, mode=mode) as client:
        check(client.protocol_version == version, client.protocol_version)
        check(client.server_info.name == "hyphae", client.server_info)
        check(len(client.instructions) < 1024, client.instructions)
        await look_around(client)
        await call_each(client, f"python {version}")
        await complete(client)


for mode, version in [("legacy", "2025-11-25"), ("auto", "2026-07-28")]:
    try:
        asyncio.run(asyncio.wait_for(era(mode, version), 60))
        report(version, None)
    except Exception:
        report(version, traceback.format_exc())
print(json.dumps({"done": cases}))
