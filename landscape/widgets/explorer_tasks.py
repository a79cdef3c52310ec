"""What an explorer reads in the background, and how its scene changes then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from landscape.errors import LandscapeError
from landscape.widgets import explorer_work as work
from landscape.widgets.colouring import (
    DENSITY,
    colouring_of,
    papers_of_facility,
    papers_with_concept,
    share_colouring,
)
from landscape.widgets.explorer_checks import time_within, written_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.widgets.colouring import Colouring
    from landscape.widgets.explorer import MapExplorer
    from landscape.widgets.explorer_state import ExplorerState
    from landscape.widgets.scene import Found, MapData, Period

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

    explorer.run(
        "Reading the reviews", lambda: work.review_rows(explorer.atlas), then, kind="reviews"
    )


def search(explorer: ExplorerState, query: str, method: str, k: int) -> None:
    """Light up what a search finds."""

    def read() -> tuple[Found, Period | None]:
        time = explorer._scene.time
        return work.find_papers(explorer.atlas, query, method=method, k=k, time=time), time

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


@dataclass(frozen=True)
class Reopened:
    """An atlas as it is now, and of it what an explorer showed of the old one.

    Attributes
    ----------
    atlas : Atlas
    data : MapData
    built : int
        When it was written.
    time : (int, int) or None
    colouring : Colouring
    overlays : mapping of str to (str, ndarray of int64)
    found : Found or None
    problems : tuple of str
        Why some of it is gone, one sentence each.
    """

    atlas: Atlas
    data: MapData
    built: int
    time: Period | None
    colouring: Colouring
    overlays: Mapping[str, tuple[str, NDArray[np.int64]]]
    found: Found | None
    problems: tuple[str, ...]


def open_again(explorer: MapExplorer) -> None:
    """Open the atlas as it is now on disk, and read what is shown of it."""
    explorer.run(
        "Opening the atlas", lambda: _reopened(explorer), explorer._replace_atlas, kind="open"
    )


def _reopened(explorer: MapExplorer) -> Reopened:
    from landscape.atlas import open as open_atlas
    from landscape.widgets.scene import MapData

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
    if "reviews" in explorer._scene.layers and (reviews := tried(work.review_rows)):
        overlays["reviews"] = reviews
    colouring, colour_by = None, explorer._colour_by
    if colour_by not in OVERLAYS or colour_by in overlays:
        colouring = tried(colouring_of, colour_by, **names)
    time = time_within(explorer._scene.time, data.period)
    found = None
    if explorer._searched is not None:
        query, method, k = explorer._searched
        found = tried(work.find_papers, query, method=method, k=k, time=time)
    return Reopened(
        atlas, data, built, time, colouring or DENSITY, overlays, found, tuple(problems)
    )
