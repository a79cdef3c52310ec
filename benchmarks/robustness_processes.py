"""Campaigns on other processes: messages to the MCP server, and killed builds."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Self

import landscape
from benchmarks.robustness_cases import Case, Memory, mutate, notes
from landscape.errors import LandscapeError

_LEAST_WAIT = 10.0  # seconds in which an assistant gets its answer


def messages(atlas: landscape.Atlas, n_cases: int, rng: random.Random) -> Iterator[Case]:
    """Yield mutated arguments of the MCP tools, and mutated lines to the server process."""
    from mcp.server.mcpserver.exceptions import ToolError

    from landscape.agents.mcp_server import make_server

    server = make_server(atlas)
    goods = {"search": "query", "ask": "question", "attribute": "excerpt", "paper": "paper"}
    for _ in range(n_cases // 2):
        tool, name = rng.choice(list(goods.items()))
        arguments = {name: mutate("How does dust cool [CITATION]?", rng)[:9000]}

        def call(tool: str = tool, arguments: dict[str, str] = arguments) -> None:
            try:
                asyncio.run(server.call_tool(tool, arguments))
            except ToolError as error:
                if "Traceback" in str(error):
                    raise AssertionError("a traceback reached the assistant") from error

        yield f"message to {tool}", call
    with _Assistant(atlas) as assistant:
        for number in range(n_cases):
            line = mutate(rng.choice(_LINES), rng).encode("utf-8", "surrogatepass") + b"\n"
            yield (
                "line to the MCP server",
                lambda line=line, number=number: assistant.send(line, asks=number % 20 == 19),  # type: ignore[misc]
            )
        yield "end of the lines to the MCP server", lambda: assistant.send(b"\n", asks=True)
        notes["messages"] = f"MCP process {assistant.memory.peak():,.0f} MB above idle"


def _line(number: int | str, method: str, **parameters: Any) -> str:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
    return json.dumps(message)


_HELLO = _line(
    "hello",
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "robustness", "version": "1"},
)
_LINES = (
    _HELLO,
    '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}',
    _line(1, "tools/list"),
    _line(2, "tools/call", name="search", arguments={"query": "dust", "k": 3, "filter": "2015.."}),
    _line(3, "tools/call", name="similar", arguments={"papers": ["2015ApJ...801...12A"], "k": 2}),
    _line(4, "tools/call", name="ask", arguments={"question": "How does dust cool?"}),
    _line(5, "tools/call", name="survey", arguments={"question": "How does dust cool?"}),
    _line(6, "tools/call", name="attribute", arguments={"excerpt": "Dust cools [CITATION]."}),
    _line(7, "tools/call", name="map_region", arguments={"region": 3}),
    _line(8, "tools/call", name="graph", arguments={"paper": "x", "relation": "cocited", "k": 5}),
    _line(9, "ping"),
)


class _Assistant:
    """A running ``landscape mcp`` that reads lines from standard input."""

    def __init__(self, atlas: landscape.Atlas) -> None:
        words = [sys.executable, "-m", "landscape.cli", "mcp", str(atlas.path)]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._lines: Queue[bytes] = Queue()
        self._number = 0
        threading.Thread(target=self._listen, daemon=True).start()
        self._write(_HELLO.encode() + b"\n")
        self._wait_for("hello", 120.0)
        self._write(_LINES[1].encode() + b"\n")
        for line in _LINES[4:8]:  # loads what the tools need
            self._ask(line.encode(), 120.0)
        self.memory = Memory(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def send(self, line: bytes, *, asks: bool) -> None:
        """Write a line; if `asks`, then also write a valid request and wait for its answer."""
        self._write(line)
        if asks:
            self._ask(_LINES[4].encode(), _LEAST_WAIT)

    def _ask(self, line: bytes, seconds: float) -> None:
        self._number += 1
        name = f"asked-{self._number}"
        message = json.loads(line) | {"id": name}
        self._write(json.dumps(message).encode() + b"\n")
        if "result" not in self._wait_for(name, seconds):
            raise AssertionError(f"a valid request got an error: {line.decode():.200}")

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - for mypy
        if self._process.poll() is not None:
            raise AssertionError(f"the process ended with {self._process.returncode}")
        watch = threading.Timer(60.0, self._process.kill)  # a full pipe blocks the writing
        watch.start()
        self._process.stdin.write(line)
        self._process.stdin.flush()
        watch.cancel()

    def _wait_for(self, name: str, seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(Empty):
                reply = json.loads(line := self._lines.get(timeout=left))
                if b"Traceback" in line:
                    raise AssertionError("a traceback reached the assistant")
                if isinstance(reply, dict) and reply.get("id") == name:
                    return reply
        raise AssertionError(f"a valid request got no answer within {seconds:g} s")

    def _listen(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - for mypy
        for line in self._process.stdout:
            self._lines.put(line)


def kills(folder: Path, n_kills: int, rng: random.Random) -> Iterator[Case]:
    """Yield builds and updates that are killed at random times while another process reads.

    The reader must always find the complete old or the complete new version of the atlas.
    """
    from landscape.corpus.demo import write_demo

    one, two = (
        write_demo(folder / name, n_papers=size, seed=seed).papers
        for seed, (name, size) in enumerate((("one", 300), ("two", 100)))
    )
    new, grown = folder / "new.atlas", folder / "grown.atlas"
    seconds = _build(one, out=grown)  # the first run compiles and loads more than a later one
    versions = {300: [one], 400: [one, two]}
    context = multiprocessing.get_context("spawn")
    stop, (end, other) = context.Event(), context.Pipe()
    reader = context.Process(target=read_on, args=(grown, set(versions), stop, other), daemon=True)
    reader.start()
    target = 400
    for number in range(n_kills):
        after = rng.uniform(0.2, 1.0) * seconds
        out, n_papers = (grown, target) if number % 5 else (new, 300)
        yield (
            f"{out.stem} killed after {after:.1f} s",
            partial(_kill, versions[n_papers], out, after, reader),
        )
        if number >= n_kills - 2 or rng.random() < 0.2:
            yield "the same command again", partial(_finish, versions[n_papers], out, n_papers)
            if out == new:
                shutil.rmtree(out, ignore_errors=True)
            else:
                target = 700 - target
    stop.set()
    found = end.recv() if end.poll(60) else ["the reader does not answer"]
    notes["kills"] = found.pop(0) if len(found) > 0 else ""
    for fault in found or [""]:
        yield "reader beside killed builds", lambda fault=fault: _fail(fault)  # type: ignore[misc]


def _fail(fault: str) -> None:
    if fault:
        raise AssertionError(fault)


def _command(*sources: Path, out: Path) -> list[str]:
    words = [sys.executable, "-m", "landscape.cli", "build", *map(str, sources)]
    return [*words, "--out", str(out), "--seed", "1", "--workers", "2"]


def _build(*sources: Path, out: Path) -> float:
    start = time.monotonic()
    done = subprocess.run(_command(*sources, out=out), capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"the build failed: {done.stderr[-500:]}")
    return time.monotonic() - start


def _kill(sources: list[Path], out: Path, after: float, reader: Any) -> None:
    """Start a build and kill its process group, unless it has ended before."""
    process = subprocess.Popen(
        _command(*sources, out=out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=after)
        if process.returncode:
            raise AssertionError(f"the build failed: {said[-500:]}")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    if not reader.is_alive():
        raise AssertionError(f"the reader died with {reader.exitcode}")


def _finish(sources: list[Path], out: Path, n_papers: int) -> None:
    from landscape.store.info import verify

    _build(*sources, out=out)
    atlas = landscape.open(out)
    if verify(out) or len(atlas) != n_papers or not atlas.search("dust in galaxies").hits:
        raise AssertionError(f"the atlas is wrong: {verify(out)}, {len(atlas)} papers")


def read_on(path: Path, versions: set[int], stop: Any, pipe: Any) -> None:
    """Open and search an atlas until `stop` is set; send the counts and the faults."""
    read = rebuilt = 0
    faults: Counter[str] = Counter()
    held = landscape.open(path)
    while not stop.is_set():
        try:
            opened = landscape.open(path)
        except Exception as error:  # noqa: BLE001 - what is looked for
            faults[f"open: {error!r:.300}"] += 1
            continue
        for atlas in (opened, held):  # also an atlas that was opened before
            try:
                found = [
                    len(atlas.search("dust in galaxies", k=3, method=method).hits)
                    for method in ("words", "semantic", "hybrid")
                ]
                sizes = {len(atlas), len(atlas.papers), len(atlas.map), len(atlas.vectors())}
                if found != [3, 3, 3] or len(sizes) > 1 or not sizes <= versions:
                    faults[f"mixed: {found}, {sizes}"] += 1
                read += 1
            except LandscapeError as error:
                if "was rebuilt since it was opened" in str(error):
                    rebuilt += 1
                else:
                    faults[f"read: {error!r:.300}"] += 1
            except Exception as error:  # noqa: BLE001 - what is looked for
                faults[f"read: {error!r:.300}"] += 1
        held = opened
    counts = f"{read:,} reads gave results, {rebuilt:,} an old atlas, {faults.total():,} an error"
    pipe.send([counts, *sorted(faults)])
