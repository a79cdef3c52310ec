"""Measure how long an explorer takes to be made, what it sends, and what a move costs the kernel.

Run: python -m benchmarks widgets [--atlas ATLAS] [--papers 350000]

Without an atlas, one of made-up papers is used. A move of the map sends one message to the kernel
when the map has come to rest; the kernel answers with the line of code only.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.literature import open_made_up_atlas, write_made_up_atlas
from benchmarks.measuring import measured
from benchmarks.results import print_table, save

_MOVES = 50


def run_explorer(folder: Path, is_made_up: bool) -> dict[str, Any]:
    """Make an explorer, and tell it of moves as a page does."""
    import landscape
    import landscape.widgets._explorer  # imports are not what is timed
    from landscape.widgets import MapExplorer

    atlas = open_made_up_atlas(folder) if is_made_up else landscape.open(folder)
    start = time.perf_counter()
    explorer = MapExplorer(atlas)
    made = time.perf_counter() - start
    first = sum(map(len, explorer.map.files.values()))
    texts: dict[str, int] = {}

    def count(change: dict[str, Any]) -> None:
        texts.update({name: len(content) for name, content in change["new"].items()})

    explorer.map.observe(count, ["titles", "words"])
    while explorer.map.coming:
        time.sleep(0.05)
    sent = time.perf_counter() - start
    x0, y0, x1, y1 = explorer.view
    moves = []
    for number in range(_MOVES):
        shift = 0.001 * number * (x1 - x0)
        start = time.thread_time()
        explorer.map.set_state({"given": {"view": [x0 + shift, y0, x1, y1 + shift]}})
        moves.append(time.thread_time() - start)
    return {
        "papers": len(atlas),
        "made": made,
        "sent": sent,
        "first_mb": first / 1e6,
        "texts_mb": sum(texts.values()) / 1e6,
        "move_ms": 1000 * statistics.median(moves),
    }


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=350_000)
    parser.add_argument("--atlas", type=Path, help="atlas to measure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = options.atlas
        if folder is None:
            folder = Path(place) / "made-up.atlas"
            write_made_up_atlas(folder, n_papers=options.papers)
        found = measured(run_explorer, folder, options.atlas is None)
    one = found["result"]
    print_table(
        "MapExplorer: time until it is made and until all titles are sent, bytes, and CPU time of "
        "the kernel when the map has moved",
        ["papers", "made, s", "sent, s", "first, MB", "titles, MB", "move, ms", "peak, MB"],
        [
            [
                f"{one['papers']:,}",
                f"{one['made']:.1f}",
                f"{one['sent']:.1f}",
                f"{one['first_mb']:.2f}",
                f"{one['texts_mb']:.1f}",
                f"{one['move_ms']:.1f}",
                f"{found['peak_mb']:,.0f}",
            ]
        ],
    )
    print(f"\n{save('widgets', {'explorer': found})}")


if __name__ == "__main__":
    main()
