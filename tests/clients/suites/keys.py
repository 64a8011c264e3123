"""Keys and the database at the start: exit code 2 and one line that names the remedy and not the key; and references."""

import os
import re
import stat

from harness.agent import NO_KEY, Agent
from harness.cases import case, check, equal
from harness.world import World

OTHER = "hyk_" + "0123456789abcdef" * 4
REMEDY = re.compile(r"hyphae-server (init|keys create|keys)|HYPHAE_API_KEY")


def refused(world: World, *, env: dict, secret: str = "", arguments=("acp-stdio",)) -> str:
    """Starts the console as a client would; it must end at once with code 2 and one clear line. Returns the line."""
    world.env["HYPHAE_LOG"] = "warn"  # at trace there would be more than one line
    done = world.hyphae(*arguments, env=env, stdin='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
    equal(done.returncode, 2, f"the exit code (stdout {done.stdout!r}, stderr {done.stderr!r})")
    equal(done.stdout, "", "stdout")
    # What a `cmd:` says on its own stderr is for the person, and stays.
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("sh: ")]
    equal(len(lines), 1, f"lines on stderr: {done.stderr!r}")
    check(not secret or secret not in done.stderr, f"the key is on stderr: {done.stderr!r}")
    check("panicked" not in done.stderr, done.stderr)
    return lines[0]


BAD_KEYS = {
    "empty": "", "blank": "  ", "words": "not-a-key", "no-prefix": OTHER[4:], "short": OTHER[:-1], "long": OTHER + "0",
    "not-hex": "hyk_" + "z" * 64, "unknown": OTHER,
}
for name, key in BAD_KEYS.items():

    @case(f"keys/bad/{name}")
    def _(world: World, key=key):
        line = refused(world, env={"HYPHAE_API_KEY": key}, secret=key.strip())
        check(REMEDY.search(line), f"no remedy is named: {line}")


@case("keys/bad/none-at-all")
def _(world: World):
    key_file(world).unlink()
    line = refused(world, env={}, secret=world.key)
    check(REMEDY.search(line), f"no remedy is named: {line}")


@case("keys/bad/no-database-yet")
def _(world: World):
    line = refused(world, env={"HYPHAE_API_KEY": world.key, "XDG_DATA_HOME": str(world.root / "fresh")}, secret=world.key)
    check(REMEDY.search(line), f"no remedy is named: {line}")


@case("keys/bad/revoked")
def _(world: World):
    before = {row.split()[0] for row in world.hyphae("keys", "list").stdout.splitlines() if row.split()}
    other = world.create_key("doomed")
    listing = world.hyphae("keys", "list")
    check(listing.returncode == 0 and "doomed" in listing.stdout, f"keys list: {listing.stdout} {listing.stderr}")
    check(other not in listing.stdout and other[4:] not in listing.stdout, "keys list shows a key")
    row = next(row for row in listing.stdout.splitlines() if "doomed" in row)
    id = next(word for word in row.split() if re.fullmatch(r"[0-9a-f-]{8,36}", word) and word not in before)
    with Agent(world, key=other) as agent:
        agent.initialize()
    done = world.hyphae("keys", "revoke", id)
    equal(done.returncode, 0, f"keys revoke {id}: {done.stderr}")
    line = refused(world, env={"HYPHAE_API_KEY": other}, secret=other)
    check("revoked" in line, f"it does not say why: {line}")
    check(REMEDY.search(line), f"no remedy is named: {line}")
    with Agent(world) as agent:
        agent.initialize()


@case("keys/bad/unreadable-key-file")
def _(world: World):
    path = key_file(world)
    path.unlink()
    path.mkdir()  # unreadable for everybody, root too
    line = refused(world, env={}, secret=world.key)
    check(REMEDY.search(line) or str(path) in line, f"neither file nor remedy is named: {line}")


@case("keys/bad/malformed-key-file")
def _(world: World):
    key_file(world).write_text("hyk_garbage\n")
    line = refused(world, env={}, secret="hyk_garbage")
    check(REMEDY.search(line), f"no remedy is named: {line}")


BAD_REFERENCES = {
    "file-missing": "file:{root}/nowhere", "file-empty": "file:{root}/empty", "file-of-something-else": "file:{root}/other",
    "file-without-path": "file:", "cmd-fails": "cmd:exit 3", "cmd-says-nothing": "cmd:true", "cmd-says-another": "cmd:echo " + OTHER,
    "cmd-missing": "cmd:/nowhere/at/all", "cmd-empty": "cmd:", "env-unset": "env:HYPHAE_NOT_SET", "env-empty": "env:",
    "env-of-something-else": "env:HOME",
}
for name, reference in BAD_REFERENCES.items():

    @case(f"keys/bad-reference/{name}")
    def _(world: World, reference=reference):
        (world.root / "empty").write_text("")
        (world.root / "other").write_text("something else entirely\n")
        line = refused(world, env={"HYPHAE_API_KEY": reference.format(root=world.root)}, secret=OTHER)
        check("something else entirely" not in line, f"the content of the file is shown: {line}")


