"""What charts of values with intervals draw: one row a facility, region, country or proposal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError
from landscape.plural import count

if TYPE_CHECKING:
    import pandas as pd

    from landscape.overlays._analysis import Analysis

_MOST_ROWS = 24


@dataclass(frozen=True)
class IntervalRows:
    """Values with their intervals, as charts draw them from top to bottom.

    Attributes
    ----------
    rows : pandas.DataFrame
        ``label, group, value, low, high, told``: rows of one label stand together, and ``told``
        is what is said of the value beside its name.
    axis : str
        What the values are.
    reference : float or None
        The value that says nothing: no difference, no growth.
    is_share : bool
        Whether values are written in per cent.
    is_ratio : bool
        Whether the axis is logarithmic.
    """

    rows: pd.DataFrame
    axis: str
    reference: float | None = None
    is_share: bool = True
    is_ratio: bool = False

    @property
    def labels(self) -> list[str]:
        """Each label once, from top to bottom."""
        return list(dict.fromkeys(self.rows["label"]))

    @property
    def groups(self) -> list[str]:
        """Each group once."""
        return list(dict.fromkeys(self.rows["group"]))

    def written(self, value: float) -> str:
        """A value as it is told.

        Examples
        --------
        >>> import pandas as pd
        >>> IntervalRows(pd.DataFrame(), "share").written(0.1234)
        '12.3%'
        """
        if value != value:
            return "unknown"
        if self.is_share:
            return f"{value:.1%}"
        return f"{value:.2f}"


def ask(kind: str, atlas: Any, *arguments: Any, **options: Any) -> Analysis:
    """Ask the atlas what a chart of this kind draws.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    atlas : Atlas
    *arguments, **options
        As the analysis of that kind takes them.

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        For an unknown kind, and whatever the analysis refuses.
    """
    return _known(kind)[0](atlas, *arguments, **options)


def interval_rows(kind: str, found: Analysis, *, most: int = _MOST_ROWS) -> IntervalRows:
    """Choose what a chart of this kind shows.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    found : Analysis
        What `ask` gave.
    most : int, default 24
        Labels.

    Returns
    -------
    IntervalRows

    Raises
    ------
    InputError
        For an unknown kind, or where nothing can be shown.
    """
    chosen = _known(kind)[1](found, most)
    if chosen.rows.empty:
        raise InputError("Nothing of this can be drawn: there is no row with a value.")
    return chosen


def _known(kind: str) -> tuple[Callable[..., Analysis], Callable[[Analysis, int], IntervalRows]]:
    if kind not in KINDS:
        raise InputError(f"There are no intervals of {kind!r}; use one of {', '.join(KINDS)}.")
    return KINDS[kind]


def _facilities(atlas: Any, facilities: Any = None, **options: Any) -> Analysis:
    from landscape.overlays.missions import impact

    return impact(atlas, [facilities] if isinstance(facilities, str) else facilities, **options)


def _before_after(atlas: Any, facility: str, **options: Any) -> Analysis:
    from landscape.overlays.missions import before_after

    return before_after(atlas, facility, **options)


def _compare_facilities(atlas: Any, facilities: Sequence[str], **options: Any) -> Analysis:
    from landscape.overlays.missions import compare_facilities

    return compare_facilities(atlas, facilities, **options)


def _countries(atlas: Any, **options: Any) -> Analysis:
    from landscape.overlays.trends import countries

    return countries(atlas, **options)


def _institutions(atlas: Any, **options: Any) -> Analysis:
    from landscape.overlays.trends import institutions

    return institutions(atlas, **options)


def _proposals(atlas: Any, **options: Any) -> Analysis:
    from landscape.overlays.thesaurus import thesaurus_gaps

    return thesaurus_gaps(atlas, **options)


def _facility_rows(found: Analysis, most: int) -> IntervalRows:
    table = found.table.sort_values("share", ascending=False).head(most)
    return IntervalRows(
        _rows(
            table["facility"], table["share"], table["share_low"], table["share_high"],
            [f"{row.papers:,} of {row.corpus_papers:,} papers" for row in table.itertuples()],
        ),
        "share of all papers",
    )  # fmt: skip


def _era_rows(found: Analysis, most: int) -> IntervalRows:
    import pandas as pd

    used = found.table[["papers_before", "papers_after"]].sum(axis=1) > 0
    table = found.table[found.table["rise"].notna() & used]
    head, regions = table[table["topic_id"] == -1], table[table["topic_id"] != -1]
    largest = regions.loc[regions["rise"].abs().sort_values(ascending=False, kind="stable").index]
    table = pd.concat([head, largest.head(most - 1).sort_values("rise", ascending=False)])
    sides = [
        _rows(
            table["label"], table[f"share_{side}"], table[f"share_{side}_low"],
            table[f"share_{side}_high"],
            [
                f"{papers:,} of {of:,} papers"
                for papers, of in zip(table[f"papers_{side}"], table[f"corpus_{side}"], strict=True)
            ],
            group=words,
        )
        for side, words in (("before", "before"), ("after", "since"))
    ]  # fmt: skip
    return IntervalRows(pd.concat(sides, ignore_index=True), "share of the papers of a region")


def _difference_rows(found: Analysis, most: int) -> IntervalRows:
    import pandas as pd

    regions = found.tables["regions"]
    regions = regions[regions["difference"].notna()]
    others = list(dict.fromkeys(regions["other"]))
    size = regions["difference"].abs().groupby(regions["topic_id"]).max()
    chosen = size.sort_values(ascending=False, kind="stable").head(most).index
    shown = regions[regions["topic_id"].isin(chosen)]
    order = shown[shown["other"] == others[0]].sort_values("difference", ascending=False)
    parts = []
    for other in others:
        part = shown[shown["other"] == other].set_index("topic_id")
        part = part.loc[[topic for topic in order["topic_id"] if topic in part.index]]
        told = [
            f"{row.papers:,} against {row.other_papers:,} of {row.region_papers:,} papers"
            for row in part.itertuples()
        ]
        words = f"{part['facility'].iloc[0]} less {other}" if len(part) else other
        parts.append(
            _rows(part["label"], part["difference"], part["low"], part["high"], told, group=words)
        )
    return IntervalRows(
        pd.concat(parts, ignore_index=True), "difference of the shares of a region's papers",
        reference=0.0,
    )  # fmt: skip


def _place_rows(found: Analysis, most: int) -> IntervalRows:
    kind = "country" if "institution" not in found.table else "institution"
    table = found.table.head(most)
    return IntervalRows(
        _rows(
            table[kind], table["share"], table["share_low"], table["share_high"],
            [
                f"{count(row.papers, 'paper')}; most in {row.main_region}"
                for row in table.itertuples()
            ],
        ),
        f"share of the papers with a known {kind}",
    )  # fmt: skip


def _proposal_rows(found: Analysis, most: int) -> IntervalRows:
    table = found.table[found.table["growth"] > 0].head(most)
    return IntervalRows(
        _rows(
            table["name"], table["growth"], table["growth_low"], table["growth"],
            [
                f"{count(row.papers, 'paper')}; would stand below {row.parent or 'no concept'}"
                for row in table.itertuples()
            ],
        ),
        "growth: odds in the later half against the earlier (bar: down to the 95% lower bound)",
        reference=1.0, is_share=False, is_ratio=True,
    )  # fmt: skip


def _rows(label: Any, value: Any, low: Any, high: Any, told: list[str], *, group: str = "") -> Any:
    import pandas as pd

    names = pd.Series(list(label), dtype=object).astype(str)
    return pd.DataFrame(
        {
            "label": names,
            "group": group,
            "value": pd.Series(list(value), dtype=float),
            "low": pd.Series(list(low), dtype=float),
            "high": pd.Series(list(high), dtype=float),
            "told": told,
        }
    )


KINDS: dict[
    str, tuple[Callable[..., Analysis], Callable[[Analysis, int], IntervalRows]]
] = {
    "facilities": (_facilities, _facility_rows),
    "before_after": (_before_after, _era_rows),
    "compare_facilities": (_compare_facilities, _difference_rows),
    "countries": (_countries, _place_rows),
    "institutions": (_institutions, _place_rows),
    "uat_gaps": (_proposals, _proposal_rows),
}  # fmt: skip
"""What can be drawn, by name: how it is asked, and what of it is shown."""
