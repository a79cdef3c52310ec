"""The outreach map from an atlas to files: complete, reproducible and safe."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

# Private modules: no public function exposes the steps tested here by themselves.
from landscape import Atlas, cli
from landscape.errors import InputError
from landscape.figures.labels import boxes_overlap
from landscape.figures.lettering import Run
from landscape.outreach import Rendering, files, render
from landscape.outreach.files import encode_map
from landscape.outreach.sheets import SIZES, choose_sheet
from tests.outreach.small_atlas import SmallAtlas, small_atlas

SIZE = "720x540px"
EVIL = "<script>alert('x')</script> & \"co\""


@pytest.fixture(scope="module")
def drawn(demo_atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> tuple[Rendering, Path]:
    path = tmp_path_factory.mktemp("map") / "map.png"
    first = int(demo_atlas.topics.query("level == 1")["topic_id"].iloc[0])
    rendering = render(
        demo_atlas,
        path,
        size=SIZE,
        dpi=110,
        names={first: EVIL, "no such region": "x"},
        credits="With thanks to the test",
    )
    return rendering, path


def test_the_picture_and_what_stands_beside_it(drawn: tuple[Rendering, Path]) -> None:
    rendering, path = drawn
    with Image.open(path) as picture:
        assert picture.size == rendering.sheet.pixels
        assert "GENERATED" in picture.text["Description"]  # type: ignore[attr-defined]  # of a PNG
        record = json.loads(picture.text["Landscape"])  # type: ignore[attr-defined]  # of a PNG
    assert record["settings"]["atlas_hash"] == rendering.terrain.atlas_hash
    assert "data alone" in record["used"]
    assert "weights=" in rendering.used
    assert "GENERATED" in path.with_suffix(".alt.txt").read_text()
    assert json.loads(path.with_suffix(".json").read_text())["settings"]["theme"] == "atlas"
    assert record["settings"]["title"] == rendering.about.title
    words = " ".join(mark.text for mark in rendering.scene.layers if isinstance(mark, Run))
    for said in ("GENERATED DEMO CORPUS", "directions mean", "With thanks", "Demo corpus"):
        assert said in words
    assert any("no such region" in note for note in rendering.notes)


def test_no_words_touch_and_none_leave_the_sheet(drawn: tuple[Rendering, Path]) -> None:
    rendering, _ = drawn
    runs = [mark for mark in rendering.scene.layers if isinstance(mark, Run)]
    sheet = rendering.sheet
    by_owner: dict[str, list[np.ndarray]] = {}
    for number, run in enumerate(runs):
        boxes = run.boxes
        assert (boxes[:, :2] >= 0).all(), run.text
        assert (boxes[:, 2:] <= (sheet.width, sheet.height)).all(), run.text
        by_owner.setdefault(run.place or f"words {number}", []).append(boxes)
    found = [np.concatenate(boxes) for boxes in by_owner.values()]
    for number, one in enumerate(found):
        for two in found[number + 1 :]:
            assert not boxes_overlap(one[:, None], two[None], gap=-0.4).any()


def test_the_gazetteer_names_every_place_and_can_be_edited_and_read_back(
    drawn: tuple[Rendering, Path], demo_atlas: Atlas, tmp_path: Path
) -> None:
    rendering, path = drawn
    file = path.with_suffix(".gazetteer.csv")
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    regions = [row for row in rows if row["kind"] == "region"]
    assert len(regions) == int((demo_atlas.topics["level"] == 1).sum())
    labels = demo_atlas.topics.set_index("topic_id")["label"]
    lands = [row for row in rows if row["kind"] in ("continent", "region")]
    assert all(row["technical_name"] == labels[int(row["place"])] for row in lands)
    renamed = next(row for row in rows if row["name"] == EVIL)
    assert renamed["technical_name"] != EVIL
    from landscape.outreach.names import read_names

    known = {entry.place: entry.technical_name for entry in rendering.entries}
    names, problems = read_names(file, known)
    assert problems == []
    assert names[renamed["place"]] == EVIL


@pytest.mark.parametrize("kind", [".png", ".pdf", ".svg"])
def test_the_same_map_is_the_same_file(
    kind: str, drawn: tuple[Rendering, Path], demo_atlas: Atlas
) -> None:
    rendering, _ = drawn
    assert encode_map(rendering, kind) == encode_map(rendering, kind)
    if kind == ".png":
        names = {row.place: row.name for row in rendering.entries}
        again = render(
            demo_atlas, size=SIZE, dpi=110, names=names, credits="With thanks to the test"
        )
        assert (again.page() == rendering.page()).all()


def test_svg_holds_words_fonts_and_no_address(drawn: tuple[Rendering, Path]) -> None:
    rendering, _ = drawn
    text = encode_map(rendering, ".svg").decode()
    root = ET.fromstring(text)  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    words = ["".join(node.itertext()) for node in root.iter(f"{space}text")]
    shown = [entry for entry in rendering.entries if entry.shown and " " not in entry.name]
    assert all(entry.name in words or entry.name.upper() in words for entry in shown)
    assert "@font-face" in text
    assert root.find(f"{space}script") is None
    addresses = re.findall(r'(?:href|src)\s*=\s*"([^"]{0,40})', text)
    assert all(address.startswith(("data:", "#")) for address in addresses)


def test_pdf_holds_words_that_can_be_searched_for(drawn: tuple[Rendering, Path]) -> None:
    rendering, _ = drawn
    content = encode_map(rendering, ".pdf")
    assert content.startswith(b"%PDF")
    assert b"/FontFile2" in content
    assert b"CreationDate" not in content


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.addresses += [
            value or "" for key, value in attrs if key in ("src", "href", "srcset", "action")
        ]


def test_the_page_for_the_browser_needs_nothing_else_and_runs_no_name(
    drawn: tuple[Rendering, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SIDE", 100)  # the picture as it is
    rendering, _ = drawn
    text = encode_map(rendering, ".html").decode()
    parser = _Page()
    parser.feed(text)
    assert parser.scripts == 2  # the places, and the code
    assert all(address.startswith(("data:", "#")) for address in parser.addresses)
    assert "<script>alert" not in text
    data = re.search(r'id="places">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    places = json.loads(data[1])
    assert EVIL in [place["name"] for place in places]
    assert {"at", "technical", "shown"} <= set(places[0])
    assert text == encode_map(rendering, ".html").decode()


def draw(atlas: SmallAtlas, **how: object) -> Rendering:
    return render(atlas, size=SIZE, dpi=72, **how)  # type: ignore[arg-type]  # a stand-in


def test_ten_papers_of_one_region_are_a_map() -> None:
    rendering = draw(small_atlas(["Dust"]))
    assert [entry.name for entry in rendering.entries] == ["Dust"]
    assert rendering.entries[0].shown


def test_long_odd_and_foreign_names() -> None:
    labels = ["A" * 80, "very " * 16, "\u202eevil\x00 $x$ {", "物质", "$\\frac{", "क्षेत्र"]
    rendering = draw(small_atlas(labels, papers=30), title="T " * 90, language="zh")
    assert len(rendering.gazetteer) >= len(labels)
    encode_map(rendering, ".svg")
    assert "evil $x$ {" in [entry.name for entry in rendering.entries]


def test_a_glyph_that_no_font_has(monkeypatch: pytest.MonkeyPatch) -> None:
    from landscape.figures import fonts

    real = fonts._family_for
    monkeypatch.setattr(fonts, "_family_for", lambda c: None if c == "物" else real(c))
    told: list[str] = []
    rendering = draw(small_atlas(["Dust"]), names={"Dust": "物"}, note=told.append)
    assert rendering.entries[0].name == "Dust"
    assert len(told) == 1
    assert "apt install fonts-noto-cjk" in told[0]


def test_an_atlas_without_papers() -> None:
    empty = small_atlas(["Dust"])
    empty = SmallAtlas(empty.map.iloc[:0], empty.topics.iloc[:0], [])
    with pytest.raises(InputError, match="no papers"):
        draw(empty)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
def test_every_sheet_is_divided_without_loss(size: str, aspect: float) -> None:
    sheet = choose_sheet(size, aspect=aspect)
    box, words = sheet.areas(60 * sheet.scale)
    left, top, right, bottom = sheet.pixel_box(box)
    assert 0 < left < right < sheet.pixels[0]
    assert 0 < top < bottom < sheet.pixels[1]
    assert not boxes_overlap(np.array(box), np.array(words), gap=0)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("postr", "did you mean 'poster'"),
        ("10x10mm", "cannot be lettered"),
        ("90x90in", "at most"),
        ("nanx5in", "no size"),
        ("", "no size"),
    ],
)
def test_sizes_that_cannot_be(size: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        choose_sheet(size, aspect=1.0, dpi=300)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "map.jpg"], "ends in one of .png"),
        (["-o", "~absent/map.png"], "there is no folder"),
        (["-o", "map.png", "--theme", "nihgt"], "did you mean 'night'"),
        (["-o", "map.png", "--size", "a7"], "There is no size 'a7'"),
        (["-o", "map.png", "--dpi", "3"], "between 20 and 1200"),
        (["-o", "map.png", "--names", "absent.csv"], "no table of names"),
        (["-o", "map.png", "--names", "map.gazetteer.csv"], "would replace your table"),
    ],
)
def test_wrong_usage_is_one_sentence(
    words: list[str],
    said: str,
    demo_atlas: Atlas,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.gazetteer.csv").write_text("place,name\n")
    assert cli.main(["render", str(demo_atlas.path), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert not (tmp_path / "map.png").exists()
