"""``landscape search``, ``ask``, ``survey``, ``attribute``, ``cite``, ``check`` and ``mcp``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._wording import count
from landscape.cli._arguments import (
    ATLAS,
    JSON,
    NO_MODEL,
    SEARCHING,
    Answer,
    answer,
    as_json,
    command,
    connected_model,
    flag,
    note,
    option,
    picked,
    positive,
)

if TYPE_CHECKING:
    from landscape.agents import Desk
    from landscape.atlas import Atlas
    from landscape.types import Results, Survey


def add_commands(commands: Any) -> None:
    """Add the commands."""
    command(
        commands, "search", _search, "find papers by meaning and by words",
        ATLAS,
        option("query", metavar="QUERY"),
        option("-k", type=positive, default=10, metavar="N", help="papers (default: 10)"),
        *SEARCHING,
        option("-o", "--export", type=Path, metavar="FILE",
               help="also write the papers: .bib, .ris, .tex (AASTeX), .txt (bibcodes), .csv or "
               ".json"),
        JSON,
    )  # fmt: skip
    command(
        commands, "ask", _ask, "answer a question with evidence",
        ATLAS,
        option("question", metavar="QUESTION"),
        option("-k", type=positive, metavar="N", help="papers to answer from"),
        option("--filter", metavar="FILTER", help="restrict the papers, as in search"),
        option("--style", choices=("single-paper", "multi-paper", "bibliometric", "nuanced")),
        option("--language", help="of the answer (default: that of the question)"),
        option("--audience", choices=("expert", "student", "public")),
        JSON,
    )  # fmt: skip
    _add_survey(commands)
    command(
        commands, "attribute", _attribute, "find the paper that an excerpt cites",
        ATLAS,
        option("excerpt", metavar="EXCERPT", help="text that contains [CITATION]"),
        option("--source", metavar="PAPER", help="paper that contains the excerpt"),
        option("--before", metavar="DATE", help="only papers up to this day or year"),
        option("--max-actions", type=positive, default=15, metavar="N",
               help="actions of the language model (default: 15)"),
        flag("--demonstration", "first show the language model an example"),
        option("--mark", type=positive, default=1, metavar="N",
               help="number of the [CITATION], if there are several (default: 1)"),
        NO_MODEL,
        JSON,
    )  # fmt: skip
    command(
        commands, "cite", _cite, "find papers to cite after a text",
        ATLAS,
        option("context", metavar="TEXT", help="text before the citation"),
        option("--keywords", metavar="FILTER", help="such as 'dust; (quasar | AGN)'"),
        option("-k", type=positive, default=10, metavar="N", help="papers (default: 10)"),
        option("--highlights", type=positive, default=3, metavar="N",
               help="sentences per paper (default: 3)"),
        option("--also", type=Path, action="append", default=[], metavar="DIR",
               help="another atlas; may be repeated"),
        option("-o", "--export", type=Path, metavar="FILE.bib", help="also write the papers"),
        NO_MODEL,
        JSON,
    )  # fmt: skip
    command(
        commands, "check", _check, "check whether cited papers support the sentences of a draft",
        option("bibliography", type=Path, metavar="REFERENCES.bib"),
        option("drafts", type=Path, nargs="+", metavar="DRAFT.tex"),
        option("--atlas", type=Path, action="append", default=[], metavar="DIR",
               help="atlas that contains the cited papers; may be repeated"),
        flag("--citations-only", "do not look for missing citations"),
        NO_MODEL,
        JSON,
    )  # fmt: skip
    command(
        commands, "mcp", _mcp, "serve an atlas to an AI assistant (MCP, standard input and output)",
        ATLAS,
        flag("--model", "answer, survey and attribute with the language model set in the "
             "environment"),
    )  # fmt: skip


def _add_survey(commands: Any) -> None:
    command(
        commands, "survey", _survey, "find all papers on a question: search, select and follow "
        "citations",
        ATLAS,
        option("question", metavar="QUESTION"),
        option("--depth", type=positive, default=3, metavar="N", help="levels (default: 3)"),
        option("--breadth", type=positive, default=6, metavar="N",
               help="searches on the first level (default: 6)"),
        option("--papers", type=positive, default=100, metavar="N",
               help="papers to judge (default: 100)"),
        option("--before", metavar="DATE", help="only papers before it: 2019, 2019-06-30"),
        option("--seed", dest="seeds", action="append", default=[], metavar="PAPER",
               help="a paper to start from (bibcode, arXiv identifier, DOI); may be repeated"),
        flag("--no-model", "judge by text similarity and citations only"),
        option("--calls", type=positive, default=300, metavar="N",
               help="maximum number of requests to the language model (default: 300)"),
        option("--tokens", type=positive, metavar="N",
               help="maximum number of tokens, read and written"),
        option("--money", type=float, metavar="X", help="maximum cost; needs --prices"),
        option("--prices", type=float, nargs=2, metavar=("READ", "WRITTEN"),
               help="prices of a million tokens read and of a million tokens written"),
        option("--protocol", choices=("auto", "json", "pasa"), default="auto",
               help="prompt format; pasa for models trained to write [Search] and [Expand]"),
        option("--full-text", type=Path, metavar="FOLDER",
               help="full texts named by identifier: 2401.00001.html, .tex, .tar.gz (arXiv's "
               "source) or .pdf"),
        option("--resume", type=Path, metavar="FILE",
               help="store the model's replies here, to continue later"),
        option("-o", "--export", type=Path, metavar="FILE",
               help="write the papers: .bib, .ris, .tex, .txt (bibcodes), .csv, .md or .json"),
        option("--tree", type=Path, metavar="FILE",
               help="draw the tree of papers and the papers they led to"),
        option("--map", type=Path, metavar="FILE", help="draw the papers on the map"),
        JSON,
    )  # fmt: skip


def search_with_options(atlas: Atlas, options: argparse.Namespace) -> Results:
    """Run a search; notes go to standard error."""
    results = atlas.search(
        options.query,
        weights=dict.fromkeys(options.weight or (), 1.0),
        rerank=not options.no_rerank,
        reranker=options.rerank_with,
        **picked(options, "k", "filter", "method", "hyde"),
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
    results = search_with_options(atlas, options)
    if options.export:
        path = write_results(results, options.export)
        note(count_written(results, path))
    spread = spread_of(atlas, results)
    if options.json:
        return Answer(as_json(results.to_dict() | {"spread": spread.to_dict()}))
    return Answer(results.to_text(where=spread.to_text()))


def _ask(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas

    settings = picked(options, "k", "filter", "style", "language", "audience")
    return answer(open_atlas(options.atlas).ask(options.question, **settings), options)


def _survey(options: argparse.Namespace) -> Answer:
    from landscape.agents._full_text import FolderReader
    from landscape.atlas import open as open_atlas

    _check_files(options)
    atlas = open_atlas(options.atlas)
    reader = FolderReader(options.full_text) if options.full_text else None
    given = picked(
        options, "depth", "breadth", "papers", "before", "seeds", "calls", "tokens", "money",
        "prices", "protocol", "resume",
    )  # fmt: skip
    if options.no_model:
        given["model"] = None
    found = atlas.survey(options.question, read=reader, on_step=note, **given)
    for problem in reader.problems if reader else ():
        note(f"landscape: {problem}")
    _write_survey(atlas, found, options)
    return answer(found, options)


def _check_files(options: argparse.Namespace) -> None:
    """Check the names of the output files before any work is done."""
    if options.export:
        from landscape._serializer import check_results_file

        check_results_file(options.export, is_survey=True)
    if options.tree or options.map:
        from landscape.figures._export import check_kind

        for picture in filter(None, (options.tree, options.map)):
            check_kind(picture)


def _write_survey(atlas: Atlas, found: Survey, options: argparse.Namespace) -> None:
    if options.export:
        from landscape._serializer import count_written, write_results

        path = write_results(found, options.export)
        if path.suffix.lower() in (".csv", ".json"):
            judged = count(len(found.crawled), "judged paper")
            note(f"{path} contains {judged}; {len(found):,} of them are selected")
        else:
            note(count_written(found.results, path))
    if options.tree:
        from landscape.figures import save_figure, survey_tree

        save_figure(survey_tree(found), options.tree)
        note(f"tree of the survey drawn in {options.tree}")
    if options.map:
        from landscape.figures import save_figure, survey_map

        save_figure(survey_map(atlas, found), options.map)
        note(f"map of the papers drawn in {options.map}")


def _attribute(options: argparse.Namespace) -> Answer:
    from landscape.atlas import open as open_atlas

    found = open_atlas(options.atlas).attribute(
        options.excerpt,
        model=None if options.no_model else "auto",
        **picked(options, "source", "before", "max_actions", "demonstration", "mark"),
    )
    return answer(found, options)


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
        note(f"{options.export} contains {count(len(found), 'paper')}")
    return answer(found, options)


def _check(options: argparse.Namespace) -> Answer:
    from landscape.agents import check_draft

    found = check_draft(
        options.bibliography,
        options.drafts,
        desk=_desk(options.atlas),
        model=None if options.no_model else "auto",
        find_missing=not options.citations_only,
    )
    return answer(found, options)


def _mcp(options: argparse.Namespace) -> Answer:
    from landscape.agents._mcp_server import serve
    from landscape.atlas import open as open_atlas

    atlas = open_atlas(options.atlas)
    model = connected_model() if options.model else None
    note(f"landscape: serving {atlas.title} ({len(atlas):,} papers) over standard input and output")
    serve(atlas, model=model)
    return Answer("")


def _desk(folders: list[Path]) -> Desk:
    """Return a desk of several atlases; equal titles are distinguished by their directory."""
    from landscape.agents import Desk
    from landscape.atlas import open as open_atlas

    desk = Desk()
    for folder in folders:
        atlas = open_atlas(folder)
        taken = any(corpus.name == atlas.title for corpus in desk.corpora)
        desk = desk.add(atlas, f"{atlas.title} in {folder}" if taken else None)
    return desk
