"""Fitted models: their files, cards, and how they are listed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import landscape
from landscape.cli import main
from landscape.models import Card, describe_cards, list_cards, read_numbers, read_weights

ROOT = Path(__file__).parents[1]
FOLDER = Path(landscape.__file__).parent / "models"


@pytest.mark.parametrize("card", list_cards(), ids=lambda card: card.name)
def test_a_card_is_complete_and_the_model_is_used_and_better_than_its_baseline(card: Card) -> None:
    file = next(FOLDER.glob(f"{card.name}.*"))
    reads = "read_weights" if file.suffix == ".safetensors" else "read_numbers"
    assert f'{reads}("{card.name}")' in (ROOT / card.used_in).read_text("utf-8")
    assert card.script.startswith("landscape evaluate") or (ROOT / card.script).is_file()
    assert card.is_justified, f"the gain is {card.gain:.3f}, and its error {card.error:.3f}"


def test_every_model_has_a_card_or_is_a_projection() -> None:
    stored = {file.stem for file in FOLDER.iterdir() if file.suffix in (".json", ".safetensors")}
    assert stored - {card.name for card in list_cards()} == {"cards", "word_axes"}


def test_arrays_and_numbers_are_read() -> None:
    assert read_weights("facility_roles")["weights"].dtype == np.int8
    axes = read_weights("word_axes")["axes"].astype(np.float32)
    np.testing.assert_allclose(axes.T @ axes, np.eye(64), atol=0.01)
    assert set(read_numbers("verdicts")["vectors"]) == {"certain", "copies", "paraphrases"}


def test_a_gain_within_two_errors_is_not_justified() -> None:
    card = list_cards()[0]
    close = {**vars(card), "value": 0.6, "baseline_value": 0.55, "error": 0.03}
    assert not Card(**close).is_justified


def test_the_cards_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--models"]) == 0
    said = capsys.readouterr().out
    assert all(card.name in said for card in list_cards())
    assert main(["info", "--models", "--json"]) == 0
    cards = json.loads(capsys.readouterr().out)["models"]
    assert [card["name"] for card in cards] == [card.name for card in list_cards()]
    assert main(["info"]) == 2
    assert "landscape info my.atlas" in capsys.readouterr().err


def test_the_cards_are_a_page_of_the_documentation() -> None:
    page = describe_cards("md")
    assert all(f"## `{card.name}`" in page and card.baseline in page for card in list_cards())
