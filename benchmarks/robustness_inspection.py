"""Inspection of output files: they must contain no active content."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from xml.etree import ElementTree

MARK = "pwn"  # every poisoned text contains it
EVIL = "evil.example"  # the host of every poisoned link

_RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_TEX = re.compile(
    r"\\(write|input|include|immediate|href|url|def|csname|catcode|openout|read|newwrite|usepackage"
    r"|pwn)(?![a-z])|\^\^"
)
_ESCAPED = re.compile(r"\\[\\{}$&#%_^~]|\\(?:textbackslash|textasciicircum|textasciitilde)\b")
_SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>", re.DOTALL)
_LIBRARY = 500_000  # characters; a longer script is a library, not data
_IN_PAGE = """
() => [...document.querySelectorAll('*')].filter(one => [...one.attributes].some(({name, value}) =>
    (/^on/i.test(name) && /pwn/.test(value))
    || (/^(href|src|xlink:href|action|srcdoc|data|formaction|srcset|poster|background)$/i.test(name)
        && /^\\s*(javascript:|vbscript:|data:text\\/html)|evil\\.example/i.test(value))
    || (name === 'style' && /evil\\.example/.test(value))))
  .map(one => one.outerHTML.slice(0, 150)).concat(window.pwnd || [])
"""
# Pages of Voila link a font of jsDelivr; their content security policy forbids the request.
_LOCAL = re.compile(
    r"(file|data|blob|about):|(http|ws)://127\.0\.0\.1|https://cdn\.jsdelivr\.net/npm/@fort"
)
_BEGIN = "window.pwnd = []; window.pwn = () => { window.pwnd.push('a script of the data ran'); };"


class ActiveOutputError(AssertionError):
    """An output that is active."""


class Chromium:
    """A browser that reports scripts, dialogs and requests of pages."""

    def __enter__(self) -> Self:
        from playwright.sync_api import sync_playwright

        from tests.browser.chromium import executable

        self._playwright = sync_playwright().start()
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        self._browser = self._playwright.chromium.launch(executable_path=executable(), args=options)
        return self

    def __exit__(self, *_: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def page(self) -> tuple[Any, list[str]]:
        """Return a page, and the list to which its faults are added."""
        page = self._browser.new_page(viewport={"width": 1200, "height": 900})
        faults: list[str] = []

        def asked(request: Any) -> None:
            if not _LOCAL.match(request.url):
                faults.append(f"a request to {request.url[:80]}")

        def said(dialog: Any) -> None:
            faults.append("a dialog")
            dialog.dismiss()

        page.on("request", asked)
        page.on("dialog", said)
        page.add_init_script(_BEGIN)
        return page, faults

    def inspect(self, path: Path) -> None:
        """Open a file, move the pointer over it, and fail if anything is active."""
        page, faults = self.page()
        page.goto(path.as_uri())
        page.wait_for_timeout(200)
        for step in range(8):
            page.mouse.move(100 + 130 * step, 250 + 60 * (step % 4), steps=4)
        found = [*faults, *page.evaluate(_IN_PAGE)]
        page.close()
        if found:
            raise ActiveOutputError(f"{path.name}: {found[:3]}")


def inspect(folder: Path, chromium: Chromium) -> None:
    """Inspect every file of a folder, and fail for the first that is active."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        check = _CHECKS.get(path.suffix)
        if check is not None:
            check(path)
        if path.suffix == ".md":
            path = _rendered(path)
        if path.suffix in (".html", ".svg"):
            chromium.inspect(path)


def _rendered(path: Path) -> Path:
    """Render Markdown as a program that accepts HTML does."""
    import mistune

    page = path.with_suffix(".md.html")
    make: Any = mistune.create_markdown
    page.write_text(str(make(escape=False)(path.read_text("utf-8"))), "utf-8")
    return page


