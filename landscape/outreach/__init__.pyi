from ._diffusion import redraw
from ._fidelity import Fidelity, judge
from ._painting import paint
from ._rendering import RenderSettings, render
from ._terrain import Terrain, make_terrain
from .files import Rendering

__all__ = [
    "Fidelity",
    "RenderSettings",
    "Rendering",
    "Terrain",
    "judge",
    "make_terrain",
    "paint",
    "redraw",
    "render",
]
