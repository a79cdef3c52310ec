"""Find the terms of a thesaurus in texts."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate, chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.corpus.thesaurus import Thesaurus
from landscape.text.words import WORD, lexicon, normal_form, readable, singular, stem

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    _Ints = NDArray[np.int64]

_HYPHEN = re.compile(r"[‐‑–−-]")
_BRACKET = re.compile(r"\(([^()]*)\)")
_PIECE = re.compile(r"[^\W_](?:[\w'’.+‐‑–−-]*[\w+])?|[.,;:!?()]")
_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_STOPS = frozenset(".,;:!?()")
_Piece = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # words, stems, spellings
_NOTHING: _Piece = ((0,), (-1,), (-1,))  # result for a token that is not in a term
_NAME = "Name"  # stands for an unknown word with a capital letter
_COMMON = 20  # a last word of so many concepts names none of them ("stars", but not "planets")
_CACHED_TOKENS = 300_000  # maximum number of tokens in the cache


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
        self.places = {piece: place for place, piece in enumerate((*self._spellings, _NAME))}
        self.words, self.stems, self.written = (array("q", one * 2) for one in _NOTHING)
        self.written[1] = self.places[_NAME]
        self.starts = array("q", [0, 1, 2])

    def __missing__(self, token: str) -> int:
        """Process a token that is not in the cache, and return its number."""
        pieces = _PIECE.findall(token)
        found = [self._pieces.get(piece) or self._read(piece) for piece in pieces]
        if found and all(one is _NOTHING for one in found):
            self[token] = int(_is_capitalised(pieces[0]))
            return self[token]
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
    if len(lexicon) > _CACHED_TOKENS:
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


def _is_capitalised(word: str) -> bool:
    """Return whether a word has a capital letter and then a small letter."""
    return word[:1].isupper() and word[1:2].islower()


@lru_cache(maxsize=300_000)
def _normal(piece: str) -> tuple[str, ...]:
    if piece in _STOPS:
        return ("",)
    if _NUMERAL.fullmatch(piece):
        return (piece,)  # numbers need no normalisation, which is slow
    return tuple(singular(word) for word in normal_form(piece).split())


def names_of(thesaurus: Thesaurus) -> dict[str, list[str]]:
    """Return the terms of each concept, without last words of many concepts such as "stars"."""
    concepts = thesaurus.concepts.values()
    heads = Counter(singular(normal_form(concept.label).split(" ")[-1]) for concept in concepts)
    return {
        concept.concept_id: [concept.label]
        + [name for name in concept.alternatives if heads[singular(normal_form(name))] < _COMMON]
        for concept in concepts
    }


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
    for names in names_of(thesaurus).values():
        first.append(n_terms)
        for name in names:
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
    matrix = csr_matrix((np.ones(known.sum(), dtype=bool), places), shape=(n, len(stems.stems)))
    return matrix.astype(np.int8)


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
    return np.minimum(best, np.float32(1.0)).reshape(n, m)


def rarity(found: csr_matrix) -> NDArray[np.float32]:
    """Return the inverse document frequency (log) of each stem."""
    n = found.shape[0]
    frequency = found.getnnz(axis=0).astype(np.float32)
    return (np.log((1 + n) / (1 + frequency)) + 0.1).astype(np.float32)


_SHORT = 4  # terms up to this length match only in the same letter case (ISM, not ism)
_LETTERS = 2  # also a first word up to this length ("Of stars", not "of stars")
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
    contexts: _Ints  # rows of `witnesses`, or -1
    witnesses: Sequence[_Ints]  # one of these words must be in the paper
    units: _Ints  # words after which a witness does not count, as in "solar mass"


def arrange_terms(thesaurus: Thesaurus) -> Terms:
    """Build the tree of the terms of a thesaurus for `match`."""
    names = names_of(thesaurus)
    every = [*chain.from_iterable(names.values())]
    full = {form for name in every for form in _spellings(name)}
    shared = _shared_endings(every)
    nouns = _nouns(thesaurus)
    named: dict[tuple[str, _Words, _Words], dict[int, bool]] = {}
    for column, concept in enumerate(thesaurus.concepts.values()):
        for name in names[concept.concept_id]:
            forms = [*_forms(name, shared), *((*form, ()) for form in _without_last(name, nouns))]
            own, omitted = set(_spellings(name)), _omitted(concept.label, name)
            for written, term, context_ in forms:
                if (written, term) in full and (written, term) not in own:
                    continue  # "magnetic fields" are not only solar magnetic fields
                context = context_ or omitted
                columns = named.setdefault((written, term, context), {})
                columns[column] = columns.get(column, False) or name == concept.label
    words: dict[str, int] = {}
    units = _language()["units"]
    for word in chain(units, *((*term, *context) for _, term, context in named)):
        words.setdefault(word, len(words) + 1)
    spellings: dict[str, int] = {"": -1}
    contexts: dict[_Words, int] = {(): -1}
    steps: dict[int, int] = {}
    found: list[tuple[int, int, int, int, int]] = []
    for number, ((written, term, context), columns) in enumerate(named.items()):
        # A preferred term denotes its own concept, even if it is an alternative term elsewhere.
        preferred = tuple(column for column, first in columns.items() if first)
        node = 0
        for word in term:
            node = steps.setdefault(node * (1 + len(words)) + words[word], len(steps) + 1)
        spelled = spellings.setdefault(written, len(spellings) - 1)
        needed = contexts.setdefault(context, len(contexts) - 1)
        chosen = preferred or tuple(columns)
        found += [(node, -number, column, spelled, needed) for column in chosen]
    found.sort(key=lambda one: one[:2])  # the last term at a node is preferred
    at, groups, columns_, spelled_, contexts_ = np.array(found, dtype=np.int64).reshape(-1, 5).T
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
        contexts=contexts_,
        witnesses=[np.array([words[one] for one in context]) for context in list(contexts)[1:]],
        units=np.array([words[unit] for unit in units], dtype=np.int64),
    )


def match(texts: Split, terms: Terms, *, n: int | None = None) -> pd.DataFrame:
    """Find terms in texts, and count terms inside longer terms separately.

    The first `n` texts are titles, and the following texts are the abstracts of the same papers.
    """
    import pandas as pd

    starts, stops, nodes = _walk(texts.words, terms)
    # Sort by decreasing length, so that a contained term follows the longer term.
    order = np.lexsort((-stops, starts))
    starts, stops, nodes = starts[order], stops[order], nodes[order]
    counts = terms.ends[nodes + 1] - terms.ends[nodes]
    entry = np.repeat(terms.ends[nodes] - (np.cumsum(counts) - counts), counts)
    entry += np.arange(len(entry))
    starts, stops = np.repeat(starts, counts), np.repeat(stops, counts)
    right = _is_spelled(texts, starts, terms.spelled[entry], terms)
    right &= _has_witness(texts, starts, terms.contexts[entry], terms, n=n)
    starts, stops, entry = starts[right], stops[right], entry[right]
    inside = _is_inside(starts, stops, terms.groups[entry])
    inside |= _is_cut_off(texts, starts, stops, terms)
    if n:
        inside |= _is_in_name(texts, starts, stops) & (texts.rows[starts] >= n)
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


def _is_spelled(texts: Split, starts: _Ints, spelled: _Ints, terms: Terms) -> NDArray[np.bool_]:
    """Return whether the first word of each term, or a part with hyphens, is in its letter case."""
    written = texts.written[starts]
    right = (spelled < 0) | (written == spelled)
    other = np.flatnonzero(~right)
    pairs, place = np.unique(
        np.column_stack([written, spelled])[other], axis=0, return_inverse=True
    )
    whole = set(chain.from_iterable(_language()["short"].values()))  # not the SN of ASAS-SN
    names = ["" if name in whole else name for name in terms.spellings]
    known = [names[b] in _HYPHEN.split(texts.pieces[a]) for a, b in pairs.tolist()]
    right[other] = np.array(known, dtype=bool)[place.ravel()]
    return right


def _is_cut_off(texts: Split, starts: _Ints, stops: _Ints, terms: Terms) -> NDArray[np.bool_]:
    """Return whether a term ends in the middle of another, as in "evolution of star clusters"."""
    furthest = np.zeros(len(texts.words) + 1, dtype=np.int64)
    np.maximum.at(furthest, starts, stops)
    second = texts.words[np.minimum(starts + 1, len(texts.words) - 1)]
    joined: NDArray[np.bool_] = second == terms.words.get("of", -1)
    joined |= texts.words[starts] == terms.words.get("the", -1)  # "the galaxy cluster"
    return joined & (furthest[stops - 1] > stops)


def _is_in_name(texts: Split, starts: _Ints, stops: _Ints) -> NDArray[np.bool_]:
    """Return whether a capital letter follows a capitalised term ("Dark Energy Survey")."""
    capital = np.array([*map(_is_capitalised, texts.pieces), False])  # -1 is the last place
    after = np.minimum(stops, len(texts.words) - 1)
    last = texts.written[stops - 1]
    made: NDArray[np.bool_] = (
        capital[texts.written[starts]] & capital[last] & capital[texts.written[after]]
    )
    return made & (texts.written[after] != last)


def _has_witness(
    texts: Split, starts: _Ints, contexts: _Ints, terms: Terms, *, n: int | None
) -> NDArray[np.bool_]:
    """Return whether a paper has one of the words that a shortened term needs, as "solar"."""
    right = np.ones(len(starts), dtype=bool)
    for number, words in enumerate(terms.witnesses):
        needed = np.flatnonzero(contexts == number)
        if len(needed):
            is_unit = np.isin(np.append(texts.words[1:], 0), terms.units)
            rows = texts.rows[np.isin(texts.words, words) & ~is_unit]
            mine = texts.rows[starts[needed]]
            right[needed] = np.isin(mine % n, rows % n) if n else np.isin(mine, rows)
    return right


def join_matches(found: Sequence[pd.DataFrame], starts: Sequence[int]) -> pd.DataFrame:
    """Join tables of matches; each start is added to the rows of its table."""
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
    rows = np.flatnonzero(is_new)
    furthest = np.maximum.accumulate(stops[rows])
    inside = np.zeros(len(rows), dtype=np.int64)
    inside[1:] = stops[rows][1:] <= furthest[:-1]
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
    made = [" ".join(dict.fromkeys(texts.pieces[piece] for piece in pieces)) for pieces in known]
    names = {name: number for number, name in enumerate(dict.fromkeys(made))}
    number = np.array([names[one] for one in made], dtype=np.int64)
    return pd.Categorical.from_codes(
        number[np.array(codes, dtype=np.int64)], pd.Index(list(names), dtype=object)
    )


@cache
def _language() -> dict[str, Any]:
    """Read the rules for the forms of terms."""
    stored = read_yaml(data_file("thesaurus.yaml"))
    return stored["forms"] | {"nouns": stored["nouns"]}


def _shared_endings(names: Sequence[str]) -> Mapping[_Words, set[str]]:
    """Return the first words of the names that end with the same words."""
    endings: dict[_Words, set[str]] = {}
    for name in names:
        words = tuple(filter(None, split(name)[0]))
        if words:
            endings.setdefault(words[1:], set()).add(words[0])
    return endings


def _omitted(label: str, name: str) -> _Words:
    """Return the witnesses of a term that omits the first word of its preferred term."""
    rules, first, words = _language(), split(label)[0][0], split(name)[0]
    needed = first in rules["opposed"] and first not in words
    return tuple(rules["left_out"][first]) if needed else ()


def _nouns(thesaurus: Thesaurus) -> set[_Words]:
    """Return ends of names of which several concepts omit the last word ("white dwarf stars")."""
    counts: Counter[_Words] = Counter()
    for concept in thesaurus.concepts.values():
        names = {tuple(filter(None, split(name)[0])) for name in concept.names}
        counts.update({words[-2:] for words in names if len(words) > 1 and words[:-1] in names})
    return {words for words, n in counts.items() if n > 1}


def _without_last(name: str, nouns: set[_Words]) -> Iterator[tuple[str, _Words]]:
    """Yield a name without its last word, such as "contact binary" of "Contact binary stars"."""
    proper = name.removesuffix(" stars") if name.endswith(" stars") else ""
    for written, words in _spellings(name)[:1]:
        if len(words) > 2 and all(part[:1].isupper() for part in re.split(r"\W", proper)):
            yield written, words[:-1]  # "Wolf-Rayet"
        elif any(
            words[-1] == last and words[-2].endswith(noun) and words[:-1] != (noun,)
            for noun, last in (nouns if len(words) > 1 else ())
        ):
            yield written, words[:-1]


def _forms(name: str, shared: Mapping[_Words, set[str]]) -> Iterator[tuple[str, _Words, _Words]]:
    """Yield spellings of a term, and the words of which a paper must have one."""
    bracket = _BRACKET.search(name)
    spellings = _spellings(name)
    # "Physical properties (Ice)" needs ice, "Earth (planet)" needs nothing.
    needed = tuple(filter(None, split(bracket[1])[0])) if bracket else ()
    for written, term in spellings:
        yield written, term, needed if len(term) > 1 else ()
    left_out = _language()["left_out"]
    for written, term in spellings[:1]:
        first = shared.get(term[1:], set())
        if len(term) > 2 and {term[0]} <= first <= set(left_out) and first != {"stellar"}:
            yield written, term[1:], tuple(left_out[term[0]])


def _spellings(name: str) -> list[tuple[str, _Words]]:
    """Return spellings of a term, without text in brackets and with inverted word order."""
    bare = _BRACKET.sub("", name).strip() or name
    written = bare if len(bare) <= _SHORT and not bare.islower() and " " not in bare else ""
    if written.istitle() and singular(written.lower()) in lexicon().nouns:
        written = ""  # "Jets"
    first, _, rest = bare.partition(" ")
    if rest and len(first) <= _LETTERS and not first.islower():
        written = first
    words = tuple(filter(None, split(bare)[0]))
    spellings = [(written, words)] if words else []
    if written.isupper() and len(written) > 1 and not rest:
        spellings.append((f"{written}s", words))
    if len(words) == 2 and not written:  # "stellar evolution" also matches "evolution of stars"
        first = _language()["nouns"].get(words[0], words[0])
        spellings += [("", (words[1], "of", first)), ("", (words[1], "of", "the", first))]
    elif len(words) > 2 and not _JOINING & set(words) and not written:
        spellings.append(("", (words[-1], "of", *words[:-1])))
    return [*spellings, *_inflected(words)]


def _inflected(words: _Words) -> Iterator[tuple[str, _Words]]:
    """Yield a technique as an adjective, and the short forms of a type ("SN Ia")."""
    rules = _language()
    for noun, adjective in rules["adjectives"].items():
        if words and words[-1].endswith(noun):
            yield "", (*words[:-1], words[-1].removesuffix(noun) + adjective)
    short = rules["short"].get(words[-1], ()) if words else ()
    front = words[:-1]
    if short and words[0] != "type":
        yield from (("" if front else noun, (*front, noun.lower())) for noun in short)
    elif short:
        kinds = [front[1:], *((kind,) for kind in rules["kinds"].get(front[-1], ()))]
        for kind, noun in product(kinds, (words[-1], *short)):
            name = noun.lower()
            for form in (
                ("type", *kind, name),
                (name, *kind),
                (name, "type", *kind),
                (*kind, name),
            ):
                yield "", form


GIVEN, GIVEN_BY_NAME = 1.0, 0.97
"""Scores of a concept whose number or whose term is in the keywords."""

_NUMBER = re.compile(r"\((\d{1,5}) ?\)")
_PAPERS_AT_ONCE = 2_000  # number of papers in which terms are searched at a time


@dataclass(frozen=True)
class TermMatches:
    """Terms of a thesaurus found in titles, abstracts and keywords of papers."""

    n_papers: int
    title: pd.DataFrame
    abstract: pd.DataFrame
    given: pd.DataFrame
    in_text: csr_matrix  # stems in titles and abstracts
    in_title: csr_matrix


class TermReader:
    """Find terms in batches of papers. Processed tokens are cached between batches."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self.thesaurus = thesaurus
        self._terms = arrange_terms(thesaurus)
        self._stems = stem_terms(thesaurus)
        self._columns = {concept_id: column for column, concept_id in enumerate(thesaurus.concepts)}
        self._short = {
            word
            for concept in thesaurus.concepts.values()
            for name in concept.names
            for word in name.split()
            if word.isupper()
        }
        self._stems_of = [
            {stem(word) for name in concept.names for word in split(name)[0]}
            for concept in thesaurus.concepts.values()
        ]
        self._lexicon = Lexicon(self._terms.words, self._stems.stems, self._terms.spellings)

    def read(
        self,
        titles: Sequence[str],
        abstracts: Sequence[str],
        keywords: Sequence[Sequence[str]] | None = None,
    ) -> TermMatches:
        """Find the terms in the titles, abstracts and keywords of n papers."""
        n = len(titles)
        titles = [spell_out(*texts, self._short) for texts in zip(titles, abstracts, strict=True)]
        texts = split_texts([*titles, *abstracts], self._lexicon)
        found = match(texts, self._terms, n=n or None)
        found = found[~self._is_defined_otherwise(found, abstracts)]
        cut = int(np.searchsorted(found["row"].to_numpy(), n))
        abstract = found.iloc[cut:]
        abstract = abstract.assign(row=abstract["row"] - np.int32(n)).reset_index(drop=True)
        both = replace(texts, rows=texts.rows % max(n, 1))
        first = texts.rows < n
        titles_ = replace(texts, stems=np.where(first, texts.stems, -1))
        return TermMatches(
            n,
            found.iloc[:cut],
            abstract,
            self._given([] if keywords is None else keywords),
            find_stems(both, self._stems, n=n),
            find_stems(titles_, self._stems, n=n),
        )

    def _is_defined_otherwise(
        self, table: pd.DataFrame, abstracts: Sequence[str]
    ) -> NDArray[np.bool_]:
        """Return whether the abstract gives an abbreviation another meaning than the concept."""
        rows = table["row"].to_numpy() % max(len(abstracts), 1)
        columns = table["column"].to_numpy()
        codes, names = table["surface"].cat.codes.to_numpy(), table["surface"].cat.categories
        short = np.array([name.isupper() and len(name) > 1 for name in names], dtype=bool)
        other = np.zeros(len(table), dtype=bool)
        for at in np.flatnonzero(short[codes]).tolist():
            words = _words_of(names[codes[at]], abstracts[rows[at]])
            if words:
                meant = {stem(singular(word.lower())) for word in words}
                other[at] = not self._stems_of[columns[at]] & meant
        return other

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


