"""Maps of the share of the local literature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from landscape.errors import InputError
from landscape.overlays.missions.measures import fit_prior_papers, share_map, shrink_shares
from tests.timing import assert_cost


def test_recovers_local_shares_and_shrinks_where_papers_are_few() -> None:
    random = np.random.default_rng(0)
    places = np.repeat([0.0, 10.0, 20.0], [3000, 3000, 3])
    x, y = random.normal(places, 1.0), random.normal(size=6003)
    uses = random.random(6003) < np.where(places == 0, 0.3, 0.02)
    uses[-3:] = True  # three papers far away, all of the facility
    found = share_map(x, y, uses, extent=(-5, -5, 25, 5), shape=(100, 300), bandwidth=0.6)

    def at(where: float) -> float:
        return float(found.share[50, int((where + 5) * 10)])

    assert at(0.0) == pytest.approx(0.3, abs=0.07)
    assert at(10.0) == pytest.approx(0.02, abs=0.04)
    assert found.overall < at(20.0) < 0.9  # not the 100% that three papers show
    assert at(15.0) == pytest.approx(found.overall, abs=0.02)  # where nothing is written
    assert found.papers[50, 200] < 1
    assert np.all((found.share >= 0) & (found.share <= 1))


def test_counts_under_the_kernel_are_papers() -> None:
    random = np.random.default_rng(1)
    x, y = random.uniform(0, 10, (2, 20000))
    found = share_map(x, y, x < 0, extent=(0, 0, 10, 10), bandwidth=0.5)
    expected = 200 * 4 * np.pi * 0.5**2  # papers a unit of area, times the kernel's area
    assert found.papers[128, 128] == pytest.approx(expected, rel=0.15)
    assert np.all(found.share == 0)


def test_prior_follows_how_much_places_differ() -> None:
    random = np.random.default_rng(2)
    papers = random.integers(5, 80, 3000)
    for weight in (3.0, 30.0):
        shares = random.beta(0.2 * weight, 0.8 * weight, 3000)
        found = fit_prior_papers(random.binomial(papers, shares), papers, mean=0.2)
        assert found == pytest.approx(weight, rel=0.25)


def test_shrinking_lowers_the_error() -> None:
    random = np.random.default_rng(3)
    papers = random.integers(1, 30, 500)
    shares = random.beta(2, 18, 500)
    hits = random.binomial(papers, shares)
    raw = np.abs(hits / papers - shares).mean()
    assert np.abs(shrink_shares(hits, papers, mean=0.1) - shares).mean() < 0.7 * raw


def test_refuses_a_mask_of_another_length_and_an_empty_map() -> None:
    with pytest.raises(InputError, match="mask has 2"):
        share_map([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [True, False])
    with pytest.raises(InputError, match="No paper"):
        share_map([], [], [])


def test_one_paper_in_a_window_of_no_size_is_soon_drawn() -> None:
    def draw(size: float) -> Any:
        return share_map([0.0], [0.0], [True], extent=(-size, -0.8 * size, size, 0.8 * size))

    assert np.all(draw(0.005).share > 0.99)
    # The kernel was hundreds of windows wide, which took minutes.
    assert_cost(lambda: draw(0.005), lambda: draw(5.0), most=20)
