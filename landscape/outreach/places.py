"""What on the map gets a name: continents, regions, and the waters between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.mapping._regions import BY_KEYWORDS
from landscape.outreach.continents import continent_names, fields_of
from landscape.outreach.everyday import tidy_name
from landscape.outreach.gazetteer import Entry
from landscape.outreach.hand import Place
from landscape.outreach.seas import (
    Separation,
    Water,
    find_waters,
    papers_on_shores,
    separation,
)
from landscape.outreach.wording import wording
from landscape.progress import progress

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.outreach.terrain import Terrain

    Floats = NDArray[np.float64]

_CLOUD = 500  # papers of a place that its range is fitted to
_WATERS = 10
_SMALL_WORDS = {"and", "of", "the", "in", "on", "for", "to", "a", "an", "with", "by"}


@dataclass(frozen=True)
class Found:
    """One place with what is known of it.

    Attributes
    ----------
    key, kind, technical_name : str
    name : str
        What the map calls it where nobody else says; empty for its technical name.
    silent : bool
        Whether its name is left away, because something wider bears it.
    x, y : float
        Map coordinates.
    n_papers : int or None
    part_of : str
    keywords : tuple of str
    cloud : ndarray of float, shape (n, 2)
        Papers, or the middle line of a water, in map coordinates.
    note : str
    """

    key: str
    kind: str
    technical_name: str
    x: float
    y: float
    n_papers: int | None = None
    part_of: str = ""
    keywords: tuple[str, ...] = ()
    cloud: Floats = field(default_factory=lambda: np.empty((0, 2)))
    note: str = ""
    name: str = ""
    silent: bool = False

    def called(self, names: Mapping[str, str]) -> str:
        """Its name on the map; `names` go first."""
        return names.get(self.key) or self.name or self.technical_name


@progress("Finding the places", total=None, unit="steps")
def find_places(atlas: Any, terrain: Terrain, *, language: str = "en") -> list[Found]:
    """List what can be named, the most important of each kind first.

    Parameters
    ----------
    atlas : Atlas
    terrain : Terrain
    language : str, default "en"
        Of the names of waters.

    Returns
    -------
    list of Found
        Continents of at least two regions, regions, then waters.
    """
    topics = atlas.topics
    table = atlas.map
    x, y = (table[axis].to_numpy(np.float64) for axis in ("x", "y"))
    topic = table["topic_id"].to_numpy(np.int64)
    found: list[Found] = []
    children = topics[topics["level"] == 1]["parent_id"].value_counts()
    parents = dict(
        zip(topics["topic_id"].astype(int), topics["parent_id"].astype(int), strict=True)
    )
    continent_of = np.full(int(max([*parents, 0])) + 2, -1, dtype=np.int64)  # -1 is the last
    for child, parent in parents.items():
        if child >= 0:
            continent_of[child] = parent if parent >= 0 else child
    continents = continent_of[topic]
    # Float32 and text order aside, the largest first and then the smallest number.
    ordered = topics.sort_values(["n_papers", "topic_id"], ascending=[False, True])
    for level, kind in ((0, "continent"), (1, "region")):
        for row in ordered[ordered["level"] == level].itertuples():
            if level == 0 and children.get(row.topic_id, 0) < 2:
                continue
            members = np.flatnonzero((continents if level == 0 else topic) == row.topic_id)
            found.append(_land(row, kind, members, x, y, parents))
    found = _called(atlas, found, continents, topics)
    fields = continents if len(set(continents[continents >= 0])) > 1 else topic
    return [*found, *_waters(atlas, terrain, x, y, fields, found, language)]


def as_places(
    found: Sequence[Found], names: Mapping[str, str], to_page: Any, *, most: int | None = None
) -> list[Place]:
    """Turn what was found into places to letter.

    Parameters
    ----------
    found : sequence of Found
    names : mapping of str to str
        Everyday names by key; the others keep their technical name.
    to_page : callable
        Map coordinates, two arrays, to points of the page, shape (n, 2).
    most : int, optional
        Regions to name at most.

    Returns
    -------
    list of Place
    """
    largest = {
        kind: max([one.n_papers or 1 for one in found if one.kind == kind], default=1)
        for kind in ("continent", "region")
    }
    places: list[Place] = []
    named = 0
    for one in found:
        # A table of names that is given back as it was written changes nothing.
        if one.silent and one.called(names) == one.called({}):
            continue
        if one.kind == "region":
            named += 1
            if most is not None and named > most:
                continue
        x, y = to_page([one.x], [one.y])[0]
        cloud = to_page(one.cloud[:, 0], one.cloud[:, 1]) if len(one.cloud) else one.cloud
        is_land = one.kind in largest
        weight = np.sqrt((one.n_papers or 1) / largest[one.kind]) if is_land else 0.5
        places.append(
            Place(
                key=one.key,
                name=one.called(names),
                kind=one.kind if is_land else "water",  # type: ignore[arg-type]  # two kinds of land
                x=float(x),
                y=float(y),
                weight=float(weight),
                cloud=cloud,
            )
        )
    return places


def as_entries(
    found: Sequence[Found], names: Mapping[str, str], shown: frozenset[str], terrain: Terrain
) -> list[Entry]:
    """Turn what was found into entries of the gazetteer.

    Waters without a name on the map are left out: nobody has looked at what they are called.
    """
    heights = {str(peak.region): peak.elevation for peak in terrain.peaks}
    entries = []
    for one in found:
        is_land = one.kind in ("continent", "region")
        if not is_land and one.key not in shown:
            continue
        entries.append(
            Entry(
                place=one.key,
                kind=one.kind,
                name=one.called(names),
                technical_name=one.technical_name,
                x=one.x,
                y=one.y,
                elevation=heights.get(one.key),
                n_papers=one.n_papers,
                share=(one.n_papers or 0) / max(1, terrain.n_papers) if is_land else None,
                recent_share=_recency(terrain, one) if is_land else None,
                shown=one.key in shown,
                part_of=one.part_of,
                keywords=one.keywords,
                note=one.note,
            )
        )
    return entries


def _called(
    atlas: Any, found: Sequence[Found], continents: NDArray[np.int64], topics: pd.DataFrame
) -> list[Found]:
    """Names of continents that repeat no region; those that somebody chose stay."""
    chosen = set(topics.loc[topics["label_source"] != BY_KEYWORDS, "topic_id"].astype(int))
    names = {
        kind: {int(one.key): one.technical_name for one in found if one.kind == kind}
        for kind in ("continent", "region")
    }
    own = {number: name for number, name in names["continent"].items() if number not in chosen}
    by_hand = [name for number, name in names["continent"].items() if number in chosen]
    called, silent = continent_names(own, names["region"], fields_of(atlas, continents), by_hand)
    return [
        replace(one, name=called.get(int(one.key), ""), silent=int(one.key) in silent)
        for one in found
    ]


def _land(
    row: Any,
    kind: str,
    members: NDArray[np.int64],
    x: Floats,
    y: Floats,
    parents: Mapping[int, int],
) -> Found:
    few = members[:: max(1, len(members) // _CLOUD)]
    cloud = np.column_stack([x[few], y[few]])
    place = (float(row.x), float(row.y))
    parent = parents.get(int(row.topic_id), -1)
    words = getattr(row, "keywords", None)
    return Found(
        key=str(int(row.topic_id)),
        kind=kind,
        technical_name=tidy_name(row.label),
        x=place[0],
        y=place[1],
        n_papers=int(row.n_papers),
        part_of=str(parent) if parent >= 0 else "",
        keywords=tuple(tidy_name(word) for word in words) if words is not None else (),
        cloud=cloud,
    )


def _waters(
    atlas: Any,
    terrain: Terrain,
    x: Floats,
    y: Floats,
    fields: NDArray[np.int64],
    lands: Sequence[Found],
    language: str,
) -> list[Found]:
    """Waters between fields, each with the words that separate its shores."""
    labels = {int(one.key): one.called({}) for one in lands}
    waters = find_waters(terrain, x, y, fields)[:_WATERS]
    avoid = set(labels.values())
    found = []
    for water in waters:
        told = _what_separates(atlas, water, x, y, fields, avoid)
        if told is None:
            continue
        avoid |= set(told.words)
        words = wording(language)
        template = words.strait if water.kind == "strait" else words.sea
        a, b = (_titled(tidy_name(word), language) for word in told.words)
        middle = np.argmin(np.hypot(water.x - np.median(water.x), water.y - np.median(water.y)))
        first, second = (labels.get(shore, str(shore)) for shore in water.shores)
        found.append(
            Found(
                key=water.key,
                kind=water.kind,
                technical_name=template.format(a=a, b=b),
                x=float(water.x[middle]),
                y=float(water.y[middle]),
                keywords=told.words,
                cloud=np.column_stack([water.x, water.y]),
                note=f"Between {first} and {second}. {told.sentence(first, second)}",
            )
        )
    return found


def _what_separates(
    atlas: Any, water: Water, x: Floats, y: Floats, fields: NDArray[np.int64], avoid: set[str]
) -> Separation | None:
    shores = papers_on_shores(water, x, y, fields)
    words = [atlas.read_papers(["keywords"], rows=rows.tolist())["keywords"] for rows in shores]
    return separation(words[0], words[1], avoid=avoid)


def _titled(words: str, language: str) -> str:
    """Capitals as English writes names; other languages keep theirs."""
    if not language.lower().startswith("en"):
        return words
    return " ".join(
        word if word in _SMALL_WORDS or not word[:1].islower() else word[0].upper() + word[1:]
        for word in words.split(" ")
    )


def _recency(terrain: Terrain, place: Found) -> float | None:
    """Share of recent papers near a place, None where the dates do not tell."""
    column, row = terrain.pixels_of([place.x], [place.y])
    width, height = terrain.size
    value = float(
        terrain.recency[int(np.clip(row[0], 0, height - 1)), int(np.clip(column[0], 0, width - 1))]
    )
    return value if np.isfinite(value) else None
