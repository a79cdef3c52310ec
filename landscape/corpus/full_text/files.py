"""Recognise and read the files of full texts, and find those of papers in a folder."""

from __future__ import annotations

import gzip
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from landscape._bibliography import citation_keys
from landscape.corpus.full_text._sections import SectionList
from landscape.corpus.identifiers import arxiv_id_of_bibcode
from landscape.corpus.readers.zotero import DATABASE, ZoteroReader
from landscape.corpus.records import RawRecord
from landscape.errors import InputError, LandscapeError
from landscape.types import FullText, Paper

MAX_SIZE = 30_000_000  # maximum number of bytes of one file
_MAX_UNPACKED = 200_000_000  # maximum number of bytes of an unpacked archive
_MAX_FILES = 300  # LaTeX files of one paper that are read
_HEAD = 4_096  # bytes at the start of a file by which its format is recognised
_SOURCES = (".tex", ".ltx", ".bbl", ".bib")
_COMMANDS = re.compile(rb"\\(?:document(?:class|style)|(?:sub)?section|begin|input)\b")
_HTML = re.compile(rb"<(?:!doctype html|html)\b", re.IGNORECASE)
_JATS = re.compile(rb"<(?:\w{1,9}:)?(?:article|pmc-articleset)[\s>]")
_MARKUP = re.compile(rb"\s*<(?:head|body|div|p|h[1-6])\b", re.IGNORECASE)
_ENDINGS = re.compile(r"(?:\.tar)?\.(?:gz|tgz|tar|tex|html?|xml|pdf|txt)$|\.tgz$", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:arxiv|doi)[.:_\s-]{1,3}(?=[a-z-]*[./_]?\d)")
_VERSION = re.compile(r"(\d{4}\.\d{4,5}|\d{7})v\d{1,2}$")


