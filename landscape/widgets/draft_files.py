"""The bibliography and the drafts to check: files named by their paths, or brought by the page."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from landscape.errors import InputError
from landscape.widgets.scholar_panel import text_box

_BETWEEN = re.compile(r"\s*[,;]\s*")
_LONGEST = 100  # characters of a name
_ODD = re.compile(r"[^\w.-]+")


class DraftFiles(widgets.VBox):
    """A box for a .bib file and one for .tex files, each filled by hand or by an upload.

    Examples
    --------
    >>> files = DraftFiles()
    >>> files.put("references.bib", ["draft.tex", "appendix.tex"])
    >>> files.given()
    ('references.bib', ['draft.tex', 'appendix.tex'])
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._bibliography = text_box("Bibliography", "references.bib", "The .bib file")
        self._drafts = text_box(
            "Draft", "draft.tex; several with commas", "The .tex files, each that is inputted too"
        )
        bring_bib = _upload("or bring the .bib", ".bib", multiple=False)
        bring_tex = _upload("or bring the .tex", ".tex", multiple=True)
        bring_bib.observe(lambda change: self._take(change, self._bibliography), "value")
        bring_tex.observe(lambda change: self._take(change, self._drafts), "value")
        rows = ((self._bibliography, bring_bib), (self._drafts, bring_tex))
        wide = widgets.Layout(flex="1 1 auto")
        super().__init__([widgets.HBox([widgets.Box([box], layout=wide), up]) for box, up in rows])

    def put(self, bibliography: str | Path, drafts: list[str | Path]) -> None:
        """Name the files."""
        self._bibliography.value = str(bibliography)
        self._drafts.value = ", ".join(map(str, drafts))

    def given(self) -> tuple[str, list[str]]:
        """The files that are named.

        Raises
        ------
        InputError
            If one of the boxes is empty.
        """
        bibliography = self._bibliography.value.strip()
        drafts = [one for one in _BETWEEN.split(self._drafts.value.strip()) if one]
        if not bibliography or not drafts:
            raise InputError("Checking needs a .bib file and a .tex file; name both.")
        return bibliography, drafts

    def _take(self, change: dict[str, Any], box: widgets.Text) -> None:
        """Keep what the page brought beside each other, for as long as the panel lives."""
        if not change["new"]:
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="draft-")
        paths: list[str] = []
        for brought in change["new"]:
            given = Path(_ODD.sub("_", Path(brought["name"]).name).lstrip(".") or "draft.tex")
            path = Path(self._folder.name) / f"{given.stem[:_LONGEST]}{given.suffix[:8]}"
            if str(path) in paths:  # two names that differ in odd characters alone
                path = path.with_name(f"{path.stem}_{len(paths)}{path.suffix}")
            path.write_bytes(bytes(brought["content"]))
            paths.append(str(path))
        box.value = ", ".join(paths)


def _upload(words: str, kind: str, *, multiple: bool) -> widgets.FileUpload:
    return widgets.FileUpload(
        description=words, accept=kind, multiple=multiple,
        tooltip=f"Bring a {kind} file from this computer; it stays in this process",
        layout=widgets.Layout(width="200px", flex="0 0 200px"),
    )  # fmt: skip
