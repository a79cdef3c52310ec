"""What an explorer may be told, checked; and when its atlas was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.widgets.scene import Period

LAYERS = ("names", "papers", "reviews")
USUAL_SIZE = (740, 560)
_SMALLEST, _LARGEST = (320, 240), (2400, 1800)


def checked_size(size: Sequence[int]) -> tuple[int, int]:
    """Width and height of a map in pixels.

    Raises
    ------
    InputError
        If that is no size, or one that no page shows.
    """
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        raise InputError(f"The size is {size!r}; give width and height in pixels.") from None
    if not (_SMALLEST[0] <= width <= _LARGEST[0] and _SMALLEST[1] <= height <= _LARGEST[1]):
        raise InputError(
            f"The size is {width} x {height} pixels; give {_SMALLEST[0]} x {_SMALLEST[1]} to "
            f"{_LARGEST[0]} x {_LARGEST[1]}."
        )
    return width, height


def checked_name(kind: str, name: Any) -> str | None:
    """The name of a concept or facility; None for an empty one.

    Raises
    ------
    InputError
        If it is no text.

    Examples
    --------
    >>> checked_name("concept", " Exoplanets "), checked_name("concept", None)
    ('Exoplanets', None)
    """
    if name is not None and not isinstance(name, str):
        raise InputError(f"The {kind} is {name!r}; give its name.")
    return (name or "").strip() or None


def checked_outline(outline: Any) -> list[tuple[float, float]]:
    """Corners of an outline in map units.

    Raises
    ------
    InputError
        If they are none.

    Examples
    --------
    >>> checked_outline([(0, 0), (1, 0), (1, 1)])
    [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]
    """
    try:
        return [(float(x), float(y)) for x, y in outline]
    except (TypeError, ValueError):
        raise InputError(
            f"The outline is {outline!r}; give its corners as a list of (x, y) in map units."
        ) from None


def checked_factor(factor: Any) -> float:
    """How many times closer to look.

    Raises
    ------
    InputError
        If that is no number above 0.
    """
    try:
        times = float(factor)
    except (TypeError, ValueError):
        times = 0.0
    if not 0 < times < float("inf"):
        raise InputError(f"The zoom is {factor!r}; give a number above 0, such as 2 or 0.5.")
    return times


def checked_layers(names: Iterable[str]) -> frozenset[str]:
    """Some of `LAYERS`.

    Raises
    ------
    InputError
        If one of them is none.

    Examples
    --------
    >>> sorted(checked_layers(["papers", "names"]))
    ['names', 'papers']
    """
    try:
        chosen = [names] if isinstance(names, str) else list(names)
    except TypeError:
        raise InputError(
            f"The layers are {names!r}; give a list of some of {', '.join(LAYERS)}."
        ) from None
    unknown = [name for name in chosen if name not in LAYERS]
    if unknown:
        raise InputError(f"There is no layer {unknown[0]!r}; there are {', '.join(LAYERS)}.")
    return frozenset(chosen)


def checked_time(period: Sequence[int] | None, known: Period | None) -> Period | None:
    """First and last year; None where that leaves out no paper.

    Parameters
    ----------
    period : (int, int) or None
    known : (int, int) or None
        Of all papers.

    Raises
    ------
    InputError
        If that is no period.

    Examples
    --------
    >>> checked_time((2001, 2005), (1990, 2020)), checked_time((1980, 2020), (1990, 2020))
    ((2001, 2005), None)
    """
    if period is None:
        return None
    try:
        first, last = (int(year) for year in period)
    except (TypeError, ValueError):
        raise InputError(f"The time is {period!r}; give the first and the last year.") from None
    if last < first:
        raise InputError(f"The time ends in {last}, before it begins in {first}.")
    return None if known is None or (first <= known[0] and last >= known[1]) else (first, last)


def time_within(period: Period | None, known: Period | None) -> Period | None:
    """What of a time window lies within all years; None where that is nothing, or everything.

    Examples
    --------
    >>> time_within((1990, 2005), (2000, 2020)), time_within((1980, 1985), (2000, 2020))
    ((2000, 2005), None)
    """
    if period is None or known is None:
        return None
    first, last = max(period[0], known[0]), min(period[1], known[1])
    return checked_time((first, last), known) if first <= last else None


def written_at(atlas: Any) -> int:
    """When the atlas on disk was last written; 0 where it is gone."""
    from landscape.store._manifest import MANIFEST_NAME

    try:
        return int((atlas.path / MANIFEST_NAME).stat().st_mtime_ns)
    except OSError:
        return 0
