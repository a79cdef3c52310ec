from ._ads_queries import AdsQuery, parse_ads, propose_ads_query
from ._filters import Filter, parse_filter
from .engine import Engine, open_engine, search_papers, similar_papers
from .outliers import Spread, spread_of
from .sentences import find_entities, sentences_of
from .settings import SearchSettings, Weights

__all__ = [
    "AdsQuery",
    "Engine",
    "Filter",
    "SearchSettings",
    "Spread",
    "Weights",
    "find_entities",
    "open_engine",
    "parse_ads",
    "parse_filter",
    "propose_ads_query",
    "search_papers",
    "sentences_of",
    "similar_papers",
    "spread_of",
]
