from ._authors import author_path as author_path
from ._topics import trends as trends
from .affiliations import countries as countries
from .affiliations import institutions as institutions
from .comparison import compare as compare
