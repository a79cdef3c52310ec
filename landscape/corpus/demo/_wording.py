"""Small operations on generated English: alternatives, numbers, capitals, LaTeX.

Material in the cards and in the grammar is written with two marks, which :func:`spin` resolves:
``{one|two}`` takes one of the alternatives, ``{3..8}`` and ``{0.2..0.9}`` draw a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from random import Random

_INNERMOST = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)\.\.(-?\d+(?:\.\d+)?(?:e-?\d+)?)")
_SPACES = re.compile(r"  +")
_INDEFINITE = re.compile(r"\b([Aa]n?) (?=(\S+))\2")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_PLAIN_DIGITS = {ord(sup): plain for sup, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True)}
_PLAIN_SUBSCRIPTS = {ord(sub): plain for sub, plain in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)}

_GREEK = {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "σ": r"\sigma", "µ": r"\mu",
    "Λ": r"\Lambda", "Ω": r"\Omega", "λ": r"\lambda", "ν": r"\nu", "π": r"\pi", "κ": r"\kappa",
    "τ": r"\tau", "Δ": r"\Delta", "χ": r"\chi",
}  # fmt: skip
_RELATIONS = {"±": r"\pm", "×": r"\times", "≈": r"\approx", "∼": r"\sim", "<": "<", ">": ">"}
# Symbols that arXiv authors write in LaTeX, in the order in which they are replaced.
_LATEX: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\bz ([≈∼=<>]) (\d+(?:\.\d+)?)"), r"$z \1 \2$"),
    (re.compile(r"\b([MLRZ])([⊙⊕])"), r"\1$_\2$"),
    (re.compile(r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)"), lambda m: "$^{" + m[1].translate(_PLAIN_DIGITS) + "}$"),
    (re.compile(r"([₀₁₂₃₄₅₆₇₈₉]+)"), lambda m: "$_{" + m[1].translate(_PLAIN_SUBSCRIPTS) + "}$"),
    (re.compile(r"≳"), r"$\\gtrsim$"),
    (re.compile(r"µm"), r"$\\mu$m"),
    (re.compile(r"(?<![$\\])%"), r"\\%"),
    (re.compile(r"([αβγδσµΛΩλνπκτΔχ])"), lambda m: f"${_GREEK[m[1]]}$"),
    (re.compile(r" ([±×≈∼<>]) "), lambda m: f" ${_RELATIONS[m[1]]}$ "),
    (re.compile(r"–"), "--"),
)
_IN_MATHS = {"≈": r"\approx", "∼": r"\sim", "⊙": r"\odot", "⊕": r"\oplus"}
_MATHS = re.compile(r"(\$[^$]*\$)")

_SMALL_WORDS = frozenset((
    "a", "an", "and", "as", "at", "between", "beyond", "by", "for", "from", "in", "into", "is",
    "it", "its", "near", "of", "on", "onto", "or", "over", "per", "the", "to", "towards",
    "under", "up", "via", "vs", "with", "within", "without",
))  # fmt: skip
_UNITS = frozenset(["mm", "cm", "m", "km", "nm", "pc", "kpc", "au", "mas", "arcsec", "arcmin"])
# Letters whose names begin with a vowel, for "an HST image" but "a UV survey".
_VOWEL_LETTERS = frozenset("AEFHILMNORSX")


def spin(text: str, rng: Random) -> str:
    """Resolve every ``{a|b}`` and ``{lo..hi}`` in a text, innermost first."""
    if "{" not in text:
        return text
    while (match := _INNERMOST.search(text)) is not None:
        inside = match[1]
        drawn = _RANGE.fullmatch(inside)
        chosen = draw_number(drawn[1], drawn[2], rng) if drawn else rng.choice(inside.split("|"))
        text = text[: match.start()] + chosen + text[match.end() :]
    return _SPACES.sub(" ", text).strip()


def draw_number(low: str, high: str, rng: Random) -> str:
    """Draw a number between two written bounds, with the decimals of the bounds."""
    decimals = max(len(bound.partition(".")[2]) for bound in (low, high))
    lo, hi = float(low), float(high)
    if lo > 0 and hi / lo > 50:
        value = math.exp(rng.uniform(math.log(lo), math.log(hi)))
    else:
        value = rng.uniform(lo, hi)
    if decimals == 0:
        return count(round(value))
    return f"{value:.{decimals}f}"


def count(number: int) -> str:
    """Write a whole number as journals do, with a comma from 10,000 on."""
    return f"{number:,}" if abs(number) >= 10_000 else str(number)


def scientific(value: float, error: float) -> str:
    """Write a value and its error with a common power of ten."""
    exponent = math.floor(math.log10(abs(value)))
    scale = 10.0**exponent
    body = rounded(value / scale, error / scale)
    return f"({body}) × 10{str(exponent).translate(_SUPERSCRIPTS)}"


def rounded(value: float, error: float) -> str:
    """Write ``value ± error`` with as many decimals as the error deserves."""
    magnitude = math.floor(math.log10(error))
    leading = error / 10.0**magnitude
    # Two digits for an error that begins with 1, 2 or 3, as measured errors usually have.
    decimals = -magnitude + (1 if leading < 3.5 else 0)
    value, error = round(value, decimals), round(error, decimals)
    places = max(decimals, 0)
    return f"{_grouped(value, places)} ± {_grouped(error, places)}"


def _grouped(value: float, places: int) -> str:
    return f"{value:,.{places}f}" if abs(value) >= 10_000 else f"{value:.{places}f}"


def sentence_case(text: str) -> str:
    """Raise the first letter, leaving the rest (and symbols such as ``µ``) alone."""
    if re.match(r"[a-z] [<>≈∼=]", text):
        return text
    for position, letter in enumerate(text):
        if letter.isalpha():
            return text[:position] + letter.upper() + text[position + 1 :]
        if letter.isdigit():
            return text
    return text


def title_case(text: str, *, opening: bool = True) -> str:
    """Capitalise the words of a title, small words and units excepted."""
    words = text.split(" ")
    first = opening
    for index, word in enumerate(words):
        unit = index > 0 and words[index - 1][:1].isdigit() and word.strip(",:;?.") in _UNITS
        if word and not unit and (first or word not in _SMALL_WORDS):
            words[index] = "-".join(_raised(word.split("-")))
            bare = words[index].rstrip(",:;?.")
            if bare.isalpha() and (len(bare) > 1 or bare == "a"):
                words[index] = words[index][:1].upper() + words[index][1:]
        first = word.endswith((":", "?", "."))
    return " ".join(words)


def _raised(parts: list[str]) -> list[str]:
    """The parts of a hyphenated word with capitals, units such as ``21-cm`` excepted."""
    return [
        part[:1].upper() + part[1:]
        if part.replace("–", "").isalpha()
        and (len(part) > 1 or part == "a")
        and part not in _SMALL_WORDS
        and not parts[max(0, i - 1)][:1].isdigit()
        else part
        for i, part in enumerate(parts)
    ]


def article(phrase: str) -> str:
    """``a`` or ``an``, whichever goes before the phrase."""
    word = re.split(r"[\s-]", phrase.lstrip("(\ue000"))[0]
    if re.match(r"(8|11|18)(\D|$)|8\d", word):
        return "an"
    if word[:1].isdigit():
        return "a"
    if len(word) > 1 and word[:2].isupper() and not re.match(r"[A-Z]{2,}[aeiou]", word):
        return "an" if word[0] in _VOWEL_LETTERS else "a"
    if len(word) == 1 and word.isupper():
        return "an" if word in _VOWEL_LETTERS else "a"
    if re.match(r"(?i)uni|use|usu|uti|eu|one\b|once", word):
        return "a"
    if re.match(r"(?i)hour|honest|heir", word):
        return "an"
    return "an" if word[:1].lower() in "aeiou" else "a"


def mend_articles(text: str) -> str:
    """Make every indefinite article agree with the word after it."""

    def mended(match: re.Match[str]) -> str:
        right = article(match[2])
        return (right.capitalize() if match[1][0] == "A" else right) + " " + match[2]

    return _INDEFINITE.sub(mended, text)


def to_latex(text: str) -> str:
    r"""Write symbols as arXiv authors do."""
    for pattern, replacement in _LATEX:
        # Every other piece is mathematics already and stays as it is.
        pieces = _MATHS.split(text)
        pieces[::2] = [pattern.sub(replacement, piece) for piece in pieces[::2]]
        text = "".join(pieces)
    return _MATHS.sub(_mathematics, text)


def _mathematics(match: re.Match[str]) -> str:
    inside = match[0]
    for symbol, command in _IN_MATHS.items():
        inside = inside.replace(symbol, command)
    return inside
