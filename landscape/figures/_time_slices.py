"""The map as slices of time, all on the same axes and tones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures._caption import NEARNESS, Account, facts_of, headline
from landscape.figures._colours import theme
from landscape.figures._labels import clean_name
from landscape.figures._maps import (
    add_few_names,
    chosen_topics,
    map_panel,
    positions,
    ramp_image,
    window,
)
from landscape.figures._page import SIZE_INCHES, Page
from landscape.figures._scene import Bools, Box, Floats, Hatched, Panel, Points
from landscape.figures._shading import choose_tones, count_grid
from landscape.overlays._periods import UNKNOWN_YEAR, Years, count_years, format_spans, paper_years

if TYPE_CHECKING:
    import pandas as pd

    from landscape.figures._matplotlib import Sheet
    from landscape.store._atlas_store import AtlasStore

    Ints = NDArray[np.int64]
    Grid = NDArray[np.float32]

_MOST_SLICES, _USUAL_SLICES, _NAMES_PER_SLICE = 24, 6, 9
_HEADING = 13.0  # points above each map
_HOW = (
    "Axes and tones are the same in all slices; the tone is the share of a slice's own papers on "
    "that place, so that growth of the corpus does not darken it."
)


def time_slices(
    atlas: AtlasStore,
    *,
    edges: Sequence[int] | None = None,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    raster_dpi: int = 150,
) -> Sheet:
    """Draw the map once for each slice of time, on fixed axes and tones.

    Every slice shows how its own papers are spread, smoothed by the same kernel: a slice with more
    papers is not darker for that, so that growth of the corpus does not pose as growth of a topic.

    Parameters
    ----------
    atlas : AtlasStore
        With ``map``, ``topics``, ``coverage`` and ``read_papers``.
    edges : sequence of int, optional
        Years at which slices begin, and the year in which the last ends (not in it):
        ``[1990, 2005, 2015, 2027]`` is three slices. By default six slices of about equally many
        papers.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    title : str, optional
        Heading above the maps.
    raster_dpi : int, default 150
        Pixels per inch of the density pictures.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and a ``table`` of ``slice, first_year, last_year,
        papers_in_slice, topic_id, region, papers, share``.

    Raises
    ------
    InputError
        For edges that are not rising whole years, for no paper in any slice, or for too small a
        page.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.time_slices(atlas, edges=[2000, 2010, 2020, 2027])  # doctest: +SKIP
    """
    x, y = positions(atlas.map["x"], atlas.map["y"])
    year = paper_years(atlas)
    chosen, slice_of = cut(year, edges)
    years, facts = count_years(year), facts_of(atlas)
    account = Account(
        f"The map in slices of time: {headline(facts)}", [*years.warnings, _HOW, NEARNESS],
        facts.generated,
    )  # fmt: skip
    page = Page(
        size_inches, theme(colours), account, title=title, raster_dpi=raster_dpi,
        smallest=(4.0, 3.0),
    )  # fmt: skip
    table = slice_table(atlas.map["topic_id"].to_numpy(), slice_of, chosen, atlas.topics)
    _draw(page, x, y, slice_of, chosen, years, topics=atlas.topics)
    _add_region_dots(page, table, atlas.topics)
    words = account.describe("Maps of slices of time.", _in_words(table))
    return page.draw(alt_text=words, table=table)


def cut(year: Ints, edges: Sequence[int] | None) -> tuple[list[int], Ints]:
    """Cut papers into slices of time."""
    known = year[year != UNKNOWN_YEAR]
    if not len(known):
        raise InputError("No paper of this corpus has a date, which slices of time need.")
    chosen = equal_slices(known) if edges is None else _checked(edges)
    slice_of = np.digitize(year, chosen) - 1
    slice_of[slice_of == len(chosen) - 1] = -1
    if not (slice_of >= 0).any():
        raise InputError(
            f"No paper is from {chosen[0]} to {chosen[-1] - 1}; the atlas has {known.min()} to "
            f"{known.max()}."
        )
    return chosen, slice_of


def equal_slices(year: Ints, *, n_slices: int = _USUAL_SLICES) -> list[int]:
    """Choose edges between which lie about equally many papers."""
    inner = np.quantile(year, np.arange(1, n_slices) / n_slices, method="higher")
    first, last = int(year.min()), int(year.max())
    between = sorted({int(edge) for edge in inner if first < edge <= last})
    return [first, *between, last + 1]


def slice_table(
    topic_id: NDArray[Any], slice_of: Ints, edges: Sequence[int], topics: pd.DataFrame
) -> pd.DataFrame:
    """Papers of each region in each slice, and their share of the slice."""
    import pandas as pd

    regions = chosen_topics(topics, levels=(1,)).sort_values("topic_id")
    ids = regions["topic_id"].to_numpy(dtype=np.int64)
    n_slices = len(edges) - 1
    place = pd.Index(ids).get_indexer(np.asarray(topic_id))
    counted = (slice_of >= 0) & (place >= 0)
    cells = np.bincount(
        slice_of[counted] * len(ids) + place[counted], minlength=n_slices * len(ids)
    )
    totals = np.bincount(slice_of[slice_of >= 0], minlength=n_slices)
    number = np.repeat(np.arange(n_slices), len(ids))
    firsts, lasts = np.asarray(edges[:-1]), np.asarray(edges[1:]) - 1
    return pd.DataFrame(
        {
            "slice": number + 1,
            "first_year": firsts[number],
            "last_year": lasts[number],
            "papers_in_slice": totals[number],
            "topic_id": np.tile(ids, n_slices),
            "region": np.tile(regions["label"].astype(str).to_numpy(), n_slices),
            "papers": cells,
            "share": cells / np.maximum(totals[number], 1),
        }
    )


def _checked(edges: Sequence[int]) -> list[int]:
    whole = [int(edge) for edge in edges]
    rising = all(a < b for a, b in pairwise(whole))
    if len(whole) < 2 or not rising or any(a != b for a, b in zip(whole, edges, strict=True)):
        raise InputError(
            f"The edges of time slices must be rising years, two at least, not {list(edges)}; "
            "for example [2000, 2010, 2020, 2027]."
        )
    if len(whole) > _MOST_SLICES + 1:
        raise InputError(
            f"{len(whole) - 1} time slices do not fit on a page; give at most {_MOST_SLICES}."
        )
    return whole


def _draw(
    page: Page, x: Floats, y: Floats, slice_of: Ints, edges: Sequence[int], years: Years, *,
    topics: pd.DataFrame,
) -> None:  # fmt: skip
    """Draw all slices: first counted and smoothed, then painted on common tones."""
    inside = [slice_of == number for number in range(len(edges) - 1)]
    boxes = tile(page.room, len(inside), heading=_HEADING * page.scale, gap=8 * page.scale)
    one = map_panel(page, boxes[0], x, y, border=8 * page.scale, framed=True)
    panels = [one, *(window(page, box, one.extent, framed=True) for box in boxes[1:])]
    names = chosen_topics(topics, levels=(0,))
    positions_of = smoothed_slices(page, panels[0], x, y, inside)
    for number, (panel, position) in enumerate(zip(panels, positions_of, strict=True)):
        panel.layers.append(ramp_image(position, page.colours.ramp, panel.extent))
        n_papers, (first, last) = int(inside[number].sum()), (edges[number], edges[number + 1] - 1)
        held = (years.years >= first) & (years.years <= last)
        gaps = format_spans(years.years[held & ~years.covered])
        told = count(n_papers, "paper") + (f"; hardly covers {', '.join(gaps)}" if gaps else "")
        page.write_heading(
            panel.box, f"{first}" if first == last else f"{first}-{last}", told, size=8.5,
            told_colour=page.colours.accent if gaps else None, told_gid="heading",
        )  # fmt: skip
        if not n_papers or (gaps and not years.covered[held].any()):
            whole = np.ones((1, 1), dtype=bool)
            panel.layers.append(
                Hatched(where=whole, extent=panel.extent, colour=page.colours.faint)
            )
        add_few_names(page, panel, names, most=_NAMES_PER_SLICE, size=6.2)


def _add_region_dots(page: Page, table: pd.DataFrame, topics: pd.DataFrame) -> None:
    """Regions to point at in the browser: how many papers each has in each slice."""
    places = table[["topic_id"]].merge(
        chosen_topics(topics, levels=(1,))[["topic_id", "x", "y"]].drop_duplicates("topic_id"),
        how="left",
    )  # fmt: skip
    for number, panel in enumerate(page.panels, 1):
        rows = (table["slice"] == number).to_numpy()
        panel.layers.append(
            Points(
                x=places["x"].to_numpy(float)[rows], y=places["y"].to_numpy(float)[rows], size=3.0,
                colour=page.colours.ink, opacity=0.35, gid="regions", screen=True,
                hover=[f"{row.region}\n{row.papers:,} of {row.papers_in_slice:,} papers: "
                       f"{row.share:.1%}" for row in table[rows].itertuples()],
            )
        )  # fmt: skip


def smoothed_slices(
    page: Page, panel: Panel, x: Floats, y: Floats, inside: list[Bools]
) -> list[Grid]:
    """Place on the ramp of each slice's share of papers per pixel, one kernel and scale for all."""
    from scipy.ndimage import gaussian_filter

    left, bottom, right, top = panel.box
    shape = round((top - bottom) / page.pixel), round((right - left) / page.pixel)
    shape = max(8, shape[0]), max(8, shape[1])
    counts = [count_grid(x[w], y[w], extent=panel.extent, shape=shape) for w in inside]
    fewest = float(np.median([which.sum() for which in inside if which.any()]))
    # Scott's rule in two dimensions (Scott 1992), by the papers of a middling slice; in pixels.
    sigma = float(np.clip(min(shape) * 0.09 * fewest ** (-1 / 6), 1.2, min(shape) / 12))
    weights = [grid * np.float32(fewest / max(1.0, grid.sum())) for grid in counts]
    shares = [gaussian_filter(grid, sigma, mode="constant") for grid in weights]
    tones = choose_tones(np.concatenate(shares), np.concatenate(weights))
    return [np.asarray(tones.position(share), dtype=np.float32) for share in shares]


