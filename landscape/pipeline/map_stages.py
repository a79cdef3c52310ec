"""Stages that compute the coordinates, the regions and the quality of the map."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from landscape._io import replacing, sha256_of, write_bytes
from landscape._progress import progress
from landscape.errors import LandscapeError
from landscape.pipeline._basemap import BASEMAP, place_on_basemap, topics_of_basemap
from landscape.pipeline._embeddings import EMBEDDINGS, sampled_neighbours, vectors_of
from landscape.pipeline._executor import ROWS, Slice, slices
from landscape.pipeline._ingest_stage import PAPERS, brings_all, ready_files, renamed_papers
from landscape.pipeline._map_rows import MAP, old_rows, read_map, write_map
from landscape.pipeline._rows import column_digest, read_columns, write_table
from landscape.pipeline.stages import Context, Previous, Stage, StageResult, inputs_from
from landscape.store.arrays import gather_rows, open_matrices, open_matrix, write_matrix
from landscape.store.manifest import Manifest, digest, now
from landscape.store.tables import CHANGES, changes_schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.embeddings import Embedder
    from landscape.embeddings.neighbours import Neighbours
    from landscape.llm import LanguageModel
    from landscape.mapping.quality import Measures
    from landscape.mapping.regions import Topics


def layout_of(context: Context) -> str:
    """Return the layout of this build. If no option is set, it depends on the inputs."""
    asked = context.options.layout
    if context.options.on is not None:
        return "basemap"
    if asked is not None:
        return asked
    return "ready" if brings_all(context, "coordinates") else "umap"


def embed_texts(context: Context, texts: Sequence[str], what: str) -> NDArray[np.float32] | None:
    """Embed texts with the model of the papers. Return None if it fails, or if it is paid."""
    model = context.manifest.stages["embeddings"].model
    try:
        # A model that the user named for this build is trusted, unlike one that the atlas names.
        trust = (context.options.embedder or "").startswith("st:")
        embedder = _embedder(json.dumps(model), trust) if model else None
        return None if embedder is None else embedder.embed(texts)
    except LandscapeError as error:
        context.say(f"{what} are matched without embeddings, because embedding failed: {error}")
        return None


@lru_cache(maxsize=1)
def _embedder(model: str, trust: bool) -> Embedder | None:
    """Return the embedder that is described in JSON, or None if it is paid."""
    from landscape.embeddings.embedder import PaidEmbedder, embedder_for

    described = json.loads(model)
    exact = described.get("name") == "minilm" and described.get("precision") == "float32"
    options = {"precision": "float32"} if exact else {}  # equal on all CPUs
    embedder = embedder_for(described, trust=trust, **options)
    return None if isinstance(embedder, PaidEmbedder) else embedder


def _projection_parameters(context: Context) -> dict[str, object]:
    options, layout = context.options, layout_of(context)
    parameters: dict[str, object] = {"layout": layout}
    if options.on is not None:
        return parameters | {"basemap": sha256_of(options.on)}
    if layout not in ("ready", "pca"):
        parameters["seed"] = options.seed
    if layout in ("umap", "keep", "refit"):
        parameters |= {"n_neighbors": options.n_neighbors, "min_dist": options.min_dist}
    if layout in ("umap", "refit") and context.manifest.n_papers > options.n_landmarks:
        parameters["landmarks"] = options.n_landmarks
    return parameters


def _projection_inputs(context: Context) -> dict[str, str]:
    inputs = {"papers": context.product("ingest", "papers")}
    if layout_of(context) == "ready":
        products = context.manifest.stages["ingest"].products
        return inputs | {k: v for k, v in products.items() if k.startswith("coordinates/")}
    return inputs | {"vectors": context.product("embeddings", "vectors")}


def _projection_run(context: Context) -> StageResult:
    layout, details = layout_of(context), dict[str, object]()
    outputs = []
    if layout == "basemap":
        coordinates, details = place_on_basemap(context)
        outputs.append(BASEMAP)
    elif layout == "ready":
        files = [path for path in ready_files(context, "coordinates") if path is not None]
        coordinates = np.concatenate([np.asarray(open_matrix(path)) for path in files])
    else:
        vectors = vectors_of(context)
        if layout in ("keep", "refit"):
            coordinates, details = _keep(context, vectors)
        else:
            coordinates, details = _project(context, vectors, layout)
    outputs += write_map(context, coordinates)
    return StageResult(
        rows=len(coordinates),
        outputs=outputs,
        products={"map": column_digest(context.part_files(MAP), ["paper_id", "x", "y"])},
        details=details,
    )


def _project(
    context: Context,
    vectors: NDArray[np.float32],
    layout: str,
    start: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], dict[str, object]]:
    """Project papers to the plane. UMAP is fitted to landmarks only if there are many papers."""
    from landscape.mapping import project
    from landscape.mapping.projection import choose_landmarks

    options = context.options
    settings: dict[str, Any] = {
        "method": layout,
        "seed": options.seed,
        "n_neighbors": options.n_neighbors,
        "min_dist": options.min_dist,
    }
    with progress("Map", total=None):
        if layout != "umap" or len(vectors) <= options.n_landmarks:
            return project(vectors, **settings, start="pca" if start is None else start), {}
        with threadpool_limits(1):  # sums of several threads can differ between runs
            rows = choose_landmarks(vectors, options.n_landmarks)
        landmarks = np.asarray(vectors[rows])
        # The nearest papers among the landmarks are as far as those among all papers.
        n_near = max(_FEWEST_NEAR, round(options.n_neighbors * len(rows) / len(vectors)))
        settings["n_neighbors"] = n_near
        fitted = project(landmarks, **settings, start="pca" if start is None else start[rows])
    return _place_others(context, vectors, rows, landmarks, fitted, n_near)


def _place_others(
    context: Context,
    vectors: NDArray[np.float32],
    rows: NDArray[np.int64],
    landmarks: NDArray[np.float32],
    fitted: NDArray[np.float32],
    n_near: int,
) -> tuple[NDArray[np.float32], dict[str, object]]:
    """Place all papers that are not landmarks by their nearest landmarks."""
    from landscape.embeddings.neighbours import write_neighbours
    from landscape.mapping.quality import neighbours_kept

    work = context.work("landmarks")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with threadpool_limits(1):
        near = write_neighbours(landmarks, work / "cells", k=n_near)
    write_matrix(work / "fitted.npy", [fitted], rows=len(fitted), columns=2)
    is_landmark = np.zeros(len(vectors), dtype=bool)
    is_landmark[rows] = True
    coordinates = np.empty((len(vectors), 2), dtype=np.float32)
    coordinates[rows] = fitted
    tasks: list[tuple[Slice, NDArray[np.int64]]] = []  # the papers of a slice that are placed
    start = 0
    for path, part in zip(
        context.part_files(EMBEDDINGS, ".npy"), context.manifest.parts, strict=True
    ):
        for piece in slices(path, part.rows, size=_PLACED_AT_ONCE):
            own = is_landmark[start + piece.start : start + piece.stop]
            tasks.append((piece, np.flatnonzero(~own)))
        start += part.rows
    n_others = len(vectors) - len(rows)
    with context.progress("Placement", total=n_others) as advance:
        min_dist = context.options.min_dist
        place = partial(
            _place_slice, near=near, k=n_near, fitted=work / "fitted.npy", min_dist=min_dist
        )
        placed = [np.zeros((0, 2), dtype=np.float32)]
        for found in context.executor.map(place, tasks, n_papers=n_others):
            placed.append(found)
            advance(len(found))
    coordinates[~is_landmark] = np.concatenate(placed)
    shutil.rmtree(work)
    kept = [neighbours_kept(vectors, coordinates, only) for only in (is_landmark, ~is_landmark)]
    context.say(
        f"UMAP was fitted to {len(rows):,} of {len(vectors):,} papers, and the others were placed "
        f"by their nearest neighbours ({near.recall:.1%} found). Neighbours kept on the map: "
        f"{kept[0]:.3f} and {kept[1]:.3f}."
    )
    return coordinates, {
        "landmarks": len(rows),
        "recall_of_neighbours": near.recall,
        "neighbours_kept": [round(value, 4) for value in kept],
    }


_FEWEST_NEAR = 5
_PLACED_AT_ONCE = 4 * ROWS  # papers; all that are near the same landmarks are compared at once


def _place_slice(
    task: tuple[Slice, NDArray[np.int64]],
    *,
    near: Neighbours,
    k: int,
    fitted: Path,
    min_dist: float,
) -> NDArray[np.float32]:
    from landscape.mapping.projection import place_between, settle

    piece, rows = task
    vectors = open_matrix(piece.part)[piece.start + rows]
    with threadpool_limits(1):
        found, coordinates = near.search(vectors, k=k), np.asarray(open_matrix(fitted))
    placed = place_between(*found, coordinates)
    return settle(placed, *found, coordinates, min_dist=min_dist)


def _keep(
    context: Context, vectors: NDArray[np.float32]
) -> tuple[NDArray[np.float32], dict[str, object]]:
    """Keep the coordinates of the last map, and place new papers on this map.

    With the layout "refit", UMAP then moves all papers, and the new map is registered to the last.
    """
    from landscape.embeddings import nearest
    from landscape.mapping.growth import register
    from landscape.mapping.projection import place_between, settle

    previous = context.previous
    if previous is None or not (previous.stage("projection") and previous.stage("ingest")):
        context.say("There is no earlier map. UMAP computes a new map.")
        return _project(context, vectors, "umap")
    old_row = old_rows(context, previous)
    _, old_coordinates, _ = read_map(previous.files(MAP))
    kept, new = np.flatnonzero(old_row >= 0), np.flatnonzero(old_row < 0)
    if len(kept) == 0:
        context.say("None of the papers of the earlier map remain. UMAP computes a new map.")
        return _project(context, vectors, "umap")
    coordinates = np.empty((len(vectors), 2), dtype=np.float32)
    coordinates[kept] = old_coordinates[old_row[kept]]
    if len(new):
        k = min(context.options.n_neighbors, len(kept))
        found = nearest(_first_vectors(context, kept), gather_rows([vectors], new), k=k)
        coordinates[new] = settle(
            place_between(*found, coordinates[kept]),
            *found,
            coordinates[kept],
            min_dist=context.options.min_dist,
        )
    details: dict[str, object] = {"placed": len(new)}
    if layout_of(context) == "refit":
        fitted, more = _project(context, vectors, "umap", coordinates)
        moved = register(fitted, coordinates[kept], kept)
        shift = float(np.median(np.hypot(*(moved[kept] - coordinates[kept]).T)))
        context.say(f"The map was fitted again: papers moved by {shift:.2f} map units (median).")
        return moved, {**details, **more, "median_shift": round(shift, 4)}
    if context.is_update:
        details |= _novelty(context, previous, vectors, coordinates)
    return coordinates, details


def _first_vectors(context: Context, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the vectors of some rows. If these are the first parts, they are not copied."""
    files = context.part_files(EMBEDDINGS, ".npy")
    ends = np.cumsum([part.rows for part in context.manifest.parts])
    n_parts = int(np.searchsorted(ends, len(rows))) + 1
    if len(rows) == rows[-1] + 1 == ends[n_parts - 1]:
        return open_matrices(files[:n_parts])
    return gather_rows([vectors_of(context)], rows)


