"""The panel for writers: papers to cite, a paragraph of related work, the check of a draft."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
    DraftFiles,
    ScholarPanel,
    links_html,
    main_button,
    model_option,
    needed,
    notes_html,
    partial_html,
    text_area,
    text_box,
)
from landscape.widgets._code_lines import Name, called, connecting, desk_lines, join_lines
from landscape.widgets._figure_view import download_link
from landscape.widgets._panel import checked_whole
from landscape.widgets._tables import Column, Item, PaperList, table_html

if TYPE_CHECKING:
    import pandas as pd

    from landscape.agents import Desk
    from landscape.atlas import Atlas
    from landscape.types import Answer, CitationSuggestions, DraftCheck, Paper, Suggestion, Uncited
    from landscape.widgets._connection import Connection

_COLUMNS = (
    Column("line", "Line", "count"),
    Column("key", "Key"),
    Column("verdict", "Verdict"),
    Column("sentence", "What the draft says"),
    Column("evidence", "What the paper says"),
    Column("why", "Why"),
)
_SIGNS = {
    "supported": "✓ supported",
    "contradicted": "✗ contradicted",
    "unclear": "? unclear",
    "near": "≈ near",
    "far": "≠ far",
    "not in the corpus": "– not in the corpus",
    "not in the bibliography": "? not in the bibliography",
}


def items_of(found: CitationSuggestions) -> list[Item]:
    """The papers to cite as a list draws them."""
    return [Item(str(one.rank), f"{one.rank}.", one.paper.title, _page(one))
            for one in found.suggestions]  # fmt: skip


def heading_html(found: CitationSuggestions) -> str:
    """What stands above the papers: how many, what is missing, and what the reader should know."""
    n = len(found)
    head = f"{count(n, 'paper')} to cite" if n else "No paper was found"
    missing = [] if found.method != "offline" else [
        "Citing sentences need a language model: none is connected, so none are made up."
    ]  # fmt: skip
    bounds = [one.summary for one in found.coverage.values()]
    notes = notes_html([*missing, *found.notes, *bounds])
    return f"<div class='landscape-asked'>{head}</div>{_partial(found.partial)}{notes}"


def paragraph_html(paragraph: Answer, latex: str) -> str:
    """A paragraph of related work: its sentences with their checks, and as LaTeX."""
    by = (
        "No language model was asked: these are sentences of the papers, quoted. Put them into "
        "words of your own."
        if paragraph.method == "extractive"
        else f"Written by {paragraph.method}; each sentence was checked against its papers."
    )
    return (
        f"<div class='landscape-quiet'>{escape(by)}</div>{paragraph.to_html('claims')}"
        "<div class='landscape-group'>As LaTeX (click to select)</div>"
        f"<pre class='landscape-latex tex2jax_ignore mathjax_ignore' tabindex='0'>{escape(latex)}"
        f"</pre><details><summary>How it was made</summary>{paragraph.to_html('method')}</details>"
    )


def check_html(found: DraftCheck) -> str:
    """The check of a draft: a verdict for each citation, and sentences that seem to need one."""
    n = len(found.judgements)
    verdicts = ", ".join(f"{number} {name}" for name, number in found.counts.items())
    head = f"{count(n, 'citation')} in {count(found.n_sentences, 'sentence')}"
    head += f": {verdicts}" if verdicts else ""
    table = found.table
    table["verdict"] = [_SIGNS[verdict] for verdict in table["verdict"]]
    listed = table_html(table, _COLUMNS, about="Citations of the draft") if n else ""
    missing = ""
    if found.uncited:
        rows = "".join(map(_uncited, found.uncited))
        missing = f"<h4>Sentences that seem to need a citation</h4><ol>{rows}</ol>"
    return (
        f"<div class='landscape-asked'>{escape(head)}</div>"
        f"{_partial(found.partial)}{notes_html(found.notes)}{listed}"
        f"<div class='landscape-results tex2jax_ignore mathjax_ignore'>{missing}</div>"
    )


def _page(one: Suggestion) -> str:
    return f"<div class='landscape-results'>{one.to_html()}</div>"


def _uncited(one: Uncited) -> str:
    papers = "".join(
        f"<li>{escape(two.paper.title)} <span class='quiet'>{escape(two.paper.label)}</span></li>"
        for two in one.candidates
    )
    return (
        f"<li>{escape(one.sentence)} <span class='quiet'>(line {one.line}, “{escape(one.why)}”)"
        f"</span><ul>{papers}</ul></li>"
    )


def _partial(is_partial: bool) -> str:
    text = "Partial: the language model ended before it was done."
    return partial_html(text) if is_partial else ""


Do = Callable[[], None]
MOST = 100
"""Papers to cite that are suggested at once."""


class CitingTab(widgets.VBox):
    """The text before a citation, and the papers that could be cited there."""

    def __init__(
        self, desk: Desk, *, context: str, keywords: str, on_cite: Do, on_choose: Do, on_change: Do
    ) -> None:
        self.context = text_area(
            "The text before the citation",
            "The text before the citation; its last sentence, finished or not, counts most",
            value=context,
        )
        self.keywords = text_box(
            "Keywords", "such as dust; 2005..; -author:Hubble",
            "Which papers are considered, as a filter is written", value=keywords,
        )  # fmt: skip
        self.keywords.style.description_width = "70px"
        self.k = widgets.BoundedIntText(
            value=10, min=1, max=MOST, description="Papers", tooltip="How many papers to suggest",
            style={"description_width": "60px"},
            layout=widgets.Layout(width="140px", flex="0 0 auto"),
        )  # fmt: skip
        self.corpora = {
            one.name: widgets.Checkbox(
                value=one.on, description=one.name, indent=False,
                tooltip=f"Whether {one.name} is searched", layout=widgets.Layout(width="auto"),
            )
            for one in desk.corpora
        }  # fmt: skip
        self.button = main_button("Find papers to cite", "quote-left", "Find papers to cite here")
        self.button.on_click(lambda _: on_cite())
        add = widgets.Button(
            description="Put the ticked papers into the paragraph", icon="plus",
            tooltip="Choose the papers that are ticked for a paragraph of related work",
            layout=widgets.Layout(width="auto", align_self="flex-start"),
        )  # fmt: skip
        add.on_click(lambda _: on_choose())
        self.heading, self.files = widgets.HTML(), widgets.HTML()
        self.papers = PaperList(on_change=on_change)
        self.found = widgets.VBox([self.heading, self.papers, add, self.files])
        self.found.layout.display = "none"
        switches = widgets.HBox(list(self.corpora.values()))
        switches.layout.display = "" if len(self.corpora) > 1 else "none"
        boxed = widgets.Box([self.keywords], layout=widgets.Layout(flex="1 1 auto"))
        super().__init__(
            [self.context, widgets.HBox([boxed, self.k, self.button]), switches, self.found]
        )


class RelatedTab(widgets.VBox):
    """The papers chosen for a paragraph, and the paragraph."""

    def __init__(self, *, on_write: Do, on_drop: Do) -> None:
        self.says = widgets.HTML()
        self.papers = PaperList()
        self.about = text_box(
            "What for", "what the paragraph is about", "What the paragraph is for"
        )
        self.about.style.description_width = "70px"
        self.button = main_button("Write the paragraph", "pencil", "Write on the chosen papers")
        self.button.on_click(lambda _: on_write())
        self._drop = widgets.Button(
            description="Take out the ticked papers", icon="minus",
            tooltip="Take the ticked papers out of the paragraph",
            layout=widgets.Layout(width="auto", align_self="flex-start"),
        )  # fmt: skip
        self._drop.on_click(lambda _: on_drop())
        self.paragraph, self.files = widgets.HTML(), widgets.HTML()
        boxed = widgets.Box([self.about], layout=widgets.Layout(flex="1 1 auto"))
        super().__init__(
            [self.says, self.papers, self._drop, widgets.HBox([boxed, self.button]),
             self.paragraph, self.files]
        )  # fmt: skip
        self.show(())

    def put(self, paragraph: Answer) -> None:
        """Show a paragraph, and offer the bibliography of its papers."""
        from landscape.agents import as_latex

        self.paragraph.value = paragraph_html(paragraph, as_latex(paragraph))
        bib = paragraph.results.to_bibtex()
        link = download_link("related-work.bib", bib, text="Its papers (BibTeX)")
        self.files.value = f"<p>{link}</p>"

    def show(self, papers: Sequence[Paper]) -> None:
        """List the chosen papers."""
        self.papers.show(
            [
                Item(paper.paper_id, f"{n}.", paper.title, Hit(n, paper, 0.0).to_html())
                for n, paper in enumerate(papers, start=1)
            ]
        )
        n = len(papers)
        said = (
            f"{count(n, 'paper')} for the paragraph."
            if n
            else "No paper is chosen yet: tick some under “Papers to cite”, and put them here."
        )
        self.says.value = f"<span class='landscape-quiet'>{said}</span>"
        self._drop.layout.display = "" if n else "none"


class CheckingTab(widgets.VBox):
    """The files of a draft, and what was found in it."""

    def __init__(self, *, on_check: Do) -> None:
        about = widgets.HTML(
            "<span class='landscape-quiet'>For every citation: does the cited paper say what the "
            "sentence says? And which sentences seem to need a citation?</span>"
        )
        self.draft = DraftFiles()
        self.button = main_button("Check the draft", "check", "Check each citation of the draft")
        self.button.on_click(lambda _: on_check())
        self.checked, self.files = widgets.HTML(), widgets.HTML()
        super().__init__([about, self.draft, self.button, self.checked, self.files])

    def put(self, found: DraftCheck) -> None:
        """Show a check, and offer it as files."""
        self.checked.value = check_html(found)
        whole = json.dumps(found.to_dict(), indent=1, ensure_ascii=False)
        table = to_csv(found.table)
        self.files.value = links_html(
            "check", [(".csv", "Table (CSV)", table), (".json", "Everything (JSON)", whole)]
        )


_WITHOUT_MODEL = (
    "papers are ranked, highlighted and quoted. With one, it writes citing sentences and "
    "paragraphs, and judges whether papers support a draft."
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
        """Find papers in the background; after `wait`, `value` contains them.

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

        def work(run: AgentRun) -> tuple[CitationSuggestions, str | None]:
            run.step("searching, and reading what was found")
            found = desk.cite(text, within or None, k=most, model=run.model)
            return found, run.model_name

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

        def work(run: AgentRun) -> tuple[Answer, str | None]:
            run.step(f"a paragraph on {count(len(names), 'paper')}")
            made = desk.related_work(names, context=about, model=run.model)
            return made, run.model_name

        def show(made: tuple[Answer, str | None]) -> None:
            self.paragraph, model = made
            self._related.put(self.paragraph)
            about_it = {"context": about} if about else {}
            asked = called("desk.related_work", names, **about_it, **model_option(model))
            self._put_code(
                f"paragraph = {asked}", "print(as_latex(paragraph))", model=model, names="as_latex"
            )

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

        def work(run: AgentRun) -> tuple[DraftCheck, str | None]:
            from landscape.agents import check_draft

            run.step("reading the draft, and comparing it with the papers it cites")
            return check_draft(bib, tex, desk=desk, model=run.model), run.model_name

        def show(made: tuple[DraftCheck, str | None]) -> None:
            self.draft_check, model = made
            self._checking.put(self.draft_check)
            asked = called("check_draft", bib, tex, desk=Name("desk"), **model_option(model))
            self._put_code(f"found = {asked}", model=model, names="check_draft")

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
        options = model_option(model) | ({"k": k} if k != 10 else {})
        by = "atlas.cite" if self._given_desk is None else "desk.cite"
        self._put_code(
            f"found = {called(by, found.context, *within, **options)}", model=model, names=""
        )
        self._offer_files()

    def _put_code(self, *asked: str, model: str | None, names: str) -> None:
        """Show lines of code; a desk of the reader's own is called `desk` in them."""
        is_ours = self._given_desk is None
        off = [name for name, box in self._citing.corpora.items() if not box.value]
        desk = desk_lines(names, is_ours=is_ours, off=() if names else off)
        self.code = join_lines(*desk, connecting(self.connection, model), *asked)

    def _drop_ticked(self) -> None:
        for name in self._related.papers.chosen:
            self._chosen.pop(name, None)
        self._related.show(self.chosen)
        self.tabs.set_title(1, f"{_TITLES[1]} ({len(self._chosen)})")

    def _offer_files(self) -> None:
        if self._value is None or not len(self._value):
            self._citing.files.value = ""
            return
        contents = [(ending, text, self._file(ending)) for ending, text in FILES.items()]
        self._citing.files.value = links_html("to-cite", contents)

    def _file(self, ending: str) -> str:
        from landscape._bibliography import to_bibtex

        assert self._value is not None  # noqa: S101 - there are no files before the first papers
        if ending == ".json":
            return json.dumps(self._value.to_dict(), indent=1, ensure_ascii=False)
        if ending == ".csv":
            return to_csv(self.selection)
        return to_bibtex([one.paper for one in self._picked()])
