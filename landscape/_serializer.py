"""Convert records to JSON values and tables, and tables to CSV, LaTeX, text and HTML."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from landscape._bibliography import escape_latex
from landscape._io import check_output, data_file, read_yaml, write_output
from landscape._wording import count, escape_invisible
from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "＝",
    "＋",
    "－",
    "＠",
)  # possible first characters of a formula
_PAPER_FORMATS = {
    ".bib": "to_bibtex", ".ris": "to_ris", ".tex": "to_aastex", ".txt": "to_bibcodes",
}  # fmt: skip
_MOST_ROWS = 40
_MANY_COLUMNS, _FEW_ROWS = 12, 6
_LATEX_COLUMNS, _LONG_CELL = 8, 48  # columns of a LaTeX table, characters of a cell
_NOT_IN_LATEX = ("_id", "_row", "_low", "_high")  # ends of names of columns
_ZERO, _CERTAIN = 1e-9, 0.001
_YEAR = re.compile(r"(?:^|_)year(?:_|$)|^last_review$")


class Record:
    """Base class of records that convert to JSON values."""

    _keys: ClassVar[str] = ""  # keys for `pick`; "" selects all fields

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return to_dict(self, self._keys)


def plain(value: Any) -> Any:
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
        return to_dict(value)
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "to_json"):  # pandas
        return json.loads(value.to_json(orient="records", date_format="iso"))
    if hasattr(value, "tolist"):  # NumPy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None  # JSON has no NaN or infinity
    return value if value is None or isinstance(value, str | int) else str(value)


def to_json(record: Any) -> str:
    """Write a record or a dict as indented JSON."""
    document = plain(record if isinstance(record, dict) else record.to_dict())
    # The escapes of `escape_invisible` are those of JSON, so the values stay the same.
    return escape_invisible(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))


def check_results_file(path: str | os.PathLike[str], *, is_survey: bool = False) -> Path:
    """Check before a search that `write_results` can write a file, or raise InputError."""
    endings = (*_PAPER_FORMATS, ".csv", ".json", *([".md"] if is_survey else []))
    return check_output(path, endings, what="A survey" if is_survey else "Papers")


def write_results(found: Any, path: str | os.PathLike[str]) -> Path:
    """Write the `Results` of a search, or a `Survey`, in the format of the file extension.

    ``.bib``, ``.ris``, ``.tex`` (AASTeX) and ``.txt`` (bibcodes) files contain the papers of a
    search, or the selected papers of a survey. ``.csv`` files contain all judged papers of a
    survey. ``.json`` and ``.md`` files contain all fields. If there is no paper to write, an
    existing file is not changed.
    """
    is_survey = hasattr(found, "results")
    path = check_results_file(path, is_survey=is_survey)
    papers = found.results if is_survey else found
    ending = path.suffix.lower()
    if not len(papers) and (ending in _PAPER_FORMATS or not is_survey):
        raise InputError(f"No paper was found; {path} is unchanged. Try another question.")
    if ending in _PAPER_FORMATS:
        text = getattr(papers, _PAPER_FORMATS[ending])()
    elif ending == ".csv":
        text = to_csv(found.table)
    else:
        text = to_json(found) if ending == ".json" else found.to_markdown()
    return write_output(path, text if text.endswith("\n") or not text else f"{text}\n")


def count_written(papers: Any, path: Path) -> str:
    """Return a message with the numbers of written and omitted papers."""
    left_out = len(papers) - len(papers.to_bibcodes().split()) if path.suffix == ".txt" else 0
    without = f"; {left_out:,} without a bibcode are omitted" if left_out else ""
    return f"{path} contains {count(len(papers) - left_out, 'paper')}{without}"


def pick(record: Any, keys: str) -> dict[str, Any]:
    """Return a dict with attributes of a record. The `keys` are separated by spaces.

    A key has the form ``name``, ``key=attribute`` or ``key=attribute.attribute``. An attribute of
    None is None. ``*attribute`` adds all entries of the `to_dict` method of the attribute.
    """
    found: dict[str, Any] = {}
    for word in keys.split():
        if word.startswith("*"):
            found |= getattr(record, word[1:]).to_dict()
            continue
        key, _, path = word.partition("=")
        value = record
        for name in (path or key).split("."):
            value = None if value is None else getattr(value, name)
        found[key] = value
    return found


def to_dict(record: Any, keys: str = "") -> dict[str, Any]:
    """Convert all fields of a record, or the fields in `keys` (see `pick`), to JSON values."""
    names = keys or " ".join(field.name for field in fields(record))
    return {key: plain(value) for key, value in pick(record, names).items()}


def to_table(
    rows: Iterable[Mapping[str, Any]], columns: str, types: Mapping[str, str]
) -> pd.DataFrame:
    """Make a data frame from rows of `pick`, and join the items of tuples with semicolons."""
    import pandas as pd

    names = [word.partition("=")[0] for word in columns.split()]
    joined = [
        {key: "; ".join(value) if isinstance(value, tuple) else value for key, value in row.items()}
        for row in rows
    ]
    return pd.DataFrame(joined, columns=names).astype(dict(types))


def to_csv(table: pd.DataFrame, **options: Any) -> str:
    """Write a table as CSV, with a quotation mark before text that looks like a formula.

    Parameters
    ----------
    table : pandas.DataFrame
        Table to write. The items of lists are joined with semicolons.
    **options
        Options of `pandas.DataFrame.to_csv`.

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
    written: str = safe.to_csv(index=False, lineterminator="\n", **options)
    return written


