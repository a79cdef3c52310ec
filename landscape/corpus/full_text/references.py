"""Read entries of lists of references: authors, year, title and identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from landscape._author_names import parse_name
from landscape._bibliography import find_journal
from landscape._wording import normal_title, one_line
from landscape.corpus.author_lists import read_author_list
from landscape.corpus.cleaning import clean_text
from landscape.corpus.identifiers import is_eprint_doi, parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.readers.bibtex import BibtexEntry, identifiers_of, split_authors
from landscape.types import Reference

_MAX_LENGTH = 2_000  # characters of an entry
_MAX_AUTHORS = 30  # authors of an entry that are kept
_IDENTIFIERS = (
    (re.compile(r"\b(\d{4}\.\d{4,5})(?:v\d+)?\b"), parse_arxiv_id),
    (re.compile(r"\b((?:astro-ph|gr-qc|hep-[a-z]{2,3}|physics|cond-mat)/\d{7})\b"), parse_arxiv_id),
    (re.compile(r"\b(10\.\d{4,9}/[^\s\"<>{},;]+)"), parse_doi),
    (re.compile(r"\b((?:18|19|20)\d{2}[A-Za-z&.]{5}[\w.]{9}[A-Z.])(?![\w.])"), parse_bibcode),
)
_YEAR = re.compile(r"(?<![\d.:/–-])\(?\b(1[89]\d\d|20\d\d)[a-z]?\b\)?(?![\d/]|\.\d)")
_QUOTED = re.compile(r"[“\"‘']([^“”\"]{12,300}?)[,.]?[”\"’'](?=[\s,.]|$)")
_PLACE = re.compile(  # volume and page after the name of a journal
    r"[\s,]{0,4}(?:vol(?:ume)?\.?\s{0,2})?(\d{1,4}[A-D]?)\s{0,2}(?:\(\d{1,4}(?:[-/]\d{1,4})?\))?"
    r"\s{0,2}[,:\s]\s{0,2}(?:pp?\.?\s{0,2}|id\.?\s{0,2}|article\s{0,2}|eid\.?\s{0,2}|no\.?\s{0,2}\d{1,3},?\s{0,2})?"
    r"([A-Z]?\d{1,6}|[A-Z]{1,2}\d{1,4})\b"
)
_JOURNAL = re.compile(r"[A-Z][A-Za-z&.]*(?:[\s.]+(?:&\s+)?(?:of|the|and|in|[A-Z][A-Za-z&.]*)){0,9}")
_LETTERS = {"A", "L", "P"}  # marks of article numbers and of letters, before a page


def find_identifiers(text: str) -> tuple[str, ...]:
    """Find identifiers of papers in a text.

    Examples
    --------
    >>> find_identifiers("Smith 2020, arXiv:2001.01234, doi:10.1093/mnras/stz3000")
    ('2001.01234', '10.1093/mnras/stz3000')
    """
    names = (parse(match[1]) for pattern, parse in _IDENTIFIERS for match in pattern.finditer(text))
    return tuple(dict.fromkeys(name.rstrip(".)") for name in names if name))


def parse_reference(
    number: int, text: str, *, links: Iterable[str] = (), **known: Any
) -> Reference:
    """Read an entry from its text and its links; `known` has fields that need not be read."""
    text = one_line(text, most=_MAX_LENGTH)
    found = _by_kind(find_identifiers(f"{text} {' '.join(links)}"))
    dates = [match for match in _YEAR.finditer(text) if match.start() > 2]
    date = dates[0] if dates else None
    year = known.get("year") or (int(date[1]) if date else None)
    quoted = _QUOTED.search(text)
    stop = re.search(r"(?<=[a-z]{3})\.\s", text)
    ends = [one.start() for one in (date, quoted, stop) if one is not None]
    before = text[: min([*ends, 300])]
    after = text[date.end() :] if date else text[len(before) :]
    authors = known.get("authors") or _authors(before)
    title = known.get("title") or (quoted[1] if quoted else _title(text, before, after))
    bibcode = found.get("bibcode") or make_bibcode(
        year, authors, known.get("journal") or after, known.get("volume"), known.get("page")
    )
    if not bibcode and "arxiv_id" in found:
        bibcode = eprint_bibcode(year, authors, found["arxiv_id"])
    return Reference(
        number,
        text,
        title=title,
        authors=tuple(authors),
        year=year,
        bibcode=bibcode,
        doi=found.get("doi"),
        arxiv_id=found.get("arxiv_id"),
    )


def reference_of_entry(number: int, entry: BibtexEntry) -> Reference:
    """Return the reference of a BibTeX entry."""
    fields = {name: clean_text(value) for name, value in entry.fields.items()}
    bibcode, arxiv_id, doi = identifiers_of(entry)
    names = [clean_text(name) for name in split_authors(entry.fields.get("author", ""))]
    digits = re.search(r"(?:1[89]|20)\d\d", fields.get("year", "") or fields.get("date", ""))
    year = int(digits[0]) if digits else None
    journal, volume, page = (fields.get(name, "") for name in ("journal", "volume", "pages"))
    title = fields.get("title", "")
    shown = ", ".join(
        filter(None, ["; ".join(names[:_MAX_AUTHORS]), str(year or ""), title, journal])
    )
    return Reference(
        number,
        one_line(shown, most=_MAX_LENGTH),
        title=title,
        authors=tuple(names[:_MAX_AUTHORS]),
        year=year,
        bibcode=bibcode
        or make_bibcode(year, names, entry.fields.get("journal", "").lstrip("\\"), volume, page),
        doi=doi,
        arxiv_id=arxiv_id,
    )


def make_bibcode(
    year: int | None,
    authors: Iterable[str],
    journal: str,
    volume: str | None = None,
    page: str | None = None,
) -> str | None:
    """Return the bibcode of a paper in a known journal.

    Without a volume, `journal` is a text such as "ApJ, 707, 446". See
    https://ui.adsabs.harvard.edu/help/actions/bibcode.

    >>> make_bibcode(2013, ["Foreman-Mackey, D."], "PASP, 125, 306")
    '2013PASP..125..306F'
    >>> make_bibcode(2013, ["Robitaille, T."], "aap", "558", "A33")
    '2013A&A...558A..33R'
    """
    first = next(iter(authors), "")
    if not volume:
        match = next(
            (m for m in _JOURNAL.finditer(journal[:600]) if _PLACE.match(journal, m.end())), None
        )
        place = _PLACE.match(journal, match.end()) if match else None
        if match is None or place is None:
            return None
        journal, volume, page = match[0], place[1], place[2]
    words = journal.replace(".", ". ").split()
    known = next(
        (one for n in range(len(words)) if (one := find_journal(" ".join(words[n:])))), None
    )
    page = re.split(r"[-–—]", page or "")[0].strip()
    if known is None or year is None or not first or not page or len(volume) > 4:
        return None
    stem, mark = known.stem, "."
    if stem == "ApJL":
        stem, mark = "ApJ", "L"
    if page[0] in _LETTERS and page[1:].isdigit():
        mark, page = page[0], page[1:]
    elif stem in ("PhRvD", "PhRvL") and len(page) == 6 and page.isdigit():
        mark, page = chr(ord("a") + int(page[:2]) - 1), page[2:]
    initial = _initial(first)
    if not initial or len(page) > 4 + (mark == "."):
        return None
    if len(page) == 5:
        mark, page = page[0], page[1:]
    return parse_bibcode(f"{year}{stem:.<5}{volume:.>4}{mark}{page:.>4}{initial}")


def eprint_bibcode(year: int | None, authors: Iterable[str], arxiv_id: str) -> str | None:
    """Return the bibcode of an e-print with a new identifier.

    >>> eprint_bibcode(2014, ["Kipping, D. M."], "1408.1393")
    '2014arXiv1408.1393K'
    """
    initial = _initial(next(iter(authors), ""))
    month, _, number = arxiv_id.partition(".")
    dot = "." if len(number) == 4 else ""
    return parse_bibcode(f"{year}arXiv{month}{dot}{number}{initial}") if initial else None


def _initial(author: str) -> str:
    """Return the first letter of the family name, or "" if it is not of the Latin alphabet."""
    family = normal_title(_family(clean_text(author)))
    letter = next((one for one in family if one.isalpha()), "").upper()
    return letter if letter.isascii() else ""


def label_of(reference: Reference) -> str:
    """Return a label such as "Smith et al. 2020" for the text of a citation, or ""."""
    if not reference.authors or reference.year is None:
        return ""
    families = [_family(name) for name in reference.authors]
    who = families[0] if len(families) == 1 else (
        f"{families[0]} & {families[1]}" if len(families) == 2 else f"{families[0]} et al."
    )  # fmt: skip
    return f"{who} {reference.year}"


def _family(name: str) -> str:
    """Return the family name, or the whole name of a group."""
    if "," not in name and re.search(r"\b(?:Collaboration|Team|Consortium|Group)\b", name):
        return name
    return parse_name(name).family or name


def _by_kind(names: Iterable[str]) -> Mapping[str, str]:
    """Return the first bibcode, DOI and arXiv id."""
    found: dict[str, str] = {}
    for name in names:
        kind = "doi" if name.startswith("10.") else "bibcode" if parse_bibcode(name) else "arxiv_id"
        if kind != "doi" or not is_eprint_doi(name):
            found.setdefault(kind, name)
    return found


def _authors(text: str) -> list[str]:
    """Read the authors at the start of an entry."""
    text = re.sub(r"^\s*(?:\[\w{1,40}\]|\(\d{1,3}\)|\d{1,3}\.(?=\s))\s*", "", text)
    text = re.sub(r",?\s*\bet\s+al\.?", "", text).lstrip(" ,.(:;").rstrip(" ,(:;")
    found = read_author_list(text) if text else []
    return [str(name) for name in found[:_MAX_AUTHORS]] if isinstance(found, list) else []


def _title(text: str, before: str, after: str) -> str:
    """Return the sentence after the authors or the year, if it is long enough to be a title."""
    for rest in (text[len(before) :] if len(before) < len(text) - 40 else "", after):
        piece = re.split(r"(?<=[a-z)])[.?]\s", rest.strip(" ,.():;"), maxsplit=1)[0]
        if len(piece.split()) >= 4 and not re.search(r"\d{2,4}\s*[,:]\s*\w?\d", piece):
            return piece[:300].strip(" ,.")
    return ""
