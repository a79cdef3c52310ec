"""Split a LaTeX draft into sentences with their citations and line numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from landscape.agents.excerpts import MARK, read_excerpt
from landscape.corpus import clean_text
from landscape.errors import InputError
from landscape.text import split_sentences

# These commands are removed first, because their text may look like a comment or a citation.
_VERBATIM = re.compile(
    r"\\verb\*?(?P<bar>[^\w\s*])[^\n]*?(?P=bar)|\\(?:url|href|nolinkurl)\s*\{[^{}\n]*\}"
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_NEW_LINE = re.compile(r"\\\\\*?(?:[ \t]*\[[^\]\n]{0,40}\])?")
_FOOTNOTE = re.compile(
    r"(?P<stop>[.,;:!?]|(?<![\s.,;:!?]))\s*+\\footnote(?:text)?\s*(?:\[[^\]\n]{0,40}\])?"
    r"\{(?P<note>(?:[^{}]++|\{[^{}]*+\})*+)\}"
)
_DROPPED = re.compile(
    r"\\begin\s*\{(verbatim|lstlisting|minted|equation|align|eqnarray|gather|multline|"
    r"displaymath|tabular|tabularx|tabulary|longtable|supertabular|"
    r"deluxetable|thebibliography|tikzpicture|abstract|acknowledgments|acknowledgements|comment)"
    r"(\*?)\}.*?(?:\\end\s*\{\1\2\}|\Z)"
    # Inline formulas are kept. They are matched so that $a$$b$ is not read as a displayed formula.
    r"|(?<!(?<!\\)\\)(?:(?P<inline>\$(?:\\.|[^$\\])++\$)|\$\$(?:\\.|[^$\\])*+\$\$)"
    r"|\\(?:re|provide)?newcommand\*?\s*\{?\\[A-Za-z]+\}?(?:\s*\[[^\]\n]*\]){0,2}"
    r"\s*\{(?:[^{}]++|\{[^{}]*+\})*+\}"
    r"|\\\[(?:(?!\\\[|\\\]).)*+\\\]",
    re.DOTALL,
)
_OPTIONS = r"\s*+(?:\[[^\]]{0,300}+\]\s*+){0,2}+"
_CITE = re.compile(
    rf"\\(?=[A-Za-z]{{0,40}}[cC]ite)(?P<name>[A-Za-z]++)\*?"
    rf"(?P<groups>(?:{_OPTIONS}\{{[^{{}}]*\}})+)"
)
_ONE_GROUP = re.compile(rf"(?<!\s){_OPTIONS}\{{([^{{}}]*)\}}")
# A citation command defined in the draft, such as \newcommand{\refs}[1]{\citep{#1}}.
_OWN_CITE = re.compile(
    r"\\(?:re)?newcommand\*?\s*+(?:\{\s*+)?\\(?P<name>[A-Za-z]++)\s*+(?:\}\s*+)?\[1\]\s*+\{\s*+"
    r"(?:\(\s*+)?\\[A-Za-z]{0,20}cite[A-Za-z]{0,20}\*?\s*+\{#1\}\s*+(?:\)\s*+)?\}"
)
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{\s*([^{}]{1,300}?)\s*\}")
_NO_CITATION = re.compile(
    r"nocite|citestyle|citename|citeindex|bibcite|newcite|defcite|citelimit", re.IGNORECASE
)
_BREAK = re.compile(
    r"\\(?:part|chapter|(?:sub)*section|paragraph|subparagraph|title|author|affil\w*|date|"
    r"bibliography\w*|label|keywords|facilit\w+|software|input|include)\*?\s*(?:\[[^\]]*\])?"
    r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
    r"|\\item\b(?:\s*\[[^\]]*\])?|\\(?:begin|end)\s*\{[^{}]*\}(?:\[[^\]]*\])?|\\par\b|\\maketitle"
)
_REFERENCE = re.compile(r"~?\\(?:eq|page|auto|c|C)?ref\*?\{[^{}]*\}")
_OPEN, _CLOSE, _LINE_OPEN, _LINE_CLOSE = "\ue010", "\ue011", "\ue012", "\ue013"
# A heading is replaced by private-use characters, one at each end and one per line break.
_HEADING, _HEADING_LINE = "\ue015", "\ue014"
_HEADINGS = re.compile(f"{_HEADING}({_HEADING_LINE}*){_HEADING}")
_PRIVATE = re.compile(f"[{_OPEN}-{_HEADING}]")
_CITED = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_LINED = re.compile(rf"\s?{_LINE_OPEN}(\d+){_LINE_CLOSE}")
_AROUND = 600  # maximum number of characters used on each side of a citation
_BEHIND_STOP = re.compile(rf"(?<![.!?])([.!?]++[\"'”’)]*+)((?:{_OPEN}\d+{_CLOSE})+)(?=\s|$)")


@dataclass(frozen=True)
class Citation:
    r"""One ``\cite`` command in a sentence."""

    keys: tuple[str, ...]
    part: str


@dataclass(frozen=True)
class DraftSentence:
    text: str
    line: int
    citations: tuple[Citation, ...] = ()


def read_draft(source: str) -> list[DraftSentence]:
    r"""Split a draft into sentences with their citations."""
    text = _PRIVATE.sub("", source.replace("\r\n", "\n"))
    text = _own_citations(_COMMENT.sub(r"\1", _VERBATIM.sub(" ", text)))
    body = _BODY.search(text)
    shift = text.count("\n", 0, body.start(1)) if body else 0
    text = body[1] if body else text
    text = _DROPPED.sub(
        lambda found: found["inline"] or "\n" * found[0].count("\n") + " ", _NEW_LINE.sub(" ", text)
    )
    text = _FOOTNOTE.sub(_in_sentence, text)
    groups: list[tuple[str, ...]] = []

    def lift(found: re.Match[str]) -> str:
        if _NO_CITATION.search(found["name"]):
            return "\n" * found[0].count("\n")
        keys = ",".join(_ONE_GROUP.findall(found["groups"]))
        listed = tuple(dict.fromkeys(key.strip() for key in keys.split(",") if key.strip()))
        groups.append(listed)
        return f"{_OPEN}{len(groups) - 1}{_CLOSE}" + "\n" * found[0].count("\n")

    text = _CITE.sub(lift, text)
    text = _REFERENCE.sub("", text)
    text = _BREAK.sub(
        lambda found: f"{_HEADING}{_HEADING_LINE * found[0].count(chr(10))}{_HEADING}", text
    )
    return [
        sentence
        for first, paragraph in _paragraphs(text, shift)
        for sentence in _sentences(paragraph, first, groups)
    ]


def inputs_of(source: str) -> list[tuple[int, str]]:
    r"""Find the files included by a draft, with the line numbers of the ``\input`` commands."""
    text = _COMMENT.sub(r"\1", source.replace("\r\n", "\n"))
    return [(text.count("\n", 0, match.start()) + 1, match[1]) for match in _INPUT.finditer(text)]


def _own_citations(text: str) -> str:
    r"""Replace citation commands defined in the draft with ``\citep``."""
    names = sorted({match["name"] for match in _OWN_CITE.finditer(text)})
    if not names:
        return text
    return re.sub(rf"\\(?:{'|'.join(names)})(?=\s*\{{)", r"\\citep", text)


def _in_sentence(match: re.Match[str]) -> str:
    """Convert a footnote to text in parentheses."""
    note = match["note"].strip().rstrip(".")
    return f" ({note}){match['stop']}" + "\n" * (match[0].count("\n") - note.count("\n"))


def _paragraphs(text: str, shift: int) -> Iterator[tuple[int, str]]:
    """Yield each paragraph with the number of its first line; a heading ends a paragraph."""
    line = shift + 1
    # The pattern has one group, so pieces with odd numbers are the line breaks of headings.
    for number, piece in enumerate(_HEADINGS.split(text)):
        if number % 2:
            line += len(piece)
            continue
        lines: list[str] = []
        first = line
        for row in piece.split("\n"):
            if row.strip():
                first = first if lines else line
                lines.append(row)
            elif lines:
                yield first, "\n".join(lines)
                lines = []
            line += 1
        line -= 1  # the text after the heading is on the same line
        if lines:
            yield first, "\n".join(lines)


def _sentences(
    paragraph: str, first: int, groups: list[tuple[str, ...]]
) -> Iterator[DraftSentence]:
    rows = paragraph.split("\n")
    numbered = (f"{_LINE_OPEN}{first + n}{_LINE_CLOSE} {row}" for n, row in enumerate(rows))
    plain = clean_text(" ".join(numbered))
    starts, lines, pieces = [0], [first], []
    done = length = 0
    for match in _LINED.finditer(plain):
        pieces.append(plain[done : match.start()])
        length += len(pieces[-1])
        starts.append(length)
        lines.append(int(match[1]))
        done = match.end()
    pieces.append(plain[done:])
    text = _BEHIND_STOP.sub(r"\2\1", "".join(pieces))
    for start, end in split_sentences(text):
        line = lines[bisect_right(starts, start) - 1]
        sentence = _sentence(text[start:end], line, groups)
        if re.search(r"\w", sentence.text) or sentence.citations:
            yield sentence


def _sentence(marked: str, line: int, groups: list[tuple[str, ...]]) -> DraftSentence:
    cited = []
    for match in _CITED.finditer(marked):
        # A text without full stops may be very long.
        first, last = max(0, match.start() - _AROUND), match.end() + _AROUND
        before, after = (
            _CITED.sub(" [1] ", rest)
            for rest in (marked[first : match.start()], marked[match.end() : last])
        )
        try:
            part = read_excerpt(f"{before} {MARK} {after}").clause
        except InputError:  # the sentence contains only the citation
            part = ""
        keys = groups[int(match[1])] if int(match[1]) < len(groups) else ()
        if keys:
            cited.append(Citation(keys, part))
    plain = re.sub(r"(?<!\s)\s++(?=[.,;:!?)])", "", _CITED.sub("", marked))
    plain = re.sub(r"\(\s*\)", "", plain)
    return DraftSentence(" ".join(plain.split()), line, tuple(cited))
