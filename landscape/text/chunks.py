"""Noun chunks by part of speech: what the keyword stage ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_KEPT = frozenset(["ADJ", "NOUN", "PROPN"])
_HEADS = frozenset(["NOUN", "PROPN"])

# The few names of things that have "of" inside.
_OF = frozenset(
    [("equation", "state"), ("equations", "state"), ("epoch", "reionization"), ("age", "universe")]
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
    >>> find_noun_chunks(["the", "dark", "halo", "of", "M31"], ["DET", "ADJ", "NOUN", "ADP", "PROPN"])
    [(1, 3), (4, 5)]
    """
    chunks: list[tuple[int, int]] = []
    begin = end = -1  # of the run being read; end is behind its last noun
    for place, tag in enumerate(tags):
        if tag in _KEPT:
            if begin < 0:
                begin = end = place
            if tag in _HEADS:
                end = place + 1
        elif begin >= 0 and not _joins(place, words, tags, end):
            if end > begin:
                chunks.append((begin, end))
            begin = -1
    if begin >= 0 and end > begin:
        chunks.append((begin, end))
    return chunks


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


def _joins(place: int, words: list[str], tags: list[str], end: int) -> bool:
    """Whether the word at `place`, kept by no chunk, still joins two runs."""
    if end != place or place + 1 >= len(words) or tags[place + 1] not in _KEPT:
        return False
    word = words[place]
    if tags[place] == "PART":
        owner = words[place - 1]
        return word in ("'s", "’s") and tags[place - 1] == "PROPN" and owner[1:].islower()
    return word == "of" and (words[place - 1].lower(), words[place + 1].lower()) in _OF
