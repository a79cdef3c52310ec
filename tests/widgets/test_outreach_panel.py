"""The panel of the outreach map: background work, lines of code, and saved files."""

from __future__ import annotations

import html
import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("ipywidgets")

import ipywidgets as widgets

import landscape as ls

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.outreach import Fidelity
from landscape.outreach._diffusion import Redrawn
from landscape.widgets import OutreachPanel
from landscape.widgets._outreach_panel import (
    DEFAULTS,
    EXAMPLE,
    code_of,
    places_html,
    scores_html,
    used_html,
)
from tests.timing import time_limit
from tests.widgets.asking import built_again

SECONDS = 120
SMALL = "95x90mm"
EVIL = "<img src=x onerror=alert(1)>"
TRUE = Fidelity(0.97, 0.9)
FALSE = replace(TRUE, coasts=0.61)


@pytest.fixture(scope="module")
def panel(demo_atlas):
    """A panel for tests that do not change it; its title contains a script."""
    drawn = OutreachPanel(
        demo_atlas, size=SMALL, theme="night", title=EVIL, credits=EVIL, recent_years=3
    )
    assert drawn.wait(time_limit(SECONDS))
    return drawn


@pytest.fixture
def quick(monkeypatch, panel):
    """Record the requested maps, and return the same map without drawing."""
    asked = []

    def render(atlas, **options):
        asked.append(options)
        return panel.rendering

    monkeypatch.setattr("landscape.outreach.render", render)
    return asked


def opened(atlas, **chosen):
    panel = OutreachPanel(atlas, **{"size": SMALL, **chosen})
    assert panel.wait(time_limit(SECONDS))
    return panel


def all_html(panel):
    """Return all content that the page interprets as HTML; fields show plain text."""

    def texts(widget):
        if isinstance(widget, widgets.HTML):
            yield widget.value
        for child in getattr(widget, "children", ()):
            yield from texts(child)

    return "".join(texts(panel))


def test_the_code_that_is_shown_makes_the_same_picture(panel, demo_atlas):
    made = {"ls": ls, "atlas": demo_atlas}
    exec(panel.code, made)  # noqa: S102 - the line that the panel tells the reader to run
    assert np.array_equal(made["picture"].page(), panel.rendering.page())
    assert made["picture"].used == panel.rendering.used
    assert made["picture"].gazetteer.equals(panel.rendering.gazetteer)


def test_picture_places_and_what_was_used_stand_in_the_panel(panel):
    page = all_html(panel)
    assert panel.status == ""
    assert "data:image/png;base64," in page
    assert f"alt='{html.escape(panel.rendering.alt_text)}" in page
    used = html.escape(panel.rendering.used[1:])
    assert used in page
    assert "drawn from the data alone" in used
    table = panel.rendering.gazetteer
    assert all(html.escape(name) in page for name in table["name"][:150])
    assert panel._scores.value == ""


def test_hostile_titles_are_escaped(panel, demo_atlas, quick):
    assert EVIL in panel.rendering.alt_text
    for shown in (all_html(panel), all_html(opened(replace_title(demo_atlas, EVIL)))):
        assert "<img src=x" not in shown
        assert html.escape(EVIL) in shown
    assert EVIL in panel.code
    hostile = replace(panel.rendering, used=EVIL, notes=(EVIL,))
    entry = replace(hostile.entries[0], name=EVIL, technical_name=EVIL, keywords=(EVIL,))
    assert "<img" not in used_html(hostile) + places_html(replace(hostile, entries=(entry,)))


def replace_title(atlas, title):
    changed = replace(atlas, manifest=replace(atlas.manifest, title=title))
    assert changed.title == title
    return changed


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg", ".csv"])
def test_it_is_written_by_the_ending_of_the_name(panel, tmp_path, suffix):
    content = panel.save(tmp_path / f"map{suffix}").read_bytes()
    begins = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml", ".csv": b"place,kind"}
    assert content.startswith(begins[suffix])
    assert EVIL.encode() not in content or suffix in (".png", ".pdf")
    beside = {"map.gazetteer.csv", "map.alt.txt", "map.json"} if suffix != ".csv" else set()
    assert {path.name for path in tmp_path.iterdir()} == {f"map{suffix}", *beside}


def test_downloads_are_links_that_hold_the_file(panel):
    buttons = {one.description: one for one in panel._buttons.children if hasattr(one, "click")}
    assert list(buttons) == ["PNG", "PDF", "SVG", "HTML", "CSV"]
    for words, kind in (("CSV", "text/csv"), ("SVG", "image/svg+xml")):
        buttons[words].click()
        assert panel.wait(time_limit(SECONDS))
        assert f"download='outreach-map.{words.lower()}'" in panel._links.value
        assert f"data:{kind};base64," in panel._links.value


