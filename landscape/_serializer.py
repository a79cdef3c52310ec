"""Convert records to JSON values and tables, and tables to CSV, LaTeX, text and HTML."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from landscape._bibliography import escape_latex
from landscape._columns import heading, shown_columns
from landscape._wording import escape_invisible

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # possible first characters of a formula
_MAX_ROWS = 40
_MANY_COLUMNS, _FEW_ROWS = 12, 6
_LATEX_COLUMNS, _LONG_CELL = 8, 48  # columns of a LaTeX table, characters of a cell
_BOUNDS = ("low", "high")
_NOT_SHOWN = {"papers_low", "papers_high"}  # the number of papers is exact
_ZERO, _CERTAIN = 1e-9, 0.001
_THOUSANDS = re.compile(r"^\d{4,}")
_YEAR = re.compile(r"(?:^|_)year(?:_|$)|^last_review$")


class Record(ABC):
    """Base class of records that convert to JSON values."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return {key: plain(value) for key, value in self._json().items()}

    @abstractmethod
    def _json(self) -> dict[str, object]:
        """Return the fields by JSON key."""


def plain(value: object) -> Any:
    """Convert records, data frames, NumPy arrays, dates and tuples to JSON values.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"k": np.int64(3), "w": (np.float32(0.5),), 1: date(2020, 1, 2), "x": float("nan")})
    {'k': 3, 'w': [0.5], '1': '2020-01-02', 'x': None}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(inner) for inner in items]
    if isinstance(value, Record):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "to_json"):  # pandas
        return json.loads(value.to_json(orient="records", date_format="iso"))
    if hasattr(value, "tolist"):  # NumPy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None  # JSON has no NaN or infinity
    return value if value is None or isinstance(value, str | int) else str(value)


class Convertible(Protocol):
    """A result that converts to JSON values."""

    def to_dict(self) -> dict[str, Any]: ...


def to_json(result: Convertible | Mapping[str, object]) -> str:
    """Write a result or a dict as indented JSON."""
    document = plain(result if isinstance(result, Mapping) else result.to_dict())
    # The escapes of `escape_invisible` are those of JSON, so the values stay the same.
    return escape_invisible(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))


def to_table(columns: Mapping[str, Sequence[object]], **types: str) -> pd.DataFrame:
    """Make a data frame, with types of some columns, and join the items of tuples."""
    import pandas as pd

    rows = [
        ["; ".join(cell) if isinstance(cell, tuple) else cell for cell in row]
        for row in zip(*columns.values(), strict=True)
    ]
    return pd.DataFrame(rows, columns=list(columns)).astype(types)


def to_csv(table: pd.DataFrame, *, float_format: str | None = None) -> str:
    """Write a table as CSV, with a quotation mark before text that looks like a formula.

    Parameters
    ----------
    table : pandas.DataFrame
        Table to write. The items of lists are joined with semicolons.
    float_format : str, optional
        Format of decimal numbers, such as ``"%.6g"``. By default, all digits are written.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> print(to_csv(pd.DataFrame({"title": ["=HYPERLINK(1)"], "names": [["a", "b"]]})), end="")
    title,names
    '=HYPERLINK(1),a; b
    """
    safe = table.copy()
    for place, dtype in enumerate(table.dtypes):
        if str(dtype) in ("object", "string", "str", "category"):
            safe.isetitem(place, [_inert(cell) for cell in table.iloc[:, place]])
    return safe.to_csv(index=False, lineterminator="\n", float_format=float_format)


def to_latex(table: pd.DataFrame, kind: str, caption: str, notes: Iterable[str]) -> str:
    r"""Write the main columns and the first rows as a LaTeX ``table`` with notes below.

    The columns of each `kind` are in `landscape._columns`. Intervals are in the cells of their
    values. A comment at the end lists the other columns. The package booktabs is required.
    """
    first = table.head(_MAX_ROWS)
    shown = with_units(first, kind, n_columns=_LATEX_COLUMNS)
    names = list(shown)
    is_long = {name: shown[name].map(len).max() > _LONG_CELL for name in names}
    align = {name: "r" if first[name].dtype.kind in "iuf" else "l" for name in names}
    form = "".join("p{0.3\\textwidth}" if is_long[name] else align[name] for name in names)
    body: str = (
        shown.replace("", "--")
        .rename(columns=partial(heading, kind))
        .to_latex(index=False, escape=True, column_format=form)
    )
    body = re.sub("[<>]", r"$\g<0>$", body)  # other letters in the default encoding of LaTeX
    bounds = {f"{name}_{end}" for name in [*names, "papers"] for end in _BOUNDS}
    others = ", ".join(str(name) for name in table if name not in {*names, *bounds, *_BOUNDS})
    if others or len(first) < len(table):
        part = f"This table has {len(names)} columns and {len(first):,} of {len(table):,} rows"
        notes = [*notes, f"{part}; the CSV file has all."]
    return (
        f"\\begin{{table}}\n\\centering\\small\n\\caption{{{escape_latex(caption)}}}\n{body}"
        f"\\par\\smallskip\\footnotesize {' '.join(map(escape_latex, notes))}\n\\end{{table}}\n"
        + (f"% Other columns, in the CSV file: {others}\n" if others else "")
    )


def name_bounds(table: pd.DataFrame) -> pd.DataFrame:
    """Name the columns "low" and "high" after the value whose interval they are."""
    value = "difference" if "difference" in table else "value"
    return table.rename(columns={end: f"{value}_{end}" for end in _BOUNDS})


def with_units(table: pd.DataFrame, kind: str, *, n_columns: int | None = None) -> pd.DataFrame:
    """Convert the shown columns to text in the units of their headings, with intervals."""
    names = shown_columns(table, kind)[:n_columns]
    bounds = {f"{name}_{end}" for name in names for end in _BOUNDS} - _NOT_SHOWN
    table = name_bounds(table)
    table = table[[column for column in table if column in names or column in bounds]]
    for name in names:
        if heading(kind, name).endswith(("(%)", "(points)")):
            cells = [cell for cell in (name, f"{name}_low", f"{name}_high") if cell in table]
            table = table.assign(**{cell: 100 * table[cell] for cell in cells})
    text = with_intervals(table)[names]
    for name in {"p", "q"}.intersection(names):
        text.loc[table[name] < _CERTAIN, name] = f"<{_CERTAIN}"
    for name in names:
        if heading(kind, name).endswith("(points)"):
            text[name] = ("+" + text[name]).where(table[name] > 0, text[name])
        elif table[name].dtype.kind in "iu" and not _YEAR.search(name):
            text[name] = [
                _THOUSANDS.sub(lambda digits: f"{int(digits[0]):,}", cell) for cell in text[name]
            ]
    if "measure" in names:
        text["measure"] = text["measure"].str.replace("_", " ")
    return text


def to_text(table: pd.DataFrame) -> str:
    """Write a table as text, and transpose a table with many columns and few rows."""
    shown = with_intervals(table.head(_MAX_ROWS))
    rest = len(table) - len(shown)
    more = f"\n... and {rest:,} more rows" if rest else ""
    if len(shown.columns) > _MANY_COLUMNS and len(shown) <= _FEW_ROWS:
        return f"{shown.T.to_string(header=False, max_colwidth=60)}{more}"
    return f"{shown.to_string(index=False, max_colwidth=60)}{more}"


def to_html(table: pd.DataFrame) -> str:
    """Write a table as escaped HTML."""
    return with_intervals(table).to_html(index=False, border=0, escape=True, max_rows=_MAX_ROWS)


def with_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Convert cells to text, and append intervals to numbers, for example ``0.25 (0.2 to 0.3)``."""
    flat = table.map(_joined)
    text = flat.apply(lambda column: column.map(partial(_in_words, str(column.name))))
    for name in flat.columns:
        low, high = f"{name}_low", f"{name}_high"
        if low in flat and high in flat:
            bounds = zip(text[low], text[high], strict=True)
            text[name] += [f" ({a} to {b})" if a and b else "" for a, b in bounds]
            text = text.drop(columns=[low, high])
    return text


def _in_words(column: str, cell: object) -> str:
    if cell is None or cell != cell or str(cell) == "<NA>":
        return ""
    if isinstance(cell, float) and _YEAR.search(column):
        return f"{cell:.0f}"
    if isinstance(cell, float):
        if abs(cell) < _ZERO:
            return "0"
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)


def _joined(cell: object) -> object:
    cell = "; ".join(map(str, cell)) if isinstance(cell, list | tuple) else cell
    return escape_invisible(cell) if isinstance(cell, str) else cell


def _inert(cell: object) -> object:
    cell = _joined(cell)
    if isinstance(cell, str) and cell.lstrip().startswith(_FORMULA):
        return f"'{cell}"
    return cell
