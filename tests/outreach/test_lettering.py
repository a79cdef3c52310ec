"""Names neither overlap nor leave the sheet, in any script, straight or curved."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from landscape.figures import fonts

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.figures.labels import boxes_overlap, segment_meets_box
from landscape.figures.lettering import (
    Baseline,
    Run,
    Style,
    corners_of,
    outline,
    ridge_line,
    wrapped,
)
from landscape.figures.scene import Lines
from landscape.outreach._labels import Lettering, Place, letter, line_break_options
from landscape.outreach.themes import find_theme

FRAME = (20.0, 30.0, 620.0, 480.0)
WORDS = ("dark", "matter", "halos", "galaxies", "magnetic", "fields", "neutron", "mergers")
SCRIPTS = {
    "Arabic": ["الثقوب السوداء", "المادة المظلمة", "الكواكب العملاقة"],
    "Hindi": ["कृष्ण द्रव्य", "आकाशगंगा समूह", "न्यूट्रॉन तारे"],
    "Chinese": ["暗物质晕", "引力波与中子星合并", "行星形成"],
}


def some_places(seed: int, names: list[str] | None = None) -> list[Place]:
    random = np.random.default_rng(seed)
    places = []
    for number in range(44):
        kind = "continent" if number < 7 else "region" if number < 36 else "water"
        x, y = random.uniform(FRAME[:2], FRAME[2:])
        stretch = random.uniform(0.1, 1.0) * 60
        turn = random.uniform(0, np.pi)
        axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        cloud = random.normal(size=(60, 2)) * [stretch, 12] @ axes + [x, y]
        words = random.choice(WORDS, size=random.integers(1, 4)).tolist()
        name = " ".join(words) if names is None else names[number % len(names)]
        places.append(Place(str(number), name, kind, x, y, random.uniform(), cloud))  # type: ignore[arg-type]  # a kind
    return places


def east(boxes: np.ndarray) -> bool:
    """Return whether all boxes are in the eastern half of the map, which is water."""
    return bool((boxes[:, 0] > 300).all())


def lettered(places: list[Place], *, island: bool = False) -> Lettering:
    return letter(
        places,
        frame=FRAME,
        inks=find_theme("atlas").inks,
        families=fonts.families(place.name + place.name.upper() for place in places),
        scale=1.0,
        on_water=None if island else east,
    )


def check(found: Lettering) -> None:
    """Check the letters as drawn, not as planned."""
    by_place: dict[str, list[np.ndarray]] = {}
    for run in found.runs:
        box = run.path.get_extents()
        assert (box.min >= FRAME[:2]).all(), run.text
        assert (box.max <= FRAME[2:]).all(), run.text
        by_place.setdefault(run.place, []).append(run.boxes)
        vertices = corners_of(run.path)
        covered = [
            ((vertices >= b[:2] - 0.01) & (vertices <= b[2:] + 0.01)).all(axis=1) for b in run.boxes
        ]
        assert np.any(covered, axis=0).all(), run.text
    assert set(by_place) == set(found.shown)
    boxes = {place: np.concatenate(parts) for place, parts in by_place.items()}
    for one, two in itertools.combinations(boxes, 2):
        assert not boxes_overlap(boxes[one][:, None], boxes[two][None], gap=0).any(), (one, two)
    for mark in found.marks:
        if isinstance(mark, Lines):
            line = mark.lines[0].ravel()
            for place, some in boxes.items():
                assert not segment_meets_box(line, some, gap=-1.0).any(), place


@pytest.mark.parametrize("seed", range(3))
def test_names_neither_touch_nor_leave_the_map(seed: int) -> None:
    found = lettered(some_places(seed))
    check(found)
    assert len(found.shown) > 15
    assert any(run.baseline is not None for run in found.runs)


def test_the_same_places_are_lettered_the_same() -> None:
    first, second = (lettered(some_places(1)) for _ in range(2))
    assert [run.boxes.tolist() for run in first.runs] == [run.boxes.tolist() for run in second.runs]


def test_names_of_waters_stand_on_water() -> None:
    found = lettered(some_places(2))
    waters = [run for run in found.runs if run.gid == "water"]
    assert waters
    assert all((run.boxes[:, 0] > 300).all() for run in waters)


@pytest.mark.parametrize("script", SCRIPTS)
def test_any_script_is_lettered(script: str) -> None:
    names = SCRIPTS[script]
    if not all(fonts.drawable(name) for name in names):
        pytest.skip(f"no font here draws {script}: {fonts.missing_fonts(names)}")
    found = lettered(some_places(3, names))
    check(found)
    assert len(found.shown) > 15


def test_joined_scripts_are_shaped_and_never_spaced() -> None:
    word = "المادة"
    style = Style(fonts.families([word]), 20)
    joined = outline(word, style).get_extents().width
    backwards = outline("".join(reversed(word)), style)
    assert len(outline(word, style).vertices) != len(backwards.vertices)  # other joining forms
    spaced = outline(word, Style(style.families, 20, tracking=0.5))
    assert spaced.get_extents().width == joined


def test_a_name_of_eighty_letters_is_broken_or_left_out() -> None:
    long = [
        Place("1", "x" * 80, "region", 300, 200),
        Place("2", "very " * 16, "region", 300, 400, 1.0),
        Place("3", "W" * 80, "continent", 100, 100, 1.0),
    ]
    check(lettered(long))
    assert min(max(len(line) for line in way) for way in line_break_options("x" * 80)) <= 26


@pytest.mark.parametrize("place", [(20.0, 30.0), (619.0, 479.0), (20.0, 479.0)])
def test_a_peak_in_a_corner_keeps_its_name_on_the_sheet(place: tuple[float, float]) -> None:
    found = lettered([Place("1", "a name too wide for the corner", "region", *place)])
    check(found)
    assert found.shown == {"1"}


def test_names_without_any_place() -> None:
    assert lettered([]).runs == []
    spot = np.full((30, 2), 100.0)
    check(lettered([Place("1", "all in one spot", "continent", 100, 100, 0.5, spot)]))


def test_a_steep_range_is_not_lettered_along() -> None:
    up = np.column_stack([np.zeros(50), np.arange(50.0)])
    assert ridge_line(up).steepest > 85
    assert ridge_line(up[:, ::-1]).steepest < 1
    steep = Place("1", "dark matter", "region", 300, 200, cloud=up * 4 + [300, 150])
    level = Place("1", "dark matter", "region", 300, 200, cloud=up[:, ::-1] * 4 + [250, 200])
    assert [
        run.baseline is None
        for place in (steep, level)
        for run in lettered([place], island=True).runs
    ] == [True, False]


def test_a_bent_name_keeps_its_length() -> None:
    turn = np.linspace(0.2, 1.2, 96)
    arc = Baseline(200 * np.column_stack([-np.cos(turn), np.sin(turn)]))
    style = Style(("STIXGeneral",), 12)
    run = Run("magnetic field", style, baseline=arc)
    along = outline("magnetic field", style).get_extents()
    ends = run.boxes[[0, -1]]
    chord = np.hypot(*(ends[1, 2:] - ends[0, :2]))
    assert 0.9 * along.width < chord < along.width + 12


def test_words_are_wrapped_wherever_their_script_allows() -> None:
    style = Style(fonts.families(["暗物质"]), 10)
    lines = wrapped("暗物质晕与星系形成，重子", style, width=45)
    assert len(lines) > 1
    assert not any(line.startswith("，") for line in lines)
    assert "".join(lines) == "暗物质晕与星系形成，重子"
    assert wrapped("W" * 40, style, width=60)[0] != "W" * 40


def test_a_missing_font_is_one_sentence_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fonts, "_family_for", lambda c: None if "\u0900" <= c < "\u0980" else "x")
    sentence = fonts.missing_fonts(["कृष्ण", "stars"])
    assert sentence is not None
    assert "Devanagari" in sentence
    assert "sudo apt install fonts-noto-core" in sentence
    assert fonts.replaced("क a") == "□ a"


def test_a_range_of_islands_is_not_lettered_on_the_water_between_them() -> None:
    level = np.column_stack([np.linspace(0, 200, 50), np.zeros(50)])
    ashore = Place("1", "dark matter", "region", 150, 200, cloud=level + np.array([50, 200]))
    adrift = Place("1", "dark matter", "region", 450, 200, cloud=level + np.array([350, 200]))
    assert lettered([ashore]).runs[0].baseline is not None
    assert lettered([adrift]).runs[0].baseline is None


def test_a_small_range_never_takes_the_room_of_a_large_peak() -> None:
    along = np.column_stack([np.linspace(200, 400, 60), np.full(60, 240.0)])
    peak = np.random.default_rng(0).normal(size=(60, 2)) * 4 + [300, 240]
    large = Place("large", "Exoplanet atmospheres", "region", 300, 240, 1.0, peak)
    small = Place("small", "Graphics processing units", "region", 300, 240, 0.1, along)
    box = (210.0, 228.0, 390.0, 252.0)  # room for one name
    for places in ([large, small], [large]):
        found = letter(
            places, frame=box, inks=find_theme("atlas").inks, families=("STIXGeneral",), scale=1.0
        )
        assert found.shown == {"large"}


def test_a_peak_outside_the_map_has_no_name() -> None:
    inside = Place("1", "dark matter", "region", 300, 200)
    outside = Place("2", "odd radio circles", "region", 300, 5000)
    assert lettered([inside, outside]).shown == {"1"}


@pytest.mark.parametrize("seed", range(3))
def test_no_leader_line_starts_under_another_name_or_is_long(seed: int) -> None:
    places = some_places(seed)
    places += [replace(place, key=f"under {place.key}", kind="region") for place in places[:7]]
    found = lettered(places)
    boxes = {key: [run.boxes for run in found.runs if run.place == key] for key in found.shown}
    leaders = [mark.lines[0] for mark in found.marks if isinstance(mark, Lines)]
    assert leaders
    for points in leaders:
        for key, some in boxes.items():
            assert not segment_meets_box(points.ravel(), np.concatenate(some), gap=-1.0).any(), key
        assert np.hypot(*(points[1] - points[0])) < 45


def test_the_name_of_a_peak_under_another_name_is_near_without_a_leader_line() -> None:
    continent = Place("1", "a continent", "continent", 300, 250, 1.0)
    found = lettered([continent, Place("2", "its peak", "region", 300, 250)])
    assert found.shown == {"1", "2"}
    assert not any(isinstance(mark, Lines) for mark in found.marks)
    (box,) = [run.boxes[0] for run in found.runs if run.place == "2"]
    assert np.hypot(*(np.clip((300, 250), box[:2], box[2:]) - (300, 250))) < 25
