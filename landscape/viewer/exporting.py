"""Export an atlas to other programs: a table, a graph of citations, or Embedding Atlas."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import check_output, expand_home, replacing, reporting_unwritable, write_output
from landscape._serializer import to_csv
from landscape.errors import InputError
from landscape.overlays.citations import citation_graph
from landscape.viewer.settings import Format

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas

_COLUMNS = ["paper_id", "title", "authors", "date", "year", "bibcode", "arxiv_id", "doi", "cites"]
_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SUFFIXES: Mapping[str, str] = {"csv": ".csv", "graphml": ".graphml", "embedding-atlas": ".parquet"}


def export(atlas: Atlas, out: str | os.PathLike[str], *, to: Format | None = None) -> Path:
    """Write the papers of an atlas for another program.

    Parameters
    ----------
    atlas : Atlas
    out : path
        File to write. Its suffix is ``.csv``, ``.graphml`` or ``.parquet``, as the format needs.
    to : {"csv", "graphml", "embedding-atlas"}, optional
        Format of the file. The default is that of its suffix.
        ``csv`` is a table with one row per paper: identifiers, position, region and citations.
        ``graphml`` is the graph of citations between the papers, for Gephi, Cytoscape or networkx.
        ``embedding-atlas`` is a Parquet file with titles, abstracts and positions; open it with
        ``embedding-atlas FILE --text title --x projection_x --y projection_y``.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If the format is unknown, the suffix does not fit, or the file cannot be written.

    Examples
    --------
    >>> import landscape as ls
    >>> from landscape.viewer import export
    >>> export(ls.open("my.atlas"), "papers.csv")  # doctest: +SKIP
    """
    target = expand_home(out)
    by_suffix = {suffix: name for name, suffix in _SUFFIXES.items()}
    kind: str = to or by_suffix.get(target.suffix.lower(), "csv")
    if kind not in _SUFFIXES:
        raise InputError(f"There is no format {kind!r}; use one of {', '.join(_SUFFIXES)}.")
    if target.suffix.lower() != _SUFFIXES[kind]:
        raise InputError(
            f"The file {target.name!r} does not fit the format {kind}; name it "
            f"{target.with_suffix(_SUFFIXES[kind]).name}."
        )
    writers: dict[str, Callable[[Atlas, Path], None]] = {
        "csv": _write_csv,
        "graphml": _write_graph,
        "embedding-atlas": _write_parquet,
    }
    check_output(target, (_SUFFIXES[kind],), what="The papers")
    with reporting_unwritable(target):
        writers[kind](atlas, target)
    return target


def _papers(atlas: Atlas, columns: list[str]) -> pd.DataFrame:
    """Return the papers with their positions and the names of their regions."""
    table = atlas.read_papers(columns)
    topics = atlas.topics.set_index("topic_id")
    region = atlas.map["topic_id"]
    labels, parents = topics["label"], topics["parent_id"]
    return table.assign(
        x=atlas.map["x"],
        y=atlas.map["y"],
        region=region.map(labels).fillna(""),
        continent=region.map(parents).map(labels).fillna(""),
    )


def _write_csv(atlas: Atlas, path: Path) -> None:
    table = _papers(atlas, _COLUMNS).rename(columns={"cites": "citations"})
    write_output(path, to_csv(table))


def _write_graph(atlas: Atlas, path: Path) -> None:
    import networkx as nx

    links = citation_graph(atlas).reference_links
    table = _papers(atlas, ["paper_id", "title", "year"])
    graph = nx.DiGraph(name=_printable(atlas.title))
    for row in table.itertuples():
        found = {
            "title": row.title or "",
            "region": row.region,
            "x": float(row.x),
            "y": float(row.y),
        }
        if row.year == row.year and row.year is not None:
            found["year"] = int(row.year)
        graph.add_node(_printable(row.paper_id), **{k: _printable(v) for k, v in found.items()})
    ids = table["paper_id"].map(_printable).to_numpy()
    n = len(ids)
    citing = np.repeat(np.arange(n), np.diff(links.starts[: n + 1]))
    cited = np.asarray(links.targets[: links.starts[n]])
    inside = cited < n  # the others are papers outside the atlas
    graph.add_edges_from(zip(ids[citing[inside]], ids[cited[inside]], strict=True))
    with replacing(path) as temporary:
        nx.write_graphml(graph, temporary)


def _printable(value: object) -> object:
    """Remove characters that XML does not allow from a text."""
    if not isinstance(value, str):
        return value
    return _NOT_XML.sub("", value)


def _write_parquet(atlas: Atlas, path: Path) -> None:
    table = _papers(atlas, [*_COLUMNS, "abstract"]).rename(
        columns={"x": "projection_x", "y": "projection_y", "cites": "citations"}
    )
    table["authors"] = ["; ".join(names) if names is not None else "" for names in table["authors"]]
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False)
