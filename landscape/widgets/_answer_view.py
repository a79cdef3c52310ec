"""An answer with all that belongs to it, in tabs: claims, papers, map, consensus, method, files."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._render import escape
from landscape._serializer import to_csv
from landscape.errors import AtlasError, LandscapeError
from landscape.search._entities import find_entities
from landscape.store._manifest import read_manifest
from landscape.widgets._figure_view import download_link
from landscape.widgets._jobs import Job
from landscape.widgets._notebook import answer_as_notebook
from landscape.widgets._panel import close_all
from landscape.widgets._tables import PapersView

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Answer, Results
    from landscape.widgets._connection import Used

_TITLES = ("Answer", "Papers", "Map", "Consensus", "How it was found", "Save")
_PAPERS, _MAP, _SAVE = 1, 2, 5
_NO_MODEL = (
    "No language model is connected, so these are sentences of the papers, quoted. To have an "
    "answer written, its claims checked and consensus judged, connect one under “Language model”."
)


@dataclass(frozen=True)
class Asked:
    """A question, how it was asked, and what came of it."""

    answer: Answer
    atlas: Atlas
    given: Mapping[str, Any] = field(default_factory=dict)
    thread: tuple[Answer, ...] = ()
    model: str | None = None
    used: Used | None = None
    unfinished: str = ""
    cost: str = ""
    seconds: float = 0.0

    def file(self, ending: str, *, papers: Results | None = None) -> str:
        """Write it out as ``.md``, ``.json``, ``.bib``, ``.csv`` or ``.ipynb``."""
        chosen = papers or self.answer.results
        if ending == ".md":
            return self.answer.to_markdown()
        if ending == ".json":
            return json.dumps(self.answer.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        if ending == ".bib":
            return chosen.to_bibtex()
        if ending == ".csv":
            return to_csv(chosen.table)
        where = asdict(self.used) if self.used else {}
        return answer_as_notebook(
            self.answer, self.atlas, thread=self.thread, model=self.model, **where
        )


FILES = {
    ".ipynb": "Notebook that asks again",
    ".md": "Answer (Markdown)",
    ".json": "Everything (JSON)",
    ".bib": "Papers (BibTeX)",
    ".csv": "Papers (CSV)",
}
"""Files that can be saved, by the ending of their name."""


class AnswerView(widgets.VBox):
    """Draws one answer at a time; map and files only once somebody looks for them."""

    def __init__(self) -> None:
        self._asked: Asked | None = None
        self._drawn: set[int] = set()
        self._job: Job[Any] | None = None
        self._heading, self._claims = widgets.HTML(), widgets.HTML()
        self._consensus, self._method, self._files = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.papers = PapersView()
        self._map = widgets.VBox()
        self._colours = widgets.ToggleButtons(
            options=["light", "dark"], tooltips=["Map for a light page", "Map for a dark page"],
            style={"button_width": "70px"},
        )  # fmt: skip
        self._colours.observe(lambda _: self._draw_map(), "value")
        self._picked = widgets.HTML()
        self._hint = widgets.HTML(
            "<span class='landscape-quiet'>Click a mark to see its paper here.</span>"
        )
        on_map = widgets.VBox([self._colours, self._map, self._hint, self._picked])
        self.tabs = widgets.Tab(
            children=[
                self._claims, self.papers, on_map,
                self._consensus, self._method, self._files,
            ],
            titles=_TITLES,
        )  # fmt: skip
        self.tabs.observe(lambda _: self._draw_when_seen(), "selected_index")
        super().__init__([self._heading, self.tabs])
        self.layout.display = "none"

    @property
    def asked(self) -> Asked | None:
        """What is shown."""
        return self._asked

    @property
    def chosen(self) -> Results | None:
        """The papers that are ticked; all while none is."""
        if self._asked is None:
            return None
        results = self._asked.answer.results
        return replace(results, hits=self.papers.chosen) if self.papers.chosen else results

    def show(self, asked: Asked) -> None:
        """Draw an answer in place of the one before."""
        if self._job is not None:
            self._job.stop()
        self._asked, self._drawn = asked, set()
        answer = asked.answer
        self._heading.value = f"<div class='landscape-asked'>{escape(answer.question)}</div>"
        self._claims.value = _claims(asked)
        self.papers.show(answer.results)
        self._consensus.value = answer.to_html("consensus") or _no_consensus(asked)
        self._method.value = _facts(asked) + answer.to_html("method")
        self._put_on_map()
        self._picked.value, self._files.value = "", ""
        self.tabs.set_title(_PAPERS, f"Papers ({len(answer.results)})")
        self.layout.display = ""
        self._draw_when_seen()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the map; False if it takes longer."""
        return self._job is None or self._job.wait(seconds)

    def _draw_when_seen(self) -> None:
        seen = self.tabs.selected_index
        if self._asked is None or seen in self._drawn:
            return
        if seen == _MAP:
            self._drawn.add(seen)
            self._draw_map()
        elif seen == _SAVE:
            self._draw_files()  # each time: other papers may be chosen

    def _draw_files(self) -> None:
        if self._asked is None:
            return
        links = []
        for ending, text in FILES.items():
            name = "papers" if ending in (".bib", ".csv") else "answer"
            content = self._asked.file(ending, papers=self.chosen)
            links.append(download_link(f"{name}{ending}", content, text=text))
        n = len(self.papers.chosen)
        which = (
            ("the one chosen" if n == 1 else f"the {n} chosen")
            if n
            else "all; tick some to save only these"
        )
        self._files.value = (
            f"<p>{' '.join(links)}</p><p class='landscape-quiet'>Papers: {which}. The notebook "
            "holds every setting, the atlas and its checksum, and no key. In code: "
            '<code>panel.save("answer.ipynb")</code>.</p>'
        )

    def _draw_map(self) -> None:
        if self._asked is None or _MAP not in self._drawn:
            return
        if self._job is not None:
            self._job.stop()
        atlas, results = self._asked.atlas, self._asked.answer.results
        colours = self._colours.value
        self._put_on_map(widgets.HTML("<p class='landscape-quiet'>Drawing the map …</p>"))
        self._job = Job(
            lambda: _drawn_map(atlas, results, colours),
            done=lambda drawn: self._put_figure(drawn, results),
            failed=self._tell_map,
        )
        self._job.start()

    def _put_figure(self, drawn: Any, results: Results) -> None:
        """Show a map; the figure of a job that was stopped never becomes a widget."""
        try:
            self._put_on_map(_clickable(drawn, results, self._show_picked))
        except Exception as error:  # noqa: BLE001 - in a thread, nobody else would tell it
            self._tell_map(error)

    def _put_on_map(self, *shown: widgets.Widget) -> None:
        before = self._map.children
        self._map.children = shown
        close_all(*before)

    def _tell_map(self, error: Exception) -> None:
        said = str(error) if isinstance(error, LandscapeError) else f"The map failed: {error}"
        self._put_on_map(widgets.HTML(f"<p class='landscape-warning'>{html.escape(said)}</p>"))

    def _show_picked(self, rank: int) -> None:
        if self._asked is not None:
            self._picked.value = self._asked.answer.results.hits[rank - 1].to_html()


