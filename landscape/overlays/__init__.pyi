from . import changes as changes
from . import library as library
from . import missions as missions
from . import objects as objects
from . import reviews as reviews
from . import thesaurus as thesaurus
from . import trends as trends
from . import values as values
