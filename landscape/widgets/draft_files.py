"""The bibliography and the drafts to check: files named by their paths, or brought by the page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from landscape.errors import InputError
from landscape.widgets.scholar_panel import text_box

# Names between commas; a comma in the name of a folder stands before the name has its ending.
_NAMES = re.compile(r".+?\.\w+(?=\s*(?:[,;]|$))|[^,;]+")
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
    >>> files.put("references.bib", ["papers/Smith, J/draft.tex", "appendix.tex"])
    >>> files.given()[1]
    ['papers/Smith, J/draft.tex', 'appendix.tex']
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
        found = (name.strip(" ,;") for name in _NAMES.findall(self._drafts.value.strip()))
        drafts = [name for name in found if name]
        if not bibliography or not drafts:
            raise InputError("Checking needs a .bib file and a .tex file; name both.")
        return bibliography, drafts

    def _take(self, change: dict[str, Any], box: widgets.Text) -> None:
        """Name what the page brought, and forget its bytes."""
        if not change["new"]:
            return
        try:
            box.value = ", ".join(self._written(change["new"]))
        finally:
            change["owner"].value = ()

    def _written(self, all_brought: Sequence[Mapping[str, Any]]) -> list[str]:
        """Keep files beside each other, for as long as the panel lives."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="draft-")
        paths: list[str] = []
        for brought in all_brought:
            given = Path(_ODD.sub("_", Path(brought["name"]).name).lstrip(".") or "draft.tex")
            path = Path(self._folder.name) / f"{given.stem[:_LONGEST]}{given.suffix[:8]}"
            if str(path) in paths:  # two names that differ in odd characters alone
                path = path.with_name(f"{path.stem}_{len(paths)}{path.suffix}")
            path.write_bytes(bytes(brought["content"]))
            paths.append(str(path))
        return paths


class _DraftUpload(widgets.FileUpload):
    """An upload whose files are never part of any state that is sent or saved."""

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        state: dict[str, Any] = super().get_state(key=key, drop_defaults=drop_defaults)
        if "value" in state:
            state["value"] = []
        return state


def _upload(words: str, kind: str, *, multiple: bool) -> _DraftUpload:
    return _DraftUpload(
        description=words, accept=kind, multiple=multiple,
        tooltip=f"Bring a {kind} file from this computer; it stays in this process",
        layout=widgets.Layout(width="200px", flex="0 0 200px"),
    )  # fmt: skip
