"""Read bibliographies of facilities: the papers that librarians list as using their data."""

from __future__ import annotations

import csv
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from landscape.corpus.facilities import find_facility
from landscape.corpus.identifiers import (
    arxiv_id_of_bibcode,
    arxiv_month,
    is_eprint_bibcode,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)
from landscape.corpus.readers._files import open_input
from landscape.corpus.readers._formats import canonical
from landscape.corpus.readers.bibtex import identifiers_of, parse_entries
from landscape.errors import InputError

_SPEC = re.compile(
    r"\A([^=\[\]]{1,200}?)\s{0,9}(?:\[(\d{4})?\s?\.\.\s?(\d{4})?\])?\s{0,9}=\s{0,9}(.+)", re.DOTALL
)
# Categories of papers that a librarian has read and that do not use the facility.
_NOT_USED = re.compile(
    r"(?:un|not[ _-]?)(?:related|used?)|irrelevant|rejected|excluded?"
    r"|not[ _-]?science|mentions?(?:[ _-]only)?|negative",
    re.IGNORECASE,
)
_NO = re.compile(r"none|no|n|false|0", re.IGNORECASE)  # in a column that is named so
_CATEGORY_NAMES = ("category", "mission", "use", "used", "status")
_MAX_CATEGORIES = 40  # distinct values of a column of categories
_MAX_SIZE = 100_000_000  # bytes of a list
_MAX_CELL = 60  # characters of a category


@dataclass(frozen=True)
class ListedPaper:
    """Entry of a bibliography: an identifier, its category, and whether the paper uses the data."""

    name: str
    category: str
    uses: bool


@dataclass(frozen=True)
class Bibliography:
    """List of the papers that use a facility.

    Attributes
    ----------
    facility : str
        Canonical name of the facility.
    name, date : str
        Name of the file, and the day of its last change.
    since, until : int
        First and last year for which the list is complete; by default, years with few entries at
        both ends are left out.
    eprint_years : tuple of int
        Years in which at least half of the entries are e-prints. In other years, a paper of which
        only the arXiv id is known may be listed by the bibcode of its publication.
    kinds : tuple of str
        ``"bibcode"`` and ``"doi"``, if the list names publications by them.
    entries : tuple of ListedPaper
    problems : int
        Lines without an identifier.
    """

    facility: str
    name: str
    date: str
    since: int
    until: int
    eprint_years: tuple[int, ...]
    kinds: tuple[str, ...]
    entries: tuple[ListedPaper, ...]
    problems: int = 0


def read_facility_list(given: str) -> Bibliography:
    r"""Read a bibliography.

    Parameters
    ----------
    given : str
        Name of the facility and path of the file, such as ``"HST=hst.txt"``; the years for which
        the list is complete can follow the name, as in ``"HST[1990..2024]=hst.txt"``. The file has
        a bibcode, DOI or arXiv id in each line, or it is BibTeX, or a table. A column of a table
        with a name such as ``category``, or with words such as ``unrelated``, says which papers do
        not use the facility.

    Returns
    -------
    Bibliography

    Raises
    ------
    InputError
        If the facility is unknown, or the file cannot be read or has no identifiers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tess.csv")
    >>> rows = ["bibcode,mission", "2024ApJ...960...12S,tess", "2023AJ....165....9D,unrelated"]
    >>> _ = path.write_text("\n".join(rows))
    >>> found = read_facility_list(f"TESS={path}")
    >>> [(one.name, one.uses) for one in found.entries], found.since, found.until
    ([('2024ApJ...960...12S', True), ('2023AJ....165....9D', False)], 2024, 2024)
    """
    match = _SPEC.fullmatch(given.strip())
    if match is None:
        raise InputError(
            f"The bibliography is {given!r}; write the facility and the file, such as HST=hst.txt."
        )
    facility = find_facility(match[1].strip())
    if facility.is_part:
        whole = " or ".join(facility.counted_as)
        raise InputError(
            f"{facility.name} counts for {whole}; give a bibliography of {whole} in its place."
        )
    path = Path(match[4].strip())
    if not path.is_file():
        raise InputError(f"There is no bibliography {path}; pass the path of an existing file.")
    if path.stat().st_size > _MAX_SIZE:
        raise InputError(
            f"{path} is larger than {_MAX_SIZE:,} bytes, the limit for a bibliography."
        )
    first, last = (int(one) if one else None for one in (match[2], match[3]))
    if first and last and first > last:
        raise InputError(f"The years {first} to {last} of {path.name} are reversed; swap them.")
    try:
        with open_input(path) as stream:
            text = stream.read(_MAX_SIZE).decode("utf-8", "replace")
        rows = [*_rows_of(text)]
    except (csv.Error, EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); save it again.") from error
    entries = {
        name: ListedPaper(name, kind, _uses(kind, facility.counted_as))
        for name, kind in rows
        if name
    }
    if not entries:
        raise InputError(f"{path} contains no bibcode, DOI or arXiv id.")
    used = [one for one in entries.values() if one.uses]
    years = _span(Counter(filter(None, (_year_of(one.name) for one in used or entries.values()))))
    if not years and (first is None or last is None):
        raise InputError(
            f"The years of {path} are unknown, because it has DOIs only; write them, such as "
            f"{facility.name}[2010..2024]={path.name}."
        )
    of_year = Counter(_year_of(one.name) for one in used)
    eprints = Counter(_year_of(one.name) for one in used if _is_eprint(one.name))
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    return Bibliography(
        facility=facility.name,
        name=path.name,
        date=modified,
        since=first or min(max(years[0], facility.first_light.year), years[-1]),
        until=last or years[-1],
        eprint_years=tuple(
            year for year in sorted(filter(None, of_year)) if 2 * eprints[year] >= of_year[year]
        ),
        kinds=tuple(kind for kind, is_kind in _KINDS.items() if any(map(is_kind, entries))),
        entries=tuple(entries.values()),
        problems=sum(not name for name, _ in rows),
    )


