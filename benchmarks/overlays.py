"""Measure mentions, impact tables and all figures on 350,000 generated papers.

Run: python -m benchmarks.overlays [--papers 350000] [--only mentions,impact,figures,interactive]
     [--atlas FOLDER]

Mentions are found in the real abstracts of LANDSCAPE_DATA, or in the demo. Each task is compared
with a simple alternative. Goals: 10,000 abstracts per second on two cores; a table with 1,000
bootstrap samples, and any figure, in 10 s; 20,000 marks.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.literature import AUTHOR, open_made_up_atlas, write_made_up_atlas
from benchmarks.measuring import PAPERS, measured
from benchmarks.results import print_table, save

if TYPE_CHECKING:
    from landscape.pipeline._executor import Slice

_KINDS = ("mentions", "impact", "figures", "interactive")
_WARM_UP = 12  # batches: until all processes are at work
_DEMO_PAPERS = 4_000
_FEWEST_TEXTS = 60_000
_FIRST_REGEX = 20_000  # papers
_NAIVE_SAMPLES = 3
_SLICES = [(1995, 2004), (2005, 2014), (2015, 2026)]
_TWO = ("facility:HST", "-facility:HST")
_FIGURES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "uat": ("uat", (), {}),
    "uat, small maps": ("uat", (), {"multiples": True}),
    "impact, one": ("impact", (), {"facilities": "HST"}),
    "impact, several": ("impact", (), {}),
    "impact, small maps": ("impact", (), {"multiples": True}),
    "impact, slices": ("impact", (), {"facilities": "HST", "slices": _SLICES}),
    "reviews": ("reviews", (), {}),
    "trends": ("trends", (), {}),
    "new topics": ("new_topics", (), {}),
    "compare": ("compare", _TWO, {}),
    "author": ("author", (AUTHOR,), {}),
    "time slices": ("time_slices", (), {}),
    "report": ("report", ("HST",), {}),
    "animation": ("animate", ("HST",), {}),
}
_INTERACTIVE: dict[str, tuple[Any, ...]] = {
    "heatmap": (),
    "uat": (),
    "impact": (),
    "reviews": (),
    "trends": (),
    "compare": _TWO,
}


# -- mentions


def read_abstracts() -> tuple[list[str], list[str], str]:
    """Return titles and abstracts, and their source."""
    import pandas as pd

    if PAPERS.is_file():
        papers = pd.read_json(PAPERS, lines=True)
        return papers["title"].tolist(), papers["abstract"].tolist(), "real"
    from landscape.corpus.demo import write_demo

    with tempfile.TemporaryDirectory() as folder:
        papers = pd.read_json(
            write_demo(Path(folder), n_papers=_DEMO_PAPERS, seed=1).papers, lines=True
        )
    return papers["title"].tolist(), papers["abstract"].tolist(), "demo"


def write_texts(path: Path, n_papers: int) -> dict[str, Any]:
    """Write repeated titles and abstracts in the input format of the missions stage."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_papers = max(n_papers, _FEWEST_TEXTS)  # fewer would end before all processes have begun
    titles, abstracts, origin = read_abstracts()
    rows = pa.array(np.arange(n_papers) % len(titles))
    table = pa.table(
        {
            "title": pa.array(titles).take(rows),
            "abstract": pa.array(abstracts).take(rows),
            "date": pa.nulls(n_papers, pa.date32()),
            "date_precision": pa.nulls(n_papers, pa.string()),
        }
    )
    pq.write_table(table, path)
    return {"origin": origin, "different": len(titles)}


def run_mentions(path: Path) -> dict[str, Any]:
    """Find mentions as the build does: in batches, with two processes."""
    return _in_two_processes(_find_mentions, path)


def run_regex(path: Path) -> dict[str, Any]:
    """Match all names with one regular expression, also in two processes."""
    return _in_two_processes(_match_names, path, most=_FIRST_REGEX)


_READ = ("title", "abstract", "date", "date_precision")


