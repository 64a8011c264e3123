"""Bad parameters: `-32602` names the field and what was expected, and repeats nothing of what was sent."""

import json

from harness.agent import INITIALIZE, Agent, prompt_params, text_block
from harness.cases import case, check, equal
from harness.world import World

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SECRET, SESSION, PROJECT, FILE = "<secret>", "<session>", "<project>", "<file>"
LISTED = {"cwd": PROJECT, "mcpServers": []}

# name: (method, parameters, the field that the message must name)
BAD = {
    "initialize/no-version": ("initialize", {"clientInfo": {"name": SECRET, "version": "0"}}, "protocolVersion"),
    "initialize/version-null": ("initialize", INITIALIZE | {"protocolVersion": None, "x": SECRET}, "protocolVersion"),
    "initialize/version-object": ("initialize", INITIALIZE | {"protocolVersion": {"x": SECRET}}, "protocolVersion"),
    "new/cwd-missing": ("session/new", {"mcpServers": [], "x": SECRET}, "cwd"),
    "new/cwd-null": ("session/new", {"cwd": None, "mcpServers": [], "x": SECRET}, "cwd"),
    "new/cwd-number": ("session/new", {"cwd": 7, "mcpServers": [], "x": SECRET}, "cwd"),
    "new/cwd-object": ("session/new", {"cwd": {"x": SECRET}, "mcpServers": []}, "cwd"),
    "new/cwd-empty": ("session/new", {"cwd": "", "mcpServers": [], "x": SECRET}, "cwd"),
    "new/cwd-relative": ("session/new", {"cwd": f"./{SECRET}", "mcpServers": []}, "cwd"),
    "new/cwd-of-nothing": ("session/new", {"cwd": f"/{SECRET}/x", "mcpServers": []}, "cwd"),
    "new/cwd-a-file": ("session/new", {"cwd": FILE, "mcpServers": [], "x": SECRET}, "cwd"),
    "new/cwd-with-nul": ("session/new", {"cwd": f"/tmp/\0{SECRET}", "mcpServers": []}, "cwd"),
    "new/servers-string": ("session/new", {"cwd": PROJECT, "mcpServers": SECRET}, "mcpServers"),
    "new/parameters-null": ("session/new", None, "cwd"),
    "new/parameters-array": ("session/new", [SECRET], ""),
    "new/parameters-string": ("session/new", SECRET, ""),
    "load/session-missing": ("session/load", LISTED | {"x": SECRET}, "sessionId"),
    "load/session-number": ("session/load", LISTED | {"sessionId": 7, "x": SECRET}, "sessionId"),
    "load/cwd-relative": ("session/load", {"sessionId": SESSION, "cwd": SECRET, "mcpServers": []}, "cwd"),
    "load/cwd-missing": ("session/load", {"sessionId": SESSION, "mcpServers": [], "x": SECRET}, "cwd"),
    "resume/session-missing": ("session/resume", {"cwd": PROJECT, "x": SECRET}, "sessionId"),
    "resume/session-object": ("session/resume", {"cwd": PROJECT, "sessionId": {"x": SECRET}}, "sessionId"),
    "resume/cwd-relative": ("session/resume", {"sessionId": SESSION, "cwd": SECRET}, "cwd"),
    "list/cursor-foreign": ("session/list", {"cursor": SECRET}, "cursor"),
    "list/cursor-empty": ("session/list", {"cursor": "", "x": SECRET}, "cursor"),
    "list/cursor-number": ("session/list", {"cursor": 7, "x": SECRET}, "cursor"),
    "list/cwd-number": ("session/list", {"cwd": 7, "x": SECRET}, "cwd"),
    "list/cwd-relative": ("session/list", {"cwd": SECRET}, "cwd"),
    "close/session-missing": ("session/close", {"x": SECRET}, "sessionId"),
    "close/session-null": ("session/close", {"sessionId": None, "x": SECRET}, "sessionId"),
    "delete/session-missing": ("session/delete", {"x": SECRET}, "sessionId"),
    "delete/session-array": ("session/delete", {"sessionId": [SECRET]}, "sessionId"),
    "authenticate/method-missing": ("authenticate", {"x": SECRET}, "methodId"),
    "authenticate/method-unknown": ("authenticate", {"methodId": SECRET}, "methodId"),
    "prompt/session-missing": ("session/prompt", {"prompt": [text_block(SECRET)]}, "sessionId"),
    "prompt/session-number": ("session/prompt", {"sessionId": 7, "prompt": [text_block(SECRET)]}, "sessionId"),
    "prompt/session-null": ("session/prompt", {"sessionId": None, "prompt": [text_block(SECRET)]}, "sessionId"),
    "prompt/prompt-missing": ("session/prompt", {"sessionId": SESSION, "x": SECRET}, "prompt"),
    "prompt/prompt-null": ("session/prompt", {"sessionId": SESSION, "prompt": None, "x": SECRET}, "prompt"),
    "prompt/prompt-string": ("session/prompt", {"sessionId": SESSION, "prompt": SECRET}, "prompt"),
    "prompt/block-string": ("session/prompt", prompt_params(SESSION) | {"prompt": [SECRET]}, "prompt"),
    "prompt/block-without-type": ("session/prompt", prompt_params(SESSION, {"text": SECRET}), "type"),
    "prompt/block-of-unknown-type": ("session/prompt", prompt_params(SESSION, {"type": "smell", "text": SECRET}), "prompt"),
    "prompt/text-missing": ("session/prompt", prompt_params(SESSION, {"type": "text", "x": SECRET}), "text"),
    "prompt/text-number": ("session/prompt", prompt_params(SESSION, {"type": "text", "text": 7, "x": SECRET}), "text"),
    "prompt/link-without-uri": ("session/prompt", prompt_params(SESSION, {"type": "resource_link", "name": SECRET}), "uri"),
    "prompt/no-blocks": ("session/prompt", prompt_params(SESSION) | {"x": SECRET}, "prompt"),
    "prompt/empty-text": ("session/prompt", prompt_params(SESSION, "") | {"x": SECRET}, "prompt"),
    "prompt/blank-texts": ("session/prompt", prompt_params(SESSION, " \n\t", "\u00a0\u2003") | {"x": SECRET}, "prompt"),
}


