"""Convert records to JSON values and tables, and tables to CSV, LaTeX, text and HTML."""

from __future__ import annotations

import io
import itertools
import json
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from landscape._bibliography import escape_latex
from landscape._wording import align_decimals, escape_invisible

if TYPE_CHECKING:
    import pandas as pd

# The first character of a formula is at the start of a cell or a line. A spreadsheet may also split
# cells at semicolons or tabs, and then ignores the quotation marks around a cell.
_FORMULA = re.compile(r"(\A|[;\t\r\n])(?=[^\S\t\r\n]*+[=+\-@\t\r＝＋－＠])")
_MAX_ROWS = 40
_FEW_ROWS = 3  # maximum number of rows of a transposed table
_GAP, _NARROW, _LONG_WORD = 2, 16, 30  # characters of a table in a terminal
_LATEX_COLUMNS, _LONG_CELL = 8, 48  # columns of a LaTeX table, characters of a cell
_BOUNDS = ("low", "high")
_EXACT = {"papers_low", "papers_high"}  # the number of papers is exact
_ZERO, _CERTAIN = 1e-9, 0.001
_THOUSANDS = re.compile(r"^\d{4,}")
_DATE = re.compile(r"\d{4}-\d\d(?:\D|$)")
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
    safe = table.rename(columns=_inert)
    for place, dtype in enumerate(table.dtypes):
        if str(dtype) in ("object", "string", "str", "category"):
            safe.isetitem(place, [_inert(cell) for cell in table.iloc[:, place]])
    return safe.to_csv(index=False, lineterminator="\n", float_format=float_format)


def to_latex(table: pd.DataFrame, kind: str, caption: str, notes: Iterable[str]) -> str:
    r"""Write the main columns and the first rows as a LaTeX ``table`` with notes below.

    The columns of each `kind` are in `SHOWN`. Intervals are in the cells of their
    values. A comment at the end lists the other columns. The package booktabs is required.
    """
    first = table.head(_MAX_ROWS)
    shown = with_units(first, kind, shown_columns(first, kind)[:_LATEX_COLUMNS])
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


