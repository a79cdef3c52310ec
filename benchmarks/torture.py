"""Campaigns against damage and malice; each prints how many cases were tried and how many failed.

Run: python -m benchmarks torture [--cases 10000] [--only records,filters,flips,servers,messages]

A case fails if it ends in anything but a result or one sentence, or if a request to a model server
takes longer than its limit. A small part of each campaign is in the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import landscape
from benchmarks.results import print_table, save
from landscape.errors import LandscapeError
from landscape.pipeline._demo import build_demo

_LIMIT = 2.0  # seconds for a request to a hostile server
_PIECES = (
    "\x00", "\x1b[2J", "\u202e", "\ud800", '"', "'", "\\", "{", "}", "[", "]", "(", ")", ",", ":",
    ";", "..", "\n", "\r", "\t", "null", "NaN", "1e999", "-1", "9" * 400, "a" * 5000, "$\\frac{",
    "<script>", "=cmd|x", "%00", "|", "&", "~", "^", "*", "?", "author:", "year:", "(" * 200,
)  # fmt: skip

Case = tuple[str, Callable[[], object]]


def mutate(text: str, rng: random.Random) -> str:
    """Insert, replace, repeat or drop some pieces of a text."""
    for _ in range(rng.randint(1, 4)):
        start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        piece = rng.choice([*_PIECES, text[start:end][:200], ""])
        text = text[:start] + piece + text[rng.choice([start, end]) :]
    return text


def records(folder: Path, n_cases: int, rng: random.Random) -> Iterator[Case]:
    """Files of every reader with mutated records."""
    from landscape.corpus._scanning import read_papers

    goods = {
        ".jsonl": '{"title": "Dust", "abstract": "Dust cools.", "year": 2020, "doi": "10.1/a"}\n',
        ".json": '[{"title": "Dust", "abstract": "Dust cools.", "date": "2020-01"}]',
        ".bib": "@article{a, title={Dust}, abstract={Dust cools.}, year={2020}, doi={10.1/a}}\n",
        ".csv": 'title,abstract,year,authors\nDust,Dust cools.,2020,"A, B; C, D"\n',
    }
    for number in range(n_cases):
        suffix, good = rng.choice(list(goods.items()))
        path = folder / f"{number % 50}{suffix}"
        path.write_bytes(mutate(good, rng).encode("utf-8", "surrogatepass"))
        yield f"{suffix} record", lambda path=path: list(read_papers(path))  # type: ignore[misc]


def filters(atlas: landscape.Atlas, n_cases: int, rng: random.Random) -> Iterator[Case]:
    """Mutated filters and queries."""
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
    """Flipped bits in the files of an atlas, and every use of it; nothing may change unnoticed."""
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

        yield "flipped bit", use


def _facts(atlas: landscape.Atlas) -> tuple[Any, ...]:
    tables = (atlas.papers, atlas.map, atlas.topics, atlas.missions, atlas.uat, atlas.reviews)
    hits = tuple(paper.paper_id for paper in atlas.search("dust in galaxies", k=5).papers)
    sums = float(abs(atlas.vectors()).sum())
    return (*(table.to_json() for table in tables), len(atlas.thesaurus), hits, sums)


def servers(atlas: landscape.Atlas) -> Iterator[Case]:
    """Hostile model servers against everything that talks to a model."""
    from landscape.llm import connect
    from tests.servers.hostile_server import MODES, HostileServer

    for name, mode in MODES.items():
        for use in ("ask", "survey", "attribute", "hyde"):

            def run(mode: Any = mode, use: str = use) -> None:
                with HostileServer(mode) as server:
                    model = connect(
                        model="m", base_url=server.url, api_key="k", timeout=_LIMIT, retries=0
                    )
                    start = time.monotonic()
                    _talk(atlas, use, model)
                    n_requests = max(server.requests, 1)
                    if time.monotonic() - start > n_requests * (_LIMIT + 1) + 10:
                        raise AssertionError("a request outlived its limit")

            yield f"{use}: server that {name}", run


def _talk(atlas: landscape.Atlas, use: str, model: Any) -> object:
    question = "How does dust cool in galaxies?"
    if use == "ask":
        return atlas.ask(question, model=model)
    if use == "survey":
        return atlas.survey(question, model=model, papers=5)
    if use == "attribute":
        return atlas.attribute("Dust cools by lines [CITATION].", model=model)
    return atlas.search(question, model=model, hyde=True, k=3)


def messages(atlas: landscape.Atlas, n_cases: int, rng: random.Random) -> Iterator[Case]:
    """Mutated arguments of the tools of the MCP server."""
    from mcp.server.mcpserver.exceptions import ToolError

    from landscape.agents._mcp_server import make_server

    server = make_server(atlas)
    goods = {"search": "query", "ask": "question", "attribute": "excerpt", "paper": "paper"}
    for _ in range(n_cases):
        tool, name = rng.choice(list(goods.items()))
        arguments = {name: mutate("How does dust cool [CITATION]?", rng)[:9000]}

        def call(tool: str = tool, arguments: dict[str, str] = arguments) -> None:
            try:
                asyncio.run(server.call_tool(tool, arguments))
            except ToolError as error:
                if "Traceback" in str(error):
                    raise AssertionError("a traceback reached the assistant") from error

        yield f"message to {tool}", call


def main() -> None:
    """Run the campaigns and print a table; exit with 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--only", default="records,filters,flips,servers,messages")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - cases, no secret
    rows: list[list[str]] = []
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        atlas = landscape.open(build_demo(folder / "demo.atlas", n_papers=200, seed=1).path)
        campaigns = {
            "records": lambda: records(folder, options.cases, rng),
            "filters": lambda: filters(atlas, options.cases, rng),
            "flips": lambda: flips(atlas, folder, options.cases, rng),
            "servers": lambda: servers(atlas),
            "messages": lambda: messages(atlas, options.cases // 5, rng),
        }
        for name in options.only.split(","):
            tried = failed = 0
            for title, case in campaigns[name]():
                tried += 1
                try:
                    case()
                except LandscapeError as error:
                    if "Traceback" in str(error):  # a filter shows its fault on further lines
                        failed, faults = failed + 1, [*faults, f"{title}: {error!r:.200}"]
                except Exception as error:  # noqa: BLE001 - what is looked for
                    failed, faults = failed + 1, [*faults, f"{title}: {error!r:.200}"]
            rows.append([name, f"{tried:,}", f"{failed:,}"])
            print(rows[-1], flush=True)
    for fault in faults[:20]:
        print(fault)
    print_table("Campaigns against damage and malice", ["campaign", "tried", "failed"], rows)
    print(f"\n{save('torture', rows)}")
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
