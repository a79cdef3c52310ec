"""Data cards of the demo corpus: research themes and facilities, checked when loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from landscape._io import data_file, read_yaml
from landscape.errors import InputError


@dataclass(frozen=True)
class Phrase:
    """Text and the first year in which a paper can use it."""

    text: str
    since: int = 0


@dataclass(frozen=True)
class Measure:
    """A quantity that papers measure: its name, plausible range, unit and relative error."""

    name: str
    kind: str  # "=" for a value with an error, "<" or ">" for a limit
    low: float
    high: float
    decimals: int
    unit: str
    precision: float | None  # typical error as a fraction of the value; None: drawn at random


@dataclass(frozen=True)
class Trend:
    """The relation of two observables; ``sign`` is ``+``, ``-`` or ``0`` (no relation)."""

    response: str
    sign: str
    driver: str


@dataclass(frozen=True)
class Story:
    """One line of work in a theme: a question, measurements and results."""

    focus: str
    titles: tuple[Phrase, ...]
    known: tuple[Phrase, ...]
    asks: str
    found: tuple[Phrase, ...]
    measures: tuple[Measure, ...]
    trends: tuple[Trend, ...]
    means: tuple[Phrase, ...]
    since: int = 0  # first year in which the question can be asked
    kinds: tuple[str, ...] = ()  # of papers; empty means all
    # If one of these is empty, the value of the card is used.
    sample: tuple[str, float, float] | None = None
    observe: tuple[str, ...] = ()
    model: tuple[Phrase, ...] = ()
    simulate: tuple[Phrase, ...] = ()
    learn: tuple[Phrase, ...] = ()
    build: tuple[Phrase, ...] = ()
    mechanisms: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class Card:
    """All material for one research theme."""

    id: str
    name: str
    category: str
    cross: tuple[str, ...]
    activity: str
    start: int
    peak: int
    weight: float
    reviewed: bool
    related: tuple[str, ...]
    uat: tuple[str, ...]
    topic: str
    objects: tuple[Phrase, ...]
    sample: tuple[str, float, float]
    sites: tuple[Phrase, ...]
    targets: tuple[str, ...]
    observe: Mapping[str, tuple[Phrase, ...]]
    model: tuple[Phrase, ...]
    simulate: tuple[Phrase, ...]
    learn: tuple[Phrase, ...]
    build: tuple[Phrase, ...]
    mechanisms: tuple[Phrase, ...]
    known: tuple[Phrase, ...]
    stories: tuple[Story, ...] = field(repr=False)

    def phrases(self, story: Story, key: str) -> tuple[Phrase, ...]:
        """Return the phrases of a kind (``"model"``, ...) from the story, or from the card."""
        own: tuple[Phrase, ...] = getattr(story, key) or getattr(self, key)
        return own


CATEGORIES = tuple(f"astro-ph.{name}" for name in ("CO", "EP", "GA", "HE", "IM", "SR"))
ACTIVITIES = ("rising", "falling", "steady", "burst")

_SINCE = re.compile(r"\s*\(since (\d{4})\)$")
_MEASURE = re.compile(
    r"(?P<name>.+?) (?P<kind>[=<>]) (?P<low>[-\d.e]+)\.\.(?P<high>[-\d.e]+)"
    r"(?: (?P<unit>[^~]+?))?(?: ~(?P<precision>[\d.]+))?"
)
_TREND = re.compile(r"(?P<response>.+?) (?P<sign>[+\-0]) (?P<driver>.+)")
_METHODS = ("model", "simulate", "learn", "build", "mechanisms")
_REQUIRED = {"name", "category", "activity", "topic", "objects", "sample", "sites", "stories"}
_OPTIONAL = {
    "cross", "from", "peak", "weight", "reviews", "related", "uat", "targets", "observe", "known",
    "traps", *_METHODS,
}  # fmt: skip
_STORY_REQUIRED = {"focus", "titles", "known", "asks", "found", "measure", "trend", "means"}
_STORY_OPTIONAL = {"since", "kinds", "sample", "observe", *_METHODS}


def demo_data_folder() -> Path:
    """Return the folder with ``themes/``, ``facilities.yaml`` and ``grammar.yaml``."""
    return data_file("demo/themes").parent


@cache
def load_cards(folder: Path | None = None) -> tuple[Card, ...]:
    """Read and check all cards of a folder, in the order of the file names."""
    folder = folder or demo_data_folder() / "themes"
    cards = tuple(parse_card(path.stem, read_yaml(path)) for path in sorted(folder.glob("*.yaml")))
    if not cards:
        raise InputError(f"no theme cards (*.yaml) in {folder}")
    known = {card.id for card in cards}
    for card in cards:
        if unknown := sorted(set(card.related) - known):
            raise InputError(f"{card.id}.yaml: unknown related themes: {', '.join(unknown)}")
    return cards


def parse_card(card_id: str, raw: Any) -> Card:
    """Check one card from YAML; error messages contain the card and the key."""
    where = f"{card_id}.yaml"
    _check_keys(where, raw, _REQUIRED, _OPTIONAL)
    choices = [("category", raw["category"], CATEGORIES), ("activity", raw["activity"], ACTIVITIES)]
    choices += [("cross", category, CATEGORIES) for category in raw.get("cross", ())]
    for key, value, allowed in choices:
        if value not in allowed:
            raise InputError(f"{where}: {key} is {value!r}, must be one of {', '.join(allowed)}")
    if not any(raw.get(key) for key in ("observe", "model", "simulate")):
        raise InputError(f"{where}: needs observe, model or simulate; every paper needs a method")
    return Card(
        id=card_id,
        name=str(raw["name"]),
        category=raw["category"],
        cross=tuple(raw.get("cross", ())),
        activity=raw["activity"],
        start=int(raw.get("from", 1990)),
        peak=int(raw.get("peak", 2010)),
        weight=float(raw.get("weight", 1.0)),
        reviewed=bool(raw.get("reviews", True)),
        related=tuple(raw.get("related", ())),
        uat=tuple(raw.get("uat", ())),
        topic=str(raw["topic"]),
        sample=_sample(where, raw["sample"]),
        targets=tuple(map(str, _listed(raw.get("targets", ())))),
        observe={
            facility: _phrases(where, f"observe.{facility}", phrases)
            for facility, phrases in raw.get("observe", {}).items()
        },
        stories=tuple(
            _story(f"{where}: story {number}", story)
            for number, story in enumerate(raw["stories"], start=1)
        ),
        **{
            key: _phrases(where, key, raw.get(key, ()))
            for key in ("objects", "sites", "known", *_METHODS)
        },
    )


def _story(where: str, raw: Any) -> Story:
    _check_keys(where, raw, _STORY_REQUIRED, _STORY_OPTIONAL)
    return Story(
        focus=str(raw["focus"]),
        asks=str(raw["asks"]),
        measures=tuple(_measure(where, text) for text in _listed(raw["measure"])),
        trends=tuple(_trend(where, text) for text in _listed(raw["trend"])),
        since=int(raw.get("since", 0)),
        observe=tuple(raw.get("observe", ())),
        kinds=tuple(raw.get("kinds", ())),
        sample=_sample(where, raw["sample"]) if "sample" in raw else None,
        **{
            key: _phrases(where, key, raw.get(key, ()))
            for key in ("titles", "known", "found", "means", *_METHODS)
        },
    )


def _check_keys(where: str, raw: Any, required: set[str], optional: set[str]) -> None:
    if not isinstance(raw, dict):
        raise InputError(f"{where}: expected a mapping, got {type(raw).__name__}")
    if missing := sorted(required - raw.keys()):
        raise InputError(f"{where}: missing {', '.join(missing)}")
    if unknown := sorted(raw.keys() - required - optional):
        raise InputError(f"{where}: unknown key {', '.join(map(str, unknown))}")


def _phrases(where: str, key: str, raw: Any) -> tuple[Phrase, ...]:
    phrases = []
    for item in _listed(raw):
        if not isinstance(item, str) or not item.strip():
            raise InputError(f"{where}: {key} contains {item!r}, which is not text; quote it")
        if item.count("{") != item.count("}"):
            raise InputError(f"{where}: {key} has an open brace in {item!r}")
        since = _SINCE.search(item)
        phrases.append(Phrase(_SINCE.sub("", item), int(since[1]) if since else 0))
    return tuple(phrases)


def _listed(raw: Any) -> list[Any]:
    """Return a YAML list, or split a text at " / "."""
    return raw.split(" / ") if isinstance(raw, str) else list(raw)


def _sample(where: str, raw: Any) -> tuple[str, float, float]:
    if not (isinstance(raw, list) and len(raw) == 3 and isinstance(raw[0], str)):
        raise InputError(f"{where}: sample must be [plural noun, fewest, most], got {raw!r}")
    return raw[0], float(raw[1]), float(raw[2])


def _measure(where: str, text: str) -> Measure:
    match = _MEASURE.fullmatch(text)
    if match is None:
        raise InputError(f"{where}: measure {text!r} is not 'name = low..high unit'")
    low, high = float(match["low"]), float(match["high"])
    if not low < high:
        raise InputError(f"{where}: measure {text!r} has an empty range")
    decimals = max(len(match[key].partition(".")[2].partition("e")[0]) for key in ("low", "high"))
    precision = float(match["precision"]) if match["precision"] else None
    unit = (match["unit"] or "").strip()
    return Measure(match["name"], match["kind"], low, high, decimals, unit, precision)


def _trend(where: str, text: str) -> Trend:
    match = _TREND.fullmatch(text)
    if match is None:
        raise InputError(f"{where}: trend {text!r} is not 'response + driver' (or - or 0)")
    return Trend(match["response"], match["sign"], match["driver"])


# First data are published some months after first light; archives are used after the end.
PUBLICATION_LAG = 0.4
ARCHIVAL_YEARS = 5.0

# Two private characters enclose a mention in the text, so that titles can change case and symbols
# can become LaTeX while offsets stay correct; `unmark` removes them at the end.
_FIRST_MARK = 0xE100
_CLOSE = "\ue000"
_MARKED = re.compile(f"([\ue100-\ue1ff])([^{_CLOSE}]*){_CLOSE}")


@dataclass(frozen=True)
class Facility:
    """A real facility and the years in which papers can use its data."""

    id: str
    names: tuple[str, ...]
    first_light: float  # decimal year, as `end`
    end: float
    surveyed: bool  # papers use data *from* it rather than observe *with* it
    mark: str

    def usable(self, date: float) -> bool:
        """Return whether a paper of this decimal year can use its data."""
        return self.first_light + PUBLICATION_LAG <= date <= self.end + ARCHIVAL_YEARS


@dataclass(frozen=True)
class Trap:
    """A name that looks like a facility, with sentences that use it in another sense."""

    surface: str
    looks_like: str
    themes: frozenset[str]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Mention:
    """A span of a title or an abstract."""

    field: str
    start: int
    end: int
    surface: str
    facility: str


@cache
def load_facilities() -> dict[str, Facility]:
    """Read the facilities, by id."""
    facilities = {}
    for index, (key, raw) in enumerate(read_yaml(demo_data_folder() / "facilities.yaml").items()):
        if not raw.get("names") or "first_light" not in raw:
            raise InputError(f"facilities.yaml: {key} needs names and first_light")
        facilities[key] = Facility(
            id=key,
            names=tuple(raw["names"]),
            first_light=float(raw["first_light"]),
            end=float(raw.get("end", 9999.0)),
            surveyed=bool(raw.get("from", False)),
            mark=chr(_FIRST_MARK + index),
        )
    return facilities


@cache
def load_traps() -> tuple[Trap, ...]:
    """Read the traps."""
    return tuple(
        Trap(raw["surface"], raw["looks_like"], frozenset(raw["where"]), tuple(raw["sentences"]))
        for raw in read_yaml(demo_data_folder() / "traps.yaml")
    )


def mark(facility: Facility, rng: Random) -> str:
    """Choose one of the facility's names and mark it as a true mention, without its article."""
    name = rng.choice(facility.names)
    bare = name.removeprefix("the ")
    return f"{name[: len(name) - len(bare)]}{facility.mark}{bare}{_CLOSE}"


def unmark(text: str, *, field: str) -> tuple[str, list[Mention]]:
    """Remove the marks from a text and return the mentions."""
    ids = list(load_facilities())
    plain = ""
    mentions = []
    last = 0
    for match in _MARKED.finditer(text):
        plain += text[last : match.start()]
        start, surface = len(plain), match[2]
        plain += surface
        facility = ids[ord(match[1]) - _FIRST_MARK]
        mentions.append(Mention(field, start, len(plain), surface, facility))
        last = match.end()
    return plain + text[last:], mentions


def find_traps(text: str, *, field: str, mentions: list[Mention]) -> list[Mention]:
    """Find the traps in a text that do not overlap a true mention."""
    lowered = text.lower()  # titles may capitalise a trap
    found = [
        Mention(field, match.start(), match.end(), match[0], trap.looks_like)
        for trap in load_traps()
        if trap.surface.lower() in lowered
        for match in re.finditer(rf"\b{re.escape(trap.surface)}(?:s|es)?\b", text, re.IGNORECASE)
        if all(match.end() <= m.start or match.start() >= m.end for m in mentions)
    ]
    return sorted(found, key=lambda mention: mention.start)
