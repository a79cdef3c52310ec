"""Numbers of the fitted models, and cards that say what each decides and how well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._render import render

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Card:
    """Description of a fitted model.

    Parameters
    ----------
    name : str
        Name of its file in ``landscape/models``.
    decides : str
        What the model decides.
    kind : str
        Form of the model and its number of parameters.
    data : str
        Data of the fit, with their licence.
    script : str
        Benchmark that fits or measures it.
    baseline : str
        What it replaces.
    measure : str
        Measure of the gain, and the data on which it was measured.
    value, baseline_value : float
        Measured values of the model and of the baseline.
    error : float
        Standard error of the gain.
    used_in : str
        Module that uses it.
    """

    name: str
    decides: str
    kind: str
    data: str
    script: str
    baseline: str
    measure: str
    value: float
    baseline_value: float
    error: float
    used_in: str

    @property
    def gain(self) -> float:
        """Gain over the baseline."""
        return self.value - self.baseline_value

    @property
    def is_justified(self) -> bool:
        """Whether the gain is larger than two standard errors."""
        return self.gain > 2 * self.error

    def to_dict(self) -> dict[str, object]:
        """Return the fields and the gain."""
        return asdict(self) | {"gain": round(self.gain, 4)}


@cache
def list_cards() -> tuple[Card, ...]:
    """Return the cards of all fitted models.

    Returns
    -------
    tuple of Card

    Examples
    --------
    >>> all(card.is_justified for card in list_cards())
    True
    """
    return tuple(Card(**card) for card in json.loads((_FOLDER / "cards.json").read_text("utf-8")))


def describe_cards(form: str = "txt") -> str:
    """Return the cards as text (``"txt"``) or as Markdown (``"md"``).

    Parameters
    ----------
    form : {"txt", "md"}, default "txt"

    Returns
    -------
    str

    Examples
    --------
    >>> print(describe_cards().split(chr(10))[0])
    facility_roles: what a paper does with a facility that it names
    """
    return render(f"model_cards.{form}", cards=list_cards())


@cache
def read_weights(name: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of a model.

    Parameters
    ----------
    name : str
        Name of the card.

    Returns
    -------
    dict of str to array

    Examples
    --------
    >>> read_weights("word_axes")["axes"].shape
    (384, 64)
    """
    from safetensors.numpy import load_file

    return dict(load_file(_FOLDER / f"{name}.safetensors"))


@cache
def read_numbers(name: str) -> dict[str, Any]:
    """Read the numbers of a small model, for example the weights of a regression.

    Parameters
    ----------
    name : str
        Name of the card.

    Returns
    -------
    dict of str to object

    Examples
    --------
    >>> sorted(read_numbers("verdicts"))
    ['vectors', 'words']
    """
    return dict(json.loads((_FOLDER / f"{name}.json").read_text("utf-8")))


def write_weights(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the arrays that `read_weights` reads; only benchmarks call this."""
    from safetensors.numpy import save_file

    whole = {key: np.array(array, order="C") for key, array in arrays.items()}
    save_file(whole, _FOLDER / f"{name}.safetensors")


def write_numbers(name: str, numbers: Mapping[str, Any]) -> None:
    """Write the numbers that `read_numbers` reads; only benchmarks call this."""
    text = json.dumps(numbers, ensure_ascii=False, separators=(",", ":")) + "\n"
    (_FOLDER / f"{name}.json").write_text(text, "utf-8")
