"""Fetching the thesaurus from a server of plain files."""

from __future__ import annotations

import json

import pytest
from files_server import FilesServer
from loopback import refuse, say, shorten

from landscape.corpus.fetch import fetch_uat
from landscape.errors import InputError, RemoteError


def concept(i: int, **more: object) -> dict[str, object]:
    return {"name": f"Concept {i}", "uri": f"http://astrothesaurus.org/uat/{i}", **more}


# 10 top concepts with 12 narrower ones each; concept 11 stands under two of them.
TREE = {
    "children": [
        concept(i, children=[concept(100 * i + k) for k in range(12)] + [concept(11)])
        for i in range(1, 11)
    ]
}
CONTENT = json.dumps(TREE).encode()


@pytest.fixture
def server():
    with FilesServer({"/v.5.1.0/UAT.json": CONTENT, "/master/UAT.json": CONTENT}) as running:
        yield running


def test_the_file_arrives_as_it_is_with_its_concepts_counted(server, tmp_path, policy):
    fetched = fetch_uat(tmp_path / "UAT.json", base_url=server.url, policy=policy)
    assert (tmp_path / "UAT.json").read_bytes() == CONTENT
    assert fetched.n_records == 10 + 120 + 1
    assert "5.1.0" in fetched.note
    assert [path.name for path in tmp_path.iterdir()] == ["UAT.json"]


def test_the_newest(server, tmp_path, policy):
    fetch_uat(tmp_path / "UAT.json", version="latest", base_url=server.url, policy=policy)
    assert [request.path for request in server.requests] == ["/master/UAT.json"]


def test_the_official_files_pass_the_check(real_data, tmp_path, policy):
    for name in ("UAT.json", "UAT_list.json"):
        content = (real_data / "uat" / "5.1.0" / name).read_bytes()
        with FilesServer({f"/v5.1.0/{name}": content}) as server:
            out = tmp_path / name
            fetched = fetch_uat(out, file=name, base_url=server.url, policy=policy)
        assert out.read_bytes() == content
        assert fetched.n_records > 2200


def test_passing_faults(server, tmp_path, policy):
    server.faults.update({1: refuse(503, Retry_After="1"), 3: shorten(0.5)})
    fetch_uat(tmp_path / "UAT.json", base_url=server.url, policy=policy)
    assert (tmp_path / "UAT.json").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"<!doctype html><html></html>", "web page instead of JSON"),
        (b'{"children": []}', "not the thesaurus"),
        (b"[" * 100_000, "damaged or incomplete"),
        (b"null", "not the thesaurus"),
    ],
)
def test_what_is_no_thesaurus_is_not_kept(server, tmp_path, policy, body, sentence):
    server.always = say(body)
    with pytest.raises(RemoteError, match=sentence):
        fetch_uat(tmp_path / "UAT.json", base_url=server.url, policy=policy)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("version", "sentence"),
    [("9.9.9", "no UAT.json of version '9.9.9'"), ("../5", "has the form 5.1.0")],
)
def test_versions_that_do_not_exist(server, tmp_path, policy, version, sentence):
    with pytest.raises(InputError, match=sentence):
        fetch_uat(tmp_path / "UAT.json", version=version, base_url=server.url, policy=policy)


def test_a_tree_as_deep_as_json_may_be_is_counted(tmp_path, policy):
    node = json.dumps(concept(0))
    for i in range(1, 511):  # 1,022 objects and lists; orjson accepts 1,024
        node = json.dumps(concept(i)).replace("}", f', "children": [{node}]}}')
    with FilesServer({"/v5.1.0/UAT.json": node.encode()}) as server:
        fetched = fetch_uat(tmp_path / "UAT.json", base_url=server.url, policy=policy)
    assert fetched.n_records == 511


def test_no_network_at_all(closed_port, tmp_path, policy):
    with pytest.raises(RemoteError, match="cannot be reached"):
        fetch_uat(tmp_path / "UAT.json", base_url=closed_port, policy=policy)
