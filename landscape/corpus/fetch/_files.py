"""Download the pathfinder corpus (papers with embeddings) and the Unified Astronomy Thesaurus."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import orjson

from landscape._http import (
    RUN_AGAIN,
    GarbledReplyError,
    HttpClient,
    Reply,
    RetryPolicy,
    ignore_note,
    refuse_web_page,
)
from landscape._io import sha256_of, write_whole
from landscape._progress import progress
from landscape._wording import count
from landscape.corpus.fetch._download import Fetched, check_target, disk_error
from landscape.errors import InputError, RemoteError

HUB = "https://huggingface.co"
PATHFINDER_DATASET = "kiyer/pathfinder_arxiv_data"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.parquet")
_SPARE = 200 * 2**20  # minimum free disk space after the download, in bytes


@dataclass(frozen=True)
class _Shard:
    """Parquet file of a dataset, with its remote path, local name, size in bytes and checksum."""

    remote: str
    name: str
    size: int
    sha256: str


def fetch_pathfinder(
    folder: str | Path,
    *,
    dataset: str = PATHFINDER_DATASET,
    revision: str = "main",
    endpoint: str | None = None,
    policy: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Download the Parquet files of the pathfinder corpus (4.5 GB) and check their sha256.

    Complete files are not downloaded again, and partial files are resumed. The package
    huggingface_hub is not used, because it cannot resume files and only checks the file sizes.

    Parameters
    ----------
    folder : str or Path
        Directory for the files. It is created if necessary.
    dataset : str
        Owner and name on the Hub.
    revision : str, default "main"
        Branch, tag or commit.
    endpoint : str, optional
        Address of the Hub. The default is the environment variable HF_ENDPOINT. If it is not set,
        https://huggingface.co is used.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user, for example the size and the free disk space.

    Returns
    -------
    Fetched
        `n_records` is the number of papers in the files.

    Raises
    ------
    InputError
        If `folder` is a file or the disk has too little free space.
    RemoteError
        If the Hub cannot be reached, the dataset does not exist, or the files are damaged.

    References
    ----------
    .. [1] K. G. Iyer et al., "pathfinder: A Semantic Framework for Literature Review and Knowledge
       Discovery in Astronomy", 2024, arXiv:2408.01556

    Examples
    --------
    >>> fetch_pathfinder("papers", endpoint="http://example.org")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: Landscape fetches over https only; the address is ...
    """
    folder = Path(folder)
    base_url = endpoint or os.environ.get("HF_ENDPOINT") or HUB
    absent = f"there is no public dataset {dataset} with revision {revision}"
    hints = {401: absent, 403: absent, 404: absent}
    with HttpClient(
        "The Hugging Face Hub", base_url, policy=policy, hints=hints, notify=notify
    ) as hub:
        commit, shards = _list_shards(hub, dataset, revision)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(folder, error) from error
        wanted = [shard for shard in shards if not _is_complete(folder / shard.name, shard)]
        _check_free_space(folder, wanted, len(shards), notify)
        source = f"{hub.base_url}/datasets/{dataset}/resolve/{commit}"
        total = sum(shard.size for shard in wanted)
        with progress("Fetching pathfinder", total=total, unit="bytes") as advance:
            for shard in wanted:
                _fetch_shard(hub, f"{source}/{quote(shard.remote)}", shard, folder, advance)
    n_papers = sum(_count_papers(folder / shard.name) for shard in shards)
    note = f"{count(len(shards), 'file')} of {dataset} at commit {commit[:12]}; checksums verified"
    return Fetched(folder, n_papers, 0, finished=True, note=note)


def _list_shards(hub: HttpClient, dataset: str, revision: str) -> tuple[str, list[_Shard]]:
    """Return the commit hash of a revision, and the Parquet files of this commit."""

    def read(reply: Reply) -> tuple[str, list[_Shard]]:
        refuse_web_page(reply, hub.name, "JSON")
        try:
            answer = orjson.loads(reply.content)
            commit = str(answer["sha"])
            files = [each for each in answer["siblings"] if each["rfilename"].endswith(".parquet")]
            names = _names([each["rfilename"] for each in files])
            blobs = [each["lfs"] for each in files]
            shards = [
                _Shard(each["rfilename"], name, int(blob["size"]), blob["sha256"].lower())
                for each, name, blob in zip(files, names, blobs, strict=True)
            ]
            if not all(_SHA256.fullmatch(shard.sha256) for shard in shards):
                raise ValueError("invalid checksum")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise GarbledReplyError("its list of files is damaged or incomplete") from error
        if not re.fullmatch(r"[0-9a-f]{7,64}", commit):
            raise GarbledReplyError("its list of files contains no commit")
        return commit, shards

    path = f"{hub.base_url}/api/datasets/{dataset}/revision/{quote(revision, safe='')}"
    commit, shards = hub.request(path, params={"blobs": "true"}, read=read)
    if not shards:
        raise RemoteError(f"{hub.name} has no Parquet files in {dataset}; check the dataset's name")
    return commit, shards


def _names(remote: list[str]) -> list[str]:
    """Convert paths from the server to unique and safe local file names."""
    paths = [PurePosixPath(path) for path in remote]
    times = Counter(path.name for path in paths)
    names = [path.name if times[path.name] == 1 else "-".join(path.parts) for path in paths]
    if not all(_NAME.fullmatch(name) for name in names) or len(set(names)) < len(names):
        raise ValueError("invalid file names")
    return names


def _is_complete(path: Path, shard: _Shard) -> bool:
    return path.is_file() and path.stat().st_size == shard.size and sha256_of(path) == shard.sha256


