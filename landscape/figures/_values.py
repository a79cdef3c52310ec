"""Draw measured values as a forest plot: one row a value, in bands of methods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape._author_names import parse_name
from landscape.corpus.objects import normal_name, object_key
from landscape.errors import InputError
from landscape.figures.caption import caption_of
from landscape.figures.colours import series
from landscape.figures.export import figure
from landscape.figures.page import SMALL, Page, PageOptions
from landscape.figures.scene import Axis, Box, Intervals, Rule, Scene, power_ticks, ticks
from landscape.overlays.periods import describe_corpus
from landscape.overlays.values import (
    compare_value,
    find_values,
    in_unit,
    tension_text,
    unit_text,
    weighted_mean,
)
from landscape.overlays.values import values as state_values

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_MAX_ROWS = 48
_FEWEST_IN_BAND = 2
_ROW, _AROUND = 10.5, 150.0  # points: height of a row; of title, axis and caption
_GAP, _AXIS = 0.8, 26.0  # gap between bands, in rows; height of the axis, in points
_OTHERS = "other methods"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_GROUPS = ("early", "late", "other", "")
_LOGARITHMIC = 30.0  # ratio of the largest and smallest value from which the axis is logarithmic


@figure
def values(
    atlas: AtlasStore,
    *,
    quantity: str = "H0",
    object: str = "",  # noqa: A002
    filter: str | None = None,  # noqa: A002
    mine: str = "",
    analysis: Analysis | None = None,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the measured values of a quantity, by method and year, with their errors.

    Each row is a value that a paper reports as its own measurement. Limits are open circles. If
    there are more values than rows, each method keeps a share of the rows for its newest values.

    Parameters
    ----------
    atlas : Atlas
    quantity : str, default "H0"
        Name of the quantity; see `landscape.overlays.values.values`.
    object : str, optional
        Only values of this object.
    filter : str, optional
        Only papers that match this filter.
    mine : str, optional
        Your value, such as ``"H0 = 70 ± 1 km/s/Mpc"``, which is drawn as a line.
    analysis : Analysis, optional
        Known result of `landscape.overlays.values.values`, which is then not computed again.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with ``alt_text`` and the ``table`` of values; or `ax`.

    Raises
    ------
    InputError
        If no paper reports a value of its own, or the quantity is unknown.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.values(ls.open("my.atlas"), quantity="H0")  # doctest: +SKIP
    """
    found = analysis or state_values(
        atlas, quantity=quantity, object=object, filter=filter, own=True
    )
    own = found.table[found.table["own"]]
    if own.empty:
        raise InputError(f"No paper of this atlas measures {quantity}; see the table of values.")
    unit = own["unit"].value_counts().index[0]
    own = own[own["unit"] == unit]
    rows = _rows(own)
    mean = weighted_mean(atlas, own)
    quantity = str(own["quantity"].iloc[0])
    given = _compared(atlas, mine, quantity, object) if mine else None
    sentences = [given.caption] if given else []
    sentences.append(f"{len(rows):,} of {len(own):,} measured values are shown.")
    sentences += ["Open circles are limits or ranges."] if (rows["limit"] != "").any() else []
    sentences += [text for text in (tension_text(own), mean.reason) if text]
    head = f"Measured values of {quantity}{f' of {object}' if object else ''}"
    caption = caption_of(replace(found, caption=f"{head}. {describe_corpus(atlas)}."))
    caption = replace(caption, sentences=[*sentences, *caption.sentences])
    height = min(max((_AROUND + _ROW * _height(rows)) / 72, 3.0), 11.0)
    page = Page(caption, look, size=(8.5, height), smallest=(4.0, 3.0))
    lines = [] if mean.reason else [(mean.value, "-")]
    if given:
        line = given.tables["given"].iloc[0]
        lines.append((in_unit(line["value"], 0.0, 0.0, line["unit"], unit)[0], ":"))
    _draw(page, page.chart_area, rows, unit, lines)
    methods = ", ".join(dict.fromkeys(rows["band"]))
    words = caption.describe("Forest plot of measured values with their errors.", f"{methods}.")
    return page.scene(alt_text=words, table=own, on_screen=("chart",))


def _compared(atlas: AtlasStore, mine: str, quantity: str, name: str) -> Analysis:
    """Compare the value of the user, which is one of the quantity and the object of the figure."""
    found = find_values(mine)
    if found and (found[0].quantity, object_key(found[0].object)) != (
        quantity, object_key(normal_name(name) if name else ""),
    ):  # fmt: skip
        of = f" of {name}" if name else ""
        raise InputError(f"{mine!r} is no value of {quantity}{of}, which the figure shows.")
    return compare_value(atlas, mine)


def _height(rows: pd.DataFrame) -> float:
    """Return the height of all rows and of the gaps between bands, in rows."""
    return len(rows) + _GAP * (rows["band"].nunique() - 1)


