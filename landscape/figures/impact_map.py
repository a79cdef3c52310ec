"""Which share of the local literature uses a facility (after figure 8 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED
from landscape.figures.colours import quiet, theme
from landscape.figures.density_map import (
    BESIDE_A_TABLE,
    RASTER_DPI,
    SIZE_INCHES,
    chosen_topics,
    facts_of,
    positions,
)
from landscape.figures.hues import series
from landscape.figures.impact_words import (
    facility_ranking,
    in_words,
    key_numbers,
    notes_of,
    region_ranking,
)
from landscape.figures.names import clean_name
from landscape.figures.share_picture import choose_scale, draw_shares, grid_shape, share_key

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.figures.page import Frame
    from landscape.figures.panels import Plate
    from landscape.figures.sheet import Sheet
    from landscape.overlays.missions._measures import ShareMap
    from landscape.overlays.missions._usage import Usage
    from landscape.types import Analysis

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_TOGETHER, _RANKED, _PANELS = 6, 20, 24
_REGIONS_NAMED = 10
_WIDER = 1.5  # a facility has few papers: their kernel, in units of that of all papers
_NO_TOPICS = ("x", "y")


@dataclass(frozen=True)
class View:
    """What one map shows.

    Attributes
    ----------
    heading, told : str
        What stands above it, and smaller beside that.
    inside : ndarray of bool, shape (n_papers,)
        Papers of the period, in years that the corpus covers.
    uses : ndarray of bool, shape (n_papers,)
        Papers that mention the facility.
    """

    heading: str
    told: str
    inside: Bools
    uses: Bools


def impact(
    atlas: Any,
    *,
    facilities: str | Sequence[str] | None = None,
    since: int | None = None,
    until: int | None = None,
    multiples: bool = False,
    slices: Sequence[tuple[int, int]] | None = None,
    n_resamples: int = 1000,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw where facilities are used: the share of the local literature that mentions them.

    One facility gives its share map with the regions where its share is largest beside it; several
    give the contours that hold half and 80 in 100 of each one's papers, with a ranked table.

    Parameters
    ----------
    atlas : Atlas
        With its mentions of facilities.
    facilities : str or sequence of str, optional
        Any of their names; the six most mentioned when not given.
    since, until : int, optional
        First and last year, both included.
    multiples : bool, default False
        A share map for each facility, on one scale.
    slices : sequence of (int, int), optional
        A share map for each facility and each of these periods, on one scale.
    n_resamples : int, default 1000
        For the intervals of the table.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), optional
        Width and height of the page.
    title : str, optional
        Heading above the map.
    raster_dpi : int, default 200
        Pixels per inch of the density picture.

    Returns
    -------
    Sheet
        A matplotlib Figure; its ``table`` is that of `landscape.overlays.impact`.

    Raises
    ------
    InputError
        For an unknown facility, a period without papers, more than 24 maps on a page, unknown
        colours, or a page too small.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.impact(atlas, facilities="ALMA", since=2014)  # doctest: +SKIP
    """
    from landscape.overlays.missions._impact import measure_usage
    from landscape.overlays.missions._usage import read_usage

    given = [facilities] if isinstance(facilities, str) else facilities
    usage = read_usage(atlas, given)
    if given is None:
        usage = _first(usage, _RANKED)
    analysis = measure_usage(
        atlas, usage,
        since=since, until=until, slices=slices, n_resamples=n_resamples,
    )  # fmt: skip
    if given is None:
        usage = _first(usage, _TOGETHER)
    return draw_impact(
        atlas, usage, analysis, since=since, until=until, multiples=multiples, slices=slices,
        colours=colours, size_inches=size_inches, title=title, raster_dpi=raster_dpi,
    )  # fmt: skip


def _first(usage: Usage, n: int) -> Usage:
    return replace(usage, facilities=usage.facilities[:n], rows=usage.rows[:n])


