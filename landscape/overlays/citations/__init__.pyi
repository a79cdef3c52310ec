from ._graph import Links as Links, cocited as cocited
from ._graph import coupled as coupled
from ._graph import influence as influence
from ._graph import link as link, resolve as resolve
