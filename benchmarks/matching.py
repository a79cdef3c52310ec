"""Separation of queries on astronomy from queries on other subjects.

The queries are in `matching.yaml`. The rule of `landscape.search` was chosen with one half of them
and is measured on the other. It is compared with a threshold on the cosine of the nearest paper.

Run: python -m benchmarks.matching ATLAS [--list]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import landscape
from benchmarks.results import print_table, save
from landscape._io import read_yaml
from landscape.search import open_engine

QUERIES = Path(__file__).with_name("matching.yaml")


def read_queries() -> dict[tuple[str, str], list[str]]:
    """Read queries by subject ("on" or "off" astronomy) and half ("chosen" or "held")."""
    stored = read_yaml(QUERIES)
    return {
        (subject, half): [line.strip() for line in lines.strip().splitlines()]
        for subject, halves in stored.items()
        for half, lines in halves.items()
    }


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("--list", action="store_true", help="print the queries that are wrong")
    options = parser.parse_args()
    engine = open_engine(landscape.open(options.atlas))
    right: dict[tuple[str, str], list[bool]] = {}
    cosines: dict[tuple[str, str], list[float]] = {}
    for key, queries in read_queries().items():
        found = [engine.search(query) for query in queries]
        right[key] = [one.matched == (key[0] == "on") for one in found]
        cosines[key] = [
            max((hit.parts.get("semantic", 0.0) for hit in one.hits), default=0.0) for one in found
        ]
        if options.list:
            for query, one, good in zip(queries, found, right[key], strict=True):
                if not good:
                    print(f"{key[1]}, {key[0]} the subject: {query!r}: {one.note or 'matched'}")
    on, off = (np.array(cosines[name, "chosen"]) for name in ("on", "off"))
    threshold = max(np.linspace(0.2, 0.7, 51), key=lambda t: (on >= t).mean() + (off < t).mean())
    rows = []
    for (subject, half), answers in right.items():
        alone = (np.array(cosines[subject, half]) >= threshold) == (subject == "on")
        rows.append(
            [
                f"{subject} the subject, {half}",
                str(len(answers)),
                f"{np.mean(answers):.1%}",
                f"{alone.mean():.1%}",
            ]
        )
    head = ["", "queries", "right", f"cosine above {threshold:.2f} alone"]
    print_table("Queries that are recognised", head, rows)
    print(f"\n{save('matching', {'rows': rows, 'threshold': float(threshold)})}")


if __name__ == "__main__":
    main()
