"""What makes a review likely: journals of reviews, and words of title and abstract."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KIND = r"(?:(?:very |short |brief |mini|critical |comprehensive |systematic |historical " \
        r"|topical |invited |pedagogical |concise |selective |comparative |observational " \
        r"|unified |current |state-of-the-art |up-to-date |introductory |theoretical " \
        r"|contemporary " \
        r"|extensive |detailed |thorough |broad |short |present |general )[- ]?){0,2}"  # fmt: skip
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
    needs : tuple of str
        Of these lower-case words one is in every match: without them no pattern has to be tried.
    """

    name: str
    pattern: re.Pattern[str]
    chance: float
    against: bool = False
    needs: tuple[str, ...] = ()


def _clue(name: str, pattern: str, chance: float, *needs: str, against: bool = False) -> Clue:
    return Clue(name, re.compile(pattern, re.IGNORECASE), chance, against, needs)


# Journals of reviews and little else; by name, by abbreviation, or by the stem in a bibcode.
JOURNALS = (
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
STEMS = {
    "ARA&A": 0.98, "A&ARv": 0.95, "LRR": 0.95, "LRSP": 0.95, "LRCA": 0.95, "NewAR": 0.85,
    "PhR": 0.9, "RPPh": 0.9, "RvMP": 0.95, "SSRv": 0.75, "AREPS": 0.95, "ARNPS": 0.95,
    "PrPNP": 0.9, "ConPh": 0.8, "RvMPP": 0.9, "NatRP": 0.9, "NewAstRv": 0.85,
}  # fmt: skip
TITLE = (
    _clue("title", rf"(?:^|[:;.?!–—-] *|\b(?:an?|the|this) ){_KIND}reviews?(?:$|[:.,;]| "
          r"(?:of|on|and|for|article|from|with|in)\b)|\breviews?$|\breviewed$|\breviewing\b"
          r"|\breview article\b",
          0.9, "review"),
    _clue("title", r"^(?:an? )?(?:\w+ ){0,2}overview (?:of|on)\b|[:–—-] *(?:an? )?(?:\w+ ){0,1}"
          r"overview$", 0.3, "overview"),
    _clue("title", r"\blectures? (?:notes|on)\b|\blectures?$|\bprimer\b(?!/)|\btutorial\b"
          r"|\bpedagogical\b|^(?:an? )?(?:\w+ )?introduction to\b(?! the \w+ survey)"
          r"|\bin a nutshell\b|^fundamentals|\bfundamentals$",
          0.7, "lecture", "primer", "tutorial", "pedagogical", "introduction to", "nutshell",
          "fundamentals"),
    _clue("title", r"\b(?:recent|latest) (?:progress|advances|developments)\b|\bstate of the art\b"
          r"|\bprogress (?:in|and)\b|\b(?:current )?status (?:of|and)\b|\bopen (?:questions|"
          r"problems|issues) in\b|\bpast,? present,? and future\b|\bprospects\b|\bperspectives?\b"
          r"|\b(?:advances|challenges|frontiers) (?:in|and|of)\b|\b(?:theory|physics) of\b", 0.2),
)  # fmt: skip
ABSTRACT = (
    _clue("abstract", rf"\b(?:in |of )?(?:this|our|the present) {_KIND}review\b"
          rf"|\b(?:is|are|as|provides?|presents?|gives?|give|offers?) an? {_KIND}review\b"
          r"(?! of (?:our|my|his|the (?:procedure|code)))|\breview (?:article|paper)\b"
          r"|\binvited (?:\w+ )?review\b"
          r"|\b(?:review|this) chapter (?:\w+ ){0,2}review", 0.85, "review"),
    _clue("abstract", rf"{_AUTHORS}reviews? (?:\w+ ){{0,2}}?(?:progress|status|state|recent|"
          r"current|advances|developments?|understanding|knowledge|literature|evidence|theory|"
          r"theories|physics|models?|observations?|history|various|basic|main|aspects)\b",
          0.65, "review"),
    _clue("abstract", rf"^[^.]{{0,200}}{_AUTHORS}reviews?\b", 0.5, "review"),
    _clue("abstract", rf"(?<!briefly )(?<!also )(?<!further ){_AUTHORS}reviews?\b", 0.5, "review"),
    _clue("abstract", r"\b(?:paper|article|contribution|work|chapter|notes?|talk|essay|lectures?) "
          r"(?:\w+ )?reviews?\b", 0.7, "review"),
    _clue("abstract", r"\b(?:is|are) (?:(?:critically|first|here) )?reviewed\b", 0.55, "review"),
    _clue("abstract", r"\b(?:state|status) of (?:the )?(?:knowledge|art of|field|research)\b"
          r"|\bcurrent (?:state|status) of\b|\bour (?:current|present) (?:understanding|knowledge)"
          r"|\bcurrent understanding of\b",
          0.15, "state of", "status of", "current state", "understanding", "knowledge"),
    _clue("abstract", rf"\b(?:this|our|the present) {_KIND}(?:article|paper|work)? ?(?:provides?|"
          rf"presents?|gives?|offers?) an? (?:\S+ )?{_KIND}(?:overview|survey|introduction|summary)"
          rf"\b|{_AUTHORS}(?:give|provide|present|offer)s? an? (?:\S+ )?{_KIND}(?:overview|"
          r"introduction)\b|\boverview (?:of the (?:history|field|subject|state)|is given)",
          0.3, "overview", "survey", "introduction", "summary"),
    _clue("abstract", r"\b(?:in )?th(?:is|ese) (?:\w+ )?(?:chapters?|lectures?|lecture notes|"
          r"tutorial|primer|monograph|encyclopedia|entry|pedagogical)\b|\bpedagogical "
          r"(?:introduction|overview|review)\b",
          0.6, "chapter", "lecture", "tutorial", "primer", "monograph", "encyclopedia", "entry",
          "pedagogical"),
    _clue("abstract", rf"{_AUTHORS}summari[sz]es? (?:\w+ ){{0,3}}?(?:state|status|knowledge|"
          r"progress|understanding|advances|developments)\b|\bthis (?:\w+ )?(?:article|paper|"
          r"work) (?:summari[sz]es|discusses|surveys|outlines) (?:\w+ ){0,3}?(?:state|status|"
          r"progress|understanding|advances|developments|literature|field)\b",
          0.45, "summari", "discusses", "surveys", "outlines"),
)  # fmt: skip
AGAINST = (
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
OWN_WORK = _clue(
    "own results",
    r"\bwe (?:find|found|show|detect|detected|measure|measured|derive|derived|demonstrate|report|"
    r"obtain|obtained|propose|develop|developed|introduce|apply|compute|calculate|simulate|"
    r"analy[sz]e|perform|performed|constrain|use|used|estimate|model)\b|\bour (?:results|analysis|"
    r"simulations|model|sample|measurements|findings|method)\b|\bhere we (?:report|show)\b",
    0.62,
    against=True,
)
