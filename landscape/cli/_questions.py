"""Commands ``search``, ``ask``, ``survey``, ``attribute``, ``cite``, ``check`` and ``mcp``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import landscape
from landscape._io import check_output, write_output
from landscape._wording import count
from landscape.cli._arguments import (
    Answer,
    answer,
    arguments_of,
    as_json,
    connected_model,
    note,
    open_atlas,
    picked,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.agents import Desk
    from landscape.atlas import Atlas
    from landscape.types import Results, Survey


def search_with_options(atlas: Atlas, options: argparse.Namespace) -> Results:
    """Run a search; notes go to standard error."""
    results = atlas.search(
        options.query,
        weights=dict.fromkeys(options.weight or (), 1.0),
        rerank=not options.no_rerank,
        reranker=options.rerank_with,
        sort=getattr(options, "sort", "relevance"),  # maps show no order
        **picked(options, "k", "filter", "method", "hyde"),
    )
    for line in results.coverage.notes:
        note(f"landscape: {line}")
    return results


def _search(options: argparse.Namespace) -> Answer:
    from landscape.search.outliers import spread_of
    from landscape.types import check_results_file, count_written, write_results

    if options.export:
        check_results_file(options.export)
    atlas = open_atlas(options)
    results = search_with_options(atlas, options)
    if options.export:
        path = write_results(results, options.export)
        note(count_written(results, path))
    spread = spread_of(atlas, results)
    if options.json:
        return Answer(as_json(results.to_dict() | {"spread": spread.to_dict()}))
    return Answer(results.to_text(where=spread.to_text()))


def _ask(options: argparse.Namespace) -> Answer:
    found = open_atlas(options).ask(options.question, **arguments_of(options, "question"))
    return answer(found, options)


def _survey(options: argparse.Namespace) -> Answer:
    from landscape.agents.full_text import FolderReader

    _check_files(options)
    atlas = open_atlas(options)
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
    """Check the names of the output files before the survey starts."""
    if options.export:
        from landscape.types import check_results_file

        check_results_file(options.export, is_survey=True)
    if options.tree or options.map:
        from landscape.figures.export import check_kind

        for picture in filter(None, (options.tree, options.map)):
            check_kind(picture)


def _write_survey(atlas: Atlas, found: Survey, options: argparse.Namespace) -> None:
    if options.export:
        from landscape.types import count_written, write_results

        path = write_results(found, options.export)
        if path.suffix.lower() in (".csv", ".json"):
            judged = count(len(found.crawled), "judged paper")
            note(f"{path} contains {judged}; {len(found):,} of them are selected")
        else:
            note(count_written(found.results, path))
    if options.tree:
        landscape.figures.save_figure(landscape.figures.survey_tree(found), options.tree)
        note(f"{options.tree} contains the tree of the survey")
    if options.map:
        landscape.figures.save_figure(landscape.figures.survey_map(atlas, found), options.map)
        note(f"{options.map} contains the map of the papers")


def _attribute(options: argparse.Namespace) -> Answer:
    found = open_atlas(options).attribute(
        options.excerpt,
        model=None if options.no_model else "auto",
        **arguments_of(options, "excerpt", "no_model"),
    )
    return answer(found, options)


def _cite(options: argparse.Namespace) -> Answer:
    if options.export:
        check_output(options.export, [".bib"], what="Papers to cite")
    found = _desk(options, [options.atlas, *options.also]).cite(
        options.context,
        options.keywords,
        k=options.k,
        model=None if options.no_model else "auto",
        n_highlights=options.highlights,
    )
    if options.export:
        if not len(found):
            raise InputError(
                f"No paper was found; {options.export} was not written. Use other keywords."
            )
        write_output(options.export, f"{found.to_bibtex()}\n")
        note(f"{options.export} contains {count(len(found), 'paper')}")
    return answer(found, options)


def _check(options: argparse.Namespace) -> Answer:
    from landscape.agents import check_draft

    found = check_draft(
        options.bibliography,
        options.drafts,
        desk=_desk(options, options.atlas),
        model=None if options.no_model else "auto",
        find_missing=not options.citations_only,
    )
    return answer(found, options)


def _mcp(options: argparse.Namespace) -> Answer:
    from landscape.agents.mcp_server import serve

    atlas = open_atlas(options)
    model = connected_model() if options.model else None
    note(f"landscape: serving {atlas.title} ({len(atlas):,} papers) over standard input and output")
    serve(atlas, model=model)
    return Answer("")


def _desk(options: argparse.Namespace, folders: list[Path]) -> Desk:
    """Return a `Desk` with the atlases; add the directory to a title that is already in use."""
    from landscape.agents import Desk

    desk = Desk()
    for folder in folders:
        atlas = open_atlas(options, folder)
        taken = any(corpus.name == atlas.title for corpus in desk.corpora)
        desk = desk.add(atlas, f"{atlas.title} in {folder}" if taken else None)
    return desk


COMMANDS = {
    "search": _search,
    "ask": _ask,
    "survey": _survey,
    "attribute": _attribute,
    "cite": _cite,
    "check": _check,
    "mcp": _mcp,
}
