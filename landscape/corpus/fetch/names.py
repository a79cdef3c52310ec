"""The line of authors as arXiv keeps it, taken apart into families and given names."""

from __future__ import annotations

import re

from landscape.corpus._cleaning import without_parentheses

_SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"}
_GROUP = re.compile(
    r"\b(?:collaborations?|consortium|experiment|network|project|survey|teams?|(?:work)?group)\b",
    re.I,
)
# A comma, a semicolon, the colon after a collaboration's name, "and", "&".
_BETWEEN = re.compile(r"\s*[,;:]\s*(?:and\s+)?|\s+and\s+|\s+&\s+|\s*\\&\s*")


def parse_authors(line: str) -> list[list[str]]:
    r"""Take a line of authors apart, as the arXiv snapshot's ``authors_parsed`` does.

    Parameters
    ----------
    line : str
        For example ``"A. Penzias, R. van der Berg Jr. (Leiden) and the Planck Collaboration"``.
        Affiliations in parentheses are dropped, TeX accents are kept as they are.

    Returns
    -------
    list of [family, given, suffix]

    Examples
    --------
    >>> parse_authors("A. Penzias (1,2), R. van der Berg Jr. ((1) Leiden, NL) and J. C\\^ot\\'e")
    [['Penzias', 'A.', ''], ['van der Berg', 'R.', 'Jr.'], ["C\\^ot\\'e", 'J.', '']]
    >>> parse_authors("Planck Collaboration: N. Aghanim, Y. Akrami")
    [['Planck Collaboration', '', ''], ['Aghanim', 'N.', ''], ['Akrami', 'Y.', '']]
    """
    line = without_parentheses(line.replace(r"\,", " ").replace("~", " "))
    authors: list[list[str]] = []
    for piece in _BETWEEN.split(line):
        words = piece.split()
        if words and authors and all(word.lower() in _SUFFIXES for word in words):
            authors[-1][2] = " ".join(words)  # "Smith, Jr." was one author
        elif words:
            authors.append(_author(words))
    return authors


def _author(words: list[str]) -> list[str]:
    if _GROUP.search(" ".join(words)):
        return [" ".join(words), "", ""]
    suffix = ""
    if len(words) > 1 and words[-1].lower() in _SUFFIXES:
        suffix = words.pop()
    # The family name begins at its first particle: "van", "de la", "von".
    start = next(
        (i for i, word in enumerate(words[:-1]) if i and word.isalpha() and word.islower()),
        len(words) - 1,
    )
    return [" ".join(words[start:]), " ".join(words[:start]), suffix]
