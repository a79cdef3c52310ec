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
from landscape._processes import n_usable_cores
from landscape.embeddings import MiniLM
from landscape.embeddings.minilm import has_bf16_instructions
from landscape.embeddings.weights import model_folder
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
        "threads": n_usable_cores(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def compare_with_the_runtime(texts: Sequence[str], *, repeats: int = 3) -> dict[str, Any]:
    """Embed texts with their word vectors, alternately with the runtime alone.

    Returns
    -------
    dict
        Texts per second of the runtime alone, which gets tokens, and of `embed_words`, which also
        tokenises the texts and joins the word vectors, and the median of their ratios.
    """
    ours = MiniLM(device="cpu")
    tokens = [found[:256] for found in ours._tokenise(texts)]
    read = ours._network[0]

    def alone(_: Sequence[str]) -> np.ndarray:
        return np.array([len(list(read(tokens, lambda *_: None)))])

    def with_words(some: Sequence[str]) -> np.ndarray:
        return ours.embed_words(some)[0]

    for embed in (alone, with_words):
        embed(texts)  # the first run compiles the network for each length
    pairs = [(_timed(alone, texts)[1], _timed(with_words, texts)[1]) for _ in range(repeats)]
    return {
        "alone_per_second": len(texts) / statistics.median(one for one, _ in pairs),
        "words_per_second": len(texts) / statistics.median(other for _, other in pairs),
        "ratio": statistics.median(one / other for one, other in pairs),
    }


def compare_sentences(sentences: Sequence[str], *, repeats: int = 3) -> dict[str, Any]:
    """Embed sentences one at a time, alternately with Landscape and with the library.

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
    result["runtime"] = compare_with_the_runtime(texts, repeats=options.repeats)
    print_table(
        f"{result['texts']} abstracts with their word vectors, median of {result['repeats']}",
        ["", "texts a second"],
        [
            ["OpenVINO alone", f"{result['runtime']['alone_per_second']:.1f}"],
            ["with tokens and word vectors", f"{result['runtime']['words_per_second']:.1f}"],
            ["ratio", f"{result['runtime']['ratio']:.3f}"],
        ],
    )
    print(f"\n{save('embedding', result, packages=['openvino', 'sentence-transformers'])}")


if __name__ == "__main__":
    main()