def _plain(path: Path, text: str | None = None) -> str:
    """Return the text of a file that has no raw control or direction character."""
    text = path.read_text("utf-8") if text is None else text
    if found := _RAW.search(text):
        around = text[max(found.start() - 30, 0) : found.end() + 20]
        raise ActiveOutputError(f"{path.name} has the raw character {found[0]!r} in {around!r}")
    return text


def _check_csv(path: Path) -> None:
    for row in csv.reader(io.StringIO(_plain(path))):
        for cell in row:
            if cell.lstrip()[:1] in tuple("=+-@＝＋－＠") and not _is_number(cell):
                raise ActiveOutputError(f"{path.name} has the formula {cell[:60]!r}")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.strip() in ("-", "--")
    return True


def _check_tex(path: Path) -> None:
    text = _plain(path)
    if found := _TEX.search(text.replace("\\\\", "")):
        raise ActiveOutputError(
            f"{path.name} has the command {text[found.start() - 30 : found.end() + 30]!r}"
        )
    rest = _ESCAPED.sub("", text)
    for line in rest.splitlines():
        if MARK in line and (found := re.search(r"[%#$^]", line)):
            raise ActiveOutputError(f"{path.name} has an unescaped {found[0]} in {line[:200]!r}")
    if rest.count("{") != rest.count("}"):
        raise ActiveOutputError(f"{path.name} has {rest.count('{')} and {rest.count('}')} braces")


def _check_bib(path: Path) -> None:
    from bibtexparser.entrypoint import parse_string

    _check_tex(path)
    text = path.read_text("utf-8")
    parsed = parse_string(text)
    n_written = len(re.findall(r"(?m)^@\w+\{", text))
    if parsed.failed_blocks or len(parsed.entries) != n_written:
        raise ActiveOutputError(
            f"{path.name}: {len(parsed.entries)} of {n_written} entries can be read"
        )


def _check_json(path: Path) -> None:
    json.loads(_plain(path))


def _check_html(path: Path) -> None:
    text = path.read_text("utf-8")
    _plain(path, _SCRIPT.sub(lambda found: "" if len(found[0]) > _LIBRARY else found[0], text))


def _check_svg(path: Path) -> None:
    _plain(path)
    for element in ElementTree.parse(path).iter():  # noqa: S314 - written by this program
        tag = str(element.tag).rpartition("}")[2].lower()
        if tag in ("script", "foreignobject", "iframe"):
            raise ActiveOutputError(f"{path.name} has the element {tag}")
        for name, value in element.attrib.items():
            if name.lower().startswith("on") or (
                EVIL in value and name.endswith(("href", "style"))
            ):
                raise ActiveOutputError(f"{path.name} has the attribute {name}={value[:60]!r}")


def _check_pdf(path: Path) -> None:
    from pypdf import PdfReader

    reader = PdfReader(path)
    for name, value in (reader.metadata or {}).items():
        _plain(path, f"{name}: {value}")
    root: Any = reader.trailer["/Root"]
    if {"/OpenAction", "/AA"} & set(root) or "/JavaScript" in (root.get("/Names") or {}):
        raise ActiveOutputError(f"{path.name} has an action")
    for page in reader.pages:
        for annotation in page.get("/Annots") or []:
            action = annotation.get_object().get("/A") or {}
            if EVIL in str(action) or action.get("/S") in ("/JavaScript", "/Launch"):
                raise ActiveOutputError(f"{path.name} has the link {action}")


def _check_png(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as image:
        for name, value in image.info.items():
            if isinstance(value, str):
                _plain(path, f"{name}: {value}")


_CHECKS: dict[str, Callable[[Path], object]] = {
    ".csv": _check_csv,
    ".tex": _check_tex,
    ".bib": _check_bib,
    ".json": _check_json,
    ".html": _check_html,
    ".svg": _check_svg,
    ".pdf": _check_pdf,
    ".png": _check_png,
    ".txt": _plain,
    ".md": _plain,
    ".ris": _plain,
    ".py": _plain,
}
