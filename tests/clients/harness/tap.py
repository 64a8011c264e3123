"""Stands between a client and an agent of ours, passes every byte on, and records each line both ways.

HYPHAE_BIN names the binary, HYPHAE_TAP_COMMAND its command as a JSON array, HYPHAE_TAP the folder for the records: the
wire, the log, and at the end the exit code.
Signals are passed on; the exit code is the agent's.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time


def main() -> int:
    stem = os.path.join(os.environ["HYPHAE_TAP"], f"{time.time_ns()}-{os.getpid()}")
    # Not the client's stderr: some clients never read it, and at trace level there is much.
    with open(f"{stem}.log", "wb") as log:
        command = [os.environ["HYPHAE_BIN"], *json.loads(os.environ["HYPHAE_TAP_COMMAND"]), *sys.argv[1:]]
        agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: agent.send_signal(received))
    record = open(f"{stem}.ndjson", "a", encoding="utf-8")
    lock = threading.Lock()

    def keep(who: str, line: bytes) -> None:
        with lock:
            record.write(json.dumps({"from": who, "line": line.decode(errors="surrogateescape")}) + "\n")
            record.flush()

    def pass_requests() -> None:
        try:
            for line in sys.stdin.buffer:
                keep("client", line)
                agent.stdin.write(line)
                agent.stdin.flush()
            agent.stdin.close()
        except OSError:
            pass  # the agent went first

    threading.Thread(target=pass_requests, daemon=True).start()
    listening = True
    for line in agent.stdout:
        keep("agent", line)
        try:
            if listening:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        except OSError:
            listening = False  # the client went first
    code = agent.wait()
    with open(f"{stem}.exit", "w", encoding="utf-8") as ended:
        ended.write(str(code))
    # Past the interpreter's shutdown, which would wait for the thread that still reads stdin.
    os._exit(code if code >= 0 else 128 - code)


main()
