"""Sentences of a text, as offsets into the text as it is stored."""

from __future__ import annotations

import re
from functools import lru_cache

Spans = tuple[tuple[int, int], ...]

_END = re.compile(
    r"""
      (?<![.!?…。！？])(?P<mark>[.!?…。！？]++)(?P<closers>["'”’»)\]}]*+)(?P<gap>\s++)(?=\S)
    | (?<=[。！？])(?=[^\s。！？”’」』）])      # no spaces there
    | \n\s*\n                                # a paragraph
    """,
    re.VERBOSE,
)
# A full stop that a formatter glued to the next sentence: "of clusters.We find".
_GLUED = re.compile(r"(?<=[a-z]{3}[.])(?=(?:We|The|This|These|Our|In|It|However|For|A|An)\s)")

_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'~–—/-])(?:"
    r"al|e\.g|i\.e|c?f|c\.f|figs?|eqs?|eqns?|refs?|secs?|sects?|tabs?|nos?|vs|resp|approx|ca|viz|"
    r"dr|prof|mr|mrs|ms|st|vol|ch|chap|app|incl|excl|jr|sr|univ|inst|dept|proc|lett|rev|phys|"
    r"astron|astrophys|a\.k\.a|w\.r\.t|i\.i\.d|obs|lum|temp|max|min|std|pp?|ed|eds|sp|"
    r"(?:[a-z]\.)*[a-z]"
    r")\.$",
    re.IGNORECASE,
)
# These end a sentence as often as not, so the next word decides.
_ENDS_TOO = re.compile(r"(?:\bal|\betc|[\s.][A-Z]|\b[a-z])\.$")
_OPENER = re.compile(
    r"(?:We|The|This|These|Those|Our|In|It|Its|However|For|From|Here|Using|Based|By|At|As|There|"
    r"They|Thus|Therefore|Finally|Moreover|Furthermore|Although|While|When|With|To|Both|Such|"
    r"Since|Among|Also|If|On|Under|Only|Each|Most|Many|Some|All|Unlike|After|Because|Hence)\b"
)
_UNFINISHED = re.compile(
    r"[^A-Za-z\u00aa-\uffff]*"
    r"|(?:Context|Background|Introduction|Aims?|Purpose|Objectives?|Methods?|Results|Findings|"
    r"Discussion|Conclusions?)[.:]",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[:;,]\s\(?\d{1,2}\.$")
_LONGEST_ABBREVIATION = 14  # characters that are looked at before a full stop
_OPENING_MARKS = "([{\"'“‘«"


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Find the sentences of a text.

    Parameters
    ----------
    text : str
        An abstract as it is stored, or any other text.

    Returns
    -------
    list of tuple of int
        Start and end of each sentence: ``text[start:end]`` is the sentence without the white space
        around it. Together they hold every character that is not white space.

    Examples
    --------
    >>> text = "Smith et al. (2003) find z ~ 2. Fig. 3 shows M. dwarfs at 3.5 kpc. We agree."
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Smith et al. (2003) find z ~ 2.', 'Fig. 3 shows M. dwarfs at 3.5 kpc.', 'We agree.']
    """
    return list(_spans(text))


@lru_cache(maxsize=4096)
def _spans(text: str) -> Spans:
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in [*_cuts(text), len(text)]:
        first, last = _without_space(text, start, cut)
        # "1." before a listed point, a lone bracket, and a heading wait for the next cut.
        if first < last and (cut == len(text) or not _UNFINISHED.fullmatch(text, first, last)):
            spans.append((first, last))
            start = cut
    return tuple(spans)


def _cuts(text: str) -> list[int]:
    cuts = {found.start() for found in _GLUED.finditer(text)}
    for found in _END.finditer(text):
        if not found["mark"] or _ends_here(text, found):
            cuts.add(found.end())
    return sorted(cuts)


def _ends_here(text: str, found: re.Match[str]) -> bool:
    after = text[found.end() : found.end() + 40].lstrip(_OPENING_MARKS)
    if "\n\n" in found["gap"]:
        return True
    if after[:1].islower():
        return False
    if found["mark"] != "." or found["closers"]:
        return True
    before = text[max(0, found.start() - _LONGEST_ABBREVIATION) : found.start() + 1]
    if _LISTED.search(before):
        return False
    if _ABBREVIATION.search(before):
        return bool(_ENDS_TOO.search(before) and _OPENER.match(after))
    return True


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    return end - len(inside.lstrip()), start + len(inside.rstrip())
