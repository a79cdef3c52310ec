"""Update an atlas: read new and changed files only, and keep the parts of all other sources."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from landscape._io import BY_USER, data_file, refuse_links, sha256_of
from landscape._settings import takes_settings
from landscape._wording import count
from landscape.corpus.thesaurus import EMBEDDED
from landscape.errors import InputError
from landscape.pipeline._basemap import BASEMAP
from landscape.pipeline._ingest_stage import check_inputs
from landscape.pipeline._layers import THESAURUS
from landscape.pipeline.building import Sources, build_version, check_known
from landscape.pipeline.stages import BuildOptions, as_paths, check_build_options
from landscape.store import AtlasStore
from landscape.text import tagger

if TYPE_CHECKING:
    import pandas as pd

_HARVEST = ".harvest"  # folder of records that are fetched

# Settings of a build, and the stage and the parameter in which the manifest has them.
_STORED = {
    "language": ("ingest", "language"),
    "embedder": ("embeddings", "embedder"),
    "precision": ("embeddings", "precision"),
    "seed": ("projection", "seed"),
    "n_neighbors": ("projection", "n_neighbors"),
    "min_dist": ("projection", "min_dist"),
    "landmarks": ("projection", "landmarks"),
    "keywords": ("keywords", "method"),
    "keywords_limit": ("keywords", "limit"),
    "topics_method": ("topics", "method"),
    "max_regions": ("topics", "max_regions"),
    "n_continents": ("topics", "n_continents"),
    "polish": ("topics", "polish"),
}


@takes_settings(
    BuildOptions,
    without=["inputs", "tagger", *(set(_STORED) - {"language", "embedder", "landmarks", "polish"})],
)
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
    """Add papers to an atlas, change papers, or remove those of a source.

    Only new and changed files are read. The files of the other sources are not needed, and the
    parts of the atlas with their papers keep their content. New papers are placed on the map by
    their nearest neighbours; the coordinates of all other papers stay the same. A record of a paper
    that the atlas has is merged with it: the published record has priority, and the arXiv
    identifier stays. A harvest from arXiv removes papers that arXiv has deleted and that no other
    source has.

    Parameters
    ----------
    atlas : path
        Folder of the atlas.
    inputs : path or iterable of path
        Files of papers. If a file that the atlas has read before has changed, its new papers are
        added, its changed papers are updated, and papers that it no longer has stay. To replace all
        its papers, also pass its name to `remove`.
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
    refuse_links(folder, but=BY_USER)
    say = say or (lambda _: None)
    settings = {name: value for name, value in settings.items() if value not in (None, (), False)}
    removed = (remove,) if isinstance(remove, str) else tuple(remove)
    options = check_build_options(_options(store, as_paths(inputs), settings))
    check_known(store.parts, removed, folder)
    new = check_inputs(options.inputs, store.parts)
    if harvest is not None:
        new += check_inputs(_harvest(store, harvest, since, query, base_url, say), ())
    if not (new or removed or set(settings) - {"approve", "workers", "scheduler", "cluster"}):
        say("Nothing has changed. The atlas is up to date.")
        return store
    updated = build_version(folder, options, Sources(new, removed, is_update=True), say)
    if harvest is not None:
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
    if service == "ads" and query is None:
        raise InputError("A harvest from ADS needs a query; pass one such as 'abs:\"exoplanet\"'.")
    folder = store.path / _HARVEST / first
    folder.mkdir(parents=True, exist_ok=True)
    # A harvest that was interrupted has a hidden file, whose name must be used again.
    pattern = re.compile(rf"\.?({service}-\d{{8}}T\d{{6}}\.jsonl).*")
    begun = [found[1] for path in folder.iterdir() if (found := pattern.fullmatch(path.name))]
    name = max(begun, default=f"{service}-{datetime.now(UTC):%Y%m%dT%H%M%S}.jsonl")
    if service == "arxiv":
        fetch = partial(fetch_arxiv, set=query or "physics:astro-ph", since=first, withdrawn=True)
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
    sums = dict.fromkeys(("papers", "read", "merged", "rejected"), "sum")
    how = {"format": "first", **sums, "modified": "max"}
    # A file that has changed has several parts.
    return pd.DataFrame(rows).groupby("source", sort=False, as_index=False).agg(how)


def _options(store: AtlasStore, inputs: object, given: dict[str, object]) -> BuildOptions:
    """Return the settings of an update: the given ones, then those of the last build."""
    stages = store.stages
    known: dict[str, Any] = {"layout": "keep", "precision": "auto"}
    for name, (stage, parameter) in _STORED.items():
        if parameter in stages[stage].parameters:
            known[name] = stages[stage].parameters[parameter]
    # The stored name of the tagger has a version.
    stored = str(stages["keywords"].parameters.get("tagger", ""))
    known["tagger"] = tagger.MODEL if stored.startswith(tagger.MODEL) else "rules"
    if stages["projection"].parameters.get("layout") == "basemap" and "layout" not in given:
        known["on"] = store.path / BASEMAP
    if "on" in {*known, *given}:
        known.pop("layout")
    usual = sha256_of(data_file(EMBEDDED))
    if "uat" in stages and stages["uat"].parameters.get("thesaurus", usual) != usual:
        known["thesaurus"] = store.path / THESAURUS
    embedder = str(known.get("embedder", ""))
    if embedder.startswith(("st:", "ready:")) and not given.get("embedder"):
        # The atlas may come from anyone, so it must not choose a model or a file.
        raise InputError(
            f"{store.path} was built with --embedder {embedder}; if you trust this model or file, "
            "pass the same option."
        )
    if known.get("polish") and given.get("layout", "keep") != "keep" and not given.get("polish"):
        raise InputError(
            f"{store.path} was built with --polish; pass it again to send the names of regions to "
            "your language model."
        )
    return BuildOptions(**{**known, "inputs": inputs, **given})