def test_a_file_that_cannot_be_is_refused(panel, tmp_path, demo_atlas, monkeypatch):
    with pytest.raises(InputError, match=r"cannot be written as 'map\.doc'"):
        panel.save(tmp_path / "map.doc")
    monkeypatch.setattr("landscape.outreach.render", fails)
    with pytest.raises(InputError, match="No map is drawn yet"):
        opened(demo_atlas).save(tmp_path / "map.png")


def fails(*_, **__):
    raise InputError("There is no ground to draw.")


def test_every_setting_is_handed_on_and_told_as_code(demo_atlas, quick):
    chosen = {
        "theme": "clear",
        "size": "slide",
        "title": "Stars",
        "credits": "Thanks",
        "names": "n.csv",
        "language": "de",
        "sea_share": 0.9,
        "recent_years": 8,
    }
    panel = opened(demo_atlas, **chosen)
    (asked,) = quick
    assert {name: asked[name] for name in chosen} == chosen
    assert asked["weights"] is None
    made = eval(panel.code.replace("picture = ls.outreach.render(atlas, ", "dict("))  # noqa: S307
    assert made == chosen
    again = opened(demo_atlas, **panel.selection)
    assert again.selection == panel.selection
    assert again.code == panel.code


def test_code_leaves_out_what_is_as_usual():
    assert code_of(DEFAULTS) == "picture = ls.outreach.render(atlas)"
    assert code_of({**DEFAULTS, "seed": 4}) == "picture = ls.outreach.render(atlas)"
    with_weights = {**DEFAULTS, "weights": "my weights", "seed": 4, "strength": 0.2}
    assert code_of(with_weights).endswith('(atlas, weights="my weights", seed=4, strength=0.2)')


def test_a_language_model_names_places_when_asked_to(demo_atlas, quick, monkeypatch):
    model = object()
    # The public name first: it is loaded on first use, and must not be loaded from the patch.
    monkeypatch.setattr("landscape.llm.connect", lambda: model)
    monkeypatch.setattr("landscape.llm.connect", lambda: model)
    panel = opened(demo_atlas, everyday=True)
    assert quick[0]["model"] is model
    assert "everyday" not in quick[0]
    made = {"ls": ls, "atlas": demo_atlas}
    exec(panel.code, made)  # noqa: S102 - the lines that the panel tells the reader to run
    assert quick[1]["model"] is model


