"""The writing panel: write a text with citations, write a paragraph, and check a draft."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets as widgets
import traitlets

from landscape._bibliography import escape_latex, to_bibtex
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
    from landscape.types import Answer, DraftCheck, Paper, Suggestion
    from landscape.widgets._agent_panel import Listed
    from landscape.widgets._connection import Connection

MOST = 100
"""Maximum number of papers that are suggested at once."""
_TITLES = ("Papers to cite", "Related work", "Check a draft")
_BIB = "paragraph.bib"
_MAX_BEFORE = 1_000  # maximum number of characters before the cursor that are searched for
_CITE = re.compile(r"\\[A-Za-z]{0,20}[cC]ite[A-Za-z]{0,20}\*?\s*(?:\[[^\]]*\]\s*)*\{([^{}]*)\}")
_WHOLE = re.compile(rf"{_CITE.pattern}|\\[A-Za-z]+|\w+(?:[-'’]\w+|\.\d+)*")
_COMMENT = re.compile(r"(?<!\\)%.*")

# Python counts characters, JavaScript counts some of them twice: both places are converted.
_EDITOR_ESM = """
function render({ model, el }) {
  const label = document.createElement("label"), area = document.createElement("textarea");
  const placeholder = model.get("placeholder"), title = model.get("tooltip") || "";
  Object.assign(area, { placeholder, title, rows: 5 });
  label.append(model.get("description"), area);
  el.append(label);
  let timer, sends = false;
  const send = () => {
    timer = clearTimeout(timer);
    sends = true;
    model.set("value", area.value);
    model.set("cursor", [...area.value.slice(0, area.selectionStart)].length);
    sends = false;
    model.save_changes();
  };
  const show = () => {
    if (sends) return;
    const text = model.get("value"), cursor = model.get("cursor"), isNew = area.value !== text;
    if (isNew) area.value = text;
    if (cursor === null) return;
    const place = [...text].slice(0, cursor).join("").length;
    if (area.selectionStart !== place) area.setSelectionRange(place, place);
    if (isNew) area.scrollTop = area.scrollHeight * place / text.length - area.clientHeight / 2;
  };
  show();
  model.on("change:value change:cursor", show);
  const sendSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(send, 100);
  };
  for (const event of ["input", "keyup", "click", "select"]) area.addEventListener(event, sendSoon);
  area.addEventListener("blur", () => timer && send());  // before a button acts on the text
  return () => model.off("change:value change:cursor", show);
}
export default { render };
"""


class TextEditor(anywidget.AnyWidget):
    """A text area with a cursor, whose place is None until it is known."""

    _esm = _EDITOR_ESM
    value = traitlets.Unicode().tag(sync=True)
    cursor = traitlets.Int(None, allow_none=True).tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    placeholder = traitlets.Unicode().tag(sync=True)

    @property
    def place(self) -> int:
        """Number of characters before the cursor; the whole text if the cursor is unknown."""
        return len(self.value) if self.cursor is None else len(self.value[: max(self.cursor, 0)])

    @property
    def before(self) -> str:
        """The last words before the cursor."""
        text = self.value[: self.place]
        if len(text) <= _MAX_BEFORE:
            return text
        return re.sub(r"^\S{0,40}\s", "", text[-_MAX_BEFORE:])  # without the part of a word

    def put(self, text: str, cursor: int | None = None) -> None:
        """Replace the text and the place of the cursor in one message to the page."""
        with self.hold_sync():
            self.value, self.cursor = text, cursor


class WritingPanel(QueryPanel[CitationSuggestions]):
    """Write a text with citations, write a paragraph, and check the citations of a draft.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Language model that writes. Default: the model set in the environment, if any.
    desk : AtlasCollection, optional
        Corpora to cite from. Default: only the atlas.
    context : str, optional
        Initial text of the editor, in LaTeX.
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
    >>> panel.insert(1)  # doctest: +SKIP
    >>> print(panel.to_latex(), panel.to_bibtex())  # doctest: +SKIP
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
        self._cited: dict[str, Paper] = {}  # papers that were inserted, by citation key
        self._inserted: dict[str, str] = {}  # sentences since the last search, by citation key
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
        """Create the tab with the text and the papers to cite."""
        self._context = make_control(
            "writing.context", lambda: self._try(self._offer_text), kind=TextEditor, value=context
        )
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
        insert = make_control("writing.insert", lambda: self._soon(self.insert))
        self._again = widgets.HBox([self._rank, _wide(self._other), again, insert])
        self._heading_of_papers, self._text_files = widgets.HTML(), widgets.HTML()
        self._papers = PaperList(on_change=self._follow_ticks)
        self._found = widgets.VBox([self._heading_of_papers, self._papers, choose, self._files])
        self._found.layout.display = self._again.layout.display = "none"
        switches = widgets.HBox([*self._corpora.values()])
        switches.layout.display = "" if len(self._corpora) > 1 else "none"
        row = widgets.HBox([_wide(self._keywords), self._k, find])
        editor = widgets.VBox([self._context, self._text_files, row, switches, self._again])
        editor.add_class("landscape-editor")
        self._offer_text()
        return widgets.VBox([editor, self._found])

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
            Default: the text before the cursor, and the text of the field.
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
        if context is not None:
            self._context.put(context)
        for box, given in ((self._keywords, keywords), (self._k, k)):
            if given is not None:
                box.value = given
        text = self._context.before if context is None else context
        within, most = self._keywords.value.strip(), self._k.value
        needed(f"{text}{within}", what="The text before the cursor")
        desk = self.desk
        desk.searched  # noqa: B018 - raises InputError if no corpus is switched on

        def work(run: AgentRun) -> CitationSuggestions:
            run.step("searching, and reading the results")
            return desk.cite(text, within or None, k=most, model=run.model)

        def show(found: CitationSuggestions, model: str | None) -> None:
            self._inserted.clear()
            self._rank.value = 1
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
            if self._replaceable(self._key_of(chosen)):
                self.say(f"“Insert” replaces the sentence of paper {chosen} in your text.")
            options = model_option(model)
            asked = called("desk.rewrite", Name("found"), chosen, words, **options)
            first = [
                "from landscape.agents import AtlasCollection",
                "desk = AtlasCollection().add(atlas)",
            ]
            first = first if self._given_desk is None else []
            self._put_code(*first, f"found = {asked}", model=model)

        self._begin("Writing the sentence again", work, show)

    def insert(self, rank: int | None = None) -> None:
        r"""Insert the citing sentence of a paper, with its citation, at the cursor of the text.

        Without a citing sentence, the best highlight is quoted; without highlights, only
        ``\citep`` is inserted. If the sentence inserted for this paper since the last search is
        still in the text, it is replaced.

        Parameters
        ----------
        rank : int, optional
            Number of the paper in the list. Default: the value of the field, which follows the
            ticked paper.

        Raises
        ------
        InputError
            If there are no papers yet, or no paper has this number.
        """
        if not self._value:
            raise InputError("There is no paper to insert yet. Find papers to cite first.")
        number = self._rank.value if rank is None else rank
        self._rank.value = chosen = checked_whole("rank", number, 1, len(self._value))
        suggestion, key = self._value.suggestions[chosen - 1], self._key_of(chosen)
        self._cited.setdefault(key, suggestion.paper)
        new, old, text = citing_latex(suggestion, key), self._replaceable(key), self._context.value
        before, after = text.split(old, 1) if old else split_for(text, self._context.place, new)
        if not _CITE.match(new):  # a citation alone may be repeated
            self._inserted[key] = new
        self._context.put(f"{before}{new}{after}", len(before) + len(new))
        done = "replaced: the sentence of" if old else "inserted:"
        self.say(f"{done} paper {chosen}.".capitalize())

    def _key_of(self, rank: int) -> str:
        """Return the key of a paper, different from those of other papers that were inserted."""
        from landscape.agents.collection import is_same

        found: Any = self._value
        paper, first = found.papers[rank - 1], found.citation_keys[rank - 1]
        for key, cited in self._cited.items():
            if cited == paper or is_same(cited, paper):
                return key
        taken, number = {key.lower() for key in self._cited}, 1  # BibTeX ignores case
        while (key := first if number == 1 else f"{first}-{number}").lower() in taken:
            number += 1
        return str(key)

    def _replaceable(self, key: str) -> str:
        """Return the sentence that was inserted for a paper, or "" if it is not in the text."""
        sentence = self._inserted.get(key, "")
        return sentence if sentence in self._context.value else ""

    def to_latex(self) -> str:
        """Return the text as LaTeX, below a comment that names the file of its papers.

        Raises
        ------
        InputError
            If the text is empty.
        """
        text = needed(readable_text("text", self._context.value), what="The text")
        return f"% The papers cited here are in {_BIB}.\n{text}\n"

    def to_bibtex(self) -> str:
        """Return the inserted papers that the text cites as BibTeX entries, with its keys."""
        return "\n\n".join(
            re.sub(r"\{[^,]*", f"{{{key}", to_bibtex([self._cited[key]]), count=1)
            for key in cited_keys(self._context.value)
            if key in self._cited
        )

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

    def _follow_ticks(self) -> None:
        if len(self._papers.chosen) == 1:
            self._rank.value = int(self._papers.chosen[0])
        self._offer_files()

    def _offer_text(self) -> None:
        """Offer the text and its papers as files."""
        text, links = self._context.value, []
        unknown = [key for key in cited_keys(text) if key not in self._cited]
        if text.strip():
            links = [download_link("paragraph.tex", self.to_latex(), text="Text (LaTeX)")]
        if papers := self.to_bibtex():
            links.append(download_link(_BIB, papers, text="Its papers (BibTeX)"))
        self._text_files.value = render(
            "panel_writing.html", part="text", links=links, unknown=unknown
        )

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
        self._again.layout.display = "" if suggestions.suggestions else "none"
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


