"""Density, peaks and basins of maps with known truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from landscape.errors import InputError
from landscape.mapping import density_grid
from landscape.mapping.density import count_grid, default_bandwidth, find_basins

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [7.0, 7.0]])


def clumps(n_each: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = np.concatenate([c + rng.normal(size=(n_each, 2)) for c in CENTRES])
    return points[:, 0], points[:, 1]


def test_no_paper_is_lost_in_the_grid() -> None:
    x, y = clumps()
    assert density_grid(x, y).density.sum() == pytest.approx(len(x), rel=1e-6)


def test_a_window_has_the_cells_that_were_asked_for() -> None:
    x, y = clumps()
    bounds = (-4.0, -4.0, 4.0, 12.0)
    grid = density_grid(x, y, bounds=bounds, shape=(32, 16), bandwidth=0.5)
    assert grid.density.shape == (32, 16)
    assert grid.bounds == bounds
    assert grid.counts.sum() == ((np.abs(x) <= 4) & (y >= -4) & (y <= 12)).sum()
    assert grid.density.sum() == pytest.approx(grid.counts.sum(), rel=0.02)
    plain = density_grid(
        x, y, bounds=bounds, shape=(32, 16), bandwidth=0, weights=2 * np.ones(2000)
    )
    assert (plain.density == 2 * grid.counts).all()
    assert density_grid(x, y, bounds=(0, 0, 0.2, 0.1), bandwidth=9).bandwidth == 0.05
    with pytest.raises(InputError, match="window"):
        density_grid(x, y, bounds=(1, 0, 1, 1))


def test_the_far_edges_belong_to_the_last_cells() -> None:
    corners = [0.0, 1.0, 1.0, 1.1], [0.0, 1.0, 0.0, 0.5]
    counts = count_grid(*corners, bounds=(0, 0, 1, 1), shape=(2, 2))
    assert counts.tolist() == [[1, 1], [0, 1]]


def test_every_clump_is_one_peak_at_its_place() -> None:
    x, y = clumps()
    basins = find_basins(density_grid(x, y, bandwidth=0.5), min_papers=100)
    found = np.column_stack([basins.x, basins.y])
    away = np.linalg.norm(CENTRES[:, None] - found, axis=2).min(axis=1)
    assert len(found) == 4
    assert (away < 0.4).all()


def test_papers_of_a_clump_share_its_basin() -> None:
    x, y = clumps()
    grid = density_grid(x, y, bandwidth=0.5)
    basins = find_basins(grid, min_papers=100)
    label = basins.labels[grid.cells_of(x, y)].reshape(4, -1)
    for members in label:
        assert (members == np.bincount(members[members >= 0]).argmax()).mean() > 0.95


def test_the_least_telling_peaks_go_first() -> None:
    x, y = clumps()
    extra = np.random.default_rng(1).normal([3.0, 0.0], 0.3, size=(60, 2))
    x, y = np.append(x, extra[:, 0]), np.append(y, extra[:, 1])
    basins = find_basins(density_grid(x, y, bandwidth=0.4), max_peaks=4)
    away = np.linalg.norm(CENTRES[:, None] - np.column_stack([basins.x, basins.y]), axis=2)
    assert len(basins.x) == 4
    assert (away.min(axis=1) < 0.5).all()


def test_basins_cover_the_share_that_was_asked_for() -> None:
    x, y = clumps()
    grid = density_grid(x, y)
    for share in (0.5, 0.9):
        inside = find_basins(grid, share=share).labels >= 0
        assert grid.density[inside].sum() / grid.density.sum() == pytest.approx(share, abs=0.03)


def test_one_outlier_does_not_blur_the_map() -> None:
    x, y = clumps()
    alone = default_bandwidth(x, y)
    assert default_bandwidth(np.append(x, 5000.0), np.append(y, 0.0)) == pytest.approx(
        alone, rel=0.1
    )


@settings(deadline=None, max_examples=40)
@given(arrays(np.float64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.floats(-50, 50)))
def test_any_map_has_a_peak_and_no_more_peaks_than_papers(points: np.ndarray) -> None:
    basins = find_basins(density_grid(points[:, 0], points[:, 1]), min_papers=2)
    assert 1 <= len(basins.x) <= len(points)
    assert set(np.unique(basins.labels)) <= set(range(-1, len(basins.x)))
    assert (np.diff(basins.height) <= 1e-12).all()
