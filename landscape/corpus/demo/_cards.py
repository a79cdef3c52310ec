"""The data cards of the demo corpus: research themes and facilities, checked when loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from landscape._io import data_file, read_yaml
from landscape.errors import InputError


@dataclass(frozen=True)
class Phrase:
    """A piece of text and the first year in which a paper can use it."""

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
    precision: float | None  # typical error as a fraction of the value; drawn when None


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
    kinds: tuple[str, ...] = ()  # of papers; empty means all (also below: those of the card)
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
        """Phrases of a kind (``"model"``, ``"mechanisms"``, ...): the story's, else the card's."""
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
_REQUIRED = {"name", "category", "activity", "topic", "objects", "sample", "sites", "stories"}
_OPTIONAL = {
    "cross", "from", "peak", "weight", "reviews", "related", "uat", "targets", "observe", "model",
    "simulate", "learn", "build", "mechanisms", "known", "traps",
}  # fmt: skip
_STORY_REQUIRED = {"focus", "titles", "known", "asks", "found", "measure", "trend", "means"}
_STORY_OWN = ("model", "simulate", "learn", "build", "mechanisms")
_STORY_OPTIONAL = {"since", "kinds", "sample", "observe", *_STORY_OWN}


def demo_data_folder() -> Path:
    """Folder that holds ``themes/``, ``facilities.yaml`` and ``grammar.yaml``."""
    return data_file("demo/themes").parent


def load_cards(folder: Path | None = None) -> tuple[Card, ...]:
    """Load and check every card of a folder, in the order of their file names."""
    return _load_cards(folder or demo_data_folder() / "themes")


@cache
def _load_cards(folder: Path) -> tuple[Card, ...]:
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"no theme cards (*.yaml) in {folder}")
    cards = tuple(parse_card(path.stem, read_yaml(path)) for path in paths)
    known = {card.id for card in cards}
    for card in cards:
        unknown = set(card.related) - known
        if unknown:
            raise InputError(
                f"{card.id}.yaml: related names no such theme: {', '.join(sorted(unknown))}"
            )
    return cards


def parse_card(card_id: str, raw: Any) -> Card:
    """Check one card as read from YAML; errors name the card and the key."""
    if not isinstance(raw, dict):
        raise InputError(f"{card_id}.yaml: a card is a mapping, got {type(raw).__name__}")
    _check_keys(card_id, raw, required=_REQUIRED, optional=_OPTIONAL)
    _check_choice(card_id, "category", raw["category"], CATEGORIES)
    _check_choice(card_id, "activity", raw["activity"], ACTIVITIES)
    for category in raw.get("cross", ()):
        _check_choice(card_id, "cross", category, CATEGORIES)
    evidence = {key: _phrases(card_id, key, raw.get(key, ())) for key in ("model", "simulate")}
    observe = {
        facility: _phrases(card_id, f"observe.{facility}", phrases)
        for facility, phrases in raw.get("observe", {}).items()
    }
    if not (observe or evidence["model"] or evidence["simulate"]):
        raise InputError(
            f"{card_id}.yaml: needs observe, model or simulate: no paper has no method"
        )
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
        objects=_phrases(card_id, "objects", raw["objects"]),
        sample=_sample(card_id, raw["sample"]),
        sites=_phrases(card_id, "sites", raw["sites"]),
        targets=tuple(map(str, _listed(raw.get("targets", ())))),
        observe=observe,
        model=evidence["model"],
        simulate=evidence["simulate"],
        learn=_phrases(card_id, "learn", raw.get("learn", ())),
        build=_phrases(card_id, "build", raw.get("build", ())),
        mechanisms=_phrases(card_id, "mechanisms", raw.get("mechanisms", ())),
        known=_phrases(card_id, "known", raw.get("known", ())),
        stories=tuple(_story(card_id, index, story) for index, story in enumerate(raw["stories"])),
    )


def _check_keys(where: str, raw: dict[str, Any], *, required: set[str], optional: set[str]) -> None:
    missing = sorted(required - raw.keys())
    if missing:
        raise InputError(f"{where}.yaml: missing {', '.join(missing)}")
    unknown = sorted(raw.keys() - required - optional)
    if unknown:
        raise InputError(f"{where}.yaml: unknown key {', '.join(map(str, unknown))}")


def _check_choice(card_id: str, key: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{card_id}.yaml: {key} is {value!r}, must be one of {', '.join(allowed)}")


def _phrases(card_id: str, key: str, raw: Any) -> tuple[Phrase, ...]:
    items = _listed(raw)
    for item in items:
        if not isinstance(item, str) or not item.strip():
            raise InputError(f"{card_id}.yaml: {key} holds {item!r}, which is not text (quote it)")
        if item.count("{") != item.count("}"):
            raise InputError(f"{card_id}.yaml: {key} has an open brace in {item!r}")
    return tuple(_phrase(item) for item in items)


def _listed(raw: Any) -> list[Any]:
    """A YAML list, or a text whose items are parted by slashes between spaces."""
    return raw.split(" / ") if isinstance(raw, str) else list(raw)


def _phrase(text: str) -> Phrase:
    since = _SINCE.search(text)
    return Phrase(_SINCE.sub("", text), int(since[1]) if since else 0)


def _sample(card_id: str, raw: Any) -> tuple[str, float, float]:
    if not (isinstance(raw, list) and len(raw) == 3 and isinstance(raw[0], str)):
        raise InputError(f"{card_id}.yaml: sample must be [plural noun, fewest, most], got {raw!r}")
    return raw[0], float(raw[1]), float(raw[2])


def _story(card_id: str, index: int, raw: Any) -> Story:
    where = f"{card_id}.yaml: story {index + 1}"
    if not isinstance(raw, dict):
        raise InputError(f"{where} is not a mapping")
    missing = sorted(_STORY_REQUIRED - raw.keys())
    unknown = sorted(raw.keys() - _STORY_REQUIRED - _STORY_OPTIONAL)
    if missing or unknown:
        raise InputError(f"{where}: missing {missing}, unknown {unknown}")
    return Story(
        focus=str(raw["focus"]),
        titles=_phrases(card_id, "titles", raw["titles"]),
        known=_phrases(card_id, "known", raw["known"]),
        asks=str(raw["asks"]),
        found=_phrases(card_id, "found", raw["found"]),
        measures=tuple(_measure(where, text) for text in _listed(raw["measure"])),
        trends=tuple(_trend(where, text) for text in _listed(raw["trend"])),
        means=_phrases(card_id, "means", raw["means"]),
        since=int(raw.get("since", 0)),
        observe=tuple(raw.get("observe", ())),
        kinds=tuple(raw.get("kinds", ())),
        sample=_sample(card_id, raw["sample"]) if "sample" in raw else None,
        **{key: _phrases(card_id, key, raw.get(key, ())) for key in _STORY_OWN},
    )


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


# First data are published some months after first light, archival work goes on after the end.
PUBLICATION_LAG = 0.4
ARCHIVAL_YEARS = 5.0

# Two private characters mark a mention in the text, so that titles can change case and symbols can
# become LaTeX while offsets stay correct; `unmark` removes them at the end.
_FIRST_MARK = 0xE100
_CLOSE = "\ue000"
_MARKED = re.compile(f"([\ue100-\ue1ff])([^{_CLOSE}]*){_CLOSE}")


@dataclass(frozen=True)
class Facility:
    """A real facility and the years in which papers can have used it."""

    id: str
    names: tuple[str, ...]
    first_light: float  # decimal year, as `end`
    end: float
    surveyed: bool  # papers use data *from* it rather than observe *with* it
    mark: str

    def usable(self, date: float) -> bool:
        """Whether a paper of this decimal year can hold its data."""
        return self.first_light + PUBLICATION_LAG <= date <= self.end + ARCHIVAL_YEARS


@dataclass(frozen=True)
class Trap:
    """A surface that looks like a facility, with sentences that use it in its own sense."""

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
    """All facilities by id."""
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
    """All traps."""
    return tuple(
        Trap(raw["surface"], raw["looks_like"], frozenset(raw["where"]), tuple(raw["sentences"]))
        for raw in read_yaml(demo_data_folder() / "traps.yaml")
    )


def mark(facility: Facility, rng: Random) -> str:
    """One of the facility's names, marked as a true mention (its article stays outside)."""
    name = rng.choice(facility.names)
    lead, bare = ("the ", name[4:]) if name.startswith("the ") else ("", name)
    return f"{lead}{facility.mark}{bare}{_CLOSE}"