def filled(value, world: World, secret: str, session: str):
    """The parameters with this world's session, folder and secret in them."""
    text = json.dumps(value)
    for mark, word in ((SECRET, secret), (SESSION, session), (PROJECT, str(world.project)), (FILE, str(world.root / "file"))):
        text = text.replace(mark, word)
    return json.loads(text)


for name, (method, params, field) in BAD.items():

    @case(f"raw/bad-params/{name}")
    def _(world: World, method=method, params=params, field=field):
        (world.root / "file").write_text("")
        with Agent(world) as agent:
            secret = world.secret("params")
            if method == "initialize":
                session = ""
            else:
                agent.initialize()
                session = agent.new()
            error = agent.refusal(method, filled(params, world, secret, session))
            equal(error["code"], -32602, f"the code of {error}")
            check(secret not in json.dumps(error), f"the parameters are echoed: {error}")
            check(field in json.dumps(error), f"{field} is not named: {error}")
            if method == "initialize":
                agent.initialize()
                session = agent.new()
            agent.say(session, "/help")


REFUSED = {
    "image": {"type": "image", "mimeType": "image/png", "data": PNG},
    "audio": {"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="},
    "resource": {"type": "resource", "resource": {"uri": "file:///notes.txt", "mimeType": "text/plain", "text": "notes"}},
    "resource-blob": {"type": "resource", "resource": {"uri": "file:///notes.bin", "blob": "AAAA"}},
}
for name, block in REFUSED.items():

    @case(f"raw/prompt/{name}-is-refused-by-name-and-nothing-is-stored")
    def _(world: World, name=name, block=block):
        with Agent(world) as agent:
            agent.initialize()
            session = agent.new()
            word = world.secret("quince")
            for blocks in ([f"/store {word} jam", block], [block, f"/store {word} jam"], [block]):
                error = agent.refusal("session/prompt", prompt_params(session, *blocks))
                equal(error["code"], -32602, "the code")
                check(name.split("-")[0] in error["message"].lower(), f"the kind is not named: {error}")
                check(word not in json.dumps(error) and block.get("data", "\0") not in json.dumps(error), f"echoed: {error}")
            equal(agent.say(session, f"/recall {word} jam"), ["no results"], "the recall")
            since = len(agent.lines)
            agent.call("session/load", {"sessionId": session, "cwd": str(world.project), "mcpServers": []})
            heard = json.dumps(agent.updates(session, since))
            check(f"/store {word}" not in heard, f"the refused prompt is in the transcript: {heard}")


@case("raw/prompt/a-resource-link-counts-as-its-name-and-uri")
def _(world: World):
    link = {"type": "resource_link", "name": "quarterly-figures.ods", "uri": "file:///tables/quarterly-figures.ods"}
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        (stored,) = agent.say(session, "/store the numbers are in", link)
        check(stored.startswith("stored "), f"the answer: {stored}")
        (found,) = agent.say(session, "quarterly figures")
        for part in ("the numbers are in", link["name"], link["uri"]):
            check(part in found, f"{part} is missing: {found}")
        agent.say(session, link)


@case("raw/prompt/text-blocks-are-joined-by-a-newline")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        session = agent.new()
        agent.say(session, "/store first line of a pair", "second line of it")
        (found,) = agent.say(session, "first line of a pair")
        equal(found.split("\n", 1)[1], "first line of a pair\nsecond line of it", "the content")


@case("raw/initialize/says-what-the-console-can-do")
def _(world: World):
    with Agent(world) as agent:
        answer = agent.initialize()
        can = answer["agentCapabilities"]
        equal(can.get("loadSession"), True, "loadSession")
        for kind in ("image", "audio", "embeddedContext"):
            equal(can.get("promptCapabilities", {}).get(kind), False, kind)
        for name in ("list", "resume", "close", "delete"):
            check(isinstance(can.get("sessionCapabilities", {}).get(name), dict), f"{name}: {can}")
        methods = answer.get("authMethods", [])
        equal(len(methods), 1, "the number of auth methods")
        equal(methods[0].get("type", "agent"), "agent", "its type")
        check(answer["agentInfo"]["name"] and answer["agentInfo"]["version"], "agentInfo")
        equal(agent.call("authenticate", {"methodId": methods[0]["id"]}), {}, "the answer to authenticate")
        agent.new()