def with_units(table: pd.DataFrame, kind: str, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Convert columns to text in the units of their headings, by default the shown columns."""
    names = list(names or shown_columns(table, kind))
    bounds = {f"{name}_{end}" for name in names for end in _BOUNDS} - _EXACT
    table = name_bounds(table)
    table = table[[column for column in table if column in names or column in bounds]]
    for name in names:
        if heading(kind, name).endswith(("(%)", "(points)")):
            cells = [cell for cell in (name, f"{name}_low", f"{name}_high") if cell in table]
            table = table.assign(**{cell: 100 * table[cell] for cell in cells})
    text = with_intervals(table)[names]
    for name in {"p", "q", "probability"}.intersection(names):
        text.loc[table[name] < _CERTAIN, name] = f"<{_CERTAIN}"
    if "probability" in names:
        text.loc[table["probability"] > 1 - _CERTAIN, "probability"] = f">{1 - _CERTAIN}"
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


def to_text(
    table: pd.DataFrame, kind: str, *, columns: Sequence[str] = (), width: int | None = None
) -> str:
    """Write the main columns of a table, or chosen ones, as text that fits a terminal.

    Columns that do not fit are named in the last line; a short table with many is transposed.
    """
    width = width or shutil.get_terminal_size((100, 24)).columns
    first = table.head(_MAX_ROWS)
    shown = with_units(first, kind, _chosen_columns(table, columns))
    is_number = {name: name_bounds(first)[name].dtype.kind in "iuf" for name in shown}
    columns_of_grid = [
        _GridColumn(
            heading(kind, str(name)),
            align_decimals(cells) if is_number[name] else cells,
            is_number[name],
        )
        for name, cells in shown.to_dict("list").items()
    ]
    totals = itertools.accumulate(column.least_width + _GAP for column in columns_of_grid)
    n_fit = max(2, sum(total <= width + _GAP for total in totals))
    others = [column.heading for column in columns_of_grid[n_fit:]]
    notes = [f"{len(table) - len(first):,} more rows"] if len(first) < len(table) else []
    if others and len(shown) <= _FEW_ROWS:
        cells = [[column.heading, *column.cells] for column in columns_of_grid]
        upright = [
            _GridColumn("", list(column), is_number=False) for column in zip(*cells, strict=True)
        ]
        written = _grid(upright, width)
    else:
        written = _grid(columns_of_grid[:n_fit], width)
        if others and columns:
            written = "\n\n".join(_grid(part, width) for part in _parts(columns_of_grid, width))
        elif others:
            notes.append(f"columns that do not fit: {', '.join(others)}")
    return "\n... ".join([written, *(["; ".join(notes)] if notes else [])])


class _GridColumn(NamedTuple):
    heading: str
    cells: list[str]
    is_number: bool

    @property
    def widest(self) -> int:
        """Width at which nothing is wrapped."""
        from rich.cells import cell_len

        return max(map(cell_len, (self.heading, *self.cells)))

    @property
    def least_width(self) -> int:
        """Width at which numbers and most words are not broken."""
        from rich.cells import cell_len

        words = [word for text in (self.heading, *self.cells) for word in text.split()]
        longest = max(map(cell_len, words), default=1)
        widest = max(map(cell_len, self.cells), default=1)
        if self.is_number or any(map(_DATE.match, self.cells)):
            return max(longest, widest)
        return min(max(longest, min(_NARROW, widest)), _LONG_WORD)


def _parts(columns: Sequence[_GridColumn], width: int) -> list[list[_GridColumn]]:
    """Divide columns into parts that fit a terminal; each begins with the first column of text."""
    name = next((column for column in columns if not column.is_number), columns[0])
    parts: list[list[_GridColumn]] = [[name]]
    for column in columns:
        if column is name:
            continue
        used = sum(other.least_width + _GAP for other in parts[-1])
        if len(parts[-1]) > 1 and used + column.least_width > width:
            parts.append([name])
        parts[-1].append(column)
    return parts


def _chosen_columns(table: pd.DataFrame, columns: Sequence[str]) -> list[str] | None:
    """Check the names of columns; None means the main ones."""
    from landscape._wording import did_you_mean
    from landscape.errors import InputError

    if not columns:
        return None
    named = name_bounds(table)
    bounds = {f"{name}_{end}" for name in named for end in _BOUNDS}
    known = [str(name) for name in named if str(name) not in bounds]  # they are in the cells
    for name in columns:
        if name not in known:
            raise InputError(
                f"There is no column {name!r}{did_you_mean(name, known)} "
                f"Choose from: {', '.join(known)}."
            )
    return list(dict.fromkeys(columns))


def _grid(columns: Sequence[_GridColumn], width: int) -> str:
    """Write columns side by side; long texts are wrapped."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    widths = [column.least_width for column in columns]
    free = width - sum(widths) - _GAP * (len(columns) - 1)
    for place in sorted(range(len(columns)), key=lambda place: columns[place].is_number):
        more = min(max(free, 0), columns[place].widest - widths[place])
        widths[place], free = widths[place] + more, free - more
    has_header = any(column.heading for column in columns)
    grid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=has_header)
    for column, size in zip(columns, widths, strict=True):
        side: Literal["left", "right"] = "right" if column.is_number else "left"
        # Cells are on the left: spaces that align them are removed from text on the right.
        grid.add_column(Text(column.heading, justify=side), overflow="fold", width=size)
    rows = (
        [cell.rjust(size) if column.is_number else cell for cell in column.cells]
        for column, size in zip(columns, widths, strict=True)
    )
    for row in zip(*rows, strict=True):
        grid.add_row(*map(Text, row))
    out = io.StringIO()
    # A table of two columns with long words may be wider than the terminal.
    whole = max(width, sum(widths) + _GAP * len(widths))
    # Without the last two options, rich would write colours, or display the table in a notebook.
    Console(file=out, width=whole, force_terminal=False, force_jupyter=False).print(grid)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def to_html(table: pd.DataFrame) -> str:
    """Write a table as escaped HTML."""
    return with_intervals(table).to_html(index=False, border=0, escape=True, max_rows=_MAX_ROWS)


Section = tuple[str, list[str], list[list[str]]]  # title, headings and rows of a table


