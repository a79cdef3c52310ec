from __future__ import annotations

import numpy as np
import pytest

from landscape.figures.colours import Tones, choose_tones, draw_specks, smooth_adaptively
from landscape.mapping import density  # few points count as many
from landscape.mapping.density import count_grid

EXTENT = (-4.0, -3.0, 4.0, 3.0)


def points(n, seed=0):
    return np.random.default_rng(seed).normal(size=(2, n)).astype(np.float32)


def test_numpy_and_datashader_count_alike(monkeypatch):
    x, y = points(20_000)
    at_once = count_grid(x, y, bounds=EXTENT, shape=(120, 160))
    monkeypatch.setattr(density, "_MANY", 1)
    streamed = count_grid(x, y, bounds=EXTENT, shape=(120, 160))
    # Rounding may move a point on a border to the next cell, no more.
    assert np.abs(at_once - streamed).sum() <= 4
    inside = (np.abs(x) <= 4) & (np.abs(y) <= 3)
    assert at_once.sum() == inside.sum()


def test_points_outside_and_on_the_border():
    grid = count_grid([-4, 4, 9, 0], [-3, 3, 0, -9], bounds=EXTENT, shape=(6, 8))
    assert grid.sum() == 2
    assert grid[0, 0] == grid[-1, -1] == 1


@pytest.mark.parametrize("shape", [(64, 64), (37, 101), (8, 8)])
@pytest.mark.parametrize("coarsest", [1.0, 9.0, 40.0])
def test_smoothing_keeps_every_paper_and_the_shape(shape, coarsest):
    counts = np.random.default_rng(1).poisson(0.3, shape).astype(np.float32)
    smooth = smooth_adaptively(counts, coarsest=coarsest)
    assert smooth.shape == shape
    assert smooth.min() >= 0
    assert smooth.sum() == pytest.approx(counts.sum(), rel=1e-4)


def test_the_crowd_stays_sharp_and_the_lone_paper_is_wide():
    counts = np.zeros((256, 256), dtype=np.float32)
    counts[64, 64], counts[192, 192] = 5000, 1
    smooth = smooth_adaptively(counts, coarsest=20)

    def width(centre):
        patch = smooth[centre - 50 : centre + 50, centre - 50 : centre + 50]
        offset = np.arange(-50, 50)
        return np.sqrt((patch.sum(axis=0) * offset**2).sum() / patch.sum())

    assert width(64) < 10
    assert width(192) > 16
    # Nearly all of the crowd is within a few pixels; a kernel of 20 would hold 3% of it there.
    assert smooth[60:69, 60:69].sum() > 0.5 * 5000


def test_smoothing_finds_the_density_that_points_were_drawn_from():
    n = 40_000
    x, y = points(n, seed=3)
    counts = count_grid(x, y, bounds=EXTENT, shape=(240, 320))
    smooth = smooth_adaptively(counts, coarsest=20)
    across = (np.arange(320) + 0.5) / 40 - 4
    up = (np.arange(240) + 0.5) / 40 - 3
    true = np.exp(-(up[:, None] ** 2 + across[None] ** 2) / 2) / (2 * np.pi) * n / 1600
    core = true > true.max() / 10
    assert np.abs(smooth[core] / true[core] - 1).mean() < 0.13
    raw = np.abs(counts[core] / true[core] - 1).mean()
    assert raw > 0.5, "the raw counts are much worse, so the smoothing earned its place"


def test_tones_invert_and_give_the_typical_paper_the_middle():
    tones = Tones(knee=0.3, top=50.0)
    for position in (0.1, 0.5, 0.9):
        assert tones.position(tones.density(position)) == pytest.approx(position)
    assert tones.position(1e9) == 1
    x, y = points(30_000)
    counts = count_grid(x, y, bounds=EXTENT, shape=(120, 160))
    density = smooth_adaptively(counts, coarsest=10)
    chosen = choose_tones(density, counts)
    typical = np.median(np.repeat(density[counts > 0], counts[counts > 0].astype(int)))
    assert chosen.position(typical) == pytest.approx(0.56, abs=0.08)


def test_specks_fade_as_papers_grow_many():
    counts = np.zeros((20, 20), dtype=np.float32)
    counts[10, 10] = 1
    peaks = [
        float(draw_specks(counts, n_papers=n).max()) for n in (10, 5_000, 20_000, 60_000, 10**6)
    ]
    assert peaks[0] == peaks[1] > peaks[2] > peaks[3] == peaks[4] == 0
