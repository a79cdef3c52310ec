"""Trends and new topics of generated corpora with known truth.

Themes of generated demo corpora rise, fall or are steady (themes with a burst are omitted). Regions
of small worlds change by 6% per year or not at all. A class is right, wrong, or not given.

New topics: worlds of 200 subjects in five categories over six years, whose shares scatter, and in
which 10 subjects appear, burst or grow in the last two years. Other worlds have no news, but a
change of their sampling: nothing in them is new. With an atlas of real papers, the events of
`EVENTS` are searched for.

Run: python -m benchmarks.trends [ATLAS]
"""

from __future__ import annotations

import argparse
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


NEWS = ("new", "burst", "growing")
SAMPLINGS = ("none", "size", "categories", "subjects", "omitted", "scatter")
EVENTS = {  # what can be dated: first month, and the months and the end of the search
    "3I/ATLAS": ("2025-07", 12, None),
    "DESI DR2": ("2025-03", 18, None),
    "little red dots": ("2024-10", 24, None),  # the corpus has one earlier paper
    "SN 2023ixf": ("2023-05", 38, None),
    "GW230529": ("2024-04", 38, None),
    "DESI": ("2024-04", 3, "2024-06"),  # first year of data
}


def make_world(
    sampling: str, *, news: bool, seed: int, n_months: int = 72
) -> tuple[Any, dict[str, tuple[str, str]]]:
    """Return an atlas of monthly papers, and the first month of each subject that is news.

    The sampling changes 20 months before the end: the number of papers ("size"), the mix of
    "categories", the shares of a third of the "subjects", or all subjects by a scatter of 30%. If
    "omitted", a tenth of the subjects is missing for a year before.
    """
    rng = np.random.default_rng(seed)
    n_subjects, n_categories, at = 200, 5, n_months - 20
    category = np.arange(n_subjects) % n_categories
    share = rng.lognormal(0, 0.7, n_subjects)
    rates = np.tile(share, (n_months, 1)) * rng.lognormal(0, 0.1, (n_months, n_subjects))
    truth: dict[str, tuple[int, str]] = {}
    for number in rng.choice(n_subjects, 10, replace=False) if news else ():
        start, kind = int(rng.integers(n_months - 22, n_months - 5)), NEWS[len(truth) % 3]
        height = np.median(share) * 6
        rates[:, number] = 0 if kind == "new" else height / 8
        rates[start : start + 4 if kind == "burst" else None, number] = height
        truth[f"subject {number}"] = (start, kind)
    after = np.arange(n_months) >= at
    if sampling == "categories":
        rates[after] *= rng.lognormal(0, 1.0, n_categories)[category]
    elif sampling == "subjects":
        chosen = rng.random(n_subjects) < 1 / 3
        rates[np.ix_(after, chosen)] *= 3
    elif sampling == "omitted":
        rates[np.ix_(~after & (np.arange(n_months) >= at - 12), rng.random(n_subjects) < 0.1)] = 0
    elif sampling == "scatter":
        rates[after] *= rng.lognormal(0, 0.3, n_subjects)
    sizes = np.where(after & (sampling == "size"), 1_000, 250)
    frames = [
        pd.DataFrame(
            {"month": month, "subject": rng.choice(n_subjects, sizes[month], p=row / row.sum())}
        )
        for month, row in enumerate(rates)
    ]
    papers = pd.concat(frames, ignore_index=True)
    months = pd.period_range("2019-01", periods=n_months, freq="M")
    papers["date"] = months[papers["month"]].to_timestamp() + pd.Timedelta(days=25)
    papers["year"] = papers["date"].dt.year
    papers["title"], papers["abstract"] = "A title", "An abstract."
    papers["paper_id"] = papers.index.astype(str)
    papers["categories"] = [[f"astro-ph.{category[one]}"] for one in papers["subject"]]
    papers["keywords"] = [[f"subject {one}", f"field {one % 40}"] for one in papers["subject"]]
    regions = pd.DataFrame({"topic_id": [1], "label": ["Everything"], "level": 1, "parent_id": -1})
    tags = pd.DataFrame({"paper_row": [0], "concept_id": [""], "score": [0.0], "evidence": [""]})
    atlas: Any = SimpleNamespace(
        topics=regions,
        map=pd.DataFrame({"topic_id": np.ones(len(papers), int), "subregion_id": -1}),
        coverage={
            "title": "A generated corpus",
            "papers": len(papers),
            "first_date": "2019-01-26",
            "last_date": str(months[-1]),
        },
        region_names={1: "Everything"},
        thesaurus=SimpleNamespace(concepts={}),
        read_layer=lambda _, columns: tags[["paper_row", *columns]],
        read_papers=lambda columns, rows=None: (
            papers[columns] if rows is None else papers[columns].iloc[rows]
        ),
    )
    return atlas, {name: (str(months[start]), kind) for name, (start, kind) in truth.items()}


