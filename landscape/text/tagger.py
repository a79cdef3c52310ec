"""The built-in part-of-speech tagger: word lists, endings, and rules on the words around.

It serves where no trained model is installed. Its one task is to find noun phrases, so it spends
its rules on what breaks or makes one: verb or noun ("models predict", "stellar models"), participle
or verb ("the observed flux", "we observed"), name or number ("NGC 1275", "1275 galaxies").
The rules follow Brill (1995), Computational Linguistics 21, 543: first a guess from the word
alone, then corrections from its neighbours, left to right.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from landscape.text.lexicon import Lexicon, lexicon, read_sections
from landscape.text.phrases import singular
from landscape.text.words import FORMULA

NAME = "landscape-rules-2"

PARTS_OF_SPEECH = frozenset(
    [
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "CCONJ",
        "DET",
        "INTJ",
        "NOUN",
        "NUM",
        "PART",
        "PRON",
        "PROPN",
        "PUNCT",
        "SCONJ",
        "SYM",
        "VERB",
        "X",
    ]
)
_SETTLED = PARTS_OF_SPEECH - {"VERB"}
_NOMINAL = frozenset(
    ["NOUN", "PROPN", "ADJ", "verb-noun", "verb-noun-s", "verb-s", "adj-noun", "ing-noun"]
)
_NOMINAL_OR_PARTICIPLE = _NOMINAL | {"ing-adjective", "ed", "symbol", "number"}
_OBJECT_STARTS = frozenset(["DET", "PRON", "NUM", "ADV", "number", "that"])


_CONTEXT = {name: frozenset(words) for name, words in read_sections("context").items()}
_MODALS = _CONTEXT["modal"]
_SUBJECTS = _CONTEXT["subject"]
_HAVE_BE = _CONTEXT["have-be"]
_TO_NOUN = _CONTEXT["to-noun"]
_COMPOUND_PARTICIPLE = _CONTEXT["compound-participle"]
_OPENERS = _CONTEXT["opener"]
_AFTER_SYMBOL = _CONTEXT["after-symbol"]
_PLURALS = _CONTEXT["plural"]
_COMPOUND_NOUNS = _CONTEXT["compound-noun"]
_NOUN_PARTICIPLES = _CONTEXT["noun-participle"]
_SINGULAR_SENSE = _CONTEXT["singular-sense"]

_NUMBER = re.compile(r"[-+−±~]?[.\d][\d.,]*(?:[-–][\d.,]+)*(?:\^.*)?(?:st|nd|rd|th|%|σ|×)?")
_MEASURE = re.compile(
    r"[-+−]?\d[\d.,]*(?:[-–][\d.,]+)?[-‐‑–]?(?:m|km|cm|mm|μm|µm|um|nm|au|AU|[kMG]?pc|yr|[kMG]yr|days?|"
    r"years?|hours?|hr|min|minutes?|months?|weeks?|sec|seconds?|ms|s|h|d|K|mK|[kMGT]?Hz|[kMGTPE]?eV|"
    r"met(?:er|re)s?|microns?|deg|degrees?|arcsec|arcmin|mag|dex|sigma|σ|percent|fold|bit|inch|"
    r"ks|m?Jy|kg|g|G|[kM]G|T|W|Å|angstrom|parsecs?|ns|night|point|element|pixel|channel|"
    r"objects?|stars?|galaxies|[kM]?|M⊙|Msun|e|σ)"
)
_WORD = re.compile(r"[^\W\d_]")
_CAPITALISED = re.compile(r"[A-ZÀ-ÞŁŚŠŽ][a-zà-ÿłśšž'’]+(?:[-–][A-Za-z]?[a-z]+)*")
_SYMBOLIC = re.compile(r".*[_⊙☉⊕⋆★†′″⁺⁻^]|[α-ωϵϕϑ]{1,3}$|[a-zΑ-Ω]$")
_NOUN_ENDINGS = re.compile(
    r".*(?:tions?|sions?|ity|ities|ments?|ness|nesses|isms?|ances?|ences?|ics|ology|ologies|graphy|"
    r"metry|scopy|ships?|hoods?|ists?|phy|eters?|scopes?|graphs?|ators?)$"
)
_ADJECTIVE_ENDINGS = re.compile(
    r".*(?:[^aeiou]al|ial|ual|eal|ous|[a-z]{2}ic|[ts]ive|able|ible|[a-z]{3}ary|ful|less|ish|"
    r"[lnt]ar|[st]ory|ient|uent|rent|scent|[rtnd]ant|-like|-free|-based|-rich|-poor|-type|-dependent|"
    r"-independent|-scale|-size|-sized|-driven|-order|-dominated|-induced|-selected|-mass|"
    r"-resolution|-energy|-redshift|-dimensional|-forming|-term|-wide|-averaged|-body)$"
)


class Tagged(NamedTuple):
    """Parts of speech of one text.

    Attributes
    ----------
    tags : list of str, shape (n_words,)
        Universal parts of speech.
    lemmas : list of str, shape (n_words,)
        Lower case; nouns in the singular.
    starts : list of bool, shape (n_words,)
        Whether a sentence starts at the word.
    """

    tags: list[str]
    lemmas: list[str]
    starts: list[bool]


def tag_words(words: list[str]) -> Tagged:
    """Tag the words of one text and find where its sentences start.

    Parameters
    ----------
    words : list of str, shape (n_words,)
        As `landscape.text.words.split_words` gives them.

    Returns
    -------
    Tagged

    Examples
    --------
    >>> words = ["Stellar", "models", "predict", "the", "observed", "halo", "masses", "."]
    >>> tag_words(words).tags
    ['ADJ', 'NOUN', 'VERB', 'DET', 'ADJ', 'NOUN', 'NOUN', 'PUNCT']
    """
    return RuleTagger().tag(words)


class RuleTagger:
    """Tagger with a memory of the words it has met, for many texts.

    Parameters
    ----------
    remember : int, default 100_000
        Most words kept in the memory; it starts afresh when full.

    Examples
    --------
    >>> RuleTagger().tag(["Jets", "launch", "shocks"]).lemmas
    ['jet', 'launch', 'shock']
    """

    def __init__(self, *, remember: int = 100_000) -> None:
        self._lexicon = lexicon()
        self._remember = remember
        self._known = _Guesses(self._lexicon)

    def tag(self, words: list[str]) -> Tagged:
        """Tag one text; see `tag_words`."""
        known = self._known
        if len(known) > self._remember:
            known.clear()
        guesses = list(map(known.__getitem__, words))
        tags = [code for code, _ in guesses]
        lemmas = [lemma for _, lemma in guesses]
        starts = sentence_starts(words)
        if "capitalised" in tags:
            _settle_capitals(words, tags, starts, self._lexicon)
        # From left to right: before `place` stand parts of speech, behind it still word classes.
        for place, code in enumerate(tags):
            if code not in _SETTLED:
                if code == "VERB":
                    if place and tags[place - 1] == "DET":
                        tags[place] = _after_article(place, tags)
                else:
                    tags[place] = _RULES[code](place, words, tags, self._lexicon)
        return Tagged(tags, lemmas, starts)


class _Guesses(dict[str, tuple[str, str]]):
    """Word class and lemma of the words met so far."""

    def __init__(self, known: Lexicon) -> None:
        super().__init__()
        self._lexicon = known

    def __missing__(self, word: str) -> tuple[str, str]:
        guess = self[word] = _guess(word, self._lexicon)
        return guess


def sentence_starts(words: list[str]) -> list[bool]:
    """Say at which words a sentence starts.

    Parameters
    ----------
    words : list of str, shape (n_words,)
        Abbreviations keep their full stop, so one on its own ends a sentence.

    Returns
    -------
    list of bool, shape (n_words,)

    Examples
    --------
    >>> sentence_starts(["Yes", ".", "Smith", "et", "al.", "did", "."])
    [True, False, True, False, False, False, False]
    """
    starts = [False] * len(words)
    if words:
        starts[0] = True
    last = len(words) - 1
    for mark in (".", "!", "?"):
        place = -1
        while True:
            try:
                place = words.index(mark, place + 1)
            except ValueError:
                break
            after = place + 1
            while after <= last and words[after] in _CLOSERS:
                after += 1
            if after <= last and not words[after][0].islower():
                starts[after] = True
    shortened = [place for place, word in enumerate(words) if word[-1] == "." and len(word) > 1]
    for place in shortened:
        if place < last and words[place + 1] in _OPENERS:
            starts[place + 1] = True
    return starts


_CLOSERS = frozenset([")", "]", '"', "”", "’", "'", "''"])


def _guess(word: str, known: Lexicon) -> tuple[str, str]:
    """Word class and lemma from the word alone."""
    lower = word.lower()
    if lower == "that":
        return "that", lower
    if lower == "to":
        return "to", lower
    if not _WORD.search(word):
        return _guess_unlettered(word), lower
    if _CAPITALISED.fullmatch(word):
        return "capitalised", singular(lower)
    code = _guess_cased(word, known) if word != lower else _guess_lower(word, known)
    return code, singular(lower) if code in _SINGULAR else lower


_SINGULAR = frozenset(["NOUN", "PROPN", "verb-noun", "verb-noun-s", "capitalised", "ing-noun"])


def _guess_unlettered(word: str) -> str:
    if any(mark.isdigit() for mark in word):
        return "number" if _NUMBER.fullmatch(word) else "SYM"
    if word == FORMULA:
        return "NUM"
    return "PUNCT" if word in _PUNCTUATION else "SYM"


_PUNCTUATION = frozenset(".,;:!?()[]{}\"'`“”‘’«»—–-/…|")


def _guess_cased(word: str, known: Lexicon) -> str:
    if word[0].isdigit() or word[0] in "-+−.":
        return "NUM" if _MEASURE.fullmatch(word) and word not in _TWENTY_ONE else "PROPN"
    if len(word) == 1:
        return "symbol" if not _SYMBOLIC.match(word) else "SYM"
    if _SYMBOLIC.match(word):
        return "symbol"
    if word.startswith(("http", "www.")) or "@" in word or (word[-1] == "." and len(word) > 2):
        return "X"
    lower = word.lower()
    if word.isupper() and len(word) > 3 and known.classes.get(lower) in _CLOSED:
        return known.classes[lower]
    head, hyphen, _ = word.partition("-")
    if hyphen and head.lower() in _PREFIXES:
        return _guess_lower(lower, known)
    if hyphen and _ADJECTIVE_ENDINGS.match(lower):
        return "ADJ"
    if hyphen and lower.endswith("ed"):
        return "ed"
    return "PROPN"


_CLOSED = frozenset(["DET", "PRON", "ADP", "SCONJ", "CCONJ", "AUX", "PART", "ADV"])
_PREFIXES = frozenset(["non", "multi", "sub", "pre", "post", "anti", "super", "inter", "intra"])
_TWENTY_ONE = frozenset(["21cm", "21-cm", "21–cm"])


def _guess_lower(word: str, known: Lexicon) -> str:
    if word in known.classes:
        return known.classes[word]
    if word[0].isdigit():
        return "NUM" if _MEASURE.fullmatch(word) and word not in _TWENTY_ONE else "PROPN"
    if _SYMBOLIC.match(word):
        return "symbol"
    if "-" in word or "–" in word:
        return _guess_compound(word)
    if word.startswith(("http", "www.")) or "@" in word:
        return "X"
    return _guess_ending(word)


def _guess_ending(word: str) -> str:
    if len(word) > 3:
        for ending, code in _VERBAL_ENDINGS:
            if word.endswith(ending):
                return code
    if _NOUN_ENDINGS.match(word):
        return "NOUN"
    return "ADJ" if _ADJECTIVE_ENDINGS.match(word) else "NOUN"


_VERBAL_ENDINGS = (
    ("eed", "NOUN"),
    ("ize", "VERB"),
    ("ify", "VERB"),
    ("izes", "VERB"),
    ("ifies", "VERB"),
    ("ate", "verb-noun"),
    ("ings", "NOUN"),
    ("ly", "ADV"),
    ("ed", "ed"),
    ("ing", "ing"),
    ("est", "ADJ"),
)


def _guess_compound(word: str) -> str:
    """Word class of a hyphenated word in lower case: that of its last part, mostly."""
    tail = re.split("[-–]", word)[-1]
    if tail.endswith("ed") or tail in (
        "driven",
        "known",
        "bound",
        "built",
        "borne",
        "like",
        "free",
    ):
        return "ADJ"
    if tail.endswith("ing"):
        return "ADJ" if tail not in _COMPOUND_NOUNS else "NOUN"
    if tail.endswith("ly"):
        return "ADV"
    return "ADJ" if _ADJECTIVE_ENDINGS.match(word) else "adj-noun"


def _settle_capitals(
    words: list[str], codes: list[str], starts: list[bool], known: Lexicon
) -> None:
    """Tell names from common words that a title or the start of a sentence writes large.

    A capitalised word is common where the text also has it small, or where it opens a sentence or
    stands in a sentence written in title case and the word lists know it or its ending.
    """
    written = set(words)
    edges = [place for place, start in enumerate(starts) if start] + [len(words)]
    for begin, end in pairwise(edges):
        title_case = None
        for place in range(begin, end):
            if codes[place] != "capitalised":
                continue
            lower = words[place].lower()
            opens = place == begin or words[place - 1] in (":", "(", "—", "“", '"', ".", "-")
            head = lower.partition("-")[0]
            if head in known.proper and lower not in written:
                codes[place] = "PROPN"
                continue
            if not opens and title_case is None:
                title_case = _is_title_case(words, begin, end)
            if not (opens or title_case):
                small = known.classes.get(lower)
                codes[place] = small if small in _CLOSED else "PROPN"
            elif lower in written or head in known.classes or _common_ending(head):
                codes[place] = _guess_lower(lower, known)
            else:
                codes[place] = "PROPN"


def _is_title_case(words: list[str], begin: int, end: int) -> bool:
    long_words = small = 0
    for place in range(begin, end):
        word = words[place]
        if len(word) > 4 and word[0].isalpha():
            long_words += 1
            small += word[0].islower()
    return long_words > 0 and small * 3 <= long_words


def _common_ending(lower: str) -> bool:
    return bool(
        _NOUN_ENDINGS.match(lower)
        or (_ADJECTIVE_ENDINGS.match(lower) and len(lower) > 6)
        or lower.endswith(("ings", "ing", "ed", "ly"))
    )


# -- rules on the words around: each settles one ambiguous class ---------------------------------


def _verb_noun(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    """Base form that is noun or verb: "model", "trace", "host"."""
    if place == 0:
        return "NOUN"
    before, tag_before = words[place - 1].lower(), tags[place - 1]
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    if before == "to":
        if tag_before == "PART" and after not in ("PUNCT", "CCONJ", "AUX", "SCONJ"):
            return "VERB"
        return "VERB" if tag_before == "PART" else "NOUN"
    if before in _MODALS or before in _SUBJECTS:
        return "VERB"
    if tag_before == "ADV" and place > 1:
        two_before = words[place - 2].lower()
        if two_before in _MODALS or two_before in _SUBJECTS or tags[place - 2] in ("PRON", "PART"):
            return "VERB"
        if _is_plural(place - 2, words, tags) and after in _OBJECT_STARTS:
            return "VERB"
    if before == "that" and tag_before == "PRON":
        return "VERB"
    if _is_plural(place - 1, words, tags) and before not in _SINGULAR_SENSE:
        # a plural hardly ever stands before another noun: "haloes host galaxies"
        return "VERB" if after not in ("VERB", "AUX", "PUNCT", "CCONJ") else "NOUN"
    return "NOUN"


def _verb_noun_s(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    """Form in -s that is a plural or a verb: "models", "traces", "hosts"."""
    if place == 0:
        return "NOUN"
    before, tag_before = words[place - 1].lower(), tags[place - 1]
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    if before in ("it", "which", "who", "he", "she") or (before == "that" and tag_before == "PRON"):
        return "VERB"
    if before == "this" and after in _OBJECT_STARTS | {"ADP"}:
        return "VERB"
    singular_before = tag_before in ("NOUN", "PROPN") and not _is_plural(place - 1, words, tags)
    if singular_before and (after in _OBJECT_STARTS or after == "SCONJ"):
        return "VERB"
    if singular_before and words[place].lower() == "results" and words[place + 1 :][:1] == ["in"]:
        return "VERB"
    if tag_before == "ADV" and after in _OBJECT_STARTS:
        return "VERB"
    return "NOUN"


def _verb_s(place: int, words: list[str], tags: list[str], known: Lexicon) -> str:
    """Form in -s that is a plural only where its place leaves no choice: "yields", "hosts"."""
    if place and tags[place - 1] in ("NOUN", "PROPN", "PRON", "ADV"):
        return "VERB"
    return _verb_noun_s(place, words, tags, known)


def _past_participle(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    """Form in -ed: an adjective in "the observed flux", a verb in "we observed galaxies"."""
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    if after not in _NOMINAL_OR_PARTICIPLE and after not in ("ing", "ADV"):
        return "VERB"
    if place == 0:
        return "ADJ"
    before, tag_before = words[place - 1].lower(), tags[place - 1]
    if before in _HAVE_BE or before in _SUBJECTS or tag_before in ("AUX", "PRON"):
        return "VERB"
    if tag_before == "ADV" and place > 1:
        before = words[place - 2].lower()
        if before in _HAVE_BE or before in _SUBJECTS or tags[place - 2] in ("AUX", "PRON"):
            return "VERB"
    if after == "ADV" or before == ")":
        return "VERB"
    if tag_before in ("NOUN", "PROPN"):
        if _is_plural(place - 1, words, tags):
            return "VERB"
        return "ADJ" if words[place].lower() in _COMPOUND_PARTICIPLE else "VERB"
    return "ADJ"


def _ing(place: int, _: list[str], tags: list[str], __: Lexicon) -> str:
    """Form in -ing that no list knows."""
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    tag_before = tags[place - 1] if place else "PUNCT"
    if tag_before in ("DET", "ADJ", "PART") and after in _NOMINAL:
        return "ADJ"
    if tag_before in ("DET", "ADJ") and after in ("ADP", "PUNCT", "AUX", "VERB", "CCONJ"):
        return "NOUN"
    return "VERB"


def _ing_noun(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    """Name of a process, unless an object follows: "mapping the sky"."""
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    if after in ("DET", "PRON", "that", "SCONJ"):
        before = tags[place - 1] if place else "PUNCT"
        return "NOUN" if before in ("DET", "ADJ", "NOUN", "PROPN") and after != "DET" else "VERB"
    if place and words[place - 1].lower() in ("is", "are", "was", "were") and after in _NOMINAL:
        return "VERB"
    return "NOUN"


def _ing_adjective(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    """Adjective before a noun ("rotating stars"), else a verb ("stars rotating fast")."""
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    if after not in _NOMINAL_OR_PARTICIPLE and after != "ing":
        return "VERB"
    if place == 0:
        return "ADJ"
    if words[place - 1].lower() in _HAVE_BE:
        return "VERB"
    if tags[place - 1] in ("NOUN", "PROPN") and not _is_plural(place - 1, words, tags):
        return "ADJ" if words[place].lower() in _NOUN_PARTICIPLES else "VERB"
    return "VERB" if tags[place - 1] in ("NOUN", "PROPN") else "ADJ"


def _adjective_noun(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    if after in _NOMINAL_OR_PARTICIPLE:
        return "ADJ"
    if place and words[place - 1].lower() in _HAVE_BE:
        return "ADJ"
    return "NOUN"


def _to(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    """Particle of an infinitive or preposition."""
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    if after == "VERB":
        return "PART"
    if after == "AUX" or after == "ADV":
        return "PART"
    if after != "verb-noun":
        return "ADP"
    if place and words[place - 1].lower() in _TO_NOUN:
        return "ADP"
    return "PART"


def _that(place: int, _: list[str], tags: list[str], __: Lexicon) -> str:
    """Relative pronoun after a noun ("galaxies that host"), else conjunction or article."""
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    tag_before = tags[place - 1] if place else "PUNCT"
    if tag_before in ("NOUN", "PROPN", "PUNCT") and after in (
        "verb-noun",
        "verb-noun-s",
        "VERB",
        "AUX",
    ):
        two_after = tags[place + 2] if place + 2 < len(tags) else "PUNCT"
        if after in ("VERB", "AUX") or two_after in _OBJECT_STARTS | {
            "NOUN",
            "ADJ",
            "PROPN",
            "ADP",
        }:
            return "PRON"
    return "SCONJ"


def _number(place: int, words: list[str], tags: list[str], known: Lexicon) -> str:
    """Number, or part of a name: "NGC 1275", "type 1", "GRB 170817"."""
    word = words[place]
    if place and (words[place - 1] in known.catalogues) and not word.endswith(("%", "σ")):
        follows_unit = place + 1 < len(words) and words[place + 1] in known.units
        if not follows_unit or len(word) > 4:
            if tags[place - 1] in ("NUM", "SYM"):
                return "NUM"
            tags[place - 1] = "PROPN" if words[place - 1][0].isupper() else tags[place - 1]
            return "PROPN"
    if place and tags[place - 1] == "PROPN" and _names(words[place - 1], word):
        after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
        if after not in _NOMINAL and words[place + 1 : place + 2] != ["%"]:
            return "PROPN"
    if word == "21" and words[place + 1 : place + 2] == ["cm"]:
        tags[place + 1] = "NOUN"
        return "PROPN"
    _mark_units(place + 1, words, tags, known)
    return "NUM"


def _names(word: str, number: str) -> bool:
    """Whether a number behind a name may belong to it: "CTA 102", "J 0523-1403", not a year."""
    if re.fullmatch(r"\d{3,}[-+–]\d+", number):
        return True
    return word.isupper() and 1 < len(word) < 6 and bool(_DESIGNATION.fullmatch(number))


_DESIGNATION = re.compile(r"(?!(?:19|20)\d\d$)\d{2,6}")


def _mark_units(place: int, words: list[str], tags: list[str], known: Lexicon) -> None:
    """Mark the words after a number that are units: "10 km s⁻¹ Mpc⁻¹", "5 × 10⁴ years"."""
    while place < len(words) and (
        words[place] in known.units
        or words[place] in _TIMES
        or (words[place][-1] in "¹²³⁴⁵⁶⁷⁸⁹" and words[place].rstrip("⁻¹²³⁴⁵⁶⁷⁸⁹") in known.units)
    ):
        tags[place] = "SYM"
        place += 1


_TIMES = frozenset(["×", "±", "%"])


def _symbol(place: int, words: list[str], tags: list[str], _: Lexicon) -> str:
    """One-letter or subscripted symbol: part of a name before some nouns ("M dwarfs"), else not."""
    after = words[place + 1].lower() if place + 1 < len(words) else ""
    word = words[place]
    if word in ("A", "I"):
        following = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
        if word == "A" and (place == 0 or words[place - 1] in (".", ":")):
            return "DET"
        if word == "I" and following in ("VERB", "AUX", "ADV", "verb-noun", "ed"):
            return "PRON"
    return "PROPN" if after in _AFTER_SYMBOL else "SYM"


def _after_article(place: int, tags: list[str]) -> str:
    """Word class of a verb form behind an article: "a find" is a noun, "this shows" is not."""
    after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
    return "NOUN" if after in ("ADP", "PUNCT", "AUX") else "VERB"


def _is_plural(place: int, words: list[str], tags: list[str]) -> bool:
    word = words[place].lower()
    return tags[place] in ("NOUN", "PROPN") and (
        (word[-1] == "s" and singular(word) != word)
        or word in _PLURALS
        or word[-2:] in ("ae", "ei")
    )


_RULES = {
    "verb-noun": _verb_noun,
    "verb-noun-s": _verb_noun_s,
    "verb-s": _verb_s,
    "ed": _past_participle,
    "ing": _ing,
    "ing-noun": _ing_noun,
    "ing-adjective": _ing_adjective,
    "adj-noun": _adjective_noun,
    "to": _to,
    "that": _that,
    "number": _number,
    "symbol": _symbol,
    "capitalised": lambda *_: "PROPN",
}
