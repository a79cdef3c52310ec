"""Impact on the map: colours show the true shares, and hatching marks uncovered years."""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.figures import animate, impact
from landscape.figures._impact import not_covered, scale_top, share_pixels
from landscape.figures.colours import share_ramp, theme
from landscape.overlays.missions.measures import share_map
from tests.figures.test_bounding_boxes import overlap, rendered_boxes

FACILITIES = ["ALMA", "Gaia", "JWST"]


@pytest.fixture(scope="module")
def atlas(make_atlas):
    """A made-up map in which only one region uses ALMA, without papers from 2010 to 2013."""
    made = make_atlas(1800, generated=True)
    rng = np.random.default_rng(4)
    n = len(made.map)
    largest = int(made.map.loc[made.map["topic_id"] >= 0, "topic_id"].mode()[0])
    uses = {
        "ALMA": (made.map["topic_id"] == largest).to_numpy() & (rng.random(n) < 0.6),
        "Gaia": rng.random(n) < 0.05,
        "JWST": rng.random(n) < 0.03,
    }
    year = rng.choice([*range(2000, 2010), *range(2014, 2022)], n)
    papers = pd.DataFrame(
        {
            "paper_id": made.map["paper_id"],
            "bibcode": made.map["paper_id"],
            "title": "A paper",
            "date": pd.to_datetime([f"{when}-07-01" for when in year]),
            "year": year,
            "cites": rng.poisson(9, n),
            "categories": [["astro-ph.GA"]] * n,
            "ref_bibcodes": [[]] * n,
        }
    )
    made.missions = pd.DataFrame(
        [
            (made.map["paper_id"][row], row, name, "title", 0, 4, name, "science")
            for name, mask in uses.items()
            for row in np.flatnonzero(mask)
        ],
        columns=["paper_id", "paper_row", "facility", "field", "start", "end", "surface", "role"],
    )
    vectors = rng.normal(size=(n, 8)).astype(np.float32)
    made.vectors = lambda: vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    made.read_papers = lambda columns: papers[columns]
    made.largest = largest
    return made


def draw(atlas, **options):
    return impact(atlas, **{"raster_dpi": 40, "n_resamples": 20, **options})


@pytest.mark.parametrize(
    "options",
    [
        {"facilities": "ALMA", "since": 2005},
        {"facilities": FACILITIES, "colours": "dark"},
        {"multiples": True, "title": "Share of the literature"},
        {"facilities": "Gaia", "slices": [(2000, 2004), (2005, 2013), (2014, 2021)]},
    ],
)
def test_nothing_overlaps_or_leaves_the_page(atlas, options):
    figure = draw(atlas, **options)
    boxes = [
        box
        for kind in ("topic-", "ranking", "caption", "key", "heading", "note", "title")
        for box in rendered_boxes(figure, kind)
    ]
    page = figure.bbox
    for gid, box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, gid
        assert page.y0 <= box.y0 < box.y1 <= page.y1, gid
    for (one, first), (other, second) in combinations(boxes, 2):
        same_text = one == other and one.startswith(("topic-", "caption"))
        assert same_text or not overlap(first, second, slack=2.0), (one, other)
    assert "do not exist" in figure.alt_text


def test_the_picture_is_darkest_where_the_facility_is_used(atlas):
    figure = draw(atlas, facilities="ALMA")
    image = next(image for image in figure.axes[0].images if image.get_gid() == "share")
    rgba = np.asarray(image.get_array())
    x0, x1, y0, y1 = image.get_extent()
    region = atlas.topics.set_index("topic_id").loc[atlas.largest]
    row = int((region["y"] - y0) / (y1 - y0) * rgba.shape[0])
    column = int((region["x"] - x0) / (x1 - x0) * rgba.shape[1])
    light, dark = rgba[..., :3].sum(axis=2).max(), rgba[row, column, :3].sum()
    assert dark < 0.75 * light
    assert rgba[row, column, 3] == 1
    assert rgba[0, 0, 3] == 0, "no literature, no colour"
    words = [text.get_text() for text in figure.texts if text.get_gid() == "ranking"]
    assert region["label"].split()[0] in " ".join(words[5:12]), "it leads the table"


def test_names_of_hot_spots_are_beside_them_and_other_names_are_grey(atlas):
    figure = draw(atlas, facilities="ALMA")
    figure.canvas.draw()
    (axes,) = [axes for axes in figure.axes if axes.get_gid() == "map"]
    names = [text for text in figure.texts if str(text.get_gid()).startswith("topic-")]
    region = atlas.topics.set_index("topic_id").loc[atlas.largest]
    spot = axes.transData.transform((region["x"], region["y"]))
    assert not any(text.get_window_extent().contains(*spot) for text in names)
    bold = [text for text in names if text.get_weight() == "bold"]
    assert f"topic-{atlas.largest}" in {text.get_gid() for text in bold}
    plain = [text for text in names if text.get_weight() != "bold"]
    assert plain
    assert {text.get_color() for text in plain} == {theme("light").faint}


def test_slices_are_alike_and_what_is_not_covered_is_hatched(atlas):
    spans = [(2000, 2009), (2010, 2013), (2014, 2021)]
    with pytest.raises(InputError, match="2010 to 2013"):
        draw(atlas, facilities="Gaia", slices=spans)
    figure = draw(atlas, facilities="Gaia", slices=[(2000, 2009), (2014, 2021)])
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1
    assert list(figure.table["period"]) == ["2000 to 2009", "2014 to 2021"]


