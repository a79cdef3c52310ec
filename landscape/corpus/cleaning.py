"""Clean titles and abstracts: convert markup, LaTeX and entities to plain Unicode.

The LaTeX symbols are taken from pylatexenc, but its parser is not used. The parser in this module
is faster and handles the invalid LaTeX of real abstracts better (``benchmarks/RESULTS.md``).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any
from xml.etree import ElementTree

from landscape._io import data_file, read_yaml
from landscape._wording import CONTROL, INVISIBLE

_APPROXIMATE_SIGNS = ("∼ ", "≈ ", "≲ ", "≳ ")
_UNUSUAL = re.compile(r"[\ufb00-\ufb06\ufe00-\ufe0f\U0001d400-\U0001d7ff\U000e0100-\U000e01ef]")
_COMPATIBILITY = re.compile(r"[\ufb00-\ufb06\U0001d400-\U0001d7ff]+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

# Only unambiguous tags are removed: "<B>" can be a mean magnetic field, and "<0.05" a limit.
_SCRIPT_TAG = re.compile(r"<\s*+(/?)\s*+(?:jats:)?(sub|sup|inf)\s*+>", re.IGNORECASE)
_TAG = re.compile(
    r"</?\s*(?:br|em|strong|italic|bold|span|div|font|img|tt|sc|li|ul|ol|h[1-6]|orcid|email|astrobj"
    r"|altjournal|inline|inline-formula|inline-graphic|tex-math|alternatives|xref|ext-link|title"
    r"|small|object|named-content|styled-content|sec|underline|monospace|disp-formula|label"
    r"|math|mi|mn|mo|ms|mrow|msu[bp]|msubsup|mtext|mspace|mfrac|msqrt|mstyle|mover|munder|semantics"
    r"|(?:mml|jats|xlink):[a-z-]+)(?:\s++[\w:-]++\s*+=[^<>]*+|\s*+)/?\s*+>",
    re.IGNORECASE,
)
_LETTER_TAG = re.compile(r"<\s*+(/?)\s*+([abipqsuABIPQSU])(\s++[\w:-]++\s*+=[^<>]*|\s*+)(/?)\s*+>")
# After a word, the sign belongs to the number: "of ∼ 10" becomes "of ∼10". "z ∼ 3" is unchanged.
_APPROXIMATELY = re.compile(r"(^|[(\[]|[,;:] |\s[A-Za-z][a-z]+ )([∼≈≲≳]) (?=\d)")
_LOOSE_STOP = re.compile(r" ([.,)])(?=[\s.,)]|$)")
_MARKUP = (
    "\\",
    "$",
    "{",
    "}",
    "&",
    "<",
    "~",
    "^",
    "`",
    "--",
    "''",
    "  ",
    " ,",
    " .",
    " )",
    "( ",
    " URL",
)
_NO_ABSTRACT = re.compile(
    r"[\[(]*(?:(?:the |an )?(?:abstract )?(?:is )?(?:not|un)[- ]?(?:available|provided|given)"
    r"(?: for this \w+)?|(?:there is |th(?:is|e) \w+ has )?no (?:abstract|summary)"
    r"(?: (?:is |was )?\w+)?(?: for this \w+)?"
    r"|abstract|n/?a|none|null|nan|unknown|(?:inter)?national audience|to be (?:added|announced)"
    r"|(?:see|refer to|please see|please refer to)[^.]{0,60}(?:text|paper|pdf|abstract)|tb[ad]"
    r"|abstract image available\b.*|comments?\s?:(?:[^.]{0,60}(?:\.|$)){1,5}"
    r"|(?<!\d)\d{1,4} pages?\b.{0,200}"
    r"|[-–—.?\s]*+)[\])]*[.\s…]*+",
    re.IGNORECASE | re.DOTALL,
)
# Text before and after the abstract in exports of publishers and repositories.
_LABEL = re.compile(
    r"(?:(?:ABSTRACT|Abstract)\s?[:.—–-]?|Summary\s?[:.—–-]"
    r"|(?:Inter)?[Nn]ational audience\s?[;:.—–-]?)"
    r"\s*+(?=[A-Z\d“(])"
)
_TAIL = re.compile(
    r"(?<=[.!?)])\s?(?:\(?©|\([cC]\)\s?(?=(?:19|20)\d\d|the|copyright)"
    r"|copyright\b(?=\s?(?:©|\(c\)|(?:19|20)\d\d|by\b))"
    r"|published (?:by|under licen[cs]e by) [^.]{0,60}?(?:society|press|publishing|publishers"
    r"|elsevier|wiley|springer|institute|ltd|inc)\b"
    r"|key ?words?: |all rights (?:are )?reserved\b|this (?:is an|article is) open[- ]access\b"
    r"|comments?: (?=[^.]{0,99}\b(?:pages?|pp|figures?|figs?)\b))",
    re.IGNORECASE,
)
_ONLY_TAIL = re.compile(r"(?:©|copyright (?:©|\(c\)|(?:19|20)\d\d)|published by )", re.IGNORECASE)
_MAX_NOTICE, _MAX_TAIL = 150, 400  # characters
_TILDE = "\ue07e"  # see `textasciitilde` in data/latex.yaml
_BRACES = r"\{((?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]*+\})*+\})*+)\}"
_TWO_FORMS = re.compile(rf"\\texorpdfstring\s*+{_BRACES}\s*+{_BRACES}", re.DOTALL)
_IF_MATHS = re.compile(
    r"\\ifmmode\b\s*+((?:(?!\\else\b|\\fi\b).){0,300})"
    r"(?:\\else\b\s*+((?:(?!\\fi\b).){0,300}))?\\fi\b",
    re.DOTALL,
)
_BLOCK = re.compile(r"</?(?:jats:)?(?:br|li|p|title|sec|label|div)\b", re.IGNORECASE)
_SECTION = re.compile(
    r"<(?:jats:)?title\s?>\s?(?:Abstract|Summary)\s?[.:]?\s?</(?:jats:)?title\s?>", re.IGNORECASE
)
_ANY_TAG = re.compile(r"(</?(?:[\w-]{1,20}:)?[a-zA-Z][\w-]{0,30}(?:\s[^<>]{0,2000})?>)")
_FORMULAS = {"inline-formula", "disp-formula", "alternatives"}
_MATHML = re.compile(
    r"<(?:\w{1,9}:)?math\b(?:(?!</?(?:\w{1,9}:)?math\b).){0,20000}</(?:\w{1,9}:)?math\s?>",
    re.DOTALL,
)
_PREFIX = re.compile(r"(</?)\w{1,9}:|\s(?:xmlns|xlink|\w{1,9}):?\w*=(?:\"[^\"<>]*\"|'[^'<>]*')")
# Sections of SGML and XML around TeX, and MathML beside it.
_SECTIONS = re.compile(
    r"<(?:\?CDATA\s|!\[CDATA\[)((?:(?!\?>|\]\]>).){0,5000})(?:\?>|\]\]>)|<\?MML\b[^>]{0,5000}\?>",
    re.DOTALL,
)
# Powers and indices in abstracts of the 1990s in ADS: "10^6^ galaxies", "M_sun_".
_OLD_SCRIPT = re.compile(r"(?<=\d)\^([+-]?\d{1,3})\^|(?<=\b[A-Z])_([A-Za-z]{1,5})_(?!\w)")
# Zotero and Mendeley escape the TeX of an abstract: \\$z{\\textbackslash}sim0\\$, 10{\\^{}}5.
_IS_ESCAPED = re.compile(
    r"\{\\(?:textbackslash\}(?=[a-zA-Z\\{])|\^\{\}\}|[$_{}]\})|\\textbackslash [a-z]"
)
_ESCAPES = re.compile(
    r"\{\\(?:(textbackslash)|(textasciicircum|\^\{\})|([{}$_%&#]))\}"
    r"|\\(?:(textbackslash )|(\^\{\})|([{}$_%&#]))"
)
_BACKSLASH = re.compile(r"\{\\backslash\}(?=[a-zA-Z])|\\backslash(?=[a-zA-Z])")
# The line breaks of ADS, which may be joined to the next word.
_BREAKS = re.compile(r"(?:\\textbackslash(?:\{\})?\s*+){2}")
# arXiv replaces links by "this https URL". Remove this text with its brackets.
_LINK = r"this\s+(?:https?|ftp)\s+URL\b"
_LINKS = rf"{_LINK}(?:(?:\s*,)?(?:\s+(?:and|or))?\s+{_LINK})*"
_LINK_PLACE = re.compile(
    rf"(?:(?<!\s)\s++|(?!\s))[(\[]\s*+(?:\w{{1,20}} (?:at|on) |see |at |via )?{_LINKS}\s*+[)\]]"
    rf"|(?:(?:^|(?<!\s)\s++)(?:at|from|via|on|in|under|see))?"
    rf"(?:^|:\s++|(?<![\s:])\s++|\b){_LINKS}"
)
_PARENTHESIS = re.compile(r"([()])")
_MANY_PASSES = 12


def clean_text(text: str) -> str:
    r"""Convert a title or abstract from a source to plain, readable Unicode.

    HTML and ADS markup, entities, LaTeX, ligatures and white space are converted. Invisible and
    control characters are removed. Comparisons such as ``p<0.05`` are kept. A text that is already
    clean is returned unchanged. The function never raises an error.

    Parameters
    ----------
    text : str
        Title or abstract as given by the source.

    Returns
    -------
    str

    Examples
    --------
    >>> clean_text(r"Of $\sim 10^{6}\,M_\odot$, by   {\it et al.} \citep{x} <P />")
    'Of ∼10⁶ M⊙, by et al.'
    >>> clean_text("CO<SUB>2</SUB> at $p<0.05$ &amp; z &lt; 2")
    'CO₂ at p<0.05 & z < 2'
    """
    for _ in range(_MANY_PASSES):
        cleaned = _one_pass(text)
        if cleaned == text:
            return cleaned.replace(_TILDE, "~")
        text = cleaned
    # A malicious text can contain deeply nested markup, so all characters of markup are removed.
    return _one_pass(re.sub(r"[\\{}$&<~^_`'-]+|\bURL\b", " ", text))


def clean_abstract(text: str) -> str | None:
    """Clean an abstract, without its label and the notice of the publisher after it.

    None is returned for a placeholder such as "not available".
    """
    cleaned = clean_text(text)
    cleaned = _LABEL.sub("", cleaned, count=1) if _LABEL.match(cleaned) else cleaned
    if _NO_ABSTRACT.fullmatch(cleaned) or (
        len(cleaned) < _MAX_NOTICE and _ONLY_TAIL.match(cleaned)
    ):
        return None
    tail = _TAIL.search(cleaned, max(0, len(cleaned) - _MAX_TAIL))
    if tail is not None and cleaned.count(" ", 0, tail.start()) > 1:
        cleaned = cleaned[: tail.start()].rstrip()
    return cleaned


def without_parentheses(text: str) -> str:
    """Remove text in parentheses (also nested), such as affiliations."""
    kept: list[str] = []
    opened: list[int] = []  # places of open parentheses in `kept`
    for piece in _PARENTHESIS.split(text):
        if piece == ")" and opened:
            del kept[opened.pop() :]
            piece = " "
        elif piece == "(":
            opened.append(len(kept))
        kept.append(piece)
    return "".join(kept)


def _one_pass(text: str) -> str:
    if _is_plain(text):
        return text.strip(" ")
    if not text.isprintable() or _UNUSUAL.search(text):
        text = INVISIBLE.sub("", text)
        text = CONTROL.sub(" ", text)
    if not text.isascii():
        text = _COMPATIBILITY.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
        text = unicodedata.normalize("NFC", text)
    if "<" in text:  # before the entities, because MathML contains "&lt;"
        text = _without_markup(text)
    if "&" in text:
        text = _ENTITY.sub(lambda m: html.unescape(m[0]), text)
    text = latex_to_unicode(_with_plain_escapes(text))
    text = " ".join(text.split())
    if " URL" in text:
        text = _LINK_PLACE.sub("", text)
    if "( " in text or " ," in text or " ." in text or " )" in text:
        text = _LOOSE_STOP.sub(r"\1", text.replace("( ", "("))
    if any(sign in text for sign in _APPROXIMATE_SIGNS):
        text = _APPROXIMATELY.sub(r"\1\2", text)
    return text


def _with_plain_escapes(text: str) -> str:
    """Replace forms of TeX that other programs have written into a text."""
    if "\\textbackslash\\textbackslash" in text:
        text = _BREAKS.sub(" ", text)
    text = text.replace("{\\~{}}", _TILDE).replace("\\~{}", _TILDE)
    if "\\backslash" in text:  # Mendeley
        text = _BACKSLASH.sub(r"\\", text)
    if "{\\" in text and _IS_ESCAPED.search(text):
        text = _ESCAPES.sub(_unescaped, text)
    if "\\ifmmode" in text or "\\texorpdfstring" in text:
        text = _TWO_FORMS.sub(r"\1", text)
        text = _IF_MATHS.sub(lambda match: match[2] if match[2] is not None else match[1], text)
    if "^" in text or "_" in text:
        text = _OLD_SCRIPT.sub(lambda m: f"^{{{m[1]}}}" if m[1] else f"_{{{m[2]}}}", text)
    return text


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] or escape[4]:
        return "\\"
    return "^" if escape[2] or escape[5] else escape[3] or escape[6]


def _is_plain(text: str) -> bool:
    """Return whether a text is already clean. Most texts are clean, so this check saves time."""
    # isprintable() is False for control, format and surrogate characters and unusual spaces.
    if not text.isprintable() or any(mark in text for mark in _MARKUP):
        return False
    return text.isascii() or (
        unicodedata.is_normalized("NFC", text)
        and not any(sign in text for sign in _APPROXIMATE_SIGNS)
        and _UNUSUAL.search(text) is None
    )


def _one_form_of_formulas(text: str) -> str:
    """Keep the TeX of formulas of JATS that are also given as MathML."""
    out: list[str] = []
    tex: list[str] = []
    other: list[str] = []  # MathML of the formula
    depth = 0
    is_tex = False
    for place, piece in enumerate(_ANY_TAG.split(text)):
        name = piece.strip("</>").split(maxsplit=1)[0].rpartition(":")[2] if place % 2 else ""
        if name in _FORMULAS:
            depth = max(depth + (-1 if piece[1] == "/" else 1), 0)
            if depth == 0:
                out += [_bare_tex("".join(tex))] if tex else other
                tex, other, is_tex = [], [], False
        elif name == "tex-math":
            is_tex = piece[1] != "/"
        elif depth and is_tex:
            tex.append(piece)
        else:
            (other if depth else out).append(piece)
    return "".join([*out, _bare_tex("".join(tex)), *other])


def _bare_tex(tex: str) -> str:
    """Return a formula of TeX in dollar signs, without the preamble of a document."""
    content = tex.rpartition("\\begin{document}")[2].partition("\\end{document}")[0].strip()
    content = content.strip("{} \n")
    return content if "$" in content or not content else f"${content}$"


def _tex_of(mathml: str) -> str:
    """Convert MathML to TeX. Damaged MathML is unchanged."""
    try:
        plain = _NAMED.sub(lambda match: html.unescape(match[0]), _PREFIX.sub(r"\1", mathml))
        root = ElementTree.fromstring(plain)  # noqa: S314 - an element has no document type
    except (ElementTree.ParseError, ValueError):
        return mathml
    return _tex_of_element(root)


def _tex_of_element(element: ElementTree.Element, depth: int = 0) -> str:
    name = element.tag.rpartition("}")[2]
    if name.startswith("annotation") or depth > _MAX_DEPTH:
        return ""
    inner = [_tex_of_element(child, depth + 1) for child in element]
    if name in _SCRIPTS and len(inner) == len(_SCRIPTS[name]) + 1:
        scripts = zip(_SCRIPTS[name], inner[1:], strict=True)
        return inner[0] + "".join(f"{sign}{{{text}}}" for sign, text in scripts)
    if name == "mfrac" and len(inner) == 2:
        return f"\\frac{{{inner[0]}}}{{{inner[1]}}}"
    text = " ".join((element.text or "").split()) if name != "mtext" else element.text or ""
    return text + "".join(inner)


_NAMED = re.compile(r"&(?!lt;|gt;|amp;|#)\w{2,30};")
_SCRIPTS = {"msub": "_", "msup": "^", "msubsup": "_^", "munder": "_", "mover": "^"}


def _without_markup(text: str) -> str:
    if "<?" in text or "<![" in text:
        text = _SECTIONS.sub(lambda match: match[1] or "", text)
    if "tex-math" in text:
        text = _one_form_of_formulas(text)
    if "math" in text:
        text = _MATHML.sub(lambda match: _tex_of(match[0]), text)
    # Convert sub- and superscripts to LaTeX, so that both notations give the same result.
    text = _SCRIPT_TAG.sub(
        lambda m: "}" if m[1] else ("^{" if m[2].lower() == "sup" else "_{"), text
    )
    text = _TAG.sub(lambda m: " " if _BLOCK.match(m[0]) else "", _SECTION.sub(" ", text))
    if _LETTER_TAG.search(text):
        closed = {m[2].lower() for m in _LETTER_TAG.finditer(text) if m[1]}
        text = _LETTER_TAG.sub(
            lambda m: (
                (" " if m[2] in "pP" else "") if m[4] or m[1] or m[2].lower() in closed else m[0]
            ),
            text,
        )
    return text


_LATEX: dict[str, Any] = read_yaml(data_file("latex.yaml"))
_ACCENTS: dict[str, str] = _LATEX["accents"]  # combining character of each macro
_ESCAPED: dict[str, str] = _LATEX["escaped"]
_SUFFIXES: dict[str, str] = _LATEX["suffixes"]
_SWITCHES, _SPACES, _TRANSPARENT, _DROPPED = (
    frozenset(_LATEX[name].split()) for name in ("switches", "spaces", "transparent", "dropped")
)
# Spaces around relations and binary operators are kept as in the source.
_OPERATORS = frozenset("∼≈≃≲≳≤≥≪≫≡≠∝±∓×÷·→←↔⇒⇔∈∉⊂∪∩∧∨≅≍≶≷/=<>|⟶")
_SUPERSCRIPTS = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_ROMAN_NUMERALS: list[str] = _LATEX["roman_numerals"].split()
# Escaped characters are also matched, so that the dollar sign of "\$5" does not start a formula.
_MATHS = re.compile(
    r"\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]|\\."
    r"|\$\$([^$]{1,2000})\$\$|\$((?:[^$\\]|\\.){1,2000})\$",
    re.DOTALL,
)
_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|[{}\[\]^_~&$]|[^\\{}\[\]^_~&$]+|\\", re.DOTALL)
_SUBSCRIPT_MACROS = ("\\odot", "\\oplus", "\\star", "\\rm")
_TEXT_POWER = re.compile(r"([+\-−]?\d{1,3})(?![\d.,/]{0,20}\d|\w)")
_PROSE = re.compile(r"[A-Za-z]{3}\s++[A-Za-z]{2,}+\s|\s[A-Za-z]{3,}+\s++$")
_SIGNED_NUMBER = re.compile(r"[+\-−±]\s*+(?:\d++(?:\.\d++)?|\.\d++)\s*+%?")
_INTEGER = re.compile(r"[+\-−]?\d+")
_NOTE_MARKS = re.compile(r"(?<!\d)\d++(?:[,–-]\d++)++")
_ROMAN = re.compile(r"[ivxIVX]+")
_COMPOUND = re.compile(r"[\s=+/<>∼≤≥]|(?<=.)[-−]")
_QUANTITY = re.compile(r"(?:\b[zn]|\bredshifts?)$")  # "z~2" means "about", "NGC~1275" does not
_TEXT_MARKS = ("\\", "{", "}", "~", "^", "`", "--", "''")
_MAX_DEPTH = 40


def latex_to_unicode(text: str) -> str:
    """Convert LaTeX to readable Unicode. Other text and white space are unchanged."""
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return _text(text)
    pieces: list[str] = []
    start = 0
    for match in _MATHS.finditer(text):
        content = next((group for group in match.groups() if group is not None), None)
        if content is None:
            continue
        if not set(content) & set("\\^_{}=<>") and _PROSE.search(content):
            continue  # text between two dollar amounts, not a formula
        pieces.append(_text(_untied(text[start : match.start()], after=start > 0, before=True)))
        pieces.append(_maths(content))
        start = match.end()
    pieces.append(_text(_untied(text[start:], after=start > 0, before=False)))
    return "".join(pieces)


def _untied(text: str, *, after: bool, before: bool) -> str:
    """Replace ``~`` next to a formula by a space, as in "Fig.~$3$" and "$10^4$~K"."""
    if after and text.startswith("~"):
        text = f" {text[1:]}"
    if before and text.endswith("~") and _QUANTITY.search(text[:-1]):
        text = f"{text[:-1]}∼"
    elif before and text.endswith("~") and (text[-2:-1].isalnum() or text[-2:-1] in (".", ")")):
        text = f"{text[:-1]} "
    return text


@lru_cache(maxsize=1 << 16)
def _maths(content: str) -> str:
    # The result is cached because most formulas are repeated, such as "\sim" or "M_\odot".
    return " ".join(_Conversion(content).convert(maths=True).split())


def _text(text: str) -> str:
    if not any(mark in text for mark in _TEXT_MARKS):
        return text
    return _Conversion(text).convert(maths=False)


@cache
def _symbols() -> dict[str, str]:
    """Return the Unicode text of LaTeX macros, from pylatexenc and a table of astronomy macros."""
    from pylatexenc.latex2text import get_default_latex_context_db

    table: dict[str, str] = {}
    for spec in get_default_latex_context_db().iter_macro_specs():
        symbol = spec.simplify_repl
        # Skip templates with arguments ("%s") and placeholders.
        if isinstance(symbol, str) and spec.macroname.isalpha() and symbol and "%" not in symbol:
            # If several categories define a macro, the first one has priority, as in pylatexenc.
            table.setdefault(spec.macroname, symbol)
    ours: dict[str, str] = _LATEX["symbols"]
    table |= _LATEX["text_symbols"]
    return table | {name: text for text, names in ours.items() for name in names.split()}


#: Macros of letters. As in TeX, they end at the space after them.
_LETTERS = frozenset(_LATEX["letters"].split())


class _Conversion:
    """Converter from LaTeX to Unicode. It runs in linear time and never raises an error."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(text)
        self.at = 0
        self.depth = 0

    def convert(self, *, maths: bool, closing: str | None = None) -> str:
        """Convert the tokens up to and including `closing`. If it is None, convert all tokens."""
        if self.depth >= _MAX_DEPTH:
            return ""
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
                    out.append(_small_caps(self.convert(maths=maths, closing=closing)))
                    break
                out.append(self._macro(name, out, maths=maths))
            elif first == "{":
                out.append(self.convert(maths=maths, closing="}"))
            elif first in "^_":
                out.append(self._scripts(first, out, maths=maths))
            elif first == "~":
                out.append(self._tie(out, maths=maths))
            elif first == "}" or (maths and first in "&$"):
                continue
            elif maths:
                out.append(token.replace("''", "″").replace("'", "′"))
            else:
                out.append(_typography(token))
        return "".join(out)

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _argument(self, *, maths: bool) -> str:
        """Read the next group, macro or single character."""
        self._skip_space()
        following = self._next()
        if following in ("", "}"):
            return ""
        self.at += 1
        if following == "{":
            return self.convert(maths=maths, closing="}").strip()
        if following[0] == "\\":
            if self.depth >= _MAX_DEPTH:
                return ""
            self.depth += 1
            if following[1:] in _SWITCHES:  # M_\rm V
                self._switch(following[1:])
                found = self._argument(maths=maths)
            else:
                found = self._macro(following[1:].rstrip("*") or following[1:], [], maths=maths)
            self.depth -= 1
            return found
        if len(following) > 1:
            self.at -= 1
            self.tokens[self.at] = following[1:]
        return following[0]

    def _skip_option(self) -> None:
        if self._next() == "[":
            self.at += 1
            self.convert(maths=True, closing="]")

    def _skip_space(self) -> None:
        while self._next()[:1].isspace():
            rest = self.tokens[self.at].lstrip()
            if rest:
                self.tokens[self.at] = rest
                return
            self.at += 1

    def _macro(self, name: str, out: list[str], *, maths: bool) -> str:
        if name in _ACCENTS and (len(name) > 1 or not maths or name == "c"):
            return _accented(self._argument(maths=maths), _ACCENTS[name])
        if not name.isalpha():
            return _ESCAPED.get(name, "" if name.isascii() else name)
        if name in _SWITCHES:
            return self._switch(name)
        if name in _SPACES:
            return " "
        if name in _TRANSPARENT:
            return self._argument(maths=maths)
        if name in _DROPPED or name.startswith("cite"):
            self._skip_option()
            self._skip_option()
            self._argument(maths=maths)
            return ""
        if name in _ONE_ARGUMENT or name in _TWO_ARGUMENTS:
            return self._structure(name, maths=maths)
        return self._symbol(name, out, maths=maths)

    def _switch(self, name: str) -> str:
        self._skip_space()
        token = self._next()
        if token and name.startswith(("left", "right", "big", "Big")):
            angle = {"<": "⟨", ">": "⟩"}.get(token[0], "")
            if token[0] == "." or angle:
                self.tokens[self.at] = token[1:] or " "
                return angle
        return ""

    def _symbol(self, name: str, out: list[str], *, maths: bool) -> str:
        symbol = _symbols().get(name)
        if symbol is None:
            return name  # macro defined by the author; its name is often the printed text
        spaced_before = bool(out) and out[-1][-1:].isspace()
        is_word = len(symbol) > 1 and symbol[-1:].isalpha()  # such as "log g" or "km s⁻¹"
        keeps_space = is_word or (symbol in _OPERATORS and spaced_before)
        is_letter = name in _LETTERS
        if (maths or is_letter or not symbol.isalpha()) and not keeps_space:
            self._skip_space()
        if maths and is_word and symbol.isascii() and symbol.isalpha():
            # Keep a space between a function and its argument: "log L", not "logL".
            before = " " if out and out[-1][-1:].isalnum() else ""
            following = self._next()[:1]
            after = " " if following.isalnum() or following == "\\" else ""
            return f"{before}{symbol}{after}"
        return symbol

    def _structure(self, name: str, *, maths: bool) -> str:
        if name in ("sqrt", "SI", "qty", "ce", "ch", "textcolor", "href"):
            self._skip_option()
        first = self._argument(maths=maths)
        if name in _TWO_ARGUMENTS:
            return _TWO_ARGUMENTS[name](first, self._argument(maths=maths))
        return _ONE_ARGUMENT[name](first)

    def _scripts(self, sign: str, out: list[str], *, maths: bool) -> str:
        """Convert a superscript, a subscript, or both."""
        before = out[-1] if out else ""
        opens = self._next() in _SUBSCRIPT_MACROS if sign == "_" else self._next()[:1] == "\\"
        # Outside a formula, "_" or "^" can be part of a word, as in "file_name".
        if not maths and not opens and self._next()[:1] != "{":
            return self._plain_script(sign, before)
        argument = self._argument(maths=maths or sign == "_")
        following = self._next()
        if following not in ("^", "_") or following == sign:
            return _script(sign, argument, before)
        self.at += 1
        other = self._argument(maths=maths)
        up, down = (argument, other) if sign == "^" else (other, argument)
        if _SIGNED_NUMBER.fullmatch(up) and _SIGNED_NUMBER.fullmatch(down):
            gap = " " if before and not before[-1:].isspace() else ""
            return f"{gap}({up}/{down})"
        return _script("_", down, before) + _script("^", up, before)

    def _plain_script(self, sign: str, before: str) -> str:
        following = self._next()
        power = _TEXT_POWER.match(following) if sign == "^" and before[-1:].isalnum() else None
        if power is None:
            return sign
        self.tokens[self.at] = following[power.end() :] or " "
        if not following[power.end() :]:
            self.at += 1
        return power[1].translate(_SUPERSCRIPTS)

    def _tie(self, out: list[str], *, maths: bool) -> str:
        """Convert ``~``, which is a space in LaTeX but often means "about" in plain text."""
        before = out[-1][-1:] if out else ""
        following = self._next()[:1]
        tied = before and not before.isspace() and before not in "([{</=≥≤–-"
        if tied and following.isdecimal() and _QUANTITY.search("".join(out[-3:])):
            return "∼"
        if maths or (tied and following and not following.isspace()):
            return " "
        return "∼"


