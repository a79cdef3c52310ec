"""Read the sections of a full text in HTML, LaTeX or PDF, with their citations."""

from __future__ import annotations

import gzip
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from landscape._wording import one_line
from landscape.corpus.identifiers import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.errors import InputError, LandscapeError, require

if TYPE_CHECKING:
    from landscape.types import Paper

_MAX_NAME = 120  # maximum number of characters of the name of a section
_NAMED = 20  # maximum number of papers in one entry of the bibliography
_IDENTIFIERS = (
    (re.compile(r"\b(\d{4}\.\d{4,5})(?:v\d+)?\b"), parse_arxiv_id),
    (re.compile(r"\b((?:astro-ph|gr-qc|hep-[a-z]{2,3}|physics|cond-mat)/\d{7})\b"), parse_arxiv_id),
    (re.compile(r"\b(10\.\d{4,9}/[^\s\"<>{},;]+)"), parse_doi),
    (re.compile(r"\b((?:18|19|20)\d{2}[A-Za-z&.]{5}[\w.]{9}[A-Z.])(?![\w.])"), parse_bibcode),
)


@dataclass(frozen=True)
class Section:
    """Section of a paper, with the papers that it cites."""

    name: str
    cites: tuple[str, ...]
    text: str = ""


Reader = Callable[["Paper"], Sequence[Section]]
"""Function that returns the sections of a paper, or an empty list if there is no full text."""


def identifiers(text: str) -> tuple[str, ...]:
    """Find identifiers of papers in a text."""
    names = (parse(match[1]) for pattern, parse in _IDENTIFIERS for match in pattern.finditer(text))
    return tuple(dict.fromkeys(name for name in names if name))


def _pieces(pattern: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    """Return each match and the text between it and the next match."""
    pieces = [*pattern.finditer(text)]
    ends = [*(match.start() for match in pieces[1:]), len(text)]
    # If there is no match, `ends` has one item and `found` is empty.
    return [(match, text[match.end() : end]) for match, end in zip(pieces, ends, strict=False)]


def join_sections(
    found: Sequence[tuple[str, str, Sequence[str]]], cited: Mapping[str, tuple[str, ...]]
) -> list[Section]:
    """Resolve the citations of each section, and merge sections with the same name."""
    joined: dict[str, tuple[str, dict[str, None]]] = {}
    for title, text, keys in found:
        name = one_line(title, most=_MAX_NAME)
        before, names = joined.get(name, ("", {}))
        names.update(
            dict.fromkeys(one for key in dict.fromkeys(keys) for one in cited.get(key, ())[:_NAMED])
        )
        joined[name] = (f"{before}\n{text}".strip(), names)
    return [Section(name or "text", tuple(names), text) for name, (text, names) in joined.items()]


_MAX_SIZE = 30_000_000  # maximum number of bytes of one file
_MAX_UNPACKED = 500_000_000  # maximum number of bytes of an unpacked archive

_COMMANDS = ("\\documentclass", "\\documentstyle", "\\section", "\\begin{")  # typical of LaTeX


def check_size(path: Path) -> None:
    """Raise InputError if a file is too large for a paper."""
    if path.stat().st_size > _MAX_SIZE:
        raise InputError(f"{path} is larger than {_MAX_SIZE:,} bytes, the limit for one full text.")


def read_bounded(path: Path) -> str:
    """Read a text file that is not larger than the limit."""
    check_size(path)
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}).") from error


def read_archive(path: Path) -> str:
    """Read and join the LaTeX files of an archive; the bibliography comes last."""
    check_size(path)
    pieces: list[tuple[bool, str, str]] = []
    left = _MAX_SIZE
    try:
        if alone := _single_text(path):
            return alone
        with _decompress(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if not member.isfile() or not member.name.endswith((".tex", ".bbl")):
                    continue
                inside = archive.extractfile(member)
                content = inside.read(left) if inside else b""
                left -= len(content)
                text = content.decode("utf-8", "replace")
                pieces.append((member.name.endswith(".bbl"), member.name, text))
                if left <= 0:
                    break
    except InputError:
        raise
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError) as error:
        raise InputError(
            f"{path} cannot be read as an archive of LaTeX files ({error}). Download it again."
        ) from error
    return "\n".join(text for _, _, text in sorted(pieces))


