"""Which paper of a corpus a reference means, whatever it is called there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus._identifiers import (
    arxiv_id_of_bibcode,
    arxiv_month,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_LONGEST = 300  # characters of a name that is none of the known kinds
# Names in the one spelling that everything else is brought to; most are, and are not parsed.
_PLAIN = r"^\d{4}\.\d{4,5}$|^\d{4}[A-Z][A-Za-z&]{1,4}\.[A-Za-z0-9.]{12}[A-Z.]$"


@dataclass(frozen=True)
class Resolved:
    """What names mean.

    Attributes
    ----------
    nodes : ndarray of int64, shape (n_names,)
        Rows of papers, then ``n_papers`` and up for stubs; -1 for an empty name.
    stubs : tuple of str
        Names that are no paper of the corpus, in one spelling, in alphabetical order.
    """

    nodes: NDArray[np.int64]
    stubs: tuple[str, ...]


def resolve(
    names: Sequence[str], papers: Mapping[str, Sequence[str | None]], *, n_papers: int
) -> Resolved:
    """Find the papers that names mean; names of others become stubs.

    Parameters
    ----------
    names : sequence of str, length n_names
        Keys, bibcodes (also of e-prints), arXiv identifiers or DOIs in any spelling.
    papers : mapping of str to sequence of str or None, each of length n_papers
        The corpus's own ``paper_id``, ``bibcode``, ``arxiv_id`` and ``doi``, as far as it has them.
    n_papers : int

    Returns
    -------
    Resolved

    Examples
    --------
    >>> papers = {"paper_id": ["2101.01542", "b"], "doi": [None, "10.1093/dust"]}
    >>> found = resolve(
    ...     ["arXiv:2101.01542v2", "doi:10.1093/DUST", "1973ApJ...179..427S", " "],
    ...     papers,
    ...     n_papers=2,
    ... )
    >>> found.nodes.tolist(), found.stubs
    ([0, 1, 2, -1], ('1973ApJ...179..427S',))
    """
    import pandas as pd

    known: dict[str, int] = {}
    for column in ("doi", "arxiv_id", "bibcode", "paper_id"):
        own = papers.get(column, ())
        spelt = (n.lower() if n and column == "doi" else n for n in own)
        known.update((name, row) for row, name in enumerate(spelt) if name)
    index = pd.Index(list(known), dtype=object)
    rows = np.fromiter(known.values(), np.int64, len(known))
    given = np.asarray(names, dtype=object)
    nodes = _look_up(given, index, rows)
    rest = np.flatnonzero(nodes < 0)
    spelt_anew = _one_spelling(given[rest])
    nodes[rest] = _look_up(spelt_anew, index, rows)
    open_ = np.flatnonzero(nodes[rest] < 0)
    # Not np.unique of an array of texts: all its cells are as wide as the longest name.
    place, stubs = pd.factorize(spelt_anew[open_], sort=True)
    is_empty = len(stubs) > 0 and stubs[0] == ""
    nodes[rest[open_]] = np.where(spelt_anew[open_] == "", -1, place + n_papers - int(is_empty))
    return Resolved(nodes, tuple(stubs[int(is_empty) :].tolist()))


def one_spelling(name: str) -> str:
    """Bring a name to the spelling that an atlas uses: arXiv identifier, else bibcode, else DOI.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        A name of no known kind as it is, its spaces joined.

    Examples
    --------
    >>> one_spelling("2021arXiv210101542A"), one_spelling("https://doi.org/10.1093/A")
    ('2101.01542', '10.1093/a')
    """
    text = " ".join(str(name).split())
    arxiv = parse_arxiv_id(text)
    if arxiv:
        return arxiv
    bibcode = parse_bibcode(text)
    if bibcode:
        return arxiv_id_of_bibcode(bibcode) or bibcode
    return (parse_doi(text) or text)[:_LONGEST]


def year_of_name(name: str) -> int | None:
    """Read the year that a bibcode or an arXiv identifier begins with.

    Examples
    --------
    >>> year_of_name("1973ApJ...179..427S"), year_of_name("astro-ph/9301002"), year_of_name("x")
    (1973, 1993, None)
    """
    if parse_bibcode(name):
        return int(name[:4])
    arxiv = parse_arxiv_id(name)
    if not arxiv:
        return None
    try:
        day = arxiv_month(arxiv).date
    except InputError:
        return None
    return day.year if day else None


def _look_up(
    names: NDArray[np.object_], index: pd.Index, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    if not len(index) or not len(names):
        return np.full(len(names), -1, dtype=np.int64)
    place = np.asarray(index.get_indexer(names), dtype=np.int64)
    return np.where(place >= 0, rows[place], -1)


def _one_spelling(names: NDArray[np.object_]) -> NDArray[np.object_]:
    """Spell names anew, parsing only those that need it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(names, pa.string())
    plain = pc.match_substring_regex(texts, _PLAIN)
    eprint = pc.match_substring_regex(texts, "arXiv")
    needed = ~np.asarray(plain, dtype=bool) | np.asarray(eprint, dtype=bool)
    spelt = names.copy()
    for place in np.flatnonzero(needed).tolist():
        spelt[place] = one_spelling(names[place])
    return spelt
