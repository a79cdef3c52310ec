"""Find regions in which one selection of papers is over-represented relative to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from landscape.errors import InputError
from landscape.mapping.basemap import frame_of
from landscape.overlays.periods import UNKNOWN_YEAR, paper_years, read_years
from landscape.overlays.trends._topics import read_groups, read_topics
from landscape.search import open_engine
from landscape.statistics import false_discovery_rates, odds_ratio_interval
from landscape.store import AtlasStore
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

_FEW = 30  # warn if a selection has fewer papers than this
_MAX_NAME = 60  # maximum number of characters of the name of a selection


def compare(
    atlas: AtlasStore,
    a: str | ArrayLike | AtlasStore,
    b: str | ArrayLike | AtlasStore,
    *,
    q: float = 0.05,
    level: int = 1,
) -> Analysis:
    """Find the regions in which one selection is over-represented relative to another.

    The two shares of each region are compared by Fisher's exact test, with the q values of
    Benjamini & Hochberg (1995) over all regions. The odds ratio has the interval of Woolf (1955,
    Ann. Hum. Genet. 19, 251); if a cell is empty, half a paper is added to all cells. Papers in
    both selections are omitted. If one selection contains the other, the smaller one is compared
    with the rest of the larger one.

    Parameters
    ----------
    atlas : Atlas
    a, b : str, array_like or Atlas
        Filters such as ``"1999..2009"`` or ``"facility:ALMA"``, row numbers, or boolean masks. An
        empty filter selects all papers. Another atlas on the same basemap, or the path of its
        folder, stands for all its papers.
    q : float, default 0.05
        False discovery rate among the regions called over-represented.
    level : int, default 1
        1 to compare regions, 0 to compare continents.

    Returns
    -------
    Analysis
        One row per region, the most significant first: ``topic_id, label, a_papers, b_papers,
        a_share, b_share, odds_ratio, odds_ratio_low, odds_ratio_high, p, q, over_in`` ("a",
        "b", or "" if the difference is not significant or the interval includes 1).
        ``tables["selections"]`` describes a and b.

    Raises
    ------
    InputError
        If a selection is empty or invalid for this atlas, if the selections are identical, or if
        another atlas has other regions.

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
    import pandas as pd

    if not 0 < q < 1:
        raise InputError(f"The false discovery rate is {q!r}; give a number between 0 and 1.")
    sides = find_sides(atlas, a, b)
    names = sides[0].name, sides[1].name
    if sides[0].name == sides[1].name and sides[0].store is not sides[1].store:
        names = f"{names[0]} (a)", f"{names[1]} (b)"
    given = sides[0].rows, sides[1].rows
    notes: tuple[str, ...] = ()
    if sides[0].store is sides[1].store:
        rows, notes = separate_selections(*given, names=names)
    else:
        rows, notes = _separate_papers(sides)
    topics = _all_topics([side.store for side in sides], level)
    counts = [
        pd.Series(read_groups(side.store, level)[own])
        .value_counts()
        .reindex(topics["topic_id"], fill_value=0)
        .to_numpy()
        for side, own in zip(sides, rows, strict=True)
    ]
    tested = compare_counts(counts[0], counts[1], len(rows[0]), len(rows[1]), q=q)
    table = topics.join(tested).sort_values(
        ["p", "odds_ratio"], ascending=[True, False], ignore_index=True
    )
    n_over = table["over_in"].value_counts()
    return Analysis(
        kind="compare",
        table=table,
        caption=(
            f"Regions of {atlas.coverage['title']} by the shares of the papers of {names[0]} (a) "
            f"and {names[1]} (b): {n_over.get('a', 0)} over-represented in a, "
            f"{n_over.get('b', 0)} in b, of {int(table['q'].notna().sum())} regions with papers "
            f"(false discovery rate {q:g})."
        ),
        denominators={f"papers in {side}": len(rows[i]) for i, side in enumerate("ab")},
        bounds=atlas.coverage,
        warnings=(*notes, *_warnings(sides, rows)),
        tables={
            "selections": pd.DataFrame(
                {
                    "selection": ["a", "b"],
                    "name": names,
                    "papers": [len(side) for side in given],
                    "compared": [len(side) for side in rows],
                    "in_regions": [int(of.sum()) for of in counts],
                }
            )
        },
    )


