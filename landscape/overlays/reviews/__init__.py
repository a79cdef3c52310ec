"""Reviews: which papers are, where the literature has them, and where one would help.

Of an atlas: `reviews`, `review_gaps`, `backtest_reviews`. Of a table of papers: `recognise`.

>>> from landscape.overlays.reviews import recognise
>>> recognise.__name__
'recognise'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays.reviews.backtest import backtest_reviews
    from landscape.overlays.reviews.coverage import reviews
    from landscape.overlays.reviews.gaps import review_gaps
    from landscape.overlays.reviews.lists import read_review_list
    from landscape.overlays.reviews.recognising import recognise

__all__ = [
    "backtest_reviews",
    "read_review_list",
    "recognise",
    "review_gaps",
    "reviews",
]

_HOMES = {
    "backtest_reviews": "landscape.overlays.reviews.backtest",
    "read_review_list": "landscape.overlays.reviews.lists",
    "recognise": "landscape.overlays.reviews.recognising",
    "review_gaps": "landscape.overlays.reviews.gaps",
    "reviews": "landscape.overlays.reviews.coverage",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.overlays.reviews' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
