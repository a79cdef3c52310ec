"""Which facilities papers use, and what that did to the literature.

>>> from landscape.overlays.missions import find_facility
>>> find_facility("webb").name
'JWST'
"""

from __future__ import annotations

from landscape.overlays.missions.facilities import Facility, find_facility, load_facilities

__all__ = ["Facility", "find_facility", "load_facilities"]
