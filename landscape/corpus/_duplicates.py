"""Find records of the same paper by hashed keys, and merge them.

Two records are the same paper if they share an arXiv id, a bibcode or a DOI, or if they have the
same title, except for spelling and remarks such as "(Extended Abstract)", and common authors. Both
rules have exceptions: a DOI can belong to a whole proceedings volume, an author can use the same
title for a talk and an article of another year, and a column has the same title in each issue.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, combinations, count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from landscape._author_names import surname
from landscape._io import read_data
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


class Details(NamedTuple):
    """What is compared of two records that can be the same paper."""

    surnames: frozenset[int]  # hashes
    title: str
    journal: str | None


DetailsOf = Callable[[NDArray[np.int64]], list[Details]]

MAX_TITLES = 4  # maximum number of titles of one paper; more indicate a collection
YEARS_APART = 2  # maximum time between e-print and publication

_MIN_WORDS = 2  # minimum number of words of a title that identifies a paper
_MAX_GROUP = 8  # records; all pairs of a group up to this size are compared
_MAX_AUTHORS = 40  # number of first authors that are compared


@dataclass(frozen=True, slots=True)
class Keys:
    """Hashed keys of records, each of shape (n,). Missing keys are 0."""

    bibcode: Hashes
    arxiv_id: Hashes
    doi: Hashes
    title: Hashes
    text: Hashes
    given: Hashes
    own: Hashes
    title_start: Hashes
    title_end: Hashes
    title_words: Hashes
    year: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.title)


#: Reasons why records are merged, the strongest first.
REASONS = (
    "the same bibcode",
    "the same arXiv id",
    "the same DOI",
    "the same title and abstract",
    "the same title and a common author",
    "a similar title and common authors",
)
_IDENTIFIERS = ("bibcode", "arxiv_id", "doi")
_BLOCKS = ("title_start", "title_end", "title_words")


@dataclass(frozen=True, slots=True)
class Duplicates:
    """For each record, the row of the first record of the same paper, and the reason.

    `reason` is the number of one of `REASONS`. Both have the shape (n,).
    """

    representative: NDArray[np.int64]
    reason: NDArray[np.int8]


def find_duplicates(
    keys: Keys, details_of: DetailsOf, *, never: Sequence[tuple[int, int]] = ()
) -> Duplicates:
    """Find the records of the same paper. The pairs of rows in `never` are not merged."""
    n = len(keys)
    by_identifier = [
        _by_identifier(keys, getattr(keys, name), name, details_of) for name in _IDENTIFIERS
    ]
    pairs = [*by_identifier, _consecutive(keys.text), *_by_title(keys, details_of)]
    left, right = np.concatenate(pairs, axis=1)
    if not len(left):
        return Duplicates(np.arange(n), np.zeros(n, np.int8))
    reason = np.repeat(np.arange(len(pairs)), [pair.shape[1] for pair in pairs]).astype(np.int8)
    while True:
        labels = _connected(left, right, n)
        labels = _without_chains(labels, keys.title)
        # If two records must not be merged, the second is separated from all others.
        alone = [second for first, second in never if labels[first] == labels[second]]
        if not alone:
            break
        keep = ~(np.isin(left, alone) | np.isin(right, alone))
        left, right, reason = left[keep], right[keep], reason[keep]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    why = np.full(n, len(REASONS) - 1, np.int8)
    same = labels[left] == labels[right]
    for end in (left, right):
        np.minimum.at(why, end[same], reason[same])
    return Duplicates(first[inverse].astype(np.int64), why)


def _connected(left: NDArray[np.int64], right: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.int64)


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


def block_hashes(title: str) -> tuple[int, int, int]:
    """Return hashes of the first, the last and the longest words of a title, or zeros.

    Titles that differ in spelling or in a remark have at least one of them in common.
    """
    words = title_words(_REMARK.sub(" ", title))
    if len(words) < _MIN_SIMILAR:
        return 0, 0, 0
    longest = sorted(sorted(set(words), key=lambda word: (-len(word), word))[:3])
    three = (words[:3], words[-3:], longest)
    start, end, long = (text_hash(f"{n} {' '.join(part)}") for n, part in enumerate(three))
    return start, end, long


@lru_cache(maxsize=1 << 14)
def title_words(title: str) -> tuple[str, ...]:
    """Return the words of a title without articles, prepositions and remarks such as "talk"."""
    words = [word for word in normal_title(title).split() if word not in _COMMON]
    return tuple([word for word in words if word not in _FORM] or words)


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
    keys: Keys, values: Hashes, name: str, details_of: DetailsOf
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
    return np.concatenate([linked, _accepted(keys, doubtful, name, details_of)], axis=1)


def _groups_with_other_titles(ordered: Hashes, titled: NDArray[np.bool_]) -> list[tuple[int, int]]:
    if not len(ordered):
        return []
    bounds = np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(ordered)]
    # A group of m records with the same title has m - 1 links.
    links = np.add.reduceat(np.r_[titled, False].astype(np.int64), bounds[:-1])
    open_groups = np.flatnonzero(np.diff(bounds) - 1 > links)
    return [(int(bounds[g]), int(bounds[g + 1])) for g in open_groups]


def _accepted(
    keys: Keys, pairs: list[tuple[int, int]], name: str, details_of: DetailsOf
) -> NDArray[np.int64]:
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    fine = np.ones(len(left), dtype=bool)
    if name != "arxiv_id":
        fine = ~_differ(keys.arxiv_id, left, right) & ~_differ(keys.bibcode, left, right)
        both = _details(left, right, details_of)
        shared = [not a or not b or bool(a & b) for (a, *_), (b, *_) in both]
        fine &= np.array(shared, dtype=bool)
    return np.stack([left[fine], right[fine]])


def _by_title(keys: Keys, details_of: DetailsOf) -> list[NDArray[np.int64]]:
    """Return pairs of records with the same title, and with similar titles."""
    same = _in_groups(keys.title, keys.year, pairwise)
    similar = np.unique(
        np.concatenate([_in_groups(getattr(keys, name), keys.year, None) for name in _BLOCKS], 1),
        axis=1,
    )
    similar = similar[:, keys.title[similar[0]] != keys.title[similar[1]]]
    repeated = _repeated(keys)
    found = []
    for (left, right), is_same in ((same, _is_same), (similar, _is_similar)):
        fine = np.ones(len(left), dtype=bool)
        for name in _IDENTIFIERS:
            fine &= ~_differ(getattr(keys, name), left, right)
        years = keys.year.astype(np.int64)
        difference = np.where(
            (years[left] == 0) | (years[right] == 0), 0, np.abs(years[left] - years[right])
        )
        # A preprint and its article can have different years, and so have the issues of a column.
        is_preprint = (keys.arxiv_id[left] != 0) | (keys.arxiv_id[right] != 0)
        fine &= difference <= (YEARS_APART if is_same is _is_same else 0)
        left, right = left[fine], right[fine]
        certain = (difference == 0) | is_preprint
        both = _details(left, right, details_of)
        accepted = [
            is_same(a, b)
            and (is_certain or _journals(a, b) == "same")
            and not (is_repeated and len(title_words(a.title)) <= _MIN_SIMILAR)
            for (a, b), is_certain, is_repeated in zip(
                both, certain[fine].tolist(), repeated[left].tolist(), strict=True
            )
        ]
        found.append(np.stack([left, right])[:, np.array(accepted, dtype=bool)])
    return found


def _repeated(keys: Keys) -> NDArray[np.bool_]:
    """Return a mask of the titles that several years have, such as those of columns, shape (n,)."""
    marked = np.zeros(len(keys), dtype=bool)
    rows = np.flatnonzero((keys.title != 0) & (keys.year != 0) & (keys.arxiv_id == 0))
    if len(rows):
        order = rows[np.argsort(keys.title[rows], kind="stable")]
        starts = np.flatnonzero(np.r_[True, keys.title[order[1:]] != keys.title[order[:-1]]])
        sizes = np.diff(np.r_[starts, len(order)])
        years = keys.year[order]
        other = np.maximum.reduceat(years, starts) > np.minimum.reduceat(years, starts)
        marked[order] = np.repeat(other & (sizes > 2), sizes)
    return marked


def _in_groups(
    values: Hashes, years: NDArray[np.int16], links: Callable[..., Any] | None
) -> NDArray[np.int64]:
    """Return pairs of rows with the same value, shape (2, n_pairs).

    Rows of large groups are linked by `links`, in the order of their years. If it is None, large
    groups are omitted, and the rows must also have the same year.
    """
    rows = np.flatnonzero(values)
    order = rows[np.lexsort((rows, years[rows], values[rows]))]
    ends = values[order[1:]] != values[order[:-1]]
    if links is None:
        ends |= years[order[1:]] != years[order[:-1]]
    bounds = np.r_[0, np.flatnonzero(ends) + 1, len(order)]
    most = _MAX_GROUP if links is not None else _MAX_BLOCK
    pairs: list[tuple[int, int]] = []
    for group in np.flatnonzero(np.diff(bounds) > 1) if len(order) else []:
        members = order[bounds[group] : bounds[group + 1]].tolist()
        if len(members) <= most:
            pairs += combinations(members, 2)
        elif links is not None:
            pairs += links(members)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def _is_same(one: Details, other: Details) -> bool:
    """Return whether two records with the same title have a common author."""
    return bool(one.surnames & other.surnames) and _journals(one, other) != "different"


def _is_similar(one: Details, other: Details) -> bool:
    """Return whether two records have similar titles and at least half of the authors in common."""
    n_shared = len(one.surnames & other.surnames)
    if not n_shared or 2 * n_shared < min(len(one.surnames), len(other.surnames)):
        return False
    return similar_titles(one.title, other.title) and _journals(one, other) != "different"


def similar_titles(one: str, other: str) -> bool:
    """Return whether two titles are the same except for spelling, remarks and a subtitle.

    >>> similar_titles("Cooling of Dust in Disks (Extended Abstract)", "Cooling of dust in disks")
    True
    >>> similar_titles("Cooling of dust in disks. I", "Cooling of dust in disks. II")
    False
    """
    one, other = _REMARK.sub(" ", one), _REMARK.sub(" ", other)
    words, others = title_words(one), title_words(other)
    if min(len(words), len(others)) < _MIN_SIMILAR:
        return False
    if (_NOTES & {*words}) != (_NOTES & {*others}) or _numbers(words) != _numbers(others):
        return False
    heads = (title_words(_SUBTITLE.split(title, maxsplit=1)[0]) for title in (one, other))
    head, other_head = (head if len(head) >= _MIN_SIMILAR else () for head in heads)
    return any(
        _same_words(a, b)
        for a, b in ((words, others), (head, others), (words, other_head))
        if a and b
    )


def _same_words(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two lists of words differ at most in the spelling of half of them."""
    rest = [word for word in words if word not in others]
    other_rest = [word for word in others if word not in words]
    if not rest and not other_rest:
        return True
    if 2 * len(rest) > max(len(words), len(others)):
        return False
    left, right = "".join(rest), "".join(other_rest)
    return left == right or SequenceMatcher(None, left, right, autojunk=False).ratio() >= _SPELLING


