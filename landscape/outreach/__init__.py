"""The outreach map: a literature as terrain, true to the data. Submodules are loaded on first use.

>>> from landscape import outreach
>>> outreach.render.__name__
'render'
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from landscape.outreach._diffusion import redraw
    from landscape.outreach._fidelity import Fidelity, judge
    from landscape.outreach._files import Rendering
    from landscape.outreach._painting import paint
    from landscape.outreach._rendering import render
    from landscape.outreach._terrain import Terrain, make_terrain

__all__ = [
    "Fidelity",
    "Rendering",
    "Terrain",
    "judge",
    "make_terrain",
    "paint",
    "redraw",
    "render",
]

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_diffusion": ["redraw"],
        "_fidelity": ["Fidelity", "judge"],
        "_files": ["Rendering"],
        "_painting": ["paint"],
        "_rendering": ["render"],
        "_terrain": ["Terrain", "make_terrain"],
    },
)
