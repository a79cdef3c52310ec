"""Find records of the same paper by hashed keys, and merge them.

Two records are the same paper if they share an arXiv id, a bibcode or a DOI, or if they have the
same normalised title and a common author. Both rules have exceptions: a DOI can belong to a whole
proceedings volume, and an author can use the same title for two papers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscape._author_names import surname
from landscape._wording import normal_title
from landscape.corpus.identifiers import (
    PaperDate,
    content_id,
    earliest,
    is_eprint_bibcode,
    is_eprint_doi,
)
from landscape.corpus.records import Row

Hashes = NDArray[np.uint64]
AuthorsOf = Callable[[NDArray[np.int64]], list[frozenset[int]]]

MAX_TITLES = 4  # maximum number of titles of one paper; more indicate a collection
YEARS_APART = 2  # maximum time between e-print and publication

_MIN_WORDS = 2
_MAX_PAIRS = 8
_MAX_AUTHORS = 40


@dataclass(frozen=True, slots=True)
class Keys:
    """Hashed keys of records, each of shape (n,). Missing keys are 0."""

    bibcode: Hashes
    arxiv_id: Hashes
    doi: Hashes
    title: Hashes
    text: Hashes
    given: Hashes
    year: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.title)


def find_duplicates(keys: Keys, authors_of: AuthorsOf) -> NDArray[np.int64]:
    """For each record, return the row of the first record of the same paper, shape (n,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(keys)
    pairs = [
        *(_by_identifier(keys, getattr(keys, name), name, authors_of) for name in _IDENTIFIERS),
        _consecutive(keys.text),
        _by_title(keys, authors_of),
    ]
    left, right = np.concatenate(pairs, axis=1)
    if not len(left):
        return np.arange(n)
    graph = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(n, n))
    labels = connected_components(graph, directed=False)[1].astype(np.int64)
    labels = _without_chains(labels, keys.title)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int64)


_IDENTIFIERS = ("bibcode", "arxiv_id", "doi")


