"""Write the pages that are not in `docs/`: declarations, examples, notebooks, and copies."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import yaml
from declarations import commands_page, module_page, modules_page, public_modules, settings_page
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import landscape
from landscape.models import describe_cards

REPOSITORY = Path(__file__).parents[2]
DOCS, EXAMPLES, NOTEBOOKS = (REPOSITORY / name for name in ("docs", "examples", "notebooks"))
BUILD = REPOSITORY / "build"
ATLAS = BUILD / "docs-atlas" / "demo.atlas"
REAL_FIGURES = REPOSITORY / "figures" / "astro-ph"
PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/reporting.md",
    "benchmarks/RESULTS.md": "project/measurements.md",
    "README.md": "index.md",
    "examples/README.md": "gallery/index.rst",
}
"""Documents of the repository, and their pages on the site."""
_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
_SHOWN = (".png", ".gif", ".html")
STATIC = """:::{note}
This page shows the notebook after a run on 400 generated papers. Panels (buttons, sliders, the map
explorer) are not shown here, because they answer only in JupyterLab: run `landscape lab`.
:::"""
PANEL = "Here is a panel; it is shown in JupyterLab."


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("builder-inited", write_pages, priority=100)  # before the gallery
    app.connect("source-read", read_source)
    app.connect("doctree-read", replace_panels)
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def replace_panels(app: Sphinx, document: nodes.document) -> None:
    """Replace panels by a line of text, and omit their state: megabytes that no script reads."""
    for node in list(document.findall(nodes.raw)):
        if "jupyter.widget-view" in node.astext():
            node.replace_self(nodes.paragraph("", "", nodes.emphasis("", PANEL)))
    data = getattr(app.env, "nb_metadata", {}).get(app.env.current_document.docname, {})
    data.get("js_files", {}).pop("ipywidgets_state", None)


def write_math(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers show without a script."""
    is_block = isinstance(node, nodes.math_block)
    writer.body.append(tex2mathml(node.astext(), as_block=is_block))
    raise nodes.SkipNode


def write_pages(app: Sphinx) -> None:
    """Write all pages that are made from the package and the repository."""
    modules = sorted(public_modules(), key=lambda module: module.__name__)
    for module in modules:
        write(f"reference/{module.__name__}.rst", module_page(module))
    write("reference/commands.md", commands_page())
    write("reference/settings.md", settings_page())
    write("reference/models.md", describe_cards("md"))
    write("reference/modules.md", modules_page())
    for name, page in PAGES.items():
        if page.startswith("project/"):
            path = REPOSITORY / name
            write(page, site_links(path.read_text("utf-8"), path.parent))
    listed = "\n\n```{toctree}\n:hidden:\n:glob:\n\n[0-9]*\n```\n"
    start = site_links((NOTEBOOKS / "README.md").read_text("utf-8"), NOTEBOOKS)
    write("notebooks/README.md", start + listed)
    for path in NOTEBOOKS.glob("*.ipynb"):
        write(f"notebooks/{path.name}", notebook_page(path))
    if app.config.nb_execution_mode != "off":
        ATLAS.parent.mkdir(parents=True, exist_ok=True)
        landscape.open_demo(ATLAS.parent, n_papers=400)  # an existing atlas is reused


def write(name: str, text: str) -> None:
    """Write a page if it has changed."""
    path = DOCS / name
    path.parent.mkdir(exist_ok=True)
    if not path.is_file() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def notebook_page(path: Path) -> str:
    """Return a copy of a notebook that begins with a note on its panels."""
    notebook = nbformat.read(path, as_version=4)
    title, _, rest = notebook.cells[0].source.partition("\n")
    notebook.cells[0].source = f"{title}\n\n{STATIC}\n{rest}"
    return nbformat.writes(notebook)


def read_source(_: Sphinx, page: str, source: list[str]) -> None:
    """Complete a page of the gallery, or lead the links of a document to pages of the site."""
    folder, _, name = page.rpartition("/")
    if folder == "gallery" and (EXAMPLES / f"{name}.py").is_file():
        source[0] = example_page(name, source[0])
    elif (DOCS / f"{page}.md").is_file():
        source[0] = site_links(source[0], DOCS / folder)


def site_links(text: str, folder: Path) -> str:
    """Replace links to files of the repository by links to their pages."""

    def replaced(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if match[2].startswith("/") or not target.is_relative_to(REPOSITORY):
            return match[0]
        name = target.relative_to(REPOSITORY).as_posix()
        page = PAGES.get(name, name.removeprefix("docs/") if name.startswith("docs/") else "")
        if target.parent == NOTEBOOKS:
            page = name
        elif target.parent == EXAMPLES and target.suffix == ".py":
            page = f"gallery/{target.stem}.rst"
        return f"{match[1]}/{page}{match[3] or ''}" if page else match[0]

    return _LINK.sub(replaced, text)


def example_page(name: str, text: str, figures: Path = REAL_FIGURES) -> str:
    """Give the page of an example a title, and the figure of real papers if there is one.

    `captions.yaml` beside these figures has the caption of each, with the command that draws it.
    """
    docstring = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8"))) or ""
    first = docstring.partition("\n")[0]
    title, _, more = first.partition(". ")
    title = title.rstrip(".")
    lines = [title, "=" * len(title), "", more, ""]
    if (figures / f"{name}.png").is_file():
        listed = figures / "captions.yaml"
        captions = yaml.safe_load(listed.read_text("utf-8")) if listed.is_file() else {}
        caption = captions.get(name, "The same figure of real papers.")
        place = f"/../figures/astro-ph/{name}.png"
        lines += [f".. figure:: {place}", f"   :alt: {title}", "", f"   {caption}", ""]
    text = text.replace(first, "\n".join(lines), 1)
    return re.sub(r"^Run: (python .*)$", r"Run: ``\1``", text, count=1, flags=re.MULTILINE)


def arguments(_: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Return the arguments of an example: the demo atlas and the file of the figure."""
    name = Path(script["src_file"]).stem
    ending = {"animation": "gif", "interactive": "html"}.get(name, "png")
    folder = BUILD / "docs-figures" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return [str(ATLAS), str(folder / f"{name}.{ending}")]


def collect_figures(_: Any, script: dict[str, Any], config: dict[str, Any]) -> str:
    """Return the figures that an example wrote as reStructuredText."""
    lines = []
    for path in sorted((BUILD / "docs-figures" / Path(script["src_file"]).stem).iterdir()):
        copy = Path(next(script["image_path_iterator"])) if path.suffix in _SHOWN else Path()
        if path.suffix == ".html":
            shutil.copy(path, BUILD / "docs-pages")
            shutil.copy(REPOSITORY / "figures" / "gallery" / "heatmap.png", copy)  # its thumbnail
            frame = f'<iframe class="figure" src="../{path.name}" title="{path.stem}"></iframe>'
            lines += [".. raw:: html", "", f"   {frame}", ""]
        elif path.suffix in _SHOWN:
            copy = Path(shutil.copy(path, copy.with_suffix(path.suffix)))
            alt = path.with_suffix(".alt.txt")
            said = " ".join(alt.read_text("utf-8").split()) if alt.is_file() else path.stem
            place = copy.relative_to(config["src_dir"]).as_posix()
            lines += [f".. image:: /{place}", f"   :alt: {said}", ""]
    return "\n".join(lines)