def _find_mentions(piece: Slice) -> tuple[int, Any]:
    from landscape.overlays.missions import find_in_papers

    papers = piece.read(_READ).to_pandas()
    return len(piece), find_in_papers(papers["title"], papers["abstract"], papers["date"])


def _in_two_processes(
    work: Callable[..., Any], path: Path, *, most: int | None = None
) -> dict[str, Any]:
    """Measure papers per second while both processes work, and the start-up time in seconds.

    ``unshared`` is the rate expected on two idle cores, computed from the CPU time.
    """
    import resource

    import pyarrow.parquet as pq

    from landscape.pipeline._executor import ProcessExecutor, slices

    n_rows = pq.read_metadata(path).num_rows
    taken = slices(path, n_rows, size=2_000)
    taken = taken if most is None else taken[: most // 2_000 + _WARM_UP]
    executor = ProcessExecutor(2)
    start = time.perf_counter()
    at, papers, found = [], [], 0
    for n, frame in executor.map(work, taken, n_papers=n_rows):
        at.append(time.perf_counter() - start)
        papers.append(n)
        found += len(frame)
    first = min(_WARM_UP, len(at) // 2)
    rate = sum(papers[first:]) / (at[-1] - at[first - 1])
    starting = at[-1] - sum(papers) / rate
    executor.close()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "rate": rate,
        "unshared": 2 * sum(papers) / (spent.ru_utime + spent.ru_stime),
        "starting": starting,
        "mentions": found,
        "papers": sum(papers),
    }


def _match_names(piece: Slice) -> tuple[int, list[str]]:
    pattern, papers = _any_name(), piece.read(["title", "abstract"]).to_pandas()
    texts = [*papers["title"], *papers["abstract"]]
    return len(papers), [name for text in texts for name in pattern.findall(text or "")]


def _any_name() -> re.Pattern[str]:
    from landscape.corpus import load_facilities

    names = {name for facility in load_facilities().values() for name in facility.names}
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"\b(?:{longest_first})\b")


# -- impact


def run_impact(folder: Path) -> dict[str, Any]:
    """Compute the table of impact with 1,000 bootstrap samples."""
    from landscape.overlays.missions import impact

    atlas = open_made_up_atlas(folder)
    impact(atlas, ["HST"], n_resamples=1)  # imports
    atlas = open_made_up_atlas(folder)
    start, cpu = time.perf_counter(), time.process_time()
    found = impact(atlas)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "facilities": len(found.table),
    }


def run_naive(folder: Path) -> dict[str, Any]:
    """Resample papers with replacement and measure with pandas."""
    import pandas as pd

    from landscape.overlays.missions.usage import read_usage

    usage = read_usage(open_made_up_atlas(folder))
    papers = pd.DataFrame({"region": usage.region, "date": usage.date, "cites": usage.cites})
    uses = {one.name: usage.uses(at) for at, one in enumerate(usage.facilities)}
    papers = papers.join(pd.DataFrame(uses))
    start, cpu = time.perf_counter(), time.process_time()
    for seed in range(_NAIVE_SAMPLES):
        drawn = papers.sample(frac=1, replace=True, random_state=seed)
        for facility in usage.facilities:
            _measure_plainly(drawn, facility)
    scale = 1_000 / _NAIVE_SAMPLES
    return {
        "seconds": scale * (time.perf_counter() - start),
        "cpu": scale * (time.process_time() - cpu),
        "samples": _NAIVE_SAMPLES,
    }


def _measure_plainly(papers: Any, facility: Any) -> dict[str, float]:
    """Compute the measures that need only papers, regions, dates and citations."""
    its = papers[papers[facility.name]]
    by_region = its["region"].value_counts(normalize=True)
    core = by_region.index[: int((by_region.cumsum() < 0.8).sum()) + 1]
    local = papers[papers["region"].isin(core)]
    since = local["date"] >= np.datetime64(facility.first_light)
    used = local[facility.name]
    return {
        "share": len(its) / len(papers),
        "local_share": used.mean(),
        "rise": used[since].mean() - used[~since].mean(),
        "citations": its["cites"].sum(),
        "citations_median": its["cites"].median(),
        "citations_share": its["cites"].sum() / papers["cites"].sum(),
        "entropy": -(by_region * np.log(by_region)).sum(),
    }


