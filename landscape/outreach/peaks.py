"""The highest ground of each region."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.outreach.elevation import Ground, relief_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.outreach.terrain import Peak

    Floats = NDArray[np.float64]

_VOTES = 25  # papers next to a summit that say whose it is


def find_peaks(ground: Ground, x: Floats, y: Floats, topic: NDArray[np.int64]) -> tuple[Peak, ...]:
    """Find the highest ground of each region that has land.

    A summit belongs to the region of most of the 25 papers nearest to it. A region without a
    summit of its own has its peak where its papers lie highest, on a neighbour's shoulder.

    Parameters
    ----------
    ground : Ground
    x, y : ndarray of float, shape (n_papers,)
        Map coordinates.
    topic : ndarray of int, shape (n_papers,)
        Region of each paper, -1 outside.

    Returns
    -------
    tuple of Peak
        The highest first.

    Examples
    --------
    >>> from landscape.outreach.elevation import raise_ground
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 600))
    >>> x[:300] += 9
    >>> ground = raise_ground(x, y, aspect=1.0, sea_share=0.97, margin=0.07)
    >>> peaks = find_peaks(ground, x, y, np.repeat([7, 8], 300))
    >>> sorted((peak.region, round(peak.x / 9)) for peak in peaks)
    [(7, 1), (8, 0)]
    """
    from landscape.outreach.terrain import Peak

    height = ground.height
    highest = max(float(height.max()), 1e-6)
    cells, inside = ground.cells_of(x, y)
    named = np.flatnonzero(inside & (topic >= 0) & (height.ravel()[cells] > 0))
    if not len(named):
        return ()
    papers = dict(
        zip(*(part.tolist() for part in np.unique(topic, return_counts=True)), strict=True)
    )
    best: dict[int, tuple[bool, float, int]] = {}
    # Shoulders first: a summit takes their place.
    order = named[np.lexsort((cells[named], height.ravel()[cells[named]]))]
    for region, last in zip(*np.unique(topic[order][::-1], return_index=True), strict=True):
        cell = int(cells[order[::-1][last]])
        best[int(region)] = (False, float(height.ravel()[cell]), cell)
    for cell, region in _summits(ground, x[named], y[named], topic[named]):
        claim = (True, float(height.ravel()[cell]), cell)
        best[region] = max(best[region], claim)
    drawn = relief_of(np.array([claim[1] for claim in best.values()], np.float32), highest=highest)
    x0, x1, y0, y1 = ground.extent
    rows, columns = height.shape
    found = [
        Peak(
            region=region,
            x=x0 + (cell % columns + 0.5) * (x1 - x0) / columns,
            y=y1 - (cell // columns + 0.5) * (y1 - y0) / rows,
            elevation=float(elevation),
            papers=papers[region],
            summit=summit,
        )
        for (region, (summit, _, cell)), elevation in zip(best.items(), drawn, strict=True)
    ]
    return tuple(sorted(found, key=lambda peak: (-peak.elevation, peak.region)))


def _summits(
    ground: Ground, x: Floats, y: Floats, topic: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """Cell and region of each local maximum on land."""
    from scipy.ndimage import maximum_filter
    from scipy.spatial import cKDTree

    height = ground.height
    width = 2 * round(ground.bandwidth) + 1
    top = (height == maximum_filter(height, size=width, mode="nearest")) & (height > 0)
    row, column = np.nonzero(top)
    x0, x1, y0, y1 = ground.extent
    places = np.column_stack(
        [
            x0 + (column + 0.5) * (x1 - x0) / height.shape[1],
            y1 - (row + 0.5) * (y1 - y0) / height.shape[0],
        ]
    )
    votes = min(_VOTES, len(x))
    _, nearest = cKDTree(np.column_stack([x, y])).query(places, k=votes)
    regions = topic[np.asarray(nearest).reshape(len(places), votes)]
    return [
        (int(cell), int(np.bincount(voting).argmax()))
        for cell, voting in zip(row * height.shape[1] + column, regions, strict=True)
    ]
