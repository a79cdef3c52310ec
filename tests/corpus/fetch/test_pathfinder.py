"""Downloading the pathfinder corpus from a server with the protocol of the Hub."""

from __future__ import annotations

import io
import shutil
from collections import namedtuple

import pytest
from hub_server import HubServer
from loopback import cut, refuse, say

from landscape.corpus.fetch import fetch_pathfinder
from landscape.errors import InputError, RemoteError


def parquet(n: int, *, start: int = 0) -> bytes:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(start)
    table = pa.table(
        {
            "ads_id": [str(start + i) for i in range(n)],
            "title": [f"Paper {start + i}" for i in range(n)],
            "abstract": [f"We study the object {start + i} in detail." for i in range(n)],
            "date": ["2020-01-01"] * n,
            "bibcode": [f"2020ApJ...900{start + i:4d}X" for i in range(n)],
            "authors": [["Suarez, A."]] * n,
            "embed": list(rng.normal(size=(n, 64)).astype("float32")),
            "umap_x": rng.normal(size=n),
            "umap_y": rng.normal(size=n),
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="none")
    return sink.getvalue()


FILES = {f"data/train-{i:05d}-of-00003.parquet": parquet(400, start=400 * i) for i in range(3)}
NAMES = sorted(path.rpartition("/")[2] for path in FILES)


@pytest.fixture
def hub():
    with HubServer(dict(FILES)) as running:
        yield running


@pytest.fixture
def fetch(hub, tmp_path, policy, notify):
    def call(**changes):
        arguments = {"endpoint": hub.url, "policy": policy, "notify": notify}
        return fetch_pathfinder(tmp_path / "pathfinder", **{**arguments, **changes})

    return call


def check(folder) -> None:
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    for remote, content in FILES.items():
        assert (folder / remote.rpartition("/")[2]).read_bytes() == content


def test_every_file_arrives_and_is_counted(fetch, tmp_path, notes):
    fetched = fetch()
    check(tmp_path / "pathfinder")
    assert (fetched.path, fetched.n_records) == (tmp_path / "pathfinder", 1200)
    assert notes[0].startswith("3 of 3 files to fetch, 0.00 GB")
    assert "free" in notes[0]


def test_our_reader_reads_it(fetch, tmp_path):
    from landscape.corpus import readers

    fetch()
    path = tmp_path / "pathfinder" / NAMES[0]
    reader = readers.choose_reader(path)
    assert reader.name == "pathfinder"
    assert len(list(reader.read(path))) == 400


def test_the_endpoint_comes_from_the_environment(fetch, hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    fetch(endpoint=None)
    check(tmp_path / "pathfinder")


def test_what_is_there_and_right_is_not_loaded_again(fetch, hub, tmp_path):
    fetch()
    damaged = tmp_path / "pathfinder" / NAMES[1]
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\0")
    before = len(hub.downloads())
    fetch()
    check(tmp_path / "pathfinder")
    assert [request.path for request in hub.downloads()[before:]] == [f"/cdn/data/{NAMES[1]}"]


@pytest.mark.parametrize("ranges", [True, False], ids=["with ranges", "without"])
def test_a_cut_connection_goes_on_at_the_last_byte(fetch, hub, tmp_path, ranges):
    hub.ranges = ranges
    hub.faults.update({3: cut(0.6), 8: cut(0.2)})
    fetch()
    check(tmp_path / "pathfinder")
    asked = [r.headers["range"] for r in hub.downloads() if "range" in r.headers]
    assert asked
    assert all(int(each.removeprefix("bytes=").removesuffix("-")) > 1000 for each in asked)


def test_interrupted_it_goes_on_the_next_time(fetch, hub, tmp_path):
    hub.faults[3] = cut(0.5)
    hub.faults[4] = refuse(404)
    with pytest.raises(RemoteError, match="no public dataset"):
        fetch()
    part = tmp_path / "pathfinder" / f"{NAMES[0]}.part"
    size = part.stat().st_size
    assert size > 1000
    before = len(hub.downloads())
    fetch()
    check(tmp_path / "pathfinder")
    assert hub.downloads()[before].headers["range"] == f"bytes={size}-"


def test_a_wrong_byte_is_found_and_the_file_loaded_anew(fetch, hub, tmp_path):
    hub.spoiled[f"data/{NAMES[1]}"] = 1
    fetch()
    check(tmp_path / "pathfinder")


def test_a_file_that_stays_wrong_is_not_kept(fetch, hub, tmp_path):
    hub.spoiled[f"data/{NAMES[1]}"] = 9
    with pytest.raises(RemoteError, match="twice with a wrong checksum"):
        fetch()
    assert [path.name for path in (tmp_path / "pathfinder").iterdir()] == NAMES[:1]


def test_a_file_longer_than_told_is_not_kept(fetch, hub, tmp_path):
    hub.sizes[f"data/{NAMES[0]}"] = 1000
    with pytest.raises(RemoteError, match=r"bytes of 1,000"):
        fetch()
    assert not (tmp_path / "pathfinder" / NAMES[0]).exists()


def test_too_little_room_is_told_before_anything_is_loaded(fetch, hub, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 10**6, 10**6))
    with pytest.raises(InputError, match=r"3 of 3 files .* 0\.00 GB free\. Free disk space"):
        fetch()
    assert hub.downloads() == []


def test_the_folder_is_a_file(fetch, tmp_path):
    (tmp_path / "pathfinder").write_text("here already")
    with pytest.raises(InputError, match="Cannot write"):
        fetch()


@pytest.mark.parametrize("name", ["../../evil.parquet", "data/.hidden.parquet", "data/a b.parquet"])
def test_names_cannot_leave_the_folder(fetch, hub, tmp_path, name):
    hub.files = {name: FILES[f"data/{NAMES[0]}"]}
    try:
        fetch()
    except RemoteError:
        pass
    else:
        assert name.startswith("..")  # its plain name is harmless
    inside = tmp_path / "pathfinder"
    assert all(path == inside or inside in path.parents for path in tmp_path.rglob("*"))


def test_the_key_of_the_hub_is_not_needed_nor_sent(fetch, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch()
    assert all("authorization" not in request.headers for request in hub.requests)


def test_no_such_dataset(fetch):
    with pytest.raises(RemoteError, match="no public dataset someone/else with revision main"):
        fetch(dataset="someone/else")


@pytest.mark.parametrize("body", [b"<html>log in</html>", b'{"sha": "0123456789", "sibl'])
def test_a_list_that_cannot_be_read(fetch, hub, body):
    hub.always = say(body)
    with pytest.raises(RemoteError, match=r"web page|damaged or incomplete"):
        fetch()


def test_no_network_at_all(fetch, closed_port):
    with pytest.raises(RemoteError, match="cannot be reached"):
        fetch(endpoint=closed_port)
