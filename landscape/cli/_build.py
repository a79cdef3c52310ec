"""``landscape demo``, ``build`` and ``info``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from landscape._wording import count
from landscape.cli._arguments import (
    WRONG_INPUT,
    Answer,
    as_json,
    command,
    note,
    positive,
    write_line,
)
from landscape.cli._figures import draw_heatmap


def add_demo(commands: Any) -> None:
    """Add ``landscape demo``."""
    demo = command(commands, "demo", _demo, "the whole tour on a generated corpus")
    demo.add_argument("--out", type=Path, default=Path("demo.atlas"), metavar="DIR")
    demo.add_argument("--papers", type=positive, default=4000, metavar="N")
    demo.add_argument("--figures", type=Path, default=Path("figures/demo"), metavar="DIR")
    demo.add_argument("--seed", type=int, default=1, help="of the map (default: 1)")
    demo.add_argument("--workers", type=positive, metavar="N", help="processes")


def add_build(commands: Any) -> None:
    """Add ``landscape build``."""
    build = command(commands, "build", _build, "build an atlas from files of papers")
    build.add_argument(
        "inputs",
        nargs="*",
        type=Path,
        metavar="INPUT",
        help="files of papers; none, with --citations, only adds citations to the atlas",
    )
    build.add_argument("--out", type=Path, required=True, metavar="DIR", help="the atlas")
    build.add_argument("--title", help="name of the atlas, for captions")
    build.add_argument("--seed", type=int, help="make the map reproducible (slower)")
    build.add_argument("--workers", type=positive, metavar="N", help="processes")
    build.add_argument(
        "--embedder",
        help="minilm (default), openai:MODEL, st:NAME_OR_PATH, ready (the vectors that the inputs "
        "bring), or ready:FILE[@MODEL] (.npy, a row a record; or Parquet: paper_id, embedding)",
    )
    build.add_argument("--yes", action="store_true", help="agree to the cost of remote embeddings")
    build.add_argument("--keywords-limit", type=positive, default=20, metavar="N")
    build.add_argument("--tagger", default="auto", help="part-of-speech tagger")
    build.add_argument("--layout", help="umap, tsne, pca, ready or keep (default: umap)")
    build.add_argument("--n-neighbors", type=positive, default=15, metavar="N", help="of UMAP")
    build.add_argument("--min-dist", type=float, default=0.05, help="of UMAP")
    build.add_argument("--topics", choices=("density", "hdbscan"), default="density")
    build.add_argument("--regions", type=positive, metavar="N", help="most regions")
    build.add_argument("--continents", type=positive, metavar="N", help="most continents")
    build.add_argument(
        "--polish", action="store_true", help="let a language model improve the names of topics"
    )
    build.add_argument(
        "--thesaurus",
        type=Path,
        metavar="FILE",
        help="the whole Unified Astronomy Thesaurus (landscape fetch uat), instead of a part of it",
    )
    build.add_argument(
        "--known-reviews",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a list of papers known to be reviews: JSON lines with bibcode and identifier, or one "
        "identifier a line; may be repeated",
    )
    build.add_argument(
        "--citations",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="who cites whom: a table with the columns citing and cited, or JSON lines of papers "
        "with their refs; may be repeated",
    )
    build.add_argument("--json", action="store_true", help="print one JSON document")


def add_info(commands: Any) -> None:
    """Add ``landscape info``."""
    info = command(commands, "info", _info, "what an atlas holds and how it was made")
    info.add_argument("atlas", type=Path, metavar="DIR")
    info.add_argument("--json", action="store_true", help="print one JSON document")
    info.add_argument("--verify", action="store_true", help="compare every file's checksum")


def _demo(options: argparse.Namespace) -> Answer:
    from landscape.atlas import build_demo

    out: Path = options.out
    atlas = build_demo(
        out, n_papers=options.papers, seed=options.seed, workers=options.workers, say=note
    )
    options.figures.mkdir(parents=True, exist_ok=True)
    pictures = [options.figures / f"heatmap.{kind}" for kind in ("png", "pdf")]
    for picture in pictures:
        draw_heatmap(atlas, picture)
    program = _program()
    return Answer(
        f"The demo atlas is ready: {len(atlas):,} generated papers in {out}.\n"
        "Every paper in it is made up by Landscape; no output of it says anything about "
        "astronomy.\n\nOpen next:\n"
        f"  {pictures[0]}  the labelled map\n"
        f"  {pictures[1]}  the same, for print\n"
        f"  {program} lab\n"
        f"  {program} info {out}\n"
        f'  {program} search {out} "winds of massive stars"\n'
        f"  {program} figure report {out} HST -o hst.pdf\n"
        f"  {program} build YOUR-PAPERS.jsonl --out your.atlas"
    )


def _program() -> str:
    """How this command is called from here: `make demo` runs it where no shell finds it by name."""
    beside = Path(sys.executable).with_name("landscape")
    if shutil.which("landscape") or not beside.is_file():
        return "landscape"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)


def _build(options: argparse.Namespace) -> Answer:
    from landscape.atlas import build
    from landscape.store._info import count_regions, facts

    if options.citations and not options.inputs:
        return _add_citations(options)
    atlas = build(
        options.inputs,
        options.out,
        embedder=options.embedder,
        layout=options.layout,
        seed=options.seed,
        n_neighbors=options.n_neighbors,
        min_dist=options.min_dist,
        keywords_limit=options.keywords_limit,
        tagger=options.tagger,
        topics_method=options.topics,
        max_regions=options.regions,
        n_continents=options.continents,
        polish=options.polish,
        thesaurus=options.thesaurus,
        known_reviews=options.known_reviews,
        citations=options.citations,
        title=options.title,
        workers=options.workers,
        approve=_agree if options.yes else ask_on_terminal,
        say=note,
    )
    if options.json:
        return Answer(as_json(facts(atlas)))
    return Answer(f"{atlas.path}: {len(atlas):,} papers in {count_regions(atlas)} named regions")


def _add_citations(options: argparse.Namespace) -> Answer:
    from landscape.atlas import add_citations
    from landscape.store._info import facts

    atlas = add_citations(options.out, options.citations, say=note)
    if options.json:
        return Answer(as_json(facts(atlas)))
    return Answer(f"{atlas.path}: {count(atlas.citations.n_links, 'citation')}")


def _info(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.store._info import describe, facts, verify

    problems = verify(options.atlas) if options.verify else []
    for problem in problems:
        note(f"landscape: {problem}")
    if problems:
        found = {"path": str(options.atlas), "verified": False, "problems": problems}
        return Answer(as_json(found) if options.json else "", WRONG_INPUT)
    atlas = open_atlas(options.atlas)
    for problem in atlas.label_problems:
        note(f"landscape: {problem}")
    if options.json:
        return Answer(as_json(facts(atlas) | ({"verified": True} if options.verify else {})))
    verified = f"\n\nverified: all {len(atlas.manifest.files):,} files are as they were written"
    return Answer(describe(atlas) + (verified if options.verify else ""))


def _agree(_question: str) -> bool:
    """The answer of --yes."""
    return True


def ask_on_terminal(question: str) -> bool:
    """Ask on the terminal; without one the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        note(f"{question} Input is not a terminal; pass --yes to agree.")
        return False
    write_line(f"{question} [y/N] ", sys.stderr, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def add_fetch(commands: Any) -> None:
    """Add ``landscape fetch`` and its sources."""
    fetch = commands.add_parser("fetch", help="get papers from the network")
    kinds = fetch.add_subparsers(title="sources", metavar="SOURCE", required=True)
    arxiv = command(kinds, "arxiv", _fetch_arxiv, "arXiv metadata (OAI-PMH)")
    arxiv.add_argument("--set", default="physics:astro-ph", help="default: physics:astro-ph")
    arxiv.add_argument("--from", dest="since", metavar="DATE", help="first day, YYYY-MM-DD")
    arxiv.add_argument("--until", metavar="DATE", help="last day, YYYY-MM-DD")
    _output_and_limit(arxiv, "arxiv.jsonl")
    ads = command(kinds, "ads", _fetch_ads, "an ADS query (needs ADS_API_TOKEN)")
    ads.add_argument("--query", required=True, help="in the ADS search syntax")
    _output_and_limit(ads, "ads.jsonl")
    pathfinder = command(kinds, "pathfinder", _fetch_pathfinder, "the pathfinder corpus, 4.5 GB")
    pathfinder.add_argument("-o", "--output", type=Path, default=Path("pathfinder"), metavar="DIR")
    uat = command(kinds, "uat", _fetch_uat, "the Unified Astronomy Thesaurus")
    uat.add_argument("--version", default="5.1.0")
    uat.add_argument("-o", "--output", type=Path, default=Path("UAT.json"), metavar="FILE")


def _output_and_limit(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument("-o", "--output", type=Path, default=Path(name), metavar="FILE")
    parser.add_argument("--limit", type=positive, metavar="N", help="stop after N records")


def _fetch_arxiv(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch import fetch_arxiv

    return _fetched(
        fetch_arxiv(
            options.output,
            set=options.set,
            since=options.since,
            until=options.until,
            max_records=options.limit,
            notify=note,
        )
    )


def _fetch_ads(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch import fetch_ads

    found = fetch_ads(options.output, query=options.query, max_records=options.limit, notify=note)
    return _fetched(found)


def _fetch_pathfinder(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch import fetch_pathfinder

    return _fetched(fetch_pathfinder(options.output, notify=note))


def _fetch_uat(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch import fetch_uat

    return _fetched(fetch_uat(options.output, version=options.version, notify=note))


def _fetched(found: Any) -> Answer:
    if found.note:
        note(found.note)
    return Answer(f"{found.path}: {count(found.n_records, 'record')}")
