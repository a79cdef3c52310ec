"""Format numbers in messages, and normalise text for comparison."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence

_ACCENTS = re.compile(r"[\u0300-\u036f]")

# Control, format and surrogate characters. Some of them can reverse the displayed text of a title.
INVISIBLE = re.compile(
    r"[\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NUMBER = re.compile(r"([<>+-]{0,2}[\d,]++)((?:\.\d+)?(?:e[+-]?\d+)?)(.*)", re.DOTALL)
_UNSAFE = re.compile(f"{INVISIBLE.pattern}|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

MAX_NAMES = 8  # in a sentence
MAX_COLUMNS = 7  # of the first view of a table
DIGIT_SPACE = "\u2007"  # space that is as wide as a digit
#: Notice for a corpus made by `landscape demo`.
GENERATED = "Generated demo corpus: these papers do not exist."


def count(number: int, noun: str) -> str:
    """Return a number with a noun, which is plural unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def align_decimals(cells: Sequence[str], *, in_page: bool = False) -> list[str]:
    """Pad numbers, with or without intervals, so that their decimal points are below each other.

    In a page, the spaces are as wide as a digit and a point. Other cells are unchanged.

    >>> align_decimals(["12", "0.35 (0.2 to 0.5)", ""])
    ['12                ', ' 0.35 (0.2 to 0.5)', '']
    """
    digit, point = (DIGIT_SPACE, "\u2008") if in_page else (" ", " ")
    split = [_NUMBER.fullmatch(cell) for cell in cells]
    parts = [number.groups() for number in split if number]
    before = max((len(whole) for whole, _, _ in parts), default=0)
    after = max((len(decimals) for _, decimals, _ in parts), default=0)
    points = max((interval.count(".") for *_, interval in parts), default=0)
    others = max((len(interval) - interval.count(".") for *_, interval in parts), default=0)
    aligned = []
    for cell, number in zip(cells, split, strict=True):
        if number:
            whole, decimals, interval = number.groups()
            lacks_point = after > 0 and not decimals
            filling = point * lacks_point + digit * (after - len(decimals) - lacks_point)
            cell = digit * (before - len(whole)) + whole + decimals + filling + interval
            cell += point * (points - interval.count("."))
            cell += digit * (others - len(interval) + interval.count("."))
        aligned.append(cell)
    return aligned


def normal_title(title: str) -> str:
    """Return a title in lower case, without accents and punctuation."""
    if not title.isascii():
        title = _ACCENTS.sub("", unicodedata.normalize("NFKD", title))
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))


def one_line(text: str, *, most: int | None = None, keep: str = "", control: str = " ") -> str:
    r"""Convert a text to one line of printable characters, truncated to `most` characters.

    Characters in `keep` are kept, and other control characters are replaced by `control`.

    >>> one_line("Dust\n in   galaxies", most=10)
    'Dust in ga'
    """

    def visible(character: str) -> str:
        if character.isprintable() or character in keep:
            return character
        if character.isspace():
            return " "
        return control if unicodedata.category(character) == "Cc" else ""

    if most is not None:
        text = text[: 4 * most]  # an untrusted line can be very long
    if not text.isascii() or not text.isprintable():  # most texts are plain
        text = "".join(map(visible, text))
    return " ".join(text.split())[:most].strip()


def escape_invisible(text: str) -> str:
    r"""Write control and format characters as JSON escapes, except line feeds and tabs.

    Terminals act on some of these characters, and others change the order of the text.

    >>> print(escape_invisible("Dust\x1b[2J"))
    Dust\u001b[2J
    """
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def join_names(names: Sequence[str]) -> str:
    """Join names with commas and "and", and shorten a long list."""
    given = [str(name) for name in names]
    if len(given) > MAX_NAMES:
        given = [*given[: MAX_NAMES - 1], f"{len(given) - MAX_NAMES + 1} others"]
    if len(given) < 2:
        return "".join(given)
    return f"{', '.join(given[:-1])} and {given[-1]}"


def close_names(name: str, known: Iterable[str], *, n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the known names that are most similar to a name, best first, ignoring case."""
    from difflib import get_close_matches

    written = {str(other).casefold(): str(other) for other in known}
    return [written[key] for key in get_close_matches(name.casefold(), written, n, cutoff)]


def did_you_mean(name: str, known: Iterable[str], *, n: int = 1, cutoff: float = 0.6) -> str:
    """Return the end of a sentence about an unknown name: a question, or a full stop.

    >>> did_you_mean("nihgt", ["night", "mono"]), did_you_mean("x", ["night"])
    ("; did you mean 'night'?", '.')
    """
    names = [repr(other) for other in close_names(str(name), known, n=n, cutoff=cutoff)]
    if not names:
        return "."
    others = f"{', '.join(names[:-1])} or " if len(names) > 1 else ""
    return f"; did you mean {others}{names[-1]}?"


def no_verdict(n: int, n_all: int, what: str) -> str:
    """Return a sentence, after a space, about the regions that a figure omits; "" if there is none.

    >>> no_verdict(31, 40, "their change is")
    ' No verdict for 31 of 40 regions: their change is within the uncertainty.'
    """
    if not n:
        return ""
    return f" No verdict for {n} of {count(n_all, 'region')}: {what} within the uncertainty."
