from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from landscape import figures
from landscape.errors import InputError
from landscape.figures.colours import THEMES, series, theme
from landscape.figures.maps import key_values, positions
from landscape.overlays.thesaurus import embedded_thesaurus
from tests.figures.test_bounding_boxes import overlap, rendered_boxes

COARSE = 40


def draw_heatmap(x, y, topics=None, **options):
    """Draw a map of an atlas that has only positions and topics."""
    atlas = SimpleNamespace(map=pd.DataFrame({"x": x, "y": y}), topics=topics)
    return figures.heatmap(atlas, **options)


def names_on(figure):
    """Return the names on the map by topic, with their lines joined."""
    words: dict[int, str] = {}
    for text in figure.texts:
        gid = str(text.get_gid())
        if gid.startswith("topic-"):
            number = int(gid.removeprefix("topic-"))
            words[number] = f"{words.get(number, '')} {text.get_text()}".strip()
    return words


def plain(name):
    return name.replace("\u200a", "").replace("\u2004", " ")


def topic(label, *, x=0.0, y=0.0, n_papers=5, topic_id=0, level=1):
    return pd.DataFrame(
        {
            "topic_id": topic_id,
            "label": label,
            "level": level,
            "x": x,
            "y": y,
            "n_papers": n_papers,
        },
        index=[0],
    )


def test_long_names_are_broken_into_lines():
    x = y = np.linspace(-1, 1, 50)
    long = "Atmospheres of planets and of the moons of planets of other stars"
    figure = draw_heatmap(x, y, topic(long, level=0), raster_dpi=COARSE)
    lines = [text for text in figure.texts if text.get_gid() == "topic-0"]
    assert len(lines) > 1
    assert plain(names_on(figure)[0]).replace("\n", " ") == long.upper()


def test_letters_of_a_map_for_one_column_are_readable(make_atlas):
    figure = figures.heatmap(make_atlas(), size_inches=(3.4, 3.8), raster_dpi=COARSE)
    assert min(text.get_fontsize() for text in figure.texts) >= 6
    names = {text.get_gid(): text for text in figure.texts if "topic" in str(text.get_gid())}
    assert len(names) >= 12
    assert max(text.get_fontsize() for text in names.values()) < 8.5


def test_structure_of_the_figure(make_atlas):
    atlas = make_atlas()
    figure = figures.heatmap(atlas, raster_dpi=COARSE)
    (axes,) = figure.axes
    (image,) = axes.images
    pixels = image.get_array()
    assert pixels.dtype == np.uint8
    assert pixels.shape[1] == 11 * COARSE
    assert not axes.axison
    x0, x1, y0, y1 = image.get_extent()
    # One map unit is as long across as it is up.
    wide, high = axes.get_window_extent().size
    assert wide / (x1 - x0) == pytest.approx(high / (y1 - y0), rel=1e-6)
    assert ((atlas.topics.x > x0) & (atlas.topics.x < x1)).all()
    labels = atlas.topics.set_index("topic_id")["label"]
    lettered = names_on(figure)
    assert len(lettered) > 30
    for number, name in lettered.items():
        expected = labels[number].upper() if number >= 1000 else labels[number]
        assert plain(name) == expected


def test_the_darkest_pixels_are_where_the_papers_are():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-2, 0.1, 5000), rng.normal(2, 0.1, 50)])
    figure = draw_heatmap(x, rng.normal(0, 0.1, 5050), raster_dpi=COARSE)
    pixels = figure.axes[0].images[0].get_array().astype(int).sum(axis=2)
    _, column = np.unravel_index(pixels.argmin(), pixels.shape)
    assert column < pixels.shape[1] / 2
    assert (pixels.max(axis=0)[:3] == 255 * 3).all(), "the page is empty where no papers are"


def test_table_accounts_for_every_topic(make_atlas):
    atlas = make_atlas()
    table = figures.heatmap(atlas, raster_dpi=COARSE).table
    assert sorted(table["topic_id"]) == sorted(atlas.topics["topic_id"])
    assert np.allclose(table["share"], table["n_papers"] / len(atlas.map))
    assert table["label_x"].notna().equals(table["shown"])
    assert set(table["keywords"]) == {"spectra; survey", "telescopes"}
    assert table["level"].is_monotonic_increasing
    near = np.hypot(table["label_x"] - table["x"], table["label_y"] - table["y"])
    assert near.median() < 0.5, "label positions are in map units"


