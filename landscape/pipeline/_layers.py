"""Layers of an atlas: facility mentions, reviews, thesaurus concepts and citations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from landscape._io import cache_folder, data_file, replacing, sha256_of
from landscape._progress import progress
from landscape._wording import count, normal_title
from landscape.corpus.facilities import missions_file
from landscape.corpus.thesaurus import EMBEDDED, embedded_thesaurus, read_thesaurus
from landscape.errors import InputError
from landscape.overlays.citations import CITATIONS, INFLUENCE, STUBS, matrix_files
from landscape.pipeline._embeddings import EMBEDDINGS, vectors_of
from landscape.pipeline._executor import ROWS, Slice, slices
from landscape.pipeline._ingest_stage import PAPERS, renamed_papers
from landscape.pipeline._rows import join_tables, paper_ids, read_columns, write_table
from landscape.pipeline.map_stages import embed_texts
from landscape.pipeline.stages import (
    Context,
    Previous,
    Stage,
    StageResult,
    checksums,
    clear_work,
    fingerprint,
    inputs_from,
    keep_only,
    read_once,
)
from landscape.store.arrays import open_matrix, write_matrix
from landscape.store.manifest import digest
from landscape.store.tables import BIBLIOGRAPHIES, REFERENCES, SECTIONS, SOFTWARE, layer_schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.corpus.thesaurus import Thesaurus
    from landscape.overlays.citations import Links
    from landscape.overlays.thesaurus.concept_model import ConceptModel
    from landscape.overlays.thesaurus.matching import TermMatches, TermReader


MISSIONS = "missions.parquet"
FULL_TEXTS = "full-texts"  # the stage of full texts, in a module that uses this one
_SAMPLE = 100_000  # maximum number of papers from which the use of concepts is learned


def _missions_run(context: Context) -> StageResult:
    import pandas as pd

    sections = context.folder / SECTIONS if has_sections(context) else None
    names = write_tables(
        context,
        MISSIONS_STAGE,
        [MISSIONS, SOFTWARE] if sections else [MISSIONS],
        partial(_find_facilities, sections=sections),
        needs=[(SECTIONS, ".parquet")] if sections else [],
    )
    found = [
        pd.read_parquet(context.folder / name, columns=["row", "facility"])
        for name in names
        if name.startswith(MISSIONS)
    ]
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={
            "mentions": sum(len(table) for table in found),
            "papers": sum(table["row"].nunique() for table in found),
            "facilities": len(set[str]().union(*(table["facility"] for table in found))),
        },
    )


def has_sections(context: Context) -> bool:
    """Return whether the atlas has full texts."""
    return FULL_TEXTS in context.manifest.stages


def sections_input(context: Context) -> dict[str, str]:
    """Return the stage of full texts as an input, if there is one."""
    return {"sections": FULL_TEXTS} if has_sections(context) else {}


def _find_facilities(task: LayerTask, *, sections: Path | None) -> None:
    """Find the facilities in the abstracts of a slice and, with full texts, in their sections."""
    import pandas as pd

    from landscape.overlays.missions import find_in_papers, find_in_sections

    piece, files = task
    if all(file.is_file() for file in files.values()):
        return
    papers = piece.read(["title", "abstract", "date", "date_precision"]).to_pandas()
    days = map(_last_day, papers["date"], papers["date_precision"])
    found = find_in_papers(papers["title"].tolist(), papers["abstract"].tolist(), days)
    found["section"] = pd.Series(pd.NA, index=found.index, dtype="Int32")
    if sections is not None:
        rows = [("row", ">=", piece.start), ("row", "<", piece.stop)]
        columns = ["row", "number", "kind", "text"]
        table = pd.read_parquet(sections / piece.part.name, filters=rows, columns=columns)
        table["row"] -= piece.start
        mentions, software = find_in_sections(table, papers["date"].tolist())
        found = pd.concat([found, mentions]).sort_values("row", kind="stable", ignore_index=True)
        write_found(task, software, SOFTWARE)
    write_found(task, found, MISSIONS)


def _last_day(day: date | None, precision: str | None) -> date | None:
    """Return the last day of a date that is known to the year or the month."""
    if day is None or precision == "day":
        return day
    after = (
        date(day.year + 1, 1, 1)
        if precision == "year" or day.month == 12
        else (date(day.year, day.month + 1, 1))
    )
    return after - timedelta(days=1)


def write_tables(
    context: Context,
    stage: Stage,
    layers: Sequence[str],
    find: Callable[[LayerTask], None],
    *,
    mark: str = "",
    needs: Sequence[tuple[str, str]] = (),
    size: int = ROWS,
) -> list[str]:
    """Write the tables of layers, slice by slice (`size` papers), and join those of each part.

    Return the names of the files. The files of parts that have not changed are kept, if the
    files in `needs` have not changed either. `mark` stands for other data that the function uses.
    """
    for layer in layers:
        (context.folder / layer).mkdir(exist_ok=True)
    kept = _kept_parts(context, stage, layers, needs)
    # The name has a hash of the inputs, so the files of an interrupted build fit.
    work = context.work(layers[0], digest([fingerprint(stage, context)[0], mark]))
    for layer in layers:
        (work / layer).mkdir(parents=True, exist_ok=True)
    parts = [*zip(context.part_files(PAPERS), context.manifest.parts, strict=True)]
    pieces = {
        part.name: slices(papers, part.rows, size=size)
        for papers, part in parts
        if part.name not in kept
    }
    tasks = [
        (piece, {layer: work / layer / f"{piece.name}.parquet" for layer in layers})
        for piece in chain.from_iterable(pieces.values())
    ]
    n_new = sum(len(piece) for piece, _ in tasks)
    with context.progress(stage.name.capitalize(), total=context.manifest.n_papers) as advance:
        advance(context.manifest.n_papers - n_new)
        done = context.executor.map(find, tasks, n_papers=n_new)
        for (piece, _), _ in zip(tasks, done, strict=True):
            advance(len(piece))
    for name, own in pieces.items():
        for layer in layers:
            with replacing(context.folder / layer / f"{name}.parquet") as temporary:
                files = [work / layer / f"{piece.name}.parquet" for piece in own]
                join_tables(files, temporary, layer_schema(layer))
    clear_work(context, layers[0])
    written = []
    for layer in layers:
        files = context.part_files(layer)
        keep_only(context.folder / layer, {path.name for path in files})
        written += [f"{layer}/{path.name}" for path in files]
    return written


LayerTask = tuple[Slice, Mapping[str, Path]]  # the papers, and the files of their tables by layer


def _tables(
    find: Callable[[pd.DataFrame], pd.DataFrame], columns: Sequence[str], task: LayerTask
) -> None:
    """Apply a function to the papers of a slice, and write its table."""
    piece, files = task
    if not all(file.is_file() for file in files.values()):
        write_found(task, find(piece.read(columns).to_pandas()))


def write_found(task: LayerTask, found: pd.DataFrame, layer: str | None = None) -> None:
    """Write the table of a layer, by default the only one. Its rows are those of the slice."""
    import pyarrow as pa

    piece, files = task
    layer = layer or next(iter(files))
    schema = layer_schema(layer)
    ids = np.array(piece.read(["paper_id"])["paper_id"].to_pylist(), dtype=object)
    rows = found["row"].to_numpy(dtype=np.int64)
    named = found.assign(row=rows + piece.start, paper_id=ids[rows])
    table = pa.Table.from_pandas(named[schema.names], schema, preserve_index=False)
    write_table(files[layer], table)


def _kept_parts(
    context: Context, stage: Stage, layers: Sequence[str], needs: Sequence[tuple[str, str]]
) -> set[str]:
    """Return the names of the parts whose files of layers an update keeps."""
    record = context.previous.stage(stage.name) if context.previous else None
    if record is None or (record.version, record.parameters) != (
        stage.version,
        stage.parameters(context),
    ):
        return set()
    return {
        part.name
        for part in context.manifest.parts
        if context.is_kept(*(f"{table}/{part.name}.parquet" for table in (PAPERS, *layers)))
        and context.is_kept(*(f"{table}/{part.name}{ending}" for table, ending in needs))
    }


MISSIONS_STAGE = Stage(
    name="missions",
    version=6,
    parameters=lambda context: {
        "facilities": sha256_of(missions_file()),
        **({"software": sha256_of(data_file("software.yaml"))} if has_sections(context) else {}),
    },
    inputs=lambda context: inputs_from(papers="ingest", **sections_input(context))(context),
    run=_missions_run,
)


_ADS_LISTS = {
    "bibgroup": "bibgroup of ADS",
    "data": "data links of ADS",
    "facility": "facility of ADS",
}


def _bibliographies_run(context: Context) -> StageResult:
    """Write the entries of bibliographies with the papers that they stand for."""
    import pyarrow as pa

    from landscape.corpus.bibliographies import read_facility_list
    from landscape.overlays.citations import resolve

    lists = [read_facility_list(given) for given in context.options.bibliography]
    given = {one.facility: one for one in lists}
    if len(given) < len(lists):
        twice = next(one for one in lists if given[one.facility] is not one)
        raise InputError(
            f"{twice.facility} has two bibliographies, {twice.name} and "
            f"{given[twice.facility].name}; put their entries into one file."
        )
    rows = [
        (one.facility, one.name, entry.name, entry.category, entry.uses)
        for one in lists
        for entry in one.entries
    ]
    kept = _kept_lists(context, set(given))
    scopes = kept | {
        one.facility: {
            "name": one.name, "date": one.date, "since": one.since, "until": one.until,
            "eprint_years": list(one.eprint_years), "kinds": list(one.kinds),
            "entries": len(one.entries), "without_name": one.problems,
        }
        for one in lists
    }  # fmt: skip
    if kept and context.previous:
        old = read_columns([context.previous.folder / BIBLIOGRAPHIES], _LIST_COLUMNS).to_pylist()
        rows += [
            tuple(row.values())
            for row in old
            if row["facility"] in kept and row["list"] == kept[row["facility"]]["name"]
        ]
    rows += _lists_of_ads(context)
    if not rows:
        return StageResult(rows=0, outputs=[])
    papers: dict[str, list[str | None]] = {
        name: column.to_pylist()
        for name, column in zip(
            _NAMES, read_columns(context.part_files(PAPERS), _NAMES).columns, strict=True
        )
    }
    n_papers = context.manifest.n_papers
    nodes = resolve([row[2] for row in rows], papers, n_papers=n_papers).nodes.tolist()
    ids = papers["paper_id"]
    found = [ids[node] if 0 <= node < n_papers else None for node in nodes]
    columns = dict(zip(_LIST_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    write_table(context.folder / BIBLIOGRAPHIES, pa.table(columns | {"paper_id": found}))
    for name, scope in scopes.items():
        own = [
            (one, row[4])
            for row, one in zip(rows, found, strict=True)
            if row[:2] == (name, scope["name"])
        ]
        scope["found"] = sum(one is not None for one, _ in own)
        uses = sum(is_use for _, is_use in own)
        if name in given:
            context.say(
                f"bibliography of {name}: {scope['name']}, {len(own):,} entries "
                f"({uses:,} use it), {scope['found']:,} in the atlas; "
                f"{count(scope['without_name'], 'line')} without an identifier; taken as complete "
                f"for {scope['since']}-{scope['until']}"
            )
    return StageResult(rows=len(rows), outputs=[BIBLIOGRAPHIES], details={"lists": scopes})


_LIST_COLUMNS = ("facility", "list", "entry", "category", "uses")


def _kept_lists(context: Context, given: set[str]) -> dict[str, dict[str, Any]]:
    """Return the lists of the last version that an update keeps, by facility."""
    record = context.previous.stage("bibliographies") if context.previous else None
    if record is None or not record.outputs or not context.is_update:
        return {}
    return {
        name: dict(scope) for name, scope in record.details["lists"].items() if name not in given
    }


def _has_lists(context: Context) -> bool:
    """Return whether there are lists, or records of ADS, which can name facilities."""
    sources = {part.source for part in context.manifest.parts}
    kept = bool(_kept_lists(context, set()))
    return bool(context.options.bibliography) or kept or bool(sources & {"ads", "table"})


def _lists_of_ads(context: Context) -> list[tuple[str, str, str, str, bool]]:
    """Return the facilities that records of ADS name for their papers."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from landscape.corpus import find_facility

    @cache
    def facility(value: str) -> str | None:
        with suppress(InputError):
            counted = find_facility(value.partition(":")[0].partition("/")[0]).counted_as
            return counted[0] if len(counted) == 1 else None
        return None

    found: list[tuple[str, str, str, str, bool]] = []
    for path in context.part_files(PAPERS):
        names = [name for name in _ADS_LISTS if name in pq.read_schema(path).names]
        table = read_columns([path], ["paper_id", *names])
        ids = table["paper_id"]
        for name in names:
            column = table[name].combine_chunks()
            owners = pc.list_parent_indices(column)
            for owner, value in zip(
                ids.take(owners).to_pylist(), pc.list_flatten(column).to_pylist(), strict=True
            ):
                if value and (of := facility(value)):
                    found.append((of, _ADS_LISTS[name], owner, value, True))
    return found


