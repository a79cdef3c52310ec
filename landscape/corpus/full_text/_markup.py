"""Read HTML of arXiv (made by LaTeXML) and JATS XML (of PMC and publishers)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from landscape.corpus.cleaning import clean_text
from landscape.corpus.full_text._sections import SectionList
from landscape.corpus.full_text.references import parse_reference
from landscape.errors import InputError, require
from landscape.types import FullText, Reference

_MAX_DEPTH = 200  # of nested elements
_MAX_REFERENCES = 5_000
_MAX_REFERENCE = 4_000  # characters of an entry


@dataclass(frozen=True)
class _Names:
    """Names of elements, or classes of HTML elements, with a meaning."""

    format: str
    sections: frozenset[str]
    headings: frozenset[str]
    captions: frozenset[str]
    floats: frozenset[str]
    thanks: frozenset[str]
    appendices: frozenset[str]
    paragraphs: frozenset[str]
    dropped: frozenset[str]
    item: str
    cited: Callable[[Any], str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _cited_html(element: Any) -> str:
    return str(element.get("href", "")).rpartition("#")[2] if element.tag == "a" else ""


def _cited_jats(element: Any) -> str:
    is_cited = element.tag == "xref" and element.get("ref-type") == "bibr"
    return str(element.get("rid", "")) if is_cited else ""


_HTML = _Names(
    "HTML",
    sections=_words("ltx_section ltx_subsection ltx_subsubsection ltx_paragraph ltx_chapter"),
    headings=_words("ltx_title_section ltx_title_subsection ltx_title_subsubsection "
                    "ltx_title_paragraph ltx_title_appendix ltx_title_chapter"),
    captions=_words("ltx_caption figcaption"),
    floats=_words("ltx_figure ltx_table ltx_float figure table"),
    thanks=_words("ltx_acknowledgements ltx_acknowledgments"),
    appendices=_words("ltx_appendix"),
    paragraphs=_words("ltx_p p"),
    dropped=_words("script style nav header footer ltx_abstract ltx_authors ltx_title_document "
                   "ltx_equation ltx_equationgroup ltx_bibliography ltx_dates ltx_page_footer "
                   "ltx_note_mark ltx_tag_note ltx_keywords"),
    item="ltx_bibitem",
    cited=_cited_html,
)  # fmt: skip
_JATS = _Names(
    "JATS",
    sections=_words("sec"),
    headings=_words("title"),
    captions=_words("caption"),
    floats=_words("fig table-wrap fig-group"),
    thanks=_words("ack"),
    appendices=_words("app"),
    paragraphs=_words("p"),
    dropped=_words("front journal-meta article-meta abstract disp-formula ref-list table "
                   "disp-formula-group supplementary-material author-notes floats-wrap label"),
    item="ref",
    cited=_cited_jats,
)  # fmt: skip


def read_html(content: bytes) -> FullText:
    """Read a page of arXiv. Pages without the classes of LaTeXML are read by their headings."""
    html = require("lxml.html", "fetch")
    parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False)
    root = html.document_fromstring(content or b"<p></p>", parser=parser)
    if not any("ltx_" in (one.get("class") or "") for one in root.iter("section", "h2", "div")):
        return _read_plain_html(root)
    return _read(root, _HTML)


def read_jats(content: bytes) -> FullText:
    """Read an article in JATS. External entities are not loaded."""
    etree = require("lxml.etree", "fetch")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    root = etree.fromstring(content, parser=parser)
    if root is None:
        raise InputError("The file is not valid XML.")
    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    articles = [*root.iter("article")]
    return _read(articles[0] if articles else root, _JATS)


_NO_TEXT = frozenset(("a comment",))


def _classes(element: Any, names: _Names) -> frozenset[str]:
    if not isinstance(element.tag, str):  # a comment
        return _NO_TEXT
    if names is _HTML:
        return frozenset((element.tag, *(element.get("class") or "").split()))
    return frozenset((element.tag,))


def _read(root: Any, names: _Names) -> FullText:
    keys, references = _references(root, names)
    found = SectionList(_paragraphs)
    captions: list[tuple[str, str, list[int]]] = []

    def walk(element: Any, level: int, depth: int, is_appendix: bool) -> None:
        """Add the section of an element, and then the sections inside it."""
        inner: list[tuple[Any, bool]] = []
        heading, pieces, cited = "", list[str](), list[int]()
        for part, text in _texts(element, names, inner, captions, keys, cited, 0):
            if part == "heading" and not heading and level:
                heading = text
            else:
                pieces.append(text)
        kind = found.kind(clean_text(heading), max(level, 1), appendix=is_appendix)
        own = _classes(element, names)
        if own & names.thanks:
            kind, heading = "acknowledgements", heading or "Acknowledgements"
        elif element.get("sec-type") in ("data-availability", "data-availability-statement"):
            kind = "data availability"
        if level or "".join(pieces).strip():
            found.add(kind, heading, "".join(pieces), cited)
        for caption in captions:
            found.add("caption", caption[0], caption[1], caption[2])
        captions.clear()
        for child, of_appendix in inner:
            if depth < _MAX_DEPTH:
                walk(child, level + 1, depth + 1, is_appendix or of_appendix)

    walk(root, 0, 0, False)
    return FullText(names.format, found.finished(), tuple(references))


def _texts(
    element: Any,
    names: _Names,
    inner: list[tuple[Any, bool]],
    captions: list[tuple[str, str, list[int]]],
    keys: Mapping[str, int],
    cited: list[int],
    depth: int,
) -> Iterator[tuple[str, str]]:
    """Yield the texts of an element. Sections, captions and citations are collected in lists."""
    if depth > _MAX_DEPTH:
        return
    if element.text:
        yield "text", element.text
    for child in element:
        own = _classes(child, names)
        if own & names.sections or own & names.thanks or own & names.appendices:
            inner.append((child, bool(own & names.appendices)))
        elif own & names.floats:
            captions += _captions(child, names, keys, depth)
        elif child.tag in ("math", "tex-math"):
            yield "text", f" {_formula(child)} "
        elif own is not _NO_TEXT and not own & {*names.dropped, names.item}:
            if (number := keys.get(names.cited(child))) is not None:
                cited.append(number)
            every = [*_texts(child, names, inner, captions, keys, cited, depth + 1)]
            if own & names.headings:
                yield "heading", " ".join("".join(text for _, text in every).split())
            else:
                yield from every
            yield "text", "\n\n" if own & names.paragraphs else ""
        if child.tail:
            yield "text", child.tail


def _formula(element: Any) -> str:
    text = _text_of(element)
    return text if element.tag == "tex-math" else f"${element.get('alttext') or text}$"


def _captions(
    element: Any, names: _Names, keys: Mapping[str, int], depth: int
) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the label, the text and the citations of the caption of a figure or table."""
    for caption in element.iter():
        if _classes(caption, names) & names.captions:
            numbers: list[int] = []
            found = _texts(caption, names, [], [], keys, numbers, depth + 1)
            text = " ".join(one for _, one in found)
            label = "" if names is _HTML else _text_of(element.find("label"))
            yield label, text, numbers
            return


