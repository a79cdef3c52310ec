"""Single papers as they are told on a page: under the pointer, and in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from landscape._render import escape
from landscape.figures._plotly import plain

if TYPE_CHECKING:
    from landscape.types import Paper

_HOVER_WIDTH, _HOVER_LINES = 46, 4
_AUTHORS_TOLD, _AUTHORS_LISTED = 3, 12


def hover_text(paper: Paper, *, prefix: str = "") -> str:
    """What is told of a paper under the pointer: title, authors, year and citations, wrapped.

    Parameters
    ----------
    paper : Paper
    prefix : str, default ""
        Before the title, such as its rank.

    Returns
    -------
    str
        In the small part of HTML that plotly reads; everything from the paper is escaped.

    Examples
    --------
    >>> from landscape.types import Paper
    >>> hover_text(Paper(0, "x", "Dust <i>in</i> halos", "", ("Rubin, V.",), cites=3))
    '<b>Dust &lt;i&gt;in&lt;/i&gt; halos</b><br>Rubin, V.<br>cited 3 times'
    """
    lines = _wrapped(f"{prefix}{paper.title or '(no title)'}", _HOVER_WIDTH)
    if len(lines) > _HOVER_LINES:
        lines = [*lines[: _HOVER_LINES - 1], lines[_HOVER_LINES - 1] + " …"]
    told = ["<b>" + "<br>".join(plain(line) for line in lines) + "</b>"]
    names = "; ".join(paper.authors[:_AUTHORS_TOLD])
    more = " et al." if len(paper.authors) > _AUTHORS_TOLD else ""
    if names:
        told += [plain(line) for line in _wrapped(names + more, _HOVER_WIDTH + 6)[:2]]
    facts = [str(paper.year) if paper.year else "", cited(paper)]
    told.append(" · ".join(fact for fact in facts if fact))
    return "<br>".join(line for line in told if line)


def cited(paper: Paper) -> str:
    """Citations in words.

    Examples
    --------
    >>> from landscape.types import Paper
    >>> cited(Paper(0, "x", "Dust", "", cites=1)), cited(Paper(0, "x", "Dust", ""))
    ('cited once', '')
    """
    if paper.cites is None:
        return ""
    return "cited once" if paper.cites == 1 else f"cited {paper.cites:,} times"


def record_html(paper: Paper, *, region: str = "", generated: bool = False) -> str:
    """A paper in full: title, authors, journal, citations, region, links and abstract.

    Parameters
    ----------
    paper : Paper
    region : str, default ""
        The region of the map that it lies in.
    generated : bool, default False
        Whether it is made up by the demo.

    Returns
    -------
    str
        HTML; everything from the paper is escaped.
    """
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
    """One paper of a list, as plain text.

    Examples
    --------
    >>> from landscape.types import Paper
    >>> short_line(Paper(0, "x", "Dust", "", ("Rubin, V.",), cites=3), rank=1, apart=True)
    '1. Dust — Rubin, V. · cited 3 times · ◇ apart from the others'
    """
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
