"""``landscape figure``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.commands.answering import Answer
from landscape.commands.parsing import (
    add_how_to_search,
    add_period,
    as_span,
    command,
    positive,
)
from landscape.commands.searching import found

if TYPE_CHECKING:
    from landscape.atlas.reading import Atlas

_Options = argparse.Namespace


def add_figure(commands: Any) -> None:
    """Add ``landscape figure`` and its kinds."""
    figure = commands.add_parser("figure", help="draw a figure")
    kinds = figure.add_subparsers(title="kinds", metavar="KIND", required=True)

    heatmap = _kind(kinds, "heatmap", _heatmap, "the labelled density map")
    heatmap.add_argument("--no-labels", action="store_true")
    heatmap.add_argument("--max-labels", type=positive, metavar="N")

    query = _kind(kinds, "query", _query, "where the papers found lie on the map")
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
    from landscape.atlas.reading import open_atlas
    from landscape.figures._export import check_kind

    check_kind(options.output)
    atlas = open_atlas(options.atlas)
    results = found(atlas, options)
    return _draw(options, "query", results, atlas=atlas)


def _report(options: _Options) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.figures import report

    atlas = open_atlas(options.atlas)
    path = report(atlas, options.facility, options.output, since=options.since, until=options.until)
    return Answer(str(path))


def _animation(options: _Options) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.figures import animate

    return Answer(str(animate(open_atlas(options.atlas), options.facility, options.output)))


def _draw(
    options: _Options, kind: str, *arguments: Any, atlas: Atlas | None = None, **how: Any
) -> Answer:
    """Draw a figure of a kind into a file."""
    from landscape import figures
    from landscape.atlas.reading import open_atlas
    from landscape.figures._export import check_kind

    path = check_kind(options.output)
    opened = atlas or open_atlas(options.atlas)
    draw = getattr(figures, "query_map" if kind == "query" else kind)
    figure = draw(opened, *arguments, colours=options.colours, title=options.title, **how)
    return Answer(str(figures.save_figure(figure, path)))