def _listed(context: Context) -> list[str]:
    """Return checksums of the given lists; an update keeps those of the last build."""
    texts = context.options.bibliography
    marks = [f"{one} {sha256_of(Path(one.partition('=')[2].strip()))}" for one in texts]
    record = context.previous.stage("bibliographies") if context.previous else None
    if context.is_update and record:
        given = {one.partition("=")[0].partition("[")[0].strip() for one in texts}
        known = record.parameters.get("lists", ())
        kept = [
            one for one in known if one.partition("=")[0].partition("[")[0].strip() not in given
        ]
        return [*kept, *marks]
    return marks


BIBLIOGRAPHIES_STAGE = Stage(
    name="bibliographies",
    version=1,
    parameters=lambda context: {"lists": _listed(context)},
    inputs=inputs_from(papers="ingest"),
    run=_bibliographies_run,
    unit="entries",
    applies=_has_lists,
)


REVIEWS = "reviews.parquet"
_COLUMNS = ("title", "abstract", "doctype", "journal", "bibcode", "arxiv_id", "doi")


def _reviews_run(context: Context) -> StageResult:
    import pyarrow.parquet as pq

    from landscape.overlays.reviews import read_review_list, recognise

    lists = (read_once(read_review_list, path) for path in context.options.known_reviews)
    known = frozenset[str]().union(*lists)
    find = partial(_tables, partial(recognise, known=known), _COLUMNS)
    names = write_tables(context, REVIEWS_STAGE, [REVIEWS], find)
    n_reviews = sum(pq.read_metadata(context.folder / name).num_rows for name in names)
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={"reviews": n_reviews, "listed": len(known)},
    )


