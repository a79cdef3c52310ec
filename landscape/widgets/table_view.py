"""Tables for panels: columns that people read, intervals in words, everything escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["text", "count", "number", "share", "year", "points", "list"]
_MOST_ROWS = 200
_LONGEST_LIST = 5
_MANY_INTERVALS = 3


@dataclass(frozen=True)
class Column:
    """How one column of a table is read.

    Attributes
    ----------
    name : str
        In the data frame.
    heading : str
    form : {"text", "count", "number", "share", "year", "points", "list"}, default "text"
        ``"points"`` is a difference of shares, in percentage points.
    low, high : str, optional
        Columns that bound the value; by default those named ``NAME_low`` and ``NAME_high``.
    """

    name: str
    heading: str
    form: Form = "text"
    low: str | None = None
    high: str | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is aligned as numbers are."""
        return self.form not in ("text", "list")


def table_html(table: pd.DataFrame, columns: Sequence[Column], *, about: str) -> str:
    """Write a table that scrolls; of a long one the first 200 rows.

    Parameters
    ----------
    table : pandas.DataFrame
    columns : sequence of Column
        Those that the table lacks, and those that say nothing in any row, are left out.
    about : str
        What screen readers call it.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"label": ["<Dust>"], "share": [0.25], "share_low": [0.2],
    ...                       "share_high": [0.3]})
    >>> text = table_html(table, [Column("label", "Region"), Column("share", "Share", "share")],
    ...                   about="Shares")
    >>> "&lt;Dust&gt;" in text, "25.0% <span" in text, "20.0 to 30.0" in text
    (True, True, True)
    """
    shown = [one for one in columns if one.name in table and not table[one.name].isna().all()]
    rows = table.head(_MOST_ROWS)
    head = "".join(
        f"<th scope='col'{_aligned(column)}>{html.escape(column.heading)}</th>" for column in shown
    )
    cells = [_cells(rows, column) for column in shown]
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_aligned(column)}>{cell}</td>" for column, cell in zip(shown, row, strict=True)
        )
        + "</tr>"
        for row in zip(*cells, strict=True)
    )
    # Many intervals stand below their values, so that the table stays narrow.
    n_bounded = sum(_bounds(one)[0] in rows and _bounds(one)[1] in rows for one in shown)
    stacked = " landscape-stacked" if n_bounded >= _MANY_INTERVALS else ""
    more = len(table) - len(rows)
    rest = (
        f"<p class='landscape-quiet'>The first {len(rows):,} of {len(table):,} rows; the CSV file "
        "has all.</p>"
        if more
        else ""
    )
    return (
        f"<div class='landscape-scroll' tabindex='0' role='region' "
        f"aria-label='{html.escape(about, quote=True)}'>"
        f"<table class='landscape-table{stacked}'><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{rest}"
    )


def _aligned(column: Column) -> str:
    return " class='number'" if column.is_number else ""


def _bounds(column: Column) -> tuple[str, str]:
    return column.low or f"{column.name}_low", column.high or f"{column.name}_high"


def _cells(rows: pd.DataFrame, column: Column) -> list[str]:
    texts = [_written(value, column.form) for value in rows[column.name]]
    low, high = _bounds(column)
    if low not in rows or high not in rows:
        return texts
    return [
        f"{text} {_interval(a, b, column.form)}" if text else ""
        for text, a, b in zip(texts, rows[low], rows[high], strict=True)
    ]


def _interval(low: Any, high: Any, form: Form) -> str:
    if _is_missing(low) or _is_missing(high):
        return ""
    words = " to ".join(_written(value, form).removesuffix("%") for value in (low, high))
    return f"<span class='landscape-quiet'>({words})</span>"


def _written(value: Any, form: Form) -> str:
    if form == "list":
        return _listed(value)
    if _is_missing(value):
        return ""
    if form == "text":
        return html.escape(str(value))
    if form == "year":
        return f"{int(value)}"
    if form == "count":
        return f"{value:,.0f}"
    if form == "share":
        return f"{value:.1%}"
    if form == "points":
        return f"{100 * value:+.1f}"
    if value and not 1e-3 <= abs(value) < 1e4:
        return f"{value:.1e}"
    return f"{value:.3g}"


def _listed(value: Any) -> str:
    items = [str(one) for one in (() if _is_missing(value) else value)]
    more = f"; and {len(items) - _LONGEST_LIST} more" if len(items) > _LONGEST_LIST else ""
    return html.escape("; ".join(items[:_LONGEST_LIST]) + more)


def _is_missing(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return False
    if hasattr(value, "__len__") and not isinstance(value, str):
        return False
    return value is None or str(value) in ("<NA>", "NaT", "nan")
