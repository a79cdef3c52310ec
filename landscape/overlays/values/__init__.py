"""Values in abstracts: statements of a quantity, their tables, and figures' data."""

from landscape.overlays.values._statements import ValueStatement, find_values

__all__ = ["ValueStatement", "find_values"]
