"""Time of a search and size of its index; approximate compared with exact search.

Run: python -m benchmarks.search --atlas real.atlas [--queries tests/evaluation/questions.jsonl]
     python -m benchmarks.search --vectors 350000 --dimension 1536
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mapping import made_up_vectors
from benchmarks.results import print_table, save

_QUERIES = Path("tests/evaluation/questions.jsonl")
_FIRST = """
import sys, time
start = time.perf_counter()
import landscape
landscape.open(sys.argv[1]).search("quenching of satellite galaxies")
print(time.perf_counter() - start)
"""


def search_times(atlas_path: Path, queries: Path) -> dict[str, Any]:
    """Return median seconds of a search with and without reranking, and of the first search."""
    import landscape

    atlas = landscape.open(atlas_path)
    questions = [json.loads(line)["question"] for line in queries.read_text().splitlines()]
    times: dict[str, list[float]] = {"with reranking": [], "without": [], "words": []}
    settings: dict[str, dict[str, Any]] = {
        "with reranking": {},
        "without": {"rerank": False},
        "words": {"method": "words", "rerank": False},
    }
    atlas.search(questions[0])
    for question in questions:
        for name, chosen in settings.items():
            start = time.perf_counter()
            atlas.search(question, **chosen)
            times[name].append(time.perf_counter() - start)
    command = [sys.executable, "-c", _FIRST, str(atlas_path)]
    first = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(3)
    ]
    bytes_of = {
        name: sum(path.stat().st_size for path in (atlas_path / name).rglob("*"))
        for name in ("lexical", "words", "embeddings", "rows.arrow")
    }
    return {
        "papers": len(atlas),
        "median_seconds": {name: statistics.median(found) for name, found in times.items()},
        "first_result_seconds": statistics.median(first),
        "bytes_a_paper": {name: size / len(atlas) for name, size in bytes_of.items()},
    }


def approximate(n_vectors: int, n_dims: int, *, n_queries: int = 50) -> dict[str, Any]:
    """Compare approximate search with the flat index of FAISS on made-up vectors."""
    import faiss

    from landscape.embeddings import VectorIndex
    from landscape.embeddings.neighbours import join_index, read_index, train_index, write_shard

    vectors = made_up_vectors(n_vectors, n_dims=n_dims)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "index.faiss"
        start = time.perf_counter()
        trained, shard = file.with_suffix(".trained"), file.with_suffix(".shard")
        train_index([vectors], trained)
        write_shard(vectors, 0, trained, shard)
        report = join_index([vectors], [shard], file)
        built = time.perf_counter() - start
        index = read_index(file, n_papers=n_vectors, dimension=n_dims)
        ours = VectorIndex([vectors], index=index, n_probe=report.n_probe)
        flat = faiss.IndexFlatIP(n_dims)
        flat.add(vectors)
        rng = np.random.default_rng(3)
        asked = vectors[rng.integers(0, n_vectors, n_queries)]
        asked = asked + 0.3 * rng.normal(size=asked.shape) / np.sqrt(n_dims)
        asked = (asked / np.linalg.norm(asked, axis=1, keepdims=True)).astype(np.float32)
        seconds: dict[str, list[float]] = {"approximate": [], "flat": []}
        recall = []
        for query in asked:
            start = time.perf_counter()
            found = ours.search(query, k=100).rows
            seconds["approximate"].append(time.perf_counter() - start)
            start = time.perf_counter()
            true = flat.search(query[None], 100)[1][0]
            seconds["flat"].append(time.perf_counter() - start)
            recall.append(len(set(found.tolist()) & set(true.tolist())) / 100)
        return {
            "vectors": n_vectors,
            "dimension": n_dims,
            "build_seconds": built,
            "bytes_a_paper": file.stat().st_size / n_vectors,
            "recall_at_100": float(np.mean(recall)),
            "median_seconds": {name: statistics.median(times) for name, times in seconds.items()},
        }


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path)
    parser.add_argument("--queries", type=Path, default=_QUERIES)
    parser.add_argument("--vectors", type=int, default=350_000)
    parser.add_argument("--dimension", type=int, default=1536)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    if options.atlas:
        found = results["atlas"] = search_times(options.atlas, options.queries)
        rows = [[name, f"{1000 * s:.0f}"] for name, s in found["median_seconds"].items()]
        rows.append(["first result, new process", f"{1000 * found['first_result_seconds']:.0f}"])
        print_table(f"Search of {found['papers']:,} papers", ["median", "ms"], rows)
        sizes = [[name, f"{size:,.0f}"] for name, size in found["bytes_a_paper"].items()]
        print_table("On disk", ["what", "bytes a paper"], sizes)
    found = results["approximate"] = approximate(options.vectors, options.dimension)
    times = found["median_seconds"]
    rows = [
        ["FAISS flat", f"{1000 * times['flat']:.1f}", "1.0", "1.000"],
        [
            "approximate, re-scored",
            f"{1000 * times['approximate']:.1f}",
            f"{times['flat'] / times['approximate']:.1f}",
            f"{found['recall_at_100']:.3f}",
        ],
    ]
    title = f"Nearest 100 of {options.vectors:,} x {options.dimension}"
    print_table(title, ["method", "ms", "ratio", "recall"], rows)
    print(f"\n{save('search', results)}")


if __name__ == "__main__":
    main()
