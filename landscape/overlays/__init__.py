"""Questions about the map: thesaurus, facilities, reviews, trends and citations.

Each question is a function of an atlas and returns an `Analysis`: a table with its denominators,
the bounds of the corpus and warnings.

- `landscape.overlays.thesaurus`: concepts of papers, where they are on the map, what is missing;
- `landscape.overlays.missions`: facilities that papers mention, and their impact on the literature;
- `landscape.overlays.reviews`: which papers are reviews, and where one would help most;
- `landscape.overlays.trends`: topics, authors and places over time, and two selections compared.

>>> from landscape import overlays
>>> overlays.missions.find_mentions("Observed with ALMA.")[0].facility
'ALMA'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