def _paragraphs(text: str) -> str:
    pieces = re.split(r"\n\s*\n", text)
    return "\n".join(filter(None, (clean_text(" ".join(one.split())) for one in pieces)))


def _text_of(element: Any) -> str:
    return "" if element is None else " ".join("".join(map(str, element.itertext())).split())


def _references(root: Any, names: _Names) -> tuple[dict[str, int], list[Reference]]:
    """Read the list of references; return the numbers of its keys, and its entries."""
    keys: dict[str, int] = {}
    found: list[Reference] = []
    for element in root.iter():
        if names.item not in _classes(element, names):
            continue
        if any(names.item in _classes(one, names) for one in element.iterancestors()):
            continue
        if len(found) >= _MAX_REFERENCES:
            break
        links = [str(one.get("href") or "") for one in element.iter("a")]
        links += [_text_of(one) for one in element.iter("pub-id", "ext-link")]
        known = _jats_fields(element) if names is _JATS else {}
        text = clean_text(" ".join(map(str, element.itertext()))[:_MAX_REFERENCE])
        key = str(element.get("id") or "")
        if key:
            keys.setdefault(key, len(found))
        found.append(parse_reference(len(found), text, links=links, **known))
    return keys, found


def _jats_fields(element: Any) -> dict[str, Any]:
    """Return the fields of a reference whose parts are marked."""

    def first(name: str) -> str:
        return _text_of(next(element.iter(name), None))

    authors = []
    for name in element.iter("name", "string-name"):
        family, given = (_text_of(next(name.iter(one), None)) for one in ("surname", "given-names"))
        if family:
            authors.append(f"{family}, {given}" if given else family)
    authors += [_text_of(one) for one in element.iter("collab")]
    year = re.search(r"(?:1[89]|20)\d\d", first("year"))
    fields: dict[str, Any] = {
        "authors": authors[:30],
        "year": int(year[0]) if year else None,
        "title": first("article-title"),
        "journal": first("source"),
        "volume": first("volume"),
        "page": first("fpage") or first("elocation-id"),
    }
    return {name: value for name, value in fields.items() if value}


_BLOCKS = ("p", "li", "td", "div", "section", "br")


def _read_plain_html(root: Any) -> FullText:
    """Read a page by its headings h1 to h4."""
    found = SectionList(_paragraphs)
    level, heading, pieces = 1, "", list[str]()
    for element in root.iter():
        if element.tag in ("h1", "h2", "h3", "h4"):
            found.add(found.kind(clean_text(heading), level), heading, "".join(pieces))
            level, heading, pieces = max(int(element.tag[1]) - 1, 1), _text_of(element), []
        elif isinstance(element.tag, str) and element.tag not in ("script", "style", "title"):
            pieces.append("\n\n" if element.tag in _BLOCKS else "")
            is_inside = any(one.tag in ("h1", "h2", "h3", "h4") for one in element.iterancestors())
            pieces.append("" if is_inside else element.text or "")
        pieces.append(element.tail or "" if isinstance(element.tag, str) else "")
    found.add(found.kind(clean_text(heading), level), heading, "".join(pieces))
    return FullText("HTML", found.finished())
