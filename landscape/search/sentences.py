"""Match questions with papers, by names in a question and by similar sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.corpus.objects import ObjectMention, find_objects, object_key
from landscape.text import split_sentences, tokenise
from landscape.text.word_index import STOP_WORDS
from landscape.types import Evidence, Paper

if TYPE_CHECKING:
    from numpy.typing import NDArray

Score = Callable[[str, Sequence[str]], "NDArray[np.floating]"]
"""Function that scores sentences by similarity to a question; a score of 0 means unrelated."""

_SATURATION = 1.2  # k1 of BM25; the length term is omitted, because sentences are short
_MEANING = 0.5  # weight of cosines in mixed_nearness; shared words have the remaining weight
_SHORT = 5  # minimum number of words; excludes "We discuss the implications."
_CAPITALISED = re.compile(r"[A-Z][\w'’+*-]*(?:\.\d+)?")
_COMPOUND = re.compile(r"[\w+-]+")
_ET_AL = re.compile(r"\b([A-Z][\w'’-]{1,60}+)(?= et al)")


def sentences_of(paper: Paper) -> tuple[Evidence, ...]:
    """Split the abstract of a paper into sentences.

    Parameters
    ----------
    paper : Paper

    Returns
    -------
    tuple of Evidence

    Examples
    --------
    >>> text, code = "Dust cools. Gas heats.", "2024ApJ...1..1A"
    >>> paper = Paper(row=0, paper_id="a", title="Dust", abstract=text, bibcode=code)
    >>> [(s.start, s.end, s.text) for s in sentences_of(paper)]
    [(0, 11, 'Dust cools.'), (12, 22, 'Gas heats.')]
    """
    return tuple(
        Evidence(paper.paper_id, paper.label, start, end, paper.abstract[start:end])
        for start, end in split_sentences(paper.abstract)
    )


def word_scores(question: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """Score sentences by the words that they share with a question."""
    wanted = set(tokenise(question))
    held = [Counter(tokenise(sentence)) for sentence in sentences]
    weights = word_weights(held, wanted)
    whole = sum(weights.values())
    if not whole:
        return np.zeros(len(sentences))
    gained = [
        sum(
            weights[word] * words[word] * (1 + _SATURATION) / (words[word] + _SATURATION)
            for word in wanted & words.keys()
        )
        for words in held
    ]
    return np.minimum(np.array(gained, dtype=float) / whole, 1.0)


def word_weights(held: Sequence[Iterable[str]], words: Iterable[str]) -> dict[str, float]:
    """Return the inverse document frequencies of words, as in BM25."""
    counts = Counter(word for some in held for word in set(some))
    n = len(held)
    return {word: math.log(1 + (n - counts[word] + 0.5) / (counts[word] + 0.5)) for word in words}


def likeness(sentences: Sequence[str]) -> NDArray[np.float64]:
    """Return the cosines between the word sets of sentences, shape (n, n).

    Examples
    --------
    >>> likeness(["Dust cools.", "The dust cools", "Stars shine."])[0].round(1)
    array([1., 1., 0.])
    """
    held = [frozenset(tokenise(sentence)) for sentence in sentences]
    places = {word: place for place, word in enumerate(sorted(frozenset().union(*held)))}
    table = np.zeros((len(held), len(places)))
    for row, words in enumerate(held):
        table[row, [places[word] for word in words]] = 1.0
    lengths = np.sqrt(np.maximum(table.sum(axis=1), 1.0))
    return (table @ table.T) / np.outer(lengths, lengths)


def says_something(sentence: str) -> bool:
    """Return whether a sentence is long enough to be understood alone."""
    return len(sentence.split()) >= _SHORT


def mixed_nearness(
    question: str, sentences: Sequence[str], cosines: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weighted mean of word scores and cosines; negative cosines count as 0."""
    return (1 - _MEANING) * word_scores(question, sentences) + _MEANING * np.maximum(cosines, 0.0)


class Entity(NamedTuple):
    """A name in a query, and its kind."""

    text: str
    kind: str


def find_entities(query: str) -> tuple[Entity, ...]:
    """Find the names in a query.

    Parameters
    ----------
    query : str

    Returns
    -------
    tuple of Entity
        In reading order, without overlaps.

    Examples
    --------
    >>> [tuple(entity) for entity in find_entities("What did JWST find around NGC 1275?")]
    [('JWST', 'acronym'), ('NGC 1275', 'object')]
    >>> find_entities("Why do galaxies stop forming stars?")
    ()
    """
    found: list[tuple[int, int, str]] = []
    found += [(one.start, one.end, "object") for one in _designations(query)]
    found += [(*match.span(), "person") for match in _ET_AL.finditer(query)]
    words = _COMPOUND.finditer(query)
    found += [(*word.span(), "acronym") for word in words if _is_acronym(word.group())]
    found += [(begin, end, "name") for begin, end in _names(query)]
    chosen: list[tuple[int, int, str]] = []
    taken = bytearray(len(query))
    for begin, end, kind in found:
        if not any(taken[begin:end]):
            taken[begin:end] = bytes([1]) * (end - begin)
            chosen.append((begin, end, kind))
    return tuple(Entity(query[begin:end], kind) for begin, end, kind in sorted(chosen))


def shares_of_names(names: Sequence[str], texts: Iterable[str]) -> list[float]:
    """Return the share of the names that each text contains."""
    if not names:
        return [0.0 for _ in texts]
    patterns = [
        re.compile(rf"(?<!\w){re.escape(name)}(?!\w)".replace(r"\ ", r"[ -]?"), re.IGNORECASE)
        for name in names
    ]
    return [
        sum(pattern.search(text) is not None for pattern in patterns) / len(names) for text in texts
    ]


def absent_objects(query: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of objects in a query that do not occur in any of the texts."""
    wanted = _designations(query)
    texts = list(texts) if wanted else []
    known = {object_key(one.name) for text in texts for one in find_objects(text)}
    return tuple(
        one.surface for one in wanted
        if object_key(one.name) not in known and not any(one.surface in text for text in texts)
    )  # fmt: skip


def _designations(query: str) -> list[ObjectMention]:
    """Return the objects in a query that have a number or a letter, such as "M 31" or "Sgr A*"."""
    return [
        one
        for one in find_objects(query)
        if any(map(str.isdigit, one.surface)) or "*" in one.surface
    ]


def _is_acronym(word: str) -> bool:
    capitals = sum(map(str.isupper, word))
    return word[0].isupper() and (capitals > 1 or any(map(str.isdigit, word)))


def _names(query: str) -> list[tuple[int, int]]:
    """Find runs of capitalised words, except single words at the start of a sentence."""
    runs: list[tuple[int, int]] = []
    for word in _CAPITALISED.finditer(query):
        begin, end = word.span()
        if runs and query[runs[-1][1] : begin] == " ":
            runs[-1] = (runs[-1][0], end)
        elif word.group().lower() not in STOP_WORDS:
            runs.append((begin, end))
    return [
        (begin, end)
        for begin, end in runs
        if not _opens_sentence(query, begin) or " " in query[begin:end]
    ]


def _opens_sentence(query: str, place: int) -> bool:
    before = query[:place].rstrip()
    return not before or before[-1] in ".?!:"
