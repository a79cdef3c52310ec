"""Refresh a BibTeX file: published preprints, withdrawn papers, identifiers, repeated entries."""

from __future__ import annotations

import os
import re
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
from landscape.corpus.readers.bibtex import BibtexReader
from landscape.corpus.records import RawRecord
from landscape.errors import InputError
from landscape.search import open_engine
from landscape.types import Analysis, Paper

if TYPE_CHECKING:
    from landscape.store import AtlasStore

_PLACE = ("journal", "volume", "pages", "year", "doi", "adsurl")  # fields of a publication
_INVALID = ("retracted", "withdrawn")


@dataclass(frozen=True)
class RefreshedBibliography:
    """BibTeX with the same keys, and a table of all changes.

    Attributes
    ----------
    text : str
        The file with the changes; everything else in it is as before.
    analysis : Analysis
        One row per change: ``key, new_key, kind, field, old, new, reason``. `new_key` differs from
        `key` for a repeated entry: cite it in its place.
    """

    text: str
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
    are never changed. An identifier is replaced only if the title and another identifier of the
    entry, or the title and the first author, belong to one paper.

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
    blocks = [(text, _entry(record, file)) for text, record in reader.blocks(file)]
    entries = [entry for _, entry in blocks if entry is not None]
    known = dict(zip(map(id, entries), _find(entries, atlases, online), strict=True))
    first: dict[str, str] = {}
    rows: list[tuple[str, str, _Change]] = []
    texts = []
    for text, entry in blocks:
        if entry is not None:
            found = known[id(entry)]
            for change in (*_changes(entry, found), *_repeated(entry, found, first)):
                if change.field:  # the table shows what the file had
                    change = replace(change, old=_field(text, change.field))
                    text = set_field(text, change.field, change.new)
                rows.append((entry.key, change.new_key or entry.key, change))
        texts.append(text)
    return RefreshedBibliography("".join(texts), _analysis(file, rows, len(entries), atlases))


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


def _changes(entry: LibraryEntry, known: Sequence[Paper]) -> Iterator[_Change]:
    if not known:
        yield _Change("unknown", "", "", "", "in no atlas; nothing is changed")
        return
    paper = known[0]
    if entry.title and not _same_title(entry, paper):
        other = f"{paper.label} is “{one_line(paper.title, most=80)}”"
        yield _Change("doubtful", "", "", "", f"an identifier of another paper? {other}")
        return
    if paper.status in _INVALID or paper.status == "corrected":
        reason = paper.status_reason or "no reason is known"
        yield _Change(str(paper.status), "", "", "", reason)
    published = paper.doi and not is_eprint_doi(paper.doi) and paper.journal
    is_now = bool(published or (paper.bibcode and not is_eprint_bibcode(paper.bibcode)))
    if is_now and not is_published(entry):
        yield from _publication(entry, paper)
    yield from _identifiers(entry, paper)


def _publication(entry: LibraryEntry, paper: Paper) -> Iterator[_Change]:
    """Yield the fields of the publication of a preprint, as ADS writes them."""
    fields, old = bibliography.bibtex_fields(paper), bibliography.bibtex_fields(entry)
    reason = f"published in {one_line(paper.journal or paper.bibcode or '')}"
    if entry.doctype in ("misc", "unpublished", "online", "eprint"):
        yield _Change("published", _TYPE, "", "article", reason)
    for name in _PLACE:
        new = fields.get(name, "")
        if new and new != old.get(name):
            yield _Change("published", name, "", new, reason)


def _identifiers(entry: LibraryEntry, paper: Paper) -> Iterator[_Change]:
    pairs = (
        ("doi", entry.doi, paper.doi if paper.doi and not is_eprint_doi(paper.doi) else None),
        ("eprint", entry.arxiv_id, paper.arxiv_id),
    )
    for name, old, new in pairs:
        if (
            not new
            or old == new
            or (name == "doi" and without_version(old) == without_version(new))
        ):
            continue
        if name == "doi" and not is_published(entry):
            continue  # it is a field of the publication
        kind = "identifier added" if not old else "identifier corrected"
        reason = f"of {paper.label}" + (", which has the same title" if old else "")
        if old and not _same_author(entry, paper):
            yield _Change("doubtful", "", old, new, f"{name} differs from that {reason}")
            continue
        yield _Change(kind, name, old or "", new, reason)
        if name == "eprint" and not old:
            yield _Change(kind, "archiveprefix", "", "arXiv", reason)


def _repeated(
    entry: LibraryEntry, known: Sequence[Paper], first: dict[str, str]
) -> Iterator[_Change]:
    """Yield a remark if an earlier entry is the same paper."""
    paper = next(iter(known), None)
    names = [*entry.names]
    if paper is not None and (not entry.title or _same_title(entry, paper)):
        names = [*_names(paper), paper.paper_id]  # those of the entry can be wrong
    if entry.title_key:
        names.append(f"title {entry.title_key}")
    earlier = next((first[name] for name in names if name in first), None)
    for name in names:
        first.setdefault(name, earlier or entry.key)
    if earlier is not None:
        reason = f"the same paper as {earlier}; both entries are kept, so that all texts compile"
        yield _Change("repeated", "", "", "", reason, earlier)


# -- text of an entry

_TYPE = "entry type"
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
    head = block[:end].rstrip()
    comma = "" if head.endswith(",") else ","
    return f"{head}{comma}\n  {name} = {written}\n{block[end:]}"


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
    opening = re.search(r"[{(]", block)
    at, end = (opening.end() if opening else len(block)), _closing(block)
    at = block.find(",", at) + 1 or end
    while at < end:
        match = _FIELD.search(block, at, end)
        if match is None:
            break
        stop = _end_of_value(block, match.end(), end)
        spans.setdefault(match[1].lower(), (match.end(), stop))
        at = stop + 1
    return spans


def _end_of_value(block: str, start: int, end: int) -> int:
    """Return the place after a value: the next comma outside of braces and quotation marks."""
    depth, is_quoted, at = 0, False, start
    while at < end:
        sign = block[at]
        if sign == "\\":
            at += 1
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
        elif sign == '"' and depth == 0:
            is_quoted = not is_quoted
        elif sign == "," and depth == 0 and not is_quoted:
            return at
        at += 1
    return start + len(block[start:end].rstrip())


def _closing(block: str) -> int:
    """Return the place of the closing delimiter of an entry."""
    opening = re.search(r"[{(]", block)
    depth, at = 0, opening.start() if opening else 0
    while opening and opening[0] == "{" and at < len(block):
        if block[at] == "\\":  # as in bibtexparser, an escaped brace does not count
            at += 2
            continue
        depth += {"{": 1, "}": -1}.get(block[at], 0)
        if depth == 0:
            return at
        at += 1
    return max(block.rfind("}"), block.rfind(")"), 0)
