"""Who cites whom: the graph as sparse matrices, and what it says of two papers and of one."""

from __future__ import annotations

from landscape.overlays.citations.influence import influence
from landscape.overlays.citations.matrix import Links, link
from landscape.overlays.citations.names import Resolved, resolve
from landscape.overlays.citations.relatedness import cocited, coupled

__all__ = ["Links", "Resolved", "cocited", "coupled", "influence", "link", "resolve"]
