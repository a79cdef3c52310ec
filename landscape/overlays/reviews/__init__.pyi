from .gaps import review_gaps as review_gaps
from .gaps import reviews as reviews
from .recognition import read_review_list as read_review_list
from .recognition import recognise as recognise
