"""A rendered map and its files: PNG, PDF, SVG, HTML, gazetteer and settings."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import check_output, is_file, write_output
from landscape._render import render
from landscape._serializer import to_csv as as_csv
from landscape.errors import InputError
from landscape.figures.export import draw, png_bytes, vector_bytes
from landscape.figures.fonts import families, is_right_to_left
from landscape.figures.lettering import Run
from landscape.figures.scene import Box, Image, Scene
from landscape.outreach._fidelity import Fidelity
from landscape.outreach._legend import About
from landscape.outreach._painting import paint
from landscape.outreach._places import Entry, as_table, places_as_json
from landscape.outreach._svg import data_address, font_faces, image, svg_layers, svg_text
from landscape.outreach._terrain import Terrain
from landscape.outreach.sheets import Sheet
from landscape.outreach.themes import Inks, rgb

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]


KINDS = (".png", ".pdf", ".svg", ".html")


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return the path of a map; raise InputError if it cannot be written."""
    return check_output(path, KINDS, what="An outreach map")


def check_names_file(names: Any, target: Path | None) -> None:
    """Check that a table of names exists and that the gazetteer would not overwrite it."""
    if names is None or isinstance(names, Mapping):
        return
    if not is_file(Path(names)):
        raise InputError(
            f"There is no table of names at {names}. Create a CSV file with the columns "
            "region,name, or pass the path of an existing table."
        )
    if target is not None and Path(names).resolve() == gazetteer_of(target).resolve():
        raise InputError(
            f"The gazetteer of {target.name} would replace your table of names, {names}. Give "
            "the table or the map another name."
        )


