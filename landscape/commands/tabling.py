"""``landscape table``: what the map is asked, as tables; ``landscape propose``: as requests."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.commands.answering import Answer, as_json
from landscape.commands.parsing import add_period, command, positive

if TYPE_CHECKING:
    from landscape.overlays.analysis import Analysis

_Ask = Callable[[Any, argparse.Namespace], "Analysis"]


def add_table(commands: Any) -> None:
    """Add ``landscape table`` and its kinds."""
    table = commands.add_parser("table", help="ask the map, and get a table")
    kinds = table.add_subparsers(title="kinds", metavar="KIND", required=True)
    _kind(kinds, "concepts", _concepts, "papers of each concept of the thesaurus")
    uat = _kind(kinds, "uat", _uat, "where concepts live, and how separable they are")
    uat.add_argument("--concept", action="append", metavar="NAME", help="repeat it for several")
    gaps = _kind(kinds, "uat-gaps", _uat_gaps, "what the thesaurus does not cover")
    gaps.add_argument("--limit", type=positive, default=100, metavar="N", help="proposals")
    impact = _kind(kinds, "impact", _impact, "what facilities did to the literature")
    impact.add_argument("--facility", action="append", metavar="NAME", help="repeat it for several")
    add_period(impact)
    before = _kind(kinds, "before-after", _before_after, "regions before and since first light")
    before.add_argument("facility", metavar="FACILITY")
    before.add_argument("--year", type=int, help="instead of first light")
    facilities = _kind(kinds, "facilities", _facilities, "the first facility beside each other one")
    facilities.add_argument("facility", nargs="+", metavar="FACILITY")
    add_period(facilities)
    _kind(kinds, "reviews", _reviews, "review density against paper density")
    _kind(kinds, "review-gaps", _review_gaps, "where a review would help most")
    trends = _kind(kinds, "trends", _trends, "emerging and fading topics")
    add_period(trends)
    compare = _kind(kinds, "compare", _compare, "regions where two selections differ")
    compare.add_argument("a", metavar="FILTER_A")
    compare.add_argument("b", metavar="FILTER_B")
    author = _kind(kinds, "author", _author, "an author's papers, through topics in time")
    author.add_argument("name", metavar="NAME")
    _kind(kinds, "institutions", _institutions, "who works where, as far as affiliations are known")
    _kind(kinds, "countries", _countries, "which countries work where")


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
    from landscape.atlas.reading import open_atlas
    from landscape.outputs import check_output, write_output
    from landscape.overlays.thesaurus import thesaurus_gaps, to_uat_csv, to_uat_form

    if options.output:
        check_output(options.output, [".csv"], what="Proposals")
    found = thesaurus_gaps(open_atlas(options.atlas), limit=options.limit)
    if options.output:
        write_output(options.output, to_uat_csv(found))
        return Answer(f"{options.output}: {len(found.table):,} proposals")
    if not len(found.table):
        return Answer("No phrase of this corpus stands out as a concept that the thesaurus lacks.")
    return Answer(to_uat_form(found, options.name or found.table["name"].iloc[0]))


def _kind(kinds: Any, name: str, ask: _Ask, meaning: str) -> argparse.ArgumentParser:
    def run(options: argparse.Namespace) -> Answer:
        from landscape.atlas.reading import open_atlas
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


def _concepts(atlas: Any, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.thesaurus import concept_counts

    return concept_counts(atlas)


def _uat(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.thesaurus import thesaurus_overlay

    return thesaurus_overlay(atlas, concepts=options.concept)


def _uat_gaps(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.thesaurus import thesaurus_gaps

    return thesaurus_gaps(atlas, limit=options.limit)


def _impact(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.missions import impact

    return impact(atlas, options.facility, since=options.since, until=options.until)


def _before_after(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.missions import before_after

    return before_after(atlas, options.facility, year=options.year)


def _facilities(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.missions import compare_facilities

    return compare_facilities(atlas, options.facility, since=options.since, until=options.until)


def _reviews(atlas: Any, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.reviews import reviews

    return reviews(atlas)


def _review_gaps(atlas: Any, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.reviews import review_gaps

    return review_gaps(atlas)


def _trends(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import trends

    return trends(atlas, since=options.since, until=options.until)


def _compare(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import compare

    return compare(atlas, options.a, options.b)


def _author(atlas: Any, options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import author_path

    return author_path(atlas, options.name)


def _institutions(atlas: Any, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import institutions

    return institutions(atlas)


def _countries(atlas: Any, _options: argparse.Namespace) -> Analysis:
    from landscape.overlays.trends import countries

    return countries(atlas)
