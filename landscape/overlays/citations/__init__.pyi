from ._graph import Links as Links
from ._graph import cocited as cocited
from ._graph import coupled as coupled
from ._graph import influence as influence
from ._graph import link as link
from ._graph import resolve as resolve
