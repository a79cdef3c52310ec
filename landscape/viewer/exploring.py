"""Check the state of a map explorer, search for it, and write the code that repeats it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count
from landscape.corpus.libraries import Library, entry_of_name
from landscape.errors import InputError, LandscapeError
from landscape.overlays.library import library_rows
from landscape.search import parse_filter
from landscape.viewer.state import inside, passing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Paper
    from landscape.viewer.notebook import MapView

    Rows = NDArray[np.int64]

Period = tuple[int, int]
LAYERS = ("names", "papers", "reviews")


@dataclass(frozen=True)
class Found:
    """Papers that a search found."""

    query: str
    method: str
    k: int
    rows: Rows
    papers: tuple[Paper, ...] = ()
    note: str = ""


# -- checks


def checked_choice(name: str, value: str, choices: Collection[str]) -> str:
    """Return one of some values; raise InputError for others."""
    if value not in choices:
        raise InputError(f"The {name} is {value!r}; use one of {', '.join(choices)}.")
    return value


def checked_window(box: Sequence[float]) -> tuple[float, float, float, float]:
    """Check and return a window of the map."""
    try:
        x0, y0, x1, y1 = (float(side) for side in box)
    except (TypeError, ValueError):
        x0 = y0 = x1 = y1 = 0.0
    if not (np.isfinite([x0, y0, x1, y1]).all() and x1 > x0 and y1 > y0):
        raise InputError(f"The view is {box!r}; give (x0, y0, x1, y1) with x0 < x1 and y0 < y1.")
    return x0, y0, x1, y1


def check_search(query: object, method: str) -> None:
    """Raise InputError if a query or the method of a search is invalid."""
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}; use one of {', '.join(METHODS)}.")
    if not isinstance(query, str):
        raise InputError(f"The search is {query!r}; write a question or some words.")
    if not query.strip():
        raise InputError("The search is empty; write a question or some words.")


def checked_name(kind: str, name: object) -> str | None:
    """Check and return the name of a concept or facility, or None if it is empty."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"The {kind} is {name!r}; give its name.")
    return (name or "").strip() or None


def checked_outline(outline: Iterable[Sequence[float]]) -> list[tuple[float, float]]:
    """Check and return the corners of an outline in map units."""
    try:
        return [(float(x), float(y)) for x, y in outline]
    except (TypeError, ValueError):
        raise InputError(
            f"The outline is {outline!r}; give its corners as a list of (x, y) in map units."
        ) from None


def checked_factor(factor: float) -> float:
    """Check the factor of a zoom."""
    try:
        times = float(factor)
    except (TypeError, ValueError):
        times = 0.0
    if not 0 < times < float("inf"):
        raise InputError(f"The zoom is {factor!r}; give a number above 0, such as 2 or 0.5.")
    return times


def checked_layers(names: Iterable[str]) -> frozenset[str]:
    """Check that names are in `LAYERS`."""
    try:
        chosen = [names] if isinstance(names, str) else list(names)
    except TypeError:
        raise InputError(
            f"The layers are {names!r}; give a list of some of {', '.join(LAYERS)}."
        ) from None
    unknown = [name for name in chosen if name not in LAYERS]
    if unknown:
        raise InputError(f"There is no layer {unknown[0]!r}; use some of {', '.join(LAYERS)}.")
    return frozenset(chosen)


def checked_time(period: Sequence[int] | None, known: Period | None) -> Period | None:
    """Check and return the first and last year, or None if they include all papers."""
    if period is None:
        return None
    try:
        first, last = (int(year) for year in period)
    except (TypeError, ValueError):
        raise InputError(f"The time is {period!r}; give the first and the last year.") from None
    if last < first:
        raise InputError(f"The time ends in {last}, before it begins in {first}. Swap the years.")
    return None if known is None or (first <= known[0] and last >= known[1]) else (first, last)


def time_within(period: Period | None, known: Period | None) -> Period | None:
    """Limit a time window to the years of an atlas; return None for all years or no years."""
    if period is None or known is None:
        return None
    first, last = max(period[0], known[0]), min(period[1], known[1])
    return checked_time((first, last), known) if first <= last else None


# -- the line of code

_MAX_ROWS = 300
_MAX_CORNERS = 80  # of an outline
_ARGUMENTS = {  # names of arguments, and of what the browser stores
    "colour_by": "colour",
    "time": "years",
    "concept": "concept",
    "facility": "facility",
    "layers": "layers",
    "search": "query",
    "method": "method",
    "k": "k",
}