@dataclass(frozen=True)
class Rendering:
    """A finished outreach map."""

    picture: Picture  # the map without text
    scene: Scene  # the sheet: a panel with the map, and layers of text, lines and colour key
    sheet: Sheet
    terrain: Terrain  # data of the map
    inks: Inks
    about: About  # content of the legend
    entries: tuple[Entry, ...]  # the gazetteer
    alt_text: str  # description of the map
    used: str  # how the picture was made, in one line
    notes: tuple[str, ...] = ()  # messages for the user
    # Settings that reproduce the map. They include scores of `landscape.outreach.judge` if a model
    # has redrawn it.
    settings: Mapping[str, Any] = field(default_factory=dict)
    fidelity: Fidelity | None = None  # scores of the redrawn picture

    @property
    def gazetteer(self) -> pd.DataFrame:
        """Table of all places, including places without a label."""
        return as_table(self.entries)

    @property
    def map_box(self) -> Box:
        """Box of the map on the sheet, in points."""
        return self.scene.panels[0].box

    def page(self) -> Picture:
        """Return the sheet as pixels, shape (height, width, 3)."""
        return draw_page(self.scene, self.sheet)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the map, and files with its gazetteer, alternative text and settings.

        Parameters
        ----------
        path : path
            ``.png``, ``.pdf``, ``.svg``, or ``.html`` for a zoomable page. The other files of
            ``map.png`` are ``map.gazetteer.csv``, ``map.alt.txt`` and ``map.json``.

        Returns
        -------
        pathlib.Path
            Path of the file of the map. The same map always gives the same bytes.

        Raises
        ------
        InputError
            If the format is not supported or the folder is not writable.
        """
        target = check_target(path)
        write_output(target, encode_map(self, target.suffix.lower()))
        for file, content in sidecars(self, target).items():
            write_output(file, content)
        return target

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        """Return the picture that notebooks show."""
        from base64 import b64encode

        return {"image/png": b64encode(preview(self)).decode("ascii"), "text/plain": self.alt_text}


_ROWS_AT_ONCE = 512


def draw_page(scene: Scene, sheet: Sheet) -> Picture:
    """Draw a sheet, and return its pixels.

    The picture of the map is copied, because matplotlib would resample it in floating point, which
    takes gigabytes for a poster.
    """
    from landscape.figures import matplotlib_backend

    width, height = sheet.pixels
    whole = np.empty((height, width, 3), dtype=np.uint8)
    whole[:] = np.round(255 * rgb(scene.colours.page))
    for panel in scene.panels:
        left, top, right, bottom = sheet.pixel_box(panel.box)
        whole[top:bottom, left:right] = panel.layers[0].pixels[::-1]
    figure = matplotlib_backend.draw(replace(scene, panels=()), outlined=True)
    figure.set(facecolor="none", dpi=sheet.dpi)
    figure.set_size_inches(width / sheet.dpi, height / sheet.dpi)
    canvas: Any = figure.canvas
    canvas.draw()
    over = np.asarray(canvas.buffer_rgba())
    for row in range(0, height, _ROWS_AT_ONCE):
        some = slice(row, row + _ROWS_AT_ONCE)
        ink = over[some]
        if not ink[..., 3].any():
            continue
        share = ink[..., 3:].astype(np.uint32)
        # Blend with alpha that is not premultiplied, and round to integers.
        mixed = ink[..., :3] * share + whole[some] * (255 - share) + 127
        whole[some] = (mixed // 255).astype(np.uint8)
    return whole


_PREVIEW_WIDTH = 1400


def encode_map(rendering: Rendering, kind: str) -> bytes:
    """Encode the map as ``.png``, ``.pdf``, ``.svg`` or ``.html``."""
    if kind == ".html":
        return zoomable_page(rendering).encode()
    return {".png": _png, ".pdf": _pdf, ".svg": _svg}[kind](rendering)


def sidecars(rendering: Rendering, target: Path) -> dict[Path, bytes]:
    """Return the contents of the gazetteer, text and settings files that are saved with a map."""
    return {
        gazetteer_of(target): as_csv(rendering.gazetteer, float_format="%.6g").encode(),
        target.with_suffix(".alt.txt"): f"{rendering.alt_text}\n".encode(),
        target.with_suffix(".json"): f"{_record(rendering)}\n".encode(),
    }


def gazetteer_of(target: Path) -> Path:
    """Return the path of the gazetteer of a map."""
    return target.with_suffix(".gazetteer.csv")


def preview(rendering: Rendering) -> bytes:
    """Return a PNG for notebooks, at most 1,400 pixels wide."""
    import io

    from PIL import Image

    image = Image.fromarray(rendering.page())
    if image.width > _PREVIEW_WIDTH:
        height = round(image.height * _PREVIEW_WIDTH / image.width)
        image = image.resize((_PREVIEW_WIDTH, height), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, format="png")
    return buffer.getvalue()


def _png(rendering: Rendering) -> bytes:
    from PIL import Image as Picture

    sheet = rendering.sheet
    few = sheet.name == "web"  # 256 colours reduce the size to a quarter
    picture = Picture.fromarray(rendering.page())
    return png_bytes(picture, dpi=sheet.dpi, about=_about(rendering), few=few, dither=True)


def _pdf(rendering: Rendering) -> bytes:
    about = _about(rendering)
    return vector_bytes(
        draw(rendering.scene),
        "pdf",
        rendering.sheet.dpi,
        {
            "Title": about["Title"],
            "Subject": about["Description"],
            "Keywords": about["Landscape"],
            "Creator": f"Landscape {rendering.about.version}",
            "CreationDate": None,
        },
    )


def _svg(rendering: Rendering) -> bytes:
    about = _record(rendering, indent=None)
    return svg_text(rendering.scene, about=about, language=rendering.about.language).encode()


def _about(rendering: Rendering) -> dict[str, str]:
    return {
        "Title": rendering.about.title,
        "Description": rendering.alt_text,
        "Landscape": _record(rendering, indent=None),
    }


def _record(rendering: Rendering, *, indent: int | None = 1) -> str:
    """Return the settings, scores and notes of a map as JSON."""
    record: dict[str, Any] = {"settings": dict(rendering.settings), "used": rendering.used}
    scores = rendering.fidelity
    if scores is not None:
        record["fidelity"] = scores.as_dict()
    record["notes"] = list(rendering.notes)
    return json.dumps(record, indent=indent, ensure_ascii=False, default=str)


_SIDE = 2600  # pixels of the longer side of the zoomable map
_JPEG = 88
_LETTERED = ("region", "continent", "water", "leader", "peak")


def zoomable_page(rendering: Rendering) -> str:
    """Return a self-contained HTML page with a zoomable map."""
    about, inks = rendering.about, rendering.inks
    x0, _, x1, y1 = rendering.map_box
    layers = [layer for layer in rendering.scene.layers if layer.gid in _LETTERED]
    top = rendering.sheet.height - y1
    height = y1 - rendering.map_box[1]
    key = next(layer for layer in rendering.scene.layers if isinstance(layer, Image))
    ages = f" ↑ {about.words.old_to_new[1]}" if about.recent else ""
    return render(
        "zoomable.html",
        about=about,
        inks=inks,
        alt_text=rendering.alt_text,
        direction="rtl" if is_right_to_left(about.words.near) else "ltr",
        box=(x0, top, x1 - x0, height),
        picture=image(_enlarged_map(rendering), (x0, top, x1, top + height), jpeg=_JPEG),
        names=svg_layers(layers, rendering.sheet.height),
        fonts=font_faces([*layers, *_page_words(rendering)]),
        key=data_address(key.pixels[::-1]),
        sides=" → ".join(about.words.few_to_many) + ages,
        places=_places(rendering),
        style=_read_asset("zoomable.css"),
        script=_read_asset("zoomable.js"),
    )


def _enlarged_map(rendering: Rendering) -> NDArray[np.uint8]:
    """Return the picture for zooming; if it is small, paint it again at a higher resolution."""
    picture = rendering.picture
    height, width = picture.shape[:2]
    if rendering.fidelity is not None or max(width, height) >= _SIDE:
        return picture

    enlarged = _SIDE / max(width, height)
    size = round(width * enlarged), round(height * enlarged)
    return paint(rendering.terrain, theme=str(rendering.settings["theme"]), size=size)


def _page_words(rendering: Rendering) -> list[Run]:
    """Return all texts of the page in plain, italic and bold style, to select fonts for them."""
    runs = [layer for layer in rendering.scene.layers if isinstance(layer, Run)]
    style = runs[0].style if runs else None
    if style is None:
        return []
    texts = [*rendering.about.everything(), *(entry.name for entry in rendering.entries)]
    plain = replace(style, families=families(texts), italic=False, bold=False)
    styles = (plain, replace(plain, italic=True), replace(plain, bold=True))
    return [Run(text, one) for one in styles for text in texts]


def _places(rendering: Rendering) -> str:
    """Return the gazetteer as JSON that is safe inside a script element."""
    x0, x1, y0, y1 = rendering.terrain.extent
    left, low, right, top = rendering.map_box
    places: list[dict[str, object]] = places_as_json(rendering.entries)
    for place, entry in zip(places, rendering.entries, strict=True):
        across = (entry.x - x0) / (x1 - x0) * (right - left)
        down = (y1 - entry.y) / (y1 - y0) * (top - low)
        place["at"] = [round(across, 2), round(down, 2)]
    text = json.dumps(places, ensure_ascii=False, allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _read_asset(name: str) -> str:
    return files("landscape.outreach").joinpath(name).read_text(encoding="utf-8")
