"""Marks that readers gave to answers and searches; the texts to read are printed from an atlas.

``python -m benchmarks.reading`` writes the marks of ``reading.yaml`` into RESULTS.md.
``python -m benchmarks.reading ATLAS`` prints the answers to its questions without a language model,
and the first ten titles of its searches, to be read again.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import landscape
from benchmarks.results import print_table, save
from landscape._io import read_yaml
from landscape.answers.reading import aim_of

_MARKS = ("useful", "partly", "useless")


def print_texts(atlas: landscape.Atlas, marks: dict[str, Any]) -> None:
    """Print the answers and the titles."""
    for question, _ in marks["answers"]:
        print(f"\n{question}\n{atlas.ask(question, model=None).to_text()}")
    for query, *_ in marks["searches"]:
        titles = [f"  {paper.title}" for paper in atlas.search(query, k=10).papers]
        print("\n".join(["", query, *titles]))


def tabulate(marks: dict[str, Any]) -> None:
    """Print the marks by kind of question and the precision of the searches, and store them."""
    by_kind: dict[str, Counter[str]] = {}
    for question, mark in marks["answers"]:
        for kind in (aim_of(question).kind or "other", "all"):
            by_kind.setdefault(kind, Counter())[mark] += 1
    rows = [
        [kind, str(found.total()), *(str(found[mark]) for mark in _MARKS)]
        for kind, found in sorted(by_kind.items(), key=lambda one: one[0] == "all")
    ]
    print_table("Answers without a language model, one reader", ["kind", "n", *_MARKS], rows)
    searches = marks["searches"]
    more = []
    for place, name in enumerate(("search", "words alone (BM25)"), start=1):
        exact = sum(one[place] for one in searches) / (10 * len(searches))
        shares = [one[place] / max(min(10.0, one[3]), 1.0) for one in searches]
        more.append([name, f"{exact:.2f}", f"{sum(shares) / len(shares):.2f}"])
    head = [f"{len(searches)} searches, two judges", "precision@10", "of the relevant ones known"]
    print_table("Relevant papers among the first ten", head, more)
    save("reading", {"answers": rows, "searches": more})


def main() -> None:
    """Print the marks, or the texts of an atlas."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas", nargs="?")
    given = parser.parse_args()
    marks = read_yaml(Path(__file__).with_name("reading.yaml"))
    if given.atlas:
        print_texts(landscape.open(given.atlas), marks)
    else:
        tabulate(marks)


if __name__ == "__main__":
    main()
