"""Background tasks of the map explorer: search, overlays, comparison, export, reopening."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from landscape._render import escape
from landscape._serializer import to_csv
from landscape._wording import count
from landscape.errors import InputError, LandscapeError
from landscape.widgets._colours import (
    DENSITY,
    colouring_of,
    papers_of_facility,
    papers_with_concept,
    share_colouring,
)
from landscape.widgets._explorer_controls import list_nothing
from landscape.widgets._explorer_state import heading_of, time_within, written_at
from landscape.widgets._figure_view import download_link
from landscape.widgets._scene import Found, MapData
from landscape.widgets._selection import comparison_html, selection_table

if TYPE_CHECKING:
    import ipywidgets as widgets
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Answer
    from landscape.widgets._colours import Colouring
    from landscape.widgets._explorer_state import ExplorerState
    from landscape.widgets._scene import Period

    Rows = NDArray[np.int64]

METHODS = ("hybrid", "semantic", "words", "filter")
_LISTED = 50
_MOST_BIBTEX = 5_000
_OUTLINE = 80  # corners kept of a lasso


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
    """Fewer, rounder corners of an outline, so that one line of code can repeat it."""
    step = max(1, -(-len(xs) // _OUTLINE))
    digits = max(0, 1 - int(np.floor(np.log10(unit)))) if unit > 0 else 6
    digits = max(0, digits - (1 if digits > 1 else 0))
    corners = zip(list(xs)[::step], list(ys)[::step], strict=True)
    return [(round(float(x), digits), round(float(y), digits)) for x, y in corners]


def review_rows(atlas: Atlas) -> tuple[str, Rows]:
    """Rows of the papers that were recognised as reviews."""
    rows = np.unique(atlas.reviews["paper_row"].to_numpy())
    return "reviews", rows.astype(np.int64)


def papers_as_csv(atlas: Atlas, rows: Rows) -> str:
    """Some papers for a spreadsheet: nothing but a line of names and a line for each."""
    return to_csv(selection_table(atlas, rows))


def compare_with_rest(atlas: Atlas, rows: Rows) -> Analysis:
    """Compare some papers with all others, region by region."""
    from landscape.overlays.trends._comparison import compare

    rest = np.setdiff1d(np.arange(len(atlas)), rows, assume_unique=True)
    if not len(rest):
        raise InputError("Every paper is selected: there is no rest to compare with.")
    return compare(atlas, rows, rest)


def ask_papers(
    atlas: Atlas, rows: Rows, question: str, *, model: Any = "auto", **settings: Any
) -> Answer:
    """Answer a question from some papers alone, or from all if there are none."""
    from landscape.answers._asking import ask, ask_settings
    from landscape.llm._client import connect_from_environment

    if not len(rows):
        answer: Answer = atlas.ask(question, model=model, **settings)
        return answer
    connected = connect_from_environment() if model == "auto" else model
    return ask(atlas.engine.within(rows), question, ask_settings(**settings), model=connected)


def papers_as_bibtex(atlas: Atlas, rows: Rows) -> str:
    """Some papers for a bibliography."""
    from landscape._bibliography import to_bibtex

    if len(rows) > _MOST_BIBTEX:
        raise InputError(
            f"{len(rows):,} papers are too many for one bibliography; select at most "
            f"{_MOST_BIBTEX:,}, or save them as .csv."
        )
    return to_bibtex(atlas.engine.papers(rows.tolist()))


T = TypeVar("T")
OVERLAYS = {"concept": papers_with_concept, "facility": papers_of_facility}


def read_colours(explorer: ExplorerState, name: str) -> None:
    """Colour the map by something else."""

    def read() -> Colouring:
        return colouring_of(
            explorer.atlas, name, concept=explorer._concept, facility=explorer._facility
        )

    def then(colouring: Colouring) -> None:
        with explorer._lock:
            if name in OVERLAYS and not getattr(explorer, f"_{name}"):
                return  # it was taken back meanwhile
            explorer._colour_by = name
            explorer._change(colouring=colouring)

    explorer.run("Reading the colours", read, then, kind="colours")


def read_overlay(explorer: ExplorerState, kind: str, name: str) -> None:
    """Outline the papers of a concept or facility."""

    def then(found: tuple[NDArray[Any], str]) -> None:
        rows, title = found
        with explorer._lock:
            setattr(explorer, f"_{kind}", name)
            scene = explorer._scene
            colouring = scene.colouring
            if explorer._colour_by == kind:
                colouring = share_colouring(kind, title, rows, len(explorer._data))
            explorer._change(overlays={**scene.overlays, kind: (title, rows)}, colouring=colouring)
        if not len(rows):
            explorer.say(f"No paper of this atlas is about {title}.")

    explorer.run(
        f"Reading the {kind}", lambda: OVERLAYS[kind](explorer.atlas, name), then, kind=kind
    )  # fmt: skip


def read_reviews(explorer: ExplorerState) -> None:
    """Mark the reviews."""

    def then(found: tuple[str, NDArray[Any]]) -> None:
        with explorer._lock:
            scene = explorer._scene
            explorer._change(
                layers=scene.layers | {"reviews"}, overlays={**scene.overlays, "reviews": found}
            )

    explorer.run("Reading the reviews", lambda: review_rows(explorer.atlas), then, kind="reviews")


def search(explorer: ExplorerState, query: str, method: str, k: int) -> None:
    """Light up what a search finds."""

    def read() -> tuple[Found, Period | None]:
        time = explorer._scene.time
        return find_papers(explorer.atlas, query, method=method, k=k, time=time), time

    def then(result: tuple[Found, Period | None]) -> None:
        found, time = result
        with explorer._lock:
            explorer._searched = (query, method, k)
            explorer._change(found=found)
            is_of_other_years = explorer._scene.time != time
        explorer._list_found(found)
        if is_of_other_years:
            search(explorer, query, method, k)

    explorer.run("Searching", read, then, kind="search")


def select(explorer: ExplorerState, filter_text: str) -> None:
    """Select the papers that a filter lets through."""
    before = explorer.rows

    def then(rows: NDArray[np.int64]) -> None:
        if explorer.rows is before:  # else something else was selected meanwhile
            explorer._choose(rows, ("select", filter_text))

    explorer.run("Selecting", lambda: explorer.atlas.select(filter_text), then, kind="select")


def make_file(explorer: ExplorerState, ending: str) -> None:
    """Draw what is seen into a file to download."""
    from landscape.widgets._saving import save_view

    atlas, scene, data = explorer.atlas, explorer._scene, explorer._data
    texts, shown = dict(explorer._painter.texts), explorer._controls.file
    stem = "".join(c if c.isalnum() else "-" for c in atlas.title.lower())[:40].strip("-")
    name = f"{stem or 'map'}{ending}"

    def make() -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = save_view(atlas, scene, data, Path(folder) / name, texts=texts)
            return download_link(name, path.read_bytes())

    shown.value = ""
    explorer.run(
        "Drawing the file", make, lambda link: setattr(shown, "value", link), kind="file"
    )  # fmt: skip


def make_links(explorer: ExplorerState) -> None:
    """Write the selected papers into files to download."""
    from landscape.figures._caption import facts_of, headline

    atlas, rows, shown = explorer.atlas, explorer._some_rows(), explorer._controls.links

    def make() -> str:
        note = f"{count(len(rows), 'paper')} selected of {headline(facts_of(atlas))}"
        links = [download_link("selection.csv", papers_as_csv(atlas, rows))]
        try:
            links.append(download_link("selection.bib", papers_as_bibtex(atlas, rows)))
        except InputError as error:
            links.append(f"<div class='landscape-quiet'>{escape(str(error))}</div>")
        return "".join([*links, f"<div class='landscape-quiet'>{escape(note)}</div>"])

    explorer.run(
        "Writing the files", make, _if_still_selected(explorer, rows, shown, str), kind="links"
    )  # fmt: skip


def ask_selection(explorer: ExplorerState, question: str) -> None:
    """Answer a question from the selected papers."""
    atlas, rows, shown = explorer.atlas, explorer.rows, explorer._controls.outcome

    def told(answer: Answer) -> str:
        return answer._repr_html_()

    explorer.run(
        "Asking the selected papers", lambda: ask_papers(atlas, rows, question),
        _if_still_selected(explorer, rows, shown, told), kind="ask",
    )  # fmt: skip


def compare_selection(explorer: ExplorerState) -> None:
    """Compare the selected papers with the rest."""
    atlas, rows, shown = explorer.atlas, explorer._some_rows(), explorer._controls.outcome
    explorer.run(
        "Comparing", lambda: compare_with_rest(atlas, rows),
        _if_still_selected(explorer, rows, shown, comparison_html), kind="compare",
    )  # fmt: skip


def _if_still_selected(
    explorer: ExplorerState, rows: NDArray[np.int64], shown: widgets.HTML, told: Callable[[T], str]
) -> Callable[[T], None]:
    """Show what was made of some papers, unless others are selected by then."""

    def then(made: T) -> None:
        if explorer.rows is rows:
            shown.value = told(made)

    return then


@dataclass(frozen=True)
class Reopened:
    """An atlas as it is now, and of it what an explorer showed of the old one."""

    atlas: Atlas
    data: MapData
    built: int
    time: Period | None
    colouring: Colouring
    overlays: Mapping[str, tuple[str, NDArray[np.int64]]]
    found: Found | None
    problems: tuple[str, ...]


def open_again(explorer: ExplorerState) -> None:
    """Open the atlas as it is now on disk, and read what is shown of it."""
    explorer.run(
        "Opening the atlas",
        lambda: _reopened(explorer),
        lambda opened: _replace_atlas(explorer, opened),
        kind="open",
    )


def _replace_atlas(explorer: ExplorerState, opened: Reopened) -> None:
    """Show the reopened atlas in place of the old one."""
    data, found, overlays = opened.data, opened.found, opened.overlays
    with explorer._lock:  # in one step: a drawing is of the old atlas or of the new one
        time = time_within(explorer._scene.time, data.period)
        layers = explorer._scene.layers - ({"reviews"} - set(overlays))
        explorer.atlas, explorer._data, explorer._built = opened.atlas, data, opened.built
        explorer._is_old = False
        explorer._painter.forget()
        explorer._history, explorer._chosen_by = [], None
        explorer._colour_by = opened.colouring.name
        explorer._concept = explorer._concept if "concept" in overlays else None
        explorer._facility = explorer._facility if "facility" in overlays else None
        explorer._searched = explorer._searched if found is not None else None
        explorer._scene = replace(
            explorer._scene, view=data.whole, time=time, colouring=opened.colouring,
            overlays=overlays, layers=layers, found=found, selected=np.zeros(0, dtype=np.int64),
        )  # fmt: skip
    controls = explorer._controls
    controls.links.value = controls.outcome.value = ""
    controls.reload.layout.display = "none"
    explorer.heading = heading_of(opened.atlas)
    lacking = explorer._offer()
    explorer._tell_state()
    if found is None:
        list_nothing(controls)
    else:
        explorer._list_found(found)
    explorer.figure.clear_outline()
    explorer._painter.focus(None, data)
    explorer._painter.start_anew()
    explorer.figure.look(data.whole)
    explorer._drawing.request()
    explorer._summing.request()
    told = "The atlas is open as it is now; the selection was of the old one and is gone."
    explorer.say(" ".join([told, *opened.problems, lacking]).strip())
    if explorer._searched is not None and time != opened.time:
        search(explorer, *explorer._searched)


def _reopened(explorer: ExplorerState) -> Reopened:
    from landscape.atlas import open as open_atlas

    built = written_at(explorer.atlas)
    atlas = open_atlas(explorer.atlas.path)
    data = MapData(atlas, explorer._size)
    problems: list[str] = []

    def tried(read: Callable[..., T], *given: Any, **named: Any) -> T | None:
        try:
            return read(atlas, *given, **named)
        except LandscapeError as error:
            problems.append(str(error))
            return None

    names = {kind: getattr(explorer, f"_{kind}") for kind in OVERLAYS}
    read = {kind: tried(OVERLAYS[kind], name) for kind, name in names.items() if name}
    overlays = {
        kind: (title, rows) for kind, found in read.items() if found for rows, title in [found]
    }
    if "reviews" in explorer._scene.layers and (reviews := tried(review_rows)):
        overlays["reviews"] = reviews
    colouring, colour_by = None, explorer._colour_by
    if colour_by not in OVERLAYS or colour_by in overlays:
        colouring = tried(colouring_of, colour_by, **names)
    time = time_within(explorer._scene.time, data.period)
    found = None
    if explorer._searched is not None:
        query, method, k = explorer._searched
        found = tried(find_papers, query, method=method, k=k, time=time)
    return Reopened(
        atlas, data, built, time, colouring or DENSITY, overlays, found, tuple(problems)
    )
