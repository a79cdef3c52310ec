"""Parse, compare and shorten names of authors.

ADS uses the form "Family, Given", and arXiv uses "Given Family". Names can have particles ("de
Grijs") and suffixes ("Jr."). A name can also be a collaboration. LaTeX accents must already be
converted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from landscape._wording import normal_title

_SUFFIX = re.compile(r"(?<=\S)(?:\s*,\s*|\s+)((?:Jr|Sr|II|III|IV)\.?)\s*(?=,|$)", re.IGNORECASE)
_PARTICLES = frozenset(
    [
        "van",
        "von",
        "der",
        "den",
        "ter",
        "ten",
        "de",
        "del",
        "della",
        "di",
        "da",
        "dos",
        "du",
        "des",
        "la",
        "le",
        "el",
        "bin",
        "zu",
    ]
)
#: One initial with a period, or several initials, after a name, as in "Pranjal R. S.".
_LAST_INITIALS = re.compile(r"(?<=\w\w)\.?((?: [^\W\d_]\.?){2,}|(?: ?\b[^\W\d_]\.)+)$")
GROUP = re.compile(r"collaborat|consortium|\bteam\b|\bgroup\b", re.IGNORECASE)


class AuthorName(NamedTuple):
    """Parts of an author name. A collaboration has only a family name."""

    family: str
    given: str
    suffix: str

    @property
    def comma_form(self) -> str:
        """Name in the form "Family, Given, Suffix"."""
        return ", ".join(part for part in self if part)


@lru_cache(maxsize=1 << 16)
def parse_name(name: str) -> AuthorName:
    """Parse a name of the form "Family, Given" or "Given Family"."""
    name = " ".join(name.split())
    match = _SUFFIX.search(name)
    bare = name[: match.start()] + name[match.end() :] if match else name
    family, comma, given = (part.strip() for part in bare.partition(","))
    if not comma:
        family, given = _split_spoken(family)
    if not given:
        return AuthorName(name, "", "")
    return AuthorName(family, given, match[1] if match else "")


def _split_spoken(name: str) -> tuple[str, str]:
    """Split a name "Given Family"; particles such as "de" are part of the family name.

    Initials at the end are given names after a single name, and else part of the family name, as
    in ADS ("Pranjal, R. S." and "Balagopal V., A.").
    """
    match = _LAST_INITIALS.search(name)
    if match and match.start():
        family, given = _split_spoken(name[: match.start()].strip())
        initials = match[1].strip()
        if not given and len(family.split()) > 1:  # a collaboration
            return name, ""
        if all(word.lower() in _PARTICLES for word in given.split()):
            return f"{given} {family}".strip(), initials
        return f"{family} {initials}", given
    words = name.split()
    if len(words) < 2 or words[-1].lower() in ("collaboration", "team", "consortium", "group"):
        return name, ""
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    return " ".join(words[start:]), " ".join(words[:start])


def short_names(authors: Sequence[str], *, link: str = "and") -> str:
    """Format authors as in a citation: "A", "A and B" or "A et al."."""
    families = [parse_name(author).family for author in authors]
    return byline(families, 1) if len(families) > 2 else f" {link} ".join(families)


def byline(authors: Sequence[str], most: int) -> str:
    """Join the first names of a list of authors: "A; B et al."."""
    return "; ".join(authors[:most]) + (" et al." if len(authors) > most else "")


def first_names(authors: Sequence[str], most: int) -> list[str]:
    """Return the first names of a list of authors, and "et al." if there are more."""
    return [*authors[:most], *(["et al."] if len(authors) > most else [])]


@lru_cache(maxsize=1 << 17)
def surname(name: str) -> str:
    """Return the normalised last word of the family name, or the name of a collaboration."""
    if GROUP.search(name):
        return normal_title(name)
    family = _SUFFIX.sub("", parse_name(name).family).partition(",")[0].split()
    return normal_title(family[-1]) if family else ""


def given_names(name: str) -> tuple[str, ...]:
    """Return the normalised given names of an author."""
    return tuple(normal_title(parse_name(name).given).split())


def is_compatible(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two lists of given names are compatible; an initial matches any name."""
    if "".join(one) == "".join(other):  # Ji-won and Jiwon
        return True
    pairs = zip(one, other, strict=False)
    return all(a == b or (1 in (len(a), len(b)) and a[0] == b[0]) for a, b in pairs)


def place_in_byline(authors: Sequence[str], name: str) -> int:
    """Return the position of a person in a list of authors, or -1 if no name is compatible."""
    family, given = surname(name), given_names(name)
    for place, author in enumerate(authors):
        if surname(author) == family and is_compatible(given, given_names(author)):
            return place
    return -1


def person_key(name: str) -> str:
    """Return the family name and the first initial of an author."""
    given = given_names(name)
    return f"{surname(name)} {given[0][0] if given else ''}".strip()
