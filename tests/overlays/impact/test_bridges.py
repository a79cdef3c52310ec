"""Bridges: planted links between regions are found, and common links are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscape.overlays.missions import impact
from landscape.overlays.missions.usage import (
    find_bridges,
    find_reach_by_citations,
    find_reach_by_vectors,
)

N = 2000


def _vectors(region: Any, leaning: Any) -> Any:
    """Return unit vectors near the axis of their region; `leaning` ones are near two axes."""
    vectors = 0.05 * np.random.default_rng(3).normal(size=(len(region), 8))
    vectors[np.arange(len(region)), region] += 1.0
    vectors[leaning, (region[leaning] + 1) % 4] += 0.9
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_finds_the_planted_bridge_and_no_other(make: Any) -> None:
    random = np.random.default_rng(0)
    region = random.integers(0, 4, N)
    year = np.full(N, 2015)
    alma = random.random(N) < 0.1
    # A fifth of all papers lean to the next region; of ALMA's of Pulsars nearly all do.
    leaning = random.random(N) < np.where(alma & (region == 0), 0.9, 0.15)
    atlas = make(region, year, {"ALMA": alma}, vectors=_vectors(region, leaning))
    found = impact(atlas, n_resamples=200)
    bridges = found.tables["bridges"]
    certain = bridges[bridges["q"] < 0.05]
    assert certain[["label_a", "label_b"]].to_numpy().tolist() == [["Pulsars", "Magnetars"]]
    best = certain.iloc[0]
    assert best["low"] <= best["ratio"] <= best["high"]
    assert best["low"] > 1
    row = found.table.iloc[0]
    assert row["bridges"] == 1
    assert row["bridging_low"] > 1


def test_papers_taken_at_random_bridge_as_much_as_the_others() -> None:
    random = np.random.default_rng(1)
    region = random.integers(0, 4, N)
    reach = find_reach_by_vectors(_vectors(region, random.random(N) < 0.2), region, 4)
    every = np.ones(N, dtype=bool)
    false = sum(
        bool((find_bridges(reach, region, random.random(N) < 0.15, every)["q"] < 0.05).any())
        for _ in range(40)
    )
    assert false <= 4


def test_papers_outside_regions_and_outside_the_period_do_not_count() -> None:
    region = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    references = [["d"], ["d"], ["e"], [], [], [], ["a"], ["d"]]
    reach = find_reach_by_citations(list("abcdefgh"), references, region, 2)
    assert reach.known.tolist() == [True, True, True, False, False, False, False, False]
    uses = np.array([True, True, True, False, False, False, True, True])
    inside = np.ones(8, dtype=bool)
    found = find_bridges(reach, region, uses, inside)
    assert found[["region_a", "region_b", "papers"]].to_numpy().tolist() == [[0, 1, 3]]
    inside[0] = False
    assert find_bridges(reach, region, uses, inside).empty  # two papers are no bridge


def test_references_link_regions(make: Any) -> None:
    region = np.repeat([0, 2], 20)
    references = [[f"paper-{20 + row}", "paper-0", "elsewhere"] for row in range(10)]
    references += [["paper-1"]] * 10 + [[] for _ in range(20)]
    uses = np.arange(40) < 10
    atlas = make(region, np.full(40, 2015), {"ALMA": uses}, references=references)
    found = impact(atlas, links="citations", n_resamples=50)
    row = found.table.iloc[0]
    assert row["linked_papers"] == 10
    assert row["bridging"] == 2.0  # all of its ten reach Galaxies, half of the twenty of Pulsars
    assert found.tables["bridges"]["papers"].tolist() == [10]


def test_without_references_the_analysis_says_so(make: Any) -> None:
    region = np.repeat([0, 2], 20)
    atlas = make(region, np.full(40, 2015), {"ALMA": np.arange(40) < 10})
    found = impact(atlas, links="citations", n_resamples=10)
    assert np.isnan(found.table.iloc[0]["bridging"])
    assert any("do not cite each other" in warning for warning in found.warnings)
