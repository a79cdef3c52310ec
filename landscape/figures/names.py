"""Names as they are lettered: cleaned of what could act up, spaced, and broken into lines.

Names come from paper text, which is untrusted: here control and direction characters go, and what
no bundled font can draw is replaced. Mathematical markup stays plain text, because the lettering
is drawn with mathematical parsing off.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

#: Serif of the journals, bundled with matplotlib; DejaVu Sans lends the glyphs that it lacks.
FONTS = ("STIXGeneral", "DejaVu Sans")

MOST_LETTERS = 80
_HAIR_SPACE, _WORD_SPACE = "\u200a", "\u2004"


def clean_name(name: str, *, most: int = MOST_LETTERS) -> str:
    r"""Make a name safe and short enough to letter.

    Parameters
    ----------
    name : str
        As it comes, from anywhere.
    most : int, default 80
        Longest name in letters; a longer one ends in an ellipsis.

    Returns
    -------
    str
        One line of drawable characters.

    Examples
    --------
    >>> clean_name("  dark\nmatter \u202e halos")
    'dark matter halos'
    """
    text = "".join(c if _drawable(c) else _plainer(c) for c in one_line(name))
    return shortened(text, most=most)


def one_line(text: object, *, keep: str = "") -> str:
    r"""Make a text one safe line: no control and direction characters.

    Parameters
    ----------
    text : object
        As it comes, from anywhere.
    keep : str
        Invisible characters that stay, such as the joiners that some scripts need.

    Examples
    --------
    >>> one_line("  dark\nmatter \u202e halos")
    'dark matter halos'
    """
    spaced = (" " if c.isspace() else c for c in unicodedata.normalize("NFC", str(text)))
    kept = (c for c in spaced if c in keep or not unicodedata.category(c).startswith("C"))
    return " ".join("".join(kept).split())


def shortened(text: str, *, most: int) -> str:
    """Cut a text; one that was cut ends in an ellipsis.

    Examples
    --------
    >>> shortened("dark matter", most=6)
    'dark…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def capitals(name: str) -> str:
    r"""Put a name into spaced capitals, as maps letter their continents.

    Greek stays as it is: a capital gamma is another symbol than a small one.

    Examples
    --------
    >>> capitals("γ rays").replace("\u200a", "").replace("\u2004", " ")
    'γ RAYS'
    """
    words = []
    for word in name.split():
        raised = "".join(c if "GREEK" in unicodedata.name(c, "") else c.upper() for c in word)
        letters: list[str] = []
        for character in raised:
            if letters and unicodedata.combining(character):
                letters[-1] += character
            else:
                letters.append(character)
        words.append(_HAIR_SPACE.join(letters))
    return _WORD_SPACE.join(words)


def line_breaks(name: str, *, most_lines: int = 3, longest_word: int = 26) -> list[str]:
    r"""List the ways to break a name into lines, one for each number of lines.

    Parameters
    ----------
    name : str
        Words separated by spaces.
    most_lines : int, default 3
        Never more lines than this.
    longest_word : int, default 26
        A longer word is cut, so that no single word can be wider than a page.

    Returns
    -------
    list of str
        The name on one line, on two, and so on, each as even as possible.

    Examples
    --------
    >>> line_breaks("weak lensing mass maps")
    ['weak lensing mass maps', 'weak lensing\nmass maps', 'weak\nlensing\nmass maps']
    """
    words = [
        word[start : start + longest_word]
        for word in name.split(" ")
        for start in range(0, max(len(word), 1), longest_word)
    ]
    breaks = []
    for lines in range(1, min(most_lines, len(words)) + 1):
        broken = _evenly(words, lines)
        if broken not in breaks:
            breaks.append(broken)
    return breaks


def _evenly(words: Sequence[str], lines: int) -> str:
    """Break words into `lines` lines whose squared lengths sum to the least."""
    lengths = [len(word) for word in words]
    best: dict[tuple[int, int], tuple[float, list[int]]] = {(0, 0): (0.0, [])}
    for line in range(1, lines + 1):
        for end in range(line, len(words) + 1):
            options = []
            for start in range(line - 1, end):
                if (line - 1, start) in best:
                    cost, cuts = best[line - 1, start]
                    width = sum(lengths[start:end]) + end - start - 1
                    options.append((cost + width**2, [*cuts, end]))
            best[line, end] = min(options)
    cuts = [0, *best[lines, len(words)][1]]
    return "\n".join(" ".join(words[a:b]) for a, b in pairwise(cuts))


def _plainer(character: str) -> str:
    """Stand-in for a character that no font has: its plain form, else a replacement mark."""
    plain = unicodedata.normalize("NFKD", character)
    return plain if plain != character and all(map(_drawable, plain)) else "\ufffd"


def _drawable(character: str) -> bool:
    return any(ord(character) in glyphs for glyphs in _glyphs())


@cache
def _glyphs() -> tuple[frozenset[int], ...]:
    from matplotlib.font_manager import findfont, get_font

    return tuple(frozenset(get_font(findfont(family)).get_charmap()) for family in FONTS)
