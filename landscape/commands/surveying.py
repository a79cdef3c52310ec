"""``landscape survey``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.commands.answering import Answer, as_json, note
from landscape.commands.parsing import command, positive
from landscape.plural import count

if TYPE_CHECKING:
    from landscape.agents.survey.records import Survey


def add_survey(commands: Any) -> None:
    """Add ``landscape survey``."""
    survey = command(
        commands, "survey", _survey, "find all papers on a question: search, select, follow"
    )
    survey.add_argument("atlas", type=Path, metavar="DIR")
    survey.add_argument("question", metavar="QUESTION")
    survey.add_argument("--depth", type=positive, default=3, metavar="N", help="levels (default 3)")
    survey.add_argument(
        "--breadth", type=positive, default=6, metavar="N", help="searches at first (default 6)"
    )
    survey.add_argument(
        "--papers", type=positive, default=100, metavar="N", help="papers judged (default 100)"
    )
    survey.add_argument("--before", metavar="DATE", help="only papers before it: 2019, 2019-06-30")
    survey.add_argument(
        "--seed",
        action="append",
        default=[],
        metavar="PAPER",
        help="a paper to begin from (bibcode, arXiv identifier, DOI); may be repeated",
    )
    survey.add_argument(
        "--no-model", action="store_true", help="judge by likeness and citations alone"
    )
    survey.add_argument(
        "--calls",
        type=positive,
        default=300,
        help="most requests to the model (default: 300); a bad reply is asked for once more",
    )
    survey.add_argument("--tokens", type=positive, metavar="N", help="most tokens, both ways")
    survey.add_argument("--money", type=float, help="most money; needs --prices")
    survey.add_argument(
        "--prices",
        type=float,
        nargs=2,
        metavar=("READ", "WRITTEN"),
        help="of a million tokens read and of a million written",
    )
    survey.add_argument(
        "--protocol",
        choices=("auto", "json", "pasa"),
        default="auto",
        help="how the model is spoken to; pasa for models trained to write [Search] and [Expand]",
    )
    survey.add_argument(
        "--full-text",
        type=Path,
        metavar="FOLDER",
        help="full texts by identifier: 2401.00001.html, .tex, .tar.gz (arXiv's source) or .pdf",
    )
    survey.add_argument(
        "--resume", type=Path, metavar="FILE", help="keeps the model's replies, to go on later"
    )
    survey.add_argument(
        "-o",
        "--export",
        type=Path,
        metavar="FILE",
        help="write the papers: .bib, .ris, .tex, .txt (bibcodes), .csv, .md or .json",
    )
    survey.add_argument("--tree", type=Path, metavar="FILE", help="draw who led to whom")
    survey.add_argument("--map", type=Path, metavar="FILE", help="draw the papers on the map")
    survey.add_argument("--json", action="store_true", help="print one JSON document")


def add_evaluate_survey(kinds: Any) -> None:
    """Add ``landscape evaluate survey``."""
    survey = command(
        kinds, "survey", _evaluate, "how well surveys find what belongs, beside one search"
    )
    survey.add_argument("atlas", type=Path, metavar="DIR")
    survey.add_argument(
        "--queries",
        type=Path,
        metavar="FILE",
        help="PaSa's JSON lines, or another format of evaluate retrieval; default: questions made "
        "of the atlas's own citations",
    )
    survey.add_argument("--half", choices=("all", "first", "second"), default="all")
    survey.add_argument("--most", type=positive, metavar="N", help="questions")
    survey.add_argument("--papers", type=positive, default=100, metavar="N", help="of a survey")
    survey.add_argument(
        "--model", action="store_true", help="with the language model of the environment"
    )
    survey.add_argument("--json", action="store_true", help="print one JSON document")


def _evaluate(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.evaluation.surveys import evaluate_survey
    from landscape.llm.environment import connect_if_told

    found = evaluate_survey(
        open_atlas(options.atlas),
        options.queries,
        half=options.half,
        most=options.most,
        papers=options.papers,
        model=connect_if_told() if options.model else None,
    )
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _survey(options: argparse.Namespace) -> Answer:
    from landscape.agents.survey.exporting import as_text
    from landscape.agents.survey.fulltext import FolderReader
    from landscape.atlas.reading import open_atlas

    _check_files(options)
    atlas = open_atlas(options.atlas)
    model = {"model": None} if options.no_model else {}
    reader = FolderReader(options.full_text) if options.full_text else None
    found = atlas.survey(
        options.question,
        depth=options.depth,
        breadth=options.breadth,
        papers=options.papers,
        before=options.before,
        seeds=options.seed,
        calls=options.calls,
        tokens=options.tokens,
        money=options.money,
        prices=options.prices,
        protocol=options.protocol,
        read=reader,
        resume=options.resume,
        on_step=note,
        **model,
    )
    for problem in reader.problems if reader else ():
        note(f"landscape: {problem}")
    _write(atlas, found, options)
    return Answer(as_json(found.to_dict()) if options.json else as_text(found))


def _check_files(options: argparse.Namespace) -> None:
    """Refuse names of files that cannot be written before any work is done."""
    if options.export:
        from landscape.agents.survey.files import check_survey_file

        check_survey_file(options.export)
    if options.tree or options.map:
        from landscape.figures._export import check_kind

        for picture in filter(None, (options.tree, options.map)):
            check_kind(picture)


def _write(atlas: Any, found: Survey, options: argparse.Namespace) -> None:
    if options.export:
        from landscape.agents.survey.files import write_survey
        from landscape.query.files import exported

        path = write_survey(found, options.export)
        judged = f"{path} holds {count(len(found.crawled), 'paper')} judged"
        judged += f", {len(found):,} of them selected"
        note(judged if path.suffix.lower() in (".csv", ".json") else exported(found.results, path))
    if options.tree:
        from landscape.figures import save_figure, survey_tree

        save_figure(survey_tree(found), options.tree)
        note(f"who led to whom is drawn in {options.tree}")
    if options.map:
        from landscape.figures import save_figure, survey_map

        save_figure(survey_map(atlas, found), options.map)
        note(f"the papers on the map are drawn in {options.map}")
