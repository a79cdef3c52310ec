"""The parts of a question that can be searched for by themselves."""

from __future__ import annotations

import re

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
    useful various work works i ii iii iv v vi""".split()  # noqa: SIM905 - sixty words, not a list
)
_FEWEST_LETTERS = 2


def facets(question: str, *, most: int = 6) -> list[str]:
    """Cut a question into phrases about one thing each; no two share a word.

    Parameters
    ----------
    question : str
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
    """
    phrases: list[str] = []
    seen: set[str] = set()
    for piece in _CUT.split(question):
        run: list[str] = []
        for word in [*_WORD.findall(piece), ""]:
            key = word.strip(".'’").casefold()
            if len(key) < _FEWEST_LETTERS or key in _EMPTY or key in seen:
                if run:
                    phrases.append(" ".join(run))
                run = []
            else:
                run.append(word.strip("'’"))
                seen.add(key)
    if len(phrases) < 2:
        return []
    longest = sorted(phrases, key=lambda phrase: (-len(phrase.split()), phrases.index(phrase)))
    kept = set(longest[:most])
    return [phrase for phrase in phrases if phrase in kept]
