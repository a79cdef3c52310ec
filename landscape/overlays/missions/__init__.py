"""Facilities that papers mention, and their impact on the literature.

`impact`, `compare_facilities`, `before_after` and `uncertain_roles` take an atlas; `find_mentions`
takes a text.

>>> from landscape.overlays.missions import find_mentions
>>> [mention.facility for mention in find_mentions("We observed it with ALMA.")]
['ALMA']
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
