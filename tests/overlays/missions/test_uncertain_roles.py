"""Uncertain roles are listed; a language model decides them in batches; the atlas uses the file."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import landscape as ls
from landscape.errors import AtlasError, InputError
from landscape.overlays.missions import impact, uncertain_roles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Decider:
    """A model that calls every mention context, and remembers its requests."""

    model = "decider"

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def complete_json(self, system: str, user: str, schema: Mapping[str, object]) -> dict[str, Any]:
        assert "numbered list of mentions" in system
        assert "mentions" in json.dumps(schema)
        data = json.loads(user[user.index("{") : user.rindex("}") + 1])
        self.requests.append(data)
        numbers = [one["number"] for paper in data["papers"] for one in paper["mentions"]]
        # The last number is not in the request.
        listed = [{"number": number, "role": "mention"} for number in [*numbers, 999]]
        return {"mentions": listed}


@pytest.fixture
def own_atlas(demo_atlas: ls.Atlas, tmp_path: Path) -> ls.Atlas:
    return ls.open(shutil.copytree(demo_atlas.path, tmp_path / "own.atlas"))


def test_the_least_certain_roles_come_first_with_the_cost(demo_atlas: ls.Atlas) -> None:
    found = uncertain_roles(demo_atlas, limit=45)
    table = found.table
    assert len(table) == 45
    assert table["margin"].is_monotonic_increasing
    assert (table["margin"] >= 0).all()
    assert (table["role"] == table["role_before"]).all()
    assert "3 requests" in found.caption
    assert "tokens" in found.caption
    for row in table.head(10).itertuples():
        assert row.surface.split()[0] in row.context


def test_a_model_decides_in_batches_and_the_atlas_uses_the_file(own_atlas: ls.Atlas) -> None:
    model = Decider()
    found = uncertain_roles(own_atlas, limit=45, model=model)
    assert len(model.requests) == 3
    assert (found.table["role"] == "mention").all()
    before = own_atlas.missions
    path = own_atlas.path / "roles.csv"
    ls.figures.save_table(found, path)
    again = ls.open(own_atlas.path)
    after = again.missions
    changed = before["role"].to_numpy() != after["role"].to_numpy()
    expected = (found.table["role_before"] != "mention").sum()
    assert changed.sum() == expected > 0
    part = again.read_layer("missions", ["facility", "role"])
    assert part["role"].tolist() == after["role"].tolist()
    uses = [impact(one, n_resamples=10).denominators for one in (own_atlas, again)]
    assert uses[0] != uses[1]


def test_an_update_keeps_the_file(own_atlas: ls.Atlas, tmp_path: Path) -> None:
    path = own_atlas.path / "roles.csv"
    ls.figures.save_table(uncertain_roles(own_atlas, limit=5), path)
    content = path.read_bytes()
    more = tmp_path / "more.jsonl"
    more.write_text(
        json.dumps({"title": "Dust seen by ALMA", "abstract": "We use ALMA data.", "year": 2020}),
        encoding="utf-8",
    )
    ls.update(own_atlas.path, more)
    assert path.read_bytes() == content
    assert len(ls.open(own_atlas.path).missions)


@pytest.mark.parametrize(
    "text",
    ["paper_id,field,start,role\nx,title,0,user\n", "paper_id,role\nx,mention\n", "a,b\n1,2\n"],
)
def test_a_wrong_file_is_explained(own_atlas: ls.Atlas, text: str) -> None:
    (own_atlas.path / "roles.csv").write_text(text, encoding="utf-8")
    with pytest.raises(AtlasError, match=r"roles\.csv cannot be read as a table"):
        _ = ls.open(own_atlas.path).missions


def test_the_limit_is_positive(demo_atlas: ls.Atlas) -> None:
    with pytest.raises(InputError, match="limit is 0"):
        uncertain_roles(demo_atlas, limit=0)
