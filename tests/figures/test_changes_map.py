"""What updates have changed, as a table, as a figure and as a page."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import landscape as ls
from landscape._serializer import SHOWN
from landscape.cli import main
from landscape.errors import InputError
from landscape.figures import changes, interactive, save_table
from landscape.figures.export import draw
from landscape.figures.plotly_backend import MAX_MARKS, count_marks
from landscape.overlays.changes import region_changes
from landscape.types import Analysis
from tests.figures.test_bounding_boxes import overlap, rendered_boxes

HOSTILE = "<script>alert(1)</script> | [a](http://x)"
SUBJECTS = ("spiral galaxies", "hot Jupiters", "magnetars", "weak lensing")
DISHES = ("saffron soup", "barley bread", "roast pheasant", "almond tart", "spiced wine")


def write_papers(path: Path, numbers: Sequence[int]) -> Path:
    """Write papers of four subjects; papers from 1000 are about another subject."""
    rows = []
    for n in numbers:
        what, other = SUBJECTS[n % 4], SUBJECTS[(n + 1) % 4]
        text = f"We observe {what} and compare them with other {what} of survey {n % 5}."
        if n >= 1000:
            what, other = "medieval cooking", DISHES[n % 5]
            text = f"This medieval cooking recipe describes {other}. Medieval cooking used honey."
        title = f"{what.capitalize()} and {other} in sample {n}"
        rows.append(
            {
                "arxiv_id": f"2401.{n:05d}",
                "title": title + (f" {HOSTILE}" if n >= 1000 else ""),
                "abstract": text,
                "authors": ["Someone, A."],
                "date": f"{2001 + n % 20}-{n % 12 + 1:02d}-10",
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def updated(tmp_path_factory: pytest.TempPathFactory) -> ls.Atlas:
    """An atlas of 60 papers, to which 50 known and 15 novel papers were added."""
    folder = tmp_path_factory.mktemp("changed")
    first = write_papers(folder / "first.jsonl", range(60))
    ls.build(first, folder / "a.atlas", layout="pca", workers=1, tagger="rules")
    new = write_papers(folder / "new.jsonl", [*range(60, 110), *range(1000, 1015)])
    return ls.update(folder / "a.atlas", new, workers=1)


def changes_of(atlas: ls.Atlas) -> Analysis:
    """Return changes of a made-up atlas: 20 regions, 3 proposed regions and 200 added papers."""
    regions = atlas.topics[atlas.topics["level"] == 1].head(20).reset_index(drop=True)
    kinds = np.resize(["grew", "shrank", "born", "split", "renamed", "merged"], len(regions))
    gone = kinds == "merged"
    table = regions[["topic_id", "label", "x", "y"]].assign(
        kind=kinds, papers=regions["n_papers"], papers_before=3, reason="5 new papers"
    )
    table.loc[gone, ["x", "y"]] = np.nan
    proposals = pd.DataFrame(
        {
            "label": ["Interstellar comets", "Little blue dots", "Dark comets"],
            "papers": [40, 20, 9],
            "x": regions["x"].head(3) + 0.3,
            "y": regions["y"].head(3) + 0.3,
            "warning": ["", "all of one month (2026-03)", ""],
        }
    )
    rows = np.arange(200)
    added = atlas.map.iloc[rows].assign(paper_row=rows)
    return Analysis(
        "changes",
        table.assign(date="2026-11-02"),
        "Changes of regions.",
        {"papers": len(atlas.map)},
        atlas.coverage,
        tables={
            "regions": table,
            "proposed_regions": proposals,
            "proposed_papers": pd.DataFrame(),
            "added": added,
            "added_by_region": table[["label", "papers"]].assign(added=5, share=0.1),
        },
    )


def test_the_table_has_positions_proposals_and_added_papers(updated: ls.Atlas) -> None:
    found = region_changes(updated)
    table, places = found.table, updated.topics.set_index("topic_id")[["x", "y"]]
    assert len(table) == len(updated.changes) > 0
    assert np.allclose(table[["x", "y"]], places.loc[table["topic_id"]])
    size = (table["papers"] - table["papers_before"]).abs()
    assert size.is_monotonic_decreasing, "all changes are of the same day"
    assert found.tables["added"]["paper_row"].tolist() == list(range(60, 125))
    new = updated.map.iloc[60:]
    assert found.tables["added"]["paper_id"].tolist() == new["paper_id"].tolist()
    by_region = found.tables["added_by_region"].set_index("topic_id")["added"]
    counts = new.loc[new["topic_id"] >= 0, "topic_id"].value_counts()
    assert by_region.to_dict() == counts.to_dict()
    (proposal,) = found.tables["proposed_regions"].itertuples()
    assert "medieval" in proposal.label.lower()
    papers = found.tables["proposed_papers"]
    assert len(papers) == proposal.papers >= 8
    assert papers["title"].str.contains("Medieval").all()
    assert papers["date"].str.fullmatch(r"\d{4}-\d\d-10").all()
    for name in ("proposed_regions", "proposed_papers", "added_by_region"):
        assert set(SHOWN[f"changes.{name}"].split()) <= set(found.tables[name])
    inside = updated.map[updated.map["paper_id"].isin(papers["paper_id"])]
    assert proposal.x == pytest.approx(inside["x"].median(), abs=1e-3)
    assert found.denominators["papers added since the last fit of the map"] == 65
    assert len(region_changes(updated, since="2999-01-01").table) == 0
    with pytest.raises(InputError, match="since is 'May'; give a day such as 2026-11-01"):
        region_changes(updated, since="May")


def test_several_changes_of_a_region_are_one_row() -> None:
    class Changed:
        """Stand-in for an atlas with a list of changes."""

        map = pd.DataFrame({"paper_id": ["p"], "x": [0.0], "y": [0.0], "topic_id": [4]})
        topics = pd.DataFrame(
            {"topic_id": [4, 5], "level": 1, "label": ["D", "E"], "x": 1.5, "y": 2, "n_papers": 9}
        )
        coverage: ClassVar = {"title": "T", "papers": 1, "first_date": "2001", "last_date": "2002"}
        stages: ClassVar = {"projection": type("Stage", (), {"details": {}})}
        manifest = type("Manifest", (), {"parts": [type("Part", (), {"name": "a", "rows": 1})]})

        def read_papers(self, columns: list[str], *, rows: list[int]) -> pd.DataFrame:
            assert not rows
            return pd.DataFrame(columns=columns)

    rows = [
        ("2026-01-01", "grew", 4, "A", 40, 20, "20 new papers"),
        ("2026-02-01", "shrank", 4, "A", 30, 40, "10 papers left"),
        ("2026-02-01", "merged", 5, "B", 0, 6, "is in A"),
        ("2026-03-01", "born", 5, "C", 9, 0, "all new"),
        ("2026-03-01", "renamed", 4, "D", 30, 30, "was A"),
    ]
    names = ["date", "kind", "topic_id", "label", "papers", "papers_before", "reason"]
    atlas = Changed()
    atlas.changes = pd.DataFrame(rows, columns=names)  # type: ignore[attr-defined]
    found = region_changes(atlas)  # type: ignore[arg-type]
    regions = found.tables["regions"].set_index("topic_id")
    assert regions["kind"].to_dict() == {4: "grew", 5: "born"}
    assert regions.loc[4, ["papers_before", "papers"]].tolist() == [20, 30]
    assert regions.loc[4, "reason"] == "20 new papers; 10 papers left; was A"
    gone = found.table[found.table["kind"] == "merged"]
    assert gone[["x", "y"]].isna().all(axis=None), "its number is that of another region now"
    assert found.table["x"].notna().sum() == 4
    assert len(found.tables["added"]) == 0, "the papers of the last fit are unknown"
    assert region_changes(atlas, since="2026-03-01").table["kind"].tolist() == ["born", "renamed"]


@pytest.mark.parametrize("size", [None, (11, 8.5), (8, 5)])
def test_nothing_overlaps_or_leaves_the_page(make_atlas, size) -> None:
    atlas = make_atlas(1500)
    look = {} if size is None else {"size_inches": size}
    figure = draw(changes.scene(atlas, analysis=changes_of(atlas), raster_dpi=40, **look))
    kinds = ("topic-", "ranking", "caption", "key", "title")
    boxes = [box for kind in kinds for box in rendered_boxes(figure, kind)]
    page = figure.bbox
    for gid, box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, gid
        assert page.y0 <= box.y0 < box.y1 <= page.y1, gid
    for (one, first), (other, second) in combinations(boxes, 2):
        same_text = one == other and one.startswith(("topic-", "caption"))
        assert same_text or not overlap(first, second, slack=2.0), (one, other)
    assert len(rendered_boxes(figure, "caption")) <= 2


def test_the_figure_shows_every_kind_of_change(make_atlas) -> None:
    atlas = make_atlas(1500)
    found = changes_of(atlas)
    scene = changes.scene(atlas, analysis=found)
    layers = {layer.gid: layer for layer in scene.panels[0].layers}
    regions, proposals = found.tables["regions"], found.tables["proposed_regions"]
    for gid, kinds in (
        ("born", ["born", "split"]),
        ("grew", ["grew"]),
        ("shrank", ["shrank"]),
        ("renamed", ["renamed"]),
    ):
        assert layers[gid].x.tolist() == regions.loc[regions["kind"].isin(kinds), "x"].tolist()
    assert layers["added"].x.tolist() == atlas.map["x"].head(200).tolist()
    assert layers["proposed"].x.tolist() == proposals["x"].tolist()
    assert not layers["proposed"].filled
    names = [
        " ".join(name.lines)
        for layer in scene.panels[0].layers
        for name in getattr(layer, "names", ())
        if name.colour == scene.colours.apart
    ]
    assert sorted(names) == sorted(proposals["label"])
    assert "(all of one month (2026-03))" in " ".join(text.words for text in scene.texts)
    assert "Interstellar comets (40 papers" in scene.alt_text
    assert scene.table is found.table


def test_an_atlas_without_changes_has_no_figure(updated: ls.Atlas, tmp_path: Path) -> None:
    first = write_papers(tmp_path / "first.jsonl", range(60))
    atlas = ls.build(first, tmp_path / "a.atlas", layout="pca", workers=1, tagger="rules")
    with pytest.raises(InputError, match="no region has changed and no paper was added"):
        changes(atlas)
    later = changes.scene(updated, since="2999-01-01")
    assert {"added", "proposed"} <= {layer.gid for layer in later.panels[0].layers}


def test_the_figure_in_a_notebook(updated: ls.Atlas) -> None:
    figure = interactive("changes", updated)
    assert {"added paper", "proposed region"} <= {trace.name for trace in figure.data}
    assert count_marks(figure) <= MAX_MARKS


def test_the_command_writes_a_page_figures_and_tables(
    updated: ls.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beginning = {".pdf": b"%PDF", ".png": b"\x89PNG", ".svg": b"<?xml", ".csv": b"# Changes of"}
    for suffix in (".pdf", ".png", ".svg", ".html", ".csv", ".md"):
        folder = tmp_path / suffix[1:]
        folder.mkdir()
        path = folder / f"changes{suffix}"
        assert main(["changes", str(updated.path), "--out", str(path)]) == 0
        assert capsys.readouterr().out.strip() == str(path)
        assert path.read_bytes().startswith(beginning.get(suffix, b""))
    page = (tmp_path / "html" / "changes.html").read_text(encoding="utf-8")
    assert "<h3>Changes of regions</h3>" in page
    assert "<h3>Proposed regions</h3>" in page
    assert "<h3>Papers of proposed regions</h3>" in page
    assert html.escape(HOSTILE) in page
    assert "<script>alert" not in page
    assert "src='http" not in page
    text = (tmp_path / "md" / "changes.md").read_text(encoding="utf-8")
    assert "| Date | Change | Region | Papers before | Papers after | Reason |" in text
    assert "\\<script\\>alert" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    assert all(row.endswith("|") for row in rows)
    saved = (tmp_path / "csv" / "changes.csv").read_text(encoding="utf-8")
    assert ",grew," in saved
    since = ["--since", "2999-01-01", "--out", str(tmp_path / "later.csv")]
    assert main(["changes", str(updated.path), *since]) == 0
    assert ",grew," not in (tmp_path / "later.csv").read_text(encoding="utf-8")
    assert main(["changes", str(updated.path), "--out", str(tmp_path / "a.docx")]) == 2
    assert "A figure or table" in capsys.readouterr().err


def test_any_analysis_is_written_as_markdown(tmp_path: Path) -> None:
    table = pd.DataFrame({"label": ["a|b", "<b>"], "share": [0.5, 0.25]})
    path = save_table(Analysis("places", table, "Half.", {"papers": 2}, {}), tmp_path / "a.md")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["Half.", "", "Based on 2 papers."]
    start = lines.index("| Region | Share (%) |")
    assert lines[start + 1] == "| --- | --- |"
    assert lines[start + 2 : start + 4] == ["| a\\|b | 50 |", "| \\<b\\> | 25 |"]
