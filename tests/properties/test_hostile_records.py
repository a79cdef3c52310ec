"""Hostile records, queries, filters and calls of tools give a result or one sentence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape import Atlas
from landscape._wording import INVISIBLE
from landscape.corpus import read_papers
from landscape.errors import LandscapeError
from tests.properties.good_files import TEXTS
from tests.properties.hostile import HOSTILE
from tests.properties.inspection import check_html, check_plain, check_sentence

#: Values of JSON in any place of a record.
VALUES = st.recursive(
    st.one_of(HOSTILE, st.none(), st.booleans(), st.integers(), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(HOSTILE, inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = ("papers.jsonl", "ads.jsonl", "scilit.json")
GOOD = {
    "papers.jsonl": json.loads(TEXTS["papers.jsonl"][1].splitlines()[0]),
    "ads.jsonl": json.loads(TEXTS["ads.jsonl"][1].splitlines()[0]),
    "scilit.json": json.loads(TEXTS["scilit.json"][1])[0],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of all examples."""
    return tmp_path_factory.mktemp("records")


def texts_of(value: object) -> list[str]:
    """Return all texts within lists of a value."""
    if isinstance(value, list):
        return [text for one in value for text in texts_of(one)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=60)
@given(data=st.data())
def test_a_hostile_record_is_cleaned_or_told(folder: Path, kind: str, data: st.DataObject) -> None:
    good = GOOD[kind]
    names = data.draw(st.lists(st.sampled_from(sorted(good)), min_size=1, max_size=4))
    wrong = good | {name: data.draw(VALUES, label=name) for name in names}
    path = folder / kind
    if kind.endswith("l"):
        path.write_text(f"{json.dumps(good)}\n{json.dumps(wrong)}\n")
    else:
        path.write_text(json.dumps([good, wrong]))
    try:
        batches = list(read_papers(path))
    except LandscapeError as error:
        check_sentence(error)
        return
    papers = [paper for batch in batches for paper in batch.papers.to_pylist()]
    rejected = [one for batch in batches for one in batch.rejected]
    assert sum(batch.n_read for batch in batches) == len(papers) + len(rejected) == 2
    assert all(one.reason and "\n" not in one.reason for one in rejected)
    assert papers[0]["title"] == "Dust"
    for paper in papers:
        for name in ("title", "abstract", "authors", "journal"):
            for text in texts_of(paper.get(name)):
                check_plain(text)
                assert not INVISIBLE.search(text), name


@settings(max_examples=100)
@given(query=HOSTILE, chosen=st.one_of(st.none(), HOSTILE))
def test_any_query_and_filter_gives_papers_or_a_sentence(
    finished: Atlas, query: str, chosen: str | None
) -> None:
    options: dict[str, Any] = {} if chosen is None else {"filter": chosen}
    try:
        found = finished.search(query, k=3, method="words", rerank=False, **options)
    except LandscapeError as error:
        # A filter shows its fault on further lines.
        check_sentence(error, lines=chosen is not None)
        return
    assert len(found) <= 3
    check_plain(found.to_text())
    check_html(found._repr_html_())


@pytest.fixture(scope="module")
def call(finished: Atlas) -> Callable[[str, dict[str, Any]], str]:
    """Function that calls a tool, and returns its reply or its error."""
    from mcp.server.mcpserver.exceptions import ToolError

    from landscape.mcp_server import make_server

    server = make_server(finished)

    def result(tool: str, arguments: dict[str, Any]) -> str:
        try:
            return str(asyncio.run(server.call_tool(tool, arguments)))
        except ToolError as error:
            return str(error)

    return result


TOOLS = {
    "search": "query",
    "ask": "question",
    "attribute": "excerpt",
    "paper": "paper",
    "similar": "papers",
    "map_region": "region",
}


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=20)
@given(value=st.one_of(HOSTILE, HOSTILE.map(lambda text: f"Stars {text} [CITATION]"), VALUES))
def test_a_hostile_argument_of_a_tool_is_answered(
    call: Callable[[str, dict[str, Any]], str], tool: str, value: object
) -> None:
    assert "Traceback" not in call(tool, {TOOLS[tool]: value})
