"""The MCP server, called by a client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landscape import Atlas
from landscape._settings import help_of
from landscape.agents.mcp_server import MAX_PAPERS, MAX_REPLY, NOTICE, Tools, make_server
from landscape.agents.settings import SurveySettings
from landscape.search import SearchSettings
from tests.agents.citing_models import some_paper
from tests.timing import time_limit

TOOLS = {"search", "similar", "paper", "graph", "ask", "survey", "attribute", "map_region"}


def files_of(atlas: Atlas) -> dict[Path, int]:
    """Return the modification time of each file, without the lock files of the search index."""
    files = (path for path in atlas.path.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path: path.stat().st_mtime_ns for path in files}


def test_a_client_over_stdio(demo_atlas: Atlas) -> None:
    """Every tool is called once, in one process of the command."""
    from mcp import Client, StdioServerParameters

    paper = some_paper(demo_atlas)
    before = files_of(demo_atlas)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "dust", "k": 3, "filter": "2000.."}),
        ("similar", {"papers": [paper.label], "k": 3}),
        ("paper", {"paper": paper.label}),
        ("graph", {"paper": paper.label, "relation": "citations"}),
        ("ask", {"question": "How does dust cool?"}),
        ("survey", {"question": "How does dust cool?", "papers": 5}),
        ("attribute", {"excerpt": "Dust cools by lines [CITATION]."}),
        ("map_region", {}),
    ]
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("search", {"query": "dust", "k": 10_000}, "1 to 50"),
        ("search", {"query": "dust", "filter": "(("}, "filter"),
        ("search", {"query": "dust", "filter": "d" * 9_000}, "at most 8,000"),
        ("similar", {"papers": [paper.label] * 101}, "1 to 100"),
        ("paper", {"paper": "2020Fake..1A"}, "There is no paper"),
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
        async with Client(server, read_timeout_seconds=time_limit(120)) as client:
            assert NOTICE in (client.instructions or "")
            listed = (await client.list_tools()).tools
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
            replies = {}
            for name, arguments in calls:
                reply = await client.call_tool(name, arguments)
                assert not reply.is_error, reply.content
                replies[name] = reply.structured_content
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
    assert replies["ask"]["method"] == "extractive"
    assert replies["attribute"]["method"] == "offline"
    assert replies["map_region"]["n_regions"] == len(demo_atlas.topics)
    for (_, _, said), told in zip(wrong, refused, strict=True):
        assert said in told
        assert "Traceback" not in told
    assert files_of(demo_atlas) == before


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

    tools = {tool.__name__: tool for tool in Tools(demo_atlas).all()}
    reply = tools["search"]("dust", k=50)
    assert len(json.dumps(reply)) < MAX_REPLY
    assert reply["notice"] == NOTICE
    region = int(demo_atlas.topics["topic_id"].iloc[0])
    assert tools["map_region"](region)["exemplars"]
    monkeypatch.setattr("landscape.agents.mcp_server.MAX_REPLY", 500)
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
