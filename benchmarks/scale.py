"""Build and use atlases of millions of generated papers.

Run: python -m benchmarks scale --base ATLAS [--papers 1000000] [--folder FOLDER]
     [--only build,use,growth,landmarks,update,
     duplicates,cluster]

A generated paper mixes the sentences of two papers of the base atlas, and has a vector between
theirs, so words, subjects and neighbours are as in a real literature. `build` runs the whole build
with these vectors, `use` opens the atlas and uses it, `growth` builds atlases of several sizes, and
`cluster` builds a file of real papers with two processes and with two Dask workers.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import fields
from itertools import chain, islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import psutil

from benchmarks.measuring import growth_exponent, measured
from benchmarks.results import print_table, save

_IN_A_FILE = 250_000
_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
_NOISE = 0.35  # length of the random part of a vector, whose other part has length 1
_QUESTIONS = (
    "metallicity gradients in dwarf galaxies",
    "atmospheres of hot Jupiters",
    "tidal disruption events",
    "magnetic fields in molecular clouds",
    "dark energy constraints from supernovae",
    "mass loss of red supergiants",
    "fast radio bursts",
    "weak lensing shear calibration",
    "quasar variability",
    "white dwarf binaries as progenitors",
)


def generate(base: Path, folder: Path, n_papers: int) -> list[Path]:
    """Write files of generated papers, and their vectors in ``vectors.npy``."""
    import landscape
    from landscape.store.arrays import write_matrix
    from landscape.text import split_sentences

    atlas = landscape.open(base)
    papers = atlas.read_papers(["title", "abstract", "year", "categories"])
    vectors = atlas.vectors()
    sentences = [[text[a:b] for a, b in split_sentences(text)] for text in papers["abstract"]]
    titles = [title.split() for title in papers["title"]]
    years = papers["year"].fillna(2000).astype(int).tolist()
    categories = [list(one) for one in papers["categories"]]
    by_region = atlas.map["topic_id"].to_numpy()
    order = np.argsort(by_region, kind="stable")
    rng = np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    files = []

    def blocks() -> Any:
        for start in range(0, n_papers, _IN_A_FILE):
            n = min(_IN_A_FILE, n_papers - start)
            place = rng.integers(0, len(order), n)
            beside = np.clip(place + rng.integers(-40, 41, n), 0, len(order) - 1)
            one, other = order[place], order[beside]  # usually of the same region
            path = folder / f"part-{start // _IN_A_FILE:03d}.jsonl"
            with path.open("w", encoding="utf-8") as out:
                for at, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True), start):
                    mixed = [*sentences[a], *sentences[b]]
                    kept = rng.permutation(len(mixed))[: max(3, len(mixed) // 2)]
                    record = {
                        "bibcode": f"{years[a]}gen..{at:010d}A",
                        "title": " ".join([*titles[a][:6], *titles[b][-6:], f"G{at}"]),
                        "abstract": " ".join(mixed[sentence] for sentence in kept),
                        "year": years[a],
                        "date": f"{years[a]}-{1 + at % 12:02d}",
                        "author": [f"Author{at % 60_000}, A.", f"Author{at % 59_999}, B."],
                        "categories": categories[a],
                        "generated": True,
                    }
                    out.write(json.dumps(record) + "\n")
            files.append(path)
            for first in range(0, n, 16_384):
                rows = slice(first, first + 16_384)
                mean = vectors[one[rows]] + rng.random((len(one[rows]), 1)) * vectors[other[rows]]
                mean /= np.linalg.norm(mean, axis=1, keepdims=True)
                noise = rng.normal(size=mean.shape) * _NOISE / np.sqrt(mean.shape[1])
                made = mean + noise
                yield (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    write_matrix(folder / "vectors.npy", blocks(), rows=n_papers, columns=vectors.shape[1])
    return files


def run(command: Sequence[str]) -> dict[str, float]:
    """Run a command; return its time and the peak memory of all its processes."""
    start, peak, stopped = time.perf_counter(), [0], threading.Event()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def watch() -> None:
        parent = psutil.Process(process.pid)
        while not stopped.wait(1.0):
            try:
                every = [parent, *parent.children(recursive=True)]
                peak[0] = max(peak[0], sum(one.memory_full_info().uss for one in every))
            except psutil.Error:
                continue

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    code = process.wait()
    stopped.set()
    watcher.join()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    return {"seconds": time.perf_counter() - start, "peak_mb": peak[0] / 1e6}


def build(files: Sequence[Path], out: Path, *options: str) -> dict[str, Any]:
    """Build an atlas by the command line."""
    command = [sys.executable, "-m", "landscape.cli", "build", *map(str, files), "--out", str(out)]
    found = run([*command, *options])
    manifest = json.loads((out / "manifest.json").read_text())
    stages = {
        name: {"seconds": one["seconds"], "details": one["details"]}
        for name, one in manifest["stages"].items()
    }
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return {**found, "stages": stages, "bytes": size}


def open_atlas(folder: Path) -> dict[str, Any]:
    """Open an atlas and read its regions."""
    import landscape

    start = time.perf_counter()
    atlas = landscape.open(folder)
    return {"regions": len(atlas.topics), "seconds": time.perf_counter() - start}


def search(folder: Path) -> dict[str, Any]:
    """Search twice for every question. The first questions also load the model and the indexes."""
    import landscape

    atlas = landscape.open(folder)
    start = time.perf_counter()
    atlas.search("star formation")
    first = time.perf_counter() - start
    seconds: dict[str, list[float]] = {"reranked": [], "not reranked": []}
    for question in _QUESTIONS:
        for name, rerank in (("not reranked", False), ("reranked", True)):
            start = time.perf_counter()
            atlas.search(question, rerank=rerank)
            seconds[name].append(time.perf_counter() - start)
    return {
        "first": first,
        "not_reranked": statistics.median(seconds["not reranked"]),
        "seconds": statistics.median(seconds["reranked"]),
    }


def draw(folder: Path, kind: str) -> None:
    """Draw a figure and save it."""
    import landscape
    from landscape import figures

    with tempfile.TemporaryDirectory() as place:
        figure = getattr(figures, kind)(landscape.open(folder))
        figures.save_figure(figure, Path(place) / "drawn.png")


def impact_table(folder: Path) -> int:
    """Compute the table of the impact of all facilities."""
    import landscape
    from landscape.overlays.missions import impact

    return len(impact(landscape.open(folder)).table)


_USES: dict[str, tuple[Any, tuple[Any, ...], float]] = {
    "open": (open_atlas, (), 2.0),
    "search": (search, (), 0.1),
    "heatmap": (draw, ("heatmap",), 10.0),
    "impact table": (impact_table, (), 30.0),
}


def measure_build(base: Path, folder: Path, n_papers: int) -> dict[str, Any]:
    """Generate papers and build their atlas."""
    inputs, out = folder / f"{n_papers}", folder / f"{n_papers}.atlas"
    if not (inputs / "vectors.npy").is_file():
        generate(base, inputs, n_papers)
    ready = f"ready:{inputs / 'vectors.npy'}@{_MODEL}"
    found = build(sorted(inputs.glob("part-*.jsonl")), out, "--embedder", ready)
    rows = [[name, f"{one['seconds']:,.0f}"] for name, one in found["stages"].items()]
    rows.append(["whole build", f"{found['seconds']:,.0f}"])
    print_table(
        f"Build of {n_papers:,} generated papers with ready-made vectors: peak memory "
        f"{found['peak_mb']:,.0f} MB, atlas {found['bytes'] / 1e9:.1f} GB",
        ["stage", "seconds"],
        rows,
    )
    return found


def measure_use(folder: Path, n_papers: int) -> dict[str, Any]:
    """Open, search and draw the atlas, each in a process of its own."""
    out = folder / f"{n_papers}.atlas"
    found = {name: measured(work, out, *given) for name, (work, given, _) in _USES.items()}
    print_table(
        f"Use of the atlas of {n_papers:,} papers (search: median of {len(_QUESTIONS)} questions; "
        f"without reranking {1000 * found['search']['result']['not_reranked']:.0f} ms)",
        ["task", "seconds", "goal", "peak MB"],
        [
            [name, f"{one['seconds']:.2f}", f"{_USES[name][2]:g}", f"{one['peak_mb']:,.0f}"]
            for name, one in found.items()
        ],
    )
    return found


class GeneratedVectors:
    """MiniLM whose vectors are those of the generated papers, which have no word vectors."""

    def __init__(self, folder: Path) -> None:
        self._vectors = np.load(folder / "vectors.npy", mmap_mode="r")

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of generated papers, whose titles end with their number."""
        numbers = [int(found[1]) for text in texts if (found := _NUMBER.search(text))]
        return np.asarray(self._vectors[numbers])

    embed_few = embed

    def embed_words(self, texts: Sequence[str], **_: object) -> tuple[np.ndarray, Any]:
        """Return the vectors of generated papers, and no word vectors."""
        from landscape.embeddings.vectors import DIMENSION, WordVectors

        nothing = np.zeros((0, DIMENSION), np.int8), np.zeros(len(texts), np.int64)
        return self.embed(texts), WordVectors(*nothing)

    def read_query(self, query: str) -> Any:
        """Not used by a build."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """Return a description for the manifest."""
        dimension = self._vectors.shape[1]
        return {"name": "minilm", "model": _MODEL, "dimension": dimension, "checksum": None}


_NUMBER = re.compile(r"\bG(\d+)\. ")


def measure_update(folder: Path, generated: Path, n_papers: int, n_new: int) -> dict[str, Any]:
    """Build an atlas of generated papers, and add some more."""
    import landscape

    place = folder / f"update-{n_papers}"
    place.mkdir(exist_ok=True)
    files = [place / "old.jsonl", place / "new.jsonl"]
    lines = chain.from_iterable(
        path.open(encoding="utf-8") for path in sorted(generated.glob("part-*.jsonl"))
    )
    for file, n in zip(files, (n_papers, n_new), strict=True):
        with file.open("w", encoding="utf-8") as out:
            out.writelines(islice(lines, n))
    atlas = place / "update.atlas"
    known = GeneratedVectors(generated)
    with patch("landscape.embeddings.load_embedder", lambda *_, **__: known):
        if not atlas.is_dir():
            landscape.build(files[0], atlas, say=print)
        # The concepts are embedded by the real model, which the first update of a user loads too.
        start = time.perf_counter()
        updated = landscape.update(atlas, files[1], say=print)
        seconds = time.perf_counter() - start
    stages = {name: one.seconds for name, one in updated.stages.items()}
    print_table(
        f"Update of {n_papers:,} papers by {n_new:,}, without their embedding: {seconds:.0f} s",
        ["stage", "seconds"],
        [[name, f"{one:.1f}"] for name, one in stages.items()],
    )
    return {"seconds": seconds, "stages": stages}


def measure_cluster(papers: Path, folder: Path) -> dict[str, Any]:
    """Build real papers with two processes and with two workers of a local Dask cluster."""
    found = {
        name: build([papers], folder / f"cluster-{name}.atlas", "--embedder", "minilm", *options)
        for name, options in (("processes", ("--workers", "2")), ("dask", ("--cluster", "local:2")))
    }
    ratio = found["dask"]["seconds"] / found["processes"]["seconds"]
    names = list(found["dask"]["stages"])
    print_table(
        f"Build of {papers.name} with two processes and with two Dask workers: ratio {ratio:.2f}",
        ["stage", "processes", "Dask"],
        [
            [name, *(f"{found[kind]['stages'][name]['seconds']:,.1f}" for kind in found)]
            for name in names
        ]
        + [["whole build", *(f"{one['seconds']:,.1f}" for one in found.values())]],
    )
    return {**found, "ratio": ratio}


def measure_growth(base: Path, folder: Path, sizes: Sequence[int]) -> dict[str, Any]:
    """Build atlases of several sizes, and fit the growth of the time of each stage."""
    builds = {size: measure_build(base, folder, size) for size in sizes}
    stages = list(builds[sizes[-1]]["stages"])
    rows = []
    for name in stages:
        seconds = [builds[size]["stages"][name]["seconds"] for size in sizes]
        rows.append(
            [name, *(f"{s:,.0f}" for s in seconds), f"{growth_exponent(sizes, seconds):.2f}"]
        )
    print_table("Growth", ["stage", *(f"{size:,}" for size in sizes), "exponent"], rows)
    return {str(size): one for size, one in builds.items()}


def measure_landmarks(vectors: Any, sizes: Sequence[int]) -> dict[str, Any]:
    """Compare UMAP of all papers with UMAP of a part, and with placement of the others."""
    from landscape.embeddings.neighbours import write_neighbours
    from landscape.mapping import project
    from landscape.mapping.projection import choose_landmarks, place_between, settle
    from landscape.mapping.quality import neighbours_kept

    found = []
    for size in sizes:
        some = np.asarray(vectors[:size])
        every = np.ones(size, dtype=bool)
        start = time.perf_counter()
        whole = project(some)
        full = time.perf_counter() - start
        kept_by_all = neighbours_kept(some, whole, every)
        for share in (0.5, 0.25):
            start = time.perf_counter()
            rows = choose_landmarks(some, int(share * size))
            n_near = max(5, round(15 * share))
            plane = project(some[rows], n_neighbors=n_near)
            with tempfile.TemporaryDirectory() as place:
                near = write_neighbours(some[rows], Path(place), k=n_near)
                neighbours = near.search(some, k=n_near)
            coordinates = settle(place_between(*neighbours, plane), *neighbours, plane)
            coordinates[rows] = plane
            seconds = time.perf_counter() - start
            kept = neighbours_kept(some, coordinates, every)
            found.append([size, len(rows), full, seconds, kept_by_all, kept, near.recall])
    print_table(
        "UMAP of landmarks and placement of the other papers, compared with UMAP of all papers: "
        "share of the 10 nearest neighbours kept on the map",
        ["papers", "landmarks", "s, all", "s, landmarks", "kept, all", "kept, landmarks", "recall"],
        [
            [
                f"{size:,}",
                f"{n:,}",
                f"{full:.0f}",
                f"{seconds:.0f}",
                *(f"{value:.3f}" for value in kept),
            ]
            for size, n, full, seconds, *kept in found
        ],
    )
    return {"landmarks": found}


def measure_neighbours(vectors: Any, n_landmarks: int, *, n_queries: int = 16_384) -> None:
    """Compare the search for the nearest landmarks with an inverted file of FAISS."""
    import faiss

    from landscape.embeddings.neighbours import cells_for, write_neighbours

    library: Any = faiss
    landmarks = np.asarray(vectors[:n_landmarks])
    asked = np.asarray(vectors[n_landmarks : n_landmarks + n_queries])
    with tempfile.TemporaryDirectory() as place:
        near = write_neighbours(landmarks, Path(place), k=5)
        near.search(asked[:1000], k=5)
        start = time.perf_counter()
        near.search(asked, k=5)
        ours = time.perf_counter() - start
    n_cells = cells_for(n_landmarks)
    index = library.index_factory(
        landmarks.shape[1], f"IVF{n_cells},Flat", faiss.METRIC_INNER_PRODUCT
    )
    index.cp.niter = 6
    index.train(landmarks[:: max(1, n_landmarks // (40 * n_cells))])
    index.add(landmarks)
    start = time.perf_counter()
    settings = library.SearchParametersIVF(nprobe=near.n_probe)
    index.search(asked[: n_queries // 8], 5, params=settings)
    theirs = 8 * (time.perf_counter() - start)
    print_table(
        f"The 5 nearest of {n_landmarks:,} landmarks for {n_queries:,} papers, {near.n_probe} of "
        f"{n_cells:,} cells ({near.recall:.1%} found)",
        ["method", "seconds"],
        [["all queries of a cell at once", f"{ours:.1f}"], ["faiss IVF Flat", f"{theirs:.1f}"]],
    )


def made_up_keys(n: int) -> Any:
    """Return hashed identifiers of n records, of which a tenth repeats another one."""
    from landscape.corpus._duplicates import Keys

    rng = np.random.default_rng(0)
    paper = np.arange(n, dtype=np.uint64)
    again = rng.choice(n, size=n // 10, replace=False)
    paper[again] = rng.integers(0, n, len(again)).astype(np.uint64)
    step = np.uint64(0x9E3779B97F4A7C15)
    names = [field.name for field in fields(Keys) if field.name != "year"]
    hashed = {
        name: (paper + np.uint64(1)) * step ^ np.uint64(number) for number, name in enumerate(names)
    }
    for name in ("bibcode", "arxiv_id", "doi"):
        hashed[name][rng.random(n) < 0.3] = 0  # not all records have all identifiers
    return Keys(**hashed, year=np.full(n, 2020, np.int16))


def deduplicate(n: int) -> dict[str, Any]:
    """Find the duplicates of n records as a build does, with sorted arrays."""
    from landscape.corpus._duplicates import Details, find_duplicates

    keys = made_up_keys(n)
    start = time.perf_counter()
    one = Details(frozenset([1]), "A title of four words", None)
    first = find_duplicates(keys, lambda rows: [one] * len(rows)).representative
    seconds = time.perf_counter() - start
    return {"papers": int((first == np.arange(n)).sum()), "seconds": seconds}


def deduplicate_with_duckdb(n: int) -> dict[str, Any]:
    """Find the pairs of records with the same identifier or title with DuckDB."""
    import duckdb
    import pyarrow as pa

    keys = made_up_keys(n)
    names = ("bibcode", "arxiv_id", "doi", "title")
    records = pa.table({"row": np.arange(n), **{name: getattr(keys, name) for name in names}})
    start = time.perf_counter()
    database = duckdb.connect()
    database.register("records", records)
    found = 0
    for name in names:
        rows = database.table("records").filter(f"{name} <> 0")
        groups = rows.aggregate(f"{name}, min(row) AS first, count(*) AS n", name)
        pairs = rows.join(groups.filter("n > 1").set_alias("groups"), name)
        found += len(pairs.filter("row <> first").to_arrow_table())
    return {"pairs": found, "seconds": time.perf_counter() - start}


def measure_duplicates(sizes: Sequence[int]) -> dict[str, Any]:
    """Compare the search for duplicates with DuckDB, which finds the pairs only."""
    works = {"sorted arrays": deduplicate, "DuckDB (pairs only)": deduplicate_with_duckdb}
    found = {name: {size: measured(work, size) for size in sizes} for name, work in works.items()}
    print_table(
        "Search for duplicates",
        ["method", *(f"{size:,} records: s, peak MB" for size in sizes)],
        [
            [name, *(f"{one[n]['seconds']:.1f}, {one[n]['peak_mb']:,.0f}" for n in sizes)]
            for name, one in found.items()
        ],
    )
    return found


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="atlas with MiniLM vectors")
    parser.add_argument("--papers", type=int, default=1_000_000)
    parser.add_argument("--sizes", default="100000,300000,1000000")
    parser.add_argument("--landmarks", type=int, default=300_000)
    parser.add_argument("--real", type=Path, help="file of real papers, for `cluster`")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "scale")
    parser.add_argument("--only", default="build,use")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    stored = Path(__file__).parent / "results" / "scale.json"
    result: dict[str, Any] = json.loads(stored.read_text()) if stored.is_file() else {}
    for kind in options.only.split(","):
        if kind == "build":
            result[kind] = measure_build(options.base, options.folder, options.papers)
        elif kind == "use":
            result[kind] = measure_use(options.folder, options.papers)
        elif kind == "landmarks":
            sizes = [int(size) for size in options.sizes.split(",")]
            vectors = np.load(options.folder / f"{options.papers}" / "vectors.npy", mmap_mode="r")
            measure_neighbours(vectors, options.landmarks)
            result[kind] = measure_landmarks(vectors, sizes)
        elif kind == "update":
            generated = options.folder / f"{options.papers}"
            result[kind] = measure_update(options.folder, generated, 350_000, 1_000)
        elif kind == "duplicates":
            sizes = [int(size) for size in options.sizes.split(",")]
            result[kind] = measure_duplicates(sizes)
        elif kind == "cluster":
            result[kind] = measure_cluster(options.real, options.folder)
        else:
            sizes = [int(size) for size in options.sizes.split(",")]
            result[kind] = measure_growth(options.base, options.folder, sizes)
    save("scale", result)


if __name__ == "__main__":
    main()
