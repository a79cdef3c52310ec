"""The published pathfinder dataset (Iyer et al. 2024, arXiv:2408.01556), as Parquet shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from landscape.corpus.readers.files import PARQUET_MAGIC, checked
from landscape.corpus.readers.parquet import column_names, parquet_records
from landscape.corpus.schema import RawRecord, Rejection


class PathfinderReader:
    """Reads shards of ``kiyer/pathfinder_arxiv_data``, with their embeddings and coordinates.

    Columns: ``ads_id, arxiv_id, title, abstract, embed, umap_x, umap_y, date, cites, bibcode,
    keywords, ads_keywords, read_count, doi, authors, aff, cite_bibcodes, ref_bibcodes``. The
    extracted ``keywords`` are left out, our own take their place.
    """

    name = "pathfinder"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Say whether it is a Parquet file with pathfinder's names of columns."""
        if not head.startswith(PARQUET_MAGIC):
            return False
        # Other tables call their vectors "embed" too, and those are of another model.
        return {"title", "abstract", "ads_id", "umap_x"} <= set(column_names(path))

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Stream the rows, embeddings and coordinates with them."""
        return checked(path, parquet_records(path, on_bytes=on_bytes))
