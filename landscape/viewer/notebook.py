"""The map in a notebook: a widget that sends the files of the viewer, and shares its state.

The browser has all that it needs to move the map, to show titles and to search them, so it does not
ask the kernel for these. The kernel sends abstracts, searches by meaning and results when asked.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets

from landscape.errors import InputError, LandscapeError
from landscape.viewer.columns import column_file, columns_to_colour
from landscape.viewer.messages import Read, Request, SearchResult, read_request
from landscape.viewer.settings import SourceSettings
from landscape.viewer.site import bundle
from landscape.viewer.source import MapSource, packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas

    Rows = NDArray[np.int64]

_SENT_BYTES = 6_000_000  # of titles that are sent in one message: those of 60,000 papers
_MAX_SENT = 1_000_000  # papers of an atlas whose titles are sent without being asked for


# A thread that reads files while Python ends can keep the process from ending.
_SENDERS: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
_ENDING = threading.Event()


@atexit.register
def _end_senders() -> None:
    _ENDING.set()
    for sender in list(_SENDERS):
        sender.join(timeout=10)


class MapView(anywidget.AnyWidget):
    """The viewer of an atlas in a notebook.

    Traits that the browser changes are `given` (what the user has chosen, see ``given.js``),
    `selected` (selected points, with a number that counts the changes, because the browser cannot
    compare bytes) and `outline` (corners around exactly these points).
    """

    files = traitlets.Dict().tag(sync=True)
    titles = traitlets.Dict().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    coming = traitlets.Bool(True).tag(sync=True)
    given = traitlets.Dict().tag(sync=True)
    selected = traitlets.Dict().tag(sync=True)
    outline = traitlets.Any(None).tag(sync=True)
    found = traitlets.Dict().tag(sync=True)
    notice = traitlets.Unicode("").tag(sync=True)
    outcome = traitlets.Unicode("").tag(sync=True)
    is_old = traitlets.Bool(False).tag(sync=True)
    theme = traitlets.Unicode("auto").tag(sync=True)
    height = traitlets.Int(640).tag(sync=True)

    def __init__(
        self,
        atlas: Atlas,
        *,
        mine: Rows | None = None,
        on_request: Callable[[Request, Rows], object] | None = None,
        **traits: Any,
    ) -> None:
        self._on_request = on_request
        self._lock = threading.Lock()
        source = self._source_of(atlas, mine)
        super().__init__(_esm=_script(), files=_first_files(source), **traits)
        self.on_msg(self._hear)
        self._send_texts()

    def _source_of(self, atlas: Atlas, mine: Rows | None) -> MapSource:
        # Maps of one atlas share their files, which take seconds to make.
        if mine is None:
            self.source = atlas.cached("notebook_source", _make_source)
        else:
            self.source = _make_source(atlas, mine)
        return self.source

    def show(self, atlas: Atlas, mine: Rows | None) -> None:
        """Show another version of the atlas."""
        source = self._source_of(atlas, mine)
        with self.hold_sync():
            self.coming, self.titles, self.words = True, {}, {}
            self.given, self.selected, self.outline, self.found = {}, {}, None, {}
            self.outcome, self.is_old = "", False
            self.files = _first_files(source)
        self._send_texts()

    # -- rows and points

    @property
    def chosen(self) -> bytes:
        """The selected points. Setting them removes the outline."""
        return bytes(self.selected.get("points", b""))

    @chosen.setter
    def chosen(self, points: bytes) -> None:
        with self.hold_sync():
            self.selected = {"turn": self.selected.get("turn", 0) + 1, "points": points}
            self.outline = None

    def rows_of(self, points: bytes) -> Rows:
        """Return the rows in the atlas of points, in their order."""
        return self.source.order[np.frombuffer(points, dtype="<u4").astype(np.int64)]

    def points_of(self, rows: Sequence[int] | Rows) -> bytes:
        """Return the points of rows of the atlas, in their order."""
        return self.source.point_of[np.asarray(rows, dtype=np.int64)].astype("<u4").tobytes()

    def check_column(self, name: str) -> None:
        """Raise InputError if no paper has a value in a column."""
        column_file(self.source.atlas, name, self.source.order[:1])

    # -- files

    def _send_texts(self) -> None:
        """Send titles and the index of their words in the background."""
        sender = threading.Thread(target=self._send_all_texts, args=(self.source,), daemon=True)
        _SENDERS.add(sender)
        sender.start()

    def _send_all_texts(self, source: MapSource) -> None:
        if len(source.order) <= _MAX_SENT:
            with contextlib.suppress(LandscapeError, OSError):  # said when the file is asked for
                for kind, trait in (("records", "titles"), ("words", "words")):
                    self._send_kind(source, kind, trait)
        if self.source is source:
            self.coming = False

    def _send_kind(self, source: MapSource, kind: str, trait: str) -> None:
        """Set a trait to all files of a kind; if they are large, to one part after the other."""
        sent: dict[str, bytes] = {}
        n_bytes = 0
        for name in source.names(kind):
            if _ENDING.is_set():
                return
            sent[name] = source.file(name)
            n_bytes += len(sent[name])
            if n_bytes > _SENT_BYTES and self.source is source:
                self.set_trait(trait, sent)
                sent, n_bytes = {}, 0
        if sent and self.source is source:
            self.set_trait(trait, sent)

    def _hear(self, _: object, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Send the file that the browser needs; other requests are for `on_request`."""
        try:
            request = read_request(message)
            rows = self._rows_from_page(buffers)
        except LandscapeError as error:
            self.notice = str(error)
            if isinstance(message, Mapping) and message.get("do") == "search":
                key = [message.get(name) for name in ("query", "method", "k", "years")]
                self.show_found(SearchResult(key, problem=str(error)))
            return
        if isinstance(request, Read):
            self._send_file(request.name)
        elif self._on_request is not None:
            self._on_request(request, rows)

    def _rows_from_page(self, buffers: Sequence[Any]) -> Rows:
        """Return the rows of the points in a message; the page may be that of an older atlas."""
        points = bytes(buffers[0]) if buffers else b""
        numbers = np.frombuffer(points[: len(points) // 4 * 4], dtype="<u4")
        if len(points) % 4 or (numbers >= len(self.source.order)).any():
            raise InputError("The page lists papers that the atlas does not have; load it again.")
        return self.rows_of(points)

    def show_found(self, result: SearchResult) -> None:
        """Give the papers found to the searches of the browser that wait for them."""
        self.found = result._asdict()

    def _send_file(self, name: str) -> None:
        answer: dict[str, str] = {"kind": "read", "name": name}
        try:
            with self._lock:
                folder, _, rest = name.partition("/")
                content = (
                    packed(column_file(self.source.atlas, rest, self.source.order))
                    if folder == "columns"
                    else self.source.file(name)
                )
            self.send(answer, buffers=[content])
        except (LandscapeError, OSError) as error:
            self.send(answer | {"error": str(error)})

    def download(self, name: str, kind: str, content: str | bytes) -> None:
        """Let the browser save a file."""
        raw = content.encode() if isinstance(content, str) else content
        self.send({"kind": "download", "name": name, "type": kind}, buffers=[raw])


def _script() -> str:
    return bundle().read_text(encoding="utf-8")


def _make_source(atlas: Atlas, mine: Rows | None = None) -> MapSource:
    source = MapSource(atlas, SourceSettings(search="titles"), mine=mine)
    source.manifest["more_colours"] = columns_to_colour(atlas)
    return source


def _first_files(source: MapSource) -> dict[str, bytes]:
    """Return what the first picture needs."""
    return {name: source.file(name) for name in ("source.json", "points-0.bin")}