def unmark(text: str, *, field: str) -> tuple[str, list[Mention]]:
    """Remove the marks from a text and return the mentions."""
    by_mark = _ids_by_mark()
    pieces: list[str] = []
    mentions = []
    length = last = 0
    for match in _MARKED.finditer(text):
        pieces.append(text[last : match.start()])
        length += match.start() - last
        surface = match[2]
        mentions.append(Mention(field, length, length + len(surface), surface, by_mark[match[1]]))
        pieces.append(surface)
        length += len(surface)
        last = match.end()
    pieces.append(text[last:])
    return "".join(pieces), mentions


@cache
def _pattern(surface: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(surface)}(?:s|es)?\b", re.IGNORECASE)


@cache
def _ids_by_mark() -> dict[str, str]:
    return {facility.mark: facility.id for facility in load_facilities().values()}


def find_traps(text: str, *, field: str, mentions: list[Mention]) -> list[Mention]:
    """Every trap surface of a text that is not part of a true mention."""
    taken = [(m.start, m.end) for m in mentions]
    found = []
    lowered = text.lower()  # titles may capitalise a trap
    for trap in load_traps():
        if trap.surface.lower() not in lowered:
            continue
        for match in re.finditer(_pattern(trap.surface), text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                span = (match.start(), match.end(), match[0], trap.looks_like)
                found.append(Mention(field, *span))
    return sorted(found, key=lambda m: m.start)
