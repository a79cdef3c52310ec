"""What a page sends to its panels is heard in the order in which it was sent, in a real kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

BOX_AND_BUTTON = """
import time
import ipywidgets

heard, box, button = [], ipywidgets.Text(), ipywidgets.Button()

def typed(change):
    time.sleep(0.3)  # a message behind it has time to overtake it
    box.placeholder = f"last: {change.new}"
    heard.append(change.new)

box.observe(typed, "value")
button.on_click(lambda _: heard.append("click"))
print([box.comm.comm_id, button.comm.comm_id])
"""
HEARD = """
end = time.monotonic() + 20
while len(heard) < {}:
    assert time.monotonic() < end, heard
    time.sleep(0.05)
print(heard)
"""


@pytest.fixture
def kernel() -> Iterator[BlockingKernelClient]:
    manager, client = start_new_kernel()
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def printed(kernel: BlockingKernelClient, code: str) -> Any:
    """The value that some code prints, run in the kernel as a cell."""
    lines: list[str] = []

    def on_output(message: dict[str, Any]) -> None:
        lines.append(message["content"].get("text", ""))

    reply = kernel.execute_interactive(code, output_hook=on_output, timeout=60)
    assert reply["content"]["status"] == "ok", reply["content"]
    return ast.literal_eval("".join(lines))


def test_a_click_does_not_overtake_the_letters_before_it(kernel: BlockingKernelClient) -> None:
    box, button = printed(kernel, BOX_AND_BUTTON)
    session = kernel.session
    # As JupyterLab does: all widgets of a kernel speak to one subshell.
    kernel.control_channel.send(session.msg("create_subshell_request", {}))
    subshell = kernel.get_control_msg(timeout=30)["content"]["subshell_id"]

    def send(comm: str, data: dict[str, Any]) -> None:
        message = session.msg("comm_msg", {"comm_id": comm, "data": data})
        message["header"]["subshell_id"] = subshell
        kernel.shell_channel.send(message)

    def type_in(text: str) -> None:
        send(box, {"method": "update", "state": {"value": text}, "buffer_paths": []})

    type_in("d")
    assert printed(kernel, HEARD.format(1)) == ["d"]
    type_in("dust")
    send(button, {"method": "custom", "content": {"event": "click"}})
    assert printed(kernel, HEARD.format(3)) == ["d", "dust", "click"]
