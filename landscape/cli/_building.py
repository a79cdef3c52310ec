"""Commands ``demo``, ``build``, ``info`` and ``fetch``."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

import landscape
from landscape._wording import GENERATED, count
from landscape.cli._options import (
    WRONG_INPUT,
    Answer,
    AtlasFolder,
    Json,
    TrustModel,
    as_json,
    derived,
    note,
    open_atlas,
    option,
    write_line,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.corpus.fetch import Fetched

_AGREE = option("agree to the cost of remote embeddings, and to a download of weights")


def demo(
    category: Annotated[str, Parameter(help="category of arXiv, for --live")] = "astro-ph.GA",
    /,
    *,
    live: Annotated[bool, option("map the newest papers of arXiv; needs a network")] = False,
    out: Annotated[Path | None, option("directory of the atlas")] = None,
    papers: Annotated[int, option("number of papers")] = 4000,
    figures: Annotated[Path, option("directory of the figures")] = Path("figures/demo"),
    seed: Annotated[int, option("seed of the map")] = 1,
    workers: Annotated[int | None, option("number of processes")] = None,
    yes: Annotated[bool, _AGREE] = False,
) -> Answer:
    """Build and draw an atlas of synthetic papers, or of new ones of arXiv."""
    from landscape.atlas import build_demo

    atlas = build_demo(
        out,
        n_papers=papers,
        live=category if live else None,
        seed=seed,
        workers=workers,
        say=note,
        approve=_approval(yes),
    )
    figures.mkdir(parents=True, exist_ok=True)
    note("drawing the map")
    figure = landscape.figures.heatmap(atlas)
    pictures = [figures / f"heatmap.{kind}" for kind in ("png", "pdf")]
    for picture in pictures:
        landscape.figures.save_figure(figure, picture)
    program = _program()
    path = os.path.relpath(atlas.path)
    generated = bool(atlas.coverage["generated"])
    return Answer(
        f"The demo atlas is ready: {len(atlas):,} {'generated ' if generated else ''}papers in "
        f"{path}.\n"
        f"Its map: {pictures[0]} and {pictures[1]}\n"
        f"{_finding(atlas)}"
        + (f"{GENERATED} They are not evidence about astronomy.\n" if generated else "")
        + "\nNext:\n"
        f"  {program} lab{'' if generated else f' {path}'}\n"
        f'  {program} search {path} "{_largest_region(atlas)}"\n'
        f"  {program} build YOUR-PAPERS.jsonl --out your.atlas"
    )


def _largest_region(atlas: Atlas) -> str:
    regions = atlas.topics[atlas.topics["level"] == 1]
    return str(regions.loc[regions["n_papers"].idxmax(), "label"])


def _finding(atlas: Atlas) -> str:
    """Return a sentence on the region in which the most used facility has its highest share."""
    from landscape.overlays.missions import impact

    mentions = atlas.missions
    used = mentions[mentions["role"] == "science"].drop_duplicates(["facility", "paper_id"])
    if used.empty:
        return ""
    found = impact(atlas, [used["facility"].mode().iloc[0]])
    whole, regions = found.table.iloc[0], found.tables["regions"]
    if regions.empty:
        return ""
    top = regions.loc[regions["share_low"].idxmax()]
    return (
        f"One finding: {whole['facility']} provides data for {top['share']:.0%} of the papers on "
        f"{top['label']!r} ({top['papers']:,} of {top['region_papers']:,}; 95% interval "
        f"{top['share_low']:.0%} to {top['share_high']:.0%}), and for {whole['share']:.0%} of all "
        "papers.\n"
    )


def _program() -> str:
    """Return the command that runs this program, even if it is not on PATH (as in `make demo`)."""
    beside = Path(sys.executable).with_name("landscape")
    if shutil.which("landscape") or not beside.is_file():
        return "landscape"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)


def add_build(app: App) -> None:
    """Add the command that builds an atlas."""
    from landscape.atlas import build

    files = Parameter(
        help="files of papers; if there are none, --citations adds citations to an existing atlas"
    )
    folder = option("directory of the atlas", "--out")
    only = inspect.Parameter.KEYWORD_ONLY
    command = derived(
        build,
        _build,
        names={
            "keywords": "--keywords",
            "max_regions": "--regions",
            "n_continents": "--continents",
            "topics_method": "--topics",
        },
        hidden={"inputs", "out", "approve", "say"},
        first=[
            inspect.Parameter(
                "inputs",
                inspect.Parameter.POSITIONAL_ONLY,
                default=(),
                annotation=Annotated[tuple[Path, ...], files],
            )
        ],
        extra=[
            inspect.Parameter("out", only, annotation=Annotated[Path, folder]),
            inspect.Parameter("yes", only, default=False, annotation=Annotated[bool, _AGREE]),
            inspect.Parameter("json", only, default=False, annotation=Json),
        ],
        of_atlas=False,
    )
    app.default(command)


def read(
    files: Annotated[tuple[Path, ...], Parameter(help="files of papers")],
    /,
    *,
    never_merge: Annotated[
        Path | None, option("table of pairs of records that are different papers")
    ] = None,
    workers: Annotated[int | None, option("number of processes")] = None,
    json: Json = False,
) -> Answer:
    """Show what a build would read, repair, reject and merge, without building an atlas."""
    from landscape._processes import n_usable_cores
    from landscape._progress import progress
    from landscape._render import render
    from landscape.corpus import choose_reader, preview, read_pairs

    if not files:
        raise InputError("No file is given; name at least one file of papers.")
    for path in files:
        choose_reader(path)  # raises InputError if the file cannot be read
    pairs = read_pairs(never_merge) if never_merge is not None else []
    n_bytes = sum(path.stat().st_size for path in files)
    with progress("Reading papers", total=n_bytes, unit="bytes") as advance:
        found = preview(
            files, never_merge=pairs, workers=workers or n_usable_cores(), advance=advance
        )
    return Answer(as_json(found) if json else render("read.txt", found=found, shown=_SHOWN))


_SHOWN = 10  # records of each list in the text


def add_update(app: App) -> None:
    """Add the command that updates an atlas."""
    from landscape.atlas import update

    only, first = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY
    files = Parameter(help="new files of papers, and files that have changed")
    remove = option("name of a source whose papers are removed (repeatable)")
    command = derived(
        update,
        _update,
        names={"harvest": "--from"},
        hidden={"atlas", "inputs", "remove", "base_url", "approve", "say"},
        first=[
            inspect.Parameter("atlas", first, annotation=AtlasFolder),
            inspect.Parameter(
                "inputs", first, default=(), annotation=Annotated[tuple[Path, ...], files]
            ),
        ],
        extra=[
            inspect.Parameter(
                "remove", only, default=(), annotation=Annotated[tuple[str, ...], remove]
            ),
            inspect.Parameter("yes", only, default=False, annotation=Annotated[bool, _AGREE]),
            inspect.Parameter("json", only, default=False, annotation=Json),
        ],
        of_atlas=False,
    )
    app.default(command)


def _update(
    update: Callable[..., Atlas],
    atlas: Path,
    inputs: tuple[Path, ...] = (),
    *,
    remove: tuple[str, ...],
    yes: bool,
    json: bool,
    **options: object,
) -> Answer:
    from landscape.store.info import facts

    updated = update(atlas, inputs, remove=remove, approve=_approval(yes), say=note, **options)
    return Answer(as_json(facts(updated)) if json else _sources_text(updated))


def add_basemap(app: App) -> None:
    """Add the commands that export and import a basemap."""

    def export(
        atlas: AtlasFolder,
        file: Annotated[Path, Parameter(help="file that ends in .basemap")],
        /,
        *,
        landmarks: Annotated[int, option("maximum number of papers in the file")] = 20_000,
        json: Json = False,
    ) -> Answer:
        """Write coordinates, regions and names of an atlas to a small file."""
        made = landscape.open(atlas).export_basemap(file, landmarks=landmarks)
        found = {
            "file": str(file),
            "bytes": file.stat().st_size,
            "landmarks": len(made.vectors),
            "papers": made.n_papers,
            "model": made.model,
            "quality": made.quality,
        }
        if json:
            return Answer(as_json(found))
        quality = made.quality
        return Answer(
            f"{file}: {count(len(made.vectors), 'landmark')} of {count(made.n_papers, 'paper')} "
            f"of {made.title}, {file.stat().st_size / 1e6:.1f} MB, embedded with "
            f"{made.model['model']}\n"
            f"Placed again by the others, {quality['own_region']:.0%} of {quality['papers']:,.0f} "
            "landmarks return to their region, "
            f"{quality['median_shift']:.2f} map units from their place (median). Of the landmarks "
            f"most similar to a paper, {quality['neighbours_kept']:.1%} are among the nearest on "
            f"the map ({quality['neighbours_kept_before']:.1%} on the original map).\n"
            f"Next: {_program()} build YOUR-PAPERS.bib --out your.atlas --on {file}"
        )

    def import_basemap(
        file: Annotated[Path, Parameter(help="file that landscape basemap export has written")],
        atlas: AtlasFolder,
        /,
        *,
        json: Json = False,
    ) -> Answer:
        """Place the papers of an atlas on a basemap. Only the map and its regions change."""
        from landscape.store.info import facts

        updated = landscape.update(atlas, on=file, say=note)
        return Answer(as_json(facts(updated)) if json else "")

    app.command(export)
    app.command(import_basemap, name="import")


def sources(atlas: AtlasFolder, /, *, json: Json = False) -> Answer:
    """List the sources of an atlas, with their numbers of papers."""
    opened = open_atlas(atlas, False)
    table = opened.sources.astype({"modified": str})
    report = {"path": str(atlas), "papers": len(opened), "sources": table.to_dict("records")}
    return Answer(as_json(report) if json else _sources_text(opened))


_CHANGES_FILE = "html for a page; png, pdf or svg for the figure; csv, md, tex or json for tables"


def changes(
    atlas: AtlasFolder,
    /,
    *,
    since: Annotated[str, option("only changes since this day, such as 2026-11-01")] = "",
    out: Annotated[Path | None, option(_CHANGES_FILE, "--out", "-o")] = None,
    json: Json = False,
) -> Answer:
    """List the regions of an atlas that updates and new builds have changed, with reasons."""
    from landscape.figures.export import check_any_kind

    is_table = out is not None and check_any_kind(out)
    opened = open_atlas(atlas, False)
    table = opened.changes
    if since:
        try:
            date.fromisoformat(since)
        except ValueError as error:
            raise InputError(f"--since is {since!r}; give a day such as 2026-11-01.") from error
        table = table[table["date"] >= since]
    if out:
        from landscape.overlays.changes import region_changes

        figures = landscape.figures
        if is_table:
            return Answer(str(figures.save_table(region_changes(opened, since=since), out)))
        return Answer(str(figures.save_figure(figures.changes(opened, since=since), out)))
    if json:
        return Answer(as_json({"path": str(atlas), "changes": table.to_dict("records")}))
    when = f" since {since}" if since else ""
    if not len(table):
        return Answer(f"{atlas}: no region has changed{when}")
    lines = [
        f"{row.date}  {row.kind:<9}  {row.label} ({row.papers:,} papers): {row.reason}"
        for row in table.itertuples()
    ]
    return Answer("\n".join(lines))


def _sources_text(atlas: Atlas) -> str:
    table = atlas.sources
    return f"{table.to_string(index=False)}\n{atlas.path}: {count(len(atlas), 'paper')}"


def _build(
    build: Callable[..., Atlas],
    inputs: tuple[Path, ...] = (),
    *,
    out: Path,
    yes: bool,
    json: bool,
    citations: tuple[Path, ...] = (),
    **options: object,
) -> Answer:
    from landscape.store.info import count_regions, facts

    if citations and not inputs:
        from landscape.atlas import add_citations

        atlas = add_citations(out, citations, say=note)
        links = f"{atlas.path}: {count(atlas.citations.n_links, 'citation')}"
        return Answer(as_json(facts(atlas)) if json else links)
    atlas = build(inputs, out, citations=citations, approve=_approval(yes), say=note, **options)
    if json:
        return Answer(as_json(facts(atlas)))
    return Answer(f"{atlas.path}: {len(atlas):,} papers in {count_regions(atlas)} named regions")


def info(
    atlas: Annotated[Path | None, Parameter(help="directory of the atlas")] = None,
    /,
    *,
    models: Annotated[bool, option("describe the fitted models of the package")] = False,
    json: Json = False,
    verify: Annotated[bool, option("compare every file with its checksum")] = False,
    trust_model: TrustModel = False,
) -> Answer:
    """Describe an atlas and how it was built."""
    from landscape.models import describe_cards, list_cards
    from landscape.store import info as store_info

    if models:
        cards = [card.to_dict() for card in list_cards()]
        return Answer(as_json({"models": cards}) if json else describe_cards())
    if atlas is None:
        raise InputError("No atlas is given. Write: landscape info my.atlas")
    problems = store_info.verify(atlas) if verify else []
    for problem in problems:
        note(f"landscape: {problem}")
    if problems:
        report = {"path": str(atlas), "verified": False, "problems": problems}
        return Answer(as_json(report) if json else "", WRONG_INPUT)
    opened = open_atlas(atlas, trust_model)
    for problem in opened.label_problems:
        note(f"landscape: {problem}")
    if json:
        return Answer(as_json(store_info.facts(opened) | ({"verified": True} if verify else {})))
    verified = f"\n\nverified: all {len(opened.manifest.files):,} files are unchanged"
    return Answer(store_info.describe(opened) + (verified if verify else ""))


def _approval(yes: bool) -> Callable[[str], bool]:
    """Return the function that answers the questions of a build."""
    return (lambda _: True) if yes else ask_on_terminal


def ask_on_terminal(question: str) -> bool:
    """Ask a question on the terminal; return False if there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        note(f"{question} Input is not a terminal; pass --yes to agree.")
        return False
    write_line(f"{question} [y/N] ", sys.stderr, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def add_fetchers(app: App) -> None:
    """Add the commands that download papers."""
    from landscape.corpus import fetch

    for name, function, default in (
        ("arxiv", fetch.fetch_arxiv, "arxiv.jsonl"),
        ("newest", fetch.fetch_newest, "newest.jsonl"),
        ("ads", fetch.fetch_ads, "ads.jsonl"),
        ("pathfinder", fetch.fetch_pathfinder, "pathfinder"),
        ("uat", fetch.fetch_uat, "UAT.json"),
    ):
        output = inspect.Parameter(
            "output",
            inspect.Parameter.KEYWORD_ONLY,
            default=Path(default),
            annotation=Annotated[Path, option("file or directory to write", "--output", "-o")],
        )
        command = derived(
            function,
            _fetch,
            names={"since": "--from", "max_records": "--limit"},
            hidden={"out", "folder", "token", "base_url", "endpoint", "fields", "rows", "file"},
            extra=[output],
            of_atlas=False,
        )
        app.command(command, name=name)
    app.command(full_text, name="full-text")


def full_text(
    atlas: AtlasFolder,
    /,
    *,
    filter: Annotated[  # noqa: A002
        str, option("only papers that pass this filter, such as 'region:12; 2024..'")
    ] = "",
    output: Annotated[Path, option("folder of the full texts", "--output", "-o")] = Path(
        "full-texts"
    ),
    limit: Annotated[int | None, option("maximum number of papers")] = None,
    base_url: Annotated[str | None, Parameter(show=False)] = None,
    trust_model: TrustModel = False,
) -> Answer:
    """Download the full texts of papers of an atlas from arXiv.

    The HTML page of a paper is preferred, then its source or PDF. One request is sent in three
    seconds, so 1,000 papers take an hour or two. Files that the folder has are not requested again.
    The texts have the licences of their authors; do not publish them.
    """
    from landscape.corpus.fetch import fetch_full_texts

    opened = open_atlas(atlas, trust_model)
    rows = opened.select(filter)
    ids = [one for one in opened.read_papers(["arxiv_id"], rows=rows)["arxiv_id"] if one]
    server: dict[str, Any] = {} if base_url is None else {"base_url": base_url}
    fetched = fetch_full_texts(ids[:limit], output, notify=note, **server)
    note(fetched.note.replace("ATLAS", str(atlas)))
    return Answer(f"{fetched.path}: {count(fetched.n_records, 'full text')}")


def _fetch(function: Callable[..., Fetched], output: Path, **options: object) -> Answer:
    fetched = function(output, notify=note, **options)
    if fetched.note:
        note(fetched.note)
    return Answer(f"{fetched.path}: {count(fetched.n_records, 'record')}")
