"""Names compared as words: one key for all inflections and orders, and for abbreviations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from landscape.overlays.thesaurus.concepts import Thesaurus

_SMALL_WORDS = frozenset(
    ("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with")
)
_QUALIFIER = re.compile(r"\s*\([^()]*\)")
_ABBREVIATION = re.compile(r"\(([A-Z][A-Za-z]*[A-Z][A-Za-z]{0,2})\)")
# Adjectives that hide the noun: "stellar clusters" are star clusters.
_NOUNS = {
    "stellar": "star", "galactic": "galaxy", "planetary": "planet", "solar": "sun",
    "lunar": "moon", "cometary": "comet", "asteroidal": "asteroid", "atmospheric": "atmosphere",
    "gravitational": "gravity", "dusty": "dust", "spectroscopic": "spectroscopy",
    "photometric": "photometry", "interferometric": "interferometry", "chemical": "chemistry",
    "nebular": "nebula", "pulsating": "pulsation", "variable": "variability",
    "rotating": "rotation", "rotational": "rotation", "orbital": "orbit",
    "exoplanetary": "exoplanet", "extrasolar": "exoplanet", "polarimetric": "polarimetry",
    "coronal": "corona", "ionospheric": "ionosphere", "magnetospheric": "magnetosphere",
}  # fmt: skip


def word_bag(phrase: str) -> str:
    """Give the key that is the same for all inflections and orders of a phrase's words.

    Examples
    --------
    >>> word_bag("Clusters of galaxies") == word_bag("galaxy cluster")
    True
    >>> word_bag("Natural satellites (Solar system)")
    'natural satellite'
    """
    return bag_of(words_of(_QUALIFIER.sub("", phrase) or phrase))


def words_of(phrase: str) -> list[str]:
    """Words of a phrase in their order: each in the singular, without articles and the like."""
    from landscape.text._words import normal_form, singular

    words = [singular(word) for word in normal_form(phrase).split()]
    return [word for word in words if word not in _SMALL_WORDS] or words


def bag_of(words: list[str]) -> str:
    """Give the key of words that `words_of` gave."""
    return " ".join(sorted(_NOUNS.get(word, word) for word in words))


def named_forms(thesaurus: Thesaurus) -> dict[str, str]:
    """Concept id by bag of words, see `word_bag`, of all terms and alternative terms.

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> named = named_forms(Thesaurus("", {"7": Concept("7", "Galaxy clusters")}))
    >>> named[word_bag("clusters of galaxies")]
    '7'
    """
    found: dict[str, str] = {}
    for concept in thesaurus.concepts.values():
        found.setdefault(word_bag(concept.label), concept.concept_id)
    for concept in thesaurus.concepts.values():  # preferred terms go first: they own their form
        for name in concept.alternatives:
            found.setdefault(word_bag(name), concept.concept_id)
    found.pop("", None)
    return found


def find_abbreviations(texts: Sequence[str]) -> dict[str, Counter[str]]:
    """Find where texts abbreviate a phrase, "pulsar wind nebulae (PWNe)".

    Only a term that is used as one is worth an abbreviation.

    Returns
    -------
    dict of str to Counter
        How often each abbreviation is given, by the phrase's bag of words.

    Examples
    --------
    >>> find_abbreviations(["We see fast radio bursts (FRBs)."])
    {'burst fast radio': Counter({'FRBs': 1})}
    """
    found: dict[str, Counter[str]] = {}
    for text in texts:
        for match in _ABBREVIATION.finditer(text):
            letters = letters_of(match[1])
            words = re.findall(r"[^\s\-/]+", text[max(match.start() - 90, 0) : match.start()])
            tail = words[-len(letters) :]
            if "".join(word[0] for word in tail).casefold() == letters:
                found.setdefault(word_bag(" ".join(tail)), Counter())[match[1]] += 1
    return found


def letters_of(name: str) -> str:
    """Capitals of an abbreviation in small letters; empty where the name is none.

    Examples
    --------
    >>> letters_of("PWNe"), letters_of("FRBs"), letters_of("Titan"), letters_of("Dark Energy")
    ('pwn', 'frb', '', '')
    """
    capitals = "".join(sign for sign in name if sign.isupper()).casefold()
    return capitals if len(capitals) > 1 and " " not in name else ""


def complete_name(name: str, texts: Sequence[str], *, share: float = 0.8) -> str:
    """Add the word that nearly always stands before a phrase: keywords lose some of them.

    Parameters
    ----------
    name : str
    texts : sequence of str
        Of the papers that use it.
    share : float, default 0.8
        In which part of the uses the word has to stand there.

    Returns
    -------
    str

    Examples
    --------
    >>> complete_name("radio circles", ["Odd radio circles are rare. An odd radio circle is odd."])
    'odd radio circles'
    """
    *front, last = name.split(" ")
    stem = last[: max(len(last) - 3, 3)]  # whatever its plural
    pattern = re.compile(
        r"([^\W\d_]+(?:-[^\W\d_]+)*)?\s+"
        + r"[\s-]+".join(map(re.escape, [*front, stem])), re.IGNORECASE,
    )  # fmt: skip
    before = Counter(
        (match[1] or "").casefold() for text in texts for match in pattern.finditer(f". {text}")
    )
    word, uses = max(before.items(), key=lambda one: (one[1], one[0]), default=("", 0))
    if len(word) < 3 or word in _SMALL_WORDS or uses < max(share * before.total(), 2):
        return name
    return f"{word} {name}"
