"""Where concepts of a thesaurus live on the map (after figure 3 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED, place_in_words
from landscape.figures.colours import quiet, theme
from landscape.figures.density_map import (
    BESIDE_A_TABLE,
    RASTER_DPI,
    SIZE_INCHES,
    facts_of,
    positions,
)
from landscape.figures.hues import series
from landscape.figures.names import clean_name

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.figures.hues import Series
    from landscape.figures.page import Frame
    from landscape.figures.panels import Plate
    from landscape.figures.sheet import Sheet
    from landscape.types import Analysis

    Floats = NDArray[np.float64]

_MOST = 21  # series that differ in colour or dashes
_LONGEST_NOTE = 400


def uat(
    atlas: Any,
    *,
    concepts: Sequence[str] | None = None,
    multiples: bool = False,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw where concepts of the Unified Astronomy Thesaurus live on the map.

    Solid ground and a strong line hold half of a concept's papers, a thin line 80 in 100: the
    smallest ground that does (highest-density regions).

    Parameters
    ----------
    atlas : Atlas
        With its thesaurus and tags.
    concepts : sequence of str, optional
        Names or ids; the top concepts when not given.
    multiples : bool, default False
        One small map a concept, instead of all on one with a table beside it.
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
        A matplotlib Figure; its ``table`` is that of
        `landscape.overlays.thesaurus._extents.thesaurus_overlay`.

    Raises
    ------
    InputError
        For an unknown concept, more than 21 of them, unknown colours, or a page too small.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.uat(ls.open("my.atlas"), concepts=["Exoplanets"])  # doctest: +SKIP
    """
    from landscape.overlays.thesaurus._extents import thesaurus_overlay

    analysis = thesaurus_overlay(atlas, concepts=concepts)
    return draw_concepts(
        atlas, analysis, multiples=multiples, colours=colours, size_inches=size_inches,
        title=title, raster_dpi=raster_dpi,
    )  # fmt: skip


