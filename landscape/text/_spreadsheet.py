"""Tables as CSV that a spreadsheet reads as text, whatever the papers say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a spreadsheet knows one


def as_csv(table: pd.DataFrame, **options: Any) -> str:
    """Write a table as CSV; text that a spreadsheet would run as a formula is quoted out."""
    safe = table.copy()
    for place, dtype in enumerate(table.dtypes):
        if str(dtype) in ("object", "string", "str", "category"):
            safe.isetitem(place, [_inert(cell) for cell in table.iloc[:, place]])
    written: str = safe.to_csv(index=False, lineterminator="\n", **options)
    return written


def _inert(cell: Any) -> Any:
    if isinstance(cell, list | tuple):
        cell = "; ".join(map(str, cell))
    if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA):
        return f"'{cell}"
    return cell
