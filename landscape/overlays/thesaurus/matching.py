"""Find the terms of a thesaurus in texts: longest match, whatever the plural, hyphen or case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.text.phrases import normal_form, singular
from landscape.text.words import readable

if TYPE_CHECKING:
    import pandas as pd

_PIECE = re.compile(r"[^\W_](?:[\w'’.+-]*[\w+])?|[.,;:!?()]")
_STOPS = frozenset(".,;:!?()")
_SHORT = 4  # letters; a shorter term is found as it is written only: ISM, not ism; ICM, RAS
_SAME = str.maketrans({"ﬁ": "fi", "‐": "-", "‑": "-", "–": "-", "−": "-"})
_FILLERS = frozenset("of the in and for a an by on with from to".split())

_Words = tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    """The terms of a thesaurus, arranged to be found in running text.

    Attributes
    ----------
    concept_ids : tuple of str, shape (n_concepts,)
        Which concepts; a concept's place here is its ``column``.
    by_first : dict
        For a term's first word the terms that begin so, longest first: its words, the columns of
        the concepts that have it, whether it is a preferred term, how it has to be written.
    label_words : tuple of frozenset of str, shape (n_concepts,)
        Words of each preferred term.
    """

    concept_ids: tuple[str, ...]
    by_first: dict[str, list[tuple[_Words, tuple[int, ...], bool, str]]]
    label_words: tuple[frozenset[str], ...]


def arrange_terms(thesaurus: Thesaurus) -> Terms:
    """Arrange the terms of a thesaurus for `match`.

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> dwarfs = Concept("2", "White dwarf stars", ("White dwarfs",))
    >>> sorted(arrange_terms(Thesaurus("", {"2": dwarfs})).by_first["white"])[0][0]
    ('white', 'dwarf')
    """
    named: dict[tuple[_Words, str], tuple[bool, list[int]]] = {}
    for column, concept in enumerate(thesaurus.concepts.values()):
        for name in concept.names:
            for written, words in _spellings(name):
                preferred, columns = named.setdefault((words, written), (name == concept.label, []))
                if name == concept.label and not preferred:
                    named[words, written] = (True, [column])  # a preferred term keeps its concept
                elif (name == concept.label or not preferred) and column not in columns:
                    columns.append(column)
    by_first: dict[str, list[tuple[_Words, tuple[int, ...], bool, str]]] = {}
    for (words, written), (preferred, columns) in named.items():
        by_first.setdefault(words[0], []).append((words, tuple(columns), preferred, written))
    for terms in by_first.values():
        terms.sort(key=lambda term: (-len(term[0]), not term[3], term))
    labels = tuple(frozenset(split(one.label)[0]) for one in thesaurus.concepts.values())
    return Terms(tuple(thesaurus.concepts), by_first, labels)


def split(text: str) -> tuple[list[str], list[str]]:
    """Split a text into words in their normal form, and the words as they are written.

    Returns
    -------
    words, written : list of str, shape (n_words,)
        What ends a phrase is an empty word, so that no term is found across it.

    Examples
    --------
    >>> split("Star-forming galaxies, haloes")[0]
    ['star', 'forming', 'galaxy', '', 'halo']
    """
    words: list[str] = []
    written: list[str] = []
    for piece in _PIECE.findall(text.translate(_SAME) if not text.isascii() else text):
        for word in _normal(piece):
            words.append(word)
            written.append(piece)
    return words, written


def match(texts: Sequence[str], terms: Terms) -> pd.DataFrame:
    """Find terms in texts; where one term is a part of a longer one, the longer one is meant.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
    terms : Terms

    Returns
    -------
    pandas.DataFrame
        One row a text and concept found in it: ``row``, ``column`` (of `Terms.concept_ids`),
        ``times``, ``inside`` (times as a part of a longer term only), ``place`` (of the first, as
        fraction of the text), ``preferred``, ``n_words``, ``surface``.

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> made = {"1": Concept("1", "Galaxies"), "2": Concept("2", "Galaxy clusters")}
    >>> match(["Galaxies in a galaxy cluster"], arrange_terms(Thesaurus("", made)))[
    ...     ["row", "column", "times", "inside", "surface"]].values.tolist()
    [[0, 0, 1, 1, 'Galaxies'], [0, 1, 1, 0, 'galaxy cluster']]
    """
    import pandas as pd

    found: list[tuple[int, int, int, int, float, bool, int, str]] = []
    for row, text in enumerate(texts):
        found += [(row, column, *rest) for column, rest in _match_one(text, terms).items()]
    columns = ["row", "column", "times", "inside", "place", "preferred", "n_words", "surface"]
    return pd.DataFrame(found, columns=columns).astype({"row": np.int64, "column": np.int64})


def _match_one(text: str, terms: Terms) -> dict[int, tuple[int, int, float, bool, int, str]]:
    words, written = split(readable(text))
    found: dict[int, tuple[int, int, float, bool, int, str]] = {}
    end = 0  # of the longest term found so far
    for start, first in enumerate(words):
        for term, columns, preferred, spelling in terms.by_first.get(first, ()):
            stop = start + len(term)
            if tuple(words[start:stop]) != term or (spelling and written[start] != spelling):
                continue
            inside = stop <= end
            for column in columns:
                times, inner, place, *rest = found.get(
                    column, (0, 0, start / len(words), preferred, len(term), "")
                )
                surface = rest[2] or _surface(written[start:stop])
                found[column] = (
                    times + (not inside), inner + inside, place,
                    bool(rest[0]) or preferred, max(int(rest[1]), len(term)), str(surface),
                )  # fmt: skip
            end = max(end, stop)
    return found


def _surface(written: Iterable[str]) -> str:
    """As it is written; a hyphenated piece, which gave several words, once."""
    return " ".join(dict.fromkeys(written))


def _spellings(name: str) -> list[tuple[str, _Words]]:
    """How a term may stand in a text: as it is, without a note in brackets, turned round.

    The first of a pair is how it has to be written, where that matters.
    """
    bare = re.sub(r"\s*\([^)]*\)", "", name).strip() or name
    written = bare if len(bare) <= _SHORT and not bare.islower() and " " not in bare else ""
    words = tuple(filter(None, split(bare)[0]))
    spellings = [(written, words)] if words else []
    if written.isupper() and len(written) > 1:
        spellings.append((f"{written}s", words))
    if len(words) == 2 and not written:  # galaxy evolution: evolution of galaxies
        spellings += [("", (words[1], "of", words[0])), ("", (words[1], "of", "the", words[0]))]
    elif len(words) > 2 and not _FILLERS & set(words) and not written:
        spellings.append(("", (words[-1], "of", *words[:-1])))
    return spellings


@lru_cache(maxsize=300_000)
def _normal(piece: str) -> tuple[str, ...]:
    if piece in _STOPS:
        return ("",)
    return tuple(singular(word) for word in normal_form(piece).split())
