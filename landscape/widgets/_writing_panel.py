"""The writing panel: find papers to cite, write a paragraph, and check a draft."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._render import render
from landscape._serializer import to_csv, to_json
from landscape._wording import count
from landscape.errors import InputError
from landscape.search.settings import readable_text
from landscape.types import CitationSuggestions, Hit
from landscape.widgets._agent_panel import AgentRun, QueryPanel, clean_notes, model_option, needed
from landscape.widgets._code_lines import Name, called, connecting, join_lines, written
from landscape.widgets._controls import checked_whole, make_control, panel_texts, quiet_html
from landscape.widgets._figure_view import download_link
from landscape.widgets._tables import Item, PaperList, table_html

if TYPE_CHECKING:
    from traitlets import Bunch

    from landscape.agents import AtlasCollection
    from landscape.atlas import Atlas
    from landscape.types import Answer, DraftCheck, Paper
    from landscape.widgets._agent_panel import Listed
    from landscape.widgets._connection import Connection

MOST = 100
"""Maximum number of papers that are suggested at once."""
_TITLES = ("Papers to cite", "Related work", "Check a draft")


class WritingPanel(QueryPanel[CitationSuggestions]):
    """Find papers to cite, write a paragraph on them, and check the citations of a draft.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Language model that writes. Default: the model set in the environment, if any.
    desk : AtlasCollection, optional
        Corpora to cite from. Default: only the atlas.
    context : str, optional
        Initial text of the field for the text before the citation.
    keywords : str, optional
        Initial text of the field for keywords, in the syntax of filters.

    Attributes
    ----------
    paragraph : Answer or None
        The last paragraph.
    draft_check : DraftCheck or None
        The last check of a draft.

    Examples
    --------
    >>> import landscape as ls
    >>> panel = WritingPanel(ls.open("my.atlas"))  # doctest: +SKIP
    >>> panel.cite("Massive stars lose mass in winds that are driven by")  # doctest: +SKIP
    >>> panel.wait(), panel.selection  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        connection: Connection | None = None,
        desk: AtlasCollection | None = None,
        context: str = "",
        keywords: str = "",
    ) -> None:
        from landscape.agents import AtlasCollection as Collection

        readable_text("context", context)
        readable_text("keywords", keywords)
        super().__init__("writing", atlas, connection=connection)
        self._given_desk = desk
        self._desk = desk if desk is not None else Collection().add(atlas)
        self.paragraph: Answer | None = None
        self.draft_check: DraftCheck | None = None
        self._chosen: dict[str, Paper] = {}
        self.tabs = widgets.Tab(
            children=[
                self._citing_tab(context, keywords),
                self._related_tab(),
                self._checking_tab(),
            ],
            titles=_TITLES,
        )
        self._list_chosen()
        self._lay_out(
            asking=[self._model_line], folds={"Language model": self.connection}, found=[self.tabs]
        )

    def _citing_tab(self, context: str, keywords: str) -> widgets.VBox:
        """Create the tab with the text before a citation, and the papers to cite."""
        self._context = make_control("writing.context", value=context)
        self._keywords = make_control("writing.keywords", value=keywords)
        self._on_enter(self._keywords, self.cite)
        self._k = make_control("writing.k", max=MOST)
        self._corpora = {
            one.name: make_control(
                "writing.corpus",
                value=one.on,
                description=one.name,
                tooltip=f"Whether {one.name} is searched",
            )
            for one in self._desk.corpora
        }
        find = make_control("writing.find", lambda: self._soon(self.cite))
        choose = make_control("writing.choose", lambda: self._try(self.choose))
        self._rank = make_control("writing.rank", max=MOST)
        self._other = make_control("writing.other")
        again = make_control("writing.again", lambda: self._soon(self.rewrite))
        self._again = widgets.HBox([self._rank, _wide(self._other), again])
        self._heading_of_papers = widgets.HTML()
        self._papers = PaperList(on_change=self._offer_files)
        self._found = widgets.VBox(
            [self._heading_of_papers, self._papers, self._again, choose, self._files]
        )
        self._found.layout.display = "none"
        switches = widgets.HBox([*self._corpora.values()])
        switches.layout.display = "" if len(self._corpora) > 1 else "none"
        row = widgets.HBox([_wide(self._keywords), self._k, find])
        return widgets.VBox([self._context, row, switches, self._found])

    def _related_tab(self) -> widgets.VBox:
        """Create the tab with the papers chosen for a paragraph, and the paragraph."""
        self._n_chosen, self._paragraph = widgets.HTML(), widgets.HTML()
        self._chosen_papers = PaperList()
        self._about = make_control("writing.about")
        self._on_enter(self._about, self.write)
        write = make_control("writing.write", lambda: self._soon(self.write))
        self._drop = make_control("writing.drop", lambda: self._try(self._drop_ticked))
        return widgets.VBox(
            [
                self._n_chosen,
                self._chosen_papers,
                self._drop,
                widgets.HBox([_wide(self._about), write]),
                self._paragraph,
            ]
        )

    def _checking_tab(self) -> widgets.VBox:
        """Create the tab with the files of a draft, and the result of their check."""
        about, self._draft = make_control("writing.about_check"), DraftFiles()
        check = make_control("writing.check", lambda: self._soon(self.check))
        self._checked = widgets.HTML()
        return widgets.VBox([about, self._draft, check, self._checked])

    def __repr__(self) -> str:
        found = "nothing asked yet"
        if self._value is not None:
            found = f"{count(len(self._value), 'paper')} to cite"
        return f"<WritingPanel: {self.atlas.title}, {found}>"

    @property
    def desk(self) -> AtlasCollection:
        """The corpora. Each is switched on or off as on the page."""
        desk = self._desk
        for name, box in self._corpora.items():
            desk = desk.switch_on(name) if box.value else desk.switch_off(name)
        return desk

    @property
    def chosen(self) -> tuple[Paper, ...]:
        """The papers chosen for the paragraph; they may come from several searches."""
        return tuple(self._chosen.values())

    def cite(
        self, context: str | None = None, keywords: str | None = None, *, k: int | None = None
    ) -> None:
        """Find papers to cite in the background. Call `wait`, then read them from `value`.

        Parameters
        ----------
        context, keywords : str, optional
            Default: the texts of the fields.
        k : int, optional
            Number of papers.

        Raises
        ------
        InputError
            If text and keywords are both empty, no corpus is switched on, or `k` is invalid.
        """
        if k is not None:
            checked_whole("k", k, 1, MOST)
        for name, text in (("context", context), ("keywords", keywords)):
            if text is not None:
                readable_text(name, text)
        fields = ((self._context, context), (self._keywords, keywords), (self._k, k))
        for box, given in fields:
            if given is not None:
                box.value = given
        text, within, most = self._context.value, self._keywords.value.strip(), self._k.value
        needed(f"{text}{within}", what="The text before the citation")
        desk = self.desk
        desk.searched  # noqa: B018 - raises InputError if no corpus is switched on

        def work(run: AgentRun) -> CitationSuggestions:
            run.step("searching, and reading the results")
            return desk.cite(text, within or None, k=most, model=run.model)

        def show(found: CitationSuggestions, model: str | None) -> None:
            self._show_papers(found)
            within = () if found.keywords is None else (found.keywords,)
            options = model_option(model) | ({"k": most} if most != 10 else {})
            by = "atlas.cite" if self._given_desk is None else "desk.cite"
            self._put_code(f"found = {called(by, found.context, *within, **options)}", model=model)

        self._begin("Looking for papers", work, show)

    def rewrite(self, rank: int | None = None, keywords: str | None = None) -> None:
        """Write the sentence of one paper again in the background, with other keywords.

        Parameters
        ----------
        rank : int, optional
            Number of the paper in the list. Default: the value of the field.
        keywords : str, optional
            Default: the text of the field.

        Raises
        ------
        InputError
            If there are no papers yet, or no keywords.
        """
        if (old := self._value) is None:
            raise InputError(self._texts["unsaved"])
        for box, given in ((self._rank, rank), (self._other, keywords)):
            if given is not None:
                box.value = given
        chosen, desk = self._rank.value, self.desk
        words = needed(self._other.value, what="The field for other keywords")

        def work(run: AgentRun) -> CitationSuggestions:
            return desk.rewrite(old, chosen, words, model=run.model)

        def show(found: CitationSuggestions, model: str | None) -> None:
            self._show_papers(found)
            options = model_option(model)
            asked = called("desk.rewrite", Name("found"), chosen, words, **options)
            first = [
                "from landscape.agents import AtlasCollection",
                "desk = AtlasCollection().add(atlas)",
            ]
            first = first if self._given_desk is None else []
            self._put_code(*first, f"found = {asked}", model=model)

        self._begin("Writing the sentence again", work, show)

    def choose(self, papers: Sequence[str] | None = None) -> None:
        """Choose papers for the paragraph.

        Parameters
        ----------
        papers : sequence of str, optional
            Identifiers of papers. Default: the ticked papers.

        Raises
        ------
        InputError
            If no paper is ticked, or a paper is not in any corpus.
        """
        if papers is not None:
            found = [self._desk.find(name)[1] for name in papers]
        elif self._value is None or not self._papers.chosen:
            raise InputError("No paper is ticked. Tick the papers for the paragraph.")
        else:
            found = self._picked(self._value)[1]
        self._chosen |= {paper.paper_id: paper for paper in found}
        self._list_chosen()
        self.say(f"{count(len(self._chosen), 'paper')} chosen: see “Related work”.")

    def write(self, context: str | None = None) -> None:
        """Write a paragraph on the chosen papers in the background; read it from `paragraph`.

        Parameters
        ----------
        context : str, optional
            Subject of the paragraph. Default: the text of the field.

        Raises
        ------
        InputError
            If no paper is chosen.
        """
        if context is not None:
            self._about.value = context
        names = list(self._chosen)
        if not names:
            raise InputError("No paper is chosen yet. Tick papers under “Papers to cite”.")
        about, desk = self._about.value.strip(), self._desk

        def work(run: AgentRun) -> Answer:
            run.step(f"a paragraph on {count(len(names), 'paper')}")
            return desk.related_work(names, context=about, model=run.model)

        def show(paragraph: Answer, model: str | None) -> None:
            from landscape.agents import as_latex

            self.paragraph = paragraph
            bib = paragraph.results.to_bibtex()
            link = download_link("related-work.bib", bib, text="Its papers (BibTeX)")
            self._paragraph.value = render(
                "panel_writing.html",
                part="paragraph",
                paragraph=paragraph,
                latex=as_latex(paragraph),
                links=[link],
            )
            options = ({"context": about} if about else {}) | model_option(model)
            asked = called("desk.related_work", names, **options)
            self._put_code(
                f"paragraph = {asked}", "print(as_latex(paragraph))", model=model, uses="as_latex"
            )

        self._begin("Writing", work, show)

    def check(
        self, bibliography: str | Path | None = None, drafts: str | Path | Sequence[str | Path] = ()
    ) -> None:
        """Check a draft in the background. Call `wait`, then read the result from `draft_check`.

        Parameters
        ----------
        bibliography : path, optional
            Default: the file in the field.
        drafts : path or sequence of path, optional
            Default: the files in the field.

        Raises
        ------
        InputError
            If the bibliography or the drafts are not given.
        """
        if bibliography is not None:
            listed = [drafts] if isinstance(drafts, str | Path) else list(drafts)
            self._draft.put(bibliography, listed)
        bib, tex = self._draft.given()
        desk = self._desk

        def work(run: AgentRun) -> DraftCheck:
            from landscape.agents import check_draft

            run.step("reading the draft, and comparing it with the papers it cites")
            return check_draft(bib, tex, desk=desk, model=run.model)

        def show(found: DraftCheck, model: str | None) -> None:
            self.draft_check, table = found, found.table
            links = [
                download_link("check.html", found.to_html(), text="Report (HTML)"),
                download_link("check.csv", to_csv(table), text="Table (CSV)"),
                download_link("check.json", to_json(found), text="Everything (JSON)"),
            ]
            table["verdict"] = table["verdict"].map(panel_texts()["verdicts"])
            listed = table_html(table, "draft_check", about="Citations of the draft")
            self._checked.value = render(
                "panel_writing.html",
                part="check",
                found=found,
                notes=clean_notes(found.notes),
                table=listed if len(table) else "",
                links=links,
            )
            asked = called("check_draft", bib, tex, desk=Name("desk"), **model_option(model))
            self._put_code(f"found = {asked}", model=model, uses="check_draft")

        self._begin("Checking the draft", work, show)

    def _take(self, atlas: Atlas) -> None:
        from landscape.agents import AtlasCollection as Collection

        super()._take(atlas)
        if self._given_desk is None:
            self._desk = Collection().add(atlas, self._desk.corpora[0].name)
        else:
            self.say(
                "The collection of this panel still contains the atlases before they were rebuilt. "
                "Make a new one with AtlasCollection().add(ls.open(path)), and open the panel with "
                "it.",
                "warning",
            )

    def _listed(self, suggestions: CitationSuggestions) -> Listed:
        return suggestions.table, [
            (str(suggestion.rank), suggestion.paper, True) for suggestion in suggestions.suggestions
        ]

    def _show_papers(self, suggestions: CitationSuggestions) -> None:
        self._value = suggestions
        notes = clean_notes(
            [*suggestions.notes, *(one.summary for one in suggestions.coverage.values())]
        )
        self._heading_of_papers.value = render(
            "panel_writing.html", part="suggestions", found=suggestions, notes=notes
        )
        self._papers.show(
            [
                Item(
                    str(suggestion.rank),
                    f"{suggestion.rank}.",
                    suggestion.paper.title,
                    f"<div class='landscape-results'>{suggestion.to_html()}</div>",
                )
                for suggestion in suggestions.suggestions
            ]
        )
        self._found.layout.display = ""
        self._offer_files()

    def _put_code(self, *lines: str, model: str | None, uses: str = "") -> None:
        """Show lines of code, including the collection that they use and the necessary imports."""
        first = [f"from landscape.agents import {uses}"] if uses else []
        off = [name for name, box in self._corpora.items() if not box.value]
        if self._given_desk is None and uses:
            first = [
                f"from landscape.agents import AtlasCollection, {uses}",
                "desk = AtlasCollection().add(atlas)",
            ]
        elif self._given_desk is not None and off and not uses:
            switched = "".join(f".switch_off({written(name)})" for name in off)
            first = [f"desk = desk{switched}"]
        self.code = join_lines(first, connecting(self.connection.used, model), *lines)

    def _list_chosen(self) -> None:
        """List the papers chosen for the paragraph."""
        n = len(self._chosen)
        self._chosen_papers.show(
            [
                Item(paper.paper_id, f"{rank}.", paper.title, Hit(rank, paper, 0.0).to_html())
                for rank, paper in enumerate(self.chosen, start=1)
            ]
        )
        none = "No paper is chosen yet. Tick papers under “Papers to cite”, and add them here."
        self._n_chosen.value = quiet_html(f"{count(n, 'paper')} for the paragraph." if n else none)
        self._drop.layout.display = "" if n else "none"
        self.tabs.set_title(1, f"{_TITLES[1]} ({n})" if n else _TITLES[1])

    def _drop_ticked(self) -> None:
        for name in self._chosen_papers.chosen:
            self._chosen.pop(name, None)
        self._list_chosen()


