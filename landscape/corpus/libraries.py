"""The library of a user: papers of Zotero, of a bibliography or of ADS, with marks, in one file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as fields_of_class
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from landscape import _bibliography as bibliography
from landscape._author_names import parse_name
from landscape._io import refuse_atlas, wait_for_lock, write_bytes
from landscape._wording import did_you_mean, normal_title
from landscape.corpus._duplicates import similar_titles, title_hash
from landscape.corpus.bibliographies import read_identifiers
from landscape.corpus.identifiers import (
    is_eprint_bibcode,
    is_eprint_doi,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)
from landscape.corpus.readers import choose_reader
from landscape.corpus.readers._formats import FORMATS as RECORD_FORMATS
from landscape.corpus.readers._formats import fields_of
from landscape.corpus.records import RawRecord, Rejection, normalise
from landscape.errors import InputError
from landscape.types import Paper

Mark = Literal["read", "later", "not interested"]
MARKS: tuple[str, ...] = get_args(Mark)
ENDING = ".library.json"
_VERSION = 1
_MAX_SIZE = 200_000_000  # bytes of a library
_NAME = re.compile(r"[\w][\w .&()+-]{0,80}")
_LISTS = ("authors", "keywords", "categories", "source", "tags", "collections", "notes", "files")


@dataclass(frozen=True, kw_only=True)
class LibraryEntry(Paper):
    """Paper of a library, with the fields that only its owner has."""

    key: str = ""  # citation key
    precision: str = "day"  # of the date: day, month or year
    volume: str | None = None
    number: str | None = None
    pages: str | None = None
    tags: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()  # other fields of BibTeX, such as the editor

    @property
    def label(self) -> str:
        """Citation key."""
        return self.key

    @property
    def names(self) -> tuple[str, ...]:
        """Identifiers, the most stable first; the last one is the hash of title and abstract."""
        found = (self.arxiv_id, self.doi, self.bibcode, self.paper_id)
        return tuple(dict.fromkeys(filter(None, found)))

    @property
    def title_key(self) -> int:
        """Hash of the title by which duplicates are found, or 0 if the title is too short."""
        return title_hash(self.title)

    def has_title(self, title: str) -> bool:
        """Return whether a title is the same except for spelling, remarks and a subtitle."""
        return normal_title(self.title) == normal_title(title) or similar_titles(self.title, title)

    @property
    def details(self) -> Mapping[str, Any]:
        """Fields that bibliographies have beside those of every paper."""
        known = {"volume": self.volume, "number": self.number, "pages": self.pages}
        known = {name: text for name, text in known.items() if text}
        return known | {"keywords": self.tags, "others": self.others}


@dataclass(frozen=True)
class Watched:
    """Authors, facilities and regions of which a reader wants to see all new papers."""

    authors: tuple[str, ...] = ()
    facilities: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """Papers of a user, as a view on any atlas; it is never a part of an atlas.

    Attributes
    ----------
    name : str
    entries : tuple of LibraryEntry
    watched : Watched
    marks : dict
        ``"read"``, ``"later"`` or ``"not interested"`` by identifier of a paper.
    filter : str
        Filter of which `landscape library push --filter` keeps a library of ADS equal.
    source : str
        Where the entries were read.
    problems : tuple of str
        Records that were not read, with the reasons.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "mine.bib")
    >>> _ = path.write_text("@article{Rubin70, title={Rotation of M31}, eprint={2401.00001}}")
    >>> library = read_library(path)
    >>> library.name, library.entries[0].key, library.entries[0].arxiv_id
    ('mine', 'Rubin70', '2401.00001')
    """

    name: str
    entries: tuple[LibraryEntry, ...] = ()
    watched: Watched = Watched()
    marks: Mapping[str, str] = field(default_factory=dict)
    filter: str = ""
    source: str = ""
    problems: tuple[str, ...] = ()

    def marked(self, mark: str) -> tuple[str, ...]:
        """Return the identifiers of the papers with a mark."""
        return tuple(name for name, one in self.marks.items() if one == mark)

    def part(self, name: str) -> tuple[LibraryEntry, ...]:
        """Return the entries of a collection, with those inside it, or of a tag."""
        wanted = name.casefold()
        found = tuple(
            one
            for one in self.entries
            if any(
                path.casefold() == wanted or path.casefold().startswith(f"{wanted}/")
                for path in one.collections
            )
            or wanted in map(str.casefold, one.tags)
        )
        if not found:
            known = {path for one in self.entries for path in (*one.collections, *one.tags)}
            hint = did_you_mean(name, sorted(known), n=3)
            raise InputError(f"The library {self.name} has no collection or tag {name!r}{hint}")
        return found

    @cached_property
    def by_name(self) -> Mapping[str, LibraryEntry]:
        """Entries by each of their identifiers."""
        return {name: entry for entry in reversed(self.entries) for name in entry.names}

    def to_bibtex(self) -> str:
        """Write the entries as BibTeX, with their own keys."""
        return bibliography.to_bibtex(self.entries)

    def to_biblatex(self) -> str:
        """Write the entries for biblatex."""
        return bibliography.to_biblatex(self.entries)

    def to_ris(self) -> str:
        """Write the entries as RIS."""
        return bibliography.to_ris(self.entries)

    def to_csl_json(self) -> str:
        """Write the entries as CSL-JSON."""
        return bibliography.to_csl_json(self.entries)

    def to_bibcodes(self) -> str:
        """List the bibcodes of the entries."""
        return bibliography.to_bibcodes(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


FORMATS = {
    "bibtex": Library.to_bibtex,
    "biblatex": Library.to_biblatex,
    "ris": Library.to_ris,
    "csl": Library.to_csl_json,
    "bibcodes": Library.to_bibcodes,
}
"""Functions that write a library, by format."""


def read_library(path: str | os.PathLike[str], *, name: str | None = None) -> Library:
    r"""Read a library.

    Parameters
    ----------
    path : path
        File of a library, data directory or database of Zotero, list of identifiers, or file in a
        format that `landscape.build` reads. Entries need no abstract.
    name : str, optional
        Name of the library; by default, that of the file.

    Returns
    -------
    Library

    Raises
    ------
    InputError
        If the file cannot be read or has no papers, or the name has other characters than letters,
        digits and spaces.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "codes.txt")
    >>> _ = path.write_text("2021ApJ...910...12R\narXiv:2101.01234\n")
    >>> [entry.names[0] for entry in read_library(path).entries]
    ['2021ApJ...910...12R', '2101.01234']
    """
    file = Path(path).expanduser()
    if file.name.endswith(ENDING):
        return _from_json(file)
    title = checked_name(name or _stem(file))
    rejected: list[str] = []
    entries = tuple(_unique(_entries(file, rejected)))
    if not entries:
        why = f" The first problem: {rejected[0]}." if rejected else ""
        raise InputError(f"{file} has no papers with a title or an identifier.{why}")
    return Library(title, entries, source=str(file.resolve()), problems=tuple(rejected))


def entry_of(fields: Mapping[str, Any], *, source: str, line: int = 0) -> LibraryEntry | Rejection:
    """Return the entry of a record, or the reason why it is not one."""
    # The key of an entry is not an identifier of its paper.
    raw = RawRecord(line, {**fields, "given_id": None})
    row = normalise(raw, file=source, source=source, needs_text=False)
    if isinstance(row, Rejection):
        return row
    shared: dict[str, Any] = {
        one.name: row[one.name] for one in fields_of_class(Paper) if one.name in row
    }
    shared |= {name: tuple(row[name] or ()) for name in _LISTS if name in row}
    parsed = ((name, parse_name(name)) for name in shared["authors"])
    shared["authors"] = tuple(one.comma_form if one.suffix else name for name, one in parsed)
    first, last = (str(fields.get(name) or "").strip() for name in ("pages", "last_page"))
    shared |= {name: tuple(map(str, fields.get(name) or ())) for name in ("collections", "files")}
    return LibraryEntry(
        **shared | {"row": -1, "keywords": ()},
        key=str(fields.get("given_id") or "") or row["paper_id"],
        precision=row["date_precision"] or "day",
        volume=_short(fields.get("volume")),
        number=_short(fields.get("number")),
        pages=_short(f"{first}-{last}" if first and last and last != first else first),
        tags=tuple(dict.fromkeys((*(fields.get("tags") or ()), *(row["ads_keywords"] or ())))),
        notes=tuple(map(str, fields.get("own_notes") or ())),
        others=tuple(fields.get("others") or ()),
    )


def _short(value: object) -> str | None:
    text = " ".join(str(value or "").replace("--", "-").split()).strip("{}")
    return text[:80] or None


def _entries(file: Path, rejected: list[str]) -> Iterator[LibraryEntry]:
    try:
        reader = choose_reader(file)
    except InputError:
        named = read_identifiers(file)
        if not named:
            raise
        yield from map(entry_of_name, named)
        return
    for raw in reader.read(file):
        found = (
            raw
            if isinstance(raw, Rejection)
            else entry_of(raw.fields, source=file.name, line=raw.line)
        )
        if isinstance(found, Rejection):
            rejected.append(f"{found.file}:{found.line}: {found.reason}")
        else:
            yield found


def entries_of_ads(documents: Iterable[Mapping[str, Any]]) -> tuple[LibraryEntry, ...]:
    """Return the entries of documents of ADS; those without a title are omitted."""
    found = (entry_of(fields_of(one, RECORD_FORMATS["ads"]), source="ads") for one in documents)
    return tuple(_unique(one for one in found if isinstance(one, LibraryEntry)))


def entry_of_name(name: str) -> LibraryEntry:
    """Return the entry of a paper of which only an identifier is known."""
    known = {
        "bibcode": parse_bibcode(name),
        "arxiv_id": parse_arxiv_id(name),
        "doi": parse_doi(name),
    }
    found = entry_of(known, source="identifiers")
    if isinstance(found, Rejection):
        raise InputError(f"{name!r} is not a bibcode, an arXiv id or a DOI.")
    return found


def _unique(entries: Iterable[LibraryEntry]) -> Iterator[LibraryEntry]:
    """Yield entries with keys that differ also without case."""
    taken: set[str] = set()
    for entry in entries:
        key, n = entry.key, 1
        while key.lower() in taken:
            n += 1
            key = f"{entry.key}-{n}"
        taken.add(key.lower())
        yield entry if key == entry.key else replace(entry, key=key)


# -- the file ------------------------------------------------------------------------------------


def libraries_folder() -> Path:
    """Return the folder of the libraries of this user.

    It is the value of the environment variable LANDSCAPE_LIBRARIES, or ``landscape/libraries`` in
    the folder that the environment variable XDG_DATA_HOME names (default: ``~/.local/share``).
    """
    if own := os.environ.get("LANDSCAPE_LIBRARIES"):
        return Path(own).expanduser()
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "landscape" / "libraries"


def checked_name(name: str) -> str:
    """Return the name of a library, or raise InputError."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"A library cannot be named {name[:80]!r}; use letters, digits, spaces, _ and -."
        )
    return name


