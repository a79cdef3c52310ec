"""Papers and thesauri from the network: arXiv, ADS, the pathfinder corpus and the UAT.

Every function writes plain files that `landscape build` reads. A call that was interrupted
continues where it stopped when it is made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from landscape._http import RetryPolicy
    from landscape.corpus.fetch._ads import fetch_ads
    from landscape.corpus.fetch._arxiv import fetch_arxiv
    from landscape.corpus.fetch._download import Fetched
    from landscape.corpus.fetch._pathfinder import fetch_pathfinder
    from landscape.corpus.fetch._uat import fetch_uat

__all__ = [
    "Fetched",
    "RetryPolicy",
    "fetch_ads",
    "fetch_arxiv",
    "fetch_pathfinder",
    "fetch_uat",
]

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_ads": ["fetch_ads"],
        "_arxiv": ["fetch_arxiv"],
        "_download": ["Fetched", "RetryPolicy"],
        "_pathfinder": ["fetch_pathfinder"],
        "_uat": ["fetch_uat"],
    },
)
