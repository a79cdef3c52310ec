"""What panels are given, checked before any widget is made of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError
from landscape.search._settings import is_number, is_whole

if TYPE_CHECKING:
    from landscape.atlas import Atlas


def checked_atlas(atlas: Any) -> Atlas:
    """An open atlas.

    Raises
    ------
    InputError
        For its path, or anything else.

    Examples
    --------
    >>> checked_atlas("my.atlas")
    Traceback (most recent call last):
    landscape.errors.InputError: A panel needs an open atlas, not the path 'my.atlas'; open it ...
    """
    from landscape.atlas import Atlas

    if isinstance(atlas, Atlas):
        return atlas
    if isinstance(atlas, str | os.PathLike):
        path = os.fspath(atlas)
        raise InputError(
            f"A panel needs an open atlas, not the path {path!r}; open it with ls.open({path!r})."
        )
    raise InputError(f"A panel needs an open atlas, not {atlas!r}; open one with ls.open(path).")


def checked_whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number between two others.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> checked_whole("mark", 2, 1, 99)
    2
    >>> checked_whole("mark", 0, 1, 99)
    Traceback (most recent call last):
    landscape.errors.InputError: mark is 0; give a whole number from 1 to 99.
    """
    if not is_whole(value) or not low <= value <= high:
        raise InputError(f"{name} is {value!r}; give a whole number from {low:,} to {high:,}.")
    return int(value)


def checked_number(name: str, value: Any, low: float, high: float) -> float:
    """A number between two others.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> checked_number("strength", "much", 0.001, 1)
    Traceback (most recent call last):
    landscape.errors.InputError: strength must lie between 0.001 and 1, not 'much'.
    """
    if not is_number(value) or not low <= value <= high:
        raise InputError(f"{name} must lie between {low} and {high}, not {value!r}.")
    return float(value)


def checked_names(name: str, value: Any) -> list[str]:
    """No name, one, or several.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> checked_names("facilities", "ALMA"), checked_names("facilities", None)
    (['ALMA'], [])
    >>> checked_names("facilities", 5)
    Traceback (most recent call last):
    landscape.errors.InputError: facilities is 5; give a name, or a list of names.
    """
    if value is None:
        return []
    names = [value] if isinstance(value, str) else value
    listed = list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(one, str) for one in listed):
        raise InputError(f"{name} is {value!r}; give a name, or a list of names.")
    return listed


def checked_flag(name: str, value: Any) -> bool:
    """True or False.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> checked_flag("demonstration", "yes")
    Traceback (most recent call last):
    landscape.errors.InputError: demonstration is 'yes'; give True or False.
    """
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; give True or False.")
    return value
