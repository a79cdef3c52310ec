"""Commands and calls that use a model, with hostile model servers."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import landscape
from benchmarks.robustness_cases import LIMIT, Case, notes
from landscape.errors import LandscapeError
from landscape.llm import reranking, server

QUESTION = "How does dust cool in galaxies?"
EXCERPT = "Dust cools by lines [CITATION]."
Use = Callable[[str], object]  # gets the address of a server

# The servers run in a process of their own, so that their memory is not counted.
_HOSTILE = """
import json, sys
from tests.servers.hostile_server import MODES, HostileServer
servers = {name: HostileServer(mode).__enter__() for name, mode in MODES.items()}
print(json.dumps({name: server.url for name, server in servers.items()}), flush=True)
sys.stdin.read()
"""


def servers(
    atlas: landscape.Atlas, folder: Path, n_cases: int, rng: random.Random
) -> Iterator[Case]:
    """Commands and calls that use a model, with hostile model servers."""
    uses = uses_of(atlas, folder / "uses")
    for warm in uses.values():  # loads what a use needs, so that it is not counted as memory
        with contextlib.suppress(LandscapeError):
            warm("http://127.0.0.1:9/v1")
    with subprocess.Popen(
        [sys.executable, "-c", _HOSTILE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None  # noqa: S101 - for mypy
        addresses: dict[str, str] = json.loads(process.stdout.readline())
        notes["servers"] = f"{len(uses)} uses, {len(addresses)} modes"
        pairs = [(use, mode) for use in uses for mode in addresses]
        rng.shuffle(pairs)
        for use, mode in sorted(pairs[: max(n_cases // 5, len(uses))]):
            yield (
                f"{use}: server that {mode}",
                lambda use=use, mode=mode: _timed(lambda: uses[use](addresses[mode])),  # type: ignore[misc]
            )
        process.kill()


def _timed(use: Callable[[], object]) -> None:
    """Run a use, and fail if a request exceeds its time limit by more than one second."""
    from landscape import _http

    late: list[float] = []

    def within(limit: float, *given: Any, **named: Any) -> Iterator[Any]:
        start = time.monotonic()
        try:
            yield from _http.within(limit, *given, **named)
        finally:
            late.append(time.monotonic() - start - min(limit, LIMIT))

    with (
        mock.patch.object(server, "within", within),
        mock.patch.object(reranking, "within", within),
    ):
        error = None
        try:
            use()
        except LandscapeError as raised:
            error = raised
        if not late:
            raise AssertionError(f"no request was sent ({error})")
        if max(late) > 1.0:
            raise AssertionError(f"a request outlived its limit by {max(late):.1f} s")
        if error:
            raise error


def uses_of(atlas: landscape.Atlas, folder: Path) -> dict[str, Use]:
    """Return all commands and calls that use a model, by name."""
    folder.mkdir()
    return _calls(atlas, folder) | _panels(atlas) | _commands(atlas, folder)


def _calls(atlas: landscape.Atlas, folder: Path) -> dict[str, Use]:
    from landscape import agents, search
    from landscape._http import RetryPolicy
    from landscape.agents.mcp_server import make_server
    from landscape.embeddings._openai import OpenAIEmbedder
    from landscape.llm import HttpReranker
    from landscape.llm.region_names import polish_names
    from landscape.outreach.names import ask_names
    from landscape.viewer.selection import ask_papers

    papers = list(atlas.papers["paper_id"][:3])
    regions = [
        {"id": 1, "name": "Dust", "keywords": ["dust"], "titles": ["Dust"], "neighbours": []},
        {"id": 2, "name": "Disks", "keywords": ["disk"], "titles": ["Disks"], "neighbours": []},
    ]
    places = [{"key": "1", "name": "Dust", "keywords": ["dust"]}]
    policy = RetryPolicy(attempts=1, timeout=LIMIT, time_limit=LIMIT, largest_reply=2_000_000)
    bibliography, draft = _draft(folder)
    first = atlas.ask(QUESTION, model=None)

    def tool(name: str, **arguments: Any) -> Callable[[Any], object]:
        from mcp.server.mcpserver.exceptions import ToolError

        def call(model: Any) -> None:
            with contextlib.suppress(ToolError):
                asyncio.run(make_server(atlas, model=model).call_tool(name, arguments))

        return call

    def embed(url: str) -> object:
        options: Any = {"base_url": url, "api_key": "k", "confirm": lambda _: True}
        return OpenAIEmbedder("m", time_limit=LIMIT, retries=0, **options).embed(["Dust cools."])

    def rerank(url: str) -> object:
        return atlas.search(QUESTION, reranker=HttpReranker(base_url=url, policy=policy))

    with_model: dict[str, Callable[[Any], object]] = {
        "ask": lambda m: atlas.ask(QUESTION, model=m),
        "ask, streamed": lambda m: atlas.ask(QUESTION, model=m, on_text=lambda _: None),
        "ask, nuanced": lambda m: atlas.ask(QUESTION, model=m, style="nuanced"),
        "ask, follow-up": lambda m: atlas.ask("And in disks?", model=m, thread=[first]),
        "ask some papers": lambda m: ask_papers(atlas, atlas.select("2000.."), QUESTION, model=m),
        "survey": lambda m: atlas.survey(QUESTION, model=m, papers=5, depth=1),
        "survey, pasa": lambda m: atlas.survey(QUESTION, model=m, papers=5, protocol="pasa"),
        "attribute": lambda m: atlas.attribute(EXCERPT, model=m),
        "cite": lambda m: atlas.cite("Dust cools by lines", model=m, k=3),
        "related work": lambda m: agents.AtlasCollection().add(atlas).related_work(papers, model=m),
        "check_draft": lambda m: agents.check_draft(
            bibliography, [draft], desk=agents.AtlasCollection().add(atlas), model=m
        ),
        "ADS query": lambda m: search.propose_ads_query("papers by Rubin on dust", model=m),
        "names of regions": lambda m: polish_names(m, regions),
        "everyday names": lambda m: ask_names(m, places),
        "MCP ask": tool("ask", question=QUESTION),
        "MCP survey": tool("survey", question=QUESTION, papers=5),
        "MCP attribute": tool("attribute", excerpt=EXCERPT),
    }
    connected: dict[str, Use] = {
        name: lambda url, run=run: run(_connected(url))  # type: ignore[misc]
        for name, run in with_model.items()
    }
    return connected | {"embedder": embed, "reranker": rerank}  # hyde: see the commands


def _panels(atlas: landscape.Atlas) -> dict[str, Use]:
    from landscape import widgets

    def connection(url: str) -> Any:
        with mock.patch.dict(os.environ, _surroundings("")):
            return widgets.Connection(base_url=url, model="m")

    def shown(panel: Any, begin: Callable[[], object]) -> None:
        """Run a panel until it is done; unexpected errors are reported as failed actions."""
        with (
            mock.patch.dict(os.environ, _surroundings("")),
            mock.patch("landscape.widgets._connection._MAX_TEST", LIMIT),
        ):
            begin()
            if not panel.wait(60):
                raise AssertionError("the panel does not end")
        if "This action failed" in panel.status:
            raise AssertionError(panel.status)

    def use(make: Callable[[Any], Any], begin: Callable[[Any], object]) -> Use:
        def run(url: str) -> None:
            panel = make(connection(url))
            shown(panel, lambda: begin(panel))

        return run

    def panel(kind: Any) -> Callable[[Any], Any]:
        return lambda connected: kind(atlas, connection=connected)

    return {
        "panel: connection test": use(lambda connected: connected, lambda p: p.test()),
        "panel: ask": use(panel(widgets.AskPanel), lambda p: p.ask(QUESTION)),
        "panel: survey": use(panel(widgets.SurveyPanel), lambda p: p.survey(QUESTION)),
        "panel: citation": use(panel(widgets.CitationPanel), lambda p: p.find(EXCERPT)),
        "panel: writing": use(panel(widgets.WritingPanel), lambda p: p.cite("Dust cools by")),
    }


def _commands(atlas: landscape.Atlas, folder: Path) -> dict[str, Use]:
    """Return commands of the program, run in this process with the environment of a user."""
    from landscape.corpus.demo import write_demo
    from landscape.embeddings._openai import OpenAIEmbedder

    home, out = str(atlas.path), folder / "built.atlas"
    bibliography, draft = _draft(folder)
    excerpts, places = folder / "excerpts.jsonl", folder / "places.jsonl"
    paper = str(atlas.papers["paper_id"].iloc[0])
    excerpts.write_text(json.dumps({"excerpt": EXCERPT, "answer": paper}) + "\n")
    places.write_text(
        json.dumps({"context": "Dust cools by", "cited": [paper], "sentence": "Dust cools."}) + "\n"
    )
    queries = folder / "queries.jsonl"
    queries.write_text(json.dumps({"question": QUESTION, "relevant": [paper]}) + "\n")
    source = str(write_demo(folder / "corpus", n_papers=80, seed=1).papers)
    build = ["build", source, "--layout", "pca", "--workers", "1", "--tagger", "rules", "--out"]
    commands = {
        "ask": ["ask", home, QUESTION],
        "survey": ["survey", home, QUESTION, "--papers", "5"],
        "attribute": ["attribute", home, EXCERPT],
        "cite": ["cite", home, "Dust cools by lines"],
        "check": ["check", str(bibliography), str(draft), "--atlas", home],
        "search --hyde": ["search", home, QUESTION, "--hyde"],
        "search --rerank-with": ["search", home, QUESTION, "--rerank-with", "cohere:m"],
        "figure query --hyde": [
            "figure",
            "query",
            home,
            QUESTION,
            "--hyde",
            "-o",
            str(folder / "query.png"),
        ],
        "render --everyday": ["render", home, "--everyday", "-o", str(folder / "map.png")],
        "build --polish": [*build, str(out), "--polish"],
        "build --embedder": [
            *build,
            str(folder / "remote.atlas"),
            "--embedder",
            "openai:m",
            "--yes",
        ],
        "evaluate survey": ["evaluate", "survey", home, "--queries", str(queries), "--model"],
        "evaluate attribution": [
            "evaluate",
            "attribution",
            home,
            "--excerpts",
            str(excerpts),
            "--model",
        ],
        "evaluate citing": ["evaluate", "citing", home, "--places", str(places), "--model"],
    }
    short = {"time_limit": LIMIT, "retries": 0}

    def run(words: list[str], url: str) -> None:
        from landscape.cli import main

        with (
            mock.patch.dict(os.environ, _surroundings(url)),
            mock.patch("landscape.llm.reranking.TIMEOUT", LIMIT),
            mock.patch.dict(OpenAIEmbedder.__init__.__kwdefaults__ or {}, short),
            contextlib.redirect_stdout(io.StringIO()) as said,
            contextlib.redirect_stderr(said),
        ):
            main(["--debug", *words])
        if "Traceback" in said.getvalue():
            raise AssertionError(said.getvalue()[-300:])

    return {
        f"landscape {name}": lambda url, words=words: run(words, url)  # type: ignore[misc]
        for name, words in commands.items()
    }


def _surroundings(url: str) -> dict[str, str]:
    names = ("OPENAI_BASE_URL", "LANDSCAPE_RERANK_URL") if url else ()
    return dict.fromkeys(names, url) | {
        "OPENAI_API_KEY": "k",
        "LANDSCAPE_LLM_MODEL": "m",
        "LANDSCAPE_LLM_TIMEOUT": f"{LIMIT:.0f}",
        "LANDSCAPE_LLM_CACHE": tempfile.mkdtemp(),  # no reply of an earlier case
    }


def _connected(url: str) -> Any:
    from landscape.llm import connect

    return connect(model="m", base_url=url, api_key="k", timeout=LIMIT, retries=0)


def _draft(folder: Path) -> tuple[Path, Path]:
    bibliography, draft = folder / "cited.bib", folder / "draft.tex"
    bibliography.write_text(
        "@article{a, title={Dust}, author={N, N.}, year={2001}, abstract={Dust cools by lines.}}"
    )
    draft.write_text("Dust cools by lines \\cite{a}. It has been shown that disks are cold.")
    return bibliography, draft
