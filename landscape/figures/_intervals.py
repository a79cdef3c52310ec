"""Charts of values with intervals, with one row per facility, region, country or proposal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.caption import caption_of
from landscape.figures.colours import Theme, series
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.page import SMALL, Page, PageOptions
from landscape.figures.scene import Axis, Box, Intervals, Rule, Scene, power_ticks, ticks
from landscape.overlays.missions import before_after, compare_facilities, impact
from landscape.overlays.thesaurus import thesaurus_gaps
from landscape.overlays.trends import countries, institutions

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from landscape.store import AtlasStore
    from landscape.types import Analysis

WIDTH_INCHES, _LOWEST, _HIGHEST = 11.0, 2.8, 8.5
_ROOMIEST = 26.0  # points between rows
_AROUND = 112.0  # height of title, axis and caption, in points
_GAP = 0.3  # distance between the values of two groups with the same label, in rows
_MAX_ROWS = 24


@figure
def intervals(
    kind: str,
    atlas: AtlasStore,
    *arguments: object,
    analysis: Analysis | None = None,
    colours: str | Theme = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
    **options: object,
) -> Scene:
    """Draw values with their intervals, one row each.

    Parameters
    ----------
    kind : str
        ``"facilities"``, ``"before_after"`` (with a facility), ``"compare_facilities"`` (with two
        or more facilities), ``"countries"``, ``"institutions"`` or ``"uat_gaps"``.
    atlas : AtlasStore
    analysis : Analysis, optional
        Known result of the analysis, which is then not computed again.
    *arguments, **options
        Further arguments of the analysis.
    colours, size_inches, title, ax
        See `landscape.figures.heatmap`. By default the page is 11 inches wide, and its height
        depends on the number of rows, up to 8.5 inches.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with the ``table`` of the analysis, or `ax`.

    Raises
    ------
    InputError
        If the kind is unknown or the arguments of the analysis are invalid.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.intervals("before_after", ls.open("my.atlas"), "ALMA")  # doctest: +SKIP
    """
    look: PageOptions = {"colours": colours, "size_inches": size_inches, "title": title, "ax": ax}
    found = analysis or ask(kind, atlas, *arguments, **options)
    shown, caption = interval_rows(kind, found), caption_of(found)
    size = WIDTH_INCHES, _height(shown, generated=caption.generated)
    page = Page(caption, look, size=size, smallest=(4.0, 2.5))
    _draw_rows(page, page.chart_area, shown)
    values = "; ".join(
        f"{clean_name(str(row.label))}{f' ({row.group})' if row.group else ''} "
        f"{shown.written(row.value)}"
        for row in shown.rows.head(12).itertuples()
    )
    words = caption.describe("Chart of values with their intervals.", f"{values}.")
    return page.scene(alt_text=words, table=found.table, on_screen=("intervals",))


def _height(shown: IntervalRows, *, generated: bool) -> float:
    """Return a page height, in inches, that has space for all rows."""
    more = 11 * generated + (16 if len(shown.groups) > 1 else 0)
    inches = (_AROUND + _ROOMIEST * len(shown.labels) + more) / 72
    # The text size is proportional to the square root of the page area, so text needs less space
    # on a lower page.
    return min(max(inches * min(1.0, max(0.8, inches / _HIGHEST)), _LOWEST), _HIGHEST)


def _draw_rows(page: Page, box: Box, shown: IntervalRows) -> None:
    """Draw names and details on the left, values with intervals on the right."""
    left, bottom, right, top = box
    scale, colours = page.scale, page.colours
    labels, groups = shown.labels, shown.groups
    tones = series(colours, max(len(groups), 1))
    single = len(groups) == 1
    upper = top - (4 if single else 16) * scale
    pitch = min(_ROOMIEST * scale, (upper - bottom - 26 * scale) / len(labels))
    names = left + (0.26 if single else 0.34) * (right - left)
    start = left + (0.52 if single else 0.36) * (right - left)
    if page.onto is not None:
        start, upper, pitch = left, top, (top - bottom) / len(labels)
    place_of = {label: place for place, label in enumerate(labels)}
    panel = page.chart(
        (start, upper - pitch * len(labels), right, upper),
        _axis(shown),
        Axis((len(labels) - 0.5, -0.5)),
        gid="intervals",
        rows=list(enumerate(labels)),
    )
    if shown.reference is not None:
        panel.layers.append(
            Rule(x=shown.reference, colour=colours.faint, width=0.6 * scale, order=0.0)
        )
    for label, place in place_of.items():
        y = upper - (place + 0.5) * pitch - 2.5 * scale
        page.write(label, names, y, size=8, align="right", gid="name", width=names - left)
    across = start
    for number, group in enumerate(groups):
        part = shown.rows[shown.rows["group"] == group]
        shift = (number - (len(groups) - 1) / 2) * _GAP
        values = (part[name].to_numpy(float) for name in ("value", "low", "high"))
        value, low, high = (np.clip(one, *panel.x.limits) for one in values)  # a ratio of 0
        panel.layers.append(
            Intervals(
                at=[place_of[label] + shift for label in part["label"]],
                value=value,
                low=low,
                high=high,
                colours=[tones[number]] * len(part),
                filled=[True] * len(part),
                width=1.2 * scale,
                size=4 * scale,
                gid="value",
                name=group,
                hover=[
                    f"{row.label}{f', {row.group}' if row.group else ''}\n"
                    f"{shown.written(row.value)} ({shown.written(row.low)} to "
                    f"{shown.written(row.high)})\n{row.detail}"
                    for row in part.itertuples()
                ],
            )
        )
        if single:
            for row in part.itertuples():
                y = upper - (place_of[str(row.label)] + 0.5) * pitch - 2.5 * scale
                page.write(
                    row.detail,
                    names + 9 * scale,
                    y,
                    size=SMALL,
                    colour=colours.faint,
                    width=start - names - 18 * scale,
                )
        else:
            page.write(
                f"● {group}", across, top - 8 * scale, size=8, colour=tones[number], gid="key"
            )
            across += page.extent(f"● {group}", size=8).width + 14 * scale


def _axis(shown: IntervalRows) -> Axis:
    """Return the horizontal axis: logarithmic for ratios, else linear."""
    values = shown.rows[["low", "value", "high"]].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    if shown.is_ratio:
        positive = values[values > 0]
        limits = float(positive.min()) / 1.2, float(positive.max()) * 1.2
        return Axis(limits, power_ticks(limits, lambda v: f"{v:g}"), shown.axis, log=True)
    low, high = float(values.min()), float(values.max())
    border = 0.04 * max(high - min(low, 0.0), 1e-9)
    low, high = min(low, shown.reference or 0.0), max(high, shown.reference or 0.0)
    limits = (0.0, high + border) if shown.reference is None else (low - border, high + border)
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
        """Format a value of the chart, as a percentage if it is a share."""
        if value != value:
            return "unknown"
        return f"{value:.1%}" if self.is_share else f"{value:.2f}"


def ask(kind: str, atlas: AtlasStore, *arguments: object, **options: object) -> Analysis:
    """Run the analysis that a chart of this kind shows."""
    compute, _ = _known(kind)
    return compute(atlas, *arguments, **options)


def interval_rows(kind: str, found: Analysis, *, most: int = _MAX_ROWS) -> IntervalRows:
    """Select the rows of an analysis that a chart of this kind shows."""
    chosen = _known(kind)[1](found, most)
    if chosen.rows.empty:
        raise InputError(
            "Nothing to plot: all values are missing. Use other filters or a longer period."
        )
    return chosen


def _known(kind: str) -> tuple[Callable[..., Analysis], Callable[[Analysis, int], IntervalRows]]:
    if kind not in KINDS:
        raise InputError(f"Unknown intervals: {kind!r}. Use one of {', '.join(KINDS)}.")
    return KINDS[kind]


def _facility_rows(analysis: Analysis, most: int) -> IntervalRows:
    table = analysis.table.sort_values("share", ascending=False).head(most)
    rows = _rows(
        table,
        "facility",
        "share",
        lambda row: f"{row['papers']:,} of {row['corpus_papers']:,} papers",
    )
    return IntervalRows(rows, "share of all papers")


def _era_rows(analysis: Analysis, most: int) -> IntervalRows:
    import pandas as pd

    used = analysis.table[["papers_before", "papers_after"]].sum(axis=1) > 0
    table = analysis.table[analysis.table["rise"].notna() & used]
    head, regions = table[table["topic_id"] == -1], table[table["topic_id"] != -1]
    largest = regions.loc[regions["rise"].abs().sort_values(ascending=False, kind="stable").index]
    table = pd.concat([head, largest.head(most - 1).sort_values("rise", ascending=False)])
    before = _rows(
        table,
        "label",
        "share_before",
        group="before",
        detail=lambda row: f"{row['papers_before']:,} of {row['corpus_before']:,} papers",
    )
    after = _rows(
        table,
        "label",
        "share_after",
        group="since",
        detail=lambda row: f"{row['papers_after']:,} of {row['corpus_after']:,} papers",
    )
    rows = pd.concat([before, after], ignore_index=True)
    return IntervalRows(rows, "share of the papers of a region")


def _difference_rows(analysis: Analysis, most: int) -> IntervalRows:
    import pandas as pd

    regions = analysis.tables["regions"]
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
        parts.append(
            _rows(
                part,
                "label",
                "difference",
                low="low",
                high="high",
                group=f"{part['facility'].iloc[0]} less {other}" if len(part) else other,
                detail=lambda row: (
                    f"{row['papers']:,} against {row['other_papers']:,} of "
                    f"{row['region_papers']:,} papers"
                ),
            )
        )
    words = "difference between the shares of a region's papers"
    return IntervalRows(pd.concat(parts, ignore_index=True), words, reference=0.0)


def _place_rows(analysis: Analysis, most: int) -> IntervalRows:
    kind = "country" if "institution" not in analysis.table else "institution"
    table = analysis.table.head(most)
    if kind == "institution":  # institutions in two countries can have the same name
        names = table[kind].astype(str)
        twice = names.duplicated(keep=False)
        table = table.assign(institution=names.where(~twice, names + " (" + table["country"] + ")"))
    rows = _rows(
        table,
        kind,
        "share",
        lambda row: f"{count(row['papers'], 'paper')}; most in {row['main_region']}",
    )
    return IntervalRows(rows, f"share of the papers with a known {kind}")


def _proposal_rows(analysis: Analysis, most: int) -> IntervalRows:
    rows = _rows(
        analysis.table[analysis.table["growth"] > 0].head(most),
        "name",
        "growth",
        high="growth",
        detail=lambda row: (
            f"{count(row['papers'], 'paper')}; proposed below {row['parent'] or 'no concept'}"
        ),
    )
    words = "growth: odds in the later half relative to the earlier half (bar: 95% lower bound)"
    return IntervalRows(rows, words, reference=1.0, is_share=False, is_ratio=True)


def _rows(
    table: pd.DataFrame,
    label: str,
    value: str,
    detail: Callable[[dict[str, Any]], str],
    *,
    low: str = "",
    high: str = "",
    group: str = "",
) -> pd.DataFrame:
    """Return chart rows from a table; by default, intervals are in ``VALUE_low`` and ``_high``."""
    chosen = {
        "label": label,
        "value": value,
        "low": low or f"{value}_low",
        "high": high or f"{value}_high",
    }
    rows = table[[]].assign(**{name: table[column] for name, column in chosen.items()})
    rows = rows.astype({"label": str, "value": float, "low": float, "high": float})
    details = [detail(row) for row in table.to_dict("records")]
    return rows.assign(group=group, detail=details).reset_index(drop=True)


KINDS: dict[str, tuple[Callable[..., Analysis], Callable[[Analysis, int], IntervalRows]]] = {
    "facilities": (impact, _facility_rows),
    "before_after": (before_after, _era_rows),
    "compare_facilities": (compare_facilities, _difference_rows),
    "countries": (countries, _place_rows),
    "institutions": (institutions, _place_rows),
    "uat_gaps": (thesaurus_gaps, _proposal_rows),
}
