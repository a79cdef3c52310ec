"""Output files: existing files are kept, or refused in one sentence."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from landscape._io import write_output
from landscape.errors import InputError
from landscape.outreach.files import check_names_file
from landscape.outreach.names import read_names
from landscape.outreach.weights import check_weights, find_weights

ODD = ["~nobody-of-that-name/weights", "x" * 5000, "a\0b", "no/such/folder"]


def test_who_might_read_a_file_may_read_what_replaces_it(tmp_path: Path) -> None:
    private = tmp_path / "papers.csv"
    private.write_text("mine")
    private.chmod(0o600)
    write_output(private, "title\n")
    assert private.read_text() == "title\n"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ODD)
def test_weights_of_an_odd_name_are_one_sentence(name: str) -> None:
    for look in (check_weights, find_weights):
        with pytest.raises(InputError, match="There are no weights at"):
            look(name)


@pytest.mark.parametrize("name", ODD)
def test_a_table_of_an_odd_name_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError, match="There is no table of names at"):
        check_names_file(name, None)
    with pytest.raises(InputError, match="table of names"):
        read_names(name, {})
