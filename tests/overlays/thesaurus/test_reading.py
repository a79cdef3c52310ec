from __future__ import annotations

import gzip
import json

import pytest

from landscape.corpus.thesaurus import embedded_thesaurus, read_thesaurus
from landscape.errors import InputError


def test_every_form_says_the_same(real_data):
    for version, count in (("3.1.0", 2097), ("5.1.0", 2275)):
        files = sorted((real_data / "uat" / version).glob("UAT*"))
        read = {file.name: read_thesaurus(file) for file in files}
        assert len(files) >= 3
        shapes = {
            (
                one.version,
                len(one),
                len(one.top),
                frozenset(
                    (kid.label, one.concepts[parent].label)
                    for kid in one.concepts.values()
                    for parent in kid.broader
                ),
            )
            for one in read.values()
        }
        assert [shape[:3] for shape in shapes] == [(version, count, 11)]


def test_embedded_part_agrees_with_the_release(real_data):
    whole = read_thesaurus(real_data / "uat" / "5.1.0" / "UAT_list.json")
    part = embedded_thesaurus()
    assert part.top == whole.top
    assert all(whole.concepts[one].label == kept.label for one, kept in part.concepts.items())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "its first line has neither"),
        (b"a,b\n1,2\n", "its first line has neither"),
        (b"{}", "has no concepts"),
        (b'{"children": 3}', "has no concepts"),
        (b"[1, 2", "Expecting"),
        (b"[3]", "has no concepts"),
        (b"<html><p>Not found</p></html>", "its root is <html>"),
        (b"<rdf", "token"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "entities"),
        (b"\x89PNG\xff", "not text"),
        (b"\x1f\x8bbroken", "cannot be read"),
        pytest.param(gzip.compress(b"[{}]" * 999)[:-20], "cannot be read", id="cut gzip"),
        (b'{"children":[' * 100_000, "recursion"),
        (b'[{"uri": "1", "name": "\\ud800"}]', "surrogates"),
    ],
)
def test_what_is_no_thesaurus_is_refused(tmp_path, content, why):
    file = tmp_path / "UAT.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=why):
        read_thesaurus(file)


def test_a_file_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("landscape.corpus.thesaurus._MAX_SIZE", 2**20)
    file = tmp_path / "UAT.json.gz"
    file.write_bytes(gzip.compress(b" " * 2**21))
    with pytest.raises(InputError, match="more than 1 MB"):
        read_thesaurus(file)


def test_deprecated_and_compressed(tmp_path):
    address = "http://astrothesaurus.org/uat/"
    flat = [
        {"uri": f"{address}1", "name": "Stars", "altNames": None, "broader": None},
        {
            "uri": f"{address}2",
            "name": "Dwarfs",
            "broader": [{"uri": f"{address}1"}, {"uri": f"{address}3"}],
        },
        {"uri": f"{address}3", "name": "Gone", "status": "deprecated"},
    ]
    file = tmp_path / "list.json.gz"
    file.write_bytes(gzip.compress(json.dumps(flat).encode()))
    thesaurus = read_thesaurus(file, version="9.0.0")
    assert thesaurus.version == "9.0.0"
    assert list(thesaurus.concepts) == ["1", "2"]
    assert thesaurus.concepts["2"].broader == ("1",)


def test_cycle_in_a_file_is_named(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("concept_id,label,broader\n1,A,2\n2,B,1\n")
    with pytest.raises(InputError, match="cycle"):
        read_thesaurus(file)
