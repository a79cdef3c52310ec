"""Names of regions: how well they fit the papers, and how stable they are, on one atlas.

All names of a level are ranked by cosine for each paper. A name fits a paper if it is among the
first three. The names are embedded as plain texts, as a reader would see them.

Run: python -m benchmarks.regions --atlas real.atlas
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import landscape as ls
from benchmarks.results import print_table, save
from landscape.embeddings import MiniLM
from landscape.mapping import build_topics
from landscape.mapping.regions import match_numbers

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

LEVELS = {0: "continents", 1: "regions", 2: "subregions"}
FIRST = {1: 0, 0: 1000, 2: 100_000}  # number of the first topic of each level


def groups_of(
    table: pd.DataFrame, topic_id: NDArray[Any], subregion_id: NDArray[Any], level: int
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of a level, and the index of the name of each paper (-1 for none)."""
    some = table[table["level"] == level]
    place = {number: at for at, number in enumerate(some["topic_id"])}
    above = dict(zip(table["topic_id"], table["parent_id"], strict=True))
    own = subregion_id if level == 2 else topic_id
    if level == 0:
        own = np.array([above.get(number, -1) for number in own.tolist()])
    return some["label"].tolist(), np.array([place.get(number, -1) for number in own.tolist()])


def rank_names(
    names: list[str], own: NDArray[np.int64], vectors: NDArray[np.float32], embedder: MiniLM
) -> tuple[float, float]:
    """Return the share of papers with their own name among the first three, and the MRR."""
    known = own >= 0
    scores = vectors[known] @ embedder.embed(names).T
    mine = scores[np.arange(len(scores)), own[known]]
    rank = 1 + (scores > mine[:, None]).sum(axis=1)
    return float((rank <= 3).mean()), float((1 / rank).mean())


def unchanged(
    old: tuple[list[str], NDArray[np.int64]], new: tuple[list[str], NDArray[np.int64]]
) -> float:
    """Return the share of names that did not change; groups are matched by their papers."""
    numbers = match_numbers(new[1], old[1])
    names = dict(zip(numbers, new[0], strict=True))
    return float(np.mean([names.get(place) == name for place, name in enumerate(old[0])]))


def main() -> None:
    """Measure the names of an atlas, of names computed again, and of random samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path, required=True)
    atlas = ls.open(parser.parse_args().atlas)
    vectors, embedder = np.asarray(atlas.vectors()), MiniLM()
    x, y = (atlas.map[side].to_numpy(np.float64) for side in ("x", "y"))
    keywords = pa.array(atlas.read_papers(["keywords"])["keywords"], pa.list_(pa.string()))
    rows: list[list[str]] = []

    def measure(title: str, kept: NDArray[np.bool_], **old: Any) -> dict[int, Any]:
        start = perf_counter()
        found = build_topics(
            x[kept],
            y[kept],
            keywords.filter(pa.array(kept)),
            vectors=vectors[kept],
            embed=embedder.embed,
            **old,
        )
        seconds = perf_counter() - start
        groups = {
            level: groups_of(found.table, found.topic_id, found.subregion_id, level)
            for level in LEVELS
        }
        if title:
            add(title, groups, vectors[kept], f"{seconds:.1f}")
        return groups

    def add(title: str, groups: dict[int, Any], some: NDArray[np.float32], seconds: str) -> None:
        for level, (names, own) in groups.items():
            if names:
                first, mean = rank_names(names, own, some, embedder)
                rows.append(
                    [title, LEVELS[level], str(len(names)), f"{first:.1%}", f"{mean:.3f}", seconds]
                )

    nowhere = np.full(len(x), -1)
    stored = atlas.map["subregion_id"].to_numpy() if "subregion_id" in atlas.map else nowhere
    own = atlas.map["topic_id"].to_numpy()
    groups = {level: groups_of(atlas.topics, own, stored, level) for level in LEVELS}
    add("names in the atlas", groups, vectors, "")
    everything = np.ones(len(x), dtype=bool)
    full = measure("computed again", everything)
    half = np.random.default_rng(0).random(len(x)) < 0.5
    measure("a random half", half)
    measure("the other half", ~half)
    head = ["names", "level", "number", "own name among the first 3", "MRR", "seconds"]
    print_table(f"Names of {len(x):,} papers", head, rows)

    # Continents, regions and subregions have the numbers of a first build.
    names = {first + n: name for k, first in FIRST.items() for n, name in enumerate(full[k][0])}
    changes: list[list[str]] = []
    for seed in range(4):
        kept = np.random.default_rng(seed).random(len(x)) > 0.05
        before = [np.where((own := full[k][1][kept]) >= 0, own + n, -1) for k, n in FIRST.items()]
        rebuilt = {"previous": np.column_stack(before), "old_names": names}
        for title, old in (("new build", {}), ("rebuilt", rebuilt)):
            new = measure("", kept, **old)
            shares = [unchanged((full[k][0], full[k][1][kept]), new[k]) for k in LEVELS]
            changes.append([title, str(seed), *(f"{share:.1%}" for share in shares)])
    head = ["names", "seed", *LEVELS.values()]
    print_table("Names unchanged without 5% of the papers", head, changes)
    save("regions", {"names": rows, "unchanged": changes})


if __name__ == "__main__":
    main()