def _wide(control: widgets.Widget) -> widgets.Box:
    return widgets.Box([control], layout={"flex": "1 1 auto"})


_MAX_LENGTH = 100  # maximum number of characters of a file name
_ODD = re.compile(r"[^\w.-]+")


def split_names(text: str) -> list[str]:
    """Split file names at commas and semicolons. A name ends with its suffix.

    >>> split_names("drafts, 2024/paper.tex; notes.tex, readme")
    ['drafts, 2024/paper.tex', 'notes.tex', 'readme']
    """
    names: list[str] = []
    waiting: list[str] = []  # pieces without a suffix: folders with a comma, or names
    for piece in re.split(r"(?<=[,;])", text):
        waiting.append(piece)
        if re.search(r"\w\.\w{1,20}$", piece[-40:].strip(" ,;")):
            names.append("".join(waiting))
            waiting.clear()
    stripped = (name.strip(" ,;") for name in [*names, *waiting])
    return [name for name in stripped if name]


class DraftFiles(widgets.VBox):
    """Fields for a .bib file and .tex files, which the user names or uploads."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._bibliography = make_control("writing.bibliography")
        self._drafts = make_control("writing.drafts")
        rows = []
        for box, kind in ((self._bibliography, ".bib"), (self._drafts, ".tex")):
            upload = make_control(
                "writing.upload",
                kind=_DraftUpload,
                description=f"or upload the {kind}",
                tooltip=f"Upload a {kind} file from this computer; it stays in this process",
                accept=kind,
                multiple=kind == ".tex",
            )
            upload.observe(lambda change, box=box: self._take(change, box), "value")
            rows.append(widgets.HBox([_wide(box), upload]))
        super().__init__(rows)

    def put(self, bibliography: str | Path, drafts: list[str | Path]) -> None:
        """Set the names of the files."""
        self._bibliography.value = str(bibliography)
        self._drafts.value = ", ".join(map(str, drafts))

    def given(self) -> tuple[str, list[str]]:
        """Return the names of the files; raise InputError if one is missing."""
        bibliography = self._bibliography.value.strip()
        drafts = split_names(self._drafts.value)
        if not bibliography or not drafts:
            raise InputError("Checking needs a .bib file and a .tex file. Give both file names.")
        return bibliography, drafts

    def _take(self, change: Bunch, box: widgets.Text) -> None:
        """Write uploaded files to disk, show their names, and clear the uploaded data."""
        if not change["new"]:
            return
        try:
            box.value = ", ".join(self._write(change["new"]))
        finally:
            change["owner"].value = ()

    def _write(self, uploads: Sequence[Bunch]) -> list[str]:
        """Write files to a temporary folder, which is deleted together with the panel."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="draft-")
        paths: list[str] = []
        for upload in uploads:
            given = Path(_ODD.sub("_", Path(upload["name"]).name).lstrip(".") or "draft.tex")
            path = Path(self._folder.name) / f"{given.stem[:_MAX_LENGTH]}{given.suffix[:8]}"
            if str(path) in paths:  # the names differ only in characters that were replaced
                path = path.with_name(f"{path.stem}_{len(paths)}{path.suffix}")
            path.write_bytes(bytes(upload["content"]))
            paths.append(str(path))
        return paths


class _DraftUpload(widgets.FileUpload):
    """An upload widget; its files are not included in a state that is sent or saved."""

    def get_state(self, key: object = None, drop_defaults: bool = False) -> dict[str, object]:
        state: dict[str, Any] = super().get_state(key=key, drop_defaults=drop_defaults)
        if "value" in state:
            state["value"] = []
        return state
