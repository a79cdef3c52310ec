"""Fetching from a server with the ADS API, including failures of the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ads_server import KEY, AdsServer, some_docs
from hostile_server import MODES, HostileServer
from loopback import Answer, Loopback, Request, cut, refuse, say, shorten

from landscape.corpus.fetch import RetryPolicy, fetch_ads
from landscape.errors import InputError, RemoteError

DOCS = some_docs(47)
FIELDS = {
    *("bibcode", "identifier", "title", "abstract", "author", "aff", "date", "pubdate", "year"),
    *("doi", "keyword", "citation_count", "read_count", "doctype", "pub", "property"),
    *("arxiv_class", "reference", "citation", "bibgroup", "data", "facility"),
}
BIBCODES = [doc["bibcode"] for doc in DOCS]
QUERY = 'abs:"satellite quenching" year:2024'


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("ADS_API_TOKEN", KEY)
    monkeypatch.delenv("ADS_DEV_KEY", raising=False)


@pytest.fixture
def server():
    with AdsServer(DOCS) as running:
        yield running


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "papers.jsonl"


@pytest.fixture
def fetch(server, out, policy, notify):
    """Call fetch_ads on the loopback server, with ten documents per page."""

    def call(**changes):
        arguments = {"query": QUERY, "rows": 10, "policy": policy, "notify": notify}
        return fetch_ads(out, **{**arguments, "base_url": f"{server.url}/v1", **changes})

    return call


def bibcodes(path: Path) -> list[str]:
    return [json.loads(line)["bibcode"] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("cursors", [True, False], ids=["by cursor", "by offset"])
def test_everything_arrives_once(server, fetch, out, cursors, notes):
    server.cursors = cursors
    fetched = fetch()
    assert bibcodes(out) == BIBCODES
    assert (fetched.n_records, fetched.finished) == (47, True)
    assert json.loads(out.read_text().splitlines()[0]) == DOCS[0]
    first = server.requests[0]
    assert first.query["q"] == QUERY
    assert first.query["sort"] == "date desc,id desc"
    assert set(first.query["fl"].split(",")) == FIELDS
    assert "47 records" in notes[0]
    assert "4,999 of 5,000 requests left until 2033-05-18 03:33 UTC" in notes[0]
    assert "requests left" in fetched.note


def test_our_reader_reads_it(fetch, out):
    from landscape.corpus import readers

    fetch()
    reader = readers.choose_reader(out)
    assert reader.name == "ads"
    assert [record.fields["bibcode"] for record in reader.read(out)] == BIBCODES


def test_no_key(fetch, server, monkeypatch):
    monkeypatch.delenv("ADS_API_TOKEN")
    with pytest.raises(InputError, match=r"requires a key: create a key at .* ADS_API_TOKEN"):
        fetch()
    assert server.requests == []


def test_the_other_variable_serves_too(fetch, out, monkeypatch):
    monkeypatch.delenv("ADS_API_TOKEN")
    monkeypatch.setenv("ADS_DEV_KEY", f" {KEY}\n")
    fetch()
    assert bibcodes(out) == BIBCODES


def test_a_wrong_key(fetch, server):
    with pytest.raises(RemoteError, match=r"does not accept the key \(status 401.*ADS_API_TOKEN"):
        fetch(token="wrong-" + KEY)
    assert len(server.requests) == 1


def test_the_key_is_written_nowhere(fetch, server, out, notes):
    server.faults[3] = refuse(404)
    with pytest.raises(RemoteError) as stopped:
        fetch()
    left = [path.read_bytes() for path in out.parent.iterdir()]
    assert len(left) == 2
    assert not any(KEY.encode() in content for content in left)
    assert KEY not in str(stopped.value) + "".join(notes)


def test_the_key_is_not_sent_to_another_host(fetch, server):
    class Thief(Loopback):
        def answer(self, _: Request) -> Answer:
            return Answer(b"{}")

    with Thief() as thief:
        location = {"Location": f"{thief.url}/v1/search/query"}
        server.always = lambda _: Answer(b"", 302, location)
        with pytest.raises(RemoteError, match=r"another host .* it would send your key there"):
            fetch()
        assert thief.requests == []


@pytest.mark.parametrize("fault", [cut(0.5), shorten(0.7), refuse(500), refuse(429)])
def test_a_passing_fault_loses_and_doubles_nothing(fetch, server, out, fault):
    server.faults.update({1: fault, 3: fault, 4: fault})
    fetch()
    assert bibcodes(out) == BIBCODES


@pytest.mark.parametrize("cursors", [True, False], ids=["by cursor", "by offset"])
def test_the_quota_is_told_and_waited_for_by_the_user(fetch, server, out, cursors, fake_time):
    server.cursors = cursors
    server.left, server.renewal = 3, int(fake_time.now) + 6 * 3600
    with pytest.raises(RemoteError, match=r"all 5,000 requests are used up until .* UTC"):
        fetch()
    assert not out.exists()
    assert sum(fake_time.waits) < 60
    server.left = 5000
    before = len(server.requests)
    fetch()
    assert bibcodes(out) == BIBCODES
    assert len(server.requests) - before <= 3  # the first thirty were not asked for again


def test_a_quota_that_will_not_suffice_is_told_at_the_start(fetch, server, notes):
    server.left = 3
    with pytest.raises(RemoteError):
        fetch()
    assert "it will stop before the end" in notes[0]


def test_an_outdated_cursor_starts_over_without_doubles(fetch, server, out):
    server.faults[3] = refuse(404)
    with pytest.raises(RemoteError):
        fetch()
    server.epoch += 1
    fetch()
    assert bibcodes(out) == BIBCODES


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("((bad", r"cannot parse the query '\(\(bad': .*SyntaxError"),
        ("nothing", "finds nothing for 'nothing'"),
        (" ", "query is empty"),
    ],
)
def test_queries_that_cannot_be_answered(fetch, out, query, sentence):
    with pytest.raises(InputError, match=sentence):
        fetch(query=query)
    assert not out.exists()


def test_a_limit_is_kept_exactly(fetch, server, out):
    fetched = fetch(max_records=15)
    assert bibcodes(out) == BIBCODES[:15]
    assert not fetched.finished
    assert [request.query["rows"] for request in server.requests] == ["10", "5"]


def test_another_query_is_not_mixed_in(fetch, server):
    server.faults[3] = refuse(404)
    with pytest.raises(RemoteError):
        fetch()
    with pytest.raises(InputError, match="unfinished result of another request"):
        fetch(query="black holes")


def test_a_web_page_in_place_of_json(fetch, server):
    server.always = say(b"<html><body>Maintenance</body></html>")
    with pytest.raises(RemoteError, match="web page instead of JSON"):
        fetch()


def test_no_network_at_all(fetch, closed_port):
    with pytest.raises(RemoteError, match="cannot be reached"):
        fetch(base_url=closed_port)


@pytest.mark.parametrize("docs", [DOCS[:10], DOCS[:0]], ids=["the same page", "shuffled"])
def test_a_list_without_an_end_stops(server, fetch, docs):
    def repeat(_: Answer) -> Answer:
        n = len(server.requests)
        page = docs or [DOCS[(n * k + k) % 20] for k in range(10)]
        response = {"numFound": 10**9, "start": 0, "docs": page}
        answer = {"response": response, "nextCursorMark": f"{n}@{server.epoch}"}
        return Answer(json.dumps(answer).encode())

    server.always = repeat
    with pytest.raises(RemoteError, match="repeats the same records and its list does not end"):
        fetch()
    assert len(server.requests) < 50


@pytest.mark.parametrize("mode", ["sends a byte a second", "sends a header a second"])
def test_a_slow_response_has_a_total_limit(out, notify, mode):
    policy = RetryPolicy(reply_limit=2.5, timeout=60)
    with (  # the message names the limit of the whole response, not that of a pause
        HostileServer(MODES[mode]) as server,
        pytest.raises(RemoteError, match=r"did not finish its answer within 2\.5 s"),
    ):
        fetch_ads(out, query=QUERY, base_url=server.url, policy=policy, notify=notify)
