"""The MCP server, called by a client over standard input and output."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from benchmarks.trends import make_world
from landscape import Atlas
from landscape._settings import help_of
from landscape.agents.settings import SurveySettings
from landscape.corpus.libraries import Library, entry_of_name, write_library
from landscape.mcp_server import (
    LIMIT,
    MAX_PAPERS,
    MAX_REPLY,
    MODEL_LIMIT,
    NOTICE,
    Tools,
    make_server,
)
from landscape.overlays.trends import new_topics
from landscape.search import SearchSettings
from tests.agents.citing_models import some_paper
from tests.timing import time_limit

TOOLS = {
    "search", "similar", "paper", "graph", "ask", "survey", "attribute", "map_region", "tree",
    "new_topics", "object", "values", "library", "digest", "view",
}  # fmt: skip
SERVER = "landscape.mcp_server"


def files_of(atlas: Atlas) -> dict[Path, int]:
    """Return the modification time of each file, without the lock files of the search index."""
    files = (path for path in atlas.path.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path: path.stat().st_mtime_ns for path in files}


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_a_client_over_stdio(demo_atlas: Atlas, mode: str, version: str) -> None:
    """Every tool is called once, in one process of the command; "legacy" is an older protocol."""
    from mcp import Client, StdioServerParameters

    paper = some_paper(demo_atlas)
    mine = tuple(entry_of_name(one.label) for one in demo_atlas.engine.papers(range(0, 60, 3)))
    write_library(Library("assistant", mine))
    before = files_of(demo_atlas)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "dust", "k": 3, "filter": "2000.."}),
        ("similar", {"papers": [paper.label], "k": 3}),
        ("paper", {"paper_id": paper.paper_id}),
        ("graph", {"paper": paper.label, "relation": "citations"}),
        ("ask", {"question": "How does dust cool?"}),
        ("survey", {"question": "How does dust cool?", "papers": 5}),
        ("attribute", {"excerpt": "Dust cools by lines [CITATION]."}),
        ("map_region", {}),
        ("tree", {}),
        ("new_topics", {"k": 2}),
        ("object", {"name": "Milky Way"}),
        ("values", {"quantity": "mass", "k": 2}),
        ("library", {}),
        ("digest", {"library": "assistant", "since": "2000-01-01", "k": 2}),
        ("view", {"query": "dust", "k": 3}),
    ]
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("search", {"query": "dust", "k": 10_000}, "1 to 50"),
        ("search", {"query": "dust", "filter": "(("}, "filter"),
        ("search", {"query": "dust", "filter": "d" * 9_000}, "at most 8,000"),
        ("similar", {"papers": [paper.label] * 101}, "1 to 100"),
        ("search", {"query": "dust", "start": -1}, "start is -1; choose 0 to 300."),
        ("search", {"query": "dust", "k": "many"}, "k is 'many'; it should be a valid integer"),
        ("search", {"query": "dust", "sort": "x"}, "sort is 'x'; it should be 'relevance'"),
        ("search", {}, "The tool search needs the argument query."),
        ("similar", {"papers": [3]}, "papers is [3]; it should be a valid string."),
        ("tree", {"depth": 2}, "tree has no argument 'depth'; it takes no arguments."),
        ("paper", {"paper": "2020Fake..1A"}, "There is no paper"),
        ("paper", {"id": "1"}, "paper has no argument 'id'; it takes paper_id, paper."),
        ("paper", {}, "Pass one paper as paper_id"),
        ("paper", {"paper": "a", "paper_id": "a"}, "Pass one paper as paper_id"),
        ("view", {"region": 99_999}, "Unknown region"),
        ("digest", {"library": "/etc/passwd"}, "A library cannot be named"),
        ("library", {"name": "nobody"}, "There is no library 'nobody'"),
        ("attribute", {"excerpt": "No mark."}, "CITATION"),
        ("map_region", {"region": 99_999}, "Unknown region"),
        ("ask", {"question": "x" * 9_000}, "at most 8,000"),
    ]

    async def talk() -> tuple[set[str], dict[str, Any], list[str]]:
        environment = {name: value for name, value in os.environ.items() if "OPENAI" not in name}
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "landscape.cli", "mcp", str(demo_atlas.path)],
            env=environment,
        )
        async with Client(server, mode=mode, read_timeout_seconds=time_limit(120)) as client:
            assert client.protocol_version == version
            assert NOTICE in (client.instructions or "")
            listed = (await client.list_tools()).tools
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
            replies = {}
            for name, arguments in calls:
                reply = await client.call_tool(name, arguments)
                assert not reply.is_error, reply.content
                replies[name] = reply.structured_content
                assert json.loads(reply.content[-1].text) == reply.structured_content
            assert_png(reply.content[0])  # of the last tool
            refused = []
            for name, arguments, _ in wrong:
                reply = await client.call_tool(name, arguments)
                assert reply.is_error
                refused.append(getattr(reply.content[0], "text", ""))
            return {tool.name for tool in listed}, replies, refused

    names, replies, refused = asyncio.run(talk())
    assert names == TOOLS
    assert all(reply["notice"] == NOTICE for reply in replies.values())
    assert len(replies["search"]["papers"]) == 3
    assert replies["search"]["searched"]["papers"] == len(demo_atlas)
    assert replies["paper"]["abstract"] == paper.abstract
    assert "assistant" in replies["library"]["libraries"]
    assert replies["digest"]["groups"][0]["papers"][0]["reasons"]
    assert replies["ask"]["method"] == "extractive"
    assert replies["attribute"]["method"] == "offline"
    assert replies["map_region"]["n_regions"] == len(demo_atlas.topics)
    for (_, _, said), told in zip(wrong, refused, strict=True):
        assert said in told
        assert not any(word in told for word in ("Traceback", "pydantic", "executing"))
        assert "filter" in said or "\n" not in told
    assert files_of(demo_atlas) == before


def assert_png(content: Any) -> None:
    from PIL import Image

    assert (content.type, content.mime_type) == ("image", "image/png")
    with Image.open(io.BytesIO(b64decode(content.data))) as picture:
        assert picture.width > 600
    assert len(content.data) < 2**20


def tools_of(atlas: Any, model: Any = None) -> dict[str, Any]:
    return {tool.__name__: tool for tool in Tools(atlas, model=model).all()}


def test_pages_of_a_search(demo_atlas: Atlas) -> None:
    """Pages do not overlap, have all papers, and begin with those of a search without pages."""
    search = tools_of(demo_atlas)["search"]
    pages = [search("dust", k=50, start=start) for start in range(0, 301, 50)]
    papers = [paper for page in pages for paper in page["papers"]]
    names = [paper["paper_id"] for paper in papers]
    assert {page["total"] for page in pages} == {len(set(names))} == {len(names)} == {300}
    assert [paper["rank"] for paper in papers] == list(range(1, 301))
    assert names[:10] == [paper.paper_id for paper in demo_atlas.search("dust", k=10).papers]
    only = "year:2020"
    few = search("dust", k=50, filter=only)
    assert few["total"] == min(300, len(demo_atlas.select(only)))


def test_names_of_results_name_papers(demo_atlas: Atlas) -> None:
    tools = tools_of(demo_atlas)
    for paper in tools["search"]("dust", k=5)["papers"]:
        found = tools["paper"](paper_id=paper["paper_id"])
        assert found["title"] == paper["title"]
        assert tools["paper"](paper=paper["paper_id"]) == found
        linked = tools["graph"](paper_id=paper["paper_id"])
        assert linked == tools["graph"](paper=paper["label"]) | {"paper": paper["paper_id"]}


def test_the_tree_has_all_regions_in_their_places(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    def places(nodes: list[dict[str, Any]], above: int = -1) -> list[tuple[int, int, int]]:
        own = [(node["region"], above, node["n_papers"]) for node in nodes]
        return own + [one for node in nodes for one in places(node["parts"], node["region"])]

    topics = demo_atlas.topics[["topic_id", "parent_id", "n_papers"]]
    assert set(topics["parent_id"]) > {-1}
    tree = tools_of(demo_atlas)["tree"]
    assert sorted(places(tree()["tree"])) == sorted(topics.itertuples(index=False, name=None))
    monkeypatch.setattr(f"{SERVER}._IN_TREE", 5)
    assert len(places(tree()["tree"])) == 5
    assert tree()["n_regions"] == len(topics)


def test_new_topics_are_those_of_the_table() -> None:
    world, _ = make_world("none", news=True, seed=11)
    found = new_topics(world, months=24)
    assert len(found.table) > 2
    reply = tools_of(world)["new_topics"](months=24, k=2)
    assert [one["term"] for one in reply["topics"]] == found.table["term"].tolist()[:2]
    assert reply["total"] == len(found.table)
    assert {one["term"] for one in reply["first_papers"]} == set(found.table["term"][:2])


def test_pictures_of_the_map(demo_atlas: Atlas) -> None:
    """A region is enlarged, and papers of a query or a filter are marked."""
    view, region = tools_of(demo_atlas)["view"], int(demo_atlas.topics["topic_id"].iloc[-1])
    asked: list[dict[str, Any]] = [
        {}, {"region": region}, {"filter": "year:2020"},
        {"query": "dust", "region": region, "k": 4},
    ]  # fmt: skip
    replies = [view(**arguments) for arguments in asked]
    for reply in replies:
        assert_png(reply.content[0])
    assert len({reply.content[0].data for reply in replies}) == len(asked)
    counts = [reply.structured_content["n_marked"] for reply in replies]
    assert counts == [0, 0, len(demo_atlas.select("year:2020")), 4]
    last = replies[-1].structured_content
    names = [paper["paper_id"] for paper in last["papers"]]
    inside = demo_atlas.map["paper_id"].iloc[demo_atlas.select(f"region:{region}")]
    assert set(names) <= set(inside)
    assert "Marked: 4 papers found" in last["caption"]


class Silent:
    """A language model that never replies."""

    model = "silent"

    def complete(self, *_: object) -> Any:
        threading.Event().wait()

    complete_json = stream = complete


def test_a_slow_model_is_stopped(demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply contains what was found without the model."""
    monkeypatch.setattr(f"{SERVER}.MODEL_LIMIT", 0.1)
    tools = tools_of(demo_atlas, Silent())
    survey = tools["survey"]("How does dust cool?", papers=5)
    assert survey["partial"]
    assert any("partial" in note for note in survey["notes"])
    attribution = tools["attribute"]("Dust cools by lines [CITATION].")
    assert attribution["partial"]
    assert attribution["guesses"]
    answer = tools["ask"]("How does dust cool?")
    assert answer["method"] == "extractive"
    assert answer["text"]
    assert any("it was stopped" in note for note in answer["notes"])


