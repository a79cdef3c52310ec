"""Keywords of papers: noun phrases ranked by TextRank, trimmed of what is talk and not subject."""

from __future__ import annotations

import heapq
import math
import multiprocessing
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from landscape.errors import InputError
from landscape.text import pipeline as pipelines
from landscape.text.lexicon import lexicon
from landscape.text.phrases import normal_form
from landscape.text.trimming import has_vague_head, is_subject, split_names, trim

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_CHUNK = 200  # texts a process gets at a time: half a second of work
_SMALL = 400  # texts below which starting processes takes longer than the work

# How much more a phrase counts for each doubling of its occurrences, and for being in the title.
_REPEATED = 0.20
_IN_TITLE = 1.15
_REDUNDANT = 0.4  # how much less where all its words are in better phrases already
_VAGUE = 0.75  # and how much less where its last word could stand in any paper


def extract_keywords(
    texts: Sequence[str], *, limit: int = 20, workers: int = 1, tagger: str = "auto"
) -> list[list[str]]:
    """Extract the key phrases of texts by TextRank.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
        Title, full stop, abstract.
    limit : int, default 20
        Most keywords of a text.
    workers : int, default 1
        Processes; few texts are always handled in this one.
    tagger : {"auto", "rules", "en_core_web_sm"}, default "auto"
        See `landscape.text.pipeline.tagger_name`.

    Returns
    -------
    list of list of str, shape (n,)
        Keywords best first, in the spelling of the text, no two with the same
        `landscape.text.phrases.normal_form`; the same whatever the number of workers.

    Raises
    ------
    InputError
        For a `limit` or number of `workers` below one, or an unknown tagger.

    Examples
    --------
    >>> text = "Tidal disruption events. We study how supermassive black holes disrupt stars."
    >>> extract_keywords([text], tagger="rules")
    [['tidal disruption events', 'supermassive black holes', 'stars']]
    """
    with KeywordExtractor(limit=limit, workers=workers, tagger=tagger) as extractor:
        return extractor.extract(texts)


@dataclass
class KeywordExtractor:
    """Keyword extraction over many batches that keeps its processes between them.

    Attributes
    ----------
    limit : int, default 20
        Most keywords of a text.
    workers : int, default 1
        Processes, started when the first large batch comes.
    tagger : {"auto", "rules", "en_core_web_sm"}, default "auto"
        See `landscape.text.pipeline.tagger_name`.

    Raises
    ------
    InputError
        For a `limit` or number of `workers` below one, or an unknown tagger.

    Examples
    --------
    >>> with KeywordExtractor(tagger="rules", limit=2) as extractor:
    ...     extractor.extract(["Fast radio bursts from magnetars.", ""])
    [['fast radio bursts', 'magnetars'], []]
    """

    limit: int = 20
    workers: int = 1
    tagger: str = "auto"
    _pool: ProcessPoolExecutor | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("workers", self.workers)):
            if value < 1:
                message = f"{name} is {value}; it must be 1 or more."
                raise InputError(message)
        self.name = pipelines.tagger_name(tagger=self.tagger)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; a later batch starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def extract(self, texts: Sequence[str]) -> list[list[str]]:
        """Extract the keywords of one batch; see `extract_keywords`.

        Parameters
        ----------
        texts : sequence of str, shape (n,)
            Title, full stop, abstract.

        Returns
        -------
        list of list of str, shape (n,)
        """
        if self.workers == 1 or (self._pool is None and len(texts) < _SMALL):
            return _extract_here(list(texts), self.limit, self.tagger)
        if self._pool is None:
            # "spawn" everywhere: a fork of a process with threads (torch, faiss) may hang
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context)
        chunks = [list(texts[start : start + _CHUNK]) for start in range(0, len(texts), _CHUNK)]
        n = len(chunks)
        done = self._pool.map(_extract_here, chunks, [self.limit] * n, [self.tagger] * n)
        return [keywords for chunk in done for keywords in chunk]