def draw_concepts(
    atlas: Any,
    analysis: Analysis,
    *,
    multiples: bool = False,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw the contours that `landscape.overlays.thesaurus._extents.thesaurus_overlay` found.

    Parameters
    ----------
    atlas : Atlas
        Its ``map`` and ``coverage``.
    analysis : Analysis
        Its ``table`` has a row a concept: ``concept_id, label, papers, ...``; its
        ``tables["contours"]`` has ``concept_id, share, piece, order, x, y``.
    multiples, colours, size_inches, title, raster_dpi
        As for `uat`.

    Returns
    -------
    Sheet

    Raises
    ------
    InputError
        If no concept, or more than 21, are to be drawn; for unknown colours or too small a page.
    """
    import matplotlib as mpl

    from landscape.figures.panels import Plate
    from landscape.figures.sheet import SETTINGS

    table = analysis.table
    if not len(table):
        raise InputError("There is no concept to draw; choose one that papers are tagged with.")
    if len(table) > _MOST:
        raise InputError(
            f"{len(table)} concepts cannot be told apart on a map; choose {_MOST} at most."
        )
    x, y = positions(atlas.map["x"], atlas.map["y"])
    facts = replace(facts_of(atlas), share_named=None)
    styles = series(theme(colours), len(table))
    head, sentences = clean_name(analysis.caption, most=_LONGEST_NOTE), _sentences(analysis)
    with mpl.rc_context(SETTINGS):
        palette = quiet(theme(colours))
        size = size_inches or (SIZE_INCHES if multiples else BESIDE_A_TABLE)
        plate = Plate(size, palette, raster_dpi=raster_dpi, title=title)
        plate.reserve_caption(head, sentences, facts)
        draw = _draw_multiples if multiples else _draw_together
        frame = draw(plate, x, y, analysis, styles)
        plate.write_caption(head, sentences, facts)
    sheet = plate.sheet
    sheet.table = table
    sheet.caption = "\n".join([head, *sentences])
    generated = f"{GENERATED} " if facts.generated else ""
    sheet.alt_text = f"{generated}Map of concepts. {head} {_in_words(analysis, frame)}"
    return sheet


def _draw_together(
    plate: Plate, x: Floats, y: Floats, analysis: Analysis, styles: Sequence[Series]
) -> Frame:
    """All concepts on one map, named where they are densest, and the table beside it."""
    from landscape.figures.ranking import write_ranking

    box, column = plate.divided()
    peaks = concept_peaks(analysis)
    frame = plate.fit(x, y, peaks, page=box)
    plate.draw_density(x, y, frame, specks=False)
    for concept, style in zip(analysis.table["concept_id"], styles, strict=True):
        _draw_concept(plate, 0, analysis, concept, style, fill=0.0)
    named = peaks.assign(colour=[style.colour for style in styles])[np.isfinite(peaks["x"])]
    plate.letter(named, frame, labels=True, max_labels=None)
    write_ranking(plate, _ranking(plate, analysis, styles), column)
    return frame


def _draw_multiples(
    plate: Plate, x: Floats, y: Floats, analysis: Analysis, styles: Sequence[Series]
) -> Frame:
    """One small map a concept, on the same axes."""
    table = analysis.table
    boxes = plate.tiled(len(table))
    peaks, border = concept_peaks(analysis, all_found=True), 8 * plate.scale
    first = plate.fit(x, y, peaks, page=boxes[0], border=border)
    frames = [replace(first, page=box) for box in boxes]
    plate.draw_density(x, y, frames[0], specks=False)
    plate.repeat_density(frames[1:])
    for number, (row, style) in enumerate(zip(table.itertuples(), styles, strict=True)):
        solid = replace(style, dashes="-")
        _draw_concept(plate, number, analysis, row.concept_id, solid, fill=0.30)
        plate.write_heading(boxes[number], row.label, f"{row.papers:,} papers", colour=style.colour)
    return frames[0]


def _draw_concept(
    plate: Plate, panel: int, analysis: Analysis, concept: str, style: Series, *, fill: float
) -> None:
    """Draw a concept's contours, the tighter the stronger."""
    from landscape.figures.panels import draw_lines

    contours = analysis.tables["contours"]
    own = contours[contours["concept_id"] == concept]
    for share in sorted(own["share"].unique(), reverse=True):
        tightest = share == own["share"].min()
        lines = _pieces(own[own["share"] == share])
        draw_lines(
            plate.sheet.axes[panel], lines, style,
            width=(1.7 if tightest else 0.7) * plate.scale * (0.55 if fill else 1.0),
            gid=f"concept-{concept}", halo=plate.colours.halo if tightest and not fill else None,
            fill=fill if tightest else fill / 3,
        )  # fmt: skip


def concept_peaks(analysis: Analysis, *, all_found: bool = False) -> pd.DataFrame:
    """Where each concept is named: in the middle of the largest piece of its tightest contour.

    Parameters
    ----------
    analysis : Analysis
    all_found : bool, default False
        Leave away concepts without contours.

    Returns
    -------
    pandas.DataFrame
        ``topic_id, label, level, x, y, n_papers``, in the order of the table; NaN for a concept
        without contours.
    """
    import pandas as pd

    contours = analysis.tables["contours"]
    places = []
    for concept in analysis.table["concept_id"]:
        own = contours[contours["concept_id"] == concept]
        tight = own[own["share"] == own["share"].min()]
        largest = max(_pieces(tight), key=_area, default=np.full((1, 2), np.nan))
        places.append((largest.min(axis=0) + largest.max(axis=0)) / 2)
    at = np.array(places)
    peaks = pd.DataFrame(
        {
            "topic_id": np.arange(len(at)),
            "label": analysis.table["label"].astype(str).to_numpy(),
            "level": 1,
            "x": at[:, 0],
            "y": at[:, 1],
            "n_papers": analysis.table["papers"].to_numpy(),
        }
    )
    return peaks[np.isfinite(peaks["x"])] if all_found else peaks


def _pieces(contours: pd.DataFrame) -> list[Floats]:
    """Separate lines of a table of contours, each in its order."""
    ordered = contours.sort_values(["piece", "order"])
    points = ordered[["x", "y"]].to_numpy(dtype=float)
    return [line for line in np.split(points, np.flatnonzero(np.diff(ordered["piece"])) + 1)
            if len(line)]  # fmt: skip


def _area(line: Floats) -> float:
    """Ground inside a closed line (shoelace formula)."""
    x, y = line.T
    return float(abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2)


def _ranking(plate: Plate, analysis: Analysis, styles: Sequence[Series]) -> Any:
    """The table beside the map."""
    from landscape.figures.ranking import Ranking, Row

    table = analysis.table
    wanted = [
        ("papers", "Papers", "{:,.0f}"),
        ("share", "Share", "{:.1%}"),
        ("area_50", "Area", "{:.1%}"),
        ("separability_full", "Separable\n(full)", "{:.2f}"),
        ("separability_map", "Separable\n(map)", "{:.2f}"),
    ]
    columns = [column for column in wanted if column[0] in table]
    rows = [
        Row(
            clean_name(row["label"]),
            tuple("–" if row[name] != row[name] else form.format(row[name])
                  for name, _, form in columns),
            style={"color": style.colour, "linestyle": style.dashes,
                   "linewidth": 1.7 * plate.scale},
        )
        for (_, row), style in zip(table.iterrows(), styles, strict=True)
    ]  # fmt: skip
    headings = ("Concept", *(heading for _, heading, _ in columns))
    return Ranking("Concepts of the Unified Astronomy Thesaurus", headings, rows)


def _sentences(analysis: Analysis) -> list[str]:
    notes = [clean_name(note, most=_LONGEST_NOTE) for note in replace(analysis, bounds={}).notes]
    return [
        "The strong line holds half of a concept's papers, the thin one 80 in 100, each on the "
        "smallest ground that does; the tint behind is the density of all papers.",
        *notes,
    ]


def _in_words(analysis: Analysis, frame: Frame) -> str:
    """Where the concepts lie, for readers who cannot see it."""
    x0, y0, x1, y1 = frame.box
    told = [
        f"{clean_name(row.label)} ({row.n_papers:,} papers, "
        f"{place_in_words((row.x - x0) / (x1 - x0), (row.y - y0) / (y1 - y0))})"
        for row in concept_peaks(analysis, all_found=True).itertuples()
    ]
    return f"Concepts: {'; '.join(told)}." if told else ""
