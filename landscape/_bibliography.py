"""Find journals, and write papers as BibTeX, biblatex, RIS, CSL-JSON, bibitems and bibcodes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from string import Template
from typing import Any, Protocol
from urllib.parse import quote, unquote

from landscape._author_names import first_names, parse_name
from landscape._io import data_file, read_yaml
from landscape._wording import INVISIBLE

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    "\u00a0": "~",
}
_BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_TO_ESCAPE = re.compile("[" + re.escape("".join(_LATEX)) + "]")
_CONTROL = re.compile(rf"{INVISIBLE.pattern}|[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_KEY = re.compile(r"[^A-Za-z0-9:.+/&-]+")
_NOT_IN_KEYS = re.compile(r"[\s,{}\\%#~\"'()=]+")
_BIBCODE = re.compile(r"\d{4}[A-Za-z0-9.&]{14}[A-Za-z.:]")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MANY_AUTHORS = 8  # maximum number of authors in a bibitem
_TYPES = {  # types of BibTeX, RIS and CSL for each document type of ADS or BibTeX
    "article": ("article", "JOUR", "article-journal"),
    "review": ("article", "JOUR", "article-journal"),
    "eprint": ("article", "UNPB", "article"),
    "inproceedings": ("inproceedings", "CONF", "paper-conference"),
    "abstract": ("inproceedings", "ABST", "paper-conference"),
    "proceedings": ("proceedings", "CONF", "book"),
    "book": ("book", "BOOK", "book"),
    "incollection": ("incollection", "CHAP", "chapter"),
    "inbook": ("inbook", "CHAP", "chapter"),
    "phdthesis": ("phdthesis", "THES", "thesis"),
    "mastersthesis": ("mastersthesis", "THES", "thesis"),
    "techreport": ("techreport", "RPRT", "report"),
    "software": ("software", "COMP", "software"),
    "dataset": ("dataset", "DATA", "dataset"),
    "catalog": ("dataset", "DATA", "dataset"),
}
_OWN_TYPES = {  # further types of entries of a library
    "misc": ("misc", "GEN", "document"),
    "online": ("online", "ELEC", "webpage"),
    "unpublished": ("unpublished", "UNPB", "manuscript"),
    "manual": ("manual", "GEN", "document"),
}
_KINDS = {  # document types for kinds, of records from sources with other words
    "proceedings": "inproceedings",
    "thesis": "phdthesis",
    "book": "book",
    "software": "software",
    "data": "dataset",
    "catalogue": "dataset",
}


class Citable(Protocol):
    """Attributes of a paper that are needed for a bibliography."""

    @property
    def row(self) -> int: ...
    @property
    def label(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def abstract(self) -> str: ...
    @property
    def authors(self) -> tuple[str, ...]: ...
    @property
    def date(self) -> date | None: ...
    @property
    def year(self) -> int | None: ...
    @property
    def bibcode(self) -> str | None: ...
    @property
    def arxiv_id(self) -> str | None: ...
    @property
    def doi(self) -> str | None: ...
    @property
    def journal(self) -> str | None: ...
    @property
    def doctype(self) -> str | None: ...
    @property
    def categories(self) -> tuple[str, ...]: ...
    @property
    def url(self) -> str | None: ...


def to_bibtex(papers: Iterable[Citable]) -> str:
    """Write BibTeX entries with the keys of `citation_keys`.

    Special characters of LaTeX are escaped; other characters are not changed. Double braces
    protect the capital letters of titles.
    """
    papers = tuple(papers)
    return "\n\n".join(
        _bibtex_entry(paper, key) for paper, key in zip(papers, citation_keys(papers), strict=True)
    )


def to_biblatex(papers: Iterable[Citable]) -> str:
    """Write entries for biblatex, with whole dates and names of journals without macros."""
    papers = tuple(papers)
    keyed = zip(papers, citation_keys(papers), strict=True)
    return "\n\n".join(_bibtex_entry(paper, key, is_biblatex=True) for paper, key in keyed)


def to_csl_json(papers: Iterable[Citable]) -> str:
    """Write papers as CSL-JSON, which Zotero, Pandoc and citation processors read."""
    papers = tuple(papers)
    items = [_csl_item(*one) for one in zip(papers, citation_keys(papers), strict=True)]
    return json.dumps(items, indent=1, ensure_ascii=False)


def _csl_item(paper: Citable, key: str) -> dict[str, Any]:
    known = _details(paper)
    names = (parse_name(_without_controls(name)) for name in paper.authors)
    identifiers = {"arXiv": paper.arxiv_id, "bibcode": paper.bibcode}
    # Zotero keeps identifiers that CSL does not have as lines of the note.
    note = "\n".join(f"{name}: {one}" for name, one in identifiers.items() if one)
    item = {
        "id": key,
        "type": _kind(paper, 2),
        "title": _without_controls(paper.title),
        "author": [
            {
                part: text
                for part, text in (
                    ("family" if one.given else "literal", one.family),
                    ("given", one.given),
                    ("suffix", one.suffix),
                )
                if text
            }
            for one in names
        ],
        "issued": {"date-parts": [_date_parts(paper)]} if _date_parts(paper) else None,
        "container-title": _journal_name(paper),
        **{csl: known.get(name) for name, csl in _CSL_NAMES.items()},
        "keyword": ", ".join(known.get("keywords", ())),
        "custom": {"categories": list(paper.categories)} if paper.categories else None,
        "abstract": _without_controls(paper.abstract),
        "DOI": paper.doi,
        "URL": paper.url,
        "note": note,
    }
    return {name: value for name, value in item.items() if value}


_CSL_NAMES = {"volume": "volume", "number": "issue", "pages": "page"}
_RIS_NAMES = {"volume": "VL", "number": "IS", "pages": "SP"}


def _details(paper: Citable) -> Mapping[str, Any]:
    """Return volume, number, pages and keywords of an entry of a library, or of the bibcode."""
    if hasattr(paper, "details"):
        return dict(paper.details)
    return dict(zip(("volume", "pages"), _place(paper), strict=False))


def _date_parts(paper: Citable) -> list[int]:
    """Return the year, the month and the day as far as they are known."""
    if paper.date is None or not hasattr(paper, "precision"):
        year = _year(paper)
        month = [paper.date.month] if paper.date and not _published_in(paper) else []
        return [year, *month] if year else []
    known = {"year": 1, "month": 2}.get(paper.precision, 3)
    return [paper.date.year, paper.date.month, paper.date.day][:known]


def _journal_name(paper: Citable) -> str:
    if hasattr(paper, "details"):  # as the user writes it
        return _without_controls(paper.journal or "")
    known = _published_in(paper) or (find_journal(paper.journal) if paper.journal else None)
    return known.names[0] if known else _without_controls(paper.journal or "")


def to_ris(papers: Iterable[Citable]) -> str:
    """Write papers in the RIS format of reference managers."""
    papers = tuple(papers)
    entries = []
    for paper, key in zip(papers, citation_keys(papers), strict=True):
        lines: list[tuple[str, str | None]] = [("TY", _kind(paper, 1))]
        lines += [("AU", parse_name(name).comma_form) for name in paper.authors]
        known, parts = _details(paper), _date_parts(paper)
        lines.append(("PY", f"{parts[0]}" if parts else None))
        exact = hasattr(paper, "precision")
        if paper.date and not exact and not _published_in(paper):
            lines.append(("DA", f"{paper.date:%Y/%m/%d}"))
        elif exact and len(parts) > 1:
            lines.append(("DA", "/".join(f"{part:02d}" for part in parts) + "/"))
        lines += [("TI", paper.title), ("JO", _journal_name(paper))]
        lines += [(tag, known.get(name)) for name, tag in _RIS_NAMES.items()]
        lines += [("KW", word) for word in known.get("keywords", ())]
        lines += [("AB", paper.abstract), ("DO", paper.doi), ("UR", paper.url)]
        lines += [("M1", f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else None), ("ID", key)]
        if exact:
            lines += [("C6", category) for category in paper.categories]
        if exact and paper.bibcode:
            lines.append(("L1", f"https://ui.adsabs.harvard.edu/abs/{quote(paper.bibcode)}"))
        if paper.doi and unquote(paper.url or "").endswith(paper.doi):
            lines.remove(("UR", paper.url))
        written = [f"{tag}  - {_without_controls(text)}" for tag, text in lines if text]
        entries.append("\n".join([*written, "ER  -"]))
    return "\n".join(entries)


def to_bibitems(papers: Iterable[Citable]) -> str:
    r"""Write ``\bibitem`` entries for ``thebibliography`` in AASTeX, with labels for natbib.

    A letter after the year distinguishes papers with the same authors and year.
    """
    papers = tuple(papers)
    years = _lettered_years(papers)
    return "\n\n".join(
        _bibitem(paper, key, year)
        for paper, key, year in zip(papers, citation_keys(papers), years, strict=True)
    )


def to_bibcodes(papers: Iterable[Citable]) -> str:
    """List bibcodes, one per line, for an ADS library; papers without a bibcode are omitted."""
    codes = (paper.bibcode for paper in papers)
    return "\n".join(dict.fromkeys(c for c in codes if c and _BIBCODE.fullmatch(c)))


def citation_keys(papers: Sequence[Citable]) -> list[str]:
    r"""Make unique keys for ``\cite`` from the labels of papers.

    Characters that LaTeX does not allow in keys are removed. Equal keys get the suffixes ``-2``,
    ``-3`` and so on.
    """
    keys: list[str] = []
    taken: set[str] = set()
    for paper in papers:
        label = unicodedata.normalize("NFKD", paper.label)
        if hasattr(paper, "details"):  # an entry of a library keeps its own key
            first = key = _NOT_IN_KEYS.sub("-", paper.label) or "paper"
        else:
            first = key = _KEY.sub("-", label).strip("-") or f"paper{paper.row}"
        number = 1
        # BibTeX ignores case in keys.
        while key.lower() in taken:
            number += 1
            key = f"{first}-{number}"
        taken.add(key.lower())
        keys.append(key)
    return keys


def ads_url(query: str, *, order: str = "date desc") -> str:
    """Return the address of the results of a query in ADS.

    Parameters
    ----------
    query : str
        Query in the syntax of ADS, which is not checked.
    order : str, default "date desc"
        Order of the results in ADS.

    Returns
    -------
    str

    Examples
    --------
    >>> ads_url('author:"Rubin, V"')
    'https://ui.adsabs.harvard.edu/search/q=author%3A%22Rubin%2C%20V%22&sort=date%20desc...'
    """
    # Sort ties by bibcode, so that pages of results do not overlap.
    sort = quote(f"{order}, bibcode desc", safe="")
    asked = quote(query, safe="", errors="replace")
    return f"https://ui.adsabs.harvard.edu/search/q={asked}&sort={sort}"


def citation(*, version: str | None = None, predecessors: bool = True) -> str:
    """Return BibTeX entries to cite Landscape and the systems that it builds on.

    Parameters
    ----------
    version : str, optional
        Version of Landscape; by default, the installed version.
    predecessors : bool, default True
        Whether to add pathfinder, SciLit, PaSa and CiteME.

    Returns
    -------
    str

    Examples
    --------
    >>> print(citation(version="0.1.0", predecessors=False))
    @software{landscape,
      author = {{The Landscape developers}},
      title = {{Landscape: maps of a research literature}},
      year = {2026},
      version = {0.1.0}
    }
    """
    from landscape import __version__

    entries = data_file("references.bib").read_text(encoding="utf-8").strip()
    text = Template(entries).substitute(version=escape_latex(version or __version__))
    return text if predecessors else text.partition("\n\n")[0]


def escape_latex(text: str) -> str:
    r"""Escape the special characters of LaTeX, and replace control characters by spaces.

    Examples
    --------
    >>> print(escape_latex("50% of {x_1} & $5"))
    50\% of \{x\_1\} \& \$5
    """
    plain = _without_controls(text)
    # BibTeX counts braces even after a backslash.
    marks = _LATEX if _is_balanced(plain) else _LATEX | _BRACES
    return _TO_ESCAPE.sub(lambda found: marks[found[0]], plain)


def _is_balanced(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return False
    return depth == 0


def _bibtex_entry(paper: Citable, key: str, *, is_biblatex: bool = False) -> str:
    lines = [
        # Month abbreviations of BibTeX are written without braces.
        f"  {name} = {value}" if name == "month" else f"  {name} = {{{value}}}"
        for name, value in bibtex_fields(paper, is_biblatex=is_biblatex).items()
        if value
    ]
    return f"@{_kind(paper, 0)}{{{key},\n" + ",\n".join(lines) + "\n}"


def bibtex_fields(paper: Citable, *, is_biblatex: bool = False) -> dict[str, str]:
    """Return the fields of an entry, as they are written between braces; some are empty."""
    journal = escape_latex(_journal_name(paper)) if is_biblatex else _journal(paper, escape_latex)
    kind, parts, known = _kind(paper, 0), _date_parts(paper), _details(paper)
    is_eprint = paper.arxiv_id and kind == "article" and not hasattr(paper, "details")
    is_inside = kind in ("inproceedings", "inbook", "incollection")
    container = "booktitle" if is_inside else "journal"
    if is_biblatex:
        container = container.replace("journal", "journaltitle")
    dated = {
        "year": f"{parts[0] if parts else ''}",
        "month": _MONTHS[parts[1] - 1] if len(parts) > 1 else "",
        "day": f"{parts[2]}" if len(parts) > 2 else "",
    }
    if is_biblatex:
        dated = {"date": "-".join(f"{part:02d}" for part in parts)}
    fields = {
        "author": " and ".join(_bibtex_name(name) for name in paper.authors),
        "title": f"{{{escape_latex(paper.title)}}}" if paper.title else "",
        container: journal or ("arXiv e-prints" if is_eprint else ""),
        **dated,
        "abstract": escape_latex(paper.abstract),
        "doi": _bare(paper.doi),
        "eprinttype" if is_biblatex else "archiveprefix": "arXiv" if paper.arxiv_id else "",
        "eprint": _bare(paper.arxiv_id),
        "eprintclass" if is_biblatex else "primaryclass": _bare(paper.categories[0])
        if paper.arxiv_id and paper.categories
        else "",
        "keywords": escape_latex(", ".join(known.get("keywords", ()))),
        "adsurl": _bare(unquote(paper.url or "")) if paper.bibcode else "",
    }
    fields |= {name: escape_latex(known[name]) for name in _CSL_NAMES if known.get(name)}
    if re.fullmatch(r"\w+-\w+", fields.get("pages", "")):
        fields["pages"] = fields["pages"].replace("-", "--")  # an en dash in LaTeX
    return fields | {name: text for name, text in known.get("others", ()) if not fields.get(name)}


def _bibitem(paper: Citable, key: str, year: str) -> str:
    families = [f"{{{escape_latex(parse_name(name).family)}}}" for name in paper.authors]
    if len(families) > 2:
        label = f"{families[0]} et~al."
    else:
        label = r" \& ".join(families) or "{" + escape_latex(paper.title[:30]) + "}"
    names = [_bibitem_name(name) for name in paper.authors]
    if len(names) > _MANY_AUTHORS:
        authors = f"{names[0]}, {names[1]}, {names[2]}, et~al."
    elif len(names) > 1:
        authors = ", ".join(names[:-1]) + rf", \& {names[-1]}"
    else:
        authors = "".join(names) or escape_latex(paper.title)
    pieces = [f"{authors} {year}".strip()]
    journal = _journal(paper, escape_latex)
    title = escape_latex(paper.title) if names else ""  # without names, the title is the author
    pieces.append(journal or ("arXiv e-prints" if paper.arxiv_id else title))
    pieces += _place(paper) or ([f"arXiv:{_bare(paper.arxiv_id)}"] if paper.arxiv_id else [])
    if paper.doi:
        pieces.append(rf"\dodoi{{{_bare(paper.doi)}}}")
    head, *rest = (piece for piece in pieces if piece)
    item = rf"\bibitem[{label}({year})]{{{key}}} {head}"
    return f"{item},\n  {', '.join(rest)}" if rest else item


def _lettered_years(papers: Sequence[Citable]) -> list[str]:
    def shown(paper: Citable) -> tuple[object, ...]:
        families = [parse_name(name).family for name in paper.authors]
        return (*first_names(families, 1 if len(families) > 2 else 2), _year(paper))

    groups: dict[tuple[object, ...], list[Citable]] = {}
    for paper in papers:
        groups.setdefault(shown(paper), []).append(paper)
    years = []
    for paper in papers:
        same = groups[shown(paper)]
        letter = _letters(same.index(paper)) if len(same) > 1 else ""
        years.append(f"{_year(paper) or 'n.d.'}{letter}")
    return years


def _letters(number: int) -> str:
    """Convert a number to letters: a, b, ..., z, aa, ab, ..."""
    out = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        out = chr(ord("a") + rest) + out
    return out


def _published_in(paper: Citable) -> Journal | None:
    """Return the journal of a paper from its bibcode, or None for an e-print."""
    code = paper.bibcode
    return journal_of_bibcode(code) if code and _BIBCODE.fullmatch(code) else None


def _year(paper: Citable) -> int | None:
    """Return the year of the bibcode if possible, because the date may be the arXiv date."""
    return int(paper.bibcode[:4]) if paper.bibcode and _published_in(paper) else paper.year


def _place(paper: Citable) -> list[str]:
    """Return the volume and the page from the bibcode of a journal article, if known."""
    code = paper.bibcode
    if not code or not _BIBCODE.fullmatch(code) or not _journal(paper, str) or "arXiv" in code:
        return []
    volume, section, page = code[9:13].strip("."), code[13], code[14:18].strip(".")
    if not volume.isdigit() or not page.isalnum():
        return []
    if section.isdigit():
        page = section + code[14:18]  # the first of five digits of the page
    elif section.isalpha() and section.isupper():
        page = section + page
    elif section != ".":
        return [volume]  # the meaning of a lower-case letter depends on the journal
    return [volume, page]


def _journal(paper: Citable, escape: Callable[[str], str]) -> str:
    """Return the AASTeX macro of a journal, or the name if the journal has no macro."""
    known = journal_of_bibcode(paper.bibcode) if paper.bibcode else None
    known = known or (find_journal(paper.journal) if paper.journal else None)
    if known is not None:
        return f"\\{known.macro}" if known.macro else escape(known.names[0])
    return escape(paper.journal) if paper.journal else ""


def _kind(paper: Citable, column: int) -> str:
    published = _published_in(paper)
    if hasattr(paper, "details") and paper.doctype in _OWN_TYPES:
        return _OWN_TYPES[paper.doctype][column]
    known = paper.doctype if paper.doctype in _TYPES else _KINDS.get(getattr(paper, "kind", ""))
    if known and not (published and known == "eprint"):
        return _TYPES[known][column]
    in_journal = paper.journal or published
    if in_journal or paper.arxiv_id or paper.bibcode:
        return _TYPES["article" if in_journal or not paper.arxiv_id else "eprint"][column]
    if getattr(paper, "kind", None) in ("article", "review") and hasattr(paper, "details"):
        return _TYPES["article"][column]
    return ("misc", "GEN", "document")[column]


def _bibtex_name(name: str) -> str:
    family, given, suffix = (escape_latex(part) for part in parse_name(name))
    # In BibTeX the suffix precedes the given name: "Last, Jr., First".
    return ", ".join(part for part in (f"{{{family}}}", suffix, given) if part)


def _bibitem_name(name: str) -> str:
    family, given, suffix = parse_name(name)
    initials = "~".join(
        "-".join(f"{escape_latex(piece[0])}." for piece in word.split("-") if piece)
        for word in re.split(r"[\s.]+", given)
        if word and word[0].isalpha()
    )
    pieces = (f"{{{escape_latex(family)}}}", initials, suffix)
    return ", ".join(piece for piece in pieces if piece)


def _without_controls(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _bare(identifier: str | None) -> str:
    """Keep only the characters of an identifier that are safe in BibTeX and TeX fields."""
    return re.sub(r"[^\w./:;()<>+&?=,'@!*|\[\]-]", "", identifier or "", flags=re.ASCII)


_PUNCTUATION = re.compile(r"[^\w&]+")


@dataclass(frozen=True)
class Journal:
    """Journal with its bibcode stem, names, AASTeX macro, and the probability of a review."""

    stem: str
    names: tuple[str, ...]
    macro: str | None = None
    reviews: float = 0.0  # 0 for journals that do not publish mostly reviews
    never_reviews: bool = False


JOURNALS = tuple(
    Journal(
        stem,
        tuple(entry["names"]),
        entry.get("macro"),
        entry.get("reviews", 0.0),
        entry.get("never_reviews", False),
    )
    for stem, entry in read_yaml(data_file("journals.yaml")).items()
)


def find_journal(name: str) -> Journal | None:
    """Return the journal with a bibcode stem, macro or name, or None if it is unknown."""
    return _by_name().get(_key(name))


def journal_of_bibcode(bibcode: str) -> Journal | None:
    """Return the journal of a bibcode, or None if the journal is unknown."""
    stem = bibcode[4:9].rstrip(".")
    if stem == "ApJ" and bibcode[13:14] == "L":
        stem = "ApJL"  # an L before the page denotes ApJ Letters
    return _by_name().get(_key(stem))


@cache
def _by_name() -> dict[str, Journal]:
    found: dict[str, Journal] = {}
    for journal in JOURNALS:
        for name in (journal.stem, journal.macro or journal.stem, *journal.names):
            found.setdefault(_key(name), journal)
    return found


def _key(name: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", name).lower().removeprefix("the ").split())
