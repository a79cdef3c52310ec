"""Write the titles and abstracts of the demo corpus from theme cards and a grammar.

Texts can contain ``{one|two}``, which is replaced by one of the alternatives, ``{3..8}``, which is
replaced by a random number, and slots such as ``{found}``, which are filled by `_Filler`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

from landscape._io import data_file, read_yaml
from landscape.corpus.demo.cards import (
    Measure,
    Phrase,
    Plan,
    demo_data_folder,
    load_facilities,
    load_traps,
    mark,
)
from landscape.errors import InputError

_INNERMOST = re.compile(r"\{([^{}]*)\}")
_NUMBER = r"(-?\d{1,12}(?:\.\d{1,12})?)"
_RANGE = re.compile(rf"{_NUMBER}\.\.{_NUMBER}")
_INDEFINITE = re.compile(r"\b([Aa])n? (?=[\ue000-\ue1ff(]?([\w-]+))")
# Letters and words that begin with a vowel sound, as in "an HST image", or do not.
_AN = re.compile(
    r"(?:[AEFHILMNORSX](?![a-z])|8|11\b|18\b|hour|honest|[aeio]|[AEIO]|[uU](?!ni|s[eu]|ti|[A-Z]))"
)
_NOT_AN = re.compile(r"(?:[A-Z]{2,6}[aeiou]|[Ee]u|[Oo]n(?:e|ce)\b)")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺₀₁₂₃₄₅₆₇₈₉", "0123456789-+0123456789")
_LATEX: dict[str, str] = read_yaml(data_file("latex.yaml"))["commands"]
_MATHS = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)|([₀₁₂₃₄₅₆₇₈₉]+|[⊙⊕])|([±×≈∼≳αβγδσµΛΩλνπκτΔχ])")
_MARKS = re.compile("[\ue000-\ue1ff]")
_MARKED = re.compile("([\ue100-\ue1ff][^\ue000\ue100-\ue1ff]{0,300}\ue000)")
_LOWER_WORD = re.compile(r"[a-z]+")
# Words of a title that get a capital letter: of at least three letters, and not these.
_SMALL = "and|as|between|beyond|for|from|its|into|near|onto|over|the|through|towards|under|via|with"
_TITLE_WORD = re.compile(rf"(?<![\w'-])(?!(?:{_SMALL})\b)[a-z](?=[a-z]{{2}})")

MIN_WORDS, MAX_WORDS, MIN_SENTENCES, MAX_SENTENCES = 92, 188, 5, 9  # of an abstract
_TRAP_SHARE, _LATEX_SHARE, _TITLE_CASE_SHARE = 0.22, 0.45, 0.42  # of abstracts; first: per trap
_SHARES = {"nkept": (0.45, 0.93), "nfew": (0.04, 0.3), "ncontrol": (1.3, 12.0)}
_FRAMES = {"trend": "trends", "slope": "slopes", "slopevalue": "slope_values"}


@cache
def load_grammar() -> dict[str, Any]:
    """Read the sentence templates from ``grammar.yaml``."""
    grammar: dict[str, Any] = read_yaml(demo_data_folder() / "grammar.yaml")
    for kind, skeletons in grammar["skeletons"].items():
        for role in (role.strip("()") for skeleton in skeletons for role in skeleton):
            if role not in grammar["roles"]:
                raise InputError(f"grammar.yaml: unknown role {role!r} in skeleton {kind}.")
    return grammar


def spin(text: str, rng: Random) -> str:
    """Replace all ``{a|b}`` and ``{low..high}`` in a text by random choices."""
    while (match := _INNERMOST.search(text)) is not None:
        drawn = _RANGE.fullmatch(match[1])
        chosen = draw_number(drawn[1], drawn[2], rng) if drawn else rng.choice(match[1].split("|"))
        text = text[: match.start()] + chosen + text[match.end() :]
    return " ".join(text.split())


def draw_number(low: str, high: str, rng: Random) -> str:
    """Draw a number between two bounds, with as many decimals as the bounds."""
    decimals = max(len(bound.partition(".")[2]) for bound in (low, high))
    return count(_between(float(low), float(high), rng), decimals)


def _between(low: float, high: float, rng: Random) -> float:
    """Draw a number; if the range is wide, its logarithm is uniformly distributed."""
    if low > 0 and high / low > 20:
        return math.exp(rng.uniform(math.log(low), math.log(high)))
    return rng.uniform(low, high)


def count(number: float, places: int = 0) -> str:
    """Format a number. Numbers of at least 10,000 have a thousands separator."""
    return f"{number:,.{places}f}" if abs(number) >= 10_000 else f"{number:.{places}f}"


def rounded(value: float, error: float) -> str:
    """Format ``value ± error``, rounded to the significant digits of the error."""
    magnitude = math.floor(math.log10(error))
    # Errors that begin with 1, 2 or 3 are usually given with two digits.
    decimals = -magnitude + (error / 10.0**magnitude < 3.5)
    value, error = round(value, decimals), round(error, decimals)
    return f"{count(value, max(decimals, 0))} ± {count(error, max(decimals, 0))}"


def write_value(measure: Measure, rng: Random) -> str:
    """Draw a value of a measured quantity, and format it with its error and unit."""
    value = _between(measure.low, measure.high, rng)
    if measure.kind != "=":
        return f"{write_bound(measure, value)} {measure.unit}".strip()
    spread = abs(value) if measure.low >= 0 else max(abs(value), 0.3 * (measure.high - measure.low))
    error = min(spread * measure.precision * rng.uniform(0.6, 1.6), 0.45 * abs(value))
    exponent = _exponent(value)
    text = rounded(value / 10.0**exponent, error / 10.0**exponent)
    text = f"({text}) × {_power(exponent)}" if exponent else text
    return f"{text}{'' if measure.unit.startswith('°') else ' '}{measure.unit}".rstrip()


def write_bound(measure: Measure, value: float) -> str:
    """Format a value of a measured quantity without its error."""
    if exponent := _exponent(value):
        mantissa = f"{value / 10.0**exponent:.1f}".removesuffix(".0")
        return f"{mantissa} × {_power(exponent)}".removeprefix("1 × ")
    small = not measure.decimals and abs(value) < 10
    return f"{value:.2g}" if small else count(value, measure.decimals)


def _exponent(value: float) -> int:
    """Return the power of ten of very large and very small numbers, and 0 for others."""
    return 0 if value == 0 or 1e-3 <= abs(value) < 1e5 else math.floor(math.log10(abs(value)))


def _power(exponent: int) -> str:
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


def finished(text: str) -> str:
    """Correct the articles, spaces and the first letter of a sentence."""
    text = re.sub(r"(?<!\s)\s++([,.;:?])", r"\1", text).strip()
    text = _INDEFINITE.sub(lambda m: f"{m[1]}{'n' * _takes_an(m[2])} ", text)
    first = next((i for i, c in enumerate(text) if c.isalnum()), 0)
    if re.match(r"[a-z] [<>≈∼=]", text):  # a symbol, as in "z > 6"
        return text
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def _takes_an(word: str) -> bool:
    return bool(_AN.match(word)) and not _NOT_AN.match(word)


def to_latex(text: str) -> str:
    """Replace symbols by LaTeX code, as in abstracts on arXiv."""

    def code(match: re.Match[str]) -> str:
        if match[1]:
            return f"$^{{{match[1].translate(_PLAIN)}}}$"
        if match[2]:
            return f"$_{{{_LATEX.get(match[2], match[2].translate(_PLAIN))}}}$"
        return f"${_LATEX[match[3]]}$"

    return _MATHS.sub(code, text.replace("%", r"\%").replace("–", "--"))


class ExhaustedError(Exception):
    """Exception for a slot that cannot be filled, because all its texts have been used."""


class _Filler:
    """Fills the slots of sentences of one paper. Each text of a queue is used only once."""

    def __init__(self, plan: Plan, rng: Random) -> None:
        self.plan, self.rng = plan, rng
        self.card, self.story, partner = plan.question, plan.story, plan.partner
        self.measures = self._shuffled(one.measures for one in plan.own)
        self.trends = self._shuffled(one.trends for one in plan.own)
        # All statements are about the question, except what is known of a second theme.
        known = [*(one.known for one in plan.own), self.card.known]
        near = [partner.known] if partner else []
        near += [one.known for one in partner.stories if one.since <= plan.date] if partner else []
        self.queues: dict[str, list[str]] = {
            "found": self._texts(one.found for one in plan.own),
            "means": self._texts(one.means for one in plan.own),
            "known": self._texts(known),
            "near": self._texts(near),
            "mech": self._texts([self.card.mechanisms, *(one.mechanisms for one in plan.own)]),
            "object": self._texts([self.card.objects]),
            "other": self._texts([partner.objects] if partner else []),
            "asks": [one.asks for one in plan.own] if plan.kind == "review" else [self.story.asks],
            "topic": [self.card.topic] * (2 if plan.kind == "review" else 1),
        }
        sample = self.story.sample or self.card.sample
        self.number = self._sample_size(*sample[1:])
        self.facilities = self._live_facilities()
        site = spin(rng.choice(self._live(self.card.sites)), rng)
        self.facts = {"focus": self.story.focus, "sample": sample[0], "site": site}
        self.facts |= {"bare_site": site, "n": self._written(self.number)}
        self.facts |= {
            "nt": self.facts["n"],
            "field": rng.choice(load_grammar()["fields"][self.card.category]),
        }
        self.first, self.data = "", ""
        if self.facilities:
            names, weights = list(self.facilities), list(self.facilities.values())
            self.first = rng.choices(names, weights=weights)[0]
            self.data = self._data_from(self.first)
        if self.data and plan.kind not in ("theory", "simulation"):
            self.facts["data1"] = self.data
        for method in ("model", "simulate", "learn", "build"):
            if live := self._live(getattr(self.card, method)):
                self.facts[method] = spin(rng.choice(live), rng)
                self.facts[f"{method}1"] = re.sub(r"^(?:an?|the) ", "", self.facts[method])

    def _live(self, phrases: Iterable[Phrase]) -> list[str]:
        return [phrase.text for phrase in phrases if phrase.since <= self.plan.date]

    def _texts(self, lists: Iterable[Sequence[Phrase]]) -> list[str]:
        return self._shuffled(self._live(phrases) for phrases in lists)

    def _shuffled(self, lists: Iterable[Sequence[Any]]) -> list[Any]:
        items = list(dict.fromkeys(item for items in lists for item in items))
        return self.rng.sample(items, len(items))

    def _sample_size(self, low: float, high: float) -> int:
        low = max(24.0 if self.plan.kind == "survey" else 4.0, low)
        era = (self.plan.date - 1990.0) / 36.0
        place = min(1.0, max(0.0, 0.12 + 0.5 * era + self.rng.gauss(0.0, 0.2)))
        return round(low * math.pow(max(high / low, 1), place))

    def take_measure(self, role: str) -> str:
        """Take the next measured quantity; return the role of a sentence about it."""
        measure = self.measures.pop()
        self.facts |= {"mname": measure.name, "mvalue": write_value(measure, self.rng)}
        if measure.kind == "=":
            high = f"{write_bound(measure, measure.high)} {measure.unit}".strip()
            self.facts |= {"mlow": write_bound(measure, measure.low), "mhigh": high}
        return {"<": "limit", ">": "floor"}.get(measure.kind, role)

    def take_trend(self, role: str) -> str:
        """Take the next trend; return the role of a sentence about it."""
        trend = self.trends.pop()
        for name, frames in _FRAMES.items():
            text = self.rng.choice(load_grammar()[frames][trend.sign])
            text = text.replace("{response}", trend.response).replace("{driver}", trend.driver)
            self.facts[name] = spin(text, self.rng)
        return "no_trend" if trend.sign == "0" else role

    def fill(self, frame: str) -> str:
        """Fill the slots of a sentence. Texts are used up only if this succeeds."""
        queues = {name: list(queue) for name, queue in self.queues.items()}
        for name, endings in load_grammar()["endings"].items():
            frame = frame.replace(f"{{{name}}}", self.rng.choice(endings))
        # A slot is protected from `spin`, which then chooses among texts that contain slots.
        text = spin(re.sub(r"\{(\w+)\}", "\ue010\\1\ue011", frame), self.rng)
        while (match := re.search("\ue010(\\w+)\ue011", text)) is not None:
            name, queue = match[1], queues.get(match[1])
            if queue == []:
                raise ExhaustedError
            written = spin(queue.pop(0) if queue else self._drawn(name), self.rng)
            if queue is not None and name in ("object", "mech"):
                queue.append(written)  # can be used again when all other texts have been used
            text = text[: match.start()] + written + text[match.end() :]
        self.queues = queues
        return text

    def _drawn(self, name: str) -> str:
        """Return the text of a slot that can be filled repeatedly."""
        if name in self.facts:
            return self.facts[name]
        if name in _SHARES:
            return self._written(max(3, round(self.number * self.rng.uniform(*_SHARES[name]))))
        if name == "ntrain":
            size = self.number * self.rng.uniform(1.5, 12.0)
            return count(round(size) + self.rng.randint(1500, 9000))
        if name == "stem":
            return self.fill(self.rng.choice(self._live(self.story.titles)))
        if name == "target" and self.card.targets:
            return self._dated(self.rng.choice(self.card.targets))
        if name == "using" and self.facilities:
            return self._using()
        raise ExhaustedError

    def _written(self, number: int) -> str:
        return str(load_grammar()["numbers"].get(number) or count(number))

    def _dated(self, target: str) -> str:
        """Insert a discovery date, earlier than the paper, into a name such as ``SN {YYYY}ab``."""
        first, last = self.card.start, int(self.plan.date) - 1
        year = self.rng.randint(max(first, last - 6), max(first, last))
        target = target.replace("{YYYY}", str(year)).replace("{YY}", f"{year % 100:02d}")
        target = target.replace("{MM}", f"{self.rng.randint(1, 12):02d}")
        target = target.replace("{DD}", f"{self.rng.randint(1, 28):02d}")
        return spin(target, self.rng).replace(",", "")

    def _live_facilities(self) -> dict[str, float]:
        """Return the weights of the facilities that the paper can use at its date."""
        weights = {}
        for name, phrases in self.card.observe.items():
            if (self.story.observe and name not in self.story.observe) or not self._live(phrases):
                continue
            if name == "any":
                weights[name] = 0.45
            elif (facility := load_facilities()[name]).usable(self.plan.date):
                # New facilities are used more often than old facilities.
                age = self.plan.date - facility.first_light
                weights[name] = 0.35 + math.exp(-age / 7.0)
        return weights

    def _using(self) -> str:
        """Return the data of the paper, sometimes together with other data."""
        others = [name for name in self.facilities if name not in (self.first, "any")]
        if self.first == "any" or not others or self.rng.random() > 0.28:
            return self.data
        return f"{self.data} and {self._data_from(self.rng.choice(others))}"

    def _data_from(self, name: str) -> str:
        data = spin(self.rng.choice(self._live(self.card.observe[name])), self.rng)
        if name == "any":
            return data
        facility = load_facilities()[name]
        link = "from" if facility.surveyed else self.rng.choice(["with", "with", "from"])
        return f"{data} {link} {mark(facility, self.rng)}"


@dataclass
class Writer:
    """Writer of titles and abstracts in which no sentence or title is repeated."""

    used: set[str] = field(default_factory=set)

    def write(self, plan: Plan, rng: Random) -> tuple[str, str]:
        """Return the title and abstract of a paper. Facilities are marked (see ``unmark``)."""
        for _ in range(80):
            filler = _Filler(plan, rng)
            sentences = self._abstract(filler)
            title = self._title(filler) if sentences else ""
            if title:
                self.used.update(_key(text) for text in (title, *sentences))
                style = to_latex if rng.random() < _LATEX_SHARE else str
                return style(title), style(" ".join(sentences))
        raise InputError(
            f"{plan.question.id}.yaml has too few texts for another {plan.kind} paper on "
            f"{plan.story.focus!r}. Add facts, findings or alternatives, or generate fewer papers."
        )

    def _abstract(self, filler: _Filler) -> list[str]:
        """Return the sentences of an abstract, or none if one is missing or the length is wrong."""
        rng = filler.rng
        skeleton = list(rng.choice(load_grammar()["skeletons"][filler.plan.kind]))
        if filler.plan.partner:  # what is known is about the second theme
            skeleton = [role.replace("background", "near") for role in skeleton]
            skeleton[1:1] = ["joint"] if "near" in skeleton else ["near", "joint"]
            skeleton.append("joint_end")
        sentences: list[str] = []
        for role in skeleton:
            optional = role.startswith("(")
            if not optional or rng.random() < 0.5:
                sentence = self._sentence(filler, role.strip("()"), sentences)
                if sentence:
                    sentences.append(sentence)
                elif not optional:
                    return []
        traps = [trap for trap in load_traps() if filler.card.id in trap.themes]
        if len(sentences) < MAX_SENTENCES and rng.random() < _TRAP_SHARE * len(traps):
            trap = finished(spin(rng.choice(rng.choice(traps).sentences), rng))
            sentences[-1:-1] = [trap] * (_key(trap) not in self.used)
        words = sum(sentence.count(" ") + 1 for sentence in sentences)
        fits = MIN_WORDS <= words <= MAX_WORDS and MIN_SENTENCES <= len(sentences) <= MAX_SENTENCES
        return sentences if fits else []

    def _sentence(self, filler: _Filler, role: str, written: Iterable[str]) -> str:
        """Return a new sentence for a role, or an empty text if all texts have been used."""
        if role.endswith(("measure", "range")):
            if not filler.measures:
                return ""
            role = filler.take_measure(role)
        elif role.endswith("trend"):
            if not filler.trends:
                return ""
            role = filler.take_trend(role)
        openings = {_opening(sentence) for sentence in written}
        for _ in range(25):
            saved = filler.queues
            try:
                sentence = finished(filler.fill(filler.rng.choice(load_grammar()["roles"][role])))
            except ExhaustedError:
                continue
            plain = _MARKS.sub("", sentence)
            if (
                5 <= len(plain.split()) <= 52
                and not _repeats_words(plain)
                and _opening(sentence) not in openings
                and _key(sentence) not in self.used
            ):
                return sentence
            filler.queues = saved
        return ""

    def _title(self, filler: _Filler) -> str:
        """Return a new title, or an empty text."""
        rng, plan, frames = filler.rng, filler.plan, load_grammar()["titles"]
        filler.queues["topic"] = [filler.card.topic] * 2
        for attempt in range(60):
            own = (
                frames["any"] if plan.kind != "review" and rng.random() < 0.3 else frames[plan.kind]
            )
            frame = rng.choice(frames["joint"] if plan.partner and attempt < 40 else own)
            # The name of an aspect says nothing without objects, which its `titles` name.
            if plan.story.where and "{focus}" in frame:
                continue
            try:
                title = filler.fill(frame).replace("?:", "?")
            except ExhaustedError:
                continue
            title = title[4:] if title.startswith("the ") and rng.random() < 0.4 else title
            parts = re.split(r"(?<=[?.]) ", title)
            title = " ".join(map(finished, parts)).removesuffix(".")
            plain = _MARKS.sub("", title)
            if _key(title) in self.used or not 18 <= len(plain) <= 165 or _repeats_words(plain, 1):
                continue
            if rng.random() < _TITLE_CASE_SHARE:
                parts = _MARKED.split(title)  # names of facilities have an odd index
                parts[::2] = [_TITLE_WORD.sub(lambda m: m[0].upper(), part) for part in parts[::2]]
                title = "".join(parts)
            return title
        return ""


def _repeats_words(text: str, allowed: int = 2) -> bool:
    """Return whether a text repeats a word directly, or long words more often than allowed."""
    words = [word.removesuffix("s") for word in _LOWER_WORD.findall(text.lower())]
    if any(first == second for first, second in pairwise(words)):
        return True
    repeated = [n for n in Counter(word for word in words if len(word) > 4).values() if n > 1]
    return len(repeated) >= allowed or any(n > 2 for n in repeated)


def _opening(sentence: str) -> str:
    return " ".join(_MARKS.sub("", sentence).lower().split(None, 2)[:2])


def _key(sentence: str) -> str:
    return _MARKS.sub("", sentence).lower().strip(" .")
