"""The map of 350,000 made-up papers, compared with umap-learn, BERTopic and DataMapPlot.

Run: python -m benchmarks.mapping [--papers 350000] [--rivals] [--projection]
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.literature import open_made_up_atlas, write_made_up_atlas
from benchmarks.measuring import measured
from benchmarks.results import print_table, save
from landscape.mapping import projection


def made_up_vectors(n_papers: int, *, n_dims: int = 384, n_topics: int = 400) -> np.ndarray:
    """Return clustered unit vectors: topics of unequal sizes within fields."""
    rng = np.random.default_rng(0)
    fields = rng.normal(size=(12, n_dims))
    topics = fields[rng.integers(0, 12, n_topics)] + 0.7 * rng.normal(size=(n_topics, n_dims))
    topic = topics_of(n_papers, n_topics)
    vectors = np.empty((n_papers, n_dims), dtype=np.float32)
    for start in range(0, n_papers, 20000):
        part = topic[start : start + 20000]
        noise = rng.normal(size=(len(part), n_dims))
        block = topics[part] + 0.8 * noise
        vectors[start : start + 20000] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return vectors


def topics_of(n_papers: int, n_topics: int = 400) -> np.ndarray:
    """Return the topic of each made-up paper; sizes follow a power law."""
    rng = np.random.default_rng(1)
    weight = 1.0 / np.arange(1, n_topics + 1) ** 0.7
    return rng.choice(n_topics, size=n_papers, p=weight / weight.sum())


def made_up_plane(n_papers: int) -> np.ndarray:
    """Return a map of the made-up papers without projecting them."""
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(400, 2)) * 6
    spread = rng.gamma(3.0, 0.15, size=(400, 1))
    topic = topics_of(n_papers)
    return (centres[topic] + spread[topic] * rng.normal(size=(n_papers, 2))).astype(np.float32)


def made_up_keywords(n_papers: int) -> Any:
    """Return twenty keywords per paper, mostly from a long tail of 600,000 phrases."""
    import pyarrow as pa

    rng = np.random.default_rng(3)
    topic = topics_of(n_papers)
    own = topic[:, None] * 40 + rng.zipf(1.6, size=(n_papers, 7)) % 40
    tail = 16_000 + (rng.zipf(1.25, size=(n_papers, 13)) - 1) % 600_000
    stems = ["halo", "disk", "cluster", "spectrum", "burst", "survey", "wind", "field", "core"]
    words = np.array(
        [f"{stem}{letter}" for stem in stems for letter in "abcdefghijklmnopqrstuvwxy"]
    )
    number = np.arange(616_000)
    phrases = [
        f"{words[a]} {words[b]} {words[c]}"
        for a, b, c in zip(number % 225, number // 225 % 225, number // 50625 % 225, strict=True)
    ]
    codes = np.concatenate([own, tail], axis=1).astype(np.int32).ravel()
    strings = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(phrases)).cast(pa.string())
    offsets = np.arange(0, len(codes) + 1, 20, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), strings)


def run_topics(n_papers: int) -> dict[str, Any]:
    """Compute density, peaks, continents and names."""
    from landscape.mapping import build_topics

    plane, keywords = made_up_plane(n_papers), made_up_keywords(n_papers)
    vectors = np.zeros((n_papers, 384), dtype=np.float32)
    vectors[:, :2] = plane
    build_topics(plane[:2000, 0], plane[:2000, 1], keywords[:2000])  # imports
    start = time.perf_counter()
    topics = build_topics(plane[:, 0], plane[:, 1], keywords, vectors=vectors)
    return {"seconds": time.perf_counter() - start, "topics": len(topics.table)}


def run_figure(n_papers: int) -> dict[str, Any]:
    """Draw the labelled heat map and save it as PNG."""
    from landscape.figures import heatmap, save_figure

    with tempfile.TemporaryDirectory() as folder:
        atlases = []
        for name, n in (("small", 2_000), ("whole", n_papers)):
            write_made_up_atlas(Path(folder) / name, n_papers=n)
            atlases.append(open_made_up_atlas(Path(folder) / name))
        heatmap(atlases[0])  # imports and compilation
        start = time.perf_counter()
        save_figure(heatmap(atlases[1]), Path(folder) / "map.png")
        return {"seconds": time.perf_counter() - start}


def run_projection(n_papers: int) -> dict[str, Any]:
    """Compute the projection with Landscape."""
    from landscape.mapping import project

    vectors = made_up_vectors(n_papers)
    project(vectors[:2000])  # compilation
    start = time.perf_counter()
    project(vectors)
    return {"seconds": time.perf_counter() - start}


def run_umap_alone(n_papers: int) -> dict[str, Any]:
    """Project with umap-learn and the same settings."""
    import umap

    vectors = made_up_vectors(n_papers)
    settings = {"n_neighbors": 15, "min_dist": 0.05, "metric": "cosine", "init": "pca"}
    umap.UMAP(**settings).fit_transform(vectors[:2000])
    start = time.perf_counter()
    umap.UMAP(**settings).fit_transform(vectors)
    return {"seconds": time.perf_counter() - start}


def run_bertopic(n_papers: int) -> dict[str, Any]:
    """Run BERTopic on the same map: HDBSCAN clusters and class-based TF-IDF names."""
    from bertopic import BERTopic
    from bertopic.dimensionality import BaseDimensionalityReduction
    from hdbscan import HDBSCAN

    plane = made_up_plane(n_papers)
    documents = [" . ".join(words) for words in made_up_keywords(n_papers).to_pylist()]
    model = BERTopic(
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=HDBSCAN(min_cluster_size=max(10, n_papers // 700)),
        embedding_model=None,
    )
    start = time.perf_counter()
    model.fit_transform(documents, embeddings=plane)
    return {"seconds": time.perf_counter() - start, "topics": len(model.get_topic_info())}


def run_datamapplot(n_papers: int) -> dict[str, Any]:
    """Draw the static figure of DataMapPlot with the same map and names."""
    import datamapplot

    # It asks for a font from the network; without one every label would warn.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    from landscape.mapping import build_topics

    plane, keywords = made_up_plane(n_papers), made_up_keywords(n_papers)
    topics = build_topics(plane[:, 0], plane[:, 1], keywords)
    names = dict(zip(topics.table.topic_id, topics.table.label, strict=True))
    labels = np.array([names.get(t, "Unlabelled") for t in topics.topic_id])
    start = time.perf_counter()
    figure, _ = datamapplot.create_plot(plane, labels)
    with tempfile.TemporaryDirectory() as folder:
        figure.savefig(Path(folder) / "map.png", dpi=200)
    return {"seconds": time.perf_counter() - start}


def run_neighbours(atlas: str) -> list[list[str]]:
    """Project the papers of an atlas with exact neighbours, and with those of umap-learn."""
    from unittest.mock import patch

    import landscape
    from landscape.mapping.quality import neighbours_kept

    vectors = np.asarray(landscape.open(atlas).vectors())
    every, rows = np.ones(len(vectors), dtype=bool), []
    projection.project(vectors[:100], seed=1)  # compiles the functions
    for name, most in (("exact", len(vectors)), ("of umap-learn", 0)):
        for seed in (1, 2, 3):
            with patch.object(projection, "_MOST_FOR_EXACT", most):
                start, cpu = time.perf_counter(), time.process_time()
                plane = projection.project(vectors, seed=seed)
                seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            kept = neighbours_kept(vectors, plane, every)
            rows.append([name, str(seed), f"{seconds:.1f}", f"{cpu:.1f}", f"{kept:.3f}"])
            print(rows[-1])
    return rows


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=350_000)
    parser.add_argument("--skip", default="", help="comma-separated: projection, rivals")
    parser.add_argument("--neighbours", metavar="ATLAS", help="only compare neighbours for UMAP")
    options = parser.parse_args()
    if options.neighbours:
        head = ["neighbours", "seed", "seconds", "CPU s", "kept of 10"]
        print_table(f"UMAP of {options.neighbours}", head, run_neighbours(options.neighbours))
        return
    skip = set(options.skip.split(","))
    pairs = [("density, peaks, names", run_topics, "BERTopic", run_bertopic)]
    pairs.append(("figure", run_figure, "DataMapPlot", run_datamapplot))
    if "projection" not in skip:
        pairs.append(("projection", run_projection, "umap-learn alone", run_umap_alone))
    rows, results = [], {}
    for name, ours, rival_name, rival in pairs:
        mine = measured(ours, options.papers)
        results[name] = mine
        row = [name, f"{mine['seconds']:.1f}", f"{mine['peak_mb']:,.0f}", rival_name, "-", "-", "-"]
        if "rivals" not in skip or name == "projection":
            theirs = measured(rival, options.papers)
            results[rival_name] = theirs
            ratio = theirs["seconds"] / mine["seconds"]
            row[4:] = [f"{theirs['seconds']:.1f}", f"{theirs['peak_mb']:,.0f}", f"{ratio:.2f}"]
        rows.append(row)
        print(row)
    head = ["stage", "seconds", "MB", "otherwise", "seconds", "MB", "ratio"]
    print_table(f"The map at {options.papers:,} papers", head, rows)
    print(f"\n{save('mapping', results)}")


if __name__ == "__main__":
    main()
