"""Rivers where citations run: from the region that is cited to the one that cites it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.outreach.elevation import Ground

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from landscape.outreach.terrain import Peak, River

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Course = tuple[Floats, Floats, float]

MOST = 18  # rivers on a map: more are a net, not a picture
_LEAST_CITATIONS = 12
_BEYOND_CHANCE = 2.0
_STEP = 4  # cells of the ground for one cell of the courses
_SHORTEST = 0.06  # of the longer side: a shorter one is a stub


def citation_flows(citing: Ints, cited: Ints, topic: Ints) -> list[tuple[int, int, int]]:
    """Count the citations between regions that are more than chance would bring.

    By chance, region `j` would have of the citations of region `i` its share of all citations
    between regions: the product of the margins of the table of regions by regions.

    Parameters
    ----------
    citing, cited : ndarray of int, shape (n_citations,)
        Rows of the papers.
    topic : ndarray of int, shape (n_papers,)
        Region of each paper, -1 outside.

    Returns
    -------
    list of (int, int, int)
        Cited region, citing region and citations, for pairs with at least 12 and twice what chance
        would bring; of each pair the stronger direction, the largest first.

    Examples
    --------
    >>> topic = np.array([0, 0, 1, 1, 2, 2])
    >>> citing = np.repeat([0, 2, 4], [30, 30, 4])
    >>> cited = np.concatenate([np.repeat(3, 30), np.repeat(5, 30), np.repeat(1, 4)])
    >>> citation_flows(citing, cited, topic)
    [(1, 0, 30), (2, 1, 30)]
    """
    source, target = topic[cited], topic[citing]
    between = (source >= 0) & (target >= 0) & (source != target)
    source, target = source[between], target[between]
    if not len(source):
        return []
    regions, code = np.unique(np.concatenate([source, target]), return_inverse=True)
    n = len(regions)
    table = np.bincount(code[: len(source)] * n + code[len(source) :], minlength=n * n)
    table = table.reshape(n, n)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    strong = (table >= _LEAST_CITATIONS) & (table >= _BEYOND_CHANCE * chance)
    # Of two directions the stronger; of two alike the one from the lower number.
    lower = np.tri(n, k=-1, dtype=bool)
    strong &= (table > table.T) | ((table == table.T) & ~lower)
    flows = [(int(regions[i]), int(regions[j]), int(table[i, j])) for i, j in np.argwhere(strong)]
    return sorted(flows, key=lambda flow: (-flow[2], flow[0], flow[1]))


def find_rivers(
    ground: Ground, peaks: Sequence[Peak], flows: Sequence[tuple[int, int, int]]
) -> tuple[River, ...]:
    """Lay the strongest flows through the valleys, over land only.

    Each course is the path of least effort from peak to peak: low ground is easy, and where a
    river runs already it is easier still, so that rivers meet. Flows that no land joins are
    left away.

    Parameters
    ----------
    ground : Ground
    peaks : sequence of Peak
    flows : sequence of (int, int, int)
        As from `citation_flows`.

    Returns
    -------
    tuple of River
        At most 18, the largest first.
    """
    from scipy.ndimage import distance_transform_edt
    from skimage.graph import MCP_Geometric

    from landscape.outreach.terrain import River

    where = {peak.region: (peak.x, peak.y) for peak in peaks}
    height = ground.height[::_STEP, ::_STEP].astype(np.float64)
    share = height / height.max()
    inland = distance_transform_edt(height > 0)
    # Below 0 there is no way. Along the coast there is, but rivers have no business there.
    cost = 0.12 + 4 * np.maximum(share, 0) ** 1.5 + 1.5 * np.exp(-inland / 2)
    cost = np.where(share > 0.02, cost, -1.0)
    x0, x1, y0, y1 = ground.extent
    rows, columns = height.shape

    def cell_of(place: tuple[float, float]) -> tuple[int, int]:
        row = int((y1 - place[1]) / (y1 - y0) * rows)
        column = int((place[0] - x0) / (x1 - x0) * columns)
        return min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)

    rivers: list[River] = []
    for source, target, citations in flows:
        if len(rivers) == MOST:
            break
        if source not in where or target not in where:
            continue
        start, end = cell_of(where[source]), cell_of(where[target])
        if cost[start] < 0 or cost[end] < 0:
            continue
        search: Any = MCP_Geometric(cost)
        reach, _ = search.find_costs([start], [end])
        if not np.isfinite(reach[end]):
            continue
        path = np.array(search.traceback(end), dtype=np.float64)
        if len(path) < _SHORTEST * max(rows, columns):
            continue
        bed = path.astype(int)
        cost[bed[:, 0], bed[:, 1]] = np.minimum(cost[bed[:, 0], bed[:, 1]], 0.09)
        smooth = _rounded(path)
        rivers.append(
            River(
                source=source,
                target=target,
                citations=citations,
                x=x0 + (smooth[:, 1] + 0.5) * (x1 - x0) / columns,
                y=y1 - (smooth[:, 0] + 0.5) * (y1 - y0) / rows,
            )
        )
    return tuple(rivers)


def _rounded(path: Floats) -> Floats:
    """Take the corners of a grid out of a course; its ends stay."""
    from scipy.ndimage import gaussian_filter1d

    along = np.arange(len(path))
    finer = np.linspace(0, len(path) - 1, 4 * (len(path) - 1) + 1)
    fine = np.column_stack([np.interp(finer, along, side) for side in path.T])
    line = fine[0] + (fine[-1] - fine[0]) * (finer / finer[-1])[:, None]
    # What differs from the straight line is nothing at the ends, which are thus kept.
    bends = gaussian_filter1d(fine - line, 6.0, axis=0, mode="constant")
    bends *= np.minimum(1, np.minimum(finer, finer[::-1]) / 2)[:, None]
    return np.asarray(line + bends)


def river_cover(
    size: tuple[int, int], window: tuple[int, int, int, int], courses: Sequence[Course]
) -> NDArray[np.float32]:
    """Cover of the pixels of a window by rivers, each growing broader along its course.

    Parameters
    ----------
    size : (int, int)
        Width and height of the sheet, in pixels.
    window : (int, int, int, int)
        Left, top, right and bottom of the pixels wanted.
    courses : sequence of (ndarray, ndarray, float)
        Columns and rows of a course in shares of the width and height of the sheet, and its
        breadth at its end in pixels.

    Returns
    -------
    ndarray of float32, shape (bottom - top, right - left)
        0 to 1.

    Examples
    --------
    >>> course = (np.array([0.0, 1.0]), np.array([0.5, 0.5]), 2.0)
    >>> river_cover((8, 4), (4, 0, 8, 4), [course]).round(1)[:, 3].tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    left, top, right, bottom = window
    cover = np.zeros((bottom - top, right - left), dtype=np.float32)
    for across, down, breadth in courses:
        column, row = across * size[0], down * size[1]
        for i in range(len(column) - 1):
            a, b = (column[i], row[i]), (column[i + 1], row[i + 1])
            half = breadth * (0.4 + 0.6 * (i + 1) / (len(column) - 1)) / 2
            room = half + 1
            x0 = max(left, int(np.floor(min(a[0], b[0]) - room)))
            x1 = min(right, int(np.ceil(max(a[0], b[0]) + room)))
            y0 = max(top, int(np.floor(min(a[1], b[1]) - room)))
            y1 = min(bottom, int(np.ceil(max(a[1], b[1]) + room)))
            if x0 >= x1 or y0 >= y1:
                continue
            away_x = np.arange(x0, x1) + 0.5 - a[0]
            away_y = (np.arange(y0, y1) + 0.5 - a[1])[:, None]
            run = np.array([b[0] - a[0], b[1] - a[1]])
            part = np.clip((away_x * run[0] + away_y * run[1]) / max(run @ run, 1e-12), 0, 1)
            away = np.hypot(away_x - part * run[0], away_y - part * run[1])
            patch = cover[y0 - top : y1 - top, x0 - left : x1 - left]
            np.maximum(patch, np.clip(half + 0.5 - away, 0, 1), out=patch, casting="same_kind")
    return cover