REVIEWS_STAGE = Stage(
    name="reviews",
    version=4,
    parameters=lambda context: {
        "lists": checksums(context, "reviews", "lists", context.options.known_reviews)
    },
    inputs=inputs_from(papers="ingest"),
    run=_reviews_run,
)


UAT, THESAURUS, CONCEPT_MODEL = "uat.parquet", "thesaurus.parquet", "concepts.npz"
_TEXT = ("title", "abstract", "ads_keywords")


def _uat_run(context: Context) -> StageResult:
    import pandas as pd

    thesaurus = _thesaurus(context.options.thesaurus)
    model = context.folder / CONCEPT_MODEL
    with _folder_of_workers(context) as work:
        concepts = _concept_vectors(context, thesaurus)
        if concepts is not None:
            write_matrix(
                work / _CONCEPTS, [concepts], rows=len(concepts), columns=concepts.shape[1]
            )
        learned_from = _learned_from(context)
        if not learned_from:
            learned_from = _sample_size(context)
            with replacing(model) as temporary, temporary.open("wb") as stream:
                _learn(context, thesaurus, learned_from).write(stream)
        tag = partial(
            _tag,
            thesaurus=context.options.thesaurus,
            checksum=_checksum(context),
            work=work,
            atlas=context.folder,
        )
        mark = digest([sha256_of(path) for path in (model, *sorted(work.iterdir()))])
        names = write_tables(
            context, UAT_STAGE, [UAT], tag, mark=mark, needs=[(EMBEDDINGS, ".npy")]
        )
    found: set[str] = set()
    n_tagged = 0
    for name in names:
        table = pd.read_parquet(context.folder / name, columns=["concept_id", "row"])
        found.update(table["concept_id"].unique())
        n_tagged += table["row"].nunique()
    with replacing(context.folder / THESAURUS) as temporary:
        thesaurus.to_frame().to_parquet(temporary, index=False)
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[THESAURUS, CONCEPT_MODEL, *names],
        details={
            "learned_from": learned_from,
            "version": thesaurus.version,
            "concepts": len(thesaurus),
            "concepts_found": len(found),
            "papers_tagged": n_tagged,
        },
    )


