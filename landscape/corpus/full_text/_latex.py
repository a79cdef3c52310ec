"""Read the LaTeX source of a paper: macros, sections, captions, citations and references.

The text of a paper needs only the structure of the source and the user's macros, so the source is
not parsed as a whole; `landscape.corpus.cleaning` converts the text of each paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from posixpath import normpath

from landscape._bibliography import find_journal
from landscape.corpus.cleaning import clean_text
from landscape.corpus.full_text._sections import SectionList
from landscape.corpus.full_text.references import label_of, parse_reference, reference_of_entry
from landscape.corpus.readers.bibtex import parse_entries
from landscape.types import FullText, Reference, Section

_MAX_INPUTS, _MAX_DEPTH = 200, 8  # included files, and files included by included files
_MAX_SOURCE = 8_000_000  # characters of a source with the files that it includes
_MAX_PASSES = 6  # macros in the text of macros
_MAX_BODY = 600  # characters of a macro that is replaced by its text

# Repetitions are bounded; otherwise, matching a file with many brackets takes minutes.
# A % in the address of a link is no comment.
_COMMENT = re.compile(
    r"(\\(?:href|url|path)\s{0,9}\{[^{}\n]{0,600}\})|(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*"
)
_COMMENTED = (
    (re.compile(r"\\begin\{comment\}"), re.compile(r"\\end\{comment\}")),
    (re.compile(r"\\iffalse(?![A-Za-z])"), re.compile(r"\\fi(?![A-Za-z])")),
)
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*(?:\{([^{}\n]{1,200})\}|([^\s\\{}]{1,200}))")
_BODY = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_DEFINITION = re.compile(
    r"\\(?:(?:re|provide)?(?:new)?command|DeclareRobustCommand)\*?\s{0,9}\{?\s{0,9}\\([A-Za-z@]{1,60})"
    r"\s{0,9}\}?\s{0,9}(?:\[(\d)\])?\s{0,9}(?:\[([^\[\]]{0,100})\])?\s{0,9}(?=\{)"
    r"|\\DeclareMathOperator\*?\s{0,9}\{\\([A-Za-z@]{1,60})\}\s{0,9}(?=\{)"
    r"|\\def\s{0,9}\\([A-Za-z@]{1,60})((?:\s{0,3}#\d){0,9})\s{0,9}(?=\{)"
)
_MACRO = re.compile(r"\\([A-Za-z@]+)(\s*)")
_STRUCTURE = re.compile(
    r"\\(?:(?P<level>chapter|section|subsection|subsubsection|paragraph)\*?\s{0,9}"
    r"(?:\[[^\]]{0,300}\])?\s{0,9}(?=\{)"
    r"|(?P<kept>facility|facilities|software|objects?)\*?\s{0,9}(?=\{)"
    r"|(?P<caption>(?:fig|tab)?caption)(?:of\s{0,9}\{\w{1,9}\})?\*?\s{0,9}(?:\[[^\]]{0,300}\])?\s{0,9}(?=\{)"
    r"|begin\s{0,9}\{(?P<begin>[A-Za-z]{1,30})\*?\}"
    r"|end\s{0,9}\{(?P<end>[A-Za-z]{1,30})\*?\}"
    r"|(?P<thanks>acknowledge?ments?|ack)(?![A-Za-z])"
    r"|(?P<appendix>appendix)(?![A-Za-z])"
    r"|(?P<label>label)\s{0,9}\{(?P<name>[^{}]{1,120})\})"
)
_LEVELS = {"chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4}
_FLOATS = {
    *("figure", "table", "deluxetable", "wrapfigure", "sidewaystable", "longtable"),
    *("sidewaysfigure", "rotatetable", "floattable", "longrotatetable", "splitdeluxetable"),
}
_FORMULAS = {
    "equation",
    "align",
    "eqnarray",
    "gather",
    "multline",
    "displaymath",
    "flalign",
    "alignat",
}
_DROPPED = {
    *(*_FLOATS, *_FORMULAS, "abstract", "keywords", "tabular", "tabularx", "thebibliography"),
    *("tikzpicture", "verbatim", "lstlisting", "minted", "interactive", "algorithm"),
}
_THANKS = re.compile(r"acknowledge?ments?|acks?")
_CITE = re.compile(
    r"\\(?P<name>[cC]ite[a-zA-Z]{0,30}|nocite)\*?\s{0,9}(?:\[(?P<one>[^\]]{0,300})\]\s{0,9})?"
    r"(?:\[(?P<two>[^\]]{0,300})\]\s{0,9})?\{(?P<keys>[^{}]{1,5000})\}"
)
_REF = re.compile(r"\\(?:auto|c|C|page|eq|sub)?ref\*?\s{0,9}\{([^{}]{1,120})\}")
_DISPLAYED = re.compile(r"\$\$(?:\\.|[^$\\]){0,5000}\$\$|\\\[(?:(?!\\\]).){0,5000}\\\]", re.DOTALL)
_NOISE = re.compile(
    r"\\(?:vspace|hspace|includegraphics|plotone|figurenum|bibliographystyle|bibliography|pagestyle"
    r"|thispagestyle|setcounter|addtocounter|newpage|clearpage|centering|noindent|maketitle|tableofcontents"
    r"|input|include|epsscale|received|accepted|footnotemark)\*?(?:\[[^\]]{0,200}\])?(?:\{[^{}]{0,300}\}){0,2}"
)
_BIBITEM = re.compile(
    r"\\bibitem\s{0,9}(?:\[((?:[^\[\]]|\[[^\]]{0,300}\]){0,800})\])?\s{0,9}\{([^{}]{1,300})\}"
)
_LABEL = re.compile(r"^(.{1,300}?)\s*\(?((?:1[89]|20)\d\d)[a-z]?\)?", re.DOTALL)
_JOURNAL = re.compile(r"\\([A-Za-z]{2,9})(?![A-Za-z])")
_LINK = re.compile(
    r"\\href\s*\{([^{}]{1,600})\}|\\(?:url|dodoi|doi|doeprint|eprint)\s*\{([^{}]{1,300})\}"
)


def read_latex(files: Mapping[str, str]) -> FullText:
    """Read a paper from its source files, from name to content."""
    source = joined(files, main_file(files))
    macros, source = _definitions(source)
    start, end = _BODY.search(source), _END.search(source)
    body = source[start.end() if start else 0 : end.start() if end and start else len(source)]
    listed = next((text for text in (source, *files.values()) if _BIBITEM.search(text)), "")
    body = _without_front(_expanded(body, macros))
    if listed:
        keys, references = _bibitems(_COMMENT.sub(r"\1\2", listed), macros)
    else:
        keys, references = _entries(files, body)
    return FullText("LaTeX", _sections(body, keys, references), tuple(references))


def main_file(files: Mapping[str, str]) -> str:
    """Return the name of the file with the document, or of the longest one."""
    tex = {name: text for name, text in files.items() if not name.endswith((".bbl", ".bib"))}
    if not tex:
        return ""
    document = [name for name, text in tex.items() if "\\begin{document}" in text]
    own = [name for name in document if re.search(r"\\document(?:class|style)", tex[name])]
    return max(own or document or tex, key=lambda name: (len(tex[name]), name))


def joined(files: Mapping[str, str], main: str) -> str:
    """Return the text of a file with the files that it includes, without comments."""
    left = [_MAX_INPUTS, _MAX_SOURCE]

    def read(name: str, depth: int) -> str:
        text = _uncommented(_COMMENT.sub(r"\1\2", files.get(name, "")[: max(left[1], 0)]))
        left[0] -= 1
        left[1] -= len(text)

        def included(match: re.Match[str]) -> str:
            wanted = normpath((match[1] or match[2]).strip())
            folder = name.rpartition("/")[0]
            names = (wanted, f"{wanted}.tex", normpath(f"{folder}/{wanted}.tex").lstrip("/"))
            found = next((one for one in names if one in files), None)
            if found is None or depth >= _MAX_DEPTH or left[0] <= 0 or left[1] <= 0:
                return " "
            return read(found, depth + 1)

        return _INPUT.sub(included, text)

    return read(main, 0)


def _uncommented(text: str) -> str:
    """Remove passages that are commented out as a whole."""
    for begin, end in _COMMENTED:
        pieces, reached = [], 0
        while start := begin.search(text, reached):
            stop = end.search(text, start.end())
            if stop is None:
                break
            pieces.append(text[reached : start.start()])
            reached = stop.end()
        text = " ".join([*pieces, text[reached:]])
    return text


def _group(text: str, start: int) -> tuple[str, int]:
    """Return the content of the braces that begin at a place, and the place after them."""
    depth = 0
    for match in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return text[start + 1 : match.start()], match.end()
    return text[start + 1 :], len(text)


_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_ARGUMENT = re.compile(r"#([1-9])")
_Macro = tuple[int, str | None, str]  # number of arguments, default of the first, and text


def _definitions(source: str) -> tuple[dict[str, _Macro], str]:
    """Return the user's macros by name, and the source without their definitions."""
    macros: dict[str, _Macro] = {}
    kept, reached = [], 0
    for match in _DEFINITION.finditer(source):
        if match.start() < reached:
            continue
        text, end = _group(source, match.end())
        kept.append(source[reached : match.start()])
        reached = end
        name = match[1] or match[4] or match[5]
        count = int(match[2] or 0) if match[1] else (match[6] or "").count("#")
        is_structure = _STRUCTURE.match(f"\\{name}{{") or "@" in text or "\\if" in text
        if len(text) <= _MAX_BODY and not is_structure and not name.lower().startswith("cite"):
            macros[name] = (count, match[3], text.replace("\\xspace", ""))
    return macros, "".join([*kept, source[reached:]])


