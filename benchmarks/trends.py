"""Classes of trends on generated corpora with known truth.

Run: python -m benchmarks.trends

Themes of generated demo corpora rise, fall or are steady (themes with a burst are omitted). Regions
of small worlds change by 6% per year or not at all. A class is right, wrong, or not given.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.results import print_table, save

_CLASSES = {"rising": "emerging", "falling": "fading", "steady": "steady"}
_SEEDS = (0, 1, 2)


def judge(papers: pd.DataFrame, truth: dict[int, str]) -> tuple[float, float]:
    """Return the shares of regions with the right class and with a wrong class."""
    from landscape.overlays.trends import trends

    regions = pd.DataFrame({"topic_id": sorted(truth)}).assign(
        label=lambda table: table["topic_id"].astype(str), level=1, parent_id=-1
    )
    given = papers.assign(date=pd.NaT, categories=[[]] * len(papers))
    atlas: Any = SimpleNamespace(
        topics=regions,
        map=papers,
        coverage={"title": "A generated corpus"},
        read_papers=lambda columns: given[columns],
    )
    table = trends(atlas).table
    is_right = table["class"] == table["topic_id"].map(truth)
    return float(is_right.mean()), float((~is_right & (table["class"] != "")).mean())


def judge_demo(n_papers: int, seed: int) -> tuple[float, float]:
    """Judge the themes of a demo corpus."""
    from landscape.corpus.demo import write_demo

    with tempfile.TemporaryDirectory() as folder:
        write_demo(Path(folder), n_papers=n_papers, seed=seed)
        truth = json.loads((Path(folder) / "truth.json").read_text("utf-8"))
        lines = gzip.decompress((Path(folder) / "papers.jsonl.gz").read_bytes()).splitlines()
    number = {theme["id"]: at for at, theme in enumerate(truth["themes"])}
    theme = {paper["paper_id"]: number[paper["theme"]] for paper in truth["papers"]}
    papers = pd.DataFrame(map(json.loads, lines))
    topic = papers["bibcode"].map(theme).fillna(-1).astype(int)
    activity = {number[one["id"]]: one["activity"] for one in truth["themes"]}
    classes = {at: _CLASSES[kind] for at, kind in activity.items() if kind in _CLASSES}
    return judge(pd.DataFrame({"year": papers["year"], "topic_id": topic}), classes)


def judge_world(seed: int) -> tuple[float, float]:
    """Judge 30 regions over 25 years: six rise and six fall by 6% per year, with 10% scatter."""
    rng = np.random.default_rng(seed)
    slopes = np.repeat([0.06, -0.06, 0.0], [6, 6, 18])
    years = []
    for year in range(2000, 2025):
        weights = np.exp(slopes * (year - 2012) + rng.normal(0, 0.1, 30))
        topics = rng.choice(30, 300 + 20 * (year - 2000), p=weights / weights.sum())
        years.append(pd.DataFrame({"year": year, "topic_id": topics}))
    names = np.repeat(["emerging", "fading", "steady"], [6, 6, 18])
    return judge(pd.concat(years, ignore_index=True), dict(enumerate(names)))


def main() -> None:
    """Run the benchmark and print the results."""
    found = {f"demo, {n:,} papers": [judge_demo(n, seed) for seed in _SEEDS] for n in (2000, 4000)}
    found["worlds, 13,500 papers"] = [judge_world(seed) for seed in range(20)]
    results = {name: np.mean(pairs, axis=0).round(3).tolist() for name, pairs in found.items()}
    rows = [[name, f"{right:.3f}", f"{wrong:.3f}"] for name, (right, wrong) in results.items()]
    print_table("Classes of trends against generated truth", ["", "right", "wrong"], rows)
    save("trends", results)


if __name__ == "__main__":
    main()
