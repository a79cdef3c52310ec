"""The line of code that opens an explorer as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.widgets.explorer_checks import LAYERS, USUAL_SIZE

if TYPE_CHECKING:
    from landscape.widgets.scene import Scene
    from landscape.widgets.views import View

_MOST_ROWS = 300


def line_of_code(
    scene: Scene,
    whole: View,
    *,
    colour_by: str,
    concept: str | None,
    facility: str | None,
    searched: tuple[str, str, int] | None,
    chosen_by: tuple[str, Any] | None,
) -> str:
    """Write the call that makes the same view; what is as usual is left out.

    Parameters
    ----------
    scene : Scene
    whole : View
        The window of the whole map.
    colour_by : str
    concept, facility : str or None
    searched : (str, str, int) or None
        Query, method and number of the search.
    chosen_by : (str, object) or None
        The keyword that makes the same selection, and its value; rows are written otherwise.

    Returns
    -------
    str

    Examples
    --------
    >>> from landscape.widgets.scene import Scene
    >>> from landscape.widgets.views import View
    >>> whole = View((0.0, 0.0, 7.4, 5.6))
    >>> line_of_code(
    ...     Scene(whole, (740, 560)), whole, colour_by="year", concept=None, facility=None,
    ...     searched=("dust", "hybrid", 10), chosen_by=None,
    ... )
    "MapExplorer(atlas, colour_by='year', search='dust', k=10)"
    """
    said = []
    if scene.view.differs_from(whole):
        digits = max(2, 3 - int(np.floor(np.log10(scene.view.width))))
        box = ", ".join(f"{side:.{digits}f}" for side in scene.view.box)
        said.append(f"view=({box})")
    if colour_by != "density":
        said.append(f"colour_by={colour_by!r}")
    if scene.time is not None:
        said.append(f"time={scene.time}")
    layers = tuple(name for name in LAYERS if name in scene.layers)
    if layers != ("names", "papers"):
        said.append(f"layers={layers!r}")
    said += [
        f"{kind}={name!r}"
        for kind, name in (("concept", concept), ("facility", facility))
        if name and kind in scene.overlays
    ]
    if searched is not None:
        query, method, k = searched
        said.append(f"search={query!r}")
        said += [f"method={method!r}"] if method != "hybrid" else []
        said += [f"k={k}"] if k != 30 else []
    if chosen_by is not None:
        said.append(f"{chosen_by[0]}={chosen_by[1]!r}")
    if scene.theme != "light":
        said.append(f"theme={scene.theme!r}")
    if scene.size != USUAL_SIZE:
        said.append(f"size={scene.size}")
    line = f"MapExplorer({', '.join(['atlas', *said])})"
    n = len(scene.selected)
    if chosen_by is not None or not n:
        return line
    if n > _MOST_ROWS:
        return f"{line}  # and {count(n, 'paper')} selected, too many to be written here"
    return f"{line}.select({scene.selected.tolist()})"