def _novelty(
    context: Context,
    previous: Previous,
    vectors: NDArray[np.float32],
    coordinates: NDArray[np.float32],
) -> dict[str, object]:
    """Report papers that are far from all papers of the last map that was fitted to all papers."""
    from landscape.embeddings import nearest
    from landscape.mapping.growth import find_emerging, find_novel, propose_regions

    names = [part.name for part in previous.manifest.parts]
    known = previous.manifest.stages["projection"].details.get("base")
    fitted = {name for name in names if not isinstance(known, list) or name in known}
    parts = context.manifest.parts
    # The parts of the map come first, because an update adds parts at the end.
    later = [*dropwhile(lambda part: part.name in fitted, parts)]
    base_parts = [part.name for part in parts if part.name in fitted]
    files = context.manifest.files
    details: dict[str, object] = {
        "base": base_parts,
        "base_vectors": digest([files[f"{EMBEDDINGS}/{name}.npy"].sha256 for name in base_parts]),
    }
    n_new = sum(part.rows for part in later)
    n_base = len(vectors) - n_new
    if not n_new or not n_base:
        return details
    new = np.asarray(vectors[n_base:])
    base = _first_vectors(context, np.arange(n_base))
    old = nearest(base, new, k=1)[1][:, 0]
    last = previous.manifest.stages["projection"].details
    # Updates do not change the papers to which the map was fitted, nor their distances.
    is_known = last.get("base_vectors") == details["base_vectors"]
    novel, threshold = find_novel(
        new, base, nearest_old=old, threshold=last.get("threshold") if is_known else None
    )
    chosen = novel | find_emerging(new, base, nearest_old=old)
    proposals = []
    if chosen.any():
        papers = context.part_files(PAPERS)
        table = read_columns(papers[len(parts) - len(later) :], ["date", "paper_id"])
        months = [day.strftime("%Y-%m") if day else "" for day in table["date"].to_pylist()]
        sources = [part.file for part in later for _ in range(part.rows)]
        words = read_columns(papers, ["keywords"])["keywords"].combine_chunks()
        ids = table["paper_id"].to_pylist()
        for found in propose_regions(new, chosen, words, months, sources)[:_SHOWN]:
            x, y = np.median(coordinates[n_base + found.rows], axis=0).tolist()
            proposals.append(
                {
                    "label": found.label,
                    "papers": len(found.rows),
                    "x": round(x, 4),
                    "y": round(y, 4),
                    "warning": found.warning,
                    "paper_ids": [ids[row] for row in found.rows.tolist()],
                }
            )
    context.say(
        f"novel papers since the last fit of the map: {int(novel.sum()):,} of {n_new:,} "
        "(farther from its papers than 99% of these are from each other)"
    )
    for one in proposals:
        warning = f"; {one['warning']}, so it may not be a subject" if one["warning"] else ""
        context.say(f"proposed region: {one['label']} ({one['papers']} papers{warning})")
    return details | {
        "novel": int(novel.sum()),
        "since": n_new,
        "threshold": threshold,
        "proposals": proposals,
    }