def to_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """Convert the shown columns of tables, by kind, to titles, headings and rows of text."""
    sections = []
    for kind, table in tables.items():
        shown = with_units(table, kind)
        title = heading("", kind.rpartition(".")[2])
        names = [heading(kind, str(name)) for name in shown]
        sections.append((title, names, shown.to_numpy().tolist()))
    return [section for section in sections if section[2]]


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
    if isinstance(cell, date):
        return cell.isoformat()[:10]
    if isinstance(cell, float):
        if abs(cell) < _ZERO:
            return "0"
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)


def _joined(cell: object) -> object:
    is_list = isinstance(cell, list | tuple) or getattr(cell, "ndim", 0) == 1
    cell = "; ".join(map(str, cast("Iterable[object]", cell))) if is_list else cell
    return escape_invisible(cell) if isinstance(cell, str) else cell


def _inert(cell: object) -> object:
    cell = _joined(cell)
    return _FORMULA.sub(r"\1'", cell) if isinstance(cell, str) else cell


# -- columns that panels and LaTeX tables show

# The heading of a column is its name in words unless `_HEADINGS` has another. Values of columns
# with (%) or (points) are shares, which are multiplied by 100.
_HEADINGS = {
    "a_papers": "Papers of a",
    "a_share": "Share of a (%)",
    "about": "Keywords; for a sea or river, the adjacent regions",
    "added_by_region": "Added papers by region",
    "alternatives": "Other spellings",
    "area_50": "Area of 50% (%)",
    "area_80": "Area of 80% (%)",
    "b_papers": "Papers of b",
    "b_share": "Share of b (%)",
    "bar": "Minimum",
    "changes": "Changes of regions",
    "changes.added_by_region.papers": "Papers now",
    "ascl": "ASCL",
    "bibliography.list_says": "The list says",
    "bibliography_agreement.list": "In the list",
    "bibliography_agreement.text": "By the text",
    "both_papers": "By list and text",
    "changes.kind": "Change",
    "changes.papers": "Papers after",
    "changes.proposed_papers.label": "Proposed region",
    "changes.proposed_regions.label": "Phrase",
    "citation_percentile": "Citation percentile (%)",
    "citations_share": "Citations (%)",
    "change_years": "Years of change",
    "cites": "Citations",
    "class": "Trend",
    "concepts.label": "Concept",
    "density_ratio": "Reviews to expected",
    "draft_check.evidence": "Sentence of the paper",
    "draft_check.sentence": "Sentence of the draft",
    "impact.rise": "Rise since first light (points)",
    "label": "Region",
    "fidelity.value": "This picture",
    "fidelity.verdict": "Reached",
    "led": "Found",
    "lettered": "On the map",
    "list_papers": "In the list",
    "list_precision": "Precision of the text",
    "list_recall": "Recall of the text",
    "listed_papers": "Decided by the list",
    "local_share": "Main regions (%)",
    "main_region": "Most papers in",
    "map_places.technical": "Technical name",
    "n_authors": "Authors",
    "n_papers": "Papers",
    "need": "Absolute need",
    "new_topics.also": "Other names",
    "new_topics.class": "Kind",
    "new_topics.last": "Until",
    "new_topics.first_papers.term": "Topic",
    "new_topics.term": "Topic",
    "note": "Meaning",
    "of_facility": "Of the facility's papers (%)",
    "other": "Compared with",
    "other_value": "Value of the other",
    "outside_home": "Outside home (%)",
    "over_in": "More in",
    "paper_id": "Key",
    "papers_after": "Papers since",
    "papers_waiting.title": "Papers newer than the reviews near them",
    "proposed_papers": "Papers of proposed regions",
    "parent": "Broader term",
    "pieces_50": "Pieces of 50%",
    "pieces_80": "Pieces of 80%",
    "q": "False discovery rate",
    "recent_share": "New papers at the peak (%)",
    "region_papers": "All papers",
    "region_share": "Of the region (%)",
    "review_gaps.score": "Relative gap",
    "rise": "Rise (points)",
    "separability_full": "Separability by meaning",
    "separability_map": "Separability on the map",
    "share": "Share (%)",
    "share_after": "Share since (%)",
    "share_before": "Share before (%)",
    "share_first": "Share at the start (%)",
    "share_last": "Share at the end (%)",
    "step": "Distance from the previous paper",
    "text_papers": "By the text",
    "thesaurus_gaps.name": "Proposed term",
    "thesaurus_overlay.label": "Concept",
    "why": "Reason",
}
# A LaTeX table has the first eight of these columns; columns that a table lacks are omitted.
_PLACES = "country papers fractional share effective_regions main_region"
SHOWN = {
    "author": "date title label n_authors step affiliation group",
    "author_summary": "measure value note",
    "bibliography": "rank candidate certainty bibcode year sentence list_says title",
    "bibliography_agreement": "year region papers list text both precision recall agreement",
    "before_after": "label papers_before share_before papers_after share_after rise growth",
    "changes": "date kind label papers_before papers reason",
    "changes.added_by_region": "label added papers share",
    "changes.proposed_papers": "label title date paper_id",
    "changes.proposed_regions": "label papers warning",
    "compare": "label a_papers b_papers a_share b_share odds_ratio q over_in",
    "compare_facilities": "measure facility other value other_value difference probability",
    "concepts": "label level papers with_narrower share",
    "countries": _PLACES,
    "draft_check": "line key verdict sentence evidence why",
    "facility_regions": "label papers region_papers share of_facility share_before rise",
    "fidelity": "measure value bar verdict",
    "library": "key title year in_atlas region mark",
    "library_graph": "source target kind weight source_title target_title",
    "library_regions": "region state mine near papers share",
    "refresh": "key kind field new new_key reason",
    "impact": "period facility papers share local_share citations_share effective_regions "
    "outside_home rise citations citation_percentile bridging listed_papers list_papers "
    "text_papers both_papers list_precision list_recall corrected_papers",
    "institutions": f"institution {_PLACES}",
    "map_places": "name technical kind n_papers share recent_share lettered about",
    "new_topics": "rank term class since papers expected hit_rate later region also last",
    "new_topics.first_papers": "term date title paper_id",
    "object": "measure value",
    "object.measured": "quantity stated limit method year paper_id sentence",
    "object.papers": "mentions title year paper_id",
    "object.places": "region papers",
    "object.similar": "name papers shared similarity",
    "object.years": "year papers",
    "objects": "name kind papers first_year last_year per_year facilities concepts regions "
    "measured",
    "papers_waiting": "place title year cites paper_id",
    "review_gaps": "rank label papers reviews_near expected last_review papers_since growth gap "
    "score need reviews newer_papers citations years_without disagreement",
    "reviews": "label papers reviews reviews_near expected share density_ratio last_review "
    "papers_since years_without",
    "software": "software ascl papers share first_year last_year",
    "tension": "group values papers mean error error_shared",
    "value": "stated sigma object method year paper_id sentence",
    "values": "quantity object stated limit status method year paper_id sentence",
    "survey": "decision score title year reason led",
    "thesaurus_gaps": "rank name parent region papers growth novelty score nearest region_share "
    "alternatives",
    "thesaurus_overlay": "label papers share area_50 area_80 pieces_50 separability_full "
    "separability_map pieces_80",
    "trends": "label papers share_first share_last class hit_rate later change_years why",
    "uncertain_roles": "facility role role_before margin context paper_id",
}
_NOT_SHOWN = ("_id", "_row", "_low", "_high")  # ends of names in a table of another kind


def shown_columns(table: pd.DataFrame, kind: str) -> list[str]:
    """Return the names of the columns of a table that are shown, in order."""
    if kind in SHOWN:
        return [name for name in SHOWN[kind].split() if name in table]
    return [str(name) for name in table if not str(name).endswith(_NOT_SHOWN)]


def heading(kind: str, name: str) -> str:
    """Return the heading of a column.

    >>> heading("review_gaps", "score"), heading("survey", "score"), heading("", "share")
    ('Relative gap', 'Score', 'Share (%)')
    """
    words = name[:1].upper() + name[1:].replace("_", " ")
    return _HEADINGS.get(f"{kind}.{name}", _HEADINGS.get(name, words))
