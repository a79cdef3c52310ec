"""Commands ``search``, ``ask``, ``survey``, ``attribute``, ``cite``, ``check`` and ``mcp``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from pydantic import Field

import landscape
from landscape._io import check_output, write_output
from landscape._settings import Whole, help_of
from landscape._wording import count
from landscape.agents.settings import AttributeSettings, SurveySettings
from landscape.answers.settings import AskSettings
from landscape.cli._options import (
    SETTINGS,
    Answer,
    AtlasFolder,
    Json,
    NoModel,
    TrustModel,
    UseModel,
    answer,
    as_json,
    connected_model,
    note,
    open_atlas,
    option,
)
from landscape.errors import InputError
from landscape.search.settings import Keyword, SearchSettings, Weights

if TYPE_CHECKING:
    from landscape.agents import AtlasCollection
    from landscape.atlas import Atlas
    from landscape.types import Results, Survey

Strength = Literal["keyword", "time", "citation"]
Export = Annotated[
    Path | None,
    option(
        "also write the papers: .bib, .ris, .tex (AASTeX), .txt (bibcodes), .csv or .json",
        "--export",
        "-o",
    ),
]


class SearchOptions(SearchSettings):
    """Settings of a search on the command line, where a weight is on or off."""

    weights: Annotated[Weights, Parameter(parse=False)] = Weights()
    weight: Annotated[tuple[Strength, ...], Parameter(negative=())] = Field(
        (),
        description="boost papers with names from the query (keyword), recent papers (time) or "
        "highly cited papers (citation); may be repeated",
    )
    rerank_with: str | None = Field(
        None,
        description="rerank with cohere:MODEL (needs COHERE_API_KEY, or LANDSCAPE_RERANK_URL with "
        "the address of your own server) or cross-encoder:NAME_OR_PATH",
    )
    hyde: Annotated[bool, Parameter(negative=())] = Field(
        False,
        description="also search with a hypothetical abstract that a language model writes (set "
        "OPENAI_API_KEY, or OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL)",
    )


class MapSearch(SearchOptions):
    """Settings of the search for a map, which shows more papers than a list."""

    k: Whole = Field(20, ge=1, le=10_000, description=help_of(SearchSettings, "k"))


class AskOptions(AskSettings):
    """Settings of an answer on the command line, where each paper has an option of its own."""

    papers: Annotated[tuple[Keyword, ...], Parameter(name="--paper", negative=())] = Field(
        (), description=help_of(AskSettings, "papers")
    )


SEARCH, MAP_SEARCH = SearchOptions(), MapSearch()
ASK, SURVEY, ATTRIBUTE = AskOptions(), SurveySettings(), AttributeSettings()


def search_with_options(atlas: Atlas, query: str, options: SearchOptions) -> Results:
    """Run a search; notes go to standard error."""
    if options.rerank_with and not options.rerank:
        raise InputError("--no-rerank and --rerank-with exclude each other; choose one.")
    given = {name: getattr(options, name) for name in SearchSettings.model_fields}
    results = atlas.search(
        query,
        reranker=options.rerank_with,
        hyde=options.hyde,
        **{**given, "weights": dict.fromkeys(options.weight, 1.0)},
    )
    for line in results.coverage.notes:
        note(f"landscape: {line}")
    return results


def search(
    atlas: AtlasFolder,
    query: str,
    /,
    *,
    options: Annotated[SearchOptions, SETTINGS] = SEARCH,
    export: Export = None,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Find papers by meaning and by words."""
    from landscape.search import spread_of
    from landscape.types import check_results_file, count_written, write_results

    if export:
        check_results_file(export)
    opened = open_atlas(atlas, trust_model)
    results = search_with_options(opened, query, options)
    if export:
        path = write_results(results, export)
        note(count_written(results, path))
    spread = spread_of(opened, results)
    if json:
        return Answer(as_json(results.to_dict() | {"spread": spread.to_dict()}))
    return Answer(results.to_text(where=spread.to_text()))


