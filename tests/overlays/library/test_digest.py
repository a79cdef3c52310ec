"""The digest: what arrived since the last look, why each paper is listed, and all its forms."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from landscape import Atlas
from landscape.atlas import build, update
from landscape.atlas import open as open_atlas
from landscape.cli import main
from landscape.corpus.libraries import Library, Watched, mark_papers, read_library, write_library
from landscape.errors import InputError
from landscape.overlays.library import Literature, make_digest, rank_papers
from tests.pipeline.conftest import QUICK, paper

FIRST = range(60)
ATOM = "{http://www.w3.org/2005/Atom}"


def write(path: Path, papers: list[dict[str, Any]], day: str) -> Path:
    """Write papers to a file that was changed on a day."""
    pd.DataFrame(papers).to_json(path, orient="records", lines=True)
    time = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    os.utime(path, (time, time))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas to which papers of the 6th were added on the 12th."""
    place = tmp_path_factory.mktemp("digest")
    first = write(place / "first.jsonl", [paper(n) for n in FIRST], "2026-11-01")
    build(first, place / "a.atlas", **QUICK)
    return place


@pytest.fixture
def grown(folder: Path, tmp_path: Path) -> Path:
    import shutil

    shutil.copytree(folder / "a.atlas", tmp_path / "a.atlas")
    return tmp_path


def library_of(folder: Path, numbers: Any, name: str = "reader") -> Library:
    file = write(folder / "mine.jsonl", [paper(n) for n in numbers], "2026-11-01")
    return read_library(file, name=name)


def arrive(folder: Path, numbers: Any, day: str, **changes: Any) -> Atlas:
    papers = [paper(n) | {"date": "2026-11-06", "arxiv_id": arxiv_id(n)} | changes for n in numbers]
    added = write(folder / f"new-{day}.jsonl", papers, day)
    update(folder / "a.atlas", added)
    return open_atlas(folder / "a.atlas")


def arxiv_id(number: int) -> str:
    return f"2611.{number:05d}"


def ids(digest: Any) -> set[str]:
    return {one.arxiv_id for one in digest.papers}


def numbers_of(numbers: Any) -> set[str]:
    return {*map(arxiv_id, numbers)}


def test_papers_count_by_their_arrival_and_are_shown_once(grown: Path) -> None:
    """Submitted on the 6th, announced on the 12th: in the digest of the 12th."""
    library = library_of(grown, range(0, 60, 2))
    atlas = open_atlas(grown / "a.atlas")
    make_digest(atlas, library, record=True)  # looked on the 11th
    atlas = arrive(grown, range(100, 104), "2026-11-12")
    digest = make_digest(atlas, library, k=50, record=True)
    assert digest.n_new == 4
    assert ids(digest) <= numbers_of(range(100, 104))
    assert digest.until == date(2026, 11, 12)
    again = make_digest(atlas, library)
    assert (again.n_new, len(again)) == (0, 0)
    assert "Nothing has arrived since you last looked." in again.notes
    atlas = arrive(grown, range(104, 107), "2026-11-13")
    assert make_digest(atlas, library).n_new == 3
    assert make_digest(atlas, library, since="2026-11-12").n_new == 7
    assert make_digest(atlas, library, since="2026-11-13").n_new == 3
    other = replace(library, name="other", source="")
    assert make_digest(atlas, other).n_new == 7  # somebody else has not looked


def test_an_atlas_that_is_built_again_counts_by_dates(grown: Path) -> None:
    library = library_of(grown, FIRST, "rebuilt")
    make_digest(open_atlas(grown / "a.atlas"), library, record=True)
    papers = [paper(n) for n in FIRST] + [paper(200) | {"date": "2099-01-01"}]
    papers[-1]["date"] = datetime.now(UTC).date().isoformat()
    write(grown / "other.jsonl", papers, "2026-11-02")
    import shutil

    shutil.rmtree(grown / "a.atlas")
    build(grown / "other.jsonl", grown / "a.atlas", **QUICK)
    digest = make_digest(open_atlas(grown / "a.atlas"), library)
    assert any("built again" in note for note in digest.notes)
    assert digest.n_new <= 1


