"""Reading and changing libraries of a server with the ADS libraries API."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from landscape.atlas import build, update
from landscape.atlas import open as open_atlas
from landscape.cli import main
from landscape.corpus.fetch import AdsLibraries, AdsLibrary, RetryPolicy
from landscape.corpus.libraries import Library, entry_of_name, find_library, write_library
from landscape.errors import InputError, RemoteError
from tests.pipeline.conftest import QUICK, paper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "servers"))

from ads_server import KEY, OTHER_KEY, LibraryServer, some_docs
from fake_time import FakeTime
from loopback import Answer, cut, refuse, say, shorten

DOCS = some_docs(4500)
CODES = [str(doc["bibcode"]) for doc in DOCS]
OLD = {"2023arXiv230100001S": CODES[1], "2023arXiv230100002S": CODES[2]}
UNKNOWN = "1900Nowhr...1....1N"
ANNA, BEN = "anna@example.org", "ben@example.org"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("ADS_API_TOKEN", KEY)
    monkeypatch.delenv("SCIX_API_TOKEN", raising=False)
    monkeypatch.delenv("ADS_DEV_KEY", raising=False)


@pytest.fixture
def server():
    with LibraryServer(DOCS, OLD) as running:
        yield running


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def connect(server, fake_time, notes):
    """Open a client of the server, which belongs to Anna if no key is given."""
    policy = RetryPolicy(sleep=fake_time.sleep, clock=fake_time.clock, jitter=lambda: 1.0)

    def call(**changes) -> AdsLibraries:
        arguments = {"base_url": f"{server.url}/v1", "policy": policy, "notify": notes.append}
        return AdsLibraries(**{**arguments, **changes})

    return call


@pytest.fixture
def ads(connect):
    with connect() as client:
        yield client


# Reading


def test_all_libraries_arrive_through_all_pages(ads, server):
    server.max_rows = 20
    names = [f"Library {i}" for i in range(53)]
    for name in names:
        server.store(name, CODES[:3])
    server.store("Of somebody else", owner=BEN)
    found = ads.libraries()
    assert [one.name for one in found] == names
    assert len(server.sent) == 3
    assert found[0] == AdsLibrary(
        id=server.stored[found[0].id].id,
        name="Library 0",
        description="My ADS library",
        n_papers=3,
        is_public=False,
        permission="owner",
        owner="anna",
        modified="2024-01-01T00:00:00.000001",
    )


def test_a_user_without_libraries(ads):
    assert ads.libraries() == []
    with pytest.raises(InputError, match="no ADS library 'Quasars'; the known libraries are: none"):
        ads.find("Quasars")


def test_a_library_is_found_by_name_and_id(ads, server):
    quasars, stars = server.store("Quasars"), server.store("Stars")
    assert ads.find("Stars").id == stars.id
    assert ads.find(quasars.id).name == "Quasars"
    with pytest.raises(InputError, match=r"no ADS library 'Moons'; .* 'Quasars' and 'Stars'"):
        ads.find("Moons")


def test_two_libraries_with_one_name(ads, server):
    own, other = server.store("Quasars"), server.store("Quasars", owner=BEN)
    other.permissions[ANNA] = {"read"}
    with pytest.raises(InputError, match=rf"named 'Quasars'; .*{own.id} \(of anna\)"):
        ads.find("Quasars")
    assert ads.find(other.id).permission == "read"


def test_a_public_library_of_somebody_else_is_found_by_id(ads, server):
    public = server.store("Open", CODES[:30], owner=BEN, public=True)
    secret = server.store("Closed", CODES[:30], owner=BEN)
    assert (ads.find(public.id).name, ads.find(public.id).permission) == ("Open", "none")
    assert ads.bibcodes(public.id) == CODES[:30]
    with pytest.raises(RemoteError, match=f"does not permit this for the library '{secret.id}'"):
        ads.bibcodes(secret.id)


@pytest.mark.parametrize("max_rows", [2000, 700])
def test_large_libraries_arrive_completely(ads, server, max_rows):
    server.max_rows = max_rows
    server.store("Large", [*CODES, UNKNOWN])
    assert ads.bibcodes("Large") == sorted([*CODES, UNKNOWN])
    assert ads.bibcodes(ads.find("Large")) == sorted([*CODES, UNKNOWN])


def test_an_empty_library(ads, server):
    server.store("Empty")
    assert ads.bibcodes("Empty") == []


def test_old_bibcodes_are_replaced_by_the_service(ads, server, notes):
    server.store("Old", [*OLD, CODES[1], CODES[50]])
    assert ads.bibcodes("Old") == [CODES[1], CODES[2], CODES[50]]
    assert notes == ["ADS replaced 2 old bibcodes in the library 'Old' by new ones"]


def test_a_library_is_readable_while_the_search_is_down(ads, server):
    server.search_is_down = True
    server.store("Old", [*OLD, CODES[50]])
    assert ads.bibcodes("Old") == sorted([*OLD, CODES[50]])


@pytest.mark.parametrize("n_left", [4400, 4499, 4500])
def test_a_library_that_changes_while_it_is_read(ads, server, n_left):
    library = server.store("Live", CODES)
    changed = CODES[-n_left:] if n_left < 4500 else [UNKNOWN, *CODES[1:]]

    def change(n: int) -> None:  # 1 list, 3 pages of the search, then between two raw pages
        if n == 6:
            server.change(library, changed)

    server.before = change
    assert ads.bibcodes("Live") == sorted(changed)


def test_a_library_that_never_stops_changing(ads, server):
    library = server.store("Live", CODES)
    server.before = lambda n: server.change(library, CODES[n % 7 :])
    with pytest.raises(RemoteError, match="library 'Live' changed in ADS while it was read; run"):
        ads.bibcodes("Live")
    assert len(server.sent) < 20


def test_a_page_that_repeats_ends(ads, server):
    server.store("Loop", CODES)
    one = ads.find("Loop")

    def repeat(answer: Answer) -> Answer:
        reply = json.loads(answer.body)
        reply["metadata"]["num_documents"] = 10**9
        if isinstance(reply["solr"], dict):
            reply["solr"]["response"]["numFound"] = 10**9
        return Answer(json.dumps({**reply, "documents": CODES[:2000]}).encode())

    server.always = repeat
    with pytest.raises(RemoteError, match="changed in ADS while it was read"):
        ads.bibcodes(one)
    assert len(server.sent) < 20


# Writing


def test_a_large_library_is_created_in_chunks(ads, server, notes):
    made = ads.create("Large", [*CODES, CODES[0]], description="All papers", public=True)
    assert (made.name, made.n_papers, made.permission) == ("Large", 4500, "owner")
    assert (made.description, made.is_public) == ("All papers", True)
    assert list(server.stored[made.id].bibcode) == CODES
    assert [len(body.get("bibcode", ())) for _, _, body in server.writes] == [0, 2000, 2000, 500]
    assert (ads.unknown, notes) == ([], [])


def test_unknown_bibcodes_of_a_new_library_are_reported(ads, server, notes):
    made = ads.create("New", [CODES[0], UNKNOWN])
    assert list(server.stored[made.id].bibcode) == [CODES[0]]
    assert ads.unknown == [UNKNOWN]
    assert notes == [f"ADS does not know 1 bibcode: {UNKNOWN}"]


def test_a_name_that_is_taken(ads, server):
    server.store("Quasars")
    with pytest.raises(InputError, match="already have an ADS library 'Quasars'; choose another"):
        ads.create("Quasars", CODES[:3])
    assert server.writes == []


@pytest.mark.parametrize("name", ["", "  ", "x" * 51])
def test_names_that_ads_would_change(ads, server, name):
    with pytest.raises(InputError, match="at most 50 characters"):
        ads.create(name)
    with pytest.raises(InputError, match="description of at most 200"):
        ads.create("Quasars", description="x" * 201)
    assert server.sent == []


def test_the_name_of_a_shared_library_is_free(ads, server):
    server.store("Quasars", owner=BEN).permissions[ANNA] = {"read"}
    assert ads.create("Quasars").permission == "owner"


def test_an_interrupted_creation_makes_one_library(ads, server):
    server.faults[2] = cut(0.3)  # after the list of libraries
    made = ads.create("Quasars", CODES[:12], description="Found")
    assert [one.name for one in server.stored.values()] == ["Quasars"]
    assert (made.n_papers, made.description) == (12, "Found")


def test_a_library_of_this_name_that_appears_meanwhile_is_not_changed(ads, server):
    def appear(n: int) -> None:
        if n == 2:
            server.store("Quasars", CODES[:2])

    server.before = appear
    with pytest.raises(InputError, match="already have an ADS library 'Quasars'"):
        ads.create("Quasars", CODES[5:9])
    assert [list(one.bibcode) for one in server.stored.values()] == [CODES[:2]]


def test_papers_are_added_and_removed_in_chunks(ads, server):
    library = server.store("Papers", CODES[:10])
    assert ads.add("Papers", CODES) == 4490
    assert ads.add(library.id, CODES) == 0
    assert ads.remove(ads.find("Papers"), CODES[10:]) == 4490
    assert list(library.bibcode) == CODES[:10]
    assert [len(body["bibcode"]) for _, _, body in server.writes][:3] == [2000, 2000, 500]


def test_unknown_bibcodes_are_reported(ads, server, notes):
    library = server.store("Papers", CODES[:1])
    assert ads.add("Papers", [UNKNOWN, CODES[0]]) == 0  # the service refuses with status 400
    assert ads.unknown == [UNKNOWN]
    assert ads.add("Papers", [UNKNOWN, CODES[3]]) == 1
    assert ads.unknown == [UNKNOWN]
    assert ads.remove("Papers", [CODES[0], CODES[9]]) == 1
    assert ads.unknown == [CODES[9]]
    assert ads.remove("Papers", [CODES[9]]) == 0
    assert ads.add("Papers", [CODES[4]]) == 1
    assert ads.unknown == []
    assert list(library.bibcode) == CODES[3:5]
    assert notes[0] == f"ADS does not know 1 bibcode: {UNKNOWN}"
    assert notes[2] == f"The library 'Papers' does not contain 1 bibcode: {CODES[9]}"


def test_rejected_bibcodes_under_the_name_of_the_documentation(ads, server):
    server.store("Papers")
    reply = {"number_added": 1, "invalid_bibcodes": [UNKNOWN]}
    server.faults[2] = say(json.dumps(reply).encode())
    assert ads.add("Papers", [CODES[0], UNKNOWN]) == 1
    assert ads.unknown == [UNKNOWN]


def test_an_old_bibcode_is_not_reported_as_unknown(ads, server, notes):
    library = server.store("Papers")
    assert ads.add("Papers", OLD) == 2
    assert list(library.bibcode) == [CODES[1], CODES[2]]
    assert ads.add("Papers", OLD) == 0
    assert (ads.unknown, notes) == ([], [])


def test_no_papers_are_not_sent(ads, server):
    server.store("Papers")
    assert (ads.add("Papers", []), ads.remove("Papers", [])) == (0, 0)
    assert server.writes == []


@pytest.mark.parametrize("bibcodes", [CODES[0], ["2024ApJ 1"], [""], [f"{CODES[0]}\n{CODES[1]}"]])
def test_things_that_are_not_bibcodes(ads, server, bibcodes):
    server.store("Papers")
    with pytest.raises(InputError, match=r"is not a bibcode|must be a list"):
        ads.add("Papers", bibcodes)
    assert server.writes == []


def test_a_library_becomes_equal_to_a_list(ads, server):
    library = server.store("Papers", CODES[:3000])
    assert ads.synchronise("Papers", CODES[2990:4500]) == (1500, 2990)
    assert set(library.bibcode) == set(CODES[2990:])
    sent = [(body["action"], len(body["bibcode"])) for _, _, body in server.writes]
    assert sent == [("add", 1500), ("remove", 2000), ("remove", 990)]
    assert ads.synchronise(library.id, []) == (0, 1510)


def test_nothing_to_synchronise_sends_no_change(ads, server, notes):
    server.store("Papers", CODES[:2500])
    assert ads.synchronise("Papers", reversed(CODES[:2500])) == (0, 0)
    assert ads.synchronise("Papers", [*CODES[:1], *OLD, *CODES[3:2500]]) == (0, 0)
    assert server.writes == []
    assert notes == []


def test_synchronising_reports_unknown_bibcodes(ads, server):
    library = server.store("Papers", CODES[:2])
    assert ads.synchronise("Papers", [*CODES[1:4], UNKNOWN]) == (2, 1)
    assert (ads.unknown, list(library.bibcode)) == ([UNKNOWN], CODES[1:4])


def test_a_library_is_not_emptied_if_ads_knows_no_bibcode(ads, server):
    server.store("Papers", CODES[:2])
    with pytest.raises(InputError, match=f"knows none of .* not changed; .*'{UNKNOWN}'"):
        ads.synchronise("Papers", [UNKNOWN])
    assert server.writes == []


# Permissions


def test_permissions_are_read_and_given(ads, server, connect):
    server.store("Shared")
    assert ads.permissions("Shared") == {ANNA: ["owner"]}
    ads.grant("Shared", BEN, "read")
    ads.grant("Shared", BEN, "write")
    assert ads.permissions("Shared") == {ANNA: ["owner"], BEN: ["read", "write"]}
    with connect(token=OTHER_KEY) as other:
        assert other.find("Shared").permission == "write"
        assert other.add("Shared", CODES[:3]) == 3
        with pytest.raises(RemoteError, match="your permission is 'write', and its owner is anna"):
            other.permissions("Shared")


def test_permissions_that_cannot_be_given(ads, server):
    server.store("Shared")
    with pytest.raises(InputError, match="must be read, write or admin, got 'owner'"):
        ads.grant("Shared", BEN, "owner")
    with pytest.raises(InputError, match=r"no user 'nobody@example\.org'; the person must create"):
        ads.grant("Shared", "nobody@example.org", "read")
    with pytest.raises(RemoteError, match=r"does not permit this for the library 'Shared'"):
        ads.grant("Shared", ANNA, "read")


def test_a_library_that_one_may_only_read(ads, server):
    library = server.store("Shared", CODES[:5], owner=BEN)
    library.permissions[ANNA] = {"read"}
    assert ads.bibcodes("Shared") == CODES[:5]
    sentence = (
        r"library 'Shared' \(You do not .*\); your permission is 'read', and its owner is ben$"
    )
    for change in (ads.add, ads.remove):
        with pytest.raises(RemoteError, match=sentence):
            change("Shared", CODES[:9])
    with pytest.raises(RemoteError, match=sentence):
        ads.synchronise("Shared", CODES[:4])


def test_a_library_that_was_deleted(ads, server):
    server.store("Gone")
    one = ads.find("Gone")
    del server.stored[one.id]
    with pytest.raises(InputError, match=r"library 'Gone' \(Library specified does not exist\)"):
        ads.bibcodes(one)
    with pytest.raises(InputError, match=f"refuses a request about the library '{one.id}'"):
        ads.find(one.id)
    with pytest.raises(RemoteError, match="or the library does not exist"):
        ads.add(one, CODES[:3])


def test_another_refusal_to_add_papers(ads, server):
    server.store("Papers")
    server.faults[2] = lambda _: Answer(b'{"error": "Bad library ID was passed"}', 400)
    with pytest.raises(InputError, match=r"change the library \(Bad library ID was passed\)"):
        ads.add("Papers", CODES[:3])


# Documents


@pytest.mark.parametrize("max_rows", [2000, 700])
def test_documents_of_many_papers(ads, server, max_rows, notes):
    server.max_rows = max_rows
    found = list(ads.documents([*CODES, *OLD, UNKNOWN]))
    assert [doc["bibcode"] for doc in found] == CODES
    assert found[7]["title"] == DOCS[7]["title"]
    assert "alternate_bibcode" not in found[1]
    sent = [body.split("\n") for _, path, body in server.sent if path.endswith("/bigquery")]
    assert {lines[0] for lines in sent} == {"bibcode"}
    assert max(map(len, sent)) == 2001
    assert ads.unknown == [UNKNOWN]
    assert notes == [f"ADS does not know 1 bibcode: {UNKNOWN}"]


def test_documents_of_nothing(ads, server):
    assert list(ads.documents([])) == []
    assert server.sent == []


# Failures


def test_no_key(connect, monkeypatch):
    monkeypatch.delenv("ADS_API_TOKEN")
    with pytest.raises(InputError, match=r"requires a key: create a key at .* ADS_API_TOKEN"):
        connect()


def test_a_wrong_key(connect, server):
    with connect(token="wrong-" + KEY) as ads:
        with pytest.raises(RemoteError, match=r"not accept the key \(status 401.*ADS_API_TOKEN"):
            ads.libraries()
        with pytest.raises(RemoteError, match=r"not accept the key \(status 401.*ADS_API_TOKEN"):
            list(ads.documents(CODES[:1]))
    assert len(server.sent) == 2


@pytest.mark.parametrize("fault", [cut(0.5), shorten(0.7), refuse(500), refuse(429)])
def test_a_passing_fault_loses_and_doubles_nothing(ads, server, fault):
    library = server.store("Papers", CODES[:10])
    server.faults.update(dict.fromkeys((1, 3, 5, 7, 9, 11, 13), fault))
    assert ads.bibcodes("Papers") == CODES[:10]
    ads.add("Papers", CODES[5:30])
    ads.remove("Papers", CODES[:5])
    assert list(library.bibcode) == CODES[5:30]
    assert [doc["bibcode"] for doc in ads.documents(CODES[:3])] == CODES[:3]


def test_a_pause_that_the_server_requests_is_kept(ads, server, fake_time, notes):
    server.faults[1] = refuse(429, retry_after="7")
    assert ads.libraries() == []
    assert max(fake_time.waits) >= 7
    assert "status 429; trying again in" in notes[0]


def test_the_daily_quota_is_told(ads, server, fake_time):
    server.store("Papers")
    server.left, server.renewal = 1, int(fake_time.now) + 6 * 3600
    with pytest.raises(RemoteError, match=r"all 5,000 requests are used up until .* UTC"):
        ads.add("Papers", CODES[:3])


def test_a_web_page_in_place_of_json(ads, server):
    server.always = say(b"<html><body>Maintenance</body></html>")
    with pytest.raises(RemoteError, match="web page instead of JSON"):
        ads.libraries()


@pytest.mark.parametrize("body", [b'{"count": 3, "libr', b'{"libraries": 3}', b"[]", b'"x"'])
def test_damaged_replies(ads, server, body):
    server.always = say(body)
    with pytest.raises(
        RemoteError, match=r"no usable answer in 6 attempts: its (JSON|response) is"
    ):
        ads.libraries()


@pytest.mark.parametrize("status", [400, 404])
def test_a_refusal_without_json(ads, server, status):
    server.always = refuse(status)
    with pytest.raises(InputError, match=r"your libraries \(busy\)"):
        ads.libraries()


def test_the_key_is_told_to_nobody(ads, server, notes):
    server.always = refuse(500)
    with pytest.raises(RemoteError) as stopped:
        ads.libraries()
    assert KEY not in str(stopped.value) + "".join(notes)


# Commands


def test_a_library_is_pulled_and_pushed(server, capsys, tmp_path, demo_atlas, monkeypatch):
    monkeypatch.setenv("LANDSCAPE_LIBRARIES", str(tmp_path))
    server.store("Thesis", CODES[:2500])
    address = ["--base-url", f"{server.url}/v1"]
    assert main(["library", "pull", "Thesis", "--into", "thesis", *address]) == 0
    assert "thesis: 2,500 papers" in capsys.readouterr().out
    library = find_library("thesis")
    assert library.to_bibcodes().split() == CODES[:2500]
    assert library.entries[0].title
    write_library(replace(library, name="mine", entries=library.entries[:30]))
    share = [f"--share={BEN}=read"]
    assert main(["library", "push", "mine", *share, *address]) == 0
    assert "mine: 30 papers added, 0 removed" in capsys.readouterr().out
    write_library(replace(library, name="mine", entries=library.entries[10:40]))
    assert main(["library", "push", "mine", *address]) == 0
    assert "mine: 10 papers added, 10 removed" in capsys.readouterr().out
    n_writes = len(server.writes)
    assert main(["library", "push", "mine", *address]) == 0  # nothing has changed
    assert len(server.writes) == n_writes
    assert main(["library", "push", "mine", "--filter", "dust", *address]) == 2
    assert "needs an atlas" in capsys.readouterr().err
    assert main(["library", "pull", "Nothing", *address]) == 2
    monkeypatch.setenv("ADS_API_TOKEN", "wrong")
    assert main(["library", "pull", "Thesis", *address]) != 0


def test_a_filter_is_a_dynamic_library(tmp_path, monkeypatch, capsys):
    """The copy in ADS is equal to the filter, also after the atlas has grown."""
    monkeypatch.setenv("LANDSCAPE_LIBRARIES", str(tmp_path))
    papers = [paper(n) | {"bibcode": CODES[n]} for n in range(40)]
    for one in papers:
        del one["arxiv_id"]

    def write(name: str, some: list[dict[str, object]]) -> Path:
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, some)))
        return path

    atlas = tmp_path / "a.atlas"
    build(write("first.jsonl", papers[:30]), atlas, **QUICK)
    write_library(Library("mine"))
    with LibraryServer(DOCS, OLD) as server:
        words = ["library", "push", "mine", "--atlas", str(atlas), "--base-url", f"{server.url}/v1"]
        assert main([*words, "--filter", "2010.."]) == 0
        update(atlas, write("more.jsonl", papers[30:]))
        assert main(words) == 0  # the filter was saved
        [library] = [one for one in server.stored.values() if one.name == "mine"]
        expected = open_atlas(atlas).read_papers(["bibcode", "year"])
        assert set(library.bibcode) == set(expected.loc[expected["year"] >= 2010, "bibcode"])
    assert find_library("mine").filter == "2010.."
    capsys.readouterr()


def test_a_bibliography_is_refreshed_from_ads(tmp_path, monkeypatch):
    from ads_server import AdsServer

    doc = DOCS[5] | {"pub": "The Astrophysical Journal", "doi": ["10.1000/new"]}
    bib = tmp_path / "my.bib"
    title = doc["title"][0]
    address = f"https://ui.adsabs.harvard.edu/abs/{doc['bibcode']}"
    bib.write_text(f"@misc{{Key, title = {{{title}}}, adsurl = {{{address}}}}}\n")
    with AdsServer([doc]) as server:
        words = ["library", "refresh", str(bib), "-o", str(tmp_path / "new.bib"), "--online"]
        assert main([*words, "--base-url", f"{server.url}/v1"]) == 0
    assert "10.1000/new" in (tmp_path / "new.bib").read_text()


def test_a_push_never_removes_what_it_cannot_compare(server, tmp_path, monkeypatch, capsys):
    """Papers without a bibcode can be in the library of ADS under one that is not known here."""
    monkeypatch.setenv("LANDSCAPE_LIBRARIES", str(tmp_path))
    stored = server.store("mine", CODES[:5])
    address = ["--base-url", f"{server.url}/v1"]
    dois = tuple(map(entry_of_name, ("10.1000/a", "10.1000/b")))
    write_library(Library("mine", dois))
    assert main(["library", "push", "mine", *address]) == 2
    assert list(stored.bibcode) == CODES[:5]
    write_library(Library("mine", (*dois, entry_of_name(CODES[7]))))
    assert main(["library", "push", "mine", *address]) == 0
    assert set(stored.bibcode) == {*CODES[:5], CODES[7]}
    assert "no paper of the library in ADS is removed" in capsys.readouterr().err.replace("\n", " ")
