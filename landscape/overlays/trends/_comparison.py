"""Regions where one selection of papers is over-represented against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError
from landscape.overlays._periods import UNKNOWN_YEAR, count_years, paper_years
from landscape.overlays.trends._rates import false_discovery_rates
from landscape.overlays.trends._topics import read_groups
from landscape.search._engine import open_engine
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from landscape.store import AtlasStore

_FEW = 30  # papers of a selection; fewer can hardly differ significantly
_REACH = 1.959964  # two-sided 95%
_LONGEST_NAME = 60
_ROUNDING = 1e-7  # tables as likely as the one seen count too


def compare(
    atlas: AtlasStore, a: str | ArrayLike, b: str | ArrayLike, *, q: float = 0.05, level: int = 1
) -> Analysis:
    """Find the regions in which one selection is over-represented against another.

    For each region Fisher's exact test of the two shares, q values of Benjamini & Hochberg (1995)
    over all regions, and the odds ratio with the interval of Woolf (1955, Ann. Hum. Genet. 19, 251;
    half a paper is added to each cell where one is empty).
    Papers of both selections are left out of both. Where one
    selection holds the whole other one, the inner one is compared with the rest of the outer.

    Parameters
    ----------
    atlas : Atlas
    a, b : str or array_like
        Filters such as ``"1999..2009"`` or ``"facility:ALMA"``, row numbers, or boolean masks.
    q : float, default 0.05
        False discovery rate among the regions called over-represented.
    level : int, default 1
        1 for regions, 0 for continents.

    Returns
    -------
    Analysis
        One row a region, most significant first: ``topic_id, label, a_papers, b_papers,
        a_share, b_share, odds_ratio, odds_ratio_low, odds_ratio_high, p, q, over_in`` ("a",
        "b", or "" where no difference is shown). ``tables["selections"]`` says what a and b are.

    Raises
    ------
    InputError
        If a selection is empty, is no selection of this atlas, or both are the same.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from types import SimpleNamespace as Atlas
    >>> atlas = Atlas(
    ...     topics=pd.DataFrame({"topic_id": [1, 2], "label": ["Dust", "Stars"], "level": 1}),
    ...     map=pd.DataFrame({"topic_id": np.repeat([1, 2, 1, 2], [40, 10, 20, 80])}),
    ...     read_papers=lambda columns: pd.DataFrame({"year": np.repeat(2020, 150)}),
    ...     coverage={"title": "Example"},
    ... )
    >>> found = compare(atlas, np.arange(50), np.arange(50, 150))
    >>> found.table.loc[0, ["label", "over_in"]].tolist()
    ['Dust', 'a']
    """
    if not 0 < q < 1:
        raise InputError(f"The false discovery rate is {q!r}; give a number between 0 and 1.")
    years = paper_years(atlas)
    names = _named(a, "A"), _named(b, "B")
    given = select_rows(atlas, a, len(years)), select_rows(atlas, b, len(years))
    rows, said = separate_selections(*given, names=names)
    topics = atlas.topics
    chosen = topics[topics["level"] == level][["topic_id", "label"]].reset_index(drop=True)
    groups = read_groups(atlas, level)
    a_counts, b_counts = (_counts(groups[side], chosen["topic_id"]) for side in rows)
    tested = compare_counts(a_counts, b_counts, len(rows[0]), len(rows[1]), q=q)
    table = chosen.join(tested).sort_values(
        ["p", "odds_ratio"], ascending=[True, False], ignore_index=True
    )
    over = {side: int((table["over_in"] == side).sum()) for side in ("a", "b")}
    return Analysis(
        kind="compare",
        table=table,
        caption=(
            f"Regions of {atlas.coverage['title']} by how {names[0]} (a) and {names[1]} (b) share "
            f"their papers: {over['a']} over-represented in a, {over['b']} in b, of "
            f"{int(table['q'].notna().sum())} regions with enough papers to tell (false discovery "
            f"rate {q:g})."
        ),
        denominators={f"papers in {side}": len(rows[i]) for i, side in enumerate("ab")},
        bounds=atlas.coverage,
        warnings=(*said, *_warnings(rows, years)),
        tables={"selections": _selections(names, given, rows, groups, chosen["topic_id"])},
    )


def compare_counts(
    a_counts: ArrayLike, b_counts: ArrayLike, a_total: int, b_total: int, *, q: float = 0.05
) -> pd.DataFrame:
    """Test for each region whether two samples have different shares in it."""
    import pandas as pd

    a, b = np.asarray(a_counts, dtype=np.int64), np.asarray(b_counts, dtype=np.int64)
    logs, error = _log_odds_ratio(a, b, a_total, b_total)
    p = np.array([_fisher(k, m, a_total, b_total) for k, m in zip(a, b, strict=True)])
    table = pd.DataFrame({
        "a_papers": a,
        "b_papers": b,
        "a_share": a / a_total,
        "b_share": b / b_total,
        "odds_ratio": np.exp(logs),
        "odds_ratio_low": np.exp(logs - _REACH * error),
        "odds_ratio_high": np.exp(logs + _REACH * error),
        "p": p,
        "q": false_discovery_rates(p),
    })  # fmt: skip
    shown = table["q"] <= q
    higher = table["a_share"] > table["b_share"]
    table["over_in"] = np.where(shown & higher, "a", np.where(shown & ~higher, "b", ""))
    return table


def select_rows(
    atlas: AtlasStore | None, selection: str | ArrayLike, n_papers: int
) -> NDArray[np.int64]:
    """Rows of a selection, ascending and each once: a filter, row numbers or a mask."""
    said = f"The selection {selection!r}" if isinstance(selection, str) else "A selection"
    if isinstance(selection, str) and atlas is not None:
        selection = open_engine(atlas).select(selection)
    given = np.asarray(selection)
    if given.dtype == bool:
        if given.shape != (n_papers,):
            raise InputError(
                f"{said} is a mask of shape {given.shape}; the atlas has {n_papers:,} papers."
            )
        given = np.flatnonzero(given)
    if not given.size:
        raise InputError(f"{said} has no paper; give a wider one.")
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"{said} is not a list of rows; give a filter, row numbers or a mask.")
    if given.min() < 0 or given.max() >= n_papers:
        raise InputError(
            f"{said} has rows {given.min()} to {given.max()}; the atlas has rows 0 to "
            f"{n_papers - 1}."
        )
    rows: NDArray[np.int64] = np.unique(given).astype(np.int64)
    return rows


def separate_selections(
    a: NDArray[np.int64], b: NDArray[np.int64], *, names: tuple[str, str] = ("a", "b")
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], tuple[str, ...]]:
    """Take the papers of both selections out of them, or the inner one out of the outer one."""
    shared = np.intersect1d(a, b, assume_unique=True)
    if not len(shared):
        return (a, b), ()
    only_a = np.setdiff1d(a, shared, assume_unique=True)
    only_b = np.setdiff1d(b, shared, assume_unique=True)
    if not len(only_a) and not len(only_b):
        raise InputError(
            f"{names[0]} and {names[1]} select the same {len(a):,} papers; give two that differ."
        )
    if not len(only_a):
        return (a, only_b), (f"b holds all of a: a is compared with the other {len(only_b):,}.",)
    if not len(only_b):
        return (only_a, b), (f"a holds all of b: b is compared with the other {len(only_a):,}.",)
    are = "papers of both selections are" if len(shared) > 1 else "paper of both selections is"
    return (only_a, only_b), (f"{len(shared):,} {are} left out of both.",)


def _named(selection: str | ArrayLike, letter: str) -> str:
    """A filter's own words, shortened where they are many."""
    if not isinstance(selection, str):
        return f"selection {letter}"
    text = " ".join(selection.split())
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def _counts(groups: NDArray[np.int64], ids: pd.Series) -> NDArray[np.int64]:
    import pandas as pd

    counts: NDArray[np.int64] = (
        pd.Series(groups).value_counts().reindex(ids, fill_value=0).to_numpy(dtype=np.int64)
    )
    return counts


