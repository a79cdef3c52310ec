"""Text to the tokens of word search: all spellings of a thing give the same token.

Word search compares tokens, so the notation of astronomy has to be folded before: ``H-alpha``,
``Hα`` and ``H alpha`` are one line, ``[O III]`` and ``OIII`` one ion, ``NGC 1275`` and ``NGC1275``
one galaxy, ``z ~ 2`` and ``z=2`` one redshift, ``10^{12} M_sun`` and ``10¹² M⊙`` one mass.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from landscape.text.lexicon import lexicon, read_sections
from landscape.text.phrases import GREEK, normal_form
from landscape.text.words import readable

_GREEK = re.compile("([" + "".join(GREEK) + "ϵϑϕ])")
_GREEK_NAMES = GREEK | {"ϵ": "epsilon", "ϑ": "theta", "ϕ": "phi"}
_LINE_NAMES = "alpha|beta|gamma|delta"
_FOLDED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"m_?\{?(?:⊙|☉|sun|odot)\}?|\bsolar mass(?:es)?\b"), " msun "),
    (re.compile(r"l_?\{?(?:⊙|☉|sun|odot)\}?\b|\bsolar luminosit(?:y|ies)\b"), " lsun "),
    (re.compile(rf"\b(h|ly|lyman|br|pa)[\s-]?({_LINE_NAMES})\b"), r" \1\2 "),
    (re.compile(r"\blyman(alpha|beta)\b"), r"ly\1"),
    (re.compile(r"\[?\b([a-z]{1,2})[\s~]?(i{1,3}|iv|v|vi{1,3}|ix|x)\b\]"), r" \1\2 "),
    (re.compile(r"\b(h|he|c|n|o|mg|si|s|ca|fe|ne|al)[\s~-](i{1,3}|iv|v|vi{1,3})\b"), r" \1\2 "),
    (re.compile(r"\b([a-z])-([a-z]+)\b"), r" \1\2 \2 "),  # X-ray, r-process, N-body
    (re.compile(r"\b([xbkn]) (rays?|modes?|bands?|body|bodies)\b"), r" \1\2 \2 "),
    (re.compile(r"\b21[\s-]?cm\b"), " 21cm "),
    (re.compile(r"\blambda[\s-]cdm\b"), " lambdacdm "),
    (re.compile(r"\bsne?\b"), " supernova "),
    (re.compile(r"\bsupernovae?\s+(i[abc]|ii[pnlb])\b"), r" supernova type\1 "),
    (re.compile(r"\b10\s?\^\s?\{?([-+−]?\d+)\}?"), r" 10e\1 "),
    (re.compile(r"\btype[\s-](i[abc]?|ii[pnlb]?|[12])\b"), r" type type\1 "),
)
_REDSHIFT = re.compile(r"\b(z|redshifts?)\s?(?:[~≈≃∼=><≲≳≤≥]|of|approx\.?)?\s?(\d+(?:\.\d+)?)\b")
_WORD = re.compile(r"[^\W_]+(?:[.+*](?=\d)[^\W_]+)*[+*]?")
_SENTENCE = 600  # characters; what is longer is an abstract, and read once
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT = re.compile("10([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")

STOP_WORDS = frozenset(read_sections("stop")["word"])
"""Words that are in every text and every question, and so say nothing."""


def tokenise(text: str) -> list[str]:
    """Cut a text into the tokens of word search.

    Parameters
    ----------
    text : str
        Any text; LaTeX is reduced to the words in it.

    Returns
    -------
    list of str
        In reading order, lower case, singular, American spelling, without stop words. A name
        written in two ways gives the same tokens.

    Examples
    --------
    >>> tokenise("The Hα lines of NGC 1275")
    ['halpha', 'line', 'ngc1275', 'ngc']
    >>> tokenise("H-alpha line in NGC1275") == tokenise("The Hα lines of NGC 1275")
    True
    >>> tokenise("star-forming galaxies at z ~ 2")
    ['star', 'forming', 'galaxy', 'z2']
    """
    return list(_sentence_tokens(text) if len(text) < _SENTENCE else _tokens_in(text))


@lru_cache(maxsize=4096)
def _sentence_tokens(text: str) -> tuple[str, ...]:
    """Sentences are compared several times with one another and with a question."""
    return tuple(_tokens_in(text))


def _tokens_in(text: str) -> list[str]:
    tokens: list[str] = []
    for word in _WORD.findall(_fold(readable(text))):
        tokens += _tokens_of(word)
    return tokens


def _fold(text: str) -> str:
    text = _SUPERSCRIPT.sub(lambda found: f"10^{found.group(1).translate(_SUPERSCRIPTS)}", text)
    text = _catalogues().sub(r" \1\2 \1 ", text)  # while "AT 2018cow" can be told from "at 2018"
    text = unicodedata.normalize("NFKC", text).lower()
    if not text.isascii():
        text = _GREEK.sub(lambda found: _GREEK_NAMES[found.group(1)], text)
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(mark for mark in decomposed if not unicodedata.combining(mark))
        text = text.replace("‐", "-").replace("‑", "-").replace("–", "-").replace("−", "-")
    for pattern, replacement in _FOLDED:
        text = pattern.sub(replacement, text)
    return _REDSHIFT.sub(_redshift, text)


def _redshift(found: re.Match[str]) -> str:
    named = "" if found.group(1) == "z" else " redshift"
    return named + f" z{float(found.group(2)):g} ".replace(".", "p")


@lru_cache(maxsize=1)
def _catalogues() -> re.Pattern[str]:
    names = sorted((name for name in lexicon().catalogues if name.isupper()), key=len)
    either = "|".join(map(re.escape, reversed(names)))
    return re.compile(rf"\b({either}|M(?= ?\d{{1,3}}\b))[ -]?([A-Z]?\d[\w.+-]*)")


@lru_cache(maxsize=300_000)
def _tokens_of(word: str) -> tuple[str, ...]:
    if word in STOP_WORDS or (len(word) == 1 and not word.isalnum()):
        return ()
    return tuple(part for part in normal_form(word).split() if part not in STOP_WORDS)
