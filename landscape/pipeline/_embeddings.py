"""Stage that computes the embeddings or reads them from the inputs, one file per part."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import sha256_of, write_bytes
from landscape.embeddings.embedder import WordEmbedder
from landscape.errors import InputError
from landscape.pipeline._executor import Executor
from landscape.pipeline._ingest_stage import PAPERS, brings_all, ready_files
from landscape.pipeline._rows import Chunk, PartWork, finish, known_by_part, match_ids, paper_ids
from landscape.pipeline.stages import (
    Context,
    Previous,
    Stage,
    StageResult,
    clear_work,
    keep_only,
    read_once,
)
from landscape.store.arrays import (
    BLOCK,
    COUNTS,
    WORDS,
    gather_rows,
    open_matrices,
    open_matrix,
    open_words,
    write_matrix,
    write_words,
)
from landscape.store.manifest import digest
from landscape.text.word_index import STOP_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.embeddings import Embedder
    from landscape.embeddings.embedder import PaidEmbedder
    from landscape.embeddings.neighbours import Sample
    from landscape.embeddings.precomputed import ReadyVectors
    from landscape.embeddings.vectors import WordVectors
    from landscape.store.manifest import Manifest

EMBEDDINGS = "embeddings"
VERSION = 2

WITH_WORDS = frozenset(["minilm"])
"""Embedders that also compute the word vectors for reranking."""

READY_MODELS = {("pathfinder", 1536): "text-embedding-3-small"}
"""Embedding models of precomputed vectors, by source and dimension (Iyer et al. 2024)."""


def embedder_of(context: Context) -> str:
    """Return the embedder of this build. If no option is set, it depends on the inputs."""
    asked = context.options.embedder
    if asked is not None:
        return asked
    return "ready" if brings_all(context, "vectors") else "minilm"


def prepare_embedder(context: Context) -> None:
    """Provide the weights of the default model before the stages that take long."""
    from landscape.embeddings.weights import INSTALL, MODEL, model_folder, provide_weights

    if embedder_of(context) == "minilm":
        if without := context.executor.without_weights:
            raise InputError(
                f"The worker {without[0]} has no weights of {MODEL}. Install them on all machines "
                f"with: {INSTALL}"
            )
        if context.options.approve is not None:
            provide_weights(context.options.approve)
        model_folder()


def _parameters(context: Context) -> dict[str, Any]:
    from landscape.embeddings.embedder import identity

    spec = embedder_of(context)
    parameters = {"embedder": spec, **identity(spec)}
    asked, previous = context.options.precision, context.previous
    record = previous.stage("embeddings") if previous else None
    kept = record.parameters.get("precision") if record else None
    if asked == "float32" or (asked is None and context.options.seed is not None):
        kept = "float32"  # vectors in bf16 differ between CPUs
    elif asked == "int8":
        kept = kept or asked
    if spec == "minilm" and kept:
        parameters["precision"] = kept
    return parameters


def _inputs(context: Context) -> dict[str, str]:
    spec = embedder_of(context)
    if spec.startswith("ready:"):
        from landscape.embeddings.precomputed import file_and_model

        file, _ = file_and_model(spec.partition(":")[2])
        if not file.is_file():
            raise InputError(f"There is no file of precomputed vectors {file}; check --embedder.")
        papers = context.product("ingest", "papers")
        return {"papers": papers, "vectors": sha256_of(file)}
    products = context.manifest.stages["ingest"].products
    kind = "vectors/" if spec == "ready" else "texts/"
    return {name: value for name, value in products.items() if name.startswith(kind)}


def _run(context: Context) -> StageResult:
    folder = context.folder / EMBEDDINGS
    folder.mkdir(exist_ok=True)
    spec, details = embedder_of(context), dict[str, object](reused=0)
    if context.options.on is not None:
        from landscape.mapping import read_basemap

        read_once(read_basemap, context.options.on).check_embedder(spec)
    if spec == "ready":
        model = _take_ready(context)
    elif spec.startswith("ready:"):
        model = _take_file(context, spec)
    else:
        model, details = _embed(context)
    vectors = context.part_files(EMBEDDINGS, ".npy")
    outputs = []
    for table in (EMBEDDINGS, WORDS, COUNTS):
        is_made = table == EMBEDDINGS or spec in WITH_WORDS
        files = context.part_files(table, ".npy") if is_made else []
        outputs += files
        if (context.folder / table).is_dir():
            keep_only(context.folder / table, {path.name for path in files})
    clear_work(context, "embeddings")
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[f"{path.parent.name}/{path.name}" for path in outputs],
        products={"vectors": digest([sha256_of(path) for path in vectors])},
        model=model,
        details=details,
    )


def _embed(context: Context) -> tuple[dict[str, Any], dict[str, object]]:
    """Embed the papers. Vectors of the same model in the last finished build are reused."""
    settings_digest = digest([VERSION, _parameters(context)])
    kept = _kept_parts(context, settings_digest)
    known = _Known(context.previous, settings_digest, without=kept)
    parts = [path for path in context.part_files(PAPERS) if path.stem not in kept]
    planned = [
        PartWork.plan(
            part,
            known.keys,
            folder=context.work("embeddings", part.stem),
            settings_digest=settings_digest,
            ending=".npy",
        )
        for part in parts
    ]
    embedder = _LazyEmbedder(context, settings_digest, known.model, planned)
    n_kept = sum(part.rows for part in context.manifest.parts if part.name in kept)
    with context.progress("Embeddings", total=context.manifest.n_papers) as advance:
        advance(n_kept)
        finish(*embedder.work(), planned, advance, embeds=True)
    model = embedder.describe()
    before = context.previous.stage("embeddings") if context.previous else None
    known_devices, known_models = (known_by_part(before, name) for name in ("devices", "models"))
    devices: dict[str, Any] = {name: known_devices.get(name) for name in kept}
    checksum = model.get("checksum")
    models = {name: known_models.get(name, checksum) for name in kept}
    models |= {part.stem: checksum for part in parts}
    for part, one in zip(parts, planned, strict=True):
        target, chunks = context.folder / EMBEDDINGS / f"{part.stem}.npy", one.chunks
        sources = [*known.matrices, *(open_matrix(chunk.file) for chunk in chunks)]
        blocks, dimension = _blocks(sources, one.places), int(model["dimension"])
        write_matrix(target, blocks, rows=len(one.places), columns=dimension)
        if embedder_of(context) in WITH_WORDS:
            words = [*known.words, *(open_words(*_word_chunks(chunk.file)) for chunk in chunks)]
            vectors, counts = (context.folder / table / target.name for table in (WORDS, COUNTS))
            write_words(vectors, counts, words, one.places)
        for chunk in chunks:
            if (file := _device_file(chunk.file)).is_file():
                counted, device = devices.setdefault(part.stem, {}), file.read_text()
                counted[device] = counted.get(device, 0) + len(chunk.rows)
    n_reused = n_kept + sum(one.n_reused for one in planned)
    return model, {"reused": n_reused, "devices": devices, "models": models}


def vectors_of(context: Context) -> NDArray[np.float32]:
    """Memory-map the embeddings of all papers."""
    return open_matrices(context.part_files(EMBEDDINGS, ".npy"))


def sampled_neighbours(folder: Path, manifest: Manifest, *, seed: int = 0) -> Sample:
    """Return the nearest papers of a sample, which several stages use but one search finds."""
    files = manifest.part_files(folder, EMBEDDINGS, ".npy")
    return _sampled(tuple(files), manifest.stages["embeddings"].products["vectors"], seed)


@lru_cache(maxsize=1)
def _sampled(files: tuple[Path, ...], _vectors: str, seed: int) -> Sample:
    from landscape.embeddings.neighbours import sample_neighbours

    return sample_neighbours(open_matrices(list(files)), seed=seed)


def _kept_parts(context: Context, settings_digest: str) -> set[str]:
    """Return the parts whose texts and embedding settings have not changed."""
    previous = context.previous
    record = previous.stage("embeddings") if previous else None
    if previous is None or record is None or previous.stage("ingest") is None:
        return set()
    if digest([record.version, record.parameters]) != settings_digest:
        return set()
    tables = (EMBEDDINGS, WORDS, COUNTS) if record.parameters["embedder"] in WITH_WORDS else ()
    old = previous.manifest.stages["ingest"].products
    new = context.manifest.stages["ingest"].products
    return {
        part.name
        for part in context.manifest.parts
        if new[f"texts/{part.name}"] == old.get(f"texts/{part.name}")
        and context.is_kept(*(f"{table}/{part.name}.npy" for table in tables or (EMBEDDINGS,)))
    }


def _take_ready(context: Context) -> dict[str, object]:
    from landscape.embeddings.precomputed import ReadyVectors

    names = {part.source for part in context.manifest.parts if part.rows}
    ready = [ReadyVectors(path) if path else None for path in ready_files(context, "vectors")]
    dimensions = {brought.dimension for brought in ready if brought is not None}
    if len(dimensions) > 1:
        raise InputError(
            f"The precomputed vectors have different dimensions ({sorted(dimensions)}), so they "
            "are from different models. Compute all embeddings with --embedder minilm."
        )
    dimension = dimensions.pop()
    source = names.pop() if len(names) == 1 else ""
    model = READY_MODELS.get((source, dimension), "unknown")
    for brought, target in zip(ready, context.part_files(EMBEDDINGS, ".npy"), strict=True):
        if brought and brought.path == target:
            continue  # the part of the last version
        blocks = brought.blocks() if brought else iter(())
        rows = brought.rows if brought else 0
        write_matrix(target, blocks, rows=rows, columns=dimension)
    return {"name": "ready", "model": model, "dimension": dimension, "checksum": None}


def _take_file(context: Context, spec: str) -> dict[str, object]:
    from landscape.embeddings.precomputed import ReadyVectors, file_and_model

    path, model = file_and_model(spec.partition(":")[2])
    ready = ReadyVectors(path, model=model)
    rows = _rows_by_id(context, ready) if ready.is_parquet else _rows_by_number(context, ready)
    # Check and normalise the vectors in the order of the file, then sort them as in the atlas.
    whole = context.work("embeddings", "ready.npy")
    write_matrix(whole, ready.blocks(), rows=ready.rows, columns=ready.dimension)
    targets = context.part_files(EMBEDDINGS, ".npy")
    ends = np.cumsum([part.rows for part in context.manifest.parts])
    for target, of_part in zip(targets, np.split(rows, ends[:-1]), strict=True):
        blocks = _blocks([open_matrix(whole)], of_part)
        write_matrix(target, blocks, rows=len(of_part), columns=ready.dimension)
    return dict(ready.describe())


def _rows_by_number(context: Context, ready: ReadyVectors) -> NDArray[np.int64]:
    """Match rows to papers by order. Raise InputError if a record was merged or rejected."""
    counts = context.manifest.stages["ingest"].details
    if counts["merged"] or counts["rejected"]:
        raise InputError(
            f"The vectors in {ready.path} cannot be matched to papers: of {counts['read']:,} "
            f"records, {counts['merged']:,} were merged and {counts['rejected']:,} were rejected. "
            "Pass a Parquet file with the columns paper_id (as in papers.parquet) and embedding."
        )
    if ready.rows != counts["kept"]:
        raise InputError(
            f"The vectors in {ready.path} cannot be used: the file has {ready.rows:,} rows for "
            f"{counts['kept']:,} papers. Pass a file with one row per paper."
        )
    return np.arange(ready.rows)


def _rows_by_id(context: Context, ready: ReadyVectors) -> NDArray[np.int64]:
    ids = paper_ids(context.part_files(PAPERS))
    rows = match_ids(ids, ready.ids())
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        raise InputError(
            f"{ready.path} has no vector for {len(missing):,} of {len(rows):,} papers, such as "
            f"paper_id {ids[missing[0]]!r}; add them, or embed all papers with --embedder minilm."
        )
    return rows


def _blocks(
    sources: list[NDArray[np.float32]], rows: NDArray[np.int64]
) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(rows), BLOCK):
        yield gather_rows(sources, rows[start : start + BLOCK])


def _word_chunks(chunk: Path) -> tuple[Path, Path]:
    """Return the files of the word vectors of a chunk. They are written before the chunk."""
    return chunk.with_suffix(".words.npy"), chunk.with_suffix(".counts.npy")


class _Known:
    """Vectors of the last finished build that can be reused, if the model is the same."""

    def __init__(
        self, previous: Previous | None, settings_digest: str, *, without: Collection[str]
    ) -> None:
        # Papers with the same text have the same vector.
        usable = previous is not None and previous.stage("ingest") is not None
        record = previous.stage("embeddings") if previous and usable else None
        self.model: dict[str, Any] | None = None
        self.matrices: list[NDArray[np.float32]] = []
        self.words: list[WordVectors] = []
        self.keys = np.zeros((0, 2), np.uint64)
        if previous is None or record is None:
            return
        if digest([record.version, record.parameters]) == settings_digest:
            files = partial(previous.files, ending=".npy", without=without)
            matrices = [open_matrix(path) for path in files(EMBEDDINGS)]
            words, keys = [], previous.keys(without=without)
            if record.parameters["embedder"] in WITH_WORDS:
                pairs = zip(files(WORDS), files(COUNTS), strict=True)
                words = [open_words(*pair) for pair in pairs]
            # The files may come from anybody, so they must fit together.
            lengths = [sum(map(len, matrices)), sum(map(len, words)) if words else len(keys)]
            fit = all(part.lengths.sum() == len(part.vectors) for part in words)
            if fit and lengths == [len(keys)] * 2:
                self.model, self.matrices, self.words, self.keys = (
                    record.model,
                    matrices,
                    words,
                    keys,
                )


def _device_file(chunk: Path) -> Path:
    """Return the file with the name of the device that embedded a chunk."""
    return chunk.with_suffix(".device")


def _write_chunk(chunk: Chunk, embedder: Embedder, note: Path) -> None:
    """Write the vectors of a chunk, and the description of the model if it is not known yet."""
    texts, path = chunk.texts(), chunk.file
    if isinstance(embedder, WordEmbedder):
        vectors, words = embedder.embed_words(texts, stop_words=STOP_WORDS)
        write_words(*_word_chunks(path), [words], np.arange(len(words)))
    else:
        vectors = embedder.embed(texts)
    described = json.dumps(dict(embedder.describe())).encode()
    if not note.is_file() or note.read_bytes() != described:
        write_bytes(note, described)
    write_bytes(_device_file(path), str(getattr(embedder, "device", "server")).encode())
    write_matrix(path, iter([vectors]), rows=len(vectors), columns=vectors.shape[1])


def _embed_on_worker(chunk: Chunk, *, spec: str, precision: str | None, note: Path) -> None:
    """Embed a chunk on a worker of a cluster."""
    _write_chunk(chunk, _worker_embedder(spec, precision), note)


@lru_cache(maxsize=1)
def _worker_embedder(spec: str, precision: str | None) -> Embedder:
    from landscape.embeddings import load_embedder

    return load_embedder(spec, **({"precision": precision} if precision else {}))


class _LazyEmbedder:
    """Embedder that loads the model when it is first used. A paid model must be approved."""

    def __init__(
        self,
        context: Context,
        settings_digest: str,
        known: dict[str, object] | None,
        planned: Sequence[PartWork],
    ) -> None:
        self._context, self._spec, self._planned = context, embedder_of(context), planned
        # The file name contains a hash of the settings, so different settings use different files.
        self._note = context.work("embeddings", f"model-{settings_digest}.json")
        self._known = known
        self._embedder: Embedder | None = None

    def work(self) -> tuple[Executor, Callable[[Chunk], None]]:
        """Return the function that embeds a chunk, and its executor."""
        executor = self._context.executor
        if not executor.is_cluster or self._spec.startswith("openai"):
            # A paid model must be approved in this process.
            return Executor(), lambda chunk: _write_chunk(chunk, self._load(), self._note)
        precision = self._precision()
        if self._spec == "minilm" and precision is None:
            precision = executor.precision
        return executor, partial(
            _embed_on_worker, spec=self._spec, precision=precision, note=self._note
        )

    def _precision(self) -> str | None:
        # New vectors must come from the same model as the existing chunks and vectors.
        described = json.loads(self._note.read_bytes()) if self._note.is_file() else self._known
        settled = {**(described or {}), **_parameters(self._context)}
        return settled.get("precision") if self._spec == "minilm" else None

    def describe(self) -> dict[str, Any]:
        """Return the manifest entry of the model. The model is loaded only if necessary."""
        if self._note.is_file():
            return dict(json.loads(self._note.read_bytes()))
        return dict(self._known or self._load().describe())

    def _load(self) -> Embedder:
        if self._embedder is None:
            from landscape.embeddings import load_embedder
            from landscape.embeddings.embedder import PaidEmbedder

            precision = self._precision()
            options = {"precision": precision} if precision else {}
            self._embedder = load_embedder(self._spec, **options)
            if isinstance(self._embedder, PaidEmbedder):
                self._approve(self._embedder)
        return self._embedder

    def _approve(self, embedder: PaidEmbedder) -> None:
        """Ask the user once to approve the total cost."""
        chunks = chain.from_iterable(one.chunks for one in self._planned)
        todo = (chunk for chunk in chunks if not chunk.file.is_file())
        estimates = [embedder.estimate(chunk.texts()) for chunk in todo]
        costs = [estimate.cost for estimate in estimates]
        whole = replace(
            estimates[0],
            papers=sum(estimate.papers for estimate in estimates),
            tokens=sum(estimate.tokens for estimate in estimates),
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        )
        approve = self._context.options.approve
        if approve is None or not approve(f"Embed {whole}?"):
            raise InputError(
                f"Nothing was sent: embedding {whole} was not approved. Answer the question with "
                "yes, pass --yes, or embed offline with --embedder minilm."
            )
        embedder.allow(whole.papers)


EMBEDDINGS_STAGE = Stage(
    name="embeddings", version=VERSION, parameters=_parameters, inputs=_inputs, run=_run
)
