"""Write figures with their data and alternative text, and tables of analyses."""

from __future__ import annotations

import inspect
import io
import os
import re
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, cast
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from landscape._io import check_output, write_output
from landscape._render import render
from landscape._serializer import to_csv, to_json
from landscape.errors import InputError
from landscape.figures import plotly_backend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL import Image

    from landscape.figures.scene import Scene
    from landscape.types import Analysis

PNG_DPI = 160
VECTOR_DPI = 200  # only for the density image; text is stored as vectors

# STIX and Times have the same metrics, so viewers without STIX keep the layout.
_SVG_FONTS = "STIXGeneral, 'STIX Two Text', 'Times New Roman', Times, 'DejaVu Sans', serif"


def draw(scene: Scene, backend: str = "matplotlib", *, ax: Axes | None = None) -> Any:
    """Draw a scene with matplotlib, as a `Sheet` or into axes, or with plotly for a notebook."""
    if backend == "plotly":
        return plotly_backend.draw_panels(scene)
    from landscape.figures import matplotlib_backend

    if ax is not None and len(scene.panels) != 1:
        raise InputError(
            f"This figure has {len(scene.panels)} panels, so it cannot be drawn into one ax; leave "
            "out ax."
        )
    return matplotlib_backend.draw(scene) if ax is None else matplotlib_backend.draw_onto(ax, scene)


P = ParamSpec("P")


