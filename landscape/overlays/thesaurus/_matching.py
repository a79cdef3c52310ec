"""Find the terms of a thesaurus in texts: longest match, any plural, hyphen or case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus._thesaurus import Thesaurus
from landscape.overlays.thesaurus._splitting import (
    Lexicon,
    Split,
    find_stems,
    split,
    split_texts,
    stem_terms,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    _Ints = NDArray[np.int64]

_SHORT = 4  # letters; a shorter term must be written the same: ISM, not ism; ICM, RAS
_JOINING = frozenset(("of", "the", "in", "and", "for", "a", "an", "by", "on", "with", "from", "to"))
_TEXTS_AT_ONCE = 2_000

_Words = tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    """The terms of a thesaurus, arranged as a tree of words to be found in running text."""

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
    """Arrange the terms of a thesaurus for `match`."""
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
        # A preferred term means its own concept, not another one's alternative.
        preferred = tuple(column for column, first in columns.items() if first)
        node = 0
        for word in term:
            node = steps.setdefault(node * (1 + len(words)) + words[word], len(steps) + 1)
        spelled = spellings.setdefault(written, len(spellings) - 1)
        found += [(node, -number, column, spelled) for column in preferred or tuple(columns)]
    found.sort(key=lambda one: one[:2])  # of two at one node the one added last is asked first
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


def match(texts: Sequence[str], terms: Terms) -> pd.DataFrame:
    """Find terms in texts; where one term is a part of a longer one, the longer one counts."""
    lexicon = Lexicon(terms.words, {}, terms.spellings)
    found = [
        match_split(split_texts(texts[start : start + _TEXTS_AT_ONCE], lexicon), terms)
        for start in range(0, max(len(texts), 1), _TEXTS_AT_ONCE)
    ]
    return join_matches(found, range(0, max(len(texts), 1), _TEXTS_AT_ONCE))


def match_split(texts: Split, terms: Terms) -> pd.DataFrame:
    """Find terms in texts that are split already; see `match`."""
    import pandas as pd

    starts, stops, nodes = _walk(texts.words, terms)
    # Longest first, so that a part of a term comes behind it.
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
    # Of one concept in one text the longest term first, of several as long the first.
    order = np.lexsort((starts - stops, row * len(terms.concept_ids) + column))
    row, column, inside = row[order], column[order], inside[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    first = np.flatnonzero(is_first)
    n_inside = np.add.reduceat(inside, first) if len(first) else first
    times = np.diff(np.append(first, len(order))) - n_inside
    best = order[first]
    return pd.DataFrame(
        {
            "row": row[first].astype(np.int32),
            "column": column[first].astype(np.int32),
            "times": times.astype(np.int32),
            "inside": n_inside.astype(np.int32),
            "surface": _surfaces(texts, starts[best], stops[best]),
        }
    )


def join_matches(found: Sequence[pd.DataFrame], starts: Sequence[int]) -> pd.DataFrame:
    """Join the matches of blocks of texts."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    made = {
        name: np.concatenate([one[name].to_numpy() for one in found])
        for name in ("column", "times", "inside")
    }
    rows = [
        one["row"].to_numpy() + np.int32(start) for one, start in zip(found, starts, strict=True)
    ]
    surface = union_categoricals([one["surface"] for one in found])
    return pd.DataFrame({"row": np.concatenate(rows), **made, "surface": surface})


def _walk(words: _Ints, terms: Terms) -> tuple[_Ints, _Ints, _Ints]:
    """Where terms begin and stop, and the nodes they end at; all places take a step at once."""
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
    """Whether each is a part of a longer term before it; concepts of one term are so together."""
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
    """Terms as written; a hyphenated piece of several words occurs once."""
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
    """Spellings of a term: as it is, without a note in brackets, inverted with "of"."""
    bare = re.sub(r"\s*\([^)]*\)", "", name).strip() or name
    written = bare if len(bare) <= _SHORT and not bare.islower() and " " not in bare else ""
    words = tuple(filter(None, split(bare)[0]))
    spellings = [(written, words)] if words else []
    if written.isupper() and len(written) > 1:
        spellings.append((f"{written}s", words))
    if len(words) == 2 and not written:  # galaxy evolution: evolution of galaxies
        spellings += [("", (words[1], "of", words[0])), ("", (words[1], "of", "the", words[0]))]
    elif len(words) > 2 and not _JOINING & set(words) and not written:
        spellings.append(("", (words[-1], "of", *words[:-1])))
    return spellings


GIVEN, GIVEN_BY_NAME = 1.0, 0.97
"""Scores of a concept that the keywords give by its number, and by a term."""

_NUMBER = re.compile(r"\((\d{1,5}) ?\)")
_PAPERS_AT_ONCE = 2_000


@dataclass(frozen=True)
class TermMatches:
    """The terms of a thesaurus that papers contain."""

    n_papers: int
    title: pd.DataFrame
    abstract: pd.DataFrame
    given: pd.DataFrame
    in_text: csr_matrix


class TermReader:
    """Find terms in batches of papers; the lexicon is kept between batches."""

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
        """Read a batch of papers."""
        n = len(titles)
        texts = split_texts([*titles, *abstracts], self._lexicon)
        found = match_split(texts, self._terms)
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
        """Concepts that keywords give, by number or by term."""
        import pandas as pd

        texts = [" ; ".join(map(str, words)) for words in keywords]
        found = match_split(split_texts(texts, self._lexicon), self._terms)
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
    """Read papers in one process."""
    reader = TermReader(thesaurus)
    blocks = [
        slice(start, start + _PAPERS_AT_ONCE)
        for start in range(0, max(len(titles), 1), _PAPERS_AT_ONCE)
    ]
    return join_term_matches(
        [
            reader.read(titles[at], abstracts[at], None if keywords is None else keywords[at])
            for at in blocks
        ]
    )


def join_term_matches(parts: Sequence[TermMatches]) -> TermMatches:
    """Join the matches of batches."""
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
