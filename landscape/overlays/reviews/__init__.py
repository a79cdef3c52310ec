"""Find review papers, their density on the map, and regions where a review would help most.

`reviews` and `review_gaps` take an atlas; `recognise` takes a table of papers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
