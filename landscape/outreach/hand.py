"""How each kind of name is written: size, ink, capitals, lines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape.figures._labels import line_breaks
from landscape.outreach.fonts import breaks_anywhere
from landscape.outreach.letters import Run, Style, clusters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.outreach.themes import Inks

    Floats = NDArray[np.float64]

_LONGEST_WORD = 26


@dataclass(frozen=True)
class Place:
    """Something on the map that has a name.

    Attributes
    ----------
    key : str
        Its key in the gazetteer.
    name : str
        As lettered.
    kind : {"continent", "region", "water"}
    x, y : float
        Its peak or middle, in points of the page.
    weight : float
        Importance among its kind, 0 to 1.
    cloud : ndarray of float, shape (n, 2)
        Some of its papers, or of the middle line of a water, in points of the page.
    """

    key: str
    name: str
    kind: Literal["continent", "region", "water"]
    x: float
    y: float
    weight: float = 0.5
    cloud: Floats = field(default_factory=lambda: np.empty((0, 2)))


@dataclass(frozen=True)
class Hand:
    """The letterer.

    Attributes
    ----------
    inks : Inks
    families : tuple of str
        Fonts.
    scale : float
        Size of letters against those of an A4 page.
    """

    inks: Inks
    families: tuple[str, ...]
    scale: float

    def style(self, place: Place) -> Style:
        """Letters of a place: larger where it is more important."""
        weight = float(np.clip(place.weight, 0, 1))
        if place.kind == "continent":
            # A long name in capitals would cover its land.
            shrink = float(np.clip((20 / max(len(place.name), 1)) ** 0.4, 0.7, 1.0))
            size = (7.8 + 3.4 * weight) * shrink
            return Style(self.families, size * self.scale, bold=True, tracking=0.12)
        if place.kind == "water":
            return Style(self.families, (7.8 + 2.2 * weight) * self.scale, italic=True)
        return Style(self.families, (7.2 + 3.0 * weight) * self.scale)

    def written(self, place: Place) -> str:
        """The name as its kind is written: continents in capitals where the script has them."""
        if place.kind != "continent":
            return place.name
        return "".join(
            c if "\u0370" <= c <= "\u03ff" else c.upper() for c in place.name
        )  # a capital gamma is another symbol than a small one

    def inked(self, run: Run, place: Place) -> Run:
        """Colour a run."""
        ink = {
            "continent": (self.inks.land, self.inks.halo),
            "region": (self.inks.region, self.inks.halo),
            "water": (self.inks.sea, self.inks.sea_halo),
        }[place.kind]
        width = {"continent": 2.8, "region": 2.3, "water": 1.8}[place.kind] * self.scale
        return replace(
            run, colour=ink[0], halo=ink[1], halo_width=width, role=place.kind, place=place.key
        )


def broken(name: str, *, most_lines: int = 3) -> list[list[str]]:
    """List the ways to break a name into lines, whatever its script.

    Examples
    --------
    >>> broken("weak lensing")
    [['weak lensing'], ['weak', 'lensing']]
    >>> broken("引力波与中子星合并")
    [['引力波与中子星合并'], ['引力波与中', '子星合并']]
    """
    if breaks_anywhere(name):
        letters = clusters(name)
        ways = []
        for lines in range(1, min(most_lines, 1 + len(letters) // 5) + 1):
            step = -(-len(letters) // lines)
            ways.append(["".join(letters[i : i + step]) for i in range(0, len(letters), step)])
        return ways
    most = max(most_lines, min(5, 1 + len(name) // 24))
    return [
        way.split("\n") for way in line_breaks(name, most_lines=most, longest_word=_LONGEST_WORD)
    ]
