"""What a selection of papers is about: counts of its years, regions, keywords and facilities."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._render import escape
from landscape._wording import count
from landscape.errors import LandscapeError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.types import Paper

    Rows = NDArray[np.int64]

_COLUMNS = ("paper_id", "title", "authors", "year", "journal", "cites", "bibcode", "arxiv_id",
            "doi")  # fmt: skip
_TOLD = 6


@dataclass(frozen=True)
class Summary:
    """A selection in numbers.

    Attributes
    ----------
    n_papers, n_all : int
        Papers selected, and of the atlas.
    years : pandas.Series
        Papers by year; papers without a year are not in it.
    regions, keywords, facilities : pandas.Series
        Papers by name, the most frequent first.
    most_cited : tuple of Paper
    citations_known : int
        Papers whose citations are known.
    """

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


def selection_table(atlas: Any, rows: Rows) -> pd.DataFrame:
    """The selected papers as a table, with their region and place on the map.

    Parameters
    ----------
    atlas : Atlas
    rows : ndarray of int64

    Returns
    -------
    pandas.DataFrame
        ``paper_id, title, authors, year, journal, cites, bibcode, arxiv_id, doi, region, x, y``;
        the index is the row in the atlas.
    """
    table = atlas.read_papers(list(_COLUMNS)).iloc[rows].copy()
    places = atlas.map.iloc[rows]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    table["authors"] = ["; ".join(one) if one is not None else "" for one in table["authors"]]
    table["region"] = [names.get(topic, "") for topic in places["topic_id"]]
    table["x"], table["y"] = places["x"].to_numpy(), places["y"].to_numpy()
    table.index = rows
    table.index.name = "row"
    return table


def summarise(atlas: Any, rows: Rows, years: NDArray[np.int16]) -> Summary:
    """Count what a selection is about.

    Parameters
    ----------
    atlas : Atlas
    rows : ndarray of int64
    years : ndarray of int16, shape (n_papers,)
        0 or less where unknown.

    Returns
    -------
    Summary
    """
    import pandas as pd

    papers = atlas.read_papers(["keywords", "cites"])
    cites = papers["cites"].to_numpy("float64", na_value=np.nan)[rows]
    known = np.flatnonzero(np.isfinite(cites))
    best = rows[known[np.argsort(-cites[known], kind="stable")[:_TOLD]]]
    own = years[rows]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    regions = atlas.map["topic_id"].iloc[rows].map(names).dropna().value_counts()
    words = papers["keywords"].iloc[rows].explode().dropna().value_counts()
    facilities = pd.Series(dtype="int64")
    with contextlib.suppress(LandscapeError):  # an atlas without that layer
        mentions = atlas.missions[["paper_row", "facility"]]
        inside = np.zeros(len(papers), dtype=bool)
        inside[rows] = True
        here = mentions[inside[mentions["paper_row"].to_numpy()]].drop_duplicates()
        facilities = here["facility"].value_counts()
    return Summary(
        n_papers=len(rows), n_all=len(papers),
        years=pd.Series(own[own > 0]).value_counts().sort_index(),
        regions=regions, keywords=words.head(40), facilities=facilities,
        most_cited=tuple(atlas.engine.papers(best.tolist())) if len(best) else (),
        citations_known=len(known),
    )  # fmt: skip


def summary_html(summary: Summary) -> str:
    """A summary for the page; everything from the papers is escaped."""
    blocks = [f"<div><b>{escape(str(summary))}</b></div>", _years(summary.years)]
    for title, counts in (
        ("Regions", summary.regions), ("Keywords", summary.keywords),
        ("Facilities", summary.facilities),
    ):  # fmt: skip
        if len(counts):
            told = ", ".join(
                f"{escape(str(name))} ({n:,})" for name, n in counts.head(_TOLD).items()
            )
            blocks.append(f"<div class='landscape-fact'><b>{title}:</b> {told}</div>")
    if summary.most_cited:
        best = "".join(
            f"<li>{escape(paper.title)} <span class='landscape-quiet'>· "
            f"{paper.year or 'no year'}, cited {count(paper.cites or 0, 'time')}</span></li>"
            for paper in summary.most_cited
        )
        known = f"(citations known of {summary.citations_known:,})"
        all_known = summary.citations_known == summary.n_papers
        of = "" if all_known else f" <span class='landscape-quiet'>{known}</span>"
        blocks.append(f"<div class='landscape-fact'><b>Most cited</b>{of}<ol>{best}</ol></div>")
    return "".join(blocks)


def _years(years: pd.Series) -> str:
    """Papers by year as small bars."""
    if not len(years):
        return "<div class='landscape-quiet'>No year is known.</div>"
    first, last = int(years.index.min()), int(years.index.max())
    counts = years.reindex(range(first, last + 1), fill_value=0)
    step, most = 290 / len(counts), max(1, int(counts.max()))
    bars = "".join(
        f"<rect x='{place * step:.2f}' y='{34 - 34 * n / most:.2f}' "
        f"width='{max(step - min(1.0, step / 4), 0.5):.2f}' height='{34 * n / most:.2f}'>"
        f"<title>{year}: {n:,}</title></rect>"
        for place, (year, n) in enumerate(counts.items())
    )
    return (
        f"<svg width='290' height='34' class='landscape-bars' fill='#5b8fc7' role='img' "
        f"aria-label='Papers by year, {first} to {last}, at most {most:,}'>{bars}</svg>"
        "<div class='landscape-quiet landscape-ends' style='display: flex; width: 290px; "
        f"justify-content: space-between'><span>{first}</span><span>{last}</span></div>"
    )
