"""95% intervals contain the truth in about 95% of cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from landscape.overlays.missions import impact
from landscape.overlays.missions.measures import count_equal_rows, draw_cells, entropy

N_CORPORA = 60
REGION_SHARES = np.array([0.4, 0.3, 0.2, 0.1])
USE = np.array([0.30, 0.10, 0.05, 0.02])  # of the papers of each region, since first light
CROSSED = 0.2  # of the papers of the first two regions, cross-listed


@pytest.fixture(scope="module")
def coverage() -> dict[str, float]:
    """Return the fraction of random corpora whose interval contains the truth."""
    from tests.overlays.impact.conftest import make_atlas

    use = REGION_SHARES * USE
    of_facility = use / use.sum()
    in_core = np.array([True, True, False, False])  # 87.5% of the papers
    truth = {
        "share": use.sum() / 2,
        "local_share": use[in_core].sum() / REGION_SHARES[in_core].sum() / 2,
        "rise": use[in_core].sum() / REGION_SHARES[in_core].sum(),
        "entropy": -(of_facility * np.log(of_facility)).sum(),
        "outside_home": of_facility[2:].sum(),
    }
    held = dict.fromkeys(truth, 0)
    random = np.random.default_rng(5)
    for _ in range(N_CORPORA):
        region = random.choice(4, size=3000, p=REGION_SHARES)
        year = random.choice([2005, 2015], size=3000)
        uses = (random.random(3000) < USE[region]) & (year == 2015)
        row = impact(make_atlas(region, year, {"NuSTAR": uses}), n_resamples=300).table.iloc[0]
        for name, value in truth.items():
            held[name] += row[f"{name}_low"] <= value <= row[f"{name}_high"]
    return {name: count / N_CORPORA for name, count in held.items()}


@pytest.mark.parametrize("name", ["share", "local_share", "rise", "entropy", "outside_home"])
def test_intervals_hold_the_truth(coverage: dict[str, float], name: str) -> None:
    # 95% of 60 corpora, less three standard errors.
    assert coverage[name] >= 0.86


def test_drawing_cells_is_drawing_papers() -> None:
    random = np.random.default_rng(0)
    uses, region = random.integers(0, 2, 400), random.integers(0, 3, 400)
    values, counts = count_equal_rows([uses, region])
    drawn = draw_cells(counts, n_resamples=4000, random=random)
    fast = drawn[:, (values[0] == 1) & (values[1] == 2)].sum(axis=1) / drawn.sum(axis=1)
    rows = random.integers(0, 400, size=(4000, 400))
    slow = ((uses == 1) & (region == 2))[rows].mean(axis=1)
    assert fast.mean() == pytest.approx(slow.mean(), rel=0.02)
    assert fast.std() == pytest.approx(slow.std(), rel=0.05)


@pytest.mark.parametrize("mean", [0, 1, 7, 100, 5000])
def test_cells_are_drawn_as_poisson_numbers(mean: int) -> None:
    random = np.random.default_rng(4)
    drawn = draw_cells(np.array([mean]), n_resamples=40_000, random=random)[:, 0]
    assert drawn.mean() == pytest.approx(mean, rel=0.02)
    assert drawn.var() == pytest.approx(mean, rel=0.04)
    assert (drawn == 0).mean() == pytest.approx(np.exp(-mean), abs=0.01)


def test_collapse_keeps_what_is_not_known_and_many_columns() -> None:
    random = np.random.default_rng(1)
    columns = [random.integers(-1, 50, 2000) for _ in range(4)]  # more codes than are counted
    values, counts = count_equal_rows(columns)
    assert counts.sum() == 2000
    assert set(zip(*(v.tolist() for v in values), strict=True)) == set(
        zip(*(c.tolist() for c in columns), strict=True)
    )


def test_small_samples_do_not_lower_the_entropy() -> None:
    random = np.random.default_rng(2)
    drawn = random.multinomial(40, np.full(20, 1 / 20), size=2000)
    share = drawn / 40
    plain = -np.where(share > 0, share * np.log(np.where(share > 0, share, 1)), 0).sum(axis=1)
    bias: Any = abs(entropy(drawn).mean() - np.log(20))
    assert bias < abs(plain.mean() - np.log(20)) / 3
