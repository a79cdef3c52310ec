"""Reviews: which papers are reviews, where they are, and where one would help most.

Functions of an atlas: `reviews`, `review_gaps`, `backtest_reviews`; of a table: `recognise`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
