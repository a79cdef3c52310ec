"""The newest papers of an arXiv category, with empty pages, interruptions and no network."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path

import pytest
from arxiv_server import ArxivServer
from fake_time import FakeTime
from loopback import cut, refuse, say

import landscape
from landscape.corpus.fetch import NoRecordsError, RetryPolicy, fetch_newest
from landscape.errors import InputError, RemoteError
from landscape.pipeline.demo import build_demo


@pytest.fixture
def server():
    with ArxivServer(1200) as running:
        yield running


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "papers.jsonl"


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def fetch(server: ArxivServer, out: Path, policy: RetryPolicy, n_papers: int = 1100):
    return fetch_newest(
        out, category="astro-ph.EP", max_records=n_papers, base_url=server.url, policy=policy
    )


def test_the_newest_papers_come_in_the_shape_of_the_snapshot(server, out, policy):
    fetched = fetch(server, out, policy)
    assert ids(out) == server.ids()[:1100]
    assert fetched.n_records == 1100
    assert "astro-ph.EP" in fetched.note
    paper = json.loads(out.read_text().splitlines()[0])
    assert paper == {
        "id": "2605.01199",
        "title": "Comets and shocks number 1199 & more",
        "abstract": "We study comet 1199, where $x < 3$ holds, with spectra of many comets.",
        "categories": "astro-ph.EP astro-ph.SR",
        "authors_parsed": [["Suarez", "Ana B.", ""], ["van der Berg", "J.", ""]],
        "comments": "8 pages",
        "journal-ref": "Example J. 12 (2026) 34",
        "doi": "10.1000/example.1199",
        "versions": [{"version": "v1", "created": "Sun, 24 May 2026 17:42:11 GMT"}],
        "update_date": "2026-06-24",
    }


def test_the_requests_keep_the_pace_of_arxiv(server, out, fake_time: FakeTime):
    usual = inspect.signature(fetch_newest).parameters["policy"].default
    fetch(server, out, replace(usual, sleep=fake_time.sleep, clock=fake_time.clock))
    assert [(r.query["start"], r.query["max_results"]) for r in server.requests] == [
        ("0", "500"),
        ("500", "500"),
        ("1000", "500"),
    ]
    assert server.requests[0].query["sortBy"] == "submittedDate"
    assert server.requests[0].query["sortOrder"] == "descending"
    assert fake_time.clock() >= 2 * 3.0


def test_smaller_pages_follow_an_empty_page(out, policy):
    with ArxivServer(300, largest=100) as server:
        fetch(server, out, policy, 300)
    assert ids(out) == server.ids()
    assert [r.query["max_results"] for r in server.requests] == ["500", "250", "100", "100", "100"]


def test_papers_that_appear_during_the_download_are_no_fault(server, out, policy):
    server.faults[2] = lambda answer: setattr(server, "arrived", 7) or answer
    fetch(server, out, policy, 1000)
    found = ids(out)
    assert len(found) == len(set(found)) == 1000


def test_an_interrupted_download_is_resumed(server, out, policy):
    server.faults[2] = refuse(403)
    with pytest.raises(RemoteError):
        fetch(server, out, policy)
    assert not out.exists()
    fetch(server, out, policy)
    assert ids(out) == server.ids()[:1100]
    assert [r.query["start"] for r in server.requests] == ["0", "500", "500", "1000"]


@pytest.mark.parametrize("fault", [cut(0.5), say(b"<feed"), refuse(503)])
def test_a_damaged_page_is_requested_again(server, out, policy, fault):
    server.faults[2] = fault
    fetch(server, out, policy)
    assert ids(out) == server.ids()[:1100]


def test_arxiv_says_what_is_wrong(server, out, policy):
    server.faults[1] = lambda _: server.error("malformed query")
    with pytest.raises(InputError, match="arXiv rejects the request: malformed query"):
        fetch(server, out, policy)


def test_a_category_without_papers(server, out, policy):
    with pytest.raises(NoRecordsError, match=r"astro-ph\.XX; check its name"):
        fetch_newest(out, category="astro-ph.XX", base_url=server.url, policy=policy)
    with pytest.raises(InputError, match="got 'EP; DROP'"):
        fetch_newest(out, category="EP; DROP", base_url=server.url, policy=policy)


def test_pages_that_stay_empty_end_the_download(out, policy):
    with ArxivServer(300, largest=10) as server, pytest.raises(RemoteError, match="after 0 of 300"):
        fetch(server, out, policy)


def test_the_live_demo_has_the_papers_of_arxiv(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    with ArxivServer(60) as server:
        use(server.url, monkeypatch)
        atlas = build_demo(live="astro-ph.EP", n_papers=50, say=said.append)
    assert atlas.path.name == "astro-ph.EP.atlas"
    assert len(atlas) == 50
    assert not atlas.coverage["generated"]
    again = build_demo(live="astro-ph.EP", n_papers=50, say=said.append)
    assert len(again) == 50
    assert sum("remove this file" in line for line in said) == 1


def test_without_a_network_the_live_demo_is_generated(monkeypatch, tmp_path, closed_port):
    monkeypatch.chdir(tmp_path)
    use(closed_port, monkeypatch)
    said: list[str] = []
    atlas = build_demo(live="astro-ph.EP", n_papers=50, say=said.append)
    assert atlas.path.name == "demo.atlas"
    assert landscape.open("demo.atlas").coverage["generated"]
    (sentence,) = (line for line in said if line.startswith("The demo uses generated papers"))
    assert "cannot be reached" in sentence


def use(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the demo ask this server."""
    usual = inspect.unwrap(fetch_newest)
    monkeypatch.setattr(
        "landscape.corpus.fetch.fetch_newest",
        lambda out, **options: usual(
            out, **options | {"base_url": address, "policy": RetryPolicy(connect_attempts=1)}
        ),
    )
