"""Compute the principal axes onto which the hidden states of MiniLM are projected.

Run: python -m benchmarks.word_basis --papers PAPERS
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.measuring import PAPERS, read_texts


def principal_axes(states: np.ndarray, *, n: int) -> np.ndarray:
    """Return the axes of the uncentred second moment of unit vectors, (n_dims, n), in order."""
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)
    _, axes = np.linalg.eigh(unit.T @ unit)
    return axes[:, ::-1][:, :n]


def main() -> None:
    """Compute the axes and write them to a file."""
    from tokenizers import Tokenizer

    from landscape.embeddings.minilm import load_encoder
    from landscape.embeddings.vectors import DIMENSION, Vocabulary, join_pieces
    from landscape.embeddings.weights import model_folder
    from landscape.models import write_weights
    from landscape.text.word_index import STOP_WORDS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("-n", type=int, default=8000)
    options = parser.parse_args()
    texts = read_texts(options.papers, n=options.n)
    read = load_encoder(model_folder(), precision="float32", axes=np.eye(384, dtype=np.float32))
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    vocabulary = Vocabulary.of(tokenizer.get_vocab(), stop_words=STOP_WORDS)
    tokens = [found.ids for found in tokenizer.encode_batch(texts)]

    def join(place: int, _: np.ndarray, of_text: np.ndarray) -> np.ndarray:
        return join_pieces(of_text, np.array(tokens[place]), vocabulary)[0]

    states = dict(read(tokens, join))
    axes = principal_axes(np.concatenate([states[place] for place in sorted(states)]), n=DIMENSION)
    # The sign of an axis means nothing: fix it, so that every run writes the same file.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(DIMENSION)])
    write_weights("word_axes", {"axes": axes.astype(np.float16)})


if __name__ == "__main__":
    main()