_ABBREVIATED = re.compile(r"\b[A-Z][A-Za-z]*[A-Z]s?\b")


def spell_out(title: str, abstract: str, known: Container[str] = ()) -> str:
    """Replace unknown abbreviations in a title by the words that the abstract gives for them."""
    for short in dict.fromkeys(_ABBREVIATED.findall(title)):
        if short.removesuffix("s") in known:
            continue
        words = _words_of(short, abstract)
        # The words of a proper name, such as "Dark Energy Survey", are no terms.
        if words and words[-1].islower():
            title = re.sub(rf"\b{short}\b", " ".join(words), title)
    return title


def _words_of(short: str, text: str) -> list[str]:
    """Return the words before an abbreviation in brackets if they have its initial letters."""
    letters = short.removesuffix("s").lower()
    place = max(text.find(f"({mark})") for mark in (short, f"{short}s", short[:-1]))
    words = WORD.findall(text[max(place - 100, 0) : max(place, 0)])[-len(letters) :]
    return words if "".join(word[0] for word in words).lower() == letters else []


def read_papers(
    titles: Sequence[str],
    abstracts: Sequence[str],
    keywords: Sequence[Sequence[str]] | None,
    thesaurus: Thesaurus,
) -> TermMatches:
    """Find the terms in any number of papers, in batches."""
    reader = TermReader(thesaurus)
    parts = []
    for start in range(0, max(len(titles), 1), _PAPERS_AT_ONCE):
        at = slice(start, start + _PAPERS_AT_ONCE)
        given = None if keywords is None else keywords[at]
        parts.append(reader.read(titles[at], abstracts[at], given))
    return join_term_matches(parts)


def join_term_matches(parts: Sequence[TermMatches]) -> TermMatches:
    """Join the matches of consecutive batches of papers."""
    import pandas as pd
    from scipy.sparse import vstack

    starts = list(accumulate((part.n_papers for part in parts), initial=0))
    given = [
        part.given.assign(row=part.given["row"] + start)
        for part, start in zip(parts, starts, strict=False)
    ]
    return TermMatches(
        starts[-1],
        join_matches([part.title for part in parts], starts[:-1]),
        join_matches([part.abstract for part in parts], starts[:-1]),
        pd.concat(given, ignore_index=True),
        *(
            vstack([getattr(part, name) for part in parts], format="csr")
            for name in ("in_text", "in_title")
        ),
    )
