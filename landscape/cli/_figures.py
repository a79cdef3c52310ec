"""``landscape figure``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.cli._arguments import (
    Answer,
    add_how_to_search,
    add_period,
    as_json,
    as_span,
    command,
    note,
    positive,
)
from landscape.cli._search import found

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Analysis

_Options = argparse.Namespace


def add_figure(commands: Any) -> None:
    """Add ``landscape figure`` and its kinds."""
    figure = commands.add_parser("figure", help="draw a figure")
    kinds = figure.add_subparsers(title="kinds", metavar="KIND", required=True)

    heatmap = _kind(kinds, "heatmap", _heatmap, "the labelled density map")
    heatmap.add_argument("--no-labels", action="store_true")
    heatmap.add_argument("--max-labels", type=positive, metavar="N")

    query = _kind(kinds, "query", _query, "papers found by a question, on the map")
    query.add_argument("query", metavar="QUERY")
    query.add_argument("-k", type=positive, default=20, metavar="N", help="papers (default: 20)")
    add_how_to_search(query)

    uat = _kind(kinds, "uat", _uat, "where concepts of the thesaurus live on the map")
    uat.add_argument(
        "--concept", action="append", metavar="NAME", help="default: the top concepts; repeat it"
    )
    uat.add_argument("--multiples", action="store_true", help="a small map for each")

    impact = _kind(kinds, "impact", _impact, "a facility's share of the local literature")
    _add_facilities(impact)
    impact.add_argument("--multiples", action="store_true", help="a small map for each")
    impact.add_argument(
        "--slice", type=as_span, action="append", metavar="FIRST..LAST", help="years; repeat it"
    )

    _kind(kinds, "reviews", _reviews, "reviews against papers, and where one would help most")

    trends = _kind(kinds, "trends", _trends, "which topics emerge and which fade")
    add_period(trends)

    compare = _kind(kinds, "compare", _compare, "where two selections of papers differ")
    compare.add_argument("a", metavar="FILTER_A", help="as for search: '2015..; facility:ALMA'")
    compare.add_argument("b", metavar="FILTER_B")

    author = _kind(kinds, "author", _author, "an author's path over the map")
    author.add_argument("name", metavar="NAME", help="'Family, Given' or 'Family, G.'")

    _kind(kinds, "slices", _slices, "the map in slices of time, on fixed axes")

    report = command(kinds, "report", _report, "one page on a facility, for a proposal's appendix")
    report.add_argument("atlas", type=Path, metavar="DIR")
    report.add_argument("facility", metavar="FACILITY")
    report.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="a pdf")
    add_period(report)

    film = command(kinds, "animation", _animation, "a facility's share over the years, as a film")
    film.add_argument("atlas", type=Path, metavar="DIR")
    film.add_argument("facility", metavar="FACILITY")
    film.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="a gif")


def draw_heatmap(atlas: Atlas, path: Path, **options: Any) -> Path:
    """Draw the labelled density map into a file."""
    from landscape.figures import heatmap, save_figure

    return save_figure(heatmap(atlas, **options), path)


def _kind(
    kinds: Any, name: str, run: Callable[[_Options], Answer], meaning: str
) -> argparse.ArgumentParser:
    parser = command(kinds, name, run, meaning)
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="png, pdf or svg; html for one to explore in a browser",
    )
    parser.add_argument("--colours", choices=("light", "dark"), default="light")
    parser.add_argument("--title")
    return parser


def _add_facilities(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--facility", action="append", metavar="NAME", help="default: those named most; repeat it"
    )
    add_period(parser)


def _heatmap(options: _Options) -> Answer:
    return _draw(options, "heatmap", labels=not options.no_labels, max_labels=options.max_labels)


def _uat(options: _Options) -> Answer:
    return _draw(options, "uat", concepts=options.concept, multiples=options.multiples)


def _impact(options: _Options) -> Answer:
    return _draw(
        options,
        "impact",
        facilities=options.facility,
        since=options.since,
        until=options.until,
        multiples=options.multiples,
        slices=options.slice,
    )


def _reviews(options: _Options) -> Answer:
    return _draw(options, "reviews")


def _trends(options: _Options) -> Answer:
    return _draw(options, "trends", since=options.since, until=options.until)


def _compare(options: _Options) -> Answer:
    return _draw(options, "compare", options.a, options.b)


def _author(options: _Options) -> Answer:
    return _draw(options, "author", options.name)


def _slices(options: _Options) -> Answer:
    return _draw(options, "time_slices")


def _query(options: _Options) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.figures._export import check_kind

    check_kind(options.output)
    atlas = open_atlas(options.atlas)
    results = found(atlas, options)
    return _draw(options, "query", results, atlas=atlas)


def _report(options: _Options) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.figures import report

    atlas = open_atlas(options.atlas)
    path = report(atlas, options.facility, options.output, since=options.since, until=options.until)
    return Answer(str(path))


def _animation(options: _Options) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.figures import animate

    return Answer(str(animate(open_atlas(options.atlas), options.facility, options.output)))


def _draw(
    options: _Options, kind: str, *arguments: Any, atlas: Atlas | None = None, **how: Any
) -> Answer:
    """Draw a figure of a kind as the options say: a page, or its twin for the browser."""
    from landscape import figures
    from landscape.atlas import open as open_atlas
    from landscape.figures._export import check_kind

    path = check_kind(options.output)
    opened = atlas or open_atlas(options.atlas)
    draw = getattr(figures, "query_map" if kind == "query" else kind)
    figure = draw(opened, *arguments, colours=options.colours, title=options.title, **how)
    return Answer(str(figures.save_figure(figure, path)))


_Ask = Callable[[Any, argparse.Namespace], "Analysis"]


def add_table(commands: Any) -> None:
    """Add ``landscape table`` and its kinds."""
    table = commands.add_parser("table", help="ask the map, and get a table")
    kinds = table.add_subparsers(title="kinds", metavar="KIND", required=True)
    _kind_table(kinds, "concepts", _concepts, "papers of each concept of the thesaurus")
    uat = _kind_table(kinds, "uat", _uat_table, "where concepts live, and how separable they are")
    uat.add_argument("--concept", action="append", metavar="NAME", help="repeat it for several")
    gaps = _kind_table(kinds, "uat-gaps", _uat_gaps, "concepts missing from the thesaurus")
    gaps.add_argument("--limit", type=positive, default=100, metavar="N", help="proposals")
    impact = _kind_table(kinds, "impact", _impact_table, "what facilities did to the literature")
    impact.add_argument("--facility", action="append", metavar="NAME", help="repeat it for several")
    add_period(impact)
    before = _kind_table(
        kinds, "before-after", _before_after, "regions before and since first light"
    )
    before.add_argument("facility", metavar="FACILITY")
    before.add_argument("--year", type=int, help="instead of first light")
    facilities = _kind_table(
        kinds, "facilities", _facilities, "the first facility compared with each other one"
    )
    facilities.add_argument("facility", nargs="+", metavar="FACILITY")
    add_period(facilities)
    _kind_table(kinds, "reviews", _reviews_table, "review density against paper density")
    _kind_table(kinds, "review-gaps", _review_gaps, "where a review would help most")
    trends = _kind_table(kinds, "trends", _trends_table, "emerging and fading topics")
    add_period(trends)
    compare = _kind_table(kinds, "compare", _compare_table, "regions where two selections differ")
    compare.add_argument("a", metavar="FILTER_A")
    compare.add_argument("b", metavar="FILTER_B")
    author = _kind_table(
        kinds, "author", _author_table, "an author's papers, through topics in time"
    )
    author.add_argument("name", metavar="NAME")
    _kind_table(
        kinds, "institutions", _institutions, "who works where, as far as affiliations are known"
    )
    _kind_table(kinds, "countries", _countries, "which countries work where")


def add_propose(commands: Any) -> None:
    """Add ``landscape propose``."""
    propose = command(
        commands, "propose", _propose, "concepts for the thesaurus, as its maintainers ask for them"
    )
    propose.add_argument("atlas", type=Path, metavar="DIR")
    propose.add_argument("name", nargs="?", metavar="NAME", help="one of them (default: the first)")
    propose.add_argument("-o", "--output", type=Path, metavar="FILE", help="all of them: a csv")
    propose.add_argument("--limit", type=positive, default=100, metavar="N", help="default: 100")


def _propose(options: argparse.Namespace) -> Answer:
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


def _kind_table(kinds: Any, name: str, ask: _Ask, meaning: str) -> argparse.ArgumentParser:
    def run(options: argparse.Namespace) -> Answer:
        from landscape.atlas import open as open_atlas
        from landscape.figures._export import check_table_kind, save_table

        if options.output:
            check_table_kind(options.output)
        found = ask(open_atlas(options.atlas), options)
        if options.output:
            return Answer(str(save_table(found, options.output)))
        return Answer(as_json(found.to_dict()) if options.json else found.to_text())

    parser = command(kinds, name, run, meaning)
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="csv, tex or json")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _concepts(atlas: Atlas, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.thesaurus import concept_counts

    return concept_counts(atlas)


def _uat_table(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.thesaurus import thesaurus_overlay

    return thesaurus_overlay(atlas, concepts=options.concept)


def _uat_gaps(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.thesaurus import thesaurus_gaps

    return thesaurus_gaps(atlas, limit=options.limit)


def _impact_table(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.missions import impact

    return impact(atlas, options.facility, since=options.since, until=options.until)


def _before_after(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.missions import before_after

    return before_after(atlas, options.facility, year=options.year)


def _facilities(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.missions import compare_facilities

    return compare_facilities(atlas, options.facility, since=options.since, until=options.until)


def _reviews_table(atlas: Atlas, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.reviews import reviews

    return reviews(atlas)


def _review_gaps(atlas: Atlas, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.reviews import review_gaps

    return review_gaps(atlas)


def _trends_table(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import trends

    return trends(atlas, since=options.since, until=options.until)


def _compare_table(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import compare

    return compare(atlas, options.a, options.b)


def _author_table(atlas: Atlas, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import author_path

    return author_path(atlas, options.name)


def _institutions(atlas: Atlas, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import institutions

    return institutions(atlas)


def _countries(atlas: Atlas, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import countries

    return countries(atlas)


def add_render(commands: Any) -> None:
    """Add ``landscape render``."""
    parser = command(commands, "render", _render, "the outreach map: the literature as terrain")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="png, pdf or svg; html for one to zoom in a browser",
    )
    parser.add_argument(
        "--theme", default="atlas", metavar="NAME", help="atlas, parchment, night, mono or clear"
    )
    parser.add_argument(
        "--size",
        default="web",
        metavar="SIZE",
        help="web, slide, poster, a4 to a0, or your own such as 600x400mm, 24x36in, 1200x628px",
    )
    parser.add_argument("--dpi", type=positive, metavar="N", help="pixels per inch")
    parser.add_argument("--title", help="default: the name of the atlas")
    parser.add_argument("--credits", default="", metavar="TEXT", help="a line of thanks")
    parser.add_argument(
        "--names",
        type=Path,
        metavar="FILE",
        help="everyday names: CSV with the columns region,name; an edited gazetteer will do",
    )
    parser.add_argument(
        "--everyday",
        action="store_true",
        help="let the language model of OPENAI_API_KEY, or of OPENAI_BASE_URL and "
        "LANDSCAPE_LLM_MODEL, names for regions that the table lacks",
    )
    parser.add_argument(
        "--language",
        default="en",
        metavar="CODE",
        help="of names and legend: en, de, ar, hi, zh...",
    )
    parser.add_argument("--max-names", type=positive, metavar="N", help="regions to name at most")
    parser.add_argument(
        "--weights", metavar="MODEL", help="Stable Diffusion weights: a Hub id or a local folder"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N")


def _render(options: _Options) -> Answer:
    from landscape.atlas import open as open_atlas
    from landscape.outreach import render
    from landscape.outreach._files import check_target
    from landscape.outreach._themes import find_theme

    check_target(options.output)
    find_theme(options.theme)
    model = None
    if options.everyday:
        from landscape.llm._client import connect

        model = connect()
    rendering = render(
        open_atlas(options.atlas),
        options.output,
        theme=options.theme,
        size=options.size,
        dpi=options.dpi,
        title=options.title,
        credits=options.credits,
        names=options.names,
        model=model,
        language=options.language,
        max_names=options.max_names,
        weights=options.weights,
        seed=options.seed,
        note=note,
    )
    note(rendering.used)
    return Answer(str(options.output))
