"""validate.py SCHEMA FOLDER: checks every line of an agent in the recorded conversations under FOLDER.

Prints {group: {"messages": n, "problems": [...]}}. An answer is checked as the response of the method that was asked
under its id, a notification as its parameters, an error as an error. A root key that the schema does not name, other
than `_meta`, is a problem too (SCHEMA-002 of the official kit).
"""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator


class Schema:
    def __init__(self, path: Path):
        self.whole = json.loads(path.read_text())
        self.validators = {}
        self.by_method = {}
        for name, definition in self.whole["$defs"].items():
            if "x-method" in definition:
                kind = next(kind for kind in ("Request", "Response", "Notification") if name.endswith(kind))
                self.by_method[definition["x-method"], kind] = name

    def problems(self, name: str, value) -> list[str]:
        if name not in self.validators:
            reference = {"$schema": self.whole["$schema"], "$ref": f"#/$defs/{name}", "$defs": self.whole["$defs"]}
            self.validators[name] = Draft202012Validator(reference)
        found = [f"{error.json_path}: {error.message[:300]}" for error in self.validators[name].iter_errors(value)]
        properties = self.whole["$defs"][name].get("properties")
        if isinstance(value, dict) and properties is not None:
            found += [f"$.{key}: no such key in {name}" for key in value if key not in properties and key != "_meta"]
        return [f"{name} {problem}" for problem in found]


def conversation(schema: Schema, entries: list[dict]) -> tuple[int, list[str]]:
    """The number of lines from the agent in one conversation, and what is wrong with them."""
    asked, count, problems = {}, 0, []
    for entry in entries:
        if "line" not in entry:
            continue
        line = entry["line"].rstrip("\n")
        if entry["from"] == "client":
            message = json.loads(line)
            if "method" in message and "id" in message:
                asked[json.dumps(message["id"])] = message["method"]
            continue
        count += 1
        try:
            message = json.loads(line)
        except ValueError:
            problems.append(f"not JSON: {line[:300]}")
            continue
        problems += [f"{problem} in {line[:300]}" for problem in check(schema, message, asked)]
    return count, problems


def check(schema: Schema, message, asked: dict) -> list[str]:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return ["not a JSON-RPC 2.0 message"]
    if "method" in message:
        kind = "Request" if "id" in message else "Notification"
        name = schema.by_method.get((message["method"], kind))
        if name is None:
            return [f"the schema knows no {kind.lower()} {message['method']}"]
        extra = set(message) - {"jsonrpc", "id", "method", "params"}
        return [f"root key {key}" for key in extra] + schema.problems(name, message.get("params"))
    extra = [f"root key {key}" for key in set(message) - {"jsonrpc", "id", "result", "error"}]
    if "error" in message:
        return extra + schema.problems("Error", message["error"])
    method = asked.get(json.dumps(message.get("id")))
    if method is None:
        return [*extra, "a result that nobody asked for"]
    name = schema.by_method.get((method, "Response"))
    return [*extra, f"a result for {method}, which the schema does not know"] if name is None else extra + schema.problems(name, message["result"])


def main() -> None:
    schema = Schema(Path(sys.argv[1]))
    groups: dict[str, dict] = {}
    for file in sorted(Path(sys.argv[2]).rglob("*.ndjson")):
        group = groups.setdefault(file.parent.name.split("__")[0], {"messages": 0, "problems": []})
        entries = [json.loads(line) for line in file.read_text().splitlines()]
        count, problems = conversation(schema, entries)
        group["messages"] += count
        group["problems"] += [f"{file.parent.name}: {problem}" for problem in problems]
    json.dump(groups, sys.stdout)


main()