def _script(sign: str, argument: str, before: str) -> str:
    """Convert a sub- or superscript. Digits become Unicode; letters keep "^" or "_" (M_BH)."""
    argument = re.sub(r"(?:(?<!\s)\s++)?+([,;])\s*+", r"\1", argument.strip())
    if not argument:
        return ""
    if argument in _SUFFIXES or set(argument) <= set("′″*†‡"):
        return _SUFFIXES.get(argument, argument).replace("′′", "″")
    if _INTEGER.fullmatch(argument) or argument in "+-−":
        return argument.translate(_SUPERSCRIPTS if sign == "^" else _SUBSCRIPTS)
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
    if _SIGNED_NUMBER.fullmatch(argument):
        return f"^{argument}"
    if before:
        return None
    # At the start of a formula, a superscript is a unit (hours), a footnote or part of a name.
    if _NOTE_MARKS.fullmatch(argument):
        return argument.translate(_SUPERSCRIPTS)
    plain = argument in "hmsd" or (argument[0].isdigit() and argument.isalnum())
    return argument if plain else None


def _accented(base: str, combining: str) -> str:
    base = {"ı": "i", "ȷ": "j"}.get(base, base)
    if len(base) != 1 or not base.isalpha():
        return base
    return unicodedata.normalize("NFC", base + combining)


