"""Find the sentence with a missing citation in an excerpt, and the statement that it supports."""

from __future__ import annotations

import re
from dataclasses import dataclass

from landscape.errors import InputError
from landscape.llm import LanguageModel, ReplyForm, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.search.settings import MAX_QUERY, readable_text
from landscape.text import split_sentences

MARK = "[CITATION]"
"""Mark that replaces the missing citation in an excerpt."""

_ANY_MARK = re.compile(r"[\[(]\s*CITATION\s*[\])]", re.IGNORECASE)
_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
_SURNAME = r"[A-Z][\w'’-]{1,60}+"  # limited, because a name can start after each hyphen
_OTHERS = re.compile(
    rf"""
      \\(?=[a-zA-Z]*?cite)[a-zA-Z]++\*?(?:\[[^][]*+\])*+\{{[^{{}}]*+\}}  # \citep[e.g.][]{{key}}
    | \[\s*+\d{{1,3}}+(?:\s*+[,;–-]\s*+\d{{1,3}}+)*+\s*+\]       # [3, 7-9]
    | \([^()]{{0,200}}?\b{_YEAR}[^()]{{0,200}}?\)                # (see Rubin & Ford 1970)
    | \b{_SURNAME}(?:\ et\ al\.?|\ (?:&|and)\ {_SURNAME})?,?\ \({_YEAR}\)   # Rubin et al. (1980)
    | \b{_SURNAME}(?:\ et\ al\.|\ (?:&|and)\ {_SURNAME})?,?\ {_YEAR}(?=\s*[;,)]) # …; Ford 1970;
    """,
    re.VERBOSE,
)
_MINE, _OTHER = "\ue000", "\ue001"
_GROUP = re.compile(
    rf"[{_MINE}{_OTHER}](?:[\s,;()\[\]]*(?:(?:and|&)[\s,;(\[]*)?[{_MINE}{_OTHER}])*"
)
_BOUNDARY = re.compile(
    r";\s++|(?:,|(?<![\s,]))\s++(?:whereas|while|although|whilst)\s++|,\s++(?:but|and|or)\s++"
)
_GOES_ON = re.compile(
    r"""(?:they|their|this|these|that|those|it|its|he|she|his|her|here|there|such|both
        |the\ (?:authors?|papers?|study|work|method|code|model|catalogue?|survey|sample|result)s?
        )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MIN_WORDS = 4  # minimum number of words of a part; shorter parts are not used as a query
_LONG = 30  # maximum number of words; longer sentences with one citation are split


@dataclass(frozen=True)
class Excerpt:
    """An excerpt, the sentence with the mark, and the part that the mark refers to."""

    text: str
    sentence: str
    clause: str
    marked: str
    plain: str
    n_marks: int


def read_excerpt(text: str, *, mark: int = 1) -> Excerpt:
    """Find the sentence with the mark, and the part of this sentence that the mark refers to.

    The part is the text between the previous citation and the mark, because astronomers cite after
    a statement. If there is no such text, as in "[CITATION] showed that...", the part is the text
    after the mark.
    """
    line = " ".join(_ANY_MARK.sub(MARK, readable_text("excerpt", text)).split())
    line = re.sub(f"[{_MINE}{_OTHER}]", "", line)
    marks = [match.start() for match in re.finditer(re.escape(MARK), line)]
    if not 1 <= mark <= len(marks):
        seen = {0: "no mark", 1: "one mark"}.get(len(marks), f"{len(marks)} marks")
        raise InputError(
            f"The excerpt has {seen} {MARK}, but mark {mark} is requested. Write {MARK} where the "
            "missing paper is cited."
        )
    at = marks[mark - 1]
    marked = f"{line[:at]}{_MINE}{line[at + len(MARK) :]}".replace(MARK, _OTHER)
    hidden = _hide(marked)
    start, end = _sentence_of(hidden)
    sentence = hidden[start:end]
    plain = _tidied(sentence)
    if not re.search(r"\w", plain):
        raise InputError(f"The sentence contains only {MARK}. Pass the words around {MARK} too.")
    return Excerpt(
        text=line,
        sentence=plain,
        clause=_clause(sentence) or plain,
        marked=_tidied(sentence.replace(_MINE, MARK).replace(_OTHER, "(...)")),
        plain=_around(line, at),
        n_marks=len(marks),
    )


class _TitleReply(ReplyForm):
    title: str


def recall_title(model: LanguageModel, excerpt: str) -> str:
    """Ask a model for the title of the cited paper, without any search."""
    reply = request_reply(model, prompt("recall_paper"), as_data({"excerpt": excerpt}), _TitleReply)
    return " ".join(reply.title.split())[:MAX_QUERY]


def find_citations(text: str) -> list[tuple[int, int]]:
    """Return the places of the citations in a text.

    >>> find_citations("Dust cools (Doe 2020; Roe et al. 2021).")
    [(11, 38)]
    """
    return [found.span() for found in _OTHERS.finditer(text)]


def without_citations(text: str) -> str:
    """Return a text without its citations.

    >>> without_citations("Dust cools (Doe 2020), and gas [3] too.")
    'Dust cools, and gas too.'
    """
    return _tidied(_OTHERS.sub(_OTHER, " ".join(text.split())))


def _around(line: str, at: int) -> str:
    """Return the excerpt without sentences about other papers.

    These are sentences with other marks, and later sentences that do not refer back to the
    sentence of the mark.
    """
    kept, is_over = [], False
    for start, end in split_sentences(line):
        sentence = line[start:end]
        is_own = start <= at < end
        is_over |= start > at and not _GOES_ON.match(sentence)
        if is_own or (MARK not in sentence and not is_over):
            kept.append(sentence)
    return _tidied(_hide(" ".join(kept).replace(MARK, _OTHER)))


def _hide(text: str) -> str:
    """Replace other citations with a private-use character, but keep marks inside citations."""

    def hidden(found: re.Match[str]) -> str:
        return "".join(c for c in found[0] if c in (_MINE, _OTHER)) or _OTHER

    return _OTHERS.sub(hidden, text)


def _sentence_of(text: str) -> tuple[int, int]:
    at = text.index(_MINE)
    spans = split_sentences(text)
    place = next((n for n, (_, end) in enumerate(spans) if at < end), len(spans) - 1)
    start, end = spans[place]
    alone = not re.search(r"\w", _tidied(text[start:end]))
    if alone and place:  # a citation after the full stop belongs to the previous sentence
        start = spans[place - 1][0]
    return start, end


def _clause(sentence: str) -> str:
    """Return the part of a sentence that the mark refers to, or "" for the whole sentence."""
    groups = [(g.start(), g.end(), _MINE in g[0]) for g in _GROUP.finditer(sentence)]
    mine = next(n for n, group in enumerate(groups) if group[2])
    start, end, _ = groups[mine]
    left = sentence[groups[mine - 1][1] if mine else 0 : start]
    right = sentence[end : groups[mine + 1][0] if mine + 1 < len(groups) else len(sentence)]
    if len(groups) == 1:
        if len(sentence.split()) <= _LONG:
            return ""
        right = _BOUNDARY.split(right)[0]
    turned = _BOUNDARY.split(left)[-1]
    left = turned if len(groups) == 1 or _words(turned) >= _MIN_WORDS else left
    if _words(left) >= _MIN_WORDS:
        # The part ends at the next boundary after the mark, as in "the code of [CITATION] for …".
        ends = len(groups) == 1 or mine + 1 == len(groups)
        more = _BOUNDARY.split(right)[0] if ends else ""
        return _tidied(f"{left} {more}").strip(" ,;.")
    if _words(right) >= _MIN_WORDS:
        return _tidied(f"{left} {right}").strip(" ,;.")
    return ""


def _words(text: str) -> int:
    return len(re.findall(r"\w{2,}", text))


def _tidied(text: str) -> str:
    text = re.sub(rf"[{_MINE}{_OTHER}]", "", text)
    text = re.sub(r"[(\[]\s*+(?:see|e\.g\.|cf\.|also|and|[,;.])*+\s*+[)\]]", "", text)
    text = re.sub(r"\s+(?=[.,;:!?)])", "", " ".join(text.split()))
    return text[:MAX_QUERY].strip()