def library_file(name: str) -> Path:
    """Return the file of a library by name: in the working directory, or in the user's folder."""
    file = f"{checked_name(name)}{ENDING}"
    return Path(file) if Path(file).is_file() else libraries_folder() / file


def find_library(name: str) -> Library:
    """Read the library with a name; see `library_file`."""
    file = library_file(name)
    if not file.is_file():
        known = library_names()
        hint = f"the libraries are: {', '.join(known)}" if known else "there are no libraries"
        raise InputError(
            f"There is no library {name!r} ({hint}); read one with: landscape library read FILE "
            f"--name {name!r}."
        )
    return _from_json(file)


def open_library(given: str | os.PathLike[str] | Library) -> Library:
    """Return a library from its name, its file, or a file of papers."""
    if isinstance(given, Library):
        return given
    path = Path(given).expanduser()
    if path.exists():
        return read_library(path)
    if path.suffix or path.parent != Path():
        raise InputError(
            f"{str(given)!r} cannot be read, because there is no such file; pass an existing file, "
            "or the name of a library."
        )
    return find_library(str(given))


def write_library(library: Library, path: str | os.PathLike[str] | None = None) -> Path:
    """Write a library, by default to the folder of the user, and return its path."""
    target = Path(path) if path is not None else library_file(library.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "format": "landscape-library",
        "version": _VERSION,
        "name": library.name,
        "source": library.source,
        "filter": library.filter,
        "watched": asdict(library.watched),
        "marks": dict(library.marks),
        "entries": [_without_defaults(entry) for entry in library.entries],
    }
    write_bytes(target, orjson.dumps(document, option=orjson.OPT_INDENT_2))
    return target


