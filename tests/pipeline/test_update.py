"""Updates add, replace and remove sources; everything else keeps its bytes and its place."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import landscape as ls
from landscape.atlas import add_citations
from landscape.cli import main
from landscape.errors import AtlasError, InputError
from landscape.pipeline import updating
from landscape.pipeline.commit import write_manifest
from landscape.store.info import verify
from landscape.store.manifest import read_manifest
from tests.pipeline.conftest import QUICK, paper, write_papers

PARTS = ("papers.parquet", "keys.parquet", "embeddings", "words", "missions.parquet")


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas of two sources, whose files no longer exist."""
    folder = tmp_path_factory.mktemp("base")
    one = write_papers(folder / "one.jsonl", range(40))
    two = write_papers(folder / "two.jsonl", range(40, 60))
    ls.build([one, two], folder / "base.atlas", **QUICK, keywords_limit=7)
    one.unlink()
    two.unlink()
    return folder / "base.atlas"


@pytest.fixture
def atlas(base: Path, tmp_path: Path) -> Path:
    """A copy of the atlas, which a test may change."""
    return shutil.copytree(base, tmp_path / "a.atlas")


def contents(folder: Path, part: str) -> dict[str, bytes]:
    """Return the files of a part."""
    files = [file for table in PARTS for file in (folder / table).glob(f"{part}.*")]
    assert len(files) == len(PARTS)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write records as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_new_papers_leave_everything_else_in_place(atlas: Path, tmp_path: Path) -> None:
    before = ls.open(atlas)
    old_map = before.map.set_index("paper_id")[["x", "y"]]
    kept = {part: contents(atlas, part) for part in ("one", "two")}
    said: list[str] = []
    # Three records are known already, and their content is the same.
    new = write_papers(tmp_path / "new.jsonl", range(37, 70))
    updated = ls.update(atlas, new, say=said.append, workers=1)
    assert len(updated) == 70
    assert updated.papers["paper_id"].is_unique
    assert {part: contents(atlas, part) for part in kept} == kept
    new_map = updated.map.set_index("paper_id")[["x", "y"]]
    assert new_map.loc[old_map.index].equals(old_map)
    assert np.isfinite(new_map.to_numpy()).all()
    assert updated.papers["keywords"].map(len).between(1, 7).all(), "the limit is kept"
    assert updated.stages["embeddings"].details["reused"] == 60
    assert updated.coverage["read"] == 93
    assert updated.coverage["merged"] == 23
    assert verify(atlas) == []
    hits = updated.search(paper(65)["title"], k=1).papers
    assert hits[0].title == paper(65)["title"]
    assert "new.jsonl: its papers are added" in said
    ls.update(atlas, new, say=said.append)
    assert said[-1] == "Nothing has changed. The atlas is up to date."


def test_regions_stay_and_count_the_new_papers(atlas: Path, tmp_path: Path) -> None:
    before = ls.open(atlas).topics
    updated = ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(60, 90)))
    columns = ["topic_id", "level", "parent_id", "label", "x", "y"]
    assert updated.topics[columns].equals(before[columns])
    regions = updated.topics.query("level == 1").set_index("topic_id")["n_papers"]
    counts = updated.map["topic_id"].value_counts()
    assert regions.to_dict() == {n: counts[n] for n in regions.index}
    continents = updated.topics.query("level == 0")
    assert continents["n_papers"].sum() == regions.sum()
    assert (updated.map["topic_id"][60:] >= 0).any(), "new papers are in regions"


def test_concepts_are_learned_again_when_half_as_many_papers_are_new(
    atlas: Path, tmp_path: Path
) -> None:
    def learned(papers: range) -> tuple[object, bytes]:
        updated = ls.update(atlas, write_papers(tmp_path / f"{papers.start}.jsonl", papers))
        return updated.stages["uat"].details["learned_from"], file.read_bytes()

    file = atlas / "concepts.npz"
    assert ls.open(atlas).stages["uat"].details["learned_from"] == 60
    model = file.read_bytes()
    assert learned(range(60, 80)) == (60, model)
    assert learned(range(80, 90)) == (60, model)
    assert learned(range(90, 91)) == (91, file.read_bytes())


