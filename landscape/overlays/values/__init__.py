"""Values in abstracts: statements of a quantity, their tables, tension and outliers."""

from landscape.overlays.values._comparison import MANY_SIGMA, compare_value
from landscape.overlays.values._names import OF_THE_UNIVERSE, asked_quantity
from landscape.overlays.values._quantities import convert, find_measures, parse_unit, unit_text
from landscape.overlays.values._statements import ValueStatement, find_values
from landscape.overlays.values._tables import (
    Mean,
    find_method,
    in_unit,
    tension,
    tension_text,
    values,
    weighted_mean,
)

__all__ = [
    "MANY_SIGMA", "OF_THE_UNIVERSE", "Mean", "ValueStatement", "asked_quantity", "compare_value",
    "convert", "find_measures", "find_method", "find_values", "in_unit", "parse_unit", "tension",
    "tension_text", "unit_text", "values", "weighted_mean",
]  # fmt: skip