def _single_text(path: Path) -> str:
    """Return the text of a compressed LaTeX file, or "" if it is an archive of several files."""
    with _decompress(path) as stream:
        head = stream.read(tarfile.BLOCKSIZE)
        if head[257:262] == b"ustar" or b"\0" in head:
            return ""
        pieces = [head]
        while (piece := stream.read(1 << 20)) and len(pieces) * (1 << 20) < _MAX_SIZE:
            pieces.append(piece)
    text = b"".join(pieces).decode("utf-8", "replace")
    return text if any(command in text for command in _COMMANDS) else ""


class _Bounded:
    """A stream that raises InputError if the unpacked archive is too large."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, path: Path) -> None:
        self._stream, self._path = stream, path
        self._left = _MAX_UNPACKED

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self._left -= len(piece)
        if self._left < 0:
            raise InputError(
                f"{self._path} unpacks to more than {_MAX_UNPACKED:,} bytes, the limit for one "
                "full text."
            )
        return piece


@contextmanager
def _decompress(path: Path) -> Iterator[Any]:
    with path.open("rb") as stream:
        if path.suffix == ".tar":
            yield _Bounded(stream, path)
        else:
            with gzip.open(stream) as content:
                yield _Bounded(content, path)


# Unclosed comments, declarations and brackets make Python's parser very slow.
_STRAY = re.compile(r"<(?!/?[a-zA-Z][^<>]{0,5000}>)")
_NUMBERS = re.compile(r"&#[xX]?[0-9a-fA-F]{9,}")  # invalid characters


def read_html(path: Path) -> list[Section]:
    """Read the sections of an HTML file of arXiv (produced by LaTeXML)."""
    page = _Page()
    try:
        page.feed(_STRAY.sub("&lt;", _NUMBERS.sub(" ", read_bounded(path))))
        page.close()
    except (AssertionError, ValueError, RecursionError) as error:  # errors of Python's parser
        raise InputError(
            f"{path} cannot be read as HTML ({type(error).__name__}). Download it again."
        ) from error
    cited = {key: identifiers(" ".join(words)) for key, words in page.items.items()}
    return join_sections(page.sections, cited)


class _Page(HTMLParser):
    """Sections, citation links and bibliography items of a page made by LaTeXML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: list[tuple[str, str, list[str]]] = []
        self.items: dict[str, list[str]] = {}
        self._heading: list[str] | None = None
        self._item = ""
        self._silent = 0
        self._texts: list[list[str]] = []

    def close(self) -> None:
        """Join the pieces of each section at once; joining them one by one takes minutes."""
        super().close()
        texts_of = zip(self.sections, self._texts, strict=True)
        self.sections = [(name, "".join(texts), cites) for (name, _, cites), texts in texts_of]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag in ("script", "style"):
            self._silent += 1
        elif tag in ("h2", "h3"):
            self._heading = []
        elif tag == "li" and attributes.get("id", "").startswith("bib."):
            self._item = attributes["id"]
            self.items[self._item] = []
        elif tag == "a" and self._item:
            self.items[self._item].append(attributes.get("href", ""))
        elif tag == "a" and "#bib." in attributes.get("href", "") and self.sections:
            self.sections[-1][2].append(attributes["href"].rpartition("#")[2])

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._silent = max(0, self._silent - 1)
        elif tag in ("h2", "h3") and self._heading is not None:
            self.sections.append((" ".join("".join(self._heading).split()), "", []))
            self._texts.append([])
            self._heading = None
        elif tag in ("ul", "ol") and self._item:
            self._item = ""

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._heading is not None:
            self._heading.append(data)
        elif self._item:
            self.items[self._item].append(data)
        elif self.sections:
            self._texts[-1].append(data)