REFERENCES = ("file:{root}/the key", "cmd:cat '{root}/the key'", "env:OTHER_NAME")
for reference in REFERENCES:

    @case(f"keys/reference/{reference.split(':')[0]}")
    def _(world: World, reference=reference):
        (world.root / "the key").write_text(world.key + "\n")
        (world.root / "the key").chmod(0o600)
        key_file(world).unlink()
        with Agent(world, key=reference.format(root=world.root), env={"OTHER_NAME": world.key}) as agent:
            agent.initialize()
            session = agent.new()
            agent.say(session, "/store resolved once")
            (world.root / "the key").write_text("changed meanwhile\n")
            agent.say(session, "/help")


@case("keys/reference/a-file-that-others-can-read-is-refused")
def _(world: World):
    path = world.root / "the-key"
    path.write_text(world.key + "\n")
    path.chmod(0o644)
    line = refused(world, env={"HYPHAE_API_KEY": f"file:{path}"}, secret=world.key)
    check("chmod 600" in line, f"no remedy is named: {line}")


@case("keys/the-key-that-init-stored-is-used")
def _(world: World):
    mode = stat.S_IMODE(key_file(world).stat().st_mode)
    equal(oct(mode), oct(0o600), "the mode of the key file")
    with Agent(world) as agent:  # with the key in the environment
        agent.initialize()
        session = agent.new()
    with Agent(world, key=NO_KEY) as agent:
        agent.initialize()
        rows = agent.call("session/list", {})["sessions"]
        equal([row["sessionId"] for row in rows], [session], "the sessions of the same credential")


@case("keys/init-a-second-time-harms-nothing")
def _(world: World):
    before = key_file(world).read_bytes()
    done = world.hyphae("init")
    check("panicked" not in done.stderr, done.stderr)
    equal(key_file(world).read_bytes(), before, "the stored key")
    with Agent(world) as agent:
        agent.initialize()


@case("keys/database-url-names-a-file")
def _(world: World):
    url = f"sqlite:{world.root / 'elsewhere.db'}"
    world.env["DATABASE_URL"] = url
    key_file(world).unlink()
    world.init()
    check((world.root / "elsewhere.db").exists(), "the file was not made")
    with Agent(world) as agent:
        agent.initialize()
        agent.say(agent.new(), "/store kept elsewhere")


@case("keys/the-database-holds-no-key")
def _(world: World):
    with Agent(world) as agent:
        agent.initialize()
        agent.say(agent.new(), "/help")
    for folder, _, files in os.walk(world.root / "data"):
        for file in files:
            data = open(os.path.join(folder, file), "rb").read()
            check(world.key[4:].encode() not in data and bytes.fromhex(world.key[4:]) not in data, f"{file} holds the key")


URLS = {
    "postgres": "postgres://user:{secret}@db.invalid/hyphae", "postgresql": "postgresql://user:{secret}@db.invalid/hyphae",
    "mysql": "mysql://user:{secret}@db.invalid/hyphae", "words": "not a url {secret}",
}
for name, url in URLS.items():

    @case(f"keys/database-url/{name}-is-refused-clearly")
    def _(world: World, name=name, url=url):
        secret = world.secret("password")
        line = refused(world, env={"HYPHAE_API_KEY": world.key, "DATABASE_URL": url.format(secret=secret)}, secret=secret)
        if name.startswith("postgres"):
            check("postgres" in line.lower(), f"it does not say what is wrong: {line}")
        check(world.key not in line, f"the key is shown: {line}")


@case("keys/database/damaged-is-refused-clearly")
def _(world: World):
    file = world.root / "data/hyphae/hyphae.db"
    for beside in file.parent.glob("hyphae.db-*"):
        beside.unlink()
    file.write_bytes(b"this is not a database " * 400)
    refused(world, env={"HYPHAE_API_KEY": world.key}, secret=world.key)
    equal(file.read_bytes(), b"this is not a database " * 400, "the file, untouched")


@case("keys/database/a-folder-in-its-place-is-refused-clearly")
def _(world: World):
    refused(world, env={"HYPHAE_API_KEY": world.key, "DATABASE_URL": f"sqlite:{world.home}"}, secret=world.key)


def key_file(world: World):
    return world.root / "config" / "hyphae" / "key"
