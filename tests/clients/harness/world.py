"""A scratch world for one case: a home of its own, a database made by `hyphae-server init`, and keys."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .cases import PATIENCE, Failed, check, wait_until

HARNESS = Path(__file__).resolve().parent
CLIENTS = HARNESS.parent
KEY = re.compile(r"^hyk_[0-9a-f]{64}$", re.MULTILINE)


class World:
    """Nothing in it is shared with another case, nor with the person who runs the suites."""

    def __init__(self, binary: Path, tools: Path, scratch: Path, captures: Path, name: str):
        self.binary, self.tools, self.captures, self.name = binary, tools, captures, name
        self.root = Path(tempfile.mkdtemp(dir=scratch))
        self.home = self.root / "home"
        self.project = self.root / "project"
        for folder in (self.home, self.project):
            folder.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.root / "data"),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "HYPHAE_LOG": "trace",
            # Marks every process that this world starts, at any depth, for `leftovers`.
            "HYPHAE_TEST_WORLD": str(self.root),
        }
        self.secrets: list[str] = []
        self.agents: list = []
        self.key: str | None = None
        self.captured = 0
        # What the agent of this world is, behind the binary.
        self.command = ["acp-stdio"]

    def supervise(self, *command: str, options: list[str] | None = None) -> None:
        """From now on the agent of this world is another one under `hyphae-server acp`; the console if none is named."""
        self.command = ["acp", *(options or []), "--", *(command or (str(self.binary), "acp-stdio"))]

    def init(self) -> str:
        """Makes the database and the first key, as a person would."""
        self.key = self._key_from("init")
        return self.key

    def create_key(self, name: str) -> str:
        return self._key_from("keys", "create", "--name", name)

    def _key_from(self, *arguments: str) -> str:
        done = self.hyphae(*arguments)
        found = KEY.search(done.stdout)
        check(done.returncode == 0 and found, f"{arguments} printed no key (exit {done.returncode}): {done.stderr[-400:]}")
        self.secrets.append(found.group())
        return found.group()

    def hyphae(self, *arguments: str, env: dict | None = None, stdin: str = "") -> subprocess.CompletedProcess:
        """Runs `hyphae-server` to its end."""
        try:
            return subprocess.run(
                [self.binary, *arguments], env=self.env | (env or {}), cwd=self.project, input=stdin,
                capture_output=True, text=True, timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired as late:
            raise Failed(f"hyphae-server {' '.join(arguments)} did not end") from late

    def secret(self, about: str) -> str:
        """A word that must show up neither in the log nor in an error; checked when an agent ends."""
        word = f"{about}{os.urandom(6).hex()}"
        self.secrets.append(word)
        return word

    def capture(self) -> Path:
        """A new file for the wire of one connection."""
        self.captured += 1
        folder = self.captures / self.name.replace("/", "__")
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{self.captured}.ndjson"

    def tapped(self) -> tuple[Path, dict]:
        """A command for foreign clients that runs the agent and records its wire, and the environment it needs."""
        self.tap = self.captures / self.name.replace("/", "__")
        self.tap.mkdir(parents=True, exist_ok=True)
        command = self.root / "agent"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -ISB "{HARNESS / "tap.py"}" "$@"\n')
        command.chmod(0o755)
        env = {
            "HYPHAE_BIN": str(self.binary), "HYPHAE_TAP": str(self.tap), "HYPHAE_TAP_COMMAND": json.dumps(self.command),
            "HYPHAE_API_KEY": self.key,
        }  # fmt: skip
        return command, self.env | env

    def connections(self) -> list["Connection"]:
        """What the taps of this world recorded, oldest connection first."""
        return [Connection(file) for file in sorted(self.tap.glob("*.ndjson"))]

    def check_connections(self) -> None:
        """What holds for every agent that a foreign client started: a clean end, and no secret in the log."""
        wait_until(lambda: all(c.exit is not None for c in self.connections()), "every agent to end")
        for connection in self.connections():
            check(connection.exit == "0", f"an agent ended with {connection.exit}: {connection.log[-400:]}")
            for word in self.secrets:
                place = connection.log.find(word)
                check(place < 0, f"the log holds {word}: {connection.log[max(0, place - 200) : place + 100]}")

    def leftovers(self) -> list[int]:
        """Processes that this world started and that are still there."""
        mark = f"HYPHAE_TEST_WORLD={self.root}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0") and "Z" not in _state(entry):
                    found.append(int(entry.name))
            except OSError:
                continue  # ended meanwhile, or not ours
        return found

    def close(self, keep: bool) -> None:
        """Ends what is left and removes the folder."""
        for agent in self.agents:
            agent.kill()
        for attempt in (signal.SIGTERM, signal.SIGKILL):
            left = self.leftovers()
            for pid in left:
                try:
                    os.kill(pid, attempt)
                except ProcessLookupError:
                    pass
            deadline = time.monotonic() + 3
            while left and self.leftovers() and time.monotonic() < deadline:
                time.sleep(0.05)
        if not keep:
            shutil.rmtree(self.root, ignore_errors=True)


class Connection:
    """One agent process of a foreign client, as its tap saw it."""

    def __init__(self, file: Path):
        # The tap may be writing its next line just now.
        whole = file.read_text().rpartition("\n")[0]
        entries = [json.loads(line) for line in whole.split("\n") if line]
        self.from_client = [json.loads(e["line"]) for e in entries if e["from"] == "client"]
        self.from_agent = [json.loads(e["line"]) for e in entries if e["from"] == "agent"]
        self.log = file.with_suffix(".log").read_text(errors="replace")
        ended = file.with_suffix(".exit")
        self.exit = ended.read_text() if ended.exists() else None

    def methods(self) -> list[str]:
        return [message["method"] for message in self.from_client if "method" in message]


def _state(process: Path) -> str:
    return (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