# -- figures


def run_figure(folder: Path, name: str) -> dict[str, Any]:
    """Open the atlas, measure, draw and save a figure as PNG (a report as PDF, a film as GIF)."""
    from landscape import figures

    kind, arguments, options = _FIGURES[name]
    draw = getattr(figures, kind)
    with tempfile.TemporaryDirectory() as place:
        start, cpu = time.perf_counter(), time.process_time()
        atlas = open_made_up_atlas(folder)
        if kind in ("report", "animate"):
            ending = "pdf" if kind == "report" else "gif"
            draw(atlas, *arguments, Path(place) / f"drawn.{ending}", **options)
        else:
            figure = draw(atlas, *arguments, **options)
            figures.save_figure(figure, Path(place) / "drawn.png")
        return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def run_scatter(folder: Path) -> dict[str, Any]:
    """Draw all papers as dots, and those of a facility above them, with matplotlib alone."""
    import matplotlib.pyplot as plt

    with tempfile.TemporaryDirectory() as place:
        start, cpu = time.perf_counter(), time.process_time()
        atlas = open_made_up_atlas(folder)
        rows = atlas.missions.query("facility == 'HST'")["paper_row"].unique()
        figure, axes = plt.subplots(figsize=(11, 8.5))
        axes.scatter(atlas.map["x"], atlas.map["y"], s=1, c="lightgrey")
        axes.scatter(atlas.map["x"].iloc[rows], atlas.map["y"].iloc[rows], s=1)
        figure.savefig(Path(place) / "drawn.png", dpi=200)
        return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def run_kernel_ratio(folder: Path, *, side: int = 24) -> dict[str, Any]:
    """Compute a share map with the kernel density of SciPy on few cells, scaled to 256 x 256."""
    from scipy.stats import gaussian_kde

    atlas = open_made_up_atlas(folder)
    places = atlas.map[["x", "y"]].to_numpy(np.float64).T
    rows = atlas.missions.query("facility == 'HST'")["paper_row"].unique()
    low, high = places.min(axis=1), places.max(axis=1)
    cells = np.stack(np.meshgrid(*np.linspace(low, high, side).T)).reshape(2, -1)
    start, cpu = time.perf_counter(), time.process_time()
    gaussian_kde(places[:, rows])(cells) / gaussian_kde(places)(cells)
    scale = (256 / side) ** 2
    return {
        "seconds": scale * (time.perf_counter() - start),
        "cpu": scale * (time.process_time() - cpu),
    }


def run_interactive(folder: Path, kind: str) -> dict[str, Any]:
    """Write the interactive version of a figure as a page."""
    from landscape import figures
    from landscape.figures.plotly_backend import count_marks

    with tempfile.TemporaryDirectory() as place:
        start, cpu = time.perf_counter(), time.process_time()
        figure = figures.interactive(kind, open_made_up_atlas(folder), *_INTERACTIVE[kind])
        path = figures.save_figure(figure, Path(place) / "drawn.html")
        return {
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - cpu,
            "marks": count_marks(figure),
            "bytes": path.stat().st_size,
        }


def run_plotly(folder: Path) -> dict[str, Any]:
    """Draw every paper as a dot with plotly alone."""
    import plotly.graph_objects as go

    from landscape.figures.plotly_backend import count_marks

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "drawn.html"
        start, cpu = time.perf_counter(), time.process_time()
        atlas = open_made_up_atlas(folder)
        titles = atlas.read_papers(["title"])["title"]
        figure = go.Figure(
            go.Scattergl(x=atlas.map["x"], y=atlas.map["y"], mode="markers", hovertext=titles)
        )
        figure.write_html(path)
        return {
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - cpu,
            "marks": count_marks(figure),
            "bytes": path.stat().st_size,
        }


