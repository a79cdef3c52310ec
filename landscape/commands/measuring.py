"""``landscape evaluate``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from landscape.commands.answering import Answer, as_json
from landscape.commands.parsing import command


def add_evaluate(commands: Any) -> None:
    """Add ``landscape evaluate`` and its kinds."""
    evaluate = commands.add_parser("evaluate", help="measure how good a result is")
    kinds = evaluate.add_subparsers(title="kinds", metavar="KIND", required=True)
    quality = command(kinds, "map", _evaluate_map, "how far the map can be trusted")
    quality.add_argument("atlas", type=Path, metavar="DIR")
    quality.add_argument("--json", action="store_true", help="print one JSON document")
    quality.add_argument("--again", action="store_true", help="measure anew, store nothing")
    quality.add_argument("--seed", type=int, default=0, help="of the samples, with --again")

    retrieval = command(
        kinds, "retrieval", _evaluate_retrieval, "how well questions find their papers"
    )
    retrieval.add_argument("atlas", type=Path, metavar="DIR")
    retrieval.add_argument(
        "--queries",
        type=Path,
        required=True,
        metavar="FILE",
        help='lines {"qid", "question", "relevant": [ids]}, or a format of pathfinder, TREC, '
        "CiteME or PaSa",
    )
    retrieval.add_argument("--json", action="store_true", help="print one JSON document")


def _evaluate_map(options: argparse.Namespace) -> Answer:
    from landscape.atlas.description import quality_lines
    from landscape.atlas.reading import open_atlas

    atlas = open_atlas(options.atlas)
    if options.again:
        from landscape.atlas.stages.quality import measure

        quality = measure(atlas.path, atlas.manifest, seed=options.seed)
    else:
        quality = atlas.quality
    if options.json:
        return Answer(as_json(quality))
    return Answer("\n".join(quality_lines(quality)))


def _evaluate_retrieval(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.evaluation.retrieval import evaluate_retrieval

    found = evaluate_retrieval(open_atlas(options.atlas), options.queries)
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())
