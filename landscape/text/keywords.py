"""Extract the keywords of papers, which are specific noun phrases ranked by TextRank."""

from __future__ import annotations

import heapq
import importlib.util
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import chain, compress
from types import SimpleNamespace
from typing import Literal, NamedTuple, overload

import numpy as np

from landscape._processes import start_processes
from landscape.errors import InputError
from landscape.text._textrank import POS_KEPT, rank_text, rank_words, score_chunks
from landscape.text.tagger import TaggedText, rank_by_pytextrank, tag_texts, tagger_name
from landscape.text.words import lexicon, normal_form, read_sections, singular

Method = Literal["landscape", "pytextrank"]
METHODS = ("landscape", "pytextrank")

_KEPT = frozenset(POS_KEPT)
_NOUNS = frozenset(["NOUN", "PROPN"])
_CHUNK = 200  # number of texts per task of a worker process (about 0.5 s)
_SMALL = 400  # minimum number of texts for which several processes are faster


@dataclass(frozen=True)
class KeywordSettings:
    """Weights of phrases, selected with half of the papers of ``benchmarks/keywords.py``."""

    repeated: float = 0.35  # relative increase for each doubling of the number of occurrences
    in_title: float = 1.3
    late: float = 0.4  # negative exponent of the number of words until the end of the phrase
    part: float = 0.4  # factor for a phrase that occurs only as a part of longer noun chunks
    single: float = 0.6  # factor for a single word
    redundant: float = 0.5  # relative reduction if all words occur in better phrases
    vague: float = 0.7  # factor for a phrase whose last word is generic


_SETTINGS = KeywordSettings()


@overload
def extract_keywords(  # type: ignore[overload-overlap]  # a str is a sequence of str
    texts: str, *, limit: int = 20, workers: int = 1, tagger: str = "auto", method: Method = ...
) -> list[str]: ...
@overload
def extract_keywords(
    texts: Sequence[str],
    *,
    limit: int = 20,
    workers: int = 1,
    tagger: str = "auto",
    method: Method = ...,
) -> list[list[str]]: ...
def extract_keywords(
    texts: str | Sequence[str],
    *,
    limit: int = 20,
    workers: int = 1,
    tagger: str = "auto",
    method: Method = "landscape",
) -> list[str] | list[list[str]]:
    r"""Extract the key phrases of texts by TextRank (Mihalcea and Tarau 2004, EMNLP, 404).

    Candidates are noun chunks, and phrases that two different chunks contain (as in C-value;
    Frantzi, Ananiadou and Mima 2000, IJDL, 3, 115). The weight of a candidate is

    .. math:: w = s\,p^{-0.4}\,(1 + 0.35\log_2 n)\,t

    with the TextRank score s of the phrase as in pytextrank, the number p of words until the first
    occurrence ends (as in PositionRank; Florescu and Caragea 2017, ACL, 1105), and the number n of
    occurrences. The factor t depends on the form: the phrase is in the title (1.3), a single word
    (0.6), only a part of chunks (0.4), or ends with a generic word (0.7). Words that occur in
    better phrases reduce the weight (Carbonell and Goldstein 1998, SIGIR, 335). All factors are
    those of a single text, so the result does not depend on the other texts.

    Parameters
    ----------
    texts : str or sequence of str, shape (n,)
        Title and abstract, separated by a full stop. A single text is ranked by pytextrank if the
        extra ``spacy`` is installed. Several texts are ranked with arrays, which is twenty times as
        fast and gives the same ranks.
    limit : int, default 20
        Maximum number of keywords per text.
    workers : int, default 1
        Number of processes. Fewer than 400 texts are processed in the current process.
    tagger : {"auto", "rules", "spacy", "en_core_web_sm"}, default "auto"
        Built-in rules, or ``en_core_web_sm`` of spaCy. "auto" selects the rules, which give better
        results (``benchmarks/keywords.py``).
    method : {"landscape", "pytextrank"}, default "landscape"
        With "pytextrank", the phrases are those of spaCy (``en_core_web_sm``) and pytextrank, in
        their order. This takes about twenty times as long. The phrases are also generic ones, such
        as "recent results", and each spelling is a phrase of its own.

    Returns
    -------
    list of str, or list of list of str, shape (n,)
        Keywords in the spelling of the text. The best keyword is first. Different spellings of a
        phrase are one keyword. The result does not depend on the number of workers.

    Raises
    ------
    InputError
        If `limit` or `workers` is below one, or the tagger or the method is unknown.
    MissingExtraError
        If spaCy, its model or pytextrank is requested but not installed.

    Examples
    --------
    >>> text = "Tidal disruption events. We study how supermassive black holes disrupt stars."
    >>> extract_keywords(text, tagger="rules")
    ['tidal disruption events', 'supermassive black holes', 'stars']
    >>> extract_keywords([text], tagger="rules", limit=1)
    [['tidal disruption events']]
    """
    for name, value in (("limit", limit), ("workers", workers)):
        if value < 1:
            raise InputError(f"{name} is {value}, but must be at least 1.")
    tagger_name(tagger=tagger)  # raises InputError if the tagger is unknown
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}; choose one of: {', '.join(METHODS)}.")
    extract = partial(_extract_here, limit=limit, tagger=tagger)
    if method == "pytextrank":
        extract = partial(rank_by_pytextrank, limit=limit)
    if isinstance(texts, str):
        is_own = method == "landscape"
        return _extract_one(texts, limit, tagger) if is_own else extract([texts])[0]
    if workers == 1 or len(texts) < _SMALL:
        return extract(list(texts))
    chunks = [list(texts[start : start + _CHUNK]) for start in range(0, len(texts), _CHUNK)]
    with start_processes(workers) as pool:
        done = pool.map(extract, chunks)
        return [keywords for chunk in done for keywords in chunk]