def _numbers(words: Iterable[str]) -> list[str]:
    """Return the words with digits and the Roman numerals, by which papers of a series differ."""
    return sorted(word for word in words if _NUMBER.search(word))


def _journals(one: Details, other: Details) -> str:
    """Return "same", "different" or "unknown" for the journals of two records."""
    names = [re.sub(r"[^a-z]", "", (r.journal or "").lower()) for r in (one, other)]
    if not all(names) or any("arxiv" in name for name in names):
        return "unknown"
    short, long = sorted(names, key=len)
    letters = iter(long)
    if all(letter in letters for letter in short):  # an abbreviation
        return "same"
    # The journal can have other names, and references have volumes and pages.
    whole = [r.journal or "" for r in (one, other)]
    plain = all(name.count(" ") > 1 and not re.search(r"[\d.]", name) for name in whole)
    return "different" if plain else "unknown"


_MIN_SIMILAR = 3  # words of a title that is compared with similar titles
_MAX_BLOCK = 60  # records
_SPELLING = 0.8  # minimum similarity of the words that differ (benchmarks/merging.py)
_REMARK = re.compile(r"[(\[][^()\[\]]*+[)\]]")
_SUBTITLE = re.compile(r":|\s[-–—]+\s|[?!]\s|(?<=\w)-(?=[a-z]+ [a-z]+ )")
_NUMBER = re.compile(r"\d|^(?:i{1,3}|i?[vx]|[vx]i{1,3}|xi?[vx])$")
_WORDS: dict[str, str] = read_data("formats.yaml")["titles"]
_COMMON, _FORM, _NOTES = (
    frozenset(_WORDS[name].split()) for name in ("common", "remarks", "notes")
)