# -- all of them


def measure_mentions(folder: Path, n_papers: int) -> dict[str, Any]:
    """Compare the detection of mentions with a regular expression."""
    path = folder / "texts.parquet"
    facts = write_texts(path, n_papers)
    results = {
        name: measured(run, path)["result"]
        for name, run in (("Landscape", run_mentions), ("one regular expression", run_regex))
    }
    rows = [
        [
            name,
            f"{found['papers']:,}",
            f"{found['rate']:,.0f}",
            f"{found['unshared']:,.0f}",
            f"{found['starting']:.1f}",
        ]
        for name, found in results.items()
    ]
    title = f"Mentions in {facts['origin']} abstracts, two processes (goal: 10,000 a second)"
    print_table(title, ["", "papers", "papers/s", "by CPU time", "s to start"], rows)
    return facts | results


def measure_impact(folder: Path) -> dict[str, Any]:
    """Compare the table of impact with plain resampling."""
    ours, naive = measured(run_impact, folder), measured(run_naive, folder)
    results = {"Landscape": ours, "resampling papers (scaled)": naive}
    rows = [_row(name, found) for name, found in results.items()]
    title = f"Table of {ours['result']['facilities']} facilities, 1,000 samples (goal: 10 s)"
    print_table(title, ["", "seconds", "CPU s", "MB"], rows)
    return results


def measure_figures(folder: Path) -> dict[str, Any]:
    """Measure every figure, and simple alternatives."""
    results = {}
    for name in _FIGURES:
        results[name] = measured(run_figure, folder, name)
        print(_row(name, results[name]))
    results["matplotlib: dots alone"] = measured(run_scatter, folder)
    results["SciPy: share map (scaled)"] = measured(run_kernel_ratio, folder)
    rows = [_row(name, found) for name, found in results.items()]
    title = "Figures: read, measured, drawn and saved (goal: 10 s)"
    print_table(title, ["", "seconds", "CPU s", "MB"], rows)
    return results


def measure_interactive(folder: Path) -> dict[str, Any]:
    """Measure every interactive figure, and plotly alone."""
    results = {kind: measured(run_interactive, folder, kind) for kind in _INTERACTIVE}
    results["plotly: dots alone"] = measured(run_plotly, folder)
    rows = [
        [
            *_row(name, found),
            f"{found['result']['marks']:,}",
            f"{found['result']['bytes'] / 1e6:.1f}",
        ]
        for name, found in results.items()
    ]
    head = ["", "seconds", "CPU s", "MB", "marks", "MB of page"]
    print_table("Interactive figures (goal: 20,000 marks)", head, rows)
    return results


def _row(name: str, found: dict[str, Any]) -> list[str]:
    cpu = found["result"]["cpu"]
    return [name, f"{found['seconds']:.1f}", f"{cpu:.1f}", f"{found['peak_mb']:,.0f}"]


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=350_000)
    parser.add_argument("--only", default=",".join(_KINDS), help="comma-separated")
    parser.add_argument("--atlas", type=Path, help="keep the made-up atlas here for the next run")
    options = parser.parse_args()
    chosen = options.only.split(",")
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = options.atlas or Path(place) / "made-up.atlas"
        if set(chosen) - {"mentions"} and not (folder / "manifest.json").is_file():
            write_made_up_atlas(folder, n_papers=options.papers)
        if "mentions" in chosen:
            results["mentions"] = measure_mentions(Path(place), options.papers)
        if "impact" in chosen:
            results["impact"] = measure_impact(folder)
        if "figures" in chosen:
            results["figures"] = measure_figures(folder)
        if "interactive" in chosen:
            results["interactive"] = measure_interactive(folder)
    print(f"\n{save('overlays', results)}")


if __name__ == "__main__":
    main()
