"""From map coordinates to the sheet, and whether what lies there is water."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.outreach.sheet import Box
    from landscape.outreach.terrain import Terrain
    from landscape.store._atlas_store import AtlasStore

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """Map coordinates to points of the page."""

    extent: tuple[float, float, float, float]
    box: Box

    def __call__(self, x: Any, y: Any) -> Floats:
        """Place map coordinates on the page, shape (n, 2)."""
        x0, x1, y0, y1 = self.extent
        left, low, right, top = self.box
        across = left + (np.asarray(x, float) - x0) * (right - left) / (x1 - x0)
        up = low + (np.asarray(y, float) - y0) * (top - low) / (y1 - y0)
        return np.column_stack([across, up])

    def on_water(self, terrain: Terrain) -> Callable[[Floats], bool]:
        """Make a test of whether boxes of the page lie on water altogether."""
        wet = terrain.elevation < 0
        rows, columns = wet.shape
        left, low, right, top = self.box
        dry = np.zeros((rows + 1, columns + 1), dtype=np.int64)  # running sums: any box at once
        dry[1:, 1:] = (~wet).cumsum(axis=0).cumsum(axis=1)

        def test(boxes: Floats) -> bool:
            across = (boxes[:, [0, 2]] - left) * columns / (right - left)
            down = (top - boxes[:, [3, 1]]) * rows / (top - low)
            c = np.clip(np.stack([np.floor(across[:, 0]), np.ceil(across[:, 1])]), 0, columns)
            r = np.clip(np.stack([np.floor(down[:, 0]), np.ceil(down[:, 1])]), 0, rows)
            (c0, c1), (r0, r1) = c.astype(int), r.astype(int)
            land = dry[r1, c1] - dry[r0, c1] - dry[r1, c0] + dry[r0, c0]
            return bool((land == 0).all())

        return test


def aspect_of(atlas: AtlasStore) -> float:
    """Width over height of the map, without the few papers that lie far off."""
    table = atlas.map
    if not len(table):
        raise InputError("This atlas holds no papers, so there is nothing to draw.")
    spans = [
        float(np.ptp(np.quantile(table[axis].to_numpy(np.float64), [0.002, 0.998])))
        for axis in ("x", "y")
    ]
    if not np.isfinite(spans).all() or min(spans) <= 0:
        return 1.0
    return float(np.clip(spans[0] / spans[1], 0.4, 2.5))