def ambiguous_rows(keys: Keys, representative: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the papers that share an identifier with another paper, shape (n,)."""
    marked = np.zeros(len(keys), dtype=bool)
    for name in (*_IDENTIFIERS, "given"):
        values = getattr(keys, name)
        rows = np.flatnonzero(values)
        pairs = np.unique(np.stack([values[rows], representative[rows].astype(np.uint64)]), axis=1)
        _, inverse, counts = np.unique(pairs[0], return_inverse=True, return_counts=True)
        marked[pairs[1][counts[inverse] > 1].astype(np.int64)] = True
    return marked


def text_hash(text: str | None) -> int:
    """Return a reproducible 64-bit hash of a text. Return 0 for None or an empty text."""
    if not text:
        return 0
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def title_hash(title: str) -> int:
    """Return the hash of a normalised title, or 0 if it is too short to identify a paper."""
    normal = normal_title(title)
    return text_hash(normal) if normal.count(" ") >= _MIN_WORDS - 1 else 0


def content_hash(title: str, abstract: str) -> int:
    """Return the hash of a title and the beginning of its cleaned abstract."""
    return text_hash(f"{normal_title(title)}\n{abstract[:400].casefold()}")


def surname_hashes(authors: Sequence[str]) -> list[int]:
    """Return the hashes of the normalised family names of the first authors."""
    return sorted({text_hash(surname(name)) for name in authors[:_MAX_AUTHORS]} - {0})


def _consecutive(values: Hashes) -> NDArray[np.int64]:
    """Return pairs of rows that link all rows with the same value, shape (2, n_pairs)."""
    order = np.argsort(values, kind="stable")
    same = (values[order[1:]] == values[order[:-1]]) & (values[order[1:]] != 0)
    return np.stack([order[:-1][same], order[1:][same]])


def _by_identifier(
    keys: Keys, values: Hashes, name: str, authors_of: AuthorsOf
) -> NDArray[np.int64]:
    """Return pairs of records with the same identifier."""
    rows = np.flatnonzero(values)
    order = rows[np.lexsort((rows, keys.title[rows], values[rows]))]
    same = values[order[1:]] == values[order[:-1]]
    titled = same & (keys.title[order[1:]] == keys.title[order[:-1]]) & (keys.title[order[1:]] != 0)
    linked = np.stack([order[:-1][titled], order[1:][titled]])
    doubtful: list[tuple[int, int]] = []
    for start, stop in _groups_with_other_titles(values[order], titled):
        members = order[start:stop]
        # One record represents all records with the same title.
        leaders = members[np.r_[True, ~titled[start : stop - 1]]]
        if len(leaders) <= MAX_TITLES:
            doubtful.extend(combinations(leaders.tolist(), 2))
    return np.concatenate([linked, _accepted(keys, doubtful, name, authors_of)], axis=1)


def _groups_with_other_titles(ordered: Hashes, titled: NDArray[np.bool_]) -> list[tuple[int, int]]:
    if not len(ordered):
        return []
    bounds = np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(ordered)]
    # A group of m records with the same title has m - 1 links.
    links = np.add.reduceat(np.r_[titled, False].astype(np.int64), bounds[:-1])
    open_groups = np.flatnonzero(np.diff(bounds) - 1 > links)
    return [(int(bounds[g]), int(bounds[g + 1])) for g in open_groups]


def _accepted(
    keys: Keys, pairs: list[tuple[int, int]], name: str, authors_of: AuthorsOf
) -> NDArray[np.int64]:
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    fine = np.ones(len(left), dtype=bool)
    if name != "arxiv_id":
        fine = ~_differ(keys.arxiv_id, left, right) & ~_differ(keys.bibcode, left, right)
        both = _author_pairs(left, right, authors_of)
        fine &= np.array([not a or not b or bool(a & b) for a, b in both], dtype=bool)
    return np.stack([left[fine], right[fine]])


def _by_title(keys: Keys, authors_of: AuthorsOf) -> NDArray[np.int64]:
    """Return pairs of records with the same title, a common author and compatible identifiers."""
    rows = np.flatnonzero(keys.title)
    order = rows[np.lexsort((rows, keys.year[rows], keys.title[rows]))]
    titles = keys.title[order]
    bounds = np.r_[0, np.flatnonzero(titles[1:] != titles[:-1]) + 1, len(order)]
    pairs: list[tuple[int, int]] = []
    for group in np.flatnonzero(np.diff(bounds) > 1) if len(order) else []:
        members = order[bounds[group] : bounds[group + 1]].tolist()
        pairs += combinations(members, 2) if len(members) <= _MAX_PAIRS else pairwise(members)
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    fine = np.ones(len(left), dtype=bool)
    for name in _IDENTIFIERS:
        fine &= ~_differ(getattr(keys, name), left, right)
    years = keys.year.astype(np.int64)
    difference = np.abs(years[left] - years[right])
    fine &= (difference <= YEARS_APART) | (years[left] == 0) | (years[right] == 0)
    left, right = left[fine], right[fine]
    shared = [bool(a & b) for a, b in _author_pairs(left, right, authors_of)]
    return np.stack([left, right])[:, np.array(shared, dtype=bool)]


def _author_pairs(
    left: NDArray[np.int64], right: NDArray[np.int64], authors_of: AuthorsOf
) -> list[tuple[frozenset[int], frozenset[int]]]:
    rows = np.unique(np.concatenate([left, right]))
    authors = dict(zip(rows.tolist(), authors_of(rows) if len(rows) else [], strict=True))
    return [(authors[a], authors[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]


def _differ(
    values: np.ndarray, left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.bool_]:
    known = (values[left] != 0) & (values[right] != 0)
    return np.asarray(known & (values[left] != values[right]))


def _without_chains(labels: NDArray[np.int64], titles: Hashes) -> NDArray[np.int64]:
    """Split groups that contain too many different titles into one group per title."""
    pairs = np.unique(np.stack([labels.astype(np.uint64), titles]), axis=1)
    chained = np.bincount(pairs[0].astype(np.int64), minlength=int(labels.max()) + 1) > MAX_TITLES
    loose = chained[labels]
    if not loose.any():
        return labels
    both = np.stack([np.where(loose, titles, 0), labels.astype(np.uint64)])
    return np.unique(both, axis=1, return_inverse=True)[1].ravel().astype(np.int64)


_UNITED = ("ads_keywords", "categories", "source", "cite_bibcodes", "ref_bibcodes")


def merge_records(rows: Sequence[Row], *, newest_first: bool = False) -> Row:
    """Merge several records of the same paper into one.

    The text is that of the record with the longest abstract. If the newest records are first, it is
    that of the first published record, or of the first record.
    """
    published = sorted(
        rows, key=lambda row: not row["bibcode"] or is_eprint_bibcode(row["bibcode"])
    )
    abstract = published[0] if newest_first else max(rows, key=lambda row: len(row["abstract"]))
    authors = max(published, key=lambda row: len(row["authors"]))
    merged = published[0] | {name: abstract[name] for name in ("abstract", "abstract_original")}
    merged["bibcode"] = _first((row["bibcode"] for row in published), demote=is_eprint_bibcode)
    merged["ads_id"] = merged["bibcode"]
    merged["arxiv_id"] = _first(row["arxiv_id"] for row in rows)
    merged["doi"] = _first((row["doi"] for row in published), demote=is_eprint_doi)
    merged["authors"] = authors["authors"]
    merged["aff"] = authors["aff"] or max((row["aff"] or [] for row in rows), key=len)
    merged["doctype"] = _first((row["doctype"] for row in published), demote="eprint".__eq__)
    journals = (row["journal"] for row in published)
    merged["journal"] = _first(journals, demote=lambda journal: "arxiv" in journal.lower())
    merged["generated"] = any(row["generated"] for row in rows)
    for name in ("cites", "read_count"):
        merged[name] = max((row[name] for row in rows if row[name] is not None), default=None)
    for name in _UNITED:
        merged[name] = _united(row[name] or [] for row in rows)
    dates = [PaperDate(row["date"], row["date_precision"]) for row in rows if row["date"]]
    if (date := earliest(dates)) is not None:
        merged |= {"date": date.date, "date_precision": date.precision, "year": date.date.year}
    merged["paper_id"] = next(possible_ids(merged, given=(row["paper_id"] for row in rows)))
    return merged


def possible_ids(row: Row, *, given: Iterable[str] = ()) -> Iterator[str]:
    """Yield an unlimited number of possible keys of a paper. The best key is first."""
    content = content_id(f"{row['title']}\n{row['abstract']}")
    given = [name for name in given if not name.startswith("sha256:")]
    yield from filter(None, (row["bibcode"], row["arxiv_id"], row["doi"], *given, content))
    yield from (f"{content}-{number}" for number in count(2))


def _first(values: Iterable[object], *, demote: Any = None) -> Any:
    """Return the first value that is not None. Values for which `demote` is true come last."""
    known = [value for value in values if value is not None]
    preferred = (value for value in known if demote is None or not demote(value))
    return next(chain(preferred, known), None)


def _united(lists: Iterable[Sequence[str]]) -> list[str]:
    """Join lists of texts without duplicates. Upper and lower case are not distinguished."""
    found: dict[str, str] = {}
    for text in chain.from_iterable(lists):
        found.setdefault(text.casefold(), text)
    return list(found.values())
