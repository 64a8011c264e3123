"""The sentence model in 32-bit numpy: what the derived files are fitted to and tested against."""
import os
import numpy as np

HEADS = 12


class Teacher:
    def __init__(self, folder):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        weights = load_file(os.path.join(folder, "model.safetensors"))
        self.weights = {name: w.astype(np.float32) for name, w in weights.items()}
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        # A text that happens to contain `[SEP]` is text like any other.
        self.tokenizer.encode_special_tokens = True
        self.layers = 1 + max(int(n.split(".")[2]) for n in weights if n.startswith("encoder.layer."))

    def ids(self, texts, special=True):
        return [e.ids for e in self.tokenizer.encode_batch(texts, add_special_tokens=special)]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def dense(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def states(self, ids, mask):
        """The last layer's vectors, [text][position][number]."""
        from scipy.special import erf

        texts, positions = ids.shape
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][:positions]
        x = self.norm(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        hidden = np.where(mask, 0, -1e9).astype(np.float32)[:, None, None, :]
        heads = lambda y: y.reshape(texts, positions, HEADS, -1).transpose(0, 2, 1, 3)
        for layer in range(self.layers):
            at = f"encoder.layer.{layer}."
            query, key, value = (heads(self.dense(x, f"{at}attention.self.{n}")) for n in ("query", "key", "value"))
            scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(np.float32(query.shape[-1])) + hidden
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            shares /= shares.sum(-1, keepdims=True)
            mixed = (shares @ value).transpose(0, 2, 1, 3).reshape(texts, positions, -1)
            x = self.norm(x + self.dense(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            inner = self.dense(x, at + "intermediate.dense")
            inner *= (1 + erf(inner / np.sqrt(np.float32(2)))) / 2
            x = self.norm(x + self.dense(inner, at + "output.dense"), at + "output.LayerNorm")
        return x

    def vectors(self, rows, unit=True, batch=64):
        """One vector for each row of ids: the mean over its positions."""
        out = np.zeros((len(rows), 384), np.float32)
        order = np.argsort([len(row) for row in rows], kind="stable")
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            longest = max(len(rows[i]) for i in chosen)
            ids, mask = np.zeros((len(chosen), longest), int), np.zeros((len(chosen), longest), bool)
            for at, i in enumerate(chosen):
                ids[at, : len(rows[i])], mask[at, : len(rows[i])] = rows[i], True
            mean = (self.states(ids, mask) * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[chosen] = mean / np.linalg.norm(mean, axis=1, keepdims=True) if unit else mean
        return out
