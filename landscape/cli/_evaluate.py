"""``landscape evaluate``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from landscape.cli._arguments import (
    ATLAS,
    JSON,
    Answer,
    add_analysis,
    answer,
    as_json,
    command,
    connected_model,
    flag,
    option,
    positive,
)

_MODEL = flag("--model", "use the language model set in the environment")


def add_commands(commands: Any) -> None:
    """Add ``landscape evaluate`` and its kinds."""
    evaluate = commands.add_parser("evaluate", help="measure the quality of a map or a method")
    kinds = evaluate.add_subparsers(title="kinds", metavar="KIND", required=True)
    command(
        kinds, "map", _map, "measure how well the map preserves neighbours", ATLAS, JSON,
        flag("--again", "measure again, and store nothing"),
        option("--seed", type=int, default=0, metavar="N", help="of the samples, with --again"),
    )  # fmt: skip
    add_analysis(
        kinds, "retrieval", "evaluation.evaluate_retrieval", "measure how well searches find the "
        "relevant papers",
        _file("--queries", 'lines {"qid", "question", "relevant": [ids]}, or a format of '
              "pathfinder, TREC, CiteME or PaSa"),
    )  # fmt: skip
    add_analysis(
        kinds, "survey", "evaluation.evaluate_survey", "recall of surveys, compared with one "
        "search",
        option("--queries", type=Path, metavar="FILE",
               help="PaSa's JSON lines, or another format of evaluate retrieval; default: "
               "questions made from the citations of the atlas"),
        option("--half", choices=("all", "first", "second"), default="all",
               help="part of the questions (default: all)"),
        option("--most", type=positive, metavar="N", help="maximum number of questions"),
        option("--papers", type=positive, default=100, metavar="N", help="papers per survey"),
        _MODEL,
    )  # fmt: skip
    add_analysis(
        kinds, "attribution", "evaluation.evaluate_attribution", "measure how often the cited "
        "paper is found",
        _file("--excerpts", 'CiteME\'s CSV, or lines {"qid", "excerpt", "answer"}', dest="cases"),
        _MODEL,
    )  # fmt: skip
    command(
        kinds, "citing", _citing, "measure how well papers to cite are found", ATLAS, JSON,
        option("--places", type=Path, metavar="FILE",
               help='lines {"context", "cited": [ids]}, optionally "keywords" and "sentence"; '
               "default: made from the citations of the atlas"),
        option("--n", type=positive, default=200, help="places to make (default: 200)"),
        option("--seed", type=int, default=0, metavar="N", help="of the places made"),
        _MODEL,
    )  # fmt: skip
    add_analysis(
        kinds, "mentions", "evaluation.evaluate_facilities", "measure how well facilities are "
        "found in papers",
        _file("--labels", 'lines {"arxiv_id", "field", "surface", "occurrence", "facility"}'),
    )  # fmt: skip
    add_analysis(
        kinds, "tagging", "evaluation.evaluate_concepts", "measure how well papers are tagged "
        "with concepts",
        _file("--truth", 'lines {"arxiv_id", "uat": [ids]}'),
    )  # fmt: skip
    add_analysis(
        kinds, "reviews", "overlays.reviews.backtest_reviews", "check whether gaps of reviews "
        "were filled later",
        option("--year", type=int, required=True, help="last year used for the ranking"),
        option("--horizon", type=positive, default=5, metavar="YEARS", help="default: 5"),
    )  # fmt: skip
    release = "{} release of the thesaurus, preferably its SKOS file (.rdf)"
    command(
        kinds, "thesaurus", _thesaurus, "check whether proposed concepts were added later",
        ATLAS, JSON, *(_file(f"--{name}", release.format(name)) for name in ("earlier", "later")),
    )  # fmt: skip


def _file(name: str, meaning: str, **settings: Any) -> Any:
    return option(name, type=Path, required=True, metavar="FILE", help=meaning, **settings)


def _map(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.store._info import quality_lines

    atlas = open_atlas(options.atlas)
    if options.again:
        from landscape.pipeline._map import measure

        quality = measure(atlas.path, atlas.manifest, seed=options.seed)
    else:
        quality = atlas.quality
    return Answer(as_json(quality) if options.json else "\n".join(quality_lines(quality)))


def _citing(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.evaluation._citing import evaluate_citing, places_from_graph

    atlas = open_atlas(options.atlas)
    places = options.places or places_from_graph(atlas, n=options.n, seed=options.seed)
    model = connected_model() if options.model else None
    return answer(evaluate_citing(atlas, places, model=model), options)


def _thesaurus(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.overlays.thesaurus import backtest_gaps, read_thesaurus

    earlier, later = read_thesaurus(options.earlier), read_thesaurus(options.later)
    return answer(backtest_gaps(open_atlas(options.atlas), earlier, later), options)