def test_caption_states_the_bounds(make_atlas):
    caption = figures.heatmap(make_atlas(3000), raster_dpi=COARSE).caption
    for words in (
        "Test sky: 3,000 papers, 1992-04-01 to 2026-06-30, from arXiv.",
        "directions, and distances between far regions, mean nothing",
        "90% of the papers are in the 42 named regions",
        "17% of the 10 papers most similar to a paper are among its 10 nearest",
        "trustworthiness 0.93",
        "90% of region peaks return",
    ):
        assert words in caption
    assert "None" not in caption


def test_what_is_printed_is_the_caption(make_atlas):
    figure = figures.heatmap(make_atlas(), raster_dpi=COARSE)
    printed = [t.get_text() for t in figure.texts if t.get_gid() in ("title", "caption")]
    title, *bounds = printed
    assert not title.endswith(".")
    assert figure.caption.replace("\n", " ").startswith(" ".join([f"{title}.", *bounds]))
    assert len(printed) <= 3, "a title and two lines; the rest is beside it"
    assert all(sentence in figure.alt_text for sentence in figure.caption.splitlines())


def test_demo_says_that_it_is_generated(make_atlas):
    figure = figures.heatmap(make_atlas(generated=True), raster_dpi=COARSE)
    banner = [t for t in figure.texts if "GENERATED DEMO CORPUS" in t.get_text()]
    assert len(banner) == 1
    assert figure.alt_text.startswith("GENERATED DEMO CORPUS")
    real = figures.heatmap(make_atlas(), raster_dpi=COARSE)
    assert "GENERATED" not in real.alt_text + "".join(t.get_text() for t in real.texts)


def test_alt_text_names_the_largest_regions_and_where_they_lie(make_atlas):
    atlas = make_atlas()
    words = figures.heatmap(atlas, raster_dpi=COARSE).alt_text
    regions = atlas.topics[atlas.topics.level == 1].nlargest(3, "n_papers")
    for row in regions.itertuples():
        assert f"{row.label} ({row.n_papers:,}, " in words
    assert "3,000 papers" in words


def test_names_are_never_parsed_as_mathematics(tmp_path):
    nasty = "$\\frac{1}{0}$ H_0 ^ \\input{x} $$"
    figure = draw_heatmap([0, 1], [0, 1], topic(nasty), raster_dpi=COARSE, title="$\\bad{")
    figures.save_figure(figure, tmp_path / "a.svg")
    assert names_on(figure)[0] == nasty
    assert nasty in (tmp_path / "a.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("Lyα and β Pictoris ± ☉", "Lyα and β Pictoris ± ☉"),
        ("日本 dwarfs", "\ufffd\ufffd dwarfs"),
        ("two\nlines\tand \u202ereversed\u0000", "two lines and reversed"),
        ("", ""),
    ],
)
def test_any_characters_can_be_lettered(label, shown, recwarn):
    figure = draw_heatmap([0, 1], [0, 1], topic(label), raster_dpi=COARSE)
    figure.canvas.draw()
    assert names_on(figure).get(0, "") == shown
    assert not [w for w in recwarn if "missing from" in str(w.message)]


def test_eighty_letters_are_broken_into_three_lines_and_more_are_cut():
    eighty = "high resolution spectroscopic surveys of extremely metal poor halo star candidate"
    for label in (eighty[:80], "x" * 300, "word " * 60):
        figure = draw_heatmap([0, 1], [0, 1], topic(label), raster_dpi=COARSE)
        lines = [t.get_text() for t in figure.texts if t.get_gid() == "topic-0"]
        assert 1 <= len(lines) <= 4
        assert len(" ".join(lines)) <= 84


@pytest.mark.parametrize("n", [1, 2, 10])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_few_papers(make_atlas, n, colours):
    figure = figures.heatmap(make_atlas(n, n_regions=1), colours=colours, raster_dpi=COARSE)
    pixels = figure.axes[0].images[0].get_array()
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 10
    assert f"{n} paper" in figure.caption


@pytest.mark.parametrize("place", [0.0, -1e-8, 1e6])
def test_all_papers_in_one_place(place):
    figure = draw_heatmap(np.full(500, place), np.full(500, place), raster_dpi=COARSE)
    pixels = figure.axes[0].images[0].get_array()
    assert pixels.min() < 250
    assert (pixels[0, 0] == 255).all()


@pytest.mark.parametrize("topics", [None, pd.DataFrame()])
def test_no_topics(topics):
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    figure = draw_heatmap(x, y, topics, raster_dpi=COARSE)
    assert names_on(figure) == {}
    assert figure.table.empty
    assert "lie in" not in figure.caption