def test_each_paper_has_its_reasons(grown: Path) -> None:
    same = paper(0)
    atlas = arrive(
        grown, [100], "2026-11-12", title=f"{same['title']} revisited", abstract=same["abstract"]
    )
    atlas = arrive(grown, [101], "2026-11-13", authors=["Watched, Vera"])
    text = "We use data of JWST to observe spiral galaxies with NIRSpec on JWST."
    atlas = arrive(grown, [102], "2026-11-14", title="JWST spectra of spirals", abstract=text)
    library = library_of(grown, range(0, 60, 2))
    watched = Watched(authors=("V. Watched",), facilities=("JWST",))
    digest = make_digest(atlas, replace(library, watched=watched), since="2026-11-10")
    by_id = {
        one.paper.arxiv_id: (group.name, one) for group in digest.groups for one in group.papers
    }
    group, found = by_id[arxiv_id(101)]
    assert group == "By authors you watch"
    assert "by Watched, V., whom you watch" in found.reasons[0]
    group, found = by_id[arxiv_id(102)]
    assert group == "With facilities you watch"
    assert found.reasons[0] == "uses JWST"
    _, found = by_id[arxiv_id(100)]
    assert any(one.startswith("similar to “") for one in found.reasons)
    assert found.region in {*atlas.region_names.values(), ""}


def test_marks_move_the_ranking_and_the_digest_says_so(grown: Path) -> None:
    atlas = arrive(grown, range(100, 140), "2026-11-12")
    library = library_of(grown, range(60))
    digest = make_digest(atlas, library, since="2026-11-10", k=40)
    first, last = digest.papers[0], digest.papers[-1]
    disliked = mark_papers(library, [first], "not interested")
    after = make_digest(atlas, disliked, since="2026-11-10", k=40)
    assert first.paper_id not in {one.paper_id for one in after.papers}
    assert any("not interesting come later" in note for note in after.notes)
    scores = [
        {p.paper.paper_id: p.score for g in d.groups for p in g.papers} for d in (digest, after)
    ]
    near = atlas.similar(first.paper_id, k=5).papers
    lower = [scores[1][p.paper_id] < scores[0][p.paper_id] for p in near if p.paper_id in scores[1]]
    assert all(lower)
    liked = make_digest(atlas, mark_papers(library, [last], "later"), since="2026-11-10", k=40)
    assert any("marked as read or later count as yours" in note for note in liked.notes)
    marked = {p.paper.paper_id: p.status for g in liked.groups for p in g.papers}
    assert "marked for later" in marked[last.paper_id]


def test_regions_filters_and_texts(grown: Path) -> None:
    atlas = arrive(grown, range(100, 130), "2026-11-12")
    rows = np.arange(60, 90)
    found = make_digest(atlas, "2026..", kind="filter", since="2026-11-10", k=50)
    assert ids(found) == numbers_of(range(100, 130))
    assert found.groups[0].n_papers == 30
    name = atlas.region_names[int(atlas.map["topic_id"].iloc[rows].mode()[0])]
    found = make_digest(atlas, name, kind="region", since="2026-11-10", k=50)
    inside = set(atlas.select(f'region:"{name}"')) & set(rows)
    assert {one.row for one in found.papers} == inside
    found = make_digest(atlas, "debris discs", kind="text", since="2026-11-10", k=3)
    assert "debris" in found.papers[0].title.lower() + found.papers[0].abstract.lower()
    for wrong in ("yesterday", "2026-13-01"):
        with pytest.raises(InputError, match="give a day"):
            make_digest(atlas, "x", kind="text", since=wrong)
    with pytest.raises(InputError, match="k is 0"):
        make_digest(atlas, "x", kind="text", k=0)


