"""Render the outreach map of an atlas."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape._settings import takes_settings
from landscape.figures import fonts
from landscape.figures.caption import GENERATED, Caption, MapFacts, headline
from landscape.figures.scene import Axis, Box, Image, Panel, Scene
from landscape.outreach._diffusion import RedrawSettings, redraw
from landscape.outreach._fidelity import Fidelity
from landscape.outreach._labels import Lettering, letter
from landscape.outreach._legend import About, about_atlas, compose, frame_marks, key_picture, placed
from landscape.outreach._painting import paint
from landscape.outreach._places import (
    Entry,
    FoundPlace,
    Projection,
    as_entries,
    as_places,
    aspect_of,
    describe,
    find_places,
)
from landscape.outreach._terrain import Terrain, TerrainSettings, make_terrain
from landscape.outreach.files import Rendering, check_names_file, check_target
from landscape.outreach.names import ask_names, read_names, tidy_name
from landscape.outreach.sheets import Sheet, choose_sheet
from landscape.outreach.themes import Inks, find_theme
from landscape.outreach.weights import check_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.llm import LanguageModel
    from landscape.store import AtlasStore

    Floats = NDArray[np.float64]
    Picture = NDArray[np.uint8]


def choose_names(
    names: Any,
    model: LanguageModel | None,
    found: list[FoundPlace],
    language: str,
    add_note: Callable[[str], None],
) -> dict[str, str]:
    """Return everyday names by key. The model names only places that the user has not named."""
    known = {one.key: one.technical_name for one in found}
    given: dict[str, str] = {}
    if isinstance(names, Mapping):
        by_name = {name.casefold(): key for key, name in known.items()}
        for place, name in names.items():
            key = str(place) if str(place) in known else by_name.get(str(place).casefold())
            everyday = tidy_name(name)
            if key is None:
                add_note(
                    f"No place of this map is called {str(place)[:60]!r}, so its everyday name is "
                    "not used."
                )
            elif everyday:
                given[key] = everyday
    elif names is not None:
        given, problems = read_names(names, known, language=language)
        for problem in problems:
            add_note(problem)
    if model is not None:
        rest = [
            {"key": one.key, "name": one.technical_name, "keywords": one.keywords}
            for one in found
            if one.key not in given
        ]
        given |= ask_names(model, rest, language=language, note=add_note)
    return given


def drawable_names(
    given: dict[str, str], found: list[FoundPlace], add_note: Callable[[str], None]
) -> dict[str, str]:
    """Replace names that cannot be drawn by technical names, and missing glyphs by squares."""
    called = {one.key: one.called(given) for one in found}
    lacking = [name for name in called.values() if not fonts.drawable(name)]
    if not lacking:
        return given
    sentence = fonts.missing_fonts(lacking)
    if sentence:
        add_note(sentence)
    mended = dict(given)
    for one in found:
        if not fonts.drawable(called[one.key]):
            plain = one.technical_name
            mended[one.key] = plain if fonts.drawable(plain) else fonts.replaced(plain)
    return mended


def drawable_about(about: About, add_note: Callable[[str], None]) -> About:
    """Replace characters of the legend that no font has; if needed, use English texts."""
    sentence = fonts.missing_fonts(about.everything())
    if sentence is None:
        return about
    add_note(sentence)
    shown = replace(
        about,
        title=fonts.replaced(about.title),
        corpus=fonts.replaced(about.corpus),
        credits=fonts.replaced(about.credits),
        sources=tuple(fonts.replaced(source) for source in about.sources),
    )
    return replace(shown, language="en") if fonts.missing_fonts(shown.everything()) else shown


_TERRAIN_SIDE = 2048
_HOW_TO_REPAINT = (
    "for a version painted by Stable Diffusion and checked against the data, add "
    "weights='stabilityai/stable-diffusion-xl-base-1.0' (--weights on the command line), or a "
    "folder with weights"
)


class RenderSettings(TerrainSettings, RedrawSettings):
    """Settings of `render`; those of the redrawing apply if `weights` is given."""


@takes_settings(RenderSettings, without=["bars"])
def render(
    atlas: AtlasStore,
    out: str | os.PathLike[str] | None = None,
    *,
    theme: str = "atlas",
    size: str = "web",
    dpi: int | None = None,
    title: str | None = None,
    names: str | os.PathLike[str] | Mapping[object, str] | None = None,
    model: LanguageModel | None = None,
    language: str = "en",
    credits: str = "",  # noqa: A002 - the word of map makers
    max_names: int | None = None,
    weights: str | os.PathLike[str] | None = None,
    note: Callable[[str], None] | None = None,
    **settings: object,
) -> Rendering:
    """Draw an atlas as a terrain map for outreach.

    The height shows the density of papers. Mountains are regions with many papers, and water covers
    regions with almost no papers. Coasts are coloured by the share of recent papers. By default,
    the map is drawn only from the data. With `weights`, it is redrawn by Stable Diffusion and then
    checked against the data.

    Parameters
    ----------
    atlas : AtlasStore
    out : path, optional
        File to write, see `Rendering.save`. By default no file is written.
    theme : {"atlas", "parchment", "night", "mono", "clear"}, default "atlas"
        Style of the map.
    size : str, default "web"
        ``"web"``, ``"slide"``, ``"poster"``, ``"a4"`` to ``"a0"``, or a width and height such as
        ``"600x400mm"``.
    dpi : int, optional
        Pixels per inch; the default depends on the size.
    title : str, optional
        Heading of the map; by default the name of the atlas.
    names : path or mapping, optional
        Everyday names: a CSV table with the columns ``region`` and ``name``, or a mapping from
        topic numbers or technical names to everyday names. The gazetteer also lists the technical
        names.
    model : LanguageModel, optional
        Language model that names the places without an entry in `names`, see
        `landscape.llm.connect`.
    language : str, default "en"
        Language of the everyday names. The legend is in the same language if it is Arabic, Chinese,
        English, French, German, Hindi or Spanish, else in English.
    credits : str, default ""
        Acknowledgements, shown in the legend.
    max_names : int, optional
        Maximum number of named regions; by default it depends on the size of the sheet.
    weights : str or path, optional
        Stable Diffusion weights, as a Hub id or a local folder. The settings from `strength` to
        `device` apply only with weights.
    note : callable, optional
        Called with each message for the user.
    **settings

    Returns
    -------
    Rendering
        The rendered map. Its files are byte-identical for the same input.

    Raises
    ------
    InputError
        If the theme, size, resolution or file type is not supported, the folder is not writable, or
        the table of names is invalid.
    """
    look = find_theme(theme)
    target = None if out is None else check_target(out)
    check_names_file(names, target)
    if weights is not None:
        check_weights(os.fspath(weights))
    chosen = vars(RenderSettings(**settings))
    shape = {name: chosen.pop(name) for name in TerrainSettings.model_fields}
    notes: list[str] = []

    def add_note(sentence: str) -> None:
        notes.append(sentence)
        if note is not None:
            note(sentence)

    sheet = choose_sheet(size, aspect=aspect_of(atlas), dpi=dpi)
    about = about_atlas(atlas, title, credits, language, "" if weights is None else str(weights))
    # The draft legend has the same size as the final legend.
    about = replace(about, in_ink=look.is_ink)
    draft = replace(about, middle=2000, recent=(2000, 2000), rivers=True)
    families = fonts.families(draft.everything())
    _, height = compose(draft, sheet, look.inks, families, np.zeros((1, 1, 3), np.uint8))
    map_box, words_box = sheet.areas(height)
    pixels = _pixels(sheet, map_box)
    terrain = make_terrain(atlas, size=_terrain_size(pixels), **shape)
    picture = paint(terrain, theme=theme, size=pixels)
    fidelity: Fidelity | None = None
    repainting: Mapping[str, object] = {}
    used = f"drawn from the data alone; {_HOW_TO_REPAINT}"
    if weights is not None:
        painted = redraw(
            picture, terrain, weights=os.fspath(weights), theme=theme, note=add_note, **chosen
        )
        picture, fidelity, repainting = painted.picture, painted.scores, painted.settings
        used = f"repainted by {weights} and checked against the data"
        if not painted.kept:
            about = replace(about, model="")
            used = f"drawn from the data alone, because the picture of {weights} failed the check"

    found = find_places(atlas, terrain, language=language)
    given = choose_names(names, model, found, language, add_note)
    given = drawable_names(given, found, add_note)
    about = drawable_about(
        replace(
            about,
            middle=terrain.middle_year,
            recent=terrain.recent_years,
            rivers=bool(terrain.rivers),
        ),
        add_note,
    )
    to_page = Projection(terrain.extent, map_box)
    lettering = _letter(found, given, to_page, sheet, terrain, look.inks, max_names)
    families = fonts.families(about.everything())
    key = key_picture(terrain, theme=theme, width=round(min(900, 150 * sheet.dpi / 72)))
    cartouche, _ = compose(about, sheet, look.inks, families, key)
    entries = as_entries(found, given, lettering.shown, terrain)
    unit = Axis((0.0, 1.0))
    ground = Image(pixels=picture[::-1], extent=(0.0, 0.0, 1.0, 1.0), gid="map")
    scene = Scene(
        size=(sheet.width, sheet.height),
        scale=sheet.scale,
        colours=look.inks.as_theme(),
        title=about.title,
        caption=Caption(about.title, about.legend(), about.generated),
        panels=[Panel(map_box, unit, unit, gid="map", layers=[ground])],
        layers=[
            *lettering.marks,
            *frame_marks(map_box, look.inks, sheet.scale),
            *placed(cartouche, words_box),
        ],
        alt_text=_alt_text(about, entries, terrain, theme),
    )
    rendering = Rendering(
        picture=picture,
        scene=scene,
        sheet=sheet,
        terrain=terrain,
        inks=look.inks,
        about=about,
        entries=tuple(entries),
        alt_text=scene.alt_text,
        used=f"{theme} theme, {sheet.pixels[0]} x {sheet.pixels[1]} pixels, {used}",
        notes=tuple(notes),
        settings={
            "title": about.title,
            "names": dict(given),
            "theme": theme,
            "size": sheet.name,
            "dpi": sheet.dpi,
            "sea_share": shape["sea_share"],
            "recent_years": shape["recent_years"],
            "language": language,
            "seed": chosen["seed"],
            "atlas_hash": terrain.atlas_hash,
            "landscape": about.version,
            **({"repainting": dict(repainting)} if repainting else {}),
        },
        fidelity=fidelity,
    )
    if target is not None:
        rendering.save(target)
    return rendering


@progress("Lettering", total=None, unit="steps")
def _letter(
    found: list[FoundPlace],
    names: Mapping[str, str],
    to_page: Projection,
    sheet: Sheet,
    terrain: Terrain,
    inks: Inks,
    max_names: int | None,
) -> Lettering:
    x0, y0, x1, y1 = to_page.box
    most = max_names
    if most is None:
        most = max(6, round(0.82 * (x1 - x0) * (y1 - y0) / 72**2 / sheet.scale**2))
    places = as_places(found, names, to_page, most=most)
    return letter(
        places,
        frame=to_page.box,
        inks=inks,
        families=fonts.families(f"{place.name} {place.name.upper()}" for place in places),
        scale=sheet.scale,
        on_water=to_page.on_water(terrain),
    )


def _pixels(sheet: Sheet, box: Box) -> tuple[int, int]:
    left, top, right, bottom = sheet.pixel_box(box)
    return right - left, bottom - top


def _terrain_size(pixels: tuple[int, int]) -> tuple[int, int]:
    """Return the size of the terrain grid, at most 2,048 cells per side."""
    shrink = min(1.0, _TERRAIN_SIDE / max(pixels))
    return max(16, round(pixels[0] * shrink)), max(16, round(pixels[1] * shrink))


def _alt_text(about: About, entries: list[Entry], terrain: Terrain, theme: str) -> str:
    facts = MapFacts(
        title=about.title,
        n_papers=about.n_papers,
        sources=about.sources,
        first=about.first,
        last=about.last,
    )
    generated = f"{GENERATED} " if about.generated else ""
    head = (
        f"{generated}Outreach map in the {theme} theme: papers as terrain, with mountains where "
        f"there are many papers, and water where there are none. {headline(facts)}"
    )
    notes = ["Near papers are similar; directions mean nothing."]
    return describe(entries, head=head, extent=terrain.extent, notes=notes)
