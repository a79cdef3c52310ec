"""What a selection of papers is about: counts of its years, regions, keywords and facilities."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from landscape._render import escape
from landscape._wording import count
from landscape.errors import LandscapeError
from landscape.figures._plotly import safe_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Paper

    Rows = NDArray[np.int64]

_COLUMNS = ("paper_id", "title", "authors", "year", "journal", "cites", "bibcode", "arxiv_id",
            "doi")  # fmt: skip
_TOLD = 6


@dataclass(frozen=True)
class Summary:
    """A selection in numbers."""

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
    """The selected papers as a table, with their region and place on the map."""
    table = atlas.read_papers(list(_COLUMNS)).iloc[rows].copy()
    places = atlas.map.iloc[rows]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    table["authors"] = ["; ".join(one) if one is not None else "" for one in table["authors"]]
    table["region"] = [names.get(topic, "") for topic in places["topic_id"]]
    table["x"], table["y"] = places["x"].to_numpy(), places["y"].to_numpy()
    table.index = rows
    table.index.name = "row"
    return table


def summarise(atlas: Atlas, rows: Rows, years: NDArray[np.int16]) -> Summary:
    """Count what a selection is about."""
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


def comparison_html(found: Analysis) -> str:
    """Where the selection is over-represented, briefly; names are escaped."""
    shown = found.table[found.table["over_in"] == "a"].head(8)
    fewer = found.table[found.table["over_in"] == "b"].head(4)
    blocks = []
    for title, rows in (("More than elsewhere", shown), ("Less than elsewhere", fewer)):
        if len(rows):
            items = "".join(
                f"<li>{escape(row.label)}: {row.a_share:.1%} here, {row.b_share:.1%} of the rest"
                "</li>"
                for row in rows.itertuples()
            )
            blocks.append(f"<div class='landscape-fact'><b>{title}</b><ul>{items}</ul></div>")
    if not blocks:
        blocks.append("<div>No region differs from the rest beyond chance.</div>")
    notes = escape(" ".join([found.caption, *found.notes]))
    return "".join(blocks) + f"<div class='landscape-quiet'>{notes}</div>"


_HOVER_WIDTH, _HOVER_LINES = 46, 4
_AUTHORS_TOLD, _AUTHORS_LISTED = 3, 12


def hover_text(paper: Paper, *, prefix: str = "") -> str:
    """What is told of a paper under the pointer: title, authors, year and citations, wrapped."""
    lines = _wrapped(f"{prefix}{paper.title or '(no title)'}", _HOVER_WIDTH)
    if len(lines) > _HOVER_LINES:
        lines = [*lines[: _HOVER_LINES - 1], lines[_HOVER_LINES - 1] + " …"]
    told = ["<b>" + "<br>".join(safe_text(line) for line in lines) + "</b>"]
    names = "; ".join(paper.authors[:_AUTHORS_TOLD])
    more = " et al." if len(paper.authors) > _AUTHORS_TOLD else ""
    if names:
        told += [safe_text(line) for line in _wrapped(names + more, _HOVER_WIDTH + 6)[:2]]
    facts = [str(paper.year) if paper.year else "", cited(paper)]
    told.append(" · ".join(fact for fact in facts if fact))
    return "<br>".join(line for line in told if line)


def cited(paper: Paper) -> str:
    """Citations in words."""
    if paper.cites is None:
        return ""
    return "cited once" if paper.cites == 1 else f"cited {paper.cites:,} times"


def record_html(paper: Paper, *, region: str = "", generated: bool = False) -> str:
    """A paper in full: title, authors, journal, citations, region, links and abstract."""
    names = "; ".join(paper.authors[:_AUTHORS_LISTED])
    if len(paper.authors) > _AUTHORS_LISTED:
        names += f" and {len(paper.authors) - _AUTHORS_LISTED} more"
    facts = [str(paper.year) if paper.year else "year unknown", paper.journal or "", cited(paper)]
    lines = [
        f"<h3 class='landscape-title'>{escape(paper.title) or '(no title)'}</h3>",
        f"<div>{escape(names)}</div>" if names else "",
        f"<div class='landscape-quiet'>{' · '.join(escape(one) for one in facts if one)}</div>",
        f"<div class='landscape-quiet'>Region: {escape(region)}</div>" if region else "",
        f"<div>{links_html(paper)}</div>",
        f"<p>{escape(paper.abstract)}</p>" if paper.abstract else
        "<p class='landscape-quiet'>No abstract.</p>",
    ]  # fmt: skip
    if generated:
        lines.append("<p class='landscape-quiet'>Generated: this paper does not exist.</p>")
    return "".join(lines)


def links_html(paper: Paper) -> str:
    """Links to ADS, arXiv and the publisher."""
    links = []
    if paper.bibcode:
        url = f"https://ui.adsabs.harvard.edu/abs/{quote(paper.bibcode)}/abstract"
        links.append(_link(url, "ADS"))
    if paper.arxiv_id:
        links.append(_link(f"https://arxiv.org/abs/{quote(paper.arxiv_id)}", "arXiv"))
    if paper.doi:
        links.append(_link(f"https://doi.org/{quote(paper.doi)}", "DOI"))
    return " · ".join(links) or f"<span class='landscape-quiet'>{escape(paper.label)}</span>"


def short_line(paper: Paper, *, rank: int, apart: bool) -> str:
    """One paper of a list, as plain text."""
    names = (
        paper.authors[0] + (" et al." if len(paper.authors) > 1 else "") if paper.authors else ""
    )
    facts = [names, str(paper.year) if paper.year else "", cited(paper)]
    facts.append("◇ apart from the others" if apart else "")
    told = " · ".join(fact for fact in facts if fact)
    return f"{rank}. {paper.title or '(no title)'}" + (f" — {told}" if told else "")


def _link(url: str, text: str) -> str:
    return f"<a href='{url}' target='_blank' rel='noopener noreferrer'>{text}</a>"


def _wrapped(text: str, width: int) -> Sequence[str]:
    """Break at spaces; a longer word is cut."""
    lines = [""]
    for word in " ".join(text.split()).split(" "):
        rest = word
        while rest:
            piece, rest = rest[:width], rest[width:]
            if not lines[-1]:
                lines[-1] = piece
            elif len(lines[-1]) + 1 + len(piece) <= width:
                lines[-1] += f" {piece}"
            else:
                lines.append(piece)
    return lines
