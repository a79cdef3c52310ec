"""Find the terms of a thesaurus in texts."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus._thesaurus import Thesaurus
from landscape.text._words import normal_form, readable, singular, stem

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    _Ints = NDArray[np.int64]

_PIECE = re.compile(r"[^\W_](?:[\w'’.+‐‑–−-]*[\w+])?|[.,;:!?()]")
_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_STOPS = frozenset(".,;:!?()")
_Piece = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # words, stems, spellings
_NOTHING: _Piece = ((0,), (-1,), (-1,))  # result for a token that is not in a term
_MOST = 300_000  # maximum number of tokens in the cache


@dataclass(frozen=True)
class Split:
    """Sequence of the word numbers of several texts; the number 0 separates the texts."""

    words: NDArray[np.int64]
    stems: NDArray[np.int64]
    written: NDArray[np.int64]
    rows: NDArray[np.int64]
    pieces: Sequence[str]


class Lexicon(dict[str, int]):
    """Cache of processed tokens, with the numbers of the words and stems of each token."""

    def __init__(
        self, words: Mapping[str, int], stems: Mapping[str, int], spellings: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self._known, self._stems, self._spellings = words, stems, spellings
        self.forget()

    def forget(self) -> None:
        """Clear the cached tokens to limit memory use."""
        self.clear()
        self._pieces: dict[str, _Piece] = {}
        self.places = {piece: place for place, piece in enumerate(self._spellings)}
        self.words, self.stems, self.written = (array("q", one) for one in _NOTHING)
        self.starts = array("q", [0, 1])

    def __missing__(self, token: str) -> int:
        """Process a token that is not in the cache, and return its number."""
        found = [self._pieces.get(one) or self._read(one) for one in _PIECE.findall(token)]
        if found and all(one is _NOTHING for one in found):
            self[token] = 0
            return 0
        number = self[token] = len(self.starts) - 1
        for words, stems, written in found:
            self.words.extend(words)
            self.stems.extend(stems)
            self.written.extend(written)
        self.starts.append(len(self.words))
        return number

    def _read(self, piece: str) -> _Piece:
        words = _normal(piece)
        numbers = tuple([self._known.get(word, 0) for word in words])
        stems = tuple([self._stems.get(stem(word), -1) for word in words])
        if words and not any(numbers) and max(stems) < 0:
            known = _NOTHING
        else:
            place = self.places.setdefault(piece, len(self.places))
            known = numbers, stems, (place,) * len(words)
        self._pieces[piece] = known
        return known


def split(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text in normal form and in their original spelling."""
    pieces = _PIECE.findall(text)
    normal = list(map(_normal, pieces))
    written = [piece for piece, words in zip(pieces, normal, strict=True) for _ in words]
    return list(chain.from_iterable(normal)), written


def split_texts(texts: Sequence[str], lexicon: Lexicon) -> Split:
    """Split many texts into numbered words."""
    if len(lexicon) > _MOST:
        lexicon.forget()
    numbers = array("q")
    counts = np.empty(len(texts), dtype=np.int64)
    # A piece of a text never contains a space, so tokens can be processed one by one.
    for row, text in enumerate(texts):
        tokens = readable(text).split()
        numbers.extend(map(lexicon.__getitem__, tokens))
        numbers.append(0)
        counts[row] = len(tokens) + 1
    tokens_ = np.array(numbers, dtype=np.int64)
    starts = np.array(lexicon.starts, dtype=np.int64)
    lengths = starts[tokens_ + 1] - starts[tokens_]
    before = np.cumsum(lengths) - lengths
    at = np.repeat(starts[tokens_] - before, lengths)
    at += np.arange(len(at))
    words, stems, written = (
        np.array(one, dtype=np.int64)[at] for one in (lexicon.words, lexicon.stems, lexicon.written)
    )
    rows = np.repeat(np.repeat(np.arange(len(texts)), counts), lengths)
    return Split(words, stems, written, rows, list(lexicon.places))


@lru_cache(maxsize=300_000)
def _normal(piece: str) -> tuple[str, ...]:
    if piece in _STOPS:
        return ("",)
    if _NUMERAL.fullmatch(piece):
        return (piece,)  # numbers need no normalisation, which is slow
    return tuple(singular(word) for word in normal_form(piece).split())


@dataclass(frozen=True)
class TermStems:
    """Stems of all terms of a thesaurus."""

    stems: dict[str, int]
    terms: csr_matrix
    first: NDArray[np.int64]


