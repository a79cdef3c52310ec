"""Refresh a BibTeX file: published preprints, withdrawn papers, identifiers, repeated entries."""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from landscape import _bibliography as bibliography
from landscape._author_names import surname
from landscape._wording import join_names, one_line
from landscape.corpus.identifiers import is_eprint_bibcode, is_eprint_doi, without_version
from landscape.corpus.libraries import LibraryEntry, entry_of, is_published
from landscape.corpus.readers import choose_reader
from landscape.corpus.readers.bibtex import BibtexReader, encoded_as
from landscape.corpus.records import RawRecord
from landscape.errors import InputError
from landscape.search import open_engine
from landscape.types import INVALID, Analysis, Paper

if TYPE_CHECKING:
    from landscape.store import AtlasStore

_PLACE = (
    "journal",
    "journaltitle",
    "volume",
    "pages",
    "year",
    "doi",
    "adsurl",
)  # fields of a publication
_YEARS_APART = 3  # between a preprint and its publication


@dataclass(frozen=True)
class RefreshedBibliography:
    """BibTeX with the same keys, and a table of all changes.

    Attributes
    ----------
    text : str
        The file with the changes; everything else in it is as before.
    content : bytes
        The same in the encoding of the file, with its line ends and its byte order mark.
    analysis : Analysis
        One row per change: ``key, new_key, kind, field, old, new, reason``. `new_key` differs from
        `key` for a repeated entry: cite it in its place.
    """

    text: str
    content: bytes
    analysis: Analysis


@dataclass(frozen=True)
class _Change:
    """Change of an entry; without a field, a remark."""

    kind: str
    field: str
    old: str
    new: str
    reason: str
    new_key: str = ""


def refresh_bibliography(
    path: str | os.PathLike[str],
    atlases: Sequence[AtlasStore] = (),
    *,
    online: Sequence[Paper] = (),
) -> RefreshedBibliography:
    r"""Update the entries of a BibTeX file from atlases.

    An entry that no atlas has is listed as unknown, and is not changed. Titles, authors and keys
    are never changed. An entry and a paper are the same if the titles are the same, and an
    identifier, or the first author, the year and the kind agree; otherwise the entry is doubtful.
    An identifier is replaced only if it is known to be that of another paper.

    Parameters
    ----------
    path : path
        BibTeX file.
    atlases : sequence of AtlasStore
    online : sequence of Paper
        Records of the papers from a service, which are used like those of an atlas.

    Returns
    -------
    RefreshedBibliography

    Raises
    ------
    InputError
        If the file cannot be read, or is not BibTeX.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "my.bib")
    >>> _ = file.write_text("@misc{a, title={Dust}, doi={10.1000/1}}\n@misc{b, doi={10.1000/1}}")
    >>> refresh_bibliography(file).analysis.table[["key", "new_key", "kind"]].values.tolist()
    [['a', 'a', 'unknown'], ['b', 'b', 'unknown'], ['b', 'a', 'repeated']]
    """
    file = Path(path).expanduser()
    if not isinstance(reader := choose_reader(file), BibtexReader):
        raise InputError(f"{file} is not BibTeX ({reader.name}); pass a .bib file.")
    try:
        blocks = list(reader.blocks(file))
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{file} cannot be read ({error}); save it again.") from error
    entries = [_entry(record, file) for _, record in blocks]
    found = _find([one for one in entries if one is not None], atlases, online)
    known = iter(found)
    first: dict[str, str] = {}
    rows: list[tuple[str, str, _Change]] = []
    texts: list[str] = []
    for place, ((block, record), entry) in enumerate(zip(blocks, entries, strict=True)):
        text = block.decode("utf-8", "surrogateescape")  # other bytes stay as they are
        is_alone = bool(block) and all(one for one, _ in blocks[place + 1 : place + 2])
        if record is not None and entry is None:
            key = _HEAD_AND_KEY.match(text)
            why = getattr(record, "reason", "no title and no identifier")
            rows.append((key[1] if key else "", "", _Change("unreadable", "", "", "", why)))
        elif entry is not None and not is_alone:
            next(known)
            why = _Change("unreadable", "", "", "", "several entries on a line; write one each")
            rows.append((entry.key, entry.key, why))
        elif entry is not None:
            for change in _all_changes(entry, next(known), first, text):
                if change.field:  # the table shows what the file had
                    change = replace(change, old=_field(text, change.field))
                    text = set_field(text, change.field, change.new)
                rows.append((entry.key, change.new_key or entry.key, change))
        texts.append(text)
    content = encoded_as(file, "".join(texts))
    return RefreshedBibliography(
        "".join(texts), content, _analysis(file, rows, len(found), atlases)
    )


