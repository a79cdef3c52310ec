"""An atlas as a notebook shows it: what it holds, how it was made, how far to trust it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from landscape.atlas.reading import Atlas

_MEASURES = {
    "knn_recall_at_10": "true nearest neighbours kept on the map",
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "category_accuracy_map": "category told from the map",
    "category_accuracy_chance": "category told by chance",
}


def atlas_as_html(atlas: Atlas) -> str:
    """Describe an atlas in HTML.

    Parameters
    ----------
    atlas : Atlas

    Returns
    -------
    str
        A fragment in which everything that came with the papers is escaped.
    """
    coverage = atlas.coverage
    rows = [
        ("papers", f"{coverage['papers']:,}"),
        ("dates", f"{coverage['first_date'] or '?'} to {coverage['last_date'] or '?'}"),
        ("sources", ", ".join(f"{name} ({n:,})" for name, n in coverage["sources"].items())),
        ("folder", str(atlas.path)),
    ]
    model = atlas.stages["embeddings"].model
    if model:
        rows.append(("embeddings", f"{model.get('model')} ({model.get('dimension')} dimensions)"))
    quality = atlas.quality
    for name, meaning in _MEASURES.items():
        value = quality.get(name)
        if value is not None:
            rows.append((meaning, f"{value:.0%}"))
    warning = (
        "<p><strong>Generated corpus: these papers do not exist.</strong></p>"
        if coverage["generated"]
        else ""
    )
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<h4>{escape(atlas.title)}</h4>{warning}<table>{body}</table>"
