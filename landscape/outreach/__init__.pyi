from ._diffusion import redraw
from ._fidelity import Fidelity, judge
from ._painting import paint
from ._rendering import render
from ._terrain import Terrain, make_terrain
from .files import Rendering

__all__ = ["Fidelity", "Rendering", "Terrain", "judge", "make_terrain", "paint", "redraw", "render"]
