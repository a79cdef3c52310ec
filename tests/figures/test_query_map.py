"""Search results on the map: markers, descriptions and lists."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.transforms import Bbox

from landscape import figures
from landscape.errors import InputError
from landscape.figures.colours import srgb_to_oklab, theme
from landscape.types import Coverage, Hit, Paper, Results
from tests.figures.test_bounding_boxes import overlap, rendered_boxes

# A coarse density picture: only the marks are looked at here.
query_map = partial(figures.query_map, raster_dpi=40)

NASTY = "$\\frac{1}{0}$ <script>alert(1)</script> H_0 ^ \\input{x} \u202e%s {} $$"


def found(atlas, rows, *, apart=(), query="Why do galaxies stop forming stars?", **settings):
    """Return results with the papers of `rows`; the ranks in `apart` are marked as outliers."""
    hits = tuple(
        Hit(
            rank,
            Paper(
                row=int(row),
                paper_id=atlas.map.paper_id[row],
                title=f"Paper {row}",
                abstract="Words.",
            ),
            1 / rank,
            outlier=None if apart is None else rank in apart,
        )
        for rank, row in enumerate(rows, 1)
    )
    n = len(atlas.map)
    coverage = Coverage("Test sky", n, n, {"arxiv": n}, "1992-04-01", "2026-06-30")
    return Results(query, hits, coverage, {"gamma": 0.1, **settings})


def of_regions(atlas, *counts):
    """Return rows with the given numbers of papers of the largest regions."""
    largest = atlas.map[atlas.map.topic_id >= 0].topic_id.value_counts().index
    return np.concatenate(
        [
            np.flatnonzero(atlas.map.topic_id == topic)[:count]
            for topic, count in zip(largest, counts, strict=False)
        ]
    )


def markers(figure, kind):
    """Return the positions of symbols of a kind, in map units."""
    axes = figure.axes[0]
    lines = [line for line in axes.lines if line.get_gid() == kind]
    pixels = lines[-1].get_transform().transform(lines[-1].get_xydata())
    return axes.transData.inverted().transform(pixels)[::-1]  # the best is drawn last


def ink(boxes):
    """Return boxes of numbers without the space below the baseline, which digits do not need."""
    return [
        (gid, Bbox.from_extents(box.x0, box.y0 + 0.22 * box.height, box.x1, box.y1))
        for gid, box in boxes
    ]


@pytest.mark.parametrize("k", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("size", [(11, 8.5), (5, 5), (24, 16)])
def test_no_number_or_name_touches_another_or_leaves_the_frame(make_atlas, k, size):
    atlas = make_atlas(seed=k)
    rows = np.concatenate([of_regions(atlas, 60)[: k // 2], np.arange(k - k // 2)])
    figure = query_map(
        atlas,
        found(atlas, rows, apart={1, k}),
        size_inches=size,
        title="Q " * 60,
        colours="dark" if k == 5 else "light",
    )
    numbers = rendered_boxes(figure, "rank-")
    assert len(numbers) == len({gid for gid, _ in numbers})
    assert len(numbers) >= min(k, 20) * (0.5 if size == (5, 5) else 1)
    lettered = ink(numbers) + rendered_boxes(figure, "topic-")
    for (one, box), (other, second) in combinations(lettered, 2):
        assert one == other or not overlap(box, second), (one, other)
    frames = [axes.get_window_extent() for axes in figure.axes]
    for name, box in lettered:
        assert any(
            frame.x0 <= box.x0 < box.x1 <= frame.x1 and frame.y0 <= box.y0 < box.y1 <= frame.y1
            for frame in frames
        ), name
    lowest = min(frame.y0 for frame in frames)
    below = [box for kind in ("caption", "key") for _, box in rendered_boxes(figure, kind)]
    for box in below:
        assert box.y1 <= lowest + 1
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert box.y0 >= 0
    for first, second in combinations([box for _, box in rendered_boxes(figure, "key")], 2):
        assert not overlap(first, second)


def test_no_number_or_name_lies_on_a_marker(make_atlas):
    atlas = make_atlas()
    figure = query_map(atlas, found(atlas, of_regions(atlas, 20, 20), apart={3}))
    axes = figure.axes[0]
    at = axes.transData.transform(
        np.concatenate([markers(figure, "found"), markers(figure, "apart")])
    )
    for name, box in ink(rendered_boxes(figure, "rank-")) + rendered_boxes(figure, "topic-"):
        inside = (at > [box.x0, box.y0]).all(axis=1) & (at < [box.x1, box.y1]).all(axis=1)
        assert not inside.any(), name


def test_every_paper_is_marked_where_it_lies_and_outliers_look_different(make_atlas):
    atlas = make_atlas()
    rows = of_regions(atlas, 7, 2)
    figure = query_map(atlas, found(atlas, rows, apart={4, 9}))
    places = atlas.map.loc[rows, ["x", "y"]].to_numpy(dtype=float)
    apart = np.isin(np.arange(1, 10), [4, 9])
    assert np.allclose(markers(figure, "found"), places[~apart], atol=1e-6)
    assert np.allclose(markers(figure, "apart"), places[apart], atol=1e-6)
    lines = {line.get_gid(): line for line in figure.axes[0].lines}
    assert lines["found"].get_marker() != lines["apart"].get_marker()
    assert lines["apart"].get_markerfacecolor() == "none"
    assert lines["found"].get_markerfacecolor() != lines["apart"].get_markeredgecolor()
    colours = {t.get_text(): t.get_color() for t in figure.texts if t.get_gid() == "rank-4"}
    assert colours == {"4": theme("light").apart}
    assert "paper found, outlier" in [t.get_text() for t in figure.texts]
    calm = query_map(atlas, found(atlas, rows))
    assert "paper found, outlier" not in [t.get_text() for t in calm.texts]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_colours_of_marks_differ_and_stand_out_from_the_map(name):
    colours = theme(name)
    found_, apart, page = (
        srgb_to_oklab(np.array([to_rgb(c)]))[0]
        for c in (colours.found, colours.apart, colours.page)
    )
    # The blue-yellow axis, which red-green blindness leaves alone.
    assert abs(found_[2] - apart[2]) > 0.15
    assert min(abs(found_[0] - page[0]), abs(apart[0] - page[0])) > 0.35


@pytest.mark.parametrize(
    ("counts", "verdict", "outlined"),
    [
        ((9, 1), "9 of 10 papers lie in one region, ", 1),
        ((5, 5), "the 10 papers lie in two regions: ", 2),
        ((2, 2, 2, 2, 2), "the 10 papers are scattered: 5 regions, among them ", 0),
    ],
)
def test_the_caption_says_how_the_papers_spread(make_atlas, counts, verdict, outlined):
    atlas = make_atlas()
    figure = query_map(atlas, found(atlas, of_regions(atlas, *counts)))
    assert f"On the map, {verdict}" in figure.caption
    assert verdict in figure.alt_text
    largest = atlas.map[atlas.map.topic_id >= 0].topic_id.value_counts().index[0]
    name = atlas.topics.set_index("topic_id").label[largest]
    assert name in figure.caption.splitlines()[1]
    outlines = [c for c in figure.axes[0].collections if c.get_gid() == "outline"]
    assert len(outlines) == outlined


def test_papers_found_in_an_outlined_region_lie_in_its_outline(make_atlas):
    atlas = make_atlas()
    topic = atlas.map[atlas.map.topic_id >= 0].topic_id.value_counts().index[0]
    inside = atlas.map[atlas.map.topic_id == topic]
    away = np.hypot(inside.x - inside.x.median(), inside.y - inside.y.median())
    rows = [*away.nlargest(3).index, *away.nsmallest(4).index]
    figure = query_map(atlas, found(atlas, rows))
    (outline,) = [c for c in figure.axes[0].collections if c.get_gid() == "outline"]
    (path,) = outline.get_paths()
    assert path.contains_points(atlas.map.loc[rows, ["x", "y"]].to_numpy(dtype=float)).all()


def test_the_regions_that_hold_papers_are_named_and_few_others_faintly(make_atlas):
    atlas = make_atlas()
    rows = of_regions(atlas, 4, 3, 3)
    figure = query_map(atlas, found(atlas, rows))
    weights = {
        int(text.get_gid().removeprefix("topic-")): text.get_weight()
        for text in figure.texts
        if str(text.get_gid()).startswith("topic-")
    }
    held = set(atlas.map.topic_id[rows])
    assert {topic for topic, weight in weights.items() if weight == "bold"} == held
    assert 1 <= len(weights) - len(held) <= 8


def test_the_caption_tells_question_outliers_settings_and_coverage(make_atlas):
    atlas = make_atlas(3000)
    results = found(
        atlas,
        of_regions(atlas, 10),
        apart={2, 7},
        filter="2015..; -review",
        method="words",
        weights={"time": 1.0, "citation": 0.0},
    )
    caption = query_map(atlas, results).caption
    for words in (
        "“Why do galaxies stop forming stars?”: the 10 best papers of 3,000.",
        "2 papers (numbers 2, 7) are outliers: further from the centroid of the "
        "others, in full dimension, than D95(10) − 0.1",
        "Searched by words only, with the filter “2015..; -review”, weighted by time.",
        "Test sky: 3,000 papers, 1992-04-01 to 2026-06-30, from arXiv.",
        "directions, and distances between far regions, mean nothing",
        "are among its 10 nearest",
    ):
        assert words in caption
    assert "outlier" not in query_map(atlas, found(atlas, [1, 2], apart=None)).caption


def test_what_is_printed_is_the_caption(make_atlas):
    atlas = make_atlas(generated=True)
    figure = query_map(atlas, found(atlas, of_regions(atlas, 5)))
    warning, *printed = [t.get_text() for t in figure.texts if t.get_gid() == "caption"]
    assert " ".join(printed) in figure.caption.replace("\n", " ")
    assert warning.startswith("GENERATED DEMO CORPUS")
    (title,) = [t.get_text() for t in figure.texts if t.get_gid() == "title"]
    assert f"{title}." == figure.caption.splitlines()[0]
    assert figure.alt_text.startswith("GENERATED DEMO CORPUS")


def test_the_sidecar_has_a_row_a_paper(make_atlas, tmp_path):
    atlas = make_atlas()
    rows = [*of_regions(atlas, 3), int(np.flatnonzero(atlas.map.topic_id == -1)[0])]
    figure = query_map(atlas, found(atlas, rows, apart={4}))
    figures.save_figure(figure, tmp_path / "query.svg")
    table = pd.read_csv(tmp_path / "query.csv")
    assert list(table) == [
        "rank",
        "paper_id",
        "title",
        "x",
        "y",
        "topic_id",
        "region",
        "score",
        "outlier",
    ]
    assert table["paper_id"].tolist() == [f"paper-{row}" for row in rows]
    assert table["outlier"].tolist() == [False, False, False, True]
    assert table["topic_id"].iloc[-1] == -1
    assert table["region"].isna().tolist() == [False, False, False, True]
    words = (tmp_path / "query.alt.txt").read_text(encoding="utf-8")
    assert f"4 Paper {rows[3]} (" in words
    assert ", outlier)" in words


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_hostile_text_is_text(make_atlas, tmp_path, kind):
    atlas = make_atlas()
    atlas.topics = atlas.topics.assign(label=NASTY)
    results = found(atlas, of_regions(atlas, 5), query=NASTY, filter=NASTY)
    figure = query_map(atlas, results, title=NASTY)
    path = figures.save_figure(figure, tmp_path / f"a.{kind}")
    assert path.stat().st_size > 1000
    assert "$\\frac{1}{0}$ <script>alert(1)</script> H_0" in figure.caption
    assert "\u202e" not in figure.caption + figure.alt_text
    if kind == "svg":
        assert b"<script>" not in path.read_bytes()


@pytest.mark.parametrize("query", ["word " * 4000, "x" * 20_000, "日本 😀 " * 200])
def test_a_long_question_is_cut_and_wrapped(make_atlas, query):
    atlas = make_atlas()
    figure = query_map(atlas, found(atlas, of_regions(atlas, 5), query=query))
    assert "…”: the 5 best papers of" in figure.caption
    for _, box in rendered_boxes(figure, "caption"):
        assert box.x1 <= figure.bbox.x1


def test_papers_at_one_place_all_get_their_numbers(make_atlas):
    atlas = make_atlas()
    rows = of_regions(atlas, 6)
    atlas.map.loc[rows, ["x", "y"]] = atlas.map.loc[rows[0], ["x", "y"]].to_numpy()
    figure = query_map(atlas, found(atlas, rows, apart={6}))
    assert len(rendered_boxes(figure, "rank-")) == 6
    assert len(markers(figure, "found")) == 5


def test_papers_far_off_are_in_the_frame(make_atlas):
    atlas = make_atlas()
    atlas.map.loc[7, ["x", "y"]] = 100.0
    figure = query_map(atlas, found(atlas, [7, 8, 9]))
    x0, x1, y0, y1 = figure.axes[0].images[0].get_extent()
    assert x0 < 100 < x1
    assert y0 < 100 < y1


def test_more_papers_than_numbers_are_marked_all_the_same(make_atlas):
    atlas = make_atlas()
    figure = query_map(atlas, found(atlas, range(300)))
    assert len(markers(figure, "found")) == 300
    numbered = len(rendered_boxes(figure, "rank-"))
    assert numbered == 40
    words = f"{300 - numbered} papers without a number on the map: 41-300."
    assert words in figure.caption
    assert words in " ".join(t.get_text() for t in figure.texts if t.get_gid() == "not numbered")


def test_a_map_without_regions_is_drawn(make_atlas):
    atlas = make_atlas()
    atlas.map["topic_id"] = -1
    atlas.topics = atlas.topics.iloc[:0]
    figure = query_map(atlas, found(atlas, [1, 2, 3]))
    assert "the 3 papers lie outside of every named region" in figure.caption


def test_the_same_result_gives_the_same_picture(make_atlas, tmp_path):
    atlas = make_atlas()
    results = found(atlas, of_regions(atlas, 20))
    first, second = (
        figures.save_figure(query_map(atlas, results), tmp_path / name).read_bytes()
        for name in ("a.svg", "b.svg")
    )
    assert first == second


def test_nothing_found_and_another_atlas_are_refused(make_atlas):
    atlas = make_atlas()
    with pytest.raises(InputError, match="the search found no papers"):
        query_map(atlas, found(atlas, []))
    other = make_atlas(100)
    other.map["paper_id"] = "else-" + other.map["paper_id"]
    with pytest.raises(InputError, match="3 of 3 papers found are not on"):
        query_map(atlas, found(other, [0, 1, 2]))


def test_one_paper_in_a_region_gets_no_outline(make_atlas):
    atlas = make_atlas()
    outlines = [
        [
            lines
            for lines in query_map(atlas, found(atlas, rows)).axes[0].collections
            if lines.get_gid() == "outline"
        ]
        for rows in (of_regions(atlas, 1), of_regions(atlas, 3))
    ]
    assert [len(lines) for lines in outlines] == [0, 1]


def test_a_list_beside_the_map_names_the_papers(make_atlas):
    atlas = make_atlas()
    results = found(atlas, of_regions(atlas, 3, 2))
    named = replace(
        results.hits[1],
        paper=replace(
            results.hits[1].paper,
            title="Dust in quasars " * 7,
            authors=("Ada B. Lovelace", "Hubble, E.", "de Grijs, R."),
            date=date(2021, 3, 1),
        ),
    )
    results = replace(results, hits=(results.hits[0], named, *results.hits[2:]))
    written = [t.get_text() for t in query_map(atlas, results).texts if t.get_gid() == "ranking"]
    at = written.index("2")
    assert written[at + 1].startswith("Lovelace et al.: Dust in quasars Dust")
    assert "".join(written[at + 1 : at + 3]).count("Dust") == 7
    assert written[at + 3] == "2021"
    small = query_map(atlas, results, size_inches=(5, 5))
    assert not [t for t in small.texts if t.get_gid() == "ranking"]


def test_marks_that_overlap_are_enlarged_in_a_window(make_atlas):
    atlas = make_atlas()
    rows = of_regions(atlas, 1, 1, 1, 1, 1)
    apart = atlas.map.loc[rows, ["x", "y"]].to_numpy(float)
    atlas.map[["x", "y"]] = atlas.map[["x", "y"]].astype(float)
    apart[:, 0], apart[:, 1] = np.linspace(-4, 4, 5), 0
    atlas.map.loc[rows, ["x", "y"]] = apart
    assert len(query_map(atlas, found(atlas, rows)).axes) == 1
    atlas.map.loc[rows[:3], ["x", "y"]] = apart[0] + [[0, 0], [0.05, 0], [0, 0.05]]
    figure = query_map(atlas, found(atlas, rows))
    (window,) = [axes for axes in figure.axes if axes.get_gid() == "inset"]
    ((low, high), (left, right)) = window.get_xlim(), figure.axes[0].get_xlim()
    zoom = (window.bbox.width / (high - low)) / (figure.axes[0].bbox.width / (right - left))
    notes = [t.get_text() for t in figure.texts if t.get_gid() == "note"]
    assert notes == [f"{zoom:.2g} times larger; grey: other papers"]
    inside = window.get_window_extent()
    numbers = rendered_boxes(figure, "rank-")
    enlarged = {name for name, box in numbers if inside.y0 < box.y0 < inside.y1}
    assert enlarged == {"rank-1", "rank-2", "rank-3"}
    assert len(numbers) == 5


def test_a_map_that_cannot_be_enlarged_keeps_its_size(make_atlas):
    """The marks form one chain across the map, so no window would be larger than the map."""
    atlas = make_atlas()
    rows = of_regions(atlas, *[1] * 120)
    atlas.map[["x", "y"]] = atlas.map[["x", "y"]].astype(float)
    x, y = (atlas.map[name].to_numpy() for name in ("x", "y"))
    atlas.map.loc[rows, "x"] = np.linspace(x.min(), x.max(), len(rows))
    atlas.map.loc[rows, "y"] = np.median(y)
    chain = query_map(atlas, found(atlas, rows))
    assert [axes for axes in chain.axes if axes.get_gid() == "inset"] == []
    apart = atlas.map.loc[rows[::60], ["x", "y"]]
    few = query_map(atlas, found(atlas, list(apart.index)))
    assert chain.axes[0].bbox.height == pytest.approx(few.axes[0].bbox.height, rel=0.05)


def test_names_for_orientation_are_all_over_the_map(make_atlas):
    atlas = make_atlas()
    figure = query_map(atlas, found(atlas, of_regions(atlas, 5)))
    named = [t for t in figure.texts if str(t.get_gid()).startswith("topic-")]
    regions = atlas.topics[atlas.topics.level == 1].set_index("topic_id")[["x", "y"]]
    at = regions.loc[[int(t.get_gid().removeprefix("topic-")) for t in named]]
    for axis in ("x", "y"):
        assert np.ptp(at[axis]) > 0.7 * np.ptp(regions[axis])


def test_the_best_of_papers_at_one_place_is_on_top(make_atlas):
    atlas = make_atlas()
    rows = of_regions(atlas, 2)
    figure = query_map(atlas, found(atlas, rows))
    (line,) = [line for line in figure.axes[0].lines if line.get_gid() == "found"]
    assert np.allclose(line.get_xydata()[-1], atlas.map.loc[rows[0], ["x", "y"]].to_numpy(float))


def test_the_key_does_not_leave_the_margin(make_atlas):
    atlas = make_atlas()
    figure = query_map(atlas, found(atlas, of_regions(atlas, 5)))
    words = [box for _, box in rendered_boxes(figure, "key")]
    assert max(box.x1 for box in words) <= figure.bbox.x1 - 20 / 72 * 100 + 1
