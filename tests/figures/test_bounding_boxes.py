"""Texts of figures do not overlap, stay on the page, and captions are outside the map.

The extents are those of the rendered text, at several resolutions.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest

from landscape import figures
from landscape.figures.labels import segments_cross
from landscape.figures.matplotlib_backend import SETTINGS

# A coarse density picture: only the text is looked at here.
heatmap = partial(figures.heatmap, raster_dpi=40)

SIZES = [(11, 8.5), (7, 5), (8.3, 11.7), (24, 16), (3.5, 4)]


def rendered_boxes(figure, kind, *, dpi=100):
    """Boxes of the texts whose gid starts with `kind`, in pixels, by gid."""
    figure.set_dpi(dpi)
    renderer = figure.canvas.get_renderer()
    with mpl.rc_context(SETTINGS):  # as the sheet draws
        return [
            (text.get_gid(), text.get_window_extent(renderer))
            for text in figure.texts
            if str(text.get_gid()).startswith(kind)
        ]


def overlap(first, second, *, slack=0.0):
    return (
        min(first.x1, second.x1) - max(first.x0, second.x0) > slack
        and min(first.y1, second.y1) - max(first.y0, second.y0) > slack
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("seed", "colours"), [(0, "light"), (1, "dark"), (2, "light")])
def test_no_name_touches_another_or_leaves_the_frame(make_atlas, size, seed, colours):
    figure = heatmap(make_atlas(seed=seed), colours=colours, size_inches=size, title="The sky")
    for dpi in (72, 160):
        names = rendered_boxes(figure, "topic-", dpi=dpi)
        assert len(names) >= 10
        for (one, box), (other, second) in combinations(names, 2):
            assert one == other or not overlap(box, second), (one, other, dpi)
        frame = figure.axes[0].get_window_extent()
        for name, box in names:
            assert frame.x0 <= box.x0 < box.x1 <= frame.x1, name
            assert frame.y0 <= box.y0 < box.y1 <= frame.y1, name


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("generated", [False, True])
def test_caption_key_and_title_stand_clear_of_the_map_and_each_other(make_atlas, size, generated):
    figure = heatmap(make_atlas(generated=generated), size_inches=size, title="The sky " * 9)
    captions = rendered_boxes(figure, "caption")
    key = rendered_boxes(figure, "key")
    title = rendered_boxes(figure, "title")
    frame = figure.axes[0].get_window_extent()
    assert captions
    assert key
    assert title
    page = figure.bbox
    for _, box in captions + key + title:
        assert box.y1 <= frame.y0 + 1 or box.y0 >= frame.y1 - 1
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
    for (_, box), (_, second) in combinations(key, 2):
        assert not overlap(box, second)
    for _, box in captions:
        # Lines of one paragraph may share the space between descenders and ascenders.
        assert not any(overlap(box, second, slack=0.5) for _, second in key)
    baselines = [box.y0 for _, box in captions]
    assert baselines == sorted(baselines, reverse=True)


@pytest.mark.parametrize("seed", [0, 3])
def test_every_name_sits_on_its_peak_or_a_line_leads_to_it(make_atlas, seed):
    atlas = make_atlas(seed=seed)
    figure = heatmap(atlas)
    axes = figure.axes[0]
    boxes: dict[str, list] = {}
    for gid, box in rendered_boxes(figure, "topic-"):
        boxes.setdefault(gid, []).append(box)
    (lines,) = {id(c): c for c in axes.collections if c.get_zorder() > 2.05}.values()
    points = figure.dpi / 72
    starts = np.array([path[0] for path in lines.get_segments()]).reshape(-1, 2) * points
    ends = np.array([path[1] for path in lines.get_segments()]).reshape(-1, 2) * points
    shown = figure.table[figure.table["shown"]]
    led = 0
    for row in shown.itertuples():
        peak = axes.transData.transform((row.x, row.y))
        parts = boxes[f"topic-{row.topic_id}"]
        low = np.array([min(b.x0 for b in parts), min(b.y0 for b in parts)])
        high = np.array([max(b.x1 for b in parts), max(b.y1 for b in parts)])
        away = np.hypot(*(np.clip(peak, low, high) - peak))
        if away > 5 * points:
            led += 1
            mine = np.argmin(np.hypot(*(starts - peak).T))
            assert np.hypot(*(starts[mine] - peak)) < 0.5
            touch = np.clip(ends[mine], low, high) - ends[mine]
            assert np.hypot(*touch) < 3 * points
    assert led <= len(starts)
    segments = np.hstack([starts, ends])
    assert not segments_cross(segments[:, None], segments[None]).any()


def test_three_hundred_topics_are_thinned_by_size(make_atlas):
    atlas = make_atlas(6000, n_regions=300)
    figure = heatmap(atlas, size_inches=(7, 5))
    table = figure.table
    assert len(table) == len(atlas.topics)
    assert 15 < table["shown"].sum() < 300
    regions = table[table["level"] == 1]
    shown = regions["shown"]
    assert regions["n_papers"][shown].median() > regions["n_papers"][~shown].median()
    names = rendered_boxes(figure, "topic-")
    assert len({gid for gid, _ in names}) == table["shown"].sum()
    for (one, box), (other, second) in combinations(names, 2):
        assert one == other or not overlap(box, second)
    assert "not shown for lack of space" in figure.caption


def test_same_map_gets_the_same_lettering(make_atlas):
    first, second = (heatmap(make_atlas(seed=5)).table for _ in range(2))
    assert first.equals(second)