def draw_impact(
    atlas: Any,
    usage: Usage,
    analysis: Analysis,
    *,
    since: int | None = None,
    until: int | None = None,
    multiples: bool = False,
    slices: Sequence[tuple[int, int]] | None = None,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw the impact that `landscape.overlays.impact` measured.

    Parameters
    ----------
    atlas : Atlas
        Its ``map``, ``topics`` and ``coverage``.
    usage : Usage
        The papers of the facilities to draw.
    analysis : Analysis
    since, until, multiples, slices, colours, size_inches, title, raster_dpi
        As for `impact`.

    Returns
    -------
    Sheet

    Raises
    ------
    InputError
        As for `impact`.
    """
    import matplotlib as mpl

    from landscape.figures.panels import Plate
    from landscape.figures.sheet import SETTINGS

    x, y = positions(atlas.map["x"], atlas.map["y"])
    windows: list[tuple[int | None, int | None]] = [(since, until)]
    if slices is not None:
        windows = [(int(first), int(last)) for first, last in slices]
    views = views_of(usage, windows)
    facts = replace(facts_of(atlas), share_named=None)
    in_panels = multiples or slices is not None
    alone = len(views) == 1 and not in_panels
    if in_panels and len(views) > _PANELS:
        raise InputError(f"{len(views)} maps do not fit on a page; ask for {_PANELS} at most.")
    if not in_panels and len(views) > 3 * 7:
        raise InputError(f"{len(views)} facilities cannot be told apart on a map; choose 21.")
    head = clean_name(analysis.caption, most=400)
    hatched = any(not view.inside.all() for view in views)
    sentences = notes_of(
        analysis, shares=alone or in_panels, hatched=hatched, denominators=slices is None
    )
    if alone:
        sentences = [*key_numbers(analysis.table.iloc[0]), *sentences]
    with mpl.rc_context(SETTINGS):
        palette = theme(colours) if alone or in_panels else quiet(theme(colours))
        size = size_inches or (SIZE_INCHES if multiples or slices else BESIDE_A_TABLE)
        plate = Plate(size, palette, raster_dpi=raster_dpi, title=title)
        plate.reserve_caption(head, sentences, facts)
        if in_panels:
            _draw_panels(plate, x, y, views)
        elif alone:
            _draw_alone(plate, x, y, views[0], analysis, atlas.topics)
        else:
            _draw_together(plate, x, y, views, analysis)
        plate.write_caption(head, sentences, facts)
    sheet = plate.sheet
    sheet.table = analysis.table
    sheet.caption = "\n".join([head, *sentences])
    generated = f"{GENERATED} " if facts.generated else ""
    sheet.alt_text = f"{generated}Map of the impact of facilities. {head} {in_words(analysis)}"
    return sheet


def views_of(usage: Usage, windows: Sequence[tuple[int | None, int | None]]) -> list[View]:
    """List what each map shows: every facility in every period.

    Years that the corpus does not cover are left out, and named.

    Parameters
    ----------
    usage : Usage
    windows : sequence of (int or None, int or None)

    Returns
    -------
    list of View
    """
    from landscape.overlays._periods import format_spans
    from landscape.overlays.missions._usage import format_period, in_period

    views = []
    gaps = usage.years.years[~usage.years.covered]
    for index, facility in enumerate(usage.facilities):
        for since, until in windows:
            inside = in_period(usage, since, until) & ~np.isin(usage.year, gaps)
            uses = usage.uses(index) & inside
            low, high = -np.inf if since is None else since, np.inf if until is None else until
            missed = format_spans(gaps[(gaps >= low) & (gaps <= high)])
            told = f"{int(uses.sum()):,} of {int(inside.sum()):,} papers"
            if missed and len(windows) > 1:
                told = f"hardly covered: {', '.join(missed)}" if not inside.any() else told
            several = len(usage.facilities) > 1 or len(windows) == 1
            name = facility.name if several else ""
            period = format_period(since, until) if len(windows) > 1 else ""
            period = str(since) if period and since == until else period
            views.append(View(", ".join(filter(None, [name, period])), told, inside, uses))
    return views


def _draw_alone(
    plate: Plate, x: Floats, y: Floats, view: View, analysis: Analysis, topics: pd.DataFrame
) -> None:
    """One share map, and the regions with the largest shares beside it."""
    from landscape.figures.ranking import write_ranking

    box, column = plate.divided()
    regions = chosen_topics(topics, levels=(1,))
    frame = plate.fit(x, y, regions, page=box)
    (found,), everywhere = share_maps(plate, [frame], x, y, [view])
    scale = choose_scale([found])
    plate.key = share_key(plate.colours, scale)
    draw_shares(plate, plate.add_map(frame), found, scale, everywhere=everywhere)
    name = str(analysis.table["facility"].iloc[0])
    ranking, ranked = region_ranking(analysis, name)
    write_ranking(plate, ranking, column)
    first = regions.set_index("topic_id").loc[ranked[:_REGIONS_NAMED]].reset_index()
    plate.letter(first, frame, labels=True, max_labels=None)


def _draw_together(
    plate: Plate, x: Floats, y: Floats, views: Sequence[View], analysis: Analysis
) -> None:
    """Contours of several facilities on one map, and the ranked table beside it."""
    import pandas as pd

    from landscape.figures.panels import draw_lines
    from landscape.figures.ranking import write_ranking
    from landscape.mapping._density import default_bandwidth
    from landscape.overlays._contours import contour_lines, density_grid, highest_density_levels

    box, column = plate.divided()
    frame = plate.fit(x, y, _nowhere(), page=box)
    plate.draw_density(x, y, frame, specks=False)
    shape = grid_shape(frame, scale=plate.scale)
    kernel = _WIDER * default_bandwidth(x, y)
    styles = series(plate.colours, len(views))
    peaks: list[dict[str, Any]] = []
    for view, style in zip(views, styles, strict=True):
        if not view.uses.any():
            continue
        own = x[view.uses], y[view.uses]
        grid = density_grid(*own, extent=frame.box, shape=shape, bandwidth=kernel)
        half, most = highest_density_levels(grid, (0.5, 0.8))
        for level, width, halo in ((most, 0.7, None), (half, 1.7, plate.colours.halo)):
            draw_lines(
                plate.sheet.axes[0], contour_lines(grid, level), style,
                width=width * plate.scale, gid=f"facility-{view.heading}", halo=halo,
            )  # fmt: skip
        row, column_of = np.unravel_index(int(grid.density.argmax()), shape)
        width, height = grid.cell
        peaks.append(
            {
                "topic_id": len(peaks), "label": view.heading, "level": 1, "colour": style.colour,
                "x": frame.box[0] + (column_of + 0.5) * width,
                "y": frame.box[1] + (row + 0.5) * height, "n_papers": int(view.uses.sum()),
            }
        )  # fmt: skip
    if peaks:
        plate.letter(pd.DataFrame(peaks), frame, labels=True, max_labels=None)
    drawn = {view.heading: style for view, style in zip(views, styles, strict=True)}
    write_ranking(plate, facility_ranking(plate, analysis, drawn), column)


def _draw_panels(plate: Plate, x: Floats, y: Floats, views: Sequence[View]) -> None:
    """A share map for each view, all on the same axes and scale."""
    boxes = plate.tiled(len(views))
    first = plate.fit(x, y, _nowhere(), page=boxes[0], border=8 * plate.scale)
    frames = [replace(first, page=box) for box in boxes]
    found, everywhere = share_maps(plate, frames, x, y, views)
    scale = choose_scale(found)
    plate.key = share_key(plate.colours, scale)
    for view, box, frame, shares in zip(views, boxes, frames, found, strict=True):
        axes = plate.add_map(frame, framed=True)
        draw_shares(plate, axes, shares, scale, everywhere=everywhere)
        plate.write_heading(box, view.heading, view.told)


def share_maps(
    plate: Plate, frames: Sequence[Frame], x: Floats, y: Floats, views: Sequence[View]
) -> tuple[list[ShareMap], ShareMap]:
    """Share maps of all views on one window, one grid and one kernel, and that of all papers.

    Parameters
    ----------
    plate : Plate
    frames : sequence of Frame
        Of one size.
    x, y : ndarray of float, shape (n_papers,)
    views : sequence of View

    Returns
    -------
    list of ShareMap, ShareMap
    """
    from landscape.mapping._density import default_bandwidth
    from landscape.overlays.missions._measures import share_map

    window = frames[0].box
    shape = grid_shape(frames[0], scale=plate.scale)
    kernel = default_bandwidth(x, y)

    def of(inside: Bools, uses: Bools) -> ShareMap:
        return share_map(
            x[inside], y[inside], uses[inside], extent=window, shape=shape, bandwidth=kernel
        )

    every = of(np.ones(len(x), dtype=bool), np.zeros(len(x), dtype=bool))
    return [
        of(view.inside, view.uses)
        if view.inside.any()
        else replace(every, papers=np.zeros_like(every.papers))
        for view in views
    ], every


def _nowhere() -> pd.DataFrame:
    """No topics: the papers alone make the window."""
    import pandas as pd

    return pd.DataFrame({name: np.zeros(0) for name in _NO_TOPICS})
