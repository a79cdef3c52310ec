"""Readers of source files. To support a new format, add its names to ``data/formats.yaml``.

>>> [name for name in READERS if name.startswith("a")]
['ads', 'arxiv', 'arxiv_atom', 'ads_tagged']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from landscape.corpus.readers._containers import CONTAINERS
from landscape.corpus.readers._files import PARQUET_MAGIC, sample
from landscape.corpus.readers._formats import FORMATS
from landscape.corpus.readers._tables import PathfinderReader, TableReader
from landscape.corpus.readers.bibtex import BibtexReader
from landscape.corpus.readers.zotero import ZoteroReader
from landscape.corpus.records import RawRecord, Rejection
from landscape.errors import InputError

__all__ = ["READERS", "Reader", "choose_reader"]


class Reader(Protocol):
    """Interface of a reader for one file format."""

    name: str
    """Name of the reader in the column ``source`` and in the manifest, for example ``"arxiv"``."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this reader supports a file.

        `head` is the decompressed beginning of the file.
        """
        ...

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Yield the records of a file. Invalid records are yielded as rejections.

        `on_bytes` is called with the number of bytes read since the last call.
        :class:`landscape.errors.InputError` is raised if the file is damaged.
        """
        ...


# The most specific format is first, and the most general format is last.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        ZoteroReader(),
        PathfinderReader(),
        *(CONTAINERS[f.container](f) for f in FORMATS.values() if f.container in CONTAINERS),
        BibtexReader(),
        TableReader(),
    )
}
"""All readers by name, in the order in which they are tried."""


#: The forms "columns" and "split" of pandas.
_BY_COLUMNS = re.compile(
    rb'\s*+\{\s*+"[^"]{1,60}"\s*+:\s*+'
    rb'(?:\{\s*+"0"\s*+:|\[[^{}\[\]]{0,5000}\]\s*+,\s*+"(?:index"\s*+:\s*+\[[^{}\[\]]{0,5000}|data"\s*+:\s*+\[\s*+\[))'
)


def choose_reader(path: Path) -> Reader:
    """Return the reader for a file, based on the content of the file and not on its name.

    Parameters
    ----------
    path : pathlib.Path
        File in a supported format, plain or compressed with gzip.

    Returns
    -------
    Reader

    Raises
    ------
    landscape.errors.InputError
        If the file does not exist, is empty, is a directory, or has an unknown format.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "papers"
    >>> _ = path.write_text('{"id": "2101.00001", "title": "T", "abstract": "A", "versions": []}')
    >>> choose_reader(path).name
    'arxiv'
    """
    head = sample(path)
    if _BY_COLUMNS.match(head):
        raise InputError(
            f"{path} contains a table by columns, as pandas writes it by default. Write it with "
            "DataFrame.to_json(..., orient='records', lines=True)."
        )
    for reader in READERS.values():
        if reader.recognises(path, head):
            return reader
    if head.startswith(PARQUET_MAGIC):
        raise InputError(
            f"{path} is a Parquet file without a column of titles. "
            "Pass a file with at least the columns title and abstract."
        )
    start = head.lstrip()[:60].decode("utf-8", "replace")
    raise InputError(
        f"The format of {path} is unknown; it begins with {start!r}. Pass an arXiv "
        "metadata snapshot, an ADS reply, BibTeX, RIS or another export of a reference manager, or "
        "CSV, Parquet or JSON lines with the columns title and abstract."
    )
