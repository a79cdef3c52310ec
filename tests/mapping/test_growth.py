"""New papers on an existing map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from landscape.mapping.growth import (
    compare_regions,
    find_novel,
    place_in_regions,
    propose_regions,
    register,
)


def unit(vectors: Any) -> Any:
    """Return vectors of unit length."""
    vectors = np.asarray(vectors, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_the_majority_of_neighbours_decides_and_the_nearest_breaks_ties() -> None:
    spots = np.array([[0, 0], [0.1, 0], [0.2, 0], [1, 0], [1.1, 0], [50, 50]], dtype=np.float32)
    regions = np.array([[1, 10], [2, 10], [2, 11], [-1, -1], [2, 11], [7, 70]])
    placed = place_in_regions(np.array([[0.0, 0.0], [60, 60]], dtype=np.float32), spots, regions)
    assert placed[0].tolist() == [2, 10], "10 and 11 have two votes each; 10 is nearer"
    assert placed.shape == (2, 2)


def test_one_percent_of_the_papers_of_a_map_exceed_the_threshold() -> None:
    rng = np.random.default_rng(0)
    vectors = unit(rng.normal(size=(1500, 8)))
    _, threshold = find_novel(vectors[:0], vectors)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    assert (1 - cosines.max(axis=1) > threshold).mean() == pytest.approx(0.01, abs=0.002)
    novel, _ = find_novel(unit(rng.normal(size=(1000, 8))), vectors)
    assert 0.002 < novel.mean() < 0.03, "papers like those of the map are rarely novel"


def planted(n_groups: int) -> tuple[Any, list[list[str]]]:
    """Return vectors and keyphrases of 40 scattered papers and groups of 8 papers."""
    rng = np.random.default_rng(3)
    scattered = rng.normal(size=(40, 12))
    groups = [
        10 * np.eye(12)[number] + 0.3 * rng.normal(size=(8, 12)) for number in range(n_groups)
    ]
    names = ["little red dots", "interstellar comets", "fast radio bursts"]
    words = [[f"phrase {n}", "galaxies"] for n in range(40)]
    words += [[names[g], "galaxies"] for g in range(n_groups) for _ in range(8)]
    return unit(np.vstack([scattered, *groups])), words


def test_groups_of_novel_papers_are_named() -> None:
    vectors, words = planted(2)
    novel = np.arange(len(vectors)) >= 40
    months = [f"2024-{n % 12 + 1:02d}" for n in range(len(vectors))]
    background = [["galaxies", "dust"]] * 300
    found = propose_regions(
        vectors, novel, pa.array(background + words), months, ["a"] * len(vectors)
    )
    assert sorted(one.label for one in found) == ["Interstellar comets", "Little red dots"]
    assert sorted(row for one in found for row in one.rows.tolist()) == list(range(40, 56))
    assert [one.warning for one in found] == ["", ""]


@pytest.mark.parametrize("what", ["month", "source"])
def test_a_group_of_one_month_or_source_is_named_as_such(what: str) -> None:
    vectors, words = planted(2)
    novel = np.arange(len(vectors)) >= 40
    spread = [f"value {n % 12}" for n in range(len(vectors))]
    one_sided = [*spread[:40], *["crawl of May"] * 8, *spread[48:]]
    months, sources = (one_sided, spread) if what == "month" else (spread, one_sided)
    found = propose_regions(vectors, novel, pa.array([["dust"]] * 99 + words), months, sources)
    warnings = {one.label: one.warning for one in found}
    assert warnings == {
        "Little red dots": f"all of one {what} (crawl of May)",
        "Interstellar comets": "",
    }


def test_few_novel_papers_are_no_region() -> None:
    vectors, words = planted(1)
    novel = np.zeros(len(vectors), dtype=bool)
    novel[40:44] = True
    assert propose_regions(vectors, novel, pa.array(words), ["m"] * 48, ["s"] * 48) == []


@pytest.mark.parametrize("reflected", [False, True])
def test_a_turned_and_scaled_map_returns_to_its_frame(reflected: bool) -> None:
    rng = np.random.default_rng(1)
    frame = rng.normal(size=(50, 2)).astype(np.float32)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    other = frame @ turn * 3 + [4, -2]
    if reflected:
        other[:, 0] *= -1
    rows = np.arange(0, 50, 2)
    found = register(other.astype(np.float32), frame[rows], rows)
    assert np.allclose(found, frame, atol=1e-4)


def topics(*rows: tuple[int, str, int]) -> pd.DataFrame:
    """Return a table of regions from numbers, names and sizes."""
    table = pd.DataFrame(rows, columns=["topic_id", "label", "n_papers"])
    return table.assign(level=1)


def test_changes_of_regions_have_reasons() -> None:
    old = topics((1, "Stars", 40), (2, "Dust", 20), (3, "Comets", 10), (4, "Gas", 10))
    new = topics((1, "Stars", 24), (2, "Cosmic dust", 33), (7, "Dwarfs", 16), (8, "Dots", 12))
    before = np.repeat([1, 1, 2, 3, 4, -2, -2], [24, 16, 20, 10, 10, 3, 12])
    after = np.repeat([1, 7, 2, 2, -1, 2, 8], [24, 16, 20, 10, 10, 3, 12])
    found = {one["kind"]: one for one in compare_regions(old, new, before, after)}
    assert {kind: (one["topic_id"], one["reason"]) for kind, one in found.items()} == {
        "shrank": (1, "16 papers left"),
        "renamed": (2, "was Dust"),
        "grew": (2, "3 new papers, 10 papers from elsewhere on the map"),
        "split": (7, "16 of its 16 papers were in Stars"),
        "born": (8, "12 of its 12 papers are new"),
        "merged": (3, "10 of its 10 papers are now in Cosmic dust"),
        "dissolved": (4, "most of its papers are outside every region"),
    }
    assert (found["grew"]["papers_before"], found["grew"]["papers"]) == (20, 33)


def test_slow_growth_is_listed_once_it_is_large() -> None:
    old, new = topics((1, "Stars", 46)), topics((1, "Stars", 49))
    before, after = np.repeat([1, -2], [46, 3]), np.ones(49, dtype=int)
    assert compare_regions(old, new, before, after) == []
    [grew] = compare_regions(old, new, before, after, known_sizes={1: 40})
    assert (grew["kind"], grew["papers_before"], grew["reason"]) == ("grew", 40, "3 new papers")
