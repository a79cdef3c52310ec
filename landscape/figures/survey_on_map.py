"""The papers of a survey on the map, with lines from each to what it led to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.density_map import RASTER_DPI, SIZE_INCHES
from landscape.figures.found_papers import query_map

if TYPE_CHECKING:
    from landscape.figures.sheet import Sheet
    from landscape.types import Survey


def survey_map(
    atlas: Any,
    survey: Survey,
    *,
    most: int = 100,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw where the papers that a survey selected lie, and which of them led to which.

    Parameters
    ----------
    atlas : Atlas
        The one that was surveyed.
    survey : Survey
    most : int, default 100
        Papers marked, the best first.
    colours, size_inches, title, raster_dpi
        As for `landscape.figures.query_map`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and a ``table``.

    Raises
    ------
    InputError
        If the survey selected no paper, or is of another atlas.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.survey_map(atlas, atlas.survey("Does dust cool?"))  # doctest: +SKIP
    """
    from dataclasses import replace

    chosen = survey.selected[:most]
    if not chosen:
        raise InputError(
            "The survey selected no paper, so there is nothing to mark on the map; ask with other "
            "words, or with a lower threshold."
        )
    places = {one.key: place for place, one in enumerate(chosen)}
    links = [
        (places[one.parent], place) for place, one in enumerate(chosen) if one.parent in places
    ]
    results = survey.results
    shown = replace(results, hits=results.hits[: len(chosen)])
    how = f"{count(len(survey), 'paper')} selected of {len(survey.crawled):,} judged"
    if len(chosen) < len(survey):
        how += f", the best {len(chosen):,} marked"
    return query_map(
        atlas, shown, colours=colours, size_inches=size_inches, title=title,
        raster_dpi=raster_dpi, links=links, how=how,
    )  # fmt: skip