def _rows(own: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the chart, from top to bottom, with the name of their band."""
    counts = own["method"].value_counts()
    frequent = counts[counts >= _FEWEST_IN_BAND].index.drop("", errors="ignore")
    band = own["method"].where(own["method"].isin(frequent), _OTHERS)
    order = own["group"].map(_GROUPS.index).where(band != _OTHERS, len(_GROUPS))
    rows = own.assign(band=band, order=order)
    rows = rows.sort_values(["order", "band", "year"], ascending=[True, True, False], kind="stable")
    share = min(1.0, _MAX_ROWS / len(rows))
    place = rows.groupby("band", sort=False).cumcount()
    most = rows.groupby("band", sort=False)["band"].transform("size") * share
    rows = rows[place < np.maximum(np.floor(most), 1)].reset_index(drop=True)
    gaps = rows["band"].ne(rows["band"].shift()).cumsum() - 1
    return rows.assign(place=np.arange(len(rows)) + _GAP * gaps)


def _draw(
    page: Page, box: Box, rows: pd.DataFrame, unit: str, lines: list[tuple[float, str]]
) -> None:
    """Draw the names of papers on the left, values in the middle and methods on the right."""
    left, bottom, right, top = box
    scale, colours = page.scale, page.colours
    start, stop = left + 0.2 * (right - left), right - 0.2 * (right - left)
    if page.onto is not None:
        start, stop = left, right
    else:
        bottom += _AXIS * scale
    value = rows["value"].to_numpy(float)
    low = value - np.nan_to_num(rows["minus"].to_numpy(float))
    high = value + np.nan_to_num(rows["plus"].to_numpy(float))
    quantity = str(rows["quantity"].iloc[0])
    axis = _axis(np.concatenate([low, value, high]), value, unit, quantity)
    height = (top - bottom) / _height(rows)
    upright = Axis((_height(rows) - 0.5, -0.5))
    panel = page.chart((start, bottom, stop, top), axis, upright, gid="chart")
    for place, dashes in lines:
        if axis.limits[0] <= place <= axis.limits[1]:
            line = Rule(x=place, colour=colours.faint, width=0.9 * scale, dashes=dashes, order=0.5)
            panel.layers.append(line)
    tones = dict(zip(_GROUPS, [*series(colours, 2), colours.ink, colours.ink], strict=True))
    value, low, high = (np.clip(one, *axis.limits) for one in (value, low, high))
    panel.layers.append(
        Intervals(
            at=rows["place"].to_numpy(float),
            value=value,
            low=low,
            high=high,
            colours=[tones[group] for group in rows["group"]],
            filled=[limit == "" for limit in rows["limit"]],
            width=1.1 * scale,
            size=3.6 * scale,
            gid="value",
            hover=[
                f"{row.stated}\n{row.title}\n{row.method or 'method not known'}"
                for row in rows.itertuples()
            ],
        )
    )
    if page.onto is not None:
        return
    size = min(SMALL, 0.62 * height / scale)
    has_objects = len({*rows["object"]}) > 1
    for row in rows.to_dict("records"):
        y = top - (row["place"] + 0.5) * height - 0.3 * size * scale
        words, end = f"{_author(row['authors'])} {row['year']}", start - 6 * scale
        words = f"{row['object']}, {words}" if has_objects and row["object"] else words
        page.write(words, end, y, size=size, align="right", gid="name", width=end - left)
    for band, part in rows.groupby("band", sort=False):
        y = top - (part["place"].iloc[0] + 0.5) * height - 0.3 * SMALL * scale
        beside, group = stop + 8 * scale, str(part["group"].iloc[0])
        words, tone = f"{band} ({group})" if group in ("early", "late") else str(band), tones[group]
        page.write(words, beside, y, size=SMALL, colour=tone, gid="band", width=right - beside)


def _author(authors: object) -> str:
    """Return the family name of the first author."""
    names = list(authors) if isinstance(authors, list | np.ndarray) else []
    return parse_name(str(names[0])).family if names else "unknown author"


def _axis(all_values: np.ndarray, values: np.ndarray, unit: str, quantity: str) -> Axis:
    """Return the axis: logarithmic for values of several magnitudes, else without outliers."""
    title = unit_text(unit) or quantity
    finite = values[np.isfinite(values)]
    if finite.min() > 0 and finite.max() / finite.min() > _LOGARITHMIC:
        limits = float(finite.min()) / 1.5, float(finite.max()) * 1.5
        marks = power_ticks(limits, _power_label, base=10.0)
        return Axis(limits, marks, title, log=True)
    low, high = np.quantile(finite, [0.02, 0.98])
    middle = 1.5 * max(high - low, 1e-9)
    kept = all_values[(all_values > low - middle) & (all_values < high + middle)]
    limits = float(kept.min()), float(kept.max())
    margin = 0.03 * max(limits[1] - limits[0], 1e-9)
    limits = limits[0] - margin, limits[1] + margin
    return Axis(limits, ticks(limits, 7, lambda v: f"{v:g}"), title)


def _power_label(value: float) -> str:
    """Return a power of ten as in "1000" and "10⁶"."""
    plain, _, power = f"{value:g}".partition("e")
    return f"10{str(int(power)).translate(_SUPERSCRIPTS)}" if power else plain