def _extract_one(text: str, limit: int, tagger: str) -> list[str]:
    """Extract the keywords of one text with pytextrank, if it is installed."""
    if importlib.util.find_spec("pytextrank") is None:
        return _extract_here([text], limit, tagger)[0]
    (tagged,) = tag_texts([text], tagger=tagger)
    chunks, n_whole = _candidates(tagged)
    kept = np.array([tag in _KEPT for tag in tagged.tags], dtype=bool)
    scores = score_chunks(rank_text(tagged), kept, chunks).tolist()
    return _choose(tagged, chunks, n_whole, scores, limit)


def _extract_here(texts: list[str], limit: int, tagger: str) -> list[list[str]]:
    documents = tag_texts(texts, tagger=tagger)
    candidates = [_candidates(document) for document in documents]
    scores = _score(documents, [spans for spans, _ in candidates])
    return [
        _choose(document, *found, score, limit)
        for document, found, score in zip(documents, candidates, scores, strict=True)
    ]


def _score(documents: list[TaggedText], chunks: list[list[tuple[int, int]]]) -> list[list[float]]:
    """Rank the chunks of all documents together by TextRank."""
    numbers: dict[tuple[str, str], int] = {}
    words, lengths, kept, starts = [], [], [], []
    for document in documents:
        tags, lemmas = document.tags, document.lemmas
        is_kept = [tag in _KEPT for tag in tags]
        words += [
            numbers.setdefault(pair, len(numbers))
            for pair in compress(zip(lemmas, tags, strict=True), is_kept)
        ]
        kept += is_kept
        starts += document.starts
        lengths.append(len(tags))
    begins = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    known = np.array(kept, dtype=bool)
    sentences = np.cumsum(np.array(starts, dtype=bool))
    of_document = np.repeat(np.arange(len(documents)), lengths)
    ranks = np.zeros(len(known))
    ranks[known] = rank_words(np.array(words, dtype=np.int64), sentences[known], of_document[known])
    n_chunks = list(map(len, chunks))
    spans = np.array([span for chunk in chunks for span in chunk], dtype=np.int64).reshape(-1, 2)
    scores = score_chunks(ranks, known, spans + np.repeat(begins[:-1], n_chunks)[:, None])
    values, ends = scores.tolist(), np.cumsum(n_chunks, dtype=np.int64).tolist()
    return [values[end - n : end] for n, end in zip(n_chunks, ends, strict=True)]


class _Phrase(NamedTuple):
    """Normal form of a phrase, with the words and the weight of the phrase."""

    key: str
    parts: tuple[str, ...]
    value: float


