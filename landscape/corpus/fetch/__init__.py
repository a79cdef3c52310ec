"""Fetch papers and thesauri from arXiv, ADS, the pathfinder corpus and the UAT.

Every function writes files that `landscape build` reads. To resume an interrupted download, repeat
the same call.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