def _expanded(text: str, macros: Mapping[str, _Macro]) -> str:
    """Replace the user's macros by their text."""
    most = 4 * len(text) + 200_000
    for _ in range(_MAX_PASSES):
        pieces, reached, size, changed = list[str](), 0, 0, False
        for match in _MACRO.finditer(text):
            macro = macros.get(match[1])
            if macro is None or match.start() < reached:
                continue
            count, default, body = macro
            end, space = match.end(), match[2] if not macro[0] else ""
            given: list[str] = []
            if default is not None and count:
                optional = re.compile(r"\[([^\]]{0,300})\]").match(text, end)
                given.append(optional[1] if optional else default)
                end = optional.end() if optional else end
            while len(given) < count and text[end : end + 1] == "{":
                content, end = _group(text, end)
                given.append(content)
            size += match.start() - reached + len(body)
            size += sum(body.count(f"#{n}") * len(one) for n, one in enumerate(given, start=1))
            if size > most:
                return text  # the macros multiply the text
            pieces.append(f"{text[reached : match.start()]}{_filled(body, given)}{space}")
            reached, changed = end, True
        if not changed:
            return text
        text = "".join([*pieces, text[reached:]])
    return text


def _filled(body: str, given: Sequence[str]) -> str:
    """Put the arguments of a macro into its text, all at once."""
    return _ARGUMENT.sub(
        lambda one: given[int(one[1]) - 1] if int(one[1]) <= len(given) else one[0], body
    )


