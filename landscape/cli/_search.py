"""``landscape search`` and ``ask``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.cli._arguments import Answer, add_how_to_search, as_json, command, note, positive

if TYPE_CHECKING:
    from landscape.atlas import Atlas as Atlas
    from landscape.types import Results


def add_search(commands: Any) -> None:
    """Add ``landscape search``."""
    search = command(commands, "search", _search, "find papers by meaning and by words")
    search.add_argument("atlas", type=Path, metavar="DIR")
    search.add_argument("query", metavar="QUERY")
    search.add_argument("-k", type=positive, default=10, metavar="N", help="papers (default: 10)")
    add_how_to_search(search)
    search.add_argument(
        "-o",
        "--export",
        type=Path,
        metavar="FILE",
        help="write the papers too: .bib, .ris, .tex (AASTeX), .txt (bibcodes), .csv or .json",
    )
    search.add_argument("--json", action="store_true", help="print one JSON document")


def add_ask(commands: Any) -> None:
    """Add ``landscape ask``."""
    ask = command(commands, "ask", _ask_question, "answer a question with evidence")
    ask.add_argument("atlas", type=Path, metavar="DIR")
    ask.add_argument("question", metavar="QUESTION")
    ask.add_argument("-k", type=positive, metavar="N", help="papers to answer from")
    ask.add_argument("--filter", metavar="FILTER", help="which papers, as for search")
    ask.add_argument("--style", choices=("single-paper", "multi-paper", "bibliometric", "nuanced"))
    ask.add_argument("--language", help="of the answer (default: of the question)")
    ask.add_argument("--audience", choices=("expert", "student", "public"))
    ask.add_argument("--json", action="store_true", help="print one JSON document")


def found(atlas: Atlas, options: argparse.Namespace) -> Results:
    """Run a search; notes go to standard error."""
    results = atlas.search(
        options.query,
        k=options.k,
        filter=options.filter,
        weights=dict.fromkeys(options.weight or (), 1.0),
        method=options.method,
        rerank=not options.no_rerank,
        reranker=options.rerank_with,
        hyde=options.hyde,
    )
    for line in results.coverage.notes:
        note(f"landscape: {line}")
    return results


def _search(options: argparse.Namespace) -> Answer:
    from landscape._serializer import check_results_file, count_written, write_results
    from landscape.atlas import open as open_atlas
    from landscape.search._outliers import spread_of

    if options.export:
        check_results_file(options.export)
    atlas = open_atlas(options.atlas)
    results = found(atlas, options)
    if options.export:
        path = write_results(results, options.export)
        note(count_written(results, path))
    spread = spread_of(atlas, results)
    if options.json:
        return Answer(as_json(results.to_dict() | {"spread": spread.to_dict()}))
    return Answer(results.to_text(where=spread.to_text()))


def _ask_question(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas

    said = open_atlas(options.atlas).ask(
        options.question,
        k=options.k,
        filter=options.filter,
        style=options.style,
        language=options.language,
        audience=options.audience,
    )
    return Answer(as_json(said.to_dict()) if options.json else said.to_text())
