"""Generate the titles and abstracts of the demo corpus from theme cards and a grammar.

Texts in the cards and in the grammar can contain two kinds of placeholders: ``{one|two}`` is
replaced by one of the alternatives, and ``{3..8}`` by a random number. See :func:`spin`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, TypeVar, cast

from landscape._io import data_file, read_yaml
from landscape.corpus.demo.cards import (
    Card,
    Measure,
    Phrase,
    Story,
    Trend,
    demo_data_folder,
    load_facilities,
    load_traps,
    mark,
)
from landscape.errors import InputError

_INNERMOST = re.compile(r"\{([^{}]*)\}")
_A_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?(?:e-?\d{1,3})?"
_RANGE = re.compile(rf"({_A_NUMBER})\.\.({_A_NUMBER})")
_SPACES = re.compile(r"  +")
_INDEFINITE = re.compile(r"\b([Aa]n?) (?=(\S+))\2")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺₀₁₂₃₄₅₆₇₈₉", "0123456789-+0123456789")
_COMMANDS: dict[str, str] = read_yaml(data_file("latex.yaml"))["commands"]
# Symbols and their LaTeX code, in the order in which they are replaced.
_LATEX: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\bz ([≈∼=<>]) (\d+(?:\.\d+)?)"), r"$z \1 \2$"),
    (re.compile(r"\b([MLRZ])([⊙⊕])"), r"\1$_\2$"),
    (re.compile(r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)"), lambda m: "$^{" + m[1].translate(_PLAIN_DIGITS) + "}$"),
    (re.compile(r"([₀₁₂₃₄₅₆₇₈₉]+)"), lambda m: "$_{" + m[1].translate(_PLAIN_DIGITS) + "}$"),
    (re.compile(r"≳"), r"$\\gtrsim$"),
    (re.compile(r"µm"), r"$\\mu$m"),
    (re.compile(r"(?<![$\\])%"), r"\\%"),
    (re.compile(r"([αβγδσµΛΩλνπκτΔχ])"), lambda m: f"${_COMMANDS[m[1]]}$"),
    (re.compile(r" ([±×≈∼<>]) "), lambda m: f" ${_COMMANDS.get(m[1], m[1])}$ "),
    (re.compile(r"–"), "--"),
)
_MATHS = re.compile(r"(\$[^$]*\$)")
_IN_MATHS = re.compile("[≈∼⊙⊕]")

_ENGLISH: dict[str, Any] = read_yaml(demo_data_folder() / "english.yaml")
_SMALL_WORDS = frozenset(_ENGLISH["small_words"])
_UNITS = frozenset(_ENGLISH["units"])
# Letters whose names begin with a vowel sound, as in "an HST image" (but "a UV survey").
_VOWEL_LETTERS = frozenset("AEFHILMNORSX")


def spin(text: str, rng: Random) -> str:
    """Replace all placeholders ``{a|b}`` and ``{lo..hi}`` in a text by random choices."""
    if "{" not in text:
        return text
    while (match := _INNERMOST.search(text)) is not None:
        inside = match[1]
        drawn = _RANGE.fullmatch(inside)
        chosen = draw_number(drawn[1], drawn[2], rng) if drawn else rng.choice(inside.split("|"))
        text = text[: match.start()] + chosen + text[match.end() :]
    return _SPACES.sub(" ", text).strip()


def draw_number(low: str, high: str, rng: Random) -> str:
    """Draw a number between two bounds, with as many decimals as the bounds."""
    decimals = max(len(bound.partition(".")[2]) for bound in (low, high))
    lo, hi = float(low), float(high)
    if lo > 0 and hi / lo > 50:
        value = math.exp(rng.uniform(math.log(lo), math.log(hi)))
    else:
        value = rng.uniform(lo, hi)
    if decimals == 0:
        return count(round(value))
    return f"{value:.{decimals}f}"


def count(number: float, places: int = 0) -> str:
    """Format a number. Numbers of at least 10,000 have a thousands separator."""
    return f"{number:,.{places}f}" if abs(number) >= 10_000 else f"{number:.{places}f}"


def scientific(value: float, error: float) -> str:
    """Format a value and its error with a common power of ten."""
    exponent = math.floor(math.log10(abs(value)))
    scale = 10.0**exponent
    body = rounded(value / scale, error / scale)
    return f"({body}) × 10{str(exponent).translate(_SUPERSCRIPTS)}"


def rounded(value: float, error: float) -> str:
    """Format ``value ± error``, rounded to the significant digits of the error."""
    magnitude = math.floor(math.log10(error))
    leading = error / 10.0**magnitude
    # Errors that begin with 1, 2 or 3 are usually given with two digits.
    decimals = -magnitude + (1 if leading < 3.5 else 0)
    value, error = round(value, decimals), round(error, decimals)
    places = max(decimals, 0)
    return f"{count(value, places)} ± {count(error, places)}"


def sentence_case(text: str) -> str:
    """Capitalise the first letter of a sentence, unless it is a symbol such as ``z``."""
    if re.match(r"[a-z] [<>≈∼=]", text):
        return text
    for position, letter in enumerate(text):
        if letter.isalpha():
            return text[:position] + letter.upper() + text[position + 1 :]
        if letter.isdigit():
            return text
    return text


def title_case(text: str, *, opening: bool = True) -> str:
    """Capitalise the words of a title, except small words and units."""
    words = text.split(" ")
    first = opening
    for index, word in enumerate(words):
        unit = index > 0 and words[index - 1][:1].isdigit() and word.strip(",:;?.") in _UNITS
        if word and not unit and (first or word not in _SMALL_WORDS):
            words[index] = "-".join(_raised(word.split("-")))
            bare = words[index].rstrip(",:;?.")
            if bare.isalpha() and (len(bare) > 1 or bare == "a"):
                words[index] = words[index][:1].upper() + words[index][1:]
        first = word.endswith((":", "?", "."))
    return " ".join(words)


def _raised(parts: list[str]) -> list[str]:
    """Capitalise the parts of a hyphenated word, except units such as ``21-cm``."""
    return [
        part[:1].upper() + part[1:]
        if part.replace("–", "").isalpha()
        and (len(part) > 1 or part == "a")
        and part not in _SMALL_WORDS
        and not parts[max(0, i - 1)][:1].isdigit()
        else part
        for i, part in enumerate(parts)
    ]


def article(phrase: str) -> str:
    """Return the indefinite article for a phrase: "a" or "an"."""
    word = re.split(r"[\s-]", phrase.lstrip("(\ue000"))[0]
    if re.match(r"(8|11|18)(\D|$)|8\d", word):
        return "an"
    if word[:2].isupper() and not re.match(r"[A-Z]{2,}[aeiou]", word):  # spelled out
        return "an" if word[0] in _VOWEL_LETTERS else "a"
    if word[:1].isdigit() or re.match(r"(?i)uni|use|usu|uti|eu|one\b|once", word):
        return "a"
    if re.match(r"(?i)hour|honest|heir", word):
        return "an"
    return "an" if word[:1].lower() in "aeiou" else "a"


def mend_articles(text: str) -> str:
    """Correct all indefinite articles ("a" or "an") in a text."""

    def mended(match: re.Match[str]) -> str:
        right = article(match[2])
        return (right.capitalize() if match[1][0] == "A" else right) + " " + match[2]

    return _INDEFINITE.sub(mended, text)


def to_latex(text: str) -> str:
    r"""Replace symbols by LaTeX code, as in abstracts on arXiv."""
    for pattern, replacement in _LATEX:
        # Pieces with an odd index are formulas and are not changed.
        pieces = _MATHS.split(text)
        pieces[::2] = [pattern.sub(replacement, piece) for piece in pieces[::2]]
        text = "".join(pieces)
    return _MATHS.sub(lambda m: _IN_MATHS.sub(lambda symbol: _COMMANDS[symbol[0]], m[0]), text)


_SLOT = re.compile(
    r"\{(known|found|means|asks|topic|focus|object|other|sample|site|bare_site|using|data1|n|nt|"
    r"nkept|nfew|ncontrol|ntrain|mech|mname1|mname|mvalue|mlow|mhigh|model|simulate1|simulate|learn1|"
    r"learn|build1|build|target|field|trend|slopevalue|slope|stem|response|driver)\}"
)
_TOKEN = re.compile("\ue010(\\w+)\ue011")
_SHARES = {"nkept": (0.45, 0.93), "nfew": (0.04, 0.3), "ncontrol": (1.3, 12.0)}
_TREND_FRAMES = {"trend": "trends", "slope": "slopes", "slopevalue": "slope_values"}


_Item = TypeVar("_Item", bound=Hashable)


class ExhaustedError(Exception):
    """Exception for a placeholder that cannot be filled, because all its texts have been used."""


class Material:
    """Texts for the sentence templates of one paper. Each fact is used only once."""

    def __init__(
        self,
        card: Card,
        story: Story,
        sources: Sequence[Story],
        *,
        date: float,
        kind: str,
        rng: Random,
    ) -> None:
        self.card, self.story, self.date, self.rng = card, story, date, rng
        self._sources = sources
        self.grammar = load_grammar()
        self._kind = kind
        self._chosen: dict[str, str] = {}  # methods and data of this paper
        self.frames: set[str] = set()  # templates that have been used
        self._queues = {
            "known": self._mixed(lambda about: about.known),
            "found": self._mixed(lambda about: about.found),
            "means": self._mixed(lambda about: about.means),
            "object": self._mixed(lambda about: about.objects),
            "mech": self._mixed(lambda about: about.mechanisms),
            # The question and the name of the theme are used once per abstract.
            "asks": [story.asks],
            "topic": [card.topic],
        }
        self.measures = self._drawn_order([about.measures for about in sources])
        self.trends = self._drawn_order([about.trends for about in sources])
        self._facilities = self._live_facilities()
        self.measure: Measure | None = None
        self.trend: Trend | None = None
        self.site = spin(rng.choice(self._live(card.sites)).text, rng)
        self._sample = story.sample or card.sample
        self.number = self._sample_size()

    def fill(self, frame: str) -> str:
        """Fill the placeholders of a template. If this fails, the texts remain unused."""
        saved = self.snapshot()
        try:
            for name, endings in self.grammar["endings"].items():
                if f"{{{name}}}" in frame:
                    frame = frame.replace(f"{{{name}}}", self.rng.choice(endings))
            # Rename the placeholders of facts, so that `spin` does not replace them.
            text = spin(_SLOT.sub("\ue010\\1\ue011", frame), self.rng)
            while (match := _TOKEN.search(text)) is not None:
                text = text[: match.start()] + self._slot(match[1]) + text[match.end() :]
        except ExhaustedError:
            self.restore(saved)
            raise
        return text

    def lacks(self, frame: str) -> bool:
        """Return whether a placeholder of this template has no unused text."""
        return any(not queue and f"{{{name}}}" in frame for name, queue in self._queues.items())

    def renew(self) -> None:
        """Give the title the texts of the theme alone, also those that the abstract has used."""
        mechanisms = self.card.mechanisms + self.story.mechanisms
        self._queues |= {
            "topic": [self.card.topic] * 2,
            "mech": self._drawn_order([[p.text for p in self._live(mechanisms)]]),
            "object": self._drawn_order([[p.text for p in self._live(self.card.objects)]]),
        }

    def snapshot(self) -> dict[str, list[str]]:
        """Return a copy of the unused texts, which :meth:`restore` accepts."""
        return {name: list(queue) for name, queue in self._queues.items()}

    def restore(self, saved: dict[str, list[str]]) -> None:
        """Restore the unused texts from a snapshot."""
        self._queues = {name: list(queue) for name, queue in saved.items()}

    def _slot(self, name: str) -> str:
        queue = self._queues.get(name)
        if queue is None:
            drawn = self._related_objects() if name == "other" else self._drawn(name)
            return spin(drawn, self.rng)
        if not queue:
            raise ExhaustedError(name)
        if name in ("object", "mech"):
            queue.append(queue[0])  # can be used again when all other texts have been used
        return spin(queue.pop(0), self.rng)

    def _drawn(self, name: str) -> str:
        """Return a random text for a placeholder that can be filled repeatedly."""
        rng, measure, trend = self.rng, self.measure, self.trend
        facts = self._facts()
        if name in facts:
            return facts[name]
        match name:
            case "field":
                return rng.choice(self.grammar["fields"][self.card.category])
            case "stem":
                return self.fill(self._one_of(self.story.titles))
            case "target" if self.card.targets:
                return self._dated(rng.choice(self.card.targets))
            case "using":
                return self._using(combine=True)
            case "data1":
                return _without_article(self._using(combine=False))
            case "model" | "simulate" | "learn" | "build" | "simulate1" | "learn1" | "build1":
                text = self._method(name.rstrip("1"))
                return _without_article(text) if name.endswith("1") else text
            case "ntrain":
                return count(round(self.number * rng.uniform(1.5, 12.0)) + rng.randint(1500, 9000))
            case "nkept" | "nfew" | "ncontrol":
                return _written(max(3, round(self.number * rng.uniform(*_SHARES[name]))))
            case "mvalue" if measure:
                return write_value(measure, rng)
            case "trend" | "slope" | "slopevalue" if trend:
                text = rng.choice(self.grammar[_TREND_FRAMES[name]][trend.sign])
                return text.replace("{response}", trend.response).replace("{driver}", trend.driver)
        raise ExhaustedError(name)

    def _related_objects(self) -> str:
        """Return objects of a related theme."""
        own = {*self.card.objects}
        return self._one_of([p for one in self._sources for p in one.objects if p not in own])

    def _facts(self) -> dict[str, str]:
        """Return the texts of the placeholders that are not chosen at random."""
        measure, trend = self.measure, self.trend
        facts = {
            "focus": self.story.focus,
            "sample": self._sample[0],
            "mname1": self.story.measures[0].name,
            **dict.fromkeys(("site", "bare_site"), self.site),
            **dict.fromkeys(("n", "nt"), _written(self.number)),
        }
        if trend:
            facts |= {"response": trend.response, "driver": trend.driver}
        if measure:
            facts["mname"] = measure.name
        if measure and measure.kind == "=":
            facts["mlow"] = write_bound(measure, measure.low)
            facts["mhigh"] = f"{write_bound(measure, measure.high)} {measure.unit}".strip()
        return facts

    def _dated(self, target: str) -> str:
        """Insert a discovery date, earlier than the paper, into a name such as ``SN {YYYY}ab``."""
        last = int(self.date) - 1
        year = self.rng.randint(max(self.card.start, last - 6), max(self.card.start, last))
        month, day = self.rng.randint(1, 12), self.rng.randint(1, 28)
        marks = {"{YYYY}": year, "{YY}": f"{year % 100:02d}", "{MM}": f"{month:02d}"}
        for place, written in (marks | {"{DD}": f"{day:02d}"}).items():
            target = target.replace(place, str(written))
        return target

    def _method(self, key: str) -> str:
        """Return the model, simulation or instrument of the paper. It is chosen only once."""
        if key not in self._chosen:
            phrases = self.card.phrases(self.story, key)
            self._chosen[key] = spin(self._one_of(phrases), self.rng)
        return self._chosen[key]

    def _using(self, *, combine: bool) -> str:
        options = self._facilities
        if not options:
            raise ExhaustedError("using")
        ids = list(options)
        first = self.rng.choices(ids, weights=[options[i] for i in ids])[0]
        if not combine and "data" in self._chosen:
            return self._chosen["data"]
        text = self._data_from(first)
        self._chosen.setdefault("data", text)
        others = [i for i in ids if i not in (first, "any")]
        if combine and first != "any" and others and self.rng.random() < 0.28:
            link = self.rng.choice(["and", "together with"])
            text += f" {link} {self._data_from(self.rng.choice(others))}"
        return text

    def _data_from(self, facility_id: str) -> str:
        data = spin(self._one_of(self.card.observe[facility_id]), self.rng)
        if facility_id == "any":
            return data
        facility = load_facilities()[facility_id]
        link = "from" if facility.surveyed else self.rng.choice(["with", "with", "from"])
        return f"{data} {link} {mark(facility, self.rng)}"

    def _live_facilities(self) -> dict[str, float]:
        """Return the weights of the facilities that the paper can use at its date."""
        weights = {}
        for facility_id, phrases in self.card.observe.items():
            wanted = not self.story.observe or facility_id in self.story.observe
            if not wanted or not self._live(phrases):
                continue
            if facility_id == "any":
                weights["any"] = 0.45
            elif (facility := load_facilities()[facility_id]).usable(self.date):
                # New facilities are used more often than old facilities.
                weights[facility_id] = 0.35 + math.exp(-(self.date - facility.first_light) / 7.0)
        return weights

    def _sample_size(self) -> int:
        low, high = (max(4.0, bound) for bound in self._sample[1:])
        era = (self.date - 1990.0) / 36.0
        place = min(1.0, max(0.0, 0.12 + 0.5 * era + self.rng.gauss(0.0, 0.2)))
        if self._kind == "survey":  # a catalogue has at least 24 entries
            low = max(low, 24.0)
        return round(low * math.pow(high / low, place))

    def _one_of(self, phrases: Sequence[Phrase]) -> str:
        live = self._live(phrases)
        if not live:
            raise ExhaustedError("phrases")
        return self.rng.choice(live).text

    def _live(self, phrases: Sequence[Phrase]) -> list[Phrase]:
        return [phrase for phrase in phrases if phrase.since <= self.date]

    def _mixed(self, choose: Callable[[Story], Sequence[Phrase]]) -> list[str]:
        """Return phrases of all sources in random order."""
        return self._drawn_order(
            [[p.text for p in self._live(choose(source))] for source in self._sources]
        )

    def _drawn_order(self, lists: Sequence[Sequence[_Item]]) -> list[_Item]:
        """Return all items once. Each next item is drawn from a random list."""
        left = [self.rng.sample(items, len(items)) for items in lists if items]
        drawn: dict[_Item, None] = {}
        while left:
            items = self.rng.choice(left)
            drawn.setdefault(items.pop())
            left = [items for items in left if items]
        return list(drawn)


def write_value(measure: Measure, rng: Random) -> str:
    """Draw a value of a measured quantity, and format it with its error and unit."""
    low, high = measure.low, measure.high
    if low > 0 and high / low > 20:
        value = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        value = rng.uniform(low, high)
    if measure.kind != "=":
        return f"{write_bound(measure, value)} {measure.unit}".strip()
    if measure.precision is not None:
        error = abs(value) * measure.precision * rng.uniform(0.6, 1.6)
    else:
        error = max(abs(value), 0.3 * (high - low)) * rng.uniform(0.03, 0.15)
    if low >= 0:
        error = min(error, 0.45 * abs(value))
    huge = abs(value) >= 1e5 or abs(value) < 1e-3
    text = scientific(value, error) if huge else rounded(value, error)
    space = "" if not huge and measure.unit.startswith("°") else " "
    return f"{text}{space}{measure.unit}".rstrip()


def write_bound(measure: Measure, value: float) -> str:
    """Format a value of a measured quantity without its error."""
    if value != 0 and (abs(value) >= 1e5 or abs(value) < 1e-3):
        exponent = math.floor(math.log10(abs(value)))
        mantissa = f"{value / 10.0**exponent:.1f}".removesuffix(".0")
        power = scientific(10.0**exponent, 10.0**exponent * 0.1).partition("× ")[2]
        return power if mantissa == "1" else f"{mantissa} × {power}"
    if measure.decimals:
        return f"{value:.{measure.decimals}f}"
    return count(round(value)) if abs(value) >= 10 else f"{value:.2g}"


def _written(number: int) -> str:
    return str(_ENGLISH["numbers"].get(number) or count(number))


def _without_article(text: str) -> str:
    return re.sub(r"^(?:an?|the) ", "", text)


MIN_WORDS, MAX_WORDS = 92, 188
MIN_SENTENCES, MAX_SENTENCES = 5, 9
TRAP_SHARE = 0.22
LATEX_SHARE = 0.45
TITLE_CASE_SHARE = 0.42

_MARKS = re.compile("[\ue000-\ue1ff]")
_MARKED = re.compile("([\ue100-\ue1ff][^\ue000\ue100-\ue1ff]*\ue000)")
_STRAY_SPACE = re.compile(r"(?<!\s)\s++([,.;:?])")
_LOWER_WORD = re.compile(r"[a-z]+")
Grammar = dict[str, dict[str, list[str]]]


@cache
def load_grammar() -> Grammar:
    """Read the sentence templates from ``grammar.yaml``."""
    grammar = cast(Grammar, read_yaml(demo_data_folder() / "grammar.yaml"))
    for kind, skeletons in grammar["skeletons"].items():
        for role in (role.strip("()") for skeleton in skeletons for role in skeleton):
            if role not in grammar["roles"]:
                raise InputError(f"grammar.yaml: unknown role {role!r} in skeleton {kind}.")
    return grammar


@dataclass
class Writer:
    """Writer of titles and abstracts in which no sentence or title is repeated."""

    sentences: set[str] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)

    def write(
        self,
        card: Card,
        story: Story,
        *,
        sources: Sequence[Story],
        kind: str,
        date: float,
        rng: Random,
    ) -> tuple[str, str]:
        """Return the title and abstract of a paper. Facilities are marked (see ``unmark``)."""
        for _ in range(60):
            material = Material(card, story, sources, date=date, kind=kind, rng=rng)
            sentences = self._abstract(material, kind)
            title = self._title(material, kind) if sentences else None
            if not sentences or title is None:
                continue
            self.sentences.update(map(_key, sentences))
            self.titles.add(_key(title))
            abstract = " ".join(sentences)
            if rng.random() < LATEX_SHARE:
                return to_latex(title), to_latex(abstract)
            return title, abstract
        raise InputError(
            f"{card.id}.yaml has too few texts for another {kind} paper on {story.focus!r}. "
            "Add facts, findings or alternatives, or generate fewer papers."
        )

    def _abstract(self, material: Material, kind: str) -> list[str] | None:
        rng = material.rng
        skeleton = rng.choice(material.grammar["skeletons"][kind])
        roles = [r.strip("()") for r in skeleton if not r.startswith("(") or rng.random() < 0.5]
        written: list[tuple[str, str]] = []
        for role in roles:
            sentence = self._sentence(material, role, written)
            if sentence is not None:
                written.append((role, sentence))
        self._insert_trap(material, written)
        self._fit(material, written, kind)
        sentences = [sentence for _, sentence in written]
        fits = (
            MIN_WORDS <= _words(sentences) <= MAX_WORDS
            and MIN_SENTENCES <= len(sentences) <= MAX_SENTENCES
        )
        return sentences if fits and _has_result_and_aim(written, kind) else None

    def _sentence(
        self, material: Material, role: str, written: list[tuple[str, str]]
    ) -> str | None:
        """Return a new sentence for a role, or None if all texts have been used."""
        if role in _ENGLISH["measure_roles"]:
            material.measure = material.measures.pop() if material.measures else None
            if material.measure is None:
                return None
            role = _ENGLISH["measure_roles"][role][material.measure.kind]
        elif role in ("trend", "theory_trend"):
            material.trend = material.trends.pop() if material.trends else None
            if material.trend is None:
                return None
            role = role if material.trend.sign != "0" else "no_trend"
        openings = {_opening(sentence) for _, sentence in written}
        taken = {_key(sentence) for _, sentence in written}
        saved = material.snapshot()
        for _ in range(40):
            material.restore(saved)
            frame = material.rng.choice(material.grammar["roles"][role])
            if frame in material.frames or material.lacks(frame):
                continue
            try:
                sentence = _finished(material.fill(frame))
            except ExhaustedError:
                continue
            key = _key(sentence)
            fresh = key not in self.sentences and key not in taken
            plain = _plain(sentence)
            reads_well = 5 <= len(plain.split()) <= 52 and not _repeats_words(plain)
            if fresh and reads_well and _opening(sentence) not in openings:
                material.frames.add(frame)
                return sentence
        material.restore(saved)
        return None

    def _insert_trap(self, material: Material, written: list[tuple[str, str]]) -> None:
        rng = material.rng
        traps = [trap for trap in load_traps() if material.card.id in trap.themes]
        if not traps or len(written) >= MAX_SENTENCES or rng.random() > TRAP_SHARE * len(traps):
            return
        trap = rng.choice(traps)
        for _ in range(20):
            sentence = _finished(spin(rng.choice(trap.sentences), rng))
            if _key(sentence) not in self.sentences:
                written.insert(max(len(written) - 1, 1), ("trap", sentence))
                return

    def _fit(self, material: Material, written: list[tuple[str, str]], kind: str) -> None:
        """Adjust the length of an abstract by removing or adding optional sentences."""
        for role in _ENGLISH["spare_roles"]:
            for index in range(len(written) - 1, -1, -1):
                if _words(s for _, s in written) <= MAX_WORDS and len(written) <= MAX_SENTENCES:
                    break
                if written[index][0] == role:
                    del written[index]
        theoretical = kind in ("theory", "simulation")
        for role in _ENGLISH["padding_roles"]:
            if _words(s for _, s in written) >= MIN_WORDS and len(written) >= MIN_SENTENCES:
                return
            if (role == "theory_test") is not theoretical and role in ("theory_test", "compare"):
                continue
            sentence = self._sentence(material, role, written)
            if sentence is not None:
                place = {"background": 0, "rivals": 1, "gap": 1}.get(role, len(written))
                written.insert(place, (role, sentence))

    def _title(self, material: Material, kind: str) -> str | None:
        rng = material.rng
        frames = material.grammar["titles"]
        material.renew()
        for _ in range(60):
            frame = rng.choice(
                frames["any"] if kind != "review" and rng.random() < 0.4 else frames[kind]
            )
            # The name of an aspect says nothing without objects, which its `titles` name.
            if material.story.where and "{focus}" in frame:
                continue
            try:
                title = material.fill(frame)
            except ExhaustedError:
                continue
            title = _finished(_tidy_title(title, rng)).removesuffix(".")
            plain = _plain(title)
            if (
                _key(title) in self.titles
                or not 18 <= len(plain) <= 165
                or _repeats_words(plain, 1)
            ):
                continue
            return _title_case(title) if rng.random() < TITLE_CASE_SHARE else title
        return None


def _finished(text: str) -> str:
    """Correct the capitals, articles and spaces of a sentence."""
    return sentence_case(mend_articles(_STRAY_SPACE.sub(r"\1", text).strip()))


def _title_case(title: str) -> str:
    """Capitalise the words of a title, except facility names."""
    pieces = _MARKED.split(title)
    pieces[::2] = [title_case(piece, opening=not i) for i, piece in enumerate(pieces[::2])]
    return "".join(pieces)


def _tidy_title(title: str, rng: Random) -> str:
    title = title.replace("?:", "?")
    if title.startswith("the ") and rng.random() < 0.4:
        title = title[4:]
    parts = re.split(r"(?<=[?.:]) ", title)
    return " ".join(
        sentence_case(part) if parts[i - 1][-1] in "?." else part for i, part in enumerate(parts)
    )


def _has_result_and_aim(written: list[tuple[str, str]], kind: str) -> bool:
    """Return whether an abstract states a result and an aim."""
    roles = {role for role, _ in written}
    if kind == "review":
        return "review_content" in roles
    has_result = any("measure" in r or "finding" in r or "trend" in r for r in roles)
    has_aim = any(r.endswith(("aim", "ask", "plain", "present")) for r in roles)
    return has_result and has_aim


def _repeats_words(text: str, allowed: int = 2) -> bool:
    """Return whether a text repeats a word directly, or long words more often than allowed."""
    words = [word.removesuffix("s") for word in _LOWER_WORD.findall(text.lower())]
    if any(first == second for first, second in pairwise(words)):
        return True
    repeated = [n for n in Counter(word for word in words if len(word) > 4).values() if n > 1]
    return len(repeated) >= allowed or any(n > 2 for n in repeated)


def _opening(sentence: str) -> str:
    return " ".join(_plain(sentence).lower().split(None, 2)[:2])


def _key(sentence: str) -> str:
    return _plain(sentence).lower().strip(" .")


def _plain(text: str) -> str:
    """Return the text without facility marks."""
    return _MARKS.sub("", text) if "\ue000" in text else text


def _words(sentences: Iterable[str]) -> int:
    return sum(sentence.count(" ") + 1 for sentence in sentences)