@lru_cache(maxsize=200_000)
def _phrase_of(spelling: str) -> _Phrase | None:
    """Return the normal form of a spelling, or None if the phrase is generic."""
    key = normal_form(spelling)
    if not is_subject(key, spelling):
        return None
    parts = tuple(key.split())
    value = _SETTINGS.vague if has_vague_head(key) else 1.0
    return _Phrase(key, parts, value * _SETTINGS.single if len(parts) == 1 else value)


@dataclass(slots=True)
class _Found:
    """Phrase that was found in a text, with all spellings in the text."""

    phrase: _Phrase
    is_part: bool
    end: int  # number of words until the end of the first occurrence
    score: float = 0.0
    spellings: list[str] = field(default_factory=list)

    def weight(self, title_end: int) -> float:
        """Return the TextRank of the phrase, corrected for its position, frequency and form."""
        weight = self.score * self.phrase.value / self.end**_SETTINGS.late
        if len(self.spellings) > 1:
            weight *= 1.0 + _SETTINGS.repeated * math.log2(len(self.spellings))
        if self.end <= title_end:
            weight *= _SETTINGS.in_title
        return weight * _SETTINGS.part if self.is_part else weight


def _choose(
    text: TaggedText, spans: list[tuple[int, int]], n_whole: int, scores: list[float], limit: int
) -> list[str]:
    """Combine the spellings of each phrase and return the best phrases."""
    found: dict[str, _Found] = {}
    for place, ((begin, end), score) in enumerate(zip(spans, scores, strict=True)):
        spelling = _shown(text, begin, end)
        phrase = _phrase_of(spelling)
        if phrase is None:
            continue
        known = found.get(phrase.key)
        if known is None:
            known = found[phrase.key] = _Found(phrase, place >= n_whole, end)
        known.end = min(known.end, end)
        known.score = max(known.score, score)
        known.spellings.append(spelling)
    title_end = text.title_end
    weights = [phrase.weight(title_end) for phrase in found.values()]
    return [_spelling(one.spellings) for one in _diverse(list(found.values()), weights, limit)]


def _diverse(found: list[_Found], weights: list[float], limit: int) -> list[_Found]:
    """Select the phrases with the largest weights. Repeated words reduce the weight.

    This is maximal marginal relevance (Carbonell and Goldstein 1998, SIGIR, 335), where similarity
    is the fraction of words that better phrases contain. Weights are updated only when needed.
    """
    heap = [(-weight, place) for place, weight in enumerate(weights)]
    heapq.heapify(heap)
    covered: set[str] = set()
    chosen: list[_Found] = []
    while heap and len(chosen) < limit:
        _, place = heapq.heappop(heap)
        parts = found[place].phrase.parts
        n_known = len(covered.intersection(parts))
        if n_known:
            if len(parts) == 1 and len(found[place].spellings) == 1:
                continue
            weight = -weights[place] * (1.0 - _SETTINGS.redundant * n_known / len(parts))
            if heap and weight > heap[0][0]:
                heapq.heappush(heap, (weight, place))
                continue
        covered.update(parts)
        chosen.append(found[place])
    return chosen


def _spelling(spellings: list[str]) -> str:
    """Return the most frequent spelling. In a tie, prefer few capital letters."""
    if len(spellings) == 1:
        return spellings[0]
    counts = Counter(spellings)
    return min(counts, key=lambda s: (-counts[s], sum(map(str.isupper, s))))


def _trimmed_chunks(text: TaggedText) -> list[tuple[int, int]]:
    """Return the noun chunks, after removing determiners and generic words at both ends."""
    words, tags = text.words, text.tags
    parts = [part for chunk in text.chunks for part in split_names(words, tags, *chunk)]
    trimmed = (trim(words, tags, begin, end) for begin, end in parts)
    return [span for span in trimmed if span is not None]


