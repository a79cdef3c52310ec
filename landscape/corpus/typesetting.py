"""How pieces of LaTeX look in plain Unicode: scripts, accents, fractions, ions, quotation marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from landscape.corpus.macros import SUBSCRIPTS, SUPERSCRIPTS

SIGNED_NUMBER = re.compile(r"[+\-−±]\s*\d*\.?\d+\s*%?")
_INTEGER = re.compile(r"[+\-−]?\d+")
_NOTE_MARKS = re.compile(r"\d+(?:[,–-]\d+)+")
_ROMAN = re.compile(r"[ivxIVX]+")
_COMPOUND = re.compile(r"[\s=+/<>∼≤≥]|(?<=.)[-−]")
_ROMAN_NUMERALS = (
    "0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII",
    "XIV", "XV", "XVI", "XVII", "XVIII", "XIX", "XX",
)  # fmt: skip


def script(sign: str, argument: str, before: str) -> str:
    """Write a superscript or subscript.

    Digits and signs become Unicode scripts. Letters stay letters after the sign (``M_BH``): few
    have a Unicode script, and language tools know none of them.

    Parameters
    ----------
    sign : {"^", "_"}
    argument : str
        Converted already.
    before : str
        What it is attached to; empty at the beginning of a formula.

    Examples
    --------
    >>> script("^", "-1", "s"), script("_", "⊙", "M"), script("_", "BH", "M")
    ('⁻¹', '⊙', '_BH')
    """
    argument = re.sub(r"\s*([,;])\s*", r"\1", argument.strip())
    if not argument:
        return ""
    if argument in _SUFFIXES or set(argument) <= set("′″*†‡"):
        return _SUFFIXES.get(argument, argument).replace("′′", "″")
    if _INTEGER.fullmatch(argument) or argument in "+-−":
        return argument.translate(SUPERSCRIPTS if sign == "^" else SUBSCRIPTS)
    if sign == "^" and (special := _special_superscript(argument, before)):
        return special
    bracketed = argument.startswith("(") and argument.endswith(")")
    compound = _COMPOUND.search(argument) is not None and not bracketed
    return f"{sign}({argument})" if compound else f"{sign}{argument}"


def _special_superscript(argument: str, before: str) -> str | None:
    if argument in ("st", "nd", "rd", "th"):
        return argument
    if argument in ("o", "circ") and not before[-1:].isalpha():
        return "°"
    if SIGNED_NUMBER.fullmatch(argument):
        return f"^{argument}"
    if before:
        return None
    # At the beginning of a formula: hours, notes, and the "3D" of a program's name.
    if _NOTE_MARKS.fullmatch(argument):
        return argument.translate(SUPERSCRIPTS)
    plain = argument in "hmsd" or (argument[0].isdigit() and argument.isalnum())
    return argument if plain else None


_SUFFIXES = {
    "⊙": "⊙",
    "☉": "⊙",
    "⊕": "⊕",
    "⋆": "⋆",
    "★": "★",
    "∗": "*",
    "•": "•",
    "∙": "•",
    "∘": "°",
    "°": "°",
    "″": "″",
    "'": "′",
    "’": "′",
    "”": "″",
    "±": "±",
    "⊥": "⊥",
    "∥": "∥",
}


def accented(base: str, combining: str) -> str:
    """Put an accent on a letter; what is more than a letter goes without."""
    base = {"ı": "i", "ȷ": "j"}.get(base, base)
    if len(base) != 1 or not base.isalpha():
        return base
    return unicodedata.normalize("NFC", base + combining)


def small_caps(text: str) -> str:
    """Set ionisation stages in capitals: small capitals of "iii" mean III."""
    return _ROMAN.sub(lambda m: m[0].upper(), text) if _ROMAN.fullmatch(text.strip()) else text


def _ion(element: str, stage: str) -> str:
    if stage.isdecimal() and int(stage) < len(_ROMAN_NUMERALS):
        stage = _ROMAN_NUMERALS[int(stage)]
    return f"{element} {small_caps(stage)}"


def _chemistry(formula: str) -> str:
    return re.sub(r"(?<=[A-Za-z)])\d+", lambda m: m[0].translate(SUBSCRIPTS), formula)


def _fraction(above: str, below: str) -> str:
    def operand(text: str) -> str:
        return f"({text})" if re.search(r"[\s+\-−/=×]", text) else text

    return f"{operand(above)}/{operand(below)}"


def _root(text: str) -> str:
    return f"√{text}" if len(text) <= 1 or text.isdecimal() else f"√({text})"


def _code_point(text: str) -> str:
    match = re.fullmatch(r"(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))", text)
    if match is None:
        return ""
    number = int(match[1], 16) if match[1] else int(match[2])
    return chr(number) if 32 <= number < 0x110000 and not 0xD800 <= number < 0xE000 else ""


ONE_ARGUMENT: dict[str, Callable[[str], str]] = {
    "sqrt": _root,
    "textsc": small_caps,
    "ce": _chemistry,
    "ch": _chemistry,
    "ang": lambda text: f"{text}°",
    "enquote": lambda text: f"“{text}”",
    "unicode": _code_point,
    "textsuperscript": lambda text: script("^", text, ""),
    "textsubscript": lambda text: script("_", text, ""),
    "sp": lambda text: script("^", text, ""),
    "sb": lambda text: script("_", text, ""),
    "not": lambda text: {"=": "≠", "∈": "∉", "≡": "≢", "⊂": "⊄"}.get(text, text),
    "over": lambda text: f"/{text}",
}
TWO_ARGUMENTS: dict[str, Callable[[str, str], str]] = {
    "frac": _fraction,
    "tfrac": _fraction,
    "dfrac": _fraction,
    "sfrac": _fraction,
    "nicefrac": _fraction,
    "ion": _ion,
    "SI": lambda number, unit: f"{number} {unit}",
    "qty": lambda number, unit: f"{number} {unit}",
    "href": lambda _, text: text,
    "textcolor": lambda _, text: text,
    "texorpdfstring": lambda _, text: text,
    "stackrel": lambda _, text: text,
    "overset": lambda _, text: text,
    "underset": lambda _, text: text,
}
STRUCTURES = frozenset(ONE_ARGUMENT) | frozenset(TWO_ARGUMENTS)


def typography(text: str) -> str:
    """Turn the quotation marks and dashes of LaTeX into their characters.

    Examples
    --------
    >>> typography("a ``bright'' star, 2000--2022")
    'a “bright” star, 2000–2022'
    """
    if "`" in text or "''" in text:
        text = re.sub(r"(?<=\d)''", "″", text)
        text = text.replace("``", "“").replace("''", "”").replace("`", "‘")
    if "--" in text:
        text = re.sub(r"(?<!-)---(?!-)", "—", text)
        text = re.sub(r"(?<![-<])--(?![->])", "–", text)
    return text