def title_chunks(titles: Sequence[str], *, tagger: str = "auto") -> list[list[list[str]]]:
    """Find the trimmed noun chunks of titles, title case undone.

    Parameters
    ----------
    titles : sequence of str, shape (n,)
        Titles of papers.
    tagger : {"auto", "rules", "en_core_web_sm"}, default "auto"
        See `landscape.text.pipeline.tagger_name`.

    Returns
    -------
    list of list of list of str, shape (n,)
        For each title its chunks, each a list of words.

    Examples
    --------
    >>> title_chunks(["Cold Gas in Early-Type Galaxies"], tagger="rules")
    [[['cold', 'gas'], ['early-type', 'galaxies']]]
    """
    pipeline = pipelines.load_pipeline(tagger=tagger)
    found = []
    for title in titles:
        words = _Words.read(_tag(pipeline, title))
        found.append([words.shown_words(*span) for span in words.trimmed_chunks()])
    return found


def _extract_here(texts: list[str], limit: int, tagger: str) -> list[list[str]]:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # ships no types

    pipeline = pipelines.load_pipeline(tagger=tagger)
    _forget_strings(pipeline)
    # What the texts add to the vocabulary is forgotten with them: millions of texts fit in memory.
    # One thread: on the small matrices of an abstract a second one only has to be waited for.
    with pipeline.memory_zone(), threadpool_limits(limits=1, user_api="blas"):
        keywords = [_keywords_of(_tag(pipeline, text), pipeline, limit) for text in texts]
    _forget_strings(pipeline)
    return keywords


def _forget_strings(pipeline: Language) -> None:
    for _, component in pipeline.pipeline:
        if isinstance(component, pipelines.TaggerComponent):
            component.forget()


def _tag(pipeline: Language, text: str) -> Doc:
    doc = pipeline.make_doc(text[: pipelines.LONGEST])
    for name, component in pipeline.pipeline:
        if name != pipelines.RANKER:
            doc = component(doc)
    return doc


def _keywords_of(doc: Doc, pipeline: Language, limit: int) -> list[str]:
    words = _Words.read(doc)
    spans = words.trimmed_chunks()
    if not spans:
        return []
    ranker: Any = pipeline.get_pipe(pipelines.RANKER)
    scores = ranker.rank(doc).score_chunks(spans).tolist()
    return _choose(words, spans, scores, limit)


class _Found:
    """One phrase in all its spellings."""

    __slots__ = ("in_title", "score", "spellings")

    def __init__(self) -> None:
        self.score = 0.0
        self.in_title = False
        self.spellings: list[str] = []


def _choose(
    words: _Words, spans: list[tuple[int, int]], scores: list[float], limit: int
) -> list[str]:
    """Gather spellings of one phrase, choose phrases by weight."""
    found: dict[str, _Found] = {}
    for (begin, end), score in zip(spans, scores, strict=True):
        spelling = words.shown(begin, end)
        key = _subject_key(spelling)
        if not key:
            continue
        phrase = found.get(key)
        if phrase is None:
            phrase = found[key] = _Found()
        phrase.score = max(phrase.score, score)
        phrase.in_title |= begin < words.title_end
        phrase.spellings.append(spelling)
    return [_spelling(found[key].spellings) for key in _diverse(found, limit)]


def _diverse(found: dict[str, _Found], limit: int) -> list[str]:
    """Take the weightiest phrases, a word counting less each time it comes again.

    Maximal marginal relevance (Carbonell and Goldstein 1998, SIGIR, 335) with shared words as the
    similarity, found lazily: a phrase is weighed anew only when it comes to the top.
    """
    heap = [
        (-_weight(key, phrase), place, key) for place, (key, phrase) in enumerate(found.items())
    ]
    heapq.heapify(heap)
    covered: set[str] = set()
    chosen: list[str] = []
    while heap and len(chosen) < limit:
        _, place, key = heapq.heappop(heap)
        parts = key.split()
        known = sum(part in covered for part in parts)
        if len(parts) == 1 and known and not found[key].in_title:
            continue
        weight = -_weight(key, found[key]) * (1.0 - _REDUNDANT * known / len(parts))
        if heap and weight > heap[0][0]:
            heapq.heappush(heap, (weight, place, key))
            continue
        covered.update(parts)
        chosen.append(key)
    return chosen


