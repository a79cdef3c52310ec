"""Decide whether the papers found are about a query.

A query has a subject: its words without those that name no subject, such as "what" or "recent".
The papers found match the query if their texts contain most of the subject, weighted by rarity, or
if the embeddings of the nearest papers are close to that of the query. All searches use this rule:
search, answers, surveys, the map explorer and the MCP server.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.search.sentences import find_entities
from landscape.text.word_index import STOP_WORDS
from landscape.text.words import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.search.papers import SearchIndexes

    Rows = NDArray[np.int64]


@dataclass(frozen=True)
class MatchingSettings:
    """Constants of the rule, chosen with half of the queries of `benchmarks.matching`."""

    papers: int = 10  # best papers whose words are compared with the query
    several: int = 5  # papers that should share the words, fewer in atlases below 1,000 papers
    certain: float = 0.65  # cosine of MiniLM above which the words are not compared
    close: float = 0.45  # cosine above which the least share of words is enough
    least_share: float = 0.4
    least_cosine: float = 0.24
    least: float = 1.25  # minimum of the share of words plus the cosine
    of_names: float = 0.95  # share of words that is enough for names, such as LHAASO
    least_keyword: float = 0.2  # weight of words that are no keywords, relative to keywords
    one_paper: float = 0.9  # share of words of one paper that is enough if it is near
    near: float = 0.4  # minimum cosine of the nearest papers for this rule
    least_words: float = 0.6  # minimum share of words if the scale of the cosines is unknown


MATCHING = MatchingSettings()
_MAX_NAMED = 8  # words in a message
_FEW_OTHERS = 2  # words beside an unknown object, at most, for a query that is about the object
_RARE = 0.002  # share of papers with a word, at most; foreign words occur in a few essays
_CERTAIN = 3  # function words of a language that need no other sign
_ASKED_OF = re.compile(
    r"^(?:who (?:is|was) |(?:(?:all |the )?(?:papers?|publications?|articles?) )?(?:by|of) )",
    re.IGNORECASE,
)
_NAME = r"(?:(?:van|von|der|den|de|del|della|di|da|la|le) )*[A-ZÀ-Þ][^\W\d_]+(?:['’-][^\W\d_]+)?"
_INITIAL = r"[A-ZÀ-Þ]\.?"
_PERSON = re.compile(
    rf"{_NAME},(?: (?:{_NAME}|{_INITIAL}))+|{_NAME}(?: (?:{_INITIAL}|{_NAME})){{1,3}}|"
    rf"(?:{_INITIAL} )+{_NAME}"
)
_EXCLUSION = re.compile(
    r",? (?:but not|and not|excluding|except(?: for)?|other than|not)(?: in| the){0,2} "
    r"([A-Z][\w-]*(?: [A-Z0-9][\w-]*)*)(?=[.?!,]|$)"
)
_WORD = re.compile(r"[^\W_][\w'’+*.-]*")


@dataclass(frozen=True)
class Match:
    """Whether papers match a query, and the evidence.

    Attributes
    ----------
    matched : bool
    subject : tuple of str
        Words of the query that name its subject, as written.
    absent : tuple of str
        Words of the subject that no paper of the atlas has.
    share : float
        Share of the subject, weighted by rarity, that the best papers contain.
    cosine : float or None
        Mean cosine between the query and the nearest papers; None if its scale is unknown.
    note : str
        Sentence for the reader; empty if the papers match.
    """

    matched: bool
    subject: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    share: float = 0.0
    cosine: float | None = None
    note: str = ""

    @property
    def has_words(self) -> bool:
        """Whether the query has a word that names a subject and that a paper of the atlas has."""
        return len(self.absent) < len(self.subject)


def subject_words(query: str) -> tuple[str, ...]:
    """Return the words of a query that name its subject, in order and without repetition.

    If all words are empty, as in "recent surveys", only the stop words are left out.

    >>> subject_words("What is the mass of the Milky Way?")
    ('mass', 'Milky', 'Way')
    """
    words = [word.strip(".'’-") for word in _WORD.findall(query)]
    words = [word for word in words if word and word.casefold() not in STOP_WORDS]
    named = [word for word in words if word.casefold() not in empty_words()] or words
    return tuple({word.casefold(): word for word in reversed(named)}.values())[::-1]


_OF_ACRONYM = 0.5  # weight of an acronym beside its long form
_SAME_LETTERS = 8  # letters of the first word that a query with the long form has
_ACRONYM = re.compile(r"(?<![\w-])[A-Z][A-Za-z]{1,6}(?![\w-]| ?\d)")


def long_forms(query: str) -> dict[str, str]:
    """Return the acronyms of a query with their long forms, if it does not have them.

    >>> long_forms("GW memory")
    {'GW': 'gravitational wave'}
    >>> long_forms("active galactic nuclei (AGN) in dwarfs")
    {}
    """
    known, found = query.casefold(), {}
    for acronym in _ACRONYM.findall(query):
        form = _acronyms().get(acronym) or _acronyms().get(acronym.removesuffix("s"))
        if form and form.split()[0][:_SAME_LETTERS] not in known:
            found[acronym] = form
    return found


def with_long_forms(query: str) -> tuple[str, dict[str, float]]:
    """Return a query with long forms of acronyms, and the weights of the words of both.

    A long form counts as much as one word, although it has several.

    >>> with_long_forms("GW memory")
    ('gravitational wave (GW) memory', {'gravitational': 0.5, 'wave': 0.5, 'gw': 0.5})
    """
    weights: dict[str, float] = {}
    text = query
    for acronym, form in long_forms(query).items():
        words = re.findall(r"\w+", form)
        weights |= {word.casefold(): 1.0 / len(words) for word in words}
        weights[acronym.casefold()] = _OF_ACRONYM
        text = re.sub(rf"(?<![\w-]){re.escape(acronym)}(?![\w-])", f"{form} ({acronym})", text)
    return text, weights


@cache
def _acronyms() -> dict[str, str]:
    """Return common acronyms of astronomy with their long forms."""
    stored: dict[str, str] = read_yaml(data_file("acronyms.yaml"))
    return stored


@cache
def empty_words() -> frozenset[str]:
    """Return words that do not name a subject."""
    return frozenset(read_yaml(data_file("phrases.yaml"))["empty_words"].split())


def foreign_language(indexes: SearchIndexes, query: str) -> str:
    """Return the language of a query that is not English, or "" if it is English or unknown."""
    letters = [mark for mark in query if mark.isalpha()]
    foreign = sum(
        unicodedata.category(mark) == "Lo" or "CYRILLIC" in unicodedata.name(mark, "")
        for mark in letters
    )
    if foreign > len(letters) / 2:
        return "another language"
    words = WORD.findall(query)
    if not words:
        return ""
    of_languages = _function_words()
    foreign_words = frozenset[str]().union(*of_languages.values())
    after = [*words[1:], ""]
    # A capital letter inside a name does not count, as in "La Silla".
    small = [
        word.casefold()
        for word, other in zip(words, after, strict=True)
        if word.islower() or (word is words[0] and other.islower())
    ]
    n_english = sum(word in STOP_WORDS - foreign_words for word in small)
    counts = {name: sum(word in known for word in small) for name, known in of_languages.items()}
    name = max(counts, key=counts.__getitem__)
    if counts[name] <= n_english:
        return ""
    if counts[name] >= _CERTAIN and not n_english:
        return name
    known = of_languages[name] | STOP_WORDS
    others = [
        word
        for word in words
        if word.casefold() not in known and word.isalpha() and len(word) > 1 and not word.isupper()
    ]
    rare = len(indexes) * _RARE
    counted = [map(indexes.words.count, indexes.words.terms(word)) for word in others]
    n_rare = sum(max(found, default=0) <= rare for found in counted)
    return name if 2 * n_rare >= len(others) else ""


@cache
def _function_words() -> dict[str, frozenset[str]]:
    stored: dict[str, str] = read_yaml(data_file("phrases.yaml"))["languages"]
    return {name: frozenset(words.split()) for name, words in stored.items()}


def shared_words(indexes: SearchIndexes, query: str, language: str) -> str:
    """Return the names and numbers of a query in another language that the atlas has."""
    first, *rest = _WORD.findall(query) or [""]
    least = 2 if language == "German" else 1  # all nouns of German have one capital letter
    names = [word for word in rest if sum(map(str.isupper, word)) >= least]
    names = [word for word in (first, *rest) if word in names or any(map(str.isdigit, word))]
    return " ".join(
        word for word in names if any(map(indexes.words.count, indexes.words.terms(word)))
    )


def without_exclusions(query: str) -> tuple[str, tuple[str, ...]]:
    """Return a query without the names that it excludes, and these names.

    >>> without_exclusions("dwarf galaxies, but not the LMC")
    ('dwarf galaxies', ('LMC',))
    >>> without_exclusions("Why is it not Milky Way dust?")
    ('Why is it not Milky Way dust?', ())
    """
    names = tuple(match[1] for match in _EXCLUSION.finditer(query))
    return _EXCLUSION.sub("", query).strip(), names


def person_name(query: str) -> str:
    """Return the name if a query consists of the name of a person, such as "papers by Avi Loeb".

    >>> person_name("Who is Vera Rubin?"), person_name("Rubin Observatory alerts")
    ('Vera Rubin', '')
    """
    name = _ASKED_OF.sub("", " ".join(query.split())).rstrip(" ?.!")
    return name if _PERSON.fullmatch(name) else ""


def match_papers(
    indexes: SearchIndexes, query: str, rows: Rows, cosines: NDArray[np.float64] | None
) -> Match:
    """Decide whether the best papers of a search match the query.

    Parameters
    ----------
    indexes : SearchIndexes
    query : str
    rows : ndarray of int, shape (n,)
        Rows of the papers found, best first.
    cosines : ndarray, shape (n,), or None
        Cosines between the query and the papers in any order; None if their scale is unknown.
    """
    index = indexes.words
    several = min(_several(indexes), max(len(rows), 1))
    subject = tuple(word for word in subject_words(query) if index.terms(word))
    texts = [set(index.terms(text)) for text in indexes.texts(rows[: MATCHING.papers])]
    held = frozenset[str]().union(*texts)

    def is_absent(word: str) -> bool:
        return not any(term in held or index.count(term) for term in index.terms(word)[:1])

    absent = tuple(word for word in subject if is_absent(word))
    names = find_entities(query)
    unknown = [name.text for name in names if name.kind == "object" and is_absent(name.text)]
    share, best = _share(indexes, set(index.terms(" ".join(subject))), texts, several)
    has_cosines = cosines is not None and len(cosines) > 0
    cosine = float(np.sort(cosines)[-several:].mean()) if has_cosines else None  # type: ignore[arg-type]  # checked
    known = [name.text for name in names if name.kind == "object" and name.text not in unknown]
    by_name = bool(known) or (bool(names) and share >= MATCHING.of_names)
    by_paper = best >= MATCHING.one_paper and cosine is not None and cosine >= MATCHING.near
    is_match = by_name or by_paper or _is_match(share, cosine)
    found = Match(is_match, subject, absent, share, cosine)
    others = [word for word in subject if word not in " ".join(unknown)]
    is_unknown = bool(unknown) and len(others) <= _FEW_OTHERS
    if found.matched and found.has_words and not is_unknown:
        return found
    return replace(found, matched=False, note=_note(subject_words(query), absent, unknown))


def _several(indexes: SearchIndexes) -> int:
    return max(1, min(MATCHING.several, len(indexes) // 200))


def subject_shares(indexes: SearchIndexes, query: str, rows: Rows) -> NDArray[np.float64]:
    """Return the share of the subject of a query, weighted by rarity, in each paper, shape (n,)."""
    terms = set(indexes.words.terms(" ".join(subject_words(query))))
    texts = [set(indexes.words.terms(text)) for text in indexes.texts(rows)]
    return np.array(_shares(indexes, terms, texts))


def _shares(indexes: SearchIndexes, terms: set[str], texts: Sequence[set[str]]) -> list[float]:
    named = {term for term in terms if not term.isdecimal()} or terms
    weights = {term: _weight(indexes, term) for term in named}
    whole = sum(weights.values()) or 1.0
    return [sum(weights[term] for term in named & text) / whole for text in texts]


def _weight(indexes: SearchIndexes, term: str) -> float:
    """Return the rarity of a term, times the share of its papers that have it as a keyword.

    Verbs such as "stop" are rare, but they seldom are keywords.
    """
    n, count = max(1, len(indexes.words)), indexes.words.count(term)
    rarity = float(np.log(1 + (n - count + 0.5) / (count + 0.5)))
    if not count:
        return rarity
    share = indexes.words.count(term, field="keywords") / count
    return rarity * max(share, MATCHING.least_keyword)


def _share(
    indexes: SearchIndexes, terms: set[str], texts: Sequence[set[str]], several: int
) -> tuple[float, float]:
    """Return the mean of the largest and the usual share of terms in texts, and the largest."""
    shares = sorted(_shares(indexes, terms, texts), reverse=True) or [0.0]
    return (shares[0] + sum(shares[:several]) / several) / 2, shares[0]


def _is_match(share: float, cosine: float | None) -> bool:
    if cosine is None:
        return share >= MATCHING.least_words
    if cosine >= MATCHING.certain or (cosine >= MATCHING.close and share >= MATCHING.least_share):
        return True
    return cosine >= MATCHING.least_cosine and share + cosine >= MATCHING.least


def _note(subject: Sequence[str], absent: Sequence[str], unknown: Sequence[str]) -> str:
    if not subject:
        return "The query has no word that names a subject. Write the subject, such as dark matter."
    if len(absent) >= len(subject):
        which = "the word" if len(absent) == 1 else "any of the words"
        return f"No paper in this atlas has {which} {_listed(absent)}."
    if unknown:
        return f"No paper in this atlas names {_listed(unknown)}; the nearest are:"
    return f"No paper in this atlas is about {_listed(subject, ' ')}; the nearest are:"


def _listed(words: Sequence[str], between: str = ", ") -> str:
    more = " ..." if len(words) > _MAX_NAMED else ""
    return between.join(words[:_MAX_NAMED]) + more
