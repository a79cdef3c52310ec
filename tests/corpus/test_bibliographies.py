"""Bibliographies of facilities, as librarians export them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from landscape.corpus.bibliographies import read_facility_list
from landscape.errors import InputError

A, B, C = "2024ApJ...960...12S", "2023AJ....165....9D", "2024A&A...681A..33D"


def written(folder: Path, *lines: str, name: str = "list.txt") -> Path:
    path = folder / name
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("lines", "uses"),
    [
        ((A, B), (True, True)),
        (("bibcode,mission", f"{A},tess", f"{B},unrelated"), (True, False)),
        (("bibcode;used", f"{A};Y", f"{B};N"), (True, False)),
        (("bibcode,category,refereed", f"{A},tess,N", f"{B},unrelated,Y"), (True, False)),
        (("bibcode,refereed", f"{A},N", f"{B},Y"), (True, True)),
        (("title\tbibcode", f"No\t{A}", f"Yes\t{B}"), (True, True)),
        (("bibcode,mission", f"{A},TESS", f"{B},Kepler"), (True, False)),
        ((f"{A}\tnot used", f"{B}\tscience"), (False, True)),
        (
            (f"@article{{a, adsurl={{https://ui.adsabs.harvard.edu/abs/{A}}}}}",
             f"@article{{b, adsurl={{https://ui.adsabs.harvard.edu/abs/{B}}}}}"),
            (True, True),
        ),
    ],
)  # fmt: skip
def test_categories_of_entries(
    tmp_path: Path, lines: tuple[str, ...], uses: tuple[bool, ...]
) -> None:
    found = read_facility_list(f"TESS={written(tmp_path, *lines)}")
    assert tuple(one.uses for one in found.entries) == uses


def test_years_for_which_a_list_is_complete(tmp_path: Path) -> None:
    names = [f"{year}ApJ...9{n:02}...12S" for year in range(2018, 2024) for n in range(10)]
    names += ["1999ApJ...900...12S", "2024ApJ...900...12S"]  # a slip, and a year that has begun
    path = written(tmp_path, *names)
    found = read_facility_list(f"TESS={path}")
    assert (found.since, found.until) == (2018, 2023)
    found = read_facility_list(f"TESS[2019..]={path}")
    assert (found.since, found.until) == (2019, 2023)


@pytest.mark.parametrize(
    ("facility", "lines", "message"),
    [
        ("TESS[2024..2010]", (A,), "are reversed; swap them"),
        ("K2", (A,), "K2 counts for Kepler; give a bibliography of Kepler"),
        ("TESS", ("10.1000/a", "10.1000/b"), "The years of .* are unknown"),
        ("TESS", ("no identifier",), "contains no bibcode, DOI or arXiv id"),
        ("TESS", ("bibcode,title", f'{A},"open' + "a" * 140_000), "cannot be read"),
    ],
)
def test_a_wrong_list_is_a_sentence(
    tmp_path: Path, facility: str, lines: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_facility_list(f"{facility}={written(tmp_path, *lines)}")


def test_a_compressed_list_is_read(tmp_path: Path) -> None:
    plain = written(tmp_path, A)
    packed = tmp_path / "packed.txt.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    lists = [read_facility_list(f"TESS[2018..2020]={path}") for path in (plain, packed)]
    assert lists[0].entries == lists[1].entries