_FRONT = re.compile(r"\\end\s*\{abstract\}|\\maketitle\b|\\keywords?\s*\{[^{}]{0,1000}\}")
_FIRST = re.compile(r"\\(?:chapter|section)\b")


def _without_front(body: str) -> str:
    """Remove the title, the authors and the abstract."""
    first = _FIRST.search(body)
    before = len(body) if first is None else first.start()
    ends = [match.end() for match in _FRONT.finditer(body, 0, before)]
    start = ends[-1] if ends else 0 if first is None else before
    return body[start:]


def _bibitems(source: str, macros: Mapping[str, _Macro]) -> tuple[dict[str, int], list[Reference]]:
    r"""Read a bibliography with \bibitem; return the numbers of its keys, and its entries."""
    found = [*_BIBITEM.finditer(source)]
    ends = [*(match.start() for match in found[1:]), len(source)]
    keys: dict[str, int] = {}
    references: list[Reference] = []
    for match, end in zip(found, ends, strict=False):
        text = source[match.end() : end].partition("\\end{thebibliography}")[0]
        text = _expanded(_JOURNAL.sub(_journal, text[:6_000]), macros)
        links = [a or b for a, b in _LINK.findall(text)]
        title = text.split("\\newblock")[1] if text.count("\\newblock") > 1 else ""
        label = _LABEL.match(clean_text((match[1] or "").replace("(", " (")))
        known = {"year": int(label[2])} if label else {}
        plain = clean_text(text.replace("\\newblock", " "))
        entry = parse_reference(
            len(references), plain, links=links, title=clean_text(title).strip(" ."), **known
        )
        keys.setdefault(match[2].strip(), len(references))
        references.append(entry)
    return keys, references


