"""Formats of records: which value of a record is which field of a paper (``data/formats.yaml``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from landscape._author_names import GROUP
from landscape._io import data_file, read_data, read_yaml
from landscape.corpus.author_lists import list_in_text, read_author_list, rejoin_names
from landscape.corpus.identifiers import (
    PaperDate,
    arxiv_month,
    find_arxiv_id,
    find_bibcode,
    find_doi,
    month_number,
    parse_arxiv_id,
    parse_bibcode,
    parse_date,
    parse_doi,
)

_DATA: dict[str, Any] = read_data("formats.yaml")
VECTORS: list[str] = _DATA["vectors"]
# Only tables that Landscape has written contain these columns.
_OWN = ("source", "generated", "title_original", "abstract_original", "kind")
_OF_ADS = ("bibgroup", "data", "property", "facility")  # also only in records of ADS
_JOURNALS: dict[str, str] = read_yaml(data_file("journal_macros.yaml"))
_MAX_REFERENCE = 200  # maximum number of characters of the identifier of a reference
_MAX_NOTE = 2_000  # maximum number of characters of a text in which an identifier is searched
_MAX_NAME = 1_000  # characters of a journal
_MAX_MACRO = 20


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """Return a name in lower case without spaces and punctuation, as in ``data/formats.yaml``."""
    outside = re.sub(r"\([^()]*\)", "", name)  # "Authors (with affiliations)"
    return re.sub(r"[^a-z0-9]", "", (outside.strip() or name).lower()) or name


class Format(NamedTuple):
    """Format of records: its container and the names of each field, best first."""

    name: str
    container: str
    names: Mapping[str, list[str]]
    options: Mapping[str, Any] = {}

    def marks(self, record: Mapping[str, object]) -> bool:
        """Return whether a JSON record has the names of this format."""
        lacks = self.options.get("lacks", ())
        groups = self.options.get("marks", ())
        return any(record.keys() >= set(group) for group in groups) and not (
            record.keys() & set(lacks)
        )


def _names(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the names of each field. The first part of a name is compared in canonical form."""
    return {
        field: [_canonical_path(path) for path in paths]
        for field, paths in given.items()
        if field in _DATA["table"]
    }


def _canonical_path(path: str) -> str:
    first, *rest = path.split(".")
    name, mark, condition = first.partition("?")
    return ".".join((canonical(name) + mark + condition, *rest))


def _format(name: str, given: Mapping[str, Any]) -> Format:
    fields = {field: paths for field, paths in _TABLE.items() if field not in (*_OWN, *_OF_ADS)}
    return Format(name, given["container"], fields | _names(given), given)


_TABLE = _names(_DATA["table"])
TABLE = Format("table", "table", _TABLE)
FORMATS = {name: _format(name, given) for name, given in _DATA["formats"].items()}
"""All formats by name, in the order in which they are tried."""


def has_titles(names: Iterable[str]) -> bool:
    """Return whether one of the columns contains titles, based on its name."""
    return not {canonical(name) for name in names}.isdisjoint(_TABLE["title"])


