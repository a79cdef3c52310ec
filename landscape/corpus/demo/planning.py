"""Which papers there are: their themes, dates and kinds, and what is planted among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from landscape.corpus.demo.themes import Card, Story

FIRST_YEAR, LAST_YEAR = 1990, 2026
LAST_DAY = date(2026, 6, 30)
REVIEW_SHARE = 0.02


@dataclass(frozen=True)
class Plan:
    """One paper before it is written."""

    card: Card
    story: Story
    day: date
    kind: str

    @property
    def decimal_year(self) -> float:
        """The date as a decimal year."""
        return self.day.year + (self.day.timetuple().tm_yday - 1) / 365.25


def plan_papers(cards: Sequence[Card], n_papers: int, *, rng: Random) -> list[Plan]:
    """Draw themes, dates and kinds, in order of time.

    Parameters
    ----------
    cards : sequence of Card
    n_papers : int
    rng : random.Random

    Returns
    -------
    list of Plan
        ``n_papers`` long. Every theme has a paper when there are enough papers.
    """
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    curves = {
        card.id: [activity(card, year) * field_growth(year) for year in years] for card in cards
    }
    # Every theme has the same mean size, times its weight: a young theme is dense, not small.
    sizes = _apportion([card.weight for card in cards], n_papers)
    drawn: list[tuple[date, int]] = []
    for position, (card, size) in enumerate(zip(cards, sizes, strict=True)):
        chosen = rng.choices(years, weights=curves[card.id], k=size)
        drawn.extend((_day_in(year, card, rng), position) for year in chosen)
    drawn.sort()
    reviews = _choose_reviews(drawn, cards, round(REVIEW_SHARE * n_papers), rng)
    return [
        _plan(cards[position], day, review=index in reviews, rng=rng)
        for index, (day, position) in enumerate(drawn)
    ]


def activity(card: Card, year: int) -> float:
    """Relative activity of a theme in a year, as a share of the whole field.

    Examples
    --------
    >>> from landscape.corpus.demo.cards import load_cards
    >>> rising = next(card for card in load_cards() if card.activity == "rising")
    >>> activity(rising, 2025) > activity(rising, max(rising.start, 1995))
    True
    """
    if year < card.start:
        return 0.0
    t = (year - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR)
    if card.activity == "rising":
        return 0.06 + math.pow((year - card.start + 1) / (LAST_YEAR - card.start + 1), 2.0)
    if card.activity == "falling":
        return 0.12 + math.pow(1.0 - t, 1.6)
    if card.activity == "burst":
        return 0.10 + 2.5 * math.exp(-0.5 * ((year - card.peak) / 3.0) ** 2)
    return 1.0


def field_growth(year: int) -> float:
    """Papers of the whole field in a year, relative to 1990; the last year is half a year.

    Examples
    --------
    >>> field_growth(1990), field_growth(2025) > 4
    (1.0, True)
    """
    papers = math.exp(0.045 * (year - FIRST_YEAR))
    return 0.5 * papers if year == LAST_YEAR else papers


def _apportion(weights: Sequence[float], total: int) -> list[int]:
    """Whole numbers in proportion to the weights that add up to the total (largest remainder)."""
    scale = total / sum(weights)
    shares = [weight * scale for weight in weights]
    sizes = [int(share) for share in shares]
    by_remainder = sorted(range(len(weights)), key=lambda i: (sizes[i] - shares[i], i))
    for i in by_remainder[: total - sum(sizes)]:
        sizes[i] += 1
    return sizes


def _day_in(year: int, card: Card, rng: Random) -> date:
    first = date(year, 1, 1)
    last = min(date(year, 12, 31), LAST_DAY)
    start = first + timedelta(days=rng.randint(0, (last - first).days))
    return max(start, date(card.start, 1, 1))


def _choose_reviews(
    drawn: Sequence[tuple[date, int]], cards: Sequence[Card], number: int, rng: Random
) -> set[int]:
    """Positions of the reviews: one in each theme first, none in the planted gaps.

    A review comes when its theme has a literature to look back on: in the later part of the
    theme's papers, which for a rising theme means lately.
    """
    by_theme: dict[int, list[int]] = {}
    for index, (_, position) in enumerate(drawn):
        if cards[position].reviewed:
            by_theme.setdefault(position, []).append(index)
    if not by_theme:
        return set()
    chosen: set[int] = set()
    order = list(by_theme)
    rng.shuffle(order)
    while len(chosen) < number:
        before = len(chosen)
        for position in order:
            papers = by_theme[position]
            late = [i for i in papers[int(0.55 * len(papers)) :] if i not in chosen]
            if late and len(chosen) < number:
                chosen.add(rng.choice(late))
        if len(chosen) == before:
            break
        rng.shuffle(order)
    return chosen


def _plan(card: Card, day: date, *, review: bool, rng: Random) -> Plan:
    told = [story for story in card.stories if story.since <= day.year] or list(card.stories[:1])
    story = rng.choice(told)
    return Plan(card, story, day, "review" if review else _kind(card, story, day.year, rng))


def _kind(card: Card, story: Story, year: int, rng: Random) -> str:
    """A kind of paper that the story has material for, as usual in that year."""
    t = (year - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR)
    observes = bool(card.observe)
    weights = {
        "observation": 0.55 * observes,
        "survey": 0.10 * observes * ((story.sample or card.sample)[2] >= 60),
        "theory": (0.22 - 0.06 * t) * bool(card.phrases(story, "model")),
        "simulation": (0.08 + 0.14 * t) * bool(card.phrases(story, "simulate")),
        "learning": max(0.0, 0.5 * t - 0.3) * bool(card.phrases(story, "learn")),
        "instrument": (0.7 if card.category == "astro-ph.IM" else 0.06)
        * bool(card.phrases(story, "build")),
    }
    told = {kind: w for kind, w in weights.items() if kind in (story.kinds or weights)}
    return rng.choices(list(told), weights=list(told.values()))[0]
