"""A finished map: shown in a notebook, or written to files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.outputs import write_output
from landscape.outreach.checking import check_target
from landscape.outreach.gazetteer import Entry, as_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.outreach._fidelity import Fidelity
    from landscape.outreach.about import About
    from landscape.outreach.marks import Mark
    from landscape.outreach.sheet import Box, Sheet
    from landscape.outreach.terrain import Terrain
    from landscape.outreach.themes import Inks

    Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Rendering:
    """A finished outreach map.

    Attributes
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
        The map without words.
    marks : tuple of Mark
        All that is drawn over it: words, lines, key.
    sheet : Sheet
    map_box : (float, float, float, float)
        Where on the sheet the map is, in points.
    terrain : Terrain
        The numbers behind the picture.
    inks : Inks
    about : About
        What the cartouche says.
    entries : tuple of Entry
        The gazetteer.
    alt_text : str
        The map in words.
    used : str
        One line: what the picture was made with.
    notes : tuple of str
        What the user should know: names without fonts, rows of a table that fit nothing, ...
    settings : dict
        Enough to draw it again; with the scores of `landscape.outreach.judge` where a model
        repainted it.
    fidelity : Fidelity or None
        Scores of the repainted picture.
    """

    picture: Picture
    marks: tuple[Mark, ...]
    sheet: Sheet
    map_box: Box
    terrain: Terrain
    inks: Inks
    about: About
    entries: tuple[Entry, ...]
    alt_text: str
    used: str
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    fidelity: Fidelity | None = None

    @property
    def gazetteer(self) -> pd.DataFrame:
        """Every place, named on the map or not."""
        return as_table(self.entries)

    def page(self) -> Picture:
        """The whole sheet as pixels, shape (height, width, 3)."""
        from landscape.outreach.drawing import draw_page

        return draw_page(self.sheet, self.picture, self.map_box, self.marks, page=self.inks.page)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the map, and beside it its gazetteer, alternative text and settings.

        Parameters
        ----------
        path : path
            ``.png``, ``.pdf``, ``.svg``, or ``.html`` for a page to zoom in a browser. For
            ``map.png`` the others are ``map.gazetteer.csv``, ``map.alt.txt`` and ``map.json``.

        Returns
        -------
        pathlib.Path
            The file. It appears whole or not at all; the same map gives the same bytes.

        Raises
        ------
        InputError
            For any other kind, or a folder that cannot be written.
        """
        from landscape.outreach.writing import sidecars, written

        target = check_target(path)
        write_output(target, written(self, target.suffix.lower()))
        for file, content in sidecars(self, target).items():
            write_output(file, content)
        return target

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Show in notebooks."""
        from base64 import b64encode

        from landscape.outreach.writing import preview

        return {
            "image/png": b64encode(preview(self)).decode("ascii"),
            "text/plain": self.alt_text,
        }