def to_latex(table: pd.DataFrame, kind: str, caption: str, notes: Iterable[str]) -> str:
    r"""Write the main columns and the first rows as a LaTeX ``table`` with notes below.

    The columns and headings of each `kind` are in ``analyses.yaml``. Intervals are in the cells of
    their values. A comment at the end lists the other columns. The package booktabs is required.
    """
    headings = read_yaml(data_file("analyses.yaml"))["latex"].get(kind, {})
    table = table.rename(columns={"low": "difference_low", "high": "difference_high"})
    names = [str(name) for name in table if not str(name).endswith(_NOT_IN_LATEX)]
    names = ([name for name in headings if name in table] if headings else names)[:_LATEX_COLUMNS]
    first = table.head(_MOST_ROWS).drop(columns=["papers_low", "papers_high"], errors="ignore")
    for name in names:
        if headings.get(name, "").endswith("(%)"):
            cells = [one for one in (name, f"{name}_low", f"{name}_high") if one in first]
            first[cells] = 100 * first[cells]
    shown = with_intervals(first)
    for name in {"p", "q"}.intersection(names):
        shown.loc[first[name] < _CERTAIN, name] = f"<{_CERTAIN}"
    form = "".join(
        "p{0.3\\textwidth}" if shown[name].str.len().max() > _LONG_CELL
        else "l" if first[name].dtype.kind not in "iuf" else "r" for name in names
    )  # fmt: skip
    body: str = (
        shown[names]
        .replace("", "--")
        .rename(columns=headings)
        .to_latex(index=False, escape=True, column_format=form)
    )
    body = re.sub("[<>]", r"$\g<0>$", body)  # other letters in the default encoding of LaTeX
    kept = {*names, *set(first).difference(shown), "papers_low", "papers_high"}
    others = ", ".join(str(name) for name in table if name not in kept)
    if others or len(first) < len(table):
        part = f"This table has {len(names)} columns and {len(first):,} of {len(table):,} rows"
        notes = [*notes, f"{part}; the CSV file has all."]
    return (
        f"\\begin{{table}}\n\\centering\\small\n\\caption{{{escape_latex(caption)}}}\n{body}"
        f"\\par\\smallskip\\footnotesize {' '.join(map(escape_latex, notes))}\n\\end{{table}}\n"
        + (f"% Other columns, in the CSV file: {others}\n" if others else "")
    )


def to_text(table: pd.DataFrame) -> str:
    """Write a table as text, and transpose a table with many columns and few rows."""
    shown = with_intervals(table.head(_MOST_ROWS))
    rest = len(table) - len(shown)
    more = f"\n... and {rest:,} more rows" if rest else ""
    if len(shown.columns) > _MANY_COLUMNS and len(shown) <= _FEW_ROWS:
        return f"{shown.T.to_string(header=False, max_colwidth=60)}{more}"
    return f"{shown.to_string(index=False, max_colwidth=60)}{more}"


def to_html(table: pd.DataFrame) -> str:
    """Write a table as escaped HTML."""
    html: str = with_intervals(table).to_html(
        index=False, border=0, escape=True, max_rows=_MOST_ROWS
    )
    return html


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


def _in_words(column: str, cell: Any) -> str:
    if cell is None or cell != cell or str(cell) == "<NA>":
        return ""
    if isinstance(cell, float) and _YEAR.search(column):
        return f"{cell:.0f}"
    if isinstance(cell, float):
        if abs(cell) < _ZERO:
            return "0"
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)


def _joined(cell: Any) -> Any:
    cell = "; ".join(map(str, cell)) if isinstance(cell, list | tuple) else cell
    return escape_invisible(cell) if isinstance(cell, str) else cell


def _inert(cell: Any) -> Any:
    cell = _joined(cell)
    if isinstance(cell, str) and cell.lstrip().startswith(_FORMULA):
        return f"'{cell}"
    return cell
