"""The result of an analysis: a table with caption, denominators, bounds and warnings."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from landscape.text.spreadsheet import as_csv

if TYPE_CHECKING:
    import pandas as pd

_GENERATED = "Generated demo corpus: these papers do not exist."
_MOST_ROWS_SHOWN = 40
_MANY_COLUMNS, _FEW_ROWS = 12, 6


@dataclass(frozen=True)
class Analysis:
    """The result of an analysis: a main table with caption, denominators, bounds and warnings.

    Attributes
    ----------
    kind : str
        What was asked: ``"impact"``, ``"reviews"``, ...
    table : pandas.DataFrame
        The answer.
    caption : str
        What the table shows, in one or two sentences, with the corpus and its dates.
    denominators : mapping of str to int
        What shares are shares of: ``{"papers": 4000, "papers with a facility": 1200}``.
    bounds : mapping
        The atlas's ``coverage``: title, papers, sources, first and last date, generated.
    warnings : tuple of str
        What limits the answer, one sentence each: years that the corpus does not cover, ...
    tables : mapping of str to pandas.DataFrame
        Further tables that figures draw from, by name.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"facility": ["ALMA"], "share": [0.25]})
    >>> found = Analysis("impact", table, "Share of papers.", {"papers": 8}, {"generated": True})
    >>> print(found.to_text())
    Share of papers.
    facility  share
        ALMA   0.25
    Of 8 papers.
    Generated demo corpus: these papers do not exist.
    """

    kind: str
    table: pd.DataFrame
    caption: str
    denominators: Mapping[str, int]
    bounds: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Denominators, warnings, and that the corpus is generated where it is."""
        of = "; ".join(f"{count:,} {what}" for what, count in self.denominators.items())
        generated = _GENERATED if self.bounds.get("generated") else ""
        return tuple(filter(None, (of and f"Of {of}.", *self.warnings, generated)))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; missing numbers are null."""
        return {
            "kind": self.kind,
            "caption": self.caption,
            "denominators": dict(self.denominators),
            "bounds": dict(self.bounds),
            "warnings": list(self.warnings),
            "table": _rows(self.table),
            "tables": {name: _rows(table) for name, table in self.tables.items()},
        }

    def to_csv(self) -> str:
        """The main table, with caption and notes as comments (``#``) above it."""
        lines = [self.caption, *self.notes]
        return "".join(f"# {line}\n" for line in lines) + as_csv(self.table)

    def to_latex(self) -> str:
        r"""The main table as a LaTeX ``table`` (needs the package booktabs), notes below it."""
        body: str = _flat(self.table).to_latex(
            index=False, escape=True, float_format="%.3g", na_rep="--"
        )
        notes = " ".join(_escaped(note) for note in self.notes)
        return (
            "\\begin{table}\n\\centering\n"
            f"\\caption{{{_escaped(self.caption)}}}\n{body}"
            f"\\par\\smallskip\\footnotesize {notes}\n\\end{{table}}\n"
        )

    def to_text(self) -> str:
        """The main table for a terminal: intervals in brackets, few wide rows are transposed."""
        shown = _format_table(self.table.head(_MOST_ROWS_SHOWN))
        rest = len(self.table) - len(shown)
        more = (f"... and {rest:,} more rows",) if rest else ()
        if len(shown.columns) > _MANY_COLUMNS and len(shown) <= _FEW_ROWS:
            table = shown.T.to_string(header=False, max_colwidth=60)
        else:
            table = shown.to_string(index=False, max_colwidth=60)
        return "\n".join([self.caption, table, *more, *self.notes])

    def _repr_html_(self) -> str:
        table = _format_table(self.table).to_html(
            index=False, border=0, escape=True, max_rows=_MOST_ROWS_SHOWN
        )
        notes = "".join(f"<p><small>{html.escape(note)}</small></p>" for note in self.notes)
        return f"<p>{html.escape(self.caption)}</p>{table}{notes}"


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    import json

    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", date_format="iso"))
    return rows


def _format_table(table: pd.DataFrame) -> pd.DataFrame:
    """Cells as text, each number with its interval: ``0.25 (0.2 to 0.3)``."""
    flat = _flat(table)
    text = flat.apply(
        lambda column: column.map(_format_year if _is_year(column.name) else _format_cell)
    )
    for name in flat.columns:
        low, high = f"{name}_low", f"{name}_high"
        if low in flat and high in flat:
            bounds = [
                f" ({a} to {b})" if a and b else ""
                for a, b in zip(text[low], text[high], strict=True)
            ]
            text[name] = text[name] + bounds
            text = text.drop(columns=[low, high])
    return text


def _is_year(name: Any) -> bool:
    """Whether a column holds years, which take no comma, and not numbers of years."""
    return bool(_YEAR.search(str(name)))


def _format_year(cell: Any) -> str:
    return f"{cell:.0f}" if isinstance(cell, float) and cell == cell else _format_cell(cell)


def _format_cell(cell: Any) -> str:
    if cell is None or cell != cell or str(cell) == "<NA>":
        return ""
    if isinstance(cell, float):
        if abs(cell) < _ZERO:
            return "0"
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)


_ZERO = 1e-9
_YEAR = re.compile(r"(?:^|_)year(?:_|$)|^last_review$")


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    """Lists in cells as text."""
    return table.map(
        lambda cell: "; ".join(map(str, cell)) if isinstance(cell, list | tuple) else cell
    )


_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)
