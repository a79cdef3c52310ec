"""Sentences that speak of earlier work and cite none."""

from __future__ import annotations

import re

_EARLIER = re.compile(
    r"\b(?:"
    r"(?:previous|earlier|prior|recent|past|several|many|numerous|other) (?:\w+ ){0,2}"
    r"(?:stud(?:y|ies)|works?|papers|authors|groups|analys[ei]s|observations|simulations|surveys|"
    r"models|measurements|claims)"
    r"|(?:it )?(?:has|have) (?:also )?(?:been|previously) (?:\w+ly )?(?:been )?(?:shown|found|"
    r"proposed|suggested|reported|argued|observed|detected|demonstrated|established|claimed|"
    r"predicted|measured|studied|developed|introduced|used|invoked)"
    r"|(?:is|are) (?:well|widely|commonly|generally|usually|often) (?:known|accepted|believed|"
    r"established|thought|assumed|used|adopted|understood)"
    r"|(?:is|are|was|were) (?:thought|believed|known|expected|found|seen|observed) to"
    r"|(?:has|have) (?:recently )?(?:revealed|led to|uncovered|confirmed|ruled out|shown)"
    r"|(?:studies|observations|simulations|surveys|measurements|experiments) (?:of .{3,60} )?"
    r"(?:show|suggest|indicate|reveal|imply|find|found|showed|suggested|indicated|revealed)"
    r"|the (?:standard|prevailing|canonical|commonly accepted|leading) "
    r"(?:model|picture|scenario|view|theory|explanation|paradigm)"
    r"|since (?:its|their|the) (?:first )?(?:discovery|detection)"
    r"|according to (?!the (?:model|fit))"
    r"|(?:was|were) (?:first )?(?:discovered|proposed|introduced|predicted|suggested) (?:by|in)"
    r"|(?:unsolved|long-standing) (?:problem|puzzle|debate|controversy)"
    r"|some authors|others have|first (?:discovered|detected|proposed|reported|identified)"
    r"|(?:recently|previously) (?:discovered|detected|proposed|reported|identified|found)"
    r")\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:we|our|(?-i:us)|in this (?:paper|work|study|letter|section)|this (?:paper|work|study)|"
    r"here(?=,)|figs?|figures?|(?-i:Tables?)|sect|sections?|eqs?|equations?)\b",
    re.IGNORECASE,
)
_SHORT = 7  # words


def why_it_needs_a_citation(sentence: str) -> str:
    """Say which words of a sentence call for a citation.

    Parameters
    ----------
    sentence : str
        That cites nothing.

    Returns
    -------
    str
        Empty where none do, and where the authors speak of their own work.

    Examples
    --------
    >>> why_it_needs_a_citation("It has been shown that dust in quasars cools by its lines.")
    'It has been shown'
    >>> why_it_needs_a_citation("Observations of dwarfs suggest that their haloes have cores.")
    'Observations of dwarfs suggest'
    >>> why_it_needs_a_citation("Here, it has been shown that dust in quasars cools by lines.")
    ''
    >>> why_it_needs_a_citation("In this paper we show how dust in quasars has been observed.")
    ''
    """
    if len(sentence.split()) < _SHORT or _OWN.search(sentence):
        return ""
    found = _EARLIER.search(sentence)
    return found[0].strip() if found else ""