_CONCEPTS = "concepts.npy"


@contextmanager
def _folder_of_workers(context: Context) -> Iterator[Path]:
    """Yield a temporary folder that all workers see."""
    place = context.work() if context.executor.is_cluster else None
    with TemporaryDirectory(prefix="concepts-", dir=place) as folder:
        yield Path(folder)


def _sample_size(context: Context) -> int:
    return min(context.manifest.n_papers, _SAMPLE)


def _learned_from(context: Context) -> int:
    """Return from how many papers the last model was learned, or 0 if a new one is needed.

    An update uses the model of the last version, until there are half as many papers again.
    """
    previous = context.previous
    record = previous.stage("uat") if previous else None
    if previous is None or record is None or not context.is_update:
        return 0
    is_same = (
        context.is_kept(CONCEPT_MODEL)
        and record.version == UAT_STAGE.version
        and record.parameters == UAT_STAGE.parameters(context)
        and previous.manifest.stages["embeddings"].model
        == context.manifest.stages["embeddings"].model
    )
    known = record.details.get("learned_from")
    if not is_same or not isinstance(known, int) or 2 * _sample_size(context) > 3 * known:
        return 0
    return known


def _learn(context: Context, thesaurus: Thesaurus, n_sampled: int) -> ConceptModel:
    """Learn from a sample of papers how concepts are used."""
    from landscape.overlays.thesaurus.concept_model import learn_model
    from landscape.overlays.thesaurus.matching import join_term_matches

    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(context.manifest.n_papers, size=n_sampled, replace=False))
    tasks, start = [], 0
    for path, part in zip(context.part_files(PAPERS), context.manifest.parts, strict=True):
        for piece in slices(path, part.rows):
            inside = rows[(rows >= start + piece.start) & (rows < start + piece.stop)]
            tasks.append((piece, inside - start - piece.start))
        start += part.rows
    read = partial(_read, path=context.options.thesaurus, checksum=_checksum(context))
    with context.progress("Concepts", total=n_sampled) as advance:
        found = []
        for wording in context.executor.map(read, tasks, n_papers=n_sampled):
            found.append(wording)
            advance(wording.n_papers)
    return learn_model(join_term_matches(found), vectors_of(context)[rows], thesaurus)


