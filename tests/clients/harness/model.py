"""A model endpoint that plays a script, for agents that we did not write.

It speaks OpenAI's chat completions, streamed or not, on a free port of the loopback interface. The script is a
function: it gets the request and returns either a text or the calls of tools to make, as (name, arguments) pairs.
"""

import http.server
import json
import threading
from collections.abc import Callable

Answer = str | list[tuple[str, dict]]


class ScriptedModel:
    """Use as a context manager; `url` is the base of the endpoint."""

    def __init__(self, script: Callable[[dict], Answer]):
        self.requests: list[dict] = []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                model.requests.append(request)
                message, reason = as_message(script(request), len(model.requests))
                if request.get("stream"):
                    deltas = [(message, None), ({}, reason)]
                    chunks = [chunk("chat.completion.chunk", "delta", part, why) for part, why in deltas]
                    body = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"
                    kind = "text/event-stream"
                else:
                    body = json.dumps(chunk("chat.completion", "message", message, reason)).encode()
                    kind = "application/json"
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def as_message(answer: Answer, turn: int) -> tuple[dict, str]:
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}, "stop"
    calls = [
        {
            "index": place, "id": f"call_{turn}_{place}", "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(answer)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"


def chunk(kind: str, part: str, message: dict, reason: str | None) -> dict:
    return {
        "id": "scripted", "object": kind, "created": 1, "model": "scripted",
        "choices": [{"index": 0, part: message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