def _drawn_map(atlas: Atlas, results: Results, colours: str) -> Any:
    from landscape.figures import interactive

    if read_manifest(atlas.path).files != atlas.manifest.files:
        message = (
            "The atlas was built again since this was asked, so its papers stand elsewhere on the "
            "map, or are gone; ask again to see them there."
        )
        raise AtlasError(message)
    drawn = interactive("query", atlas, results, colours=colours)
    drawn.update_layout(
        autosize=True,
        height=drawn.layout.height - 100,
        legend={"x": 1, "xanchor": "right", "y": 1, "bgcolor": "rgba(0,0,0,0)"},
        margin={"l": 4, "r": 4, "t": 8},
    )
    return drawn


def _clickable(drawn: Any, results: Results, pick: Callable[[int], Any]) -> Any:
    from landscape.widgets._figure_view import ScreenFigure

    figure = ScreenFigure(drawn)
    apart = [bool(hit.outlier) for hit in results.hits]
    for trace in figure.data:
        if trace.name not in ("found", "apart from the others"):
            continue
        wanted = trace.name != "found"
        ranks = [hit.rank for hit, is_apart in zip(results.hits, apart, strict=True)
                 if is_apart == wanted]  # fmt: skip
        trace.on_click(
            lambda _trace, points, _state, ranks=ranks: [
                pick(ranks[place]) for place in points.point_inds[:1]
            ]
        )
    return figure


def _claims(asked: Asked) -> str:
    answer = asked.answer
    notices = list(answer.results.coverage.notes)
    if answer.results.coverage.generated:
        notices.append("The corpus is generated: nothing here is a finding about the sky.")
    quotes = not answer.abstained and answer.settings.get("generation") != "quoted"
    if asked.model is None and quotes:
        notices.append(_NO_MODEL)
    elif asked.model is not None and answer.method == "extractive":
        notices += answer.notes[:1]
    listed = "".join(f"<p class='landscape-quiet'>{escape(notice)}</p>" for notice in notices)
    unfinished = ""
    if asked.unfinished:
        unfinished = (
            "<details class='landscape-unfinished'><summary>What the model had written before it "
            "broke off (unfinished, unchecked)</summary>"
            f"<div class='landscape-live broken'>{escape(asked.unfinished)}</div></details>"
        )
    return listed + answer.to_html("claims") + unfinished


def _no_consensus(asked: Asked) -> str:
    answer = asked.answer
    if not (answer.question_type or "").startswith("consensus"):
        why = (
            "How far papers agree is judged for questions of consensus, such as “Is there a …?” or "
            "“Do astronomers agree …?”; under Settings, any question can be made one."
        )
    elif asked.model is None:
        why = "How far the papers agree needs a language model: connect one under “Language model”."
    else:
        why = next((n for n in answer.notes if "agree" in n), "It was not judged.")
    return f"<p class='landscape-quiet'>{escape(why)}</p>"


def _facts(asked: Asked) -> str:
    """Settings, detected type and cost as a small table."""
    answer = asked.answer
    detected = [entity.text for entity in find_entities(answer.question)]
    needs_model = ("hyde", "check_with_model", "generation") if asked.model is None else ()
    settings = [
        f"{name.replace('_', ' ')} {_said(value)}{' (auto)' if name not in asked.given else ''}"
        for name, value in answer.settings.items()
        if value is not None and name not in ("question_type", "keywords", "t_now", *needs_model)
    ]
    rows = {
        "Question type": f"{answer.question_type}"
        + (" (chosen)" if "question_type" in asked.given else ""),
        "Settings": "; ".join(settings),
        "Keywords given": ", ".join(answer.settings.get("keywords") or ()) or "none",
        "Keywords detected": ", ".join(detected) or "none: the question holds no names",
        "Cost": asked.cost or "nothing: no language model was asked",
        "Time": f"{asked.seconds:.1f} s",
    }
    body = "".join(
        f"<tr><th scope='row'>{name}</th><td>{escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table class='landscape-table landscape-facts'>{body}</table>"


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        on = [f"{name} {strength:g}" for name, strength in value.items()
              if isinstance(strength, int | float) and strength]  # fmt: skip
        return ", ".join(on) or "none"
    return (
        {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else f"{value}"
    )