def read_full_text(path: str | os.PathLike[str]) -> FullText:
    """Read a full text. The format is recognised by the content.

    Parameters
    ----------
    path : path
        LaTeX (a file, a folder, or an archive from arXiv), HTML of arXiv, JATS, PDF or plain text.

    Returns
    -------
    FullText
        Sections, captions, macros and references, in the order of the text.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, or contains no text.

    Examples
    --------
    >>> read_full_text("no-such.tex")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no full text no-such.tex.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"There is no full text {place}.")
    try:
        found = _read_folder(place) if place.is_dir() else _read_file(place)
    except LandscapeError:
        raise
    except (OSError, EOFError, zlib.error, tarfile.TarError, ValueError, OverflowError,
            RecursionError, MemoryError) as error:  # fmt: skip
        raise InputError(
            f"{place} cannot be read ({str(error) or type(error).__name__})."
        ) from error
    if not any(section.text for section in found.sections):
        raise InputError(f"{place} contains no text that can be read ({found.format}).")
    return found


def _read_folder(folder: Path) -> FullText:
    from landscape.corpus.full_text._latex import read_latex

    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in _SOURCES and path.is_file() and not path.is_symlink()
    }
    if not files:
        raise InputError(f"{folder} contains no LaTeX files.")
    left, texts = MAX_SIZE, {}
    for name, path in [*files.items()][:_MAX_FILES]:
        left -= path.stat().st_size
        if left < 0:
            raise InputError(f"{folder} contains more than {MAX_SIZE:,} bytes of LaTeX.")
        texts[name] = _decoded(path.read_bytes())
    return read_latex(texts)


def _read_file(path: Path) -> FullText:
    if path.stat().st_size > MAX_SIZE:
        raise InputError(f"{path} is larger than {MAX_SIZE:,} bytes, the limit for one full text.")
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b" or content[257:262] == b"ustar":
        return _read_archive(path, content)
    return _read_content(path, content)


def _read_content(path: Path, content: bytes) -> FullText:
    head = content[:_HEAD]
    if b"%PDF-" in head[:1024]:
        from landscape.corpus.full_text._pdf import read_pdf

        return read_pdf(content, path)
    if b"\0" in head or head.lstrip()[:4] == b"%!PS":
        raise InputError(f"{path} is not a text, HTML, JATS, a PDF or an archive of LaTeX files.")
    is_html = bool(_HTML.search(head) or _MARKUP.match(head))
    if is_html or _JATS.search(head):
        from landscape.corpus.full_text._markup import read_html, read_jats

        return read_html(content) if is_html else read_jats(content)
    if _COMMANDS.search(content):
        from landscape.corpus.full_text._latex import read_latex

        return read_latex({**_siblings(path, content), path.name: _decoded(content)})
    return _read_plain(_decoded(content))


def _siblings(path: Path, content: bytes) -> dict[str, str]:
    """Return the files beside a LaTeX file that it names, and its bibliography."""
    names = {path.with_suffix(".bbl").name}
    for one in re.findall(rb"\\(?:input|include|bibliography)\s*\{([^{}\n]{1,200})\}", content)[
        :50
    ]:
        for name in one.decode("utf-8", "replace").split(","):
            names |= {name.strip(), f"{name.strip()}.tex", f"{name.strip()}.bib"}
    found: dict[str, str] = {}
    for name in sorted(names):
        file = path.parent / name
        inside = Path(name).name == name and file.suffix.lower() in _SOURCES
        if inside and file != path and _is_text(file):
            found[name] = _decoded(file.read_bytes())
    return found


def _is_text(file: Path) -> bool:
    """Return whether a file can be read that is named by another one; links can lead outside."""
    return file.is_file() and not file.is_symlink() and file.stat().st_size <= MAX_SIZE


def _read_plain(text: str) -> FullText:
    from landscape.corpus.cleaning import clean_text

    found = SectionList(lambda one: "\n".join(map(clean_text, re.split(r"\n\s*\n", one))))
    found.add("other", "", text)
    return FullText("text", found.finished())


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _read_archive(path: Path, content: bytes) -> FullText:
    """Read the LaTeX files of an archive, or a single compressed file. Nothing is unpacked."""
    from landscape.corpus.full_text._latex import read_latex

    with _decompress(path, content) as stream:
        head = stream.read(tarfile.BLOCKSIZE)
        if head[257:262] != b"ustar" and b"\0" not in head[:100]:
            whole = head + stream.read(MAX_SIZE + 1)
            if len(whole) > MAX_SIZE:
                raise InputError(f"{path} unpacks to more than {MAX_SIZE:,} bytes.")
            return _read_content(path, whole)
    files: dict[str, str] = {}
    left = MAX_SIZE
    with _decompress(path, content) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if not member.isfile() or not member.name.lower().endswith(_SOURCES):
                continue
            inside = archive.extractfile(member)
            piece = inside.read(left) if inside else b""
            left -= len(piece)
            files[os.path.normpath(member.name).lstrip("./")] = _decoded(piece)
            if left <= 0 or len(files) >= _MAX_FILES:
                break
    if not files:
        raise InputError(f"{path} contains no LaTeX files.")
    return read_latex(files)


class _Bounded:
    """A stream that raises InputError if the unpacked archive is too large."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, path: Path) -> None:
        self._stream, self._path = stream, path
        self._left = _MAX_UNPACKED

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes, or 1 MB."""
        pieces, wanted = [], size if size >= 0 else 1 << 20
        while wanted > 0 and (piece := self._stream.read(min(wanted, 1 << 20))):
            wanted -= len(piece)
            self._left -= len(piece)
            if self._left < 0:
                raise InputError(
                    f"{self._path} unpacks to more than {_MAX_UNPACKED:,} bytes, the limit for one "
                    "full text."
                )
            pieces.append(piece)
        return b"".join(pieces)


@contextmanager
def _decompress(path: Path, content: bytes) -> Iterator[Any]:
    if content[:2] != b"\x1f\x8b":
        yield _Bounded(BytesIO(content), path)
        return
    with gzip.open(BytesIO(content)) as stream:
        yield _Bounded(stream, path)


def _key(name: str) -> str:
    """Return the form of an identifier by which files are found."""
    bare = _PREFIX.sub("", _VERSION.sub(r"\1", name).casefold())
    return re.sub(r"[^a-z0-9.+&]+", "_", bare).strip("_.")


class FullTextFolder:
    """Full texts in folders, found by identifiers, keys of a bibliography, or names of files.

    A file or folder is named by the arXiv id, the bibcode, the DOI or the key of the paper;
    underscores replace slashes. Examples are ``astro-ph_9301002.tex``, ``2401.00001v2.html``,
    ``2401.00001.tar.gz`` and ``2016ApJ...826...56R.pdf``. BibTeX files in the folder give the keys
    and the ``file`` fields of Zotero, JabRef and Mendeley.

    Parameters
    ----------
    folders : path or iterable of path
    bibliographies : iterable of path
        Other BibTeX files; their ``file`` fields name files inside the folders.

    Raises
    ------
    InputError
        If a folder does not exist.

    Examples
    --------
    >>> FullTextFolder("no-such-folder")
    Traceback (most recent call last):
    landscape.errors.InputError: Not a directory: no-such-folder. Pass the folder ...
    """

    def __init__(
        self,
        folders: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        bibliographies: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        given = [folders] if isinstance(folders, str | os.PathLike) else folders
        self._by_key: dict[str, Path] = {}
        self.problems: list[str] = []
        for folder in map(Path, given):
            if not folder.is_dir():
                raise InputError(f"Not a directory: {folder}. Pass the folder with the full texts.")
            self._list(folder)
            for path in map(Path, bibliographies):
                self._read_bibliography(path, folder)

    def _list(self, folder: Path) -> None:
        if (folder / DATABASE).is_file():
            self._read_zotero(folder)
            return
        bibliographies = []
        # LaTeX comes first, because its structure is known exactly; text and PDF come last.
        order: Callable[[Path], tuple[int, str]] = lambda path: (_rank(path), path.name)  # noqa: E731
        for path in sorted(folder.iterdir(), key=order):
            # Hidden files are those of editors and of macOS; links can lead outside.
            outside = path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())
            if path.name.startswith(".") or outside or not path.exists():
                continue
            if path.suffix.lower() == ".bib":
                bibliographies.append(path)
            elif path.is_dir() or _ENDINGS.search(path.name):
                self._by_key.setdefault(_key(_ENDINGS.sub("", path.name)), path)
        for path in bibliographies:
            self._read_bibliography(path, folder)

    def _read_zotero(self, folder: Path) -> None:
        """List the attachments of a data directory of Zotero by the identifiers of their papers."""
        for record in ZoteroReader().read(folder):
            fields = record.fields if isinstance(record, RawRecord) else {}
            paths: Any = fields.get("files") or ()
            known = [Path(one) for one in paths if _ENDINGS.search(one) and Path(one).is_file()]
            inside = [one for one in known if one.resolve().is_relative_to(folder.resolve())]
            for name in ("arxiv_id", "bibcode", "doi", "given_id"):
                for path in sorted(inside, key=_rank)[:1] if fields.get(name) else ():
                    self._by_key.setdefault(_key(str(fields[name])), path)

    def _read_bibliography(self, path: Path, folder: Path) -> None:
        """Give the files of the entries of a bibliography the identifiers of the entries."""
        from landscape.corpus.readers.bibtex import identifiers_of, parse_entries

        for entry in parse_entries(_decoded(path.read_bytes()[:MAX_SIZE])):
            file = self._by_key.get(_key(entry.key)) or _attached(folder, entry.fields)
            for name in identifiers_of(entry) if file else ():
                if name and file:
                    self._by_key.setdefault(_key(name), file)

    def find(self, paper: Paper) -> Path | None:
        """Return the file or folder of a paper, or None."""
        names = (paper.arxiv_id, paper.bibcode, paper.doi, paper.paper_id)
        of_bibcode = arxiv_id_of_bibcode(paper.bibcode) if paper.bibcode else None
        keys = [*filter(None, (*names, of_bibcode)), *citation_keys([paper])]
        return next((self._by_key[key] for key in map(_key, keys) if key in self._by_key), None)

    @property
    def files(self) -> list[Path]:
        """All files and folders that may be full texts."""
        return sorted(set(self._by_key.values()))

    def __call__(self, paper: Paper) -> FullText | None:
        """Read the full text of a paper; errors are collected in `problems`."""
        path = self.find(paper)
        try:
            return read_full_text(path) if path else None
        except LandscapeError as error:
            self.problems.append(str(error))
            return None


def _rank(path: Path) -> int:
    """Return the rank of a format in a choice between files of the same paper."""
    if path.is_dir() or path.name.endswith((".tar.gz", ".tgz", ".tar", ".tex", ".gz")):
        return 0
    return {".html": 1, ".xml": 1, ".pdf": 2}.get(path.suffix.lower(), 3)


def _attached(folder: Path, fields: Mapping[str, str]) -> Path | None:
    """Return the file that the ``file`` field of an entry names, if it is in the folder.

    Zotero and JabRef write ``description:path:type``, and Mendeley ``:path:type``, separated by
    semicolons.
    """
    for one in fields.get("file", "").split(";"):
        for piece in (one, *one.split(":")):
            name = piece.strip().replace("\\", "")
            file = folder / name  # an absolute path stays as it is
            is_text = bool(name and _ENDINGS.search(name) and file.is_file())
            if is_text and file.resolve().is_relative_to(folder.resolve()):
                return file
    return None
