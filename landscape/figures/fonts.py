"""Choose fonts for text in any script, and describe how to install missing fonts.

The fonts of matplotlib contain Latin, Greek, Cyrillic and Arabic. Other scripts need system fonts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties
    from matplotlib.ft2font import FT2Font


#: Serif font bundled with matplotlib; DejaVu Sans is the fallback for missing glyphs.
FONTS = ("STIXGeneral", "DejaVu Sans")

# Preferred font families of each script. If none is installed, any font with the glyph is used.
_FAMILIES = {
    "ARABIC": ("Noto Naskh Arabic", "Amiri", "Scheherazade New", "Geeza Pro", "Segoe UI"),
    "HEBREW": ("Noto Serif Hebrew", "Noto Sans Hebrew", "Arial Hebrew"),
    "DEVANAGARI": ("Noto Serif Devanagari", "Noto Sans Devanagari", "Nirmala UI", "Kohinoor"),
    "BENGALI": ("Noto Serif Bengali", "Noto Sans Bengali", "Nirmala UI"),
    "TAMIL": ("Noto Serif Tamil", "Noto Sans Tamil", "Nirmala UI"),
    "THAI": ("Noto Serif Thai", "Noto Sans Thai", "Leelawadee UI"),
    "CJK": ("Noto Serif CJK SC", "Noto Sans CJK SC", "Noto Serif SC", "Songti SC", "SimSun"),
    "HIRAGANA": ("Noto Serif CJK JP", "Noto Sans CJK JP", "Hiragino Mincho ProN", "Yu Mincho"),
    "KATAKANA": ("Noto Serif CJK JP", "Noto Sans CJK JP", "Hiragino Mincho ProN", "Yu Mincho"),
    "HANGUL": ("Noto Serif CJK KR", "Noto Sans CJK KR", "AppleMyungjo", "Batang"),
}
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC", "FULLWIDTH", "BOPOMOFO")
# Letters of these scripts are not joined or stacked, so space can be added between them.
_UNJOINED = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "GEORGIAN", "HEBREW", *_EAST_ASIAN)
_JOINERS = "\u200c\u200d"  # invisible joiners of Persian and Indian scripts


def script_of(character: str) -> str:
    """Return the Unicode name of a character's script, or ``""`` if all scripts use it."""
    if not (character.isalpha() or unicodedata.category(character).startswith("M")):
        return ""
    name = unicodedata.name(character, "")
    if name.startswith(("COMBINING", "MODIFIER", "VARIATION")):
        return ""
    return name.split(" ")[0]


def is_right_to_left(text: str) -> bool:
    """Return whether a text starts with a right-to-left letter."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("R", "AL", "L"):
            return direction != "L"
    return False


def can_be_spaced(text: str) -> bool:
    """Return whether space can be added between the letters of a text."""
    scripts = {script_of(character) for character in text} - {""}
    return all(script.startswith(_UNJOINED) for script in scripts)


def breaks_anywhere(text: str) -> bool:
    """Return whether lines can break after any character, as in Chinese."""
    letters = [script_of(character) for character in text if character.isalpha()]
    east = sum(script.startswith(_EAST_ASIAN) for script in letters)
    return bool(letters) and 2 * east > len(letters)


def clusters(text: str) -> list[str]:
    """Split a text into characters with their combining marks."""
    parts: list[str] = []
    for character in text:
        joins = unicodedata.category(character).startswith("M") or character in "\u200c\u200d"
        if parts and (joins or parts[-1].endswith("\u200d")):
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def in_capitals(text: str) -> str:
    """Return a text in capitals; Greek letters stay, because small ones are other symbols."""
    raised = ((c, c.upper()) for c in text)
    return "".join(c if script_of(upper[0]) == "GREEK" else upper for c, upper in raised)


def families(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the font families needed to draw the given texts, in order of preference."""
    found: list[str] = []
    for character in sorted({c for text in texts for c in text}):
        if covers(FONTS[0], character) or character in _JOINERS:
            continue
        family = _family_for(character)
        if family and family not in found and family not in FONTS:
            found.append(family)
    return (FONTS[0], *found, *FONTS[1:])


