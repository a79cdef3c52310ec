"""Pages of the site that are made from the package: interface, commands, settings, and copies.

The demo atlas is built here too, and the figures that the examples write are collected.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import logging
import pkgutil
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import docstring_parser
import nbformat
import yaml
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import landscape
from landscape import _settings
from landscape.cli import _program

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
    "README.md": "index.md",
    "examples/README.md": "gallery/index.rst",
}
"""Documents of the repository, and their pages on the site."""
_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
_VARIABLE = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_SHOWN = (".png", ".gif", ".html")
STATIC = """:::{note}
This page shows the notebook after a run on 400 generated papers. Panels (buttons, sliders, the map
explorer) are not shown here, because they answer only in JupyterLab: run `landscape lab`.
:::"""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("builder-inited", write_pages, priority=100)  # before the gallery
    app.connect("source-read", read_source)
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    # A section without pages is not an error. Sphinx cannot suppress this warning by its type.
    log = logging.getLogger("sphinx.sphinx.directives.other")
    log.addFilter(lambda record: "glob pattern" not in str(record.msg))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


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
    for name, page in PAGES.items():
        if page.startswith("project/"):
            write(page, site_links((REPOSITORY / name).read_text("utf-8"), REPOSITORY))
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


def public_modules(name: str = "landscape") -> Iterator[ModuleType]:
    """Yield the package, its public subpackages, and the public modules that they list."""
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.iter_modules(module.__path__, f"{name}."):
        short = found.name.rpartition(".")[2]
        if short.startswith("_") or found.name in ("landscape.cli", "landscape.pipeline"):
            continue
        if found.ispkg:
            yield from public_modules(found.name)
        elif short in getattr(module, "__all__", ()) or found.name == "landscape.types":
            yield importlib.import_module(found.name)


def public_names(module: ModuleType) -> list[str]:
    """Return the public functions, classes and values of a module."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        own = [name for name in vars(module) if not name.startswith("_")]
        listed = [n for n in own if getattr(vars(module)[n], "__module__", "") == module.__name__]
    return [
        n for n in listed if not inspect.ismodule(getattr(module, n)) and not n.startswith("__")
    ]


def module_page(module: ModuleType) -> str:
    """Return the page of a module: its docstring, a table of its names, and their docstrings."""
    title, names = module.__name__, public_names(module)
    lines = [title, "=" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {title}", ""]
    if names:
        lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {n}" for n in names), ""]
    for name in names:
        value = getattr(module, name)
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        lines += [f".. auto{kind}:: {name}", *["   :members:"] * (kind == "class"), ""]
    return "\n".join(lines)


def commands_page() -> str:
    """Return the page of all commands, with the options, defaults and help of the program."""
    program = _program(["--install-completion"])  # with all groups of commands
    text = program.generate_docs(output_format="markdown", heading_level=1)
    text = re.sub(r"## Table of Contents\n.*?(?=\n\*\*Begin\*\*)", "", text, flags=re.DOTALL)
    text = text.partition("## landscape --install-completion")[0].rstrip()
    return text.replace("# landscape\n", "# Commands\n", 1) + "\n"


def settings_classes() -> list[type[_settings.Settings]]:
    """Return the classes of settings that the public packages list."""
    for module in list(public_modules()):
        public_names(module)  # imports it
    importlib.import_module("landscape.pipeline.stages")
    found, known = [_settings.Settings], []
    while found:
        known += (more := [c for f in found for c in f.__subclasses__()])
        found = more
    own = [c for c in known if re.match(r"landscape\.(?!cli)", c.__module__)]
    return sorted(set(own), key=lambda c: (c.__module__, c.__name__))


def settings_page() -> str:
    """Return the page of all settings and environment variables."""
    lines = ["# Settings", "", "Options of commands and arguments of functions have these types,"]
    lines += ["defaults and bounds. A value outside its bounds is an error."]
    for settings in settings_classes():
        lines += ["", f"## {settings.__name__}", "", (settings.__doc__ or "").split("\n\n")[0], ""]
        lines += ["| setting | type | default | values | meaning |", "|---|---|---|---|---|"]
        lines += [setting_row(settings, name) for name in settings.model_fields]
    lines += ["", "## Environment variables", "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {cell(text)} |" for name, text in sorted(variables().items())]
    return "\n".join(lines) + "\n"


def setting_row(settings: type[_settings.Settings], name: str) -> str:
    """Return the row of a setting."""
    kind = _settings.bare_type(settings, name)
    kind = re.sub(r"\b(?:\w+\.)+", "", getattr(kind, "__name__", None) or str(kind))
    values = _settings.choices(settings, name)
    if values:
        kind, allowed = type(values[0]).__name__, ", ".join(f"`{value}`" for value in values)
    else:
        least, most = _settings.bounds(settings, name)
        parts = [] if least is None else [f"from {least:,}"]
        allowed = " ".join(parts + ([] if most is None else [f"to {most:,}"]))
    declared = _settings.field(settings, name)
    default = declared.default
    shown = "required" if declared.is_required() else "" if default is None else f"`{default!r}`"
    if declared.default_factory is not None:
        shown = "computed"
    help_text = _settings.help_of(settings, name)
    return f"| `{name}` | {cell(f'`{kind}`')} | {cell(shown)} | {allowed} | {cell(help_text)} |"


def cell(text: str) -> str:
    """Return a text as the cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`")


def variables() -> dict[str, str]:
    """Return the environment variables with what docstrings and settings say about them."""
    said: dict[str, dict[str, None]] = {}
    texts = [
        (f"{settings.__name__}, {name}", f"{_settings.help_of(settings, name)}.")
        for settings in settings_classes()
        for name in settings.model_fields
    ]
    for path in sorted(Path(landscape.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
                parsed = docstring_parser.parse(ast.get_docstring(node) or "")
                about = f"{parsed.short_description} {parsed.long_description}".split(". ")
                sentences = [f"{s.rstrip('.')}." for s in about if _VARIABLE.search(s)]
                texts.append((node.name, " ".join(sentences)))
                texts += [(", ".join([node.name, *m.args[1:]]), m.description) for m in parsed.meta]
    for label, text in texts:
        if "environment variable" in (text := cell(text or "")):
            for name in _VARIABLE.findall(text):
                said.setdefault(name, {})[f"`{label}`: {text.replace('`', '')}"] = None
    return {name: " ".join(lines) for name, lines in said.items()}


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