def stem_terms(thesaurus: Thesaurus) -> TermStems:
    """Compute the stems of every term; terms of one concept are adjacent."""
    from scipy.sparse import csr_matrix

    stems: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    first = []
    n_terms = 0
    for concept in thesaurus.concepts.values():
        first.append(n_terms)
        for name in concept.names:
            found = {stem(word) for word in split(name)[0] if word}
            pairs += [(stems.setdefault(one, len(stems)), n_terms) for one in sorted(found)]
            n_terms += 1
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(stems), n_terms)
    terms = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    return TermStems(stems, terms, np.array(first, dtype=np.int64))


def find_stems(texts: Split, stems: TermStems, *, n: int) -> csr_matrix:
    """Return an int8 matrix that marks the stems in each text, shape (n, n_stems)."""
    from scipy.sparse import csr_matrix

    known = texts.stems >= 0
    places = (texts.rows[known], texts.stems[known])
    found = csr_matrix((np.ones(known.sum(), dtype=bool), places), shape=(n, len(stems.stems)))
    return found.astype(np.int8)


def covered(
    found: csr_matrix, stems: TermStems, weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the fraction of the stems of each concept that occur in each text, 0 to 1."""
    from scipy.sparse import diags

    n, m = found.shape[0], len(stems.first)
    weighted = diags(weights) @ stems.terms
    whole = np.maximum(np.asarray(weighted.sum(0)).ravel(), 1e-6)
    shares = found.astype(np.float32) @ (weighted @ diags(1.0 / whole)).tocsr()
    # Compare only terms that share a stem with a text.
    concept = np.searchsorted(stems.first, np.arange(stems.terms.shape[1]), side="right") - 1
    places = np.repeat(np.arange(n) * m, np.diff(shares.indptr)) + concept[shares.indices]
    best = np.zeros(n * m, dtype=np.float32)
    np.maximum.at(best, places, shares.data.astype(np.float32))
    made: NDArray[np.float32] = np.minimum(best, np.float32(1.0)).reshape(n, m)
    return made


def rarity(found: csr_matrix) -> NDArray[np.float32]:
    """Return the inverse document frequency (log) of each stem."""
    n = found.shape[0]
    frequency = found.getnnz(axis=0).astype(np.float32)
    weights: NDArray[np.float32] = (np.log((1 + n) / (1 + frequency)) + 0.1).astype(np.float32)
    return weights


_SHORT = 4  # terms up to this length match only in the same letter case (ISM, not ism)
_JOINING = frozenset(("of", "the", "in", "and", "for", "a", "an", "by", "on", "with", "from", "to"))

_Words = tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    """Terms of a thesaurus as a tree of words, used to find terms in texts."""

    concept_ids: tuple[str, ...]
    words: dict[str, int]
    spellings: tuple[str, ...]
    steps: _Ints
    nodes: _Ints
    ends: _Ints
    columns: _Ints
    spelled: _Ints
    groups: _Ints


def arrange_terms(thesaurus: Thesaurus) -> Terms:
    """Build the tree of the terms of a thesaurus for `match`."""
    named: dict[tuple[str, _Words], dict[int, bool]] = {}
    for column, concept in enumerate(thesaurus.concepts.values()):
        for name in concept.names:
            for spelling in _spellings(name):
                columns = named.setdefault(spelling, {})
                columns[column] = columns.get(column, False) or name == concept.label
    words: dict[str, int] = {}
    for _, term in named:
        for word in term:
            words.setdefault(word, len(words) + 1)
    spellings: dict[str, int] = {"": -1}
    steps: dict[int, int] = {}
    found: list[tuple[int, int, int, int]] = []
    for number, ((written, term), columns) in enumerate(named.items()):
        # A preferred term denotes its own concept, even if it is an alternative term elsewhere.
        preferred = tuple(column for column, first in columns.items() if first)
        node = 0
        for word in term:
            node = steps.setdefault(node * (1 + len(words)) + words[word], len(steps) + 1)
        spelled = spellings.setdefault(written, len(spellings) - 1)
        found += [(node, -number, column, spelled) for column in preferred or tuple(columns)]
    found.sort(key=lambda one: one[:2])  # the last term at a node is preferred
    at, groups, columns_, spelled_ = np.array(found, dtype=np.int64).reshape(-1, 4).T
    keys = np.array(list(steps), dtype=np.int64)
    order = np.argsort(keys)
    return Terms(
        concept_ids=tuple(thesaurus.concepts),
        words=words,
        spellings=tuple(spellings)[1:],
        steps=keys[order],
        nodes=np.array(list(steps.values()), dtype=np.int64)[order],
        ends=np.searchsorted(at, np.arange(len(steps) + 2)),
        columns=columns_,
        spelled=spelled_,
        groups=-groups,
    )


def match(texts: Split, terms: Terms) -> pd.DataFrame:
    """Find terms in texts, and count terms inside longer terms separately."""
    import pandas as pd

    starts, stops, nodes = _walk(texts.words, terms)
    # Sort by decreasing length, so that a contained term follows the longer term.
    order = np.lexsort((-stops, starts))
    starts, stops, nodes = starts[order], stops[order], nodes[order]
    counts = terms.ends[nodes + 1] - terms.ends[nodes]
    entry = np.repeat(terms.ends[nodes] - (np.cumsum(counts) - counts), counts)
    entry += np.arange(len(entry))
    starts, stops = np.repeat(starts, counts), np.repeat(stops, counts)
    spelled = terms.spelled[entry]
    right = (spelled < 0) | (texts.written[starts] == spelled)
    starts, stops, entry = starts[right], stops[right], entry[right]
    inside = _is_inside(starts, stops, terms.groups[entry])
    row, column = texts.rows[starts], terms.columns[entry]
    # Sort the terms of each text and concept by decreasing length, then by position.
    order = np.lexsort((starts - stops, row * len(terms.concept_ids) + column))
    row, column, inside = row[order], column[order], inside[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    first = np.flatnonzero(is_first)
    n_inside = np.add.reduceat(inside, first) if len(first) else first
    times = np.diff(np.append(first, len(order))) - n_inside
    best = order[first]
    numbers = {"row": row[first], "column": column[first], "times": times, "inside": n_inside}
    surface = _surfaces(texts, starts[best], stops[best])
    return pd.DataFrame(numbers, dtype=np.int32).assign(surface=surface)


def join_matches(found: Sequence[pd.DataFrame], starts: Sequence[int]) -> pd.DataFrame:
    import pandas as pd
    from pandas.api.types import union_categoricals

    joined = pd.concat(
        [
            one.drop(columns="surface").assign(row=one["row"] + np.int32(start))
            for one, start in zip(found, starts, strict=True)
        ],
        ignore_index=True,
    )
    return joined.assign(surface=union_categoricals([one["surface"] for one in found]))


def _walk(words: _Ints, terms: Terms) -> tuple[_Ints, _Ints, _Ints]:
    """Return the start, the end and the final node of each term in a sequence of words."""
    n_words = 1 + len(terms.words)
    first = np.zeros(n_words, dtype=np.int64)
    n_first = int(np.searchsorted(terms.steps, n_words))
    first[terms.steps[:n_first]] = terms.nodes[:n_first]
    node = first[words]
    place = np.flatnonzero(node)
    node = node[place]
    has_term = np.diff(terms.ends) > 0
    found = []
    length = 1
    while len(place):
        ends = has_term[node]
        found.append((place[ends], place[ends] + length, node[ends]))
        inner = place + length < len(words)
        place, node = place[inner], node[inner]
        word = words[place + length]
        place, node, word = place[word > 0], node[word > 0], word[word > 0]
        keys = node * n_words + word
        step = np.minimum(np.searchsorted(terms.steps, keys), len(terms.steps) - 1)
        known = terms.steps[step] == keys
        place, node = place[known], terms.nodes[step[known]]
        length += 1
    nothing = np.empty(0, dtype=np.int64)
    starts, stops, nodes = zip(*found, strict=True) if found else ((nothing,),) * 3
    return np.concatenate(starts), np.concatenate(stops), np.concatenate(nodes)


def _is_inside(starts: _Ints, stops: _Ints, groups: _Ints) -> _Ints:
    """Return whether each term is part of a longer, earlier term."""
    if not len(starts):
        return starts
    is_new = np.ones(len(starts), dtype=bool)
    is_new[1:] = (starts[1:] != starts[:-1]) | (groups[1:] != groups[:-1])
    one = np.flatnonzero(is_new)
    furthest = np.maximum.accumulate(stops[one])
    inside = np.zeros(len(one), dtype=np.int64)
    inside[1:] = stops[one][1:] <= furthest[:-1]
    return inside[np.cumsum(is_new) - 1]


def _surfaces(texts: Split, starts: _Ints, stops: _Ints) -> pd.Categorical:
    """Return terms in their original spelling, without repetition of hyphenated words."""
    import pandas as pd

    known: dict[tuple[int, ...], int] = {}
    written = texts.written.tolist()
    codes = [
        known.setdefault(tuple(written[start:stop]), len(known))
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    ]
    made = [" ".join(dict.fromkeys(texts.pieces[one] for one in pieces)) for pieces in known]
    names = {name: number for number, name in enumerate(dict.fromkeys(made))}
    number = np.array([names[one] for one in made], dtype=np.int64)
    return pd.Categorical.from_codes(
        number[np.array(codes, dtype=np.int64)], pd.Index(list(names), dtype=object)
    )


def _spellings(name: str) -> list[tuple[str, _Words]]:
    """Return spellings of a term, without text in brackets and with inverted word order."""
    bare = re.sub(r"\s*\([^)]*\)", "", name).strip() or name
    written = bare if len(bare) <= _SHORT and not bare.islower() and " " not in bare else ""
    words = tuple(filter(None, split(bare)[0]))
    spellings = [(written, words)] if words else []
    if written.isupper() and len(written) > 1:
        spellings.append((f"{written}s", words))
    if len(words) == 2 and not written:  # "galaxy evolution" also matches "evolution of galaxies"
        spellings += [("", (words[1], "of", words[0])), ("", (words[1], "of", "the", words[0]))]
    elif len(words) > 2 and not _JOINING & set(words) and not written:
        spellings.append(("", (words[-1], "of", *words[:-1])))
    return spellings


GIVEN, GIVEN_BY_NAME = 1.0, 0.97
"""Scores of a concept whose number or whose term is in the keywords."""

_NUMBER = re.compile(r"\((\d{1,5}) ?\)")
_PAPERS_AT_ONCE = 2_000


@dataclass(frozen=True)
class TermMatches:
    """Terms of a thesaurus found in titles, abstracts and keywords of papers."""

    n_papers: int
    title: pd.DataFrame
    abstract: pd.DataFrame
    given: pd.DataFrame
    in_text: csr_matrix


class TermReader:
    """Find terms in batches of papers. Processed tokens are cached between batches."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self._terms = arrange_terms(thesaurus)
        self._stems = stem_terms(thesaurus)
        self._columns = {one: column for column, one in enumerate(thesaurus.concepts)}
        self._lexicon = Lexicon(self._terms.words, self._stems.stems, self._terms.spellings)

    def read(
        self,
        titles: Sequence[str],
        abstracts: Sequence[str],
        keywords: Sequence[Sequence[str]] | None = None,
    ) -> TermMatches:
        n = len(titles)
        texts = split_texts([*titles, *abstracts], self._lexicon)
        found = match(texts, self._terms)
        cut = int(np.searchsorted(found["row"].to_numpy(), n))
        abstract = found.iloc[cut:]
        abstract = abstract.assign(row=abstract["row"] - np.int32(n)).reset_index(drop=True)
        both = replace(texts, rows=texts.rows % max(n, 1))
        return TermMatches(
            n,
            found.iloc[:cut],
            abstract,
            self._given([] if keywords is None else keywords),
            find_stems(both, self._stems, n=n),
        )

    def _given(self, keywords: Sequence[Sequence[str]]) -> pd.DataFrame:
        """Find the concepts whose numbers or terms are in the keywords."""
        import pandas as pd

        texts = [" ; ".join(map(str, words)) for words in keywords]
        found = match(split_texts(texts, self._lexicon), self._terms)
        named = found.loc[found["times"] > 0, ["row", "column"]].astype(np.int64)
        numbered = [
            (row, self._columns[number])
            for row, text in enumerate(texts)
            for number in _NUMBER.findall(text)
            if number in self._columns
        ]
        pairs = np.array(numbered, dtype=np.int64).reshape(-1, 2)
        both = np.concatenate([pairs, named.to_numpy()])
        scores = np.repeat([GIVEN, GIVEN_BY_NAME], [len(pairs), len(named)])
        return pd.DataFrame({"row": both[:, 0], "column": both[:, 1], "score": scores})


def read_papers(
    titles: Sequence[str],
    abstracts: Sequence[str],
    keywords: Sequence[Sequence[str]] | None,
    thesaurus: Thesaurus,
) -> TermMatches:
    reader = TermReader(thesaurus)
    parts = []
    for start in range(0, max(len(titles), 1), _PAPERS_AT_ONCE):
        at = slice(start, start + _PAPERS_AT_ONCE)
        given = None if keywords is None else keywords[at]
        parts.append(reader.read(titles[at], abstracts[at], given))
    return join_term_matches(parts)


def join_term_matches(parts: Sequence[TermMatches]) -> TermMatches:
    import pandas as pd
    from scipy.sparse import vstack

    starts = list(accumulate((one.n_papers for one in parts), initial=0))
    given = [
        one.given.assign(row=one.given["row"] + start)
        for one, start in zip(parts, starts, strict=False)
    ]
    return TermMatches(
        starts[-1],
        join_matches([one.title for one in parts], starts[:-1]),
        join_matches([one.abstract for one in parts], starts[:-1]),
        pd.concat(given, ignore_index=True),
        vstack([one.in_text for one in parts], format="csr"),
    )
