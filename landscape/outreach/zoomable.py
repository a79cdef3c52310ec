"""The map as one page for the browser: zoom, pan, search; no network, no library."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from landscape.outreach.fonts import is_right_to_left
from landscape.outreach.gazetteer import places_as_json
from landscape.outreach.letters import Run
from landscape.outreach.marks import Inset
from landscape.outreach.svg import data_address, font_faces, image, svg_marks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from landscape.outreach.finished import Rendering

_SIDE = 2600  # pixels of the map's longer side, to look closer
_JPEG = 88
_LETTERED = ("region", "continent", "water", "leader", "peak")
# The page may show what is in it and reach for nothing else.
_POLICY = (
    "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'"
)


def page(rendering: Rendering) -> str:
    """Write a map as a page that needs nothing else.

    Parameters
    ----------
    rendering : Rendering

    Returns
    -------
    str
        HTML. Names are escaped, the same map gives the same page.
    """
    about, inks = rendering.about, rendering.inks
    x0, y0, x1, y1 = rendering.map_box
    marks = [mark for mark in rendering.marks if mark.role in _LETTERED]
    names = svg_marks(marks, rendering.sheet.height)
    top = rendering.sheet.height - y1
    picture = image(_closer(rendering), (x0, top, x1, top + y1 - y0), jpeg=_JPEG)
    colours = {
        "page": inks.page,
        "panel": inks.panel,
        "text": inks.text,
        "faint": inks.faint,
        "title": inks.title,
        "land": inks.land,
        "region": inks.region,
        "halo": inks.halo,
        "sea": inks.sea_halo,
        "sea-ink": inks.sea,
    }
    variables = "".join(f"--{name}:{value};" for name, value in colours.items())
    direction = "rtl" if is_right_to_left(about.words.near) else "ltr"
    width, height = x1 - x0, y1 - y0
    return f"""<!DOCTYPE html>
<html lang="{escape(about.language)}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="description" content="{escape(rendering.alt_text)}">
<title>{escape(about.title)}</title>
<style>
:root{{{variables}}}
{_text_of("zoomable.css")}
{font_faces([*marks, *_page_words(rendering)])}
</style>
</head>
<body>
<main dir="ltr">
<svg id="map" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.2f} {height:.2f}"
 tabindex="0" role="group" aria-label="{escape(rendering.alt_text)}">
<g id="world"><g transform="translate({-x0:.2f} {-top:.2f})">
{picture}
{names}
</g></g></svg>
<div id="tools"><button id="closer" aria-label="Zoom in">+</button>
<button id="farther" aria-label="Zoom out">−</button>
<button id="whole" aria-label="Show the whole map">⌂</button></div>
<div id="card" aria-live="polite" hidden></div>
</main>
<aside>
{_words(rendering)}
<p><input id="search" type="search" aria-label="Search places" placeholder="…"></p>
<ul id="list"></ul>
</aside>
<script type="application/json" id="places">{_places(rendering)}</script>
<script>
{_text_of("zoomable.js")}
</script>
</body>
</html>
"""


def _closer(rendering: Rendering) -> NDArray[np.uint8]:
    """The picture with pixels enough to look closer: drawn from the data anew where it is small."""
    picture = rendering.picture
    height, width = picture.shape[:2]
    if rendering.fidelity is not None or max(width, height) >= _SIDE:
        return picture
    from landscape.outreach.painting import paint

    enlarged = _SIDE / max(width, height)
    size = round(width * enlarged), round(height * enlarged)
    return paint(rendering.terrain, theme=str(rendering.settings["theme"]), size=size)


def _words(rendering: Rendering) -> str:
    """Title, key, notes."""
    about = rendering.about
    key = next(mark for mark in rendering.marks if isinstance(mark, Inset))
    warning = f'<p class="warning">{escape(about.words.generated)}</p>' if about.generated else ""
    legend = "".join(f"<li>{escape(line)}</li>" for line in about.legend())
    fine = "".join(f'<p class="fine">{escape(line)}</p>' for line in about.fine_print())
    sides = " → ".join(about.words.few_to_many)
    ages = f" ↑ {about.words.old_to_new[1]}" if about.recent else ""
    return f"""<h1>{escape(about.title)}</h1>
<p class="subtitle">{escape(about.subtitle())}</p>
{warning}
<img src="{data_address(key.picture)}" alt="{escape(sides + ages)}">
<p class="fine">{escape(sides + ages)}</p>
<ul>{legend}</ul>
<p class="near">{escape(about.words.near)}</p>
{fine}"""


def _page_words(rendering: Rendering) -> list[Run]:
    """The words beside the map and names without room, as runs: their fonts come along too."""
    runs = [mark for mark in rendering.marks if isinstance(mark, Run)]
    style = runs[0].style if runs else None
    if style is None:
        return []
    from dataclasses import replace

    from landscape.outreach.fonts import families

    texts = [*rendering.about.everything(), *(entry.name for entry in rendering.entries)]
    some = replace(style, families=families(texts), italic=False, bold=False)
    return [Run(text, some) for text in texts]


def _places(rendering: Rendering) -> str:
    """The gazetteer for the page, where on the map each place is; safe inside a script element."""
    x0, x1, y0, y1 = rendering.terrain.extent
    left, low, right, top = rendering.map_box
    places: list[dict[str, Any]] = places_as_json(rendering.entries)
    for place, entry in zip(places, rendering.entries, strict=True):
        across = (entry.x - x0) / (x1 - x0) * (right - left)
        down = (y1 - entry.y) / (y1 - y0) * (top - low)
        place["at"] = [round(across, 2), round(down, 2)]
    text = json.dumps(places, ensure_ascii=False, allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _text_of(name: str) -> str:
    return files("landscape.outreach").joinpath(name).read_text(encoding="utf-8")
