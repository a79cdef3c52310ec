"""Base class of notebook panels, with background jobs, status messages and the saved result.

Unused widgets remain open in the page, in the kernel, and in notebooks that are saved with their
widgets. Widgets that are no longer shown are therefore closed, together with their parts.
"""

from __future__ import annotations

import html
import time
import uuid
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import ipywidgets as widgets

from landscape.errors import AtlasError, LandscapeError
from landscape.widgets._controls import css_of, make_control, quiet_html, style_sheet
from landscape.widgets._jobs import Job, Turns

if TYPE_CHECKING:
    from landscape.atlas import Atlas

T = TypeVar("T")
Kind = Literal["quiet", "warning", "wrong"]
_SHOWN_AFTER = 0.4  # seconds of work before a progress bar appears
_NEXT = "{title} comes next, after: {now}."
_SOON = 2.0  # seconds of work before the remaining time can be estimated
_MAX_CODE = 2_000  # characters
_RUN_AGAIN = "Run this cell again to use the panel."
# Without the widget, its messages "Loading widget..." and "model not found" are hidden.
_NO_WIDGET = (
    "<style>.jp-OutputArea:has(.landscape-saved):not(:has(.landscape-panel)) "
    ".lm-Panel.jp-OutputArea-output { font-size: 0 }</style>"
)