def guess_names(header: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """Guess from their content the fields of columns with unknown names, by name.

    Only fields that no column has by its name are guessed.
    """
    named = {canonical(name) for name in header}
    missing = {field for field, names in _TABLE.items() if named.isdisjoint(names)}
    if not {"dates", "years"} <= missing:  # other dates are those of a download or a change
        missing -= {"dates", "years"}
    known = {name for names in _TABLE.values() for name in names}
    guessed: dict[str, str] = {}
    for place, name in enumerate(header):
        cells = [cell for row in rows if not _PLACEHOLDER.fullmatch(cell := row[place].strip())]
        if canonical(name) in known or not name or not cells or _OTHER_PAPERS.search(name):
            continue
        field = next((f for f, fits in _CONTENT.items() if f in missing and fits(cells)), None)
        if field is not None:
            guessed[name] = _TABLE[field][0]
            missing.discard(field)
    return guessed


def _mostly(fits: Callable[[str], object]) -> Callable[[Sequence[str]], bool]:
    return lambda cells: sum(bool(fits(cell)) for cell in cells) > _SHARE_OF_CELLS * len(cells)


def _is_author_list(cell: str) -> bool:
    names = re.split(r"[;,]", cell)
    is_name = (0 < len(name.split()) < 5 and not re.search(r"\d", name) for name in names)
    return len(names) > 1 and all(is_name)


_SHARE_OF_CELLS = 0.8  # share of matching cells above which a column is recognised
_PLACEHOLDER = re.compile(r"(?:n\W?[ad]|unknown|tbd|no \w{1,20} (?:is )?available)?\W{0,9}", re.I)
_DATE = 30  # maximum length of a date
_DATED = re.compile(r"(?<![\d.])(?:1[89]|20)\d\d(?!\d|\.\d{3})")  # not an arXiv id
_OTHER_PAPERS = re.compile(r"\bref|relat|cit(?:ed|ing|ation)|link|parent", re.IGNORECASE)
_CONTENT: dict[str, Callable[[Sequence[str]], bool]] = {
    "doi": _mostly(parse_doi),
    "arxiv_id": _mostly(parse_arxiv_id),
    "bibcode": _mostly(parse_bibcode),
    "years": _mostly(lambda cell: re.fullmatch(r"(?:1[89]|20)\d\d", cell)),
    # A time of day belongs to a download or to a form.
    "dates": _mostly(
        lambda cell: len(cell) < _DATE and not {":", ";"} & {*cell} and _DATED.search(cell)
    ),
    "abstract": _mostly(lambda cell: len(cell) > 80 and cell.count(" ") > 12),
    "authors": _mostly(_is_author_list),
    "title": _mostly(lambda cell: 15 < len(cell) < 300 and cell.count(" ") > 1),
}


_ALL = (
    "doctype",
    "elsewhere",
    "notes",
    "retracted",
    "dates",
    "years",
)  # fields of which all values are used


def fields_of(record: Mapping[str, object], form: Format = TABLE) -> dict[str, object]:
    """Convert a record to the fields of a `RawRecord`."""
    entry = {
        canonical(name): _list_of_texts(value)
        for name, value in reversed([*record.items()])
        if isinstance(name, str) and value is not None and value != ""
    }
    found: dict[str, Any] = {}
    for name, paths in form.names.items():
        values = _values(entry, paths)
        found[name] = [*values] if name in _ALL else next(values, None)
    # Keywords in an atlas or in pathfinder are not the keywords of the authors.
    if "adskeywords" not in entry and ("paperid" in entry or "embed" in entry) and form is TABLE:
        found["ads_keywords"] = None
    found["title"] = _first_text(found["title"])
    subtitle = _first_text(entry.get("subtitle"))
    if isinstance(subtitle, str) and isinstance(found["title"], str):
        found["title"] = f"{found['title']}: {subtitle}"
    is_one = "abstract" in form.options.get("alternatives", ())
    found["abstract"] = (_first_text if is_one else text_of)(found["abstract"])
    if form.name == "arxiv" and isinstance(found["authors"], list):
        found["authors"] = rejoin_names(found["authors"])
    authors, groups = read_author_list(found["authors"]), _groups(found.pop("groups"))
    if groups and (authors is None or isinstance(authors, list)):
        known = {str(name).casefold() for name in authors or ()}
        authors = [*(authors or ()), *(name for name in groups if name.casefold() not in known)]
    found["authors"] = authors
    found["aff"] = _split(found["aff"], separator=";")
    text = str(found["ads_keywords"])
    words = _split(
        found["ads_keywords"], separator=next((mark for mark in ";|\n" if mark in text), ",")
    )
    found["ads_keywords"] = _texts(words) if isinstance(words, (list, dict)) else words
    for name in ("categories", "cite_bibcodes", "ref_bibcodes"):
        found[name] = _split(found[name], separator=r"[\s,;]+")
    found["ref_bibcodes"] = _references(found["ref_bibcodes"])
    found["journal"] = journal_name(_first_text(found["journal"]))
    found["doctype"] = "; ".join(_texts(found["doctype"])) or None
    found["notes"] = _texts(found["notes"])
    elsewhere = [text for text in _texts(found.pop("elsewhere")) if len(text) < _MAX_NOTE]
    elsewhere += [url for text in elsewhere for url in text.split() if "://" in url and url != text]
    if found["cites"] is None:  # Scopus
        cited = _first(_CITED_BY.search, [*found["notes"], *elsewhere])
        found["cites"] = cited[1] if cited else None
    found |= _identifiers(found, elsewhere)
    found["dates"] = _dates(entry, found, form)
    return found


def _list_of_texts(value: object) -> object:
    """Return a list of texts that pandas has written as text. Other values are unchanged."""
    found = list_in_text(value) if isinstance(value, str) else None
    is_list = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return found if is_list else value


def _values(entry: Mapping[str, object], paths: Iterable[str]) -> Iterator[Any]:
    """Yield the values that are present. Values inside lists are a list."""
    for path in paths:
        first, *rest = path.split(".")
        first, _, condition = first.partition("?")
        found = [entry[first]] if first in entry else []
        for key in rest:
            items = [x for one in found for x in (one if isinstance(one, list) else [one])]
            name, _, value = condition.partition("=")
            found = [
                x[key]
                for x in items
                if isinstance(x, dict) and x.get(key) and _is_one(x.get(name, value), value)
            ]
            condition = ""
        if found:
            yield found[0] if len(found) == 1 else found


def _is_one(given: object, wanted: str) -> bool:
    return wanted in given if isinstance(given, list) else given == wanted


_CITED_BY = re.compile(r"\bcited by\s*:?\s*(\d{1,7})\b", re.IGNORECASE)


def _groups(value: object) -> list[str]:
    """Return names of collaborations, with the word that INSPIRE and reference managers omit."""
    pieces = (piece for text in _texts(value) for piece in re.split(r",|;|\band\b", text))
    names = [name for piece in pieces if (name := piece.strip(" {}"))]
    return [name if GROUP.search(name) else f"{name} Collaboration" for name in names]


def text_of(value: object) -> Any:
    """Return the text of a nested value. An inverted index of OpenAlex is put into order."""
    if not isinstance(value, (list, dict)):
        return value
    if isinstance(value, dict):
        places = [
            (at, word)
            for word, all_at in value.items()
            for at in (all_at if isinstance(all_at, list) else ())
        ]
        if places and all(isinstance(at, int) for at, _ in places):
            return " ".join(word for _, word in sorted(places))
    return " ".join(_texts(value)) or None


def _texts(value: object) -> list[str]:
    """Return the texts in a nested value, except for titles of sections and attributes."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [x for key, x in value.items() if not key.startswith("@") and key[-6:] != "_title"]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


def _first_text(value: object) -> Any:
    """Return the first text in a list, such as the titles in ADS. Other values are unchanged."""
    return next(iter(_texts(value)), None) if isinstance(value, (list, dict)) else value


def _split(value: object, *, separator: str) -> Any:
    """Convert a text with separators to a list. Other values are returned unchanged."""
    value = list_in_text(value)
    if not isinstance(value, str):
        return value
    separator = re.escape(separator) if len(separator) == 1 else separator
    return [piece.strip() for piece in re.split(separator, value) if re.search(r"\w", piece)]


# ", Volume 633, Issue 2, pp. 560-574" of ADS, and "662:72-93,2007" of arXiv
_WITH_PLACE = re.compile(
    r",\s(?:[Vv]ol(?:ume|\.)|[Ii]ssue)\s.*$|\s?(?<!\d)\d{1,5}\s?:\s?[A-Z]?\d.*$", re.DOTALL
)


def journal_name(name: object) -> Any:
    r"""Return the name of a journal. Macros are replaced in every spelling, such as ``{\apjl}``."""
    if not isinstance(name, str):
        return name
    name = _WITH_PLACE.sub("", name[:_MAX_NAME])
    if len(name) > _MAX_MACRO:
        return name
    name = re.sub(r"\$\\backslash\$|\\textbackslash\s*", r"\\", name)  # Mendeley
    macro = name.strip("{}\\ ")
    is_macro = macro.isalpha() and ("\\" in name or name.strip("{} ").islower())
    return _JOURNALS.get(macro.lower(), macro if "\\" in name else name) if is_macro else name


def _references(values: object) -> Any:
    """Return the identifiers of the cited papers. References without an identifier are omitted."""
    if not isinstance(values, list) or all(isinstance(one, str) for one in values):
        return values
    references = []
    for one in values:
        texts = [text for text in _texts(one) if len(text) < _MAX_REFERENCE]
        bibcode, arxiv_id, doi = (
            _first(parse, texts) for parse in (parse_bibcode, parse_arxiv_id, parse_doi)
        )
        name = bibcode or (arxiv_id and f"arXiv:{arxiv_id}") or (doi and f"doi:{doi}")
        references += [name] if name else []
    return references


def _identifiers(found: Mapping[str, Any], elsewhere: list[str]) -> dict[str, object]:
    """Return the identifiers of a record, also those in fields for other information."""
    given = found["given_id"]
    if isinstance(number := found["arxiv_id"], float):  # identifiers have five digits since 2015
        found = {**found, "arxiv_id": f"{number:.{4 if number < 1501 else 5}f}"}
    is_number = isinstance(given, int) and not isinstance(given, bool)
    given = str(given) if is_number else _first_text(given)
    own = [given] if isinstance(given, str) else []
    bibcodes, arxiv_ids, dois = (_texts(found[name]) for name in ("bibcode", "arxiv_id", "doi"))
    # A number without the word "arXiv" is an arXiv id only if another field has this word.
    is_arxiv = any(re.search(r"arxiv|\bcorr\b", text, re.IGNORECASE) for text in elsewhere)
    return {
        "bibcode": _first(parse_bibcode, [*bibcodes, *own]) or _first(find_bibcode, elsewhere),
        "arxiv_id": _first(parse_arxiv_id, [*arxiv_ids, *own, *dois])
        or _first(find_arxiv_id, [*arxiv_ids, *elsewhere])
        or (_first(parse_arxiv_id, elsewhere) if is_arxiv else None),
        "doi": _first(parse_doi, [*dois, *own]) or _first(find_doi, [*dois, *elsewhere]),
        "given_id": given,
    }


def _first(parse: Callable[[str], Any], texts: Iterable[str]) -> Any:
    return next(filter(None, map(parse, texts)), None)


def _dates(entry: Mapping[str, object], found: dict[str, Any], form: Format) -> list[Any]:
    """Return the possible dates of a paper, best first."""
    dates, years = ([*map(_date_text, found.pop(name))] for name in ("dates", "years"))
    # An atlas stores unknown months and days as 1. A separate column contains the precision.
    precision, day = entry.get("dateprecision"), found.pop("day")
    if dates and precision in ("year", "month"):
        return [str(dates[0])[: 4 if precision == "year" else 7]]
    if dates and years and not re.search(r"\d{4}", str(dates[0])):
        found["month"], dates = dates[0], []  # EndNote: "Jul 20", and the year elsewhere
    if form.name == "arxiv":
        dates = _arxiv_dates(entry, dates, found["arxiv_id"])
    elif years and not dates and isinstance(month := found["month"], (str, int)):
        name = re.search(r"[^\W\d_]{3,}", str(month))
        number = _number(name[0] if name else str(month).strip("{} "))
        inside = re.search(r"(?<![\d-])\d{1,2}(?![\d-])", str(month)) if name else None
        day = _number(str(inside[0] if inside else day).strip("{} "))
        year = str(years[0]).strip("{} ")
        if number and year.isdecimal():
            return [f"{year}-{number:02d}" + (f"-{day:02d}" if 0 < day < 32 else "")]
    if form is TABLE and dates and years and str(years[0])[:4] not in str(dates[0]):
        dates = []  # the day of a download or a change, not of the publication
    return [date for date in [*dates, *years] if date not in (None, "", [])]


def _date_text(value: Any) -> Any:
    """Return a date as text. In JSON and XML, it can consist of numbers."""
    if isinstance(value, dict):
        parts = value.get("date-parts")
        named = {canonical(name): number for name, number in value.items()}
        if isinstance(parts, list):
            value = parts
        elif "year" in named:
            value = [[named.get(name) for name in ("year", "month", "day")]]
        else:
            value = _first_text(value)
    if not isinstance(value, list):
        return value.strip("{} ") if isinstance(value, str) else value
    parts = value[0] if value and isinstance(value[0], list) else value
    numbers = [_number(part) for part in parts]
    known = numbers[: next((at for at, number in enumerate(numbers) if not number), len(numbers))]
    return "-".join(f"{number:02d}" for number in known[:3]) or _first_text(parts)


def _number(value: object) -> int:
    text = str(value or "")
    return int(text) if re.fullmatch(r"[0-9]{1,4}", text) else month_number(text) or 0


def _arxiv_dates(
    entry: Mapping[str, Any], dates: list[object], arxiv_id: str | None
) -> list[object]:
    """Return the date of submission. It is that of the first version, or the month of the id."""
    month = arxiv_month(arxiv_id) if arxiv_id else None
    versions, updated = entry.get("versions"), entry.get("updatedate")
    if not dates and isinstance(versions, list) and versions and isinstance(versions[0], dict):
        dates = [versions[0].get("created")]
    if dates and dates[0]:
        return [f"{month.date:%Y-%m}"] if month and _is_far(dates[0], month) else dates
    # An update can be much later than the submission. The arXiv id contains the true month.
    return [updated] if updated and not (month and _is_outside(updated, month)) else []


def _is_outside(updated: object, month: PaperDate) -> bool:
    try:
        return not month.covers(parse_date(updated))
    except ValueError:
        return True


def _is_far(given: object, month: PaperDate) -> bool:
    """Return whether a date differs by more than a year from the month of the arXiv id."""
    try:
        date = parse_date(given)
    except ValueError:
        return False  # the error is reported when the date is parsed
    years = date.date.year - month.date.year
    if date.precision == "year":
        return abs(years) > 1
    return abs(12 * years + date.date.month - month.date.month) > 12
