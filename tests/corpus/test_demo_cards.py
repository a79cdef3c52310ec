"""The error message for a bad theme card contains the card and the fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from landscape._io import read_yaml
from landscape.corpus.demo.cards import Card, load_cards
from landscape.errors import InputError


@pytest.fixture
def raw() -> dict[str, Any]:
    return {
        "name": "Dust",
        "category": "astro-ph.GA",
        "activity": "steady",
        "topic": "dust",
        "objects": "grains / dusty clouds (since 2001)",
        "sample": ["grains", 3, 40],
        "sites": "in Orion",
        "observe": {"alma": "continuum maps"},
        "model": "a drift model",
        "simulate": "simulations of grains",
        "mechanisms": "sputtering / coagulation",
        "stories": [
            {
                "focus": "grain size",
                "titles": "grains",
                "known": "grains grow",
                "asks": "how grains grow",
                "found": "grains stick",
                "measure": "grain size = 0.1..1.0 µm ~0.1 / dust mass < 3..4 M⊙",
                "trend": "grain size + gas density",
                "means": "dust grows early",
            }
        ],
    }


def read(folder: Path, raw: dict[str, Any]) -> Card:
    import yaml

    (folder / "dust.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
    return load_cards(folder)["dust"]


def test_a_good_card_is_read(raw: dict[str, Any], tmp_path: Path) -> None:
    card = read(tmp_path, raw)
    assert [phrase.since for phrase in card.objects] == [0, 2001]
    size, mass = card.stories[0].measures
    assert (size.low, size.high, size.unit, size.precision) == (0.1, 1.0, "µm", 0.1)
    assert (mass.kind, mass.unit) == ("<", "M⊙")
    assert card.stories[0].trends[0].driver == "gas density"
    assert card.sample == ("grains", 3.0, 40.0)
    assert card.reviewed


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("category", "astro-ph.XX", "category: Input should be 'astro-ph.CO'"),
        ("activity", "sleepy", "activity: Input should be 'rising'"),
        ("sample", "grains", "sample: Input should be a valid tuple"),
        ("colour", "red", "colour: Extra inputs are not permitted"),
        ("sites", ["in Orion", 3], "sites.1: Value error, 3 is not text"),
        ("objects", "grains {big|small", "open brace"),
    ],
)
def test_a_bad_value_is_named(
    raw: dict[str, Any], tmp_path: Path, key: str, value: Any, message: str
) -> None:
    raw[key] = value
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, raw)
    assert str(error.value).startswith("dust.yaml")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("measure", "grain size is large", "is not 'name = low..high unit'"),
        ("measure", "grain size = 3..1 µm", "empty range"),
        ("trend", "grain size", "is not 'response"),
    ],
)
def test_a_bad_story_is_named(
    raw: dict[str, Any], tmp_path: Path, key: str, value: str, message: str
) -> None:
    raw["stories"][0][key] = value
    with pytest.raises(InputError, match=message):
        read(tmp_path, raw)


def test_a_missing_key_is_named(raw: dict[str, Any], tmp_path: Path) -> None:
    del raw["topic"]
    with pytest.raises(InputError, match=r"dust\.yaml: topic: Field required"):
        read(tmp_path, raw)


def test_all_faults_of_a_card_are_named(raw: dict[str, Any], tmp_path: Path) -> None:
    del raw["topic"]
    raw["colour"] = "red"
    with pytest.raises(InputError, match=r"topic: Field required; colour: Extra inputs"):
        read(tmp_path, raw)


def test_a_card_that_is_a_list_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "dust.yaml").write_text("[grains]", encoding="utf-8")
    with pytest.raises(InputError, match=r"dust\.yaml: \"\['grains'\]\" is not a mapping"):
        load_cards(tmp_path)


def test_files_that_are_not_yaml_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no theme cards"):
        load_cards(tmp_path)
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1, 2", encoding="utf-8")
    with pytest.raises(InputError, match=r"broken.yaml is not YAML"):
        read_yaml(broken)


def test_related_themes_must_exist(tmp_path: Path, raw: dict[str, Any]) -> None:
    import yaml

    raw["related"] = ["gas"]
    (tmp_path / "dust.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
    with pytest.raises(InputError, match="unknown related themes: gas"):
        load_cards(tmp_path)
