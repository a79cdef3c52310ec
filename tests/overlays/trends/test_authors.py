"""Authors on the map: namesakes, spread, drift and moves, with known truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.overlays.trends import author_path
from landscape.overlays.trends._authors import (
    link_papers,
    mean_distance,
    measure_drift,
    place_in_byline,
)


def _directions(rng: np.random.Generator, centre: int, n: int) -> np.ndarray:
    vectors = rng.normal(0, 0.1, (n, 16))
    vectors[:, centre] += 1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _world() -> Any:
    """Return an atlas: Rubin moves from region 0 to 1 in 2010, and two people are named Chen."""
    from .worlds import atlas_of

    rng = np.random.default_rng(4)
    years = np.arange(2000, 2020)
    rubin = [
        ["Rubin, Vera C." if year % 2 else "V. Rubin", f"Ford{'abcde'[year % 5]}, K", "Zoe, Q"]
        for year in years
    ]
    chen = [
        ["Chen, Wei", "Li, A"],
        ["Chen, W.", "Li, A"],
        ["Chen, Wen", "Ma, B"],
        ["W. Chen", "Ma, B"],
        ["Chen, W."],
    ]
    others = [["Jansky, K."]] * 60
    papers = pd.DataFrame(
        {
            "authors": [*rubin, *chen, *others],
            "aff": [["Observatory One, Chile"] * 3] * 20 + [[]] * 65,
            "year": [*years, *[2015] * 5, *rng.integers(2000, 2020, 60)],
            "topic_id": [*(years >= 2010).astype(int), 2, 2, 3, 3, 2, *rng.integers(0, 6, 60)],
        }
    )
    papers["date"] = pd.to_datetime(papers["year"].astype(str) + "-05-01")
    vectors = np.concatenate(
        [
            _directions(rng, 0, 10),
            _directions(rng, 1, 10),
            _directions(rng, 2, 5),
            *[_directions(rng, centre, 10) for centre in range(6)],
        ]
    )
    return atlas_of(papers, vectors=vectors.astype(np.float32))


def test_a_move_is_seen_in_regions_and_in_full_dimension() -> None:
    found = author_path(_world(), "Rubin, Vera", period_years=5)
    periods = found.tables["periods"]
    assert len(found.table) == 20
    assert found.table.date.is_monotonic_increasing
    assert periods.label.tolist() == ["Region 0", "Region 0", "Region 1", "Region 1"]
    assert periods.moved.tolist() == [False, False, True, False]
    assert periods.distance[2] > 5 * periods.distance[1]
    summary = found.tables["summary"].set_index("measure")["value"]
    assert summary["drift p"] < 0.01
    assert summary["spread"] < summary["corpus spread"]
    assert summary["effective regions"] == pytest.approx(2)
    assert found.tables["topics"].papers.tolist() == [10, 10]
    assert found.tables["coauthors"].iloc[0].tolist() == ["Zoe, Q", 20]
    assert found.table.affiliation.unique().tolist() == ["Observatory One, Chile"]
    assert found.denominators == {"papers of the author": 20, "papers of the atlas": 85}


def test_namesakes_fall_into_groups() -> None:
    found = author_path(_world(), "Chen, W")
    groups = found.tables["groups"].set_index("group")
    assert groups.papers.to_dict() == {1: 2, 2: 2, 0: 1}
    assert "Chen, Wei" in groups.spelled[1]
    assert "Chen, Wen" in groups.spelled[2]
    assert any("Wei, Wen" in warning for warning in found.warnings)
    assert any("2 groups and 1 linked to none" in warning for warning in found.warnings)
    one = author_path(_world(), "Chen, W", group=2)
    assert one.table.label.unique().tolist() == ["Region 3"]


def test_a_full_name_leaves_out_other_full_names() -> None:
    found = author_path(_world(), "Wei Chen")
    assert set(found.table.spelled) == {"Chen, Wei", "Chen, W.", "W. Chen"}


def test_an_initial_never_ties_two_people_together() -> None:
    spelled = ["Wang, Yu", "Wang, Y.", "Wang, Yang", "Wang, Y."]
    shared = [["Li, A"], ["Li, A", "Ma, B"], ["Ma, B"], ["Ma, B"]]
    assert link_papers(spelled, shared, [[]] * 4).tolist() == [0, 0, 1, 1]


def test_long_bylines_and_unknown_places_link_nothing() -> None:
    crowd = [f"Person {number}, A" for number in range(40)]
    assert link_papers(["Li, W"] * 2, [crowd, crowd], [[""], [""]]).tolist() == [0, 0]
    assert link_papers(["Li, W"] * 2, [[], []], [["ESO, Chile"], ["ESO, Chile"]]).tolist() == [1, 1]


def test_spellings_of_one_person_are_met() -> None:
    byline = ["Smith, J.", "Richard de Grijs", "Müller, Jürgen"]
    assert place_in_byline(byline, "de Grijs, R.") == 1
    assert place_in_byline(byline, "J. Mueller") == -1
    assert place_in_byline(byline, "Muller, Jurgen") == 2
    assert place_in_byline(byline, "Smith, Kate") == -1


def test_the_spread_is_the_mean_of_all_pairs() -> None:
    vectors = _directions(np.random.default_rng(5), 0, 12)
    distances = 1 - vectors @ vectors.T
    mean, error = mean_distance(vectors)
    assert mean == pytest.approx(distances[np.triu_indices(12, 1)].mean())
    assert 0 < error < mean
    assert np.isnan(mean_distance(vectors[:1])[0])


def test_who_does_not_move_shows_no_drift() -> None:
    rng = np.random.default_rng(6)
    p = [measure_drift(_directions(rng, 0, 20), n_resamples=200, seed=1)[1] for _ in range(60)]
    assert np.mean(np.array(p) < 0.1) < 0.25


def test_one_paper_has_no_spread_but_an_answer() -> None:
    alone = author_path(_world(), "Chen, W", group=0)
    assert len(alone.table) == 1
    assert np.isnan(alone.tables["summary"]["value"][0])


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("Ruben, V", {}, "nearest: .*Rubin"),
        ('""', {}, "empty"),
        ("Rubin", {"group": 9}, "no group 9; there are: 1"),
        ("Rubin", {"period_years": 0}, "too short"),
    ],
)
def test_what_cannot_be_is_said(name: str, options: dict[str, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        author_path(_world(), name, **options)
