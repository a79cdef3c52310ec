"""Reader of the database of Zotero, which is read without changes, also while Zotero runs."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landscape._wording import INVISIBLE
from landscape.corpus.readers._files import SQLITE_MAGIC
from landscape.corpus.readers._formats import fields_of
from landscape.corpus.records import RawRecord, Rejection
from landscape.errors import InputError

DATABASE = "zotero.sqlite"
_TRIES = 5  # copies of a database that Zotero is changing
_TAG = re.compile(r"<[^<>]{1,2000}>")
_CITATION_KEY = re.compile(r"^\s{0,9}citation key\s{0,9}:\s{0,9}(\S{1,200})", re.I | re.MULTILINE)
_MAX_NOTE = 20_000  # characters
_PAPERS = """
    SELECT i.itemID, t.typeName, i.key FROM items i JOIN itemTypes t USING (itemTypeID)
    WHERE t.typeName NOT IN ('attachment', 'note', 'annotation')
    AND i.itemID NOT IN (SELECT itemID FROM deletedItems)
    AND i.libraryID NOT IN (SELECT libraryID FROM libraries WHERE type = 'feed')
    ORDER BY i.itemID
"""
_VALUES = """
    SELECT d.itemID, f.fieldName, v.value FROM itemData d
    JOIN fields f USING (fieldID) JOIN itemDataValues v USING (valueID)
"""
_AUTHORS = """
    SELECT x.itemID, c.lastName, c.firstName, t.creatorType FROM itemCreators x
    JOIN creators c USING (creatorID) JOIN creatorTypes t USING (creatorTypeID)
    ORDER BY x.itemID, x.orderIndex
"""
_TAGS = "SELECT x.itemID, t.name FROM itemTags x JOIN tags t USING (tagID) ORDER BY 1, 2"
_COLLECTIONS = "SELECT collectionID, collectionName, parentCollectionID FROM collections"
_IN_COLLECTIONS = "SELECT itemID, collectionID FROM collectionItems ORDER BY 1, 2"
_NOTES = """
    SELECT parentItemID, note FROM itemNotes
    WHERE parentItemID IS NOT NULL AND itemID NOT IN (SELECT itemID FROM deletedItems)
    ORDER BY itemID
"""
_FILES = """
    SELECT a.parentItemID, i.key, a.path FROM itemAttachments a JOIN items i USING (itemID)
    WHERE a.parentItemID IS NOT NULL AND a.path IS NOT NULL
    AND a.itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY a.itemID
"""


class ZoteroReader:
    """Reader of ``zotero.sqlite``, or of the data directory of Zotero that contains it.

    Beside the fields of a paper, a record has its ``tags``, ``collections`` (paths such as
    ``"Thesis/Chapter 2"``), ``own_notes`` and ``files`` (paths of the attachments).
    """

    name = "zotero"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002 - part of the protocol
        """Return whether the file is an SQLite database."""
        return head.startswith(SQLITE_MAGIC)

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Yield the papers of the database as records."""
        file = path / DATABASE if path.is_dir() else path
        with _copied(file) as copy, closing(sqlite3.connect(copy)) as database:
            # A database can contain text that is not UTF-8.
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            try:
                yield from _records(database, file.parent)
            except sqlite3.Error as error:
                raise InputError(
                    f"{file} cannot be read as a database of Zotero ({error}); pass the folder or "
                    f"the file {DATABASE} of Zotero 5 or later."
                ) from error
        if on_bytes is not None:
            on_bytes(file.stat().st_size)


@contextmanager
def _copied(file: Path) -> Iterator[Path]:
    """Yield a copy of a database that no program changes.

    Zotero locks its database while it runs. If it writes during a copy, the file is copied again;
    the journal is copied too, so that SQLite removes an unfinished change.
    """
    if not file.is_file():
        raise InputError(f"There is no database {file}; pass the data directory of Zotero.")
    with TemporaryDirectory(prefix="landscape-zotero-") as folder:
        target = Path(folder) / DATABASE
        for _ in range(_TRIES):
            before = _state(file)
            for ending in ("", "-journal", "-wal"):
                source, copy = Path(f"{file}{ending}"), Path(f"{target}{ending}")
                copy.unlink(missing_ok=True)
                with suppress(FileNotFoundError):
                    shutil.copyfile(source, copy)
            if before == _state(file):
                yield target
                return
        raise InputError(f"{file} changes too often to be read; wait until Zotero has finished.")


