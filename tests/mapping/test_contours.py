"""Contours contain the stated share of papers."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.errors import InputError
from landscape.mapping import density_grid
from landscape.mapping.density import (
    contour_lines,
    count_pieces,
    highest_density_levels,
    map_extent,
)


def _two_clumps() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 6000), rng.normal(12, 1, 4000)])
    return x, rng.normal(0, 1, 10000)


def test_a_contour_holds_its_share_of_the_papers() -> None:
    from matplotlib.path import Path

    x, y = _two_clumps()
    grid = density_grid(x, y, bounds=map_extent(x, y), shape=(300, 400), bandwidth=0.3)
    for share, level in zip((0.5, 0.8), highest_density_levels(grid, (0.5, 0.8)), strict=True):
        inside = np.zeros(len(x), dtype=bool)
        for line in contour_lines(grid, level):
            inside ^= Path(line).contains_points(np.column_stack([x, y]))
        assert inside.mean() == pytest.approx(share, abs=0.03)
    assert count_pieces(grid, highest_density_levels(grid, (0.8,))[0]) == 2


def test_the_area_of_a_gaussian_is_the_textbook_one() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 200_000))
    grid = density_grid(x, y, bounds=(-5, -5, 5, 5), shape=(200, 200), bandwidth=0.05)
    level = highest_density_levels(grid, (0.5,))[0]
    width, height = grid.cell_width, grid.cell_height
    area = float((grid.density >= level).sum()) * width * height
    # Half of a two-dimensional normal lies within r^2 = 2 ln 2.
    assert area == pytest.approx(2 * np.pi * np.log(2), rel=0.03)


def test_weights_and_window() -> None:
    grid = density_grid(
        [0.5, 1.5, 9.0],
        [0.5, 0.5, 0.5],
        bounds=(0, 0, 2, 1),
        shape=(1, 2),
        bandwidth=0,
        weights=[2, 3, 100],
    )
    assert grid.density.tolist() == [[2.0, 3.0]]
    assert (grid.cell_width, grid.cell_height) == (1.0, 1.0)


def test_ground_that_runs_off_the_window_is_closed_at_its_edge() -> None:
    x, y = _two_clumps()
    grid = density_grid(x, y, bounds=(0, -3, 12, 3), shape=(64, 64), bandwidth=0.4)
    lines = contour_lines(grid, highest_density_levels(grid, (0.5,))[0])
    assert lines
    assert all(np.array_equal(line[0], line[-1]) for line in lines)
    assert 0 <= min(line[:, 0].min() for line in lines) < grid.cell_width


def test_no_paper_and_bad_windows() -> None:
    empty = density_grid([], [], bounds=(0, 0, 1, 1), shape=(4, 4))
    assert contour_lines(empty, highest_density_levels(empty)[0]) == []
    with pytest.raises(InputError, match="No paper"):
        map_extent([], [])
    with pytest.raises(InputError, match="window"):
        density_grid([0], [0], bounds=(1, 0, 0, 1))
    with pytest.raises(InputError, match="share"):
        highest_density_levels(empty, (80,))


def test_one_paper_has_a_contour() -> None:
    grid = density_grid([3.0], [4.0], bounds=map_extent([3.0], [4.0]), shape=(32, 32))
    (line,) = contour_lines(grid, highest_density_levels(grid, (0.8,))[0])
    assert np.allclose(line.mean(axis=0), [3, 4], atol=0.2)
