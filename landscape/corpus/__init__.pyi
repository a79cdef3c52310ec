from ._ingest import ingest, preview, read_pairs
from ._scanning import KeptPart, part_names, read_papers
from .cleaning import clean_text
from .facilities import Facility, find_facility, load_facilities
from .identifiers import parse_arxiv_id, parse_bibcode, parse_doi
from .libraries import Library, read_library
from .readers import choose_reader
from .readers._citations import read_citations

__all__ = [
    "Facility",
    "KeptPart",
    "Library",
    "choose_reader",
    "clean_text",
    "find_facility",
    "ingest",
    "load_facilities",
    "parse_arxiv_id",
    "parse_bibcode",
    "parse_doi",
    "part_names",
    "preview",
    "read_citations",
    "read_library",
    "read_pairs",
    "read_papers",
]
