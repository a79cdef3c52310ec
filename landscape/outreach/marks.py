"""What is drawn over the picture: lines, dots and boxes, beside the runs of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from landscape.outreach.letters import Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Line:
    """A line on the page: points of shape (n, 2), colour, and width in points."""

    points: Floats
    colour: str
    width: float
    role: str = ""


@dataclass(frozen=True)
class Dot:
    """A filled circle: centre and radius in points."""

    x: float
    y: float
    radius: float
    colour: str
    edge: str = ""
    edge_width: float = 0.0
    role: str = ""


@dataclass(frozen=True)
class Panel:
    """A box: filled where `face` names a colour, outlined where `edge` does."""

    box: tuple[float, float, float, float]
    face: str = ""
    edge: str = ""
    width: float = 0.0
    role: str = ""


@dataclass(frozen=True)
class Inset:
    """A small picture in a box, such as the key of the colours."""

    picture: Picture
    box: tuple[float, float, float, float]
    role: str = ""


Mark = Run | Line | Dot | Panel | Inset
