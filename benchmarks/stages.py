"""The whole build on real papers, stage by stage, at growing sizes.

Run: python -m benchmarks.stages [--sizes 1000,5000,20000,43023]
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import PAPERS, growth_exponent
from benchmarks.results import print_table, save

STAGES = ("ingest", "keywords", "embeddings", "projection", "topics", "quality", "search")


def sample_papers(papers: Path, n: int, target: Path) -> None:
    """Take papers at equal intervals, so that every sample has the same years and fields."""
    with gzip.open(papers, "rb") as lines:
        rows = list(lines)
    step = len(rows) / n
    with target.open("wb") as out:
        out.writelines(rows[int(i * step)] for i in range(n))


def build(source: Path, out: Path) -> dict[str, Any]:
    """Build an atlas, and build it again without changes."""
    command = [sys.executable, "-m", "landscape.cli", "build", str(source), "--out", str(out)]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    first = time.perf_counter() - start
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    again = time.perf_counter() - start
    manifest = json.loads((out / "manifest.json").read_text())
    stages = {
        name: {
            "seconds": manifest["stages"][name]["seconds"],
            "peak_mb": manifest["stages"][name]["peak_memory_mb"],
        }
        for name in STAGES
    }
    return {"seconds": first, "again_seconds": again, "stages": stages}


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("--sizes", default="1000,5000,20000,43023")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    results = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "papers.jsonl"
            sample_papers(options.papers, size, source)
            results[size] = build(source, Path(folder) / "papers.atlas")
        print(f"{size:,} papers: {results[size]['seconds']:.0f} s", file=sys.stderr)
    rows = []
    for stage in STAGES:
        seconds = [results[size]["stages"][stage]["seconds"] for size in sizes]
        peaks = [results[size]["stages"][stage]["peak_mb"] for size in sizes]
        growth = f"{growth_exponent(sizes, seconds):.2f}" if len(sizes) > 1 else "-"
        rows.append(
            [
                stage,
                *(f"{s:.1f}" for s in seconds),
                f"{sizes[-1] / max(seconds[-1], 1e-3):,.0f}",
                growth,
                f"{max(peaks):,.0f}",
            ]
        )
    rows.append(["whole build", *(f"{results[s]['seconds']:.1f}" for s in sizes), "", "", ""])
    rows.append(["again", *(f"{results[s]['again_seconds']:.1f}" for s in sizes), "", "", ""])
    head = ["seconds", *(f"{size:,}" for size in sizes), "papers/s", "growth", "peak MB"]
    print_table("Stages of the build, real papers", head, rows)
    print(f"\n{save('stages', results)}")


if __name__ == "__main__":
    main()
