"""``landscape demo``, ``build``, ``info`` and ``fetch``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from landscape._wording import GENERATED, count
from landscape.cli._arguments import (
    ATLAS,
    JSON,
    WRONG_INPUT,
    Answer,
    as_json,
    command,
    flag,
    note,
    option,
    picked,
    positive,
    write_line,
)
from landscape.cli._figures import draw_heatmap

_WORKERS = option("--workers", type=positive, metavar="N", help="number of processes")


def add_commands(commands: Any) -> None:
    """Add the commands."""
    command(
        commands, "demo", _demo, "build and draw an example atlas of generated papers",
        option("--out", type=Path, default=Path("demo.atlas"), metavar="DIR"),
        option("--papers", type=positive, default=4000, metavar="N"),
        option("--figures", type=Path, default=Path("figures/demo"), metavar="DIR"),
        option("--seed", type=int, default=1, metavar="N", help="of the map (default: 1)"),
        _WORKERS,
    )  # fmt: skip
    _add_build(commands)
    command(
        commands, "info", _info, "describe an atlas and how it was built", ATLAS, JSON,
        flag("--verify", "compare the checksum of every file"),
    )  # fmt: skip
    _add_fetch(commands)


def _add_build(commands: Any) -> None:
    command(
        commands, "build", _build, "build an atlas from files of papers",
        option("inputs", nargs="*", type=Path, metavar="INPUT",
               help="files of papers; without any, --citations adds citations to the atlas"),
        option("--out", type=Path, required=True, metavar="DIR", help="directory of the atlas"),
        option("--title", help="name of the atlas, for captions"),
        option("--seed", type=int, metavar="N", help="make the map reproducible (slower)"),
        _WORKERS,
        option("--embedder",
               help="minilm (default), openai:MODEL, st:NAME_OR_PATH, ready (vectors of the "
               "inputs), or ready:FILE[@MODEL] (.npy with one row per record, or Parquet with "
               "paper_id and embedding)"),
        flag("--yes", "accept the cost of remote embeddings"),
        option("--keywords-limit", type=positive, default=20, metavar="N",
               help="keyphrases per paper (default: 20)"),
        option("--tagger", default="auto", help="part-of-speech tagger"),
        option("--layout", help="umap, tsne, pca, ready or keep (default: umap)"),
        option("--n-neighbors", type=positive, default=15, metavar="N", help="of UMAP"),
        option("--min-dist", type=float, default=0.05, help="of UMAP"),
        option("--topics", dest="topics_method", choices=("density", "hdbscan"), default="density",
               help="method that finds regions (default: density)"),
        option("--regions", dest="max_regions", type=positive, metavar="N",
               help="maximum number of regions"),
        option("--continents", dest="n_continents", type=positive, metavar="N",
               help="maximum number of continents"),
        flag("--polish", "let a language model improve the names of topics"),
        option("--thesaurus", type=Path, metavar="FILE",
               help="the complete Unified Astronomy Thesaurus (landscape fetch uat) instead of the "
               "included part"),
        option("--known-reviews", type=Path, action="append", default=[], metavar="FILE",
               help="list of known reviews: JSON lines with bibcode and identifier, or one "
               "identifier per line; may be repeated"),
        option("--citations", type=Path, action="append", default=[], metavar="FILE",
               help="citations: a table with the columns citing and cited, or JSON lines of "
               "papers with their refs; may be repeated"),
        JSON,
    )  # fmt: skip


def _add_fetch(commands: Any) -> None:
    fetch = commands.add_parser("fetch", help="download papers")
    kinds = fetch.add_subparsers(title="sources", metavar="SOURCE", required=True)
    limit = option("--limit", dest="max_records", type=positive, metavar="N",
                   help="stop after N records")  # fmt: skip
    for name, meaning, output, options in (
        ("arxiv", "download arXiv metadata (OAI-PMH)", "arxiv.jsonl", (
            option("--set", default="physics:astro-ph", help="default: physics:astro-ph"),
            option("--from", dest="since", metavar="DATE", help="first day, YYYY-MM-DD"),
            option("--until", metavar="DATE", help="last day, YYYY-MM-DD"),
            limit,
        )),
        ("ads", "download the results of an ADS query (needs ADS_API_TOKEN)", "ads.jsonl", (
            option("--query", required=True, help="in the ADS search syntax"), limit,
        )),
        ("pathfinder", "download the pathfinder corpus, 4.5 GB", "pathfinder", ()),
        ("uat", "download the Unified Astronomy Thesaurus", "UAT.json", (
            option("--version", default="5.1.0", help="default: 5.1.0"),
        )),
    ):  # fmt: skip
        metavar = "FILE" if "." in output else "DIR"
        where = option("-o", "--output", type=Path, default=Path(output), metavar=metavar)
        added = command(kinds, name, _fetch, meaning, where, *options)
        kinds.choices[name].set_defaults(source=name, names=added[1:])


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
        f"{GENERATED} They are not evidence about astronomy.\n\n"
        "Open next:\n"
        f"  {pictures[0]}  the labelled map\n"
        f"  {pictures[1]}  the same, for print\n"
        f"  {program} lab\n"
        f"  {program} info {out}\n"
        f'  {program} search {out} "winds of massive stars"\n'
        f"  {program} figure report {out} HST -o hst.pdf\n"
        f"  {program} build YOUR-PAPERS.jsonl --out your.atlas"
    )


def _program() -> str:
    """Return the command to call this program, even if it is not on PATH (as in `make demo`)."""
    beside = Path(sys.executable).with_name("landscape")
    if shutil.which("landscape") or not beside.is_file():
        return "landscape"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)


def _build(options: argparse.Namespace) -> Answer:
    from landscape.atlas import build
    from landscape.store._info import count_regions, facts

    if options.citations and not options.inputs:
        return _add_citations(options)
    names = (
        "embedder layout seed n_neighbors min_dist keywords_limit tagger topics_method "
        "max_regions n_continents polish thesaurus known_reviews citations title workers"
    )
    atlas = build(
        options.inputs,
        options.out,
        approve=_agree if options.yes else ask_on_terminal,
        say=note,
        **picked(options, *names.split()),
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
    verified = f"\n\nverified: all {len(atlas.manifest.files):,} files are unchanged"
    return Answer(describe(atlas) + (verified if options.verify else ""))


def _agree(_question: str) -> bool:
    """Confirm without asking, for ``--yes``."""
    return True


def ask_on_terminal(question: str) -> bool:
    """Ask on the terminal; return False without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        note(f"{question} Input is not a terminal; pass --yes to agree.")
        return False
    write_line(f"{question} [y/N] ", sys.stderr, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _fetch(options: argparse.Namespace) -> Answer:
    from landscape.corpus import fetch

    download = getattr(fetch, f"fetch_{options.source}")
    found = download(options.output, notify=note, **picked(options, *options.names))
    if found.note:
        note(found.note)
    return Answer(f"{found.path}: {count(found.n_records, 'record')}")
