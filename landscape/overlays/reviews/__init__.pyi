from ._gaps import backtest_reviews as backtest_reviews
from ._gaps import review_gaps as review_gaps
from ._gaps import reviews as reviews
from ._recognition import read_review_list as read_review_list
from ._recognition import recognise as recognise
