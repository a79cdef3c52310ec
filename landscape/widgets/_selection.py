"""Describe papers of the map: summary of a selection, record of a paper, hover text."""

from __future__ import annotations

import contextlib
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from landscape._author_names import byline
from landscape._render import escape, render
from landscape.errors import LandscapeError
from landscape.figures.plotly_backend import hover_html

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Paper

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


def summarise(atlas: Atlas, rows: Rows, years: NDArray[np.int16]) -> Summary:
    """Count years, regions, keywords and facilities of a selection."""
    import pandas as pd

    papers = atlas.read_papers(["keywords", "cites"])
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


_HOVER_WIDTH, _HOVER_LINES = 46, 4
_AUTHORS_LISTED = 12


def hover_text(paper: Paper) -> str:
    """Return the hover text of a paper: title, authors, year and citations, with line breaks."""
    title = _wrapped(paper.title or "(no title)", _HOVER_WIDTH)
    if len(title) > _HOVER_LINES:
        title = [*title[: _HOVER_LINES - 1], title[_HOVER_LINES - 1] + " …"]
    authors = _wrapped(paper.first_authors, _HOVER_WIDTH + 6)[:2]
    facts = " · ".join(filter(None, [str(paper.year) if paper.year else "", cited(paper)]))
    parts = [f"<b>{hover_html(title)}</b>", hover_html(authors), facts]
    return "<br>".join(filter(None, parts))


def cited(paper: Paper) -> str:
    """Return the number of citations as text."""
    if not paper.cites:  # sources often give 0 for a paper that they have not counted yet
        return ""
    return "cited once" if paper.cites == 1 else f"cited {paper.cites:,} times"


def record_html(paper: Paper, *, region: str = "", generated: bool = False) -> str:
    """Return the record of a paper as HTML, with all metadata, links and the abstract."""
    authors = "; ".join(paper.authors[:_AUTHORS_LISTED])
    if len(paper.authors) > _AUTHORS_LISTED:
        authors += f" and {len(paper.authors) - _AUTHORS_LISTED} more"
    return render(
        "explorer_record.html",
        paper=paper,
        authors=authors,
        cited=cited(paper),
        region=region,
        links=links_html(paper),
        generated=generated,
    )


def links_html(paper: Paper) -> str:
    """Return links to ADS, arXiv and the publisher as HTML."""
    addresses = {name: quote(url.removeprefix("https://")) for name, url in paper.links.items()}
    links = [
        f"<a href='https://{address}' target='_blank' rel='noopener noreferrer'>{name}</a>"
        for name, address in addresses.items()
    ]
    return " · ".join(links) or f"<span class='landscape-quiet'>{escape(paper.label)}</span>"


def short_line(paper: Paper, *, rank: int, apart: bool) -> str:
    """Return one line of text that describes a paper in a list."""
    facts = [byline(paper.authors, 1), str(paper.year) if paper.year else "", cited(paper)]
    facts.append("◇ outlier" if apart else "")
    known = " · ".join(fact for fact in facts if fact)
    return f"{rank}. {paper.title or '(no title)'}" + (f" — {known}" if known else "")


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines at spaces; words longer than a line are split."""
    return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)