def _small_caps(text: str) -> str:
    """Convert Roman numerals to capitals, such as ionisation stages in small capitals."""
    return _ROMAN.sub(lambda m: m[0].upper(), text) if _ROMAN.fullmatch(text.strip()) else text


def _ion(element: str, stage: str) -> str:
    if stage.isdecimal() and int(stage) < len(_ROMAN_NUMERALS):
        stage = _ROMAN_NUMERALS[int(stage)]
    return f"{element} {_small_caps(stage)}"


def _chemistry(formula: str) -> str:
    return re.sub(r"(?<=[A-Za-z)])\d+", lambda m: m[0].translate(_SUBSCRIPTS), formula)


def _fraction(above: str, below: str) -> str:
    return "/".join(f"({t})" if re.search(r"[\s+\-−/=×]", t) else t for t in (above, below))


def _root(text: str) -> str:
    return f"√{text}" if len(text) <= 1 or text.isdecimal() else f"√({text})"


def _code_point(text: str) -> str:
    match = re.fullmatch(r"(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))", text)
    if match is None:
        return ""
    number = int(match[1], 16) if match[1] else int(match[2])
    return chr(number) if 32 <= number < 0x110000 and not 0xD800 <= number < 0xE000 else ""


_ONE_ARGUMENT: dict[str, Callable[[str], str]] = {
    "sqrt": _root,
    "textsc": _small_caps,
    "ang": lambda text: f"{text}°",
    "enquote": lambda text: f"“{text}”",
    "unicode": _code_point,
    "not": lambda text: _LATEX["negated"].get(text, text),
    "over": lambda text: f"/{text}",
    **dict.fromkeys(("ce", "ch"), _chemistry),
    **dict.fromkeys(("textsuperscript", "sp"), lambda text: _script("^", text, "")),
    **dict.fromkeys(("textsubscript", "sb"), lambda text: _script("_", text, "")),
}
_TWO_ARGUMENTS: dict[str, Callable[[str, str], str]] = {
    "ion": _ion,
    **dict.fromkeys(("frac", "tfrac", "dfrac", "sfrac", "nicefrac"), _fraction),
    **dict.fromkeys(("SI", "qty"), lambda number, unit: f"{number} {unit}"),
    **dict.fromkeys(
        ("href", "textcolor", "texorpdfstring", "raisebox", "stackrel", "overset", "underset"),
        lambda _, text: text,
    ),
}


def _typography(text: str) -> str:
    """Convert LaTeX quotation marks and dashes to Unicode."""
    if "`" in text or "''" in text:
        text = re.sub(r"(?<=\d)''", "″", text)
        text = text.replace("``", "“").replace("''", "”").replace("`", "‘")
    if "--" in text:
        text = re.sub(r"(?<!-)---(?!-)", "—", text)
        text = re.sub(r"(?<![-<])--(?![->])", "–", text)
    return text
