"""Reader of citations, from a table of pairs or from papers with their references."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import one_line
from landscape.corpus.readers._files import open_input, sample
from landscape.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


_CITING, _CITED = ("citing", "citing_id", "source", "from"), ("cited", "cited_id", "target", "to")
_LISTS = ("refs", "references", "ref_bibcodes", "reference")
_NAMES = ("paper_id", "bibcode", "arxiv_id", "doi", "id")
_MAX_TITLE = 500  # maximum number of characters of a title
_MAX_LINE = 20_000_000  # maximum bytes of a line; sufficient for several thousand references


_MAX_PAIRS = 200_000_000  # eight bytes each; a small compressed file can expand to more


@dataclass(frozen=True)
class Citations:
    """Pairs of citing and cited papers, and the titles of papers by identifier.

    Each name is stored once, so that millions of pairs fit into memory.
    """

    citing: pa.DictionaryArray
    cited: pa.DictionaryArray
    titles: dict[str, str]

    def __len__(self) -> int:
        return len(self.citing)


class _Pairs:
    """Pairs of names, stored as numbers of the names."""

    def __init__(self, path: Path) -> None:
        self._path, self._numbers = path, {"": -1}
        self._ends: tuple[array[int], array[int]] = (array("i"), array("i"))

    def add(self, *names: Iterable[str | None]) -> None:
        """Add pairs: names of citing papers, and as many names of cited papers."""
        for end, given in zip(self._ends, names, strict=True):
            numbers = self._numbers
            end.extend(numbers.setdefault(name or "", len(numbers) - 1) for name in given)
        if len(self._ends[0]) > _MAX_PAIRS:
            raise InputError(
                f"{self._path} has more than {_MAX_PAIRS:,} citations. Split the file, and pass "
                "the citations of the papers of your atlas only."
            )

    def finish(self, titles: dict[str, str]) -> Citations:
        import pyarrow as pa

        names = pa.array(list(self._numbers)[1:], pa.string())
        citing, cited = (np.frombuffer(end, dtype=np.int32) for end in self._ends)

        def named(numbers: NDArray[np.int32]) -> pa.DictionaryArray:
            return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=numbers < 0), names)

        return Citations(named(citing), named(cited), titles)


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
    pairs = _Pairs(path)
    titles: dict[str, str] = {}
    try:
        with (
            open_input(path) as stream,
            csv.open_csv(
                stream,
                read_options=csv.ReadOptions(column_names=names, skip_rows=1),
                parse_options=csv.ParseOptions(delimiter=delimiter),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), include_columns=kept
                ),
            ) as batches,
        ):
            for batch in batches:
                columns = {name: batch[name].to_pylist() for name in kept}
                pairs.add(columns[citing], columns[cited])
                for names_of, titles_of in ((citing, "citing_title"), (cited, "cited_title")):
                    if titles_of in kept:
                        named = zip(columns[names_of], columns[titles_of], strict=True)
                        titles |= {name: _tidy(title) for name, title in named if name and title}
    except InputError:
        raise
    except (pa.ArrowException, OSError, EOFError, ValueError, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} cannot be read as a table of citations ({reason}). Correct the file."
        ) from error
    return pairs.finish(titles)


def _read_lists(path: Path) -> Citations:
    pairs = _Pairs(path)
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
        others: list[str] = []
        for reference in (one for several in lists for one in several):
            other, title = map(_tidy, _reference(reference))
            if other:
                others.append(other)
                if title:
                    titles[other] = title
        pairs.add([name] * len(others), others)
    return pairs.finish(titles)


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with open_input(path) as stream:
            number = 0
            while line := stream.readline(_MAX_LINE):
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
    return one_line(text or "", most=_MAX_TITLE)