def _read(
    task: tuple[Slice, NDArray[np.int64]], *, path: Path | None, checksum: str
) -> TermMatches:
    """Find terms in some papers of a slice."""
    piece, rows = task
    texts = (piece.read(_TEXT).take(rows)[name].to_pylist() for name in _TEXT)
    return _reader(path, checksum).read(*texts)


def _tag(
    task: LayerTask, *, thesaurus: Path | None, checksum: str, work: Path, atlas: Path
) -> None:
    """Tag the papers of a slice with concepts, and write the table."""
    from landscape.overlays.thesaurus.concept_model import ConceptModel
    from landscape.overlays.thesaurus.tagging import tag_wording

    piece, files = task
    if files[UAT].is_file():
        return
    wording = _read((piece, np.arange(len(piece))), path=thesaurus, checksum=checksum)
    vectors = open_matrix(atlas / EMBEDDINGS / f"{piece.part.stem}.npy")[piece.start : piece.stop]
    with threadpool_limits(1):  # on some processors, sums depend on the number of threads
        tags = tag_wording(
            wording,
            vectors,
            _reader(thesaurus, checksum).thesaurus,
            open_matrix(work / _CONCEPTS) if (work / _CONCEPTS).is_file() else None,
            model=ConceptModel.read(atlas / CONCEPT_MODEL),
        )
    tags = tags.sort_values(["row", "score"], ascending=[True, False], kind="stable")
    write_found(task, tags)


