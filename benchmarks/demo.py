"""Compare the map of the generated demo corpus with a map of as many real papers.

`largest island` is the share of the papers in the largest connected area whose density is at least
a tenth of the mean density of the papers. `own subject` is the share of the ten nearest papers, by
the embedding, that have the same theme, or the same research question.

Run: python -m benchmarks.demo [--papers 4000] [--real papers.jsonl.gz]
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

import landscape as ls
from benchmarks.measuring import DATA
from benchmarks.results import print_table, save
from landscape.corpus.demo import generate
from landscape.mapping.density import default_bandwidth, density_grid
from landscape.overlays.reviews import review_gaps
from landscape.overlays.trends import new_topics
from landscape.pipeline.demo import build_demo

_SEED = 1


def largest_island(atlas: Any) -> float:
    """Return the share of the papers in the largest connected area of the map."""
    x, y = atlas.map["x"].to_numpy(float), atlas.map["y"].to_numpy(float)
    grid = density_grid(x, y, shape=(256, 256), bandwidth=default_bandwidth(x, y))
    cells = grid.counts
    mean = float((grid.density * cells).sum() / cells.sum())  # at the papers
    islands, n = ndimage.label(grid.density >= 0.1 * mean, structure=np.ones((3, 3)))
    sizes = ndimage.sum_labels(cells, islands, np.arange(1, n + 1))
    return float(sizes.max() / cells.sum())


def own_subject(vectors: np.ndarray, subjects: np.ndarray) -> float:
    """Return the share of the ten nearest papers that have the same subject."""
    near = vectors @ vectors.T
    np.fill_diagonal(near, -1)
    nearest = np.argpartition(-near, 10, axis=1)[:, :10]
    return float((subjects[nearest] == subjects[:, None]).mean())


def measures_of(atlas: Any) -> dict[str, float]:
    """Return what is measured of generated and of real papers."""
    gaps = review_gaps(atlas)
    return {
        "regions": float((atlas.topics["level"] == 1).sum()),
        "largest island": largest_island(atlas),
        "map quality": float(atlas.quality["knn_recall_at_10"]),
        "ranked review gaps": float(gaps.table["rank"].notna().sum()),
        "new topics": float(len(new_topics(atlas).table)),
    }


def main() -> None:
    """Build both atlases, and write their measures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo", description=__doc__)
    parser.add_argument("--papers", type=int, default=4000)
    parser.add_argument("--real", type=Path, default=DATA / "astro-ph" / "papers.jsonl.gz")
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        atlas = build_demo(folder / "demo.atlas", n_papers=given.papers, seed=_SEED)
        truth = generate(given.papers)[1].papers
        vectors = np.asarray(atlas.vectors(), dtype=np.float32)
        place = {name: row for row, name in enumerate(atlas.read_papers(["paper_id"])["paper_id"])}
        papers = sorted(truth, key=lambda paper: place[paper.paper_id])
        found["generated"] = measures_of(ls.open(atlas.path))
        for name in ("theme", "question"):
            subjects = np.array([getattr(paper, name) for paper in papers])
            found["generated"][f"own {name}"] = own_subject(vectors, subjects)
        if given.real.is_file():
            with gzip.open(given.real, "rt", encoding="utf-8") as stream:
                lines = random.Random(_SEED).sample([*stream], given.papers)  # noqa: S311
            sample = folder / "real.jsonl"
            sample.write_text("".join(lines), encoding="utf-8")
            found["real"] = measures_of(ls.build(sample, folder / "real.atlas", seed=_SEED))
    names = [*found["generated"]]
    rows = [
        [kind, *(f"{one[n]:.3g}" if n in one else "" for n in names)] for kind, one in found.items()
    ]
    print_table(f"Maps of {given.papers:,} generated and real papers", ["papers", *names], rows)
    save("demo", found)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