def change_library(path: str | os.PathLike[str], change: Callable[[Library], Library]) -> Library:
    """Read a library, apply a function to it, and write the result; others wait meanwhile."""
    file = Path(path)
    with wait_for_lock(file):
        changed = change(_from_json(file))
        write_library(changed, file)
    return changed


def replace_entries(path: str | os.PathLike[str], new: Library) -> Library:
    """Write a library; if it exists, keep its marks and watched names. Others wait meanwhile."""
    file = Path(path)
    if not file.name.endswith(ENDING):
        raise InputError(f"The file of a library ends in {ENDING}, and {file.name} does not.")
    refuse_atlas(file)
    with wait_for_lock(file):
        library = merge_libraries(_from_json(file), new) if file.is_file() else new
        write_library(library, file)
    return library


def mark_papers(library: Library, papers: Sequence[Paper], mark: Mark | None) -> Library:
    """Return a library with a mark for some papers, or without their marks.

    Examples
    --------
    >>> paper = Paper(row=0, paper_id="2401.00001", title="", abstract="", arxiv_id="2401.00001")
    >>> dict(mark_papers(Library("mine"), [paper], "later").marks)
    {'2401.00001': 'later'}
    """
    if mark is not None and mark not in MARKS:
        raise InputError(f"There is no mark {mark!r}; use one of: {', '.join(MARKS)}.")
    names = [paper.arxiv_id or paper.doi or paper.bibcode or paper.paper_id for paper in papers]
    kept = {name: old for name, old in library.marks.items() if name not in names}
    return replace(library, marks=kept | (dict.fromkeys(names, mark) if mark else {}))


