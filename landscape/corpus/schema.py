"""The columns of ``papers.parquet``, and the small records that readers and stages exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    PAPERS_SCHEMA: pa.Schema

LIST_COLUMNS = (
    "ads_keywords",
    "authors",
    "aff",
    "cite_bibcodes",
    "ref_bibcodes",
    "source",
    "categories",
)
"""Columns that hold a list of texts in every row (an empty list where nothing is known)."""


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record as its source has it, under the names of the contract, not yet cleaned.

    Attributes
    ----------
    line : int
        Line of the file where the record starts, from 1; row number in a Parquet file.
    fields : mapping of str to object
        Values under the names of :data:`PAPERS_SCHEMA`, plus ``dates`` (candidates, the best
        first) and ``given_id`` (what the source calls the paper). Missing is missing.
    vector : sequence of float or None
        Ready-made embedding.
    position : tuple of float or None
        Ready-made coordinates on a map.
    """

    line: int
    fields: Mapping[str, Any]
    vector: Sequence[float] | np.ndarray[Any, Any] | None = None
    position: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that cannot become a paper, and why: one line of ``rejected.jsonl``.

    Examples
    --------
    >>> Rejection("papers.jsonl", 3, "no title").as_dict()["line"]
    3
    """

    file: str
    line: int
    reason: str
    snippet: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the record that is written to ``rejected.jsonl``."""
        return {
            "file": self.file,
            "line": self.line,
            "reason": self.reason,
            "snippet": self.snippet[:200],
        }


@dataclass(frozen=True, slots=True)
class Batch:
    """Some records of one file, cleaned.

    Attributes
    ----------
    papers : pyarrow.Table
        With the columns of :data:`PAPERS_SCHEMA`.
    rejected : list of Rejection
    n_read : int
        Records read: ``papers.num_rows + len(rejected)``.
    n_bytes : int
        Bytes of the file consumed since the last batch (compressed bytes of a ``.gz``).
    vectors, positions : numpy.ndarray of float32 or None
        Ready-made embeddings (n, d) and coordinates (n, 2) of the papers, row by row; NaN where
        a paper has none, None where no paper of the batch has one.
    """

    papers: pa.Table
    rejected: list[Rejection]
    n_read: int
    n_bytes: int
    vectors: np.ndarray[Any, Any] | None = None
    positions: np.ndarray[Any, Any] | None = None


@dataclass(frozen=True, slots=True)
class PartReport:
    """What became of one input file.

    Attributes
    ----------
    name : str
        Of the part: ``papers.parquet/<name>.parquet``.
    source : str
        Name of the reader, for example ``"arxiv"``.
    path : pathlib.Path
        The input file.
    rows, read, merged, rejected : int
        ``read = rows + merged + rejected``; `merged` records were folded into another one, of
        this or another part.
    oldest, newest : str or None
        ISO dates of the first and last paper of the part.
    categories : dict of str to int
        Papers by primary category, the most frequent first.
    ready_vectors : int
        Rows with a ready-made embedding.
    """

    name: str
    source: str
    path: Path
    rows: int
    read: int
    merged: int
    rejected: int
    oldest: str | None = None
    newest: str | None = None
    categories: dict[str, int] = field(default_factory=dict)
    ready_vectors: int = 0


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of all inputs; ``read = kept + merged + rejected``.

    Attributes
    ----------
    parts : list of PartReport
        In the order of the inputs.
    read, kept, merged, rejected : int
    embeddings : dict of str to pathlib.Path or None
        By part: file of ready-made embeddings, float32 (rows, d), in the order of the part's
        papers; None where the source brings none.
    coordinates : dict of str to pathlib.Path or None
        The same for ready-made map coordinates, float32 (rows, 2).
    """

    parts: list[PartReport]
    read: int
    kept: int
    merged: int
    rejected: int
    embeddings: dict[str, Path | None]
    coordinates: dict[str, Path | None]


@cache
def papers_schema() -> pa.Schema:
    """Return the columns of ``papers.parquet``, in order.

    They follow the published pathfinder dataset, so that the folder opens where that does.

    Returns
    -------
    pyarrow.Schema
        Also to be had as ``landscape.corpus.schema.PAPERS_SCHEMA``.

    Examples
    --------
    >>> papers_schema().names[:4]
    ['paper_id', 'ads_id', 'arxiv_id', 'title']
    """
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    return pa.schema(
        [
            ("paper_id", text),
            ("ads_id", text),
            ("arxiv_id", text),
            ("title", text),
            ("abstract", text),
            ("date", pa.date32()),
            ("date_precision", text),
            ("year", pa.int16()),
            ("cites", pa.int32()),
            ("read_count", pa.int32()),
            ("bibcode", text),
            ("doi", text),
            ("keywords", texts),
            ("ads_keywords", texts),
            ("authors", texts),
            ("aff", texts),
            ("cite_bibcodes", texts),
            ("ref_bibcodes", texts),
            ("source", texts),
            ("doctype", text),
            ("journal", text),
            ("categories", texts),
            ("title_original", text),
            ("abstract_original", text),
            ("generated", pa.bool_()),
        ]
    )


def __getattr__(name: str) -> Any:
    # A constant to its users, but pyarrow is only imported by those who ask for it.
    if name == "PAPERS_SCHEMA":
        return papers_schema()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
