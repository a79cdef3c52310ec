"""Widgets that are shown no more: closed with all that belongs to them.

A widget that is merely dropped stays open: in the page, in the kernel, and in each notebook that is
saved with its widgets.
"""

from __future__ import annotations

import html
import os
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import ipywidgets as widgets

from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.search._settings import is_number, is_whole
from landscape.widgets._jobs import Job, Turn, Turns

if TYPE_CHECKING:
    from landscape.atlas import Atlas


def close_all(*unused: Any) -> None:
    """Close widgets with their children, layouts and styles, all the way down."""
    for one in unused:
        if not isinstance(one, widgets.Widget):
            continue
        close_all(*getattr(one, "children", ()))
        # A figure of plotly has a layout that is none of a widget: its own is passed over above.
        close_all(getattr(one, "layout", None), getattr(one, "style", None))
        one.close()


def checked_atlas(atlas: object) -> Atlas:
    """An open atlas."""
    from landscape.atlas import Atlas

    if isinstance(atlas, Atlas):
        return atlas
    if isinstance(atlas, str | os.PathLike):
        path = os.fspath(atlas)
        raise InputError(
            f"A panel needs an open atlas, not the path {path!r}; open it with ls.open({path!r})."
        )
    raise InputError(f"A panel needs an open atlas, not {atlas!r}; open one with ls.open(path).")


def checked_whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number between two others."""
    if not is_whole(value) or not low <= value <= high:
        raise InputError(f"{name} is {value!r}; give a whole number from {low:,} to {high:,}.")
    return int(value)


def checked_number(name: str, value: Any, low: float, high: float) -> float:
    """A number between two others."""
    if not is_number(value) or not low <= value <= high:
        raise InputError(f"{name} must lie between {low} and {high}, not {value!r}.")
    return float(value)


def checked_names(name: str, value: Any) -> list[str]:
    """No name, one, or several."""
    if value is None:
        return []
    names = [value] if isinstance(value, str) else value
    listed = list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(one, str) for one in listed):
        raise InputError(f"{name} is {value!r}; give a name, or a list of names.")
    return listed


def checked_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; give True or False.")
    return value


T = TypeVar("T")
Kind = Literal["quiet", "warning", "wrong"]
_SHOWN_AFTER = 0.4  # seconds of work before a bar is worth the unrest
_NEXT = "{title} comes next, after: {now}."
_SOON = 2.0  # seconds before which no time left can be told


class Panel(widgets.VBox):
    """A panel of a notebook."""

    def __init__(self, heading: str, body: list[widgets.Widget]) -> None:
        self._turns = Turns()
        self._began = 0.0
        self._status_text = ""
        self._heading = widgets.HTML()
        self.heading = heading
        self._status = widgets.HTML()
        self._bar = widgets.FloatProgress(
            min=0, max=1, layout=widgets.Layout(width="220px"), tooltip="Progress"
        )
        self._bar_says = widgets.HTML()
        self._stop = widgets.Button(
            description="Stop", icon="stop", tooltip="Stop this work and keep what is there",
            layout=widgets.Layout(width="90px"),
        )  # fmt: skip
        self._stop.on_click(lambda _: self.stop())
        self._working = widgets.HBox([self._bar, self._stop, self._bar_says])
        self._working.layout.display = "none"
        self._code_line = widgets.HTML()
        self.code = ""
        super().__init__(
            [
                widgets.HTML(f"<style>{_css()}</style>", layout=widgets.Layout(display="none")),
                self._heading, *body, self._working, self._status, self._code_line,
            ]
        )  # fmt: skip
        self.add_class("landscape-panel")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.heading}>"

    @property
    def heading(self) -> str:
        """What the panel is about."""
        return self._heading_text

    @heading.setter
    def heading(self, text: str) -> None:
        self._heading_text = text
        self._heading.value = f"<div class='landscape-heading'>{html.escape(text)}</div>"

    @property
    def status(self) -> str:
        """What the panel said last."""
        return self._status_text

    @property
    def code(self) -> str:
        """The line of code that makes the same result."""
        return self._code

    @code.setter
    def code(self, line: str) -> None:
        self._code = line
        said = "<span class='landscape-quiet'>The same in code (click to select):</span>"
        code = f"<pre class='landscape-code' tabindex='0'>{html.escape(line)}</pre>"
        self._code_line.value = said + code if line else ""

    def say(self, text: str, kind: Kind = "quiet") -> None:
        """Put a sentence under the panel, where screen readers notice it."""
        self._status_text = text
        self._status.value = (
            f"<div role='status' aria-live='polite' class='landscape-{kind}'>"
            f"{html.escape(text)}</div>"
            if text
            else ""
        )

    def run(
        self, title: str, work: Callable[[], T], then: Callable[[T], Any], *, kind: str = ""
    ) -> Job[T]:
        """Do something long in the background.

        One piece of work is done at a time. A newer one takes the place of an older one of its
        kind; after one of another kind it waits, and the panel says so.
        """

        def begin_and_work() -> T:
            self._begin_to_show(job, title)
            return work()

        job: Job[T] = Job(
            begin_and_work,
            done=lambda found: self._finish(job, lambda: then(found)),
            failed=lambda error: self._finish(job, lambda: self._tell(error)),
            on_progress=self._show_progress,
            ended=lambda: self._turns.end(job),
        )
        self.say("")
        now = self._turns.add(Turn(title, kind, job))
        if now.job is not job:
            self.say(_NEXT.format(title=title, now=now.title))
        return job

    def stop(self) -> None:
        """Stop what is running, and what waits for it; what was there before stays."""
        if self._turns.clear() is not None:
            self._working.layout.display = "none"
            self.say("Stopped.")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing runs any more; False if that takes longer than `seconds`."""
        return self._turns.wait(seconds)

    def _begin_to_show(self, job: Job[Any], title: str) -> None:
        if not self._is_now(job):
            return
        self._began = time.monotonic()
        if self._status_text.startswith(_NEXT.format(title=title, now="")[:-1]):
            self.say("")
        self._bar.value, self._bar.bar_style = 0.0, "info"
        self._bar_says.value = f"<span class='landscape-quiet'>{html.escape(title)} …</span>"
        self._working.layout.display = ""

    def _is_now(self, job: Job[Any]) -> bool:
        now = self._turns.now
        return now is not None and now.job is job

    def _finish(self, job: Job[Any], told: Callable[[], Any]) -> None:
        if not self._is_now(job):
            return
        self._working.layout.display = "none"
        try:
            told()
        except Exception as error:  # noqa: BLE001 - in a thread, nobody else would tell it
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        """An error as one sentence; a traceback would tell the reader of the page nothing."""
        if isinstance(error, LandscapeError):
            self.say(str(error), "wrong")
        else:
            self.say(f"This failed: {type(error).__name__}: {error}", "wrong")

    def _show_progress(self, task: str, done: float, total: float | None, unit: str) -> None:
        seconds = time.monotonic() - self._began
        if seconds < _SHOWN_AFTER:
            return
        words = f"{task}: {done:,.0f}"
        if total:
            share = min(done / total, 1.0)
            self._bar.value = share
            words += f" of {total:,.0f} {unit}"
            if seconds > _SOON and 0 < share < 1:
                words += f", about {seconds * (1 - share) / share:,.0f} s left"
        else:
            words += f" {unit}"
        self._bar_says.value = f"<span class='landscape-quiet'>{html.escape(words)}</span>"


