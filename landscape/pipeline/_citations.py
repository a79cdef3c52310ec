"""Stage that writes the citation graph, including papers outside the atlas (stubs)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape._io import replacing, sha256_of
from landscape._progress import progress
from landscape.overlays.citations import CITATIONS, INFLUENCE, STUBS, matrix_files
from landscape.pipeline._ingest import PAPERS
from landscape.pipeline._rows import read_columns, write_table
from landscape.pipeline.stages import Context, Stage, StageResult, inputs_from, keep_only, read_once

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.overlays.citations import Links

_MAX_LENGTH = 500  # maximum number of characters in the name of a stub
_NAMES = ("paper_id", "bibcode", "arxiv_id", "doi")
_LISTS = {"ref_bibcodes": False, "cite_bibcodes": True}
"""Columns with names of linked papers. The value is True if the linked papers cite the paper."""


def _run(context: Context) -> StageResult:
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
        context.begin_writing()
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
    parameters=lambda context: {"files": [sha256_of(p) for p in context.options.citations]},
    inputs=inputs_from(papers="ingest"),
    run=_run,
    checks_first=True,
)
