"""Parse and write the citations of an answer; keep only citations of papers found."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from landscape._author_names import first_names
from landscape.text.words import split_sentences

if TYPE_CHECKING:
    from landscape.types import Paper

UNSUPPORTED, CONTRADICTED, UNCLEAR = "unsupported", "contradicted", "unclear"
"""Marks of sentences that the cited papers do not support, contradict, or may contradict."""

_GROUP = re.compile(r"\[([^\[\]\n]{1,600})\]|\(([^()\n]{1,600})\)")
_SEVERAL_AUTHORS = re.compile(r"\bet\s{1,9}al|&|\band\b", re.IGNORECASE)
_YEAR_AT_END = re.compile(r"\(?(?:19|20)\d\d[a-z]?\)?\Z", re.IGNORECASE)
_LABEL = (
    r"\d{4}[A-Za-z][A-Za-z0-9.&+:'-]{4,}"  # a bibcode, real or invented
    r"|arxiv:\s{0,9}\S+|\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]{1,20}/\d{7}"
    r"|(?:doi:\s{0,9}|https?://\S{0,60})?10\.\d{4,9}/\S+"
)
_A_LABEL = re.compile(_LABEL, re.IGNORECASE)
# Text in square brackets that models write instead of a label, such as "[3]".
_LIKE_A_REFERENCE = re.compile(
    rf"\d{{1,3}}|(?:ref(?:erence)?|paper|source|citation)s?\.?\s*\d*|citation needed|"
    rf"{UNSUPPORTED}|{CONTRADICTED}|{UNCLEAR}",
    re.IGNORECASE,
)
_MARKS = {UNSUPPORTED, CONTRADICTED, UNCLEAR}

# Each group of citations is replaced by a private-use character while the text is split into
# sentences.
_FIRST, _LAST = 0xE000, 0xF8FF
_PLACE = f"[{chr(_FIRST)}-{chr(_LAST)}]"
_BEHIND_STOP = re.compile(rf"(?<![.!?。！？])([.!?。！？]++[\"'”’)]*+)((?:[ \t]*{_PLACE})+)")
_LINE_START = re.compile(r"\s*(?:(?:[-*+•]|\d{1,2}[.)]|>+|#{1,6})\s+)*")
_FINAL = re.compile(r"(?<![.!?。！？])[.!?。！？]++[\"'”’)*_]*+$")
_LEAD_IN = 12  # maximum number of words in a line that introduces a list


@dataclass(frozen=True)
class Passage:
    """One sentence of an answer with its citations."""

    before: str
    text: str
    shown: str
    citations: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def is_claim(self) -> bool:
        """Whether the sentence is a claim, rather than a heading or the introduction of a list."""
        if self.citations or self.unknown:
            return True
        announces = self.text.rstrip("*_").endswith(":") and not re.search(r"\d", self.text)
        return "#" not in self.before and not (announces and len(self.text.split()) <= _LEAD_IN)


def read_citations(text: str, labels: Iterable[str]) -> tuple[Passage, ...]:
    """Split an answer into sentences with their citations."""
    known = {_folded(label): label for label in labels}
    groups: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def lift(found: re.Match[str]) -> str:
        group = _cited(found, known)
        if group is None or len(groups) > _LAST - _FIRST:
            return found[0]
        groups.append(group)
        return chr(_FIRST + len(groups) - 1)

    lifted = _GROUP.sub(lift, re.sub(_PLACE, "", text))
    lifted = _BEHIND_STOP.sub(r"\2\1", lifted)
    passages: list[Passage] = []
    before = ""
    for line in lifted.splitlines():
        start = _LINE_START.match(line)
        done = start.end() if start else 0
        before += line[:done]
        for first, last in split_sentences(line[done:]):
            passage = _passage(before, line[done + first : done + last], groups)
            if not any(map(str.isalnum, passage.text)) and passages:
                passages[-1] = _joined(passages[-1], passage)
                continue
            passages.append(passage)
            before = " "
        before = ("" if before == " " else before) + "\n"
    return tuple(passages)


def write_citations(passages: Sequence[Passage], marks: Sequence[str | None]) -> str:
    """Join sentences and their marks into a text; invented citations are removed."""
    parts = []
    for passage, mark in zip(passages, marks, strict=True):
        shown = _before_stop(passage.shown, f" [{mark}]") if mark else passage.shown
        parts.append(passage.before + shown)
    return "".join(parts).strip()


def _before_stop(sentence: str, added: str) -> str:
    final = _FINAL.search(sentence)
    at = final.start() if final else len(sentence)
    return sentence[:at] + added + sentence[at:]


def without_labels(text: str, labels: Iterable[str] = ()) -> str:
    """Remove brackets from the text of a paper, if they look like a citation."""
    known = set(map(_folded, labels))

    def unbracketed(found: re.Match[str]) -> str:
        inside = found[1] or found[2]
        parts = [part.strip() for part in (inside, *re.split(r"[;,]", inside))]
        fake = any(_folded(part) in known or _A_LABEL.fullmatch(part) for part in parts)
        return inside if fake else found[0]

    return _GROUP.sub(unbracketed, text)


# The last group is missing if the markup is incomplete; the text up to there is unchanged.
_IMAGE = re.compile(r"!\[[^\]\n]*+(?:\](?:\([^)\n]*+(\))?)?)?")
_HYPERLINK = re.compile(r"\[([^\]\n]++)(?:\](?:\((?:[a-z][a-z+.-]*+:|[/#.])[^)\n]*+(\))?)?)?")
_COMMENT = re.compile(r"<!--.*?(?:(-->)|\Z)", re.DOTALL)


def without_markup(text: str) -> str:
    """Remove images, links and HTML from the reply of a language model."""
    text = _IMAGE.sub(lambda found: "" if found[1] else found[0], text)
    text = _HYPERLINK.sub(lambda found: found[1] if found[2] else found[0], text)
    text = _COMMENT.sub(lambda found: "" if found[1] else found[0], text)
    return re.sub(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>", "", text)


def _folded(label: str) -> str:
    plain = html.unescape(label).strip().strip("`*_\"'").casefold()
    plain = re.sub(r"^(?:arxiv|bibcode|doi):\s*", "", plain)
    return re.sub(r"^(\d{4}\.\d{4,5})v\d+$", r"\1", plain)


def _cited(
    match: re.Match[str], known: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the known and unknown labels, or None if the brackets contain no citations."""
    inside, square = match[1] or match[2], bool(match[1])
    if _folded(inside) in known:
        return (known[_folded(inside)],), ()
    parts = [part for part in re.split(r"[;,]", inside) if part.strip()]
    mine = [known[_folded(part)] for part in parts if _folded(part) in known]
    others = [part.strip() for part in parts if _folded(part) not in known]
    like = [
        bool(_is_like_label(part) or (square and _LIKE_A_REFERENCE.fullmatch(part)))
        for part in others
    ]
    if not parts or not (all(like) or (mine and square)):
        return None if not _is_like_label(inside.strip()) else ((), (inside.strip(),))
    unknown = [part for part in others if part.casefold() not in _MARKS]
    return tuple(dict.fromkeys(mine)), tuple(dict.fromkeys(unknown))


