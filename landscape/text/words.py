"""Text to words, with the notation of astronomy kept whole: [O III], star-forming, f(R), 2MASS."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from landscape.text.phrases import GREEK

_LETTER = r"[\w⊙☉⊕⋆★†′″⁺⁻]"
_ABBREVIATION = (
    r"(?:al|e\.g|i\.e|c?f|c\.f|[Ff]igs?|[Ee]qs?|[Ee]qns?|[Rr]efs?|[Ss]ecs?|[Ss]ects?|[Tt]ab|Nos?|"
    r"vs|resp|approx|ca|viz|etc|Dr|Prof|Mr|Mrs|Ms|St|Ph\.D|U\.S|U\.K|U\.S\.A|a\.k\.a|i\.i\.d|w\.r\.t|"
    r"Astron|Astrophys|Phys|Rev|Lett|Proc|Vol|Ch|Chap|App|incl|excl|std|Jr|Sr|Inc|Ltd|Co|Univ|Inst|"
    r"Dept|a\.u|s\.d|p\.d\.f|r\.m\.s|S\.D|(?:[A-Z]\.)*[A-Z])\."
)
_TOKEN = re.compile(
    rf"""
      (?:https?://|www\.)\S+
    | \S+@\S+\.\w+
    | \[[A-Z][a-z]?\u00a0?[IVXivx]{{1,5}}\]                        # [O III]
    | (?<!\w)(?<!\w[-‐‑–']){_ABBREVIATION}
    | [A-Za-z]{{1,2}}\((?:[A-Z]|\d)\)(?!\w)                       # f(R), SU(2)
    | ['’]s(?!\w)
    | (?>[-+−]?\.?\d+(?:[.,]\d+)*(?:\^\{{?[-−+]?\d+\}}?)?(?:[-–](?=\d)\d+(?:[.,]\d+)*)*)
      (?![-‐‑–/+]?[^\W\d_]|\+\d)                                # numbers and ranges
    | {_LETTER}+(?:(?<=\d)[.,]\d{_LETTER}*)*
      (?: [-‐‑–]+ (?:{_LETTER}+(?:(?<=\d)\.\d+)*)
        | \+(?=\d){_LETTER}+(?:\.\d+)*                          # PKS 0537+441
        | ['’](?!s\b){_LETTER}+
        | /{_LETTER}{{1,2}}(?!\w) | (?<![^\W]{{3}})/{_LETTER}+    # km/s, Be/X-ray
        | \^[-+−]?\d+
      )*
      [+*]?(?!\w)                                               # HCO+, Sgr A*
    | {_LETTER}+
    | \S
    """,
    re.VERBOSE,
)
_SPACED_LINE = re.compile(r"(\[[A-Z][a-z]?) ([IVXivx]{1,5}\])")

_COPYRIGHT = re.compile(
    r"(?:©|\(c\)\s*(?=\d{4})|(?:\bCopyright\b))[^.]{0,120}(?:\.|$)"
    r"|\bAll rights reserved\.?|\bPublished by Elsevier[^.]{0,40}(?:\.|$)",
    re.IGNORECASE,
)
_COPYRIGHT_SIGNS = ("©", "(c)", "(C)", "opyright", "OPYRIGHT", "ights reserved", "ublished by Els")

# A formula stands for a quantity: it reads as a number does.
FORMULA = "▪"

_GREEK = {name: letter for letter, name in GREEK.items()}
_GREEK |= {name.capitalize(): letter.upper() for name, letter in _GREEK.items()}
_GREEK |= {f"var{name}": _GREEK[name] for name in ("epsilon", "theta", "phi", "rho", "pi", "sigma")}
_ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    '"': "\u0308",
    "^": "\u0302",
    "~": "\u0303",
    "c": "\u0327",
}
_ACCENT = re.compile(r"\\(['`\"^~]|c(?=[\s{]))\s*\{?\\?([A-Za-z])\}?")
_DROPPED = re.compile(
    r"\\(?:cite[a-z]*|ref|eqref|label|footnote|url|href|bibitem)\*?(?:\[[^\]]*\])*\{[^{}]*\}"
)
_SWITCH = re.compile(r"\\(?:rm|bf|it|sc|tt|em|cal|displaystyle|left|right)\b\s*")
_WRAPPED = re.compile(
    r"\\(?:text\w*|math\w*|emph|ensuremath|hbox|mbox|rm|bf|it|sc|uppercase)\s*\{([^{}]*)\}"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)\s?")
_MATHS = re.compile(r"\$\$?([^$]{0,400})\$\$?")
_PLAIN = re.compile(r"\s*\^?_?\{?[A-Za-z0-9α-ωΑ-Ω]{1,12}\}?\s*")


def split_words(text: str) -> tuple[list[str], list[bool]]:
    """Split a text into words.

    Hyphenated compounds, ions, spectral lines, catalogue designations and abbreviations stay whole,
    so that a full stop on its own always ends a sentence. Copyright lines are left out; LaTeX that
    was not cleaned away is reduced to the words in it.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    words : list of str, shape (n,)
    spaces : list of bool, shape (n,)
        Whether a space follows each word.

    Examples
    --------
    >>> split_words("We map [O III] in NGC 1275 (Fig. 3).")[0]
    ['We', 'map', '[O III]', 'in', 'NGC', '1275', '(', 'Fig.', '3', ')', '.']
    """
    text = " ".join(readable(text).split())
    if "[" in text:
        text = _SPACED_LINE.sub("\\1\u00a0\\2", text)
    words: list[str] = []
    spaces: list[bool] = []
    for piece in text.split(" ") if text else ():
        found, gaps = _split_piece(piece)
        words += found
        spaces += gaps
    return words, spaces


@lru_cache(maxsize=100_000)
def _split_piece(piece: str) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """Split what stands between two spaces; most pieces of a text have been met before."""
    found = tuple(word.replace("\u00a0", " ") for word in _TOKEN.findall(piece))
    return found, (False,) * (len(found) - 1) + (True,)


def readable(text: str) -> str:
    r"""Leave out copyright lines and reduce raw LaTeX to the words in it.

    Parameters
    ----------
    text : str
        Any text; clean text comes back as it is.

    Returns
    -------
    str

    Examples
    --------
    >>> readable(r"The $M_{\rm BH}-\sigma$ relation of H$\alpha$ emitters \cite{a}.")
    'The ▪ relation of Hα emitters .'
    """
    if any(sign in text for sign in _COPYRIGHT_SIGNS):
        text = _COPYRIGHT.sub(" ", text)
    if "\\" not in text and "$" not in text:
        return text
    text = _DROPPED.sub(" ", text.replace("\\%", "%").replace("\\&", "&").replace("\\_", "_"))
    text = _ACCENT.sub(
        lambda m: unicodedata.normalize("NFC", m.group(2) + _ACCENTS[m.group(1)]), text
    )
    for _ in range(3):
        text = _WRAPPED.sub(r"\1", text)
    text = _SWITCH.sub("", text)
    text = _COMMAND.sub(lambda m: _GREEK.get(m.group(1), "\\"), text)
    text = _MATHS.sub(_formula, text)
    return (
        text.replace("\\", " ")
        .replace("{", "")
        .replace("}", "")
        .replace("~", " ")
        .replace("$", " ")
    )


def _formula(found: re.Match[str]) -> str:
    inside = found.group(1)
    if _PLAIN.fullmatch(inside):
        return inside.strip(" ^_{}")
    return f" {FORMULA} " if inside.strip() else " "
