"""``landscape figure``, ``render``, ``table`` and ``propose``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.cli._arguments import (
    ATLAS,
    PERIOD,
    SEARCHING,
    Answer,
    Option,
    add_analysis,
    as_span,
    command,
    flag,
    note,
    option,
    picked,
    positive,
)
from landscape.cli._questions import search_with_options

if TYPE_CHECKING:
    from landscape.atlas import Atlas

_Options = argparse.Namespace
_FACILITY = option("facility", metavar="FACILITY")
_FACILITIES = option(
    "--facility", dest="facilities", action="append", metavar="NAME",
    help="default: those mentioned most; may be repeated",
)  # fmt: skip
_CONCEPTS = option(
    "--concept", dest="concepts", action="append", metavar="NAME",
    help="default: the top concepts; may be repeated",
)  # fmt: skip
_MULTIPLES = flag("--multiples", "draw one small map for each")
_SELECTIONS = (
    option("a", metavar="FILTER_A", help="as in search: '2015..; facility:ALMA'"),
    option("b", metavar="FILTER_B"),
)
_AUTHOR = option("name", metavar="NAME", help="'Family, Given' or 'Family, G.'")
_LIMIT = option("--limit", type=positive, default=100, metavar="N", help="proposals (default: 100)")


def add_commands(commands: Any) -> None:
    """Add the commands."""
    figure = commands.add_parser("figure", help="draw a figure")
    _add_figures(figure.add_subparsers(title="kinds", metavar="KIND", required=True))
    _add_render(commands)
    table = commands.add_parser("table", help="compute the table of an analysis")
    _add_tables(table.add_subparsers(title="kinds", metavar="KIND", required=True))
    command(
        commands, "propose", _propose, "propose concepts for the thesaurus, in the form that its "
        "maintainers use",
        ATLAS,
        option("name", nargs="?", metavar="NAME", help="one proposal (default: the first)"),
        option("-o", "--output", type=Path, metavar="FILE", help="write all proposals (csv)"),
        _LIMIT,
    )  # fmt: skip


def _add_figures(kinds: Any) -> None:
    _add_figure(
        kinds, "heatmap", "heatmap", "draw the labelled density map",
        flag("--no-labels", "draw no labels", dest="labels", action="store_false"),
        option("--max-labels", type=positive, metavar="N", help="maximum number of labels"),
    )  # fmt: skip
    _add_figure(
        kinds, "query", "query_map", "draw the papers found by a query on the map",
        option("query", metavar="QUERY"),
        option("-k", type=positive, default=20, metavar="N", help="papers (default: 20)"),
        *SEARCHING,
    )  # fmt: skip
    _add_figure(
        kinds, "uat", "uat", "draw concepts of the thesaurus on the map", _CONCEPTS, _MULTIPLES
    )
    _add_figure(
        kinds, "impact", "impact", "draw the share of papers that use a facility on the map",
        _FACILITIES, *PERIOD, _MULTIPLES,
        option("--slice", dest="slices", type=as_span, action="append", metavar="FIRST..LAST",
               help="years; may be repeated"),
    )  # fmt: skip
    _add_figure(kinds, "reviews", "reviews", "draw the density of reviews and regions without one")
    _add_figure(kinds, "trends", "trends", "draw emerging and fading topics", *PERIOD)
    _add_figure(
        kinds, "compare", "compare", "draw the difference between two selections of papers",
        *_SELECTIONS,
    )  # fmt: skip
    _add_figure(kinds, "author", "author", "draw the path of an author over the map", _AUTHOR)
    _add_figure(kinds, "slices", "time_slices", "draw the map in periods of time, on equal axes")
    command(
        kinds, "report", _report, "draw one page on a facility, for the appendix of a proposal",
        ATLAS, _FACILITY, _output("pdf"), *PERIOD,
    )  # fmt: skip
    command(
        kinds, "animation", _animation, "draw the share of a facility over the years as a film",
        ATLAS, _FACILITY, _output("gif"),
    )  # fmt: skip


def _add_figure(kinds: Any, name: str, function: str, meaning: str, *options: Option) -> None:
    """Add a figure: `options` become keyword arguments of a function of ``landscape.figures``."""

    def run(parsed: _Options) -> Answer:
        from landscape import figures
        from landscape.atlas import open as open_atlas
        from landscape.figures._export import check_kind

        path = check_kind(parsed.output)
        atlas = open_atlas(parsed.atlas)
        if function == "query_map":
            given = {"results": search_with_options(atlas, parsed)}
        else:
            given = picked(parsed, *names)
        figure = getattr(figures, function)(
            atlas, colours=parsed.colours, title=parsed.title, **given
        )
        return Answer(str(figures.save_figure(figure, path)))

    shared = (
        ATLAS,
        _output("png, pdf or svg; html for an interactive figure"),
        option("--colours", choices=("light", "dark"), default="light", help="default: light"),
        option("--title", help="title of the figure"),
    )
    names = command(kinds, name, run, meaning, *shared, *options)[len(shared) :]


def _output(meaning: str) -> Option:
    return option("-o", "--output", type=Path, required=True, metavar="FILE", help=meaning)


def _add_tables(kinds: Any) -> None:
    """Add ``landscape table`` and its kinds."""
    for name, function, meaning, options in (
        ("concepts", "thesaurus.concept_counts", "papers per concept of the thesaurus", ()),
        ("uat", "thesaurus.thesaurus_overlay", "position and separation of concepts on the map",
         (_CONCEPTS,)),
        ("uat-gaps", "thesaurus.thesaurus_gaps", "concepts missing from the thesaurus", (_LIMIT,)),
        ("impact", "missions.impact", "impact of facilities on the literature",
         (_FACILITIES, *PERIOD)),
        ("before-after", "missions.before_after", "regions before and since first light",
         (_FACILITY, option("--year", type=int, help="instead of the year of first light"))),
        ("facilities", "missions.compare_facilities",
         "comparison of the first facility with each other one",
         (option("facilities", nargs="+", metavar="FACILITY"), *PERIOD)),
        ("reviews", "reviews.reviews", "density of reviews and of all papers per region", ()),
        ("review-gaps", "reviews.review_gaps", "regions where a review would help most", ()),
        ("trends", "trends.trends", "emerging and fading topics", PERIOD),
        ("compare", "trends.compare", "regions where two selections of papers differ", _SELECTIONS),
        ("author", "trends.author_path", "topics of an author's papers over time", (_AUTHOR,)),
        ("institutions", "trends.institutions", "topics of institutions, from affiliations", ()),
        ("countries", "trends.countries", "topics of countries, from affiliations", ()),
    ):  # fmt: skip
        add_analysis(kinds, name, f"overlays.{function}", meaning, *options, saves=True)


def _add_render(commands: Any) -> None:
    command(
        commands, "render", _render, "draw the outreach map: the literature as terrain",
        ATLAS,
        _output("png, pdf or svg; html for a map to zoom in a browser"),
        option("--theme", default="atlas", metavar="NAME",
               help="atlas, parchment, night, mono or clear"),
        option("--size", default="web", metavar="SIZE",
               help="web, slide, poster, a4 to a0, or a size such as 600x400mm, 24x36in, "
               "1200x628px"),
        option("--dpi", type=positive, metavar="N", help="pixels per inch"),
        option("--title", help="default: the name of the atlas"),
        option("--credits", default="", metavar="TEXT", help="a line of credits"),
        option("--names", type=Path, metavar="FILE",
               help="everyday names: CSV with the columns region,name, or an edited gazetteer"),
        flag("--everyday", "let a language model write everyday names for the other regions (set "
             "OPENAI_API_KEY, or OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL)"),
        option("--language", default="en", metavar="CODE",
               help="of names and legend: en, de, ar, hi, zh..."),
        option("--max-names", type=positive, metavar="N", help="maximum number of region names"),
        option("--weights", metavar="MODEL",
               help="Stable Diffusion weights: a Hub id or a local folder"),
        option("--seed", type=int, default=0, metavar="N", help="default: 0"),
    )  # fmt: skip


def draw_heatmap(atlas: Atlas, path: Path) -> Path:
    """Draw the labelled density map into a file."""
    from landscape.figures import heatmap, save_figure

    return save_figure(heatmap(atlas), path)


def _report(options: _Options) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.figures import report

    years = picked(options, "since", "until")
    return Answer(str(report(open_atlas(options.atlas), options.facility, options.output, **years)))


def _animation(options: _Options) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.figures import animate

    return Answer(str(animate(open_atlas(options.atlas), options.facility, options.output)))


def _propose(options: _Options) -> Answer:
    from landscape._io import check_output, write_output
    from landscape.atlas import open as open_atlas
    from landscape.overlays.thesaurus import thesaurus_gaps, to_uat_csv, to_uat_form

    if options.output:
        check_output(options.output, [".csv"], what="Proposals")
    found = thesaurus_gaps(open_atlas(options.atlas), limit=options.limit)
    if options.output:
        write_output(options.output, to_uat_csv(found))
        return Answer(f"{options.output}: {len(found.table):,} proposals")
    if not len(found.table):
        return Answer("No phrase of this corpus is a candidate for a new concept.")
    return Answer(to_uat_form(found, options.name or found.table["name"].iloc[0]))


def _render(options: _Options) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.outreach import render
    from landscape.outreach._files import check_target
    from landscape.outreach._themes import find_theme

    check_target(options.output)
    find_theme(options.theme)
    model = None
    if options.everyday:
        from landscape.llm import connect

        model = connect()
    given = picked(
        options, "theme", "size", "dpi", "title", "credits", "names", "language", "max_names",
        "weights", "seed",
    )  # fmt: skip
    rendering = render(open_atlas(options.atlas), options.output, model=model, note=note, **given)
    note(rendering.used)
    return Answer(str(options.output))
