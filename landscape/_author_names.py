"""Names of authors, in the two spellings that sources give them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SUFFIX = re.compile(r"(?<=\S)(?:\s*,\s*|\s+)((?:Jr|Sr|II|III|IV)\.?)\s*(?=,|$)", re.IGNORECASE)
_PARTICLES = frozenset(
    ["van", "von", "der", "den", "ter", "ten", "de", "del", "della", "di", "da", "dos", "du", "des",
     "la", "le", "el", "bin", "zu"]
)  # fmt: skip


def split_name(name: str) -> tuple[str, str]:
    """Split an author's name, given as "Family, Given" or as "Given Family".

    Parameters
    ----------
    name : str

    Returns
    -------
    family, given : str
        The given name is empty for a collaboration or a single word; a suffix goes with it.

    Examples
    --------
    >>> split_name("Richard de Grijs"), split_name("Rubin, Vera C.")
    (('de Grijs', 'Richard'), ('Rubin', 'Vera C.'))
    >>> split_name("Planck Collaboration"), split_name("John A. Smith, Jr.")
    (('Planck Collaboration', ''), ('Smith', 'John A., Jr.'))
    """
    family, given, suffix = name_parts(name)
    return family, ", ".join(part for part in (given, suffix) if part)


def short_names(authors: Sequence[str], *, link: str = "and") -> str:
    """Name the authors of a paper as a citation in the text does.

    Parameters
    ----------
    authors : sequence of str
        As `split_name` takes them.
    link : str, default "and"
        Between two.

    Returns
    -------
    str
        The first of three or more; empty without authors.

    Examples
    --------
    >>> short_names(["Rubin, V. C.", "W. K. Ford"]), short_names(["Rubin, V. C.", "A", "B"])
    ('Rubin and Ford', 'Rubin et al.')
    """
    if len(authors) > 2:
        return f"{split_name(authors[0])[0]} et al."
    return f" {link} ".join(split_name(author)[0] for author in authors)


def name_parts(name: str) -> tuple[str, str, str]:
    """Split an author's name as `split_name` does, with the suffix apart.

    Parameters
    ----------
    name : str

    Returns
    -------
    family, given, suffix : str
        There is a suffix only where there is a given name.

    Examples
    --------
    >>> name_parts("J. Smith Jr."), name_parts("Smith III, M."), name_parts("Smith, Jr., J.")
    (('Smith', 'J.', 'Jr.'), ('Smith', 'M.', 'III'), ('Smith', 'J.', 'Jr.'))
    """
    name = " ".join(name.split())
    found = _SUFFIX.search(name)
    bare = name[: found.start()] + name[found.end() :] if found else name
    family, comma, given = (part.strip() for part in bare.partition(","))
    if not comma:
        family, given = _split_spoken(family)
    if not given:
        return name, "", ""
    return family, given, found[1] if found else ""


def _split_spoken(name: str) -> tuple[str, str]:
    """Split "Given Family"; particles such as "de" belong to the family."""
    words = name.split()
    if len(words) < 2 or words[-1].lower() in ("collaboration", "team", "consortium", "group"):
        return name, ""
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    return " ".join(words[start:]), " ".join(words[:start])


def comma_form(name: str) -> str:
    """Write an author's name as "Family, Given".

    Examples
    --------
    >>> comma_form("Vera C. Rubin")
    'Rubin, Vera C.'
    """
    family, given = split_name(name)
    return f"{family}, {given}" if given else family