def test_ground_of_other_years_is_bare_and_a_scale_ends_at_a_round_number(atlas):
    x, y = atlas.map["x"].to_numpy(float), atlas.map["y"].to_numpy(float)
    left = x < np.median(x)
    settings = {"extent": (-9, -9, 9, 9), "shape": (90, 90), "bandwidth": 0.4}
    every = share_map(x, y, left, **settings)
    some = share_map(x[left], y[left], left[left], **settings)
    bare = not_covered(some, every)
    across = np.broadcast_to(np.linspace(-9, 9, 90), (90, 90))
    assert bare.any()
    assert across[bare].min() > np.median(x) - 1
    assert scale_top([every]) == 1.0
    assert share_pixels(every, 1.0, share_ramp_of("light")).shape == (90, 90, 4)


def test_places_with_few_papers_count_in_the_colour_scale(atlas):
    x, y = atlas.map["x"].to_numpy(float), atlas.map["y"].to_numpy(float)
    few = np.random.default_rng(1).choice(len(x), 40, replace=False)
    uses = x[few] < np.quantile(x[few], 0.15)
    settings = {"extent": (-9, -9, 9, 9), "shape": (90, 90), "bandwidth": 0.4}
    found = share_map(x[few], y[few], uses, **settings)
    assert found.papers.max() < 12
    at_users = found.share[found.facility_papers > 0.5]
    assert scale_top([found]) > 1.2 * found.overall
    assert scale_top([found]) >= np.quantile(at_users, 0.8)


@pytest.mark.parametrize("options", [{"facilities": "ALMA"}, {"facilities": FACILITIES}])
def test_the_key_explains_the_colours_and_the_line(atlas, options):
    figure = draw(atlas, **options)
    key = [text.get_text() for text in figure.texts if text.get_gid() == "key"]
    assert "Share of nearby papers" in key
    assert "line around half of the facility's papers" in key


def test_several_facilities_have_a_labelled_map_each(atlas):
    figure = draw(atlas, facilities=FACILITIES)
    assert [axes.get_gid() for axes in figure.axes] == ["map"] * 3
    headings = [text.get_text() for text in figure.texts if text.get_gid() == "heading"]
    assert headings == FACILITIES
    region = atlas.topics.set_index("topic_id").loc[atlas.largest]
    gids = [str(text.get_gid()) for text in figure.texts]
    assert f"topic-{atlas.largest}" in gids, "the strongest place has a name"
    assert region["label"].split()[0] in " ".join(text.get_text() for text in figure.texts)
    with pytest.raises(InputError, match="choose one facility"):
        draw(atlas, facilities=FACILITIES, ax=figure.axes[0])


def test_one_facility_has_a_chart_of_years_and_the_caption_has_what_is_shown(atlas):
    figure = draw(atlas, facilities="ALMA")
    assert [axes.get_gid() for axes in figure.axes] == ["map", "years", "key"]
    words = " ".join(text.get_text() for text in figure.texts)
    assert "Impact of ALMA on the literature" in words
    assert "hatched" not in words.lower()
    assert "ridges" not in words
    later = draw(atlas, facilities="ALMA", since=2010)
    assert "2010 and later" in " ".join(text.get_text() for text in later.texts)


def share_ramp_of(name):
    from landscape.figures.colours import theme

    return share_ramp(theme(name))


def test_bad_input_is_said_in_a_sentence(atlas):
    with pytest.raises(InputError, match="ALMA"):
        draw(atlas, facilities="ALMMA")
    with pytest.raises(InputError, match="at most 24"):
        draw(atlas, facilities="Gaia", slices=[(2000, 2020)] * 25)


def test_an_animation_has_a_frame_a_year_and_says_which(atlas, tmp_path):
    from PIL import Image

    path = animate(
        atlas, "gaia", tmp_path / "gaia.gif", since=2006, until=2016, dpi=40, size_inches=(5, 5)
    )
    with Image.open(path) as moving:
        assert moving.n_frames == 9
        assert moving.size == (200, 200)
        first = np.asarray(moving.convert("RGB"))
        moving.seek(5)
        assert (np.asarray(moving.convert("RGB")) != first).any()
    words = path.with_suffix(".alt.txt").read_text()
    assert "Gaia 2010–2012: covered in part" in words
    assert words.count("Gaia 20") == 9


@pytest.mark.parametrize(("status", "says"), [(0, ""), (1, "ffmpeg could not encode")])
def test_an_animation_as_mp4_is_made_by_ffmpeg(atlas, tmp_path, monkeypatch, status, says):
    """The stand-in for ffmpeg writes what it receives, which is one picture for each frame."""
    script = f'#!/bin/sh\nfor last; do :; done\ncat > "$last"\nexit {status}\n'
    (tmp_path / "ffmpeg").write_text(script)
    (tmp_path / "ffmpeg").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    look = {"since": 2006, "until": 2016, "dpi": 40, "size_inches": (5, 5)}
    if says:
        with pytest.raises(InputError, match=says):
            animate(atlas, "Gaia", tmp_path / "a.mp4", **look)
    else:
        path = animate(atlas, "Gaia", tmp_path / "a.mp4", **look)
        assert path.stat().st_size == 9 * 200 * 200 * 4


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("a.avi", {}, "ends in one of .gif, .mp4"),
        ("a.gif", {"window": 0}, "1 to 50 years"),
        ("a.gif", {"since": 1900, "until": 1910}, "no paper"),
        ("/proc/n/a.gif", {"since": 2020, "dpi": 30, "size_inches": (5, 5)}, "cannot be written"),
    ],
)
def test_animations_that_cannot_be_are_refused(atlas, tmp_path, name, settings, said):
    with pytest.raises(InputError, match=said):
        animate(atlas, "Gaia", tmp_path / name, **settings)
