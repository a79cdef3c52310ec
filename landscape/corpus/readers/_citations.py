"""Reader of citations, from a table of pairs or from papers with their references."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.corpus._cleaning import one_line
from landscape.corpus.readers._files import open_input, sample
from landscape.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


_CITING, _CITED = ("citing", "citing_id", "source", "from"), ("cited", "cited_id", "target", "to")
_LISTS = ("refs", "references", "ref_bibcodes", "reference")
_NAMES = ("paper_id", "bibcode", "arxiv_id", "doi", "id")
_LONGEST_TITLE = 500  # maximum number of characters of a title
_LONGEST_LINE = 20_000_000  # maximum bytes of a line; sufficient for several thousand references


@dataclass(frozen=True)
class Citations:
    """Pairs of citing and cited papers, and the titles of papers by identifier."""

    citing: pa.Array
    cited: pa.Array
    titles: dict[str, str]

    def __len__(self) -> int:
        return len(self.citing)


def read_citations(path: Path) -> Citations:
    r"""Read citations from a table or from JSON lines.

    Parameters
    ----------
    path : pathlib.Path
        A table or JSON lines, plain or compressed with gzip. A table (CSV or tab-separated) needs
        the columns ``citing`` and ``cited``; ``citing_title`` and ``cited_title`` are optional.
        Each JSON line is a paper with an identifier (``bibcode``, ``arxiv_id``, ``doi`` or ``id``)
        and a list of cited papers (``refs``, ``references`` or ``ref_bibcodes``); ``title`` is
        optional. Other columns are ignored.

    Returns
    -------
    Citations

    Raises
    ------
    InputError
        If the file cannot be read or has another format.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("citing,cited\n2401.00001,1973ApJ...179..427S\n")
    >>> read_citations(path).cited.to_pylist()
    ['1973ApJ...179..427S']
    """
    head = sample(path)
    if head.lstrip()[:1] == b"{":
        return _read_lists(path)
    return _read_table(path, head)


def _read_table(path: Path, head: bytes) -> Citations:
    import pyarrow as pa
    from pyarrow import csv

    first = head.split(b"\n", 1)[0]
    delimiter = "\t" if b"\t" in first else ","
    names = [
        name.strip().strip('"').lower()
        for name in first.decode("utf-8", "replace").strip().split(delimiter)
    ]
    citing, cited = (next((n for n in known if n in names), None) for known in (_CITING, _CITED))
    if citing is None or cited is None:
        raise InputError(
            f"{path} has the columns {', '.join(names)[:100]!r}. Pass a table with the columns "
            "citing and cited, or JSON lines of papers with their references."
        )
    kept = [n for n in (citing, cited, "citing_title", "cited_title") if n in names]
    try:
        with open_input(path) as stream:
            table = csv.read_csv(
                stream,
                read_options=csv.ReadOptions(column_names=names, skip_rows=1),
                parse_options=csv.ParseOptions(delimiter=delimiter),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), include_columns=kept
                ),
            )
    except (pa.ArrowException, OSError, EOFError, ValueError, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} cannot be read as a table of citations ({reason}). Correct the file."
        ) from error
    titles: dict[str, str] = {}
    for name_column, column in ((citing, "citing_title"), (cited, "cited_title")):
        if column in kept:
            pairs = zip(table[name_column].to_pylist(), table[column].to_pylist(), strict=True)
            titles.update({name: _tidy(title) for name, title in pairs if name and title})
    return Citations(table[citing].combine_chunks(), table[cited].combine_chunks(), titles)


def _read_lists(path: Path) -> Citations:
    import pyarrow as pa

    citing: list[str] = []
    cited: list[str] = []
    titles: dict[str, str] = {}
    for number, paper in _objects(path):
        name = _tidy(next((str(paper[key]) for key in _NAMES if paper.get(key)), ""))
        lists = [paper[key] for key in _LISTS if isinstance(paper.get(key), list)]
        if not name:
            raise InputError(
                f"{path}, line {number}, has no paper name; add one of {', '.join(_NAMES)}."
            )
        if isinstance(paper.get("title"), str):
            titles[name] = _tidy(paper["title"])
        for reference in (one for several in lists for one in several):
            other, title = _reference(reference)
            other, title = _tidy(other), _tidy(title)
            if other:
                citing.append(name)
                cited.append(other)
                if title:
                    titles[other] = title
    return Citations(pa.array(citing, pa.string()), pa.array(cited, pa.string()), titles)


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with open_input(path) as stream:
            number = 0
            while line := stream.readline(_LONGEST_LINE):
                number += 1
                if not line.strip():
                    continue
                value = json.loads(line)
                if not isinstance(value, dict):
                    raise ValueError("not a JSON object")
                yield number, value
    except (ValueError, RecursionError, EOFError, OSError, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path} cannot be read after {number:,} lines ({error}). Correct the file."
        ) from error


def _reference(reference: object) -> tuple[str, str]:
    """Return the identifier and title of a reference, which is a string or a JSON object."""
    if isinstance(reference, str):
        return reference, ""
    if isinstance(reference, dict):
        name = next((str(reference[key]) for key in _NAMES if reference.get(key)), "")
        title = reference.get("title")
        title = title if isinstance(title, str) else ""
        return name or title, title
    return "", ""


def _tidy(text: str | None) -> str:
    return one_line(text or "", most=_LONGEST_TITLE)
