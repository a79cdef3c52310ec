"""Find the terms of a thesaurus in texts: longest match, whatever the plural, hyphen or case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.text.phrases import normal_form, singular
from landscape.text.words import readable

if TYPE_CHECKING:
    import pandas as pd

_PIECE = re.compile(r"[^\W_](?:[\w'’.+‐‑–−-]*[\w+])?|[.,;:!?()]")
_STOPS = frozenset(".,;:!?()")
_SHORT = 4  # letters; a shorter term is found as it is written only: ISM, not ism; ICM, RAS
_JOINING = frozenset(("of", "the", "in", "and", "for", "a", "an", "by", "on", "with", "from", "to"))

_Words = tuple[str, ...]


@dataclass(frozen=True)
class Term:
    """What a sequence of words stands for.

    Attributes
    ----------
    columns : tuple of int
        Places of its concepts in `Terms.concept_ids`.
    written : str
        How it has to be written, for short ones; empty where that does not matter.
    n_words : int
    """

    columns: tuple[int, ...]
    written: str
    n_words: int


@dataclass(frozen=True)
class Terms:
    """The terms of a thesaurus, arranged to be found in running text.

    Attributes
    ----------
    concept_ids : tuple of str, shape (n_concepts,)
        Which concepts; a concept's place here is its column.
    tree : dict
        For each word the words that may follow; what ends there is listed under None.
    """

    concept_ids: tuple[str, ...]
    tree: dict[str | None, Any]


def arrange_terms(thesaurus: Thesaurus) -> Terms:
    """Arrange the terms of a thesaurus for `match`.

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> dwarfs = Concept("2", "White dwarf stars", ("White dwarfs",))
    >>> list(arrange_terms(Thesaurus("", {"2": dwarfs})).tree["white"]["dwarf"])
    ['star', None]
    """
    named: dict[tuple[str, _Words], dict[int, bool]] = {}
    for column, concept in enumerate(thesaurus.concepts.values()):
        for name in concept.names:
            for spelling in _spellings(name):
                columns = named.setdefault(spelling, {})
                columns[column] = columns.get(column, False) or name == concept.label
    tree: dict[str | None, Any] = {}
    for (written, words), columns in named.items():
        # A preferred term means its own concept, not another one's alternative.
        preferred = tuple(column for column, first in columns.items() if first)
        term = Term(preferred or tuple(columns), written, len(words))
        node = tree
        for word in words:
            node = node.setdefault(word, {})
        node.setdefault(None, []).append(term)
    return Terms(tuple(thesaurus.concepts), tree)


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
    pieces = _PIECE.findall(text)
    normal = list(map(_normal, pieces))
    written = [piece for piece, words in zip(pieces, normal, strict=True) for _ in words]
    return list(chain.from_iterable(normal)), written


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
        ``times``, ``inside`` (times as a part of a longer term), ``surface`` (the longest).

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> made = {"1": Concept("1", "Galaxies"), "2": Concept("2", "Galaxy clusters")}
    >>> match(["Galaxies in a galaxy cluster"], arrange_terms(Thesaurus("", made))).values.tolist()
    [[0, 0, 1, 1, 'Galaxies'], [0, 1, 1, 0, 'galaxy cluster']]
    """
    import pandas as pd

    found = [
        (row, column, one.times, one.inside, one.surface)
        for row, text in enumerate(texts)
        for column, one in _match_one(text, terms).items()
    ]
    columns = ["row", "column", "times", "inside", "surface"]
    return pd.DataFrame(found, columns=columns).astype({"row": np.int64, "column": np.int64})


def _match_one(text: str, terms: Terms) -> dict[int, _Found]:
    words, written = split(readable(text))
    found: dict[int, _Found] = {}
    tree = terms.tree
    end = 0  # of the longest term found so far
    n_words = len(words)
    for start in [place for place, word in enumerate(words) if word in tree]:
        node = tree[words[start]]
        here: list[Term] = []
        after = start + 1
        while node is not None:
            if None in node:
                here += node[None]
            node = node.get(words[after]) if after < n_words else None
            after += 1
        for term in reversed(here):
            if term.written and written[start] != term.written:
                continue
            stop = start + term.n_words
            for column in term.columns:
                one = found.setdefault(column, _Found())
                one.note(term, stop <= end, written[start:stop])
            end = max(end, stop)
    return found


@dataclass(slots=True)
class _Found:
    """How one concept is named in one text."""

    times: int = 0
    inside: int = 0
    n_words: int = 0
    surface: str = ""

    def note(self, term: Term, inside: bool, written: Sequence[str]) -> None:
        self.times += not inside
        self.inside += inside
        if term.n_words > self.n_words:
            self.n_words, self.surface = term.n_words, _surface(written)


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
    elif len(words) > 2 and not _JOINING & set(words) and not written:
        spellings.append(("", (words[-1], "of", *words[:-1])))
    return spellings


@lru_cache(maxsize=300_000)
def _normal(piece: str) -> tuple[str, ...]:
    if piece in _STOPS:
        return ("",)
    return tuple(singular(word) for word in normal_form(piece).split())
