"""Updates that fetch new records from servers with the protocols of arXiv and ADS."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ads_server import KEY, AdsServer, some_docs
from loopback import refuse
from oai_server import Item, OaiServer, some_items

import landscape as ls
from landscape.cli import main
from landscape.errors import InputError, RemoteError
from tests.pipeline.conftest import QUICK

LIVE = [item for item in some_items(40) if not item.deleted]


@pytest.fixture
def arxiv() -> Iterator[OaiServer]:
    with OaiServer(some_items(40), page_size=100) as server:
        yield server


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas of the first 20 records of the server."""
    folder = tmp_path_factory.mktemp("base")
    path = folder / "papers.jsonl"
    abstract = "We study {} where x < 3 and $\\alpha & \\beta$ hold, with spectra of many galaxies."
    rows = [
        {"arxiv_id": item.id, "title": item.title, "abstract": abstract.format(item.title)}
        for item in LIVE[:20]
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ls.build(path, folder / "base.atlas", **QUICK)
    return folder / "base.atlas"


@pytest.fixture
def atlas(base: Path, tmp_path: Path) -> Path:
    return shutil.copytree(base, tmp_path / "a.atlas")


def test_new_and_changed_records_arrive_once(atlas: Path, arxiv: OaiServer) -> None:
    said: list[str] = []
    updated = ls.update(
        atlas, harvest="arxiv", since="2024-01-01", base_url=arxiv.url, say=said.append
    )
    assert f"arxiv: {len(LIVE)} records since 2024-01-01" in said
    assert updated.papers["arxiv_id"].tolist() == [item.id for item in LIVE]
    assert not (atlas / ".harvest").exists()
    # The next harvest begins on the day of the last one, and a replaced version wins.
    today = updated.parts[-1].file
    arxiv.items = [
        replace(LIVE[3], title="A replaced title of three words", datestamp="2999-01-01"),
        Item("2402.00001", "2999-01-01", "A new quasar with an outflow"),
    ]
    again = ls.update(atlas, harvest="arxiv", base_url=arxiv.url)
    day = today.removeprefix("arxiv-")[:8]
    assert arxiv.requests[-1].query["from"] == f"{day[:4]}-{day[4:6]}-{day[6:]}"
    assert len(again) == len(LIVE) + 1
    assert again.papers["title"][3] == "A replaced title of three words"
    assert again.papers["paper_id"].is_unique
    nothing: list[str] = []
    arxiv.items = []
    ls.update(atlas, harvest="arxiv", base_url=arxiv.url, say=nothing.append)
    assert nothing[-1] == "Nothing has changed. The atlas is up to date."


def test_a_harvest_that_is_interrupted_resumes(atlas: Path, arxiv: OaiServer) -> None:
    arxiv.page_size = 30
    arxiv.faults[2] = refuse(403)
    with pytest.raises(RemoteError):
        ls.update(atlas, harvest="arxiv", since="2024-01-01", base_url=arxiv.url)
    assert len(ls.open(atlas)) == 20
    ls.update(atlas, harvest="arxiv", since="2024-01-01", base_url=arxiv.url)
    assert [("resumptionToken" in r.query) for r in arxiv.requests] == [False, True, True]
    assert len(ls.open(atlas)) == len(LIVE)


def test_papers_that_arxiv_deletes_are_removed(atlas: Path, arxiv: OaiServer) -> None:
    harvest = {"harvest": "arxiv", "base_url": arxiv.url}
    before = ls.update(atlas, since="2024-01-01", **harvest)
    first, *_ = before.parts
    kept = atlas / "papers.parquet" / f"{first.name}.parquet"
    content = kept.read_bytes()
    # The file of the first part is no file of arXiv, so its paper stays.
    known, other, back = LIVE[3], LIVE[30], LIVE[31]
    arxiv.items = [
        replace(item, datestamp="2999-01-01", deleted=True) for item in (known, other, back)
    ]
    said: list[str] = []
    after = ls.update(atlas, say=said.append, **harvest)
    gone = {other.id, back.id}
    assert f"withdrawn by arXiv and removed: {other.id} and {back.id}" in said
    assert after.papers["arxiv_id"].tolist() == [i.id for i in LIVE if i.id not in gone]
    assert len(after.map) == len(after.vectors()) == len(LIVE) - 2
    assert kept.read_bytes() == content
    reasons = [json.loads(line) for line in (atlas / "rejected.jsonl").read_text().splitlines()]
    assert {one["snippet"] for one in reasons if one["reason"].endswith("later")} == gone
    for part in after.parts:
        assert part.read == part.rows + part.merged + part.rejected
    # The next update does not remove a paper that has come back.
    arxiv.items = [replace(back, datestamp="2999-02-01")]
    assert len(ls.update(atlas, **harvest)) == len(LIVE) - 1
    arxiv.items = [Item("2402.00001", "2999-03-01", "A new quasar with an outflow")]
    again = ls.update(atlas, **harvest)
    assert back.id in set(again.papers["arxiv_id"])
    assert other.id not in set(again.papers["arxiv_id"])


def test_ads_is_asked_for_recent_entries(atlas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADS_API_TOKEN", KEY)
    with AdsServer(some_docs(12)) as server:
        url = f"{server.url}/v1"
        with pytest.raises(InputError, match="needs a query"):
            ls.update(atlas, harvest="ads", since="2026-11-01", base_url=url)
        updated = ls.update(
            atlas, harvest="ads", since="2026-11-01", query='abs:"quenching"', base_url=url
        )
        assert server.requests[0].query["q"] == '(abs:"quenching") entdate:[2026-11-01 TO *]'
    assert updated.sources["papers"].tolist()[0] == 20
    assert len(updated) > 20


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--from", "arxiv"], "has no earlier harvest from arxiv; pass a day"),
        (["--from", "arxiv", "--since", "yesterday"], "since is 'yesterday'; give a day"),
        (["--from", "hal", "--since", "2026-01-01"], "hal"),
    ],
)
def test_bad_input(
    atlas: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["update", str(atlas), *words]) == 2
    assert sentence in capsys.readouterr().err
    assert len(ls.open(atlas)) == 20
