"""Commands ``figure``, ``render``, ``table``, ``propose`` and ``evaluate``."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

import landscape
from landscape._io import check_output, write_output
from landscape._progress import progress
from landscape._serializer import SHOWN, heading, name_bounds, shown_columns, to_text
from landscape._settings import Settings, bare_type, help_of
from landscape._wording import MAX_COLUMNS, count
from landscape.agents.settings import AttributeSettings, SurveySettings
from landscape.cli._options import (
    SETTINGS,
    Answer,
    AtlasFolder,
    Json,
    TrustModel,
    UseModel,
    answer,
    as_json,
    connected_model,
    derived,
    note,
    open_atlas,
    option,
)
from landscape.cli._questions import MAP_SEARCH, MapSearch, SearchOptions, search_with_options
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Analysis

_OPTION = inspect.Parameter.KEYWORD_ONLY
_JSON = inspect.Parameter("json", _OPTION, default=False, annotation=Json)
_TABLE_KINDS = "csv, tex, md, html, vot or json"
_NEW_FILE = "png, pdf or svg; html for an interactive figure"
_TABLE_FILE = inspect.Parameter(
    "output",
    _OPTION,
    default=None,
    annotation=Annotated[Path | None, option(_TABLE_KINDS, "--output", "-o")],
)
_COLUMNS = inspect.Parameter(
    "columns",
    _OPTION,
    default=None,
    annotation=Annotated[str | None, option("columns to print, separated by commas")],
)
_ALL_COLUMNS = inspect.Parameter(
    "all_columns",
    _OPTION,
    default=False,
    annotation=Annotated[bool, option(f"print all columns, not the first {MAX_COLUMNS}")],
)
_LIMIT = inspect.Parameter(
    "limit",
    _OPTION,
    default=None,
    annotation=Annotated[int | None, option("number of rows (default: all)")],
)
Colours = Annotated[Literal["light", "dark"], option("theme of the figure")]
Title = Annotated[str | None, option("title of the figure")]
Size = Annotated[
    tuple[float, float] | None,
    option("width and height in inches, such as 3.4 3.8 for one column of a journal", "--size"),
]


def _output(help: str, default: object = inspect.Parameter.empty) -> inspect.Parameter:  # noqa: A002
    kind = Annotated[Path, option(help, "--output", "-o")]
    return inspect.Parameter("output", _OPTION, default=default, annotation=kind)


def add_figures(app: App) -> None:
    """Add the commands that draw a figure."""
    figures = landscape.figures
    look = [
        inspect.Parameter("colours", _OPTION, default="light", annotation=Colours),
        inspect.Parameter("title", _OPTION, default=None, annotation=Title),
        inspect.Parameter("size_inches", _OPTION, default=None, annotation=Size),
    ]
    hidden = {"colours", "title", "size_inches", "raster_dpi", "ax", "analysis", "found", "scored"}
    for name, draw in (
        ("heatmap", figures.heatmap),
        ("uat", figures.uat),
        ("impact", figures.impact),
        ("reviews", figures.reviews),
        ("trends", figures.trends),
        ("new", figures.new_topics),
        ("compare", figures.compare),
        ("author", figures.author),
        ("slices", figures.time_slices),
        ("changes", figures.changes),
        ("library", figures.library_map),
        ("values", figures.values),
    ):
        file = _output(_NEW_FILE, Path(f"{name}.png"))
        command = derived(draw, _draw, hidden=hidden, extra=[file, *look])
        app.command(command, name=name)
    app.command(query)
    for name, write, kind in (
        ("report", figures.report, "pdf"),
        ("animation", figures.animate, "gif"),
    ):
        file = _output(kind, Path(f"{name}.{kind}"))
        command = derived(write, _draw_facility, hidden={*hidden, "path"}, extra=[file])
        app.command(command, name=name)


def _draw(
    draw: Callable[..., Any], atlas: Path, output: Path, trust_model: bool, **options: object
) -> Answer:
    from landscape.figures.export import check_kind

    path = check_kind(output)
    with _drawing(path) as advance:
        opened = open_atlas(atlas, trust_model)
        if draw is landscape.figures.heatmap and path.suffix.lower() == ".html":
            return _write_viewer(opened, path, str(options.get("colour", "density")))
        figure = draw(opened, **options)
        advance(1)
        return Answer(str(landscape.figures.save_figure(figure, path)))


def _drawing(path: Path) -> AbstractContextManager[Callable[[float], None]]:
    """Show what is drawn. The second step, writing the file, takes about as long as the first."""
    return progress(f"Drawing {path.name}", total=2, unit="steps")


def _write_viewer(atlas: Atlas, path: Path, colour: str) -> Answer:
    """Write a page with the viewer, which shows more of a map than an interactive figure."""
    from landscape.viewer import single_page

    given = {"colour": "region" if colour == "regions" else colour}
    return Answer(str(write_output(path, single_page(atlas, given=given))))


def _draw_facility(
    draw: Callable[..., Path],
    atlas: Path,
    facility: str,
    output: Path,
    trust_model: bool,
    **options: object,
) -> Answer:
    with _drawing(output):
        return Answer(str(draw(open_atlas(atlas, trust_model), facility, output, **options)))


def query(
    atlas: AtlasFolder,
    text: str,
    /,
    *,
    output: Annotated[Path, option(_NEW_FILE, "--output", "-o")] = Path("query.png"),
    options: Annotated[MapSearch, SETTINGS] = MAP_SEARCH,
    colours: Colours = "light",
    title: Title = None,
    size_inches: Size = None,
    trust_model: TrustModel = False,
) -> Answer:
    """Draw the papers found by a query on the map."""
    from landscape.figures.export import check_kind

    path = check_kind(output)
    with _drawing(path) as advance:
        opened = open_atlas(atlas, trust_model)
        results = search_with_options(opened, text, options)
        look: dict[str, Any] = {"colours": colours, "title": title, "size_inches": size_inches}
        figure = landscape.figures.query_map(opened, results, **look)
        advance(1)
        return Answer(str(landscape.figures.save_figure(figure, path)))


def add_tables(app: App) -> None:
    """Add the commands that compute the table of an analysis."""
    from landscape.answers import describe_regions
    from landscape.overlays import changes, missions, objects, reviews, thesaurus, trends, values

    for name, analyse in (
        ("concepts", thesaurus.concept_counts),
        ("uat", thesaurus.thesaurus_overlay),
        ("uat-gaps", thesaurus.thesaurus_gaps),
        ("facility-candidates", missions.facility_candidates),
        ("impact", missions.impact),
        ("before-after", missions.before_after),
        ("facilities", missions.compare_facilities),
        ("roles", missions.uncertain_roles),
        ("software", missions.software),
        ("objects", objects.objects),
        ("values", values.values),
        ("reviews", reviews.reviews),
        ("review-gaps", reviews.review_gaps),
        ("regions", describe_regions),
        ("trends", trends.trends),
        ("new", trends.new_topics),
        ("compare", trends.compare),
        ("author", trends.author_path),
        ("institutions", trends.institutions),
        ("countries", trends.countries),
        ("changes", changes.region_changes),
    ):
        app.command(tabulated(analyse), name=name)
    app.command(bibliography)


def tabulated(analyse: Callable[..., object]) -> Callable[..., Answer]:
    """Return the command that prints or saves the table of an analysis."""
    extra = [_TABLE_FILE, _COLUMNS, _ALL_COLUMNS, _JSON]
    if "limit" not in inspect.signature(analyse).parameters:
        extra.append(_LIMIT)
    return derived(analyse, _tabulate, extra=extra)


def bibliography(
    facility: Annotated[str, Parameter(help="name of the facility")],
    atlas: Annotated[Path, Parameter(help="directory of the atlas")],
    /,
    *,
    output: Annotated[Path | None, option(_TABLE_KINDS, "--output", "-o")] = None,
    limit: Annotated[int | None, option("number of rows (default: all)")] = None,
    columns: Annotated[str | None, option("columns to print, separated by commas")] = None,
    by: Annotated[
        Literal["year", "region"] | None,
        option("print the agreement of list and text by year or region instead"),
    ] = None,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Compare the bibliography of a facility with the text of the papers."""
    from landscape.overlays.missions import bibliography as compare

    if not atlas.is_dir() and Path(facility).is_dir():  # other tables name the atlas first
        facility, atlas = str(atlas), Path(facility)
    return _tabulate(
        compare, atlas, output, columns, json=json, trust_model=trust_model, limit=limit,
        facility=facility, by=by,
    )  # fmt: skip


