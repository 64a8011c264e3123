#!/usr/bin/env python3
"""What the same questions cost elsewhere: numpy's exact scan of f32 vectors, and SQLite FTS5.

The bench `recall_speed` of hyphae-server starts this beside itself and asks for rounds in turn with
its own. FOLDER holds texts.txt and questions.txt (one a line), vectors.f32 and probes.f32.

    recall_baseline.py FOLDER DIMENSION

A line `FIRST COUNT` on stdin runs these questions; the answer is one line of JSON with the CPU
milliseconds of each. Needs numpy 1.22 or later. One thread is used.
"""

import json
import os
import sqlite3
import sys
import time

# Before numpy is loaded. Settings that choose other kernels than numpy would are left out.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import numpy  # noqa: E402

K = 10


def main(folder: str, dimension: int) -> None:
    def lines(name: str) -> list[str]:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read().splitlines()

    def matrix(name: str) -> numpy.ndarray:
        numbers = numpy.fromfile(os.path.join(folder, name), dtype="<f4")
        return numbers.reshape(-1, dimension)

    vectors, probes = matrix("vectors.f32"), matrix("probes.f32")
    questions = lines("questions.txt")
    table = sqlite3.connect(os.path.join(folder, "fts5.db"))
    table.execute("create virtual table memories using fts5(text, tokenize = 'porter unicode61')")
    with table:
        rows = ((text,) for text in lines("texts.txt"))
        table.executemany("insert into memories (text) values (?)", rows)
    table.execute("insert into memories (memories) values ('optimize')")
    table.commit()

    def scan(at: int) -> int:
        scores = vectors @ probes[at]
        best = numpy.argpartition(scores, -K)[-K:]
        return len(best[numpy.argsort(-scores[best])])

    def words(at: int) -> int:
        wanted = " OR ".join(f'"{word}"' for word in questions[at].split())
        sql = "select rowid, rank, text from memories where memories match ? order by rank limit ?"
        return len(table.execute(sql, (wanted, K)).fetchall())

    def timed(work, at: int) -> float:
        before = time.process_time()
        assert work(at) > 0
        return (time.process_time() - before) * 1e3

    versions = {"numpy": numpy.__version__, "sqlite": sqlite3.sqlite_version}
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        first, count = map(int, line.split())
        at = range(first, first + count)
        answer = {"scan": [timed(scan, n) for n in at], "words": [timed(words, n) for n in at]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
