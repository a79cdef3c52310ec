from ._ads import fetch_ads
from ._ads_libraries import AdsLibraries, AdsLibrary
from ._arxiv import fetch_arxiv
from ._arxiv_newest import fetch_newest, search_arxiv
from ._download import Fetched, NoRecordsError, RetryPolicy
from ._files import fetch_pathfinder, fetch_uat
from ._full_texts import fetch_full_texts

__all__ = [
    "AdsLibraries",
    "AdsLibrary",
    "Fetched",
    "NoRecordsError",
    "RetryPolicy",
    "fetch_ads",
    "fetch_arxiv",
    "fetch_full_texts",
    "fetch_newest",
    "fetch_pathfinder",
    "fetch_uat",
    "search_arxiv",
]