def test_without_a_language_model_it_says_what_is_missing(demo_atlas, quick, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    panel = opened(demo_atlas, everyday=True)
    assert "OPENAI_API_KEY" in panel.status
    assert quick == []


def test_without_weights_it_says_so_and_how_to_get_them(panel):
    page = all_html(panel)
    assert "No weights are given: the map is drawn from the data alone" in page
    assert EXAMPLE in page
    assert panel._controls.fields["seed"].disabled
    assert panel._controls.fields["strength"].disabled


def test_a_folder_without_weights_is_one_sentence_before_anything_is_drawn(demo_atlas, quick):
    panel = opened(demo_atlas, weights="no-such-folder")
    assert panel.status.startswith("There are no weights at no-such-folder; pass a folder")
    assert quick == []
    assert panel.rendering is None
    assert "Traceback" not in all_html(panel)
    assert not panel._controls.fields["strength"].disabled


@pytest.mark.parametrize(("scores", "kept"), [(TRUE, True), (FALSE, False)])
def test_what_a_model_repaints_comes_with_its_scores(
    demo_atlas, monkeypatch, tmp_path, scores, kept
):
    told = {}

    def redraw(picture, terrain, *, note, **options):
        told.update(options)
        note("Strength 0.3: too different. Trying strength 0.2.")
        painted = picture[:, ::-1] if kept else picture
        return Redrawn(painted, scores, scores, kept, {"kept": kept})

    monkeypatch.setattr("landscape.outreach._rendering.redraw", redraw)
    for module in ("weights", "_rendering"):
        monkeypatch.setattr(f"landscape.outreach.{module}.check_weights", lambda _: None)
    weights = str(tmp_path / "my-weights")
    panel = opened(demo_atlas, weights=weights, seed=7, strength=0.3)
    assert (told["weights"], told["seed"], told["strength"]) == (weights, 7, 0.3)
    said = panel._scores.value
    assert ("is true to the data" in said) is kept
    assert ("is not shown" in said) is not kept
    assert f"{scores.coasts:.3g}" in panel._scores.value
    assert panel._scores.value.count("<td>no</td>") == len(scores.failed)
    assert "Trying strength 0.2" in panel._used.value
    assert panel.code.endswith(f'size="{SMALL}", weights="{weights}", seed=7, strength=0.3)')


def test_scores_are_told_even_where_a_picture_only_just_failed(panel):
    nothing = replace(TRUE, coasts=float("nan"))
    said = scores_html(replace(panel.rendering, fidelity=nothing))
    assert "is not shown" in said
    assert "<td>no</td>" in said


def test_stopping_ends_the_drawing_and_keeps_what_was_there(demo_atlas, panel, monkeypatch):
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def make_terrain(*_, **__):
        from landscape._progress import progress

        begun.set()
        go_on.wait(time_limit(SECONDS))
        try:
            with progress("Shaping the terrain", total=None, unit="steps"):
                raise AssertionError("drawing went on after it was stopped")
        finally:
            ended.set()

    monkeypatch.setattr("landscape.outreach._rendering.make_terrain", make_terrain)
    fresh = OutreachPanel(demo_atlas, size=SMALL)
    assert begun.wait(time_limit(SECONDS))
    assert fresh.code == f'picture = ls.outreach.render(atlas, size="{SMALL}")'  # before it is done
    fresh._stop.click()
    assert fresh.wait(time_limit(5))
    assert fresh.status == "Stopped."
    go_on.set()
    assert ended.wait(time_limit(SECONDS))
    assert fresh.rendering is None
    assert fresh.status == "Stopped."


def test_drawing_tells_how_far_it_is(demo_atlas, monkeypatch):
    told = []
    monkeypatch.setattr(OutreachPanel, "_show_progress", lambda _, task, *__: told.append(task))
    opened(demo_atlas)
    assert list(dict.fromkeys(told))[:3] == [
        "Shaping the terrain",
        "Painting",
        "Finding the places",
    ]


def test_changed_settings_are_drawn_when_told_to(demo_atlas, quick):
    panel = opened(demo_atlas)
    there, code = panel.rendering, panel.code
    panel._controls.fields["theme"].value = "mono"
    assert len(quick) == 1
    assert "Settings have changed" in panel._changed.value
    assert panel.code == code
    panel._draw.click()
    assert panel.wait(time_limit(SECONDS))
    assert quick[1]["theme"] == "mono"
    assert 'theme="mono"' in panel.code
    assert "changed" not in panel._changed.value
    panel._controls.fields["size"].value = "own"
    panel._controls.fields["own"].value = "5x5mm"
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert panel.rendering is there


def test_what_cannot_be_is_one_sentence(demo_atlas, panel):
    with pytest.raises(InputError, match="did you mean 'night'"):
        OutreachPanel(demo_atlas, theme="nigth")
    with pytest.raises(InputError, match="no size 'slid'"):
        OutreachPanel(demo_atlas, size="slid")
    with pytest.raises(InputError, match="Unknown setting 'colour'"):
        OutreachPanel(demo_atlas, colour="red")
    with pytest.raises(InputError, match=r"sea_share is 3; choose a number from 0\.5 to 0\.999"):
        OutreachPanel(demo_atlas, sea_share=3)
    with pytest.raises(InputError, match="path"):
        OutreachPanel(demo_atlas, names={"Dust": "Dust"})
    lost = opened(demo_atlas, names="no-such-names.csv")
    assert "There is no table of names at no-such-names.csv" in lost.status
    assert "Traceback" not in all_html(lost)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"seed": "x"}, "seed is 'x'; choose a whole number from 0"),
        ({"recent_years": 2.5}, r"recent_years is 2\.5"),
        ({"sea_share": "much"}, "sea_share is 'much'; choose a number from 0.5 to 0.999"),
        ({"strength": "x"}, "strength is 'x'; choose a number from 0.001 to 1"),
        ({"title": 5}, "The title is 5; it has to be text"),
        ({"language": None}, "The language is None"),
        ({"everyday": "yes"}, "everyday is 'yes'; give True or False"),
    ],
)
def test_a_setting_of_no_use_is_refused(demo_atlas, chosen, said):
    with pytest.raises(InputError, match=said):
        OutreachPanel(demo_atlas, **chosen)


def test_a_home_that_is_not_there_is_one_sentence(panel):
    with pytest.raises(InputError, match="there is no folder"):
        panel.save("~nobody-of-that-name/map.png")


def test_an_atlas_that_was_built_again_is_opened_again(demo_atlas, tmp_path, quick):
    own = ls.open(shutil.copytree(demo_atlas.path, tmp_path / "own.atlas"))
    panel = opened(own)
    there = panel.rendering
    built_again(own.path)
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert "was rebuilt" in panel.status
    assert panel.rendering is there
    assert len(quick) == 1
    panel._reopen.click()
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert panel.status == ""
    assert len(quick) == 2


def test_the_name_of_a_panel_is_one_line(panel):
    assert repr(panel) == f"<OutreachPanel: {panel.atlas.title}, night, {SMALL}>"


def test_every_control_says_what_it_is(panel):
    def controls(widget):
        if isinstance(widget, widgets.Button | widgets.ValueWidget) and not isinstance(
            widget, widgets.HTML | widgets.FloatProgress
        ):
            yield widget
        for child in getattr(widget, "children", ()):
            yield from controls(child)

    found = list(controls(panel))
    assert len(found) >= 20
    assert all(one.description and one.tooltip for one in found)