class Drawing(Protocol[P]):
    """A function that draws a figure. Its method `scene` returns the `Scene` without drawing it."""

    scene: Callable[P, Scene]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return a `Sheet`, or the axes of the argument `ax`."""


def figure(build: Callable[P, Scene]) -> Drawing[P]:
    """Make the function that draws the scenes of `build`, with the same parameters."""
    signature = inspect.signature(build)

    @wraps(build)
    def scene(*args: P.args, **kwargs: P.kwargs) -> Scene:
        _check_options(build.__name__, signature, kwargs)
        return build(*args, **kwargs)

    @wraps(build)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Any:
        return draw(scene(*args, **kwargs), ax=cast("Axes | None", kwargs.get("ax")))

    changed = signature.replace(return_annotation="Sheet | Axes")
    drawn.__signature__ = changed  # type: ignore[attr-defined]
    drawn.scene = scene  # type: ignore[attr-defined]
    return cast("Drawing[P]", drawn)


def _check_options(name: str, signature: inspect.Signature, given: Mapping[str, Any]) -> None:
    """Raise TypeError for an unknown option, and InputError if `analysis` is no analysis."""
    from landscape.figures.page import PageOptions
    from landscape.types import Analysis

    analysis = given.get("analysis")
    if not isinstance(analysis, Analysis | None):
        raise InputError(
            f"analysis is {type(analysis).__name__}; pass the result of a function of "
            "landscape.overlays, with its caption and warnings."
        )
    known = {*signature.parameters, *PageOptions.__annotations__}
    if "look" in signature.parameters and (odd := given.keys() - known):
        raise TypeError(f"{name}() got an unexpected keyword argument {min(odd)!r}")


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: int | None = None) -> Path:
    r"""Write a figure, and write its data and alternative text to files next to it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Figure returned by a function of `landscape.figures`.
    path : path
        File to write: ``.pdf``, ``.png``, ``.svg``, or ``.html`` for an interactive page. For
        ``heatmap.pdf``, the data are written to ``heatmap.csv``. The alternative text with the
        full caption is written to ``heatmap.alt.txt`` and to the metadata of the picture.
    dpi : int, optional
        Pixels per inch. By default 160 for PNG, and 200 for the density image in PDF and SVG.

    Returns
    -------
    pathlib.Path
        Path of the file. It is written atomically. The same figure gives the same bytes.

    Raises
    ------
    InputError
        If the suffix is not supported, `dpi` is out of range, or the directory is not writable.

    Examples
    --------
    >>> import tempfile
    >>> from landscape.figures.matplotlib_backend import Sheet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Sheet(figsize=(1, 1), alt_text="Nothing."), f"{folder}/a.svg").name
    ...     Path(folder, "a.alt.txt").read_text()
    'a.svg'
    'Nothing.\n'
    """
    target = check_kind(path)
    writer = _WRITERS[target.suffix.lower()]
    if dpi is not None and not 20 <= dpi <= 1200:
        raise InputError(f"The resolution must be between 20 and 1200 dpi, not {dpi}.")
    _check_fits(figure, target)
    words = str(getattr(figure, "alt_text", ""))
    table = getattr(figure, "table", None)
    files = {target: writer(figure, words, dpi)}
    if table is not None:
        data = to_csv(table, float_format="%.6g").encode()
        _check_own(target.with_suffix(".csv"), data)
        files[target.with_suffix(".csv")] = data
    if words:
        files[target.with_suffix(".alt.txt")] = f"{words}\n".encode()
    for file, content in files.items():
        write_output(file, content)
    return target


def check_kind(path: str | os.PathLike[str]) -> Path:
    """Raise InputError if `save_figure` cannot write this file."""
    return check_output(path, _WRITERS, what="A figure")


def _check_own(file: Path, content: bytes) -> None:
    """Raise InputError if the file exists and contains a table with other columns."""
    if file.is_file():
        with file.open("rb") as there:
            head = there.readline().strip()
        if head != content.split(b"\n", 1)[0].strip():
            raise InputError(
                f"The table of this figure would overwrite {file}, which is a different table. "
                "Give the figure another name."
            )


def _png(figure: Figure, words: str, dpi: int | None) -> bytes:
    """Draw a PNG with 256 colours, which is a third as large as a full-colour file."""
    from PIL import Image

    resolution = dpi or PNG_DPI
    buffer = io.BytesIO()
    figure.savefig(
        buffer,
        format="png",
        dpi=resolution,
        facecolor=figure.get_facecolor(),
        pil_kwargs={"compress_level": 1},
    )
    with Image.open(buffer) as drawn:
        picture = drawn.convert("RGB")
    return png_bytes(picture, dpi=resolution, about={"Description": words}, few=True)


def png_bytes(
    picture: Image.Image, *, dpi: int, about: Mapping[str, str], few: bool, dither: bool = False
) -> bytes:
    """Encode a picture as PNG with text chunks, with 256 colours or all colours."""
    from PIL import Image, PngImagePlugin

    if few:
        kind = Image.Dither.FLOYDSTEINBERG if dither else Image.Dither.NONE
        packed = picture.quantize(palette=few_colours(picture), dither=kind)
        palette = np.array(packed.getpalette()).reshape(-1, 3)
        palette[np.asarray(packed)[0, 0]] = np.asarray(picture)[0, 0]  # the colour of the page
        packed.putpalette(palette.ravel().tolist())
        picture = packed
    words = PngImagePlugin.PngInfo()
    for key, value in about.items():
        words.add_itxt(key, value)
    buffer = io.BytesIO()
    # The highest level would save 2% of a full-colour picture, but take four times as long.
    level = 9 if few else 6
    picture.save(buffer, format="png", compress_level=level, dpi=(dpi, dpi), pnginfo=words)
    return buffer.getvalue()


_COLOURS_COMPARED = 50_000  # a larger sample is slower, without a visible difference


def few_colours(picture: Image.Image) -> Image.Image:
    """Choose 256 colours for a picture, weighting each by the logarithm of its pixel count."""
    from PIL import Image

    pixels = np.asarray(picture, dtype=np.uint32)
    codes = (pixels[..., 0] << 16) | (pixels[..., 1] << 8) | pixels[..., 2]
    colours, counts = np.unique(codes, return_counts=True)
    weighted = np.repeat(colours, np.ceil(np.log2(counts + 1)).astype(int))
    weighted = weighted[:: max(1, len(weighted) // _COLOURS_COMPARED)]
    channels = np.stack([weighted >> 16, (weighted >> 8) & 255, weighted & 255], axis=-1)
    sample = Image.fromarray(channels[None].astype(np.uint8), mode="RGB")
    return sample.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=2)


def _pdf(figure: Figure, words: str, dpi: int | None) -> bytes:
    about = {"Title": _first_sentence(words), "Subject": words, "CreationDate": None}
    return vector_bytes(figure, "pdf", dpi or VECTOR_DPI, about)


def _svg(figure: Figure, words: str, dpi: int | None) -> bytes:
    drawn = vector_bytes(figure, "svg", dpi or VECTOR_DPI, {"Date": None, "Description": words})
    text = drawn.decode("utf-8").replace("'STIXGeneral', 'DejaVu Sans'", _SVG_FONTS)
    # Screen readers need the role, a short name and the long description.
    label = f' role="img" aria-label={quoteattr(_first_sentence(words))}'
    opening = re.search(r"<svg\b[^>]*>", text)
    if opening is None or not words:
        return text.encode()
    head = f"{opening.group()[:-1]}{label}>\n <desc>{escape(words)}</desc>"
    return (text[: opening.start()] + head + text[opening.end() :]).encode()


def vector_bytes(figure: Figure, kind: str, dpi: int, about: dict[str, Any]) -> bytes:
    """Encode a figure as PDF or SVG; its text can be searched."""
    import matplotlib as mpl

    # Store text as text (TrueType in PDF, <text> in SVG), with the same identifiers in every run.
    settings: dict[Any, Any] = {
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "landscape",
    }
    buffer = io.BytesIO()
    with mpl.rc_context(settings):
        figure.savefig(
            buffer, format=kind, dpi=dpi, facecolor=figure.get_facecolor(), metadata=about
        )
    return buffer.getvalue()


def _html(figure: Any, _words: str, _dpi: int | None) -> bytes:
    if hasattr(figure, "to_html"):
        return plotly_backend.to_page(figure).encode()
    scene = figure.scene
    return plotly_backend.to_page(plotly_backend.draw(scene), below=scene.below).encode()


def _check_fits(figure: object, target: Path) -> None:
    """Raise InputError if the plotting library of this figure cannot write this file type."""
    is_html, is_plotly = target.suffix.lower() == ".html", hasattr(figure, "to_html")
    if is_html and not is_plotly and getattr(figure, "scene", None) is None:
        raise InputError(
            f"Only figures of landscape can be written as {target.name!r}. For this figure, use a "
            "file name that ends in .pdf, .png or .svg."
        )
    if is_plotly and not is_html:
        raise InputError(
            f"This figure is for the browser and cannot be written as {target.name!r}. Use a file "
            "name that ends in .html."
        )


_WRITERS: dict[str, Callable[[Any, str, int | None], bytes]] = {
    ".pdf": _pdf,
    ".png": _png,
    ".svg": _svg,
    ".html": _html,
}


def _first_sentence(words: str) -> str:
    return words.split(". ")[0].rstrip(".") or "Figure"


def save_table(analysis: Analysis, path: str | os.PathLike[str]) -> Path:
    r"""Write the table of an analysis to a file, atomically.

    Parameters
    ----------
    analysis : Analysis
        Analysis returned by a function of `landscape.overlays`.
    path : path
        File to write: ``.csv``, ``.tex`` (LaTeX with the package booktabs), ``.md`` (Markdown),
        ``.html``, ``.vot`` (VOTable, for TOPCAT) or ``.json``, which also contains further tables,
        bounds and warnings.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If the suffix is not supported or the directory is not writable.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from landscape.types import Analysis
    >>> found = Analysis("impact", pd.DataFrame({"share": [0.5]}), "Half.", {"papers": 2}, {})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_table(found, f"{folder}/impact.csv").read_text()
    '# Half.\n# Based on 2 papers.\nshare\n0.5\n'
    """
    path = check_table_kind(path)
    return write_output(path, _TABLES[path.suffix.lower()](analysis))


def check_table_kind(path: str | os.PathLike[str]) -> Path:
    """Raise InputError if `save_table` cannot write this file."""
    return check_output(path, _TABLES, what="A table")


def check_any_kind(path: str | os.PathLike[str]) -> bool:
    """Return whether the file is a table; raise InputError if it is not a figure either."""
    kinds = [*_WRITERS, *_TABLES]
    return check_output(path, kinds, what="A figure or table").suffix.lower() in _TABLES


def to_votable(analysis: Analysis) -> str:
    """Return the main table as a VOTable, which TOPCAT and Aladin read.

    Columns named ``ra`` and ``dec`` are in degrees, ``precision`` in arcseconds. Lists are
    joined with semicolons.
    """
    from astropy.table import Table

    frame = analysis.table.copy()
    for name in frame.select_dtypes(exclude="number"):
        frame[name] = [
            "; ".join(map(str, cell)) if isinstance(cell, list | np.ndarray) else str(cell or "")
            for cell in frame[name]
        ]
    table = Table.from_pandas(frame)
    table.meta["description"] = " ".join([analysis.caption, *analysis.notes])
    for name, unit, kind in (
        ("ra", "deg", "pos.eq.ra;meta.main"),
        ("dec", "deg", "pos.eq.dec;meta.main"),
        ("precision", "arcsec", "stat.error;pos"),
    ):
        if name in table.colnames:
            table[name].unit = unit
            table[name].meta["ucd"] = kind
    text = io.BytesIO()
    table.write(text, format="votable")
    return text.getvalue().decode()


_TABLES: dict[str, Callable[[Analysis], str]] = {
    ".csv": lambda analysis: analysis.to_csv(),
    ".tex": lambda analysis: analysis.to_latex(),
    ".md": lambda analysis: analysis.to_markdown(),
    ".json": lambda analysis: f"{to_json(analysis)}\n",
    ".html": lambda analysis: render("analysis_page.html", analysis=analysis),
    ".vot": to_votable,
}