@cache
def _css() -> str:
    return files("landscape.widgets").joinpath("panel.css").read_text(encoding="utf-8")


class OpenedPanel(Panel):
    """A panel of an atlas, which offers to open it again where it was built again."""

    def __init__(self, verb: str, atlas: Atlas, body: list[widgets.Widget]) -> None:
        self._verb, self._atlas = verb, checked_atlas(atlas)
        self._reopen = widgets.Button(
            description="Open the atlas again", icon="refresh",
            tooltip="Open the atlas as it is now; what is shown stays until something new is",
            layout=widgets.Layout(width="190px", display="none"),
        )  # fmt: skip
        self._reopen.on_click(lambda _: self.open_again())
        super().__init__(f"{verb} {atlas.title}", body)

    @property
    def atlas(self) -> Atlas:
        """The atlas that is asked."""
        return self._atlas

    def open_again(self) -> None:
        """Open the atlas as it is now, after it was built again."""
        from landscape.atlas import open as open_atlas

        try:
            atlas = open_atlas(self._atlas.path)
        except LandscapeError as error:
            self._tell(error)
            return
        self.heading = f"{self._verb} {atlas.title}"
        self._reopen.layout.display = "none"
        self.say("The atlas was opened again.")
        self._take(atlas)

    def _take(self, atlas: Atlas) -> None:
        """Go on with the atlas as it is now."""
        self._atlas = atlas

    def _tell(self, error: Exception) -> None:
        super()._tell(error)
        if isinstance(error, AtlasError):
            self._reopen.layout.display = ""
