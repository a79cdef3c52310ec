"""Extract highlights of cited papers; write and check citing sentences with a language model.

Highlights are extractive (SciLit, Gu & Hahnloser 2023). The score of a sentence is the sum of three
terms: its similarity to the other sentences (degree centrality, Erkan & Radev 2004, section 3.1),
cue words such as "we find" (Edmundson 1969), and its similarity to the context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.answers import check_claims
from landscape.answers.citations import without_labels
from landscape.embeddings.embedder import PlacingEmbedder, embedding_text
from landscape.embeddings.vectors import WordVectors, late_interaction
from landscape.llm import ReplyForm, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.search import sentences_of
from landscape.search.ranking import standardised
from landscape.search.sentences import likeness, says_something, word_scores, word_weights
from landscape.text import split_sentences
from landscape.text.word_index import STOP_WORDS
from landscape.text.words import WORD
from landscape.types import CitingSentence, Evidence, Highlight, Suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.llm import LanguageModel
    from landscape.search.papers import SearchIndexes
    from landscape.types import Paper

    Floats = NDArray[np.float64]


class WrittenSentence(ReplyForm):
    paper: str
    sentence: str
    evidence: list[str]


class SentencesReply(ReplyForm):
    sentences: list[WrittenSentence]


_MAX_LENGTH = 600  # maximum number of characters of a sentence
_MAX_CONTEXT = 4000  # number of last characters of the context sent to the model


def write_sentences(
    context: str, keywords: str | None, suggestions: Sequence[Suggestion], model: LanguageModel
) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
    """Write a citing sentence for each paper, and check the sentences in a second request.

    A citing sentence is kept only if its paper supports it.
    """
    known: dict[str, tuple[str, Evidence]] = {}
    papers: list[dict[str, Any]] = []
    for n, suggestion in enumerate(suggestions, start=1):
        mine = {f"p{n}s{i}": s for i, s in enumerate(sentences_of(suggestion.paper), start=1)}
        known |= {key: (f"p{n}", sentence) for key, sentence in mine.items()}
        papers.append(
            {
                "paper": f"p{n}",
                "title": without_labels(suggestion.paper.title),
                "sentences": {key: without_labels(s.text) for key, s in mine.items()},
            }
        )
    brief = {"text": context[-_MAX_CONTEXT:], "key_words": keywords or "", "papers": papers}
    reply = request_reply(model, prompt("cite"), as_data(brief), SentencesReply)
    written: dict[str, tuple[str, tuple[Evidence, ...]]] = {}
    for item in reply.sentences:
        text = " ".join(without_labels(item.sentence).split())[:_MAX_LENGTH]
        evidence = tuple(
            known[key][1]
            for key in dict.fromkeys(item.evidence)
            if key in known and known[key][0] == item.paper
        )
        if text and evidence:  # an invented paper has no evidence
            written.setdefault(item.paper, (text, evidence[:3]))
    return _checked(suggestions, written, model)


def _checked(
    suggestions: Sequence[Suggestion],
    written: dict[str, tuple[str, tuple[Evidence, ...]]],
    model: LanguageModel,
) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
    # Each sentence has its own line and label, so that the check does not join two sentences.
    lines = [
        f"{text.rstrip('.!? ')} [{suggestions[int(name[1:]) - 1].paper.label}]."
        for name, (text, _) in written.items()
    ]
    checked = check_claims(
        "\n".join(lines), [suggestion.paper for suggestion in suggestions], model=model
    )
    verdicts: dict[str, list[Any]] = {}
    for claim in checked.claims:
        for label in claim.citations[:1]:
            verdicts.setdefault(label, []).append(claim)
    kept = []
    dropped = 0
    for n, one in enumerate(suggestions, start=1):
        text, evidence = written.get(f"p{n}", ("", ()))
        claims = verdicts.get(one.paper.label, [])
        good = bool(text and claims) and all(claim.verdict == "supported" for claim in claims)
        dropped += bool(text) and not good
        shown = CitingSentence(text, evidence, "supported") if good else None
        kept.append(replace(one, sentence=shown))
    notes = list(checked.notes)
    if dropped:
        notes.append(f"Omitted: {count(dropped, 'sentence')} that the papers do not support.")
    lacking = len(suggestions) - len(written)
    if lacking:
        notes.append(f"No sentence was written for {lacking} of {len(suggestions)} papers.")
    return tuple(kept), tuple(notes)


_CONTEXT = 0.7  # weight of the context; the text of the paper has the remaining weight
_MEANING = 1.0  # weight of word vectors, relative to shared words
_CUE = 0.5  # bonus for a cue word, in standard deviations
_DIVERSITY = 0.3  # weight of the similarity to chosen sentences, from 0 to 1
_MAX_SENTENCES = 600  # maximum number of sentences of a full text; later sentences are ignored
_COMPARED = 60  # maximum number of sentences compared with each other
_OPENING = 1_500  # number of characters at the start of a full text that define its subject
_BEGINNING = 6  # number of first letters that are compared to match two words
_FINDS = re.compile(
    r"\b(?:we (?:find|found|show|present|report|propose|introduce|develop|measure|detect|derive|"
    r"conclude|demonstrate)|our (?:results|findings|model|method)|results (?:show|indicate|"
    r"suggest)|(?:is|are|was|were) (?:found|detected|shown|measured))\b",
    re.IGNORECASE,
)


def highlight(
    text: str, context: str = "", *, n: int = 3, meaning: Floats | None = None
) -> tuple[Highlight, ...]:
    """Choose the most important sentences of a text."""
    spans = split_sentences(text)[:_MAX_SENTENCES]
    if not spans or n < 1:
        return ()
    if len(spans) > _COMPARED:  # compare only some sentences of a long text
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
            matters="context"
            if share * of_context[place] > (1 - share) * of_text[place]
            else "paper",
        )
        for place in sorted(chosen)
    )


def highlight_papers(
    held: SearchIndexes,
    papers: Sequence[Paper],
    context: str,
    *,
    n: int = 3,
    full_texts: dict[str, str] | None = None,
) -> list[tuple[Highlight, ...]]:
    """Choose highlights of papers, with the word vectors of the atlas."""
    if not n:
        return [()] * len(papers)
    texts = full_texts or {}
    meanings = _similarities(held, papers, context)
    return [
        highlight(texts[paper.paper_id], context, n=n)
        if paper.paper_id in texts
        else highlight(paper.abstract, context, n=n, meaning=meaning)
        for paper, meaning in zip(papers, meanings, strict=True)
    ]


def _likely(text: str, spans: list[tuple[int, int]], context: str) -> list[tuple[int, int]]:
    """Return the sentences that share the most words with a context, in the order of the text.

    Words are compared by their first letters only, because this is much faster than stemming.
    """
    held = [_beginnings(text[start:end]) for start, end in spans]
    wanted = _beginnings(context)
    weights = word_weights(held, wanted)
    scores = np.array([sum(weights[word] for word in words & wanted) for words in held])
    best = np.argsort(-scores, kind="stable")[:_COMPARED]
    return [spans[place] for place in sorted(best.tolist())]


def _beginnings(text: str) -> set[str]:
    return {word[:_BEGINNING] for word in WORD.findall(text.lower()) if len(word) > 2}


def _choose(total: Floats, alike: Floats, *, n: int) -> list[int]:
    """Choose the best sentences that do not repeat each other (Carbonell & Goldstein 1998)."""
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


def _similarities(
    held: SearchIndexes, papers: Sequence[Paper], context: str
) -> list[Floats | None]:
    """Return the late-interaction score between a context and each sentence of each abstract."""
    embedder = held.embedder
    none: list[Floats | None] = [None] * len(papers)
    if not papers or not context.strip() or not isinstance(embedder, PlacingEmbedder):
        return none
    rows = np.array([paper.row for paper in papers], dtype=np.int64)
    words = held.word_vectors(rows)
    if words is None:
        return none
    _, spellings, context_words = embedder.read_query(context)
    weights = held.rarity(spellings)
    texts = [embedding_text(paper.title, paper.abstract) for paper in papers]
    places = embedder.word_places(texts, stop_words=STOP_WORDS)
    vectors = np.split(words.vectors, np.cumsum(words.lengths)[:-1])
    return [
        _of_sentences(paper, mine, at, context_words, weights)
        for paper, mine, at in zip(papers, vectors, places, strict=True)
    ]


def _of_sentences(
    paper: Paper,
    vectors: NDArray[np.int8],
    places: NDArray[np.int64],
    context_words: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> Floats | None:
    if len(vectors) != len(places):  # the vectors belong to another text
        return None
    shift = len(embedding_text(paper.title, ""))
    spans = split_sentences(paper.abstract)[:_MAX_SENTENCES]
    bounds = np.array([start + shift for start, _ in spans] + [np.iinfo(np.int64).max])
    cuts = np.searchsorted(places, bounds)
    inside = WordVectors(vectors[cuts[0] : cuts[-1]], np.diff(cuts))
    return late_interaction(context_words, weights, inside).astype(float)
