"""The map explorer: the viewer in a notebook, with a kernel that searches and answers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from landscape._io import expand_home, write_output
from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.store.manifest import current_version
from landscape.store.tables import LABELS, write_labels
from landscape.viewer import exploring, messages
from landscape.viewer import selection as selecting
from landscape.viewer.columns import VIEWER, check_colour
from landscape.viewer.notebook import MapView
from landscape.viewer.settings import DEFAULTS
from landscape.viewer.state import find_set, inside, passing
from landscape.widgets._controls import checked_atlas, checked_whole
from landscape.widgets._panel import Kind, Panel

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Answer
    from landscape.viewer.exploring import Found

    Rows = NDArray[np.int64]

T = TypeVar("T")
_HISTORY = 50


_TABLES = {"papers.csv": selecting.papers_as_csv, "papers.bib": selecting.papers_as_bibtex}


@dataclass(frozen=True)
class Picture:
    """A PNG picture, which notebooks show, and its description."""

    png: bytes
    words: str

    def __repr__(self) -> str:
        return self.words

    def _repr_png_(self) -> bytes:
        return self.png


class MapExplorer(Panel):
    """Interactive map of an atlas, with search, filters and selection of papers.

    The map moves, names papers and searches titles in the browser, also while a cell runs. `code`
    contains the call that creates a map in the same state.

    Parameters
    ----------
    atlas : Atlas
    view : sequence of 4 float, optional
        Window ``(x0, y0, x1, y1)`` in map units. Default: the whole map.
    colour_by : str, default "region"
        ``"region"``, ``"density"``, ``"year"``, ``"citations"``, ``"facility"``, ``"concept"`` or
        any column of the papers.
    time : (int, int), optional
        First and last year of the papers that pass the filter.
    region : str or int, optional
        Name or number of a region, whose papers pass the filter.
    concept, facility : str, optional
        Concept of the thesaurus, or facility, whose papers pass the filter.
    layers : sequence of str, default ("names", "papers")
        Layers to show: ``"names"``, ``"papers"`` and ``"reviews"``.
    search : str, optional
        Text to search for.
    method : {"hybrid", "semantic", "words", "filter"}, default "hybrid"
    k : int, default 30
        Number of papers to find.
    select : str, optional
        Filter of the papers to select.
    outline : sequence of (float, float), optional
        Corners of an outline in map units. The papers inside the outline are selected.
    mine : path or sequence of str, optional
        Your own papers, as the name of a library, a ``.bib`` or other file, or a list of bibcodes,
        arXiv identifiers or DOIs. They have a colour of their own.
    theme : {"auto", "light", "dark"}, default "auto"
        ``"auto"`` is the theme of the notebook.
    height : int, default 640
        Height of the map in pixels.

    Attributes
    ----------
    selection : pandas.DataFrame
        The selected papers. It can be set to rows, a mask, a filter or a similar data frame.
    results : Found or None
        Result of the last search.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> import landscape as ls
    >>> from landscape.widgets import MapExplorer
    >>> explorer = MapExplorer(ls.open("my.atlas"), colour_by="year")  # doctest: +SKIP
    >>> explorer.select("2015..; facility:ALMA").selection  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        view: Sequence[float] | None = None,
        colour_by: str = "region",
        time: Sequence[int] | None = None,
        region: str | int | None = None,
        concept: str | None = None,
        facility: str | None = None,
        layers: Sequence[str] = ("names", "papers"),
        search: str | None = None,
        method: str = "hybrid",
        k: int = 30,
        select: str | None = None,
        outline: Sequence[Sequence[float]] | None = None,
        mine: str | Path | Iterable[str] | None = None,
        theme: str = "auto",
        height: int = 640,
    ) -> None:
        checked_atlas(atlas)
        _, self._built = current_version(atlas.path)
        self._results: Found | None = None
        self._finding: list[object] | None = None  # key of the search that runs
        self._chosen_by: tuple[str, bytes] | None = None  # filter, and the points that it selects
        self._history: list[object] = []
        self.mine = mine if mine is None or isinstance(mine, str | Path) else list(mine)
        self.map = MapView(
            atlas,
            mine=exploring.rows_of_papers(atlas, self.mine),
            on_request=self._answer,
            theme=exploring.checked_choice("theme", theme, ("auto", "light", "dark")),
            height=checked_whole("height", height, 300, 3000),
        )
        super().__init__("", [self.map], atlas=atlas)
        self.add_class("landscape-explorer")
        self._heading.layout.display = "none"  # the viewer shows the title
        self._connect()
        self.time, self.layers, self.colour_by = time, layers, colour_by
        self.region, self.concept, self.facility = region, concept, facility
        if view is not None:
            self.view = view
        if outline is not None:
            corners = exploring.checked_outline(outline)
            self._choose(np.intersect1d(inside(self.map.source, corners), self._passing()))
            self.map.outline = [list(corner) for corner in corners]
        if select:
            self.select(select)
        if search:
            self.search(search, method=method, k=k)
        self._write_code()

    def __repr__(self) -> str:
        chosen = f", {len(self.rows):,} selected" if len(self.rows) else ""
        found = f", {len(self.results.rows):,} found" if self.results else ""
        return f"<MapExplorer of {self.atlas.title!r}: {len(self.atlas):,} papers{found}{chosen}>"

    def _connect(self) -> None:
        self.map.observe(self._follow, ["given", "selected", "outline"])

    def _answer(self, request: messages.Request, listed: Rows) -> None:
        """Do what the page asks for; `listed` are the papers that it lists."""
        try:
            match request:
                case messages.Search(query, method, k, years):
                    self._find(query, method, k, years)
                case messages.Select(text):
                    self._select_in_background(text)
                case messages.Summary():
                    self._show_summary()
                case messages.Compare():
                    self._show_comparison()
                case messages.Ask(question):
                    self._show_answer(question)
                case messages.Save(suffix):
                    self._make_file(suffix)
                case messages.Table(name):
                    self._make_table(name, listed)
                case messages.Rename(region, label):
                    self.rename(region, label)
                case messages.Reload():
                    self.reload()
        except LandscapeError as error:
            self._show_error(error)

    # -- what is shown

    @property
    def view(self) -> tuple[float, float, float, float]:
        """The window, ``(x0, y0, x1, y1)`` in map units."""
        x0, y0, side = self.map.source.box
        box = self.map.given.get("view") or (x0, y0, x0 + side, y0 + side)
        return tuple(map(float, box))  # type: ignore[return-value]

    @view.setter
    def view(self, box: Sequence[float] | None) -> None:
        self._set(view=None if box is None else list(exploring.checked_window(box)))

    @property
    def colour_by(self) -> str:
        """Variable shown as colour."""
        return str(self._get("colour"))

    @colour_by.setter
    def colour_by(self, name: str) -> None:
        check_colour(self.atlas, name)
        if name not in VIEWER:
            self.map.check_column(name)
        self._set(colour=name)

    @property
    def time(self) -> tuple[int, int] | None:
        """First and last year; None stands for all papers, including papers without a year."""
        years = self.map.given.get("years")
        return (int(years[0]), int(years[1])) if years else None

    @time.setter
    def time(self, period: Sequence[int] | None) -> None:
        known = self.map.source.manifest["years"]
        chosen = exploring.checked_time(period, known and tuple(known))
        if chosen != self.time:
            self._set(years=chosen and list(chosen))
            self._find_again()

    @property
    def region(self) -> str | None:
        """Region whose papers pass the filter."""
        topics, number = self.atlas.topics, self.map.given.get("region")
        found = topics["label"][topics["topic_id"] == number]
        return str(found.iloc[0]) if len(found) else None

    @region.setter
    def region(self, region: str | int | None) -> None:
        self._set(region=None if region is None else self._topic(region))

    @property
    def concept(self) -> str | None:
        """Concept whose papers pass the filter."""
        return self.map.given.get("concept")

    @concept.setter
    def concept(self, name: str | None) -> None:
        chosen = exploring.checked_name("concept", name)
        if chosen:
            chosen = self.atlas.thesaurus.find(chosen).label
            chosen = find_set(self.map.source, "concepts", chosen).name
        self._set(concept=chosen)

    @property
    def facility(self) -> str | None:
        """Facility whose papers pass the filter."""
        return self.map.given.get("facility")

    @facility.setter
    def facility(self, name: str | None) -> None:
        from landscape.corpus import find_facility

        chosen = exploring.checked_name("facility", name)
        if chosen:
            chosen = find_set(self.map.source, "facilities", find_facility(chosen).name).name
        self._set(facility=chosen)

    @property
    def layers(self) -> tuple[str, ...]:
        """The visible layers: any of names, papers and reviews."""
        return tuple(name for name in exploring.LAYERS if name in self._get("layers"))

    @layers.setter
    def layers(self, names: Sequence[str]) -> None:
        chosen = exploring.checked_layers(names)
        self._set(layers=[name for name in exploring.LAYERS if name in chosen])

    @property
    def theme(self) -> str:
        """Colours of the map: "auto", "light" or "dark"."""
        return str(self.map.theme)

    @theme.setter
    def theme(self, name: str) -> None:
        self.map.theme = exploring.checked_choice("theme", name, ("auto", "light", "dark"))
        self._write_code()

    def go_to(self, region: str | int) -> Self:
        """Show the region with the given name or number.

        Raises
        ------
        InputError
            If the region does not exist.
        """
        source = self.map.source
        row = int(np.flatnonzero(source.topics["topic_id"] == self._topic(region))[0])
        own = source.plane[np.isin(source.region, source.inside(row))]
        x0, y0, side = source.box
        # The window that contains the middle 96% of the papers.
        low, high = np.quantile(own, [0.02, 0.98], axis=0)
        margin = max(0.12 * float((high - low).max()), 1e-3)
        corners = np.concatenate([low - margin, high + margin]) * side + [x0, y0, x0, y0]
        self.view = corners.tolist()
        return self

    def zoom(self, factor: float) -> Self:
        """Zoom in by `factor` around the middle of the window.

        Raises
        ------
        InputError
            If the factor is not a positive number.
        """
        times = exploring.checked_factor(factor)
        x0, y0, x1, y1 = self.view
        side = self.map.source.box[2]
        wide = float(np.clip((x1 - x0) / times, side / 200, 2 * side)) / 2
        high = wide * (y1 - y0) / (x1 - x0)
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        self.view = (x - wide, y - high, x + wide, y + high)
        return self

    def home(self) -> Self:
        """Show the whole map."""
        self._set(view=None)
        return self

    def back(self) -> Self:
        """Return to the previous window."""
        if self._history:
            before = self._history.pop()
            self._set(view=before)
            self._history.pop()  # the window that is left is not a window to return to
        return self

    # -- search and selection

    @property
    def results(self) -> Found | None:
        """Result of the last search."""
        return self._results

    def search(self, query: str, *, method: str = "hybrid", k: int = 30) -> Self:
        """Search in the background, and mark the papers found; see `results`.

        Parameters
        ----------
        query : str
        method : {"hybrid", "semantic", "words", "filter"}, default "hybrid"
            Search by words and meaning, by meaning, by words, or with a Boolean filter.
        k : int, default 30
            Number of papers to find.

        Raises
        ------
        InputError
            If the query is empty, or the method is unknown.
        """
        exploring.check_search(query, method)
        checked_whole("k", k, 1, 10_000)
        self._set(query=query, method=method, k=k)
        self._find_again()
        return self

    def _find_again(self) -> None:
        query, years = self.map.given.get("query"), self.time
        if query:
            self._find(query, self._get("method"), self._get("k"), years and list(years))

    def _find(self, query: str, method: str, k: int, years: Sequence[int] | None) -> None:
        """Search, and tell the browser; the key says to which search an answer belongs."""
        key = [query, method, k, years]
        known = self.map.found
        is_known = key == known.get("key") and not known.get("problem")
        if is_known or (key == self._finding and self._turns.holds("search")):
            return
        self._finding = key

        def work() -> Found | Exception:
            try:
                time = (years[0], years[1]) if years else None
                return exploring.find_papers(self.atlas, query, method=method, k=k, time=time)
            except Exception as error:  # noqa: BLE001 - the page waits for an answer
                return error

        def then(found: Found | Exception) -> None:
            self._finding = None
            if isinstance(found, Exception):
                self._results = None
                self.map.show_found(messages.SearchResult(key, problem=str(found)))
                self._show_error(found)
                return
            self._results = found
            points = self.map.points_of(found.rows)
            self.map.show_found(messages.SearchResult(key, found.note, points=points))

        self.run("Searching", work, then, kind="search")

    @property
    def rows(self) -> Rows:
        """Rows of the selected papers in the atlas."""
        return np.sort(self.map.rows_of(self.map.chosen))

    @property
    def selection(self) -> pd.DataFrame:
        """The selected papers, one per row; see `landscape.viewer.selection.selection_table`."""
        return selecting.selection_table(self.atlas, self.rows)

    @selection.setter
    def selection(self, selection: Any) -> None:
        self.select(selection)

    def select(self, selection: Any) -> Self:
        """Select papers.

        Parameters
        ----------
        selection : str, array_like or pandas.DataFrame
            Filter such as ``"2015..; author:Rubin"``, rows, a mask, or a table such as `selection`.

        Returns
        -------
        MapExplorer

        Raises
        ------
        InputError
            If the selection is invalid.
        """
        if isinstance(selection, str):
            self._choose(self.atlas.select(selection), by=selection)
        else:
            given = selection.index if hasattr(selection, "columns") else selection
            self._choose(selecting.rows_of_selection(given, len(self.atlas)))
        return self

    def clear(self) -> Self:
        """Clear the selection and the search."""
        self._turns.drop("search")
        self._finding = None
        self._choose(np.zeros(0, dtype=np.int64))
        self._set(query=None, method=None, k=None)
        return self

    def _choose(self, rows: Rows, by: str | None = None) -> None:
        points = self.map.points_of(rows)
        self._chosen_by = None if by is None else (by, points)
        self.map.chosen = points
        self._write_code()

    def _select_in_background(self, filter: str) -> None:  # noqa: A002 - the word of the field
        before = self.map.selected.get("turn")

        def then(rows: Rows) -> None:
            if self.map.selected.get("turn") == before:  # the selection has not changed meanwhile
                self._choose(rows, by=filter)
                if not len(rows):
                    self.say("No paper passes this filter.", "warning")

        self.run("Selecting", lambda: self.atlas.select(filter), then, kind="select")

    @property
    def selected_by(self) -> str | None:
        """Filter that made the selection, if it was made by a filter."""
        by = self._chosen_by
        return by[0] if by is not None and by[1] == self.map.chosen else None

    def _some_rows(self) -> Rows:
        if not len(self.rows):
            raise InputError(
                "No paper is selected. Draw around papers with Select, or use select(filter)."
            )
        return self.rows

    def _passing(self) -> Rows:
        return np.flatnonzero(passing(self.map.source, self.map.given))

    # -- results on the selection

    def summarise(self) -> selecting.Summary:
        """Count years, regions, keywords and facilities of the selected papers.

        Raises
        ------
        InputError
            If nothing is selected.
        """
        return selecting.summarise(self.atlas, self._some_rows())

    def compare(self) -> Analysis:
        """Compare the selection with all other papers in each region.

        Raises
        ------
        InputError
            If no papers, or all papers, are selected.
        """
        return selecting.compare_with_rest(self.atlas, self._some_rows())

    def ask(self, question: str, *, model: object = "auto", **settings: object) -> Answer:
        """Answer a question from the selected papers, or from all papers if none is selected.

        Parameters
        ----------
        question : str
        model : WritingModel, "auto" or None, default "auto"
            Language model; see ``atlas.ask``.
        **settings
            Settings of ``atlas.ask``.

        Returns
        -------
        Answer
        """
        return selecting.ask_papers(self.atlas, self.rows, question, model=model, **settings)

    def _show_result(self, title: str, work: Callable[[], T], write: Callable[[T], str]) -> None:
        """Run a function in the background. Show its result if the selection has not changed."""
        turn = self.map.selected.get("turn")

        def then(made: T) -> None:
            if self.map.selected.get("turn") == turn:
                self.map.outcome = write(made)

        self.map.outcome = ""
        self.run(title, work, then, kind="outcome")

    def _show_summary(self) -> None:
        rows = self._some_rows()
        self._show_result(
            "Counting", lambda: selecting.summarise(self.atlas, rows), selecting.Summary._repr_html_
        )

    def _show_comparison(self) -> None:
        rows = self._some_rows()
        self._show_result(
            "Comparing",
            lambda: selecting.compare_with_rest(self.atlas, rows),
            selecting.comparison_html,
        )

    def _show_answer(self, question: str) -> None:
        rows = self.rows
        self._show_result(
            "Asking the papers",
            lambda: selecting.ask_papers(self.atlas, rows, question),
            lambda answer: answer._repr_html_(),
        )

    # -- files

    def save(self, path: str | Path) -> Path:
        """Save the map as shown, or the selected papers.

        Parameters
        ----------
        path : path
            File name. ``.png``, ``.pdf`` and ``.svg`` save the map for print, ``.html`` saves a
            page with the whole viewer that works offline, ``.csv`` and ``.bib`` save the selected
            papers.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            If the suffix is unknown, the folder cannot be written, or the atlas has too many
            papers for a page.
        """
        target = expand_home(path)
        if (table := f"papers{target.suffix.lower()}") in _TABLES:
            content = _TABLES[table](self.atlas, self._some_rows())
            return write_output(target, content)
        from landscape.figures import save_figure
        from landscape.figures.export import check_kind
        from landscape.viewer.printing import Shown, print_map

        found = np.zeros(0, dtype=np.int64) if self.results is None else self.results.rows
        check_kind(target)
        if target.suffix.lower() == ".html":
            return write_output(target, self._page(found))
        shown = Shown(self.map.source, self.map.given, self.rows, found)
        return save_figure(print_map(shown, "dark" if self.theme == "dark" else "light"), target)

    def _page(self, found: Rows) -> str:
        """Return a page with the viewer in the same state; papers found are selected there."""
        from landscape.viewer import single_page

        # A page cannot search by meaning.
        given = {k: v for k, v in self.map.given.items() if k not in ("query", "method", "k")}
        rows = self.rows if len(self.rows) else found
        if len(rows):
            given["selected"] = rows
        return single_page(self.atlas, given=given, mine=self.map.source.mine)

    def picture(self) -> Picture:
        """Return the map as a picture, which a saved notebook shows without a kernel.

        Returns
        -------
        Picture
            PNG with a text that describes it.
        """
        with tempfile.TemporaryDirectory() as folder:
            content = self.save(Path(folder) / "map.png").read_bytes()
            words = (Path(folder) / "map.alt.txt").read_text(encoding="utf-8")
        return Picture(content, words.strip())

    def _make_file(self, suffix: str) -> None:
        exploring.checked_choice("suffix", suffix, (".png", ".pdf", ".svg", ".html"))
        stem = "".join(c if c.isalnum() else "-" for c in self.atlas.title.lower())[:40].strip("-")
        name = f"{stem or 'map'}{suffix}"

        def make() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                return self.save(Path(folder) / name).read_bytes()

        def then(content: bytes) -> None:
            self.map.download(name, "application/octet-stream", content)
            self.map.notice = f"The browser has {name}."

        self.run("Drawing the file", make, then, kind="file")
        self.map.notice = f"{name} is being drawn …"

    def _make_table(self, name: str, rows: Rows) -> None:
        exploring.checked_choice("name", name, tuple(_TABLES))

        def then(content: str) -> None:
            self.map.download(name, "text/plain;charset=utf-8", content)

        self.run("Writing the file", lambda: _TABLES[name](self.atlas, rows), then, kind="file")

    # -- two explorers

    def link(self, other: MapExplorer) -> None:
        """Let two explorers of one atlas share window, filters, search and selection.

        They are linked in the browser, so this also works while the kernel is busy.

        Raises
        ------
        InputError
            If the explorers show different atlases.
        """
        from ipywidgets import jslink

        if other.atlas.path.resolve() != self.atlas.path.resolve():
            raise InputError(
                f"{other.atlas.path} is another atlas than {self.atlas.path}; two explorers share "
                "a selection only if they show the same papers."
            )
        for name in ("given", "selected"):
            jslink((self.map, name), (other.map, name))

    # -- state

    def _get(self, name: str) -> Any:
        return self.map.given.get(name, DEFAULTS.get(name))

    def _set(self, **changes: object) -> None:
        given = {**self.map.given, **changes}
        kept = {k: v for k, v in given.items() if v is not None and v != DEFAULTS.get(k)}
        self.map.given = kept
        self._write_code()

    def _follow(self, change: dict[str, Any]) -> None:
        """Follow a change of the browser, or of another cell."""
        if change["name"] == "given":
            before = (change["old"] or {}).get("view")
            if before != change["new"].get("view"):
                self._history = [*self._history[-_HISTORY:], before]
            if not change["new"].get("query"):
                self._results, self.map.found = None, {}
        self._check_atlas()
        self._write_code()

    def _write_code(self) -> None:
        line = exploring.line_of_code(
            self.map, region=self.region, selected_by=self.selected_by, mine=self.mine
        )
        if line != self.code:
            self.code = line

    def say(self, text: str, kind: Kind = "quiet") -> None:
        """Show a message below the map; problems are also shown on the map."""
        super().say(text, kind)
        self.map.notice = text if kind in ("warning", "wrong") else ""

    def _topic(self, region: str | int) -> int:
        """Return the number of a region, given by name or number."""
        topics = self.atlas.topics
        if isinstance(region, str):
            found = topics[topics["label"].astype(str).str.casefold() == region.casefold()]
        else:
            found = topics[topics["topic_id"] == region]
        if found.empty:
            raise InputError(f"There is no region {region!r} on this map; see atlas.topics.")
        return int(found["topic_id"].iloc[0])

    def rename(self, region: str | int, label: str) -> Self:
        """Save another name of a region in ``labels.csv`` of the atlas, and open the atlas again.

        An empty name restores the name of the build.

        Raises
        ------
        InputError
            If the region does not exist, or the file cannot be written.
        AtlasError
            If ``labels.csv`` cannot be read.
        """
        topics = self.atlas.topics.set_index("topic_id")
        old = topics["label"][self._topic(region)]
        # A continent of one region has its name, and is renamed with it.
        numbers = topics.index[topics["label"] == old].tolist()
        write_labels(self.atlas.path / LABELS, dict.fromkeys(numbers, label))
        return self.reload()

    # -- an atlas that was rebuilt

    def open_again(self) -> None:
        """Reopen the atlas after it was rebuilt; the same as `reload`."""
        self.reload()

    def reload(self) -> Self:
        """Open the atlas again after a rebuild; keep colours, layers, filters and the search.

        The window, the region and the selection belong to the old map, and are cleared.
        """
        from landscape.atlas import open as open_atlas

        def work() -> tuple[Atlas, Rows | None]:
            atlas = open_atlas(self.atlas.path)
            return atlas, exploring.rows_of_papers(atlas, self.mine)

        self.run("Opening the atlas", work, lambda opened: self._replace(*opened), kind="open")
        return self

    def _replace(self, atlas: Atlas, mine: Rows | None) -> None:
        before = dict(self.map.given)
        self._atlas, self._results, self._finding = atlas, None, None
        _, self._built = current_version(atlas.path)
        self.map.show(atlas, mine)
        self._chosen_by, self._history = None, []
        problems = ["The atlas was opened again; the selection of the old atlas was cleared."]
        years = before.get("years")
        known = self.map.source.manifest["years"]
        wanted: dict[str, object] = {
            "time": exploring.time_within(years and tuple(years), known and tuple(known)),
            "layers": before.get("layers", DEFAULTS["layers"]),
            "colour_by": before.get("colour", DEFAULTS["colour"]),
            "concept": before.get("concept"),
            "facility": before.get("facility"),
        }
        for name, value in wanted.items():
            try:
                setattr(self, name, value)
            except LandscapeError as error:
                problems.append(str(error))
        self._set(uses=before.get("uses"), reviews=before.get("reviews"))
        self.say(" ".join(problems))
        if before.get("query"):
            self.search(
                before["query"],
                method=before.get("method", DEFAULTS["method"]),
                k=before.get("k", DEFAULTS["k"]),
            )

    def _check_atlas(self) -> None:
        """Report once if the atlas was rebuilt since it was opened."""
        _, stamp = current_version(self.atlas.path)
        if self.map.is_old or stamp == self._built:
            return
        try:
            self.atlas.check_unchanged()
            self._built = stamp
        except LandscapeError:
            self.map.is_old = True
            self.say(
                "This atlas was rebuilt since it was opened, and the map shows the old atlas. "
                "Choose Tools, Reload the atlas, to see the new one.",
                "warning",
            )

    def _show_error(self, error: Exception) -> None:
        if isinstance(error, AtlasError) and current_version(self.atlas.path)[1] != self._built:
            self.map.is_old = True
        super()._show_error(error)
