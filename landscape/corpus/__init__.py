"""Read papers from files of many kinds, clean them, find duplicates, and write papers.parquet.

>>> from landscape.corpus import parse_arxiv_id
>>> parse_arxiv_id("https://arxiv.org/abs/2101.01542v3")
'2101.01542'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from landscape.corpus._cleaning import clean_text
    from landscape.corpus._identifiers import parse_arxiv_id, parse_bibcode, parse_doi
    from landscape.corpus._ingest import ingest
    from landscape.corpus._scanning import read_papers
    from landscape.corpus.readers import choose_reader
    from landscape.corpus.readers._citations import read_citations

__all__ = [
    "choose_reader",
    "clean_text",
    "ingest",
    "parse_arxiv_id",
    "parse_bibcode",
    "parse_doi",
    "read_citations",
    "read_papers",
]

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_cleaning": ["clean_text"],
        "_identifiers": ["parse_arxiv_id", "parse_bibcode", "parse_doi"],
        "_ingest": ["ingest"],
        "_scanning": ["read_papers"],
        "readers": ["choose_reader"],
        "readers._citations": ["read_citations"],
    },
)
