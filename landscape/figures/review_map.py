"""Where reviews are, and where one would help most (after figure 9 of Iyer et al. 2024)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED, place_in_words
from landscape.figures.colours import theme
from landscape.figures.density_map import BESIDE_A_TABLE, RASTER_DPI, facts_of, positions
from landscape.figures.hues import contrast_ramp
from landscape.figures.names import clean_name
from landscape.figures.share_picture import grid_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from landscape.figures.page import Frame
    from landscape.figures.panels import Plate
    from landscape.figures.ranking import Ranking
    from landscape.figures.sheet import Sheet
    from landscape.overlays.missions._measures import ShareMap
    from landscape.types import Analysis

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_LISTED = 15
_FOLD = 4.0  # the ramp ends at a fourth of the usual density of reviews, and at four times it
_BESIDE = 0.39  # of the width, for the table: it shows every component of the score
_WIDER = 1.5  # reviews are few: their kernel, in units of that of papers
_LONGEST_NOTE, _LONGEST_HEAD = 400, 600
_COLUMNS = (  # the score first, then what it is made of
    ("score", "Score", "{:.1f}"),
    ("papers", "Papers", "{:,.0f}"),
    ("reviews", "Re-\nviews", "{:,.0f}"),
    ("years_without", "Years\nwithout", "{:.1f}"),
    ("growth", "Growth", "{:.1f}"),
    ("citations", "Cita-\ntions", "{:.1f}"),
    ("disagreement", "Dis-\nagree", "{:.2f}"),
)


def reviews(
    atlas: Any,
    *,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 200,
    listed: int = _LISTED,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw the density of reviews against that of papers, and list where a review would help.

    Parameters
    ----------
    atlas : Atlas
        With its recognised reviews.
    weights : mapping of str to float, optional
        Of the components of the score, see `landscape.overlays.review_gaps`.
    n_resamples : int, default 200
        For the intervals of the ranks.
    listed : int, default 15
        Gaps to number on the map and to list beside it.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), optional
        Width and height of the page.
    title : str, optional
        Heading above the map.
    raster_dpi : int, default 200
        Pixels per inch of pictures.

    Returns
    -------
    Sheet
        A matplotlib Figure; its ``table`` is that of `landscape.overlays.review_gaps`.

    Raises
    ------
    InputError
        If no region can be ranked, for unknown colours, or for too small a page.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.reviews(ls.open("my.atlas"))  # doctest: +SKIP
    """
    from landscape.overlays.reviews._coverage import review_mask
    from landscape.overlays.reviews._gaps import review_gaps

    gaps = review_gaps(atlas, weights=weights, n_resamples=n_resamples)
    return draw_reviews(
        atlas, gaps, review_mask(atlas), listed=listed, colours=colours, size_inches=size_inches,
        title=title, raster_dpi=raster_dpi,
    )  # fmt: skip


