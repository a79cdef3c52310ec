"""The sentences of the papers found, and how well their words answer a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.query.records import Evidence, Paper
from landscape.text._sentences import split_sentences
from landscape.text._word_index import tokenise

if TYPE_CHECKING:
    from numpy.typing import NDArray

Score = Callable[[str, Sequence[str]], "NDArray[np.floating[Any]]"]
"""How near each of some sentences is to a question: larger is nearer, 0 is not at all."""

_SATURATION = 1.2  # BM25's k1; sentences are short, so that its length term is left out
_SHORT = 5  # words; "We discuss the implications." answers nothing


def sentences_of(paper: Paper) -> tuple[Evidence, ...]:
    """Give the sentences of an abstract.

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
    """Score sentences by the words that they share with a question.

    BM25 over these sentences alone, without its length term, as a fraction of what a sentence with
    every word of the question once would get; two sentences with the same words score the same.

    Parameters
    ----------
    question : str
    sentences : sequence of str

    Returns
    -------
    ndarray of float, shape (n_sentences,)
        From 0 to 1.

    Examples
    --------
    >>> word_scores("How does dust cool?", ["Dust cools by lines.", "Stars shine."]).round(2)
    array([1., 0.])
    """
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
    """Weigh words by how few sentences hold them (inverse document frequency, as in BM25).

    Parameters
    ----------
    held : sequence of iterable of str
        The words of each sentence.
    words : iterable of str
        Those to weigh; one that no sentence holds weighs most.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> weights = word_weights([["dust"], ["dust", "gas"]], ["dust", "gas"])
    >>> weights["gas"] > weights["dust"] > 0
    True
    """
    counts = Counter(word for some in held for word in set(some))
    n = len(held)
    return {word: math.log(1 + (n - counts[word] + 0.5) / (counts[word] + 0.5)) for word in words}


def likeness(sentences: Sequence[str]) -> NDArray[np.float64]:
    """Say how much sentences repeat each other.

    Parameters
    ----------
    sentences : sequence of str

    Returns
    -------
    ndarray of float, shape (n_sentences, n_sentences)
        Shared words over the geometric mean of both lengths (Ochiai's coefficient), from 0 to 1.

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
    """Tell a sentence worth quoting from one too short to be understood alone.

    Parameters
    ----------
    sentence : str

    Returns
    -------
    bool

    Examples
    --------
    >>> says_something("We discuss this."), says_something("Dust in quasars cools by its lines.")
    (False, True)
    """
    return len(sentence.split()) >= _SHORT
