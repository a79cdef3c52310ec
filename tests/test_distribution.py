"""The source distribution gives the wheel, and an installation of the wheel does the main jobs."""

from __future__ import annotations

import ctypes
import email
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import landscape
from landscape.corpus.demo import write_demo
from tests.conftest import REPOSITORY
from tests.processes import Running

DATA_FILES = ("panels.yaml", "uat_subset.csv", "demo/grammar.yaml", "demo/themes/comets.yaml")
READ = (
    "import sys; from landscape._io import data_file; [print(data_file(n)) for n in sys.argv[1:]]"
)
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])('..'))"
JOBS = """
import sys
from landscape.cli import main

assert main(["search", sys.argv[1], "stellar winds"]) == 0
assert main(["figure", "heatmap", sys.argv[1], "-o", "x.pdf"]) == 0
assert main(["publish", sys.argv[1], "site"]) == 0
"""
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # of Linux


def copy_sources(folder: Path) -> Path:
    """Copy the sources of an installation; symbolic links become text files, as on Windows."""
    for name in ("landscape", "data", "notebooks"):
        for path in (REPOSITORY / name).rglob("*"):
            if {"node_modules", "__pycache__"} & {*path.parts}:  # another process may write in it
                continue
            target = folder / path.relative_to(REPOSITORY)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                target.write_text(str(path.readlink()))
            elif path.is_file():
                shutil.copy2(path, target)  # with its time, which says that the viewer is bundled
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, folder)
    return folder


def data_files(folder: Path) -> list[Path]:
    """Return the paths of the data files that the package in a folder reads."""
    command = [sys.executable, "-c", READ, *DATA_FILES]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return [Path(line).relative_to(folder.resolve()) for line in done.stdout.splitlines()]


