"""Conversion of LaTeX in real titles and abstracts, compared with pylatexenc.

Run: python -m benchmarks.latex [--papers FILE.jsonl.gz] [-n 1500]
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from pylatexenc.latex2text import LatexNodes2Text

from benchmarks.measuring import PAPERS, read_texts
from benchmarks.results import print_table, save
from landscape.corpus.cleaning import latex_to_unicode  # no public function converts LaTeX alone

BROKEN = {
    "20,000 opening braces": "{" * 20_000,
    r"20,000 times \sqrt[": r"\sqrt[" * 20_000,
    r"20,000 times \begin{a}": r"\begin{a}" * 20_000,
}


def _cpu_seconds(convert: Callable[[str], str], texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        convert(text)
    return time.process_time() - start


def _outcome(convert: Callable[[str], str], text: str) -> str:
    start = time.process_time()
    try:
        convert(text)
    except RecursionError:
        return "RecursionError"
    return f"{time.process_time() - start:.2f} s"


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("-n", type=int, default=1500, help="texts with LaTeX marks")
    options = parser.parse_args()
    marked = [text for text in read_texts(options.papers, n=20_000) if "\\" in text or "$" in text]
    texts = random.Random(1).sample(marked, min(options.n, len(marked)))  # noqa: S311 - a sample
    converter = LatexNodes2Text()
    failed: set[tuple[str, str]] = set()

    def library(text: str) -> str:
        try:
            return str(converter.latex_to_text(text))
        except (IndexError, TypeError, ValueError) as error:  # it raises these on real abstracts
            failed.add((text, type(error).__name__))
            return text

    pairs = [
        (_cpu_seconds(latex_to_unicode, texts), _cpu_seconds(library, texts)) for _ in range(3)
    ]
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print_table(
        f"CPU seconds for {len(texts):,} titles and abstracts with LaTeX, median of 3",
        ["converter", "seconds", "ratio", "errors"],
        [
            ["landscape", f"{ours:.2f}", "1", "0"],
            ["pylatexenc", f"{theirs:.2f}", f"{ratio:.0f}", f"{len(failed)}"],
        ],
    )
    print_table(
        "Broken LaTeX",
        ["text", "landscape", "pylatexenc"],
        [[name, _outcome(latex_to_unicode, t), _outcome(library, t)] for name, t in BROKEN.items()],
    )
    print(save("latex", {"pairs": pairs, "ratio": ratio}, packages=["pylatexenc"]))


if __name__ == "__main__":
    main()