def describe_object(
    name: Annotated[str, Parameter(help="name of the object, such as 'K2-18 b' or M31")],
    atlas: AtlasFolder,
    /,
    *,
    output: Annotated[Path | None, option(_TABLE_KINDS, "--output", "-o")] = None,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Describe what is known about an object: papers, values, places and similar objects."""
    from landscape.overlays.objects import describe_object as describe

    return _tabulate(
        describe, atlas, output, json=json, trust_model=trust_model, in_full=True, name=name
    )


def compare_value(
    statement: Annotated[str, Parameter(help="such as 'H0 = 70 ± 1 km/s/Mpc'")],
    atlas: AtlasFolder,
    /,
    *,
    output: Annotated[Path | None, option(_TABLE_KINDS, "--output", "-o")] = None,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Compare a value with the measured values, and find out if it is an outlier."""
    from landscape.overlays.values import compare_value as compare

    return _tabulate(compare, atlas, output, json=json, trust_model=trust_model, text=statement)


def _tabulate(
    analyse: Callable[..., Analysis],
    atlas: Path,
    output: Path | None = None,
    columns: str | None = None,
    all_columns: bool = False,
    json: bool = False,
    trust_model: bool = False,
    limit: int | None = None,
    in_full: bool = False,
    **options: Any,
) -> Answer:
    """Print or save the result of a function on an atlas, with all its tables if `in_full`."""
    from landscape.figures import save_table
    from landscape.figures.export import check_table_kind
    from landscape.types import Analysis

    if output:
        check_table_kind(output)
    if limit is not None and limit < 1:
        raise InputError(f"The limit is {limit}; give at least 1.")
    if "limit" in inspect.signature(analyse).parameters:
        options["limit"], limit = limit, None
    if "model" in options:
        options["model"] = connected_model(options["model"])
    with progress(f"Computing {analyse.__name__.replace('_', ' ')}", total=None, unit="steps"):
        analysis = analyse(open_atlas(atlas, trust_model), **options)
    if limit is not None and isinstance(analysis, Analysis):
        analysis = replace(analysis, table=analysis.table.head(limit))
    if output:
        return Answer(str(save_table(analysis, output)))
    if json or not isinstance(analysis, Analysis):  # an evaluation has no columns to choose
        return answer(analysis, json)
    if in_full:
        return Answer(_all_tables(analysis))
    chosen = [name.strip() for name in (columns or "").split(",") if name.strip()]
    return Answer(_table_text(analysis, chosen, all_columns))


def _all_tables(analysis: Analysis) -> str:
    """Return the shown tables of an analysis as text, each with its title."""
    tables = {
        name: (f"{analysis.kind}.{name}", table)
        for name, table in analysis.tables.items()
        if f"{analysis.kind}.{name}" in SHOWN and len(table)
    }
    parts = [
        f"{heading('', name)}\n{to_text(table, kind)}" for name, (kind, table) in tables.items()
    ]
    return "\n\n".join([analysis.to_text(), *parts])


def _table_text(analysis: Analysis, chosen: Sequence[str], all_columns: bool) -> str:
    """Return the chosen, the first or all shown columns of a table as text."""
    names = shown_columns(name_bounds(analysis.table), analysis.kind)
    if chosen or not len(analysis.table) or (len(names) <= MAX_COLUMNS and not all_columns):
        return analysis.to_text(columns=chosen)
    if all_columns:
        return analysis.to_text(columns=names)
    others = names[MAX_COLUMNS:]
    shown = replace(analysis, table=name_bounds(analysis.table).drop(columns=others))
    words = ", ".join(heading(analysis.kind, name) for name in others)
    more = f"{count(len(others), 'more column')} with --all-columns: {words}"
    width = shutil.get_terminal_size((100, 24)).columns
    return f"{shown.to_text()}\n{textwrap.fill(more, width, break_on_hyphens=False)}"


def propose(
    atlas: AtlasFolder,
    name: Annotated[str | None, Parameter(help="name of a proposal (default: the first)")] = None,
    /,
    *,
    output: Annotated[Path | None, option("write all proposals (csv)", "--output", "-o")] = None,
    limit: Annotated[int, option("number of proposals")] = 100,
    trust_model: TrustModel = False,
) -> Answer:
    """Propose concepts for the thesaurus, in the format of its maintainers."""
    from landscape.overlays.thesaurus import thesaurus_gaps, to_uat_csv, to_uat_form

    if output:
        check_output(output, [".csv"], what="Proposals")
    gaps = thesaurus_gaps(open_atlas(atlas, trust_model), limit=limit)
    if output:
        write_output(output, to_uat_csv(gaps))
        return Answer(f"{output}: {len(gaps.table):,} proposals")
    if not len(gaps.table):
        return Answer("No phrase of this corpus is a candidate for a new concept.")
    return Answer(to_uat_form(gaps, name or gaps.table["name"].iloc[0]))


def add_render(app: App) -> None:
    """Add the command that draws the outreach map."""
    from landscape.outreach import render

    app.default(
        derived(
            render,
            _render,
            names={"model": "--everyday"},
            hidden={"out", "note"},
            extra=[_output("png, pdf or svg; html for an interactive map in a browser")],
        )
    )


def _render(
    render: Callable[..., Any],
    atlas: Path,
    output: Path,
    trust_model: bool,
    theme: str,
    model: bool = False,
    **options: Any,
) -> Answer:
    from landscape.outreach.files import check_target
    from landscape.outreach.themes import find_theme

    check_target(output)
    find_theme(theme)
    if model:
        from landscape.llm import connect

        options["model"] = connect()
    with _drawing(output):
        opened = open_atlas(atlas, trust_model)
        note(render(opened, output, theme=theme, note=note, **options).used)
    return Answer(str(output))


def add_evaluations(app: App) -> None:
    """Add the commands that measure quality."""
    from landscape import evaluation

    papers = _setting(SurveySettings, "papers")
    agent = [
        _setting(AttributeSettings, name)
        for name in ("only", "temperature", "runs", "max_actions", "demonstration", "thoughts")
    ]
    reranker = inspect.Parameter(
        "reranker",
        _OPTION,
        default=None,
        annotation=Annotated[str | None, option(help_of(SearchOptions, "rerank_with"),
                                                "--rerank-with")],
    )  # fmt: skip
    app.command(_map, name="map")
    for name, measure, names, extra in (
        ("retrieval", evaluation.evaluate_retrieval, {}, [reranker]),
        ("survey", evaluation.evaluate_survey, {}, [papers]),
        ("attribution", evaluation.evaluate_attribution, {"cases": "--excerpts"}, agent),
        ("mentions", evaluation.evaluate_facilities, {}, []),
        ("tagging", evaluation.evaluate_concepts, {}, []),
    ):
        command = derived(
            measure,
            _tabulate,
            names=names,
            options={"queries", "cases", "labels", "truth"},
            hidden={"tf_idf"} if extra == [reranker] else (),
            extra=[*extra, _ALL_COLUMNS, _JSON],
        )
        app.command(command, name=name)
    app.command(_citing, name="citing")
    app.command(_thesaurus, name="thesaurus")
    app.command(_make, name="make")
    app.command(_feedback, name="feedback")


def _setting(settings: type[Settings], name: str) -> inspect.Parameter:
    """Return the option of a setting; without it, the default of the setting holds."""
    hint: Any = bare_type(settings, name)
    kind = Annotated[hint | None, Parameter(help=help_of(settings, name))]
    return inspect.Parameter(name, _OPTION, default=None, annotation=kind)


def _make(
    kind: Annotated[
        Literal["questions", "reviews", "surveys", "excerpts"],
        Parameter(
            help="questions on single papers, sentences of reviews, paragraphs of related work, or "
            "sentences that cite one paper; all but questions need full texts"
        ),
    ],
    atlas: AtlasFolder,
    /,
    *,
    output: Annotated[Path, option("jsonl; an existing file is continued", "--output", "-o")],
    n: Annotated[int, option("number of rows", "--n")] = 100,
    seed: Annotated[int, option("seed of the random order")] = 0,
    model: UseModel = False,
    prices: Annotated[
        tuple[float, float] | None,
        option("prices of a million tokens read and written, to print the cost in money"),
    ] = None,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Make a benchmark from the papers of an atlas; the estimated cost is printed first."""
    from landscape.evaluation import make_benchmark

    opened, connected = open_atlas(atlas, trust_model), connected_model(model)
    options: Any = {"n": n, "seed": seed, "model": connected, "prices": prices}
    return answer(make_benchmark(opened, kind, output, notify=note, **options), json)


def _feedback(
    file: Annotated[Path, Parameter(help="file that the panels write")], /, *, json: Json = False
) -> Answer:
    """Count the ratings of answers, surveys and citations, by type of question and method."""
    from landscape.evaluation import read_feedback

    return answer(read_feedback(file), json)


def _map(
    atlas: AtlasFolder,
    /,
    *,
    again: Annotated[bool, option("measure again without storing the result")] = False,
    seed: Annotated[int, option("seed of the samples, with --again")] = 0,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Measure how well the map preserves neighbours."""
    from landscape.store.info import quality_lines

    opened = open_atlas(atlas, trust_model)
    if again:
        from landscape.pipeline.map_stages import measure

        quality = opened.read(
            "embeddings", lambda folder: measure(folder, opened.manifest, seed=seed)
        )
    else:
        quality = opened.quality
    return Answer(as_json(quality) if json else "\n".join(quality_lines(quality)))


def _citing(
    atlas: AtlasFolder,
    /,
    *,
    places: Annotated[
        Path | None,
        option(
            'lines {"context", "cited": [ids]}, optionally "keywords" and "sentence"; default: '
            "contexts made from the citations of the atlas"
        ),
    ] = None,
    n: Annotated[int, option("number of citation contexts", "--n")] = 200,
    seed: Annotated[int, option("seed of the random selection")] = 0,
    model: UseModel = False,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Measure how well papers to cite are found."""
    from landscape.evaluation import evaluate_citing
    from landscape.evaluation.citing import places_from_graph

    opened = open_atlas(atlas, trust_model)
    chosen = places or places_from_graph(opened, n=n, seed=seed)
    return answer(evaluate_citing(opened, chosen, model=connected_model(model)), json)


def _thesaurus(
    atlas: AtlasFolder,
    /,
    *,
    earlier: Annotated[
        Path, option("earlier release of the thesaurus, preferably its SKOS file (.rdf)")
    ],
    later: Annotated[
        Path, option("later release of the thesaurus, preferably its SKOS file (.rdf)")
    ],
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Check whether proposed concepts were added later."""
    from landscape.overlays.thesaurus import backtest_gaps, read_thesaurus

    before, after = read_thesaurus(earlier), read_thesaurus(later)
    return answer(backtest_gaps(open_atlas(atlas, trust_model), before, after), json)
