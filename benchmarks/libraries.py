"""Measure how long libraries, refreshed bibliographies and digests take.

Run: python -m benchmarks.libraries --atlas real.atlas

The library has papers of the atlas. What a user would run otherwise is measured in the same run:
bibtexparser for a .bib file, and the same papers as a .bib file for a database of Zotero.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.results import print_table, save

_N_BIB, _N_ZOTERO, _RUNS = 5_000, 20_000, 3


def seconds(run: Callable[[], Any]) -> float:
    """Return the median time of some runs."""
    times = []
    for _ in range(_RUNS):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def write_files(atlas: Any, folder: Path) -> tuple[Path, Path, Path]:
    """Write a .bib file of 5,000 papers, a database of 20,000 items, and the same as .bib."""
    from landscape._bibliography import to_bibtex
    from tests.zotero import write_zotero

    step = max(1, len(atlas) // _N_ZOTERO)
    papers = atlas.engine.papers(range(0, step * min(_N_ZOTERO, len(atlas)), step))
    small, large = folder / "small.bib", folder / "large.bib"
    small.write_text(to_bibtex(papers[:_N_BIB]))
    large.write_text(to_bibtex(papers))
    items = (
        {
            "title": paper.title,
            "abstractNote": paper.abstract,
            "date": f"{paper.date} {paper.date}",
            "extra": f"arXiv: {paper.arxiv_id}",
            "authors": dict.fromkeys(paper.authors),
            "tags": paper.keywords[:4],
            "collections": (f"Collection {n % 40}",),
        }
        for n, paper in enumerate(papers)
    )
    return small, large, write_zotero(folder / "Zotero", items)


def main() -> None:
    """Run the benchmark and print the times."""
    import landscape
    from landscape.corpus.libraries import read_library, write_library
    from landscape.errors import require
    from landscape.overlays.library import (
        library_graph,
        library_regions,
        make_digest,
        refresh_bibliography,
    )

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path, required=True)
    path = parser.parse_args().atlas
    atlas = landscape.open(path)
    result: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["LANDSCAPE_LIBRARIES"] = str(folder / "libraries")
        small, large, zotero = write_files(atlas, folder)
        bibtexparser = require("bibtexparser", "bibtex")

        result["bibtexparser: .bib of 5,000"] = seconds(
            lambda: bibtexparser.parse_string(small.read_text())
        )
        result["library: .bib of 5,000"] = seconds(lambda: read_library(small))
        result["library: .bib of 20,000"] = seconds(lambda: read_library(large))
        result["library: Zotero of 20,000"] = seconds(lambda: read_library(zotero))
        library = read_library(small, name="mine")
        write_library(library)
        result["filter in:mine"] = seconds(lambda: landscape.open(path).select("in:mine"))
        result["regions"] = seconds(lambda: library_regions(atlas, library))
        result["graph"] = seconds(lambda: library_graph(atlas, library))
        result["refresh of 5,000"] = seconds(lambda: refresh_bibliography(small, [atlas]))
        some = replace(library, entries=library.entries[:500], name="some", source="some")
        begin = time.perf_counter()
        make_digest(landscape.open(path), some, record=True)
        result["first digest"] = time.perf_counter() - begin
        since = str(atlas.coverage["last_date"])[:8] + "01"
        result["later digest"] = seconds(
            lambda: make_digest(landscape.open(path), some, since=since)
        )
        empty = seconds(lambda: make_digest(landscape.open(path), some))
        result["later digest, nothing new"] = empty
    rows = [[name, f"{value:.2f}"] for name, value in result.items()]
    print_table(f"Libraries and digests, {len(atlas):,} papers", ["what", "seconds"], rows)
    print(f"\n{save('libraries', result)}")


if __name__ == "__main__":
    main()
