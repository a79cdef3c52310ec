"""Which papers are reviews, told from a list, document type, journal, title and abstract.

A review sets out what is known of a subject from the work of many: review articles, chapters of
handbooks, lecture notes, reviews in proceedings. The paper that presents one survey, mission,
instrument, simulation or code ("XYZ: survey overview") is none, whatever its title says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 0.5
"""Score from which a paper counts as a review."""

_KIND = r"(?:(?:very |short |brief |mini|critical |comprehensive |systematic |historical |topical " \
        r"|invited |pedagogical |concise |selective |comparative |observational |unified |current " \
        r"|state-of-the-art |up-to-date |introductory |theoretical |contemporary |extensive "\
        r"|detailed |thorough |broad |short |present |general )[- ]?){0,2}"  # fmt: skip
_AUTHORS = r"\b(?:we|i|authors?) (?:(?!briefly|also|further|then)\w+ ){0,3}?"


@dataclass(frozen=True)
class Clue:
    """Something that makes a review likely (or unlikely: ``chance`` then scales what others say).

    Attributes
    ----------
    name : str
        As evidence names it.
    pattern : re.Pattern
    chance : float
        Chance that a paper with this clue alone is a review.
    against : bool
        Whether it speaks against.
    """

    name: str
    pattern: re.Pattern[str]
    chance: float
    against: bool = False


def _clue(name: str, pattern: str, chance: float, *, against: bool = False) -> Clue:
    return Clue(name, re.compile(pattern, re.IGNORECASE), chance, against)


# Journals of reviews and little else; by name, by abbreviation, or by the stem in a bibcode.
_JOURNALS = (
    _clue("journal", r"annu(?:al)?\.? ?reviews? (?:of |in )?(?:astron|earth|fluid|nucl|cond)"
          r"|\bARA ?(?:&|and) ?A\b|ann\.? ?rev\.? ?(?:of )?astr|annu\.? ?rev\.? ?astr", 0.98),
    _clue("journal", r"\breviews? of modern|\brev\.? ?mod\.? ?(?:phys|plasma)|living rev"
          r"|astron(?:omy|\.)? ?(?:&|and) ?astrophys(?:ics|\.)? ?rev|\bA&A ?R(?:ev)?\b"
          r"|new astron(?:omy|\.)? ?rev|physics reports|phys\.? ?repo?r?ts?\b"
          r"|reports on progress|rep\.? ?prog\.? ?phys|progress in particle and nucl"
          r"|prog\.? ?part\.? ?nucl|reviews? (?:of|in|on) (?:\w+ ){0,4}?astro|nat(?:ure|\.) rev"
          r"|reviews of astronomy|encyclop|handbook|treatise", 0.9),
    _clue("journal", r"space sci(?:ence|\.)? ?rev|\bSSRv\b|contemporary phys|contemp\.? ?phys",
          0.75),
)  # fmt: skip
_STEMS = {
    "ARA&A": 0.98, "A&ARv": 0.95, "LRR": 0.95, "LRSP": 0.95, "LRCA": 0.95, "NewAR": 0.85,
    "PhR": 0.9, "RPPh": 0.9, "RvMP": 0.95, "SSRv": 0.75, "AREPS": 0.95, "ARNPS": 0.95,
    "PrPNP": 0.9, "ConPh": 0.8, "RvMPP": 0.9, "NatRP": 0.9, "NewAstRv": 0.85,
}  # fmt: skip
_TITLE = (
    _clue("title", rf"(?:^|[:;.?!–—-] *|\b(?:an?|the|this) ){_KIND}reviews?(?:$|[:.,;]| (?:of|on|and|for|"
          r"article|from|with|in)\b)|\breviews?$|\breviewed$|\breviewing\b|\breview article\b",
          0.9),
    _clue("title", r"^(?:an? )?(?:\w+ ){0,2}overview (?:of|on)\b|[:–—-] *(?:an? )?(?:\w+ ){0,1}"
          r"overview$", 0.3),
    _clue("title", r"\blectures? (?:notes|on)\b|\blectures?$|\bprimer\b(?!/)|\btutorial\b"
          r"|\bpedagogical\b|^(?:an? )?(?:\w+ )?introduction to\b(?! the \w+ survey)|\bin a nutshell\b|^fundamentals"
          r"|\bfundamentals$", 0.7),
    _clue("title", r"\b(?:recent|latest) (?:progress|advances|developments)\b|\bstate of the art\b"
          r"|\bprogress (?:in|and)\b|\b(?:current )?status (?:of|and)\b|\bopen (?:questions|"
          r"problems|issues) in\b|\bpast,? present,? and future\b|\bprospects\b|\bperspectives?\b"
          r"|\b(?:advances|challenges|frontiers) (?:in|and|of)\b|\b(?:theory|physics) of\b", 0.2),
)  # fmt: skip
_ABSTRACT = (
    _clue("abstract", rf"\b(?:in |of )?(?:this|our|the present) {_KIND}review\b"
          rf"|\b(?:is|are|as|provides?|presents?|gives?|give|offers?) an? {_KIND}review\b(?! of (?:our|my|his|the "
          r"(?:procedure|code)))|\breview (?:article|paper)\b|\binvited (?:\w+ )?review\b"
          r"|\b(?:review|this) chapter (?:\w+ ){0,2}review", 0.85),
    _clue("abstract", rf"{_AUTHORS}reviews? (?:\w+ ){{0,2}}?(?:progress|status|state|recent|"
          r"current|advances|developments?|understanding|knowledge|literature|evidence|theory|"
          r"theories|physics|models?|observations?|history|various|basic|main|aspects)\b", 0.65),
    _clue("abstract", rf"^[^.]{{0,200}}{_AUTHORS}reviews?\b", 0.5),
    _clue("abstract", rf"(?<!briefly )(?<!also )(?<!further ){_AUTHORS}reviews?\b", 0.5),
    _clue("abstract", r"\b(?:paper|article|contribution|work|chapter|notes?|talk|essay|lectures?) "
          r"(?:\w+ )?reviews?\b", 0.7),
    _clue("abstract", r"\b(?:is|are) (?:(?:critically|first|here) )?reviewed\b", 0.55),
    _clue("abstract", r"\b(?:state|status) of (?:the )?(?:knowledge|art of|field|research)\b"
          r"|\bcurrent (?:state|status) of\b|\bour (?:current|present) (?:understanding|knowledge)"
          r"|\bcurrent understanding of\b", 0.15),
    _clue("abstract", rf"\b(?:this|our|the present) {_KIND}(?:article|paper|work)? ?(?:provides?|"
          rf"presents?|gives?|offers?) an? (?:\S+ )?{_KIND}(?:overview|survey|introduction|summary)"
          rf"\b|{_AUTHORS}(?:give|provide|present|offer)s? an? (?:\S+ )?{_KIND}(?:overview|"
          r"introduction)\b|\boverview (?:of the (?:history|field|subject|state)|is given)", 0.3),
    _clue("abstract", r"\b(?:in )?th(?:is|ese) (?:\w+ )?(?:chapters?|lectures?|lecture notes|"
          r"tutorial|primer|monograph|encyclopedia|entry|pedagogical)\b|\bpedagogical "
          r"(?:introduction|overview|review)\b", 0.6),
    _clue("abstract", rf"{_AUTHORS}summari[sz]es? (?:\w+ ){{0,3}}?(?:state|status|knowledge|"
          r"progress|understanding|advances|developments)\b|\bthis (?:\w+ )?(?:article|paper|"
          r"work) (?:summari[sz]es|discusses|surveys|outlines) (?:\w+ ){0,3}?(?:state|status|"
          r"progress|understanding|advances|developments|literature|field)\b", 0.45),
)  # fmt: skip
_AGAINST = (
    _clue("one project", r"\b(?:survey|mission|instrument|program(?:me)?|project|system|design|"
          r"simulations?|suite|data|release|sample|observations?|observatory|telescope|pipeline|"
          r"experiment|catalog(?:ue)?)s?\b[^:]{0,60}overview\b|overview (?:of|and|on) "
          r"(?:the )?(?:\S+ ){0,5}?(?:survey|mission|instruments?|program(?:me)?|project|system|"
          r"release|first|results|data|observatory|telescope|pipeline|experiment)\b"
          r"|\b(?:I+|IV|V)[.:]? (?:\w+ ){0,2}overview\b|\bfirst results\b", 0.2, against=True),
    _clue("other reviews", r"\bpeer[- ]review|\breview (?:process|panel|board|team)|"
          r"\b(?:progress|design|readiness|mission concept) review\b|\bbook review"
          r"|\bwhite paper\b|\bspecial issue\b|\beditorial\b", 0.3, against=True),
)  # fmt: skip
_OWN_WORK = _clue(
    "own results",
    r"\bwe (?:find|found|show|detect|detected|measure|measured|derive|derived|demonstrate|report|"
    r"obtain|obtained|propose|develop|developed|introduce|apply|compute|calculate|simulate|"
    r"analy[sz]e|perform|performed|constrain|use|used|estimate|model)\b|\bour (?:results|analysis|"
    r"simulations|model|sample|measurements|findings|method)\b|\bhere we (?:report|show)\b",
    0.62,
    against=True,
)
_WORTH_A_LOOK = re.compile(
    r"review|overview|lecture|tutorial|primer|introduction|pedagog|chapter|summari[sz]|"
    r"state of|status of|current understanding|nutshell|fundamentals|encyclop|monograph|"
    r"progress|advances|developments|open (?:questions|problems|issues)|prospects|perspective|"
    r"present and future|our (?:current|present)|challenges|frontiers",
    re.IGNORECASE,
)


def recognise(papers: pd.DataFrame, *, known: Collection[str] | None = None) -> pd.DataFrame:
    """Score every paper for being a review, and say why.

    Clues are combined as if independent (noisy or); clues against scale the result down. What a
    list, the document type or the journal says is not outweighed by words.

    Parameters
    ----------
    papers : pandas.DataFrame
        Columns ``title`` and ``abstract``, and where there are any ``doctype``, ``journal``,
        ``bibcode``, ``arxiv_id``, ``doi``.
    known : collection of str, optional
        Identifiers of known reviews, see `landscape.overlays.reviews.lists.read_review_list`.

    Returns
    -------
    pandas.DataFrame
        ``row`` (position in ``papers``), ``score`` (0 to 1) and ``evidence`` of the papers that
        count as reviews (score at least 0.5).

    Examples
    --------
    >>> import pandas as pd
    >>> papers = pd.DataFrame({"title": ["Dust: a review", "A survey of dust: survey overview"],
    ...                        "abstract": ["We review recent progress.", "We present a survey."]})
    >>> recognise(papers)[["row", "evidence"]].values.tolist()
    [[0, 'title: a review; abstract: We review recent progress']]
    """
    import pandas as pd

    scored = score_papers(papers, known=known)
    found = [(row, *scored[row]) for row in sorted(scored) if scored[row][0] >= ENOUGH]
    table = pd.DataFrame(found, columns=["row", "score", "evidence"])
    return table.astype({"row": np.int64, "score": np.float64, "evidence": object})


def score_papers(
    papers: pd.DataFrame, *, known: Collection[str] | None = None
) -> dict[int, tuple[float, str]]:
    """Score and evidence of every paper that has a clue, by its position."""
    listed = frozenset(known or ())
    columns = {
        name: _texts(papers[name]) if name in papers else [""] * len(papers)
        for name in ("title", "abstract", "doctype", "journal", "bibcode", "arxiv_id", "doi")
    }
    scored: dict[int, tuple[float, str]] = {}
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        title, abstract, doctype, journal, bibcode, arxiv_id, doi = values
        certain = _outside(doctype, journal, bibcode)
        if listed and not listed.isdisjoint((bibcode, arxiv_id, doi)):
            certain.append((1.0, "list"))
        said = _said(title, abstract)
        if certain or said[0] > 0:
            score = max([said[0], *(one for one, _ in certain)])
            evidence = "; ".join(filter(None, [*(why for _, why in certain), said[1]]))
            scored[row] = (round(score, 3), evidence)
    return scored


def _outside(doctype: str, journal: str, bibcode: str) -> list[tuple[float, str]]:
    """What others say of the paper: its document type and where it appeared."""
    found = [(0.97, f"doctype: {doctype}")] if doctype.lower() == "review" else []
    chance = _STEMS.get(bibcode[4:9].rstrip("."), 0.0) if bibcode else 0.0
    if chance:
        found.append((chance, f"bibcode: {bibcode}"))
    if journal:
        clue = next((clue for clue in _JOURNALS if clue.pattern.search(journal)), None)
        if clue:
            found.append((clue.chance, f"journal: {journal[:60]}"))
    return found


def _said(title: str, abstract: str) -> tuple[float, str]:
    """What the paper says of itself."""
    if not (_WORTH_A_LOOK.search(title) or _WORTH_A_LOOK.search(abstract)):
        return 0.0, ""
    clues = [*_met(_TITLE, title), *_met(_ABSTRACT, abstract)]
    if not clues:
        return 0.0, ""
    doubt = 1.0
    for clue, _ in clues:
        doubt *= 1.0 - clue.chance
    score = 1.0 - doubt
    against = [*_met(_AGAINST, title), *_met((_OWN_WORK,), abstract)]
    for clue, _ in against:
        score *= clue.chance
    return score, "; ".join(f"{clue.name}: {words}" for clue, words in [*clues, *against])


def _met(clues: Iterable[Clue], text: str) -> list[tuple[Clue, str]]:
    found = ((clue, clue.pattern.search(text)) for clue in clues)
    return [(clue, match[0].strip(" :;.,-–—")[-60:]) for clue, match in found if match]


def _texts(column: pd.Series[Any]) -> list[str]:
    return ["" if not isinstance(value, str) else value for value in column.tolist()]
