"""Wording of messages, and text normalised for comparison."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = re.compile(r"[\u0300-\u036f]")

#: Notice of a corpus that `landscape demo` generated.
GENERATED = "Generated demo corpus: these papers do not exist."


def count(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def normal_title(title: str) -> str:
    """Return a title without case, accents, punctuation and spaces."""
    if not title.isascii():
        title = _ACCENTS.sub("", unicodedata.normalize("NFKD", title))
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))
