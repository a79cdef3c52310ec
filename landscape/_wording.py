"""Format numbers in messages, and normalise text for comparison."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = re.compile(r"[\u0300-\u036f]")

#: Notice for a corpus made by `landscape demo`.
GENERATED = "Generated demo corpus: these papers do not exist."


def count(number: int, noun: str) -> str:
    """Return a number with a noun, which is plural unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def normal_title(title: str) -> str:
    """Return a title in lower case, without accents and punctuation."""
    if not title.isascii():
        title = _ACCENTS.sub("", unicodedata.normalize("NFKD", title))
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))
