from ._digest import make_digest
from ._interest import Interest, Literature, rank_papers

__all__ = ["Interest", "Literature", "make_digest", "rank_papers"]
