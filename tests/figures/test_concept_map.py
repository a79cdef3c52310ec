"""Concepts on the map: contours around their papers, names and tables without overlap."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.path import Path

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.figures import uat
from landscape.figures._uat import territory_colours
from landscape.figures.areas import DEFICIENCIES, differences, measure_borders
from landscape.figures.colours import (
    THEMES,
    contrast_ramp,
    series,
    share_ramp,
    srgb_to_oklab,
    theme,
)
from landscape.figures.export import draw
from landscape.figures.scene import Names
from landscape.mapping import density_grid
from landscape.mapping.density import contour_lines, highest_density_levels, map_extent
from landscape.overlays.thesaurus._extents import trace_territories
from landscape.types import Analysis
from tests.figures.test_bounding_boxes import overlap, rendered_boxes
from tests.figures.test_colours import linear


def draw_concepts(atlas, analysis, **look):
    return draw(uat.scene(atlas, analysis=analysis, **look))


def concepts_of(atlas, *, n=6, empty=()):
    """An analysis whose concepts are the continents of a made-up map."""
    x, y = atlas.map["x"].to_numpy(float), atlas.map["y"].to_numpy(float)
    parents = dict(zip(atlas.topics["topic_id"], atlas.topics["parent_id"], strict=True))
    own = atlas.map["topic_id"].map(parents).to_numpy()
    rows, contours, masks = [], [], []
    for number, row in enumerate(atlas.topics[atlas.topics["level"] == 0].head(n).itertuples()):
        mask = (own == row.topic_id) & (number not in empty)
        grid = density_grid(x[mask], y[mask], bounds=map_extent(x, y), bandwidth=0.3)
        for share, level in zip((0.5, 0.8), highest_density_levels(grid), strict=True):
            for piece, line in enumerate(contour_lines(grid, level)):
                points = {"order": np.arange(len(line)), "x": line[:, 0], "y": line[:, 1]}
                keys = {"concept_id": str(number), "share": share, "piece": piece}
                contours.append(pd.DataFrame({**keys, **points}))
        masks.append(mask)
        label = "$H_0$ </svg> & a concept with a very long name indeed" * (number == 1) or row.label
        rows.append((str(number), label, int(mask.sum()), mask.mean(), 0.9))
    names = ["concept_id", "label", "papers", "share", "separability_full"]
    table = pd.DataFrame(rows, columns=names)
    return Analysis(
        "uat",
        table,
        "Where concepts live.",
        {"papers": len(x)},
        atlas.coverage,
        ("Beware.",),
        {"contours": pd.concat(contours, ignore_index=True), **territories_of(table, x, y, masks)},
    )


def territories_of(table, x, y, masks):
    found = trace_territories(x, y, np.array(masks).T)
    concepts = table[["concept_id", "label"]]
    return {
        name: concepts.merge(part, "right", left_index=True, right_on="group")
        for name, part in found.items()
    }


def test_a_concept_without_a_place_is_drawn(make_atlas):
    """A rare concept is nowhere over-represented."""
    atlas = make_atlas(1500)
    analysis = concepts_of(atlas, n=1)
    nowhere = analysis.tables | {"places": analysis.tables["places"].head(0)}
    figure = draw_concepts(atlas, replace(analysis, tables=nowhere), raster_dpi=40)
    assert not [text for text in figure.texts if str(text.get_gid()).startswith("topic-")]


@pytest.mark.parametrize("multiples", [False, True])
@pytest.mark.parametrize("size", [(11, 8.5), (7, 6)])
def test_nothing_overlaps_or_leaves_the_page(make_atlas, multiples, size):
    atlas = make_atlas(1500)
    figure = draw_concepts(
        atlas, concepts_of(atlas), multiples=multiples, size_inches=size, raster_dpi=40
    )
    kinds = ["heading", "note", "key"] if multiples else ["topic-"]
    boxes = [box for kind in [*kinds, "caption", "title"] for box in rendered_boxes(figure, kind)]
    page = figure.bbox
    for gid, box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, gid
        assert page.y0 <= box.y0 < box.y1 <= page.y1, gid
    for (one, first), (other, second) in combinations(boxes, 2):
        same_text = one == other and one.startswith(("topic-", "caption"))
        assert same_text or not overlap(first, second, slack=2.0), (one, other)


def test_half_of_the_papers_lie_inside_the_strong_line(make_atlas):
    atlas = make_atlas(3000)
    analysis = concepts_of(atlas)
    figure = draw_concepts(atlas, analysis, multiples=True, raster_dpi=40)
    lines = [c for c in figure.axes[0].collections if c.get_gid() == "concept-0"]
    drawn = list(lines[-1].get_paths())  # the tightest is drawn last
    parents = dict(zip(atlas.topics["topic_id"], atlas.topics["parent_id"], strict=True))
    own = atlas.map["topic_id"].map(parents).to_numpy() == 1000
    points = atlas.map.loc[own, ["x", "y"]].to_numpy(float)
    crossings = sum(Path(path.vertices).contains_points(points).astype(int) for path in drawn)
    assert abs(np.mean(crossings % 2 == 1) - 0.5) < 0.12


def test_small_maps_share_their_axes_and_a_concept_without_papers_is_still_listed(make_atlas):
    atlas = make_atlas(1500)
    analysis = concepts_of(atlas, empty=(2,))
    figure = draw_concepts(atlas, analysis, multiples=True, raster_dpi=40)
    assert len(figure.axes) == len(analysis.table)
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1
    words = " ".join(text.get_text() for text in figure.texts if text.get_gid() == "heading")
    assert analysis.table["label"][2].split()[0] in words
    alone = draw_concepts(atlas, analysis, raster_dpi=40)
    assert alone.table is analysis.table
    assert "Beware." in alone.caption


def test_each_place_has_the_colour_and_the_name_of_its_concept(make_atlas):
    atlas = make_atlas(3000)
    analysis = concepts_of(atlas)
    borders, places = analysis.tables["territories"], analysis.tables["places"]
    assert (places["ratio"] > 1.3).all()
    parents = dict(zip(atlas.topics["topic_id"], atlas.topics["parent_id"], strict=True))
    own = atlas.map["topic_id"].map(parents).to_numpy() == 1000
    at = atlas.map.loc[own, ["x", "y"]].to_numpy(float)
    lines = [part[["x", "y"]] for _, part in borders[borders["concept_id"] == "0"].groupby("piece")]
    inside = sum(Path(line).contains_points(at).astype(int) for line in lines)
    assert np.mean(inside % 2 == 1) > 0.85
    x0, y0, x1, y1 = map_extent(atlas.map["x"], atlas.map["y"], margin=0.11)
    assert borders["x"].between(x0, x1).all(), "no border is cut"
    assert borders["y"].between(y0, y1).all()
    figure = draw_concepts(atlas, analysis, raster_dpi=40)
    words = " ".join(t.get_text() for t in figure.axes[0].texts + figure.texts).lower()
    words = words.replace("\u200a", "")
    first = analysis.table["label"][0].split()[0].lower()
    assert first in words
    fills = {
        patch.get_facecolor()
        for patch in figure.axes[0].patches
        if str(patch.get_gid()).startswith("concept-")
    }
    assert len(fills) == places["concept_id"].nunique()


def test_names_are_inside_their_places(make_atlas):
    atlas = make_atlas(3000)
    analysis = concepts_of(atlas)
    scene = uat.scene(atlas, analysis=analysis, raster_dpi=40)
    (panel,) = scene.panels
    names = next(layer.names for layer in panel.layers if isinstance(layer, Names))
    borders, places = analysis.tables["territories"], analysis.tables["places"]
    assert len(names) == len(places)
    for name in names:
        concept = places["concept_id"].iloc[int(name.gid.removeprefix("topic-"))]
        own = borders[borders["concept_id"] == concept]
        lines = [Path(panel.to_page(part["x"], part["y"])) for _, part in own.groupby("piece")]
        x0, y0, x1, y1 = name.box
        corners = np.array([(x0, y0), (x1, y0), (x0, y1), (x1, y1)])
        inside = sum(line.contains_points(corners).astype(int) for line in lines) % 2
        assert inside.all() or name.size < 7, name.lines


@pytest.mark.parametrize("name", list(THEMES))
def test_adjacent_concepts_have_colours_that_differ_for_all_readers(name):
    rows, columns = np.divmod(np.arange(12), 4)
    square = np.array([(t, side) for side in (0.0, 1.0) for t in np.linspace(0, 1, 40)])
    square = np.concatenate([square, square[:, ::-1]])
    outlines = [square + np.array([column, row]) for row, column in zip(rows, columns, strict=True)]
    styles = territory_colours(theme(name), [[one] for one in outlines])
    assert len(set(styles)) == 12, "each concept has a colour of its own"
    page = np.array(to_rgb(theme(name).page))
    fills = np.array([page + fill * (np.array(to_rgb(ink)) - page) for ink, fill in styles])
    borders = measure_borders(outlines, near=0.05)
    assert borders[0, 1] > borders[0, 5] > borders[0, 2] == 0
    assert differences(fills)[borders > 20].min() > 0.06  # 0.02 is just noticeable


def test_small_places_belong_to_their_neighbours():
    random = np.random.default_rng(0)
    x, y = random.uniform(0, 4, 8000), random.uniform(0, 2, 8000)
    is_left = x < 2
    away = np.hypot(x - 3, y - 1)
    found = {
        radius: trace_territories(x, y, np.column_stack([is_left, ~is_left & (away > radius)]))
        for radius in (0.12, 0.5)  # 0.6% and 10% of the papers have no concept
    }
    outlines = {
        radius: len(tables["territories"].groupby(["group", "piece"]))
        for radius, tables in found.items()
    }
    assert outlines == {0.12: 3, 0.5: 4}, "two concepts, a hole if it is large, and the coast"
    assert all(len(tables["places"]) == 2 for tables in found.values())


def test_grey_is_explained_if_there_is_any(make_atlas):
    atlas = make_atlas(3000)
    for n, has_grey in ((len(atlas.topics.query("level == 0")), False), (2, True)):
        caption = uat.scene(atlas, analysis=concepts_of(atlas, n=n)).caption
        assert ("Grey: " in " ".join(caption.sentences)) == has_grey


def test_lines_of_small_maps_are_explained(make_atlas):
    atlas = make_atlas(1500)
    figure = draw_concepts(atlas, concepts_of(atlas), multiples=True, raster_dpi=40)
    key = [text.get_text() for text in figure.texts if text.get_gid() == "key"]
    assert "contains 50% of its papers" in key
    assert "contains 80% of its papers" in key
    assert "A paper can have several concepts." in figure.caption


def test_too_many_or_no_concepts_are_refused(make_atlas):
    atlas = make_atlas(500)
    analysis = concepts_of(atlas, n=1)
    many = pd.concat([analysis.table] * 22, ignore_index=True)
    for table, said in ((many, "at most 21"), (analysis.table.head(0), "no concept")):
        wrong = Analysis("uat", table, "", {}, {}, (), analysis.tables)
        with pytest.raises(InputError, match=said):
            draw_concepts(atlas, wrong)


@pytest.mark.parametrize("name", list(THEMES))
def test_series_differ_to_every_reader(name):
    assert len(set(series(theme(name), 7))) == 7
    rgb = np.array([to_rgb(colour) for colour in THEMES[name]["series"]])
    for matrix in [np.eye(3), *DEFICIENCIES.values()]:
        seen = np.clip(linear(rgb) @ np.array(matrix).T, 0, 1)
        seen = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
        lab = srgb_to_oklab(seen)
        apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
        assert apart[~np.eye(len(lab), dtype=bool)].min() > 0.09  # 0.02 is just noticeable


@pytest.mark.parametrize("name", list(THEMES))
def test_fills_of_hues_differ_to_every_reader(name):
    page = np.array(to_rgb(theme(name).page))
    fills = 0.45 * np.array([to_rgb(colour) for colour in series(theme(name), 7)]) + 0.55 * page
    for matrix in [np.eye(3), *DEFICIENCIES.values()]:
        seen = np.clip(linear(fills) @ np.array(matrix).T, 0, 1)
        seen = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
        lab = srgb_to_oklab(seen)
        apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
        assert apart[~np.eye(len(lab), dtype=bool)].min() > 0.04  # 0.02 is just noticeable


@pytest.mark.parametrize("name", list(THEMES))
def test_ramps_read_in_grey_print(name):
    lightness = srgb_to_oklab(share_ramp(theme(name)))[:, 0]
    steps = np.diff(lightness)
    assert (steps < 0).all() or (steps > 0).all()
    both = srgb_to_oklab(contrast_ramp(theme(name)))[:, 0]
    away = abs(both - both[128])
    assert (np.diff(away[128:]) > 0).all()
    assert (np.diff(away[:129]) < 0).all()
