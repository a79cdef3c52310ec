"""Update an atlas: read new and changed files only, and keep the parts of all other sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._io import data_file, refuse_links, sha256_of
from landscape._settings import takes_settings
from landscape._wording import count, did_you_mean
from landscape.corpus.thesaurus import EMBEDDED
from landscape.errors import InputError
from landscape.pipeline._ingest import check_inputs, origin
from landscape.pipeline._layers import THESAURUS
from landscape.pipeline.building import build_version
from landscape.pipeline.stages import BuildOptions, InputFile, as_paths, check_build_options
from landscape.store import AtlasStore
from landscape.store.manifest import Part
from landscape.store.tables import LABELS
from landscape.text import tagger

if TYPE_CHECKING:
    import pandas as pd

# Settings of a build, and the stage and the parameter in which the manifest has them.
_STORED = {
    "embedder": ("embeddings", "embedder"),
    "n_neighbors": ("projection", "n_neighbors"),
    "min_dist": ("projection", "min_dist"),
    "keywords_limit": ("keywords", "limit"),
    "topics_method": ("topics", "method"),
    "max_regions": ("topics", "max_regions"),
    "n_continents": ("topics", "n_continents"),
    "polish": ("topics", "polish"),
}


@takes_settings(BuildOptions, without=["inputs", "seed", "tagger", *_STORED])
def update(
    atlas: str | os.PathLike[str],
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    remove: str | Iterable[str] = (),
    say: Callable[[str], None] | None = None,
    **settings: object,
) -> AtlasStore:
    """Add papers to an atlas, replace those of changed files, or remove those of a source.

    Only new and changed files are read. The files of the other sources are not needed, and the
    parts of the atlas with their papers keep their content. New papers are placed on the map by
    their nearest neighbours; the coordinates of all other papers stay the same. A record of a paper
    that the atlas has is merged with it: the published record has priority, and the arXiv
    identifier stays.

    Parameters
    ----------
    atlas : path
        Folder of the atlas.
    inputs : path or iterable of path
        Files of papers. A file that the atlas was built from replaces its papers if it has changed.
    remove : str or iterable of str
        Sources to remove: names of files, as `sources` lists them.
    say : callable, optional
        Function that receives messages for the user, one line each.
    **settings

    Returns
    -------
    Atlas

    Raises
    ------
    InputError
        If an input or an option is invalid, or another build is writing to the folder.
    AtlasError
        If the folder is not a finished atlas.

    Notes
    -----
    All other settings are those of the last build. The default of ``layout`` is ``"keep"``. The
    thesaurus, the known reviews and the citations of the atlas are kept if no files are given; then
    a new paper is recognised as a review by its title, abstract and journal only.

    Examples
    --------
    >>> update("no-such.atlas", "new.jsonl")
    Traceback (most recent call last):
    landscape.errors.AtlasError: There is no atlas no-such.atlas; ...
    """
    folder = Path(atlas)
    store = AtlasStore.open(folder)
    refuse_links(folder, but=(LABELS,))
    paths = as_paths(inputs)
    options = check_build_options(_options(store, paths, settings))
    removed = (remove,) if isinstance(remove, str) else tuple(remove)
    files = _files(store, options.inputs, removed)
    say = say or (lambda _: None)
    for line in _describe(files, store.parts, removed):
        say(line)
    return build_version(folder, options, files, say)


def sources(atlas: AtlasStore) -> pd.DataFrame:
    """List the sources of an atlas.

    Parameters
    ----------
    atlas : AtlasStore

    Returns
    -------
    pandas.DataFrame
        One row per source with ``source`` (name of the file), ``format``, ``papers``, the numbers
        of records that were ``read``, ``merged`` and ``rejected``, and ``modified``, the time when
        the file was last changed before it was read (UTC).

    Examples
    --------
    >>> sources(atlas)["source"].tolist()  # doctest: +SKIP
    ['arxiv.jsonl', 'ads.jsonl']
    """
    import pandas as pd

    rows = [
        {
            "source": part.file,
            "format": part.source,
            "papers": part.rows,
            "read": part.read,
            "merged": part.merged,
            "rejected": part.rejected,
            "modified": pd.Timestamp(part.modified, unit="ns").floor("s"),
        }
        for part in atlas.parts
    ]
    return pd.DataFrame(rows)


def _options(store: AtlasStore, inputs: object, given: dict[str, object]) -> BuildOptions:
    """Return the settings of an update: the given ones, then those of the last build."""
    stages = store.stages
    known: dict[str, Any] = {"layout": "keep"}
    for name, (stage, parameter) in _STORED.items():
        if parameter in stages[stage].parameters:
            known[name] = stages[stage].parameters[parameter]
    # The stored name of the tagger has a version.
    stored = stages["keywords"].parameters.get("tagger", "")
    known["tagger"] = tagger.MODEL if stored.startswith(tagger.MODEL) else "rules"
    if "uat" in stages and stages["uat"].parameters["thesaurus"] != sha256_of(data_file(EMBEDDED)):
        known["thesaurus"] = store.path / THESAURUS
    given = {name: value for name, value in given.items() if value not in (None, ())}
    return BuildOptions(**{**known, "inputs": inputs, **given})


def _files(store: AtlasStore, inputs: Sequence[Path], remove: Sequence[str]) -> list[InputFile]:
    """Return the parts that stay, and the new and changed inputs, in the order of the parts."""
    names = [part.file for part in store.parts]
    for name in remove:
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(
                f"{store.path} has no source {name!r}{hint} It has {', '.join(names)}."
            )
    if both := {path.name for path in inputs} & set(remove):
        raise InputError(f"{both.pop()} is both an input and a source to remove; choose one.")
    new = {file.path.name: file for file in check_inputs(inputs, store.parts)}
    if len(new) < len(inputs):
        raise InputError(
            "Two inputs have the same name, and a source is known by the name of its file; "
            "rename one of them."
        )
    files = []
    origins = store.stages["ingest"].details.get("origins", {})
    for part in store.parts:
        file = new.pop(part.file, None)
        if part.file in remove:
            continue
        if file is None or (file.sha256 == part.sha256 and not remove):
            files.append(_kept(part, file))
            continue
        if origins.get(part.name, origin(file.path)) != origin(file.path):
            raise InputError(
                f"{file.path} has the name of a source of {store.path}, but was in another folder. "
                f"Rename it to add its papers, or pass --remove {part.file} first."
            )
        files.append(file)
    files += new.values()
    if not files:
        raise InputError(
            f"{count(len(names), 'source')} would be removed, and the atlas would be empty; "
            f"delete the folder {store.path} instead."
        )
    return files


def _describe(
    files: Sequence[InputFile], parts: Sequence[Part], removed: Sequence[str]
) -> Iterator[str]:
    """Say what happens to each source."""
    known = {part.file: part for part in parts}
    for name in removed:
        yield f"{name}: its {count(known[name].rows, 'paper')} are removed"
    if shared := [file.part.file for file in files if removed and file.part and file.part.merged]:
        yield (
            "Papers that these sources share with others are removed as well. To keep them, pass "
            f"the other files again together with --remove: {', '.join(shared)}"
        )
    for file in files:
        name = file.path.name
        if file.part is None and name in known:
            yield f"{name}: its {count(known[name].rows, 'paper')} are replaced"
        elif file.part is None:
            yield f"{name}: its papers are added"


def _kept(part: Part, file: InputFile | None) -> InputFile:
    modified = part.modified if file is None else file.modified
    return InputFile(Path(part.file), part.sha256, part.bytes, modified, replace(part))
