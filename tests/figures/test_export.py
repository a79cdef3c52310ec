from __future__ import annotations

import re
import zlib
from xml.etree import ElementTree

import pandas as pd
import pytest
from PIL import Image

from landscape import figures
from landscape.errors import InputError
from landscape.figures.matplotlib_backend import Sheet

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figure(make_atlas):
    return figures.heatmap(make_atlas(generated=True), raster_dpi=60)


def test_png_is_small_and_describes_itself(figure, tmp_path):
    path = figures.save_figure(figure, tmp_path / "heatmap.png")
    assert path.stat().st_size < 1_000_000
    with Image.open(path) as picture:
        assert picture.text["Description"] == figure.alt_text
        assert picture.size == (11 * 160, 8.5 * 160)
        assert picture.mode == "P"
        colours = picture.convert("RGB").getcolors(256)
    # The rare accent of the warning survives the reduction to 256 colours.
    assert min(abs(r - 0x9C) + abs(g - 0x2F) + abs(b) for _, (r, g, b) in colours) < 60


def test_reducing_the_colours_cannot_be_seen(figure, tmp_path):
    import io

    import numpy as np

    path = figures.save_figure(figure, tmp_path / "heatmap.png", dpi=100)
    full = io.BytesIO()
    figure.savefig(full, format="png", dpi=100, facecolor=figure.get_facecolor())
    with Image.open(path) as few, Image.open(full) as many:
        difference = np.abs(
            np.asarray(few.convert("RGB"), dtype=int) - np.asarray(many.convert("RGB"), dtype=int)
        )
    assert difference.mean() < 1.5
    assert np.quantile(difference, 0.999) < 24


def test_svg_holds_text_as_text(figure, tmp_path):
    path = figures.save_figure(figure, tmp_path / "heatmap.svg")
    root = ElementTree.parse(path).getroot()  # noqa: S314 - our own file
    texts = {element.text for element in root.iter(f"{SVG}text")}
    shown = figure.table[figure.table["shown"] & (figure.table["level"] == 1)]
    for label in shown["label"]:
        assert set(label.split()) <= {word for text in texts if text for word in text.split()}
    assert root.get("role") == "img"
    assert root.find(f"{SVG}desc").text == figure.alt_text
    assert "Times" in path.read_text(encoding="utf-8")
    assert len(list(root.iter(f"{SVG}image"))) == 1


def test_pdf_embeds_fonts_and_one_picture(figure, tmp_path):
    content = figures.save_figure(figure, tmp_path / "heatmap.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/Subtype /Type3" not in content
    assert b"/FontFile2" in content
    assert content.count(b"/Subtype /Image") == 1
    streams = re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL)
    drawn = b"".join(_inflated(stream) for stream in streams)
    assert drawn.count(b" Tf") > 40, "names are set as text, not drawn as outlines"


def _inflated(stream):
    try:
        return zlib.decompress(stream.rstrip(b"\r\n"))
    except zlib.error:
        return b""


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_numbers_and_words_lie_beside_it(figure, tmp_path, suffix):
    figures.save_figure(figure, tmp_path / f"heatmap{suffix}")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"heatmap{suffix}", "heatmap.csv", "heatmap.alt.txt"}
    assert (tmp_path / "heatmap.alt.txt").read_text(encoding="utf-8").strip() == figure.alt_text
    table = pd.read_csv(tmp_path / "heatmap.csv")
    wanted = "topic_id level label x y n_papers share shown label_x label_y keywords"
    assert set(wanted.split()) <= set(table.columns)
    assert list(table["label"]) == list(figure.table["label"])
    assert list(table["shown"]) == list(figure.table["shown"])


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_same_figure_same_bytes(figure, tmp_path, suffix):
    first = figures.save_figure(figure, tmp_path / f"a{suffix}").read_bytes()
    assert figures.save_figure(figure, tmp_path / f"b{suffix}").read_bytes() == first


def test_a_label_cannot_become_a_formula(make_atlas, tmp_path):
    atlas = make_atlas(50, n_regions=2)
    atlas.topics["label"] = [f'=HYPERLINK("x{i}")' for i in range(len(atlas.topics))]
    figures.save_figure(figures.heatmap(atlas, raster_dpi=40), tmp_path / "a.svg")
    labels = pd.read_csv(tmp_path / "a.csv")["label"]
    assert labels.str.startswith("'=").all()


@pytest.mark.parametrize("name", ["a.gif", "a", "a.pdf.gz"])
def test_unknown_suffix(figure, tmp_path, name):
    with pytest.raises(InputError, match=r"\.pdf, \.png, \.svg"):
        figures.save_figure(figure, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_folders_are_made_and_no_such_resolution(figure, tmp_path):
    figures.save_figure(figure, tmp_path / "new" / "folder" / "a.svg")
    assert (tmp_path / "new" / "folder" / "a.svg").is_file()
    with pytest.raises(InputError, match="there is no folder"):
        figures.save_figure(figure, tmp_path / "new" / "folder" / "a.svg" / "b.svg")
    with pytest.raises(InputError, match="between 20 and 1200"):
        figures.save_figure(figure, tmp_path / "a.png", dpi=5)


def test_a_full_disk_leaves_the_old_file_and_no_scrap(figure, tmp_path, monkeypatch):
    path = tmp_path / "a.svg"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("landscape.figures.export.os.replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        figures.save_figure(figure, path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]


def test_any_matplotlib_figure_can_be_saved(tmp_path):
    from matplotlib.figure import Figure

    figures.save_figure(Figure(figsize=(1, 1)), tmp_path / "plain.png")
    assert [p.name for p in tmp_path.iterdir()] == ["plain.png"]


def test_a_table_of_the_users_is_never_replaced(tmp_path):
    papers = tmp_path / "my-papers.csv"
    papers.write_text("title,abstract\nA,B\n")
    drawn = Sheet(figsize=(2, 2), table=pd.DataFrame({"topic_id": [1]}), alt_text="A map.")
    with pytest.raises(InputError, match=r"my-papers\.csv"):
        figures.save_figure(drawn, tmp_path / "my-papers.png")
    assert papers.read_text().startswith("title,abstract")
    assert not (tmp_path / "my-papers.png").exists()