def cited_keys(text: str) -> list[str]:
    """Return the keys that a text in LaTeX cites, in the order of the text."""
    groups = _CITE.findall(_COMMENT.sub("", text))
    return [*dict.fromkeys(key for group in groups for key in re.split(r"[\s,]+", group) if key)]


def citing_latex(suggestion: Suggestion, key: str) -> str:
    """Return the sentence or the quotation that cites a paper, or only its citation."""
    written = suggestion.sentence.text if suggestion.sentence else suggestion.quotation
    sentence, cite = escape_latex(written.rstrip(".!? ")), f"\\citep{{{key}}}"
    return f"{sentence}~{cite}." if sentence else cite


def split_for(text: str, place: int, new: str) -> tuple[str, str]:
    r"""Split a text for a sentence or citation, with the spaces around it.

    Words and citations are not split, and a sentence does not come before a full stop.

    >>> split_for("Dust cools. It glows.", 11, "A sentence.")
    ('Dust cools. ', ' It glows.')
    """
    for part in _WHOLE.finditer(text):
        if part.start() < place < part.end():
            place = part.end()
    is_cite = _CITE.match(new) is not None
    if not is_cite and (stop := re.match(r"[.!?]+", text[place:])):
        place += stop.end()
    before, after = text[:place], text[place:]
    if is_cite and (words := before.rstrip(" ")) and words[-1] not in "\n~([{":
        before = f"{words}~"
    elif before and not before[-1].isspace() and before[-1] not in "~([{":
        before += " "
    return before, after if re.match(r"[\s.,;:!?)\]}]|$", after) else f" {after}"


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
