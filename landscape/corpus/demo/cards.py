"""Read and validate the research themes, aspects and facilities of the demo corpus."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from landscape._io import data_file, read_yaml
from landscape.errors import InputError

_SINCE = re.compile(r"(?<!\s)\s*+\(since (\d{4})\)$")
_MEASURE = re.compile(
    r"(?P<name>[^=<>]{1,120}) (?P<kind>[=<>]) (?P<low>[-\d.e]{1,20})\.\.(?P<high>[-\d.e]{1,20})"
    r"(?: (?P<unit>[^~]{1,60}?))?(?: ~(?P<precision>[\d.]{1,20}))?"
)
_TREND = re.compile(r"(?P<response>.{1,120}?) (?P<sign>[+\-0]) (?P<driver>.+)")


@dataclass(frozen=True)
class Phrase:
    """Text for generated papers, and the first year in which it can be used."""

    text: str
    since: int = 0


@dataclass(frozen=True)
class Measure:
    """Measured quantity. ``kind`` is ``=`` for a value with an error, ``<`` or ``>`` for limits."""

    name: str
    kind: str
    low: float
    high: float
    unit: str = ""
    precision: float = 0.08  # typical relative error
    decimals: int = 0


@dataclass(frozen=True)
class Trend:
    """Correlation of two observables. ``sign`` is ``+``, ``-`` or ``0`` (no correlation)."""

    response: str
    sign: str
    driver: str


def _phrase(raw: Any) -> Phrase:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError(f"{raw!r} is not text; write it in quotation marks")
    if raw.count("{") != raw.count("}"):
        raise ValueError(f"there is an open brace in {raw!r}; close the brace")
    since = _SINCE.search(raw)
    return Phrase(_SINCE.sub("", raw), int(since[1]) if since else 0)


def _measure(text: Any) -> Measure:
    if (match := _MEASURE.fullmatch(text)) is None:
        raise ValueError(f"{text!r} is not 'name = low..high unit'")
    low, high = float(match["low"]), float(match["high"])
    if not low < high:
        raise ValueError(f"{text!r} has an empty range; write the smaller number first")
    decimals = max(len(match[key].partition(".")[2].partition("e")[0]) for key in ("low", "high"))
    precision = float(match["precision"] or Measure.precision)
    unit = (match["unit"] or "").strip()
    return Measure(match["name"], match["kind"], low, high, unit, precision, decimals)


def _trend(text: Any) -> Trend:
    if (match := _TREND.fullmatch(text)) is None:
        raise ValueError(f"{text!r} is not 'response + driver' (with +, - or 0)")
    return Trend(**match.groupdict())


# A list can be written as one text, with " / " between the items.
_Listed = BeforeValidator(lambda raw: raw.split(" / ") if isinstance(raw, str) else list(raw))
_Texts = Annotated[tuple[str, ...], _Listed]
Phrases = Annotated[tuple[Annotated[Phrase, BeforeValidator(_phrase)], ...], _Listed]
_Measures = Annotated[tuple[Annotated[Measure, BeforeValidator(_measure)], ...], _Listed]
_Trends = Annotated[tuple[Annotated[Trend, BeforeValidator(_trend)], ...], _Listed]
_Category = Literal[
    "astro-ph.CO", "astro-ph.EP", "astro-ph.GA", "astro-ph.HE", "astro-ph.IM", "astro-ph.SR"
]
_Sample = tuple[str, float, float]  # plural noun, minimum and maximum number


class Story(BaseModel, frozen=True, extra="forbid"):
    """Research question of a theme, or an aspect that many themes share, and its results."""

    focus: str
    titles: Phrases
    known: Phrases
    asks: str
    found: Phrases
    measures: _Measures = Field(alias="measure")
    trends: _Trends = Field(alias="trend")
    means: Phrases
    mechanisms: Phrases = ()  # only of an aspect
    where: tuple[str, ...] = ()  # themes that an aspect fits; empty in a question of a theme
    since: float = 0.0  # decimal year in which the question is first asked
    kinds: tuple[str, ...] = ()  # kinds of papers; empty means all kinds
    sample: _Sample | None = None  # None means the sample of the theme
    observe: tuple[str, ...] = ()  # facilities; empty means all facilities of the theme


class Card(BaseModel, frozen=True, extra="forbid"):
    """All texts for the generated papers on one research theme."""

    id: str
    name: str
    category: _Category
    cross: tuple[_Category, ...] = ()
    activity: Literal["rising", "falling", "steady", "burst"]
    start: int = Field(1990, alias="from")
    peak: int = 2010
    weight: float = 1.0
    reviewed: bool = Field(True, alias="reviews")
    related: tuple[str, ...] = ()
    uat: tuple[str, ...] = ()
    topic: str
    objects: Phrases
    sample: _Sample
    sites: Phrases
    targets: _Texts = ()
    observe: dict[str, Phrases] = {}
    model: Phrases
    simulate: Phrases
    learn: Phrases = ()
    build: Phrases = ()
    mechanisms: Phrases
    known: Phrases = ()
    stories: tuple[Story, ...]


def decimal_year(day: datetime.date) -> float:
    """Return a day as a year with decimals."""
    return day.year + (day.timetuple().tm_yday - 1) / 365.25


@dataclass(frozen=True)
class Plan:
    """Themes, research question, day and kind of a paper to be generated."""

    day: datetime.date
    card: Card  # theme of the authors and keywords
    question: Card  # theme of the research question
    story: Story
    kind: str
    partner: Card | None = None  # second theme of a paper about two themes
    own: tuple[Story, ...] = ()  # questions and aspects that give the results

    @property
    def date(self) -> float:
        """Date as a year with decimals."""
        return decimal_year(self.day)


class Facility(BaseModel, frozen=True):
    """A real facility and the years in which papers can use its data."""

    names: tuple[str, ...]
    first_light: float  # decimal year; `end` is also a decimal year
    end: float = 9999.0
    surveyed: bool = Field(False, alias="from")  # whether to write "data from", not "data with"
    mark: str

    def usable(self, date: float) -> bool:
        """Return whether a paper published in this decimal year can use data of the facility."""
        return self.first_light + _PUBLICATION_LAG <= date <= self.end + _ARCHIVAL_YEARS


# Years from first light to the first papers, and from the end of a facility to the last papers.
_PUBLICATION_LAG, _ARCHIVAL_YEARS = 0.4, 5.0


class Trap(BaseModel, frozen=True):
    """A word that looks like a facility, and sentences in which it has another meaning."""

    surface: str
    looks_like: str
    themes: frozenset[str] = Field(alias="where")
    sentences: tuple[str, ...]


_Model = TypeVar("_Model", bound=BaseModel)


def _checked(model: type[_Model], raw: Any, file: str) -> _Model:
    """Validate what was read from a file. Errors name the file and the keys."""
    if not isinstance(raw, dict):
        raise InputError(f"{file}: {str(raw)[:40]!r} is not a mapping of keys to values")
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        faults = [".".join(map(str, e["loc"])) + f": {e['msg']}" for e in error.errors()]
        raise InputError(f"{file}: {'; '.join(faults)}") from error


def demo_data_folder() -> Path:
    """Return the folder with ``themes/``, ``facilities.yaml`` and ``grammar.yaml``."""
    return data_file("demo/themes").parent


@cache
def load_cards(folder: Path | None = None) -> dict[str, Card]:
    """Return the themes of all files in a folder by their ids, sorted by file name."""
    folder = folder or demo_data_folder() / "themes"
    cards = {}
    for path in sorted(folder.glob("*.yaml")):
        raw = read_yaml(path)
        raw = raw | {"id": path.stem} if isinstance(raw, dict) else raw
        cards[path.stem] = _checked(Card, raw, path.name)
    if not cards:
        raise InputError(f"There are no theme cards (*.yaml) in {folder}; pass another directory.")
    for card in cards.values():
        if unknown := sorted(set(card.related) - cards.keys()):
            raise InputError(f"{card.id}.yaml: unknown related themes: {', '.join(unknown)}.")
    # A theme that one file relates to another is related in both directions.
    for card in list(cards.values()):
        back = [c.id for c in cards.values() if card.id in c.related and c.id not in card.related]
        cards[card.id] = card.model_copy(update={"related": (*card.related, *back)})
    return cards


@cache
def load_aspects() -> tuple[Story, ...]:
    """Return the subjects that papers on many themes share."""
    listed = read_yaml(demo_data_folder() / "aspects.yaml")
    aspects = tuple(_checked(Story, raw, f"aspects.yaml: {raw['focus']}") for raw in listed)
    for aspect in aspects:
        if unknown := sorted(set(aspect.where) - load_cards().keys()):
            raise InputError(f"aspects.yaml: {aspect.focus}: unknown themes: {', '.join(unknown)}.")
    return aspects


# Two private-use characters mark a mention until the text is complete.
_FIRST_MARK, _CLOSE = 0xE100, "\ue000"
_MARKED = re.compile(f"([\ue100-\ue1ff])([^{_CLOSE}]{{0,300}}+){_CLOSE}")


@cache
def load_facilities() -> dict[str, Facility]:
    """Return the facilities of the demo corpus by their ids."""
    listed = read_yaml(demo_data_folder() / "facilities.yaml")
    return {
        key: _checked(Facility, raw | {"mark": chr(_FIRST_MARK + index)}, f"facilities.yaml: {key}")
        for index, (key, raw) in enumerate(listed.items())
    }


@cache
def load_traps() -> tuple[Trap, ...]:
    """Return words that look like a facility but have another meaning."""
    traps = read_yaml(demo_data_folder() / "traps.yaml")
    return tuple(_checked(Trap, raw, "traps.yaml") for raw in traps)


@dataclass(frozen=True)
class Mention:
    """Position of a facility name in a title or an abstract."""

    field: str
    start: int
    end: int
    surface: str
    facility: str


def mark(facility: Facility, rng: Random) -> str:
    """Return a random name of a facility, marked as a mention, except for a leading "the"."""
    name = rng.choice(facility.names)
    bare = name.removeprefix("the ")
    return f"{name[: len(name) - len(bare)]}{facility.mark}{bare}{_CLOSE}"


def unmark(text: str, *, field: str) -> tuple[str, list[Mention]]:
    """Remove the marks from a text. Return the text and its mentions of facilities."""
    ids, plain, mentions, last = list(load_facilities()), "", [], 0
    for match in _MARKED.finditer(text):
        plain += text[last : match.start()]
        start, plain, last = len(plain), plain + match[2], match.end()
        facility = ids[ord(match[1]) - _FIRST_MARK]
        mentions.append(Mention(field, start, len(plain), match[2], facility))
    return plain + text[last:], mentions


def find_traps(text: str, *, field: str, mentions: list[Mention]) -> list[Mention]:
    """Find words that look like a facility and do not overlap a true mention."""
    traps = [
        Mention(field, match.start(), match.end(), match[0], trap.looks_like)
        for trap in load_traps()
        if trap.surface.lower() in text.lower()  # the words of a title can be capitalised
        for match in re.finditer(rf"\b{re.escape(trap.surface)}(?:s|es)?\b", text, re.IGNORECASE)
        if all(match.end() <= m.start or match.start() >= m.end for m in mentions)
    ]
    return sorted(traps, key=lambda mention: mention.start)
