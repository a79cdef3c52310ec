"""Update an atlas: read new and changed files only, and keep the parts of all other sources."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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

_HARVEST = ".harvest"  # folder of records that are fetched

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
    harvest: Literal["arxiv", "ads"] | None = None,
    since: str = "last",
    query: str | None = None,
    base_url: str | None = None,
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
    harvest : {"arxiv", "ads"}, optional
        Service from which new and changed records are fetched and added.
    since : str, default "last"
        First day of the harvest, such as ``"2026-11-01"``; "last" is the day of the last harvest.
    query : str, optional
        Set of arXiv, by default ``"physics:astro-ph"``, or query of ADS, which needs an ADS key.
    base_url : str, optional
        Address of the service, for a mirror.
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
    RemoteError
        If the service cannot be reached. The same call resumes the harvest.

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
    say = say or (lambda _: None)
    removed = (remove,) if isinstance(remove, str) else tuple(remove)
    options = check_build_options(_options(store, as_paths(inputs), settings))
    _files(store, options.inputs, removed)  # errors are raised before the harvest
    new = options.inputs
    if harvest is not None:
        new = (*new, *_harvest(store, harvest, since, query, base_url, say))
    files = _files(store, new, removed)
    for line in _describe(files, store.parts, removed):
        say(line)
    updated = build_version(folder, options, files, say)
    shutil.rmtree(folder / _HARVEST, ignore_errors=True)
    return updated


def _harvest(
    store: AtlasStore,
    service: str,
    since: str,
    query: str | None,
    base_url: str | None,
    say: Callable[[str], None],
) -> list[Path]:
    """Fetch the records of a service since a day into a file; return no file if there are none."""
    from landscape.corpus.fetch import NoRecordsError, fetch_ads, fetch_arxiv

    first = _last_harvest(store, service) if since == "last" else since
    try:
        date.fromisoformat(first)
    except ValueError as error:
        raise InputError(f"since is {since!r}; give a day such as 2026-11-01, or last.") from error
    folder = store.path / _HARVEST / first
    folder.mkdir(parents=True, exist_ok=True)
    # A harvest that was interrupted has a hidden file, whose name must be used again.
    pattern = re.compile(rf"\.?({service}-\d{{8}}T\d{{6}}\.jsonl).*")
    begun = [found[1] for path in folder.iterdir() if (found := pattern.fullmatch(path.name))]
    name = max(begun, default=f"{service}-{datetime.now(UTC):%Y%m%dT%H%M%S}.jsonl")
    if service == "arxiv":
        fetch = partial(fetch_arxiv, set=query or "physics:astro-ph", since=first)
    elif query is None:
        raise InputError("A harvest from ADS needs a query; pass one such as 'abs:\"exoplanet\"'.")
    else:
        fetch = partial(fetch_ads, query=f"({query}) entdate:[{first} TO *]")
    if base_url is not None:
        fetch = partial(fetch, base_url=base_url)
    try:
        fetched = fetch(folder / name, notify=say)
    except NoRecordsError:
        say(f"{service}: no records since {first}")
        return []
    say(f"{service}: {count(fetched.n_records, 'record')} since {first}")
    return [fetched.path]


def _last_harvest(store: AtlasStore, service: str) -> str:
    """Return the day of the last harvest, which is in the name of its part."""
    pattern = re.compile(rf"{service}-(\d{{4}})(\d\d)(\d\d)T\d{{6}}\.jsonl")
    days = [found.groups() for part in store.parts if (found := pattern.fullmatch(part.file))]
    if not days:
        raise InputError(
            f"{store.path} has no earlier harvest from {service}; pass a day, such as "
            "--since 2026-11-01."
        )
    return "-".join(max(days))


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