def test_a_call_that_is_too_slow_ends(demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.server.mcpserver.exceptions import ToolError

    monkeypatch.setattr(f"{SERVER}.LIMIT", 0.0)
    with pytest.raises(ToolError, match=r"^The call was stopped after 0 seconds"):
        tools_of(demo_atlas)["new_topics"]()


def test_the_limits_are_within_that_of_claude_desktop() -> None:
    assert MODEL_LIMIT < LIMIT < 240


def test_an_incomplete_character_gets_an_error(demo_atlas: Atlas) -> None:
    """The test writes raw lines, because the client of the package rejects this character."""
    lines = [
        *HELLO,
        line(2, "tools/call", name="search", arguments={"query": "dust \ud800"}),
        line(3, "tools/call", name="search", arguments={"query": "dust 😀"}),
    ]
    replies = {one["id"]: one for one in talk_in_lines(demo_atlas, lines, n_replies=3)}
    assert replies[2]["result"]["isError"]
    assert "incomplete character" in replies[2]["result"]["content"][0]["text"]
    assert not replies[3]["result"].get("isError")


def test_unreadable_lines_get_an_error(demo_atlas: Atlas) -> None:
    """A reply to each line, and the server goes on."""
    deep = 5_000
    unreadable = [
        "[" * deep + "]" * deep + "\n",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"a": "x" * 9_000_000}})
        + "\n",
        *(f'{{"jsonrpc": "2.0", "id": {one}, "method": "ping"}}\n' for one in ODD_IDS),
        "no JSON\n",
    ]
    lines = [*HELLO, *unreadable, "\n", line(3, "ping")]
    first, *errors, last = talk_in_lines(demo_atlas, lines, n_replies=2 + len(unreadable))
    assert (first["id"], last["id"], last["result"]) == (1, 3, {})
    for one in errors:
        assert one["id"] is None
        assert one["error"]["code"] == -32700
        assert "at most 4 MB" in one["error"]["message"]