# Repetitions are bounded; otherwise, matching a file with many brackets takes minutes.
_LATEX_SECTION = re.compile(
    r"\\(?:sub)?section\*?\s{0,9}(?:\[[^\]]{0,300}\])?\s{0,9}"
    r"\{((?:[^{}]|\{[^{}]{0,300}\}){0,500})\}"
)
_LATEX_CITE = re.compile(
    r"\\[cC]ite[a-zA-Z]{0,30}\*?\s{0,9}(?:\[[^\]]{0,300}\]\s{0,9}){0,2}\{([^{}]{1,5000})\}"
)
_BIBITEM = re.compile(
    r"\\bibitem\s{0,9}(?:\[(?:[^\[\]]|\[[^\]]{0,300}\]){0,500}\])?\s{0,9}\{([^{}]{1,300})\}"
)
_COMMENT = re.compile(r"(?<!\\)%.*")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|[{}$~]")


def read_latex(path: Path) -> list[Section]:
    """Read the sections of a LaTeX file, or of a ``.tar.gz`` archive from arXiv."""
    source = (
        read_archive(path)
        if path.name.endswith((".tar.gz", ".tgz", ".tar"))
        else read_bounded(path)
    )
    source = _COMMENT.sub("", source)
    items = _pieces(_BIBITEM, source)
    cited = {match[1].strip(): identifiers(text) for match, text in items}
    body = source[: items[0][0].start()] if items else source
    named = [
        (" ".join(_COMMAND.sub(" ", match[1]).split()), text)
        for match, text in _pieces(_LATEX_SECTION, body)
    ]
    found = []
    for name, text in named or [("text", body)]:  # some papers have no sections
        keys = [key.strip() for one in _LATEX_CITE.findall(text) for key in one.split(",")]
        found.append((name, text, keys))
    return join_sections(found, cited)


_MAX_PAGES = 400  # number of pages of a PDF that are read; later pages are ignored
_PDF_HEADING = re.compile(
    r"^[^\S\n]{0,80}(?:\d{1,2}(?:\.\d{1,2}){0,2}\.?[^\S\n]{1,9}[A-Z][^\n.]{2,70}"
    r"|(?:INTRODUCTION|METHODS?|RESULTS|DISCUSSION|CONCLUSIONS?|SUMMARY|REFERENCES|"
    r"Introduction|Methods?|Results|Discussion|Conclusions?|Summary|References))[^\S\n]{0,80}$",
    re.MULTILINE,
)


def read_pdf(path: Path) -> list[Section]:
    """Read the sections of a PDF; their citations are the identifiers found in the text."""
    pypdf = require("pypdf", "pdf")
    check_size(path)
    try:
        document = pypdf.PdfReader(path)
        pages = [page.extract_text() or "" for page in document.pages[:_MAX_PAGES]]
    except Exception as error:  # broken PDFs raise many kinds of errors
        raise InputError(
            f"{path} cannot be read as a PDF ({type(error).__name__}). Download it again."
        ) from error
    text = "\n".join(pages)
    sections = [
        Section(" ".join(match[0].split()), identifiers(piece), piece)
        for match, piece in _pieces(_PDF_HEADING, text)
    ]
    return sections or [Section("text", identifiers(text), text)]


class FolderReader:
    """Read full texts from a folder. The file names are arXiv identifiers, bibcodes or DOIs.

    Underscores replace slashes. Examples are ``astro-ph_9301002.tex``, ``2401.00001.html``,
    ``2401.00001.tar.gz`` (the source from arXiv) and ``2016ApJ...826...56R.pdf``.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        if not self._folder.is_dir():
            raise InputError(
                f"Not a directory: {self._folder}. Pass the folder with the full texts."
            )
        self.problems: list[str] = []

    def __call__(self, paper: Paper) -> Sequence[Section]:
        """Read the sections of a paper; errors are collected in `problems`."""
        for name in filter(None, (paper.arxiv_id, paper.bibcode, paper.doi, paper.paper_id)):
            for ending, read in _READERS.items():
                path = self._folder / f"{name.replace('/', '_')}{ending}"
                try:
                    if path.is_file():
                        return read(path)
                except OSError:  # the file name is too long
                    continue
                except LandscapeError as error:
                    self.problems.append(str(error))
        return ()


_READERS: Mapping[str, Callable[[Path], list[Section]]] = {
    ".html": read_html,
    ".tex": read_latex,
    ".tar.gz": read_latex,
    ".pdf": read_pdf,
}
