"""Files of the viewer: what a browser reads is what the atlas has."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from landscape import Atlas
from landscape.text import tokenise
from landscape.viewer import MapSource, SourceSettings
from landscape.viewer.names import LARGEST, SMALLEST, name_ranges
from landscape.viewer.search_index import author_word, index_files, varints


@pytest.fixture(scope="module")
def source(demo_atlas: Atlas) -> MapSource:
    return MapSource(demo_atlas)


@pytest.fixture(scope="module")
def files(source: MapSource) -> dict[str, bytes]:
    found = {name: gzip.decompress(content) for name, content in source.files()}
    assert list(found) == source.names()
    return found


def read_varints(content: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in content:
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            yield value
            value = shift = 0


def read_set(content: bytes, classes: int) -> list[tuple[int, int]]:
    point, found = 0, []
    for value in read_varints(content):
        point += value // classes
        found.append((point, value % classes))
    return found


def columns_of(files: dict[str, bytes], n: int) -> dict[str, np.ndarray]:
    planes = np.frombuffer(files["points-0.bin"], np.uint8).reshape(-1, n).astype(np.uint16)
    names = json.loads(files["source.json"])["columns"]
    return {name: planes[2 * at] * 256 + planes[2 * at + 1] for at, name in enumerate(names)}


def test_integers_of_any_length_come_back() -> None:
    values = np.array([0, 1, 127, 128, 16_383, 16_384, 2**35 + 5])
    assert list(read_varints(varints(values))) == values.tolist()
    assert varints(np.zeros(0, np.int64)) == b""


def test_places_years_citations_and_regions(
    demo_atlas: Atlas, source: MapSource, files: dict[str, bytes]
) -> None:
    n, order = len(demo_atlas), source.order
    columns = columns_of(files, n)
    manifest = json.loads(files["source.json"])
    x0, y0, x1, _ = manifest["box"]
    side = x1 - x0
    for name, low in (("x", x0), ("y", y0)):
        found = low + columns[name] / 0xFFFF * side
        assert np.allclose(found, demo_atlas.map[name].to_numpy()[order], atol=side / 0xFFFF)
    papers = demo_atlas.read_papers(["year", "cites"], rows=order)
    assert columns["year"].tolist() == papers["year"].fillna(0).astype(int).tolist()
    assert columns["citations"].tolist() == (papers["cites"].fillna(-1) + 1).astype(int).tolist()
    named = {row["id"]: number for number, row in enumerate(manifest["regions"])}
    table = demo_atlas.map
    smallest = table["subregion_id"].where(table["subregion_id"] >= 0, table["topic_id"])
    wanted = [named.get(topic, 0xFFFF) for topic in smallest.to_numpy()[order].tolist()]
    assert columns["region"].tolist() == wanted


def test_all_papers_are_once_in_the_files(demo_atlas: Atlas, files: dict[str, bytes]) -> None:
    records = json.loads(files["records/0.json"])
    papers = demo_atlas.read_papers(["paper_id", "title"]).set_index("paper_id")["title"]
    assert dict(zip(records["id"], records["title"], strict=True)) == papers.to_dict()
    points: dict[str, int] = {}
    for name in files:
        points |= json.loads(files[name]) if name.startswith("ids/") else {}
    assert [records["id"][point] for point in points.values()] == list(points)
    assert len(points) == len(papers)


def test_records_have_links_and_neighbours(
    demo_atlas: Atlas, source: MapSource, files: dict[str, bytes]
) -> None:
    point = int(source.point_of[7])
    detail = json.loads(files[f"details/{point // 128}.json"])[point % 128]
    (paper,) = demo_atlas.engine.papers([7])
    assert detail["abstract"] == paper.abstract
    assert detail["authors"] == list(paper.authors[:30])
    vectors = demo_atlas.vectors()
    nearest = np.argsort(-(vectors @ vectors[7]), kind="stable")[1:9]
    assert set(source.order[detail["similar"]]) == set(nearest.tolist())


def test_sets_are_the_papers_of_a_facility(
    demo_atlas: Atlas, source: MapSource, files: dict[str, bytes]
) -> None:
    entries = json.loads(files["source.json"])["sets"]["facilities"]
    assert entries[0]["papers"] == max(entry["papers"] for entry in entries)
    for entry in entries:
        start, end = entry["at"]
        found = read_set(files["facilities.bin"][start:end], 2)
        mentions = demo_atlas.missions.query("facility == @entry['name']")
        rows = set(mentions["paper_row"])
        assert {int(source.order[point]) for point, _ in found} == rows
        uses = set(mentions.query("role == 'science'")["paper_row"])
        assert {int(source.order[point]) for point, kind in found if kind} == uses


def test_the_index_has_the_words_of_titles_and_abstracts(
    demo_atlas: Atlas, source: MapSource, files: dict[str, bytes]
) -> None:
    lists: dict[str, dict[int, int]] = {}
    for number, first in enumerate(json.loads(files["words.json"])):
        head, _, content = files[f"words/{number}.bin"].partition(b"\n")
        entries = json.loads(head)
        assert entries[0][0] == first
        start = 0
        for word, end in entries:
            lists[word] = dict(read_set(content[start:end], 4))
            start = end
    assert list(lists) == sorted(lists)
    papers = demo_atlas.read_papers(["title", "abstract"])
    for row in (0, 33, 399):
        title, abstract = papers.iloc[row][["title", "abstract"]]
        words = tokenise(title) + tokenise(abstract)
        point = int(source.point_of[row])
        own = {word for word, found in lists.items() if point in found}
        (paper,) = demo_atlas.engine.papers([row])
        assert own == set(words) | {author_word(name) for name in paper.authors}
        for word in set(words):
            kind = 2 * (word in tokenise(title)) + (words.count(word) > 1)
            assert lists[word][point] == kind


def test_points_of_a_part_follow_a_curve(demo_atlas: Atlas, source: MapSource) -> None:
    places = demo_atlas.map[["x", "y"]].to_numpy()[source.order]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    shuffled = np.random.default_rng(0).permutation(places)
    assert steps.mean() < 0.3 * np.linalg.norm(np.diff(shuffled, axis=0), axis=1).mean()


def test_public_files_have_abstracts_of_arxiv_only(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Atlas.read_papers

    def with_sources(self: Atlas, columns: Any = None, **given: Any) -> pd.DataFrame:
        table = read(self, columns, **given)
        if columns == ["source"]:
            table["source"] = [["ads"], *[["arxiv-json", "ads"]] * (len(table) - 1)]
        return table

    monkeypatch.setattr(Atlas, "read_papers", with_sources)
    source = MapSource(demo_atlas, SourceSettings(public=True))
    kept = {
        int(source.order[128 * number + place])
        for number in range(4)
        for place, one in enumerate(json.loads(gzip.decompress(source.details(number))))
        if "abstract" in one
    }
    assert kept == set(range(1, 400))
    words = b"".join(gzip.decompress(c) for name, c in source.files() if name.startswith("words/"))
    assert words


def test_the_index_has_the_places_of_words(
    demo_atlas: Atlas, source: MapSource, files: dict[str, bytes]
) -> None:
    row = 33
    title, abstract = demo_atlas.read_papers(["title", "abstract"]).iloc[row]
    point, shown = int(source.point_of[row]), tokenise(title)
    expected = dict(enumerate(shown))
    expected |= dict(enumerate(tokenise(abstract), len(shown) + 8))
    found: dict[int, str] = {}
    for number in range(len(json.loads(files["words.json"]))):
        contents = [files[f"{kind}/{number}.bin"].partition(b"\n") for kind in ("words", "places")]
        papers, places = (json.loads(head) for head, _, _ in contents)
        starts = {word: end for (_, end), (word, _) in pairwise(papers)}
        start = 0
        for word, end in places:
            first = starts.get(word, 0)
            points = [p for p, _ in read_set(contents[0][2][first : dict(papers)[word]], 4)]
            turn, place = 0, 0
            for value in read_varints(contents[1][2][start:end]):
                place += value >> 1
                if points[turn] == point:
                    found[place] = word
                if not value & 1:
                    turn, place = turn + 1, 0
            assert turn == len(points)
            start = end
    assert found == {place: word[:40] for place, word in expected.items()}


def test_a_text_of_many_words_stays_with_its_paper(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Atlas.read_papers

    def with_long_text(self: Atlas, *columns: Any, **options: Any) -> pd.DataFrame:
        table = read(self, *columns, **options)
        table.loc[table.index[5], ["title", "abstract"]] = "zebra " * 6000, "zebra quagga " * 6000
        return table

    monkeypatch.setattr(Atlas, "read_papers", with_long_text)
    points = np.arange(len(demo_atlas))
    for _, content, _ in index_files(demo_atlas, points, np.ones(len(points), bool)):
        head, _, lists = content.partition(b"\n")
        start = 0
        for word, end in json.loads(head):
            if word in ("zebra", "quagga"):
                assert read_set(lists[start:end], 4) == [(5, 3 if word == "zebra" else 1)]
            start = end


# -- names


def topics(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    level = np.array([0] * (n // 10) + [1] * (n // 2) + [2] * (n - n // 10 - n // 2))
    return pd.DataFrame(
        {
            "topic_id": np.arange(n),
            "level": level,
            "label": [f"Region of number {k}" for k in range(n)],
            "n_papers": rng.integers(1, 1000, n),
        }
    )


@pytest.mark.parametrize("scale", np.geomspace(SMALLEST, LARGEST, 9))
def test_names_do_not_overlap_at_any_scale(scale: float) -> None:
    rng = np.random.default_rng(1)
    table, x, y = topics(120), *rng.uniform(0.05, 0.95, (2, 120))
    shown = [n for n in name_ranges(table, x, y) if n.smallest <= scale < n.largest]
    assert shown
    boxes = []
    for name in shown:
        width = 6.2 * max(map(len, name.lines))  # less than the width that was reserved
        height = 14 * len(name.lines)
        cx = x[name.topic_id] * scale + name.dx
        cy = (1 - y[name.topic_id]) * scale + name.dy
        boxes.append((cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2))
    for one in range(len(boxes)):
        for other in range(one):
            a, b = boxes[one], boxes[other]
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_continents_come_first_and_give_way_to_subregions() -> None:
    rng = np.random.default_rng(1)
    found = name_ranges(topics(60), *rng.uniform(0.05, 0.95, (2, 60)))
    first = {level: min(n.smallest for n in found if n.level == level) for level in (0, 1, 2)}
    assert first[0] < first[1] < first[2]
    assert all(n.largest <= LARGEST for n in found if n.level == 0)
    assert {n.topic_id for n in found} == set(range(60)), "every name appears at some scale"
    assert name_ranges(topics(0), np.zeros(0), np.zeros(0)) == []


def test_a_region_with_the_name_of_its_continent_is_named_after_it() -> None:
    table = topics(3).assign(level=[0, 1, 1], label=["Comets", "Comets", "Pulsars"])
    found = {n.topic_id: n for n in name_ranges(table, np.array([0.2, 0.3, 0.8]), np.full(3, 0.5))}
    assert found[1].smallest >= found[0].largest
    assert found[2].smallest < found[0].largest


def test_names_of_any_length_and_script_are_placed() -> None:
    table = topics(3).assign(label=["x" * 500, "مجرات حلزونية", "a <b> & c"], level=1)
    found = name_ranges(table, np.array([0.2, 0.5, 0.8]), np.array([0.5, 0.5, 0.5]))
    assert len(found) == 3
    assert all(len("".join(name.lines)) <= 60 for name in found)
