from . import changes as changes
from . import library as library
from . import missions as missions
from . import reviews as reviews
from . import thesaurus as thesaurus
from . import trends as trends
