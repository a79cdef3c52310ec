"""The words of a map: caption, alternative text, and the bounds that every figure must state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from landscape._wording import count
from landscape.figures.names import clean_name

if TYPE_CHECKING:
    import pandas as pd

GENERATED = "GENERATED DEMO CORPUS: these papers do not exist."
_SOURCES_NAMED = 4


@dataclass(frozen=True)
class MapFacts:
    """What a map's caption states.

    Attributes
    ----------
    title : str
        Name of the corpus.
    n_papers : int
        Papers on the map.
    sources : sequence of str
        Where they come from.
    first, last : str or None
        Dates of the oldest and the newest paper.
    generated : bool
        True where papers were made up by the demo.
    share_named : float or None
        Fraction of papers that lie in a named region.
    n_regions : int
        Named regions.
    quality : mapping of str to float or None
        As `landscape.mapping._quality` measures them.
    """

    title: str = "Papers"
    n_papers: int = 0
    sources: Sequence[str] = ()
    first: str | None = None
    last: str | None = None
    generated: bool = False
    share_named: float | None = None
    n_regions: int = 0
    quality: Mapping[str, Any] = field(default_factory=dict)


def headline(facts: MapFacts) -> str:
    """Say what is on the map: corpus, papers, dates, sources.

    Examples
    --------
    >>> headline(MapFacts(title="Stars", n_papers=1200, first="1990", last="2026", sources=["ads"]))
    'Stars: 1,200 papers, 1990 to 2026, from ads.'
    """
    dates = " to ".join(dict.fromkeys(str(date) for date in (facts.first, facts.last) if date))
    sources = [clean_name(source) for source in facts.sources]
    more = len(sources) - _SOURCES_NAMED
    named = ", ".join(sources[:_SOURCES_NAMED]) + (f" and {more} more" if more > 0 else "")
    parts = [count(facts.n_papers, "paper"), dates, f"from {named}" if named else ""]
    return f"{clean_name(facts.title)}: {', '.join(part for part in parts if part)}."


def explanation(
    facts: MapFacts, *, not_shown: int = 0, outside: int = 0, specks: bool = False
) -> list[str]:
    """Say how to read the map and how far to trust it, one sentence an item.

    Parameters
    ----------
    facts : MapFacts
    not_shown : int, default 0
        Names that found no room.
    outside : int, default 0
        Papers outside the frame.
    specks : bool, default False
        Whether single papers can be seen.

    Returns
    -------
    list of str

    Examples
    --------
    >>> for sentence in explanation(MapFacts(quality={"trustworthiness": 0.91})):
    ...     print(sentence)
    Near means similar; directions, and distances between far regions, mean nothing.
    Map quality: trustworthiness 0.91.
    """
    sentences = [
        "Near means similar; directions, and distances between far regions, mean nothing.",
    ]
    if specks:
        sentences.append("Specks are single papers.")
    if facts.share_named is not None and facts.n_regions:
        regions = count(facts.n_regions, "named region")
        lie = f"{_percent(facts.share_named)} of the papers lie in the {regions}"
        hidden = f" ({count(not_shown, 'name')} not shown for want of room)" if not_shown else ""
        sentences.append(f"{lie}{hidden}.")
    measures = [
        text.format(percent=_percent(float(value)), value=float(value))
        for key, text in _MEASURES.items()
        if (value := facts.quality.get(key)) is not None
    ]
    measures += _agreements(facts.quality)
    if measures:
        sentences.append(f"Map quality: {'; '.join(measures)}.")
    if outside:
        verb = "lies" if outside == 1 else "lie"
        sentences.append(f"{count(outside, 'paper')} far from all others {verb} outside the frame.")
    return sentences


_MEASURES = {
    "knn_recall_at_10": "{percent} of the 10 nearest neighbours are kept (kNN recall@10)",
    "trustworthiness": "trustworthiness {value:.2f}",
    "continuity": "continuity {value:.2f}",
    "peak_recall": "{percent} of region peaks return when papers are resampled",
    "stability": "two runs share {percent} of each paper's surroundings",
}


def _agreements(quality: Mapping[str, Any]) -> list[str]:
    """How often neighbours have a paper's category: on the map, in full dimension, by chance."""
    keys = ("category_accuracy_map", "category_accuracy_full", "category_accuracy_chance")
    found = [quality.get(key) for key in keys]
    if any(value is None for value in found):
        return []
    on_map, in_full, by_chance = (_percent(float(value or 0.0)) for value in found)
    return [
        f"neighbours tell the category of {on_map} of papers "
        f"({in_full} in full dimension, {by_chance} by chance)"
    ]


def alt_text(facts: MapFacts, topics: pd.DataFrame, *, most: int = 8) -> str:
    """Describe the map for readers who cannot see it.

    Parameters
    ----------
    facts : MapFacts
    topics : pandas.DataFrame
        ``label, level, x, y, n_papers``; x and y as fractions of the frame, 0 to 1.
    most : int, default 8
        Regions to name, the largest first.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> topics = pd.DataFrame({"label": ["Comets"], "level": 1, "x": 0.1, "y": 0.9, "n_papers": 7})
    >>> alt_text(MapFacts(title="Stars", n_papers=9, n_regions=1), topics)
    'Density map of papers. Stars: 9 papers. 1 named region. Largest: Comets (7, upper left).'
    """
    generated = f"{GENERATED} " if facts.generated else ""
    parts = [f"{generated}Density map of papers. {headline(facts)}"]
    for level, noun in ((0, "continent"), (1, "named region")):
        named = topics[topics["level"] == level].sort_values("n_papers", ascending=False)
        if named.empty:
            continue
        largest = ", ".join(
            f"{clean_name(row.label)} ({row.n_papers:,}, {place_in_words(row.x, row.y)})"
            for row in named.head(most).itertuples()
        )
        parts.append(f"{count(len(named), noun)}. Largest: {largest}.")
    return " ".join(parts)


def _percent(fraction: float) -> str:
    return f"{fraction:.0%}"


def place_in_words(x: float, y: float) -> str:
    """Where on the page, in words."""
    rows, columns = ("lower", "middle", "upper"), ("left", "centre", "right")
    row, column = rows[min(2, max(0, int(y * 3)))], columns[min(2, max(0, int(x * 3)))]
    return "centre" if (row, column) == ("middle", "centre") else f"{row} {column}"