def ask(
    atlas: AtlasFolder,
    question: str,
    /,
    *,
    options: Annotated[AskOptions, SETTINGS] = ASK,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Answer a question with evidence."""
    return answer(open_atlas(atlas, trust_model).ask(question, **vars(options)), json)


def survey(
    atlas: AtlasFolder,
    question: str,
    /,
    *,
    options: Annotated[SurveySettings, SETTINGS] = SURVEY,
    no_model: NoModel = False,
    full_text: Annotated[
        Path | None,
        option(
            "folder of full texts named by identifier, such as 2401.00001.html; the default is the "
            "full texts of the atlas"
        ),
    ] = None,
    resume: Annotated[
        Path | None, option("store the model's replies here, to continue later")
    ] = None,
    export: Annotated[
        Path | None,
        option(
            "write the papers: .bib, .ris, .tex, .txt (bibcodes), .csv, .md or .json",
            "--export",
            "-o",
        ),
    ] = None,
    tree: Annotated[
        Path | None, option("draw a tree of the papers found and the papers that led to them")
    ] = None,
    map: Annotated[Path | None, option("draw the papers on the map")] = None,  # noqa: A002
    new: Annotated[
        Path | None,
        option("with --search: write the selected papers outside the atlas (.jsonl), for update"),
    ] = None,
    reasons: Annotated[bool, option("print the reason for each verdict")] = False,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Find all papers on a question: search, select and follow citations."""
    from landscape.corpus.full_text import FullTextFolder

    if export:
        from landscape.types import check_results_file

        check_results_file(export, is_survey=True)
    if new:
        check_output(new, [".jsonl"], what="Papers outside the atlas")
        if options.search == "atlas":
            raise InputError("--new writes papers of arXiv or ADS; add --search arxiv or ads.")
    if tree or map:
        from landscape.figures.export import check_kind

        for picture in filter(None, (tree, map)):
            check_kind(picture)
    opened = open_atlas(atlas, trust_model)
    reader = FullTextFolder(full_text) if full_text else None
    result = opened.survey(
        question,
        model=None if no_model else "auto",
        read=reader,
        resume=resume,
        on_step=note,
        **vars(options),
    )
    for problem in reader.problems if reader else ():
        note(f"landscape: {problem}")
    if export:
        _export_survey(result, export)
    if new:
        text = result.outside_to_jsonl()
        write_output(new, text)
        note(f"{new} contains {count(len(text.splitlines()), 'paper')} outside the atlas")
    if tree:
        landscape.figures.save_figure(landscape.figures.survey_tree(result), tree)
        note(f"{tree} contains the tree of the survey")
    if map:
        landscape.figures.save_figure(landscape.figures.survey_map(opened, result), map)
        note(f"{map} contains the map of the papers")
    return answer(result, json) if json else Answer(result.to_text(reasons=reasons))


def _export_survey(survey: Survey, export: Path) -> None:
    from landscape.types import count_written, write_results

    path = write_results(survey, export)
    if path.suffix.lower() in (".csv", ".json"):
        judged = count(len(survey.crawled), "judged paper")
        note(f"{path} contains {judged}; {len(survey):,} of them are selected")
    else:
        note(count_written(survey.results, path))


def attribute(
    atlas: AtlasFolder,
    excerpt: Annotated[str, Parameter(help="text that contains [CITATION]")],
    /,
    *,
    options: Annotated[AttributeSettings, SETTINGS] = ATTRIBUTE,
    no_model: NoModel = False,
    trajectory: Annotated[
        Path | None,
        option(
            "store the model's replies here; an existing file is replayed, also with --no-model"
        ),
    ] = None,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Find the paper that an excerpt cites."""
    result = open_atlas(atlas, trust_model).attribute(
        excerpt, model=None if no_model else "auto", trajectory=trajectory, **vars(options)
    )
    return answer(result, json)


def cite(
    atlas: AtlasFolder | None = None,
    context: Annotated[str | None, Parameter(help="text before the citation")] = None,
    /,
    *,
    keywords: Annotated[
        str | None, option("filter such as 'dust; (quasar | AGN)'", "--keywords")
    ] = None,
    k: Annotated[int, option(help_of(SearchSettings, "k"), "-k")] = 10,
    highlights: Annotated[int, option("number of highlighted sentences per paper")] = 3,
    also: Annotated[list[Path], option("another atlas; may be repeated")] = [],  # noqa: B006
    again: Annotated[
        tuple[int, str] | None,
        option("write the sentence of the paper with this rank again, with other keywords"),
    ] = None,
    export: Annotated[Path | None, option("also write the papers (.bib)", "--export", "-o")] = None,
    no_model: NoModel = False,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Find papers to cite after a text; without an atlas, print how to cite Landscape."""
    from landscape.llm import connect_from_environment

    if export:
        check_output(export, [".bib"], what="Papers to cite")
    if atlas is None or context is None:
        if atlas or keywords or also or json:
            raise InputError(
                'Pass an atlas and the text before the citation: landscape cite my.atlas "TEXT". '
                "Without them, landscape cite prints how to cite Landscape."
            )
        entries = landscape.citation()
        if export:
            write_output(export, f"{entries}\n")
        return Answer(entries)
    collection = _collection([atlas, *also], trust_model)
    model = None if no_model else connect_from_environment()
    result = collection.cite(context, keywords, k=k, model=model, n_highlights=highlights)
    if again:
        result = collection.rewrite(result, *again, model=model)
    if export:
        if not len(result):
            raise InputError(f"No paper was found; {export} was not written. Use other keywords.")
        write_output(export, f"{result.to_bibtex()}\n")
        note(f"{export} contains {count(len(result), 'paper')}")
    return answer(result, json)


def check(
    files: Annotated[
        list[Path],
        Parameter(help="atlases, the bibliography (.bib) and LaTeX files of the draft (.tex)"),
    ],
    /,
    *,
    atlas: Annotated[
        list[Path], option("atlas that contains the cited papers; may be repeated")
    ] = [],  # noqa: B006
    export: Annotated[
        Path | None, option("also write the report: .md, .html or .json", "--export", "-o")
    ] = None,
    no_model: NoModel = False,
    json: Json = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Check whether cited papers support the sentences of a draft."""
    from landscape.agents import check_draft
    from landscape.types import check_report_file, write_report

    if export:
        check_report_file(export)
    folders = [path for path in files if path.is_dir()]
    bibliographies = [path for path in files if path.suffix.lower() == ".bib"]
    drafts = [path for path in files if path not in (*folders, *bibliographies)]
    if len(bibliographies) != 1 or not drafts:
        given = ", ".join(map(str, files))
        raise InputError(
            f"{given} {'are' if len(files) > 1 else 'is'} not one bibliography (.bib) and a draft "
            "(.tex). Write: landscape check my.atlas references.bib draft.tex"
        )
    result = check_draft(
        bibliographies[0],
        drafts,
        desk=_collection([*folders, *atlas], trust_model),
        model=None if no_model else "auto",
    )
    if export:
        path = write_report(result, export)
        note(f"{path} contains the report on {count(len(result.judgements), 'citation')}")
    return answer(result, json)


def mcp(
    atlas: AtlasFolder, /, *, model: UseModel = False, trust_model: TrustModel = False
) -> Answer:
    """Serve an atlas to an AI assistant (MCP, standard input and output)."""
    from landscape.mcp_server import serve

    opened = open_atlas(atlas, trust_model)
    connected = connected_model(model)
    note(
        f"landscape: serving {opened.title} ({len(opened):,} papers) over standard input and output"
    )
    serve(opened, model=connected)
    return Answer("")


def _collection(folders: list[Path], trust_model: bool) -> AtlasCollection:
    """Return the atlases; the directory is added to a title that is already in use."""
    from landscape.agents import AtlasCollection

    collection = AtlasCollection()
    for folder in folders:
        atlas = open_atlas(folder, trust_model)
        taken = any(corpus.name == atlas.title for corpus in collection.corpora)
        collection = collection.add(atlas, f"{atlas.title} in {folder}" if taken else None)
    return collection
