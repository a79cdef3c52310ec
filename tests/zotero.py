"""A database with the tables of Zotero 7, for tests and benchmarks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
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

    A paper has fields of Zotero, and ``type, authors, tags, collections, notes, files, content,
    deleted`` and ``library``; `collections` gives the parent of a collection.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as database, database:
        database.executescript(_SCHEMA)
        writer = _Writer(database, folder, collections)
        for paper in papers:
            writer.write(paper)
    return folder


class _Writer:
    """Writer of items, which gives numbers to names when they are first used."""

    def __init__(
        self, database: sqlite3.Connection, folder: Path, parents: Mapping[str, str]
    ) -> None:
        self._add, self._folder, self._parents = database.execute, folder, parents
        self._ids: dict[tuple[str, object], int] = {}
        self._n_items = 0
        self._add("INSERT INTO libraries VALUES (1, 'user', 1), (2, 'group', 1), (3, 'feed', 1)")
        self._add("INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor')")
        database.executemany("INSERT INTO itemTypes VALUES (?, ?)", enumerate(_TYPES, start=1))

    def write(self, paper: Mapping[str, Any]) -> None:
        own = dict(paper)
        number, _ = self._item(own.pop("type", "journalArticle"), own.pop("library", 1))
        for place, name in enumerate(own.pop("authors", ())):
            last, _, first = name.partition(", ")
            who = self._id("creators", name, first, last, 0)
            self._add("INSERT INTO itemCreators VALUES (?, ?, 1, ?)", (number, who, place))
        for tag in own.pop("tags", ()):
            self._add("INSERT INTO itemTags VALUES (?, ?, 0)", (number, self._id("tags", tag, tag)))
        for name in own.pop("collections", ()):
            row = (self._collection(name), number)
            self._add("INSERT INTO collectionItems VALUES (?, ?, 0)", row)
        for note in own.pop("notes", ()):
            noted = (self._item("note")[0], number, note)
            self._add("INSERT INTO itemNotes VALUES (?, ?, ?, '')", noted)
        content = own.pop("content", "")
        for path in own.pop("files", ()):
            self._attach(number, path, content)
        if own.pop("deleted", False):
            self._add("INSERT INTO deletedItems VALUES (?, '')", (number,))
        for name, value in own.items():
            field = self._id("fields", name, name, None)
            value_id = self._id("itemDataValues", value, value)
            self._add("INSERT INTO itemData VALUES (?, ?, ?)", (number, field, value_id))

    def _attach(self, number: int, path: str, content: str) -> None:
        attachment, key = self._item("attachment")
        row = (attachment, number, f"storage:{path}")
        self._add("INSERT INTO itemAttachments VALUES (?, ?, 0, 'application/pdf', ?)", row)
        place = self._folder / "storage" / key
        place.mkdir(parents=True)
        (place / path).write_text(content)

    def _item(self, kind: str, library: int = 1) -> tuple[int, str]:
        self._n_items += 1
        key = f"{self._n_items:08d}"
        number = self._id("items", key, _TYPES.index(kind) + 1, "", "", library, key)
        return number, key

    def _collection(self, name: str) -> int:
        parent = self._collection(self._parents[name]) if name in self._parents else None
        return self._id("collections", name, name, parent, 1, f"C{name}")

    def _id(self, table: str, key: object, *values: object) -> int:
        if (table, key) not in self._ids:
            marks = ", ".join("?" * len(values))
            row = self._add(f"INSERT INTO {table} VALUES (NULL, {marks})", values)  # noqa: S608
            self._ids[table, key] = int(row.lastrowid or 0)
        return self._ids[table, key]