def _entry(record: object, file: Path) -> LibraryEntry | None:
    found = entry_of(record.fields, source=file.name) if isinstance(record, RawRecord) else None
    return found if isinstance(found, LibraryEntry) else None


def _analysis(
    file: Path,
    rows: Sequence[tuple[str, str, _Change]],
    n_entries: int,
    atlases: Sequence[AtlasStore],
) -> Analysis:
    import pandas as pd

    kinds = Counter(kind for _, kind in dict.fromkeys((key, one.kind) for key, _, one in rows))
    table = pd.DataFrame(
        [
            (key, new_key, one.kind, one.field, one.old, one.new, one.reason)
            for key, new_key, one in rows
        ],
        columns=["key", "new_key", "kind", "field", "old", "new", "reason"],
    )
    n_papers = sum(map(len, atlases))
    words = join_names([f"{n:,} {kind}" for kind, n in kinds.most_common()]) or "no changes"
    unknown = "Unknown entries are in no atlas; this does not mean that they do not exist."
    return Analysis(
        kind="refresh",
        table=table,
        caption=f"Changes of {file.name}: {words}.",
        denominators={"entries": n_entries} | ({"papers": n_papers} if n_papers else {}),
        bounds=atlases[0].coverage if atlases else {},
        warnings=(unknown,) if kinds["unknown"] else (),
    )


# -- what is known of an entry


def _find(
    entries: Sequence[LibraryEntry], atlases: Sequence[AtlasStore], online: Sequence[Paper]
) -> list[list[Paper]]:
    """Return the papers with an identifier or the title of each entry, the best match first."""
    by_name = {name: paper for paper in reversed(online) for name in _names(paper)}
    found = []
    for entry in entries:
        papers = []
        for atlas in atlases:
            indexes = open_engine(atlas).indexes
            titled = indexes.row_of_title(entry)
            rows = {*indexes.rows_of_entry(entry), *([] if titled is None else [titled])}
            papers += indexes.paper_table.papers(sorted(rows))
        papers += [by_name[name] for name in entry.names if name in by_name]
        found.append(sorted(papers, key=lambda paper: -_agreement(entry, paper)))
    return found


def _names(paper: Paper) -> Iterator[str]:
    return filter(None, (paper.arxiv_id, paper.doi, paper.bibcode))


def _agreement(entry: LibraryEntry, paper: Paper) -> int:
    """Return how many of title, first author and identifiers an entry and a paper share."""
    shared = {*_names(paper)} & {*entry.names}
    return 2 * _same_title(entry, paper) + _same_author(entry, paper) + len(shared)


def _same_title(entry: LibraryEntry, paper: Paper) -> bool:
    return bool(entry.title) and entry.has_title(paper.title)


def _same_author(entry: LibraryEntry, paper: Paper) -> bool:
    return bool(entry.authors and paper.authors) and (
        surname(entry.authors[0]) == surname(paper.authors[0])
    )


def _all_changes(
    entry: LibraryEntry, known: Sequence[Paper], first: dict[str, str], text: str
) -> Iterator[_Change]:
    doubt = _doubt(entry, known[0]) if known else ""
    if not known:
        yield _Change("unknown", "", "", "", "in no atlas; nothing is changed")
    elif doubt:
        yield _Change("doubtful", "", "", "", doubt)
    else:
        yield from _changes(entry, known, text)
    if not doubt:  # the identifiers of a doubtful entry can be wrong
        yield from _repeated(entry, known, first)


def _doubt(entry: LibraryEntry, paper: Paper) -> str:
    """Return why an entry and a paper may differ, or ""."""
    if entry.title and not _same_title(entry, paper):
        title = one_line(paper.title, most=80)
        return f"an identifier of another paper? {paper.label} is “{title}”"
    if {*_names(paper)} & {*entry.names}:
        return ""
    apart = abs(entry.year - paper.year) if entry.year and paper.year else 0
    if _same_author(entry, paper) and apart <= _YEARS_APART and not _other_kind(entry, paper):
        return ""
    return f"{paper.label} has this title, but another first author, year or kind"