def test_levels_and_labels_can_be_left_away(make_atlas):
    atlas = make_atlas()
    only = figures.heatmap(atlas, levels=[0], raster_dpi=COARSE)
    assert set(names_on(only)) == set(atlas.topics.topic_id[atlas.topics.level == 0])
    none = figures.heatmap(atlas, labels=False, raster_dpi=COARSE)
    assert names_on(none) == {}
    assert not none.table["shown"].any()
    few = figures.heatmap(atlas, max_labels=7, raster_dpi=COARSE)
    assert len(names_on(few)) == 7


def test_papers_far_off_do_not_shrink_the_map():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20_000))
    x[:3] = [900, -800, 700]
    figure = draw_heatmap(x, y, raster_dpi=COARSE)
    x0, x1 = figure.axes[0].get_xlim()
    assert x1 - x0 < 30
    assert "3 papers far from all others are outside the frame" in figure.caption


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_positions_that_are_no_numbers(bad):
    with pytest.raises(InputError, match=r"1 of 3 map positions are not finite"):
        draw_heatmap([0, 1, bad], [0, 1, 2])


def test_other_unusable_input():
    with pytest.raises(InputError, match="2 x and 1 y"):
        positions([0, 1], [0])
    with pytest.raises(InputError, match="no papers"):
        draw_heatmap([], [])
    with pytest.raises(InputError, match="lacks label"):
        draw_heatmap([0], [0], topic("a").drop(columns="label"))
    with pytest.raises(InputError, match=r"1 x 1 inches.*at least 3 x 2.4"):
        draw_heatmap([0], [0], size_inches=(1, 1))
    with pytest.raises(InputError, match="'pink'"):
        draw_heatmap([0], [0], colours="pink")


def test_drawing_leaves_no_trace_in_pyplot_or_settings(make_atlas):
    import matplotlib as mpl
    from matplotlib import _pylab_helpers

    before = dict(mpl.rcParams)
    figures.heatmap(make_atlas(50, n_regions=3), raster_dpi=COARSE)
    assert dict(mpl.rcParams) == before
    assert not _pylab_helpers.Gcf.figs


def test_notebooks_show_it_with_its_alternative_text(make_atlas):
    figure = figures.heatmap(make_atlas(50, n_regions=3), raster_dpi=COARSE, size_inches=(5, 4))
    data, about = figure._repr_mimebundle_()
    assert data["image/png"].startswith("iVBOR")
    assert about["image/png"] == {"width": 360, "alt": figure.alt_text}


@pytest.mark.parametrize(("least", "most"), [(0.01, 0.02), (3, 4000), (1e-5, 1e6), (7, 7.5)])
def test_key_has_two_to_six_rising_numbers_in_range(least, most):
    values = key_values(least, most)
    assert 2 <= len(values) <= 6
    assert values == sorted(values)
    assert least <= values[0] < values[-1] <= most


