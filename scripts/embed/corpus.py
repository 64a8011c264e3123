#!/usr/bin/env python3
"""Collects the English sentences that the static table is fitted to.

    corpus.py ROOT corpus.txt

ROOT is a folder into which these Debian packages were unpacked (`apt-get download`, `dpkg -x`).  Only texts
whose licence allows what is derived from them to be passed on are taken; `NOTICE.md` beside the table
names them.  Sentences of our own (what people tell an agent to remember) come from `own_sentences.py`.

The result depends on the packages alone: files are read in order of name, duplicates are dropped, and
what is kept of a large source is chosen by hash.
"""
import gzip, hashlib, html.parser, os, re, sys
from own_sentences import own_sentences

# Folder or file below ROOT/usr/share, how many sentences at most.
MANUALS = {
    "postgresql": (["doc/postgresql-doc-15/html"], 20000),
    "rust": ([f"doc/rust-doc/html/{n}" for n in ("book", "cargo", "edition-guide", "nomicon", "reference", "rust-by-example", "rustc", "rustdoc", "std")], 20000),
    "apache": (["doc/apache2-doc/manual/en"], 15000),
    "sqlite": (["doc/sqlite3"], 20000),
    "python": (["doc/python3.11/html"], 25000),
    "node": (["doc/nodejs"], 10000),
    "erlang": (["doc/erlang-doc"], 15000),
    "sqlalchemy": (["doc/python-sqlalchemy-doc/html"], 10000),
    "flask": (["doc/python-flask-doc/html"], 4000),
    "django": (["doc/python-django-doc/html"], 15000),
    "go": (["doc/golang-1.19-doc"], 4000),
}
DICTIONARIES = {"jargon": ("dictd/jargon.dict.dz", 15000), "devil": ("dictd/devil.dict.dz", 6000)}
WORDNET = 170000


class Paragraphs(html.parser.HTMLParser):
    """Text outside of code, cut where a block starts or ends."""

    BLOCKS = {"p", "li", "h1", "h2", "h3", "h4", "td", "th", "div", "dt", "dd", "br", "section", "table"}
    HIDDEN = {"script", "style", "pre", "nav", "header", "footer", "head", "svg"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.hidden = [], []

    def handle_starttag(self, tag, attrs):
        if tag in self.HIDDEN:
            self.hidden.append(tag)
        elif tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        if tag in self.hidden:
            while self.hidden.pop() != tag:
                pass
        elif tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data.replace("\n", " "))


def sentences(text, shortest=25, longest=350):
    text = re.sub(r"\s+", " ", text).strip()
    for sentence in re.split(r'(?<=[.!?]) (?=[A-Z"(])', text):
        if shortest < len(sentence) < longest and sum(c.isalpha() or c == " " for c in sentence) > 0.75 * len(sentence):
            yield sentence


def read(path):
    opener = gzip.open if path.endswith((".gz", ".dz")) else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        return file.read()


def manual(folders):
    for folder in folders:
        for at, below, files in os.walk(folder):
            below.sort()
            for name in sorted(files):
                path = os.path.join(at, name)
                if not re.fullmatch(r"[^.]*(\.[^.]*)?\.html(\.en)?(\.gz)?", name) or os.path.getsize(path) > 1_000_000:
                    continue
                parser = Paragraphs()
                parser.feed(read(path))
                for paragraph in "".join(parser.parts).split("\n"):
                    yield from sentences(paragraph, 30)


def dictionary(path):
    for entry in re.split(r"\n\s*\n", read(path)):
        yield from sentences(re.sub(r"[{}<>\\]", "", entry))


def wordnet(folder):
    for name in sorted(os.listdir(folder)):
        if not name.startswith("data."):
            continue
        for line in open(os.path.join(folder, name), encoding="latin-1"):
            if line.startswith("  ") or " | " not in line:
                continue
            head, gloss = line.split(" | ", 1)
            word = re.sub(r"\(.*?\)", "", head.split(" ")[4]).replace("_", " ")
            parts = [part.strip().strip('"') for part in gloss.strip().split(";")]
            yield f"{word}: {parts[0]}"
            yield from (part for part in parts[1:] if len(part.split()) >= 4)


def digest(text):
    return hashlib.sha256(text.encode()).digest()


def main():
    share, target = os.path.join(sys.argv[1], "usr/share"), sys.argv[2]
    below = lambda path: os.path.join(share, path)
    sources = {"wordnet": (wordnet(below("wordnet")), WORDNET), "own": (own_sentences(), 60000)}
    sources |= {name: (dictionary(below(path)), most) for name, (path, most) in DICTIONARIES.items()}
    sources |= {name: (manual(map(below, paths)), most) for name, (paths, most) in MANUALS.items()}
    chosen = set()
    for name, (found, most) in sources.items():
        unique = {re.sub(r"\s+", " ", text) for text in found}
        unique = {text for text in unique if sum(map(str.isascii, text)) > 0.9 * len(text)}
        kept = sorted(unique, key=digest)[:most]
        print(f"{name:12} {len(unique):7} found {len(kept):7} kept")
        chosen.update(kept)
    with open(target, "w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in sorted(chosen, key=digest))
    print(len(chosen), "sentences")


if __name__ == "__main__":
    main()
