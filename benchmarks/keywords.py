"""Keyword extraction beside pytextrank as it comes, one abstract at a time, in the same run.

Run: python -m benchmarks.keywords [-n 2000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from benchmarks.embedding import read_texts
from benchmarks.measuring import PAPERS, print_table, save


def stock_pipeline(texts: list[str]) -> float:
    """Seconds that pytextrank's own component takes on the same tagger, a text at a time."""
    from landscape.text._tagger import build_pipeline

    pipeline = build_pipeline(tagger="auto", ranker="textrank")
    pipeline(texts[0])
    start = time.perf_counter()
    for text in texts:
        _ = [phrase.text for phrase in pipeline(text)._.phrases[:20]]
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    from landscape.text._keywords import KeywordExtractor, extract_keywords

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("-n", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    texts = read_texts(options.papers, n=options.n)
    few = texts[:: max(1, len(texts) // 150)]
    extract_keywords(few[:20])
    rates: dict[str, list[float]] = {"stock": [], "one core": [], "two processes": []}
    with KeywordExtractor(workers=2) as pool:
        pool.extract(texts[:400])  # starts the processes
        for _ in range(options.repeats):
            rates["stock"].append(len(few) / stock_pipeline(few))
            start = time.perf_counter()
            extract_keywords(texts[:600])
            rates["one core"].append(len(texts[:600]) / (time.perf_counter() - start))
            start = time.perf_counter()
            pool.extract(texts)
            rates["two processes"].append(len(texts) / (time.perf_counter() - start))
    middle = {name: statistics.median(found) for name, found in rates.items()}
    rows = [
        [name, f"{rate:,.0f}", f"{rate / middle['stock']:.1f}"] for name, rate in middle.items()
    ]
    print_table("Keywords, median of repeats", ["abstracts per second", "rate", "ratio"], rows)
    print(f"\n{save('keywords', rates)}")


if __name__ == "__main__":
    main()
