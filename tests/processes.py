"""Processes that the tests start as a user would."""

from __future__ import annotations

import signal


def interruptible() -> None:
    """Let Ctrl-C end a new process also where whoever started the tests does not heed it.

    A shell starts what it puts in the background deaf to it, and that is inherited.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