def _other_kind(entry: LibraryEntry, paper: Paper) -> bool:
    kinds = ({one.kind or "article"} - {"review", "other"} or {"article"} for one in (entry, paper))
    return len(set.union(*kinds)) > 1


def _changes(entry: LibraryEntry, known: Sequence[Paper], text: str) -> Iterator[_Change]:
    paper = known[0]
    if paper.status in (*INVALID, "corrected"):
        reason = paper.status_reason or "no reason is known"
        yield _Change(str(paper.status), "", "", "", reason)
    has_doi = bool(paper.doi and not is_eprint_doi(paper.doi))
    is_now = has_doi or bool(paper.bibcode and not is_eprint_bibcode(paper.bibcode))
    if is_now and not is_published(entry):
        yield from _publication(entry, paper, text)
    yield from _identifiers(entry, known, text)


def _publication(entry: LibraryEntry, paper: Paper, text: str) -> Iterator[_Change]:
    """Yield the fields of the publication of a preprint, as ADS writes them."""
    is_biblatex = not {"journaltitle", "date", "eprinttype", "pubstate"}.isdisjoint(
        field_spans(text)
    )
    fields = bibliography.bibtex_fields(paper, is_biblatex=is_biblatex)
    if not paper.journal and not (paper.bibcode and not is_eprint_bibcode(paper.bibcode)):
        fields = {"doi": fields["doi"]}  # the journal is not known
    reason = f"published in {one_line(paper.journal or paper.bibcode or paper.doi or '')}"
    if entry.doctype in ("misc", "unpublished", "online", "eprint") and len(fields) > 1:
        yield _Change("published", _TYPE, "", "article", reason)
    if _field(text, "pubstate"):
        yield _Change("published", "pubstate", "", "published", reason)
    for name in _PLACE:
        new = fields.get(name, "")
        if new and new != _field(text, name):
            yield _Change("published", name, "", new, reason)


def _identifiers(entry: LibraryEntry, known: Sequence[Paper], text: str) -> Iterator[_Change]:
    paper = known[0]
    others = {name for one in known[1:] for name in _names(one)}
    archive = (_field(text, "archiveprefix") or _field(text, "eprinttype") or "arXiv").lower()
    for name, old, new in (
        ("doi", entry.doi, paper.doi if paper.doi and not is_eprint_doi(paper.doi) else None),
        ("eprint", entry.arxiv_id, paper.arxiv_id if archive == "arxiv" else None),
    ):
        if not new or without_version(old) == without_version(new):
            continue
        if name == "doi" and not is_published(entry):
            continue  # it is a field of the publication
        written = old or _field(text, name)
        if old and old not in others:
            reason = f"{paper.label} has {new}; {old} may be another version or work"
            yield _Change("doubtful", "", old, new, reason)
            continue
        kind = "identifier corrected" if written else "identifier added"
        reason = f"of {paper.label}" + (f"; {old} is another paper" if old else "")
        yield _Change(kind, name, "", new, reason)
        if name == "eprint" and not written:
            yield _Change(kind, "archiveprefix", "", "arXiv", reason)


def _repeated(
    entry: LibraryEntry, known: Sequence[Paper], first: dict[str, str]
) -> Iterator[_Change]:
    """Yield a remark if an earlier entry is the same paper."""
    names = [*_names(known[0]), known[0].paper_id] if known else [*entry.names]
    if entry.title_key and entry.authors:
        names.append(f"{entry.title_key} {surname(entry.authors[0])} {entry.year}")
    earlier = next((first[name] for name in names if name in first), None)
    for name in names:
        first.setdefault(name, earlier or entry.key)
    if earlier is not None:
        reason = f"the same paper as {earlier}; both entries are kept, so that all texts compile"
        yield _Change("repeated", "", "", "", reason, earlier)


# -- text of an entry

