"""Embedding rate compared with `encode` of sentence-transformers, on the same texts.

Run: python -m benchmarks.embedding [--papers FILE.jsonl.gz] [-n 200] [--repeats 3]
     python -m benchmarks.embedding --precisions [-n 4000]

With ONEDNN_MAX_CPU_ISA=avx512_core_vnni, the CPU has no instructions for bf16.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import DATA, PAPERS, read_texts
from benchmarks.results import print_table, save
from landscape._processes import n_usable_cores
from landscape.embeddings import MiniLM
from landscape.embeddings.minilm import fastest_precision
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
        "cpu_has_bf16": fastest_precision() == "bfloat16",
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


def compare_precisions(texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Compare the precisions: rate, neighbours, and retrieval on Cranfield.

    Returns
    -------
    dict
        For each precision, the texts per second, the share of the ten nearest texts in float32 that
        are among the ten nearest, and nDCG@10 of Cranfield's 225 queries, which are embedded in
        float32, with its difference to float32 and the standard error of that difference.
    """
    found: dict[str, dict[str, float]] = {}
    folder = DATA / "cranfield"
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    asked = MiniLM(device="cpu").embed_few([query["text"] for query in queries])
    for precision in ("float32", "bfloat16", "int8"):
        embedder = MiniLM(device="cpu", precision=precision)
        embedder.embed(texts[:50])
        vectors, seconds = _timed(embedder.embed, texts)
        abstracts = embedder.embed([f"{paper['title']}. {paper['text']}" for paper in papers])
        near, gains = _nearest(vectors), _gains(queries, papers, asked @ abstracts.T)
        if precision == "float32":
            exact, base = near, gains
        shared = [len(np.intersect1d(*rows)) / 10 for rows in zip(near, exact, strict=True)]
        change = gains - base
        found[precision] = {
            "texts a second": len(texts) / seconds,
            "same neighbours": float(np.mean(shared)),
            "nDCG@10": float(gains.mean()),
            "difference": float(change.mean()),
            "standard error": float(change.std(ddof=1) / np.sqrt(len(change))),
        }
    return found


def _nearest(vectors: np.ndarray) -> np.ndarray:
    near = vectors @ vectors.T
    np.fill_diagonal(near, -1)
    return np.argpartition(-near, 10, axis=1)[:, :10]


def _gains(queries: Sequence[Any], papers: Sequence[Any], scores: np.ndarray) -> np.ndarray:
    """Return nDCG@10 of each query of Cranfield."""
    import ir_measures

    names = [str(paper["doc_id"]) for paper in papers]
    run = {
        str(query["query_id"]): dict(zip(names, row.tolist(), strict=True))
        for query, row in zip(queries, scores, strict=True)
    }
    truth = list(ir_measures.read_trec_qrels(str(DATA / "cranfield" / "qrels.trec.txt")))  # type: ignore[no-untyped-call]
    rated = ir_measures.iter_calc([ir_measures.nDCG @ 10], truth, run)
    by_query = {one.query_id: one.value for one in rated}
    return np.array([by_query[name] for name in sorted(by_query)])


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
    parser.add_argument("--precisions", action="store_true")
    options = parser.parse_args()
    texts = read_texts(options.papers, n=options.n)
    if options.precisions:
        compared = compare_precisions(texts)
        columns = [*compared["float32"]]
        table = [[name, *(f"{one[n]:.4g}" for n in columns)] for name, one in compared.items()]
        print_table(f"{len(texts):,} abstracts in three precisions", ["", *columns], table)
        print(f"\n{save('precisions', compared, packages=['openvino'])}")
        return
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