def test_changes_of_regions_are_listed(
    atlas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(ls.open(atlas).changes) == 0
    assert main(["changes", str(atlas)]) == 0
    assert "no region has changed" in capsys.readouterr().out
    sizes = ls.open(atlas).topics.query("level == 1").set_index("topic_id")["n_papers"]
    updated = ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(60, 130)))
    listed = updated.changes
    assert set(listed["kind"]) == {"grew"}, "an update keeps the regions"
    assert listed["papers_before"].tolist() == sizes[listed["topic_id"]].tolist()
    assert listed["reason"].str.fullmatch(r"\d+ new papers?").all()
    assert main(["changes", str(atlas), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["changes"]) == len(listed)
    again = ls.update(atlas, write_papers(tmp_path / "more.jsonl", range(130, 190)), layout="refit")
    assert again.changes.iloc[: len(listed)].equals(listed), "earlier changes stay"
    assert main(["changes", str(atlas), "--since", "2999-01-01"]) == 0
    assert "no region has changed since 2999-01-01" in capsys.readouterr().out
    assert main(["changes", str(atlas), "--since", "May"]) == 2
    assert "--since is 'May'; give a day" in capsys.readouterr().err


def test_a_map_is_fitted_again(atlas: Path, tmp_path: Path) -> None:
    before = ls.open(atlas)
    old = before.map[["x", "y"]].to_numpy()
    said: list[str] = []
    new = write_papers(tmp_path / "new.jsonl", range(60, 120))
    fitted = ls.update(atlas, new, layout="refit", say=said.append)
    shift = fitted.stages["projection"].details["median_shift"]
    assert f"The map was fitted again: papers moved by {shift:.2f} map units (median)." in said
    moved = fitted.map[["x", "y"]].to_numpy()[:60]
    assert np.median(np.hypot(*(moved - old).T)) == pytest.approx(shift, abs=1e-3)
    assert shift < np.ptp(old, axis=0).max() / 2
    assert shift > 0


def test_novel_papers_are_reported_and_proposed_as_a_region(atlas: Path, tmp_path: Path) -> None:
    dishes = ["saffron soup", "barley bread", "roast pheasant", "almond tart", "spiced wine"]
    rows = [
        {
            "title": f"Medieval cooking: a recipe for {dishes[number % 5]} number {number}",
            "abstract": f"This medieval cooking recipe describes {dishes[number % 5]}. Medieval "
            f"cooking used herbs, honey and {dishes[(number + 1) % 5]} at royal banquets.",
            "authors": ["Cook, A."],
            "arxiv_id": f"2601.{number:05d}",
            "date": f"2026-{number % 6 + 1:02d}-10",
        }
        for number in range(15)
    ]
    usual = [paper(number) for number in range(60, 80)]
    said: list[str] = []
    ls.update(atlas, write_rows(tmp_path / "a.jsonl", usual + rows[:5]), say=said.append)
    updated = ls.update(atlas, write_rows(tmp_path / "b.jsonl", rows[5:]), say=said.append)
    details = updated.stages["projection"].details
    assert details["base"] == ["one", "two"], "novelty is counted since the map was fitted"
    assert details["since"] == 35
    assert details["novel"] >= 15
    found = {name for one in details["proposals"] for name in one["paper_ids"]}
    assert len(found & {row["arxiv_id"] for row in rows}) >= 8
    assert "medieval" in " ".join(one["label"].lower() for one in details["proposals"])
    assert any("proposed region: " in line for line in said)


def test_the_papers_are_those_of_a_new_build(atlas: Path, tmp_path: Path) -> None:
    files = [
        write_papers(tmp_path / name, numbers)
        for name, numbers in (
            ("one.jsonl", range(40)),
            ("two.jsonl", range(40, 60)),
            ("z.jsonl", range(50, 75)),
        )
    ]
    updated = ls.update(atlas, files[2])
    built = ls.build(files, tmp_path / "b.atlas", **QUICK, keywords_limit=7)
    columns = ["paper_id", "title", "abstract", "date", "keywords", "bibcode", "arxiv_id"]
    for column in columns:
        assert updated.papers[column].astype(str).tolist() == (
            built.papers[column].astype(str).tolist()
        )
    assert np.array_equal(updated.vectors(), built.vectors())
    assert updated.missions.equals(built.missions)
    assert updated.reviews.equals(built.reviews)


def test_a_preprint_is_published(atlas: Path, tmp_path: Path) -> None:
    before = ls.open(atlas)
    number = before.papers["paper_id"].tolist().index(paper(5)["arxiv_id"])
    place = before.map.loc[number, ["x", "y"]].tolist()
    preprint = paper(5)
    known = contents(atlas, "two")
    record = {
        "title": preprint["title"],
        "abstract": preprint["abstract"],
        "authors": preprint["authors"],
        "bibcode": "2026ApJ...999..123A",
        "arxiv_id": preprint["arxiv_id"],
        "journal": "The Astrophysical Journal",
        "date": "2026-01-01",
    }
    published = write_rows(tmp_path / "ads.jsonl", [record])
    said: list[str] = []
    updated = ls.update(atlas, published, say=said.append)
    assert len(updated) == len(before)
    row = updated.papers.query("arxiv_id == @preprint['arxiv_id']").iloc[0]
    assert (row["bibcode"], row["journal"]) == (record["bibcode"], record["journal"])
    assert f"{preprint['arxiv_id']} is now published as {record['bibcode']}" in said
    assert updated.stages["ingest"].details["merged_papers"] == [
        {
            "was": preprint["arxiv_id"],
            "paper_id": record["bibcode"],
            "journal_was": None,
            "journal": record["journal"],
        }
    ]
    assert contents(atlas, "two") == known
    assert updated.map.loc[number, ["x", "y"]].tolist() == place, "it keeps its place"
    ls.update(atlas, published, say=said.append)
    assert said[-1] == "Nothing has changed. The atlas is up to date."


def test_an_update_keeps_the_seed_and_the_precision(tmp_path: Path) -> None:
    source, folder = write_papers(tmp_path / "one.jsonl", range(40)), tmp_path / "a.atlas"
    for seed, precision in ((3, "float32"), (3, "auto"), (None, "auto")):
        before = ls.build(source, folder, seed=seed, precision=precision, workers=1).stages
        new = write_papers(tmp_path / "two.jsonl", range(40, 43))
        after = ls.update(folder, new, layout="refit", workers=1).stages
        assert after["projection"].parameters["seed"] == seed
        known = before["embeddings"].parameters
        assert after["embeddings"].parameters == known
        assert known.get("precision") == ("float32" if precision == "float32" else None)
        shutil.rmtree(folder)


def test_sources_are_removed_and_replaced(
    atlas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = contents(atlas, "one")
    assert main(["update", str(atlas), "--remove", "two.jsonl"]) == 0
    text = capsys.readouterr()
    assert "two.jsonl: 20 papers removed" in text.err
    assert "40 papers" in text.out
    assert len(ls.open(atlas)) == 40
    assert contents(atlas, "one") == known
    write_papers(tmp_path / "two.jsonl", range(45, 58))
    ls.update(atlas, tmp_path / "two.jsonl")
    write_papers(tmp_path / "two.jsonl", range(50, 63))
    said: list[str] = []
    ls.update(atlas, tmp_path / "two.jsonl", say=said.append)
    assert "two.jsonl: new papers are added, and changed papers are updated" in said
    assert len(ls.open(atlas)) == 58, "papers that a file no longer has stay"
    assert contents(atlas, "one") == known
    assert main(["sources", str(atlas), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["sources"]
    assert [(row["source"], row["papers"]) for row in listed] == [
        ("one.jsonl", 40),
        ("two.jsonl", 18),
    ]
    replaced = ls.update(atlas, tmp_path / "two.jsonl", remove="two.jsonl")
    assert len(replaced) == 53, "removed and read again, it has the papers of the file"
    assert len(replaced.parts) == 2


def test_papers_that_another_source_shares_can_be_kept(atlas: Path, tmp_path: Path) -> None:
    shared = write_papers(tmp_path / "shared.jsonl", range(50, 65))
    ls.update(atlas, shared)
    said: list[str] = []
    ls.update(atlas, shared, remove="two.jsonl", say=said.append)
    assert "two.jsonl: 20 papers removed" in said
    ids = set(ls.open(atlas).papers["paper_id"])
    assert ids == {paper(n)["arxiv_id"] for n in [*range(40), *range(50, 65)]}
    ls.update(atlas, write_papers(tmp_path / "more.jsonl", range(60, 70)))
    ls.update(atlas, remove=["shared.jsonl"], say=said.append)
    assert any("together with --remove: more.jsonl" in line for line in said)


def test_names_of_parts_keep_the_order_of_the_rows(atlas: Path, tmp_path: Path) -> None:
    for number, name in enumerate(("b.jsonl", "a.jsonl", "two.v2.jsonl", "zz.jsonl", "z.jsonl")):
        write_papers(tmp_path / name, range(60 + 5 * number, 65 + 5 * number))
        updated = ls.update(atlas, tmp_path / name)
    names = [part.name for part in updated.parts]
    assert names == sorted(names, key=lambda name: f"{name}.parquet")
    assert len(names) == 7
    assert names == sorted(names, key=lambda name: f"{name}.npy")
    assert updated.papers["paper_id"].tolist() == [paper(n)["arxiv_id"] for n in range(85)]


def test_thesaurus_reviews_and_citations_stay(tmp_path: Path) -> None:
    one = write_papers(tmp_path / "one.jsonl", range(40))
    reviews = tmp_path / "reviews.txt"
    reviews.write_text(paper(3)["arxiv_id"] + "\n")
    concept = {"uri": "http://astrothesaurus.org/uat/1", "name": "spiral galaxies", "children": []}
    thesaurus = tmp_path / "UAT.json"
    thesaurus.write_text(json.dumps({"children": [concept]}))
    atlas = tmp_path / "a.atlas"
    ls.build(one, atlas, **QUICK, known_reviews=reviews, thesaurus=thesaurus)
    edges = tmp_path / "edges.csv"
    ids = [paper(number)["arxiv_id"] for number in range(60)]
    edges.write_text(
        "citing,cited,cited_title\n"
        f"{ids[0]},{ids[1]},\n{ids[2]},{ids[50]},\n{ids[4]},1973ApJ...179..427S,Disks\n"
    )
    before = add_citations(atlas, edges)
    assert len(before.thesaurus) == 1
    for path in (one, reviews, thesaurus, edges):
        path.unlink()
    assert [linked.is_stub for linked in before.citations.references(ids[2])] == [True]
    updated = ls.update(atlas, write_papers(tmp_path / "two.jsonl", range(40, 60)))
    assert ids[3] in set(updated.reviews["paper_id"])
    assert len(updated.thesaurus) == 1
    assert updated.stages["uat"].parameters == before.stages["uat"].parameters
    graph = updated.citations
    assert [linked.paper_id for linked in graph.references(ids[0])] == [ids[1]]
    assert [linked.is_stub for linked in graph.references(ids[2])] == [False]
    assert graph.references(ids[4])[0].title == "Disks"
    again = ls.update(atlas, write_papers(tmp_path / "three.jsonl", range(60, 65)))
    assert again.citations.n_links == graph.n_links == 3
    assert len(again.thesaurus) == 1
    assert ids[3] in set(again.reviews["paper_id"])


def test_an_atlas_of_an_earlier_version(atlas: Path, tmp_path: Path) -> None:
    manifest = read_manifest(atlas)
    record = manifest.stages["ingest"]
    outputs = {n: o for n, o in record.outputs.items() if not n.startswith("keys.parquet")}
    details = {n: d for n, d in record.details.items() if n not in ("origins", "merged_papers")}
    old = dataclasses.replace(record, outputs=outputs, details=details)
    shutil.rmtree(atlas / "keys.parquet")
    stages = {**manifest.stages, "ingest": old}
    write_manifest(atlas, dataclasses.replace(manifest, stages=stages))
    assert len(ls.open(atlas)) == 60
    updated = ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(55, 66)))
    assert len(updated) == 66
    assert verify(atlas) == []
    assert len(list((atlas / "keys.parquet").iterdir())) == 3


def test_a_growing_file_keeps_its_published_papers_and_places(atlas: Path, tmp_path: Path) -> None:
    published = [
        paper(n) | {"bibcode": f"2026ApJ...999..{n:03d}A", "journal": "ApJ"} for n in range(10)
    ]
    ls.update(atlas, write_rows(tmp_path / "ads.jsonl", published))
    before = ls.open(atlas)
    places = before.map.set_index("paper_id")[["x", "y"]]
    grown = ls.update(atlas, write_papers(tmp_path / "one.jsonl", range(45)))
    assert len(grown) == 60, "papers 40 to 44 are in two.jsonl"
    assert grown.papers["bibcode"].notna().sum() == 10
    assert grown.map.set_index("paper_id")[["x", "y"]].equals(places)
    grown = ls.update(atlas, write_papers(tmp_path / "one.jsonl", [*range(45), 90]))
    assert len(grown) == 61
    assert grown.papers["bibcode"].notna().sum() == 10


def test_citations_follow_papers_that_are_published(tmp_path: Path) -> None:
    one = write_papers(tmp_path / "one.jsonl", range(40))
    edges = tmp_path / "edges.csv"
    first, second = (paper(n)["arxiv_id"] for n in (0, 1))
    edges.write_text(f"citing,cited\n{first},{second}\n")
    atlas = tmp_path / "a.atlas"
    ls.build(one, atlas, **QUICK)
    add_citations(atlas, edges)
    rows = [paper(n) | {"bibcode": f"2026ApJ...999..{n:03d}A"} for n in (0, 1)]
    updated = ls.update(atlas, write_rows(tmp_path / "ads.jsonl", rows))
    assert [linked.paper_id for linked in updated.citations.references(rows[0]["bibcode"])] == [
        rows[1]["bibcode"]
    ]


def test_two_updates_at_the_same_time_lose_no_papers(atlas: Path, tmp_path: Path) -> None:
    early = write_papers(tmp_path / "early.jsonl", range(60, 65))
    late = write_papers(tmp_path / "late.jsonl", range(65, 70))
    build_version = updating.build_version

    def overtaken(*given: Any, **options: Any) -> Any:
        updating.build_version = build_version
        ls.update(atlas, early)  # between the reading of the manifest and the lock
        return build_version(*given, **options)

    updating.build_version = overtaken
    try:
        updated = ls.update(atlas, late)
    finally:
        updating.build_version = build_version
    assert len(updated) == 70


@pytest.mark.parametrize("embedder", ["st:/tmp/evil-model", "ready:/etc/passwd"])
def test_an_atlas_chooses_neither_a_model_nor_a_file(
    atlas: Path, tmp_path: Path, embedder: str
) -> None:
    manifest = read_manifest(atlas)
    record = manifest.stages["embeddings"]
    forged = dataclasses.replace(record, parameters={**record.parameters, "embedder": embedder})
    write_manifest(
        atlas, dataclasses.replace(manifest, stages={**manifest.stages, "embeddings": forged})
    )
    new = write_papers(tmp_path / "new.jsonl", range(60, 64))
    with pytest.raises(InputError, match="if you trust this model or file, pass the same option"):
        ls.update(atlas, new)


def test_an_atlas_does_not_make_the_language_model_work(atlas: Path) -> None:
    manifest = read_manifest(atlas)
    record = manifest.stages["topics"]
    forged = dataclasses.replace(record, parameters={**record.parameters, "polish": True})
    write_manifest(
        atlas, dataclasses.replace(manifest, stages={**manifest.stages, "topics": forged})
    )
    with pytest.raises(InputError, match="was built with --polish; pass it again"):
        ls.update(atlas, layout="refit")


@pytest.mark.parametrize("name", [".ready", ".next", ".next.new"])
@pytest.mark.parametrize("kind", ["file", "folder", "pipe"])
def test_odd_things_in_place_of_a_version(
    atlas: Path, tmp_path: Path, name: str, kind: str
) -> None:
    if kind == "file":
        (atlas / name).write_text("x")
    else:
        (atlas / name).mkdir()
        (atlas / name / "x").write_text("x")
    if kind == "pipe":
        os.mkfifo(atlas / name / "manifest.json")
        with pytest.raises(AtlasError, match="neither a file nor a folder"):
            ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(60, 64)))
        return
    assert len(ls.open(atlas)) == 60
    assert len(ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(60, 64)))) == 64
    assert not list(atlas.glob(".*"))


