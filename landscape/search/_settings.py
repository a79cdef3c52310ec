"""Settings of a search, weights of papers, and the text of a query."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Maximum effect of a weight, as a share of the range of scores. It reorders papers only if their
# scores are similar.
_LARGEST_LIFT = 0.15
_HALF_LIFE = 8.0  # years
_MANY_CITATIONS = 1000.0

LONGEST_QUERY = 4_000
"""Maximum number of characters of a query; the rest is ignored."""
Method = Literal["hybrid", "semantic", "words"]
Fusion = Literal["scores", "ranks"]
Sort = Literal["relevance", "date", "citations"]
_LARGEST_K = 10_000
_LONGEST_KEYWORD = 200  # characters


@dataclass(frozen=True)
class Weights:
    """Strengths of the weights that are added to the relevance.

    Attributes
    ----------
    keyword, time, citation : float, default 0
        Strengths from 0 (off) to 1.
    compat : {"pathfinder"} or None
        "pathfinder" multiplies the scores by the weights, with the formulas of the pathfinder
        paper (Iyer et al. 2024, section 3.2). All strengths above 0 then have the same effect.
        None adds bounded weights.

    Raises
    ------
    InputError
        If a strength is not between 0 and 1.

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
                raise InputError(
                    f"The {name} weight is {value!r}; it must be between 0 (off) and 1."
                )
        if self.compat not in (None, "pathfinder"):
            raise InputError(
                f"There are no weights for compat={self.compat!r}; use 'pathfinder' or None."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the weights above 0."""
        return tuple(n for n in ("keyword", "time", "citation") if getattr(self, n) > 0)


def is_number(value: object) -> bool:
    """Return whether a value is a finite number of Python or NumPy."""
    return isinstance(value, Real) and math.isfinite(value)


def apply_weights(
    scores: Floats,
    weights: Weights,
    *,
    keyword: Floats | None = None,
    age: Floats | None = None,
    citations: Floats | None = None,
) -> Floats:
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
    """Return weights that are halved for every eight years of age."""
    return np.nan_to_num(0.5 ** (np.maximum(age, 0.0) / _HALF_LIFE), nan=0.0)


def standing(citations: Floats) -> Floats:
    """Return logarithmic weights of citation counts. The weight of 1,000 or more citations is 1."""
    counted = np.nan_to_num(citations, nan=0.0)
    return np.minimum(np.log1p(np.maximum(counted, 0.0)) / np.log1p(_MANY_CITATIONS), 1.0)


def pathfinder_recency(age: Floats) -> Floats:
    """Return the time weight of pathfinder, 1 / (1 + exp(age / 0.7 yr)) (Iyer et al. 2024)."""
    return 1.0 / (1.0 + np.exp(np.minimum(np.nan_to_num(age, nan=np.inf) / 0.7, 700.0)))


def pathfinder_standing(citations: Floats) -> Floats:
    """Return the citation weight of pathfinder, 1 / (1 + exp((300 - n) / 42))."""
    exponent = (300.0 - np.nan_to_num(citations, nan=0.0)) / 42.0
    return 1.0 / (1.0 + np.exp(np.minimum(exponent, 700.0)))


_Formulas = dict[str, Callable[["Floats"], "Floats"]]
_BOUNDED: _Formulas = {"keyword": np.positive, "time": recency, "citation": standing}
_PATHFINDER: _Formulas = {
    "keyword": np.positive, "time": pathfinder_recency, "citation": pathfinder_standing
}  # fmt: skip


def query_text(query: object) -> tuple[str, tuple[str, ...]]:
    """Return a query with normalised white space and limited length, and notes about it."""
    text = " ".join(readable_text("query", query).split())
    if not text:
        raise InputError("The query is empty; write a question or some words.")
    cut = f"Only the first {LONGEST_QUERY:,} characters of the query were read."
    return text[:LONGEST_QUERY], (cut,) if len(text) > LONGEST_QUERY else ()


def readable_text(what: str, text: object) -> str:
    """Return a text; raise InputError if it is not valid Unicode text."""
    if not isinstance(text, str):
        raise InputError(f"The {what} is {text!r}; it has to be text.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"The {what} is not UTF-8 text. Remove character {error.start + 1}."
        ) from error
    return text


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search.

    Attributes
    ----------
    k : int, default 10
        Number of papers to return.
    method : {"hybrid", "semantic", "words"}, default "hybrid"
    fusion : {"scores", "ranks"}, default "scores"
        Rule that the hybrid method uses to combine the two rankings.
    filter : str or None
        Filter of the papers; see `landscape.search.parse_filter` for the syntax.
    sort : {"relevance", "date", "citations"}, default "relevance"
        Order of the `k` most relevant papers: best, newest or most cited first.
    rerank : bool, default True
        Whether to rerank the best papers by comparing them with the query word by word.
    weights : Weights
    keywords : tuple of str
        Names for the keyword weight, in addition to the names in the query.
    gamma : float, default 0.1
        Strictness of the outlier test; a larger value gives more outliers.
    t_now : datetime.date
        Reference date for the ages of papers. Default: today.

    Raises
    ------
    InputError
        If a value is invalid.

    Examples
    --------
    >>> SearchSettings(k=0)
    Traceback (most recent call last):
    landscape.errors.InputError: k is 0; ask for 1 to 10,000 papers.
    """

    k: int = 10
    method: Method = "hybrid"
    fusion: Fusion = "scores"
    filter: str | None = None
    sort: Sort = "relevance"
    rerank: bool = True
    weights: Weights = field(default_factory=Weights)
    keywords: tuple[str, ...] = ()
    gamma: float = 0.1
    t_now: date = field(default_factory=lambda: datetime.now(UTC).date())

    def __post_init__(self) -> None:
        if not is_whole(self.k) or not 1 <= self.k <= _LARGEST_K:
            raise InputError(f"k is {self.k!r}; ask for 1 to {_LARGEST_K:,} papers.")
        if not is_number(self.gamma):
            raise InputError(f"gamma is {self.gamma!r}; it must be a number, such as 0.1.")
        if self.filter is not None:
            readable_text("filter", self.filter)
        weights: object = self.weights  # callers may pass any value
        if not isinstance(weights, Weights):
            raise InputError(f"The weights are {weights!r}; pass, for example, Weights(time=0.5).")
        check_keywords(self.keywords)
        check_day("t_now", self.t_now)
        for name, allowed in (
            ("method", ("hybrid", "semantic", "words")),
            ("fusion", ("scores", "ranks")),
            ("sort", ("relevance", "date", "citations")),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise InputError(f"There is no {name} {value!r}; use one of {', '.join(allowed)}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a dictionary of JSON values."""
        return {**asdict(self), "t_now": self.t_now.isoformat()}


def is_whole(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_keywords(value: object) -> None:
    """Raise InputError unless the value is a collection of keywords."""
    if not isinstance(value, tuple | list) or not all(
        isinstance(word, str) and word.strip() and len(word) <= _LONGEST_KEYWORD for word in value
    ):
        raise InputError(
            f"keywords is {str(value)[:60]!r}; give a tuple of texts, such as ('dust', 'AGN')."
        )


def check_day(name: str, value: object) -> None:
    """Raise InputError unless the value is a date."""
    if not isinstance(value, date) or isinstance(value, datetime):
        raise InputError(f"{name} is {value!r}; give a day, such as datetime.date(2026, 1, 31).")


def search_settings(
    *, weights: Weights | Mapping[str, float] | None = None, **fields: Any
) -> SearchSettings:
    """Return settings from keyword arguments; raise InputError for an unknown name or value."""
    written: object = weights
    if not (written is None or isinstance(written, Weights | Mapping)):
        raise InputError(f"The weights are {written!r}; pass, for example, {{'time': 0.5}}.")
    known = [name for name in SearchSettings.__dataclass_fields__ if name != "weights"]
    strengths = list(Weights.__dataclass_fields__)
    given: dict[str, Any] = asdict(weights) if isinstance(weights, Weights) else {**(weights or {})}
    for kind, names, allowed in (("setting", fields, known), ("weight", given, strengths)):
        unknown = [name for name in names if name not in allowed]
        if unknown:
            raise InputError(f"There is no {kind} {unknown[0]!r}; use one of {', '.join(allowed)}.")
    return SearchSettings(weights=Weights(**given), **fields)
