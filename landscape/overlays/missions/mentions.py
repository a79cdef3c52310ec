"""Mentions of facilities in text: longest names first, traps and evidence beside ambiguous ones.

A mention is the use of a name of a facility, of its instruments or surveys, for the facility:
its data, its results, plans for it. What merely bears the name is none: units and laws (Planck
mass, Kepler's laws), phenomena (Fermi bubbles, Parker spiral), objects (Kepler-186f, Swift
J1644+57, 2MASS J0523-1403, comet 3I/ATLAS).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from landscape.overlays.missions.context import (
    defined_otherwise,
    in_list,
    names_an_object,
    starts_sentence,
    supported,
)
from landscape.overlays.missions.facilities import load_facilities
from landscape.overlays.missions.patterns import all_names, folded, pattern_of

if TYPE_CHECKING:
    import pandas as pd

_JOINTS = ("/", "-")
_TO_SPACES = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))
# Facilities that are named together; with one of them the other is no constellation.
_COMPANIONS = {
    "Virgo": frozenset({"LIGO", "KAGRA"}),
    "Einstein Telescope": frozenset({"LIGO", "LISA", "Cosmic Explorer"}),
}
# Plain words, codes and simulations, which a sure mention elsewhere in the paper does not explain.
_PLAIN_WORDS = frozenset(
    {"Wind", "Cluster", "CLUSTER", "WIND", "Dawn", "Parker", "Lucy", "Psyche", "NOT", "SO", "PAPER",
     "MOST", "Cluster II", "Space Telescope", "INT", "CLASS", "TNG", "Virgo", "VIRGO"}
)  # fmt: skip


class Mention(NamedTuple):
    """A facility named in a text.

    Attributes
    ----------
    start, end : int
        Characters: ``text[start:end] == surface``.
    surface : str
        As written.
    facility : str
        Canonical name, see `landscape.overlays.missions.load_facilities`.
    """

    start: int
    end: int
    surface: str
    facility: str


class _Candidate(NamedTuple):
    start: int
    end: int
    facility: str
    ambiguous: bool


def find_mentions(text: str) -> list[Mention]:
    """Find the facilities that a text names.

    Parameters
    ----------
    text : str
        A title, an abstract, or both. LaTeX may be left in.

    Returns
    -------
    list of Mention
        In reading order, none within another.

    Examples
    --------
    >>> found = find_mentions("The Hubble constant from Cepheids observed with Hubble and JWST.")
    >>> [(mention.surface, mention.facility) for mention in found]
    [('Hubble', 'HST'), ('JWST', 'JWST')]
    >>> find_mentions("Kepler-186f and Swift J1644+57 obey Kepler's laws.")
    []
    """
    return _find((text,))[0]


def find_in_papers(titles: Iterable[str | None], abstracts: Iterable[str | None]) -> pd.DataFrame:
    """Find the facilities that papers name.

    Parameters
    ----------
    titles, abstracts : iterable of str or None
        One each a paper. An ambiguous name in one is understood with the help of the other.

    Returns
    -------
    pandas.DataFrame
        ``row, field, facility, start, end, surface``, one row a mention; ``row`` counts papers
        from 0, ``field`` is "title" or "abstract".

    Examples
    --------
    >>> print(find_in_papers(["A flare seen by TESS"], [None]).to_string(index=False))
     row field facility  start  end surface
       0 title     TESS     16   20    TESS
    """
    import pandas as pd

    rows = [
        (row, field, mention.facility, mention.start, mention.end, mention.surface)
        for row, (title, abstract) in enumerate(zip(titles, abstracts, strict=True))
        for field, mentions in zip(
            ("title", "abstract"), _find((title or "", abstract or "")), strict=True
        )
        for mention in mentions
    ]
    columns = ["row", "field", "facility", "start", "end", "surface"]
    return pd.DataFrame(rows, columns=columns).astype({"row": int, "start": int, "end": int})


def _find(texts: Sequence[str]) -> list[list[Mention]]:
    """Mentions in each of the texts of one paper."""
    candidates = [_candidates(text) for text in texts]
    if not any(candidates):
        return [[] for _ in texts]
    foreign = {
        text[one.start : one.end]
        for text, found in zip(texts, candidates, strict=True)
        for one, earlier in zip(found, (None, *found), strict=False)
        if defined_otherwise(text, one.start, one.end)
        and not _spelled_out(one, earlier)
        and _is_its_own_name(text[one.start : one.end], one)
    }
    sure = {one.facility for found in candidates for one in found if not one.ambiguous}
    return [
        _joined(text, _accepted(text, found, sure, foreign))
        for text, found in zip(texts, candidates, strict=True)
    ]


def _is_its_own_name(surface: str, one: _Candidate) -> bool:
    """Whether a name is of the facility itself: what instruments abbreviate is seldom listed."""
    facility = load_facilities()[one.facility]
    return one.ambiguous or surface in {facility.name, *facility.aliases}


def _spelled_out(one: _Candidate, earlier: _Candidate | None) -> bool:
    """Whether a name in brackets stands right behind a longer name of the same facility."""
    return earlier is not None and earlier.facility == one.facility and one.start - earlier.end <= 3


def _candidates(text: str) -> list[_Candidate]:
    """Names that no trap holds, in reading order; of those that overlap the first and longest."""
    known = all_names()
    words = known.first_words.intersection(
        text.encode("utf-8", "replace").translate(_TO_SPACES).split()
    )
    if not words:
        return []
    found = [match for word in words for match in pattern_of(word.decode()).finditer(text)]
    found.sort(key=lambda match: (match.start(), -match.end()))
    kept, reached = [], 0
    for match in found:
        start, end = match.span()
        if start < reached:
            continue
        reached = end
        if match.lastindex is None and not names_an_object(text, start, end):
            surface = known.surfaces[folded(match.group())]
            kept.append(_Candidate(start, end, surface.facility, surface.ambiguous))
    return kept


def _accepted(
    text: str, found: list[_Candidate], sure: set[str], foreign: set[str]
) -> list[_Candidate]:
    """Those that are certain, supported by what stands beside them, or in a list with such."""
    found = [one for one in found if text[one.start : one.end] not in foreign]
    good = [not one.ambiguous or _is_meant(text, one, sure) for one in found]
    for order in (range(1, len(found)), range(len(found) - 2, -1, -1)):
        step = order.step
        for i in order:
            first, second = sorted((i - step, i))
            if not good[i] and good[i - step]:
                plain = text[found[i].start : found[i].end] in _PLAIN_WORDS
                good[i] = in_list(text, found[first].end, found[second].start, parted=plain)
    return [one for one, accepted in zip(found, good, strict=True) if accepted]


def _is_meant(text: str, one: _Candidate, sure: set[str]) -> bool:
    surface = text[one.start : one.end]
    if not _COMPANIONS.get(one.facility, frozenset()).isdisjoint(sure):
        return True
    if surface in _PLAIN_WORDS:
        return supported(text, one.start, one.end, strictly=True)
    if one.facility in sure or (surface == "Swift" and not starts_sentence(text, one.start)):
        return True
    return supported(text, one.start, one.end)


def _joined(text: str, found: list[_Candidate]) -> list[Mention]:
    """Mentions; names of one facility that a slash or a hyphen joins are one (``Swift/XRT``)."""
    spans: list[tuple[int, int, str]] = []
    for one in found:
        if spans:
            start, end, facility = spans[-1]
            if facility == one.facility and text[end : one.start] in _JOINTS:
                spans[-1] = (start, one.end, facility)
                continue
        spans.append((one.start, one.end, one.facility))
    return [Mention(start, end, text[start:end], name) for start, end, name in spans]
