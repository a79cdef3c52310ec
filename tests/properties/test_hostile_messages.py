"""A server of tools answers a valid request after any damaged line."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape import Atlas
from tests.properties.hostile import EDITS, HOSTILE, Edit, damaged
from tests.timing import time_limit


def message(number: int | str, method: str, **parameters: Any) -> bytes:
    """Return a line of the protocol."""
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
    return json.dumps(request).encode() + b"\n"


CLIENT = {"name": "test", "version": "1"}
HELLO = message(
    "hello", "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=CLIENT
)
READY = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
LINES = (
    HELLO,
    READY,
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}\n',
    message(1, "tools/list"),
    message(2, "tools/call", name="search", arguments={"query": "dust", "k": 3}),
    message(3, "tools/call", name="similar", arguments={"papers": ["2015ApJ...801...12A"]}),
    message(4, "tools/call", name="ask", arguments={"question": "How does dust cool?"}),
    message(5, "tools/call", name="attribute", arguments={"excerpt": "Dust cools [CITATION]."}),
    message(6, "tools/call", name="map_region", arguments={"region": 3}),
    message(7, "tools/call", name="graph", arguments={"paper": "x", "relation": "cocited"}),
    message(8, "ping"),
)


class Assistant:
    """A running ``landscape mcp``, whose standard error is not read."""

    def __init__(self, atlas: Atlas) -> None:
        words = [sys.executable, "-m", "landscape.cli", "mcp", str(atlas.path)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._replies: Queue[bytes] = Queue()
        self._asked = 0
        threading.Thread(target=self._listen, daemon=True).start()
        self.write(HELLO)
        self._wait_for("hello")
        self.write(READY)

    def write(self, line: bytes) -> None:
        """Write one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the reply to a valid request."""
        self._asked += 1
        self.write(message(f"asked-{self._asked}", method, **parameters))
        return self._wait_for(f"asked-{self._asked}")

    def _wait_for(self, name: str) -> dict[str, Any]:
        while True:
            line = self._replies.get(timeout=time_limit(60))
            assert b"Traceback" not in line
            reply = json.loads(line)
            if isinstance(reply, dict) and reply.get("id") == name:
                return reply

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._replies.put(line)


@pytest.fixture(scope="module")
def assistant(finished: Atlas) -> Iterator[Assistant]:
    """One process for all examples."""
    running = Assistant(finished)
    yield running
    running.process.kill()
    running.process.wait()


@settings(max_examples=60)
@given(line=st.sampled_from(LINES), edits=EDITS, text=HOSTILE)
def test_a_damaged_line_does_not_stop_the_server(
    assistant: Assistant, line: bytes, edits: list[Edit], text: str
) -> None:
    assistant.write(damaged(line, edits) + b"\n")
    assert assistant.ask("ping")["result"] == {}
    assistant.write(message(9, "tools/call", name="search", arguments={"query": text}))
    found = assistant.ask("tools/call", name="search", arguments={"query": "galaxies", "k": 2})
    assert not found["result"].get("isError")
    assert assistant.process.poll() is None