def _journal(match: re.Match[str]) -> str:
    """Return the name of a journal for its macro, or the macro if it is another one."""
    known = find_journal(match[1]) if match[1].islower() else None
    return f" {known.stem} " if known and known.macro == match[1] else match[0]


def _entries(files: Mapping[str, str], body: str) -> tuple[dict[str, int], list[Reference]]:
    """Read the cited entries of BibTeX files."""
    cited = dict.fromkeys(
        key.strip() for match in _CITE.finditer(body) for key in match["keys"].split(",")
    )
    known = {
        entry.key: entry
        for name, text in files.items()
        if name.endswith(".bib")
        for entry in parse_entries(text)
    }
    chosen = [key for key in cited if key in known]
    references = [reference_of_entry(n, known[key]) for n, key in enumerate(chosen)]
    return {key: n for n, key in enumerate(chosen)}, references


def _sections(
    body: str, keys: Mapping[str, int], references: list[Reference]
) -> tuple[Section, ...]:
    labels = [label_of(one) for one in references]
    numbers = _numbers(body)
    cited: list[int] = []

    def citation(match: re.Match[str]) -> str:
        mine = [keys[key.strip()] for key in match["keys"].split(",") if key.strip() in keys]
        cited.extend(mine)
        if match["name"] == "nocite":
            return ""
        one, two = match["one"], match["two"]
        before, after = ("", one) if two is None else (one, two)
        texts = [labels[n] for n in mine if labels[n]]
        if not texts:
            return ""
        if match["name"].lower().startswith(("citet", "citealt")) and not match["name"].endswith(
            "p"
        ):
            shown = ", ".join(texts)
            in_text = match["name"].lower().startswith("citet")
            return re.sub(r" (\d{4})$", r" (\1)", shown) if in_text and len(texts) == 1 else shown
        inside = "; ".join(texts)
        inside = " ".join(filter(None, [before, inside])) + (f", {after}" if after else "")
        is_bare = match["name"].lower().startswith(("citealp", "citeauthor", "citeyear"))
        return inside if is_bare or not inside else f"({inside})"

    def clean(text: str) -> str:
        text = _DISPLAYED.sub(" ", text)
        text = _REF.sub(lambda match: numbers.get(match[1], ""), text)
        text = _NOISE.sub(" ", _with_notes(text))
        paragraphs = re.split(r"\n\s*\n|\\par\b|\\\\", text)
        return "\n".join(filter(None, (clean_text(" ".join(one.split())) for one in paragraphs)))

    found = SectionList(clean)

    def add(kind: str, heading: str, text: str) -> None:
        cited.clear()
        plain = _CITE.sub(citation, text)
        title = _CITE.sub(citation, heading)
        found.add(kind, title, plain, cited)  # type: ignore[arg-type]

    for kind, heading, text in _Pieces(body, found).read():
        add(kind, heading, text)
    return found.finished()


