from ._digest import make_digest
from ._interest import Interest, Literature, rank_papers
from ._refresh import RefreshedBibliography, refresh_bibliography, set_field
from ._view import library_graph, library_papers, library_regions, library_rows

__all__ = [
    "Interest",
    "Literature",
    "RefreshedBibliography",
    "library_graph",
    "library_papers",
    "library_regions",
    "library_rows",
    "make_digest",
    "rank_papers",
    "refresh_bibliography",
    "set_field",
]
