"""An atlas in words and in plain values, for the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._io import sha256_of
from landscape.errors import AtlasError
from landscape.store._manifest import LAYERS, TABLES, Manifest, read_manifest
from landscape.store._tables import LABELS, read_labels

if TYPE_CHECKING:
    from landscape.store._atlas_store import AtlasStore


def facts(atlas: AtlasStore) -> dict[str, Any]:
    """Return the facts of ``landscape info --json``."""
    return {
        "path": str(atlas.path),
        "format_version": atlas.manifest.format_version,
        "package_version": atlas.manifest.package_version,
        "updated": atlas.manifest.updated,
        **atlas.coverage,
        "parts": [asdict(part) for part in atlas.parts],
        "regions": count_regions(atlas),
        "quality": atlas.quality,
        "stages": {
            name: {
                "rows": record.rows,
                "seconds": record.seconds,
                "peak_memory_mb": record.peak_memory_mb,
                "finished": record.finished,
                "parameters": record.parameters,
                "model": record.model,
                "details": record.details,
            }
            for name, record in atlas.stages.items()
        },
        "label_problems": list(atlas.label_problems),
    }


def describe(atlas: AtlasStore) -> str:
    """Return the text of ``landscape info``."""
    found = atlas.coverage
    sources = ", ".join(f"{name} {n:,}" for name, n in found["sources"].items())
    generated = " - GENERATED: these papers do not exist" if found["generated"] else ""
    lines = [
        f"{atlas.title}{generated}",
        f"papers     {found['papers']:,}, {_dates(found)}",
        f"records    read {found['read']:,} = kept {found['papers']:,} + merged "
        f"{found['merged']:,} + rejected {found['rejected']:,}",
        f"sources    {sources}",
        f"topics     {count_regions(atlas)} named regions",
        f"search     {_search(atlas.stages['search'].details)}",
        *_layers(atlas),
        "",
        f"{'stage':12} {'rows':>9} {'seconds':>9} {'peak MB':>9}  model",
    ]
    for name, record in atlas.stages.items():
        model = record.model or {}
        lines.append(
            f"{name:12} {record.rows:9,} {record.seconds:9,.1f} {record.peak_memory_mb:9,.0f}"
            f"  {model.get('model') or model.get('name') or ''}"
        )
    lines += ["", "map quality"]
    lines += [f"  {line}" for line in quality_lines(atlas.quality)]
    return "\n".join(line.rstrip() for line in lines)


def _layers(atlas: AtlasStore) -> list[str]:
    """Contents of the layers; empty for atlases of earlier versions."""
    if not {"uat", "missions", "reviews"} <= atlas.stages.keys():
        return []
    uat, missions, reviews = (atlas.stages[name].details for name in ("uat", "missions", "reviews"))
    return [
        f"concepts   {uat['concepts_found']:,} of {uat['concepts']:,} of the thesaurus "
        f"({uat['version'] or 'release unknown'}), in {uat['papers_tagged']:,} papers",
        f"missions   {missions['facilities']:,} facilities, named in {missions['papers']:,} papers",
        f"reviews    {reviews['reviews']:,} recognised",
    ]


def _search(details: Mapping[str, Any]) -> str:
    """How search by meaning finds its neighbours, and how many of the true ones."""
    if details["exact"]:
        return "by meaning (exact) and by words"
    recall, looked, cells = (details[name] for name in ("recall_at_100", "n_probe", "n_cells"))
    return (
        f"by meaning (approximate: {recall:.1%} of the true 100 nearest, {looked} of {cells} cells "
        "looked into) and by words"
    )


def _dates(coverage: dict[str, Any]) -> str:
    first, last = coverage["first_date"], coverage["last_date"]
    return f"{first} to {last}" if first else "dates unknown"


def count_regions(atlas: AtlasStore) -> int:
    """Count the regions (topics of level 1) of an atlas."""
    return int((atlas.topics["level"] == 1).sum())


def quality_lines(quality: Mapping[str, Any]) -> list[str]:
    """Write the measures of a map for people, one a line.

    Parameters
    ----------
    quality : mapping
        From `landscape.mapping._quality.measure_quality`.

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
            lines.append(f"{name:24} {f'not measured: {reason}' if reason else as_words(value)}")
    return lines


def as_words(value: float | int | None) -> str:
    """Write a measure for people."""
    if value is None:
        return "too few papers to tell"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


_MEASURES = {
    "knn_recall_at_10": "true nearest neighbours kept on the map",
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "category_accuracy_map": "category told from the map",
    "category_accuracy_chance": "category told by chance",
}


def atlas_as_html(atlas: AtlasStore) -> str:
    """Describe an atlas in HTML."""
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


def verify(path: str | os.PathLike[str]) -> list[str]:
    """Compare every file of an atlas with its checksum."""
    folder = Path(path)
    manifest = read_manifest(folder)
    problems = [] if manifest.complete else [f"The build of {folder} is not finished."]
    problems += [
        problem
        for name, output in sorted(manifest.files.items())
        if (problem := _compare(folder / name, output.sha256, output.bytes))
    ]
    problems += _strangers(folder, manifest)
    try:
        read_labels(folder / LABELS)
    except AtlasError as error:
        problems.append(str(error))
    return problems


def _compare(path: Path, sha256: str, n_bytes: int) -> str:
    if not path.is_file():
        return f"{path} is missing."
    size = path.stat().st_size
    if size != n_bytes:
        return f"{path} has {size:,} bytes instead of {n_bytes:,}."
    try:
        found = sha256_of(path)
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})."
    if found != sha256:
        return f"{path} was changed: its sha256 is {found[:12]}... instead of {sha256[:12]}..."
    return ""


def _strangers(folder: Path, manifest: Manifest) -> list[str]:
    """Files that a reader of a folder of parts would take for papers of this atlas."""
    return [
        f"{path} does not belong to this atlas; remove it."
        for table in (*TABLES, *LAYERS)
        if (folder / table).is_dir()
        for path in sorted((folder / table).iterdir())
        if not path.name.startswith((".", "_")) and f"{table}/{path.name}" not in manifest.files
    ]
