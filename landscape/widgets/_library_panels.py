"""Panels of the user's library: its papers and regions on the map, and the digest of new papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import write_output
from landscape._render import render
from landscape._serializer import to_json
from landscape.corpus.libraries import (
    MARKS,
    change_library,
    library_file,
    library_names,
    mark_papers,
    open_library,
)
from landscape.errors import InputError
from landscape.search.settings import readable_text
from landscape.widgets._analysis_panel import AnalysisPanel, File, Result, ResultPanel
from landscape.widgets._code_lines import Name as Code
from landscape.widgets._code_lines import called, join_lines
from landscape.widgets._controls import make_control, what_control
from landscape.widgets._tables import Item, PaperList

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Digest, DigestPaper

_FUNCTIONS = {"regions": "library_regions", "papers": "library_papers", "graph": "library_graph"}
_FILES = {
    "HTML": (".html", "to_page"),
    "Markdown": (".md", "to_markdown"),
    "Atom": (".xml", "to_atom"),
    "BibTeX": (".bib", "to_bibtex"),
}


def _library_control(path: str, library: str | None, on_change: Any = None) -> widgets.Widget:
    """Return a field for a library, with the names of those of the user."""
    names = library_names()
    value = readable_text("library", library) if library else next(iter(names), "")
    return make_control(path, on_change, options=names, value=value)


class LibraryPanel(AnalysisPanel):
    """Show the user's papers on the map, and the regions that the user knows.

    Parameters
    ----------
    atlas : Atlas
    library : str, optional
        Name of a library, or a file such as ``"my.bib"``. Default: the first library.
    what : {"regions", "papers", "graph"}, default "regions"
    theme : {"light", "dark"}, default "light"

    Examples
    --------
    >>> from landscape.widgets import LibraryPanel
    >>> LibraryPanel(atlas, "mine")  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        library: str | None = None,
        *,
        what: str = "regions",
        theme: str = "light",
    ) -> None:
        self._library = _library_control("library.name", library, self._change)
        self._what = what_control("library", what, self._change)
        controls = [self._library, self._what]
        super().__init__("Library:", atlas, controls=controls, theme=theme)

    @property
    def selection(self) -> dict[str, object]:
        """Settings ``library`` and ``what``."""
        return {"library": self._library.value.strip(), "what": self._what.value}

    def _make(self, chosen: Mapping[str, Any]) -> Result:
        from landscape.figures import library_map

        name, function = chosen["library"], _FUNCTIONS[chosen["what"]]
        if not name:
            raise InputError(
                "You have no library yet. Type a file, such as my.bib or the folder of Zotero."
            )
        return self._analysed(
            f"library.{function}",
            "library_map",
            f"library-{chosen['what']}",
            name,
            columns=function.replace("library_papers", "library"),
            scene_of=lambda found: library_map.scene(
                self.atlas,
                name,
                analysis=found if found.kind == "library_regions" else None,
                links=chosen["what"] == "graph",
                colours=self.theme,
            ),
        )