ODD_IDS = ("NaN", "-Infinity", "1e999", "null", "[1]", "true", "1.5", "{}", "9" * 5_000)


def line(number: int, method: str, **parameters: Any) -> str:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
    return json.dumps(message) + "\n"


CLIENT = {"name": "test", "version": "1"}
HELLO = (
    line(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=CLIENT),
    '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
)


def talk_in_lines(atlas: Atlas, lines: list[str], *, n_replies: int) -> list[dict[str, Any]]:
    """Write raw lines to a server, and return its replies."""
    command = [sys.executable, "-m", "landscape.cli", "mcp", str(atlas.path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("".join(lines).encode())
        server.stdin.flush()
        replies = [json.loads(server.stdout.readline()) for _ in range(n_replies)]
        server.stdin.close()
    return replies


def test_replies_are_clean_and_bounded(demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.server.mcpserver.exceptions import ToolError

    tools = tools_of(demo_atlas)
    reply = tools["search"]("dust", k=50)
    assert len(json.dumps(reply)) < MAX_REPLY
    assert reply["notice"] == NOTICE
    region = int(demo_atlas.topics["topic_id"].iloc[0])
    assert tools["map_region"](region)["exemplars"]
    monkeypatch.setattr("landscape.mcp_server.MAX_REPLY", 500)
    with pytest.raises(ToolError, match="fewer papers"):
        tools["search"]("dust")


def test_what_the_tools_say_of_themselves(demo_atlas: Atlas) -> None:
    listed = asyncio.run(make_server(demo_atlas).list_tools())
    for tool in listed:
        assert tool.description
        assert tool.input_schema["type"] == "object"
    fields = {tool.name: tool.input_schema["properties"] for tool in listed}
    k = fields["search"]["k"]
    assert (k["minimum"], k["maximum"]) == (1, MAX_PAPERS)
    assert k["description"] == help_of(SearchSettings, "k")
    assert fields["survey"]["papers"]["description"] == help_of(SurveySettings, "papers")
    assert fields["search"]["filter"]["description"]


def test_only_tools_with_a_language_model_reach_out(demo_atlas: Atlas) -> None:
    def reaching(model: object) -> set[str]:
        listed = asyncio.run(make_server(demo_atlas, model=model).list_tools())  # type: ignore[arg-type]
        return {tool.name for tool in listed if tool.annotations.open_world_hint}

    assert reaching(None) == set()
    assert reaching(object()) == {"ask", "survey", "attribute"}
