"""Weights on top of relevance: keywords of the query, age, citations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LARGEST_LIFT = 0.15  # of the range of scores: a weight reorders neighbours and buries nobody
_HALF_LIFE = 8.0  # years
_MANY_CITATIONS = 1000.0


@dataclass(frozen=True)
class Weights:
    """Which weights are on, and how strong.

    Attributes
    ----------
    keyword, time, citation : float, default 0
        Strengths from 0 (off) to 1.
    compat : {"pathfinder"} or None
        Multiply by the formulas of the pathfinder paper (Iyer et al. 2024, section 3.2) instead of
        adding a bounded amount; a strength above 0 then only means "on".

    Raises
    ------
    InputError
        For a strength outside of 0 to 1.

    Examples
    --------
    >>> Weights(time=0.5).names
    ('time',)
    """

    keyword: float = 0.0
    time: float = 0.0
    citation: float = 0.0
    compat: Literal["pathfinder"] | None = None

    def __post_init__(self) -> None:
        for name in ("keyword", "time", "citation"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value <= 1:
                message = f"The {name} weight is {value!r}; it has to be between 0 (off) and 1."
                raise InputError(message)
        if self.compat not in (None, "pathfinder"):
            message = f"There are no weights like those of {self.compat!r}; use 'pathfinder'."
            raise InputError(message)

    @property
    def names(self) -> tuple[str, ...]:
        """The weights that are on."""
        return tuple(n for n in ("keyword", "time", "citation") if getattr(self, n) > 0)


def is_number(value: object) -> bool:
    """Whether a value is a finite number, NumPy's included.

    Examples
    --------
    >>> is_number(0.5), is_number("0.5"), is_number(float("nan"))
    (True, False, False)
    """
    return isinstance(value, Real) and math.isfinite(value)


def apply_weights(
    scores: Floats,
    weights: Weights,
    *,
    keyword: Floats | None = None,
    age: Floats | None = None,
    citations: Floats | None = None,
) -> Floats:
    """Weigh the scores of candidates.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Relevance; higher is better.
    weights : Weights
    keyword : ndarray of float64, shape (n,), optional
        Share of the query's names and terms that a paper has, 0 to 1.
    age : ndarray of float64, shape (n,), optional
        Years since publication; nan where unknown.
    citations : ndarray of float64, shape (n,), optional
        nan where unknown.

    Returns
    -------
    ndarray of float64, shape (n,)
        With the bounded weights no paper gains more than 15% of the scores' range from one weight,
        however old or uncited the others are.

    Examples
    --------
    >>> scores = np.array([0.9, 0.5])
    >>> apply_weights(scores, Weights(time=1.0), age=np.array([60.0, 0.0])).round(2).tolist()
    [0.9, 0.56]
    """
    given = {"keyword": keyword, "time": age, "citation": citations}
    formulas = _PATHFINDER if weights.compat == "pathfinder" else _BOUNDED
    lifts = {name: formulas[name](values) for name in weights.names
             if (values := given[name]) is not None}  # fmt: skip
    if weights.compat == "pathfinder":
        product: Floats = np.prod([scores, *lifts.values()], axis=0)
        return product
    spread = _LARGEST_LIFT * float(np.ptp(scores)) if len(scores) else 0.0
    total: Floats = scores + spread * sum(getattr(weights, n) * lift for n, lift in lifts.items())
    return total


def recency(age: Floats) -> Floats:
    """Weight of age that halves every eight years.

    Parameters
    ----------
    age : ndarray of float64, shape (n,)
        Years; nan where unknown.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0 to 1; 0 where the age is unknown.

    Examples
    --------
    >>> recency(np.array([0.0, 8.0, np.nan])).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.nan_to_num(0.5 ** (np.maximum(age, 0.0) / _HALF_LIFE), nan=0.0)


def standing(citations: Floats) -> Floats:
    """Weight of citations, by their logarithm: one at a thousand.

    Parameters
    ----------
    citations : ndarray of float64, shape (n,)
        nan where unknown.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0 to 1; 0 where nobody counted.

    Examples
    --------
    >>> standing(np.array([0.0, 1000.0, np.nan])).tolist()
    [0.0, 1.0, 0.0]
    """
    counted = np.nan_to_num(citations, nan=0.0)
    return np.minimum(np.log1p(np.maximum(counted, 0.0)) / np.log1p(_MANY_CITATIONS), 1.0)


def pathfinder_recency(age: Floats) -> Floats:
    """Time weight of pathfinder: 1 / (1 + exp(age / 0.7 yr)) (Iyer et al. 2024).

    Parameters
    ----------
    age : ndarray of float64, shape (n,)
        Years; nan where unknown.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> pathfinder_recency(np.array([0.0, 0.7])).round(3).tolist()
    [0.5, 0.269]
    """
    return 1.0 / (1.0 + np.exp(np.minimum(np.nan_to_num(age, nan=np.inf) / 0.7, 700.0)))


def pathfinder_standing(citations: Floats) -> Floats:
    """Citation weight of pathfinder: 1 / (1 + exp((300 - n) / 42)) (Iyer et al. 2024).

    Parameters
    ----------
    citations : ndarray of float64, shape (n,)
        nan where unknown.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> pathfinder_standing(np.array([300.0, 342.0])).round(3).tolist()
    [0.5, 0.731]
    """
    exponent = (300.0 - np.nan_to_num(citations, nan=0.0)) / 42.0
    return 1.0 / (1.0 + np.exp(np.minimum(exponent, 700.0)))


def _share(values: Floats) -> Floats:
    return values


_BOUNDED = {"keyword": _share, "time": recency, "citation": standing}
_PATHFINDER = {"keyword": _share, "time": pathfinder_recency, "citation": pathfinder_standing}
