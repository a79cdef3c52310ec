"""Third stage: one embedding file a part, from the embedder or as the source brought it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.atlas.chunks import finish_chunks
from landscape.atlas.graph import Context, Stage, StageResult, clear_work, keep_only
from landscape.atlas.manifest import digest
from landscape.atlas.matrix import BLOCK, gather_rows, open_matrix, write_matrix
from landscape.atlas.previous import Previous, recall
from landscape.atlas.rows import match_rows, row_keys
from landscape.atlas.stages.ingest import PAPERS, brings_all, ready_files
from landscape.atlas.storage import sha256_of, write_bytes
from landscape.errors import InputError
from landscape.progress import progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.vectors.embedder import Embedder

EMBEDDINGS = "embeddings"
VERSION = 1


def embedder_of(context: Context) -> str:
    """Return the embedder that this build uses: the one asked for, else the fitting default."""
    asked = context.options.embedder
    if asked is not None:
        return asked
    return "ready" if brings_all(context, "vectors") else "minilm"


def _parameters(context: Context) -> dict[str, Any]:
    return {"embedder": embedder_of(context)}


def _inputs(context: Context) -> dict[str, str]:
    products = context.manifest.stages["ingest"].products
    kind = "vectors/" if embedder_of(context) == "ready" else "texts/"
    return {name: value for name, value in products.items() if name.startswith(kind)}


def _run(context: Context) -> StageResult:
    folder = context.folder / EMBEDDINGS
    folder.mkdir(exist_ok=True)
    spec = embedder_of(context)
    if spec == "ready":
        model = _take_ready(context)
        reused = 0
    else:
        model, reused = _embed(context, spec)
    outputs = context.part_files(EMBEDDINGS, ".npy")
    keep_only(folder, {path.name for path in outputs})
    clear_work(context, "embeddings")
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[f"{EMBEDDINGS}/{path.name}" for path in outputs],
        products={"vectors": digest([sha256_of(path) for path in outputs])},
        model=model,
        details={"reused": reused},
    )


def _embed(context: Context, spec: str) -> tuple[dict[str, Any], int]:
    """Embed what the last finished build has not embedded in the same way."""
    known = _Known(recall(context.folder), spec)
    embedder = _LazyEmbedder(context, spec, known.model)
    n_reused = 0
    targets = context.part_files(EMBEDDINGS, ".npy")
    with progress("Embeddings", total=context.manifest.n_papers) as advance:
        for part, target in zip(context.part_files(PAPERS), targets, strict=True):
            keys = row_keys(part)
            found = match_rows(keys, known.keys)
            new = np.flatnonzero(found < 0)
            n_reused += len(keys) - len(new)
            advance(len(keys) - len(new))
            chunks = finish_chunks(
                part,
                new,
                keys=keys,
                folder=context.work("embeddings", part.stem),
                told=digest([VERSION, spec]),
                ending=".npy",
                work=embedder.write,
                advance=advance,
            )
            found[new] = len(known.keys) + np.arange(len(new))
            sources = [*known.matrices, *map(open_matrix, chunks)]
            dimension = int(embedder.describe()["dimension"])
            write_matrix(target, _blocks(sources, found), rows=len(found), columns=dimension)
    return embedder.describe(), n_reused


def _take_ready(context: Context) -> dict[str, Any]:
    """Normalise the vectors that the sources brought."""
    ready = [open_matrix(path) if path else None for path in ready_files(context, "vectors")]
    dimensions = {matrix.shape[1] for matrix in ready if matrix is not None}
    if len(dimensions) > 1:
        raise InputError(
            f"The ready-made vectors have different dimensions ({sorted(dimensions)}), so they "
            "come from different models; embed all papers anew with --embedder minilm."
        )
    dimension = dimensions.pop() if dimensions else 0
    nothing = np.empty((0, dimension), dtype=np.float32)
    for brought, target in zip(ready, context.part_files(EMBEDDINGS, ".npy"), strict=True):
        matrix = nothing if brought is None else brought
        write_matrix(target, _normalised(matrix), rows=len(matrix), columns=dimension)
    return {"name": "ready", "model": "as the sources brought them", "dimension": dimension}


def _normalised(matrix: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(matrix), BLOCK):
        block = np.asarray(matrix[start : start + BLOCK], dtype=np.float32)
        length = np.linalg.norm(block, axis=1, keepdims=True)
        yield (block / np.where(length > 0, length, 1.0)).astype(np.float32)


def _blocks(
    sources: list[NDArray[np.float32]], rows: NDArray[np.int64]
) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(rows), BLOCK):
        yield gather_rows(sources, rows[start : start + BLOCK])


class _Known:
    """Vectors of the last finished build, if the same model made them."""

    def __init__(self, previous: Previous | None, spec: str) -> None:
        record = previous.stage("embeddings") if previous else None
        self.model: dict[str, Any] | None = None
        self.matrices: list[NDArray[np.float32]] = []
        self.keys = np.zeros((0, 2), np.uint64)
        if previous is None or record is None:
            return
        if (record.version, record.parameters.get("embedder")) == (VERSION, spec):
            self.model = record.model
            self.matrices = [open_matrix(p) for p in previous.files(EMBEDDINGS, ".npy")]
            self.keys = previous.keys()


class _LazyEmbedder:
    """Loads the model when the first chunk needs it."""

    def __init__(self, context: Context, spec: str, known: dict[str, Any] | None) -> None:
        self._context, self._spec = context, spec
        self._note = context.work("embeddings", "model.json")
        # Chunks of a killed build, or vectors to be used again: the same precision as theirs.
        self._described = json.loads(self._note.read_bytes()) if self._note.is_file() else known
        self._embedder: Embedder | None = None

    def write(self, texts: list[str], path: Path) -> None:
        with path.open("wb") as stream:
            np.save(stream, self._load().embed(texts).astype(np.float32, copy=False))

    def describe(self) -> dict[str, Any]:
        """What goes into the manifest; the model is not loaded for it where it is known."""
        if self._described is None:
            self._load()
        return dict(self._described or {})

    def _load(self) -> Embedder:
        if self._embedder is None:
            from landscape.vectors.embedder import load_embedder

            precision = (self._described or {}).get("precision")
            options = {"precision": precision} if precision else {}
            self._embedder = load_embedder(self._spec, **options)
            self._described = dict(self._embedder.describe())
            write_bytes(self._note, json.dumps(self._described).encode())
        return self._embedder


STAGE = Stage(name="embeddings", version=VERSION, parameters=_parameters, inputs=_inputs, run=_run)
