"""Cards of the fitted models: what they decide, from which data, and with which gain."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from landscape._render import render

_CARDS = Path(__file__).with_name("cards.json")


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
    return tuple(Card(**card) for card in json.loads(_CARDS.read_text("utf-8")))


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