@lru_cache(maxsize=1)
def _reader(path: Path | None, _checksum: str) -> TermReader:
    """Return the term reader, which is created once per process and file."""
    from landscape.overlays.thesaurus.matching import TermReader

    return TermReader(_thesaurus(path))


def _thesaurus(path: Path | None) -> Thesaurus:
    return embedded_thesaurus() if path is None else read_once(read_thesaurus, path)


def _checksum(context: Context) -> str:
    """Return the checksum of the thesaurus. An update that keeps it keeps its checksum."""
    path = context.options.thesaurus
    if path is not None and context.previous and path == context.previous.folder / THESAURUS:
        return str(context.previous.manifest.stages["uat"].parameters["thesaurus"])
    return sha256_of(path or data_file(EMBEDDED))


def _concept_vectors(context: Context, thesaurus: Thesaurus) -> NDArray[np.float32] | None:
    """Embed the concepts with the embedding model of the papers, unless the model is paid."""
    from landscape.overlays.thesaurus.tagging import concept_texts

    texts = concept_texts(thesaurus)[1]
    model = context.manifest.stages["embeddings"].model
    # The embedding of all concepts takes longer than the other work of a small update.
    stored = cache_folder("concepts") / f"{digest([model, texts])}.npy"
    with suppress(OSError, ValueError, EOFError):
        vectors: NDArray[np.float32] = np.load(stored, allow_pickle=False)
        if vectors.ndim == 2 and len(vectors) == len(texts):
            return vectors
    found = embed_texts(context, texts, "Concepts")
    if found is not None:
        with suppress(OSError):
            write_matrix(stored, [found], rows=len(found), columns=found.shape[1])
    return found


UAT_STAGE = Stage(
    name="uat",
    version=7,
    parameters=lambda context: {"thesaurus": _checksum(context)},
    inputs=inputs_from(papers="ingest", vectors="embeddings.vectors"),
    run=_uat_run,
)


_MAX_LENGTH = 500  # maximum number of characters in the name of a stub
_NAMES = ("paper_id", "bibcode", "arxiv_id", "doi")
_LISTS = {"ref_bibcodes": False, "cite_bibcodes": True}
"""Columns with names of linked papers. The value is True if the linked papers cite the paper."""


def _citations_run(context: Context) -> StageResult:
    from landscape.overlays.citations import influence, link

    with progress("Citations", total=4) as advance:
        citing, cited, stubs, titles = _read_pairs(context)
        advance(1)
        n_read, n_papers = len(citing), context.manifest.n_papers
        inside = (citing >= 0) & (cited >= 0) & ((citing < n_papers) | (cited < n_papers))
        n_outside = int((~inside).sum())
        citing, cited, stubs = _without_unlinked(citing[inside], cited[inside], stubs, n_papers)
        n_nodes = n_papers + len(stubs)
        references = link(citing, cited, n_nodes=n_nodes)
        advance(1)
        citations = references.reversed()
        advance(1)
        arrays: dict[str, np.ndarray] = {INFLUENCE: influence(references)}
        for direction, links in (("references", references), ("citations", citations)):
            starts, targets = matrix_files(direction)
            arrays |= {starts: links.starts, targets: links.targets}
        for name, values in arrays.items():
            with replacing(context.folder / name) as temporary, temporary.open("wb") as stream:
                np.save(stream, values, allow_pickle=False)
        _write_stubs(context, stubs, titles, references, citations)
        advance(1)
    names = [*arrays, STUBS]
    keep_only(context.folder / CITATIONS, {name.rpartition("/")[2] for name in names})
    among = np.repeat(np.arange(n_nodes), references.degrees) < n_papers
    return StageResult(
        rows=n_papers,
        outputs=names,
        details={
            "pairs_read": n_read,
            "links": len(references.targets),
            "links_within": int((among & (references.targets < n_papers)).sum()),
            "papers_with_references": int((references.degrees[:n_papers] > 0).sum()),
            "papers_cited": int((citations.degrees[:n_papers] > 0).sum()),
            "stubs": len(stubs),
            "outside": n_outside,
        },
    )


