"""Colours of the map by a column of the papers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas

VIEWER = ("region", "density", "year", "citations", "facility", "concept")
"""Colours that the viewer computes itself."""

_MAX_CLASSES = 13
_STEPS = 254  # positions on the ramp; 0 is for papers without a value
_NO_CLASS = 255
_LOGARITHMIC = ("cites", "read_count")
# Texts, identifiers, lists, what the viewer has itself, and how a record was made.
_NOT_COLOURS = (
    *("paper_id", "ads_id", "arxiv_id", "bibcode", "doi"),
    *("title", "abstract", "title_original", "abstract_original", "authors", "aff"),
    *("cite_bibcodes", "ref_bibcodes", "keywords", "ads_keywords"),
    *("date", "year", "cites", "read_count", "date_precision", "generated", "source"),
)


def columns_to_colour(atlas: Atlas) -> list[tuple[str, str]]:
    """Return the columns that can be shown as colours, besides `VIEWER`, and their names."""
    return [(name, name.replace("_", " ")) for name in _columns(atlas) if name not in _NOT_COLOURS]


def check_colour(atlas: Atlas, name: str) -> None:
    """Raise InputError if there is no such colour."""
    known = [*VIEWER, *_columns(atlas)]
    if name not in known:
        offered = [*VIEWER, *(column for column, _ in columns_to_colour(atlas))]
        raise InputError(f"There is no colour {name!r}; use one of {', '.join(offered)}.")


def _columns(atlas: Atlas) -> list[str]:
    import pyarrow.parquet as pq

    from landscape.store.tables import unreadable

    if not atlas.parts:
        return []
    name = f"papers.parquet/{atlas.parts[0].name}.parquet"
    try:
        return list(atlas.read(name, lambda folder: pq.read_schema(folder / name)).names)
    except (OSError, ValueError) as error:  # includes the errors of Arrow
        raise unreadable(atlas.path, name, error) from error


def column_file(atlas: Atlas, name: str, order: NDArray[np.int64]) -> bytes:
    """Return the colours by a column for the viewer: a line of JSON, and a byte for each point.

    Raises
    ------
    InputError
        If there is no such column, or no paper has a value.
    """
    check_colour(atlas, name)
    head, values = colours_of(name, atlas.read_papers([name])[name])
    line = json.dumps(head, ensure_ascii=False).encode()
    return line + b"\n" + values[order].tobytes()


def colours_of(name: str, column: pd.Series) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """Return the description of a colouring, and the class or the place on the ramp by row."""
    import pandas as pd

    title = name.replace("_", " ").capitalize()
    head: dict[str, Any] = {"title": title, "labels": None, "ends": None, "unknown": 0}
    if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
        texts = column.map(lambda value: None if value is None else _one(value), na_action="ignore")
        counts = texts.replace("", None).dropna().value_counts()
        if counts.empty:
            raise InputError(f"No paper of this atlas has a value of {name!r}.")
        labels = counts.index[:_MAX_CLASSES].tolist()
        classes = pd.Categorical(texts, categories=labels).codes
        if len(counts) > len(labels):
            head["title"] = f"{title} (the most frequent)"
        values = np.where(classes >= 0, classes, _NO_CLASS).astype(np.uint8)
        return head | {"labels": [str(label)[:60] for label in labels]}, values
    numbers = column.to_numpy("float64", na_value=np.nan)
    scaled = np.log10(1 + np.maximum(numbers, 0)) if name in _LOGARITHMIC else numbers
    known = np.isfinite(scaled)
    if not known.any():
        raise InputError(f"No paper of this atlas has a value of {name!r}.")
    low, high = np.quantile(scaled[known], [0.02, 0.98])
    span = (high - low) or 1.0
    places = np.clip((np.where(known, scaled, low) - low) / span, 0, 1)
    values = np.where(known, 1 + np.round(_STEPS * places), 0).astype(np.uint8)
    shown = [10**end - 1 if name in _LOGARITHMIC else end for end in (low, high)]
    ends = [f"{value:.0f}" if name == "year" else f"{value:,.4g}" for value in shown]
    # Values beyond an end have its colour.
    less, more = ("earlier", "later") if name == "year" else ("less", "more")
    ends[0] += f" or {less}" if scaled[known].min() < low else ""
    ends[1] += f" or {more}" if scaled[known].max() > high else ""
    return head | {"ends": ends, "unknown": int((~known).sum())}, values


def _one(value: object) -> str:
    """Return a value as text; of a list, the first."""
    if isinstance(value, list | tuple | np.ndarray):
        return str(value[0]) if len(value) else ""
    return str(value)