def _state(file: Path) -> list[tuple[int, int]]:
    found = []
    for ending in ("", "-journal", "-wal"):
        with suppress(FileNotFoundError):
            status = Path(f"{file}{ending}").stat()
            found.append((status.st_mtime_ns, status.st_size))
    return found


def _records(database: sqlite3.Connection, folder: Path) -> Iterator[RawRecord]:
    values: dict[int, dict[str, Any]] = defaultdict(dict)
    for item, name, value in database.execute(_VALUES):
        values[item][name] = value
    authors = _names(database)
    tags = _lists(database.execute(_TAGS))
    paths = _collections(database)
    collections = _lists(
        (item, paths[number]) for item, number in database.execute(_IN_COLLECTIONS)
    )
    notes = _lists((item, _plain(note or "")) for item, note in database.execute(_NOTES))
    files = _lists(
        (item, str(_attachment(folder, key, path))) for item, key, path in database.execute(_FILES)
    )
    for item, kind, key in database.execute(_PAPERS).fetchall():
        known = values.pop(item, {})
        yield RawRecord(
            item,
            _fields(kind, key, known, authors.get(item, []))
            | {
                "tags": tags.get(item, []),
                "collections": collections.get(item, []),
                "own_notes": notes.get(item, []),
                "files": files.get(item, []),
            },
        )


def _fields(kind: str, key: str, values: dict[str, Any], authors: list[str]) -> dict[str, object]:
    """Return the fields of a paper. Their names are those of the tables that Zotero exports."""
    extra = str(values.get("extra", ""))
    given = _CITATION_KEY.search(extra)
    # "2021-05-00 May 2021": the date in a form that sorts, and as the user has written it.
    date = re.sub(r"(?:-00)+$", "", str(values.get("date", "")).split(" ")[0]).removesuffix("-00")
    # The identifier of a preprint, such as "arXiv:2101.00001", is searched in all texts.
    known = {**values, "date": date if date.strip("0-") else "", "extra": extra}
    fields = fields_of({**known, "itemtype": kind, "authors": authors})
    fields["given_id"] = values.get("citationKey") or (given[1] if given else key)
    return fields


def _names(database: sqlite3.Connection) -> dict[int, list[str]]:
    """Return the authors of each item, or its first kind of creators if it has no authors."""
    creators: dict[int, dict[str, list[str]]] = defaultdict(dict)
    for item, last, first, kind in database.execute(_AUTHORS):
        name = ", ".join(part for part in (last, first) if part)
        if name:
            creators[item].setdefault(kind, []).append(name)
    return {
        item: of_kind.get("author") or next(iter(of_kind.values()))
        for item, of_kind in creators.items()
    }


def _lists(rows: Iterator[tuple[int, str]] | sqlite3.Cursor) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for item, text in rows:
        if text:
            found[item].append(text)
    return found


def _collections(database: sqlite3.Connection) -> dict[int, str]:
    """Return the path of each collection, such as ``"Thesis/Chapter 2"``."""
    known = {number: (name, parent) for number, name, parent in database.execute(_COLLECTIONS)}
    paths = {}
    for number in known:
        names: list[str] = []
        at: int | None = number
        while at in known and len(names) < len(known):  # a damaged database can have a circle
            names.insert(0, str(known[at][0]))
            at = known[at][1]
        paths[number] = "/".join(names)
    return defaultdict(str, paths)


def _plain(note: str) -> str:
    """Return the text of a note, which Zotero stores as HTML."""
    import html

    text = html.unescape(_TAG.sub(" ", note[:_MAX_NOTE]))
    return " ".join(INVISIBLE.sub(" ", text).split())


def _attachment(folder: Path, key: str, path: str) -> Path:
    """Return the path of an attachment; the files that Zotero stores are in a folder each."""
    if path.startswith("storage:"):
        return folder / "storage" / key / Path(path.removeprefix("storage:")).name
    return Path(path.removeprefix("attachments:"))
