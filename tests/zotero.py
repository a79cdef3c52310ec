"""A database with the tables of Zotero 7, for tests and benchmarks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT);
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TEXT,
  dateModified TEXT, libraryID INT NOT NULL, key TEXT NOT NULL);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE itemCreators (itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT, tagID INT, type INT);
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT,
  parentCollectionID INT, libraryID INT, key TEXT);
CREATE TABLE collectionItems (collectionID INT, itemID INT, orderIndex INT);
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT,
  contentType TEXT, path TEXT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted TEXT);
"""
_TYPES = ("note", "attachment", "annotation", "journalArticle", "preprint", "book", "thesis")


def write_zotero(
    folder: Path, papers: Iterable[Mapping[str, Any]], collections: Mapping[str, str] = {}
) -> Path:
    """Write ``zotero.sqlite`` and return the data directory.

    A paper has fields of Zotero, and ``type, authors, tags, collections, notes, files, deleted``
    and ``library``; `collections` gives the parent of a collection.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as database, database:
        database.executescript(_SCHEMA)
        add = database.execute
        database.executemany(
            "INSERT INTO libraries VALUES (?, ?, 1)", [(1, "user"), (2, "group"), (3, "feed")]
        )
        database.executemany("INSERT INTO itemTypes VALUES (?, ?)", enumerate(_TYPES, start=1))
        add("INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor')")
        ids: dict[tuple[str, object], int] = {}

        def id_of(table: str, key: object, *values: object) -> int:
            if (table, key) not in ids:
                marks = ", ".join("?" * len(values))
                row = add(f"INSERT INTO {table} VALUES (NULL, {marks})", values)  # noqa: S608
                ids[table, key] = int(row.lastrowid or 0)
            return ids[table, key]

        def collection(name: str) -> int:
            parent = collection(collections[name]) if name in collections else None
            return id_of("collections", name, name, parent, 1, f"C{len(ids)}")

        def item(kind: str, library: int = 1) -> int:
            number = len([one for one in ids if one[0] == "items"])
            key = f"{number:08d}"
            return id_of("items", key, _TYPES.index(kind) + 1, "", "", library, key)

        for paper in papers:
            own = dict(paper)
            number = item(own.pop("type", "journalArticle"), own.pop("library", 1))
            for place, name in enumerate(_list(own.pop("authors", ()))):
                last, _, first = name.partition(", ")
                who = id_of("creators", name, first, last, 0)
                add("INSERT INTO itemCreators VALUES (?, ?, 1, ?)", (number, who, place))
            for tag in own.pop("tags", ()):
                add("INSERT INTO itemTags VALUES (?, ?, 0)", (number, id_of("tags", tag, tag)))
            for name in own.pop("collections", ()):
                add("INSERT INTO collectionItems VALUES (?, ?, 0)", (collection(name), number))
            for note in own.pop("notes", ()):
                add("INSERT INTO itemNotes VALUES (?, ?, ?, '')", (item("note"), number, note))
            for path in own.pop("files", ()):
                of = item("attachment")
                add(
                    "INSERT INTO itemAttachments VALUES (?, ?, 0, 'application/pdf', ?)",
                    (of, number, f"storage:{path}"),
                )
                key = next(k for (t, k), v in ids.items() if t == "items" and v == of)
                place = folder / "storage" / str(key)
                place.mkdir(parents=True)
                (place / path).write_text(own.pop("content", ""))
            if own.pop("deleted", False):
                add("INSERT INTO deletedItems VALUES (?, '')", (number,))
            for name, value in own.items():
                field = id_of("fields", name, name, None)
                add(
                    "INSERT INTO itemData VALUES (?, ?, ?)",
                    (number, field, id_of("itemDataValues", value, value)),
                )
    return folder


def _list(names: Sequence[str]) -> Sequence[str]:
    return names
