"""Read word lists, split texts into words and sentences, and normalise phrases."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

Sections = dict[str, list[str]]

WORD = re.compile(r"[^\W_]+")
"""A run of letters and digits. Words of a search are those of `tokenise`."""


@dataclass(frozen=True)
class Lexicon:
    """Lists of word classes, units, catalogues and names for the rule-based tagger."""

    classes: dict[str, str]
    nouns: frozenset[str]
    units: frozenset[str]
    catalogues: frozenset[str]
    proper: frozenset[str]
    name_heads: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Return the words with known forms."""
    names = read_sections("names")
    nouns = read_sections("nouns")["noun"]
    classes = dict.fromkeys(nouns, "NOUN")
    adjectives = read_sections("adjectives")
    classes |= dict.fromkeys(adjectives["NOUN"], "NOUN")
    _add_verbs(classes, read_sections("verbs"))
    classes |= dict.fromkeys(adjectives["ADJ"], "ADJ")
    for word in adjectives["ADJ-NOUN"]:
        if not classes.get(word, "").startswith("verb-noun"):
            classes[word] = "adj-noun"
    participles = read_sections("nouns_ing")
    classes |= dict.fromkeys(participles["adjective"], "ing-adjective")
    classes |= dict.fromkeys(participles["noun"], "ing-noun")
    adverbs = read_sections("adverbs")
    classes |= dict.fromkeys(adverbs["ADV"], "ADV")
    for section, words in adverbs.items():
        if section.startswith("not-adverb"):
            classes |= dict.fromkeys(words, section.split()[1])
    for part_of_speech, words in read_sections("closed").items():
        classes |= dict.fromkeys(words, part_of_speech)
    return Lexicon(
        classes=classes,
        nouns=frozenset(nouns),
        units=frozenset(names["unit"]),
        catalogues=frozenset(names["catalogue"]),
        proper=frozenset(names["proper"]),
        name_heads=frozenset(names["name-head"]),
    )


