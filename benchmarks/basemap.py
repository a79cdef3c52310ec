"""Size and quality of basemaps, compared with the method ``transform`` of umap-learn.

Run: python -m benchmarks basemap --base ATLAS
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import landscape
from benchmarks.results import print_table, save
from landscape.mapping.basemap import Basemap
from landscape.mapping.projection import umap_with_kept_code

_SIZES = (2_000, 5_000, 20_000, 50_000)
_NEW = 1_000


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    atlas = landscape.open(parser.parse_args().base)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in _SIZES:
            file = Path(folder) / f"{size}.basemap"
            start = time.perf_counter()
            basemap = atlas.export_basemap(file, landmarks=size)
            seconds = time.perf_counter() - start
            quality = basemap.quality
            rows.append(
                [
                    f"{len(basemap.vectors):,}",
                    f"{file.stat().st_size / 1e6:.1f}",
                    f"{seconds:.1f}",
                    f"{quality['own_region']:.3f}",
                    f"{quality['median_shift']:.3f}",
                    f"{quality['neighbours_kept']:.3f}",
                    f"{quality['neighbours_kept_before']:.3f}",
                ]
            )
            if size == 20_000:
                usual = basemap
    print_table(
        f"Basemaps of {len(atlas):,} papers; landmarks placed again by the others",
        ["landmarks", "MB", "export s", "own region", "shift", "kept", "kept on the map"],
        rows,
    )
    compared = _compare(usual)
    print_table(
        f"{_NEW:,} papers placed by {len(usual.vectors) - _NEW:,} others, in one process",
        ["method", "seconds to prepare", "seconds to place", "neighbours kept"],
        [[name, *(f"{value:.3g}" for value in values)] for name, values in compared.items()],
    )
    print(save("basemap", {"sizes": rows, "compared": compared}, packages=["umap-learn"]))


def _compare(basemap: Basemap) -> dict[str, tuple[float, float, float]]:
    """Place papers with the basemap, and with a fitted UMAP, which has to be kept as a pickle."""
    chosen = np.zeros(len(basemap.vectors), dtype=bool)
    chosen[np.random.default_rng(1).choice(len(chosen), _NEW, replace=False)] = True
    new = basemap.vectors[chosen]
    given = vars(basemap) | {
        name: getattr(basemap, name)[~chosen] for name in ("vectors", "coordinates", "regions")
    }
    others = Basemap(**given)
    others.place(new[:10])  # compiles
    start = time.perf_counter()
    placed = others.place(new)
    found = {"basemap": (0.0, time.perf_counter() - start, others.neighbours_kept(new, placed))}
    start = time.perf_counter()
    reducer = umap_with_kept_code().UMAP(
        metric="cosine", min_dist=basemap.min_dist, random_state=1, n_jobs=1
    )
    coordinates = reducer.fit_transform(others.vectors).astype(np.float32)
    prepared = time.perf_counter() - start
    start = time.perf_counter()
    placed = np.asarray(reducer.transform(new), dtype=np.float32)
    seconds = time.perf_counter() - start
    fitted = Basemap(**{**given, "coordinates": coordinates})
    found["umap-learn, transform"] = (prepared, seconds, fitted.neighbours_kept(new, placed))
    return found


if __name__ == "__main__":
    main()
