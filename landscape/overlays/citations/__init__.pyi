from ._links import Links as Links
from ._links import cocited as cocited
from ._links import coupled as coupled
from ._links import influence as influence
from ._links import link as link
from ._links import resolve as resolve