def read_sections(name: str) -> Sections:
    """Read a word list that is divided into sections."""
    sections: Sections = {}
    current: list[str] = []
    text = (files("landscape.text") / "lexicon" / f"{name}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        heading = re.fullmatch(r"\[(.+)\]", line)
        if heading:
            current = sections.setdefault(heading.group(1), [])
        elif not line.startswith("#"):
            current.extend(line.split("|") if "|" in line else line.split())
    return sections


def _add_verbs(classes: dict[str, str], verbs: Sections) -> None:
    for base in verbs["verb"]:
        classes[base] = "VERB"
        classes[third_person(base)] = "VERB"
    for base in verbs["verb-noun"]:
        classes[base] = "verb-noun"
        classes[third_person(base)] = "verb-noun-s"
    for word in verbs["mostly-verb"]:
        if classes.get(word) == "verb-noun-s":
            classes[word] = "verb-s"
    classes.update(dict.fromkeys(verbs["irregular"], "VERB"))
    classes.update(dict.fromkeys(verbs["participle-adjective"], "ed"))


def third_person(base: str) -> str:
    """Return the third person singular of a verb, such as "applies" or "shows"."""
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


_PLURALS = read_sections("plurals")

GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψω", _PLURALS["greek"], strict=True))
"""Names of the lower-case Greek letters."""

_GREEK_NAMES = GREEK | {"ϵ": "epsilon", "ϑ": "theta", "ς": "sigma", "ϕ": "phi"}


_UNCHANGED = frozenset(_PLURALS["unchanged"])
_ICS_PLURALS = frozenset(_PLURALS["ics-plural"])
_IRREGULAR, _BRITISH = (
    dict(zip(words[::2], words[1::2], strict=True))
    for words in (_PLURALS["irregular"], _PLURALS["british"])
)

# A hyphen after these prefixes is removed, as in "sub-millimetre" or "multi-wavelength".
_PREFIX = re.compile(
    r"\b(multi|non|sub|super|hyper|ultra|inter|intra|extra|proto|micro|macro|nano|semi|anti|"
    r"magneto|hydro|spectro|photo|astro|geo|helio|circum|trans|pseudo|quasi|over|under|re|co|"
    r"pre|post|bi|tri|un|meta|para|thermo|electro|aero|gyro|cryo|iso|mono|poly|auto|asteroseismo)"
    r"[-‐‑‒–−](?=[a-z]{3})"
)
_DASHES = re.compile(r"[-‐‑‒–—−/_\s]+")
_NOISE = re.compile(r"[^\w\s+*.]|(?<!\w)[.+*]+|\.+(?!\w)")
_PLAIN = re.compile(r"[a-z0-9 -]*")
_GREEK_LETTER = re.compile("([" + "".join(_GREEK_NAMES) + "])")


@lru_cache(maxsize=200_000)
def normal_form(phrase: str) -> str:
    """Return the normal form of a phrase, which is the same for all spellings of the phrase.

    The phrase is converted to lower case and American spelling, and its last noun to the singular.
    Accents and compatibility characters are replaced, Greek letters become words, and hyphens
    become spaces.
    """
    return _normalise(phrase)


def normal_forms(phrases: Sequence[str]) -> list[str]:
    """Return the normal forms of phrases. Repeated phrases are processed only once."""
    known = {phrase: _normalise(phrase) for phrase in dict.fromkeys(phrases)}
    return [known[phrase] for phrase in phrases]


@lru_cache(maxsize=200_000)
def singular(word: str) -> str:
    """Return the singular of a lower-case English noun, such as "galaxy", "nova" or "lens"."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 3 or word[-1] != "s" or word in _UNCHANGED or not word[-2].isalpha():
        return word
    for ending, rule in _ENDINGS:
        if word.endswith(ending):
            return rule(word)
    return word[:-1]


def spellings(word: str) -> frozenset[str]:
    """Return the British and American spellings of a lower-case noun in the singular.

    >>> sorted(spellings("disk"))
    ['disc', 'disk']
    """
    american = normal_form(word)
    known = {british for british, other in _BRITISH.items() if other == american}
    return frozenset({word, american, *known, american.replace("ization", "isation")})


def _normalise(phrase: str) -> str:
    text = phrase.lower()
    if _PLAIN.fullmatch(text):  # frequent case; it is fast because the words are cached
        words = [part for word in text.split() for part in _plain_parts(word)]
    else:
        words = _parts(text)
    if words:
        last = singular(words[-1])
        words[-1] = _BRITISH.get(last, last)
    return " ".join(words)


def _parts(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", text).lower()
    if not text.isascii():
        text = _GREEK_LETTER.sub(lambda found: " " + _GREEK_NAMES[found.group(1)] + " ", text)
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(mark for mark in decomposed if not unicodedata.combining(mark))
    text = text.replace("'s ", " ").replace("’s ", " ")
    words = _NOISE.sub(" ", _DASHES.sub(" ", _PREFIX.sub(r"\1", text))).split()
    return [_BRITISH.get(word) or _american(word) for word in words]


@lru_cache(maxsize=200_000)
def _plain_parts(word: str) -> tuple[str, ...]:
    return tuple(_parts(word))


def _american(word: str) -> str:
    if word.endswith(("isation", "isations")) and len(word) > 9:
        return word.replace("isation", "ization")
    return word


_ENDINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("ss", lambda word: word),
    ("us", lambda word: word),
    ("is", lambda word: word),
    # "dynamics" and "optics" are research fields, but "metrics" and "topics" are plurals.
    ("ics", lambda word: word[:-1] if word in _ICS_PLURALS else word),
    ("ies", lambda word: word[:-3] + "y" if len(word) > 4 else word[:-1]),
    ("yses", lambda word: word[:-2] + "is"),
    ("sses", lambda word: word[:-2]),
    ("shes", lambda word: word[:-2]),
    ("ches", lambda word: word[:-2]),
    ("xes", lambda word: word[:-2]),
    ("s", lambda word: word[:-1]),
)


_STEM_ENDINGS = (
    "ational", "ation", "ical", "ally", "ics", "ing", "ion", "ary", "ity", "ies", "al", "ic", "ed",
    "es", "e", "s", "y",
)  # fmt: skip  # longer endings before shorter endings


@lru_cache(maxsize=300_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case word, such as "accret" for "accretion"."""
    if len(word) > 5 and word.endswith(_STEM_ENDINGS):
        return word.removesuffix(next(end for end in _STEM_ENDINGS if word.endswith(end)))
    return word


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
    | [^\s@]{{1,64}}+@[^\s@]{{1,99}}\.\w+
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

# Character that replaces a formula. It is tagged as a number.
FORMULA = "▪"

_GREEK_COMMANDS = {name: letter for letter, name in GREEK.items()}
_GREEK_COMMANDS |= {name.capitalize(): letter.upper() for name, letter in _GREEK_COMMANDS.items()}
_GREEK_COMMANDS |= {
    f"var{name}": _GREEK_COMMANDS[name]
    for name in ("epsilon", "theta", "phi", "rho", "pi", "sigma")
}
_ACCENTS = dict(zip("'`\"^~c", "\u0301\u0300\u0308\u0302\u0303\u0327", strict=True))
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
_LEFT_MARKS = str.maketrans({"\\": " ", "{": "", "}": "", "~": " ", "$": " "})
_PLAIN_FORMULA = re.compile(r"\^?_?\{?[A-Za-z0-9α-ωΑ-Ω]{1,12}\}?")


def split_words(text: str) -> tuple[list[str], list[bool]]:
    """Split a text into words, and return whether a space follows each word."""
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
    """Split the text between two spaces into words. The result is cached."""
    found = tuple(word.replace("\u00a0", " ") for word in _TOKEN.findall(piece))
    return found, (False,) * (len(found) - 1) + (True,)


def readable(text: str) -> str:
    r"""Remove copyright statements, and convert LaTeX to plain words."""
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
    text = _COMMAND.sub(lambda m: _GREEK_COMMANDS.get(m.group(1), "\\"), text)
    text = _MATHS.sub(_formula, text)
    return text.translate(_LEFT_MARKS)


def _formula(match: re.Match[str]) -> str:
    inside = match.group(1)
    if _PLAIN_FORMULA.fullmatch(inside.strip()):
        return inside.strip(" ^_{}")
    return f" {FORMULA} " if inside.strip() else " "


# -- sentences -----------------------------------------------------------------------------------

_SENTENCE_END = re.compile(
    r"""
      (?<![.!?…。！？])(?P<mark>[.!?…。！？]++)(?P<closers>["'”’»)\]}]*+)(?P<gap>\s++)(?=\S)
    | (?<=[。！？])(?=[^\s。！？”’」』）])      # no spaces there
    | \n\s*\n                                # a paragraph
    """,
    re.VERBOSE,
)
# A full stop without a space before the next sentence, as in "of clusters.We find".
_GLUED = re.compile(r"(?<=[a-z]{3}[.])(?=(?:We|The|This|These|Our|In|It|However|For|A|An)\s)")

_SHORTENED = re.compile(
    r"(?:^|[\s(\[“\"'~–—/-])(?:"
    r"al|e\.g|i\.e|c?f|c\.f|figs?|eqs?|eqns?|refs?|secs?|sects?|tabs?|nos?|vs|resp|approx|ca|viz|"
    r"dr|prof|mr|mrs|ms|st|vol|ch|chap|app|incl|excl|jr|sr|univ|inst|dept|proc|lett|rev|phys|"
    r"astron|astrophys|a\.k\.a|w\.r\.t|i\.i\.d|obs|lum|temp|max|min|std|pp?|ed|eds|sp|"
    r"(?:[a-z]\.)*[a-z]"
    r")\.$",
    re.IGNORECASE,
)
# The full stop of these abbreviations can end a sentence, depending on the next word.
_ENDS_TOO = re.compile(r"(?:\bal|\betc|[\s.][A-Z]|\b[a-z])\.$")
_OPENER = re.compile(
    r"(?:We|The|This|These|Those|Our|In|It|Its|However|For|From|Here|Using|Based|By|At|As|There|"
    r"They|Thus|Therefore|Finally|Moreover|Furthermore|Although|While|When|With|To|Both|Such|"
    r"Since|Among|Also|If|On|Under|Only|Each|Most|Many|Some|All|Unlike|After|Because|Hence)\b"
)
_UNFINISHED = re.compile(
    r"[^A-Za-z\u00aa-\uffff]*"
    r"|(?:Context|Background|Introduction|Aims?|Purpose|Objectives?|Methods?|Results|Findings|"
    r"Discussion|Conclusions?)[.:]",
    re.IGNORECASE,
)
_MAX_UNFINISHED = 200  # maximum number of characters of text that cannot be a sentence
_LISTED = re.compile(r"[:;,]\s\(?\d{1,2}\.$")
_MAX_SHORTENED = 14  # number of characters before a full stop that are searched
_OPENING_MARKS = "([{\"'“‘«"


PARAGRAPH = "\u2029"
"""Paragraph separator, which parts texts that are read one after the other."""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Find the sentences of a text.

    Parameters
    ----------
    text : str
        Abstract or other text.

    Returns
    -------
    list of tuple of int
        Start and end of each sentence: ``text[start:end]`` is the sentence without surrounding
        white space. Every other character of the text belongs to one sentence. A paragraph
        separator (U+2029) always ends a sentence.

    Examples
    --------
    >>> text = "Smith et al. (2003) find z ~ 2. Fig. 3 shows M. dwarfs at 3.5 kpc. We agree."
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Smith et al. (2003) find z ~ 2.', 'Fig. 3 shows M. dwarfs at 3.5 kpc.', 'We agree.']
    """
    return list(_spans(text))


@lru_cache(maxsize=4096)
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    start = 0
    ends = {len(text), *(found.start() for found in re.finditer(PARAGRAPH, text))}
    for cut in sorted({*_cuts(text), *ends}):
        first, last = _without_space(text, start, cut)
        # Item numbers ("1."), single brackets and headings are part of the next sentence.
        if first < last and (cut in ends or not _is_unfinished(text, first, last)):
            spans.append((first, last))
            start = cut
    return tuple(spans)


def _is_unfinished(text: str, first: int, last: int) -> bool:
    short = last - first <= _MAX_UNFINISHED
    return short and _UNFINISHED.fullmatch(text, first, last) is not None


def _cuts(text: str) -> list[int]:
    cuts = {match.start() for match in _GLUED.finditer(text)}
    for match in _SENTENCE_END.finditer(text):
        if not match["mark"] or _ends_here(text, match):
            cuts.add(match.end())
    return sorted(cuts)


def _ends_here(text: str, match: re.Match[str]) -> bool:
    after = text[match.end() : match.end() + 40].lstrip(_OPENING_MARKS)
    if "\n\n" in match["gap"]:
        return True
    if after[:1].islower():
        return False
    if match["mark"] != "." or match["closers"]:
        return True
    before = text[max(0, match.start() - _MAX_SHORTENED) : match.start() + 1]
    if _LISTED.search(before):
        return False
    if _SHORTENED.search(before):
        return bool(_ENDS_TOO.search(before) and _OPENER.match(after))
    return True


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    return end - len(inside.lstrip()), start + len(inside.rstrip())
