"""What an explorer reads in the background, and how its scene changes then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from landscape.widgets import explorer_work as work
from landscape.widgets.colouring import (
    colouring_of,
    papers_of_facility,
    papers_with_concept,
    share_colouring,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.widgets.colouring import Colouring
    from landscape.widgets.explorer import MapExplorer
    from landscape.widgets.explorer_state import ExplorerState
    from landscape.widgets.scene import Found


def read_colours(explorer: ExplorerState, name: str) -> None:
    """Colour the map by something else."""

    def read() -> Colouring:
        return colouring_of(
            explorer.atlas, name, concept=explorer._concept, facility=explorer._facility
        )

    def then(colouring: Colouring) -> None:
        explorer._colour_by = name
        explorer._change(colouring=colouring)

    explorer.run("Reading the colours", read, then, kind="colours")


def read_overlay(explorer: ExplorerState, kind: str, name: str) -> None:
    """Outline the papers of a concept or facility."""
    read_rows = papers_with_concept if kind == "concept" else papers_of_facility

    def then(found: tuple[NDArray[Any], str]) -> None:
        rows, title = found
        setattr(explorer, f"_{kind}", name)
        scene = explorer._scene
        colouring = scene.colouring
        if explorer._colour_by == kind:
            colouring = share_colouring(kind, title, rows, len(explorer._data))
        explorer._change(overlays={**scene.overlays, kind: (title, rows)}, colouring=colouring)
        if not len(rows):
            explorer.say(f"No paper of this atlas is about {title}.")

    explorer.run(f"Reading the {kind}", lambda: read_rows(explorer.atlas, name), then, kind=kind)


def read_reviews(explorer: ExplorerState) -> None:
    """Mark the reviews."""

    def then(found: tuple[str, NDArray[Any]]) -> None:
        scene = explorer._scene
        explorer._change(
            layers=scene.layers | {"reviews"}, overlays={**scene.overlays, "reviews": found}
        )

    explorer.run(
        "Reading the reviews", lambda: work.review_rows(explorer.atlas), then, kind="reviews"
    )


def search(explorer: ExplorerState, query: str, method: str, k: int) -> None:
    """Light up what a search finds."""

    def read() -> Found:
        time = explorer._scene.time
        return work.find_papers(explorer.atlas, query, method=method, k=k, time=time)

    def then(found: Found) -> None:
        explorer._searched = (query, method, k)
        explorer._change(found=found)
        explorer._list_found(found)

    explorer.run("Searching", read, then, kind="search")


def select(explorer: ExplorerState, filter_text: str) -> None:
    """Select the papers that a filter lets through."""
    explorer.run(
        "Selecting",
        lambda: explorer.atlas.select(filter_text),
        lambda rows: explorer._choose(rows, ("select", filter_text)),
        kind="select",
    )


def open_again(explorer: MapExplorer) -> None:
    """Open the atlas as it is now on disk."""
    from landscape.atlas.reading import open_atlas
    from landscape.widgets.explorer_checks import written_at
    from landscape.widgets.scene import MapData

    def read() -> Any:
        atlas = open_atlas(explorer.atlas.path)
        return atlas, MapData(atlas, explorer._size), written_at(atlas)

    explorer.run(
        "Opening the atlas", read, lambda opened: explorer._replace_atlas(*opened), kind="open"
    )
