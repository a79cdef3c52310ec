"""Terrain shows the papers: heights, sea level, islands, recency, rivers, special cases."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape import Atlas
from landscape.errors import InputError
from landscape.outreach import Terrain, make_terrain
from landscape.outreach._elevation import Surface
from landscape.outreach._terrain import citation_flows, read_dates

SIZE = (160, 120)


def made_atlas(
    x: Any, y: Any, *, topic: Any = None, years: Any = None, links: Any = None
) -> SimpleNamespace:
    """Return an atlas with the parts that the terrain needs."""
    table = pd.DataFrame({"x": np.asarray(x, float), "y": np.asarray(y, float)})
    table["topic_id"] = 0 if topic is None else topic
    atlas = SimpleNamespace(map=table)
    if years is not None:
        column = pd.DataFrame({"year": pd.array(years, dtype="Int16")})
        atlas.read_papers = lambda names: column[names]
    if links is not None:
        from landscape.overlays.citations import link

        graph = link(np.asarray(links[0]), np.asarray(links[1]), n_nodes=len(table))
        atlas.citations = SimpleNamespace(n_links=len(graph.targets), reference_links=graph)
    return atlas


def cloud(n: int, x: float = 0.0, y: float = 0.0, *, wide: float = 1.0, seed: int = 0) -> Any:
    """Return positions of `n` papers around a place."""
    return np.array([[x], [y]]) + wide * np.random.default_rng(seed).normal(size=(2, n))


def at(grid: Any, terrain: Terrain, x: Any, y: Any) -> Any:
    """Return values of a grid of the terrain at map positions."""
    column, row = terrain.pixels_of(x, y)
    inside = (column >= 0) & (column < terrain.size[0]) & (row >= 0) & (row < terrain.size[1])
    value = np.full(len(column), -1.0)
    value[inside] = grid[row[inside].astype(int), column[inside].astype(int)]
    return value


@pytest.fixture(scope="module")
def two_fields() -> SimpleNamespace:
    """An old field in the west and a new one, half as large, in the east."""
    west, east = cloud(800, -6), cloud(400, 6, seed=1)
    rng = np.random.default_rng(2)
    old, new = rng.integers(1980, 1996, 800), rng.integers(1994, 2000, 400)
    years = [*old.tolist(), *new.tolist()]
    years[0] = None
    years[1] = 2035  # a slip of the pen
    topic = np.repeat([3, 4], [800, 400])
    return made_atlas(*np.hstack([west, east]), topic=topic, years=years)


@pytest.fixture(scope="module")
def fields(two_fields: SimpleNamespace) -> Terrain:
    return make_terrain(two_fields, size=SIZE)


def test_sea_level_holds_the_share_of_papers(demo_atlas: Atlas) -> None:
    terrain = make_terrain(demo_atlas, size=(400, 300), sea_share=0.9)
    papers = demo_atlas.map
    on_land = at(terrain.elevation, terrain, papers["x"].to_numpy(), papers["y"].to_numpy()) >= 0
    assert on_land.mean() == pytest.approx(0.9, abs=0.015)
    assert terrain.land_share == pytest.approx(0.9, abs=0.01)
    assert terrain.n_papers == 400
    assert {peak.region for peak in terrain.peaks} <= set(demo_atlas.map["topic_id"])


def test_the_same_atlas_gives_the_same_terrain(
    two_fields: SimpleNamespace, fields: Terrain
) -> None:
    again = make_terrain(two_fields, size=SIZE)
    assert np.array_equal(again.elevation, fields.elevation)
    assert np.array_equal(again.recency, fields.recency)
    assert again.atlas_hash == fields.atlas_hash
    assert again.peaks == fields.peaks


def test_more_papers_are_higher_ground(fields: Terrain) -> None:
    first, second = fields.peaks
    assert (first.region, second.region) == (3, 4)
    assert first.x == pytest.approx(-6, abs=0.7)
    assert second.x == pytest.approx(6, abs=0.7)
    assert 0 < second.elevation < first.elevation
    assert first.elevation == pytest.approx(1.0)
    assert (first.papers, second.papers) == (800, 400)
    assert fields.elevation.min() < -0.5
    assert fields.peak_density > fields.sea_density > 0


def test_far_papers_make_no_islands_and_do_not_shrink_the_map() -> None:
    crowd = cloud(3000)
    lone = [[40.0, 4.6], [0.0, 4.6]]
    terrain = make_terrain(made_atlas(*np.hstack([crowd, lone])), size=SIZE)
    assert terrain.extent[1] - terrain.extent[0] < 14
    assert at(terrain.elevation, terrain, np.array([4.6]), np.array([4.6])) < 0


def test_recency_knows_the_new_field(fields: Terrain) -> None:
    west, east = at(fields.recency, fields, np.array([-6.0, 6.0]), np.array([0.0, 0.0]))
    assert fields.recent_years == (1995, 1999)  # the corpus ends then, whatever one slip says
    assert west < fields.recent_share < east
    assert east > 0.7
    assert fields.n_undated == 1


def test_recency_of_few_papers_leans_to_the_whole() -> None:
    def recency(n_new: int) -> float:
        papers = np.hstack([cloud(1500), cloud(n_new, 6, wide=0.2)])
        years = [1990] * 750 + [2000] * 750 + [2000] * n_new
        terrain = make_terrain(made_atlas(*papers, years=years), size=SIZE)
        return float(at(terrain.recency, terrain, np.array([6.0]), np.array([0.0]))[0])

    assert 0.55 < recency(15) < 0.85
    assert recency(400) > 0.93


def test_undated_papers_are_not_old() -> None:
    west, east = cloud(500, -6), cloud(500, 6, seed=1)
    years = [1990, 2000] * 250 + [2000] * 60 + [1990] * 60 + [None] * 380
    terrain = make_terrain(made_atlas(*np.hstack([west, east]), years=years), size=SIZE)
    share = at(terrain.recency, terrain, np.array([-6.0, 6.0]), np.array([0.0, 0.0]))
    assert share[0] == pytest.approx(share[1], abs=0.08)
    assert terrain.n_undated == 380


def test_years_that_tell_nothing_make_nothing_old() -> None:
    assert read_dates([np.nan] * 40, recent_years=5).recent is None
    assert read_dates([2024.0] * 40, recent_years=5).recent is None
    dates = read_dates([1950.0] * 4000 + [2024.0], recent_years=5)
    assert dates.recent is None  # one paper is no literature of these years
    assert dates.span == (1950, 2024)


@pytest.mark.parametrize(
    "positions",
    [
        cloud(10),
        np.zeros((2, 300)) + 5e5,
        np.zeros((2, 1)),
        [np.arange(40.0), np.zeros(40)],
        [[0.0, 1e9], [0.0, 1.0]],
    ],
    ids=["ten", "one spot", "one", "a line", "two far apart"],
)
def test_hard_cases_have_land_and_sea(positions: Any) -> None:
    terrain = make_terrain(made_atlas(*positions), size=(64, 64))
    assert 0.005 < terrain.land.mean() < 0.95
    assert not terrain.land[[0, -1]].any()
    assert not terrain.land[:, [0, -1]].any()
    assert np.isfinite(terrain.elevation).all()
    assert np.isnan(terrain.recency).all()
    assert len(terrain.peaks) == 1
    assert terrain.rivers == ()


def test_a_terrain_of_another_size_has_the_same_coast(
    two_fields: SimpleNamespace, fields: Terrain
) -> None:
    large = make_terrain(two_fields, size=(640, 480))
    again = Surface.through(fields.elevation).at((640, 480)) >= 0
    assert (large.land == again).mean() > 0.998
    cut = large.window(100, 50, 300, 250)
    assert np.array_equal(cut.land, large.land[50:250, 100:300])
    column, row = large.pixels_of([-6.0], [0.0])
    there = cut.pixels_of([-6.0], [0.0])
    assert np.allclose([column - 100, row - 50], there)


def test_rivers_run_over_land_where_citations_do() -> None:
    places = [(0, 0), (5, 0), (10, 0), (40, 0)]
    papers = np.hstack([cloud(400, *place, wide=1.4, seed=i) for i, place in enumerate(places)])
    topic = np.repeat([0, 1, 2, 3], 400)
    rng = np.random.default_rng(5)
    # 1 cites 0; 3 cites 2, across the sea; 2 and 0 hardly.
    citing = np.concatenate([400 + rng.integers(0, 400, 90), 1200 + rng.integers(0, 400, 90)])
    cited = np.concatenate([rng.integers(0, 400, 90), 800 + rng.integers(0, 400, 90)])
    terrain = make_terrain(made_atlas(*papers, topic=topic, links=(citing, cited)), size=SIZE)
    assert [(river.source, river.target) for river in terrain.rivers] == [(0, 1)]
    river = terrain.rivers[0]
    assert river.citations >= 85
    assert (at(terrain.elevation, terrain, river.x, river.y) > -0.02).all()
    peaks = {peak.region: (peak.x, peak.y) for peak in terrain.peaks}
    assert np.allclose([river.x[0], river.y[0]], peaks[0], atol=0.6)
    assert np.allclose([river.x[-1], river.y[-1]], peaks[1], atol=0.6)


def test_citations_by_chance_are_no_rivers() -> None:
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 6, 2000)
    citing, cited = rng.integers(0, 2000, (2, 20000))
    assert citation_flows(citing, cited, topic) == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": (9933, 14043)}, "4,096"),
        ({"size": (4, 100)}, "16"),
        ({"sea_share": 97}, "0.5 to 0.999"),
        ({"recent_years": 0}, "choose a whole number from 1 to 200"),
        ({"margin": 0.5}, "0 to 0.3"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_terrain(made_atlas(*cloud(20)), **settings)


def test_papers_without_a_place_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        make_terrain(made_atlas([0.0, np.nan], [0.0, 1.0]))
    with pytest.raises(InputError, match="no papers"):
        make_terrain(made_atlas([], []))
