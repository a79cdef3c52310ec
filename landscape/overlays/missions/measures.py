"""The measures of impact of one facility, of all its papers at once or of resampled ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.missions.resampling import collapse, draw_cells
from landscape.overlays.missions.spread import core_regions, entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.overlays.missions.gathering import Usage

_BEFORE, _AFTER = 0, 1


@dataclass(frozen=True)
class Case:
    """One facility in one period: what tells its papers, and those beside them, apart.

    Attributes
    ----------
    uses, inside : ndarray of bool, shape (n_papers,)
        The facility's papers; the papers of the period.
    core : ndarray of bool, shape (n_papers,)
        Papers in the regions where the facility works, see `spread.core_regions`.
    era : ndarray of int, shape (n_papers,)
        0 before first light, 1 in the period and after first light, -1 neither, or of a year
        that the corpus does not cover.
    region, home, reached : ndarray of int, shape (n_papers,)
        Told of the facility's papers of the period only, else -1: the region, whether of a home
        field (1) or outside (0), how many other regions the paper reaches.
    """

    uses: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    core: NDArray[np.bool_]
    era: NDArray[np.int64]
    region: NDArray[np.int64]
    home: NDArray[np.int64]
    reached: NDArray[np.int64]

    def columns(self) -> list[NDArray[np.int64]]:
        """All of them as whole numbers, to be collapsed."""
        return [
            np.asarray(values, dtype=np.int64)
            for values in (
                self.uses, self.inside, self.core, self.era, self.region, self.home, self.reached,
            )
        ]  # fmt: skip

    @classmethod
    def from_columns(cls, columns: Sequence[NDArray[np.int64]]) -> Case:
        """The inverse of `columns`."""
        uses, inside, core = (values == 1 for values in columns[:3])
        return cls(uses, inside, core, *columns[3:])


def make_case(
    usage: Usage,
    index: int,
    inside: NDArray[np.bool_],
    home: NDArray[np.int8],
    reached: NDArray[np.int64],
) -> Case:
    """Describe a facility in a period.

    Parameters
    ----------
    usage : Usage
    index : int
        Number of the facility.
    inside : ndarray of bool, shape (n_papers,)
        Papers of the period.
    home : ndarray of int, shape (n_facility_papers,)
        Of the facility's papers, see `home_fields.in_home_fields`.
    reached : ndarray of int, shape (n_papers,)
        See `bridges.Reach.n_reached`.

    Returns
    -------
    Case
    """
    uses = usage.uses(index)
    its = uses & inside
    counts = np.bincount(usage.region[its & (usage.region >= 0)], minlength=len(usage.regions))
    # One more place for -1, the papers outside every region.
    core = np.append(core_regions(counts), False)[usage.region]
    homes = np.full(usage.n_papers, -1, dtype=np.int64)
    homes[usage.rows[index]] = home
    return Case(
        uses,
        inside,
        core,
        eras(usage, index, inside),
        np.where(its, usage.region, -1),
        np.where(its, homes, -1),
        np.where(its, reached, -1),
    )


def eras(usage: Usage, index: int, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Tell papers before a facility's first light from those of the period after it.

    Returns
    -------
    ndarray of int, shape (n_papers,)
        0 before, whatever the period; 1 in the period and after; -1 neither, or of a year that
        the corpus does not cover, or without a date.
    """
    first_light = np.datetime64(usage.facilities[index].first_light, "D")
    before = usage.covered & (usage.date < first_light)
    after = usage.covered & (usage.date >= first_light) & inside
    return np.where(before, _BEFORE, np.where(after, _AFTER, -1)).astype(np.int64)


def collapse_cases(cases: Sequence[Case]) -> tuple[list[Case], NDArray[np.int64]]:
    """Count equal papers together, for one facility or for several at once.

    Returns
    -------
    cells : list of Case
        As the cases given, with one entry a cell instead of one a paper.
    counts : ndarray of int, shape (n_cells,)
        Papers of each cell.
    """
    columns = [column for case in cases for column in case.columns()]
    values, counts = collapse(columns)
    size = len(columns) // len(cases)
    cells = [Case.from_columns(values[at : at + size]) for at in range(0, len(values), size)]
    return cells, counts


