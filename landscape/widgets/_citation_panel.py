"""The panel that finds the paper cited in an excerpt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import check_output, write_output
from landscape._render import escape
from landscape._serializer import to_csv
from landscape._wording import count
from landscape.errors import InputError
from landscape.search._settings import readable_text
from landscape.types import Hit
from landscape.widgets._agent_panel import (
    AgentRun,
    ScholarPanel,
    grid,
    links_html,
    main_button,
    model_option,
    needed,
    notes_html,
    partial_html,
    text_area,
    text_box,
)
from landscape.widgets._code_lines import called, connecting, join_lines
from landscape.widgets._panel import checked_flag, checked_whole
from landscape.widgets._tables import Item, PaperList

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.types import Attribution, Guess, Step
    from landscape.widgets._connection import Connection


def answer_html(found: Attribution) -> str:
    """The answer in a sentence, whether it is partial, and what the reader should know."""
    if found.paper is not None:
        label = f"{found.paper.title} ({found.paper.label})"
        head = f"The excerpt most likely cites: {label}"
    elif found.guesses:
        head = "No paper was selected. The best guesses:"
    else:
        head = "No paper was selected, and none is near enough to be a guess."
    text = "Partial: the language model ended before it had decided."
    partial = partial_html(text) if found.partial else ""
    return (
        f"<div class='landscape-asked tex2jax_ignore mathjax_ignore'>{escape(head)}</div>"
        f"{partial}{notes_html(found.notes)}"
    )


def item_of(found: Attribution, guess: Guess, rank: int) -> Item:
    """One guess as a list of papers draws it."""
    is_it = found.paper is not None and guess.paper.paper_id == found.paper.paper_id
    verdict = "<span class='landscape-verdict'>✓ selected.</span> " if is_it else ""
    why = f"{escape(guess.reason[:1].upper() + guess.reason[1:])}. " if guess.reason else ""
    page = (
        f"{Hit(rank, guess.paper, guess.score).to_html()}"
        f"<div class='landscape-quiet'>{verdict}{why}Score {guess.score:.2f}.</div>"
    )
    return Item(str(rank), f"{rank}.", guess.paper.title, page)


def steps_html(found: Attribution) -> str:
    """What was done, step by step, and what was searched."""
    steps = "".join(
        f"<li>{escape(step.thought)} <code>{escape(step.action)}</code><br>"
        f"<span class='quiet'>{escape(step.observation)}</span></li>"
        for step in found.trace
    )
    n = len(found.trace)
    how = f"How it was found: {count(n, 'step')}, {found.seconds:.1f} s"
    return (
        "<div class='landscape-results tex2jax_ignore mathjax_ignore'>"
        f"<details><summary>{how}</summary><ol>{steps}</ol></details>"
        f"<p class='quiet'>{escape(found.coverage.summary)}</p></div>"
    )


_WITHOUT_MODEL = (
    "the sentence around the mark is searched for, and what the best candidates cite is lifted. "
    "With one, it searches, reads and selects."
)
_EXAMPLE = "Clumps in the winds of O stars lower the mass that they lose [CITATION]."
_USUAL = {"source": None, "before": None, "mark": 1, "max_actions": 15, "demonstration": False}
_MOST_MARKS, _MOST_ACTIONS = 99, 100
FILES = (".csv", ".json", ".bib")


class CitationPanel(ScholarPanel):
    """Find the paper that an excerpt cites at ``[CITATION]``.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Which language model searches; by default the one that the environment names, if any.
    excerpt : str, optional
        What stands in the box at first.
    **settings
        ``source``, ``before``, ``mark``, ``max_actions``, ``demonstration`` of `Atlas.attribute`.

    Attributes
    ----------
    value : Attribution or None
        The answer shown.
    selection : pandas.DataFrame or None
        The guesses that are ticked; while none is, the paper selected, or all where none was.
    code : str
        Lines that give the same answer.

    Raises
    ------
    InputError
        For a setting that is none.

    Examples
    --------
    >>> import landscape as ls
    >>> panel = CitationPanel(ls.open("my.atlas"))  # doctest: +SKIP
    >>> panel.find("Winds of O stars are clumped [CITATION].", before=2019)  # doctest: +SKIP
    >>> panel.wait(), panel.value.paper  # doctest: +SKIP
    """

    def __init__(
        self, atlas: Atlas, *, connection: Connection | None = None, excerpt: str = "",
        **settings: Any,
    ) -> None:  # fmt: skip
        readable_text("excerpt", excerpt)
        _checked(settings)
        super().__init__(
            "Find a citation in", atlas, connection=connection, without_model=_WITHOUT_MODEL
        )
        self._value: Attribution | None = None
        self._excerpt = text_area("The excerpt, with [CITATION] in it", _EXAMPLE, value=excerpt)
        self._source = text_box(
            "It is from",
            "identifier or title",
            "The paper that the excerpt is from: never selected, nor anything newer than it",
        )
        self._before = text_box("Until", "such as 2019 or 2019-06", "Last day or year that counts")
        self._mark = _number("Which mark", 1, _MOST_MARKS, "Which of several marks is meant")
        self._actions = _number(
            "Actions", 15, _MOST_ACTIONS, "Actions of the language model, at most"
        )
        self._example = widgets.Checkbox(
            description="Show the model an example", indent=False,
            layout=widgets.Layout(width="auto"),
            tooltip="Whether the language model is shown an example of a whole search",
        )  # fmt: skip
        self._read_as = widgets.HTML()
        self._button = main_button("Find the paper", "search", "Find the paper that it cites")
        self._button.on_click(lambda _: self._soon(self.find))
        self._excerpt.observe(lambda _: self._show_reading(), "value")
        self._mark.observe(lambda _: self._show_reading(), "value")
        self._answer, self._rest, self._files = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._guesses = PaperList(on_change=self._offer_files)
        self._found = widgets.VBox([self._answer, self._guesses, self._rest, self._files])
        self._found.layout.display = "none"
        limits = grid([self._source, self._before], least=280)
        limits.layout.flex = "1 1 auto"
        self._lay_out(
            asking=[
                self._excerpt, self._read_as,
                widgets.HBox([limits, self._button], layout=widgets.Layout(align_items="center")),
            ],
            folds={"Settings": grid([self._mark, self._actions, self._example])},
            found=[self._found],
        )  # fmt: skip
        self._put(settings)
        self._show_reading()

    def __repr__(self) -> str:
        state = "nothing asked yet"
        if self._value is not None:
            state = "no paper selected" if self._value.abstained else "a paper found"
        return f"<CitationPanel: {self._atlas.title}, {state}>"

    @property
    def value(self) -> Attribution | None:
        """The answer shown; None before the first."""
        return self._value

    @property
    def selection(self) -> pd.DataFrame | None:
        """The guesses that are ticked; else the paper selected, or all guesses without one."""
        if self._value is None:
            return None
        table = self._value.table
        ranks = [int(key) for key in self._guesses.chosen]
        is_it = table["selected"] | self._value.abstained
        rows = table["rank"].isin(ranks) if ranks else is_it
        return table[rows].reset_index(drop=True)

    def find(self, excerpt: str | None = None, **settings: Any) -> None:
        """Look for the paper in the background; `wait`, then the panel's `value` is the answer.

        Parameters
        ----------
        excerpt : str, optional
            Default: what stands in the box.
        **settings
            ``source``, ``before``, ``mark``, ``max_actions``, ``demonstration``; where any is
            given, they take the place of those on the page.

        Raises
        ------
        InputError
            For an excerpt without a mark, or a setting that is none.
        """
        from landscape.agents._excerpts import read_excerpt

        if settings:
            self._put(settings)
        if excerpt is not None:
            self._excerpt.value = excerpt
        text = needed(self._excerpt.value, what="The excerpt")
        read_excerpt(text, mark=self._mark.value)
        given, atlas = self._given(), self._atlas

        def work(run: AgentRun) -> tuple[Attribution, str | None]:
            def on_step(step: Step) -> None:
                run.step(f"{step.action}: {step.observation}".rstrip(": "))

            found = atlas.attribute(text, model=run.model, on_step=on_step, **given)
            return found, run.model_name

        self._begin(
            "Looking for the paper", work, lambda made: self._show(*made, text, given),
            unit="steps",
        )  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write what was found into a file.

        Parameters
        ----------
        path : path
            Ends in ``.csv`` (the papers of `selection`), ``.bib`` (the same) or ``.json``.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, before the first answer, or where it cannot be written.
        """
        target = check_output(path, FILES, what="An answer")
        if self._value is None:
            raise InputError("There is no answer to save yet; find a paper first.")
        return write_output(target, self._file(target.suffix.lower()))

    # -- steps

    def _given(self) -> dict[str, Any]:
        """Settings that differ from the usual ones."""
        given = {
            "source": self._source.value.strip() or None,
            "before": self._before.value.strip() or None,
            "mark": self._mark.value,
            "max_actions": self._actions.value,
            "demonstration": self._example.value,
        }
        return {name: value for name, value in given.items() if value != _USUAL[name]}

    def _put(self, settings: dict[str, Any]) -> None:
        chosen = _checked(settings)
        self._source.value = chosen["source"] or ""
        self._before.value = "" if chosen["before"] is None else str(chosen["before"])
        self._mark.value, self._actions.value = chosen["mark"], chosen["max_actions"]
        self._example.value = chosen["demonstration"]

    def _show_reading(self) -> None:
        from landscape.agents._excerpts import read_excerpt

        if not self._excerpt.value.strip():
            said = "Paste a passage, and write [CITATION] where the paper is cited that you seek."
        else:
            try:
                said = (
                    f"Sought by: {read_excerpt(self._excerpt.value, mark=self._mark.value).clause}"
                )
            except InputError as error:
                said = str(error)
        self._read_as.value = (
            f"<span class='landscape-quiet tex2jax_ignore mathjax_ignore'>{escape(said)}</span>"
        )

    def _show(
        self, found: Attribution, model: str | None, text: str, given: dict[str, Any]
    ) -> None:
        self._value = found
        self._answer.value = answer_html(found)
        self._guesses.show(
            [item_of(found, guess, rank) for rank, guess in enumerate(found.guesses, start=1)]
        )
        self._rest.value = steps_html(found)
        self._found.layout.display = ""
        self.code = join_lines(
            connecting(self.connection, model),
            f"found = {called('atlas.attribute', text, **given, **model_option(model))}",
        )
        self._offer_files()

    def _offer_files(self) -> None:
        if self._value is None:
            return
        names = {".csv": "Papers (CSV)", ".bib": "Papers (BibTeX)", ".json": "Everything (JSON)"}
        contents = [(ending, text, self._file(ending)) for ending, text in names.items()]
        self._files.value = links_html("citation", contents)

    def _file(self, ending: str) -> str:
        from landscape._bibliography import to_bibtex

        assert self._value is not None  # noqa: S101 - there are no files before the first answer
        if ending == ".json":
            return json.dumps(self._value.to_dict(), indent=1, ensure_ascii=False)
        chosen = self.selection
        if ending == ".csv":
            return to_csv(chosen)
        ranks = set() if chosen is None else set(chosen["rank"])
        papers = [p for rank, p in enumerate(self._value.papers, start=1) if rank in ranks]
        return to_bibtex(papers)


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    """All settings, those as usual too; refused where one cannot be."""
    unknown = sorted(set(settings) - set(_USUAL))
    if unknown:
        raise InputError(
            f"There is no setting {unknown[0]!r}; there are {', '.join(sorted(_USUAL))}."
        )
    chosen = {**_USUAL, **settings}
    checked_whole("mark", chosen["mark"], 1, _MOST_MARKS)
    checked_whole("max_actions", chosen["max_actions"], 1, _MOST_ACTIONS)
    checked_flag("demonstration", chosen["demonstration"])
    if chosen["source"] is not None:
        readable_text("source", chosen["source"])
    return chosen


def _number(label: str, value: int, most: int, meaning: str) -> widgets.BoundedIntText:
    return widgets.BoundedIntText(
        value=value, min=1, max=most, description=label, tooltip=meaning,
        style={"description_width": "110px"}, layout=widgets.Layout(width="calc(100% - 6px)"),
    )  # fmt: skip
