"""Harvesting arXiv from an OAI-PMH server, including failures of the server."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date
from email.utils import formatdate
from pathlib import Path

import pytest
from fake_time import FakeTime
from loopback import Fault, cut, refuse, say, shorten
from oai_server import OaiServer, some_items

from landscape.corpus.fetch import RetryPolicy, fetch_arxiv
from landscape.errors import InputError, RemoteError

N_ITEMS = 32  # 7 pages of 5, of which 4 items are deleted
LIVE = [item.id for item in some_items(N_ITEMS) if not item.deleted]


@pytest.fixture
def server():
    with OaiServer(some_items(N_ITEMS)) as running:
        yield running


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "papers.jsonl"


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def stop_at(server: OaiServer, out: Path, policy: RetryPolicy, *, page: int) -> None:
    """Fetch until the server refuses a page with status 403, which is not retried."""
    server.faults[len(server.requests) + page] = refuse(403)
    with pytest.raises(RemoteError):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    assert not out.exists()


def test_everything_arrives_once_and_in_the_shape_of_the_snapshot(server, out, policy):
    fetched = fetch_arxiv(out, base_url=server.url, policy=policy, since="2024-01-01")
    assert ids(out) == LIVE
    assert (fetched.n_records, fetched.n_skipped, fetched.finished) == (len(LIVE), 4, True)
    assert [path.name for path in out.parent.iterdir()] == ["papers.jsonl"]
    first = json.loads(out.read_text().splitlines()[0])
    assert first["title"] == "Quasar and quasar number 0 & more"
    assert first["abstract"].startswith("We study Quasar")
    assert r"x < 3" in first["abstract"]
    assert r"$\alpha & \beta$" in first["abstract"]
    assert first["categories"] == "astro-ph.GA astro-ph.CO"
    assert first["versions"][0] == {"version": "v1", "created": "Mon, 1 Jan 2024 18:30:00 GMT"}
    assert first["update_date"] == "2024-01-01"
    assert first["doi"] == "10.1000/example.2401.00000"
    assert first["journal-ref"] == "Example J. 12 (2024) 34"


def test_asks_by_the_protocol_under_our_name_and_at_arxivs_pace(server, out, fake_time):
    usual = inspect.signature(fetch_arxiv).parameters["policy"].default
    policy = replace(usual, sleep=fake_time.sleep, clock=fake_time.clock)
    fetch_arxiv(out, base_url=server.url, since=date(2024, 1, 1), until="2024-01-31", policy=policy)
    first, *rest = server.requests
    assert first.query == {
        "verb": "ListRecords",
        "metadataPrefix": "arXivRaw",
        "set": "physics:astro-ph",
        "from": "2024-01-01",
        "until": "2024-01-31",
    }
    assert all(set(request.query) == {"verb", "resumptionToken"} for request in rest)
    assert "landscape/" in first.headers["user-agent"]
    assert fake_time.waits == [3.0] * len(rest)


@pytest.mark.parametrize("kind", ["seconds", "date"])
def test_waits_as_long_as_retry_after_asks(server, out, policy, fake_time: FakeTime, kind):
    wish = "17" if kind == "seconds" else formatdate(fake_time.now + 17, usegmt=True)
    server.faults[2] = refuse(503, Retry_After=wish)
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert len(fake_time.waits) == 1
    assert 17 <= fake_time.waits[0] <= 19
    assert ids(out) == LIVE


def test_stops_with_a_sentence_when_asked_to_wait_for_hours(server, out, policy, fake_time):
    server.faults[3] = refuse(503, Retry_After="7200")
    with pytest.raises(RemoteError, match=r"pause of 120 minutes .* run the same command again"):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    assert fake_time.waits == []
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert ids(out) == LIVE


@pytest.mark.parametrize(
    "fault",
    [
        cut(0.0),
        cut(0.5),
        cut(0.99),
        shorten(0.5),
        shorten(0.999),
        refuse(429),
        refuse(500),
        refuse(502),
    ],
    ids=[
        "cut at once",
        "half",
        "nearly whole",
        "half but well-formed HTTP",
        "no end tag",
        "429",
        "500",
        "502",
    ],
)
def test_a_passing_fault_loses_and_doubles_nothing(server, out, policy, fake_time, fault: Fault):
    server.faults.update({1: fault, 4: fault, 5: fault, 9: fault})
    fetched = fetch_arxiv(out, base_url=server.url, policy=policy)
    assert ids(out) == LIVE
    assert fetched.n_skipped == 4
    assert fake_time.waits == [2.0, 2.0, 4.0, 2.0]  # doubled only while it fails in a row


def test_gives_up_in_the_end_and_goes_on_the_next_time(server, out, policy):
    for n in range(4, 20):
        server.faults[n] = refuse(500)
    with pytest.raises(
        RemoteError, match=r"no usable answer in 6 attempts: status 500; run the same"
    ):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    assert not out.exists()
    server.faults.clear()
    before = len(server.requests)
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert ids(out) == LIVE
    assert "resumptionToken" in server.requests[before].query


def test_a_token_that_expires_on_the_way(server, out, policy, notes, notify):
    def expire(n: int) -> None:
        server.epoch += n in {3, 7}

    server.before = expire
    fetched = fetch_arxiv(out, base_url=server.url, policy=policy, notify=notify)
    assert ids(out) == LIVE
    assert fetched.finished
    assert sum("expired" in note for note in notes) == 2
    restart = server.requests[3].query
    assert restart["from"] == "2024-01-03"  # the datestamp of the last record, not the beginning
    assert restart["metadataPrefix"] == "arXivRaw"


def test_an_outdated_token_is_not_even_sent_the_next_day(server, out, policy, fake_time):
    server.expires = fake_time.now + 3600
    stop_at(server, out, policy, page=4)
    token = server.requests[-1].query["resumptionToken"]
    fake_time.now += 24 * 3600
    server.expires = None
    before = len(server.requests)
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert all(r.query.get("resumptionToken") != token for r in server.requests[before:])
    assert ids(out) == LIVE


def test_tokens_that_never_work_end_in_a_sentence(server, out, policy):
    def expire(n: int) -> None:
        server.epoch += 1

    server.before = expire
    with pytest.raises(RemoteError, match="rejects its own resumption tokens"):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    assert len(server.requests) < 12


def test_an_unsorted_list_starts_over_from_its_beginning(server, out, policy):
    server.sorted = False
    server.items = server.items[::-1]

    def expire(n: int) -> None:
        server.epoch += n == 4

    server.before = expire
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert sorted(ids(out)) == LIVE
    assert "from" not in server.requests[4].query


def test_what_changed_meanwhile_is_there_once_and_in_its_newest_form(server, out, policy):
    stop_at(server, out, policy, page=4)
    server.change("2401.00001", datestamp="2024-02-01", title="A corrected title")
    server.change("2401.00002", datestamp="2024-02-01", deleted=True)
    server.epoch += 1
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert sorted(ids(out)) == [each for each in LIVE if each != "2401.00002"]
    by_id = {json.loads(line)["id"]: json.loads(line) for line in out.read_text().splitlines()}
    assert by_id["2401.00001"]["title"] == "A corrected title"


def test_cut_off_inside_a_line_that_was_not_yet_counted(server, out, policy):
    stop_at(server, out, policy, page=3)
    with out.with_name("papers.jsonl.part").open("ab") as stream:
        stream.write(b'{"id":"2401.000')
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert ids(out) == LIVE


def test_killed_again_and_again_it_ends_as_if_undisturbed(out, tmp_path, policy):
    with OaiServer(some_items(96, a_day=8), page_size=3) as server:
        undisturbed = tmp_path / "undisturbed.jsonl"
        fetch_arxiv(undisturbed, base_url=server.url, policy=policy)
        script = (
            "from landscape.corpus.fetch import fetch_arxiv, RetryPolicy\n"
            f"fetch_arxiv({str(out)!r}, base_url={server.url!r}, policy=RetryPolicy(timeout=10))"
        )
        server.before = lambda _: time.sleep(0.01)
        for kill in range(20):
            if out.exists():
                break
            seen = len(server.requests)
            process = subprocess.Popen([sys.executable, "-c", script])
            # A while into the fetch, a different while each time.
            while len(server.requests) < seen + 4 + kill and process.poll() is None:
                time.sleep(0.002)
            time.sleep(0.0013 * kill)
            process.kill()
            process.wait()
        assert kill >= 3, "it was never killed"
        assert out.read_bytes() == undisturbed.read_bytes()


def test_a_web_page_in_place_of_xml(server, out, policy):
    server.always = say(b"<!DOCTYPE html><html><body>Please log in</body></html>")
    with pytest.raises(RemoteError, match="web page instead of XML"):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    assert len(server.requests) == 1


def test_entities_are_neither_expanded_nor_read_from_files(server, out, policy, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    page = (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record><header>'
        "<identifier>oai:arXiv.org:1</identifier><datestamp>2024-01-01</datestamp></header>"
        '<metadata><arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>1</id>'
        "<title>&e;</title></arXivRaw></metadata></record></ListRecords></OAI-PMH>"
    )
    server.always = say(page.encode())
    with pytest.raises(RemoteError, match="declares a document type"):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    left = b"".join(path.read_bytes() for path in out.parent.glob("papers*"))
    assert b"do not read me" not in left


def test_no_network_at_all(out, closed_port, policy, fake_time):
    with pytest.raises(RemoteError, match=r"cannot be reached: .*[Cc]onnect.*HTTPS_PROXY"):
        fetch_arxiv(out, base_url=closed_port, policy=policy)
    assert sum(fake_time.waits) < 10  # nobody waits minutes to hear that the cable is out
    assert not out.exists()


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_refusal_is_not_repeated(server, out, policy, status):
    server.always = refuse(status)
    with pytest.raises(RemoteError, match=rf"status {status}"):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"set": "physics:alchemy"}, "Set does not exist: physics:alchemy"),
        ({"since": "2030-01-01"}, "no records for this request .*from 2030-01-01"),
        ({"since": "1/2/2024"}, "since must be a date such as 2024-01-31, got '1/2/2024'"),
        ({"since": "2024-02-01", "until": "2024-01-01"}, "must not be after until"),
        ({"base_url": "http://example.org/oai"}, "over https only"),
    ],
)
def test_wrong_arguments(server, out, policy, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        fetch_arxiv(out, **{"base_url": server.url, "policy": policy, **arguments})
    assert not out.exists()


def test_nothing_is_left_behind_where_nothing_was_found(server, out, policy):
    with pytest.raises(InputError):
        fetch_arxiv(out, base_url=server.url, since="2030-01-01", policy=policy)
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "is a directory"),
        ("papers.jsonl.gz", "Name the file papers.jsonl"),
        ("no/papers.jsonl", "No such directory"),
    ],
)
def test_places_that_cannot_be_written(server, tmp_path, policy, name, sentence):
    with pytest.raises(InputError, match=sentence):
        fetch_arxiv(tmp_path / name, base_url=server.url, policy=policy)
    assert server.requests == []


def test_an_unfinished_file_of_another_request_is_not_mixed_in(server, out, policy):
    stop_at(server, out, policy, page=3)
    with pytest.raises(
        InputError, match=r"unfinished result of another request .*set physics:astro-ph"
    ):
        fetch_arxiv(out, set=None, base_url=server.url, policy=policy)


def test_two_fetches_cannot_write_one_file(server, out, policy):
    refused: list[InputError] = []

    def fetch_meanwhile(n: int) -> None:
        with pytest.raises(InputError, match="Another process is writing") as caught:
            fetch_arxiv(out, base_url=server.url, policy=policy)
        refused.append(caught.value)

    server.before = fetch_meanwhile
    assert fetch_arxiv(out, base_url=server.url, policy=policy).finished
    assert len(refused) == len(server.requests)


def test_a_full_disk_is_told_and_survived(server, out, policy):
    resource = pytest.importorskip("resource", reason="this system has no limit on files")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        with pytest.raises(InputError, match=r"Cannot write .*papers\.jsonl.*; free disk space"):
            fetch_arxiv(out, base_url=server.url, policy=policy)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert ids(out) == LIVE


def test_an_old_file_stays_until_the_new_one_is_complete(server, out, policy):
    out.write_text("old\n")
    server.faults[4] = refuse(404)
    with pytest.raises(RemoteError):
        fetch_arxiv(out, base_url=server.url, policy=policy)
    assert out.read_text() == "old\n"
    fetch_arxiv(out, base_url=server.url, policy=policy)
    assert ids(out) == LIVE


def test_a_limit_cuts_the_list_and_says_so(server, out, policy):
    fetched = fetch_arxiv(out, base_url=server.url, max_records=7, policy=policy)
    assert ids(out) == LIVE[:7]
    assert not fetched.finished
    assert len(server.requests) == 2


def test_our_reader_reads_it(server, out, policy):
    from landscape.corpus import readers

    fetch_arxiv(out, base_url=server.url, policy=policy)
    reader = readers.choose_reader(out)
    assert reader.name == "arxiv"
    records = list(reader.read(out))
    assert [record.fields["arxiv_id"] for record in records] == LIVE
    first = records[0].fields
    assert first["authors"] == ["Suarez, Ana B.", "Wei, Chen", "van der Berg, J."]
    assert first["categories"] == ["astro-ph.GA", "astro-ph.CO"]
    assert first["dates"] == ["Mon, 1 Jan 2024 18:30:00 GMT"]  # of the first version
