from ._interest import Interest, Literature, rank_papers

__all__ = ["Interest", "Literature", "rank_papers"]
