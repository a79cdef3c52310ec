"""The queue of a panel: cancelled work has no effect, and later work runs."""

from __future__ import annotations

import threading

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.widgets._jobs import Job, Turns
from tests.timing import time_limit


def test_what_is_dropped_has_no_effect_and_the_next_begins():
    turns, told, go_on = Turns(), [], threading.Event()

    def turn(word, work):
        job = Job(
            work, done=told.append, failed=told.append, ended=lambda: turns.end(job), kind=word
        )
        return job

    turns.add(turn("first", lambda: go_on.wait(time_limit(60)) and "first"))
    turns.add(turn("second", lambda: "second"))
    turns.add(turn("third", lambda: "third"))
    assert turns.holds("first")
    assert turns.holds("third")
    assert not turns.drop("third")
    assert turns.drop("first")
    assert turns.wait(time_limit(60))
    go_on.set()
    assert told == ["second"]
    assert not turns.holds("first")
    assert not turns.drop("first")