def test_a_path_in_another_spelling_is_refused(atlas: Path) -> None:
    manifest = read_manifest(atlas)
    record = manifest.stages["quality"]
    outputs = {f"./{name}": output for name, output in record.outputs.items()}
    forged = dataclasses.replace(record, outputs=outputs)
    write_manifest(
        atlas, dataclasses.replace(manifest, stages={**manifest.stages, "quality": forged})
    )
    with pytest.raises(AtlasError, match=r"the file path '\./quality\.json' is invalid"):
        ls.open(atlas)


@pytest.mark.parametrize(
    "table", ["papers.parquet", "keys.parquet", "embeddings", "missions.parquet"]
)
def test_a_damaged_part_is_not_kept(atlas: Path, tmp_path: Path, table: str) -> None:
    [path] = (atlas / table).glob("one.*")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    new = write_papers(tmp_path / "new.jsonl", range(60, 70))
    with pytest.raises(AtlasError, match=r"one\.\w+ was changed: .* build a new atlas"):
        ls.update(atlas, new)


class Killed(BaseException):
    """Stops an update; no code may catch it."""


def test_an_update_that_is_stopped_resumes(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = write_papers(tmp_path / "new.jsonl", range(55, 75))
    undisturbed = shutil.copytree(atlas, tmp_path / "undisturbed.atlas")
    expected = ls.update(undisturbed, new)
    replace = Path.replace
    kills = 0
    for number in range(2, 400, 7):
        calls = [0]

        def killing(
            self: Path, target: Path, number: int = number, calls: list[int] = calls
        ) -> Path:
            calls[0] += 1
            if calls[0] == number:
                raise Killed
            return replace(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", killing)
            try:
                updated = ls.update(atlas, new)
                break
            except Killed:
                kills += 1
        assert len(ls.open(atlas).papers) in (60, 75)
    assert kills > 3
    assert updated.papers.astype(str).equals(expected.papers.astype(str))
    assert updated.map.equals(expected.map)
    assert verify(atlas) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--remove", "tow.jsonl"], "has no source 'tow.jsonl'; did you mean 'two.jsonl'?"),
        (["--remove", "one.jsonl", "--remove", "two.jsonl"], "would have no papers; delete"),
        (["no-such.jsonl"], "no-such.jsonl"),
        (["broken.jsonl"], "broken.jsonl"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(
    atlas: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.jsonl").write_text('{"name": "a table of another kind", "size": 3}\n' * 5)
    before = {str(p): p.read_bytes() for p in sorted(atlas.rglob("*")) if p.is_file()}
    assert main(["update", "a.atlas", *words]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert sentence in said[-1]
    assert "Traceback" not in said[-1]
    assert {str(p): p.read_bytes() for p in sorted(atlas.rglob("*")) if p.is_file()} == before


def test_citations_wait_for_an_interrupted_update(atlas: Path, tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text(f"citing,cited\n{paper(0)['arxiv_id']},{paper(1)['arxiv_id']}\n")
    (atlas / ".next").mkdir()
    with pytest.raises(InputError, match=r"was interrupted\. Run the same command again"):
        add_citations(atlas, edges)


def test_options_of_the_command_are_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["update", "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--remove", "--layout", "--title", "--workers", "--citations", "--json"):
        assert option in text
    assert "--min-dist" not in text, "it is that of the last build"


def test_nothing_to_do(atlas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = read_manifest(atlas)
    assert main(["update", str(atlas)]) == 0
    assert "Nothing has changed" in capsys.readouterr().err
    assert read_manifest(atlas) == before


def test_only_new_files_are_read(
    atlas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from landscape.corpus import _scanning

    read: list[str] = []
    scan = _scanning.read_papers

    def counted(path: Path, **options: Any) -> Any:
        read.append(path.name)
        return scan(path, **options)

    monkeypatch.setattr(_scanning, "read_papers", counted)
    ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(60, 64)))
    assert read == ["new.jsonl"]


@pytest.mark.parametrize("forged", [[1, 2], {"one": ["a"]}, "none", None])
def test_forged_digests_are_computed_again(atlas: Path, tmp_path: Path, forged: Any) -> None:
    manifest = read_manifest(atlas)
    stages = dict(manifest.stages)
    for name in ("ingest", "keywords", "embeddings"):
        lies = dict.fromkeys(("digests", "devices", "models"), forged)
        stages[name] = dataclasses.replace(stages[name], details=stages[name].details | lies)
    write_manifest(atlas, dataclasses.replace(manifest, stages=stages))
    assert len(ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(60, 64)))) == 64


def test_short_keys_of_a_stranger_are_not_used(atlas: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    file = next((atlas / "keys.parquet").glob("*one*"))
    table = pq.read_table(file)
    file.unlink()  # the file may be linked elsewhere
    pq.write_table(table.slice(0, 3), file)
    with pytest.raises(AtlasError, match="Restore the file from a copy"):
        ls.update(atlas, write_papers(tmp_path / "new.jsonl", range(60, 64)))
