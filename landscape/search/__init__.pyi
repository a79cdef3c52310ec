from ._ads_proposals import propose_ads_query, proposed_order
from ._ads_queries import AdsQuery, ads_url, parse_ads
from ._engine import Engine, open_engine, search_papers, similar_papers
from ._entities import find_entities
from ._filters import Filter, parse_filter
from ._outliers import Spread, find_outliers, spread_of
from ._sentences import sentences_of
from ._settings import SearchSettings, Weights, search_settings

__all__ = [
    "AdsQuery",
    "Engine",
    "Filter",
    "SearchSettings",
    "Spread",
    "Weights",
    "ads_url",
    "find_entities",
    "find_outliers",
    "open_engine",
    "parse_ads",
    "parse_filter",
    "propose_ads_query",
    "proposed_order",
    "search_papers",
    "search_settings",
    "sentences_of",
    "similar_papers",
    "spread_of",
]