class Panel(widgets.VBox):
    """Base class of notebook panels, with a heading, status messages and background jobs.

    A panel of an atlas can reopen the atlas after it was rebuilt; its title follows the heading.
    """

    def __init__(
        self, heading: str, body: list[widgets.Widget], *, atlas: Atlas | None = None
    ) -> None:
        self._verb, self._atlas = heading, atlas
        self._reopen = make_control("shared.reopen", self.open_again)
        self._reopen.layout.display = "none"
        self._turns = Turns()
        self._saved_id: str | None = None  # of the saved result below the panel
        self._began = 0.0
        self._status_text = ""
        self._heading, self._status = widgets.HTML(), widgets.HTML()
        self._bar_says, self._code_line = widgets.HTML(), widgets.HTML()
        self._bar = widgets.FloatProgress(
            min=0, max=1, layout={"width": "220px"}, tooltip="Progress"
        )
        self._stop = make_control("shared.stop", lambda: self.stop())
        self._working = widgets.HBox([self._bar, self._stop, self._bar_says])
        self._working.layout.display = "none"
        self.heading, self.code = self._titled(atlas), ""
        super().__init__(
            [
                style_sheet(css_of("panel")),
                self._heading,
                *body,
                self._working,
                self._status,
                self._code_line,
            ]
        )
        self.add_class("landscape-panel")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.heading}>"

    def _ipython_display_(self) -> None:
        """Show the panel, and its last result as HTML for a notebook that is opened again.

        JupyterLab prefers the widget to the HTML of the same output, even if the widget is
        missing; therefore, the HTML is another output. ``panel.css`` hides it above a live panel.
        """
        shell: Any = import_module("IPython.display")  # has no types
        bundle: Any = self._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        self._saved_id = self._saved_id or uuid.uuid4().hex
        shell.display(shell.HTML(self.saved_html()), display_id=self._saved_id)
        shell.display(data, metadata=metadata, raw=True)

    def saved_html(self) -> str:
        """Return HTML with the last result, at most 30 kB, for a notebook that is opened again."""
        title = html.escape(self.heading or repr(self))
        code = f"<pre>{html.escape(self.code[:_MAX_CODE])}</pre>" if self.code else ""
        result = f"<p><b>{title}</b></p>{code}{self._result_html()}"
        return (
            f"{_NO_WIDGET}<div class='landscape-saved'><p>{_RUN_AGAIN}</p>"
            f"<div class='landscape-saved-result'>{result}</div></div>"
        )

    def _result_html(self) -> str:
        """Return HTML of the last result, at most `MAX_SAVED_BYTES`."""
        return ""

    def _save_result(self) -> None:
        """Replace the saved result in the notebook, if the panel was shown in one."""
        if self._saved_id is not None:
            shell: Any = import_module("IPython.display")
            shell.update_display(shell.HTML(self.saved_html()), display_id=self._saved_id)

    @property
    def heading(self) -> str:
        """The heading of the panel."""
        return self._heading_text

    @heading.setter
    def heading(self, text: str) -> None:
        self._heading_text = text
        self._heading.value = f"<div class='landscape-heading'>{html.escape(text)}</div>"

    @property
    def status(self) -> str:
        """The latest status message."""
        return self._status_text

    @property
    def code(self) -> str:
        """Lines of code that produce the same result."""
        return self._code

    @code.setter
    def code(self, line: str) -> None:
        self._code = line
        code = f"<pre class='landscape-code' tabindex='0'>{html.escape(line)}</pre>"
        self._code_line.value = (
            quiet_html("The same in code (click to select):") + code if line else ""
        )

    def say(self, text: str, kind: Kind = "quiet") -> None:
        """Show a status message; screen readers read it aloud."""
        self._status_text = text
        message = f"<div role='status' aria-live='polite' class='landscape-{kind}'>"
        self._status.value = f"{message}{html.escape(text)}</div>" if text else ""

    def run(
        self, title: str, work: Callable[[], T], then: Callable[[T], object], *, kind: str = ""
    ) -> Job[T]:
        """Run a function in the background.

        Only one job runs at a time. A new job replaces older jobs of the same kind, and waits for
        jobs of other kinds.
        """

        def begin_and_work() -> T:
            self._begin_to_show(job)
            return work()

        job: Job[T] = Job(
            begin_and_work,
            done=lambda found: self._finish(job, lambda: then(found)),
            failed=lambda error: self._finish(job, lambda: self._show_error(error)),
            on_progress=self._show_progress,
            ended=lambda: self._turns.end(job),
            title=title,
            kind=kind,
        )
        self.say("")
        now = self._turns.add(job)
        if now is not job:
            self.say(_NEXT.format(title=title, now=now.title))
        return job

    def stop(self) -> None:
        """Stop the running job, and discard the waiting jobs; earlier results are kept."""
        if self._turns.clear() is not None:
            self._working.layout.display = "none"
            self.say("Stopped.")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all jobs have ended; return False after a timeout of `seconds`."""
        return self._turns.wait(seconds)

    def _begin_to_show(self, job: Job[T]) -> None:
        if self._turns.now is not job:
            return
        self._began = time.monotonic()
        if self._status_text.startswith(_NEXT.format(title=job.title, now="")[:-1]):
            self.say("")
        self._bar.value, self._bar.bar_style = 0.0, "info"
        self._bar_says.value = quiet_html(f"{job.title} …")
        self._working.layout.display = ""

    def _finish(self, job: Job[T], show: Callable[[], object]) -> None:
        if self._turns.now is not job:
            return
        self._working.layout.display = "none"
        show()
        self._save_result()

    def _show_error(self, error: Exception) -> None:
        """Show an error as one sentence, without a traceback."""
        is_ours = isinstance(error, LandscapeError)
        text = str(error) if is_ours else f"This action failed: {type(error).__name__}: {error}"
        self.say(text, "wrong")
        if isinstance(error, AtlasError) and self._atlas is not None:
            self._reopen.layout.display = ""

    def _show_progress(self, task: str, done: float, total: float | None, unit: str) -> None:
        seconds = time.monotonic() - self._began
        if seconds < _SHOWN_AFTER:
            return
        text = f"{task}: {done:,.0f}"
        if total:
            share = min(done / total, 1.0)
            self._bar.value = share
            text += f" of {total:,.0f}"
        text += f" {unit}"
        if total and seconds > _SOON and 0 < share < 1:
            text += f", about {seconds * (1 - share) / share:,.0f} s left"
        self._bar_says.value = quiet_html(text)

    # -- the atlas

    @property
    def atlas(self) -> Atlas:
        """The atlas of the panel."""
        if self._atlas is None:
            raise AttributeError(f"{type(self).__name__} has no atlas")
        return self._atlas

    def open_again(self) -> None:
        """Reopen the atlas after it was rebuilt."""
        from landscape.atlas import open as open_atlas

        try:
            atlas = open_atlas(self.atlas.path)
        except LandscapeError as error:
            self._show_error(error)
            return
        self.heading = self._titled(atlas)
        self._reopen.layout.display = "none"
        self.say("The atlas was opened again.")
        self._take(atlas)

    def _titled(self, atlas: Atlas | None) -> str:
        return f"{self._verb} {atlas.title}" if atlas is not None and self._verb else self._verb

    def _take(self, atlas: Atlas) -> None:
        """Use a rebuilt atlas from now on."""
        self._atlas = atlas
