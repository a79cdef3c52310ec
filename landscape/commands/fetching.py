"""``landscape fetch``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from landscape.commands.answering import Answer, note
from landscape.commands.parsing import command, positive
from landscape.plural import count


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
