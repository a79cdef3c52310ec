"""The panel for writers: papers to cite, a paragraph of related work, and the check of a draft."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import check_output, write_output
from landscape._serializer import to_csv
from landscape._wording import count
from landscape.errors import InputError
from landscape.search._settings import readable_text
from landscape.widgets.checking import checked_whole
from landscape.widgets.export import download_link
from landscape.widgets.scholar_code import Name, called, connecting, desk_lines, lines
from landscape.widgets.scholar_panel import ScholarPanel, Told, needed
from landscape.widgets.writing_tabs import MOST, CheckingTab, CitingTab, RelatedTab
from landscape.widgets.writing_view import heading_html, items_of

if TYPE_CHECKING:
    import pandas as pd

    from landscape.agents.cite.desk import Desk
    from landscape.atlas import Atlas as Atlas
    from landscape.types import Answer, CitationSuggestions, DraftCheck, Paper, Suggestion
    from landscape.widgets.connection import Connection

_WITHOUT_MODEL = (
    "papers are ranked, highlighted and quoted. With one, it writes citing sentences and "
    "paragraphs, and judges whether papers bear a draft out."
)
_TITLES = ("Papers to cite", "Related work", "Check a draft")
FILES = {".csv": "Papers (CSV)", ".bib": "Papers (BibTeX)", ".json": "Everything (JSON)"}


class WritingPanel(ScholarPanel):
    """Find papers to cite while writing, put them into a paragraph, and check a draft.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Which language model writes; by default the one that the environment names, if any.
    desk : Desk, optional
        Several corpora to cite from; by default the atlas alone.
    context : str, optional
        What stands in the box at first: the text before the citation.
    keywords : str, optional
        Likewise, in the syntax of filters.

    Attributes
    ----------
    value : CitationSuggestions or None
        The papers shown.
    selection : pandas.DataFrame or None
        The papers that are ticked; all while none is.
    paragraph : Answer or None
        The paragraph written last.
    draft_check : DraftCheck or None
        The check of a draft made last.
    code : str
        Lines that do what was done last.

    Examples
    --------
    >>> import landscape as ls
    >>> panel = WritingPanel(ls.open("my.atlas"))  # doctest: +SKIP
    >>> panel.cite("Massive stars lose mass in winds that are driven by")  # doctest: +SKIP
    >>> panel.wait(), panel.selection  # doctest: +SKIP
    """

    def __init__(
        self, atlas: Atlas, *, connection: Connection | None = None, desk: Desk | None = None,
        context: str = "", keywords: str = "",
    ) -> None:  # fmt: skip
        from landscape.agents import Desk as NewDesk

        readable_text("context", context)
        readable_text("keywords", keywords)
        super().__init__(
            "Write with citations from", atlas, connection=connection, without_model=_WITHOUT_MODEL
        )
        self._given_desk = desk
        self._desk = desk if desk is not None else NewDesk().add(atlas)
        self._value: CitationSuggestions | None = None
        self.paragraph: Answer | None = None
        self.draft_check: DraftCheck | None = None
        self._chosen: dict[str, Paper] = {}
        self._citing = CitingTab(
            self._desk, context=context, keywords=keywords,
            on_cite=lambda: self._soon(self.cite), on_choose=lambda: self._try(self.choose),
            on_change=self._offer_files,
        )  # fmt: skip
        self._related = RelatedTab(
            on_write=lambda: self._soon(self.write), on_drop=lambda: self._try(self._drop_ticked)
        )
        self._checking = CheckingTab(on_check=lambda: self._soon(self.check))
        self._on_enter(self._citing.keywords, self.cite)
        self._on_enter(self._related.about, self.write)
        self.tabs = widgets.Tab(
            children=[self._citing, self._related, self._checking], titles=_TITLES
        )
        self._lay_out(asking=[self.tabs], folds={}, found=[])

    def __repr__(self) -> str:
        found = (
            "nothing asked yet"
            if self._value is None
            else f"{count(len(self._value), 'paper')} to cite"
        )
        return f"<WritingPanel: {self._atlas.title}, {found}>"

    @property
    def desk(self) -> Desk:
        """The corpora, switched on and off as on the page."""
        desk = self._desk
        for name, box in self._citing.corpora.items():
            desk = desk.switch_on(name) if box.value else desk.switch_off(name)
        return desk

    @property
    def value(self) -> CitationSuggestions | None:
        """The papers shown; None before the first."""
        return self._value

    @property
    def selection(self) -> pd.DataFrame | None:
        """The papers that are ticked; all while none is."""
        if self._value is None:
            return None
        table = self._value.table
        ranks = [one.rank for one in self._picked()]
        return table[table["rank"].isin(ranks)].reset_index(drop=True)

    @property
    def chosen(self) -> tuple[Paper, ...]:
        """The papers chosen for the paragraph, from as many searches as one likes."""
        return tuple(self._chosen.values())

    def cite(
        self, context: str | None = None, keywords: str | None = None, *, k: int | None = None
    ) -> None:
        """Look for papers in the background; `wait`, then they are the panel's `value`.

        Parameters
        ----------
        context, keywords : str, optional
            Default: what stands in the boxes.
        k : int, optional
            How many.

        Raises
        ------
        InputError
            If there is neither text nor keywords, no corpus is switched on, or for a number of
            papers that cannot be.
        """
        if k is not None:
            checked_whole("k", k, 1, MOST)
        for name, text in (("context", context), ("keywords", keywords)):
            if text is not None:
                readable_text(name, text)
        asked = self._citing
        for box, given in ((asked.context, context), (asked.keywords, keywords), (asked.k, k)):
            if given is not None:
                box.value = given
        text, within, most = asked.context.value, asked.keywords.value.strip(), asked.k.value
        needed(f"{text}{within}", what="The text before the citation")
        desk = self.desk
        desk.searched  # noqa: B018 - says at once that nothing is switched on

        def work(told: Told) -> tuple[CitationSuggestions, str | None]:
            told.step("searching, and reading what was found")
            found = desk.cite(text, within or None, k=most, model=told.model)
            return found, _name_of(told)

        def show(made: tuple[CitationSuggestions, str | None]) -> None:
            self._show(*made, most)

        self._begin("Looking for papers", work, show, unit="steps")

    def choose(self, papers: Sequence[str] | None = None) -> None:
        """Choose papers for the paragraph.

        Parameters
        ----------
        papers : sequence of str, optional
            Identifiers; by default the papers that are ticked.

        Raises
        ------
        InputError
            If none is ticked, or no corpus holds one.
        """
        if papers is not None:
            found = [self._desk.find(name)[1] for name in papers]
        else:
            if self._value is None or not self._citing.papers.chosen:
                raise InputError("No paper is ticked; tick those that belong into the paragraph.")
            found = [one.paper for one in self._picked()]
        self._chosen |= {paper.paper_id: paper for paper in found}
        self._related.show(self.chosen)
        self.tabs.set_title(1, f"{_TITLES[1]} ({len(self._chosen)})")
        self.say(f"{count(len(self._chosen), 'paper')} chosen: see “Related work”.")

    def write(self, context: str | None = None) -> None:
        """Write the paragraph on the chosen papers, in the background; see `paragraph`.

        Parameters
        ----------
        context : str, optional
            What it is for; default: what stands in the box.

        Raises
        ------
        InputError
            If no paper is chosen.
        """
        if context is not None:
            self._related.about.value = context
        names = list(self._chosen)
        if not names:
            raise InputError("No paper is chosen yet; tick some under “Papers to cite”.")
        about, desk = self._related.about.value.strip(), self._desk

        def work(told: Told) -> tuple[Answer, str | None]:
            told.step(f"a paragraph on {count(len(names), 'paper')}")
            made = desk.related_work(names, context=about, model=told.model)
            return made, _name_of(told)

        def show(made: tuple[Answer, str | None]) -> None:
            self.paragraph, model = made
            self._related.put(self.paragraph)
            about_it = {"context": about} if about else {}
            self._put_code(
                f"paragraph = {called('desk.related_work', names, **about_it, **_model(model))}",
                "print(as_latex(paragraph))", model=model, names="as_latex",
            )  # fmt: skip

        self._begin("Writing", work, show, unit="steps")

    def check(
        self, bibliography: str | Path | None = None, drafts: str | Path | Sequence[str | Path] = ()
    ) -> None:
        """Check a draft in the background; `wait`, then see `draft_check`.

        Parameters
        ----------
        bibliography : path, optional
            Default: what stands in the box.
        drafts : path or sequence of path, optional
            Likewise.

        Raises
        ------
        InputError
            If a file is not named.
        """
        if bibliography is not None:
            listed = [drafts] if isinstance(drafts, str | Path) else list(drafts)
            self._checking.draft.put(bibliography, listed)
        bib, tex = self._checking.draft.given()
        desk = self._desk

        def work(told: Told) -> tuple[DraftCheck, str | None]:
            from landscape.agents import check_draft

            told.step("reading the draft, and comparing it with the papers it cites")
            return check_draft(bib, tex, desk=desk, model=told.model), _name_of(told)

        def show(made: tuple[DraftCheck, str | None]) -> None:
            self.draft_check, model = made
            self._checking.put(self.draft_check)
            told = called("check_draft", bib, tex, desk=Name("desk"), **_model(model))
            self._put_code(f"found = {told}", model=model, names="check_draft")

        self._begin("Checking the draft", work, show, unit="steps")

    def save(self, path: str | Path) -> Path:
        """Write the papers shown into a file.

        Parameters
        ----------
        path : path
            Ends in ``.csv`` or ``.bib`` (the papers of `selection`), or ``.json``.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, before the first papers, or where it cannot be written.
        """
        target = check_output(path, FILES, what="Papers")
        if self._value is None:
            raise InputError("There are no papers to save yet; look for some first.")
        return write_output(target, self._file(target.suffix.lower()))

    # -- steps

    def _take(self, atlas: Atlas) -> None:
        from landscape.agents import Desk as NewDesk

        super()._take(atlas)
        if self._given_desk is None:
            self._desk = NewDesk().add(atlas, self._desk.corpora[0].name)
        else:
            self.say(
                "The desk of this panel holds its atlases as they were opened: put them on a new "
                "desk with Desk().add(ls.open(path)), and open the panel again with it.",
                "warning",
            )

    def _picked(self) -> list[Suggestion]:
        """The papers that are ticked; all while none is."""
        if self._value is None:
            return []
        ranks = self._citing.papers.chosen
        return [one for one in self._value.suggestions if not ranks or str(one.rank) in ranks]

    def _show(self, found: CitationSuggestions, model: str | None, k: int) -> None:
        self._value = found
        self._citing.heading.value = heading_html(found)
        self._citing.papers.show(items_of(found))
        self._citing.found.layout.display = ""
        within = () if found.keywords is None else (found.keywords,)
        options = _model(model) | ({"k": k} if k != 10 else {})
        by = "atlas.cite" if self._given_desk is None else "desk.cite"
        self._put_code(
            f"found = {called(by, found.context, *within, **options)}", model=model, names=""
        )
        self._offer_files()

    def _put_code(self, *told: str, model: str | None, names: str) -> None:
        """Show lines of code; a desk of the reader's own is called `desk` in them."""
        is_ours = self._given_desk is None
        off = [name for name, box in self._citing.corpora.items() if not box.value]
        desk = desk_lines(names, is_ours=is_ours, off=() if names else off)
        self.code = lines(*desk, connecting(self.connection, model), *told)

    def _drop_ticked(self) -> None:
        for name in self._related.papers.chosen:
            self._chosen.pop(name, None)
        self._related.show(self.chosen)
        self.tabs.set_title(1, f"{_TITLES[1]} ({len(self._chosen)})")

    def _offer_files(self) -> None:
        if self._value is None or not len(self._value):
            self._citing.files.value = ""
            return
        links = " ".join(
            download_link(f"to-cite{ending}", self._file(ending), text=text)
            for ending, text in FILES.items()
        )
        self._citing.files.value = f"<p>{links}</p>"

    def _file(self, ending: str) -> str:
        from landscape._bibliography import to_bibtex

        assert self._value is not None  # noqa: S101 - there are no files before the first papers
        if ending == ".json":
            return json.dumps(self._value.to_dict(), indent=1, ensure_ascii=False)
        if ending == ".csv":
            return to_csv(self.selection)
        return to_bibtex([one.paper for one in self._picked()])


def _name_of(told: Told) -> str | None:
    return None if told.model is None else told.model.model


def _model(name: str | None) -> dict[str, Any]:
    return {} if name is None else {"model": Name("model")}