def line_of_code(
    view: MapView, *, region: str | None, selected_by: str | None, mine: object
) -> str:
    """Write the call that creates an explorer in the same state; default values are omitted."""
    given, rows = view.given, np.sort(view.rows_of(view.chosen))
    arguments = ["atlas"]
    if given.get("view"):
        width = given["view"][2] - given["view"][0]
        digits = max(2, 3 - int(np.floor(np.log10(width))))
        arguments.append(f"view=({', '.join(f'{side:.{digits}f}' for side in given['view'])})")
    options: dict[str, object] = {}
    for name, stored in _ARGUMENTS.items():
        value = given.get(stored)
        options[name] = tuple(value) if isinstance(value, list) else value
    corners = _outline_of(view, rows)
    options |= {"region": region, "select": selected_by, "outline": corners, "mine": mine}
    options |= {"theme": view.theme, "height": view.height}
    defaults = {"theme": "auto", "height": 640}
    arguments += [
        f"{name}={value!r}"
        for name, value in options.items()
        if value is not None and value != defaults.get(name)
    ]
    line = f"MapExplorer({', '.join(arguments)})"
    if selected_by is not None or corners or not len(rows):
        return line
    if len(rows) > _MAX_ROWS:
        return f"{line}  # and {count(len(rows), 'paper')} selected, too many to list here"
    return f"{line}.select({rows.tolist()})"


def _outline_of(view: MapView, rows: Rows) -> list[tuple[float, float]] | None:
    """Return a short outline around exactly the selected papers, if an outline selected them."""
    if not view.outline:
        return None
    window = view.given.get("view")
    width = window[2] - window[0] if window else view.source.box[2]
    wanted = passing(view.source, view.given)
    for fineness in (1e3, 1e4, 1e5):  # a paper can be very near the outline
        corners = simple_outline(*zip(*view.outline, strict=True), unit=width / fineness)
        around = inside(view.source, corners)
        if np.array_equal(around[wanted[around]], rows):
            return corners
    return None


def simple_outline(
    xs: Sequence[float], ys: Sequence[float], *, unit: float
) -> list[tuple[float, float]]:
    """Simplify an outline and round its coordinates, so that it fits into one line of code."""
    step = max(1, -(-len(xs) // _MAX_CORNERS))
    digits = max(0, 1 - int(np.floor(np.log10(unit)))) if unit > 0 else 6
    digits -= 1 if digits > 1 else 0
    corners = zip(list(xs)[::step], list(ys)[::step], strict=True)
    return [(round(float(x), digits), round(float(y), digits)) for x, y in corners]


# -- reading an atlas

METHODS = ("hybrid", "semantic", "words", "filter")
_LISTED = 50


def find_papers(atlas: Atlas, query: str, *, method: str, k: int, time: Period | None) -> Found:
    """Search an atlas by meaning, by words, or by a Boolean filter."""
    check_search(query, method)
    if method == "hybrid" and is_filter(query):
        method = "filter"
    years = None if time is None else f"{time[0]}..{time[1]}"
    if method == "filter":
        rows = atlas.select(f"({query}); {years}" if years else query)
        if not len(rows):
            raise InputError("No paper passes this filter. Remove a condition.")
        cites = atlas.read_papers(["cites"])["cites"].to_numpy("float64", na_value=-1.0)[rows]
        order = "the most cited first" if (cites >= 0).any() else "in the order of the atlas"
        rows = rows[np.argsort(-cites, kind="stable")]
        papers = tuple(atlas.engine.papers(rows[:_LISTED].tolist()))
        note = f"{count(len(rows), 'paper')} found, read as a filter, {order}."
        return Found(query, method, k, rows, papers, note)
    results = atlas.search(query, k=k, method=method, filter=years)
    if not results.hits:
        raise InputError(results.note or "Nothing was found. Use other words, or more years.")
    rows = np.array([hit.paper.row for hit in results.hits], dtype=np.int64)
    n_apart = sum(bool(hit.outlier) for hit in results.hits)
    coverage = results.coverage
    notes = (
        [results.note]
        if results.note
        else [f"Best first, of {coverage.n_searched:,} searched papers."]
    )
    if n_apart:
        verb = "lies" if n_apart == 1 else "lie"
        notes.append(f"{count(n_apart, 'paper')} {verb} far from the others on the map.")
    note = " ".join([*notes, *coverage.notes])
    return Found(query, method, k, rows, results.papers[:_LISTED], note)


_LIKE_A_FILTER = re.compile(r"(?:^|[\s;(-])(?:[a-z_]+:[^\s/]|\d{4}[\d-]*\.\.|\.\.\d{4})")


def is_filter(query: str) -> bool:
    """Return whether a text is a filter rather than a question.

    >>> is_filter("author:Rubin; 2015.."), is_filter("dark matter: a review")
    (True, False)
    """
    if not _LIKE_A_FILTER.search(query):
        return False
    try:
        parse_filter(query)
    except LandscapeError:
        return False
    return True


def rows_of_papers(atlas: Atlas, papers: str | Path | Iterable[str] | None) -> Rows | None:
    """Return the rows of the papers of a library, a file or a list that the atlas has.

    Raises
    ------
    InputError
        If the file cannot be read, or the atlas has none of the papers.
    """
    if papers is None:
        return None
    if isinstance(papers, str | Path):
        return library_rows(atlas, papers)
    entries = tuple(map(entry_of_name, map(str, papers)))
    return library_rows(atlas, Library("given", entries))
