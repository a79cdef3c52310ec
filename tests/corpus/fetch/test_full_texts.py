"""Full texts are fetched from a local server with the kinds of replies that arXiv gives."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from files_server import FilesServer
from loopback import refuse

from landscape.corpus.fetch import fetch_full_texts
from landscape.corpus.fetch._full_texts import POLICY
from landscape.corpus.full_text import FullTextFolder, read_full_text
from landscape.errors import InputError, RemoteError
from landscape.types import Paper

HTML = b"<!DOCTYPE html><html><body><h2>1 Data</h2><p>We use spectra.</p></body></html>"
TEX = gzip.compress(b"\\section{Data} We use \\textit{spectra}.")
FILES = {
    "/html/2401.00001": HTML,
    "/e-print/astro-ph/9301002": TEX,
    "/e-print/2401.00003": b"%PDF-1.4 a paper without its source",
}
IDS = ["2401.00001", "astro-ph/9301002", "2401.00003", "2401.00004", "2401.00001"]


class Clock:
    """Time that passes only while the client waits."""

    def __init__(self) -> None:
        self.now, self.waits = 0.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fetch(server: FilesServer, folder: Path, clock: Clock, ids: list[str] = IDS, **kwargs: object):  # type: ignore[no-untyped-def]
    policy = replace(POLICY, sleep=clock.sleep, clock=clock.time, attempts=2, jitter=lambda: 1.0)
    return fetch_full_texts(ids, folder, base_url=server.url, policy=policy, **kwargs)  # type: ignore[arg-type]


def test_html_comes_first_then_the_source_then_nothing(tmp_path: Path, clock: Clock) -> None:
    said: list[str] = []
    with FilesServer(FILES) as server:
        found = fetch(server, tmp_path / "texts", clock, notify=said.append)
    assert (found.n_records, found.n_skipped) == (3, 1)
    names = sorted(path.name for path in (tmp_path / "texts").iterdir())
    assert names == ["2401.00001.html", "2401.00003.pdf", "astro-ph_9301002.tar.gz"]
    assert "4 full texts of 4 papers to fetch from arXiv; this takes about 0:00:12" in said[0]
    assert "arXiv has no full text of 2401.00004" in said
    (section,) = read_full_text(tmp_path / "texts" / "astro-ph_9301002.tar.gz").sections
    assert section.text == "We use spectra."
    paper = Paper(row=0, paper_id="a", title="", abstract="", arxiv_id="astro-ph/9301002")
    assert FullTextFolder(tmp_path / "texts").find(paper) is not None


def test_requests_are_three_seconds_apart(tmp_path: Path, clock: Clock) -> None:
    with FilesServer(FILES) as server:
        fetch(server, tmp_path, clock)
        assert len(server.requests) == 7
    assert clock.now >= 3.0 * 6


def test_a_second_run_asks_only_for_what_is_missing(tmp_path: Path, clock: Clock) -> None:
    with FilesServer(FILES) as server:
        fetch(server, tmp_path, clock, ids=IDS[:1])
        server.requests.clear()
        fetch(server, tmp_path, clock, ids=IDS[:2])
        assert [one.path for one in server.requests] == [
            "/html/astro-ph/9301002",
            "/e-print/astro-ph/9301002",
        ]


def test_a_busy_server_is_asked_again_and_a_broken_one_is_a_sentence(
    tmp_path: Path, clock: Clock
) -> None:
    with FilesServer(FILES) as server:
        server.faults[1] = refuse(503)
        assert fetch(server, tmp_path, clock, ids=IDS[:1]).n_records == 1
        server.always = refuse(500)
        with pytest.raises(RemoteError, match="500"):
            fetch(server, tmp_path, clock, ids=IDS[1:2])
        server.always = None
        server.files["/html/2401.00009"] = b"GIF89a"
        assert fetch(server, tmp_path, clock, ids=["2401.00009"]).n_skipped == 1
        assert not list(tmp_path.glob("2401.00009*"))
        with pytest.raises(InputError, match="No paper has an arXiv id"):
            fetch(server, tmp_path, clock, ids=["10.1/x"])