def _without_unlinked(
    citing: NDArray[np.int64], cited: NDArray[np.int64], stubs: tuple[str, ...], n_papers: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Remove stubs without a link to a paper of the atlas, and renumber the other stubs."""
    ends = np.concatenate([citing, cited])
    is_end = np.zeros(n_papers + len(stubs), dtype=bool)
    is_end[ends] = True
    kept = n_papers + np.flatnonzero(is_end[n_papers:])
    numbers = np.arange(n_papers + len(stubs))
    numbers[kept] = n_papers + np.arange(len(kept))
    return numbers[citing], numbers[cited], tuple(stubs[node - n_papers] for node in kept.tolist())


def _read_pairs(
    context: Context,
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...], dict[str, str]]:
    """Read citations from the records of the papers and from the citation files of the user.

    Return the citing and the cited node of every pair, and the names and titles of the stubs.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from landscape.corpus import read_citations
    from landscape.overlays.citations import normalise_name, resolve

    papers: dict[str, list[str | None]] = {name: [] for name in _NAMES}
    titles: dict[str, str] = {}
    # Pairs of citing and cited papers, which are given as rows of the atlas or as names.
    pairs: list[tuple[NDArray[np.int64] | pa.Array, NDArray[np.int64] | pa.Array]] = []
    start = 0
    for path in context.part_files(PAPERS):
        table = read_columns([path], [*_NAMES, *_LISTS])
        for name in _NAMES:
            papers[name] += table[name].to_pylist()
        for name, is_citing in _LISTS.items():
            column = table[name].combine_chunks()
            owners = np.asarray(pc.list_parent_indices(column), dtype=np.int64) + start
            others = pc.list_flatten(column).cast(pa.string())
            pairs.append((others, owners) if is_citing else (owners, others))
        start += table.num_rows
    for path in context.options.citations:
        read = read_once(read_citations, path)
        pairs.append((read.citing, read.cited))
        titles.update(read.titles)
    if has_sections(context):
        listed, of_references = _read_references(context, papers)
        pairs.append(listed)
        titles = of_references | titles
    if context.previous and context.is_update and not context.options.citations:
        earlier, earlier_titles = _known_pairs(context, context.previous)
        pairs.append(earlier)
        titles.update(earlier_titles)

    texts = [_names_in(end) for pair in pairs for end in pair if isinstance(end, pa.Array)]
    names = pc.unique(pa.chunked_array(texts, pa.string())).drop_null()
    found = resolve(names.to_pylist(), papers, n_papers=context.manifest.n_papers)

    def nodes(ends: NDArray[np.int64] | pa.Array) -> NDArray[np.int64]:
        if isinstance(ends, np.ndarray):
            return ends
        place = np.asarray(pc.fill_null(pc.index_in(_names_in(ends), names), -1), dtype=np.int64)
        nodes = np.where(place >= 0, found.nodes[place], -1) if len(names) else place
        if not isinstance(ends, pa.DictionaryArray):
            return nodes
        numbers = np.asarray(pc.fill_null(ends.indices, -1), dtype=np.int64)
        return np.append(nodes, -1)[numbers]

    none = np.zeros(0, dtype=np.int64)
    citing = np.concatenate([none, *(nodes(citing) for citing, _ in pairs)])
    cited = np.concatenate([none, *(nodes(cited) for _, cited in pairs)])
    known = set(found.stubs)
    normalised = {normalise_name(name): title for name, title in titles.items()}
    return citing, cited, found.stubs, {n: t for n, t in normalised.items() if n in known}


def _read_references(
    context: Context, papers: dict[str, list[str | None]]
) -> tuple[tuple[NDArray[np.int64], pa.Array], dict[str, str]]:
    """Return the citations in full texts, as rows and names, and the titles of the names.

    A reference is named by the paper of the atlas that has one of its identifiers or its title.
    """
    import pyarrow as pa

    from landscape.overlays.citations import resolve

    columns = ["row", "title", "year", "bibcode", "doi", "arxiv_id"]
    citing, parts, start = [np.zeros(0, np.int64)], [], 0
    for path, part in zip(context.part_files(REFERENCES), context.manifest.parts, strict=True):
        table = read_columns([path], columns)
        citing.append(table["row"].to_numpy().astype(np.int64) + start)
        parts.append(table.drop_columns(["row"]))
        start += part.rows
    found = pa.concat_tables(parts).to_pydict()
    every = [*zip(*(found[name] for name in ("bibcode", "doi", "arxiv_id")), strict=True)]
    known = sorted({name for names in every for name in names if name})
    nodes = resolve(known, papers, n_papers=context.manifest.n_papers).nodes.tolist()
    inside = {
        name: n for name, n in zip(known, nodes, strict=True) if 0 <= n < len(papers["paper_id"])
    }
    by_title = _rows_by_title(context)
    chosen: list[str | None] = []
    titles: dict[str, str] = {}
    for names, title, year in zip(every, found["title"], found["year"], strict=True):
        row = next((inside[name] for name in names if name in inside), None)
        own, dated = by_title.get(normal_title(title or ""), (None, None))
        if row is None and own is not None and year and dated and abs(year - dated) <= _YEARS_APART:
            row = own
        name = papers["paper_id"][row] if row is not None else next(filter(None, names), None)
        chosen.append(name)
        if row is None and name and title:
            titles.setdefault(name, title)
    return (np.concatenate(citing), pa.array(chosen, pa.string())), titles


_YEARS_APART = 2  # maximum number of years between an e-print and its publication
_MIN_TITLE = 25  # characters of a title that identifies a paper


def _rows_by_title(context: Context) -> dict[str, tuple[int, int | None]]:
    """Return the row and the year of papers by title, for titles that occur once."""
    table = read_columns(context.part_files(PAPERS), ["title", "year"]).to_pydict()
    found: dict[str, tuple[int, int | None]] = {}
    twice: set[str] = set()
    for row, (title, year) in enumerate(zip(table["title"], table["year"], strict=True)):
        key = normal_title(title)
        if len(key) >= _MIN_TITLE:
            twice |= {key} & found.keys()
            found[key] = row, year
    return {key: value for key, value in found.items() if key not in twice}


def _known_pairs(
    context: Context, previous: Previous
) -> tuple[tuple[pa.Array, pa.Array], dict[str, str]]:
    """Return the citations of the last version as pairs of names, and the titles of its stubs."""
    import pyarrow as pa

    record = previous.stage("citations")
    if record is None or not record.parameters.get("files"):
        return (pa.array([], pa.string()), pa.array([], pa.string())), {}
    starts, targets = (
        np.load(previous.folder / name, allow_pickle=False) for name in matrix_files("references")
    )
    stubs = read_columns([previous.folder / STUBS], ["stub_id", "title"])
    renamed = renamed_papers(context)
    papers = [renamed.get(name, name) for name in paper_ids(previous.files(PAPERS))]
    names = pa.array(papers + stubs["stub_id"].to_pylist(), pa.string())
    citing = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ends = [
        pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), names)
        for rows in (citing, targets)
    ]
    titles = zip(stubs["stub_id"].to_pylist(), stubs["title"].to_pylist(), strict=True)
    return (ends[0], ends[1]), {name: title for name, title in titles if title}


