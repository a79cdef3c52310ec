"""Functions of the outreach map, each with an example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.figures.caption import Caption
from landscape.figures.colours import theme
from landscape.figures.fonts import (
    breaks_anywhere,
    can_be_spaced,
    clusters,
    covers,
    drawable,
    families,
    is_right_to_left,
    missing_fonts,
    replaced,
    script_of,
)
from landscape.figures.lettering import (
    Baseline,
    Run,
    Style,
    bent,
    extent,
    outline,
    ridge_line,
    wrapped,
)
from landscape.figures.scene import Axis, Image, Panel, Scene
from landscape.outreach import Terrain
from landscape.outreach._elevation import Surface, measure_ground, relief_of
from landscape.outreach._labels import (
    Place,
    Room,
    along,
    block,
    letter,
    line_break_options,
    straight,
)
from landscape.outreach._legend import About, compose, credit_of
from landscape.outreach._painting import coast_distance, contour_levels, gullies, hillshade
from landscape.outreach._places import (
    Entry,
    Water,
    as_table,
    describe,
    find_waters,
    papers_on_shores,
    shared_idea,
)
from landscape.outreach._svg import font_faces, image, svg_layers
from landscape.outreach._terrain import (
    citation_flows,
    find_peaks,
    read_dates,
    recency_position,
    river_cover,
)
from landscape.outreach.files import check_target, draw_page, gazetteer_of
from landscape.outreach.names import ask_names, read_names, tidy_name, wording
from landscape.outreach.sheets import choose_sheet
from landscape.outreach.themes import find_theme, ramp, rgb


def test_continents_papers_on_shores() -> None:
    water = Water((0, 1), "sea", np.array([0.0]), np.array([0.0]), 1.0)
    near = papers_on_shores(water, np.array([-1.0, -2, 3]), np.zeros(3), np.array([0, 0, 1]))
    assert [rows.tolist() for rows in near] == [[0, 1], [2]]


def test_continents_shared_idea() -> None:
    shores = [["comets", "magnetic fields"]] * 4, [["quasars", "magnetic fields"]] * 4
    assert shared_idea(*shores) == ("magnetic fields", (1.0, 1.0))


def test_continents_find_waters() -> None:
    ground = np.full((40, 60), 0.5, dtype=np.float32)
    ground[:, 25:35] = -0.5
    terrain = Terrain(ground, ground, (0.0, 6.0, 0.0, 4.0))
    waters = find_waters(terrain, np.array([1.0, 5.0]), np.array([2.0, 2.0]), np.array([4, 9]))
    assert [(water.shores, round(water.width, 1)) for water in waters] == [((4, 9), 1.0)]


def test_continents_water_key() -> None:
    assert Water((3, 7), "sea", np.zeros(1), np.zeros(1), 1.0).key == "3|7"


def test_elevation_relief_of() -> None:
    assert [round(float(e), 2) for e in relief_of(np.float32([-9, 0, 1.2, 2]), highest=2.0)] == [
        -1.0,
        0.0,
        0.46,
        1.0,
    ]


def test_elevation_raise_ground() -> None:
    rng = np.random.default_rng(0)
    ground = measure_ground(*rng.normal(size=(2, 500)), aspect=1.0, sea_share=0.97, margin=0.07)
    assert (round(ground.land_share, 2), round(float(ground.height.min()), 1)) == (0.97, -3.4)


def test_elevation_surface_through() -> None:
    grid = np.outer([0.0, 1, 4, 9], [1.0, 2, 3, 4]).astype(np.float32)
    assert np.allclose(Surface.through(grid).at((4, 4)), grid, atol=1e-5)


def test_files_gazetteer_of() -> None:
    assert gazetteer_of(Path("map.png")).name == "map.gazetteer.csv"


def test_files_check_target() -> None:
    with pytest.raises(
        InputError,
        match=re.escape("An outreach map cannot be written as 'map.jpg'; use a name that"),
    ):
        check_target("map.jpg")


def test_fonts_covers() -> None:
    assert (covers("STIXGeneral", "a"), covers("No Such Family", "a")) == (True, False)


def test_fonts_replaced() -> None:
    assert replaced("a" + chr(0x10FFFF)) == "a□"


def test_fonts_missing_fonts() -> None:
    assert missing_fonts(["Dark matter"]) is None
    sentence = missing_fonts(["star " + chr(0x10FFFF)])
    assert sentence is not None
    assert sentence.startswith("No font on this machine has 1 of the characters in use (signs; ")


def test_fonts_drawable() -> None:
    assert (drawable("σ₈ and Λ"), drawable(chr(0x10FFFF))) == (True, False)


def test_fonts_families() -> None:
    assert families(["Dark matter"]) == ("STIXGeneral", "DejaVu Sans")


def test_fonts_breaks_anywhere() -> None:
    assert (breaks_anywhere("暗物质"), breaks_anywhere("dark matter")) == (True, False)


def test_fonts_can_be_spaced() -> None:
    assert (can_be_spaced("dark"), can_be_spaced("المادة"), can_be_spaced("暗物质")) == (
        True,
        False,
        True,
    )


def test_fonts_is_right_to_left() -> None:
    assert (is_right_to_left("الثقوب"), is_right_to_left("holes")) == (True, False)


def test_fonts_script_of() -> None:
    assert (script_of("अ"), script_of("暗"), script_of("a"), script_of("7")) == (
        "DEVANAGARI",
        "CJK",
        "LATIN",
        "",
    )


def test_labels_letter() -> None:
    places = [Place("1", "Dark matter", "region", 100, 100)]
    found = letter(
        places,
        frame=(0, 0, 300, 200),
        inks=find_theme("atlas").inks,
        families=("STIXGeneral",),
        scale=1.0,
    )
    assert ([run.text for run in found.runs], sorted(found.shown)) == (["Dark matter"], ["1"])


def test_labels_straight() -> None:
    assert (
        straight(["dark"], Style(("STIXGeneral",), 10), np.array([5.0, 5, 30, 15]), "left")[0].x
        == 5.0
    )


def test_labels_block() -> None:
    style = Style(("STIXGeneral",), 10)
    assert block(["a", "b"], style)[1] > block(["a"], style)[1] + 10


def test_labels_along() -> None:
    level = Baseline(np.column_stack([np.linspace(0, 200, 160), np.full(160, 50.0)]))
    ways = along(["Dark matter"], Style(("STIXGeneral",), 10), level, spread=(0.0, 1.0))
    assert next(ways)[1][0].style.tracking > 0.1


def test_labels_room_free() -> None:
    room = Room((0, 0, 100, 100), np.array([[0.0, 0, 20, 20]]), gap=2.0)
    assert (room.free(np.array([[30.0, 30, 40, 40]])), room.free(np.array([[21.0, 0, 30, 9]]))) == (
        True,
        False,
    )


def test_labels_broken() -> None:
    assert line_break_options("weak lensing") == [["weak lensing"], ["weak", "lensing"]]
    assert line_break_options("引力波与中子星合并") == [
        ["引力波与中子星合并"],
        ["引力波与中", "子星合并"],
    ]


def test_legend_compose() -> None:
    sheet, inks = choose_sheet("a4", aspect=1.0), find_theme("atlas").inks
    marks, height = compose(
        About("Stars"), sheet, inks, ("STIXGeneral", "DejaVu Sans"), np.zeros((3, 9, 3), np.uint8)
    )
    assert (marks[0].text, height > 50) == ("Stars", True)


def test_legend_credit_of() -> None:
    assert (
        credit_of("arxiv:papers.jsonl.gz"),
        credit_of("bibtex:A. B. stars.bib"),
        credit_of("demo"),
    ) == ("arXiv", "A. B. stars", "demo")


def test_legend_about_fine_print() -> None:
    assert (
        About("Stars", first="1990", last="2026", middle=2019).fine_print()[0]
        == "Papers: Stars, from –. At least half are from 2019 or later."
    )


def test_legend_about_legend() -> None:
    assert (
        About("Stars", recent=(2022, 2026), in_ink=True).legend()[1]
        == "Coasts: hatched where papers are newer than usual (2022–2026)."
    )


def test_legend_about_subtitle() -> None:
    assert (
        About("Stars", n_papers=1200, first="1990", last="2026").subtitle()
        == "A map of 1,200 papers, 1990 to 2026"
    )


def test_letters_clusters() -> None:
    assert [len(cluster) for cluster in clusters("e\u0301a")] == [2, 1]


def test_letters_wrapped() -> None:
    assert wrapped("one two three", Style(("STIXGeneral",), size=10), width=45) == [
        "one two",
        "three",
    ]


def test_letters_extent() -> None:
    assert extent("Dark", Style(("STIXGeneral",), size=10)).width > 15


def test_letters_outline() -> None:
    style = Style(("STIXGeneral", "DejaVu Sans"), size=10)
    wide = outline("Dark", Style(style.families, 10, tracking=0.5)).get_extents().width
    assert wide > outline("Dark", style).get_extents().width + 10


def test_letters_bent() -> None:
    from matplotlib.path import Path

    level = Baseline(np.column_stack([np.linspace(10, 20, 50), np.full(50, 5.0)]))
    assert bent(Path([[0, 0], [4, 2]]), level).vertices.tolist() == [[10.0, 5.0], [14.0, 7.0]]


def test_letters_ridge_line() -> None:
    x = np.linspace(0, 100, 200)
    ridge = ridge_line(np.column_stack([x, 0.002 * (x - 50) ** 2 + np.sin(9 * x)]))
    assert (ridge.steepest < 20, ridge.elongation > 5) == (True, True)
    assert ridge.baseline.points[0, 1] > ridge.baseline.points[48, 1]


def test_names_ask_names() -> None:
    class Echo:
        model = "echo"

        def complete_json(self, *_: Any) -> Any:
            return {"names": [{"id": "7", "phrase": "Invisible scaffolding"}]}

    regions = [{"key": "7", "name": "Dark matter halos", "keywords": []}]
    found = ask_names(Echo(), regions)  # type: ignore[arg-type] # all that is asked of a model
    assert found == {"7": "Invisible scaffolding"}


def test_names_read_names(tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text("region,name\nDark matter halos,Invisible scaffolding\n")
    names = {"7": "Dark matter halos"}
    assert read_names(table, names) == ({"7": "Invisible scaffolding"}, [])


def test_names_tidy_name() -> None:
    assert tidy_name("  dark\nmatter \u202e halos") == "dark matter halos"


def test_page_draw_page() -> None:
    sheet = choose_sheet("600x540px", aspect=1.0)
    box, _ = sheet.areas(0.0)
    left, top, right, bottom = sheet.pixel_box(box)
    water = np.zeros((bottom - top, right - left, 3), dtype=np.uint8)
    unit = Axis((0.0, 1.0))
    ground = Image(pixels=water, extent=(0.0, 0.0, 1.0, 1.0))
    scene = Scene(
        size=(sheet.width, sheet.height),
        scale=1.0,
        colours=theme("light"),
        title="Sea",
        caption=Caption("Sea", ()),
        panels=[Panel(box, unit, unit, layers=[ground])],
    )
    drawn = draw_page(scene, sheet)
    assert (drawn.shape, int(drawn[0, 0, 0]), int(drawn[top, left, 0])) == ((540, 600, 3), 255, 0)


def test_page_choose_sheet() -> None:
    assert choose_sheet("slide", aspect=1.0).pixels == (1920, 1080)
    sheet = choose_sheet("a1", aspect=0.7, dpi=300)
    assert (sheet.pixels, sheet.panel) == ((7016, 9933), "band")
    with pytest.raises(
        InputError, match=re.escape("There is no size 'slid'; did you mean 'slide'? Sizes: web,")
    ):
        choose_sheet("slid", aspect=1.0)


def test_painting_contour_levels() -> None:
    flat = np.zeros((2, 2), np.float32)
    terrain = Terrain(flat, flat, (0, 1, 0, 1), sea_density=1.0, peak_density=40.0)
    levels, ratio = contour_levels(terrain)
    assert (len(levels), ratio) == (9, 1.5)


def test_painting_coast_distance() -> None:
    shore = np.tile(np.linspace(-1, 1, 9, dtype=np.float32), (9, 1))
    assert coast_distance(shore)[4, [2, 4, 6]].round().tolist() == [-2.0, 0.0, 2.0]


def test_painting_gullies() -> None:
    place = np.linspace(0, 1, 5, dtype=np.float32)
    flat = np.zeros(5, np.float32)
    assert gullies(place, place, flat, flat, pixel=0.001)[0].tolist() == [0.0, 0.0, 0.0, 0.0, 0.0]


def test_painting_hillshade() -> None:
    slope = np.float32([0.0, 1.0, -1.0])
    assert [round(float(light), 1) for light in hillshade(slope, np.zeros(3, np.float32))] == [
        0.0,
        0.1,
        -0.5,
    ]


def test_places_describe() -> None:
    places = [Entry("7", "region", "Scaffolding", "Dark matter", 0.1, 0.9, n_papers=5)]
    assert (
        describe(places, head="A map.", extent=(0, 1, 0, 1))
        == "A map. 1 region. Largest: Scaffolding (technically Dark matter; 5 papers, upper left)."
    )


def test_places_as_table() -> None:
    assert as_table([Entry("7", "region", "Scaffolding", "Dark matter", 0.0, 1.0)])[
        "name"
    ].tolist() == ["Scaffolding"]


def test_svg_image() -> None:
    assert (
        image(np.zeros((1, 1, 3), np.uint8), (0, 0, 10, 10))[:40]
        == '<image x="0" y="0" width="10" height="10'
    )


def test_svg_font_faces() -> None:
    assert (
        font_faces([Run("Dark", Style(("STIXGeneral",), 10))])[:40]
        == "@font-face{font-family:'STIXGeneral';fon"
    )


def test_svg_svg_layers() -> None:
    run = Run("<Dark>", Style(("STIXGeneral",), 10), x=5, y=20, place="7", gid="region")
    group = svg_layers([run], 100.0)
    assert group.startswith('<g class="region" data-place="7">')
    assert '<text x="5" y="80" ' in group
    assert ">&lt;Dark&gt;</text>" in group


def test_terrain_river_cover() -> None:
    course = (np.array([0.0, 1.0]), np.array([0.5, 0.5]), 2.0)
    assert river_cover((8, 4), (4, 0, 8, 4), [course]).round(1)[:, 3].tolist() == [
        0.0,
        1.0,
        1.0,
        0.0,
    ]


def test_terrain_citation_flows() -> None:
    topic = np.array([0, 0, 1, 1, 2, 2])
    citing = np.repeat([0, 2, 4], [30, 30, 4])
    cited = np.concatenate([np.repeat(3, 30), np.repeat(5, 30), np.repeat(1, 4)])
    assert citation_flows(citing, cited, topic) == [(1, 0, 30), (2, 1, 30)]


def test_terrain_recency_position() -> None:
    assert [round(float(recency_position(share, whole=0.5)), 2) for share in (0.1, 0.5, 0.75)] == [
        0.0,
        0.5,
        0.78,
    ]


def test_terrain_read_dates() -> None:
    dates = read_dates([1990, 1991, 1995, 1998, 1999, float("nan")], recent_years=5)
    assert (dates.recent, dates.share, dates.middle, dates.n_undated) == (
        (1995, 1999),
        0.6,
        1995,
        1,
    )
    assert read_dates([2024, 2025, 2025], recent_years=5).recent is None


def test_terrain_find_peaks() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 600))
    x[:300] += 9
    ground = measure_ground(x, y, aspect=1.0, sea_share=0.97, margin=0.07)
    peaks = find_peaks(ground, x, y, np.repeat([7, 8], 300))
    assert sorted((peak.region, round(peak.x / 9)) for peak in peaks) == [(7, 1), (8, 0)]


def test_terrain_terrain_window() -> None:
    flat = np.zeros((10, 20), dtype=np.float32)
    assert Terrain(flat, flat, (0.0, 2.0, 0.0, 1.0)).window(10, 0, 20, 5).extent == (
        1.0,
        2.0,
        0.5,
        1.0,
    )


def test_terrain_terrain_pixels_of() -> None:
    flat = np.zeros((10, 20), dtype=np.float32)
    column, row = Terrain(flat, flat, (0.0, 2.0, 0.0, 1.0)).pixels_of([1.0], [1.0])
    assert (column.tolist(), row.tolist()) == ([10.0], [0.0])


def test_themes_find_theme() -> None:
    assert find_theme("night").inks.page == "#070b18"
    with pytest.raises(
        InputError,
        match=re.escape("There is no theme 'parchmnt'; did you mean 'parchment'? Themes:"),
    ):
        find_theme("parchmnt")


def test_themes_ramp() -> None:
    grey = ramp(((0.0, "#000000"), (1.0, "#ffffff")))
    assert (grey.shape, bool((np.diff(grey[:, 0]) >= 0).all())) == ((1024, 3), True)


def test_themes_rgb() -> None:
    assert rgb("#ff0000").tolist() == [1.0, 0.0, 0.0]


def test_wording_wording() -> None:
    assert wording("de").water == "Wasser: Hier hat kaum jemand geschrieben."
    assert wording("xx") is wording("en")
