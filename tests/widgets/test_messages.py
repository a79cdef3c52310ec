"""Messages of a page arrive in order in a real kernel.

This depends on the kernel; pyproject.toml requires versions with which these tests pass.
"""

from __future__ import annotations

import ast
import queue
import time
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from landscape.atlas import Atlas
from tests.timing import time_limit

PANEL = """
import time
import landscape as ls
from landscape.widgets import AskPanel

panel, asked = AskPanel(ls.open({path!r})), []
panel.ask = lambda question=None, **settings: asked.append(question or panel._question.value)
plan = panel._show_plan

def slow_plan(*_):
    time.sleep(0.3)  # a message behind it has time to overtake it
    plan()
    panel._question.placeholder = panel._question.value

panel._question.observe(slow_plan, "value")
print([panel._question.comm.comm_id, panel._button.comm.comm_id])
"""
ASKED = """
end = time.monotonic() + {limit}
while len(asked) < {number}:
    assert time.monotonic() < end, asked
    time.sleep(0.05)
print(asked)
"""


@pytest.fixture
def kernel() -> Iterator[BlockingKernelClient]:
    manager, client = start_new_kernel()
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def printed(kernel: BlockingKernelClient, code: str) -> Any:
    """Run code in the kernel as a cell, and return what it prints."""
    lines: list[str] = []

    def on_output(message: dict[str, Any]) -> None:
        lines.append(message["content"].get("text", ""))

    reply = kernel.execute_interactive(code, output_hook=on_output, timeout=time_limit(60))
    assert reply["content"]["status"] == "ok", reply["content"]
    return ast.literal_eval("".join(lines))


def subshell_for_widgets(kernel: BlockingKernelClient) -> dict[str, str]:
    """Create the subshell for widgets, as JupyterLab does if the kernel supports subshells."""
    features = kernel.kernel_info(reply=True, timeout=time_limit(60))["content"].get(
        "supported_features", []
    )
    if "kernel subshells" not in features:
        return {}
    kernel.control_channel.send(kernel.session.msg("create_subshell_request", {}))
    return {"subshell_id": kernel.get_control_msg(timeout=time_limit(30))["content"]["subshell_id"]}


def test_every_request_is_answered(kernel: BlockingKernelClient) -> None:
    # Each cell is asked for while the answer to another request may be on its way, as it is when
    # a page has just connected. ipykernel 7.0 to 7.3 hear nothing more from then on (their issue
    # 1554): the notebook stays at [*].
    for number in range(300):
        waiting = {kernel.kernel_info()}
        time.sleep(0.0004 * (number % 10))
        waiting.add(kernel.execute("pass"))
        while waiting:
            try:
                reply = kernel.get_shell_msg(timeout=time_limit(60))
            except queue.Empty:
                pytest.fail(f"the kernel has not heard {len(waiting)} of two requests")
            waiting.discard(reply["parent_header"]["msg_id"])


def test_a_click_does_not_overtake_the_letters_before_it(
    kernel: BlockingKernelClient, demo_atlas: Atlas
) -> None:
    # ipykernel 7.4 hands the messages of two controls to two threads.
    box, button = printed(kernel, PANEL.format(path=str(demo_atlas.path)))
    session = kernel.session
    subshell = subshell_for_widgets(kernel)

    def send(comm: str, data: dict[str, Any]) -> None:
        message = session.msg("comm_msg", {"comm_id": comm, "data": data})
        message["header"] |= subshell
        kernel.shell_channel.send(message)

    def type_and_click(text: str) -> None:
        send(box, {"method": "update", "state": {"value": text}, "buffer_paths": []})
        send(button, {"method": "custom", "content": {"event": "click"}})

    type_and_click("winds")
    assert printed(kernel, ASKED.format(number=1, limit=time_limit(20))) == ["winds"]
    type_and_click("winds of massive stars")
    assert printed(kernel, ASKED.format(number=2, limit=time_limit(20))) == [
        "winds",
        "winds of massive stars",
    ]
