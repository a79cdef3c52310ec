"""Writing a finished map: the file, and what stands beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.text._spreadsheet import as_csv

if TYPE_CHECKING:
    from landscape.outreach.finished import Rendering

_PREVIEW_WIDTH = 1400


def written(rendering: Rendering, kind: str) -> bytes:
    """The map as a file of a kind: ``.png``, ``.pdf``, ``.svg`` or ``.html``."""
    return {".png": _png, ".pdf": _pdf, ".svg": _svg, ".html": _html}[kind](rendering)


def sidecars(rendering: Rendering, target: Path) -> dict[Path, bytes]:
    """What is written beside the map: gazetteer, alternative text, and settings with scores."""
    return {
        gazetteer_of(target): as_csv(rendering.gazetteer, float_format="%.6g").encode(),
        target.with_suffix(".alt.txt"): f"{rendering.alt_text}\n".encode(),
        target.with_suffix(".json"): f"{_record(rendering)}\n".encode(),
    }


def gazetteer_of(target: Path) -> Path:
    """Where the gazetteer of a map goes.

    Examples
    --------
    >>> gazetteer_of(Path("map.png")).name
    'map.gazetteer.csv'
    """
    return target.with_suffix(".gazetteer.csv")


def preview(rendering: Rendering) -> bytes:
    """A PNG for the notebook, no wider than a screen."""
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
    from landscape.outreach.drawing import png_bytes

    return png_bytes(
        rendering.page(), dpi=rendering.sheet.dpi, about=_about(rendering), few=_for_web(rendering)
    )


def _pdf(rendering: Rendering) -> bytes:
    from landscape.outreach.drawing import pdf_bytes

    about = _about(rendering)
    return pdf_bytes(
        rendering.sheet,
        rendering.picture,
        rendering.map_box,
        rendering.marks,
        page=rendering.inks.page,
        about={
            "Title": about["Title"],
            "Subject": about["Description"],
            "Keywords": about["Landscape"],
            "Creator": f"Landscape {rendering.about.version}",
        },
    )


def _svg(rendering: Rendering) -> bytes:
    from landscape.outreach.svg import svg_text

    about = _about(rendering)
    return svg_text(
        rendering.sheet,
        rendering.picture,
        rendering.map_box,
        rendering.marks,
        page=rendering.inks.page,
        title=about["Title"],
        description=about["Description"],
        about=about["Landscape"],
        language=rendering.about.language,
    ).encode()


def _html(rendering: Rendering) -> bytes:
    from landscape.outreach.zoomable import page

    return page(rendering).encode()


def _about(rendering: Rendering) -> dict[str, str]:
    return {
        "Title": rendering.about.title,
        "Description": rendering.alt_text,
        "Landscape": _record(rendering, indent=None),
    }


def _record(rendering: Rendering, *, indent: int | None = 1) -> str:
    """Settings, scores and notes as JSON."""
    record: dict[str, Any] = {"settings": dict(rendering.settings), "used": rendering.used}
    scores = rendering.fidelity
    if scores is not None:
        record["fidelity"] = scores.as_dict()
    record["notes"] = list(rendering.notes)
    return json.dumps(record, indent=indent, ensure_ascii=False, default=str)


def _for_web(rendering: Rendering) -> bool:
    """Whether a file a quarter as large is worth a palette."""
    return rendering.sheet.name == "web"
