"""Noun chunks by part of speech: what the keyword stage ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

# Adjectives and nouns as letters, so that one regular expression finds the runs.
_MARKS = {"ADJ": "a", "NOUN": "n", "PROPN": "n"}
_RUN = re.compile("[an]*n")

# The few names of things that have "of" inside.
_OF = frozenset(
    [
        ("equation", "state"),
        ("equations", "state"),
        ("epoch", "reionization"),
        ("degrees", "freedom"),
        ("degree", "freedom"),
    ]
)


def find_noun_chunks(words: list[str], tags: list[str]) -> list[tuple[int, int]]:
    """Find runs of adjectives and nouns that end in a noun.

    A possessive joins two runs where a plain name owns ("Kepler's laws", not "the galaxy's mass"),
    and "of" does in a few fixed names ("equation of state").

    Parameters
    ----------
    words : list of str, shape (n,)
        Words of one text.
    tags : list of str, shape (n,)
        Their universal parts of speech.

    Returns
    -------
    list of (int, int)
        First word and the one behind the last, in reading order, never overlapping.

    Examples
    --------
    >>> find_noun_chunks(["the", "dark", "halo"], ["DET", "ADJ", "NOUN"])
    [(1, 3)]
    """
    marks = [_MARKS.get(tag, " ") for tag in tags]
    for joint in ("'s", "’s", "of"):
        if joint in words:
            for place in range(1, len(words) - 1):
                if words[place] == joint and _joins(place, words, tags):
                    marks[place] = "a"
    return [found.span() for found in _RUN.finditer("".join(marks))]


def iterate_noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Iterate over the noun chunks of a spaCy document tagged by rules.

    The built-in pipeline sets this as the vocabulary's noun-chunk iterator, so that
    ``doc.noun_chunks`` works without a parser.

    Parameters
    ----------
    doclike : spacy.tokens.Doc or spacy.tokens.Span
        Document, or a part of it.

    Yields
    ------
    (int, int, int)
        First token, the one behind the last, and the label "NP" in the string store.

    Examples
    --------
    >>> from landscape.text.pipeline import load_pipeline
    >>> doc = load_pipeline(tagger="rules")("We observe a cool dust disk around HD 209458.")
    >>> [chunk.text for chunk in doc.noun_chunks]
    ['cool dust disk', 'HD 209458']
    """
    label = doclike.vocab.strings.add("NP")
    words = [token.text for token in doclike]
    offset = doclike[0].i if words else 0
    for begin, end in find_noun_chunks(words, [token.pos_ for token in doclike]):
        yield begin + offset, end + offset, label


def _joins(place: int, words: list[str], tags: list[str]) -> bool:
    """Whether a possessive or "of" makes one name of what stands on both sides."""
    if tags[place - 1] not in ("NOUN", "PROPN") or tags[place + 1] not in _MARKS:
        return False
    owner = words[place - 1]
    if words[place] == "of":
        return (owner.lower(), words[place + 1].lower()) in _OF
    return tags[place - 1] == "PROPN" and owner[1:].islower()
