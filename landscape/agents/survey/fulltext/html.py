"""Papers as arXiv gives them in HTML, made by LaTeXML."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from landscape.agents.survey.fulltext.files import text_of
from landscape.agents.survey.fulltext.sections import Section, identifiers, join_sections
from landscape.errors import InputError

# What begins no tag of its own: comments, declarations, and brackets without an end, in which
# Python's parser looks for that end again and again.
_STRAY = re.compile(r"<(?!/?[a-zA-Z][^<>]{0,5000}>)")
_NUMBERS = re.compile(r"&#[xX]?[0-9a-fA-F]{9,}")  # characters that there are none of


def read_html(path: Path) -> list[Section]:
    """Read a paper as arXiv gives it in HTML (made by LaTeXML).

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    list of Section

    Raises
    ------
    InputError
        If it is too large or no text.
    """
    page = _Page()
    try:
        page.feed(_STRAY.sub("&lt;", _NUMBERS.sub(" ", text_of(path))))
        page.close()
    except (AssertionError, ValueError, RecursionError) as error:  # Python's parser trips over some
        raise InputError(f"{path} cannot be read as HTML ({type(error).__name__}).") from error
    cited = {key: identifiers(" ".join(words)) for key, words in page.items.items()}
    return join_sections(page.sections, cited)


class _Page(HTMLParser):
    """Sections, links to the bibliography, and its items, of a page made by LaTeXML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: list[tuple[str, str, list[str]]] = []
        self.items: dict[str, list[str]] = {}
        self._heading: list[str] | None = None
        self._item = ""
        self._silent = 0
        self._texts: list[list[str]] = []

    def close(self) -> None:
        """Join the pieces of each section once: joined one by one they take minutes."""
        super().close()
        told = zip(self.sections, self._texts, strict=True)
        self.sections = [(name, "".join(texts), cites) for (name, _, cites), texts in told]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag in ("script", "style"):
            self._silent += 1
        elif tag in ("h2", "h3"):
            self._heading = []
        elif tag == "li" and told.get("id", "").startswith("bib."):
            self._item = told["id"]
            self.items[self._item] = []
        elif tag == "a" and self._item:
            self.items[self._item].append(told.get("href", ""))
        elif tag == "a" and "#bib." in told.get("href", "") and self.sections:
            self.sections[-1][2].append(told["href"].rpartition("#")[2])

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._silent = max(0, self._silent - 1)
        elif tag in ("h2", "h3") and self._heading is not None:
            self.sections.append((" ".join("".join(self._heading).split()), "", []))
            self._texts.append([])
            self._heading = None
        elif tag in ("ul", "ol") and self._item:
            self._item = ""

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._heading is not None:
            self._heading.append(data)
        elif self._item:
            self.items[self._item].append(data)
        elif self.sections:
            self._texts[-1].append(data)