def _check_free_space(
    folder: Path, wanted: list[_Shard], n_all: int, notify: Callable[[str], None]
) -> None:
    """Report the size of the download. Raise InputError if there is too little disk space."""
    parts = (folder / f"{shard.name}.part" for shard in wanted)
    here = sum(part.stat().st_size for part in parts if part.is_file())
    missing = max(0, sum(shard.size for shard in wanted) - here)
    free = shutil.disk_usage(folder).free
    sentence = (
        f"{len(wanted)} of {n_all} files to fetch, {missing / 1e9:,.2f} GB; "
        f"{folder} has {free / 1e9:,.2f} GB free"
    )
    if missing and missing + _SPARE > free:
        raise InputError(f"{sentence}. Free disk space, or choose a directory on a larger disk.")
    notify(sentence)


def _fetch_shard(
    hub: HttpClient, url: str, shard: _Shard, folder: Path, advance: Callable[[float], None]
) -> None:
    part = folder / f"{shard.name}.part"
    try:
        advance(part.stat().st_size if part.is_file() else 0)
        for _ in range(2):  # repeat if the partial file was from another revision
            hub.download(url, part, size=shard.size, advance=advance)
            if sha256_of(part) == shard.sha256:
                part.replace(folder / shard.name)
                return
            part.unlink()
            advance(-shard.size)
    except OSError as error:
        raise disk_error(part, error) from error
    raise RemoteError(
        f"{hub.name} sent {shard.name} twice with a wrong checksum; the file was removed. "
        f"{RUN_AGAIN.capitalize()}"
    )


def _count_papers(path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except pa.ArrowInvalid as error:
        raise RemoteError(
            f"{path.name} is also damaged on the Hub; contact the authors of the dataset"
        ) from error


UAT_FILES = "https://raw.githubusercontent.com/astrothesaurus/UAT"

_VERSION = re.compile(r"\d{1,6}\.\d{1,6}\.\d{1,6}")
_CONCEPT = re.compile(r"https?://astrothesaurus\.org/uat/\d+")
_MIN_CONCEPTS = 100  # the first release of the UAT had about 1,800


def fetch_uat(
    out: str | Path,
    *,
    version: str = "5.1.0",
    file: str = "UAT.json",
    base_url: str = UAT_FILES,
    policy: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Download one release of the thesaurus as JSON and check its content.

    Parameters
    ----------
    out : str or Path
        File to write, for example ``UAT.json``.
    version : str, default "5.1.0"
        Release, or ``"latest"`` for the newest published file.
    file : str, default "UAT.json"
        ``"UAT.json"`` for the tree of concepts, or ``"UAT_list.json"`` for a flat list.
    base_url : str
        Address of the files, with one directory per release.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user.

    Returns
    -------
    Fetched
        `n_records` is the number of distinct concepts.

    Raises
    ------
    InputError
        If the version does not exist or the file cannot be written.
    RemoteError
        If the server cannot be reached or does not send the thesaurus.

    Notes
    -----
    The UAT is licensed CC BY-SA 3.0.

    Examples
    --------
    >>> fetch_uat("UAT.json", version="five")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: A UAT version has the form 5.1.0 (or is 'latest'), got 'five'
    """
    out = Path(out)
    check_target(out)
    with HttpClient("The UAT repository", base_url, policy=policy, notify=notify) as client:
        for tag in _tags(version):
            content = client.request(
                f"{client.base_url}/{tag}/{file}", read=_read, accept=frozenset({404})
            )
            if content is not None:
                break
        else:
            raise InputError(
                f"The UAT repository has no {file} of version {version!r}; its releases are at "
                "https://github.com/astrothesaurus/UAT/releases"
            )
    n_concepts = len(set(concepts(orjson.loads(content))))
    try:
        write_whole(out, content)
    except OSError as error:
        raise disk_error(out, error) from error
    note = f"Unified Astronomy Thesaurus, release {tag.lstrip('v.')}, CC BY-SA 3.0"
    return Fetched(out, n_concepts, 0, finished=True, note=note)


def concepts(thesaurus: object) -> Iterator[str]:
    """Yield the URIs of all concepts in a UAT file (tree or list). Some URIs are repeated."""
    waiting = [thesaurus]
    while waiting:  # a deeply nested file would exceed the recursion limit
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            uri = node.get("uri")
            if isinstance(uri, str) and _CONCEPT.fullmatch(uri) and node.get("name"):
                yield uri
            waiting.append(node.get("children"))


def _tags(version: str) -> list[str]:
    if version == "latest":
        return ["master"]
    bare = version.removeprefix("v").removeprefix(".")
    if not _VERSION.fullmatch(bare):
        raise InputError(f"A UAT version has the form 5.1.0 (or is 'latest'), got {version!r}")
    return [f"v{bare}", f"v.{bare}", bare]  # release tags have several forms


def _read(reply: Reply) -> bytes | None:
    """Return the validated content of a response, or None if the file does not exist."""
    if reply.status == 404:
        return None
    refuse_web_page(reply, "The UAT repository", "JSON")
    try:
        thesaurus = orjson.loads(reply.content)
    except ValueError as error:
        raise GarbledReplyError("its JSON is damaged or incomplete") from error
    if sum(1 for _ in concepts(thesaurus)) < _MIN_CONCEPTS:
        raise RemoteError(
            "The UAT repository sent JSON that is not the thesaurus; check the address, or "
            "download the file from https://github.com/astrothesaurus/UAT"
        )
    return reply.content
