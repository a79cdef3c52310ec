"""Find journals of astronomy by bibcode, name or AASTeX macro."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from landscape._io import data_file, read_yaml

_PUNCTUATION = re.compile(r"[^\w&]+")


@dataclass(frozen=True)
class Journal:
    """Journal with its bibcode stem, names, AASTeX macro, and the probability of a review."""

    stem: str
    names: tuple[str, ...]
    macro: str | None = None
    reviews: float = 0.0  # 0 for journals that do not publish mostly reviews


JOURNALS = tuple(
    Journal(stem, tuple(entry["names"]), entry.get("macro"), entry.get("reviews", 0.0))
    for stem, entry in read_yaml(data_file("journals.yaml")).items()
)


def find_journal(name: str) -> Journal | None:
    """Return the journal with a bibcode stem, macro or name, or None if it is unknown."""
    return _by_name().get(_key(name))


def journal_of_bibcode(bibcode: str) -> Journal | None:
    """Return the journal of a bibcode, or None if the journal is unknown."""
    stem = bibcode[4:9].rstrip(".")
    if stem == "ApJ" and bibcode[13:14] == "L":
        stem = "ApJL"  # an L before the page denotes ApJ Letters
    return _by_name().get(_key(stem))


@cache
def _by_name() -> dict[str, Journal]:
    found: dict[str, Journal] = {}
    for journal in JOURNALS:
        for name in (journal.stem, journal.macro or journal.stem, *journal.names):
            found.setdefault(_key(name), journal)
    return found


def _key(name: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", name).lower().removeprefix("the ").split())
