"""Regular expressions for the terms of a filter, in the syntax of RE2, which Arrow uses.

RE2 does not backtrack, so every search takes linear time, but look-around is not supported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from landscape._bibliography import JOURNALS, Journal
from landscape.text.words import GREEK, WORD, singular, spellings

_START, _END = r"(?:^|[^\pL\pN])", r"(?:[^\pL\pN]|$)"
# Separator between words: space, hyphen or slash, but not the end of a sentence.
_GAP = r"[^\pL\pN.;:!?]{1,4}"
_DOTTED_GAP = r"[^\pL\pN]{1,4}"
_GAP_OR_STOP = r"[.,]? {0,2}"
_NO_MARK = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i"}  # without Unicode decomposition
_GREEK_LETTERS = {name: letter for letter, name in GREEK.items()}
_LETTER = re.compile(f"[{''.join(GREEK)}]")
_SUFFIX = r"(?:,?\s+(?:Jr|Sr|II|III|IV)\.?)?(?:\s*\(.*)?"
_PARTICLES = (
    r"(?:(?:van|von|der|den|ter|ten|de|del|della|dell|di|da|dos|du|des|la|le|el|al|bin|ibn|zu)\s+)*"
)
_SHORT = 3  # letters of words such as "of", which have no plural inside a phrase
_ENDINGS = ("s", "es", "ies", "ae", "a", "i", "ves")


@lru_cache(maxsize=1024)
def phrase_pattern(text: str) -> str:
    """Return the pattern of a word or phrase; use it for case-insensitive matching."""
    folded = _spelled_out(text)
    words = [(match.start(), match.end()) for match in WORD.finditer(folded)]
    pieces, *patterns = word_patterns(text)
    for (begin, stop), (start, end), pattern in zip(words, words[1:], patterns, strict=False):
        gap = _DOTTED_GAP if "." in folded[stop:start] else _GAP
        is_greek = {folded[begin:stop], folded[start:end]} & _GREEK_LETTERS.keys()
        pieces += (f"(?:{gap})?" if is_greek else gap) + pattern
    first, final = folded[words[0][0]], folded[words[-1][1] - 1]
    before = "" if _is_unspaced(first) else _START
    after = "" if text.endswith("*") or _is_unspaced(final) else _END
    return before + pieces + after


@lru_cache(maxsize=1024)
def word_patterns(text: str) -> tuple[str, ...]:
    """Return the patterns of the words of a phrase. A text with the phrase matches all patterns."""
    words = WORD.findall(_spelled_out(text))  # empty if the text is only an accent
    last = _any_accent if text.endswith("*") else _any_form
    inner = (_any_form(word) if len(word) > _SHORT else _any_accent(word) for word in words[:-1])
    return (*inner, *map(last, words[-1:]))


@lru_cache(maxsize=1024)
def author_pattern(name: str) -> str:
    """Return the pattern of a person, which is matched with one author name at a time.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.compute as pc
    >>> names = pa.array(["Rubin, V. C.", "Vera Rubin", "Rubin, Kate"])
    >>> pc.match_substring_regex(names, author_pattern("Rubin, Vera"), ignore_case=True).to_pylist()
    [True, True, False]
    """
    cleaned = name.strip().strip(",").strip()
    family, comma, given = (part.strip() for part in cleaned.partition(","))
    whole = _name(family)
    ways = [_person(whole, _given(given))] if comma and given else [_person(whole, "")]
    words = family.split()
    if not comma and len(words) > 1:  # "Vera Rubin"; family names of two words are handled above
        ways.append(_person(_name(words[-1]), _given(" ".join(words[:-1]))))
    return "|".join(f"(?:{way})" for way in ways)


@lru_cache(maxsize=256)
def journal_patterns(journals: tuple[Journal, ...]) -> tuple[str, str | None, str]:
    """Return the patterns of journal names, of longer names to exclude, and of bibcodes."""
    names = [name for journal in journals for name in (journal.stem, *journal.names)]
    longer = [
        other_name
        for other in JOURNALS
        if other not in journals
        for other_name in other.names
        if any(other_name.lower().startswith(name.lower() + " ") for name in names)
    ]
    left_out = [_spaced(longer)] if longer else []
    left_out.extend(
        rf"{journal.names[0]}:? +[a-z]|[a-z.] +{journal.names[0]}"
        for journal in journals
        if " " not in journal.names[0]  # "Nature" occurs in many other names
    )
    stems = "|".join(_stem(journal) for journal in journals)
    return _spaced(names), "|".join(left_out) or None, rf"^\d{{4}}(?:{stems})"


def _spaced(names: Iterable[str]) -> str:
    """Return the pattern of names; it allows any separators between words."""
    spelled = (
        _GAP_OR_STOP.join(re.escape(word) for word in re.findall(r"[\w&]+", name)) for name in names
    )
    return f"{_START}(?:{'|'.join(dict.fromkeys(spelled))}){_END}"


def _stem(journal: Journal) -> str:
    if journal.stem == "ApJL":
        return r"ApJ\.{3}.{3}[0-9.]L"
    if journal.stem == "ApJ":
        return r"ApJ\.{3}.{3}[0-9.][^L]"
    return re.escape(journal.stem) + (r"\." if len(journal.stem) < 5 else "")


def _any_form(word: str) -> str:
    """Return a pattern that matches the singular and plural of a word in all spellings."""
    forms = {word}
    for stem in spellings(singular(word)):
        forms.add(stem)
        for base in (stem, stem[:-1], stem[:-2]):
            forms.update(base + ending for ending in _ENDINGS if singular(base + ending) == stem)
    found = sorted(_any_accent(form) for form in forms)
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _any_accent(word: str) -> str:
    pattern = "".join(_letter_classes().get(letter, re.escape(letter)) for letter in word)
    if word in _GREEK_LETTERS:
        return f"(?:{pattern}|{_GREEK_LETTERS[word]})"
    return pattern


def _spelled_out(text: str) -> str:
    """Apply `_folded` and spell out Greek letters, so that Hα becomes "h alpha"."""
    return _LETTER.sub(lambda found: f" {GREEK[found[0]]} ", _folded(text.removesuffix("*")))


def _folded(text: str) -> str:
    """Return a text in lower case without accents."""
    text = unicodedata.normalize("NFKC", text).lower()
    text = "".join(_NO_MARK.get(letter, letter) for letter in text)
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize(
        "NFC", "".join(mark for mark in decomposed if not unicodedata.combining(mark))
    )


@cache
def _letter_classes() -> dict[str, str]:
    """Return the character class of each Latin letter, which includes accented letters."""
    members: dict[str, list[str]] = {chr(code): [] for code in range(ord("a"), ord("z") + 1)}
    for code in (*range(0xC0, 0x180), *range(0x1CD, 0x1DD), *range(0x218, 0x21C)):
        letter = chr(code)
        base = _NO_MARK.get(letter, unicodedata.normalize("NFKD", letter)[0])
        if letter.islower() and base in members:
            members[base].append(letter)
    return {base: f"[{base}{''.join(accented)}]" for base, accented in members.items()}


def _is_unspaced(letter: str) -> bool:
    """Return whether the script of a letter has no spaces between words, such as Chinese."""
    return unicodedata.category(letter) == "Lo"


def _name(text: str) -> str:
    """Return the pattern of a family name; ü also matches u and ue."""
    out = []
    for mark in unicodedata.normalize("NFC", text).lower():
        base = _folded(mark)
        if mark in "äöü":
            out.append(f"(?:{base}e|{_any_accent(base)})")
        elif base in ("'", "’", "`", "ʼ"):
            out.append("['’`ʼ]?")
        elif mark.isspace() or mark in "-‐‑–":
            out.append(r"[\s‐‑–-]+")
        elif mark == ".":
            out.append(r"\.?")
        elif mark == "*":
            out.append(r"[\pL\pM'’-]*")
        else:
            out.append(_any_accent(base))
    pattern = "".join(out)
    for vowel, umlaut in zip("aou", "äöü", strict=True):
        written_out = _any_accent(vowel) + _any_accent("e")
        pattern = pattern.replace(written_out, f"(?:{written_out}|{umlaut})")
    return pattern


def _given(text: str) -> str:
    """Return the pattern of given names. Initials and missing names match full names."""
    names = [part for part in re.split(r"[\s.‐‑–-]+", text) if part]
    pattern = ""
    for number, part in enumerate(reversed(names)):
        initial = _any_accent(_folded(part[0]))
        full = rf"{initial}[\pL\pM'’]*" if len(part) == 1 else rf"(?:{_name(part)}|{initial})"
        rest = pattern or r"(?:[\s.‐‑–-]+.*)?"
        pattern = rf"{full}\.?{rest}"
        if number < len(names) - 1:
            pattern = rf"(?:[\s.‐‑–-]*{pattern})?"
    return pattern


def _person(family: str, given: str) -> str:
    if not given:
        return (
            rf"^{_PARTICLES}{family}(?:,.*|{_SUFFIX})$"
            rf"|^[^,]*[\s.]{family}{_SUFFIX}$"
        )
    return (
        rf"^{_PARTICLES}{family}\s*,\s*{given}$"
        rf"|^{given}[\s.]+{_PARTICLES}{family}{_SUFFIX}$"
    )