def compare_counts(
    a_counts: ArrayLike, b_counts: ArrayLike, a_total: int, b_total: int, *, q: float = 0.05
) -> pd.DataFrame:
    """Test whether the shares of each region in two selections differ."""
    import pandas as pd
    from scipy.stats import fisher_exact

    a, b = np.asarray(a_counts, dtype=np.int64), np.asarray(b_counts, dtype=np.int64)
    cells = np.stack([a, a_total - a, b, b_total - b]).astype(np.float64)
    cells += 0.5 * (cells == 0).any(axis=0)
    logs = np.log(cells[0]) - np.log(cells[1]) - np.log(cells[2]) + np.log(cells[3])
    spread = odds_ratio_interval(cells)
    tables = np.stack([a, b, a_total - a, b_total - b], axis=1).reshape(-1, 2, 2)
    p = np.array([fisher_exact(table)[1] if table[0].any() else np.nan for table in tables])
    table = pd.DataFrame(
        {
            "a_papers": a,
            "b_papers": b,
            "a_share": a / a_total,
            "b_share": b / b_total,
            "odds_ratio": np.exp(logs),
            "odds_ratio_low": np.exp(logs) / spread,
            "odds_ratio_high": np.exp(logs) * spread,
            "p": p,
            "q": false_discovery_rates(p),
        }
    )
    higher = np.where(table["a_share"] > table["b_share"], "a", "b")
    # The exact test and the interval may differ; a difference must be clear in both.
    clear = (table["q"] <= q) & ((table["odds_ratio_low"] > 1) | (table["odds_ratio_high"] < 1))
    return table.assign(over_in=np.where(clear, higher, ""))


def select_rows(
    atlas: AtlasStore | None, selection: str | ArrayLike, n_papers: int
) -> NDArray[np.int64]:
    """Return the sorted, distinct rows of a selection (a filter, row numbers or a mask)."""
    what = f"The selection {selection!r}" if isinstance(selection, str) else "A selection"
    if isinstance(selection, str) and atlas is not None:
        selection = open_engine(atlas).select(selection)
    given = np.asarray(selection)
    if given.dtype == bool:
        if given.shape != (n_papers,):
            raise InputError(
                f"{what} is a mask of shape {given.shape}; the atlas has {n_papers:,} papers."
            )
        given = np.flatnonzero(given)
    if not given.size:
        raise InputError(f"{what} selects no paper; use a wider filter.")
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"{what} is not a list of rows; give a filter, row numbers or a mask.")
    if given.min() < 0 or given.max() >= n_papers:
        raise InputError(
            f"{what} has rows {given.min()} to {given.max()}; the atlas has rows 0 to "
            f"{n_papers - 1}."
        )
    return np.unique(given).astype(np.int64)


def separate_selections(
    a: NDArray[np.int64], b: NDArray[np.int64], *, names: tuple[str, str] = ("a", "b")
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], tuple[str, ...]]:
    """Remove common papers from both selections, or only from the one that contains the other."""
    shared = np.intersect1d(a, b, assume_unique=True)
    if not len(shared):
        return (a, b), ()
    only_a = np.setdiff1d(a, shared, assume_unique=True)
    only_b = np.setdiff1d(b, shared, assume_unique=True)
    if not len(only_a) and not len(only_b):
        raise InputError(
            f"{names[0]} and {names[1]} select the same {len(a):,} papers; change one selection."
        )
    if not len(only_a):
        return (a, only_b), (f"b contains all of a: a is compared with the other {len(only_b):,}.",)
    if not len(only_b):
        return (only_a, b), (f"a contains all of b: b is compared with the other {len(only_a):,}.",)
    are = "papers in both selections are" if len(shared) > 1 else "paper in both selections is"
    return (only_a, only_b), (f"{len(shared):,} {are} excluded.",)