class _Pieces:
    """Sections, captions and macros of a body, in the order of the text."""

    def __init__(self, body: str, found: SectionList) -> None:
        self._body, self._found = body, found
        self._kind, self._heading, self._texts = "other", "", list[str]()
        self._reached, self._is_appendix, self._dropped = 0, False, list[str]()
        self._later: list[tuple[str, str, str]] = []  # captions and macros inside the section
        self._counts: Counter[str] = Counter()

    def read(self) -> Iterator[tuple[str, str, str]]:
        """Yield the kind, heading and text of each piece."""
        for match in _STRUCTURE.finditer(self._body):
            if match.start() < self._reached:
                continue
            if not self._dropped:
                self._texts.append(self._body[self._reached : match.start()])
                self._reached = match.start()
            name = match["begin"] or match["end"] or ""
            is_thanks = bool(name and _THANKS.fullmatch(name))
            if match["caption"]:
                self._add_caption(match)
            elif name in _DROPPED:
                self._drop(match, name)
            elif self._dropped:
                continue
            elif match["kept"]:
                text, self._reached = _group(self._body, match.end())
                kind = {"facility": "facilities", "object": "objects"}.get(match["kept"])
                self._later.append((kind or match["kept"], "", text))
            elif match["level"] or match["thanks"] or match["appendix"] or is_thanks:
                yield from self._finished()
                self._begin(match)
            else:
                self._reached = match.end()
        self._texts.append("" if self._dropped else self._body[self._reached :])
        yield from self._finished()

    def _finished(self) -> Iterator[tuple[str, str, str]]:
        yield self._kind, self._heading, "".join(self._texts)
        yield from self._later
        self._texts, self._later = [], []

    def _begin(self, match: re.Match[str]) -> None:
        self._reached = match.end()
        if match["level"]:
            self._heading, self._reached = _group(self._body, match.end())
            level = _LEVELS[match["level"]]
            self._kind = self._found.kind(_plain(self._heading), level, appendix=self._is_appendix)
        elif match["appendix"]:
            self._kind, self._heading, self._is_appendix = "appendix", "", True
        elif match["end"]:
            self._kind, self._heading = "other", ""
        else:
            self._kind, self._heading = "acknowledgements", "Acknowledgements"

    def _add_caption(self, match: re.Match[str]) -> None:
        text, end = _group(self._body, match.end())
        of = "Table" if any("table" in one for one in self._dropped) else "Figure"
        self._counts[of] += 1
        self._later.append(("caption", f"{of} {self._counts[of]}", text))
        self._reached = max(self._reached, end)

    def _drop(self, match: re.Match[str], name: str) -> None:
        """Leave out an environment, which can contain others."""
        if match["begin"]:
            self._dropped.append(name)
        elif name in self._dropped:
            del self._dropped[self._dropped.index(name) :]
            if not self._dropped:
                self._reached = max(self._reached, match.end())


def _plain(heading: str) -> str:
    return clean_text(_CITE.sub("", heading))


def _numbers(body: str) -> dict[str, str]:
    """Return the numbers of figures, tables, formulas and sections by label."""
    counts: Counter[str] = Counter()
    open_, found, last = list[str](), dict[str, str](), "section"
    for match in _STRUCTURE.finditer(body):
        name = match["begin"] or match["end"] or ""
        if match["label"]:
            of = next((one for one in reversed(open_)), last)
            found.setdefault(match["name"], str(counts[of]))
        elif match["level"] in ("section", "chapter"):
            counts["section"] += 1
            last = "section"
        elif match["begin"] and name in {*_FLOATS, *_FORMULAS}:
            of = "table" if "table" in name else "figure" if name in _FLOATS else "formula"
            counts[of] += 1
            open_.append(of)
        elif match["end"] and name in {*_FLOATS, *_FORMULAS} and open_:
            open_.pop()
    return found


_FOOTNOTE = re.compile(
    r"([.,;:]?)\s{0,9}\\footnote(?:text)?\s{0,9}(?:\[[^\]]{0,40}\])?\s{0,9}(?=\{)"
)


def _with_notes(text: str) -> str:
    """Put footnotes in parentheses before the stop that they follow."""
    pieces, reached = [], 0
    for match in _FOOTNOTE.finditer(text):
        if match.start() < reached:
            continue
        note, end = _group(text, match.end())
        pieces += [text[reached : match.start()], f" ({note.strip().rstrip('.')}){match[1]}"]
        reached = end
    return "".join([*pieces, text[reached:]])
