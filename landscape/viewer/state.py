"""Papers that the state of the viewer stands for: filters, and outlines on the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.viewer.source import MapSource, PointSet

    Rows = NDArray[np.int64]


def passing(source: MapSource, given: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return which papers pass the filters, by row; as `passing` in ``model.js``."""
    passes = np.ones(len(source.order), dtype=bool)
    if given.get("years"):
        first, last = given["years"]
        passes &= (source.years >= first) & (source.years <= last)
    if given.get("region") is not None:
        row = source.topics.index[source.topics["topic_id"] == given["region"]]
        passes &= np.isin(source.region, source.inside(int(row[0]))) if len(row) else False
    for kind, name in (("facilities", given.get("facility")), ("concepts", given.get("concept"))):
        if name:
            chosen = find_set(source, kind, name)
            is_strong = kind == "facilities" and bool(given.get("uses"))
            passes &= _mask(len(passes), chosen.strong if is_strong else chosen.points)
    if given.get("reviews"):
        passes &= _mask(len(passes), *(one.points for one in source.sets["reviews"]))
    return passes[source.point_of]


def _mask(n: int, *points: Rows) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    for some in points:
        mask[some] = True
    return mask


def find_set(source: MapSource, kind: str, name: str) -> PointSet:
    """Return the papers of a facility or concept with this name, ignoring case.

    Raises
    ------
    InputError
        If fewer than three papers have it.
    """
    for one in source.sets[kind]:
        if one.name.casefold() == name.casefold():
            return one
    raise InputError(f"The map has no list of the papers of {name!r}; too few papers have it.")


def inside(source: MapSource, corners: Sequence[Sequence[float]]) -> Rows:
    """Return the rows of the papers inside an outline in map units, by the even-odd rule."""
    x0, y0, side = source.box
    plane = source.plane
    found = np.zeros(len(plane), dtype=bool)
    unit = [((x - x0) / side, (y - y0) / side) for x, y in corners]
    for (ax, ay), (bx, by) in zip(unit, [*unit[-1:], *unit[:-1]], strict=True):
        if ay == by:
            continue
        crosses = (ay > plane[:, 1]) != (by > plane[:, 1])
        found ^= crosses & (plane[:, 0] < (bx - ax) * (plane[:, 1] - ay) / (by - ay) + ax)
    return np.flatnonzero(found[source.point_of])
