"""``landscape evaluate``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.cli._agents import add_evaluate_citing, add_evaluate_survey
from landscape.cli._arguments import Answer, as_json, command, positive

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Analysis


def add_evaluate(commands: Any) -> None:
    """Add ``landscape evaluate`` and its kinds."""
    evaluate = commands.add_parser("evaluate", help="measure how good a result is")
    kinds = evaluate.add_subparsers(title="kinds", metavar="KIND", required=True)
    quality = command(kinds, "map", _evaluate_map, "how far the map can be trusted")
    quality.add_argument("atlas", type=Path, metavar="DIR")
    quality.add_argument("--json", action="store_true", help="print one JSON document")
    quality.add_argument("--again", action="store_true", help="measure again, store nothing")
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

    add_evaluate_survey(kinds)
    add_evaluate_citing(kinds)
    mentions = _kind(kinds, "mentions", _mentions, "how well facilities are found in papers")
    mentions.add_argument("--labels", type=Path, required=True, metavar="FILE", help=_LABELS)

    tagging = _kind(kinds, "tagging", _tagging, "how well papers are tagged with concepts")
    tagging.add_argument("--truth", type=Path, required=True, metavar="FILE", help=_TRUTH)

    reviews = _kind(kinds, "reviews", _reviews, "whether gaps of reviews were filled later")
    reviews.add_argument("--year", type=int, required=True, help="last year that is ranked")
    reviews.add_argument("--horizon", type=positive, default=5, metavar="YEARS", help="default: 5")

    gaps = _kind(kinds, "thesaurus", _thesaurus, "whether proposed concepts were added later")
    for name in ("earlier", "later"):
        what = f"{name} release of the thesaurus, best its SKOS file (.rdf)"
        gaps.add_argument(f"--{name}", type=Path, required=True, metavar="FILE", help=what)


_LABELS = 'lines {"arxiv_id", "field", "surface", "occurrence", "facility"}'
_TRUTH = 'lines {"arxiv_id", "uat": [ids]}'


def _kind(
    kinds: Any, name: str, ask: Callable[[Any, argparse.Namespace], Analysis], meaning: str
) -> argparse.ArgumentParser:
    """Add a measurement whose answer is an analysis."""

    def run(options: argparse.Namespace) -> Answer:
        from landscape.atlas import open as open_atlas

        found = ask(open_atlas(options.atlas), options)
        return Answer(as_json(found.to_dict()) if options.json else found.to_text())

    parser = command(kinds, name, run, meaning)
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _mentions(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.evaluation import evaluate_facilities

    return evaluate_facilities(atlas, options.labels)


def _tagging(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.evaluation import evaluate_concepts

    return evaluate_concepts(atlas, options.truth)


def _reviews(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.reviews import backtest_reviews

    return backtest_reviews(atlas, year=options.year, horizon=options.horizon)


def _thesaurus(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.thesaurus import backtest_gaps, read_thesaurus

    return backtest_gaps(atlas, read_thesaurus(options.earlier), read_thesaurus(options.later))


def _evaluate_map(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.store._info import quality_lines

    atlas = open_atlas(options.atlas)
    if options.again:
        from landscape.pipeline._map import measure

        quality = measure(atlas.path, atlas.manifest, seed=options.seed)
    else:
        quality = atlas.quality
    if options.json:
        return Answer(as_json(quality))
    return Answer("\n".join(quality_lines(quality)))


def _evaluate_retrieval(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.evaluation import evaluate_retrieval

    found = evaluate_retrieval(open_atlas(options.atlas), options.queries)
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())
