"""Kinds of sections, and the list of sections that a reader of full texts fills."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import cast

from landscape._wording import one_line
from landscape.types import Section, SectionKind

_MAX_HEADING = 200  # characters
_MAX_TEXT = 400_000  # characters of a section; the longest real ones have about 100,000
MAX_SECTIONS = 2_000  # sections and captions of a paper

_LETTERED = re.compile(
    r"^(?:(?:section|chapter|appendix)\s+)?(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5}|[A-H](?:\.\d{1,2}){0,2})"
    r"(?:[.:)]\s*|\s+)(?=\S)"
)
# Words of a heading in the order in which they decide, each with the kind that it stands for.
_KINDS: tuple[tuple[SectionKind, re.Pattern[str]], ...] = tuple(
    (cast("SectionKind", kind), re.compile(words, re.IGNORECASE))
    for kind, words in (
        ("acknowledgements", r"\backn?owledge?ments?\b|^funding\b|\bthanks\b"),
        (
            "data availability",
            r"\b(?:data|code|software)(?: and \w+)? availability\b|\bavailability of\b",
        ),
        ("facilities", r"^facilit(?:y|ies)\s*:?$"),
        ("software", r"^software\s*:?$"),
        ("appendix", r"^appendi(?:x|ces)\b|^supplement"),
        ("introduction", r"\bintroduction\b(?! to\b)|^background\b|\bmotivation\b"),
        ("conclusions", r"\bconclusions?\b|\bconcluding\b|\bsummary\b"),
        ("discussion", r"\bdiscussions?\b|\bimplications?\b|\bcomparisons?\b|\bcaveats?\b"
         r"|\blimitations\b|\bfuture\b|\bprospects\b|\boutlook\b"),
        ("results", r"\bresults?\b|\bfindings\b"),
        ("methods", r"\bmethod|\btechniques?\b|\bprocedures?\b|\banaly[sz]|\bmodel|\bsimulation"
         r"|\bfitting\b|\bvalidation\b|\binference\b|\balgorithms?\b|\bformalism\b|\bcalibration|\bframework\b"
         r"|\bderivation|\blikelihood|\bpriors?\b|\btests? of\b|\bcomput"),
        ("data", r"\bdata\b|\bobserv(?:ations?|ing)\b|\bsamples?\b|\bsurveys?\b"
         r"|\bcatalog(?:ue)?s?\b|\btargets?\b|\bselection\b|\breductions?\b|\bspectroscopy\b|\bphotometry\b"
         r"|\bimaging\b|\bdatasets?\b|\barchiv"),
    )
)  # fmt: skip

_THANKS = re.compile(
    r"(?:(?:We|I|The (?:\w+ )?authors?|[A-Z][\w.]{0,20}(?: [A-Z][\w.]{0,20}){0,3}) "
    r"(?:also |would like to |wish to |are |is |very |gratefully |sincerely |warmly ){0,4}"
    r"(?:thanks?|acknowledges?|grateful|indebted)\b"
    r"|It is (?:a|our) (?:great )?pleasure to (?:thank|acknowledge)"
    r"|(?:Based (?:in part )?on observations"
    r"|This (?:research|work|paper|project|study) (?:has |was |is )?"
    r"(?:made|makes|uses|used|supported|based|partially|funded|includes))\b)"
)
_ENDS = ("conclusions", "discussion", "results", "other")  # sections that thanks can follow


def kind_of_heading(heading: str, above: SectionKind = "other") -> SectionKind:
    """Return the kind of a section from its heading; without a known word, that of `above`.

    >>> kind_of_heading("2.1 Observations and data reduction")
    'data'
    >>> kind_of_heading("The Ophiuchus stream", "results")
    'results'
    """
    bare = _LETTERED.sub("", " ".join(heading.split()))
    for kind, words in _KINDS:
        if words.search(bare):
            return kind
    return above


class SectionList:
    """Sections in the order of the text. `add` returns the number of a section."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._found: list[Section] = []
        self._above: dict[int, SectionKind] = {}  # kind of the open section of each level

    def kind(self, heading: str, level: int, *, appendix: bool = False) -> SectionKind:
        """Return the kind of a section at a level; level 1 is the highest."""
        above = next((self._above[n] for n in range(level - 1, 0, -1) if n in self._above), None)
        kind = kind_of_heading(heading, above or "other")
        if above == "data" and kind == "methods":  # such as the calibration of observations
            kind = "data"
        if appendix and kind not in ("acknowledgements", "data availability"):
            kind = "appendix"
        elif above in ("acknowledgements", "appendix"):
            kind = above
        self._above = {n: one for n, one in self._above.items() if n < level} | {level: kind}
        return kind

    def add(
        self,
        kind: SectionKind,
        heading: str,
        text: str,
        references: Iterable[int] = (),
        *,
        pages: tuple[int, int] | None = None,
    ) -> None:
        """Add a section, unless it has neither a heading nor a text."""
        cleaned = self._clean(text[:_MAX_TEXT])
        name = one_line(self._clean(heading), most=_MAX_HEADING)
        if (not cleaned and not name) or len(self._found) >= MAX_SECTIONS:
            return
        first, last = pages or (None, None)
        numbers = tuple(sorted(set(references)))
        number = len(self._found)
        self._found.append(Section(number, kind, name, cleaned, first, last, numbers))

    def finished(self) -> tuple[Section, ...]:
        """Return the sections; thanks at the end of the text become acknowledgements."""
        kinds = [section.kind for section in self._found]
        if "acknowledgements" in kinds:
            return tuple(self._found)
        body = [n for n, kind in enumerate(kinds) if kind not in ("appendix", "caption")]
        place = next((n for n in reversed(body) if kinds[n] in _ENDS), None)
        if place is None:
            return tuple(self._found)
        last = self._found[place]
        paragraphs = last.text.split("\n")
        start = next(
            (n for n, one in enumerate(paragraphs) if n and _THANKS.match(one)), len(paragraphs)
        )
        if start == len(paragraphs):
            return tuple(self._found)
        before, after = ("\n".join(one) for one in (paragraphs[:start], paragraphs[start:]))
        pages, cited = (last.first_page, last.last_page), last.references
        parts = [
            Section(0, last.kind, last.heading, before, *pages, cited),
            Section(0, "acknowledgements", "", after, *pages, cited),
        ]
        every = [*self._found[:place], *parts, *self._found[place + 1 :]]
        return tuple(
            Section(n, s.kind, s.heading, s.text, s.first_page, s.last_page, s.references)
            for n, s in enumerate(every)
        )
