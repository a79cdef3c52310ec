"""``landscape figure``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.commands.answering import Answer
from landscape.commands.parsing import add_how_to_search, command, positive
from landscape.commands.searching import found

if TYPE_CHECKING:
    from landscape.atlas.reading import Atlas


def add_figure(commands: Any) -> None:
    """Add ``landscape figure`` and its kinds."""
    figure = commands.add_parser("figure", help="draw a figure")
    kinds = figure.add_subparsers(title="kinds", metavar="KIND", required=True)
    heatmap = command(kinds, "heatmap", _figure_heatmap, "the labelled density map")
    _what_to_draw(heatmap)
    heatmap.add_argument("--no-labels", action="store_true")
    heatmap.add_argument("--max-labels", type=positive, metavar="N")

    query = command(kinds, "query", _figure_query, "where the papers found lie on the map")
    _what_to_draw(query)
    query.add_argument("query", metavar="QUERY")
    query.add_argument("-k", type=positive, default=20, metavar="N", help="papers (default: 20)")
    add_how_to_search(query)


def _what_to_draw(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="png, pdf or svg"
    )
    parser.add_argument("--colours", choices=("light", "dark"), default="light")
    parser.add_argument("--title")


def draw_heatmap(atlas: Atlas, path: Path, **options: Any) -> Path:
    """Draw the labelled density map into a file."""
    from landscape.figures import heatmap, save_figure

    return save_figure(heatmap(atlas, **options), path)


def _figure_heatmap(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas

    path = draw_heatmap(
        open_atlas(options.atlas),
        options.output,
        colours=options.colours,
        labels=not options.no_labels,
        max_labels=options.max_labels,
        title=options.title,
    )
    return Answer(str(path))


def _figure_query(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.figures import query_map, save_figure
    from landscape.figures.export import check_kind

    check_kind(options.output)
    atlas = open_atlas(options.atlas)
    results = found(atlas, options)
    figure = query_map(atlas, results, colours=options.colours, title=options.title)
    return Answer(str(save_figure(figure, options.output)))
