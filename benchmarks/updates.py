"""Monthly updates of an atlas, compared with maps that are fitted to all papers at the end.

The atlas begins with the papers until June 2024. Each later month is added by `landscape.update`.
The benchmark reports when two subjects that emerged meanwhile, little red dots and the interstellar
comet 3I/ATLAS, were novel and proposed as a region. At the end, the map is fitted again from its
old positions, and twice anew; the second new map shows how much two new maps differ.

Run: python -m benchmarks.updates --papers papers.jsonl.gz [--folder FOLDER] [--vectors ATLAS]
     [--drift FILE.png]

With an atlas of the same papers, their vectors are taken from it, which saves the embedding.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

import landscape as ls
from benchmarks.results import print_table, save
from landscape.embeddings.vectors import DIMENSION, WordVectors

_FIRST = "2024-07"
_SUBJECTS = {"little red dots": "little red dot", "3I/ATLAS": "3i/atlas"}


class KnownVectors:
    """MiniLM whose vectors are those of an atlas. The papers have no word vectors."""

    def __init__(self, atlas: ls.Atlas) -> None:
        papers = atlas.read_papers(["title", "abstract"])
        texts = papers["title"] + ". " + papers["abstract"]
        self._row = {text: row for row, text in enumerate(texts)}
        self._vectors = atlas.vectors()
        self._model = dict(atlas.stages["embeddings"].model or {})

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of known texts."""
        return np.asarray(self._vectors[[self._row[text] for text in texts]])

    embed_few = embed

    def embed_words(self, texts: Sequence[str], **_: object) -> tuple[np.ndarray, WordVectors]:
        """Return the vectors of known texts, and no word vectors."""
        nothing = WordVectors(np.zeros((0, DIMENSION), np.int8), np.zeros(len(texts), np.int64))
        return self.embed(texts), nothing

    def read_query(self, query: str) -> Any:
        """Not used by a build."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """Return the description of the model of the atlas."""
        return self._model


def plot_drift(rows: list[list[str]], ends: list[list[str]], out: Path) -> None:
    """Draw the neighbours kept on the map after every update, and after a new fit."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    months = ["2024-06", *(row[0] for row in rows[1:])]
    axes.plot(months, [float(row[3]) for row in rows], color="black", label="updated every month")
    for style, (name, kept, *_) in zip(("--", ":", "-."), ends[1:], strict=True):
        axes.axhline(float(kept), color="0.4", linestyle=style, label=f"{name} at the end")
    axes.set_xticks(months[::6])
    axes.set_ylim(0, None)
    axes.set_ylabel("share of the 10 nearest papers kept on the map")
    axes.legend(frameon=False)
    figure.savefig(out, dpi=150)


def split_months(papers: Path, folder: Path) -> tuple[list[Path], dict[str, set[str]]]:
    """Write the papers until June 2024 and those of each later month; return files and subjects."""
    months: dict[str, list[str]] = defaultdict(list)
    about: dict[str, set[str]] = {name: set() for name in _SUBJECTS}
    with gzip.open(papers, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            month = row["date"][:7]
            months[month if month >= _FIRST else ""].append(line)
            text = f"{row['title']} {row['abstract']}".lower()
            for name, phrase in _SUBJECTS.items():
                if phrase in text:
                    about[name].add(row["arxiv_id"])
    files = []
    for month in sorted(months):
        file = folder / f"{month or '2024-06-and-before'}.jsonl"
        file.write_text("".join(months[month]), encoding="utf-8")
        files.append(file)
    return files, about


def add_month(file: Path, folder: Path, about: dict[str, set[str]]) -> list[str]:
    """Add the papers of a month; return a row of the table."""
    start = perf_counter()
    atlas = ls.update(folder, file)
    seconds = perf_counter() - start
    embedding = atlas.stages["embeddings"].seconds
    details = atlas.stages["projection"].details
    proposals = details.get("proposals", [])
    found = [str(details.get("novel", 0))]
    for papers in about.values():
        shared = [(len(papers & set(one["paper_ids"])), one) for one in proposals]
        n, group = max(shared, key=lambda pair: pair[0], default=(0, None))
        found.append(f"{group['label']} ({n} of {group['papers']})" if group and n else "")
    new = atlas.parts[-1].rows
    kept = f"{atlas.quality['knn_recall_at_10']:.3f}"
    return [file.stem, f"{new:,}", f"{seconds - embedding:.0f}", kept, *found]


def agreement(one: ls.Atlas, other: ls.Atlas) -> float:
    """Return the adjusted Rand index of the regions of the papers that are in regions of both."""
    from sklearn.metrics import adjusted_rand_score

    a, b = (atlas.map["topic_id"].to_numpy() for atlas in (one, other))
    inside = (a >= 0) & (b >= 0)
    return float(adjusted_rand_score(a[inside], b[inside]))


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--vectors", type=Path, help="atlas with the vectors of the papers")
    parser.add_argument("--drift", type=Path, help="file of a plot")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        if options.vectors:
            known = KnownVectors(ls.open(options.vectors))
            stack.enter_context(patch("landscape.embeddings.load_embedder", lambda *_, **__: known))
        folder = options.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        files, about = split_months(options.papers, folder)
        path = folder / "updated.atlas"
        base = ls.build(files[0], path)
        kept = f"{base.quality['knn_recall_at_10']:.3f}"
        rows = [[files[0].stem, f"{len(base):,}", "", kept, "", "", ""]]
        for file in files[1:]:
            rows.append(add_month(file, path, about))
            print(*rows[-1], sep="\t", flush=True)
        head = ["month", "papers", "s without embedding", "neighbours kept", "novel", *_SUBJECTS]
        print_table("Monthly updates; proposed regions of two subjects", head, rows)
        maps = {"updated every month": ls.open(path)}
        layouts = {"fitted again": "refit", "new map": "umap", "another new map": "umap"}
        for name, layout in layouts.items():
            copy = folder / f"{name.replace(' ', '-')}.atlas"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(path, copy)
            maps[name] = ls.update(copy, layout=layout)
        new = maps["new map"]
        ends: list[list[str]] = []
        for name, atlas in maps.items():
            shift: Any = atlas.stages["projection"].details.get("median_shift", "")
            same = "" if atlas is new else f"{agreement(atlas, new):.2f}"
            regions = int((atlas.topics["level"] == 1).sum())
            outside = f"{np.mean(atlas.map['topic_id'] < 0):.0%}"
            recall = f"{atlas.quality['knn_recall_at_10']:.3f}"
            ends.append([name, recall, str(regions), outside, same, str(shift)])
        head = [
            "map",
            "neighbours kept",
            "regions",
            "outside",
            "agreement with the new map",
            "shift",
        ]
        print_table("The map after all updates (adjusted Rand index of regions)", head, ends)
        if options.drift:
            plot_drift(rows, ends, options.drift)
        print(f"\n{save('updates', {'months': rows, 'maps': ends}, packages=['umap-learn'])}")


if __name__ == "__main__":
    main()