def _details(
    left: NDArray[np.int64], right: NDArray[np.int64], details_of: DetailsOf
) -> list[tuple[Details, Details]]:
    rows = np.unique(np.concatenate([left, right]))
    found = dict(zip(rows.tolist(), details_of(rows) if len(rows) else [], strict=True))
    return [(found[a], found[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]


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


_UNITED = (
    "ads_keywords", "categories", "source", "cite_bibcodes", "ref_bibcodes", "bibgroup", "data",
    "property", "facility",
)  # fmt: skip


def merge_records(rows: Sequence[Row], *, newest_first: bool = False) -> Row:
    """Merge several records of the same paper into one.

    Title, abstract and authors are those of one version: the first published record, unless its
    abstract is much shorter than another one. If the newest records are first, it is the first
    published record in any case.
    """
    published = sorted(
        rows, key=lambda row: not row["bibcode"] or is_eprint_bibcode(row["bibcode"])
    )
    longest = max(rows, key=lambda row: len(row["abstract"]))
    is_cut = 2 * len(published[0]["abstract"]) < len(longest["abstract"])
    version = longest if is_cut and not newest_first else published[0]
    # A list of authors can end after the first names.
    most = max(published, key=lambda row: len(row["authors"]))
    authors = most if 2 * len(version["authors"]) < len(most["authors"]) else version
    texts = ("title", "title_original", "abstract", "abstract_original")
    merged = published[0] | {name: version[name] for name in texts}
    merged["bibcode"] = _first((row["bibcode"] for row in published), demote=is_eprint_bibcode)
    merged["ads_id"] = merged["bibcode"]
    merged["arxiv_id"] = _first(row["arxiv_id"] for row in rows)
    merged["doi"] = _first((row["doi"] for row in published), demote=is_eprint_doi)
    merged["authors"] = authors["authors"]
    merged["aff"] = authors["aff"] or max((row["aff"] or [] for row in rows), key=len)
    merged["doctype"] = _first((row["doctype"] for row in published), demote="eprint".__eq__)
    journals = (row["journal"] for row in published)
    merged["journal"] = _first(journals, demote=lambda journal: "arxiv" in journal.lower())
    merged["kind"] = _first((row["kind"] for row in published), demote="article".__eq__)
    for name in ("status", "status_reason"):
        merged[name] = _first(row[name] for row in rows)
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
