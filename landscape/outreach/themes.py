"""How the outreach map looks: find a theme by its name."""

from __future__ import annotations

from landscape.errors import InputError
from landscape.outreach.looks import Inks, Theme
from landscape.outreach.palettes import THEMES

__all__ = ["THEMES", "Inks", "Theme", "theme"]


def theme(name: str) -> Theme:
    """Find a theme by its name.

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
    >>> theme("night").inks.page
    '#070b18'
    """
    if name not in THEMES:
        raise InputError(f"No theme is called {name!r}; use one of {', '.join(THEMES)}.")
    return THEMES[name]