_SHOWN = 20  # proposed regions


PROJECTION_STAGE = Stage(
    name="projection",
    version=1,
    parameters=_projection_parameters,
    inputs=_projection_inputs,
    run=_projection_run,
    shares=MAP,
    completed_by="topics",
)


TOPICS = "topics.parquet"


def topics_schema() -> pa.Schema:
    """Return the schema of `topics.parquet`."""
    import pyarrow as pa

    number, text, words = pa.int32(), pa.string(), pa.list_(pa.string())
    return pa.schema(
        [
            ("topic_id", number),
            ("x", pa.float32()),
            ("y", pa.float32()),
            ("label", text),
            ("keywords", words),
            ("n_papers", number),
            ("parent_id", number),
            ("label_source", text),
            ("level", pa.int8()),
            ("density", pa.float32()),
            ("exemplars", words),
        ]
    )


def _topics_parameters(context: Context) -> dict[str, object]:
    if layout_of(context) == "basemap":
        return {"method": "density"}
    names = ("max_regions", "n_continents", "polish")
    chosen = {name: getattr(context.options, name) for name in names}
    return {"method": context.options.topics_method, **chosen}


def _topics_run(context: Context) -> StageResult:
    ids, coordinates, _ = read_map(context.part_files(MAP))
    if layout_of(context) == "basemap":
        topics = topics_of_basemap(context, coordinates)
        return _write_topics(context, topics, ids, coordinates)
    if kept := _kept_topics(context, ids, coordinates):
        return kept
    papers = read_columns(context.part_files(PAPERS), ["title", "keywords"])
    with progress("Topics", total=None):
        topics, model = _find(context, coordinates, papers, vectors_of(context))
    return _write_topics(
        context,
        topics,
        ids,
        coordinates,
        model=model,
        makeshift=context.options.polish and model is None,
    )


