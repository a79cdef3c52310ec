"""The same paper in several corpora: recognised by its identifiers, or by title and authors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from landscape._author_names import parse_name
from landscape.types import Paper

_NOT_LETTERS = re.compile(r"[\W_]+")
_IDENTIFIERS = ("bibcode", "arxiv_id", "doi")
_SHORTEST_TITLE = 12  # letters; "Erratum" and "Introduction" tell no papers apart
_YEARS_APART = 2  # from e-print to print


@dataclass(frozen=True)
class Held:
    """A paper and the corpus that holds it.

    Attributes
    ----------
    corpus : str
    paper : Paper
    score : float
    """

    corpus: str
    paper: Paper
    score: float


def merge(found: Sequence[Held]) -> list[tuple[Held, tuple[str, ...]]]:
    """Put papers that are the same together, under the one that comes first.

    Parameters
    ----------
    found : sequence of Held
        Best first.

    Returns
    -------
    list of (Held, tuple of str)
        Each paper once, with the names of the other corpora that hold it.

    Examples
    --------
    >>> first = Held("A", Paper(0, "x", "Dust in distant quasars", "", ("Rubin, V.",)), 2.0)
    >>> again = Held("B", Paper(7, "y", "Dust in Distant Quasars.", "", ("Vera Rubin",)), 1.0)
    >>> other = Held("B", Paper(8, "z", "Dust in distant quasars", "", ("Ford, K.",)), 0.5)
    >>> [(held.paper.paper_id, also) for held, also in merge([first, again, other])]
    [('x', ('B',)), ('z', ())]
    """
    kept: list[tuple[Held, list[str]]] = []
    by_key: dict[tuple[str, str], list[int]] = {}  # papers that can be the same share a key
    for one in found:
        keys = _keys(one.paper)
        likely = sorted({place for key in keys for place in by_key.get(key, ())})
        same = next((kept[place] for place in likely if kept[place][0].corpus != one.corpus
                     and is_same(kept[place][0].paper, one.paper)), None)  # fmt: skip
        if same is None:
            for key in keys:
                by_key.setdefault(key, []).append(len(kept))
            kept.append((one, []))
        elif one.corpus not in same[1]:
            same[1].append(one.corpus)
    return [(held, tuple(also)) for held, also in kept]


def _keys(paper: Paper) -> list[tuple[str, str]]:
    """What a paper has in common with any that `is_same` takes for it."""
    names = [(name, str(getattr(paper, name) or "").lower()) for name in _IDENTIFIERS]
    return [key for key in (*names, ("title", title_key(paper.title))) if key[1]]


def is_same(one: Paper, other: Paper) -> bool:
    """Tell whether two records are one paper.

    Parameters
    ----------
    one, other : Paper

    Returns
    -------
    bool
        By bibcode, arXiv identifier or DOI; else by title, with an author in common and at most two
        years between them. Records without authors go by title and year alone.

    Examples
    --------
    >>> is_same(Paper(0, "x", "A", "", doi="10.1/2"), Paper(9, "y", "B", "", doi="10.1/2"))
    True
    """
    for name in _IDENTIFIERS:
        mine, yours = getattr(one, name), getattr(other, name)
        if mine and yours and mine.lower() == yours.lower():
            return True
    title = title_key(one.title)
    if len(title) < _SHORTEST_TITLE or title != title_key(other.title):
        return False
    if one.year and other.year and abs(one.year - other.year) > _YEARS_APART:
        return False
    mine, yours = families(one.authors), families(other.authors)
    return bool(mine & yours) or not mine or not yours


def title_key(title: str) -> str:
    """Letters and digits of a title, whatever its capitals, accents and punctuation.

    Examples
    --------
    >>> title_key("Étoiles, and: Dust!")
    'etoilesanddust'
    """
    plain = unicodedata.normalize("NFKD", title.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return _NOT_LETTERS.sub("", plain)


def families(authors: Sequence[str]) -> frozenset[str]:
    """Family names of authors, without capitals and accents.

    Examples
    --------
    >>> sorted(families(["Rubin, V.", "Kent Ford"]))
    ['ford', 'rubin']
    """
    return frozenset(filter(None, (title_key(parse_name(name).family) for name in authors)))
