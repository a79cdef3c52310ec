"""Charts of values with intervals: one row per facility, region, country or proposal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures._caption import caption_of
from landscape.figures._colours import series
from landscape.figures._labels import clean_name
from landscape.figures._page import SMALL, Page, PageOptions
from landscape.figures._scene import Axis, Box, Intervals, Rule, doubling_ticks, ticks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from landscape.store import AtlasStore
    from landscape.types import Analysis

WIDTH_INCHES, _LOWEST, _HIGHEST = 11.0, 2.8, 8.5
_ROOMIEST = 26.0  # points between rows
_AROUND = 112.0  # points of a page beside the rows: title, axis and caption
_GAP = 0.3  # rows between two groups of one label
_MOST_ROWS = 24


def intervals(
    kind: str,
    atlas: AtlasStore,
    *arguments: Any,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
    **options: Any,
) -> Any:
    """Draw values with their intervals, one row each.

    Parameters
    ----------
    kind : str
        ``"facilities"``, ``"before_after"`` (with a facility), ``"compare_facilities"`` (with two
        or more), ``"countries"``, ``"institutions"`` or ``"uat_gaps"``.
    atlas : AtlasStore
    *arguments, **options
        Further arguments of the analysis.
    colours, size_inches, title, ax
        As for `landscape.figures.heatmap`; by default 11 inches wide and as high as the rows
        need, at most 8.5.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with the ``table`` of the analysis, or `ax`.

    Raises
    ------
    InputError
        For an unknown kind, or invalid arguments of the analysis.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.intervals("before_after", ls.open("my.atlas"), "ALMA")  # doctest: +SKIP
    """
    found = ask(kind, atlas, *arguments, **options)
    return draw_intervals(kind, found, colours=colours, size_inches=size_inches, title=title, ax=ax)


def draw_intervals(kind: str, found: Analysis, **look: Unpack[PageOptions]) -> Any:
    """Draw the result of an analysis, see `intervals`."""
    shown, caption = interval_rows(kind, found), caption_of(found)
    size = WIDTH_INCHES, _height(shown, generated=caption.generated)
    page = Page.of(caption, look, size=size, smallest=(4.0, 2.5))
    _draw_rows(page, page.room, shown)
    told = "; ".join(
        f"{clean_name(str(row.label))}{f' ({row.group})' if row.group else ''} "
        f"{shown.written(row.value)}"
        for row in shown.rows.head(12).itertuples()
    )
    words = caption.describe("Chart of values with their intervals.", f"{told}.")
    return page.draw(alt_text=words, table=found.table, on_screen=("intervals",))


def _height(shown: IntervalRows, *, generated: bool) -> float:
    """Return the page height in inches for the rows."""
    more = 11 * generated + (16 if len(shown.groups) > 1 else 0)
    inches = (_AROUND + _ROOMIEST * len(shown.labels) + more) / 72
    # A lower page is lettered smaller, by the root of its area, and needs less room for it.
    return min(max(inches * min(1.0, max(0.8, inches / _HIGHEST)), _LOWEST), _HIGHEST)


def _draw_rows(page: Page, box: Box, shown: IntervalRows) -> None:
    """Draw names and details on the left, values with intervals on the right."""
    left, bottom, right, top = box
    scale, colours = page.scale, page.colours
    labels, groups = shown.labels, shown.groups
    tones = [style.colour for style in series(colours, max(len(groups), 1))]
    single = len(groups) == 1
    upper = top - (4 if single else 16) * scale
    pitch = min(_ROOMIEST * scale, (upper - bottom - 26 * scale) / len(labels))
    names = left + (0.26 if single else 0.34) * (right - left)
    start = left + (0.52 if single else 0.36) * (right - left)
    if page.onto is not None:
        start, upper, pitch = left, top, (top - bottom) / len(labels)
    place_of = {label: place for place, label in enumerate(labels)}
    panel = page.chart(
        (start, upper - pitch * len(labels), right, upper), _axis(shown),
        Axis((len(labels) - 0.5, -0.5)), gid="intervals",
        rows=[(place, label) for label, place in place_of.items()],
    )  # fmt: skip
    if shown.reference is not None:
        panel.layers.append(Rule(x=shown.reference, colour=colours.faint, width=0.6 * scale,
                                 order=0.0))  # fmt: skip
    for label, place in place_of.items():
        y = upper - (place + 0.5) * pitch - 2.5 * scale
        name = page.shortened(label, width=names - left, size=8)
        page.write(name, names, y, size=8, align="right", gid="name")
    across = start
    for number, group in enumerate(groups):
        part = shown.rows[shown.rows["group"] == group]
        shift = (number - (len(groups) - 1) / 2) * _GAP
        values = (part[name].to_numpy(float) for name in ("value", "low", "high"))
        value, low, high = (np.clip(one, *panel.x.limits) for one in values)
        panel.layers.append(
            Intervals(
                at=[place_of[label] + shift for label in part["label"]], value=value, low=low,
                high=high, colours=[tones[number]] * len(part), filled=[True] * len(part),
                width=1.2 * scale, size=4 * scale, gid="value", name=group,
                hover=[
                    f"{row.label}{f', {row.group}' if row.group else ''}\n"
                    f"{shown.written(row.value)} ({shown.written(row.low)} to "
                    f"{shown.written(row.high)})\n{row.told}"
                    for row in part.itertuples()
                ],
            )
        )  # fmt: skip
        if single:
            for row in part.itertuples():
                y = upper - (place_of[str(row.label)] + 0.5) * pitch - 2.5 * scale
                told = page.shortened(str(row.told), width=start - names - 18 * scale, size=SMALL)
                page.write(told, names + 9 * scale, y, size=SMALL, colour=colours.faint)
        else:
            page.write(f"● {group}", across, top - 8 * scale, size=8, colour=tones[number],
                       gid="key")  # fmt: skip
            across += page.extent(f"● {group}", size=8).width + 14 * scale


def _axis(shown: IntervalRows) -> Axis:
    """Return the horizontal axis: logarithmic for ratios, else linear."""
    values = shown.rows[["low", "value", "high"]].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    if shown.is_ratio:
        positive = values[values > 0]
        limits = max(float(positive.min()) / 1.2, 1 / 64), min(float(positive.max()) * 1.2, 64.0)
        return Axis(limits, doubling_ticks(limits, lambda v: f"{v:g}"), shown.axis, log=True)
    low, high = float(values.min()), float(values.max())
    room = 0.04 * max(high - min(low, 0.0), 1e-9)
    limits = (0.0, high + room) if shown.reference is None else (low - room, high + room)
    form = (lambda v: f"{100 * v:g}%") if shown.is_share else (lambda v: f"{v:g}")
    return Axis(limits, ticks(limits, 7, form), shown.axis)


@dataclass(frozen=True)
class IntervalRows:
    """Values with intervals of a chart, from top to bottom."""

    rows: pd.DataFrame
    axis: str
    reference: float | None = None
    is_share: bool = True
    is_ratio: bool = False

    @property
    def labels(self) -> list[str]:
        """Distinct labels, from top to bottom."""
        return list(dict.fromkeys(self.rows["label"]))

    @property
    def groups(self) -> list[str]:
        """Distinct groups."""
        return list(dict.fromkeys(self.rows["group"]))

    def written(self, value: float) -> str:
        """Format a value."""
        if value != value:
            return "unknown"
        if self.is_share:
            return f"{value:.1%}"
        return f"{value:.2f}"


def ask(kind: str, atlas: AtlasStore, *arguments: Any, **options: Any) -> Analysis:
    """Compute the analysis of a chart of this kind."""
    return _known(kind)[0](atlas, *arguments, **options)


def interval_rows(kind: str, found: Analysis, *, most: int = _MOST_ROWS) -> IntervalRows:
    """Select the rows of a chart of this kind."""
    chosen = _known(kind)[1](found, most)
    if chosen.rows.empty:
        raise InputError("Nothing to plot: all values are missing.")
    return chosen


def _known(kind: str) -> tuple[Callable[..., Analysis], Callable[[Analysis, int], IntervalRows]]:
    if kind not in KINDS:
        raise InputError(f"Unknown intervals: {kind!r}. Use one of {', '.join(KINDS)}.")
    return KINDS[kind]


def _facilities(atlas: AtlasStore, facilities: Any = None, **options: Any) -> Analysis:
    from landscape.overlays.missions import impact

    return impact(atlas, [facilities] if isinstance(facilities, str) else facilities, **options)


def _before_after(atlas: AtlasStore, facility: str, **options: Any) -> Analysis:
    from landscape.overlays.missions import before_after

    return before_after(atlas, facility, **options)


def _compare_facilities(atlas: AtlasStore, facilities: Sequence[str], **options: Any) -> Analysis:
    from landscape.overlays.missions import compare_facilities

    return compare_facilities(atlas, facilities, **options)


def _countries(atlas: AtlasStore, **options: Any) -> Analysis:
    from landscape.overlays.trends import countries

    return countries(atlas, **options)


def _institutions(atlas: AtlasStore, **options: Any) -> Analysis:
    from landscape.overlays.trends import institutions

    return institutions(atlas, **options)


def _proposals(atlas: AtlasStore, **options: Any) -> Analysis:
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
    names = table[kind].astype(str)
    if kind == "institution":  # two countries may have institutions of one name
        names = names.where(~names.duplicated(keep=False), names + " (" + table["country"] + ")")
    return IntervalRows(
        _rows(
            names, table["share"], table["share_low"], table["share_high"],
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
                f"{count(row.papers, 'paper')}; proposed below {row.parent or 'no concept'}"
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
