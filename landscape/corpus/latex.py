"""LaTeX in titles and abstracts, read into Unicode that people and language tools can read."""

from __future__ import annotations

import re
from functools import lru_cache

from landscape.corpus.macros import (
    ACCENTS,
    DROPPED,
    OPERATORS,
    SPACES,
    SUPERSCRIPTS,
    SWITCHES,
    TRANSPARENT,
    symbols,
)
from landscape.corpus.typesetting import (
    ONE_ARGUMENT,
    SIGNED_NUMBER,
    STRUCTURES,
    TWO_ARGUMENTS,
    accented,
    script,
    small_caps,
    typography,
)

# Escaped characters are matched too, so that the dollar of "\$5" opens nothing.
_MATHS = re.compile(
    r"\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]|\\."
    r"|\$\$([^$]{1,2000})\$\$|\$((?:[^$\\]|\\.){1,2000})\$",
    re.DOTALL,
)
_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|[{}\[\]^_~&$]|[^\\{}\[\]^_~&$]+|\\", re.DOTALL)
_TEXT_POWER = re.compile(r"([+\-−]?\d{1,3})(?![\d.,/]*\d|\w)")
_PROSE = re.compile(r"[A-Za-z]{3,}\s+[A-Za-z]{2,}\s|\s[A-Za-z]{3,}\s+$")
_TEXT_MARKS = ("\\", "{", "}", "~", "^", "`", "--", "''")
_MAX_DEPTH = 40


def latex_to_unicode(text: str) -> str:
    r"""Turn LaTeX into readable Unicode; anything that is not LaTeX passes through.

    Parameters
    ----------
    text : str
        Text that may hold LaTeX macros, accents and mathematics between dollars.

    Returns
    -------
    str
        White space is not normalised here, see :func:`landscape.corpus.cleaning.clean_text`.

    Examples
    --------
    >>> latex_to_unicode(r"$\sim 10^{6}\,M_\odot$ {\it et al.} Universit\'e")
    '∼10⁶ M⊙ et al. Université'
    >>> latex_to_unicode(r"$1.2^{+0.3}_{-0.2}$ km s$^{-1}$, [O\,{\sc iii}]")
    '1.2 (+0.3/-0.2) km s⁻¹, [O III]'
    """
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return _text(text)
    pieces: list[str] = []
    start = 0
    for match in _MATHS.finditer(text):
        content = next((group for group in match.groups() if group is not None), None)
        if content is None or _is_prose(content):
            continue
        pieces.append(_text(_untied(text[start : match.start()], after=start > 0, before=True)))
        pieces.append(_maths(content))
        start = match.end()
    pieces.append(_text(_untied(text[start:], after=start > 0, before=False)))
    return "".join(pieces)


def _untied(text: str, *, after: bool, before: bool) -> str:
    """Make a space of a tie between words and a formula: "Fig.~$3$", "$10^4$~K"."""
    if after and text.startswith("~"):
        text = f" {text[1:]}"
    if before and text.endswith("~") and text[-2:-1].isalnum() | (text[-2:-1] in (".", ")")):
        text = f"{text[:-1]} "
    return text


def _is_prose(content: str) -> bool:
    """Whether what stands between two dollars is plain words: sums of money, not mathematics."""
    return not set(content) & set("\\^_{}=<>") and _PROSE.search(content) is not None


@lru_cache(maxsize=1 << 16)
def _maths(content: str) -> str:
    # Cached: a few thousand formulas ("\sim", "M_\odot") make up most of a corpus.
    spaced = _Conversion(content).convert(maths=True)
    return re.sub(r"\s+", " ", spaced).strip()


def _text(text: str) -> str:
    if not any(mark in text for mark in _TEXT_MARKS):
        return text
    return _Conversion(text).convert(maths=False)


