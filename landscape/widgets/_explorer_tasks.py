"""Functions of the map explorer that do not use widgets, such as checks, search and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from landscape._bibliography import to_bibtex
from landscape._serializer import to_csv
from landscape._wording import count
from landscape.errors import InputError, LandscapeError
from landscape.store.manifest import current_version
from landscape.widgets._colours import (
    DENSITY,
    colouring_of,
    papers_of_facility,
    papers_with_concept,
)
from landscape.widgets._map_state import Found, MapData, MapState, Overlay, Period
from landscape.widgets._selection import selection_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Answer
    from landscape.widgets._view import View

    Rows = NDArray[np.int64]

T = TypeVar("T")
LAYERS = ("names", "papers", "reviews")
DEFAULT_SIZE = (740, 560)
_MIN_SIZE, _MAX_SIZE = (320, 240), (2400, 1800)


# -- checks


def checked_size(size: Sequence[int]) -> tuple[int, int]:
    """Check width and height of a map in pixels."""
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        raise InputError(f"The size is {size!r}; give width and height in pixels.") from None
    if not (_MIN_SIZE[0] <= width <= _MAX_SIZE[0] and _MIN_SIZE[1] <= height <= _MAX_SIZE[1]):
        raise InputError(
            f"The size is {width} x {height} pixels; give {_MIN_SIZE[0]} x {_MIN_SIZE[1]} to "
            f"{_MAX_SIZE[0]} x {_MAX_SIZE[1]}."
        )
    return width, height


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
_MAX_CORNERS = 80  # of a lasso


def line_of_code(state: MapState, whole: View) -> str:
    """Write the call that creates the same view; default values are omitted."""
    options: dict[str, object] = {
        "colour_by": state.colouring.name,
        "time": state.time,
        "layers": tuple(name for name in LAYERS if name in state.layers),
        "concept": state.name_of("concept"),
        "facility": state.name_of("facility"),
    }
    if state.found is not None:
        options |= {"search": state.found.query, "method": state.found.method, "k": state.found.k}
    by = state.selected_by
    if by is not None and by[0] == "outline" and state.selected_in != state.time:
        by = None  # with other years, the outline would select other papers
    if by is not None:
        options[by[0]] = by[1]
    options |= {"theme": state.theme, "size": state.size}
    defaults = {
        "colour_by": "density",
        "layers": ("names", "papers"),
        "method": "hybrid",
        "k": 30,
        "theme": "light",
        "size": DEFAULT_SIZE,
    }
    arguments = ["atlas"]
    if state.view.differs_from(whole):
        digits = max(2, 3 - int(np.floor(np.log10(state.view.width))))
        arguments.append(f"view=({', '.join(f'{side:.{digits}f}' for side in state.view.box)})")
    arguments += [
        f"{name}={value!r}" for name, value in options.items() if value != defaults.get(name)
    ]
    line = f"MapExplorer({', '.join(arguments)})"
    n = len(state.selected)
    if by is not None or not n:
        return line
    if n > _MAX_ROWS:
        return f"{line}  # and {count(n, 'paper')} selected, too many to list here"
    return f"{line}.select({state.selected.tolist()})"


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
_MAX_BIBTEX = 5_000


def find_papers(atlas: Atlas, query: str, *, method: str, k: int, time: Period | None) -> Found:
    """Search an atlas by meaning, by words, or by a Boolean filter."""
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}; use one of {', '.join(METHODS)}.")
    if not isinstance(query, str):
        raise InputError(f"The search is {query!r}; write a question or some words.")
    if not query.strip():
        raise InputError("The search is empty; write a question or some words.")
    years = None if time is None else f"{time[0]}..{time[1]}"
    if method == "filter":
        rows = atlas.select(f"({query}); {years}" if years else query)
        if not len(rows):
            raise InputError("No paper passes this filter. Remove a condition.")
        cites = atlas.read_papers(["cites"])["cites"].to_numpy("float64", na_value=-1.0)[rows]
        order = "the most cited first" if (cites >= 0).any() else "in the order of the atlas"
        rows = rows[np.argsort(-cites, kind="stable")]
        papers = tuple(atlas.engine.papers(rows[:_LISTED].tolist()))
        note = f"{count(len(rows), 'paper')} found with the filter, {order}."
        return Found(query, method, k, rows, np.zeros(len(rows), dtype=bool), papers, note)
    results = atlas.search(query, k=k, method=method, filter=years)
    if not results.hits:
        raise InputError(results.note or "Nothing was found. Use other words, or more years.")
    rows = np.array([hit.paper.row for hit in results.hits], dtype=np.int64)
    apart = np.array([bool(hit.outlier) for hit in results.hits])
    coverage, n_apart = results.coverage, int(apart.sum())
    n_found = count(len(rows), "paper")
    searched = f"{coverage.n_searched:,} searched papers"
    notes = [results.note] if results.note else [f"{n_found} found in {searched}, best first."]
    if n_apart:
        notes.append(f"{n_apart:,} {'is an outlier' if n_apart == 1 else 'are outliers'} (◇).")
    note = " ".join([*notes, *coverage.notes])
    return Found(query, method, k, rows, apart, results.papers[:_LISTED], note)


OVERLAYS = {"concept": papers_with_concept, "facility": papers_of_facility}


def read_overlay(atlas: Atlas, kind: str, name: str) -> Overlay:
    """Return the papers of a concept or facility, or the reviews."""
    if kind == "reviews":
        return Overlay(kind, np.unique(atlas.reviews["paper_row"].to_numpy()).astype(np.int64))
    rows, title = OVERLAYS[kind](atlas, name)
    return Overlay(title, rows, name)


def papers_as_csv(atlas: Atlas, rows: Rows) -> str:
    """Write papers as CSV, with a header and one line per paper."""
    return to_csv(selection_table(atlas, rows))


def papers_as_bibtex(atlas: Atlas, rows: Rows) -> str:
    """Write papers as BibTeX."""
    if len(rows) > _MAX_BIBTEX:
        raise InputError(
            f"{len(rows):,} papers are too many for one bibliography; select at most "
            f"{_MAX_BIBTEX:,}, or save them as .csv."
        )
    return to_bibtex(atlas.engine.papers(rows.tolist()))


def compare_with_rest(atlas: Atlas, rows: Rows) -> Analysis:
    """Compare the given papers with all other papers in each region."""
    from landscape.overlays.trends import compare

    rest = np.setdiff1d(np.arange(len(atlas)), rows, assume_unique=True)
    if not len(rest):
        raise InputError("All papers are selected, so there are no other papers to compare with.")
    return compare(atlas, rows, rest)


def ask_papers(
    atlas: Atlas, rows: Rows, question: str, *, model: Any = "auto", **settings: Any
) -> Answer:
    """Answer a question from the papers in `rows`, or from all papers if `rows` is empty."""
    from landscape.answers import AskSettings
    from landscape.answers.asking import ask
    from landscape.llm import connect_from_environment

    if not len(rows):
        return atlas.ask(question, model=model, **settings)
    connected = connect_from_environment() if model == "auto" else model
    return ask(atlas.engine.within(rows), question, AskSettings(**settings), model=connected)


# -- an atlas that was rebuilt


@dataclass(frozen=True)
class Reopened:
    """A rebuilt atlas, with the parts of the old state that are still valid."""

    atlas: Atlas
    data: MapData
    built: int
    state: MapState
    problems: tuple[str, ...]


def reopen(old: Atlas, state: MapState) -> Reopened:
    """Open an atlas again, and update the colours, outlines and search of a state."""
    from landscape.atlas import open as open_atlas

    _, built = current_version(old.path)
    atlas = open_atlas(old.path)
    data = MapData(atlas, state.size)
    problems: list[str] = []

    def tried(read: Callable[..., T], *given: object, **named: object) -> T | None:
        try:
            return read(atlas, *given, **named)
        except LandscapeError as error:
            problems.append(str(error))
            return None

    overlays = {}
    for kind, overlay in state.overlays.items():
        again = tried(read_overlay, kind, overlay.name)
        if again is not None:
            overlays[kind] = again
    colouring, name = None, state.colouring.name
    if name not in OVERLAYS or name in overlays:
        colouring = tried(colouring_of, name, overlays)
    time, found = time_within(state.time, data.period), None
    if state.found is not None:
        query, method, k = state.found.query, state.found.method, state.found.k
        found = tried(find_papers, query, method=method, k=k, time=time)
    new = replace(
        state,
        view=data.whole,
        time=time,
        colouring=colouring or DENSITY,
        overlays=overlays,
        found=found,
        selected=np.zeros(0, dtype=np.int64),
        selected_by=None,
    )
    return Reopened(atlas, data, built, new, tuple(problems))
