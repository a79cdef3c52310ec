"""The panel that finds the paper cited in an excerpt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._render import escape, render
from landscape.agents.settings import AttributeSettings
from landscape.errors import InputError
from landscape.search.settings import readable_text
from landscape.types import Attribution, Hit
from landscape.widgets._agent_panel import AgentRun, QueryPanel, clean_notes, model_option, needed
from landscape.widgets._code_lines import called, connecting, join_lines
from landscape.widgets._controls import fill_fields, grid, make_control, make_fields, read_fields
from landscape.widgets._tables import Item, PaperList

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Step
    from landscape.widgets._agent_panel import Listed
    from landscape.widgets._connection import Connection

_DEFAULTS = vars(AttributeSettings())
_GROUPS = {
    "Limits": {"source": "It is from", "before": "Until"},
    "Settings": {
        "mark": "Which mark",
        "max_actions": "Actions",
        "demonstration": "Show the model an example",
    },
}


class CitationPanel(QueryPanel[Attribution]):
    """Find the paper that an excerpt cites at ``[CITATION]``.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Language model that searches. Default: the model set in the environment, if any.
    excerpt : str, optional
        Initial text of the excerpt field.
    **settings
        Settings of `Atlas.attribute`: ``source``, ``before``, ``mark``, ``max_actions`` and
        ``demonstration``.

    Raises
    ------
    InputError
        If a setting is unknown or has an invalid value.

    Examples
    --------
    >>> import landscape as ls
    >>> panel = CitationPanel(ls.open("my.atlas"))  # doctest: +SKIP
    >>> panel.find("Winds of O stars are clumped [CITATION].", before=2019)  # doctest: +SKIP
    >>> panel.wait(), panel.value.paper  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        connection: Connection | None = None,
        excerpt: str = "",
        **settings: object,
    ) -> None:
        readable_text("excerpt", excerpt)
        chosen = vars(AttributeSettings(**settings))
        super().__init__("citation", atlas, connection=connection)
        self._excerpt = make_control("questions.excerpt", self._show_reading, value=excerpt)
        self._fields, groups = make_fields(AttributeSettings, _GROUPS, label=110)
        self._read_as = widgets.HTML()
        start = make_control("questions.find", lambda: self._soon(self.find))
        self._fields["mark"].observe(lambda _: self._show_reading(), "value")
        self._answer, self._method = widgets.HTML(), widgets.HTML()
        self._papers = PaperList(on_change=self._offer_files)
        self._found = widgets.VBox([self._answer, self._papers, self._method, self._files])
        self._found.layout.display = "none"
        limits = grid(*groups["Limits"], least=280, flex="1 1 auto")
        self._lay_out(
            asking=[
                self._excerpt,
                self._read_as,
                widgets.HBox([limits, start], layout={"align_items": "center"}),
                self._model_line,
            ],
            folds={"Settings": grid(*groups["Settings"]), "Language model": self.connection},
            found=[self._found],
        )
        fill_fields(self._fields, chosen)
        self._show_reading()

    def __repr__(self) -> str:
        state = "nothing asked yet"
        if self._value is not None:
            state = "no paper selected" if self._value.abstained else "a paper found"
        return f"<CitationPanel: {self.atlas.title}, {state}>"

    def find(self, excerpt: str | None = None, **settings: object) -> None:
        """Search for the paper in the background. Call `wait`, then read the answer from `value`.

        Parameters
        ----------
        excerpt : str, optional
            Default: the text of the excerpt field.
        **settings
            Settings of `Atlas.attribute`, as in the constructor. If a setting is given, the given
            settings replace all settings on the page.

        Raises
        ------
        InputError
            If the excerpt has no ``[CITATION]`` mark, or a setting is invalid.
        """
        from landscape.agents.excerpts import read_excerpt

        if settings:
            fill_fields(self._fields, vars(AttributeSettings(**settings)))
        if excerpt is not None:
            self._excerpt.value = excerpt
        text = needed(self._excerpt.value, what="The excerpt")
        read_excerpt(text, mark=self._fields["mark"].value)
        chosen, atlas = read_fields(self._fields, {}), self.atlas
        given: dict[str, Any] = {
            name: value for name, value in chosen.items() if value != _DEFAULTS[name]
        }

        def work(run: AgentRun) -> Attribution:
            def on_step(step: Step) -> None:
                run.step(f"{step.action}: {step.observation}".rstrip(": "))

            return atlas.attribute(text, model=run.model, on_step=on_step, **given)

        def show(found: Attribution, model: str | None) -> None:
            self._show(found)
            self.code = join_lines(
                connecting(self.connection.used, model),
                f"found = {called('atlas.attribute', text, **given, **model_option(model))}",
            )

        self._begin("Looking for the paper", work, show)

    def _show_reading(self) -> None:
        from landscape.agents.excerpts import read_excerpt

        excerpt = self._excerpt.value
        text = "Paste a passage, and replace the citation that you want to find by [CITATION]."
        if excerpt.strip():
            try:
                clause = read_excerpt(excerpt, mark=self._fields["mark"].value).clause
                text = f"Sought by: {clause}"
            except InputError as error:
                text = str(error)
        self._read_as.value = (
            f"<span class='landscape-quiet tex2jax_ignore mathjax_ignore'>{escape(text)}</span>"
        )

    def _show(self, attribution: Attribution) -> None:
        self._value = attribution
        items = []
        for rank, guess in enumerate(attribution.guesses, start=1):
            hit = Hit(rank, guess.paper, guess.score).to_html()
            page = render(
                "panel_citation.html", part="guess", found=attribution, guess=guess, hit=hit
            )
            items.append(Item(str(rank), f"{rank}.", guess.paper.title, page))
        self._answer.value = render(
            "panel_citation.html",
            part="heading",
            found=attribution,
            notes=clean_notes(attribution.notes),
        )
        self._papers.show(items)
        self._method.value = render("panel_citation.html", part="method", found=attribution)
        self._found.layout.display = ""
        self._offer_files()

    def _listed(self, attribution: Attribution) -> Listed:
        return attribution.table, [
            (str(rank), guess.paper, attribution.abstained or attribution.is_selected(guess))
            for rank, guess in enumerate(attribution.guesses, start=1)
        ]