def build(kind: str, sources: Path, path: str = os.environ["PATH"]) -> Path:
    """Build a distribution of a folder, beside the folder."""
    command = [sys.executable, "-c", BUILD, kind]
    env = os.environ | {"PATH": path}
    done = subprocess.run(command, cwd=sources, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return sources.parent / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, without Node.js."""
    folder = tmp_path_factory.mktemp("distribution")
    with tarfile.open(build("build_sdist", copy_sources(folder / "sources"))) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.glob("landscape_atlas-*/")
    return build("build_wheel", unpacked, path="")


class Installed:
    """The wheel in an empty environment; its package folder is read-only."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        env, self.work = folder / "env", folder / "work"
        self.work.mkdir()
        venv.create(env)
        paths = sysconfig.get_paths("venv", {"base": str(env), "platbase": str(env)})
        self.scripts, site = Path(paths["scripts"]), Path(paths["purelib"])
        self.package = site / "landscape"
        self.env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        pip = [sys.executable, "-m", "pip", "--python", str(env), "install", "--no-index"]
        subprocess.run([*pip, "--quiet", "--no-deps", str(wheel)], env=self.env, check=True)
        # The dependencies are those of the running environment. They are added afterwards, because
        # pip skips a package that it finds there. Its own .pth files, such as that of an editable
        # installation, are not read from here.
        running = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        (site / "dependencies.pth").write_text("\n".join(running))
        for path in (self.package, *self.package.rglob("*")):
            path.chmod(path.stat().st_mode & ~0o222)
        self.before = self.files()
        # These files of JupyterLab are in the running environment, outside of site-packages.
        self.env["JUPYTERLAB_DIR"] = str(Path(sys.prefix, "share", "jupyter", "lab"))

    def files(self) -> dict[str, tuple[int, int]]:
        """Return the size and the time of every file of the package."""
        found = ((path, path.stat()) for path in self.package.rglob("*"))
        return {str(path): (facts.st_size, facts.st_mtime_ns) for path, facts in found}

    def run(self, program: str, *words: str) -> str:
        """Run a program of the environment outside of the checkout, and return what it prints."""
        done = subprocess.run(
            [str(self.scripts / program), *words],
            cwd=self.work,
            env=self.env,
            capture_output=True,
            text=True,
            preexec_fn=obey_modes if sys.platform == "linux" else None,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout


def obey_modes() -> None:
    """Let read-only files be read-only for root too. For other users, this does nothing."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Iterator[Installed]:
    place = Installed(tmp_path_factory.mktemp("a place"), wheel)
    yield place
    for path in (place.package, *place.package.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)  # so that it can be removed


@pytest.fixture(scope="module")
def atlas(installed: Installed) -> str:
    """An atlas of 60 papers, built by the installed command."""
    papers = write_demo(installed.work / "corpus", n_papers=60, seed=1).papers
    installed.run("landscape", "build", str(papers), "--out", "my.atlas")
    return "my.atlas"


def test_the_wheel_asks_for_the_core_and_has_one_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        facts = email.message_from_bytes(archive.read(metadata))
        entries = archive.read(f"{metadata.rpartition('/')[0]}/entry_points.txt").decode()
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [Requirement(line) for line in facts.get_all("Requires-Dist", [])]
    core = {str(requirement) for requirement in asked if requirement.marker is None}
    assert core == {str(Requirement(line)) for line in project["dependencies"]}
    assert {"torch", "spacy", "transformers"}.isdisjoint(Requirement(line).name for line in core)
    assert facts["Version"] == landscape.__version__
    assert entries.split() == ["[console_scripts]", "landscape", "=", "landscape.cli:main"]
    # Nothing is installed outside of site-packages: such files would be in a folder "*.data".
    top = {name.partition("/")[0] for name in names}
    assert top == {"landscape", metadata.partition("/")[0]}


def test_an_installed_package_has_its_data_on_systems_without_symbolic_links(
    installed: Installed,
) -> None:
    package = installed.package
    found = installed.run("python", "-c", READ, *DATA_FILES).splitlines()
    assert found == [str(package / "_data" / name) for name in DATA_FILES]
    assert (package / "py.typed").is_file()
    notebooks = {path.name for path in (package / "_notebooks").iterdir()}
    ours = (REPOSITORY / "notebooks").iterdir()
    assert notebooks == {path.name for path in ours if path.suffix in (".ipynb", ".md")}
    assert not (package / "viewer" / "js").exists()
    kept = {".py", ".pyi", ".typed"}
    for path in (REPOSITORY / "landscape").rglob("*.*"):  # templates, word lists, styles, arrays
        source = "js" in path.parts or "__pycache__" in path.parts
        if path.is_file() and not source and path.suffix not in kept:
            assert (package / path.relative_to(REPOSITORY / "landscape")).is_file(), path.name
    assert (package / "viewer" / "viewer.js").is_file()


def test_a_checkout_without_symbolic_links_reads_its_data(tmp_path: Path) -> None:
    sources = copy_sources(tmp_path)
    (sources / "landscape" / "_data").write_text("../data")  # a link of an earlier version
    assert data_files(sources) == [Path("data", name) for name in DATA_FILES]


def test_an_installation_does_the_main_jobs(installed: Installed, atlas: str) -> None:
    where = installed.run("python", "-c", "import landscape; print(landscape.__file__)").strip()
    assert where == str(installed.package / "__init__.py")
    assert installed.run("landscape", "--version").strip() == f"landscape {landscape.__version__}"
    # In one process: three would spend most of their time on imports.
    assert " 1. " in installed.run("python", "-c", JOBS, atlas)
    assert (installed.work / "x.pdf").read_bytes().startswith(b"%PDF")
    assert "viewer" in (installed.work / "site" / "index.html").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="the server is stopped by a signal")
def test_an_installation_serves_its_notebooks(installed: Installed) -> None:
    command = [str(installed.scripts / "landscape")]
    lab = Running("lab", folder=installed.work, program=command, env=installed.env)
    with lab as address:
        base, _, token = address.partition("/lab")
        contents = f"{base}/api/contents?{token.partition('?')[2]}"
        with urllib.request.urlopen(contents) as reply:  # noqa: S310 - a server of this test
            served = {entry["name"] for entry in json.load(reply)["content"]}
    assert served >= {path.name for path in (REPOSITORY / "notebooks").glob("*.ipynb")}


def test_an_installation_writes_nothing_into_the_package(installed: Installed, atlas: str) -> None:
    assert installed.files() == installed.before
    may = f"import os; print(os.access({str(installed.package)!r}, os.W_OK))"
    if installed.run("python", "-c", may).strip() == "True":
        pytest.skip("this user may write to read-only files; none was written")