@dataclass(frozen=True)
class Side:
    """One selection of a comparison: papers of an atlas."""

    store: AtlasStore
    rows: NDArray[np.int64]
    name: str
    years: NDArray[np.int64]


def find_sides(
    atlas: AtlasStore, a: str | ArrayLike | AtlasStore, b: str | ArrayLike | AtlasStore
) -> list[Side]:
    """Return the two selections of a comparison."""
    return [_side(atlas, a, "A"), _side(atlas, b, "B")]


def _side(atlas: AtlasStore, given: str | ArrayLike | AtlasStore, letter: str) -> Side:
    """Return a selection of the atlas, or all papers of another atlas on the same basemap."""
    other = given if isinstance(given, AtlasStore) else None
    if isinstance(given, str) and given.endswith(".atlas"):
        other = AtlasStore.open(given)
    if other is None:
        years = paper_years(atlas)
        rows = select_rows(atlas, cast("str | ArrayLike", given), len(years))
        named = _named(cast("str | ArrayLike", given), letter)
        return Side(atlas, rows, named or str(atlas.coverage["title"]), years)
    if _frame(other) != _frame(atlas):
        raise InputError(
            f"{other.path} has other regions than {atlas.path}; build both on one basemap "
            "(landscape build ... --on FILE) to compare them."
        )
    return Side(other, np.arange(len(other)), str(other.coverage["title"]), paper_years(other))


def _frame(atlas: AtlasStore) -> str:
    """Return the digest of the regions of the basemap of an atlas, or of its own map."""
    return str(atlas.stages["projection"].details.get("frame") or frame_of(atlas.topics))


def _separate_papers(
    sides: Sequence[Side],
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], tuple[str, ...]]:
    """Leave out the papers that two atlases have in common, unless one has no others."""
    ids = [side.store.read_papers(["paper_id"])["paper_id"].to_numpy()[side.rows] for side in sides]
    only = [~np.isin(own, other) for own, other in (ids, ids[::-1])]
    if not all(kept.any() for kept in only):
        return (sides[0].rows, sides[1].rows), (
            "All papers of one atlas are in the other, so its papers count on both sides.",
        )
    n_shared = int((~only[0]).sum())
    rows = sides[0].rows[only[0]], sides[1].rows[only[1]]
    if not n_shared:
        return rows, ()
    are = "papers in both atlases are" if n_shared > 1 else "paper in both atlases is"
    return rows, (f"{n_shared:,} {are} excluded.",)


def _all_topics(stores: Sequence[AtlasStore], level: int) -> pd.DataFrame:
    """Return the topics of one or two atlases on the same basemap."""
    import pandas as pd

    tables = [read_topics(store, level) for store in stores]
    return pd.concat(tables).drop_duplicates("topic_id", ignore_index=True)


def _named(selection: str | ArrayLike, letter: str) -> str:
    """Return the name of a selection, which is the shortened text of its filter."""
    if not isinstance(selection, str):
        return f"selection {letter}"
    text = " ".join(selection.split())
    return text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 1]}…"


def _warnings(
    sides: Sequence[Side], rows: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> tuple[str, ...]:
    warnings = [
        f"{side} has only {len(of)} papers, so differences may be missed."
        for side, of in zip("ab", rows, strict=True)
        if len(of) < _FEW
    ]
    years = [side.years[of] for side, of in zip(sides, rows, strict=True)]
    known = [of[of != UNKNOWN_YEAR] for of in years]
    medians = [int(np.median(of)) for of in known if len(of)]
    if len(medians) == 2 and abs(medians[0] - medians[1]) > 2:
        for store in {id(side.store): side.store for side in sides}.values():
            warnings.extend(read_years(store).warnings)
        warnings.append(
            "The selections are from different times (median years "
            f"{medians[0]} and {medians[1]}), which may explain the differences."
        )
    return tuple(warnings)
