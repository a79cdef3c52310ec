"""Embedding rate compared with `encode` of sentence-transformers, on the same texts.

Run: python -m benchmarks.embedding [--papers FILE.jsonl.gz] [-n 200] [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import PAPERS, read_texts
from benchmarks.results import print_table, save
from landscape.embeddings import MiniLM
from landscape.embeddings.minilm import has_bf16_instructions, model_folder
from landscape.errors import require


def compare_with_sentence_transformers(texts: Sequence[str], *, repeats: int = 3) -> dict[str, Any]:
    """Embed the same texts by turns with Landscape and with sentence-transformers.

    Parameters
    ----------
    texts : sequence of str
    repeats : int, default 3
        The ratio is the median of this many pairs.

    Returns
    -------
    dict
        Texts per second of both, their ratio with its range, the cosine of our vectors to the
        float32 vectors of the library (mean, minimum), the precision, and features of the CPU.
    """
    import torch

    library = require("sentence_transformers", "bench")
    theirs = library.SentenceTransformer(str(model_folder()), device="cpu")
    ours = MiniLM(device="cpu")

    def encode(some: Sequence[str]) -> np.ndarray:
        return np.asarray(theirs.encode(list(some)))

    for embed in (encode, ours.embed):
        embed(texts[:8])  # the first batch pays for memory and for the threads
    pairs = []
    for _ in range(repeats):
        (reference, their_seconds), (found, our_seconds) = (
            _timed(embed, texts) for embed in (encode, ours.embed)
        )
        pairs.append((their_seconds, our_seconds))
    lengths = np.linalg.norm(reference, axis=1)
    cosines = np.einsum("ij,ij->i", reference, found) / lengths
    ratios = sorted(their / our for their, our in pairs)
    return {
        "texts": len(texts),
        "repeats": repeats,
        "theirs_per_second": len(texts) / statistics.median(their for their, _ in pairs),
        "ours_per_second": len(texts) / statistics.median(our for _, our in pairs),
        "ratio": statistics.median(ratios),
        "ratio_range": [ratios[0], ratios[-1]],
        "cosine_mean": float(cosines.mean()),
        "cosine_min": float(cosines.min()),
        "precision": ours.precision,
        "cpu_has_bf16": has_bf16_instructions(),
        "threads": torch.get_num_threads(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def compare_sentences(sentences: Sequence[str], *, repeats: int = 3) -> dict[str, Any]:
    """Embed sentences one at a time, alternately with NumPy and with the library.

    Returns
    -------
    dict
        Milliseconds per sentence of both, and the median of their ratios.
    """
    library = require("sentence_transformers", "bench")
    theirs = library.SentenceTransformer(str(model_folder()), device="cpu")
    ours = MiniLM(device="cpu")
    for embed in (theirs.encode, ours.embed_few):
        embed(list(sentences[:1]))
    pairs = []
    for _ in range(repeats):
        seconds = []
        for embed in (theirs.encode, ours.embed_few):
            start = time.perf_counter()
            for sentence in sentences:
                embed([sentence])
            seconds.append(time.perf_counter() - start)
        pairs.append(seconds)
    scale = 1000 / len(sentences)
    return {
        "sentences": len(sentences),
        "their_milliseconds": scale * statistics.median(their for their, _ in pairs),
        "our_milliseconds": scale * statistics.median(our for _, our in pairs),
        "ratio": statistics.median(their / our for their, our in pairs),
    }


def _timed(
    embed: Callable[[Sequence[str]], np.ndarray], texts: Sequence[str]
) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    vectors = embed(texts)
    return vectors, time.perf_counter() - start


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    texts = read_texts(options.papers, n=options.n)
    result = compare_with_sentence_transformers(texts, repeats=options.repeats)
    low, high = result["ratio_range"]
    rows = [
        ["sentence-transformers encode, float32", f"{result['theirs_per_second']:.1f}", "1", "1"],
        [
            f"landscape MiniLM, {result['precision']}",
            f"{result['ours_per_second']:.1f}",
            f"{result['ratio']:.2f} ({low:.2f} to {high:.2f})",
            f"{result['cosine_mean']:.6f} ({result['cosine_min']:.6f})",
        ],
    ]
    instructions = "with" if result["cpu_has_bf16"] else "without"
    title = (
        f"{result['texts']} abstracts, {result['threads']} threads, median of {result['repeats']}, "
        f"{instructions} bf16 matrix instructions"
    )
    print_table(title, ["model", "texts a second", "ratio", "mean cosine (least)"], rows)
    print(f"\n{save('embedding', result, packages=['torch', 'sentence-transformers'])}")


if __name__ == "__main__":
    main()