_NOT_PUBLISHED = re.compile(
    r"arxiv|e-?prints?\b|submitted|in prep|to appear|accepted|in press", re.I
)


def is_published(paper: Paper) -> bool:
    """Return whether a bibcode, a DOI or a journal shows that a paper is more than a preprint."""
    return (
        bool(paper.bibcode and not is_eprint_bibcode(paper.bibcode))
        or bool(paper.doi and not is_eprint_doi(paper.doi))
        or bool(paper.journal and not _NOT_PUBLISHED.search(paper.journal))
    )


def merge_libraries(old: Library, new: Library) -> Library:
    """Return a new library with the marks and the watched names of an old one."""
    return replace(new, marks=old.marks, watched=old.watched, filter=old.filter)


def library_names() -> list[str]:
    """Return the names of the libraries in the working directory and in the user's folder."""
    return [path.name.removesuffix(ENDING) for path in _files()]


def list_libraries() -> list[Library]:
    """Read the libraries in the working directory and in the user's folder."""
    return [_from_json(path) for path in _files()]


def _files() -> list[Path]:
    folders = (Path(), libraries_folder())
    found = [path for folder in folders if folder.is_dir() for path in folder.glob(f"*{ENDING}")]
    return sorted({path.name: path for path in reversed(found)}.values())


def _stem(file: Path) -> str:
    stem = file.resolve().name.removesuffix(ENDING).split(".")[0]
    return re.sub(r"[^\w .&()+-]", "-", stem).strip(" .-") or "library"


def _without_defaults(entry: LibraryEntry) -> dict[str, Any]:
    left = ("row", "cites", "source")
    return {
        one.name: value
        for one in fields_of_class(entry)
        if one.name not in left and (value := getattr(entry, one.name)) not in (None, "", ())
    }


def _from_json(file: Path) -> Library:
    try:
        if file.stat().st_size > _MAX_SIZE:
            raise ValueError(f"it is larger than {_MAX_SIZE:,} bytes")
        document = orjson.loads(file.read_bytes())
        if document["format"] != "landscape-library" or document["version"] > _VERSION:
            raise ValueError("it has another format, or one of a later version")
        watched = {name: tuple(map(str, value)) for name, value in document["watched"].items()}
        return Library(
            checked_name(document["name"]),
            tuple(map(_entry_from, document["entries"])),
            Watched(**watched),
            {str(name): str(mark) for name, mark in document["marks"].items() if mark in MARKS},
            str(document["filter"]),
            str(document["source"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file} is not a library ({error}); read it again with: landscape library read."
        ) from error


def _entry_from(values: Mapping[str, Any]) -> LibraryEntry:
    known = {one.name for one in fields_of_class(LibraryEntry)}
    found = {name: value for name, value in values.items() if name in known}
    for name, value in found.items():
        if name in _LISTS:
            found[name] = tuple(map(str, value))
        elif name == "others":
            found[name] = tuple((str(one), str(text)) for one, text in value)
        elif name == "date":
            found[name] = date.fromisoformat(value)
        elif not isinstance(value, str):
            raise ValueError(f"{name} is {value!r:.60}, not a text")
    return LibraryEntry(**{"row": -1, "title": "", "abstract": "", **found})