def drawable(text: str) -> bool:
    """Return whether every character of a text has a glyph in an installed font."""
    return not _lacking(text)


def missing_fonts(texts: Iterable[str]) -> str | None:
    """Return a message on missing fonts and how to install them, or None if none is missing."""
    lacking = {c: text for text in texts for c in _lacking(text)}
    if not lacking:
        return None
    character = min(lacking)
    scripts = sorted({script_of(c) or "signs" for c in lacking})
    packages = {_package(script) for script in scripts}
    named = ", ".join(script.capitalize() if script != "signs" else script for script in scripts)
    return (
        f"No font on this machine has {len(lacking)} of the characters in use ({named}; such as "
        f"U+{ord(character):04X} in {lacking[character][:40]!r}). To install one on Debian or "
        f"Ubuntu, use 'sudo apt install {' '.join(sorted(packages))}'; on other systems, get one "
        "from fonts.google.com/noto. Then draw again."
    )


def replaced(text: str) -> str:
    """Replace characters that no font can draw by squares."""
    lacking = _lacking(text)
    return "".join("□" if c in lacking else c for c in text)


def font(
    families_: Sequence[str], *, size: float, italic: bool = False, bold: bool = False
) -> FontProperties:
    """Return a matplotlib font with the given families, size in points and style."""
    from matplotlib.font_manager import FontProperties

    return FontProperties(
        family=list(families_),
        size=size,
        style="italic" if italic else "normal",
        weight="bold" if bold else "normal",
    )


def font_file(family: str, *, italic: bool = False, bold: bool = False) -> tuple[Path, int]:
    """Return the file of a font family, and the index of the font in this file."""
    from matplotlib.font_manager import findfont

    found = findfont(font((family,), size=10, italic=italic, bold=bold))
    return Path(str(found)), int(getattr(found, "face_index", 0) or 0)


def _lacking(text: str) -> set[str]:
    return {c for c in text if not c.isspace() and c not in _JOINERS and not _family_for(c)}


def _package(script: str) -> str:
    if script.startswith(_EAST_ASIAN):
        return "fonts-noto-cjk"
    return "fonts-noto-core" if script != "signs" else "fonts-noto-core fonts-symbola"


@cache
def _family_for(character: str) -> str | None:
    """Return an installed font family with a glyph for a character, or None."""
    script = script_of(character)
    preferred = _FAMILIES.get(script, ())
    if not preferred or covers(FONTS[0], character):
        for family in FONTS:
            if covers(family, character):
                return family
    here = _installed()
    for family in (*preferred, *FONTS):
        if family in here and covers(family, character):
            return family
    likely = [name for name in here if script and script.lower() in name.lower()]
    noto = [name for name in here if name.startswith("Noto ") and name not in likely]
    others = [name for name in here if name not in likely and name not in noto]
    for family in (*likely, *noto, *others):
        if not family.startswith("Last Resort") and covers(family, character):
            return family
    return None


@cache
def _installed() -> tuple[str, ...]:
    """Return the names of all font families; register newly installed fonts with matplotlib."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {str(entry.fname) for entry in fontManager.ttflist}
    for path in sorted(findSystemFonts()):
        if path not in known:
            try:
                fontManager.addfont(path)
            except (OSError, RuntimeError, ValueError):
                continue  # skip fonts that cannot be read
    return tuple(sorted({entry.name for entry in fontManager.ttflist}))


@cache
def covers(family: str, character: str) -> bool:
    """Return whether an installed family has a glyph for a character."""
    font = _opened(family)
    return font is not None and font.get_char_index(ord(character)) != 0


@cache
def _opened(family: str) -> FT2Font | None:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    try:
        path = findfont(FontProperties(family=[family]), fallback_to_default=False)
        return FT2Font(str(path), face_index=getattr(path, "face_index", 0))
    except (ValueError, OSError, RuntimeError):
        return None
