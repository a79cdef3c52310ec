"""Colour a map by the density of papers, or by a class or a number of each paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.colors import to_rgb

from landscape.errors import InputError
from landscape.figures.colours import THEMES, perceptual_ramp

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.figures.colours import Theme

    Floats = NDArray[np.float64]

_MAX_CLASSES = 7
NAMES = {
    "density": "Density of papers",
    "topic": "Topic",
    "year": "Year",
    "citations": "Citations",
    "concept": "Concept",
    "facility": "Facility",
}
_LOGARITHMIC = ("cites", "read_count")
_NOT_CLASSES = frozenset(
    {
        "paper_id",
        "ads_id",
        "arxiv_id",
        "bibcode",
        "doi",
        "title",
        "abstract",
        "title_original",
        "abstract_original",
        "authors",
        "aff",
        "cite_bibcodes",
        "ref_bibcodes",
        "date",
        "year",
        "cites",
        "keywords",
        "ads_keywords",
    }
)


@dataclass(frozen=True)
class Colouring:
    """A variable shown as colour, and its value for each paper."""

    name: str
    title: str
    kind: Literal["density", "classes", "numbers"] = "density"
    values: Any = None
    labels: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    logarithmic: bool = False
    is_share: bool = False
    missing: int = 0

    def palette(self, colours: Theme) -> Floats:
        """Return the colours of classes and missing values, or the colour ramp; shape (n, 3)."""
        if self.kind == "numbers":
            return perceptual_ramp(THEMES[colours.name]["numbers"])
        theme = THEMES[colours.name]
        chosen = theme["series"][: min(len(self.labels), _MAX_CLASSES)]
        chosen += [theme["others"]] * (len(self.labels) - len(chosen))
        return np.array([to_rgb(colour) for colour in [*chosen, theme["missing"]]])

    def unknown(self, colours: Theme) -> Floats:
        """Return the colour of papers without a value, shape (3,)."""
        return np.array(to_rgb(THEMES[colours.name]["missing"]))

    def meaning(self, position: float) -> str:
        """Format the value at a position of the ramp, 0 to 1."""
        value = self.low + position * (self.high - self.low)
        if self.is_share:
            return f"{value:.0%}" if self.high >= 0.1 else f"{value:.1%}"
        if self.logarithmic:
            return f"{10**value - 1:,.0f}"
        if self.name == "year" or abs(value) >= 10_000:
            return f"{value:.0f}"
        return f"{value:.3g}"

    @cached_property
    def ends(self) -> tuple[str, str]:
        """Limits of the colour ramp as text. Values beyond a limit have the colour of the limit."""
        less, more = ("earlier", "later") if self.name == "year" else ("less", "more")
        is_below = self.values is not None and np.nanmin(self.values, initial=np.inf) < self.low
        is_above = self.values is not None and np.nanmax(self.values, initial=-np.inf) > self.high
        first, last = self.meaning(0), self.meaning(1)
        return (
            f"{first} or {less}" if is_below and not self.is_share else first,
            f"{last} or {more}" if is_above or self.is_share else last,
        )


DENSITY = Colouring("density", NAMES["density"])


def columns_to_colour(atlas: Atlas) -> list[str]:
    """Return the names of additional columns that can be shown as colours."""
    import pyarrow.parquet as pq

    from landscape.store.tables import unreadable

    if not atlas.parts:
        return []
    name = f"papers.parquet/{atlas.parts[0].name}.parquet"
    try:
        columns = atlas.read(name, lambda folder: pq.read_schema(folder / name)).names
    except (OSError, ValueError) as error:  # includes the errors of Arrow
        raise unreadable(atlas.path, name, error) from error
    return [column for column in columns if column not in _NOT_CLASSES]


def colouring_of(
    atlas: Atlas,
    name: str,
    overlays: Mapping[str, tuple[str, NDArray[np.int64], str]] | None = None,
) -> Colouring:
    """Read the values of a colouring; `overlays` contains papers of a concept or facility."""
    if name == "density":
        return DENSITY
    if name == "topic":
        return _topics(atlas)
    if name in ("concept", "facility"):
        if not overlays or name not in overlays:
            raise InputError(f"Choose a {name} first. The colour shows its share of the papers.")
        title, rows, _ = overlays[name]
        return share_colouring(name, title, rows, len(atlas))
    if name not in NAMES and name not in columns_to_colour(atlas):
        raise InputError(
            f"There is no colour {name!r}; use one of "
            f"{', '.join([*NAMES, *columns_to_colour(atlas)])}."
        )
    column = {"citations": "cites"}.get(name, name)
    found = colouring_of_column(name, atlas.read_papers([column])[column])
    if found.missing == len(atlas):
        raise InputError(
            f"No paper of this atlas has a value of {NAMES.get(name, name)!r}. Choose another "
            "colour."
        )
    return found


def colouring_of_column(name: str, values: pd.Series) -> Colouring:
    """Convert a column to classes or numbers, depending on its type."""
    import pandas as pd

    title = NAMES.get(name, name.replace("_", " ").capitalize())
    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return _classes(name, title, values)
    numbers = values.to_numpy("float32", na_value=np.nan)
    if name == "year":
        numbers = np.where(numbers > 0, numbers, np.float32(np.nan))
    logarithmic = values.name in _LOGARITHMIC or name == "citations"
    if logarithmic:
        numbers = np.log10(1 + np.maximum(numbers, 0))
    known = numbers[np.isfinite(numbers)]
    low, high = (float(v) for v in np.quantile(known, [0.02, 0.98])) if len(known) else (0.0, 1.0)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    return Colouring(
        name,
        title,
        "numbers",
        numbers.astype(np.float32),
        low=low,
        high=high,
        logarithmic=logarithmic,
        missing=len(numbers) - len(known),
    )


def share_colouring(name: str, title: str, rows: NDArray[np.int64], n_papers: int) -> Colouring:
    """Return a colouring by the local share of the given papers among all papers."""
    values = np.zeros(n_papers, dtype=np.float32)
    values[rows] = 1.0
    share = len(rows) / max(1, n_papers)
    return Colouring(
        name, title, "numbers", values, low=0.0, high=min(1.0, max(12 * share, 0.02)), is_share=True
    )


def papers_with_concept(atlas: Atlas, name: str) -> tuple[NDArray[np.int64], str]:
    """Return the papers tagged with a concept or narrower concepts, and the name of the concept."""
    thesaurus = atlas.thesaurus
    concept = thesaurus.find(name)
    ids = {concept.concept_id, *thesaurus.descendants(concept.concept_id)}
    tags = atlas.uat
    rows = np.unique(tags["paper_row"].to_numpy()[tags["concept_id"].isin(ids).to_numpy()])
    narrower = " and narrower" if len(ids) > 1 else ""
    return rows.astype(np.int64), f"{concept.label}{narrower}"


def papers_of_facility(atlas: Atlas, name: str) -> tuple[NDArray[np.int64], str]:
    """Return the papers that mention a facility, and the name of the facility."""
    from landscape.corpus import find_facility
    from landscape.overlays.missions.usage import select_mentions

    facility = find_facility(name)
    mentions = atlas.missions
    rows = np.unique(mentions["paper_row"].to_numpy()[select_mentions(mentions, facility)])
    return rows.astype(np.int64), facility.name


def _topics(atlas: Atlas) -> Colouring:
    """Return a colouring by continent, or by region if there are no continents."""
    topics = atlas.topics
    top = topics[topics["level"] == 0] if "level" in topics else topics[:0]
    if top.empty:
        top, above = topics, topics["topic_id"]
    else:
        above = topics["parent_id"].where(topics["parent_id"] != -1, topics["topic_id"])
    if top.empty:
        raise InputError("This atlas has no named regions to colour by.")
    ranked = top.sort_values("n_papers", ascending=False)
    labels = dict(zip(ranked["topic_id"], ranked["label"], strict=True))
    own = atlas.map["topic_id"].map(dict(zip(topics["topic_id"], above, strict=True)))
    return _ranked("topic", NAMES["topic"], own, labels)


def _classes(name: str, title: str, values: pd.Series) -> Colouring:
    """Return a colouring by the most frequent values; only the first item of a list is used."""
    import pandas as pd

    def first(value: Any) -> Any:
        if value is None or isinstance(value, str | bool | np.bool_ | float):
            return value
        return value[0] if len(value) else None

    texts = pd.Series([first(value) for value in values], dtype=object)
    texts = texts.where(texts != "")
    counts = texts.value_counts(sort=False).sort_values(ascending=False, kind="stable")
    return _ranked(name, title, texts, {value: value for value in counts.index})


def _ranked(name: str, title: str, values: pd.Series, labels: Mapping[object, object]) -> Colouring:
    """Return a colouring by the first seven `labels`; other values share one colour."""
    place = {value: min(rank, _MAX_CLASSES) for rank, value in enumerate(labels)}
    codes = values.map(place).fillna(-1).to_numpy(dtype=np.int16)
    shown = [str(label) for label in list(labels.values())[:_MAX_CLASSES]]
    if len(labels) > _MAX_CLASSES:
        shown.append(f"{len(labels) - _MAX_CLASSES:,} others")
    return Colouring(name, title, "classes", codes, tuple(shown), missing=int((codes < 0).sum()))
