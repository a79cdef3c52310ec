"""Highlights: the sentences of a text that matter most, and most for the place it is cited at.

Extractive, as in SciLit (Gu & Hahnloser 2023): nothing is rephrased. A sentence matters for its
text as it shares words with the other sentences (degree centrality, Erkan & Radev 2004, section
3.1) and says that something was found (cue words, Edmundson 1969); and for the context as it shares
its words and, where the atlas holds vectors of words, their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.embeddings._embedder import PlacingEmbedder, embedding_text
from landscape.embeddings._word_vectors import WordVectors, late_interaction
from landscape.search._ranking import standardised
from landscape.search._sentences import likeness, says_something, word_scores, word_weights
from landscape.text._sentences import split_sentences
from landscape.text._word_index import STOP_WORDS
from landscape.types import Highlight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.search._papers import SearchIndexes
    from landscape.types import Paper

    Floats = NDArray[np.float64]

_CONTEXT = 0.7  # share of the context beside the text itself
_MEANING = 1.0  # of the vectors of words, beside words shared
_CUE = 0.5  # standard deviations that a finding is worth
_DIVERSITY = 0.3
_MOST_SENTENCES = 600  # of a full text; a longer one is read to there
_COMPARED = 60  # sentences that are compared with each other
_OPENING = 1_500  # characters of a full text that tell what it is about
_BEGINNING = 6  # letters that tell words of one stem
_WORD = re.compile(r"[^\W_]{3,}")
_FINDS = re.compile(
    r"\b(?:we (?:find|found|show|present|report|propose|introduce|develop|measure|detect|derive|"
    r"conclude|demonstrate)|our (?:results|findings|model|method)|results (?:show|indicate|"
    r"suggest)|(?:is|are|was|were) (?:found|detected|shown|measured))\b",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """A context as the vectors of words see it.

    Attributes
    ----------
    words : ndarray of float32, shape (n_words, 64)
    weights : ndarray of float32, shape (n_words,)
    """

    words: NDArray[np.float32]
    weights: NDArray[np.float32]


def highlight(
    text: str, context: str = "", *, n: int = 3, meaning: Floats | None = None
) -> tuple[Highlight, ...]:
    """Choose the sentences of a text that matter most.

    Parameters
    ----------
    text : str
        An abstract or a full text.
    context : str, optional
        Text that it is to be cited in; without one only the text itself counts.
    n : int, default 3
        Sentences at most.
    meaning : ndarray of float64, shape (n_sentences,), optional
        How near each sentence is to the context in meaning.

    Returns
    -------
    tuple of Highlight
        In reading order.

    Examples
    --------
    >>> text = "Quasars are bright. We find that dust in them cools by lines. Gas is hot there."
    >>> [one.text for one in highlight(text, "How dust cools", n=1)]
    ['We find that dust in them cools by lines.']
    """
    spans = split_sentences(text)[:_MOST_SENTENCES]
    if not spans or n < 1:
        return ()
    if len(spans) > _COMPARED:  # a full text: only the sentences that may be chosen are compared
        spans, meaning = _likely(text, spans, context or text[:_OPENING]), None
    sentences = [text[start:end] for start, end in spans]
    alike = likeness(sentences)
    cues = np.array([_FINDS.search(sentence) is not None for sentence in sentences], float)
    of_text = standardised(alike.sum(axis=1)) + _CUE * cues
    of_context = np.zeros(len(sentences))
    if context.strip():
        of_context = standardised(word_scores(context, sentences))
        if meaning is not None:
            of_context = (of_context + _MEANING * standardised(meaning)) / (1 + _MEANING)
    share = _CONTEXT if context.strip() else 0.0
    total = share * of_context + (1 - share) * of_text
    total -= 10.0 * np.array([not says_something(sentence) for sentence in sentences])
    chosen = _choose(total, alike, n=n)
    return tuple(
        Highlight(
            sentences[place],
            *spans[place],
            score=float(total[place]),
            matters="context" if share * of_context[place] > (1 - share) * of_text[place]
            else "paper",
        )
        for place in sorted(chosen)
    )  # fmt: skip


def highlight_papers(
    held: SearchIndexes,
    papers: Sequence[Paper],
    context: str,
    *,
    n: int = 3,
    full_texts: dict[str, str] | None = None,
) -> list[tuple[Highlight, ...]]:
    """Choose highlights of papers of an atlas, with the vectors of words that it holds.

    Parameters
    ----------
    held : SearchIndexes
    papers : sequence of Paper
    context : str
    n : int, default 3
    full_texts : dict of str to str, optional
        By paper id: text to choose from instead of the abstract.

    Returns
    -------
    list of tuple of Highlight
        One for each paper.
    """
    if not n:
        return [()] * len(papers)
    texts = full_texts or {}
    meanings = _meanings(held, papers, context)
    return [
        highlight(texts[paper.paper_id], context, n=n) if paper.paper_id in texts
        else highlight(paper.abstract, context, n=n, meaning=meaning)
        for paper, meaning in zip(papers, meanings, strict=True)
    ]  # fmt: skip


def _likely(text: str, spans: list[tuple[int, int]], context: str) -> list[tuple[int, int]]:
    """The sentences of a long text that share most with a context, in reading order.

    Beginnings of words do: notation is folded only for the few sentences that are left, since
    folding takes most of the time.
    """
    held = [_beginnings(text[start:end]) for start, end in spans]
    wanted = _beginnings(context)
    weights = word_weights(held, wanted)
    scores = np.array([sum(weights[word] for word in words & wanted) for words in held])
    best = np.argsort(-scores, kind="stable")[:_COMPARED]
    return [spans[place] for place in sorted(best.tolist())]


def _beginnings(text: str) -> set[str]:
    return {word[:_BEGINNING] for word in _WORD.findall(text.lower())}


def _choose(total: Floats, alike: Floats, *, n: int) -> list[int]:
    """Best sentences that do not repeat each other (Carbonell & Goldstein 1998)."""
    repeats = np.zeros(len(total))
    left = np.ones(len(total), dtype=bool)
    chosen: list[int] = []
    while left.any() and len(chosen) < n:
        gain = np.where(left, (1 - _DIVERSITY) * total - _DIVERSITY * repeats, -np.inf)
        best = int(gain.argmax())
        chosen.append(best)
        left[best] = False
        repeats = np.maximum(repeats, alike[best])
    return chosen


def _meanings(held: SearchIndexes, papers: Sequence[Paper], context: str) -> list[Floats | None]:
    """How near each sentence of each abstract is to a context, word by word."""
    embedder = held.embedder
    none: list[Floats | None] = [None] * len(papers)
    if not papers or not context.strip() or not isinstance(embedder, PlacingEmbedder):
        return none
    rows = np.array([paper.row for paper in papers], dtype=np.int64)
    words = held.word_vectors(rows)
    if words is None:
        return none
    _, spellings, vectors = embedder.read_query(context)
    reading = Reading(vectors, held.rarity(spellings))
    texts = [embedding_text(paper.title, paper.abstract) for paper in papers]
    places = embedder.word_places(texts, stop_words=STOP_WORDS)
    ends = np.cumsum(words.lengths)
    return [
        _of_sentences(
            paper, words.vectors[end - length : end], places[number], reading
        )
        for number, (paper, end, length) in enumerate(
            zip(papers, ends.tolist(), words.lengths.tolist(), strict=True)
        )
    ]  # fmt: skip


def _of_sentences(
    paper: Paper, vectors: NDArray[np.int8], places: NDArray[np.int64], reading: Reading
) -> Floats | None:
    if len(vectors) != len(places):  # the vectors were made of another text
        return None
    shift = len(embedding_text(paper.title, ""))
    spans = split_sentences(paper.abstract)[:_MOST_SENTENCES]
    bounds = np.array([start + shift for start, _ in spans] + [np.iinfo(np.int64).max])
    cuts = np.searchsorted(places, bounds)
    inside = WordVectors(vectors[cuts[0] : cuts[-1]], np.diff(cuts))
    return late_interaction(reading.words, reading.weights, inside).astype(float)
