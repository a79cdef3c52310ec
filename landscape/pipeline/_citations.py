"""Stage of the citation graph: references and citations, also of papers outside the atlas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import replacing, sha256_of
from landscape._progress import progress
from landscape.overlays.citations import CITATIONS, INFLUENCE, STUBS, matrix_files
from landscape.pipeline._ingest import PAPERS
from landscape.pipeline._rows import read_columns, write_table
from landscape.pipeline._stages import Context, Stage, StageResult, inputs_from, keep_only

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.overlays.citations import Links

_LONGEST = 500  # characters in the name of a stub
_NAMES = ("paper_id", "bibcode", "arxiv_id", "doi")
_LISTS = {"ref_bibcodes": False, "cite_bibcodes": True}
"""Columns with names of other papers, and whether those papers are the citing ones."""


def _run(context: Context) -> StageResult:
    from landscape.overlays.citations import influence, link

    with progress("Citations", total=4) as advance:
        pairs = _Pairs.read(context)
        advance(1)
        citing, cited, stubs = pairs.resolved()
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
        names = [
            *_write_links(context, "references", references),
            *_write_links(context, "citations", citations),
            _write_array(context, INFLUENCE, influence(references)),
            _write_stubs(context, stubs, pairs.titles, references, citations),
        ]
        advance(1)
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
    """Remove stubs that have no link with a paper of the atlas, and renumber the others."""
    ends = np.concatenate([citing, cited])
    is_end = np.zeros(n_papers + len(stubs), dtype=bool)
    is_end[ends] = True
    kept = n_papers + np.flatnonzero(is_end[n_papers:])
    numbers = np.arange(n_papers + len(stubs))
    numbers[kept] = n_papers + np.arange(len(kept))
    return numbers[citing], numbers[cited], tuple(stubs[node - n_papers] for node in kept.tolist())


class _Pairs:
    """Citing and cited papers by name, from records and files."""

    def __init__(self, papers: dict[str, list[str | None]], n_papers: int) -> None:
        self.papers, self.n_papers = papers, n_papers
        self.titles: dict[str, str] = {}
        self._citing: list[NDArray[np.int64] | pa.Array] = []
        self._cited: list[NDArray[np.int64] | pa.Array] = []

    @classmethod
    def read(cls, context: Context) -> _Pairs:
        """Read the columns of all papers, then the files of the user."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from landscape.corpus.readers._citations import read_citations

        names: dict[str, list[str | None]] = {name: [] for name in _NAMES}
        pairs = cls(names, context.manifest.n_papers)
        start = 0
        for path in context.part_files(PAPERS):
            table = read_columns([path], [*_NAMES, *_LISTS])
            for name in _NAMES:
                names[name] += table[name].to_pylist()
            for name, is_citing in _LISTS.items():
                column = table[name].combine_chunks()
                owners = np.asarray(pc.list_parent_indices(column), dtype=np.int64) + start
                others = pc.list_flatten(column).cast(pa.string())
                pairs._citing.append(others if is_citing else owners)
                pairs._cited.append(owners if is_citing else others)
            start += table.num_rows
        for path in context.options.citations:
            read = read_citations(Path(path))
            pairs._citing.append(read.citing)
            pairs._cited.append(read.cited)
            pairs.titles.update(read.titles)
        return pairs

    def resolved(self) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
        """Return citing and cited nodes of every pair, and the names of stubs."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from landscape.overlays.citations import resolve

        texts = [a for a in (*self._citing, *self._cited) if not isinstance(a, np.ndarray)]
        names = pc.unique(pa.chunked_array(texts, pa.string())).drop_null()
        found = resolve(names.to_pylist(), self.papers, n_papers=self.n_papers)

        def nodes(ends: NDArray[np.int64] | pa.Array) -> NDArray[np.int64]:
            if isinstance(ends, np.ndarray):
                return ends
            place = np.asarray(pc.fill_null(pc.index_in(ends, names), -1), dtype=np.int64)
            return np.where(place >= 0, found.nodes[place], -1) if len(names) else place

        self.titles = dict(self._titles(found.stubs))
        none = np.zeros(0, dtype=np.int64)
        citing = np.concatenate([none, *map(nodes, self._citing)])
        cited = np.concatenate([none, *map(nodes, self._cited)])
        return citing, cited, found.stubs

    def _titles(self, stubs: tuple[str, ...]) -> list[tuple[str, str]]:
        from landscape.overlays.citations import normalise_name

        known = set(stubs)
        normalised = ((normalise_name(name), title) for name, title in self.titles.items())
        return [(name, title) for name, title in normalised if name in known]


def _write_links(context: Context, direction: str, links: Links) -> list[str]:
    starts, targets = matrix_files(direction)
    return [
        _write_array(context, starts, links.starts),
        _write_array(context, targets, links.targets),
    ]


def _write_array(context: Context, name: str, values: NDArray[Any]) -> str:
    with replacing(context.folder / name) as temporary, temporary.open("wb") as stream:
        np.save(stream, values, allow_pickle=False)
    return name


def _write_stubs(
    context: Context,
    stubs: tuple[str, ...],
    titles: dict[str, str],
    references: Links,
    citations: Links,
) -> str:
    import pyarrow as pa

    from landscape.corpus._cleaning import one_line
    from landscape.overlays.citations import read_year

    n_papers = context.manifest.n_papers
    table = pa.table(
        {
            "stub_id": pa.array([one_line(name, most=_LONGEST) for name in stubs], pa.string()),
            "title": pa.array([titles.get(name) for name in stubs], pa.string()),
            "year": pa.array([read_year(name) for name in stubs], pa.int16()),
            "n_citing": pa.array(citations.degrees[n_papers:], pa.int32()),
            "n_cited": pa.array(references.degrees[n_papers:], pa.int32()),
        }
    )
    write_table(context.folder / STUBS, table)
    return STUBS


CITATIONS_STAGE = Stage(
    name="citations",
    version=2,
    parameters=lambda context: {"files": [sha256_of(p) for p in context.options.citations]},
    inputs=inputs_from(papers="ingest"),
    run=_run,
    checks_first=True,
)
