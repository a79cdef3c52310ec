"""How to cite Landscape and the systems that it builds on."""

from __future__ import annotations

import re
from pathlib import Path

import bibtexparser
import pytest
import yaml

import landscape
from landscape.cli import main
from tests.conftest import REPOSITORY

SYSTEMS = {
    "pathfinder": "2408.01556",
    "scilit": "2306.03535",
    "pasa": "2501.10120",
    "citeme": "2407.12861",
}


def entries(text: str) -> dict[str, dict[str, str]]:
    """Return the fields of every entry; the text must contain nothing else."""
    library = bibtexparser.parse_string(text)
    assert library.failed_blocks == []
    assert len(library.blocks) == len(library.entries)
    return {
        entry.key: {name: field.value for name, field in entry.fields_dict.items()}
        for entry in library.entries
    }


def test_the_entries_can_be_read_and_have_the_version_of_the_package() -> None:
    found = entries(landscape.citation())
    assert list(found) == ["landscape", *SYSTEMS]
    assert {key: found[key]["eprint"] for key in SYSTEMS} == SYSTEMS
    for fields in found.values():
        assert {"author", "title", "year"} <= set(fields)
    assert found["landscape"]["version"] == landscape.__version__
    (only,) = entries(landscape.citation(version="2_0", predecessors=False)).values()
    assert only["version"] == r"2\_0"


def test_the_software_is_described_as_in_the_file_of_the_repository() -> None:
    cff = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    fields = entries(landscape.citation())["landscape"]
    assert fields["title"] == f"{{{cff['title']}}}"
    assert fields["author"] == f"{{{cff['authors'][0]['name']}}}"
    assert fields["version"] == cff["version"]
    years = re.findall(r"\(c\) (?:\d{4}-)?(\d{4})", (REPOSITORY / "LICENSE").read_text("utf-8"))
    assert years == [fields["year"]]


def test_the_command_prints_the_entries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "landscape.bib"
    assert main(["cite", "-o", str(target)]) == 0
    assert capsys.readouterr().out.strip() == landscape.citation()
    assert target.read_text("utf-8").strip() == landscape.citation()


@pytest.mark.parametrize(
    "words", [["my.atlas"], ["--json"], ["--keywords", "dust"], ["--also", "my.atlas"]]
)
def test_an_atlas_without_a_text_is_one_sentence(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cite", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert 'landscape cite my.atlas "TEXT"' in captured.err
