"""Institutions and countries, read from affiliations as journals print them."""

from __future__ import annotations

import re
from functools import lru_cache

from landscape._wording import normal_title
from landscape.overlays.trends.country_names import country_names

_EMAIL = re.compile(r"\S+@\S+|\be-?mail:?", re.IGNORECASE)
_WITH_DIGITS = re.compile(r"\b[\w-]*\d[\w-]*\b")
_TAG = re.compile(r"<[^>]*>|&[a-z]+;")
_FORMER = re.compile(r"^(?:also at|now at|present address|currently at)[:\s]+", re.IGNORECASE)
_DEPARTMENT = re.compile(
    r"\b(?:dep(?:ar)?t(?:a?ment|imento|\.)?|facult\w*|fakultät|school of|division|section|"
    r"physics group|dipartimento|sezione)\b",
    re.IGNORECASE,
)
_LEVELS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"univ|college|hochschule|polit[eé]c|polytech|école|ecole|caltech|\bM\.?I\.?T\b|\bETH\b|"
        r"\bEPFL\b|institute? of technology|technion|\bUC[A-Z]{1,2}\b|\bUCL\b",
        r"observator|\bobs\.|max[- ]?planck|\bMPI|\bNASA\b|\bESA\b|\bESO\b|\bINAF\b|\bINFN\b|"
        r"\bCNRS\b|\bCEA\b|\bCfA\b|\bNRAO\b|\bSTScI\b|academ|space (?:telescope|flight)|laborator|"
        r"\bagency\b|sternwarte|\bNOIRLab\b|\bASTRON\b|\bSRON\b|\bCERN\b",
        r"institu|\bcent(?:er|re|ro|rum)\b|council|consi[gl]+io|consejo|telescope|planetarium|"
        r"foundation|company|\binc\b|\bltd\b|gmbh|museum",
    )
)


@lru_cache(maxsize=1 << 17)
def read_affiliation(text: str) -> tuple[tuple[str, str], ...]:
    """Institutions and countries of one author's affiliation.

    Several addresses are separated by semicolons. An institution is the part that names a
    university, else an observatory or agency, else an institute; departments are passed over.
    There is no register behind it: two ways to write one institution stay two.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of (institution, country)
        Empty where nothing is known ("-"); "" for one that is not named.

    Examples
    --------
    >>> read_affiliation("Dept. of Physics, Univ. of Calgary, Calgary, T2N 1N4, Canada; CfA, MA")
    (('Univ. of Calgary', 'Canada'), ('CfA', 'United States'))
    >>> read_affiliation("-")
    ()
    """
    found = []
    for address in _TAG.sub(" ", text).split(";"):
        parts = [" ".join(part.split()).strip(" .-") for part in _EMAIL.sub("", address).split(",")]
        parts = [part for part in parts if part]
        if parts:
            country, rest = _country_of(parts)
            found.append((_institution_of(rest), country))
    return tuple(dict.fromkeys(one for one in found if any(one)))


def _country_of(parts: list[str]) -> tuple[str, list[str]]:
    """The country, looked for from the end, and the parts that are left."""
    names = country_names()
    for back in range(1, min(len(parts), 3) + 1):
        words = normal_title(_WITH_DIGITS.sub(" ", parts[-back])).split()
        for n_words in range(min(len(words), 5), 0, -1):
            # "Tokyo Japan": the last words will do, but not the "Maine" of "Le Maine University".
            if n_words < len(words) and back > 1:
                continue
            country = names.get(" ".join(words[-n_words:]))
            if country and not (n_words < len(words) and _names_institution(parts[-back])):
                return country, [*parts[: len(parts) - back]] or parts
    return "", parts


def _institution_of(parts: list[str]) -> str:
    own = [part for part in parts if not _DEPARTMENT.search(part)] or parts
    for level in _LEVELS:
        for part in own:
            if level.search(part):
                return _FORMER.sub("", part)
    return _FORMER.sub("", own[0]) if own else ""


def _names_institution(part: str) -> bool:
    return any(level.search(part) for level in _LEVELS)
