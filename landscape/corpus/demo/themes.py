"""What a theme card holds once it is read: stories, measures, trends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Phrase:
    """A piece of text and the first year in which a paper can have said it."""

    text: str
    since: int = 0


@dataclass(frozen=True)
class Measure:
    """A quantity that papers measure: its name, plausible range, unit and relative error.

    Attributes
    ----------
    kind : str
        ``"="`` for a value with an error, ``"<"`` or ``">"`` for a limit.
    precision : float or None
        Typical error as a fraction of the value; drawn when not given.
    """

    name: str
    kind: str
    low: float
    high: float
    decimals: int
    unit: str
    precision: float | None


@dataclass(frozen=True)
class Trend:
    """How one observable goes with another; ``sign`` is ``+``, ``-`` or ``0`` (no relation)."""

    response: str
    sign: str
    driver: str


@dataclass(frozen=True)
class Story:
    """One line of work inside a theme: a question, what is measured, and what comes out.

    Attributes
    ----------
    since : int
        First year in which the question can be asked.
    kinds : tuple of str
        Kinds of papers that can tell this story; empty means all.
    sample : tuple of str, float, float, optional
        What is counted (plural), the fewest and the most; None means that of the card.
    observe, model, simulate, learn, build, mechanisms : tuple
        Facilities, methods and mechanisms that fit this story; empty means those of the card.
    """

    focus: str
    titles: tuple[Phrase, ...]
    known: tuple[Phrase, ...]
    asks: str
    found: tuple[Phrase, ...]
    measures: tuple[Measure, ...]
    trends: tuple[Trend, ...]
    means: tuple[Phrase, ...]
    since: int = 0
    kinds: tuple[str, ...] = ()
    sample: tuple[str, float, float] | None = None
    observe: tuple[str, ...] = ()
    model: tuple[Phrase, ...] = ()
    simulate: tuple[Phrase, ...] = ()
    learn: tuple[Phrase, ...] = ()
    build: tuple[Phrase, ...] = ()
    mechanisms: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class Card:
    """Everything the grammar knows of one research theme."""

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
