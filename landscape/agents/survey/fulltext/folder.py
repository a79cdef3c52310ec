"""Full texts that lie in a folder, read by what their names end in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from landscape.agents.survey.fulltext.html import read_html
from landscape.agents.survey.fulltext.latex import read_latex
from landscape.agents.survey.fulltext.pdf import read_pdf
from landscape.agents.survey.fulltext.sections import Section
from landscape.errors import InputError, LandscapeError

if TYPE_CHECKING:
    from landscape.types import Paper


class FolderReader:
    """Reads full texts that lie in a folder, named by arXiv identifier, bibcode or DOI.

    Slashes in a name are written as underscores: ``astro-ph_9301002.tex``, ``2401.00001.html``,
    ``2401.00001.tar.gz`` (arXiv's source), ``2016ApJ...826...56R.pdf``.

    Parameters
    ----------
    folder : path

    Raises
    ------
    InputError
        If there is no such folder.

    Examples
    --------
    >>> FolderReader("no-such-folder")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no folder no-such-folder with full texts.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        if not self._folder.is_dir():
            raise InputError(f"There is no folder {self._folder} with full texts.")
        self.problems: list[str] = []

    def __call__(self, paper: Paper) -> Sequence[Section]:
        """Read the sections of a paper; a file that cannot be read is told in `problems`."""
        for name in filter(None, (paper.arxiv_id, paper.bibcode, paper.doi, paper.paper_id)):
            for ending, read in _READERS.items():
                path = self._folder / f"{name.replace('/', '_')}{ending}"
                try:
                    if path.is_file():
                        return read(path)
                except OSError:  # a name longer than files may have
                    continue
                except LandscapeError as error:
                    self.problems.append(str(error))
        return ()


_READERS: Mapping[str, Callable[[Path], list[Section]]] = {
    ".html": read_html,
    ".tex": read_latex,
    ".tar.gz": read_latex,
    ".pdf": read_pdf,
}
