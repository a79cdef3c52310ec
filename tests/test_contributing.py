"""The documents for contributors name files, functions and commands that exist."""

from __future__ import annotations

import importlib
import re
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import landscape
from tests.conftest import REPOSITORY

DOCUMENTS = (
    "CONTRIBUTING.md",
    "RELEASING.md",
    "docs/architecture.md",
    "docs/security.md",
    "SECURITY.md",
)
QUOTED = re.compile(r"`([^`\n]+)`")
BLOCK = re.compile(r"\n\s*\n|\n(?=\d+\. |- |\| )")  # paragraphs, items of lists, rows of tables
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")
FILE = re.compile(r".*\.(?:cff|css|csv|html|ipynb|js|jsonl|lark|md|npz|py|pyi|toml|txt|ya?ml)")
IN_AN_ATLAS = {"labels.csv"}


def text_of(name: str) -> str:
    """Return the text of a document without its blocks of commands."""
    text = (REPOSITORY / name).read_text("utf-8")
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def is_path(word: str) -> bool:
    """Return whether a quoted word looks like a path of this repository."""
    return bool(PATH.fullmatch(word)) and ("/" in word or bool(FILE.fullmatch(word)))


def find_paths(word: str) -> list[Path]:
    """Return existing paths in the repository or the package; a file name may be in any package."""
    folders = (REPOSITORY, REPOSITORY / "landscape")
    found = [path for folder in folders if (path := folder / word).exists()]
    return found or ([] if "/" in word else list((REPOSITORY / "landscape").rglob(word)))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_paths_in_documents_exist(name: str) -> None:
    words = [word for word in QUOTED.findall(text_of(name)) if is_path(word)]
    missing = {word for word in words if not find_paths(word)} - IN_AN_ATLAS
    assert {word for word in missing if not word.endswith(".atlas/")} == set()


def test_contributing_names_at_least_one_path_for_every_addition() -> None:
    sections = re.split(r"^## ", text_of("CONTRIBUTING.md"), flags=re.MULTILINE)
    kinds = {"a reader", "an overlay", "a figure", "a panel", "a command", "a filter field"}
    additions = {
        title: text for text in sections if (title := text.partition("\n")[0][4:]) in kinds
    }
    assert set(additions) == kinds
    for text in additions.values():
        assert len(re.findall(r"^\d\. `[\w./-]+`", text, re.MULTILINE)) >= 3
        assert re.search(r"^Tests: `tests/[\w./]+`;", text, re.MULTILINE)


def test_names_in_contributing_occur_in_the_files_beside_them() -> None:
    for block in BLOCK.split(text_of("CONTRIBUTING.md")):
        words = QUOTED.findall(block)
        files = [path for word in words if is_path(word) for path in find_paths(word)]
        texts = [path.read_text("utf-8") for path in files if path.is_file()]
        for word in words:
            if texts and re.fullmatch(r"\w+", word):
                assert any(re.search(rf"\b{word}\b", text) for text in texts), (word, block)


def test_dotted_names_in_architecture_can_be_imported() -> None:
    packages = {path.stem for path in (REPOSITORY / "landscape").iterdir()}
    words = QUOTED.findall(text_of("docs/architecture.md"))
    dotted = [word for word in words if re.fullmatch(r"\w+(?:\.\w+)+", word)]
    dotted = [word for word in dotted if word.partition(".")[0] in packages and not is_path(word)]
    for word in dotted:
        assert resolved(word) is not None, word


def test_functions_in_architecture_are_in_their_files() -> None:
    pairs = re.findall(r"`([\w.]+)`\s+\(`([\w/.]+\.\w+)`", text_of("docs/architecture.md"))
    assert len(pairs) > 30
    for word, path in pairs:
        if is_path(word):
            continue
        (file,) = find_paths(path)
        for name in word.split("."):
            assert re.search(rf"\b{name}\b", file.read_text("utf-8")), (word, path)


def resolved(word: str) -> Any:
    """Return the module, class or function with a dotted name in the package, or None."""
    found: Any = landscape
    for part in word.split("."):
        is_package = isinstance(found, ModuleType) and hasattr(found, "__path__")
        if is_package and find_spec(f"{found.__name__}.{part}"):
            found = importlib.import_module(f"{found.__name__}.{part}")
        else:
            found = getattr(found, part, None)
    return found


def test_make_has_the_targets_that_documents_name() -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (REPOSITORY / name).read_text("utf-8")
        named = set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", text, re.MULTILINE))
        assert {"".join(pair) for pair in named} <= targets
    assert set(re.findall(r"^#   make ([a-z]+)", makefile, re.MULTILINE)) <= targets


def test_links_between_documents_lead_to_files() -> None:
    for path in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), (path.name, target)
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    assert "](CONTRIBUTING.md)" in readme
    assert "](CHANGELOG.md)" in readme


def test_workflows_use_the_pinned_torch_and_the_supported_versions() -> None:
    workflow = (REPOSITORY / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    project = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    versions = re.findall(r"Python :: (3\.\d+)", project)
    matrix = yaml.safe_load(workflow)["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == versions
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} == set(matrix["os"])
    assert set(re.findall(r"torch==([\d.]+)", workflow)) == {"2.13.0"}


def test_only_the_job_that_publishes_may_publish() -> None:
    path = REPOSITORY / ".github" / "workflows" / "release.yml"
    release = yaml.safe_load(path.read_text("utf-8"))
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key "on" as a boolean
    assert release["permissions"] == {"contents": "read"}
    granted = {name: job.get("permissions") for name, job in release["jobs"].items()}
    assert granted == {"build": None, "publish": {"id-token": "write"}}
    assert "secrets." not in path.read_text("utf-8")
    foreign = re.findall(r"uses: (?!actions/)\S+@(\S+)", path.read_text("utf-8"))
    assert all(re.fullmatch(r"[0-9a-f]{40}", version) for version in foreign)
    constraints = (REPOSITORY / "constraints.txt").read_text("utf-8").split()
    (pinned,) = (line for line in constraints if line.startswith("build=="))
    assert pinned in path.read_text("utf-8")


def test_forms_for_issues_are_complete() -> None:
    folder = REPOSITORY / ".github" / "ISSUE_TEMPLATE"
    for path in sorted(folder.glob("*.yml")):
        form = yaml.safe_load(path.read_text("utf-8"))
        if path.name == "config.yml":
            assert form["blank_issues_enabled"] is True
            continue
        assert {"name", "description", "body"} <= set(form)
        assert any(field["type"] == "textarea" for field in form["body"])
