"""Commands ``figure``, ``render``, ``table``, ``propose`` and ``evaluate``."""

from __future__ import annotations

import argparse

import landscape
from landscape._io import check_output, write_output
from landscape.cli._arguments import (
    Answer,
    answer,
    arguments_of,
    as_json,
    connected_model,
    function_of,
    note,
    open_atlas,
    picked,
    run_analysis,
)
from landscape.cli._questions import search_with_options


def _figure(options: argparse.Namespace) -> Answer:
    from landscape.figures.export import check_kind

    path = check_kind(options.output)
    atlas = open_atlas(options)
    given = arguments_of(options)
    if options.function == "figures.query_map":
        given = picked(options, "colours", "title")
        given["results"] = search_with_options(atlas, options)
    return Answer(str(landscape.figures.save_figure(function_of(options)(atlas, **given), path)))


def _figure_of_facility(options: argparse.Namespace) -> Answer:
    draw, years = function_of(options), arguments_of(options, "facility")
    atlas = open_atlas(options)
    return Answer(str(draw(atlas, options.facility, options.output, **years)))


def _propose(options: argparse.Namespace) -> Answer:
    from landscape.overlays.thesaurus import thesaurus_gaps, to_uat_csv, to_uat_form

    if options.output:
        check_output(options.output, [".csv"], what="Proposals")
    found = thesaurus_gaps(open_atlas(options), limit=options.limit)
    if options.output:
        write_output(options.output, to_uat_csv(found))
        return Answer(f"{options.output}: {len(found.table):,} proposals")
    if not len(found.table):
        return Answer("No phrase of this corpus is a candidate for a new concept.")
    return Answer(to_uat_form(found, options.name or found.table["name"].iloc[0]))


def _render(options: argparse.Namespace) -> Answer:
    from landscape.outreach import render
    from landscape.outreach.files import check_target
    from landscape.outreach.themes import find_theme

    check_target(options.output)
    find_theme(options.theme)
    model = None
    if options.everyday:
        from landscape.llm import connect

        model = connect()
    given = arguments_of(options, "everyday")
    rendering = render(open_atlas(options), options.output, model=model, note=note, **given)
    note(rendering.used)
    return Answer(str(options.output))


def _map(options: argparse.Namespace) -> Answer:
    from landscape.store.info import quality_lines

    atlas = open_atlas(options)
    if options.again:
        from landscape.pipeline.map_stages import measure

        quality = measure(atlas.path, atlas.manifest, seed=options.seed)
    else:
        quality = atlas.quality
    return Answer(as_json(quality) if options.json else "\n".join(quality_lines(quality)))


def _citing(options: argparse.Namespace) -> Answer:
    from landscape.evaluation import evaluate_citing
    from landscape.evaluation.citing import places_from_graph

    atlas = open_atlas(options)
    places = options.places or places_from_graph(atlas, n=options.n, seed=options.seed)
    model = connected_model() if options.model else None
    return answer(evaluate_citing(atlas, places, model=model), options)


def _thesaurus(options: argparse.Namespace) -> Answer:
    from landscape.overlays.thesaurus import backtest_gaps, read_thesaurus

    earlier, later = read_thesaurus(options.earlier), read_thesaurus(options.later)
    return answer(backtest_gaps(open_atlas(options), earlier, later), options)


COMMANDS = {
    "figure": _figure,
    "figure report": _figure_of_facility,
    "figure animation": _figure_of_facility,
    "render": _render,
    "table": run_analysis,
    "propose": _propose,
    "evaluate": run_analysis,
    "evaluate map": _map,
    "evaluate citing": _citing,
    "evaluate thesaurus": _thesaurus,
}