def _candidates(text: TaggedText) -> tuple[list[tuple[int, int]], int]:
    """Return the noun chunks, then phrases within them, and the number of chunks.

    A phrase within a chunk ends with a noun and occurs in at least two different chunks, because
    other phrases are only parts of terms (Frantzi et al. 2000). Names are not cut.
    """
    words, tags, lemmas = text.words, text.tags, text.lemmas
    chunks = _trimmed_chunks(text)
    inner, phrases, found = [], [], set()
    for begin, end in chunks:
        chunk = tuple(lemmas[begin:end])
        found.add((chunk, chunk))
        is_name = _heads_name(words[end - 1]) or tags[begin:end].count("PROPN") == end - begin
        if end - begin > 1 and not is_name:
            places = range(begin, end)
            firsts = [at for at in places if tags[at] in _KEPT and not _is_front(words[at])]
            lasts = [at for at in places if tags[at] in _NOUNS and not _is_tail(words[at])]
            for first in firsts:
                for last in lasts:
                    if first <= last and last - first < end - begin - 1:
                        inner.append((first, last + 1))
                        phrases.append(tuple(lemmas[first : last + 1]))
                        found.add((phrases[-1], chunk))
    counts = Counter(phrase for phrase, _ in found)
    shared = compress(inner, [counts[phrase] > 1 for phrase in phrases])
    return [*chunks, *shared], len(chunks)


def _shown(text: TaggedText, begin: int, end: int) -> str:
    """Return a phrase with the same spaces between words as in the text."""
    gaps = text.spaces[begin : end - 1]
    if False not in gaps:
        spelling = " ".join(text.words[begin:end])
        return spelling if spelling.islower() else " ".join(_shown_words(text, begin, end))
    after = [" " if gap else "" for gap in gaps]
    return "".join(chain(*zip(_shown_words(text, begin, end), [*after, ""], strict=True)))


def _shown_words(text: TaggedText, begin: int, end: int) -> list[str]:
    """Return the words of a phrase, in lower case unless they are part of a name."""
    if _heads_name(text.words[end - 1]):
        return text.words[begin:end]
    shown, follows_name = [], False
    for word, tag in zip(text.words[begin:end], text.tags[begin:end], strict=True):
        is_name = tag == "PROPN" or ("-" in word and follows_name)
        shown.append(word if word.islower() or is_name else _small(word))
        follows_name = follows_name or tag == "PROPN"
    return shown


def _heads_name(head: str) -> bool:
    """Return whether a word is the last word of a name such as "Hubble Space Telescope"."""
    return head[0].isupper() and head.lower() in lexicon().name_heads


@cache
def _small(word: str) -> str:
    """Convert a common word to lower case, but keep names such as "Eddington-limited"."""
    head = word.split("-")[0]
    if not (head[:1].isupper() and head[1:].islower()):
        return word
    known = lexicon()
    common = head == word or head.lower() in known.classes
    return word.lower() if common and head.lower() not in known.proper else word


MAX_PHRASE = 4
"""Maximum number of words in a keyword. A hyphenated word counts as one word."""

_MAX_CHARACTERS = 60  # maximum number of characters of a keyword
_SYMBOLS = re.compile(r"[▪\\{}$^=<>@~|©�¹²³⁻]|https?:|www\.")
_NUMERAL = re.compile("[IVX]+")
_INITIAL = re.compile(r"[A-Z]\.")
_NAME = re.compile("[A-Z].|[0-9].{0,40}[A-Z]")  # such as "NGC", "3C" or "2MASS", but not "A"
_HAS_LETTERS = re.compile(r"[^\W\d_]{2}|[A-Z]")


@cache
def _lists() -> SimpleNamespace:
    """Return the lists of generic words."""
    generic = read_sections("generic")
    front = frozenset(generic["front"])
    return SimpleNamespace(
        front=front,
        kept_front=tuple(generic["keep-front"]),
        back=frozenset(generic["back"]),
        alone=frozenset(generic["alone"]) | front,
        vague=frozenset(generic["vague"]) | front,
        vague_heads=frozenset(generic["vague-head"]),
        phrases=frozenset(normal_form(phrase) for phrase in generic["phrase"]),
        units=frozenset(unit.lower() for unit in lexicon().units),
        quantities=frozenset(generic["quantity"]),
        catalogues=frozenset(name for name in lexicon().catalogues if name.isupper()),
    )


