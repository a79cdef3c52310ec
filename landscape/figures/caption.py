"""Titles, captions and alternative texts of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape import _wording
from landscape._wording import count
from landscape.figures.labels import clean_name

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

GENERATED = _wording.GENERATED.replace("Generated demo corpus", "GENERATED DEMO CORPUS")
NEARNESS = "Nearby papers are similar; directions, and distances between far regions, mean nothing."
_SOURCES_NAMED = 4
_MAX_NOTE, _MAX_HEAD = 700, 100
_SOURCE_NAMES = {
    "ads": "ADS",
    "arxiv": "arXiv",
    "arxiv_atom": "arXiv",
    "bibtex": "BibTeX",
    "csl": "CSL-JSON or Crossref",
    "datacite": "DataCite",
    "demo": "the demo generator",
    "endnote": "EndNote",
    "endnote_xml": "EndNote",
    "inspire": "INSPIRE",
    "openalex": "OpenAlex",
    "pathfinder": "the pathfinder dataset",
    "pubmed": "PubMed",
    "pubmed_xml": "PubMed",
    "ris": "RIS",
    "scilit": "SciLit",
    "semantic_scholar": "Semantic Scholar",
    "web_of_science": "Web of Science",
}


@dataclass(frozen=True)
class Caption:
    """Caption of a figure."""

    head: str
    sentences: Sequence[str]
    generated: bool = False

    @property
    def text(self) -> str:
        """The caption, one sentence per line."""
        return "\n".join([self.head, *self.sentences])

    def describe(self, what: str, more: str = "") -> str:
        """Return the alternative text with the kind of figure, the caption and the contents."""
        return " ".join(
            filter(
                None, [GENERATED if self.generated else "", what, self.head, *self.sentences, more]
            )
        )


def caption_of(analysis: Analysis, *notes: str) -> Caption:
    """Return the caption of an analysis with its title, denominators, warnings and `notes`."""
    head, _, rest = analysis.caption.partition(". ")
    lines = [*replace(analysis, bounds={}).notes, *filter(None, [rest]), *notes]
    mark = next((one for one in (": ", "; ") if one in head), "")
    if len(head) > _MAX_HEAD and mark:
        head, _, more = head.partition(mark)
        lines.insert(0, f"{more[:1].upper()}{more[1:].rstrip('.')}.")
    sentences = [clean_name(line, most=_MAX_NOTE) for line in lines]
    head = clean_name(f"{head.rstrip('.')}.", most=_MAX_NOTE)
    return Caption(head, sentences, bool(analysis.bounds.get("generated")))


@dataclass(frozen=True)
class MapFacts:
    """Values that a map caption reports."""

    title: str = "Papers"
    n_papers: int = 0
    sources: Sequence[str] = ()
    first: object = None
    last: object = None
    in_part: str = ""
    generated: bool = False
    share_named: float | None = None
    n_regions: int = 0
    quality: Mapping[str, Any] = field(default_factory=dict)


def headline(facts: MapFacts) -> str:
    """Return the title of a map with corpus, number of papers, dates and sources."""
    dates = " to ".join(dict.fromkeys(str(date) for date in (facts.first, facts.last) if date))
    dates += f" ({facts.in_part} in part)" if facts.in_part else ""
    sources = [clean_name(source) for source in facts.sources]
    more = len(sources) - _SOURCES_NAMED
    named = ", ".join(sources[:_SOURCES_NAMED]) + (f" and {more} more" if more > 0 else "")
    parts = [count(facts.n_papers, "paper"), dates, f"from {named}" if named else ""]
    return f"{clean_name(facts.title)}: {', '.join(part for part in parts if part)}."


def explanation(
    facts: MapFacts, *, not_shown: int = 0, outside: int = 0, specks: bool = False
) -> list[str]:
    """Return sentences on how to read the map and on its quality."""
    measures = [
        text.format(float(value))
        for key, text in _MEASURES.items()
        if (value := facts.quality.get(key)) is not None
    ]
    keys = ("category_accuracy_map", "category_accuracy_full", "category_accuracy_chance")
    accuracies = [value for key in keys if (value := facts.quality.get(key)) is not None]
    if len(accuracies) == len(keys):
        measures.append(
            "neighbours predict the category of {:.0%} of papers ({:.0%} in full dimension, "
            "{:.0%} by chance)".format(*accuracies)
        )
    sentences = [NEARNESS]
    if facts.in_part:
        sentences.append(
            f"The corpus covers {facts.in_part} in part (few papers or other categories)."
        )
    if measures:
        sentences.append(f"Map quality: {measures[0]}.")
    if facts.share_named is not None and facts.n_regions:
        regions = count(facts.n_regions, "named region")
        hidden = f" ({count(not_shown, 'name')} not shown for lack of space)" if not_shown else ""
        share = f"{facts.share_named:.0%}"
        if share == "100%" and facts.share_named < 1:
            share = "Nearly all"
        sentences.append(f"{share} of the papers are in the {regions}{hidden}.")
    if specks:
        sentences.append("Small dots are single papers.")
    if outside:
        verb = "is" if outside == 1 else "are"
        sentences.append(f"{count(outside, 'paper')} far from all others {verb} outside the frame.")
    if measures[1:]:
        sentences.append(f"Further measures: {'; '.join(measures[1:])}.")
    return sentences


_MEASURES = {
    "knn_recall_at_10": "{:.0%} of the 10 papers most similar to a paper are among its 10 nearest",
    "trustworthiness": "trustworthiness {:.2f}",
    "continuity": "continuity {:.2f}",
    "peak_recall": "{:.0%} of region peaks return when papers are resampled",
    "stability": "two runs have {:.0%} of the neighbours of a paper in common",
}


def alt_text(facts: MapFacts, topics: pd.DataFrame, *, most: int = 8) -> str:
    """Describe the map for readers who cannot see it."""
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


def place_in_words(x: float, y: float) -> str:
    """Describe a position on the page, such as ``upper left``."""
    rows, columns = ("lower", "middle", "upper"), ("left", "centre", "right")
    row, column = rows[min(2, max(0, int(y * 3)))], columns[min(2, max(0, int(x * 3)))]
    return "centre" if (row, column) == ("middle", "centre") else f"{row} {column}"


def place_of(x: float, y: float, extent: Sequence[float]) -> str:
    """Return the part of the page that contains a map position, such as ``upper left``."""
    x0, y0, x1, y1 = extent
    return place_in_words((x - x0) / (x1 - x0), (y - y0) / (y1 - y0))


def facts_of(atlas: AtlasStore) -> MapFacts:
    """Collect the values for a map caption from an atlas."""
    coverage = dict(getattr(atlas, "coverage", None) or {})
    topics = getattr(atlas, "topics", None)
    topic_id = atlas.map["topic_id"].to_numpy() if "topic_id" in atlas.map else None
    return MapFacts(
        title=str(coverage.get("title") or "Papers"),
        n_papers=len(atlas.map),
        sources=readable_sources(coverage.get("sources") or ()),
        first=coverage.get("first_date"),
        last=coverage.get("last_date"),
        in_part=str(coverage.get("in_part") or ""),
        generated=bool(coverage.get("generated")),
        share_named=None if topic_id is None else float(np.mean(topic_id >= 0)),
        n_regions=int((levels_of(topics) == 1).sum()) if topics is not None else 0,
        quality=dict(getattr(atlas, "quality", None) or {}),
    )


def levels_of(topics: pd.DataFrame) -> np.ndarray:
    """Return the level of each topic; without a column ``level``, derive it from the parents."""
    if "level" in topics:
        return np.asarray(topics["level"], dtype=np.int64)
    if "parent_id" in topics:
        return np.where(topics["parent_id"] == -1, 0, 1)
    return np.ones(len(topics), dtype=np.int64)


def readable_sources(sources: Iterable[object]) -> list[str]:
    """Return the name of the archive of each source, or the file name if it is unknown."""
    split = (str(source).partition(":") for source in sources)
    names = (_SOURCE_NAMES.get(reader, file or reader) for reader, _, file in split)
    return list(dict.fromkeys(names))
