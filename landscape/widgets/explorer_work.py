"""The long pieces of work of the map explorer, as functions of an atlas: each runs in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._serializer import to_csv
from landscape._wording import count
from landscape.errors import InputError
from landscape.widgets.scene import Found
from landscape.widgets.summary import selection_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.types import Analysis, Answer
    from landscape.widgets.scene import Period

    Rows = NDArray[np.int64]

METHODS = ("hybrid", "semantic", "words", "filter")
_LISTED = 50
_MOST_BIBTEX = 5_000
_OUTLINE = 80  # corners kept of a lasso


def find_papers(atlas: Any, query: str, *, method: str, k: int, time: Period | None) -> Found:
    """Search an atlas by meaning, by words, or by a Boolean filter.

    Parameters
    ----------
    atlas : Atlas
    query : str
    method : {"hybrid", "semantic", "words", "filter"}
        A filter finds all papers that it lets through, the most cited first.
    k : int
        Papers wanted, of the other methods.
    time : (int, int) or None
        First and last year.

    Returns
    -------
    Found

    Raises
    ------
    InputError
        For an empty query, an unknown method, or a filter with a mistake.
    """
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}; use one of {', '.join(METHODS)}.")
    if not isinstance(query, str):
        raise InputError(f"The search is {query!r}; write a question or some words.")
    if not query.strip():
        raise InputError("The search is empty; write a question or some words.")
    years = None if time is None else f"{time[0]}..{time[1]}"
    if method == "filter":
        text = f"({query}); {years}" if years else query
        rows = atlas.select(text)
        if not len(rows):
            raise InputError("No paper passes this filter; take a condition away.")
        cites = atlas.read_papers(["cites"])["cites"].to_numpy("float64", na_value=-1.0)
        rows = rows[np.argsort(-cites[rows], kind="stable")]
        papers = tuple(atlas.engine.papers(rows[:_LISTED].tolist()))
        known = (cites[rows] >= 0).any()
        order = "the most cited first" if known else "in the order of the atlas"
        note = f"{count(len(rows), 'paper')} within the filter, {order}."
        return Found(query, method, rows, np.zeros(len(rows), dtype=bool), papers, note)
    results = atlas.search(query, k=k, method=method, filter=years)
    if not results.hits:
        raise InputError("Nothing was found; use other words, or more years.")
    rows = np.array([hit.paper.row for hit in results.hits], dtype=np.int64)
    apart = np.array([bool(hit.outlier) for hit in results.hits])
    n_apart = int(apart.sum())
    note = f"{count(len(rows), 'paper')} of {results.coverage.n_searched:,} searched, best first."
    if n_apart:
        note += f" {n_apart:,} lie{'s' if n_apart == 1 else ''} apart from the others (◇)."
    note = " ".join([note, *results.coverage.notes])
    return Found(query, method, rows, apart, results.papers[:_LISTED], note)


def simple_outline(xs: Any, ys: Any, *, unit: float) -> list[tuple[float, float]]:
    """Fewer, rounder corners of an outline, so that one line of code can repeat it.

    Parameters
    ----------
    xs, ys : sequence of float
        Corners, in map units.
    unit : float
        Map units to a pixel: half of one is the precision.

    Returns
    -------
    list of (float, float)

    Examples
    --------
    >>> simple_outline([0.1234, 1.0, 1.0], [0.0, 0.0, 1.0], unit=0.1)
    [(0.1, 0.0), (1.0, 0.0), (1.0, 1.0)]
    """
    step = max(1, -(-len(xs) // _OUTLINE))
    digits = max(0, 1 - int(np.floor(np.log10(unit)))) if unit > 0 else 6
    digits = max(0, digits - (1 if digits > 1 else 0))
    corners = zip(list(xs)[::step], list(ys)[::step], strict=True)
    return [(round(float(x), digits), round(float(y), digits)) for x, y in corners]


def review_rows(atlas: Any) -> tuple[str, Rows]:
    """Rows of the papers that were recognised as reviews.

    Raises
    ------
    AtlasError
        If the atlas has no such layer.
    """
    rows = np.unique(atlas.reviews["paper_row"].to_numpy())
    return "reviews", rows.astype(np.int64)


def papers_as_csv(atlas: Any, rows: Rows) -> str:
    """Some papers for a spreadsheet: nothing but a line of names and a line for each."""
    return to_csv(selection_table(atlas, rows))


def compare_with_rest(atlas: Any, rows: Rows) -> Analysis:
    """Compare some papers with all others, region by region.

    Raises
    ------
    InputError
        If there are no others.
    """
    from landscape.overlays.trends._comparison import compare

    rest = np.setdiff1d(np.arange(len(atlas)), rows, assume_unique=True)
    if not len(rest):
        raise InputError("Every paper is selected: there is no rest to compare with.")
    return compare(atlas, rows, rest)


def ask_papers(
    atlas: Any, rows: Rows, question: str, *, model: Any = "auto", **settings: Any
) -> Answer:
    """Answer a question from some papers alone, or from all if there are none.

    Raises
    ------
    InputError
        For an empty question, or a setting that cannot be.
    """
    from landscape.answers._asking import ask, ask_settings
    from landscape.llm._client import connect_from_environment

    if not len(rows):
        answer: Answer = atlas.ask(question, model=model, **settings)
        return answer
    connected = connect_from_environment() if model == "auto" else model
    return ask(atlas.engine.within(rows), question, ask_settings(**settings), model=connected)


def papers_as_bibtex(atlas: Any, rows: Rows) -> str:
    """Some papers for a bibliography.

    Raises
    ------
    InputError
        If they are too many for one.
    """
    from landscape._bibliography import to_bibtex

    if len(rows) > _MOST_BIBTEX:
        raise InputError(
            f"{len(rows):,} papers are too many for one bibliography; select at most "
            f"{_MOST_BIBTEX:,}, or save them as .csv."
        )
    return to_bibtex(atlas.engine.papers(rows.tolist()))
