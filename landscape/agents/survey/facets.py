"""The parts of a question that can be searched for by themselves."""

from __future__ import annotations

import re
from collections.abc import Collection

from landscape.text._words import normal_forms

_CUT = re.compile(r"[,:;?!()\[\]\"“”/]+|\s[-–—]+\s|\.\s|\.$")
_WORD = re.compile(r"\S+")
# Words that hold no subject: they end a phrase. The last rows are the language of papers, which
# every abstract has.
_EMPTY = frozenset(
    """a an and are as at be been being between but by can could did do does during each for from
    had has have how if in into is it its may might more most no nor not of off on or our out over
    per should so some such than that the their them then there these they this those through to
    under up upon us using very via was we were what when where whether which while who whom whose
    why will with within without would about above after against all along also among any around
    because before below both
    affect affects appear based can cause causes compare compared comparison constrain constrains
    constraint constraints current depend depends describe description determine determines
    different do effect effects evidence explain explains find finding findings first give given
    impact implication implications important influence investigate know known latest main make
    method methods new novel observed paper papers play possible present problem propose proposed
    question recent recently reported result results review role search show shows study studies
    studying suggest survey test tests toward towards understand understanding us use used uses
    useful various work works
    place places placed explain explained explaining due emit emits cause caused causing happen
    happens occur occurs come comes tell told lead leads led makes made exist exists
    i ii iii iv v vi""".split()  # noqa: SIM905 - words, not a list
)
_FEWEST_LETTERS = 2


def facets(question: str, *, subjects: Collection[str] | None = None, most: int = 6) -> list[str]:
    """Cut a question into phrases about one thing each; no two share a word.

    Parameters
    ----------
    question : str
    subjects : collection of str, optional
        Keywords of papers on the question, in any form. A phrase begins and ends with a word that
        they hold, because a verb that is left at its end is no part of a subject; and a single word
        is searched for only where it is one of them, because "early" is a word and no subject.
    most : int, default 6
        Phrases at most: the longest are kept, in the order of the question.

    Returns
    -------
    list of str
        Empty where the question is one phrase, which is searched for as a whole anyhow.

    Examples
    --------
    >>> facets("How do stellar winds change the evolution of massive stars in metal-poor galaxies?")
    ['stellar winds change', 'evolution', 'massive stars', 'metal-poor galaxies']
    >>> subjects = ["flare", "planet", "M dwarf planet"]
    >>> facets("How early do flares of M dwarfs strip planets?", subjects=subjects)
    ['flares', 'M dwarfs strip planets']
    """
    phrases: list[str] = []
    seen: set[str] = set()
    for piece in _CUT.split(question):
        run: list[str] = []
        for word in [*_WORD.findall(piece), ""]:
            key = word.strip(".'’").casefold()
            is_stray = len(key) < _FEWEST_LETTERS and not _is_class(word)
            if is_stray or key in _EMPTY or key in seen:
                if run:
                    phrases.append(" ".join(run))
                run = []
            else:
                run.append(word.strip("'’"))
                seen.add(key)
    if subjects is not None:
        known = set(normal_forms(list(subjects)))
        words = {word for form in known for word in form.split()}
        phrases = [cut for phrase in phrases if (cut := _trimmed(phrase, words))]
        forms = normal_forms(phrases)
        phrases = [
            phrase
            for phrase, form in zip(phrases, forms, strict=True)
            if " " in phrase or form in known
        ]
    if len(phrases) < 2:
        return []
    longest = sorted(phrases, key=lambda phrase: (-len(phrase.split()), phrases.index(phrase)))
    kept = set(longest[:most])
    return [phrase for phrase in phrases if phrase in kept]


def _trimmed(phrase: str, known: Collection[str]) -> str:
    """Take words off the ends of a phrase that no keyword holds."""
    words = phrase.split()
    held = [
        place
        for place, word in enumerate(words)
        if _is_class(word) or any(form in known for form in normal_forms([word])[0].split())
    ]
    return " ".join(words[held[0] : held[-1] + 1]) if held else ""


def _is_class(word: str) -> bool:
    """Whether a single letter names a class, as in "M dwarfs", and is no article or pronoun."""
    return len(word) == 1 and word.isupper() and word not in "AI"
