"""The three parts of the panel for writers, each with its controls and its results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import ipywidgets as widgets

from landscape._serializer import to_csv
from landscape._wording import count
from landscape.types import Hit
from landscape.widgets.draft_files import DraftFiles
from landscape.widgets.export import download_link
from landscape.widgets.paper_list import Item, PaperList
from landscape.widgets.scholar_panel import main_button, text_area, text_box
from landscape.widgets.writing_view import check_html, paragraph_html

if TYPE_CHECKING:
    from landscape.agents.cite.desk import Desk
    from landscape.types import Answer, DraftCheck, Paper

Do = Callable[[], None]
MOST = 100
"""Papers to cite that are suggested at once."""


class CitingTab(widgets.VBox):
    """The text before a citation, and the papers that could be cited there.

    Parameters
    ----------
    desk : Desk
    context, keywords : str
        What stands in the boxes at first.
    on_cite, on_choose, on_change : callable
        What is done when papers are wanted, when the ticked ones are chosen for a paragraph, and
        when others are ticked.
    """

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
    """The papers chosen for a paragraph, and the paragraph.

    Parameters
    ----------
    on_write, on_drop : callable
        What is done when the paragraph is wanted, and when the ticked papers are taken out.
    """

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
    """The files of a draft, and what was found in it.

    Parameters
    ----------
    on_check : callable
        What is done when the draft is to be checked.
    """

    def __init__(self, *, on_check: Do) -> None:
        told = widgets.HTML(
            "<span class='landscape-quiet'>For every citation: does the cited paper say what the "
            "sentence says? And which sentences seem to need a citation?</span>"
        )
        self.draft = DraftFiles()
        self.button = main_button("Check the draft", "check", "Check each citation of the draft")
        self.button.on_click(lambda _: on_check())
        self.checked, self.files = widgets.HTML(), widgets.HTML()
        super().__init__([told, self.draft, self.button, self.checked, self.files])

    def put(self, found: DraftCheck) -> None:
        """Show a check, and offer it as files."""
        self.checked.value = check_html(found)
        whole = json.dumps(found.to_dict(), indent=1, ensure_ascii=False)
        links = (
            download_link("check.csv", to_csv(found.table), text="Table (CSV)"),
            download_link("check.json", whole, text="Everything (JSON)"),
        )
        self.files.value = f"<p>{' '.join(links)}</p>"
