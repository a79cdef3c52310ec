"""Compute the principal axes onto which the hidden states of MiniLM are projected.

Run: python -m benchmarks.word_basis --papers PAPERS -o landscape/embeddings/minilm_words.npy
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
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    from landscape.embeddings._bert import TorchEncoder
    from landscape.embeddings.minilm import model_folder
    from landscape.embeddings.vectors import DIMENSION, Vocabulary, join_pieces
    from landscape.text.word_index import STOP_WORDS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("-n", type=int, default=8000)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    texts = read_texts(options.papers, n=options.n)
    weights = load_file(model_folder() / "model.safetensors")
    model = TorchEncoder(weights, heads=12, precision="float32")
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    vocabulary = Vocabulary.of(tokenizer.get_vocab(), stop_words=STOP_WORDS)
    states = []
    with torch.inference_mode():
        for found in tokenizer.encode_batch(texts):
            of_text = model.states(found.ids).numpy()
            states.append(join_pieces(of_text, np.array(found.ids), vocabulary)[0])
    axes = principal_axes(np.concatenate(states), n=DIMENSION)
    # The sign of an axis means nothing: fix it, so that every run writes the same file.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(DIMENSION)])
    np.save(options.output, axes.astype(np.float16))


if __name__ == "__main__":
    main()
