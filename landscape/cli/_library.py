"""Commands ``library`` and ``digest``: the papers of a user, and new papers for them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from landscape._io import check_output, write_output
from landscape._progress import progress
from landscape._wording import count
from landscape.cli._options import Answer, AtlasFolder, Json, as_json, note, open_atlas, option
from landscape.corpus.libraries import (
    FORMATS,
    Library,
    Mark,
    Watched,
    change_library,
    checked_name,
    entries_of_ads,
    find_library,
    library_file,
    list_libraries,
    mark_papers,
    read_library,
    replace_entries,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.types import Paper

Name = Annotated[str, Parameter(help="name of the library")]
_ASKED = 100  # identifiers in a request
Address = Annotated[str | None, Parameter(show=False)]
_ENDINGS = {".bib": "bibtex", ".ris": "ris", ".json": "csl", ".txt": "bibcodes"}
_DIGESTS = {".html": "to_page", ".xml": "to_atom", ".atom": "to_atom", ".md": "to_markdown"}
_DIGESTS |= {".bib": "to_bibtex", ".txt": "to_text"}


def add_library(app: App) -> None:
    """Add the commands for libraries."""
    from landscape.cli._analyses import tabulated
    from landscape.overlays import library

    for command in (read, watch, mark, refresh, export, pull, push):
        app.command(command)
    app.command(list_all, name="list")
    for name, analyse in (
        ("papers", library.library_papers),
        ("regions", library.library_regions),
        ("graph", library.library_graph),
    ):
        app.command(tabulated(analyse), name=name)


def read(
    source: Annotated[Path, Parameter(help="data directory of Zotero, or a file of papers")],
    /,
    *,
    name: Annotated[str | None, option("name of the library (default: that of the file)")] = None,
    collection: Annotated[str | None, option("only this collection or tag")] = None,
    output: Annotated[Path | None, option("file to write", "--output", "-o")] = None,
) -> Answer:
    """Read a library from Zotero, a bibliography, or any file that a build reads.

    If the library exists, its entries are replaced; its marks and watched names are kept.
    """
    with progress(f"Reading {source.name}", total=None, unit="papers"):
        library = read_library(source, name=name)
    if collection:
        library = replace(library, entries=library.part(collection))
    return _save(library, output)


def _save(library: Library, output: Path | None = None) -> Answer:
    target = output or library_file(library.name)
    replace_entries(target, library)
    for problem in library.problems[:3]:
        note(f"Not read: {problem}")
    if len(library.problems) > 3:
        note(f"Not read: {len(library.problems) - 3:,} more records")
    return Answer(f"{library.name}: {count(len(library), 'paper')}, in {target}")


def list_all(*, json: Json = False) -> Answer:
    """List your libraries."""
    rows = [
        {"name": one.name, "papers": len(one), "marked": len(one.marks), "source": one.source}
        for one in list_libraries()
    ]
    if json:
        return Answer(as_json({"libraries": rows}))
    lines = [f"{r['name']}: {r['papers']:,} papers, {r['marked']:,} marked" for r in rows]
    return Answer("\n".join(lines) or "There are no libraries; read one: landscape library read")


def watch(
    name: Name,
    /,
    *,
    author: Annotated[list[str], option("author, such as 'Rubin, Vera'")] = [],  # noqa: B006
    facility: Annotated[list[str], option("facility, such as JWST")] = [],  # noqa: B006
    region: Annotated[list[str], option("name of a region of the map")] = [],  # noqa: B006
    remove: Annotated[bool, option("stop watching them")] = False,
) -> Answer:
    """Watch authors, facilities and regions: a digest lists all their new papers."""
    from landscape.corpus.facilities import find_facility

    if not all(name.strip() for name in (*author, *region)):
        raise InputError("A name to watch is empty; give an author or the name of a region.")
    given = Watched(tuple(author), tuple(find_facility(f).name for f in facility), tuple(region))

    def change(library: Library) -> Library:
        old = library.watched

        def joined(known: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
            kept = [one for one in known if one not in more]
            return tuple(kept if remove else (*kept, *more))

        watched = Watched(
            joined(old.authors, given.authors),
            joined(old.facilities, given.facilities),
            joined(old.regions, given.regions),
        )
        return replace(library, watched=watched)

    find_library(name)  # raises InputError if there is none
    found = change_library(library_file(name), change).watched
    lines = [f"{kind}: {'; '.join(names) or 'none'}" for kind, names in vars(found).items()]
    return Answer("\n".join(lines))


def mark(
    atlas: AtlasFolder,
    name: Name,
    papers: Annotated[tuple[str, ...], Parameter(help="bibcodes, arXiv ids or DOIs")],
    /,
    *,
    as_: Annotated[
        Literal["read", "later", "not interested", "none"],
        option("mark of the papers; none removes it", "--as"),
    ] = "later",
) -> Answer:
    """Mark papers as read, for later or not interesting; the marks change the next digest."""
    engine = open_atlas(atlas, False).engine
    found = engine.papers([engine.row_of(paper) for paper in papers])
    find_library(name)
    chosen: Mark | None = None if as_ == "none" else as_
    library = change_library(library_file(name), lambda old: mark_papers(old, found, chosen))
    return Answer(
        f"{count(len(found), 'paper')} marked; {count(len(library.marks), 'mark')} in all"
    )


def refresh(
    file: Annotated[Path, Parameter(help="BibTeX file")],
    atlases: Annotated[tuple[Path, ...], Parameter(help="atlases to compare with")] = (),
    /,
    *,
    output: Annotated[Path | None, option("new .bib file", "--output", "-o")] = None,
    table: Annotated[Path | None, option("table of changes: csv, tex, md or json")] = None,
    online: Annotated[bool, option("also ask ADS, which needs a key")] = False,
    json: Json = False,
    base_url: Address = None,
) -> Answer:
    """Update a BibTeX file: publications, withdrawn papers, identifiers, repeated entries.

    Every key stays. Nothing is changed without a row in the table. An entry that is in no atlas is
    listed as unknown.
    """
    from landscape.figures import save_table
    from landscape.overlays.library import refresh_bibliography

    stem = file.name.removesuffix(".gz").removesuffix(".bib")
    target = check_output(output or file.with_name(f"{stem}-fresh.bib"), (".bib",), what="bib")
    records = _from_ads(read_library(file, name="refresh"), base_url) if online else []
    opened = [open_atlas(path, False) for path in atlases]
    found = refresh_bibliography(file, opened, online=records)
    write_output(target, found.content)
    if table:
        save_table(found.analysis, table)
    if json:
        return Answer(as_json({**found.analysis.to_dict(), "file": str(target)}))
    return Answer(f"{found.analysis.to_text()}\nThe new file is {target}.")


def _from_ads(library: Library, base_url: str | None) -> list[Paper]:
    """Return the records that ADS has of the entries with an identifier."""
    from landscape.corpus.fetch import NoRecordsError, fetch_ads

    names = [one.arxiv_id or one.doi or one.bibcode for one in library.entries]
    known = [f'"{name}"' for name in names if name]
    found: list[Paper] = []
    for start in range(0, len(known), _ASKED):
        with tempfile.TemporaryDirectory() as folder, suppress(NoRecordsError):
            query = f"identifier:({' OR '.join(known[start : start + _ASKED])})"
            path = Path(folder) / "ads.jsonl"
            fetch_ads(path, query=query, notify=note, **_server(base_url))
            found += read_library(path).entries
    return found


def _server(base_url: str | None) -> dict[str, Any]:
    return {} if base_url is None else {"base_url": base_url}


def export(
    name: Name,
    /,
    output: Annotated[Path, option(".bib, .ris, .json or .txt", "--output", "-o")],
    *,
    to: Annotated[
        Literal["bibtex", "biblatex", "ris", "csl", "bibcodes"] | None,
        option("format; the default is that of the suffix"),
    ] = None,
) -> Answer:
    """Write a library as BibTeX, biblatex, RIS, CSL-JSON or a list of bibcodes."""
    chosen = to or _ENDINGS.get(output.suffix.lower())
    if chosen is None:
        raise InputError(f"The format of {output} is unknown; add --to {' or '.join(FORMATS)}.")
    library = find_library(name)
    return Answer(str(write_output(output, FORMATS[chosen](library) + "\n")))


def pull(
    name: Annotated[str, Parameter(help="name or id of the library in ADS (SciX)")],
    /,
    *,
    into: Annotated[str | None, option("name of your library (default: the same)")] = None,
    base_url: Address = None,
) -> Answer:
    """Read a library of ADS (SciX), which needs a key (ADS_API_TOKEN or SCIX_API_TOKEN)."""
    from landscape.corpus.fetch import AdsLibraries

    with AdsLibraries(notify=note, **_server(base_url)) as ads:
        found = ads.find(name)
        codes = ads.bibcodes(found)
        known = entries_of_ads(ads.documents(codes))
    return _save(Library(checked_name(into or found.name), known, source=f"ads:{found.id}"))


def push(
    name: Name,
    /,
    *,
    to: Annotated[
        str | None, option("name or id of the library in ADS (default: the same)")
    ] = None,
    filter: Annotated[  # noqa: A002
        str | None, option("make the copy equal to the papers that pass this filter")
    ] = None,
    atlas: Annotated[Path | None, option("atlas of the filter")] = None,
    public: Annotated[bool, option("let anyone read a new library")] = False,
    share: Annotated[list[str], option("permission, such as anna@example.org=read")] = [],  # noqa: B006
    base_url: Address = None,
) -> Answer:
    """Make a library of ADS (SciX) equal to yours, or to a filter, which is saved for later."""
    from landscape.corpus.fetch import AdsLibraries

    library = find_library(name)
    filter = filter if filter is not None else library.filter  # noqa: A001
    if filter and atlas is None:
        raise InputError(f"The filter {filter!r} needs an atlas; add --atlas ATLAS.")
    if filter and atlas is not None:
        opened = open_atlas(atlas, False)
        papers: Sequence[Any] = opened.engine.papers(opened.select(filter))
        change_library(library_file(name), lambda old: replace(old, filter=filter))
    else:
        papers = library.entries
    codes = [code for one in papers if (code := one.bibcode or _eprint(one))]
    if lost := len(papers) - len(codes):
        note(
            f"{count(lost, 'paper')} without a bibcode or an arXiv id cannot be pushed, so no "
            "paper of the library in ADS is removed"
        )
    if papers and not codes:
        raise InputError(f"No paper of {name} has a bibcode or an arXiv id, so none is pushed.")
    with AdsLibraries(notify=note, **_server(base_url)) as ads:
        names = [one.name for one in ads.libraries()]
        target = to or name
        if target not in names and to is None:
            ads.create(target, codes, public=public)
            added, removed = len(codes) - len(ads.unknown), 0
        elif lost:
            added, removed = ads.add(target, codes), 0
        else:
            added, removed = ads.synchronise(target, codes)
        for one in share:
            email, _, permission = one.partition("=")
            ads.grant(target, email, permission or "read")
    return Answer(f"{target}: {count(added, 'paper')} added, {removed:,} removed")


def _eprint(paper: Paper) -> str | None:
    """Return the bibcode of an e-print."""
    from landscape.corpus.full_text.references import eprint_bibcode

    return eprint_bibcode(paper.year, paper.authors, paper.arxiv_id) if paper.arxiv_id else None


def digest(
    atlas: AtlasFolder,
    /,
    *,
    for_: Annotated[
        str | None, option("library, or a file of papers, such as my.bib", "--for")
    ] = None,
    region: Annotated[str | None, option("new papers in a region instead")] = None,
    filter: Annotated[str | None, option("new papers that pass a filter instead")] = None,  # noqa: A002
    text: Annotated[str | None, option("new papers close to a text instead")] = None,
    since: Annotated[str | None, option("first day of arrival, such as 2026-11-01")] = None,
    k: Annotated[int, option("papers in the group of the most similar ones", "--k", "-k")] = 20,
    output: Annotated[
        Path | None, option("html, xml (Atom feed), md, bib, txt or json", "--output", "-o")
    ] = None,
    keep: Annotated[bool, option("show the same papers again next time")] = False,
    json: Json = False,
) -> Answer:
    """List what arrived in an atlas since you last looked, with the reasons for each paper."""
    from landscape.overlays.library import make_digest

    given = {"library": for_, "region": region, "filter": filter, "text": text}
    chosen = [(kind, value) for kind, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise InputError("Give one of --for LIBRARY, --region, --filter and --text.")
    if output is not None:
        check_output(output, (*_DIGESTS, ".json"), what="digest")
    kind: Any = chosen[0][0]
    opened = open_atlas(atlas, False)
    with progress("Reading the new papers", total=None, unit="papers"):
        found = make_digest(opened, chosen[0][1], kind=kind, since=since, k=k, record=not keep)
    if output is not None:
        ending = output.suffix.lower()
        content = as_json(found) if ending == ".json" else getattr(found, _DIGESTS[ending])()
        return Answer(f"{found.headline}: {write_output(output, content)}")
    return Answer(as_json(found) if json else found.to_text())