def judge_news(sampling: str, *, news: bool, seed: int) -> tuple[int, int, int, int]:
    """Return how many subjects are news, found, found within a quarter, and wrongly found."""
    from landscape.overlays.trends import new_topics

    atlas, truth = make_world(sampling, news=news, seed=seed)
    table = new_topics(atlas, months=24).table
    found = {
        name: row.since
        for row in table.itertuples()
        for name in [row.term, *row.also.split("; ")]
        if name in truth
    }
    near = sum(months_between(truth[name][0], since) <= 3 for name, since in found.items())
    fields = {f"field {int(name.split()[1]) % 40}" for name in truth}  # of a subject that is news
    wrong = sum(name not in truth and name not in fields for name in table["term"])
    return len(truth), len(found), near, wrong


def months_between(one: str, other: str) -> int:
    """Return the number of months between two months such as 2025-07."""
    first, second = (12 * int(name[:4]) + int(name[5:7]) for name in (one, other))
    return abs(first - second)


def find_events(atlas: Any) -> list[list[str]]:
    """Return whether each event is found within a quarter of its date."""
    from landscape.overlays.trends import new_topics

    rows = []
    for name, (month, months, until) in EVENTS.items():
        table = new_topics(atlas, months=months, until=until).table
        has_name = table["term"].str.contains(name, regex=False)
        since = ", ".join(table.loc[has_name, "since"].head(1)) or "not found"
        is_near = has_name.any() and months_between(month, since) <= 3
        rows.append([name, month, since, "yes" if is_near else "no"])
    return rows


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas", nargs="?", help="atlas of real papers")
    arguments = parser.parse_args()
    found = {f"demo, {n:,} papers": [judge_demo(n, seed) for seed in _SEEDS] for n in (2000, 4000)}
    found["worlds, 13,500 papers"] = [judge_world(seed) for seed in range(20)]
    results = {name: np.mean(pairs, axis=0).round(3).tolist() for name, pairs in found.items()}
    rows = [[name, f"{right:.3f}", f"{wrong:.3f}"] for name, (right, wrong) in results.items()]
    print_table("Classes of trends against generated truth", ["", "right", "wrong"], rows)
    rows = []
    for sampling in SAMPLINGS:
        for news in (True, False):
            sums = np.sum([judge_news(sampling, news=news, seed=seed) for seed in range(5)], axis=0)
            rows.append([sampling, "10" if news else "0", *map(str, sums.tolist())])
            results[f"new topics, {sampling}, {'news' if news else 'none'}"] = sums.tolist()
    heads = ["change of sampling", "news", "of", "found", "within a quarter", "wrong"]
    print_table("New topics of five worlds each", heads, rows)
    if arguments.atlas:
        import landscape

        events = find_events(landscape.open(arguments.atlas))
        print_table("Events in real papers", ["event", "month", "found", "in a quarter"], events)
        results["events"] = {row[0]: row[2] for row in events}
    save("trends", results)


if __name__ == "__main__":
    main()
