"""What a diffusion model is told: one prompt a theme, and what must never appear on a map."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

# Writing is set afterwards, in vector type, from the data: what a model writes is never a word.
# Nor may it add what nobody measured: towns, ships and monsters would say something.
_NEVER = (
    "text, letters, words, numbers, labels, captions, typography, signature, watermark, logo, "
    "compass rose, legend, frame, border, people, animals, ships, monsters, buildings, towns, "
    "blurry, low quality, jpeg artefacts, tiling, seams"
)

_LONGEST = 600  # characters; a CLIP text encoder reads about 300 of them
_MARKERS = re.compile(r"<\|[^|<>]{0,40}\|>")  # a tokenizer's own marks, no words of a prompt


@dataclass(frozen=True)
class Prompt:
    """What is asked for, and what is to be kept out.

    Parameters
    ----------
    wanted : str
    unwanted : str
        The negative prompt.
    strength : float
        How much of the shaded terrain is drawn anew where nothing else is asked for: 0 to 1.

    Examples
    --------
    >>> "letters" in Prompt("mountains", "letters").unwanted
    True
    """

    wanted: str
    unwanted: str
    strength: float = 0.4


_PROMPTS = {
    "atlas": Prompt(
        "physical relief map in a fine printed atlas, seen from straight above, shaded mountain "
        "ranges with eroded ridges and valleys, green lowlands, ochre highlands, pale summits, "
        "calm blue sea, soft light from the north-west, cartography, highly detailed",
        f"perspective view, horizon, sky, clouds, photograph of a city, {_NEVER}",
    ),
    "parchment": Prompt(
        "antique hand-drawn map on aged parchment, seen from straight above, engraved mountain "
        "ranges with hachures, sepia ink and pale watercolour washes, quiet empty sea, "
        "copperplate engraving, paper grain, highly detailed",
        f"perspective view, horizon, modern map, saturated colours, stains over the land, {_NEVER}",
    ),
    "night": Prompt(
        "land at night seen from orbit straight above, dark blue sea, dim mountain ranges under "
        "moonlight, soft glow on the heights, deep contrast, fine relief, highly detailed",
        f"perspective view, horizon, stars, moon, daylight, roads, motorways, {_NEVER}",
        strength=0.35,
    ),
    "mono": Prompt(
        "monochrome shaded relief map, seen from straight above, fine greyscale hill shading as in "
        "a pencil drawing, eroded ridges and valleys, plain white sea, lithograph, highly detailed",
        f"colour, tint, perspective view, horizon, sky, clouds, {_NEVER}",
        strength=0.35,
    ),
    "clear": Prompt(
        "clean relief map with few flat colours, seen from straight above, crisp shaded mountain "
        "ranges, plain sea, high contrast, modern cartography, highly detailed",
        f"perspective view, horizon, sky, clouds, gradients in the sea, {_NEVER}",
        strength=0.35,
    ),
}


def prompt_for(theme: str, *, wanted: str = "", unwanted: str = "") -> Prompt:
    r"""Give the prompt of a theme, or the user's own words in its place.

    Parameters
    ----------
    theme : str
        A theme that has no prompt of its own is drawn with that of ``atlas``.
    wanted : str, optional
        Words to use instead of the theme's. Any characters will do: see `cleaned`.
    unwanted : str, optional
        Words to keep out as well; those against writing always stay.

    Returns
    -------
    Prompt

    Examples
    --------
    >>> prompt_for("mono").wanted[:31]
    'monochrome shaded relief map, s'
    >>> prompt_for("atlas", wanted="felt\x00 and wool", unwanted="snow").wanted
    'felt and wool'
    >>> prompt_for("atlas", unwanted="snow").unwanted[:15]
    'snow, perspecti'
    """
    own = _PROMPTS.get(theme, _PROMPTS["atlas"])
    extra = cleaned(unwanted)
    return Prompt(
        cleaned(wanted) or own.wanted,
        f"{extra}, {own.unwanted}" if extra else own.unwanted,
        own.strength,
    )


def cleaned(words: str) -> str:
    r"""Make a prompt of any string: printable, composed characters on one line.

    Control characters, halves of surrogate pairs, and the marks that a tokenizer keeps for itself
    go; letters of every script and emoji stay.

    Parameters
    ----------
    words : str

    Returns
    -------
    str
        At most 600 characters.

    Examples
    --------
    >>> cleaned("  mountains\nof\x1b[31m wool <|endoftext|>\ud800 山脈 ")
    'mountains of [31m wool 山脈'
    """
    composed = unicodedata.normalize("NFC", words.encode("utf-8", "ignore").decode("utf-8"))
    kept = [" " if unicodedata.category(letter) in ("Cc", "Cn", "Co") else letter
            for letter in _MARKERS.sub(" ", composed)]  # fmt: skip
    return " ".join("".join(kept).split())[:_LONGEST].rstrip()


def unread(words: str, count: Callable[[str], int], limit: int) -> str:
    """Say which end of a prompt a text encoder does not read.

    Parameters
    ----------
    words : str
    count : callable
        How many tokens a string has.
    limit : int
        Tokens that the encoder reads.

    Returns
    -------
    str
        What is left over; empty where everything is read.

    Examples
    --------
    >>> unread("one two three four", lambda text: len(text.split()), 3)
    'four'
    """
    parts = words.split()
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if count(" ".join(parts[:middle])) <= limit else (low, middle - 1)
        )
    return " ".join(parts[low:])
