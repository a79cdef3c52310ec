"""Which facilities papers use, and what that did to the literature.

>>> from landscape.overlays.missions import find_mentions
>>> [mention.facility for mention in find_mentions("We observed it with ALMA.")]
['ALMA']
"""

from __future__ import annotations

from landscape.overlays.missions.facilities import Facility, find_facility, load_facilities
from landscape.overlays.missions.mentions import Mention, find_in_papers, find_mentions

__all__ = [
    "Facility",
    "Mention",
    "find_facility",
    "find_in_papers",
    "find_mentions",
    "load_facilities",
]
