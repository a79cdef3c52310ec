"""Damaged and hostile input; each campaign prints the number of cases and of failures.

Run: python -m benchmarks robustness [--cases 10000] [--only records,filters,poison]

A case fails if it ends in anything but a result or one sentence, if an output is active, if a
request to a model server takes longer than its limit, or if a process dies. The table also shows
the peak memory of a case above the memory in use before it. A small part of each campaign is in the
tests.
"""

from __future__ import annotations

import argparse
import gzip
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import landscape
from benchmarks.results import print_table, save
from benchmarks.robustness_cases import Case, Memory, flip, mutate, notes
from benchmarks.robustness_files import READERS, binaries
from benchmarks.robustness_models import servers
from benchmarks.robustness_outputs import poison
from benchmarks.robustness_processes import kills, messages
from landscape.errors import LandscapeError
from landscape.pipeline.demo import build_demo

_MOST_MEMORY = 500.0  # MB above the memory in use before a case
_LIMITED = ("records", "filters", "flips", "servers", "messages")  # campaigns with that limit


def records(folder: Path, n_cases: int, rng: random.Random) -> Iterator[Case]:
    """Yield files of every reader with mutated content, plain and compressed."""
    packed = list(binaries(folder / "good"))
    for number in range(n_cases):
        title, name, read, good = rng.choice([*READERS, *packed])
        path = folder / f"{number % 50}-{name}"
        if isinstance(good, bytes):
            content = flip(good, rng)
        else:
            content = mutate(good, rng).encode("utf-8", "surrogatepass")
            if name.endswith(".gz"):
                content = gzip.compress(content)
                content = flip(content, rng) if rng.random() < 0.3 else content
        path.write_bytes(content)
        yield title, lambda path=path, read=read: read(path)  # type: ignore[misc]


def filters(atlas: landscape.Atlas, n_cases: int, rng: random.Random) -> Iterator[Case]:
    """Yield mutated filters and queries."""
    goods = ("2015..2020; author:Hubble; -review", "(dust | gas); citations>=50", "facility:HST")
    for number in range(n_cases):
        text = mutate(rng.choice(goods), rng)
        options: dict[str, Any] = {"filter": text} if number % 2 else {}
        query = "dust" if number % 2 else text
        yield (
            "filter" if number % 2 else "query",
            lambda q=query, o=options: atlas.search(q, k=3, method="words", rerank=False, **o),  # type: ignore[misc]
        )


def flips(atlas: landscape.Atlas, folder: Path, n_cases: int, rng: random.Random) -> Iterator[Case]:
    """Yield uses of an atlas with flipped bits; each change must be reported."""
    names = [name for name, file in atlas.manifest.files.items() if file.bytes]
    known = _facts(atlas)
    for number in range(min(n_cases // 50, 200)):
        copy = folder / "flipped.atlas"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(atlas.path, copy)
        path = copy / names[number % len(names)]
        content = bytearray(path.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)

        def use(copy: Path = copy) -> None:
            if _facts(landscape.open(copy)) != known:
                raise AssertionError("a table changed without a message")

        yield f"flipped bit in {path.name}", use


def _facts(atlas: landscape.Atlas) -> tuple[Any, ...]:
    tables = (atlas.papers, atlas.map, atlas.topics, atlas.missions, atlas.uat, atlas.reviews)
    hits = tuple(paper.paper_id for paper in atlas.search("dust in galaxies", k=5).papers)
    sums = float(abs(atlas.vectors()).sum())
    return (*(table.to_json() for table in tables), len(atlas.thesaurus), hits, sums)


def main() -> None:
    """Run the campaigns and print a table; exit with 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    every = "records,filters,flips,servers,messages,poison,kills"
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--only", default=every)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - cases, no secret
    rows: list[list[str]] = []
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        atlas = landscape.open(build_demo(folder / "demo.atlas", n_papers=200, seed=1).path)
        _facts(atlas)  # loads the models, so that they are not counted
        atlas.ask("How does dust cool?", model=None)
        campaigns = {
            "records": lambda: records(folder, options.cases, rng),
            "filters": lambda: filters(atlas, options.cases, rng),
            "flips": lambda: flips(atlas, folder, options.cases, rng),
            "servers": lambda: servers(atlas, folder, options.cases, rng),
            "messages": lambda: messages(atlas, options.cases // 5, rng),
            "poison": lambda: poison(folder / "poison"),
            "kills": lambda: kills(folder, options.cases // 500, rng),
        }
        for name in options.only.split(","):
            start = time.monotonic()
            tried, found, peak = run(name, campaigns[name]())
            faults += found
            row = [name, f"{tried:,}", f"{len(found):,}", f"{peak:,.0f}"]
            rows.append([*row, f"{time.monotonic() - start:,.0f}", notes.get(name, "")])
            print(rows[-1], flush=True)
    for fault in sorted(set(faults))[:60]:
        print(fault)
    head = ["campaign", "tried", "failed", "MB above idle", "seconds", "note"]
    print_table("Campaigns against damage and malice", head, rows)
    # A part does not replace the section of the report.
    section = "robustness" if options.only == every else f"robustness: {options.only}"
    print(f"\n{save(section, rows)}")
    raise SystemExit(bool(faults))


def run(name: str, cases: Iterator[Case]) -> tuple[int, list[str], float]:
    """Run cases; return their number, a line for each that failed, and the peak memory in MB."""
    tried, faults, peak = 0, [], 0.0
    for title, case in cases:
        tried += 1
        fault, memory = "", Memory()
        try:
            case()
        except LandscapeError as error:
            # A filter shows its fault on further lines.
            if "Traceback" in str(error) or ("\n" in str(error) and name != "filters"):
                fault = f"{error!r:.300}"
        except Exception as error:  # noqa: BLE001 - what is looked for
            fault = f"{error!r:.300}"
        used = memory.peak()
        if used > _MOST_MEMORY and name in _LIMITED:
            fault = fault or f"{used:,.0f} MB above the memory in use before"
        peak = max(peak, used)
        faults += [f"{title}: {fault}"] if fault else []
    return tried, faults, peak


if __name__ == "__main__":
    main()
