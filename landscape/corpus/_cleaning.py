"""Titles and abstracts made readable: markup, LaTeX, entities, odd characters, white space."""

from __future__ import annotations

import html
import re
import unicodedata

from landscape.corpus._latex import latex_to_unicode

_APPROXIMATE_SIGNS = ("∼ ", "≈ ", "≲ ", "≳ ")
# Control, format and surrogate characters; bidirectional overrides among them, which could make
# a title display as something else than it says.
_INVISIBLE = re.compile(
    r"[\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNUSUAL = re.compile(r"[\ufb00-\ufb06\ufe00-\ufe0f\U0001d400-\U0001d7ff\U000e0100-\U000e01ef]")
_COMPATIBILITY = re.compile(r"[\ufb00-\ufb06\U0001d400-\U0001d7ff]+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

# Only names that are markup and nothing else are tags: "<B>" is also a mean field, "<0.05" a limit.
_SCRIPT_TAG = re.compile(r"<\s*(/?)\s*(sub|sup|inf)\s*>", re.IGNORECASE)
_TAG = re.compile(
    r"</?\s*(?:br|em|strong|italic|bold|span|div|font|img|tt|sc|li|ul|ol|h[1-6]|orcid|email|astrobj"
    r"|altjournal|inline|inline-formula|inline-graphic|tex-math|alternatives|xref|ext-link|title"
    r"|object|named-content|styled-content|sec|underline|monospace|disp-formula|label"
    r"|(?:mml|jats|xlink):[a-z-]+)(?:\s+[\w:-]+\s*=[^<>]*|\s*)/?\s*>",
    re.IGNORECASE,
)
_LETTER_TAG = re.compile(r"<\s*(/?)\s*([abipqsuABIPQSU])(\s+[\w:-]+\s*=[^<>]*|\s*)(/?)\s*>")
# "of ∼ 10" closes up, "z ∼ 3" does not: after a whole word the sign belongs to the number.
_APPROXIMATELY = re.compile(r"(^|[(\[]|[,;:] |\s[A-Za-z][a-z]+ )([∼≈≲≳]) (?=\d)")
_LOOSE_STOP = re.compile(r" ([.,)])(?=[\s.,)]|$)")
_NO_ABSTRACT = re.compile(
    r"(?:\[?\(?(?:abstract )?(?:is )?not available\)?\]?|no abstract(?: available)?|abstract|n/?a"
    r"|none|null|nan|unknown|[-–—.?\s]*)[.\s…]*",
    re.IGNORECASE,
)
# The text that arXiv puts in place of a link, with the words before and the brackets around it.
_LINK = r"this\s+(?:https?|ftp)\s+URL\b"
_LINKS = rf"{_LINK}(?:(?:\s*,)?(?:\s+(?:and|or))?\s+{_LINK})*"
_LINK_PLACE = re.compile(
    rf"\s*[(\[]\s*(?:\w+ (?:at|on) |see |at |via )?{_LINKS}\s*[)\]]"
    rf"|(?:(?:^|\s+)(?:at|from|via|on|in|under|see))?(?:^|:?\s+|\b){_LINKS}"
)
_INNERMOST = re.compile(r"\([^()]*\)")
_MANY_PASSES = 12
_ACCENTS = re.compile(r"[\u0300-\u036f]+")


def clean_text(text: str) -> str:
    r"""Turn a title or abstract as its source has it into plain, readable Unicode.

    ADS and HTML markup, entities, LaTeX accents and simple mathematics, ligatures, invisible and
    control characters and white space. Never raises, never leaves a control character, and
    cleaning a clean text changes nothing. Comparisons such as ``p<0.05`` are left alone.

    Parameters
    ----------
    text : str
        As it stands in the source.

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
            return cleaned
        text = cleaned
    # Text made to outwit us. What could still be read as markup is taken out, which settles it.
    return _one_pass(re.sub(r"[\\{}$&<~^_`'-]+|\bURL\b", " ", text))


def clean_abstract(text: str) -> str | None:
    """Clean an abstract; None where the source only says that there is none."""
    cleaned = clean_text(text)
    return None if _NO_ABSTRACT.fullmatch(cleaned) else cleaned


def one_line(text: str, *, most: int) -> str:
    """Join the words of a text by single spaces, without what cannot be printed, and cut it."""
    # Text far beyond the cut is ignored: an untrusted line may have a megabyte.
    visible = "".join(
        c if c.isprintable() else " " if c.isspace() or unicodedata.category(c) == "Cc" else ""
        for c in text[: 4 * most]
    )
    return " ".join(visible.split())[:most].strip()


def without_parentheses(text: str) -> str:
    """Remove parentheses (nested ones too) and their content, such as affiliations."""
    while (shorter := _INNERMOST.sub(" ", text)) != text:
        text = shorter
    return text


def differs_only_in_space(original: str, cleaned: str) -> bool:
    """Whether cleaning changed white space only."""
    return original == cleaned or " ".join(original.split()) == cleaned


def _one_pass(text: str) -> str:
    if _is_plain(text):
        return text.strip(" ")
    if not text.isprintable() or _UNUSUAL.search(text):
        text = _INVISIBLE.sub("", text)
        text = _CONTROL.sub(" ", text)
    if not text.isascii():
        text = _COMPATIBILITY.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
        text = unicodedata.normalize("NFC", text)
    if "&" in text:
        text = _ENTITY.sub(lambda m: html.unescape(m[0]), text)
    if "<" in text:
        text = _without_markup(text)
    text = latex_to_unicode(text)
    text = " ".join(text.split())
    if " URL" in text:
        text = _LINK_PLACE.sub("", text)
    if "( " in text or " ," in text or " ." in text or " )" in text:
        text = _LOOSE_STOP.sub(r"\1", text.replace("( ", "("))
    if any(sign in text for sign in _APPROXIMATE_SIGNS):
        text = _APPROXIMATELY.sub(r"\1\2", text)
    return text


def _is_plain(text: str) -> bool:
    """Whether there is nothing to do, which is so for most texts and must be found out fast."""
    # isprintable() is False for every control, format and surrogate character and odd space.
    if (
        not text.isprintable()
        or "\\" in text
        or "$" in text
        or "{" in text
        or "}" in text
        or "&" in text
        or "<" in text
        or "~" in text
        or "^" in text
        or "`" in text
        or "--" in text
        or "''" in text
        or "  " in text
        or " ," in text
        or " ." in text
        or " )" in text
        or "( " in text
        or " URL" in text
    ):
        return False
    return text.isascii() or (
        unicodedata.is_normalized("NFC", text)
        and not any(sign in text for sign in _APPROXIMATE_SIGNS)
        and _UNUSUAL.search(text) is None
    )


def _without_markup(text: str) -> str:
    # Sub- and superscripts go on as LaTeX, so that both notations end alike.
    text = _SCRIPT_TAG.sub(
        lambda m: "}" if m[1] else ("^{" if m[2].lower() == "sup" else "_{"), text
    )
    text = _TAG.sub(lambda m: " " if m[0][1:3].lower() in ("br", "li") else "", text)
    if _LETTER_TAG.search(text):
        closed = {m[2].lower() for m in _LETTER_TAG.finditer(text) if m[1]}
        text = _LETTER_TAG.sub(
            lambda m: (
                (" " if m[2] in "pP" else "") if m[4] or m[1] or m[2].lower() in closed else m[0]
            ),
            text,
        )
    return text