def read_identifiers(path: Path) -> list[str]:
    """Return the bibcodes, arXiv ids and DOIs of a list with one in each line, or of a table."""
    try:
        with open_input(path) as stream:
            text = stream.read(_MAX_SIZE).decode("utf-8", "replace")
        return list(dict.fromkeys(name for name, _ in _rows_of(text) if name))
    except (csv.Error, EOFError, OSError, zlib.error, UnicodeError):
        return []


def _span(counts: Counter[int]) -> list[int]:
    """Return the first and the last year for which a list seems complete, or [].

    It has at least a hundredth of the papers of its best year in each of these years, and in the
    last one at least half of the papers of the year before.
    """
    if not counts:
        return []
    least, first = max(counts.values()) / 100, max(counts, key=lambda year: (counts[year], year))
    last = first
    while counts[first - 1] >= max(least, 1):
        first -= 1
    while counts[last + 1] >= max(least, 1):
        last += 1
    if last > first and 2 * counts[last] < counts[last - 1]:
        last -= 1
    return [first, last]


def _rows_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the identifier ("" if a line has none) and the category of each entry."""
    if re.search(r"^\s*@\w+\s*[{(]", text, re.MULTILINE):
        for entry in parse_entries(text):
            yield (
                next(filter(None, identifiers_of(entry)), ""),
                entry.fields.get("keywords", "")[:_MAX_CELL],
            )
        return
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    first = lines[0] if lines else ""
    mark = next((one for one in ("\t", ";", ",") if one in first), None)
    if mark is None:
        for line in lines:
            yield next(filter(None, map(_identifier, line.split())), ""), ""
        return
    cells = [[one.strip() for one in row] for row in csv.reader(lines, delimiter=mark) if row]
    width = max(map(len, cells))
    cells = [[*row, *[""] * (width - len(row))] for row in cells]
    has_header = not any(map(_identifier, cells[0]))
    body = cells[1:] if has_header else cells
    places = _places_of_identifiers(cells[0] if has_header else [], body)
    category = _place_of_category(body, places, cells[0] if has_header else [])
    for row in body:
        name = next(filter(None, (_identifier(row[place]) for place in places)), "")
        yield name, row[category][:_MAX_CELL] if category is not None else ""


def _identifier(text: str) -> str:
    """Return the bibcode, arXiv id or DOI that a cell is, or ""."""
    cell = text.strip().strip("\"'.,;")
    return parse_bibcode(cell) or parse_arxiv_id(cell) or parse_doi(cell) or ""


def _places_of_identifiers(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns of identifiers; those with a bibcode come first."""
    named = [
        n
        for n, name in enumerate(header)
        if canonical(name) in ("bibcode", "doi", "arxivid", "arxiv")
    ]
    known = named or [
        place
        for place in range(len(body[0]) if body else 0)
        if any(_identifier(row[place]) for row in body[:50])
    ]
    return sorted(
        known, key=lambda place: -sum(bool(parse_bibcode(row[place])) for row in body[:50])
    )


def _place_of_category(
    body: Sequence[Sequence[str]], identifiers: Sequence[int], header: Sequence[str]
) -> int | None:
    """Return the column of categories: by its name, or by words such as unrelated."""
    found = []
    for place in range(len(body[0]) if body else 0):
        values = Counter(row[place] for row in body if row[place])
        words = [one for one in values if not re.fullmatch(r"[\d.\s-]*", one)]
        if place in identifiers or not words or len(values) > _MAX_CATEGORIES:
            continue
        says_no = any(_NOT_USED.fullmatch(one) for one in values)
        is_named = bool(header) and canonical(header[place]) in _CATEGORY_NAMES
        if says_no or is_named:
            found.append((not is_named, not says_no, place))
    return min(found)[2] if found else None


def _uses(category: str, counted_as: Sequence[str]) -> bool:
    """Return whether a category means that the data of a facility are used."""
    if _NOT_USED.fullmatch(category.strip()) or _NO.fullmatch(category.strip()):
        return False
    try:
        other = find_facility(category).counted_as if category else counted_as
    except InputError:
        return True
    return not set(other).isdisjoint(counted_as)


def _is_eprint(name: str) -> bool:
    return bool(parse_arxiv_id(name)) or is_eprint_bibcode(name)


_KINDS: Mapping[str, Callable[[str], object]] = {
    "bibcode": lambda name: parse_bibcode(name) and not is_eprint_bibcode(name),
    "doi": parse_doi,
}


def _year_of(name: str) -> int | None:
    if parse_bibcode(name):
        arxiv_id = arxiv_id_of_bibcode(name)
        month = arxiv_month(arxiv_id) if arxiv_id else None
        return month.date.year if month else int(name[:4])
    found = arxiv_month(name) if parse_arxiv_id(name) else None
    return found.date.year if found else None
