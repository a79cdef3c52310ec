from ._affiliations import countries as countries
from ._affiliations import institutions as institutions
from ._authors import author_path as author_path
from ._comparison import compare as compare
from ._topics import trends as trends