class DigestPanel(ResultPanel):
    """Show what arrived in the atlas since the user last looked, with marks for papers.

    Parameters
    ----------
    atlas : Atlas
    library : str, optional
        Name of a library, or a file such as ``"my.bib"``. Default: the first library.
    since : str, optional
        First day of arrival, such as ``"2026-11-01"``. Default: since the last look.

    Attributes
    ----------
    digest : Digest or None

    Examples
    --------
    >>> from landscape.widgets import DigestPanel
    >>> panel = DigestPanel(atlas, "mine")  # doctest: +SKIP
    >>> panel.wait(), panel.digest  # doctest: +SKIP
    """

    _result: Digest | None = None

    def __init__(
        self, atlas: Atlas, library: str | None = None, *, since: str | None = None
    ) -> None:
        self._library = _library_control("library.name", library)
        self._since = make_control("library.since", value=since or "")
        show = make_control("library.show", lambda: self.show())
        self._seen = make_control("library.seen", lambda: self.mark_seen())
        row = widgets.HBox(
            [self._library, self._since, show, self._seen], layout={"flex_flow": "row wrap"}
        )
        self._head, self._notes = widgets.HTML(), widgets.HTML()
        self._mark = make_control("library.mark", options=[*MARKS])
        put = make_control("library.put", lambda: self._try_marking())
        self._papers = PaperList(controls=[self._mark, put])
        self._papers.layout.display = "none"
        super().__init__(
            "New papers:", atlas, controls=[row], results=[self._head, self._papers, self._notes]
        )
        if self._library.value:
            self.show()
        else:
            self.say("You have no library yet. Type a file, such as my.bib, and choose Show.")

    @property
    def digest(self) -> Digest | None:
        """The digest that is shown."""
        return self._result

    def __repr__(self) -> str:
        shown = self._result.headline if self._result is not None else "nothing shown yet"
        return f"<DigestPanel: {self.atlas.title}, {shown}>"

    def show(self) -> None:
        """Compute the digest in the background, and show it. Call `wait`, then read `digest`."""
        from landscape.overlays.library import make_digest

        name, since = self._library.value.strip(), self._since.value.strip() or None
        if not name:
            self.say("The library is missing; type its name, or a file such as my.bib.", "wrong")
            return
        self._draw_newest(
            "Reading the new papers",
            lambda atlas: make_digest(atlas, name, since=since),
            lambda digest: self._show(digest, name, since),
        )

    def mark_seen(self) -> None:
        """Remember that these papers were seen, so that the next digest begins after them."""
        from landscape.overlays.library import make_digest

        name = self._library.value.strip()
        self.run(
            "Remembering what you have seen",
            lambda: make_digest(self.atlas, name, record=True),
            lambda _: self.say("The next digest begins with the papers that arrive from now on."),
        )

    def mark(self, papers: list[str], mark: str) -> None:
        """Mark papers in the file of the library.

        Parameters
        ----------
        papers : list of str
            Identifiers of papers of the atlas.
        mark : {"read", "later", "not interested"}

        Raises
        ------
        InputError
            If the library is not one of the user's, or a paper is unknown.
        """
        library = open_library(self._library.value.strip())
        file = library_file(library.name)
        if not file.is_file():
            raise InputError(
                f"Marks are kept in a library, and {self._library.value} is a file of papers; "
                f"read it first: landscape library read {self._library.value}"
            )
        engine = self.atlas.engine
        found = engine.papers([engine.row_of(paper) for paper in papers])
        change_library(file, lambda old: mark_papers(old, found, mark))  # type: ignore[arg-type]
        self.say(f"{len(found)} marked as {mark}; the next digest uses the marks.")

    def _try_marking(self) -> None:
        chosen = list(self._papers.chosen)
        try:
            if not chosen:
                raise InputError("No paper is ticked. Tick the papers to mark.")
            self.mark(chosen, str(self._mark.value))
        except InputError as error:
            self._show_error(error)

    def _show(self, digest: Digest, name: str, since: str | None) -> None:
        self._result = digest
        self._head.value = render("panel_digest.html", part="head", digest=digest)
        self._notes.value = render("panel_digest.html", part="notes", digest=digest)
        items, number = [], 0
        for group in digest.groups:
            for one in group.papers:
                number += 1
                items.append(self._item(number, group.name if one is group.papers[0] else "", one))
        self._papers.show(items)
        self._papers.layout.display = "" if items else "none"
        options = {} if since is None else {"since": since}
        self.code = join_lines(
            "from landscape.overlays.library import make_digest",
            f"digest = {called('make_digest', Code('atlas'), name, **options)}",
        )
        self._links.value = ""
        self._offer_files(self._files(digest))

    def _item(self, number: int, group: str, one: DigestPaper) -> Item:
        page = render("panel_digest.html", part="paper", one=one, group=group)
        return Item(one.paper.paper_id, f"{number}.", one.paper.title, page)

    def _files(self, digest: Digest) -> Iterator[File]:
        for words, (ending, method) in _FILES.items():

            def write(path: Path, method: str = method) -> object:
                return write_output(path, getattr(digest, method)())

            yield words, f"The digest as {words}", f"digest{ending}", write
        yield (
            "JSON",
            "The digest as JSON",
            "digest.json",
            lambda path: write_output(path, to_json(digest)),
        )

    def _result_html(self) -> str:
        return render("digest.html", digest=self._result)[:20_000] if self._result else ""
