"""Commands ``demo``, ``build``, ``info`` and ``fetch``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import landscape
from landscape._wording import GENERATED, count
from landscape.cli._arguments import (
    WRONG_INPUT,
    Answer,
    arguments_of,
    as_json,
    function_of,
    note,
    open_atlas,
    write_line,
)


def _demo(options: argparse.Namespace) -> Answer:
    from landscape.atlas import build_demo

    out: Path = options.out
    atlas = build_demo(
        out, n_papers=options.papers, seed=options.seed, workers=options.workers, say=note
    )
    options.figures.mkdir(parents=True, exist_ok=True)
    pictures = [options.figures / f"heatmap.{kind}" for kind in ("png", "pdf")]
    for picture in pictures:
        landscape.figures.save_figure(landscape.figures.heatmap(atlas), picture)
    program = _program()
    return Answer(
        f"The demo atlas is ready: {len(atlas):,} generated papers in {out}.\n"
        f"{GENERATED} They are not evidence about astronomy.\n\n"
        "Open next:\n"
        f"  {pictures[0]}  the labelled map\n"
        f"  {pictures[1]}  the same map, for print\n"
        f"  {program} lab\n"
        f"  {program} info {out}\n"
        f'  {program} search {out} "winds of massive stars"\n'
        f"  {program} figure report {out} HST -o hst.pdf\n"
        f"  {program} build YOUR-PAPERS.jsonl --out your.atlas"
    )


def _program() -> str:
    """Return the command that runs this program, even if it is not on PATH (as in `make demo`)."""
    beside = Path(sys.executable).with_name("landscape")
    if shutil.which("landscape") or not beside.is_file():
        return "landscape"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)


def _build(options: argparse.Namespace) -> Answer:
    from landscape.store.info import count_regions, facts

    if options.citations and not options.inputs:
        return _add_citations(options)
    atlas = landscape.build(
        options.inputs,
        options.out,
        approve=(lambda _: True) if options.yes else ask_on_terminal,
        say=note,
        **arguments_of(options, "inputs", "out", "yes"),
    )
    if options.json:
        return Answer(as_json(facts(atlas)))
    return Answer(f"{atlas.path}: {len(atlas):,} papers in {count_regions(atlas)} named regions")


def _add_citations(options: argparse.Namespace) -> Answer:
    from landscape.atlas import add_citations
    from landscape.store.info import facts

    atlas = add_citations(options.out, options.citations, say=note)
    if options.json:
        return Answer(as_json(facts(atlas)))
    return Answer(f"{atlas.path}: {count(atlas.citations.n_links, 'citation')}")


def _info(options: argparse.Namespace) -> Answer:
    from landscape.store.info import describe, facts, verify

    problems = verify(options.atlas) if options.verify else []
    for problem in problems:
        note(f"landscape: {problem}")
    if problems:
        found = {"path": str(options.atlas), "verified": False, "problems": problems}
        return Answer(as_json(found) if options.json else "", WRONG_INPUT)
    atlas = open_atlas(options)
    for problem in atlas.label_problems:
        note(f"landscape: {problem}")
    if options.json:
        return Answer(as_json(facts(atlas) | ({"verified": True} if options.verify else {})))
    verified = f"\n\nverified: all {len(atlas.manifest.files):,} files are unchanged"
    return Answer(describe(atlas) + (verified if options.verify else ""))


def ask_on_terminal(question: str) -> bool:
    """Ask a question on the terminal; return False if there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        note(f"{question} Input is not a terminal; pass --yes to agree.")
        return False
    write_line(f"{question} [y/N] ", sys.stderr, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _fetch(options: argparse.Namespace) -> Answer:
    found = function_of(options)(options.output, notify=note, **arguments_of(options))
    if found.note:
        note(found.note)
    return Answer(f"{found.path}: {count(found.n_records, 'record')}")


COMMANDS = {"demo": _demo, "build": _build, "info": _info, "fetch": _fetch}