def measure(
    cells: Case, weights: NDArray[np.number], crossing: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Compute the measures that are counts of papers and their ratios.

    Parameters
    ----------
    cells : Case
        One entry a cell.
    weights : ndarray of int, shape (n_samples, n_cells)
        Papers of each cell in each sample.
    crossing : ndarray of float, shape (n_regions,)
        Other regions that a paper of each region reaches on average.

    Returns
    -------
    dict of str to ndarray of float, shape (n_samples,)
        NaN where a sample has no denominator.
    """
    its = cells.uses & cells.inside
    before, after = cells.era == _BEFORE, cells.era == _AFTER
    linked = cells.reached >= 0
    telling = cells.home >= 0
    masks = {
        "corpus_papers": cells.inside,
        "papers": its,
        "local_corpus": cells.inside & cells.core,
        "local_papers": its & cells.core,
        "corpus_before": before & cells.core,
        "papers_before": before & cells.core & cells.uses,
        "corpus_after": after & cells.core,
        "papers_after": after & cells.core & cells.uses,
        "fields_known": telling,
        "papers_outside": telling & (cells.home == 0),
        "linked_papers": linked,
        "reached": np.where(linked, cells.reached, 0),
        "expected": np.where(linked, np.append(crossing, 0.0)[cells.region], 0.0),
    }
    placed = np.flatnonzero(its & (cells.region >= 0))
    # Whole numbers below 2^24 are exact in single precision, and twice as fast.
    by_region = np.zeros((len(cells.region), len(crossing)), dtype=np.float32)
    by_region[placed, cells.region[placed]] = 1.0
    given = weights.astype(np.float32)
    totals = given @ np.column_stack(list(masks.values())).astype(np.float32)
    sums = dict(zip(masks, totals.T.astype(np.float64), strict=True))
    counts = given @ by_region
    spread = entropy(counts)
    local_before = _ratio(sums["papers_before"], sums["corpus_before"])
    local_after = _ratio(sums["papers_after"], sums["corpus_after"])
    return {
        **sums,
        "regions": (counts > 0).sum(axis=1).astype(np.float64),
        "share": _ratio(sums["papers"], sums["corpus_papers"]),
        "local_share": _ratio(sums["local_papers"], sums["local_corpus"]),
        "local_share_before": local_before,
        "local_share_after": local_after,
        "rise": local_after - local_before,
        "entropy": spread,
        "effective_regions": np.exp(spread),
        "outside_home": _ratio(sums["papers_outside"], sums["fields_known"]),
        "bridging": _ratio(sums["reached"], sums["expected"]),
    }


def measure_samples(
    cells: Sequence[Case],
    counts: NDArray[np.int64],
    crossing: NDArray[np.float64],
    *,
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[list[dict[str, float]], list[dict[str, NDArray[np.float64]]]]:
    """Measure facilities in all papers, and in the same bootstrap samples.

    Parameters
    ----------
    cells : sequence of Case
    counts : ndarray of int, shape (n_cells,)
        See `collapse_cases`.
    crossing : ndarray of float, shape (n_regions,)
    n_resamples : int
    random : numpy.random.Generator

    Returns
    -------
    estimates : list of dict of str to float
        One for each facility.
    draws : list of dict of str to ndarray of float, shape (n_resamples,)
    """
    drawn = draw_cells(counts, n_resamples=n_resamples, random=random)
    estimates, draws = [], []
    for case in cells:
        whole = measure(case, counts[None], crossing)
        values = measure(case, drawn, crossing)
        # Samples differ in size; as many papers as there are were drawn.
        values["papers"] = values["share"] * whole["corpus_papers"]
        estimates.append({name: float(value[0]) for name, value in whole.items()})
        draws.append(values)
    return estimates, draws


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)
