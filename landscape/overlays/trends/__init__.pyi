from ._authors import author_path as author_path
from ._emergence import new_topics as new_topics
from ._topics import trends as trends
from .affiliations import countries as countries
from .affiliations import institutions as institutions
from .comparison import compare as compare
