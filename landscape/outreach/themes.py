"""How the outreach map looks: find a theme by its name."""

from __future__ import annotations

import difflib

from landscape.errors import InputError
from landscape.outreach.looks import Inks, Theme
from landscape.outreach.palettes import THEMES

__all__ = ["THEMES", "Inks", "Theme", "find_theme"]


def find_theme(name: str) -> Theme:
    """Find a theme by its name; where that is a slip, the nearest is suggested.

    Parameters
    ----------
    name : {"atlas", "parchment", "night", "mono", "clear"}

    Returns
    -------
    Theme

    Raises
    ------
    InputError
        For any other name.

    Examples
    --------
    >>> find_theme("night").inks.page
    '#070b18'
    >>> find_theme("parchmnt")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no theme 'parchmnt'; did you mean 'parchment'? Themes: ...
    """
    if name in THEMES:
        return THEMES[name]
    near = difflib.get_close_matches(str(name).lower(), THEMES, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise InputError(f"There is no theme {name!r}{hint} Themes: {', '.join(THEMES)}.")
