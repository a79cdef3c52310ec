"""Exports: what another program reads is what the atlas has."""

from __future__ import annotations

import csv
import errno
import io
import os
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from landscape import Atlas
from landscape._serializer import to_csv
from landscape.cli import main
from landscape.errors import InputError
from landscape.overlays.citations import citation_graph
from landscape.viewer import export


def test_a_table(demo_atlas: Atlas, tmp_path: Path) -> None:
    table = pd.read_csv(export(demo_atlas, tmp_path / "papers.csv"), dtype={"paper_id": str})
    assert len(table) == 400
    assert table["paper_id"].tolist() == demo_atlas.map["paper_id"].tolist()
    assert np.allclose(table["x"], demo_atlas.map["x"], atol=1e-4)
    named = demo_atlas.topics.set_index("topic_id")["label"]
    wanted = demo_atlas.map["topic_id"].map(named).fillna("")
    assert table["region"].fillna("").tolist() == wanted.tolist()
    assert table["continent"].notna().mean() > 0.5
    authors = demo_atlas.read_papers(["authors"])["authors"]
    assert table["authors"].tolist() == ["; ".join(names) for names in authors]


def test_the_graph_of_citations(demo_atlas: Atlas, tmp_path: Path) -> None:
    graph = nx.read_graphml(export(demo_atlas, tmp_path / "papers.graphml"))
    assert graph.number_of_nodes() == 400
    known = citation_graph(demo_atlas)
    ids = demo_atlas.map["paper_id"].tolist()
    edges = {
        (ids[row], ids[other])
        for row in range(400)
        for other in known.reference_links.of(row).tolist()
        if other < 400
    }
    assert edges
    assert set(graph.edges) == edges
    assert graph.nodes[ids[0]]["title"] == demo_atlas.papers["title"][0]


def test_embedding_atlas(demo_atlas: Atlas, tmp_path: Path) -> None:
    path = export(demo_atlas, tmp_path / "papers.parquet")
    table = pd.read_parquet(path)
    assert {"title", "abstract", "projection_x", "projection_y", "region"} <= set(table)
    assert table["projection_x"].tolist() == demo_atlas.map["x"].tolist()


def test_bad_input(
    demo_atlas: Atlas,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match=r"name it papers\.graphml"):
        export(demo_atlas, tmp_path / "papers.csv", to="graphml")
    with pytest.raises(InputError, match="There is no format 'gexf'; use one of csv"):
        export(demo_atlas, tmp_path / "papers.gexf", to="gexf")  # type: ignore[arg-type]
    inside = demo_atlas.path / "topics.parquet"
    before = inside.read_bytes()
    with pytest.raises(InputError, match=r"topics\.parquet is inside the atlas"):
        export(demo_atlas, inside, to="embedding-atlas")
    assert inside.read_bytes() == before

    def fail(_: Atlas) -> None:
        raise InputError("There are no citations; add some.")

    with monkeypatch.context() as patch:
        patch.setattr("landscape.viewer.exporting.citation_graph", fail)
        with pytest.raises(InputError, match="There are no citations; add some"):
            export(demo_atlas, tmp_path / "links.graphml", to="graphml")
    (tmp_path / "folder.graphml").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        export(demo_atlas, tmp_path / "folder.graphml", to="graphml")
    words = ["export", str(demo_atlas.path), str(tmp_path / "p.parquet"), "--to", "embedding-atlas"]
    assert main(words) == 0
    assert f"The papers are in {tmp_path / 'p.parquet'}." in capsys.readouterr().out
    assert main(["export", str(demo_atlas.path), str(tmp_path / "p.parquet" / "p.csv")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_no_control_character_reaches_a_graph(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = "a\x00\x0b\x1b\ud800\ufffe\U0001f600b"
    papers = demo_atlas.read_papers
    changed = {"title": lambda t: odd + t["title"], "paper_id": lambda t: t["paper_id"] + odd}

    def read(columns: Any = None, **options: Any) -> pd.DataFrame:
        return papers(columns, **options).assign(**changed)

    monkeypatch.setattr(type(demo_atlas), "title", odd)
    monkeypatch.setattr(type(demo_atlas), "read_papers", lambda _, *a, **k: read(*a, **k))
    graph = nx.read_graphml(export(demo_atlas, tmp_path / "papers.graphml"))
    assert graph.number_of_nodes() == 400
    assert graph.edges
    assert all(name.endswith("a\U0001f600b") for name in graph.nodes)
    assert all(one["title"].startswith("a\U0001f600b") for one in graph.nodes.values())


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("=cmd", "'=cmd"),
        (" @a", "' @a"),
        ("\tb", "'\tb"),
        ("a;=cmd|' /C calc'!A0", "a;'=cmd|' /C calc'!A0"),
        ("a; -b;c", "a;' -b;c"),
        ("a\n+1", "a\n'+1"),
        ("a\t=1", "a\t'=1"),
        ("a=1, x-y; b", "a=1, x-y; b"),
    ],
)
def test_no_cell_is_a_formula_also_after_a_semicolon(cell: str, safe: str) -> None:
    assert next(csv.reader(io.StringIO(to_csv(pd.DataFrame({cell: [1]}))))) == [safe]
    assert list(csv.reader(io.StringIO(to_csv(pd.DataFrame({"a": [cell]})))))[1] == [safe]


def test_a_full_disk_is_one_sentence(
    demo_atlas: Atlas,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "t"))

    monkeypatch.setattr("landscape.viewer.site.site_pages", fail)
    assert main(["publish", str(demo_atlas.path), str(tmp_path / "site")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert f"landscape: Disk full while writing {tmp_path / 't'}" in lines[-1]
    assert "Free some space and run the same command again." in lines[-1]
