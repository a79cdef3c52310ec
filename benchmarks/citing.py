"""Times of attribution, citing and highlights without a model.

Run: python -m benchmarks.citing --atlas real.atlas [--excerpts tests/evaluation/attribution.jsonl]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.results import print_table, save

_EXCERPTS = Path("tests/evaluation/attribution.jsonl")
_FULL_TEXT = 20  # abstracts joined: some 180 sentences, about as long as a letter


def citing_times(atlas_path: Path, excerpts: Path, *, n: int = 30) -> dict[str, Any]:
    """Return the median and the longest wall-clock and CPU time of each task."""
    import landscape
    from landscape.agents._citing_sentences import highlight, highlight_papers

    atlas = landscape.open(atlas_path)
    texts = [json.loads(line)["excerpt"] for line in excerpts.read_text("utf-8").splitlines()][:n]
    contexts = [text.replace("[CITATION]", " ") for text in texts]
    atlas.attribute(texts[0])  # opens what is opened once
    papers = [list(atlas.search(context, k=10).papers) for context in contexts[:5]]
    held = atlas.engine.indexes
    joined = [paper.abstract for some in papers for paper in some]
    full = " ".join(joined[:_FULL_TEXT])
    work: dict[str, Callable[[int], object]] = {
        "attribute": lambda i: atlas.attribute(texts[i]),
        "attribute, before 2026": lambda i: atlas.attribute(texts[i], before="2025-12-31"),
        "cite, ten highlights": lambda i: atlas.cite(contexts[i], n_highlights=1),
        "cite, thirty highlights": lambda i: atlas.cite(contexts[i]),
        "highlights of ten papers": lambda i: highlight_papers(held, papers[i % 5], contexts[i]),
        "highlights of a full text": lambda i: highlight(full, contexts[i]),
    }
    found = {}
    for name, do in work.items():
        wall, processor = [], []
        for i in range(len(texts)):
            start, used = time.perf_counter(), time.process_time()
            do(i)
            wall.append(time.perf_counter() - start)
            processor.append(time.process_time() - used)
        found[name] = {
            "median_seconds": statistics.median(wall),
            "slowest_seconds": max(wall),
            "median_processor_seconds": statistics.median(processor),
        }
    return {"papers": len(atlas), "n": len(texts), "work": found}


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path, required=True)
    parser.add_argument("--excerpts", type=Path, default=_EXCERPTS)
    parser.add_argument("--n", type=int, default=30)
    options = parser.parse_args()
    result = citing_times(options.atlas, options.excerpts, n=options.n)
    rows = [
        [name, *(f"{1000 * found[key]:.0f}" for key in found)]
        for name, found in result["work"].items()
    ]
    head = ["without a model", "median ms", "slowest ms", "processor ms"]
    print_table(f"{result['papers']:,} papers", head, rows)
    print(f"\n{save('citing', result)}")


if __name__ == "__main__":
    main()