def tile(room: Box, n: int, *, heading: float, gap: float) -> list[Box]:
    """Cut a room into n equal boxes, row by row from the upper left, with headings above."""
    left, bottom, right, top = room
    width, height = right - left, top - bottom

    def cost(columns: int) -> float:
        """How far boxes are from a window of 5 to 4, and how many stay empty."""
        rows = math.ceil(n / columns)
        shape = ((width / columns) - gap) / max(1.0, height / rows - heading - gap)
        return abs(math.log(max(shape, 1e-3) / 1.25)) + 0.35 * (rows * columns - n) / n

    columns = min(range(1, n + 1), key=cost)
    rows = math.ceil(n / columns)
    across = (width - gap * (columns - 1)) / columns
    up = (height - gap * (rows - 1)) / rows
    boxes = []
    for number in range(n):
        row, column = divmod(number, columns)
        x0 = left + column * (across + gap)
        y1 = top - row * (up + gap)
        boxes.append((float(x0), float(y1 - up), float(x0 + across), float(y1 - heading)))
    return boxes


def _in_words(table: pd.DataFrame) -> str:
    """Papers and largest regions of each slice."""
    told = []
    for _, part in table.groupby("slice"):
        row = part.iloc[0]
        largest = part.sort_values("papers", ascending=False).head(3)
        named = ", ".join(
            f"{clean_name(region)} ({share:.0%})"
            for region, share in zip(largest["region"], largest["share"], strict=True)
        )
        told.append(
            f"{row.first_year} to {row.last_year}: {count(row.papers_in_slice, 'paper')}, "
            f"most in {named}"
        )
    return f"{'; '.join(told)}."
