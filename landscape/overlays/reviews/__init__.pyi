from .gaps import review_gaps as review_gaps
from .gaps import reviews as reviews
from .signs import read_review_list as read_review_list
from .signs import recognise as recognise