def _passage(
    before: str, raw: str, groups: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
) -> Passage:
    held = [groups[ord(place) - _FIRST] for place in re.findall(_PLACE, raw)]

    def written(found: re.Match[str]) -> str:
        mine = groups[ord(found[1]) - _FIRST][0]
        # A citation at the start of a sentence has no space before it.
        space = " " if found.start() else ""
        return f"{space}[{'; '.join(mine)}]" if mine else ""

    return Passage(
        before,
        _tidy(re.sub(rf"(?<!\s)\s*+{_PLACE}", "", raw)),
        _tidy(re.sub(rf"(?<!\s)\s*+({_PLACE})", written, raw)),
        tuple(dict.fromkeys(label for mine, _ in held for label in mine)),
        tuple(dict.fromkeys(label for _, unknown in held for label in unknown)),
    )


def _tidy(text: str) -> str:
    text = re.sub(r"\(\s*+(?:e\.g\.|see|cf\.)?[\s,;]*+\)", "", text)
    return re.sub(r"(?<![ \t])[ \t]++(?=[.,;:!?](?:\s|$))", "", text).strip()


def _joined(passage: Passage, more: Passage) -> Passage:
    """Add citations that are outside of any sentence to the previous sentence."""
    added = tuple(label for label in more.citations if label not in passage.citations)
    group = f" [{'; '.join(added)}]" if added else ""
    return Passage(
        passage.before,
        passage.text,
        _before_stop(passage.shown, group),
        passage.citations + added,
        passage.unknown + more.unknown,
    )


def papers_as_data(papers: Sequence[Paper]) -> list[dict[str, Any]]:
    """Return papers as JSON values: label, title, authors, year, journal and abstract."""
    labels = [paper.label for paper in papers]
    return [
        {
            "label": paper.label,
            "title": without_labels(paper.title, labels),
            "authors": first_names(paper.authors, 3),
            "year": paper.year,
            "journal": paper.journal,
            "abstract": without_labels(paper.abstract, labels),
        }
        for paper in papers
    ]


def _is_like_label(text: str) -> bool:
    """Return whether a text is a label, or authors and a year such as "Smith et al. (2020)"."""
    if _A_LABEL.fullmatch(text):
        return True
    year = _YEAR_AT_END.search(text)
    names = text[: year.start()].rstrip().removesuffix(",") if year else ""
    return not set(names) & set(",;") and bool(_SEVERAL_AUTHORS.search(names))
