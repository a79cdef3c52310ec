"""The data cards of the demo corpus: one YAML file a research theme, checked when loaded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from landscape.corpus.demo.themes import Card, Measure, Phrase, Story, Trend
from landscape.errors import InputError

CATEGORIES = (
    "astro-ph.CO",
    "astro-ph.EP",
    "astro-ph.GA",
    "astro-ph.HE",
    "astro-ph.IM",
    "astro-ph.SR",
)
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
    """Folder that holds ``themes/``, ``facilities.yaml`` and ``grammar.yaml``.

    Returns
    -------
    pathlib.Path
        In a checkout ``data/demo``, in an installed package ``landscape/_data/demo``.

    Raises
    ------
    InputError
        If neither is there.
    """
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "_data" / "demo", package.parent / "data" / "demo"):
        if (folder / "themes").is_dir():
            return folder
    raise InputError(
        f"the data cards of the demo corpus are missing (looked in {package / '_data' / 'demo'} "
        f"and {package.parent / 'data' / 'demo'}): install the package again"
    )


def theme_cards_folder() -> Path:
    """Folder of the theme cards.

    Examples
    --------
    >>> theme_cards_folder().name
    'themes'
    """
    return demo_data_folder() / "themes"


def load_cards(folder: Path | None = None) -> tuple[Card, ...]:
    """Load and check every card of a folder, in the order of their file names.

    Parameters
    ----------
    folder : pathlib.Path, optional
        Default: the cards of the package.

    Returns
    -------
    tuple of Card

    Raises
    ------
    InputError
        Naming the file, the key and what is wrong with it.

    Examples
    --------
    >>> len(load_cards()) >= 60
    True
    """
    return _load_cards(folder or theme_cards_folder())


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


def read_yaml(path: Path) -> Any:
    """Read one YAML file with the fast loader where PyYAML was built with it.

    Raises
    ------
    InputError
        If it is not YAML.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Both loaders are safe ones: they build plain Python values only.
        return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    except yaml.YAMLError as error:
        raise InputError(
            f"{path.name} is not YAML: {str(error).splitlines()[0]}; "
            "quote a value that begins with '{' or holds ': '"
        ) from error


def parse_card(card_id: str, raw: Any) -> Card:
    """Check one card as read from YAML and make it a :class:`~landscape.corpus.demo.themes.Card`.

    Raises
    ------
    InputError
        Naming the card, the key and what is wrong with it.

    Examples
    --------
    >>> parse_card("dust", {"name": "Dust"})
    Traceback (most recent call last):
    landscape.errors.InputError: dust.yaml: missing activity, category, objects, sample, ...
    """
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
