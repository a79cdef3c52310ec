"""Place the papers of a build on a basemap, and keep the basemap in the atlas for updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape._io import write_bytes
from landscape._wording import count
from landscape.pipeline._embeddings import vectors_of
from landscape.pipeline._executor import ROWS
from landscape.pipeline._map_rows import MAP, old_rows, read_map
from landscape.pipeline.stages import Context, read_once

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from landscape.mapping import Basemap
    from landscape.mapping.regions import Topics

BASEMAP = "basemap.parquet"


def place_on_basemap(context: Context) -> tuple[NDArray[np.float32], dict[str, object]]:
    """Place papers on a basemap. Papers that an earlier build has placed on it do not move."""
    from landscape.mapping.growth import find_novel

    basemap = _basemap(context)
    basemap.check_model(context.manifest.stages["embeddings"].model)
    vectors = vectors_of(context)
    coordinates = np.zeros((len(vectors), 2), dtype=np.float32)
    new, kept = np.arange(len(vectors)), _kept_rows(context)
    if kept is not None:
        _, old, _ = read_map(context.previous.files(MAP) if context.previous else [])
        known = np.flatnonzero(kept >= 0)
        coordinates[known], new = old[kept[known]], np.flatnonzero(kept < 0)
    novel, threshold = np.zeros(len(vectors), dtype=bool), None
    with context.progress("Placement", total=len(vectors)) as advance:
        advance(len(vectors) - len(new))
        for rows in np.array_split(new, len(new) // ROWS + 1):
            some = np.asarray(vectors[rows])
            coordinates[rows] = basemap.place(some)
            advance(len(rows))
        for rows in np.array_split(np.arange(len(vectors)), len(vectors) // ROWS + 1):
            some = np.asarray(vectors[rows])
            novel[rows], threshold = find_novel(some, basemap.vectors, threshold=threshold)
    agreement = basemap.neighbours_kept(vectors, coordinates)
    share = float(novel.mean()) if len(novel) else 0.0
    context.say(
        f"{count(len(new), 'paper')} placed on the basemap of {basemap.title}. Of the landmarks "
        f"most similar to a paper, {agreement:.1%} are among the nearest on the map "
        f"({basemap.quality.get('neighbours_kept', 0.0):.1%} for papers of the basemap). "
        f"{share:.1%} of the papers are novel (farther from the basemap than 99% of its papers "
        "from each other)."
    )
    write_bytes(context.folder / BASEMAP, _file(context).read_bytes())
    return coordinates, {
        "basemap": basemap.title,
        "frame": basemap.frame,
        "placed": len(new),
        "novel_on_basemap": round(share, 4),
        "neighbours_kept": round(agreement, 4),
    }


def topics_of_basemap(context: Context, coordinates: NDArray[np.float32]) -> Topics:
    """Return the regions of the basemap that have papers, with their own typical papers."""
    from landscape.mapping.regions import Topics, count_papers, typical_papers

    basemap = _basemap(context)
    regions = basemap.regions_at(coordinates)
    sizes = count_papers(basemap.topics, regions)
    table = basemap.topics.assign(n_papers=sizes)[sizes > 0].reset_index(drop=True)
    parent = dict(zip(table["topic_id"], table["parent_id"], strict=True))
    continents = np.array([parent.get(number, -1) for number in regions[:, 0].tolist()])
    vectors, exemplars = vectors_of(context), dict[int, list[int]]()
    for level, numbers in enumerate((continents, regions[:, 0], regions[:, 1])):
        topics = np.sort(table.loc[table["level"] == level, "topic_id"].to_numpy())
        if not len(topics):
            continue
        place = np.searchsorted(topics, numbers).clip(max=len(topics) - 1)
        group = np.where(topics[place] == numbers, place, -1)
        typical = typical_papers(vectors, group, len(topics))
        exemplars |= dict(zip(topics.tolist(), typical, strict=True))
    table = table.assign(exemplars=[exemplars[number] for number in table["topic_id"].tolist()])
    return Topics(regions[:, 0], regions[:, 1], table)


def _basemap(context: Context) -> Basemap:
    from landscape.mapping import read_basemap

    return read_once(read_basemap, _file(context))


def _file(context: Context) -> Path:
    """Return the file of the basemap, which every build with this layout has."""
    if context.options.on is None:
        raise ValueError("the layout is basemap, but no basemap is given")
    return context.options.on


def _kept_rows(context: Context) -> NDArray[np.int64] | None:
    """Return the earlier row of each paper, or None if the last map was not of this basemap."""
    previous = context.previous
    record = previous.stage("projection") if previous else None
    if previous is None or record is None or previous.stage("ingest") is None:
        return None
    if record.details.get("frame") != _basemap(context).frame:
        return None
    return old_rows(context, previous)
