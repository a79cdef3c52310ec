"""``landscape survey``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._wording import count
from landscape.cli._arguments import Answer, as_json, command, note, positive

if TYPE_CHECKING:
    from landscape.agents import Desk
    from landscape.atlas import Atlas
    from landscape.llm._client import WritingModel
    from landscape.types import Survey


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
        help="prompt format; pasa for models trained to write [Search] and [Expand]",
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
    survey = command(kinds, "survey", _evaluate, "recall of surveys, compared with one search")
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
    from landscape.atlas import open as open_atlas
    from landscape.evaluation import evaluate_survey
    from landscape.llm._client import connect_from_environment

    found = evaluate_survey(
        open_atlas(options.atlas),
        options.queries,
        half=options.half,
        most=options.most,
        papers=options.papers,
        model=connect_from_environment() if options.model else None,
    )
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _survey(options: argparse.Namespace) -> Answer:

    from landscape.agents._full_text import FolderReader
    from landscape.atlas import open as open_atlas

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
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _check_files(options: argparse.Namespace) -> None:
    """Refuse names of files that cannot be written before any work is done."""
    if options.export:
        from landscape._serializer import check_results_file

        check_results_file(options.export, is_survey=True)
    if options.tree or options.map:
        from landscape.figures._export import check_kind

        for picture in filter(None, (options.tree, options.map)):
            check_kind(picture)


def _write(atlas: Atlas, found: Survey, options: argparse.Namespace) -> None:
    if options.export:
        from landscape._serializer import count_written, write_results

        path = write_results(found, options.export)
        judged = f"{path} holds {count(len(found.crawled), 'paper')} judged"
        judged += f", {len(found):,} of them selected"
        note(
            judged
            if path.suffix.lower() in (".csv", ".json")
            else count_written(found.results, path)
        )
    if options.tree:
        from landscape.figures import save_figure, survey_tree

        save_figure(survey_tree(found), options.tree)
        note(f"who led to whom is drawn in {options.tree}")
    if options.map:
        from landscape.figures import save_figure, survey_map

        save_figure(survey_map(atlas, found), options.map)
        note(f"the papers on the map are drawn in {options.map}")


_MODEL = "work without the language model that the environment names"


def add_attribute(commands: Any) -> None:
    """Add ``landscape attribute``."""
    parser = command(commands, "attribute", _attribute, "find the paper that an excerpt cites")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument("excerpt", metavar="EXCERPT", help="text with [CITATION] in it")
    parser.add_argument("--source", metavar="PAPER", help="the paper that the excerpt is from")
    parser.add_argument("--before", metavar="DATE", help="last day or year that counts")
    parser.add_argument(
        "--max-actions", type=positive, default=15, metavar="N", help="of the model (default: 15)"
    )
    parser.add_argument(
        "--demonstration", action="store_true", help="show the model an example first"
    )
    parser.add_argument("--mark", type=positive, default=1, metavar="N", help="which of several")
    parser.add_argument("--no-model", action="store_true", help=_MODEL)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_cite(commands: Any) -> None:
    """Add ``landscape cite``."""
    parser = command(commands, "cite", _cite, "find papers to cite behind a text")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument("context", metavar="TEXT", help="the text before the citation")
    parser.add_argument("--keywords", metavar="FILTER", help="such as 'dust; (quasar | AGN)'")
    parser.add_argument("-k", type=positive, default=10, metavar="N", help="papers (default: 10)")
    parser.add_argument(
        "--highlights", type=positive, default=3, metavar="N", help="sentences (default: 3)"
    )
    parser.add_argument(
        "--also", type=Path, action="append", default=[], metavar="DIR", help="another atlas"
    )
    parser.add_argument("-o", "--export", type=Path, metavar="FILE.bib", help="write the papers")
    parser.add_argument("--no-model", action="store_true", help=_MODEL)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_check(commands: Any) -> None:
    """Add ``landscape check``."""
    parser = command(
        commands, "check", _check, "check whether cited papers support the sentences of a draft"
    )
    parser.add_argument("bibliography", type=Path, metavar="REFERENCES.bib")
    parser.add_argument("drafts", type=Path, nargs="+", metavar="DRAFT.tex")
    parser.add_argument(
        "--atlas", type=Path, action="append", default=[], metavar="DIR",
        help="where the cited papers are looked for; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--citations-only", action="store_true", help="do not look for missing citations"
    )
    parser.add_argument("--no-model", action="store_true", help=_MODEL)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_mcp(commands: Any) -> None:
    """Add ``landscape mcp``."""
    parser = command(
        commands, "mcp", _mcp, "serve an atlas to an assistant (MCP, standard input and output)"
    )
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "--model", action="store_true",
        help="let the language model that the environment names answer, survey and attribute",
    )  # fmt: skip


def add_evaluate_citing(kinds: Any) -> None:
    """Add ``landscape evaluate attribution`` and ``citing``."""
    parser = command(
        kinds, "attribution", _evaluate_attribution, "how often the cited paper is found"
    )
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "--excerpts", type=Path, required=True, metavar="FILE",
        help='CiteME\'s CSV, or lines {"qid", "excerpt", "answer"}',
    )  # fmt: skip
    _measured(parser)
    parser = command(kinds, "citing", _evaluate_citing, "how well papers to cite are found")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "--places", type=Path, metavar="FILE",
        help='lines {"context", "cited": [ids]}, optionally "keywords" and "sentence"; '
        "default: made from the citations of the atlas",
    )  # fmt: skip
    parser.add_argument("--n", type=positive, default=200, help="places made (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the places made")
    _measured(parser)


def _measured(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", action="store_true", help="with the environment's model")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _attribute(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas

    found = open_atlas(options.atlas).attribute(
        options.excerpt,
        source=options.source,
        before=options.before,
        max_actions=options.max_actions,
        model=None if options.no_model else "auto",
        demonstration=options.demonstration,
        mark=options.mark,
    )
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _cite(options: argparse.Namespace) -> Answer:
    from landscape._io import check_output, write_output
    from landscape.errors import InputError

    if options.export:
        check_output(options.export, [".bib"], what="Papers to cite")
    found = _desk([options.atlas, *options.also]).cite(
        options.context,
        options.keywords,
        k=options.k,
        model=None if options.no_model else "auto",
        n_highlights=options.highlights,
    )
    if options.export:
        if not len(found):
            raise InputError(f"No paper was found; {options.export} was not written.")
        write_output(options.export, f"{found.to_bibtex()}\n")
        note(f"{options.export} holds {count(len(found), 'paper')}")
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _check(options: argparse.Namespace) -> Answer:
    from landscape.agents import check_draft

    found = check_draft(
        options.bibliography,
        options.drafts,
        desk=_desk(options.atlas),
        model=None if options.no_model else "auto",
        find_missing=not options.citations_only,
    )
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _mcp(options: argparse.Namespace) -> Answer:
    from landscape.agents._mcp_server import serve
    from landscape.atlas import open as open_atlas

    atlas = open_atlas(options.atlas)
    model = _model() if options.model else None
    note(f"landscape: serving {atlas.title} ({len(atlas):,} papers) over standard input and output")
    serve(atlas, model=model)
    return Answer("")


def _evaluate_attribution(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.evaluation import evaluate_attribution

    model = _model() if options.model else None
    found = evaluate_attribution(open_atlas(options.atlas), options.excerpts, model=model)
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _evaluate_citing(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.evaluation._citing import evaluate_citing, places_from_graph

    atlas = open_atlas(options.atlas)
    places = options.places or places_from_graph(atlas, n=options.n, seed=options.seed)
    found = evaluate_citing(atlas, places, model=_model() if options.model else None)
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _desk(folders: list[Path]) -> Desk:
    """Return a desk of several atlases; equal titles are distinguished by directory."""
    from landscape.agents import Desk
    from landscape.atlas import open as open_atlas

    desk = Desk()
    for folder in folders:
        atlas = open_atlas(folder)
        taken = any(corpus.name == atlas.title for corpus in desk.corpora)
        desk = desk.add(atlas, f"{atlas.title} in {folder}" if taken else None)
    return desk


def _model() -> WritingModel:
    from landscape.errors import InputError
    from landscape.llm._client import connect_from_environment

    model = connect_from_environment()
    if model is None:
        message = (
            "No language model is named: set OPENAI_API_KEY, or OPENAI_BASE_URL and "
            "LANDSCAPE_LLM_MODEL, or leave --model out."
        )
        raise InputError(message)
    return model