def draw_reviews(
    atlas: Any,
    gaps: Analysis,
    found: Bools,
    *,
    listed: int = _LISTED,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw the gaps that `landscape.overlays.review_gaps` ranked.

    Parameters
    ----------
    atlas : Atlas
        Its ``map``, ``topics`` and ``coverage``.
    gaps : Analysis
        Its ``table`` has a row a region, the best gap first: ``topic_id, label, ...``.
    found : ndarray of bool, shape (n_papers,)
        Which papers are reviews.
    listed, colours, size_inches, title, raster_dpi
        As for `reviews`.

    Returns
    -------
    Sheet

    Raises
    ------
    InputError
        As for `reviews`.
    """
    import matplotlib as mpl

    from landscape.figures.panels import Plate
    from landscape.figures.ranking import write_ranking
    from landscape.figures.sheet import SETTINGS

    if not len(gaps.table):
        raise InputError("No region can be ranked, so there is no gap in the reviews to draw.")
    x, y = positions(atlas.map["x"], atlas.map["y"])
    best = _located(gaps.table, atlas.topics).head(max(1, listed))
    facts = replace(facts_of(atlas), share_named=None)
    head, sentences = clean_name(gaps.caption, most=_LONGEST_HEAD), _sentences(gaps, found)
    with mpl.rc_context(SETTINGS):
        palette = theme(colours)
        size = size_inches or BESIDE_A_TABLE
        plate = Plate(size, palette, raster_dpi=raster_dpi, title=title)
        plate.key = review_key(plate)
        plate.reserve_caption(head, sentences, facts)
        box, column = plate.divided(beside=_BESIDE)
        frame = plate.fit(x, y, best, page=box)
        _draw_contrast(plate, frame, x, y, found)
        written = write_ranking(plate, _ranking(best), column)
        _mark_gaps(plate, frame, best.head(written))
        plate.write_caption(head, sentences, facts)
    sheet = plate.sheet
    sheet.table = gaps.table
    sheet.caption = "\n".join([head, *sentences])
    generated = f"{GENERATED} " if facts.generated else ""
    sheet.alt_text = (
        f"{generated}Map of reviews and of gaps between them. {head} {_in_words(best, frame)}"
    )
    return sheet


def _located(table: pd.DataFrame, topics: pd.DataFrame) -> pd.DataFrame:
    """The ranked regions with their peaks on the map; all others are left away."""
    places = topics.set_index("topic_id")[["x", "y"]]
    bare = table.drop(columns=[name for name in ("x", "y") if name in table])
    return bare.join(places, on="topic_id").dropna(subset=["x", "y"]).reset_index(drop=True)


def _draw_contrast(plate: Plate, frame: Frame, x: Floats, y: Floats, found: Bools) -> None:
    from landscape.figures.panels import draw_picture
    from landscape.mapping._density import default_bandwidth
    from landscape.overlays.missions._measures import share_map

    shares = share_map(
        x, y, found, extent=frame.box, shape=grid_shape(frame, scale=plate.scale),
        bandwidth=_WIDER * default_bandwidth(x, y),
    )  # fmt: skip
    picture = contrast_picture(shares, contrast_ramp(plate.colours))
    draw_picture(plate.add_map(frame), picture, shares.extent, gid="reviews")


def contrast_picture(shares: ShareMap, ramp: Floats, *, fold: float = _FOLD) -> Floats:
    """Colours of reviews against papers: how many times the usual share, on a log scale.

    Parameters
    ----------
    shares : ShareMap
        Of reviews.
    ramp : ndarray of float, shape (n, 3)
        From fewer over as usual to more.
    fold : float, default 4
        Where the ramp ends: that many times the overall share, and one over it.

    Returns
    -------
    ndarray of float, shape (rows, columns, 4)
        Transparent where papers are few.
    """
    usual = max(shares.overall, 1e-12)
    with np.errstate(divide="ignore"):
        times = np.log(shares.share / usual) / np.log(fold) if shares.overall else 0 * shares.share
    tone = np.round((np.clip(times, -1, 1) + 1) / 2 * (len(ramp) - 1)).astype(int)
    seen = np.clip((shares.papers - 6) / 24, 0, 1)
    return np.dstack([ramp[tone], seen * seen * (3 - 2 * seen)])


def review_key(plate: Plate) -> Any:
    """The key: how many times the usual share of reviews."""
    from landscape.figures.panels import Key

    meanings = ("≤¼", "½", "usual", "2×", "≥4×")
    return Key("Reviews for the papers there", contrast_ramp(plate.colours), meanings)


def _mark_gaps(plate: Plate, frame: Frame, best: pd.DataFrame) -> None:
    """Number the gaps on the map and name them where there is room."""
    from landscape.figures.marks import mark_papers

    at = best["x"].to_numpy(dtype=float), best["y"].to_numpy(dtype=float)
    marked = mark_papers(plate, frame, *at, apart=np.zeros(len(best), dtype=bool))
    names = best.assign(level=1, n_papers=best.get("papers", 0))
    ids = names["topic_id"].tolist()
    plate.letter(names, frame, labels=True, max_labels=None, reserved=marked.boxes, loud=ids)


def _ranking(best: pd.DataFrame) -> Ranking:
    """The table beside the map."""
    import pandas as pd

    from landscape.figures.ranking import Ranking, Row

    columns = [column for column in _COLUMNS if column[0] in best]
    rows = [
        Row(
            str(row["label"]),
            tuple("–" if pd.isna(row[name]) else form.format(row[name])
                  for name, _, form in columns),
            mark=str(number),
        )
        for number, (_, row) in enumerate(best.iterrows(), 1)
    ]  # fmt: skip
    headings = ("Region", *(heading for _, heading, _ in columns))
    return Ranking("Where a review would help most", headings, rows)


def _sentences(gaps: Analysis, found: Bools) -> list[str]:
    notes = [clean_name(note, most=_LONGEST_NOTE) for note in replace(gaps, bounds={}).notes]
    return [
        f"Colour is how many reviews there are for the papers around a place, against "
        f"{found.sum():,} reviews among {len(found):,} papers of the whole corpus, shrunk to the "
        "usual where papers are few. Numbers are the ranks of the gaps.",
        *notes,
    ]


def _in_words(best: pd.DataFrame, frame: Frame) -> str:
    x0, y0, x1, y1 = frame.box
    told = [
        f"{number} {clean_name(row.label)} "
        f"({place_in_words((row.x - x0) / (x1 - x0), (row.y - y0) / (y1 - y0))})"
        for number, row in enumerate(best.itertuples(), 1)
    ]
    return f"Gaps by rank: {'; '.join(told)}."
