"""The outreach terrain: a picture of 350,000 papers, and an A1 sheet at 300 dpi.

Run: python -m benchmarks.terrain [--papers 350000] [--sheet a1]
"""

from __future__ import annotations

import argparse
import resource
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.mapping import made_up_plane, topics_of
from benchmarks.measuring import measured
from benchmarks.results import print_table, save

SHEETS = {"a2": (4961, 7016), "a1": (7016, 9933), "a0": (9933, 14043)}  # 300 dots per inch


def made_up_atlas(n_papers: int) -> Any:
    """Return papers with positions, regions and years."""
    import pandas as pd

    x, y = made_up_plane(n_papers).T
    table = pd.DataFrame({"x": x, "y": y, "topic_id": topics_of(n_papers)})
    years = 2026 - np.random.default_rng(4).exponential(9, n_papers).astype(int)
    papers = pd.DataFrame({"year": pd.array(years, dtype="Int16")})
    return SimpleNamespace(map=table, read_papers=lambda names: papers[names])


def run_square(n_papers: int) -> dict[str, Any]:
    """Compute a terrain of 2048 x 2048 and its picture."""
    from landscape.outreach import make_terrain, paint

    paint(make_terrain(made_up_atlas(500), size=(64, 64)))  # imports
    atlas = made_up_atlas(n_papers)
    start, worked = time.perf_counter(), time.process_time()
    terrain = make_terrain(atlas, size=(2048, 2048))
    made = time.perf_counter()
    paint(terrain)
    return {
        "seconds": time.perf_counter() - start,
        "terrain": made - start,
        "cpu_seconds": time.process_time() - worked,
    }


def run_sheet(n_papers: int, sheet: str) -> dict[str, Any]:
    """Draw the picture of a whole sheet in memory."""
    from landscape.outreach import make_terrain, paint

    width, height = SHEETS[sheet]
    shrink = 2048 / height
    atlas = made_up_atlas(n_papers)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, worked = time.perf_counter(), time.process_time()
    terrain = make_terrain(atlas, size=(round(width * shrink), round(height * shrink)))
    picture = paint(terrain, size=(width, height))
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - worked,
        "picture_mb": picture.nbytes / 2**20,
        "before_mb": before,
    }


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=350_000)
    parser.add_argument("--sheet", choices=sorted(SHEETS), default="a1")
    options = parser.parse_args()
    results = {
        "2048 x 2048": measured(run_square, options.papers),
        f"{options.sheet.upper()} at 300 dpi": measured(run_sheet, options.papers, options.sheet),
    }
    rows = [
        [
            name,
            f"{one['seconds']:.1f}",
            f"{one['result']['cpu_seconds']:.1f}",
            f"{one['peak_mb']:,.0f}",
        ]
        for name, one in results.items()
    ]
    head = ["picture", "seconds", "of CPU", "MB"]
    print_table(f"Terrain of {options.papers:,} papers, painted", head, rows)
    print(f"\n{save('terrain', results)}")


if __name__ == "__main__":
    main()