_TYPE = "entry type"
_HEAD_AND_KEY = re.compile(r"\s{0,99}@\s{0,9}[A-Za-z]{1,40}\s{0,99}[{(]\s{0,99}([^\s,{}()]{0,99})")
_HEAD = re.compile(r"(?m)(^[ \t]{0,80}@\s{0,9})([A-Za-z]{1,40})")
_FIELD = re.compile(r"(?<![\w+-])([A-Za-z][\w+-]{0,60})\s{0,20}=\s{0,20}")


def set_field(block: str, name: str, value: str) -> str:
    r"""Replace or add a field of a BibTeX entry; the rest of its text stays the same.

    Examples
    --------
    >>> print(set_field("@article{a,\n  title = {A {B}},\n  year = 2020\n}", "year", "2021"))
    @article{a,
      title = {A {B}},
      year = {2021}
    }
    >>> print(set_field("@misc{a, title = {A}}", "doi", "10.1/1"))
    @misc{a, title = {A},
      doi = {10.1/1}
    }
    """
    if name == _TYPE:
        return _HEAD.sub(rf"\g<1>{value}", block, count=1)
    written, spans = f"{{{value}}}", field_spans(block)
    if name in spans:
        start, end = spans[name]
        return f"{block[:start]}{written}{block[end:]}"
    end = _closing(block)
    head, line = block[:end].rstrip(), "\r\n" if "\r\n" in block else "\n"
    comma = "" if head.endswith(",") else ","
    return f"{head}{comma}{line}  {name} = {written}{line}{block[end:]}"


def _field(block: str, name: str) -> str:
    """Return the text of a field, or the type of an entry."""
    if name == _TYPE:
        head = _HEAD.search(block)
        return head[2] if head else ""
    start, end = field_spans(block).get(name, (0, 0))
    return re.sub(r"^[{\"]|[}\"]$", "", block[start:end])


def field_spans(block: str) -> dict[str, tuple[int, int]]:
    """Return the places of the values in a BibTeX entry, with their delimiters, by field."""
    spans: dict[str, tuple[int, int]] = {}
    head = _HEAD.search(block)
    opening = re.compile(r"[{(]").search(block, head.end() if head else 0)
    at, end = (opening.end() if opening else len(block)), _closing(block)
    at = block.find(",", at) + 1 or end
    while at < end:
        match = _FIELD.search(block, at, end)
        if match is None:
            break
        stop = _end_of_value(block, match.end(), end)
        spans.setdefault(match[1].lower(), (match.end(), stop))
        at = max(stop, match.end())
    return spans


_PIECE = re.compile(r"[^\s,#{}\"]{1,200}")


def _end_of_value(block: str, start: int, end: int) -> int:
    """Return the place after a value, which can be pieces joined by ``#``.

    A comma after it can be missing.
    """
    at = start
    while True:
        at = _end_of_piece(block, at, end)
        joined = re.compile(r"\s{0,200}#\s{0,200}").match(block, at, end)
        if joined is None or joined.end() >= end:
            return at
        at = joined.end()


def _end_of_piece(block: str, start: int, end: int) -> int:
    """Return the place after a text in braces or quotation marks, or after a word or number."""
    if block[start : start + 1] == "{":
        return min(_matching(block, start) + 1, end)
    if block[start : start + 1] == '"':
        depth, at = 0, start + 1
        while at < end and (block[at] != '"' or depth > 0):
            depth += {"{": 1, "}": -1}.get(block[at], 0)
            at += 1
        return min(at + 1, end)
    word = _PIECE.match(block, start, end)
    return word.end() if word else start


def _matching(block: str, start: int) -> int:
    """Return the place of the brace or parenthesis that closes an opening one.

    As in bibtexparser, an escaped brace does not count; parentheses count outside of braces only.
    """
    depth, at, is_round = 0, start, block[start] == "("
    while at < len(block):
        sign = block[at]
        if sign == "\\":
            at += 1
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0 and not is_round:
                return at
        elif sign == ")" and is_round and depth == 0:
            return at
        at += 1
    return len(block)


def _closing(block: str) -> int:
    """Return the place of the closing delimiter of an entry."""
    head = _HEAD.search(block)
    opening = re.compile(r"[{(]").search(block, head.end() if head else 0)
    found = _matching(block, opening.start()) if opening else len(block)
    return found if found < len(block) else max(block.rfind("}"), block.rfind(")"), 0)
