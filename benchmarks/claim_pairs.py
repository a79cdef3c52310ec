"""Pairs of a claim and a text that are generated from real abstracts, with known verdicts.

A sentence of an abstract is supported by its abstract. A copy with the opposite direction, a
negation, another number or another object is contradicted by it. A sentence of another paper, or
of the same paper after it is removed from the text, is not found in it. Changes are made to the
text as often as to the claim, so that a negation in a claim alone predicts nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from landscape._io import read_yaml
from landscape.text.words import lexicon, split_sentences, third_person

_MIN_SENTENCES = 3
_SHARES = {
    "same": 0.3,
    "reversed": 0.14,
    "negated": 0.16,
    "number": 0.12,
    "object": 0.08,
    "missing": 0.1,
    "other": 0.1,
}
_TITLES, _DAMAGED, _IN_TEXT = 0.5, 0.5, 0.45  # probabilities
_COPULA = re.compile(r"\b(?:is|are|has|have|can|does)\b")


class Pair(NamedTuple):
    """A claim, the sentences of a text, the place of the claim in it, and the verdict."""

    claim: str
    sentences: tuple[str, ...]
    place: int
    label: str
    change: str  # how the claim was made

    def window(self, rng: random.Random) -> str:
        """Return one to three sentences around the place of the claim."""
        n = rng.choice((1, 1, 2, 3))
        first = max(0, min(self.place, len(self.sentences) - 1) - rng.randrange(n))
        return " ".join(self.sentences[first : first + n])


_WORDS = read_yaml(Path(__file__).with_name("claim_pairs.yaml"))


def _words(name: str) -> list[tuple[str, str]]:
    pairs = (pair.strip().partition("|") for pair in _WORDS[name].split(";"))
    return [(first, second) for first, _, second in pairs]


_TURNED: dict[str, list[str]] = {}
for _one, _other in _words("opposites"):
    _TURNED.setdefault(_one, []).append(_other)
    _TURNED.setdefault(_other, []).append(_one)
_DIRECTION = re.compile(
    r"(?<![\w-])("
    + "|".join(sorted(map(re.escape, _TURNED), key=len, reverse=True))
    + r")(?![\w-])",
    re.I,
)
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|may|might|should|will|would|must|does|do|did|has been|"
    r"have been|has|have)\b(?! (?:not|no|never)\b)"
)
_DENIALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(is|are|was|were|can|could|does|do|did|has|have|may|should|will|would) not\b", (r"\1",)),
    (r"\bcannot\b", ("can",)),
    (r"\bno evidence (?:for|of)\b", ("clear evidence for", "evidence for", "strong evidence of")),
    (r"\bno significant\b", ("a significant",)),
    (r"\bno (?=[a-z]+ )", ("a ", "some ", "clear ")),
    (r"\bwithout\b", ("with",)),
    (r"\bfails? to\b", ("is able to", "manages to")),
    (r"\bunable to\b", ("able to",)),
    (r"\bnot\b ", ("",)),
)
_AFFIRMATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(?:clear |strong |direct )?evidence (?:for|of)\b", ("no evidence for", "no sign of")),
    (r"\bable to\b", ("unable to",)),
    (r"\bcapable of\b", ("incapable of",)),
    (r"\b(?:we )(?:find|show|report|detect|confirm) (?:that )?(?=an? )", ("we find no sign of ",)),
    (r"\bdetected\b", ("not detected",)),
    (r"\b(a|an) (significant|clear|strong)\b", (r"no \2",)),
    (r"\bassociated with\b", ("not associated with", "unrelated to")),
    (r"\brelated to\b", ("unrelated to", "not related to")),
    (r"\bcaused by\b", ("not caused by",)),
    (r"\bdue to\b", ("not due to",)),
    (r"\bexplained by\b", ("not explained by",)),
    (r"\brequires?\b", ("does not require",)),
    (r"\bdepends? on\b", ("does not depend on", "is independent of")),
    (r"\bplays? (?:an?|the) (?:\w+ )?role\b", ("plays no role",)),
)
_NUMBER = re.compile(r"(?<![\w.,^{_-])(\d{1,3}(?:,\d{3})+|\d+\.\d+|\d+)(?![\w}]|\.\d|,\d)")
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
_COUNT = re.compile(rf"\b({'|'.join(_COUNTS)})\b", re.I)
_NAME = re.compile(
    r"\b(?:[A-Z][A-Za-z]*[- ]?\d[\w.+-]*|[A-Z]{2,}[A-Za-z]*(?:-[A-Z]+)?|"
    r"(?<=[a-z,] )[A-Z][a-z]{3,})\b"
)
_OPENING = re.compile(
    r"^(?:(?:here|in this (?:paper|work|study|letter)|using [^,]{5,80}|based on [^,]{5,80}|"
    r"moreover|furthermore|in addition|additionally|finally|overall|however|thus|therefore|"
    r"as a result|in particular|interestingly|importantly|for the first time|in summary),? )?"
    r"(?:we |our (?:results|findings|analysis|data|observations) |the results |this |"
    r"these results )(?:also |further |therefore |thus )?(?:find|found|show|shows|showed|"
    r"demonstrate|demonstrates|conclude|suggest|suggests|indicate|indicates|report|confirm|"
    r"argue|reveal|reveals|note|propose) that ",
    re.I,
)
_ASIDE = re.compile(r" \([^()]{1,60}\)|, (?:respectively|however|therefore|thus|for example),?")
_SYNONYMS = dict(_words("synonyms"))
_LONGEST_FIRST = sorted(map(re.escape, _SYNONYMS), key=len, reverse=True)
_SYNONYM = re.compile(rf"\b({'|'.join(_LONGEST_FIRST)})\b")


def _like(text: str, model: str) -> str:
    """Capitalise a text as another text is."""
    return text[:1].upper() + text[1:] if model[:1].isupper() else text


def _one_of(pattern: re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    return rng.choice(found) if (found := list(pattern.finditer(text))) else None


def reverse(text: str, rng: random.Random) -> str | None:
    """Replace a word by a word of opposite meaning."""
    match = _one_of(_DIRECTION, text, rng)
    if match is None:
        return None
    other = _like(rng.choice(_TURNED[match[0].lower()]), match[0])
    return text[: match.start()] + other + text[match.end() :]


def negate(text: str, rng: random.Random) -> str | None:
    """Add or remove a negation."""
    for rules in (_DENIALS, rng.sample(_AFFIRMATIONS, len(_AFFIRMATIONS))[:6]):
        for rule, others in rules:
            if match := re.search(rule, text, re.I):
                other = match.expand(rng.choice(others))
                return _like(text[: match.start()] + other + text[match.end() :], text)
    if rng.random() < 0.4 and (verb := _one_of(_finite_verbs(), text, rng)):
        denied = f"does not {_bases()[verb[0]]}"
        return text[: verb.start()] + denied + text[verb.end() :]
    match = _one_of(_AUXILIARY, text, rng)
    if match is None:
        return None
    word = match[1]
    first, *rest = word.split()
    if word in ("has", "have") and rng.random() < 0.5:
        other = rng.choice([f"{word} not", f"{word} never"])
    else:
        other = " ".join([first, "not", *rest])
    return text[: match.start()] + other + text[match.end() :]


@cache
def _bases() -> dict[str, str]:
    """Return verbs in the third person singular with their base forms."""
    classes = lexicon().classes
    return {
        third_person(word): word
        for word, kind in classes.items()
        if kind == "VERB" and third_person(word) in classes
    }


@cache
def _finite_verbs() -> re.Pattern[str]:
    words = "|".join(sorted(_bases(), key=len, reverse=True))
    follows = "the|a|an|in|on|to|with|at|of|that|by|from"
    return re.compile(rf"(?<=[a-z] )({words})(?= (?:{follows})\b)")


def change_number(text: str, rng: random.Random) -> str | None:
    """Replace a number or a count by another one of the same form."""
    match = _one_of(_NUMBER, text, rng)
    if match is None:
        match = _one_of(_COUNT, text, rng)
        if match is None:
            return None
        other = _like(rng.choice([one for one in _COUNTS if one != match[0].lower()]), match[0])
        return text[: match.start()] + other + text[match.end() :]
    digits = match[0].replace(",", "")
    decimals = len(digits.partition(".")[2])
    value = float(digits)
    factor = rng.choice((0.2, 0.4, 0.5, 0.6, 0.7, 1.4, 1.6, 2, 2.5, 3, 5, 10))
    other = f"{value * factor:.{decimals}f}" if value else f"{rng.randint(2, 9)}"
    if 1900 < value < 2100 and not decimals:
        other = str(int(value) + rng.choice((-7, -4, -3, 2, 3, 5)))
    if other == digits or float(other) == value:
        other = f"{value + 10.0**-decimals * rng.randint(2, 7):.{decimals}f}"
    return text[: match.start()] + other + text[match.end() :]


def change_object(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """Replace a name by a name of the same form from other texts."""
    match = _one_of(_NAME, text, rng)
    if match is None:
        return None
    digits = any(map(str.isdigit, match[0]))
    names = {
        name
        for other in others
        for name in (found[0] for found in _NAME.finditer(other))
        if any(map(str.isdigit, name)) == digits and name not in text
    }
    if not names:
        return None
    return text[: match.start()] + rng.choice(sorted(names)) + text[match.end() :]


def reword(text: str, rng: random.Random) -> str:
    """Shorten a sentence and replace words by synonyms; the meaning stays."""
    if rng.random() < 0.7:
        text = _like(_OPENING.sub("", text), text)
    if rng.random() < 0.6:
        text = _ASIDE.sub("", text)
    if rng.random() < 0.6:
        rate = rng.choice((0.3, 0.7, 1.0))
        text = _SYNONYM.sub(
            lambda match: _SYNONYMS[match[0]] if rng.random() < rate else match[0], text
        )
    if rng.random() < 0.3 and (parts := text.rstrip(".").split(", ")) and len(parts) > 1:
        longest = max(parts, key=len)
        if len(longest.split()) > 7:
            text = _like(longest, text) + "."
    return text


def sentences(abstract: str) -> list[str]:
    """Return the sentences of an abstract that can be claims."""
    spans = split_sentences(abstract)
    return [
        abstract[start:end] for start, end in spans if 6 <= len(abstract[start:end].split()) <= 50
    ]


def generate(
    papers: Sequence[Mapping[str, str]],
    near: Callable[[int], int],
    *,
    seed: int = 0,
    per_paper: int = 3,
) -> Iterator[tuple[int, Pair]]:
    """Generate pairs with the row of their paper; `near` returns the row of another paper."""
    for row, paper in enumerate(papers):
        rng = random.Random(f"{seed} {row}")  # noqa: S311
        own, theirs = sentences(paper["abstract"]), sentences(papers[near(row)]["abstract"])
        if len(own) >= _MIN_SENTENCES and len(theirs) >= _MIN_SENTENCES:
            for _ in range(per_paper):
                pair = _one_pair(own, theirs, paper["title"], rng)
                if pair is not None:
                    yield row, pair


def _one_pair(own: list[str], theirs: list[str], title: str, rng: random.Random) -> Pair | None:
    place = rng.randrange(len(own))
    sentence, text = own[place], list(own)
    # The claim is a sentence, or a title that states something in its own words.
    states = "?" not in title and (_COPULA.search(title) or _finite_verbs().search(title))
    claim = f"{title.rstrip('.')}." if states and rng.random() < _TITLES else sentence
    [change] = rng.choices(list(_SHARES), list(_SHARES.values()))
    if change in ("missing", "other"):
        claim = rng.choice(theirs) if change == "other" else sentence
        if change == "missing":
            del text[place]
        if rng.random() < _DAMAGED:
            claim = rng.choice((reverse, negate, change_number))(claim, rng) or claim
        return Pair(reword(claim, rng), tuple(text), place, "not found", change)
    label = "supported" if change == "same" else "contradicted"
    changed: str | None = claim
    in_text = claim is sentence and change != "object" and rng.random() < _IN_TEXT
    if change in ("same", "reversed", "negated") and (change != "same" or in_text):
        rule = {"reversed": reverse, "negated": negate}.get(change)
        changed = (rule or rng.choice((reverse, negate)))(claim, rng)
    elif change == "number":
        changed = change_number(claim, rng)
    elif change == "object":
        changed = change_object(claim, theirs, rng)
    if changed is None or (label == "contradicted" and changed == claim):
        return None
    if in_text:
        text[place] = changed
        # A changed text supports the changed claim, and contradicts the claim without the change.
        claim = changed if label == "supported" else sentence
    else:
        claim = changed
    return Pair(reword(claim, rng), tuple(text), place, label, change)
