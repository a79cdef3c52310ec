"""Analyses of an atlas: thesaurus concepts, facilities, reviews, trends and citations.

Each analysis is a function that takes an atlas and returns an `Analysis`, which contains a
table, denominators, the bounds of the corpus, and warnings.

- `landscape.overlays.thesaurus`: map the concepts of a thesaurus, and propose missing concepts;
- `landscape.overlays.missions`: find facilities in papers, and measure the impact of facilities;
- `landscape.overlays.reviews`: find review papers, and regions where a review would help most;
- `landscape.overlays.trends`: follow topics, authors, institutions and countries over time, and
  compare two selections of papers;
- `landscape.overlays.objects`: find celestial objects, and describe what is known about one;
- `landscape.overlays.values`: find values of quantities, and compare a value with them;
- `landscape.overlays.changes`: list what updates have changed, with positions on the map.

>>> from landscape import overlays
>>> overlays.missions.find_mentions("Observed with ALMA.")[0].facility
'ALMA'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
