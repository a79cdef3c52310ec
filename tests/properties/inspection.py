"""Inspection of outputs: they contain nothing active and can be read by other programs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.properties.hostile import EVIL

_RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_TEX = re.compile(
    r"\\(write|input|include|immediate|href|url|def|csname|catcode|openout|read|newwrite|usepackage"
    r"|pwn)(?![a-z])|\^\^"
)
_ESCAPED = re.compile(r"\\[\\{}$&#%_^~]|\\(?:textbackslash|textasciicircum|textasciitilde)\b")
_ACTIVE = {"script", "iframe", "object", "embed", "form", "base", "meta", "link", "foreignobject"}
_ADDRESSES = {"href", "src", "xlink:href", "action", "srcdoc", "data", "formaction", "srcset"}
_ADDRESSES |= {"poster", "background"}
#: Hosts of records, and addresses within a page.
_ALLOWED = re.compile(r"https://(ui\.adsabs\.harvard\.edu|arxiv\.org|doi\.org)/|#|data:image/")
_SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>", re.DOTALL)


class ActiveOutputError(AssertionError):
    """An output that is active."""


def check_sentence(error: Exception, *, lines: bool = False) -> None:
    """Fail if an error is a traceback, or more than one line unless `lines` is True."""
    said = str(error)
    check_plain(said)
    if "Traceback" in said or ("\n" in said and not lines) or len(said) > 2000:
        raise ActiveOutputError(f"the error {said[:300]!r} is no sentence")


class _Page(HTMLParser):
    """A parser that finds active elements, attributes and addresses."""

    def __init__(self, *, is_whole: bool) -> None:
        super().__init__()
        self.found: list[str] = []
        self._active = _ACTIVE - ({"script", "meta", "link"} if is_whole else set())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._active:
            self.found.append(f"the element {tag}")
        for name, value in attrs:
            text = re.sub(r"[\x00-\x20]", "", value or "")
            is_address = name in _ADDRESSES and tag not in self._active | {"script", "link"}
            if (
                (name.startswith("on") and "pwn" in text)
                or (is_address and not _ALLOWED.match(text))
                or (name == "style" and EVIL in text)
            ):
                self.found.append(f"the attribute {name}={text[:80]!r} of {tag}")


def check_plain(text: str) -> None:
    """Fail if a text has a raw control or direction character."""
    if found := _RAW.search(text):
        around = text[max(found.start() - 30, 0) : found.end() + 20]
        raise ActiveOutputError(f"the raw character {found[0]!r} in {around!r}")


def check_html(text: str, *, is_whole: bool = False) -> None:
    """Fail if a piece of HTML, or a whole page with scripts of its own, is active."""
    # White space of HTML is plain.
    check_plain((_SCRIPT.sub("", text) if is_whole else text).replace("\r", ""))
    page = _Page(is_whole=is_whole)
    page.feed(text)
    page.close()
    if page.found:
        raise ActiveOutputError(f"{page.found[:3]}")


def check_markdown(text: str) -> None:
    """Fail if Markdown is active in a program that accepts HTML."""
    import mistune

    check_plain(text)
    make: Any = mistune.create_markdown
    check_html(str(make(escape=False)(text)))


def check_csv(text: str) -> None:
    """Fail if a cell of a table is a formula."""
    check_plain(text.replace("\r", ""))
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            is_formula = cell.lstrip()[:1] in tuple("=+-@＝＋－＠")
            if is_formula and not re.fullmatch(r"-+|[-+]?[\d.]+(e[-+]?\d+)?", cell.strip()):
                raise ActiveOutputError(f"the formula {cell[:60]!r}")


def check_tex(text: str, *, mark: str = "pwn") -> None:
    """Fail if LaTeX has a command of a paper, or a special character in a line with `mark`."""
    check_plain(text)
    if found := _TEX.search(text.replace("\\\\", "")):
        around = text[max(found.start() - 30, 0) : found.end() + 30]
        raise ActiveOutputError(f"the command {around!r}")
    rest = _ESCAPED.sub("", text)
    for line in rest.splitlines():
        if mark in line and (found := re.search(r"[%#$^]", line)):
            raise ActiveOutputError(f"an unescaped {found[0]} in {line[:200]!r}")
    if rest.count("{") != rest.count("}"):
        raise ActiveOutputError(f"{rest.count('{')} and {rest.count('}')} braces")


def check_bib(text: str) -> None:
    """Fail if BibTeX has a command, or an entry that another program cannot read."""
    from bibtexparser.entrypoint import parse_string

    check_tex(text)
    parsed = parse_string(text)
    n_written = len(re.findall(r"(?m)^@\w+\{", text))
    if parsed.failed_blocks or len(parsed.entries) != n_written:
        raise ActiveOutputError(f"{len(parsed.entries)} of {n_written} entries can be read")


def check_ris(text: str) -> None:
    """Fail if a line of RIS has no tag."""
    check_plain(text)
    for line in text.splitlines():
        if not re.match(r"[A-Z][A-Z0-9]  -", line):
            raise ActiveOutputError(f"a line without a tag: {line[:60]!r}")


def check_json(text: str) -> None:
    """Fail if JSON cannot be read."""
    check_plain(text)
    json.loads(text)


def _check_svg(text: str) -> None:
    check_plain(text)
    for element in ElementTree.fromstring(text).iter():  # noqa: S314 - written by this program
        tag = str(element.tag).rpartition("}")[2].lower()
        names = {name.rpartition("}")[2].lower(): value for name, value in element.attrib.items()}
        if tag in _ACTIVE or any(
            name.startswith("on") or (EVIL in value and name in ("href", "style"))
            for name, value in names.items()
        ):
            raise ActiveOutputError(f"the element {tag} with {names}")


def _check_pdf(path: Path) -> None:
    from pypdf import PdfReader

    reader = PdfReader(path)
    for name, value in (reader.metadata or {}).items():
        check_plain(f"{name}: {value}")
    root: Any = reader.trailer["/Root"]
    if {"/OpenAction", "/AA"} & set(root) or "/JavaScript" in (root.get("/Names") or {}):
        raise ActiveOutputError("an action")
    for page in reader.pages:
        for annotation in page.get("/Annots") or []:
            action = annotation.get_object().get("/A") or {}
            if EVIL in str(action) or action.get("/S") in ("/JavaScript", "/Launch"):
                raise ActiveOutputError(f"the link {action}")


def _check_png(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as image:
        for name, value in image.info.items():
            if isinstance(value, str):
                check_plain(f"{name}: {value}")


CHECKS: dict[str, Callable[[str], None]] = {
    ".csv": check_csv,
    ".tex": check_tex,
    ".bib": check_bib,
    ".json": check_json,
    ".html": lambda text: check_html(text, is_whole=True),
    ".svg": _check_svg,
    ".txt": check_plain,
    ".md": check_markdown,
    ".ris": check_ris,
}


def inspect(path: Path) -> None:
    """Fail if a file is active."""
    try:
        if path.suffix in (".pdf", ".png"):
            (_check_pdf if path.suffix == ".pdf" else _check_png)(path)
        elif path.suffix in CHECKS:
            CHECKS[path.suffix](path.read_text("utf-8"))
    except ActiveOutputError as error:
        raise ActiveOutputError(f"{path.name} has {error}") from error
