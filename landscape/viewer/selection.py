"""Use selected papers: table, summary, comparison with all others, answers and files."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._bibliography import to_bibtex
from landscape._render import render
from landscape._serializer import to_csv
from landscape.errors import InputError, LandscapeError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Answer, Paper

    Rows = NDArray[np.int64]

_COLUMNS = (
    "paper_id",
    "title",
    "authors",
    "year",
    "journal",
    "cites",
    "bibcode",
    "arxiv_id",
    "doi",
)
_LISTED = 6
_MAX_BIBTEX = 5_000


@dataclass(frozen=True)
class Summary:
    """Counts of a selection of papers."""

    n_papers: int
    n_all: int
    years: pd.Series
    regions: pd.Series
    keywords: pd.Series
    facilities: pd.Series
    most_cited: tuple[Paper, ...]
    citations_known: int

    def __str__(self) -> str:
        span = f", {self.years.index.min()} to {self.years.index.max()}" if len(self.years) else ""
        return f"{self.n_papers:,} of {self.n_all:,} papers{span}"

    def _repr_html_(self) -> str:
        return f"<div class='landscape-summary'>{summary_html(self)}</div>"


def selection_table(atlas: Atlas, rows: Rows) -> pd.DataFrame:
    """Return a table of the selected papers, with their regions and positions on the map."""
    table = atlas.read_papers(list(_COLUMNS)).iloc[rows].copy()
    places = atlas.map.iloc[rows]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    table["authors"] = [
        "" if authors is None else "; ".join(authors) for authors in table["authors"]
    ]
    table["region"] = [names.get(topic, "") for topic in places["topic_id"]]
    table["x"], table["y"] = places["x"].to_numpy(), places["y"].to_numpy()
    table.index = rows
    table.index.name = "row"
    return table


def summarise(atlas: Atlas, rows: Rows) -> Summary:
    """Count years, regions, keywords and facilities of a selection."""
    import pandas as pd

    papers = atlas.read_papers(["keywords", "cites", "year"])
    years = papers["year"].to_numpy("float64", na_value=0.0).astype(np.int64)
    cites = papers["cites"].to_numpy("float64", na_value=np.nan)[rows]
    known = np.flatnonzero(np.isfinite(cites))
    best = rows[known[np.argsort(-cites[known], kind="stable")[:_LISTED]]]
    own = years[rows]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    regions = atlas.map["topic_id"].iloc[rows].map(names).dropna().value_counts()
    words = papers["keywords"].iloc[rows].explode().dropna().value_counts()
    facilities = pd.Series(dtype="int64")
    with contextlib.suppress(LandscapeError):  # the atlas may not have this layer
        mentions = atlas.missions[["paper_row", "facility"]]
        inside = np.zeros(len(papers), dtype=bool)
        inside[rows] = True
        here = mentions[inside[mentions["paper_row"].to_numpy()]].drop_duplicates()
        facilities = here["facility"].value_counts()
    return Summary(
        n_papers=len(rows),
        n_all=len(papers),
        years=pd.Series(own[own > 0]).value_counts().sort_index(),
        regions=regions,
        keywords=words.head(40),
        facilities=facilities,
        most_cited=tuple(atlas.engine.papers(best.tolist())) if len(best) else (),
        citations_known=len(known),
    )


def summary_html(summary: Summary) -> str:
    """Return a summary of a selection as HTML."""
    years, counts = summary.years, []
    if len(years):
        first, last = int(years.index.min()), int(years.index.max())
        counts = list(years.reindex(range(first, last + 1), fill_value=0).items())
    columns = {
        "Regions": summary.regions,
        "Keywords": summary.keywords,
        "Facilities": summary.facilities,
    }
    return render(
        "explorer_summary.html",
        summary=summary,
        counts=counts,
        first=counts[0][0] if counts else "",
        last=counts[-1][0] if counts else "",
        most=max([1, *(n for _, n in counts)]),
        lists=[(title, list(some.head(_LISTED).items())) for title, some in columns.items()],
    )


def comparison_html(found: Analysis) -> str:
    """Return HTML of the regions that contain unusually many or few papers of a selection."""
    table, parts = found.table, []
    for title, side, n in (("More than elsewhere", "a", 8), ("Less than elsewhere", "b", 4)):
        parts.append((title, list(table[table["over_in"] == side].head(n).itertuples())))
    notes = " ".join([found.caption, *found.notes])
    return render("explorer_comparison.html", parts=parts, notes=notes)


def rows_of_selection(selection: ArrayLike, n_papers: int) -> NDArray[np.int64]:
    """Return the rows of a selection, given as row numbers or a mask, which may be empty."""
    from landscape.overlays.trends.comparison import select_rows

    given = np.asarray(selection)
    if not given.size or (given.dtype == bool and not given.any() and len(given) == n_papers):
        return np.zeros(0, dtype=np.int64)
    return select_rows(None, given, n_papers)


def papers_as_csv(atlas: Atlas, rows: Rows) -> str:
    """Write papers as CSV, with a header and one line per paper."""
    return to_csv(selection_table(atlas, rows))


def papers_as_bibtex(atlas: Atlas, rows: Rows) -> str:
    """Write papers as BibTeX."""
    if len(rows) > _MAX_BIBTEX:
        raise InputError(
            f"{len(rows):,} papers are too many for one bibliography; select at most "
            f"{_MAX_BIBTEX:,}, or save them as .csv."
        )
    return to_bibtex(atlas.engine.papers(rows.tolist()))


def compare_with_rest(atlas: Atlas, rows: Rows) -> Analysis:
    """Compare the given papers with all other papers in each region."""
    from landscape.overlays.trends import compare

    rest = np.setdiff1d(np.arange(len(atlas)), rows, assume_unique=True)
    if not len(rest):
        raise InputError("All papers are selected, so there are no other papers to compare with.")
    return compare(atlas, rows, rest)


def ask_papers(
    atlas: Atlas, rows: Rows, question: str, *, model: Any = "auto", **settings: Any
) -> Answer:
    """Answer a question from the papers in `rows`, or from all papers if `rows` is empty."""
    from landscape.answers import AskSettings
    from landscape.answers.asking import ask
    from landscape.llm import connect_from_environment

    if not len(rows):
        return atlas.ask(question, model=model, **settings)
    connected = connect_from_environment() if model == "auto" else model
    return ask(atlas.engine.within(rows), question, AskSettings(**settings), model=connected)
