from ._digest import make_digest
from ._interest import Interest, Literature, rank_papers
from ._refresh import RefreshedBibliography, refresh_bibliography, set_field

__all__ = [
    "Interest",
    "Literature",
    "RefreshedBibliography",
    "make_digest",
    "rank_papers",
    "refresh_bibliography",
    "set_field",
]