def _write_topics(
    context: Context,
    topics: Topics,
    ids: Sequence[str],
    coordinates: NDArray[np.float32],
    **more: Any,
) -> StageResult:
    """Write the regions, the map with the region of each paper, and the changes of regions."""
    names = write_map(context, coordinates, topics)
    _write_table(context.folder / TOPICS, topics.table, ids)
    _write_changes(context, topics)
    return StageResult(
        # Subregions and continents are not counted: the map names and counts its regions.
        rows=int((topics.table["level"] == 1).sum()),
        outputs=[TOPICS, CHANGES, *names],
        products={"topics": sha256_of(context.folder / TOPICS)},
        details={"papers_outside": int((topics.topic_id < 0).sum())},
        **more,
    )


def _kept_topics(
    context: Context, ids: Sequence[str], coordinates: NDArray[np.float32]
) -> StageResult | None:
    """Keep the regions in an update, and find the region of each new paper by its neighbours.

    Return None if the regions must be found again, for example because one has no papers any more.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    from landscape.mapping.growth import place_in_regions
    from landscape.mapping.regions import Topics, count_papers

    previous = context.previous
    record = previous.stage("topics") if previous else None
    if previous is None or record is None or previous.stage("ingest") is None:
        return None
    same = (record.version, record.parameters) == (
        TOPICS_STAGE.version,
        _topics_parameters(context),
    )
    files = previous.files(MAP)
    if not (context.is_update and layout_of(context) == "keep" and same):
        return None
    if not all("subregion_id" in pq.read_schema(file).names for file in files):
        return None
    old = read_columns(files, ["x", "y", "topic_id", "subregion_id"]).to_pandas()
    levels = old[["topic_id", "subregion_id"]].to_numpy(np.int32)
    rows = old_rows(context, previous)
    if not (rows >= 0).any():
        return None
    regions = levels[np.maximum(rows, 0)]
    new = np.flatnonzero(rows < 0)
    if len(new):
        spots = old[["x", "y"]].to_numpy(np.float32)
        regions[new] = place_in_regions(coordinates[new], spots, levels)
    table = pd.read_parquet(previous.folder / TOPICS)
    number = {name: row for row, name in enumerate(ids)}
    renamed = renamed_papers(context)
    sizes = count_papers(table, regions)
    if not sizes.all():
        return None
    named = [[renamed.get(name, name) for name in names] for names in table["exemplars"]]
    table = table.assign(
        n_papers=sizes,
        exemplars=[[number[name] for name in names if name in number] for names in named],
    )
    topics = Topics(regions[:, 0], regions[:, 1], table)
    return _write_topics(context, topics, ids, coordinates, model=record.model)


def _find(
    context: Context,
    coordinates: NDArray[np.float32],
    papers: pa.Table,
    vectors: NDArray[np.float32],
) -> tuple[Topics, dict[str, object] | None]:
    """Find and name the topics. If the language model fails, the names are not improved."""
    from landscape.mapping import build_topics

    previous, old_names = _previous_topics(context)

    def find(language_model: LanguageModel | None) -> Topics:
        return build_topics(
            coordinates[:, 0],
            coordinates[:, 1],
            papers["keywords"].combine_chunks(),
            papers["title"].to_pylist() if language_model else (),
            vectors=vectors,
            method=context.options.topics_method,
            max_regions=context.options.max_regions,
            n_continents=context.options.n_continents,
            previous=previous,
            old_names=old_names,
            embed=lambda texts: embed_texts(context, texts, "Names"),
            language_model=language_model,
            note=context.say,
        )

    if context.options.polish:
        from landscape.llm import connect

        try:
            language_model = connect()
            return find(language_model), {"name": language_model.model}
        except LandscapeError as error:
            context.say(f"The names of topics were not improved, because the model failed: {error}")
    return find(None), None


def _previous_topics(context: Context) -> tuple[NDArray[np.int64] | None, dict[int, str]]:
    """Return the region, continent and subregion of each paper in the last atlas, and names.

    A paper without a topic has -1. Names from a language model are not included.
    """
    import pyarrow.parquet as pq

    from landscape.mapping.regions import BY_KEYWORDS

    previous = context.previous
    if previous is None or not (previous.stage("topics") and previous.stage("ingest")):
        return None, {}
    rows = old_rows(context, previous)
    _, _, topic_id = read_map(previous.files(MAP))
    region = np.where(rows >= 0, topic_id[rows], -1).astype(np.int64)
    columns = ["topic_id", "parent_id", "label", "label_source"]
    table = pq.read_table(previous.folder / TOPICS, columns=columns).to_pylist()
    parent = {topic["topic_id"]: topic["parent_id"] for topic in table}
    names = {one["topic_id"]: one["label"] for one in table if one["label_source"] == BY_KEYWORDS}
    continent = np.array([parent.get(number, -1) for number in region.tolist()], dtype=np.int64)
    subregion = np.full(len(rows), -1, dtype=np.int64)
    if all("subregion_id" in pq.read_schema(file).names for file in previous.files(MAP)):
        old = read_columns(previous.files(MAP), ["subregion_id"])["subregion_id"].to_numpy()
        subregion = np.where(rows >= 0, old[rows], -1).astype(np.int64)
    return np.column_stack([region, continent, subregion]), names


def _write_table(path: Path, table: pd.DataFrame, ids: Sequence[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = table.assign(exemplars=[[ids[row] for row in rows] for rows in table["exemplars"]])
    schema = topics_schema()
    with replacing(path) as temporary:
        pq.write_table(
            pa.Table.from_pandas(named[schema.names], schema=schema, preserve_index=False),
            temporary,
        )


def _write_changes(context: Context, topics: Topics) -> None:
    """Append the changes of regions since the last version to the list of changes."""
    import pandas as pd
    import pyarrow as pa

    from landscape.mapping.growth import compare_regions

    previous, changes = context.previous, changes_schema().empty_table().to_pandas()
    if previous is not None and previous.stage("topics") and previous.stage("ingest"):
        old = pd.read_parquet(previous.folder / TOPICS)
        if (previous.folder / CHANGES).is_file():
            changes = pd.read_parquet(previous.folder / CHANGES)
        rows = old_rows(context, previous)
        _, _, regions = read_map(previous.files(MAP))
        before = np.where(rows >= 0, regions[np.maximum(rows, 0)], -2)
        listed = changes.drop_duplicates("topic_id", keep="last").set_index("topic_id")["papers"]
        found = compare_regions(
            old, topics.table, before, topics.topic_id, known_sizes=listed.to_dict()
        )
        added = pd.DataFrame(found, columns=changes_schema().names[1:])
        changes = pd.concat([changes, added.assign(date=now()[:10])], ignore_index=True)
        if layout_of(context) == "refit":
            share = _share_moved(before, topics.topic_id)
            context.say(f"{share:.1%} of the papers of both maps changed their region.")
        if found:
            kinds = Counter(str(change["kind"]) for change in found)
            context.say("regions: " + ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    names = changes_schema().names
    table = pa.Table.from_pandas(changes[names], changes_schema(), preserve_index=False)
    write_table(context.folder / CHANGES, table)


def _share_moved(before: NDArray[np.integer], after: NDArray[np.integer]) -> float:
    """Return the share of papers that changed their region. Regions with a name keep their number.

    Papers outside all regions, or of one version only, do not count.
    """
    both = (before >= 0) & (after >= 0)
    return float((before[both] != after[both]).mean()) if both.any() else 0.0


TOPICS_STAGE = Stage(
    name="topics",
    version=10,
    parameters=_topics_parameters,
    inputs=inputs_from(
        map="projection.map",
        keywords="keywords.keywords",
        titles="ingest.titles",
        vectors="embeddings.vectors",
    ),
    run=_topics_run,
    unit="named regions",
)


QUALITY = "quality.json"


def _how_made(manifest: Manifest) -> dict[str, Any]:
    """Return the parameters of the map and of the regions, also used by comparison maps."""
    projection = manifest.stages["projection"].parameters
    settings = ("layout", "n_neighbors", "min_dist")
    return {
        "topics_method": manifest.stages["topics"].parameters["method"],
        **{name: projection[name] for name in settings if name in projection},
    }


def _quality_run(context: Context) -> StageResult:
    with progress("Map quality", total=None):
        quality = measure(context.folder, context.manifest)
    write_bytes(context.folder / QUALITY, (json.dumps(quality, indent=1) + "\n").encode())
    return StageResult(rows=context.manifest.n_papers, outputs=[QUALITY])


def measure(folder: Path, manifest: Manifest, *, seed: int = 0) -> Measures:
    """Measure the quality of the map of an atlas."""
    import pandas as pd

    from landscape.mapping import measure_quality

    _, coordinates, _ = read_map(manifest.part_files(folder, MAP))
    papers = read_columns(manifest.part_files(folder, PAPERS), ["categories"])
    return measure_quality(
        open_matrices(manifest.part_files(folder, EMBEDDINGS, ".npy")),
        coordinates[:, 0],
        coordinates[:, 1],
        # The first category of a paper is the primary category.
        categories=[names[0] if names else None for names in papers["categories"].to_pylist()],
        topics=pd.read_parquet(folder / TOPICS),
        **_how_made(manifest),
        seed=seed,
        sample=sampled_neighbours(folder, manifest, seed=seed),
    )


QUALITY_STAGE = Stage(
    name="quality",
    version=2,
    parameters=lambda context: _how_made(context.manifest),
    inputs=inputs_from(
        vectors="embeddings.vectors",
        map="projection.map",
        topics="topics.topics",
        categories="ingest.categories",
    ),
    run=_quality_run,
)
