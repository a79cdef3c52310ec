"""The documentation builds without warnings and contains every command, setting and public name."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App
from lxml import html

# Private: the program with all its commands, and the class of all settings.
from landscape._settings import Settings
from landscape.cli import _program
from tests.conftest import REPOSITORY
from tests.timing import time_limit

PACKAGE = REPOSITORY / "landscape"
MADE = shutil.ignore_patterns("project", "reference", "__pycache__")


def build(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Build the site of a copy of the sources, without running examples and notebooks."""
    words = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    words += ["-D", "nb_execution_mode=off", "-D", "plot_gallery=0", *options, "docs", "build/docs"]
    paths = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        words,
        cwd=home,
        env=paths,
        capture_output=True,
        text=True,
        check=False,
        timeout=time_limit(600),
    )


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources of the site, because the build writes pages beside them."""
    home = tmp_path_factory.mktemp("site")
    for name in ("examples", "figures", "notebooks"):
        shutil.copytree(REPOSITORY / name, home / name)
    shutil.copytree(REPOSITORY / "docs", home / "docs", ignore=MADE)
    for name in ("gallery", "notebooks"):
        shutil.rmtree(home / "docs" / name, ignore_errors=True)
    for path in (*REPOSITORY.glob("*.md"), REPOSITORY / "benchmarks" / "RESULTS.md"):
        target = home / path.relative_to(REPOSITORY)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    return home


@pytest.fixture(scope="module")
def site(sources: Path) -> Path:
    """The built site."""
    done = build(sources)
    assert done.returncode == 0, done.stderr
    return sources / "build" / "docs"


def tree(page: Path) -> html.HtmlElement:
    return html.fromstring(page.read_text("utf-8"))


def commands(app: App, words: str = "landscape") -> Iterator[str]:
    """Yield every command of a program, such as ``landscape figure uat``."""
    for name in app:
        if not name.startswith("-"):
            yield f"{words} {name}"
            yield from commands(app[name], f"{words} {name}")


def test_every_command_and_every_option_is_on_the_page_of_commands(site: Path) -> None:
    page = tree(site / "reference" / "commands.html")
    titles = {title.text for title in page.xpath("//h2 | //h3")}
    wanted = set(commands(_program(["--install-completion"])))
    assert len(wanted) > 50
    assert wanted == titles
    search = page.get_element_by_id("landscape-search").text_content()
    asked = [sys.executable, "-m", "landscape.cli", "search", "--help"]
    wide = os.environ | {"COLUMNS": "300"}
    helped = subprocess.run(asked, capture_output=True, text=True, check=True, env=wide).stdout
    options = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", helped))
    assert {"--filter", "--k", "--json"} <= options
    assert {option for option in options - {"--help"} if option not in search} == set()


def all_settings() -> list[type[Settings]]:
    """Return the classes of settings in the package, without those of the command line."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        classes = [
            n for n in ast.parse(path.read_text("utf-8")).body if isinstance(n, ast.ClassDef)
        ]
        module = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
        if "cli" not in path.parts and any("Settings" in map(name_of, c.bases) for c in classes):
            values = vars(importlib.import_module(module)).values()
            found += [v for v in values if isinstance(v, type) and v.__module__ == module]
    return [c for c in found if issubclass(c, Settings) and c is not Settings]


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def test_every_setting_is_on_the_page_of_settings(site: Path) -> None:
    page = tree(site / "reference" / "settings.html")
    shown = {
        section.xpath("./h2")[0].text: section.xpath(".//tbody/tr/td[1]//code")
        for section in page.xpath("//section[h2]")
    }
    classes = all_settings()
    assert len(classes) >= 9
    for settings in classes:
        names = [code.text_content() for code in shown[settings.__name__]]
        assert names == list(settings.model_fields), settings.__name__


def test_every_environment_variable_that_is_read_is_on_the_page_of_settings(site: Path) -> None:
    text = "\n".join(p.read_text("utf-8") for p in PACKAGE.rglob("*.py") if "js" not in p.parts)
    read = set(re.findall(r'"((?:LANDSCAPE|OPENAI|ADS|COHERE|HF|XDG|DASK)_[A-Z_]+)"', text))
    assert {"LANDSCAPE_DEMO", "LANDSCAPE_LLM_CACHE", "ADS_API_TOKEN"} <= read
    shown = {code.text for code in tree(site / "reference" / "settings.html").xpath("//td//span")}
    assert read <= shown, read - shown


def test_every_public_name_has_its_docstring_in_the_reference(site: Path) -> None:
    described = {
        term.get("id")
        for page in (site / "reference").glob("landscape*.html")
        for term in tree(page).xpath("//dt[@id]")
    }
    wanted = set()
    for stub in PACKAGE.rglob("__init__.pyi"):
        package = ".".join(stub.parent.relative_to(REPOSITORY).parts)
        module = importlib.import_module(package)
        for name in module.__all__:
            if callable(getattr(module, name)):
                wanted.add(f"{package}.{name}")
    assert len(wanted) > 150
    assert wanted <= described, sorted(wanted - described)
    assert {"landscape.Atlas.search", "landscape.errors.InputError"} <= described


def test_every_example_and_every_notebook_has_a_page(site: Path) -> None:
    gallery = tree(site / "gallery" / "index.html")
    assert gallery.xpath("//h1")[0].text == "Gallery"
    for script in (REPOSITORY / "examples").glob("*.py"):
        page = tree(site / "gallery" / f"{script.stem}.html")
        title = script.read_text("utf-8").partition(".")[0][3:].replace("'", "’")
        assert title in page.xpath("//h1")[0].text_content()
    for notebook in (REPOSITORY / "notebooks").glob("*.ipynb"):
        page = tree(site / "notebooks" / f"{notebook.stem}.html")
        assert "answer only in JupyterLab" in page.xpath("//article")[0].text_content()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    loading = "//script/@src | //link/@href | //img/@src | //iframe/@src | //source/@src"
    for page in pages:
        for address in tree(page).xpath(loading):
            assert not re.match(r"(?:[a-z]+:)?//", address), f"{page.name} loads {address}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?https?:", style.read_text("utf-8")), style


def test_the_search_of_the_site_finds_words(site: Path) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    assert "thesauru" in index  # the stem of thesaurus
    assert "reference/commands" in index


def test_a_broken_link_fails_the_build(sources: Path, site: Path) -> None:
    page = sources / "docs" / "broken.md"
    page.write_text(
        "---\norphan: true\n---\n# Broken\n\n[nowhere](missing.md) [x](index.md#none)\n"
    )
    try:
        done = build(sources, "-b", "dummy")  # reads only new pages, and writes none
    finally:
        page.unlink()
    assert done.returncode != 0
    assert "missing.md" in done.stderr
    assert "none" in done.stderr


def test_a_figure_of_real_papers_is_shown_on_the_page_of_its_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs" / "_ext"))
    pages = importlib.import_module("site_pages")
    text = "Density map of all papers with labelled regions.\n\nRun: python\n"
    assert "figure::" not in pages.example_page("heatmap", text, tmp_path)
    (tmp_path / "heatmap.png").touch()
    (tmp_path / "captions.yaml").write_text("heatmap: Drawn by ``landscape figure heatmap``.\n")
    made = pages.example_page("heatmap", text, tmp_path)
    assert ".. figure:: /../figures/astro-ph/heatmap.png" in made
    assert "   Drawn by ``landscape figure heatmap``." in made


def test_words_are_spelled_correctly() -> None:
    codespell = str(Path(sys.executable).with_name("codespell"))
    done = subprocess.run([codespell], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
