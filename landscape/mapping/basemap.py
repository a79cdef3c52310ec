"""Basemaps: the coordinates, regions and names of an atlas in one file, for other corpora.

A basemap has a sample of the papers of an atlas, the landmarks. Papers of any corpus with the same
embedding model are placed on the map by their nearest landmarks, so that groups compare their
papers on one map.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import check_output, is_file, replacing, reporting_unwritable
from landscape.embeddings import nearest
from landscape.embeddings.neighbours import overlap
from landscape.embeddings.weights import MODEL
from landscape.errors import InputError
from landscape.mapping.growth import place_in_regions
from landscape.mapping.projection import choose_landmarks, place_between, settle
from landscape.store import AtlasStore
from landscape.store.arrays import gather_rows
from landscape.store.manifest import digest
from landscape.store.tables import check_topics, read_limited

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

ENDING = ".basemap"
_FORMAT = 1  # version of the file format
_KEY = b"landscape.basemap"  # key of the description in the metadata of the file
_MAX_BYTES = 1 << 24  # bytes of the description
_TOPIC_COLUMNS = [
    *("topic_id", "x", "y", "label", "keywords", "n_papers"),
    *("parent_id", "label_source", "level", "density"),
]
_FEWEST = 100  # papers of an atlas whose map can serve as a basemap
_TESTED = 1000  # papers that are placed again to measure the quality of the placement
_NEAR = 15  # landmarks by which a paper is placed, as many as UMAP considers by default
_MAX_LABEL = 1000  # characters of the name of a region
# Errors of a file of another form; numbers can be too large, and the description too deep.
_INVALID = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    RecursionError,
)
_SCALE = 127  # largest 8-bit integer; only the direction of a vector is needed


@dataclass(frozen=True)
class Basemap:
    """Map of an atlas on which other papers are placed.

    Attributes
    ----------
    title : str
        Name of the atlas.
    n_papers : int
        Number of papers of the atlas, of which the landmarks are a sample.
    model : dict
        Embedding model, with ``name``, ``model``, ``dimension`` and ``checksum``.
    vectors : ndarray of float32, shape (n_landmarks, n_dims)
        L2-normalised embeddings of the landmarks.
    coordinates : ndarray of float32, shape (n_landmarks, 2)
        Map coordinates of the landmarks.
    regions : ndarray of int32, shape (n_landmarks, 2)
        Region and subregion of each landmark, or -1.
    topics : pandas.DataFrame
        Regions of all levels, as in `Atlas.topics`.
    min_dist : float
        Setting of UMAP with which the map was made.
    quality : dict
        Result of placing papers of the atlas again; see `export_basemap`.
    frame : str
        Digest of the regions, by which atlases on the same basemap are recognised.
    """

    title: str
    n_papers: int
    model: dict[str, Any]
    vectors: NDArray[np.float32]
    coordinates: NDArray[np.float32]
    regions: NDArray[np.int32]
    topics: pd.DataFrame
    min_dist: float
    quality: dict[str, float]
    frame: str

    def check_model(self, model: Mapping[str, Any] | None) -> None:
        """Raise InputError unless papers were embedded with the model of the basemap."""
        given = model or {}
        if _is_same_model(self.model, given):
            return
        raise InputError(
            f"The papers are embedded with {_model_name(given)}, but the basemap of "
            f"{self.title!r} needs {_model_name(self.model)}; build with the embedder of the "
            "basemap, or choose another basemap."
        )

    def check_embedder(self, spec: str) -> None:
        """Raise InputError if an embedder, such as ``"minilm"``, has another model."""
        kind, _, name = spec.partition(":")
        if kind != "ready":  # the model of ready vectors is known when they are read
            name = MODEL if kind == "minilm" else name
            self.check_model({"model": name, "dimension": self.model["dimension"]})

    def place(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the coordinates of papers, shape (n, 2), from their nearest landmarks."""
        if not len(vectors):
            return np.zeros((0, 2), dtype=np.float32)
        found = nearest(self.vectors, vectors, k=min(_NEAR, len(self.vectors)))
        placed = place_between(*found, self.coordinates)
        return settle(placed, *found, self.coordinates, min_dist=self.min_dist)

    def regions_at(self, coordinates: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the region and the subregion of places on the map, shape (n, 2)."""
        return place_in_regions(coordinates, self.coordinates, self.regions)

    def neighbours_kept(
        self, vectors: NDArray[np.float32], coordinates: NDArray[np.float32], *, seed: int = 0
    ) -> float:
        """Return the share of the most similar landmarks that are among the nearest on the map."""
        from scipy.spatial import KDTree

        n, k = len(vectors), min(_NEAR, len(self.vectors))
        rows = np.sort(np.random.default_rng(seed).choice(n, min(_TESTED, n), replace=False))
        similar, _ = nearest(self.vectors, np.asarray(vectors[rows]), k=k)
        _, on_map = KDTree(self.coordinates).query(coordinates[rows], k=[*range(1, k + 1)])
        return overlap(similar, on_map)

    def _tested(self, seed: int) -> dict[str, float]:
        """Place some landmarks again by the others, and compare with their true places."""
        rng = np.random.default_rng(seed)
        n = min(_TESTED, len(self.vectors) // 10)
        chosen = np.zeros(len(self.vectors), dtype=bool)
        chosen[rng.choice(len(chosen), n, replace=False)] = True
        others = replace(
            self,
            vectors=self.vectors[~chosen],
            coordinates=self.coordinates[~chosen],
            regions=self.regions[~chosen],
        )
        vectors, true, before = (
            self.vectors[chosen],
            self.regions[chosen, 0],
            self.coordinates[chosen],
        )
        placed = others.place(vectors)
        inside = true >= 0
        returned = (others.regions_at(placed)[:, 0] == true)[inside]
        return {
            "papers": n,
            "own_region": round(float(returned.mean()), 4) if len(returned) else 0.0,
            "median_shift": round(float(np.median(np.hypot(*(placed - before).T))), 4),
            "neighbours_kept": round(others.neighbours_kept(vectors, placed), 4),
            "neighbours_kept_before": round(others.neighbours_kept(vectors, before), 4),
        }


def frame_of(topics: pd.DataFrame) -> str:
    """Return a digest of the numbers and the places of the regions of a map."""
    regions = topics[topics["level"] == 1].sort_values("topic_id")
    places = regions[["x", "y"]].to_numpy(np.float32).astype(np.float64).tolist()
    return digest([regions["topic_id"].tolist(), places])


def export_basemap(
    atlas: AtlasStore, path: str | os.PathLike[str], *, landmarks: int = 20_000, seed: int = 0
) -> Basemap:
    """Write the basemap of an atlas.

    Parameters
    ----------
    atlas : Atlas
    path : path
        File that ends in ``.basemap``. With 384 dimensions it has about 0.4 kB per landmark.
    landmarks : int, default 20_000
        Maximum number of papers in the file, chosen in proportion to the density of the papers.
    seed : int, default 0
        Seed of the choice of landmarks.

    Returns
    -------
    Basemap
        Its ``quality`` tells how well papers of the atlas are placed if they are placed again by
        the others: ``papers`` (number), ``own_region`` (share that returns to its region),
        ``median_shift`` (in map units), and ``neighbours_kept`` (share of the 15 most similar
        landmarks that are among the 15 nearest on the map), also for the original map
        (``neighbours_kept_before``).

    Raises
    ------
    InputError
        If the file has another ending, the atlas has fewer than 100 papers, or the model of
        precomputed vectors is unknown.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.mapping.export_basemap(atlas, "my.basemap").quality["own_region"]  # doctest: +SKIP
    0.8882
    """
    target = check_output(path, (ENDING,), what="The basemap")
    if len(atlas) < _FEWEST:
        raise InputError(
            f"{atlas.path} has {len(atlas)} papers; a basemap needs at least {_FEWEST}."
        )
    if landmarks < _FEWEST:
        raise InputError(f"landmarks is {landmarks}; choose at least {_FEWEST}.")
    model = atlas.stages["embeddings"].model or {}
    if _model_of(model) == "unknown":
        raise InputError(
            f"The embedding model of {atlas.path} is unknown, so no other papers can be placed on "
            "its map; build it with --embedder ready:FILE@MODEL to name the model."
        )
    vectors, table = atlas.vectors(), atlas.map
    rows = choose_landmarks(vectors, landmarks, seed=seed)
    parameters = atlas.stages["projection"].parameters
    made = Basemap(
        title=atlas.title,
        n_papers=len(atlas),
        model={name: model.get(name) for name in ("name", "model", "dimension", "checksum")},
        vectors=_decoded(_encoded(gather_rows([vectors], rows))),
        coordinates=table[["x", "y"]].to_numpy(np.float32)[rows],
        regions=table[["topic_id", "subregion_id"]].to_numpy(np.int32)[rows],
        topics=atlas.topics[_TOPIC_COLUMNS].reset_index(drop=True),
        min_dist=float(str(parameters.get("min_dist", 0.05))),
        quality={},
        frame=str(atlas.stages["projection"].details.get("frame") or frame_of(atlas.topics)),
    )
    made = replace(made, quality=made._tested(seed))
    with reporting_unwritable(target):
        _write(made, target)
    return made


def _write(basemap: Basemap, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = _encoded(basemap.vectors)
    binary = pa.binary(codes.shape[1])
    columns = {
        "x": pa.array(basemap.coordinates[:, 0]),
        "y": pa.array(basemap.coordinates[:, 1]),
        "topic_id": pa.array(basemap.regions[:, 0]),
        "subregion_id": pa.array(basemap.regions[:, 1]),
        "vector": pa.array([row.tobytes() for row in codes], binary),
    }
    topics = basemap.topics.assign(keywords=[list(words) for words in basemap.topics["keywords"]])
    description = {
        "format": _FORMAT,
        "title": basemap.title,
        "papers": basemap.n_papers,
        "model": basemap.model,
        "min_dist": basemap.min_dist,
        "quality": basemap.quality,
        "frame": basemap.frame,
        "topics": json.loads(topics.to_json(orient="split", index=False, double_precision=7)),
    }
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(description)})
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_basemap(path: str | os.PathLike[str]) -> Basemap:
    """Read a basemap.

    Parameters
    ----------
    path : path
        File written by `export_basemap`.

    Returns
    -------
    Basemap

    Raises
    ------
    InputError
        If there is no such file, or it is not a valid basemap.

    Examples
    --------
    >>> read_basemap("no-such.basemap")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no basemap no-such.basemap; pass the path of a file ...
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(path)
    if not is_file(file):
        raise InputError(
            f"There is no basemap {file}; pass the path of a file that landscape basemap export "
            "has written."
        )
    try:
        with pq.ParquetFile(file) as opened:
            text = (opened.schema_arrow.metadata or {}).get(_KEY, b"")
            if not text:
                raise ValueError("it is another kind of Parquet file")
            if len(text) > _MAX_BYTES:
                raise ValueError("its description is too long")
            return _decode(json.loads(text), read_limited(opened, file))
    except (*_INVALID, pa.ArrowException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{file} is not a valid basemap ({reason}); export it again.") from error


def _decode(description: dict[str, Any], table: pa.Table) -> Basemap:
    import pandas as pd
    import pyarrow as pa

    if description["format"] != _FORMAT:
        raise ValueError(f"it has format {description['format']}, this version reads {_FORMAT}")
    stored = description["topics"]
    topics = pd.DataFrame(stored["data"], columns=stored["columns"])[_TOPIC_COLUMNS]
    kinds = dict.fromkeys(("topic_id", "n_papers", "parent_id", "level"), np.int32)
    topics = topics.astype({**kinds, **dict.fromkeys(("x", "y", "density"), np.float32)})
    topics[["label", "label_source"]] = topics[["label", "label_source"]].astype(str)
    if not all(isinstance(words, list) for words in topics["keywords"]):
        raise ValueError("the keywords of a region are no list")
    if topics["label"].str.len().max() > _MAX_LABEL:
        raise ValueError(f"the name of a region has more than {_MAX_LABEL} characters")
    topics["keywords"] = [[str(word) for word in words] for words in topics["keywords"]]
    check_topics(topics)
    column = table["vector"].combine_chunks()
    if not pa.types.is_fixed_size_binary(column.type) or not len(table) or column.null_count:
        raise ValueError("it has no vectors")
    n_dims = column.type.byte_width
    start = column.offset * n_dims
    codes = np.frombuffer(column.buffers()[1], np.int8)[start : start + len(table) * n_dims]
    coordinates = np.column_stack([table[name].to_numpy() for name in ("x", "y")])
    coordinates = coordinates.astype(np.float32)
    regions = np.column_stack([table[name].to_numpy() for name in ("topic_id", "subregion_id")])
    if not np.isfinite(coordinates).all():
        raise ValueError("a coordinate is not finite")
    if not np.isin(regions, [-1, *topics["topic_id"]]).all():
        raise ValueError("a paper has a region that is not listed")
    model, min_dist = description["model"], float(description["min_dist"])
    if not 0 <= min_dist <= 1:
        raise ValueError(f"its min_dist is {min_dist:g}, not between 0 and 1")
    if int(model["dimension"]) != n_dims:
        raise ValueError(f"its vectors have {n_dims} dimensions, not {model['dimension']}")
    return Basemap(
        title=str(description["title"]),
        n_papers=int(description["papers"]),
        model=dict(model),
        vectors=_decoded(codes.reshape(len(table), n_dims)),
        coordinates=coordinates,
        regions=regions.astype(np.int32),
        topics=topics,
        min_dist=min_dist,
        quality={str(name): float(value) for name, value in description["quality"].items()},
        frame=str(description["frame"]),
    )


def _encoded(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return vectors as 8-bit integers, each with a scale of its own."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    codes = np.rint(vectors * (_SCALE / np.maximum(largest, 1e-12)))
    return codes.astype(np.int8)


def _decoded(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    vectors = codes.astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _model_of(model: Mapping[str, Any]) -> str:
    return str(model.get("model") or model.get("name") or "unknown")


def _is_same_model(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two descriptions are of one model. Vectors from a file have no checksum."""
    sums = one.get("checksum"), other.get("checksum")
    if one.get("dimension") != other.get("dimension"):
        return False
    if all(sums):
        return sums[0] == sums[1]
    names = [_model_of(model).rpartition("/")[2].casefold() for model in (one, other)]
    return names[0] == names[1] != "unknown"


def _model_name(model: Mapping[str, Any]) -> str:
    checksum = str(model.get("checksum") or "")[:12]
    dimension = f"{model.get('dimension')} dimensions" if model.get("dimension") else ""
    details = ", ".join(filter(None, (dimension, checksum and f"checksum {checksum}")))
    return f"{_model_of(model)} ({details})" if details else _model_of(model)