def _log_odds_ratio(
    a: NDArray[np.int64], b: NDArray[np.int64], a_total: int, b_total: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log odds ratio and its error; 0.5 is added to all cells if any cell is 0."""
    cells = np.stack([a, a_total - a, b, b_total - b]).astype(np.float64)
    cells = cells + 0.5 * (cells == 0).any(axis=0)
    logs = np.log(cells[0]) - np.log(cells[1]) - np.log(cells[2]) + np.log(cells[3])
    return logs, np.sqrt((1 / cells).sum(axis=0))


def _fisher(k: int, m: int, a_total: int, b_total: int) -> float:
    """Fisher's two-sided p: all tables with these margins that are no likelier than this one."""
    if not k and not m:
        return float("nan")
    both = k + m
    possible = np.arange(max(0, both - b_total), min(both, a_total) + 1)
    logs = _log_ways(a_total, possible) + _log_ways(b_total, both - possible)
    logs -= _log_ways(a_total + b_total, np.array([both]))
    return float(min(1.0, np.exp(logs[logs <= logs[possible == k] + _ROUNDING]).sum()))


def _log_ways(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logarithm of the number of ways to choose k of n."""
    from scipy.special import gammaln

    ways: NDArray[np.float64] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return ways


def _selections(
    names: tuple[str, str],
    given: tuple[NDArray[np.int64], NDArray[np.int64]],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    groups: NDArray[np.int64],
    ids: pd.Series,
) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({
        "selection": ["a", "b"],
        "name": names,
        "papers": [len(side) for side in given],
        "compared": [len(side) for side in rows],
        "in_regions": [int(np.isin(groups[side], ids).sum()) for side in rows],
    })  # fmt: skip


def _warnings(
    rows: tuple[NDArray[np.int64], NDArray[np.int64]], years: NDArray[np.int64]
) -> tuple[str, ...]:
    said = [
        f"{side} has only {len(of)} papers: differences may go unseen."
        for side, of in zip("ab", rows, strict=True)
        if len(of) < _FEW
    ]
    known = [years[of][years[of] != UNKNOWN_YEAR] for of in rows]
    medians = [int(np.median(of)) for of in known if len(of)]
    if len(medians) == 2 and abs(medians[0] - medians[1]) > 2:
        said.extend(count_years(years).warnings)
        said.append(
            f"The selections are of different times (median years {medians[0]} and {medians[1]}): "
            "the difference may be one of time."
        )
    return tuple(said)
