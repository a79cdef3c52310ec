"""What an explorer does at the wish of the page: outlines, clicks, files, answers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from landscape._render import escape
from landscape._wording import count
from landscape.errors import InputError
from landscape.widgets import explorer_work as work
from landscape.widgets.comparison_view import comparison_html
from landscape.widgets.export import download_link
from landscape.widgets.views import CLOSEST, view_of

if TYPE_CHECKING:
    import ipywidgets as widgets
    from numpy.typing import NDArray

    from landscape.types import Answer
    from landscape.widgets.explorer import MapExplorer

T = TypeVar("T")
_NO_ROWS = np.zeros(0, dtype=np.int64)


def moved(explorer: MapExplorer, box: tuple[float, float, float, float]) -> None:
    """The page shows another window."""
    if not (np.isfinite(box).all() and box[2] > box[0] and box[3] > box[1]):
        return
    view = view_of(box, explorer._size)
    if explorer._data.zoom(view) > CLOSEST or not view.differs_from(explorer._scene.view):
        return
    explorer._remember()
    explorer._change(view=view)


def outlined(explorer: MapExplorer, xs: Sequence[float], ys: Sequence[float]) -> None:
    """The page drew an outline: all papers in it are selected, drawn or not."""
    unit = explorer._scene.view.width / explorer._size[0]
    corners = work.simple_outline(xs, ys, unit=unit)
    explorer._choose(explorer._rows_inside(corners), ("outline", corners))
    if not len(explorer.rows):
        explorer.say("No paper lies in this outline.")


def clicked(explorer: MapExplorer, name: str, number: int) -> None:
    """The page tells which mark was clicked."""
    if explorer._painter.data is not explorer._data:
        return  # the marks of another atlas, which takes the place of this one just now
    rows = explorer._drawn.marks.get(name, _NO_ROWS)
    if name in ("found", "apart"):
        rows = rows[::-1]
    if number < len(rows):
        explorer._show_paper(int(rows[number]))


def make_file(explorer: MapExplorer, ending: str) -> None:
    """Draw what is seen into a file to download."""
    from landscape.widgets.saving import save_view

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


def make_links(explorer: MapExplorer) -> None:
    """Write the selected papers into files to download."""
    from landscape.figures._caption import facts_of, headline

    atlas, rows, shown = explorer.atlas, explorer._some_rows(), explorer._controls.links

    def make() -> str:
        note = f"{count(len(rows), 'paper')} selected of {headline(facts_of(atlas))}"
        links = [download_link("selection.csv", work.papers_as_csv(atlas, rows))]
        try:
            links.append(download_link("selection.bib", work.papers_as_bibtex(atlas, rows)))
        except InputError as error:
            links.append(f"<div class='landscape-quiet'>{escape(str(error))}</div>")
        return "".join([*links, f"<div class='landscape-quiet'>{escape(note)}</div>"])

    explorer.run(
        "Writing the files", make, _if_still_selected(explorer, rows, shown, str), kind="links"
    )  # fmt: skip


def ask(explorer: MapExplorer, question: str) -> None:
    """Answer a question from the selected papers."""
    atlas, rows, shown = explorer.atlas, explorer.rows, explorer._controls.outcome

    def told(answer: Answer) -> str:
        return answer._repr_html_()

    explorer.run(
        "Asking the selected papers", lambda: work.ask_papers(atlas, rows, question),
        _if_still_selected(explorer, rows, shown, told), kind="ask",
    )  # fmt: skip


def compare(explorer: MapExplorer) -> None:
    """Compare the selected papers with the rest."""
    atlas, rows, shown = explorer.atlas, explorer._some_rows(), explorer._controls.outcome
    explorer.run(
        "Comparing", lambda: work.compare_with_rest(atlas, rows),
        _if_still_selected(explorer, rows, shown, comparison_html), kind="compare",
    )  # fmt: skip


def _if_still_selected(
    explorer: MapExplorer, rows: NDArray[np.int64], shown: widgets.HTML, told: Callable[[T], str]
) -> Callable[[T], None]:
    """Show what was made of some papers, unless others are selected by then."""

    def then(made: T) -> None:
        if explorer.rows is rows:
            shown.value = told(made)

    return then
