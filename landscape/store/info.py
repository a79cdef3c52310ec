"""Summarise an atlas as text, HTML or JSON values, and check its files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._render import render
from landscape.errors import AtlasError
from landscape.store.manifest import (
    LAYERS,
    TABLES,
    StageRecord,
    compare_file,
    current_version,
    read_manifest,
)
from landscape.store.tables import LABELS, read_labels

if TYPE_CHECKING:
    from landscape.store._atlas_store import AtlasStore


def facts(atlas: AtlasStore) -> dict[str, Any]:
    """Return the JSON values printed by ``landscape info --json``."""
    return {
        "path": str(atlas.path),
        "format_version": atlas.manifest.format_version,
        "package_version": atlas.manifest.package_version,
        "updated": atlas.manifest.updated,
        **atlas.coverage,
        "parts": [asdict(part) for part in atlas.parts],
        "regions": count_regions(atlas),
        "quality": atlas.quality,
        "stages": {name: _stage_facts(record) for name, record in atlas.stages.items()},
        "label_problems": list(atlas.label_problems),
    }


def _stage_facts(record: StageRecord) -> dict[str, object]:
    return {
        "rows": record.rows,
        "seconds": record.seconds,
        "peak_memory_mb": record.peak_memory_mb,
        "finished": record.finished,
        "parameters": record.parameters,
        "model": record.model,
        "details": record.details,
    }


def describe(atlas: AtlasStore) -> str:
    """Return the text printed by ``landscape info``."""
    # An atlas of an earlier version has no layers.
    layers = {"uat", "missions", "reviews"} <= atlas.stages.keys()
    return render(
        "info.txt",
        atlas=atlas,
        found=atlas.coverage,
        n_regions=count_regions(atlas),
        layers=atlas.stages if layers else None,
        quality=quality_lines(atlas.quality),
    )


def count_regions(atlas: AtlasStore) -> int:
    """Count the regions (topics of level 1) of an atlas."""
    return int((atlas.topics["level"] == 1).sum())


def quality_lines(quality: Mapping[str, Any]) -> list[str]:
    """Return one line of text for each quality measure of a map.

    Parameters
    ----------
    quality : mapping
        From `landscape.mapping.quality.measure_quality`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> for line in quality_lines({"stability": None, "stability_reason": "the map was kept"}):
    ...     print(line)
    stability                not measured: the map was kept
    """
    lines = []
    for name, value in quality.items():
        reason = quality.get(f"{name}_reason")
        if not name.endswith("_reason"):
            lines.append(f"{name:24} {f'not measured: {reason}' if reason else in_words(value)}")
    return lines


def in_words(value: float | int | None) -> str:
    """Format the value of a quality measure."""
    if value is None:
        return "too few papers"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


_MEASURES = {
    "knn_recall_at_10": "nearest neighbours preserved on the map",
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "category_accuracy_map": "category predicted from the map",
    "category_accuracy_chance": "category predicted by chance",
}


def atlas_as_html(atlas: AtlasStore) -> str:
    """Describe an atlas in HTML."""
    found, quality = atlas.coverage, atlas.quality
    rows = {
        "papers": f"{found['papers']:,}",
        "dates": f"{found['first_date'] or '?'} to {found['last_date'] or '?'}",
        "coverage": found["years"] or "years unknown",
        "sources": ", ".join(f"{name} ({n:,})" for name, n in found["sources"].items()),
        "folder": str(atlas.path),
    }
    if model := atlas.stages["embeddings"].model:
        rows["embeddings"] = f"{model.get('model')} ({model.get('dimension')} dimensions)"
    rows |= {
        meaning: f"{quality[name]:.0%}"
        for name, meaning in _MEASURES.items()
        if quality.get(name) is not None
    }
    return render("atlas.html", title=atlas.title, generated=found["generated"], rows=rows.items())


def verify(path: str | os.PathLike[str]) -> list[str]:
    """Compare the files of an atlas with their checksums, and return a list of problems."""
    folder = Path(path)
    manifest = read_manifest(folder)
    place, _ = current_version(folder)
    resume = "run the same landscape build again to resume it."
    problems = [] if manifest.complete else [f"The build of {folder} is not finished; {resume}"]
    problems += [
        problem
        for name, output in sorted(manifest.files.items())
        if (problem := compare_file(place / name, output))
    ]
    problems += [  # files that no stage wrote
        f"{path} does not belong to this atlas; remove it."
        for table in (*TABLES, *LAYERS)
        if (place / table).is_dir()
        for path in sorted((place / table).iterdir())
        if not path.name.startswith((".", "_")) and f"{table}/{path.name}" not in manifest.files
    ]
    try:
        read_labels(folder / LABELS)
    except AtlasError as error:
        problems.append(str(error))
    return problems