class _Conversion:
    """One walk over the tokens of a piece of LaTeX. Never raises, whatever the text."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(text)
        self.at = 0
        self.depth = 0

    def convert(self, *, maths: bool, closing: str | None = None) -> str:
        """Convert up to `closing` (which is consumed) or to the end."""
        if self.depth >= _MAX_DEPTH:
            return ""  # nobody nests as deep; what opens here is dropped
        self.depth += 1
        converted = self._walk(maths=maths, closing=closing)
        self.depth -= 1
        return converted

    def _walk(self, *, maths: bool, closing: str | None) -> str:
        out: list[str] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token == closing:
                break
            first = token[0]
            if first == "\\":
                name = token[1:].rstrip("*") or token[1:]
                if name in ("sc", "scshape"):
                    self._skip_space()
                    out.append(small_caps(self.convert(maths=maths, closing=closing)))
                    break
                out.append(self._macro(name, out, maths=maths))
            elif first == "{":
                out.append(self._group(maths=maths))
            elif first in "^_":
                out.append(self._scripts(first, out, maths=maths))
            elif first == "~":
                out.append(self._tie(out, maths=maths))
            elif first == "}" or (maths and first in "&$"):
                continue
            elif maths:
                out.append(token.replace("''", "″").replace("'", "′"))
            else:
                out.append(typography(token))
        return "".join(out)

    def _group(self, *, maths: bool) -> str:
        return self.convert(maths=maths, closing="}")

    def _argument(self, *, maths: bool) -> str:
        """Read the next group, macro or single character."""
        self._skip_space()
        if self.at >= len(self.tokens):
            return ""
        following = self.tokens[self.at]
        if following == "}":
            return ""
        self.at += 1
        if following == "{":
            return self._group(maths=maths).strip()
        if following[0] == "\\":
            if self.depth >= _MAX_DEPTH:
                return ""
            self.depth += 1
            if following[1:] in SWITCHES:  # M_\rm V
                self._switch(following[1:])
                argument = self._argument(maths=maths)
                self.depth -= 1
                return argument
            result = self._macro(following[1:].rstrip("*") or following[1:], [], maths=maths)
            self.depth -= 1
            return result
        if len(following) > 1:
            self.at -= 1
            self.tokens[self.at] = following[1:]
        return following[0]

    def _optional(self) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at] == "[":
            self.at += 1
            return self.convert(maths=True, closing="]")
        return ""

    def _skip_space(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at][0].isspace():
            rest = self.tokens[self.at].lstrip()
            if rest:
                self.tokens[self.at] = rest
                return
            self.at += 1

    def _macro(self, name: str, out: list[str], *, maths: bool) -> str:
        if not name:
            return ""
        if name in ACCENTS and (len(name) > 1 or not maths or name in "c"):
            return accented(self._argument(maths=maths), ACCENTS[name])
        if not name.isalpha():
            return _ESCAPED.get(name, "" if name.isascii() else name)
        if name in SWITCHES:
            return self._switch(name)
        if name in SPACES:
            return " "
        if name in TRANSPARENT:
            return self._argument(maths=maths)
        if name in DROPPED or name.startswith("cite"):
            self._optional()
            self._optional()
            self._argument(maths=maths)
            return ""
        if name in STRUCTURES:
            return self._structure(name, maths=maths)
        return self._symbol(name, out, maths=maths)

    def _switch(self, name: str) -> str:
        self._skip_space()
        delimiter = name.startswith(("left", "right", "big", "Big"))
        if delimiter and self.at < len(self.tokens):
            following = self.tokens[self.at]
            angle = {"<": "⟨", ">": "⟩"}.get(following[0])
            if following[0] == "." or angle:
                self.tokens[self.at] = following[1:] or " "
                return angle or ""
        return ""

    def _symbol(self, name: str, out: list[str], *, maths: bool) -> str:
        symbol = symbols().get(name)
        if symbol is None:
            return name  # an author's own macro: its name mostly says what it prints
        spaced_before = bool(out) and out[-1][-1:].isspace()
        keeps_space = symbol in OPERATORS and spaced_before
        if symbol[-1:].isalpha() and len(symbol) > 1:
            keeps_space = True  # words and units: "log g", "km s⁻¹"
        if (maths or not symbol.isalpha()) and not keeps_space:
            self._skip_space()
        if maths and symbol.isascii() and symbol.isalpha() and len(symbol) > 1:
            return self._function(symbol, out)
        return symbol

    def _function(self, name: str, out: list[str]) -> str:
        """Set off "log", "sin" and their like from letters: "log L" is not "logL"."""
        before = " " if out and out[-1][-1:].isalnum() else ""
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        after = " " if following[:1].isalnum() or following[:1] == "\\" else ""
        return f"{before}{name}{after}"

    def _structure(self, name: str, *, maths: bool) -> str:
        if name in ("sqrt", "SI", "qty", "ce", "ch", "textcolor", "href"):
            self._optional()
        first = self._argument(maths=maths)
        if name in TWO_ARGUMENTS:
            return TWO_ARGUMENTS[name](first, self._argument(maths=maths))
        return ONE_ARGUMENT[name](first)

    def _scripts(self, sign: str, out: list[str], *, maths: bool) -> str:
        """Superscript and subscript, alone or both, in either order."""
        before = "".join(out[-1:])
        if not maths and not self._opens_script(sign):
            return self._plain_script(sign, before)
        argument = self._argument(maths=maths or sign == "_")
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if following not in ("^", "_") or following == sign:
            return script(sign, argument, before)
        self.at += 1
        other = self._argument(maths=maths)
        up, down = (argument, other) if sign == "^" else (other, argument)
        if SIGNED_NUMBER.fullmatch(up) and SIGNED_NUMBER.fullmatch(down):
            gap = " " if before and not before[-1:].isspace() else ""
            return f"{gap}({up}/{down})"
        return script("_", down, before) + script("^", up, before)

    def _opens_script(self, sign: str) -> bool:
        """Whether ``^`` or ``_`` outside mathematics is one: "cm^{-2}" yes, "file_name" no."""
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if sign == "_":
            return following[:1] == "{" or following in ("\\odot", "\\oplus", "\\star", "\\rm")
        return following[:1] in ("{", "\\")

    def _plain_script(self, sign: str, before: str) -> str:
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        power = _TEXT_POWER.match(following) if sign == "^" and before[-1:].isalnum() else None
        if power is None:
            return sign
        self.tokens[self.at] = following[power.end() :] or " "
        if not following[power.end() :]:
            self.at += 1
        return power[1].translate(SUPERSCRIPTS)

    def _tie(self, out: list[str], *, maths: bool) -> str:
        """``~`` is a space in LaTeX, but "about" in the plain text of many abstracts."""
        before = out[-1][-1:] if out else ""
        following = self.tokens[self.at][:1] if self.at < len(self.tokens) else ""
        tied = before and not before.isspace() and before not in "([{</=≥≤–-"
        if maths or (tied and following and not following.isspace()):
            return " "
        return "∼"


_ESCAPED = {
    " ": " ",
    "\n": " ",
    "\t": " ",
    ",": " ",
    ";": " ",
    ":": " ",
    ">": " ",
    "\\": " ",
    "%": "%",
    "&": "&",
    "$": "$",
    "#": "#",
    "_": "_",
    # A literal brace would be read as grouping by the next tool down the line.
    "{": "(",
    "}": ")",
    "|": "‖",
}