def trim(words: list[str], tags: list[str], begin: int, end: int) -> tuple[int, int] | None:
    """Remove generic words from both ends of a noun chunk. Return None if no word remains."""
    while end - begin > 1 and tags[end - 1] != "PROPN" and _is_tail(words[end - 1]):
        if tags[end - 2] == "ADJ" or (tags[end - 2] == "PROPN" and words[end - 1][:6] == "number"):
            break  # keep phrases such as "photometric data" and "Reynolds number"
        end -= 1
    while end - begin > 1 and (
        words[end - 1] in _lists().catalogues or _INITIAL.fullmatch(words[end - 1])
    ):
        end -= 1  # a catalogue name without a number, or an initial
    if end - begin > 1 and _NUMERAL.fullmatch(words[end - 1]) and tags[end - 2] == "NOUN":
        end -= 1  # the number of a paper in a series
    if end - begin > MAX_PHRASE and set(tags[begin:end]) != {"PROPN"}:
        begin = end - MAX_PHRASE
        if tags[begin - 1] == "ADJ" and tags[begin] == "NOUN":
            begin += 1  # the adjective of the noun was removed, such as "low" in "low luminosity"
    while begin < end:
        # The noun chunks of spaCy can begin with articles and pronouns.
        n_front = tags[begin] in ("DET", "PRON") or _front_words(words, tags, begin, end)
        if not n_front:
            break
        begin += n_front
    if begin >= end or (end - begin == 1 and tags[begin] == "ADJ"):
        return None
    return begin, end


def split_names(words: list[str], tags: list[str], begin: int, end: int) -> list[tuple[int, int]]:
    """Split a phrase such as "Seyfert galaxy NGC 1275" into the object type and the name."""
    name = end
    while name > begin and tags[name - 1] == "PROPN":
        name -= 1
    is_numbered = any(map(str.isdigit, "".join(words[name:end])))
    if begin < name < end and is_numbered and _NAME.match(words[name]):
        kind = name - 1  # another example is "black hole transient GX 339-4"
        if tags[kind] == "NOUN" or lexicon().classes.get(words[kind]) == "adj-noun":
            return [(begin, name), (name, end)]
    return [(begin, end)]


def is_subject(key: str, spelling: str) -> bool:
    """Return whether a trimmed phrase is specific enough to be a keyword."""
    lists = _lists()
    if not key or key in lists.phrases or len(spelling) > _MAX_CHARACTERS:
        return False
    if not _HAS_LETTERS.search(spelling) or _SYMBOLS.search(spelling):
        return False
    parts = [singular(part) for part in key.split()]
    if len(spelling.split()) == 1 and spelling.endswith("-ray"):
        return False
    if len(parts) == 1:
        acronym = any(mark.isupper() for mark in spelling[1:])
        return (parts[0] not in lists.alone or acronym) and (
            len(key) > 1 and parts[0].rstrip("*+") not in lists.units and (len(key) > 2 or acronym)
        )
    return any(part not in lists.vague and len(part) > 1 for part in parts)


def has_vague_head(key: str) -> bool:
    """Return whether the last word of a phrase is generic, as in "stellar parameters"."""
    return key.rpartition(" ")[2] in _lists().vague_heads


@lru_cache(maxsize=100_000)
def _is_tail(word: str) -> bool:
    lower = word.lower()
    return lower in _lists().back or singular(lower) in _lists().back


@lru_cache(maxsize=100_000)
def _is_front(word: str) -> bool:
    lower = word.lower()
    # Numerals, initials and symbols are also generic.
    return (
        lower in _lists().front
        or not (any(mark.isalpha() for mark in word) or word == "21")  # 21 cm line
        or _NUMERAL.fullmatch(word) is not None
        or _INITIAL.fullmatch(word) is not None
    )


def _front_words(words: list[str], tags: list[str], begin: int, end: int) -> int:
    """Return the number of words to remove at the beginning, such as 2 in "lowest mass halos"."""
    if not _is_front(words[begin]):
        return 0
    phrase = " ".join(words[begin:end]).lower().replace("-", " ")
    if phrase.startswith(_lists().kept_front):
        return 0  # keep terms such as "weak lensing"
    if tags[begin] == "PROPN" and end - begin > 1 and tags[begin + 1] == "PROPN":
        return 0  # "Large Magellanic Cloud"
    scaled = end - begin > 2 and words[begin + 1].lower() in _lists().quantities
    if scaled and words[begin].lower() in _SCALES:
        return 0
    return 2 if scaled else 1


_SCALES = frozenset(["low", "high", "large", "small", "long", "short", "wide", "broad", "narrow"])