def _weight(key: str, phrase: _Found) -> float:
    weight = phrase.score * (1.0 + _REPEATED * math.log2(len(phrase.spellings)))
    if phrase.in_title:
        weight *= _IN_TITLE
    return weight * _VAGUE if has_vague_head(key) else weight


@lru_cache(maxsize=200_000)
def _subject_key(spelling: str) -> str:
    """Key of a phrase, or nothing where it is no subject."""
    key = normal_form(spelling)
    return key if is_subject(key, spelling) else ""


def _spelling(spellings: list[str]) -> str:
    """The commonest spelling; of equals the one with fewer capitals, then the first met."""
    if len(spellings) == 1:
        return spellings[0]
    counts = Counter(spellings)
    return min(counts, key=lambda s: (-counts[s], sum(map(str.isupper, s))))


@dataclass(frozen=True)
class _Words:
    """The words of a document as plain lists: token objects are too slow for millions of texts."""

    words: list[str]
    tags: list[str]
    spaces: list[bool]
    chunks: list[tuple[int, int]]
    title_end: int

    @classmethod
    def read(cls, doc: Doc) -> _Words:
        from landscape.text.chunks import find_noun_chunks

        if "tags" in doc.user_data:
            words, tags, spaces = (doc.user_data[key] for key in ("words", "tags", "spaces"))
            chunks = find_noun_chunks(words, tags)
            title_end = doc.user_data["title_end"]
        else:
            words = [token.text for token in doc]
            tags = [token.pos_ for token in doc]
            spaces = [bool(token.whitespace_) for token in doc]
            chunks = [(chunk.start, chunk.end) for chunk in doc.noun_chunks]
            title_end = next((sentence.end for sentence in doc.sents), 0)
        return cls(words, tags, spaces, chunks, title_end)

    def trimmed_chunks(self) -> list[tuple[int, int]]:
        """Noun chunks without determiners and other words that say nothing at either end."""
        words, tags = self.words, self.tags
        parts = [part for chunk in self.chunks for part in split_names(words, tags, *chunk)]
        trimmed = (trim(words, tags, begin, end) for begin, end in parts)
        return [span for span in trimmed if span is not None]

    def shown_words(self, begin: int, end: int) -> list[str]:
        """Words as they are shown: small unless part of a name."""
        head = self.words[end - 1]
        if head[0].isupper() and head.lower() in lexicon().name_heads:
            return self.words[begin:end]  # "Hubble Space Telescope", in titles too
        return [
            word if word.islower() or self._is_name(begin, begin + place) else _small(word)
            for place, word in enumerate(self.words[begin:end])
        ]

    def _is_name(self, begin: int, place: int) -> bool:
        tags = self.tags
        return tags[place] == "PROPN" or ("-" in self.words[place] and "PROPN" in tags[begin:place])

    def shown(self, begin: int, end: int) -> str:
        spaced = False not in self.spaces[begin : end - 1]
        if spaced:
            spelling = " ".join(self.words[begin:end])
            return spelling if spelling.islower() else " ".join(self.shown_words(begin, end))
        gaps = [" " if space else "" for space in self.spaces[begin : end - 1]]
        words = self.shown_words(begin, end)
        return "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))


@cache
def _small(word: str) -> str:
    """A common word without its capital: "High-mass" and "Galaxy", not "Eddington-limited"."""
    head = word.split("-")[0]
    if not (head[:1].isupper() and head[1:].islower()):
        return word
    known = lexicon()
    common = head == word or head.lower() in known.classes
    return word.lower() if common and head.lower() not in known.proper else word