def test_all_forms_and_hostile_text(grown: Path, capsys: pytest.CaptureFixture[str]) -> None:
    title = "<script>alert(1)</script> & ]]> in spiral galaxies"
    arrive(grown, range(100, 103), "2026-11-12", title=title)
    write_library(library_of(grown, range(0, 60, 2), "all"))
    atlas, words = str(grown / "a.atlas"), ["--for", "all", "--since", "2026-11-10", "--keep"]
    for name in ("d.html", "d.xml", "d.md", "d.bib", "d.txt", "d.json"):
        assert main(["digest", atlas, *words, "-o", str(grown / name)]) == 0
    page = (grown / "d.html").read_text()
    assert "<script" not in page
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
    feed = ET.fromstring((grown / "d.xml").read_bytes())  # noqa: S314
    titles = [one.text for one in feed.iter(f"{ATOM}title")]
    assert title in titles
    assert len(feed.findall(f"{ATOM}entry")) == 3
    assert all(one.find(f"{ATOM}id").text for one in feed.findall(f"{ATOM}entry"))  # type: ignore[union-attr]
    assert "<script>" not in (grown / "d.md").read_text()
    capsys.readouterr()
    assert main(["digest", atlas, *words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads((grown / "d.json").read_text())
    assert record["n_new"] == 3
    assert {"reasons", "region", "unusual", "status"} <= set(record["groups"][0]["papers"][0])
    digest = make_digest(open_atlas(atlas), "all", since="2026-11-10")
    assert digest.table["paper_id"].tolist() == [one.paper_id for one in digest.papers]
    assert "3 new papers (2026-11-10 to 2026-11-12)" in digest.headline
    assert main(["digest", atlas]) == 2
    assert main(["digest", atlas, "--for", "all", "--text", "x"]) == 2
    assert main(["digest", atlas, "--for", "nobody"]) == 2


def test_every_morning_with_a_clock(grown: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each day, one line adds the new papers and writes the digest; no paper is shown twice."""
    write_library(library_of(grown, FIRST, "morning"))
    atlas = str(grown / "a.atlas")
    assert main(["digest", atlas, "--for", "morning", "-o", str(grown / "0.json")]) == 0
    shown: list[set[str]] = []
    for day in range(4):
        numbers = range(200 + 3 * day, 203 + 3 * day)
        when = {"date": f"2026-11-{5 + day:02d}"}
        papers = [paper(n) | when | {"arxiv_id": arxiv_id(n)} for n in numbers]
        added = write(grown / f"day{day}.jsonl", papers, f"2026-11-{12 + day}")
        assert main(["update", atlas, str(added)]) == 0
        assert main(["digest", atlas, "--for", "morning", "-o", str(grown / "d.json")]) == 0
        record = json.loads((grown / "d.json").read_text())
        assert record["n_new"] == 3
        assert record["until"] == f"2026-11-{12 + day}"
        shown.append({p["paper"]["arxiv_id"] for g in record["groups"] for p in g["papers"]})
        assert shown[-1] <= numbers_of(numbers)
    assert not set.intersection(*shown)


# -- ranking


def literature(texts: list[str], authors: list[list[str]], vectors: Any) -> Literature:
    unit = np.asarray(vectors, np.float32)
    return Literature(unit / np.linalg.norm(unit, axis=1, keepdims=True), texts, authors)


def test_four_measures_raise_a_paper() -> None:
    rng = np.random.default_rng(2)
    base = rng.normal(size=(30, 8))
    known = literature(["dust in spirals"] * 5, [["Rubin, V."]] * 5, [[5, 0, 0, 0, 0, 0, 0, 0]] * 5)
    texts, authors = ["gas"] * 30, [["Other, A."]] * 30
    none = np.zeros(30, int)
    plain = rank_papers(literature(texts, authors, base), known, none).score
    closer = base.copy()
    closer[7] = [5, 0.1, 0, 0, 0, 0, 0, 0]
    cited = none.copy()
    cited[7] = 3
    words, people = [*texts], [*authors]
    words[7], people[7] = "dust in spirals", ["Rubin, Vera"]
    for one, cites in (
        (literature(texts, authors, closer), none), (literature(words, authors, base), none),
        (literature(texts, people, base), none), (literature(texts, authors, base), cited),
    ):  # fmt: skip
        score = rank_papers(one, known, cites).score
        assert score[7] > plain[7]
        assert np.argmax(score - plain) == 7


def test_namesakes_are_not_the_same_person() -> None:
    vectors = np.ones((4, 3))
    known = literature(["a b"] * 4, [["Li, Jian"], ["Li, Jian"], ["Li, Jing"], ["Li, J."]], vectors)
    new = literature(["c"] * 3, [["Li, Jian"], ["Li, Jun"], ["Li, J."]], np.ones((3, 3)))
    assert rank_papers(new, known, np.zeros(3, int)).people.tolist() == [2, 0, 0]
    alone = literature(["a"] * 2, [["Rubin, Vera"], ["Rubin, V."]], np.ones((2, 3)))
    mine = literature(["a"], [["Rubin, V"]], np.ones((1, 3)))
    assert rank_papers(mine, alone, np.zeros(1, int)).people.tolist() == [2]


def test_other_given_names_are_not_watched(grown: Path) -> None:
    atlas = arrive(grown, [100], "2026-11-12", authors=["Turner, Michael S."])
    library = library_of(grown, range(20))
    for name, is_watched in (("Turner, Mark", False), ("Turner, M.", True), ("M. Turner", True)):
        digest = make_digest(
            atlas, replace(library, watched=Watched(authors=(name,))), since="2026-11-10"
        )
        groups = [group.name for group in digest.groups]
        assert ("By authors you watch" in groups) == is_watched


def test_a_region_of_another_map_is_a_note(grown: Path) -> None:
    atlas = arrive(grown, range(100, 104), "2026-11-12")
    library = replace(library_of(grown, range(20)), watched=Watched(regions=("Nowhere",)))
    digest = make_digest(atlas, library, since="2026-11-10")
    assert digest.n_new == 4
    assert any("has no region 'Nowhere'" in note for note in digest.notes)


def test_two_libraries_of_one_file_are_seen_apart(grown: Path) -> None:
    atlas = open_atlas(grown / "a.atlas")
    library = library_of(grown, range(20))
    first, second = (replace(library, name=name) for name in ("one", "two"))
    make_digest(atlas, first, record=True)
    assert "first digest" in " ".join(make_digest(atlas, second).notes)
    assert "Nothing has arrived" in " ".join(make_digest(atlas, first).notes)


def test_a_damaged_file_of_what_was_seen_is_a_first_look(grown: Path) -> None:
    from landscape.corpus.libraries import libraries_folder

    atlas, library = open_atlas(grown / "a.atlas"), library_of(grown, range(20), "damaged")
    make_digest(atlas, library, record=True)
    file = libraries_folder() / "seen.json"
    for text in (file.read_text().replace('"time": "', '"time": "garbage'), "[]", "{", '{"a": 3}'):
        file.write_text(text)
        assert "first digest" in " ".join(make_digest(atlas, library).notes)


def test_undated_papers_arrive_with_their_part(tmp_path: Path) -> None:
    papers = [paper(n) for n in range(30)]
    for one in papers:
        del one["date"], one["arxiv_id"]
    file = write(tmp_path / "u.jsonl", papers, "2026-11-20")
    build(file, tmp_path / "u.atlas", **QUICK)
    digest = make_digest(open_atlas(tmp_path / "u.atlas"), "spiral galaxies", kind="text")
    assert digest.n_new == 30


def test_the_feed_keeps_its_name(grown: Path) -> None:
    """Readers of feeds take another id for another feed (RFC 4287, section 4.2.6)."""
    atlas, library = arrive(grown, [100], "2026-11-12"), library_of(grown, range(20))
    names = set()
    for since in ("2026-11-10", "2000-01-01"):
        feed = ET.fromstring(make_digest(atlas, library, since=since).to_atom())  # noqa: S314
        names.add(feed.findtext(f"{ATOM}id"))
    assert len(names) == 1


def test_papers_that_are_not_listed_are_counted(grown: Path) -> None:
    atlas = arrive(grown, range(100, 140), "2026-11-12")
    digest = make_digest(atlas, library_of(grown, FIRST), since="2026-11-10", k=2)
    total = sum(group.n_papers for group in digest.groups)
    listed = len(digest)
    assert any(note.startswith(f"{total - listed} papers of these groups") for note in digest.notes)
    far = digest.n_new - total
    assert not far or any(f"{far} new paper" in note for note in digest.notes)
