"""Reading only some papers of an atlas."""

from __future__ import annotations

import pytest

from landscape import Atlas
from landscape.errors import InputError


def test_some_papers_are_those_of_the_whole_table(demo_atlas: Atlas):
    rows = [7, 3, 399, 3]
    columns = ["paper_id", "title", "year", "authors"]
    some, whole = demo_atlas.read_papers(columns, rows=rows), demo_atlas.read_papers(columns)
    for name in columns:
        assert [str(one) for one in map(_plain, some[name])] == [
            str(one) for one in map(_plain, whole[name].iloc[rows])
        ]
    assert demo_atlas.read_papers(rows=rows).columns.tolist() == whole_columns(demo_atlas)


def test_an_unknown_column_is_named(demo_atlas: Atlas):
    with pytest.raises(InputError, match="no column 'colour'"):
        demo_atlas.read_papers(["colour"], rows=[0])


def whole_columns(atlas: Atlas) -> list[str]:
    return list(atlas.papers.columns)


def _plain(value):
    return value if isinstance(value, str | int) else list(value)