def _names_in(ends: pa.Array) -> pa.Array:
    """Return the names in a column, each once if the column has a dictionary."""
    import pyarrow as pa

    return ends.dictionary if isinstance(ends, pa.DictionaryArray) else ends


def _write_stubs(
    context: Context,
    stubs: tuple[str, ...],
    titles: dict[str, str],
    references: Links,
    citations: Links,
) -> None:
    import pyarrow as pa

    from landscape._wording import one_line
    from landscape.overlays.citations import read_year

    n_papers = context.manifest.n_papers
    table = pa.table(
        {
            "stub_id": pa.array([one_line(name, most=_MAX_LENGTH) for name in stubs], pa.string()),
            "title": pa.array([titles.get(name) for name in stubs], pa.string()),
            "year": pa.array([read_year(name) for name in stubs], pa.int16()),
            "n_citing": pa.array(citations.degrees[n_papers:], pa.int32()),
            "n_cited": pa.array(references.degrees[n_papers:], pa.int32()),
        }
    )
    write_table(context.folder / STUBS, table)


CITATIONS_STAGE = Stage(
    name="citations",
    version=2,
    parameters=lambda context: {
        "files": checksums(context, "citations", "files", context.options.citations)
    },
    inputs=lambda context: inputs_from(papers="ingest", **sections_input(context))(context),
    run=_citations_run,
)
