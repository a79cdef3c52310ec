"""Sentences of papers, and how similar they are to a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.text._sentences import split_sentences
from landscape.text._word_index import tokenise
from landscape.types import Evidence, Paper

if TYPE_CHECKING:
    from numpy.typing import NDArray

Score = Callable[[str, Sequence[str]], "NDArray[np.floating[Any]]"]
"""How near each of some sentences is to a question: larger is nearer, 0 is not at all."""

_SATURATION = 1.2  # BM25's k1; sentences are short, so that its length term is left out
_MEANING = 0.5  # weight of cosines in mixed_nearness; shared words have the rest
_SHORT = 5  # words; "We discuss the implications." answers nothing


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
    >>> paper = Paper(0, "a", "Dust", "Dust cools. Gas heats.", bibcode="2024ApJ...1..1A")
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
    """Weigh words by how few sentences hold them (inverse document frequency, as in BM25)."""
    counts = Counter(word for some in held for word in set(some))
    n = len(held)
    return {word: math.log(1 + (n - counts[word] + 0.5) / (counts[word] + 0.5)) for word in words}


def likeness(sentences: Sequence[str]) -> NDArray[np.float64]:
    """Cosines between the word sets of sentences, shape (n, n).

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
    """Whether a sentence is long enough to be understood alone."""
    return len(sentence.split()) >= _SHORT


def mixed_nearness(
    question: str, sentences: Sequence[str], cosines: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted mean of word scores and cosines, clipped at 0."""
    return (1 - _MEANING) * word_scores(question, sentences) + _MEANING * np.maximum(cosines, 0.0)
