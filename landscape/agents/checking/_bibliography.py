"""Read the entries of a bibliography and find their papers on a desk."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from landscape.agents.cite.merging import is_same, title_key
from landscape.corpus._cleaning import clean_text
from landscape.corpus._identifiers import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.readers._bibtex import BibtexEntry, parse_entries, split_authors
from landscape.errors import InputError
from landscape.search._engine import open_engine
from landscape.types import Paper

if TYPE_CHECKING:
    from landscape.agents.cite.desk import Corpus, Desk


_FIRST_YEAR = 1500  # what is older is a slip
_NO_ROW = -1  # of a paper that is in no atlas


def read_bibliography(path: str | Path) -> dict[str, Paper]:
    r"""Read a ``.bib`` file."""
    path = Path(path)
    text = text_of(path, kind=".bib")
    entries = parse_entries(text)
    if not entries:
        message = f"{path} holds no BibTeX entry; give the .bib file of the draft."
        raise InputError(message)
    return {entry.key: _paper(entry) for entry in entries}


def text_of(path: Path, *, kind: str) -> str:
    """Read a file of a draft."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:  # the latter: a name that no file can have
        why = getattr(error, "strerror", None) or error
        message = f"{str(path)!r} cannot be read ({why}); give the {kind} file of the draft."
        raise InputError(message) from error


class EntryFinder:
    """Finds entries of a bibliography among the papers of a desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def find(self, entry: Paper) -> tuple[Corpus, Paper] | None:
        """Find the paper that an entry is: by identifier, else by title and authors."""
        for name in (entry.bibcode, entry.arxiv_id, entry.doi):
            if name:
                try:
                    return self._desk.find(name)
                except InputError:
                    continue
        for corpus, row in self._by_title.get(title_key(entry.title), ()):
            paper = open_engine(corpus.atlas).papers([row])[0]
            if is_same(paper, entry):
                return corpus, paper
        return None

    @cached_property
    def _by_title(self) -> dict[str, list[tuple[Corpus, int]]]:
        places: dict[str, list[tuple[Corpus, int]]] = {}
        for corpus in self._desk.corpora:
            titles: Iterable[str] = corpus.atlas.read_papers(["title"])["title"]
            for row, title in enumerate(titles):
                places.setdefault(title_key(title), []).append((corpus, row))
        places.pop("", None)
        return places


def _paper(entry: BibtexEntry) -> Paper:
    fields = entry.fields
    key = entry.key
    archive = fields.get("archiveprefix", "arXiv").lower() == "arxiv"
    eprint = parse_arxiv_id(fields.get("eprint")) if archive else None
    return Paper(
        _NO_ROW,
        key,
        clean_text(fields.get("title", "")),
        clean_text(fields.get("abstract", "")),
        tuple(map(clean_text, split_authors(fields.get("author", "")))),
        _year(fields.get("year", "") or fields.get("date", "")),
        parse_bibcode(key) or parse_bibcode(fields.get("adsurl", "")),
        eprint or parse_arxiv_id(fields.get("url")) or parse_arxiv_id(fields.get("doi")),
        parse_doi(fields.get("doi")),
    )


def _year(text: str) -> date | None:
    digits = text.strip("{} ")[:4]
    year = int(digits) if digits.isdecimal() and len(digits) == 4 else 0
    return date(year, 1, 1) if year > _FIRST_YEAR else None
