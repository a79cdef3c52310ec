"""The panels for people who do not code, as pages in one frame with the name of the atlas."""

from __future__ import annotations

import html
import threading
from typing import TYPE_CHECKING

import anywidget
import ipywidgets as widgets
import traitlets

from landscape import widgets as panels
from landscape._wording import GENERATED, count, did_you_mean
from landscape.errors import InputError, LandscapeError
from landscape.widgets._controls import (
    checked_atlas,
    css_of,
    make_control,
    panel_texts,
    show_only,
    style_sheet,
)

if TYPE_CHECKING:
    from landscape.atlas import Atlas

_PANELS = {
    "explorer": "MapExplorer",
    "ask": "AskPanel",
    "impact": "ImpactPanel",
    "outreach": "OutreachPanel",
    "citations": "CitationPanel",
    "writing": "WritingPanel",
    "survey": "SurveyPanel",
    "reviews": "ReviewPanel",
    "trends": "TrendsPanel",
    "thesaurus": "ThesaurusPanel",
    "library": "LibraryPanel",
    "digest": "DigestPanel",
}
# The name of the page is the part of the address of Voila after "#"; see `landscape app`.
_ADDRESS_ESM = """
function render({ model }) {
  if (!document.body.dataset.voila) return;
  const read = () => {
    const page = location.hash.slice(1);
    if (model.get("pages").includes(page) && page !== model.get("page")) {
      model.set("page", page);
      model.save_changes();
    }
  };
  const write = () => history.replaceState(null, "", "#" + model.get("page"));
  read();
  write();
  model.on("change:page", write);
  addEventListener("hashchange", read);
  return () => removeEventListener("hashchange", read);
}
export default { render };
"""


class _Address(anywidget.AnyWidget):
    """Keep the name of the page in the address of a web page."""

    _esm = _ADDRESS_ESM
    page = traitlets.Unicode().tag(sync=True)
    pages = traitlets.List(traitlets.Unicode()).tag(sync=True)


def _checked_page(page: str) -> str:
    """Return the name of a page of the workbench; raise InputError for other names."""
    if page not in _PANELS:
        hint = did_you_mean(page, _PANELS)
        raise InputError(f"There is no page {page!r}{hint} Pages: {', '.join(_PANELS)}.")
    return page


def _panel_of(page: str) -> type[widgets.Widget]:
    """Import the panel of a page."""
    panel: type[widgets.Widget] = getattr(panels, _PANELS[page])
    return panel


class Workbench(widgets.VBox):
    """Show all panels of an atlas as pages in one frame.

    A panel is created when its page is opened for the first time. ``landscape app`` serves a
    workbench as a web page.

    Parameters
    ----------
    atlas : Atlas
    page : str, default "explorer"
        Page to open first: ``"explorer"``, ``"ask"``, ``"impact"``, ``"outreach"``,
        ``"citations"``, ``"writing"``, ``"survey"``, ``"reviews"``, ``"trends"``,
        ``"thesaurus"``, ``"library"`` or ``"digest"``.

    Attributes
    ----------
    panels : dict
        The panels that were opened, by the names of their pages.

    Raises
    ------
    InputError
        If there is no page with this name.

    Examples
    --------
    >>> import landscape as ls
    >>> from landscape.widgets import Workbench
    >>> Workbench(ls.open("my.atlas"), page="ask")  # doctest: +SKIP
    """

    def __init__(self, atlas: Atlas, page: str = "explorer") -> None:
        self._atlas = checked_atlas(atlas)
        titles = panel_texts()["workbench_pages"]
        options = [(text, name) for name, text in titles.items()]
        self._pages = make_control(
            "shared.pages", lambda: self._open(), options=options, value=_checked_page(page)
        )
        self._status = widgets.HTML()
        self.panels: dict[str, widgets.Widget] = {}
        facts = count(len(atlas), "paper")
        if atlas.coverage["generated"]:
            facts += f". {GENERATED}"
        title = html.escape(atlas.title)
        head = widgets.HTML(
            f"<div class='landscape-heading' role='heading' aria-level='1'>{title}</div>"
            f"<span class='landscape-quiet'>{html.escape(facts)}</span>"
        )
        frame = widgets.HBox([head, self._pages], layout={"flex_flow": "row wrap"})
        frame.add_class("landscape-frame")
        address = _Address(page=page, pages=[*_PANELS])
        address.layout.display = "none"
        widgets.link((address, "page"), (self._pages, "value"))
        self._head = (style_sheet(css_of("panel", "workbench")), frame, self._status, address)
        super().__init__(self._head)
        self.add_class("landscape-panel")
        self.add_class("landscape-workbench")
        self._open()
        # The modules of the other panels take seconds to import.
        threading.Thread(target=lambda: [*map(_panel_of, _PANELS)], daemon=True).start()

    def __repr__(self) -> str:
        return f"<Workbench: {self._atlas.title}, {self.page}>"

    @property
    def page(self) -> str:
        """The name of the page that is shown. It can be set to open another page."""
        return str(self._pages.value)

    @page.setter
    def page(self, page: str) -> None:
        self._pages.value = _checked_page(page)

    def _open(self) -> None:
        """Show the panel of the chosen page; create it if the page is opened for the first time."""
        page = self.page
        show_only({panel: name == page for name, panel in self.panels.items()})
        self._say("")
        if page in self.panels:
            return
        self._say(f"Opening {self._pages.label} …")
        try:
            self.panels[page] = _panel_of(page)(self._atlas)
        except LandscapeError as error:
            self._say(str(error), "wrong")
            return
        self.children = (*self._head, *self.panels.values())
        self._say("")

    def _say(self, text: str, kind: str = "quiet") -> None:
        message = f"<div role='status' aria-live='polite' class='landscape-{kind}'>"
        self._status.value = f"{message}{html.escape(text)}</div>" if text else ""
        self._status.layout.display = None if text else "none"
