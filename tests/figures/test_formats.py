"""Every kind of figure and table in every format of README."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

import landscape
from landscape import figures
from landscape.cli import main
from landscape.figures.plotly_backend import MAX_MARKS, count_marks, draw, draw_panels

KINDS: dict[str, list[str]] = {
    "heatmap": [],
    "query": ["Why do satellite galaxies stop forming stars?"],
    "uat": [],
    "impact": ["--facility", "HST", "--since", "2000"],
    "reviews": [],
    "trends": [],
    "new": [],
    "compare": ["facility:HST", "facility:Gaia"],
    "author": [],
    "slices": [],
    "report": ["HST"],
}
# What is said of the demo atlas, whose 400 papers are too few for these verdicts.
WITHOUT_VERDICT = {"new": "Nothing is new"}
BEGINNING = {".pdf": b"%PDF", ".png": b"\x89PNG", ".svg": b"<?xml", ".html": b"<!DOCTYPE html>"}


def author_of(atlas: landscape.Atlas) -> str:
    return str(atlas.read_papers(["authors"])["authors"].explode().value_counts().index[0])


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_line_draws_every_kind_in_every_format(
    kind: str, demo_atlas: landscape.Atlas, tmp_path: Path
) -> None:
    words = [author_of(demo_atlas)] if kind == "author" else KINDS[kind]
    for suffix, beginning in BEGINNING.items():
        path = tmp_path / f"{kind}{suffix}"
        assert main(["figure", kind, str(demo_atlas.path), *words, "-o", str(path)]) == 0
        content = path.read_bytes()
        assert content.startswith(beginning)
        words_of = path.with_suffix(".alt.txt").read_text(encoding="utf-8")
        assert "do not exist" in words_of
        if kind in WITHOUT_VERDICT:  # a sentence takes the place of the figure
            assert WITHOUT_VERDICT[kind] in words_of
        elif kind != "trends" or "No trend is significant" not in words_of:
            assert len(content) > 10_000


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("heatmap", (), {"labels": False, "max_labels": 5}),
        ("uat", (), {"multiples": True}),
        ("impact", (), {}),
        ("impact", (), {"multiples": True, "n_resamples": 20}),
        ("impact", (), {"facilities": "HST", "slices": [(1995, 2009), (2010, 2025)]}),
        ("intervals", ("before_after", "HST"), {}),
        ("intervals", ("compare_facilities", ["HST", "ALMA"]), {}),
    ],
)
def test_options_are_drawn_for_the_browser_from_the_same_layers(
    name: str, arguments: tuple, options: dict, demo_atlas: landscape.Atlas, tmp_path: Path
) -> None:
    kind, *more = arguments or ("",)
    given = (kind, demo_atlas, *more) if name == "intervals" else (demo_atlas,)
    sheet = getattr(figures, name)(*given, **options)
    for drawn in (draw(sheet.scene), draw_panels(sheet.scene)):
        assert count_marks(drawn) <= MAX_MARKS
        assert drawn.layout.images or drawn.data
    page = figures.save_figure(sheet, tmp_path / "figure.html").read_text(encoding="utf-8")
    assert "http://" not in page.partition("var drawn = ")[2], "it needs no network"
    assert page.count("</script>") == 2


@pytest.mark.parametrize("name", ["heatmap", "uat", "impact", "reviews"])
def test_one_panel_is_drawn_into_axes_of_the_user(name: str, demo_atlas: landscape.Atlas) -> None:
    figure = Figure(figsize=(9, 5))
    left, right = figure.subplots(1, 2)
    options = {"facilities": "HST"} if name == "impact" else {}
    drawn = getattr(figures, name)(demo_atlas, ax=right, title="Mine $x$", **options)
    assert drawn is right
    assert right.get_title(loc="left") == "Mine $x$"
    assert right.images or right.patches
    assert not [*left.images, *left.patches]
    assert not figure.texts, "all is inside the axes"
    assert any("do not exist" in text.get_text() for text in right.texts)
    names = [text for text in right.texts if str(text.get_gid()).startswith("topic-")]
    assert names
    figure.canvas.draw()
    box = right.get_window_extent()
    for text in names:
        own = text.get_window_extent()
        assert box.x0 - 1 <= own.x0 < own.x1 <= box.x1 + 1, text


def test_a_chart_is_drawn_into_axes_of_the_user(demo_atlas: landscape.Atlas) -> None:
    axes = Figure(figsize=(6, 4)).subplots()
    drawn = figures.intervals("before_after", demo_atlas, "HST", ax=axes)
    assert drawn is axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "All regions"
    assert axes.get_xlabel() == "share of the papers of a region"


def test_text_of_papers_cannot_close_the_script_of_a_page(
    demo_atlas: landscape.Atlas, tmp_path: Path
) -> None:
    sheet = figures.heatmap(demo_atlas, title="</script><script>alert(1)</script>")
    page = figures.save_figure(sheet, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