def test_key_squares_hold_what_they_say():
    """The number under a square is the number of papers in an area of its size and colour."""
    rng = np.random.default_rng(0)
    n = 400_000
    figure = draw_heatmap(*rng.uniform(0, 1, (2, n)), raster_dpi=COARSE)
    axes = figure.axes[0]
    wide, high = axes.transData.transform((1, 1)) - axes.transData.transform((0, 0))
    square = next(a for a in figure.artists + figure.patches if a.get_gid() == "key")
    points = figure.dpi / 72
    expected = n * (square.get_width() * points) * (square.get_height() * points) / (wide * high)
    pixels = axes.images[0].get_array()
    middle = pixels[pixels.shape[0] // 2, pixels.shape[1] // 2] / 255
    squares = [a for a in figure.artists + figure.patches if a.get_gid() == "key"]
    numbers = [
        float(t.get_text().replace(",", ""))
        for t in figure.texts
        if t.get_gid() == "key" and t.get_text()[0].isdigit()
    ]
    assert len(numbers) == len(squares)
    tones = [np.linalg.norm(np.array(s.get_facecolor()[:3]) - middle) for s in squares]
    nearest = numbers[int(np.argmin(tones))]
    assert expected / 3.5 < nearest < expected * 3.5


def test_regions_can_have_colours_of_their_own():
    rng = np.random.default_rng(3)
    region = np.repeat([0, 1, 2], 300)
    x = rng.normal(size=900) + 6 * region
    table = pd.DataFrame({"x": x, "y": rng.normal(size=900), "topic_id": region})
    topics = pd.concat([topic("Large", n_papers=900), topic("Small", topic_id=1, x=6, n_papers=30)])
    atlas = SimpleNamespace(map=table, topics=topics)
    figure = figures.heatmap(atlas, colour="regions", raster_dpi=COARSE)
    pixels = figure.axes[0].images[0].get_array()
    thirds = np.array_split(pixels.astype(int), 3, axis=1)
    dark = [part.reshape(-1, 3)[part.reshape(-1, 3).sum(axis=1).argmin()] for part in thirds]
    assert all(np.abs(dark[i] - dark[i + 1]).max() > 20 for i in (0, 1))
    sizes = {text.get_gid(): text.get_fontsize() for text in figure.texts if text.get_gid()}
    assert sizes["topic-0"] > sizes["topic-1"]
    allowed = "colour is 'rainbow'; choose density, regions, facility, concept"
    with pytest.raises(InputError, match=allowed):
        figures.heatmap(atlas, colour="rainbow")


# 300 papers at the left, 300 in the middle and 300 at the right; 50 of the right have both.
LEFT, BOTH, RIGHT = range(300), range(600, 650), range(600, 900)


@pytest.fixture
def three_clusters(make_atlas):
    """A map whose left papers use HST, right papers ALMA, and middle papers nothing."""
    made, rng = make_atlas(900, n_regions=3), np.random.default_rng(2)
    x = np.repeat([-3.0, 0.0, 3.0], 300) + rng.normal(0, 0.15, 900)
    made.map = made.map.assign(x=x, y=rng.normal(0, 0.15, 900))
    at = np.tile([-3.0, 0.0, 3.0], 2)
    made.topics = made.topics.assign(x=at, y=np.repeat([0.4, -0.4], 3))
    used = [(row, "HST") for row in [*LEFT, *BOTH]] + [(row, "ALMA") for row in RIGHT]
    made.missions = pd.DataFrame(used, columns=["paper_row", "facility"])
    made.missions = made.missions.assign(surface=made.missions["facility"], role="science")
    made.thesaurus = embedded_thesaurus()
    ids = {"HST": "Galaxies", "ALMA": "Exoplanets"}
    ids = {name: made.thesaurus.find(label).concept_id for name, label in ids.items()}
    made.uat = made.missions.assign(concept_id=made.missions["facility"].map(ids), score=0.9)
    papers = pd.DataFrame(
        {
            "date": pd.to_datetime(["2020-07-01"] * 900),
            "year": 2020,
            "cites": 1,
            "categories": [["astro-ph.GA"]] * 900,
        }
    )
    made.read_papers = lambda columns: papers[columns]
    return made


def is_tint(pixels, colour, page):
    """Return where pixels are a mixture of the page and a colour, and differ from the page."""
    change, full = pixels / 255 - page, np.array(to_rgb(colour)) - page
    share = (change @ full) / (full @ full)
    return (share > 0.4) & (np.abs(change - share[..., None] * full).max(axis=-1) < 0.02)


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize(
    ("colour", "names"), [("facility", ["HST", "ALMA"]), ("concept", ["Galaxies", "Exoplanets"])]
)
def test_papers_have_the_colours_of_their_facilities_or_concepts(
    three_clusters, colour, names, colours
):
    figure = figures.heatmap(three_clusters, colour=colour, colours=colours, raster_dpi=COARSE)
    axes = figure.axes[0]
    pixels, page = axes.images[0].get_array().astype(float), theme(colours).ramp[0]
    left, right, bottom, top = axes.images[0].get_extent()
    y, x = np.indices(pixels.shape[:2])
    x = left + (x + 0.5) / pixels.shape[1] * (right - left)
    y = bottom + (y + 0.5) / pixels.shape[0] * (top - bottom)
    wanted = [*series(theme(colours), 2), THEMES[colours]["missing"]]
    for middle, expected in zip((-3, 3, 0), wanted, strict=True):
        inside = pixels[np.hypot(x - middle, y) < 0.1]
        assert len(inside) > 20
        assert is_tint(inside, expected, page).mean() > 0.95, f"colour at {middle}"
    empty = pixels[np.abs(y) > 1.5]
    assert len(empty) > 1000
    assert (empty == np.round(page * 255)).all(), "the page is empty where no papers are"
    legend = [text.get_text() for text in figure.texts if text.get_gid() == "key"]
    assert legend[:6] == [names[0], "350", names[1], "300", "other papers", "300"]
    assert "a paper with several has the colour of the rarest" in figure.caption
    assert f"{names[0]} 350, {names[1]} 300" in figure.alt_text


@pytest.mark.parametrize("size", [(11, 8.5), (3.4, 3.8)])
def test_the_legend_overlaps_nothing(three_clusters, size):
    figure = figures.heatmap(three_clusters, colour="concept", size_inches=size, raster_dpi=COARSE)
    kinds = ("topic-", "key", "caption", "title")
    boxes = [box for kind in kinds for box in rendered_boxes(figure, kind)]
    pairs = [pair for pair in combinations(boxes, 2) if "key" in (pair[0][0], pair[1][0])]
    assert not [(one, other) for one, other in pairs if overlap(one[1], other[1], slack=1.0)]
    width, height = figure.bbox.size
    assert all(box.x0 >= 0 and box.x1 <= width and box.y1 <= height for _, box in boxes)


def test_a_saved_legend_has_the_colours_of_the_papers(three_clusters, tmp_path):
    figure = figures.heatmap(three_clusters, colour="concept")
    figures.save_figure(figure, tmp_path / "a.png", dpi=144)
    saved = np.asarray(Image.open(tmp_path / "a.png").convert("RGB")).astype(int)
    drawn = figure.axes[0].images[0].get_array().reshape(-1, 3).astype(int)
    texts = [text for text in figure.texts if text.get_gid() == "key"]
    for name in texts[:6:2]:
        x, y = name.get_transform().transform(name.get_position()) * 72 / figure.dpi
        square = saved[saved.shape[0] - round(2 * (y + 2.6)), round(2 * (x - 9))]
        assert square.min() < 230
        near = np.abs(drawn - square).max(axis=1) < 12
        assert near.sum() > 1000, f"colour of {name.get_text()}"


def test_at_most_seven_facilities_have_a_colour(three_clusters):
    names = ["HST", "ALMA", "VLT", "Gaia", "JWST", "SDSS", "Chandra", "Planck"]
    rows = [(row, name) for n, name in enumerate(names) for row in range(100 - 10 * n)]
    table = pd.DataFrame(rows, columns=["paper_row", "facility"])
    three_clusters.missions = table.assign(surface=table["facility"], role="science")
    figure = figures.heatmap(three_clusters, colour="facility", raster_dpi=COARSE)
    legend = [text.get_text() for text in figure.texts if text.get_gid() == "key"]
    assert legend[:14:2] == names[:7]
    assert legend[14:16] == ["other papers", "800"]


def test_an_atlas_without_facilities_or_concepts_is_refused(three_clusters):
    three_clusters.missions = three_clusters.missions.head(0)
    three_clusters.uat = three_clusters.uat.head(0)
    with pytest.raises(InputError, match="No paper of this corpus mentions a facility"):
        figures.heatmap(three_clusters, colour="facility")
    with pytest.raises(InputError, match="The atlas has no papers with a concept"):
        figures.heatmap(three_clusters, colour="concept")


def test_regions_of_many_papers_are_mixed_where_they_overlap():
    n, rng = 100_000, np.random.default_rng(3)
    place, region = np.arange(n) % 3, np.arange(n) % 2
    region[place == 0], region[place == 2] = 0, 1  # both regions have papers in the middle
    table = pd.DataFrame(
        {
            "x": rng.normal(size=n) * 0.3 + 4 * place,
            "y": rng.normal(size=n) * 0.3,
            "topic_id": np.where(rng.random(n) < 0.01, -1, region),
        }
    )
    pixels = []
    for papers in (table, table.head(n - 1)):
        atlas = SimpleNamespace(map=papers, topics=None)
        figure = figures.heatmap(atlas, colour="regions", raster_dpi=COARSE)
        pixels.append(figure.axes[0].images[0].get_array().astype(float))
    mixed, separate = pixels
    height, width = mixed.shape[:2]
    assert (mixed[:10] == 255).all(), "the page is empty where no papers are"

    def colour_at(picture, share):
        around = picture[height // 2 - 4 : height // 2 + 5, round(share * width) - 4 :][:, :9]
        return 255 - around.reshape(-1, 3).mean(axis=0)

    ends = [colour_at(mixed, share) for share in (0.13, 0.87)]
    assert min(np.abs(ends[0] - ends[1]).max(), *(end.max() for end in ends)) > 60
    between = (ends[0] + ends[1]) / 2
    assert np.abs(colour_at(mixed, 0.5) - between).max() < 25
    # Below 100,000 papers, each place has the colour of one region.
    ends = [colour_at(separate, share) for share in (0.13, 0.87)]
    middle = colour_at(separate, 0.5)
    assert min(np.abs(middle / middle.max() - end / end.max()).max() for end in ends) < 0.1
