"""How to search, as one typed object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from numbers import Integral
from typing import Any, Literal

from landscape.errors import InputError
from landscape.query.weights import Weights, is_number
from landscape.query.wording import readable_text

Method = Literal["hybrid", "semantic", "words"]
Fusion = Literal["scores", "ranks"]

_LARGEST_K = 10_000
_LONGEST_KEYWORD = 200  # characters


@dataclass(frozen=True)
class SearchSettings:
    """Everything that decides what a search finds.

    Attributes
    ----------
    k : int, default 10
        Papers wanted.
    method : {"hybrid", "semantic", "words"}, default "hybrid"
    fusion : {"scores", "ranks"}, default "scores"
        How the hybrid adds up, see `landscape.query.fusion`.
    filter : str or None
        See `landscape.query.filters`.
    rerank : bool, default True
        Whether the first papers are compared word by word.
    weights : Weights
    keywords : tuple of str
        Counted as names of the query where the keyword weight is on.
    gamma : float, default 0.1
        Strictness about outliers, see `landscape.query.outliers`.
    t_now : datetime.date
        The day from which ages count.

    Raises
    ------
    InputError
        For a value that cannot be.

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
    rerank: bool = True
    weights: Weights = field(default_factory=Weights)
    keywords: tuple[str, ...] = ()
    gamma: float = 0.1
    t_now: date = field(default_factory=lambda: datetime.now(UTC).date())

    def __post_init__(self) -> None:
        if not is_whole(self.k) or not 1 <= self.k <= _LARGEST_K:
            message = f"k is {self.k!r}; ask for 1 to {_LARGEST_K:,} papers."
            raise InputError(message)
        if not is_number(self.gamma):
            message = f"gamma is {self.gamma!r}; it has to be a number, such as 0.1."
            raise InputError(message)
        if self.filter is not None:
            readable_text("filter", self.filter)
        weights: object = self.weights  # whatever a caller wrote
        if not isinstance(weights, Weights):
            message = f"The weights are {weights!r}; give Weights(time=0.5), for example."
            raise InputError(message)
        check_keywords(self.keywords)
        check_day("t_now", self.t_now)
        for name, allowed in (
            ("method", ("hybrid", "semantic", "words")),
            ("fusion", ("scores", "ranks")),
        ):
            value = getattr(self, name)
            if value not in allowed:
                message = f"There is no {name} {value!r}; use one of {', '.join(allowed)}."
                raise InputError(message)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {**asdict(self), "t_now": self.t_now.isoformat()}


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, NumPy's included.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_keywords(value: object) -> None:
    """Refuse what is no collection of keywords.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_keywords("dust")
    Traceback (most recent call last):
    landscape.errors.InputError: keywords is 'dust'; give a tuple of texts, such as ('dust', 'AGN').
    """
    if not isinstance(value, tuple | list) or not all(
        isinstance(word, str) and word.strip() and len(word) <= _LONGEST_KEYWORD for word in value
    ):
        message = (
            f"keywords is {str(value)[:60]!r}; give a tuple of texts, such as ('dust', 'AGN')."
        )
        raise InputError(message)


def check_day(name: str, value: object) -> None:
    """Refuse what is no day.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_day("t_now", "2026")
    Traceback (most recent call last):
    landscape.errors.InputError: t_now is '2026'; give a day, such as datetime.date(2026, 1, 31).
    """
    if not isinstance(value, date) or isinstance(value, datetime):
        message = f"{name} is {value!r}; give a day, such as datetime.date(2026, 1, 31)."
        raise InputError(message)


def search_settings(
    *, weights: Weights | Mapping[str, float] | None = None, **fields: Any
) -> SearchSettings:
    """Make settings out of what a caller wrote.

    Parameters
    ----------
    weights : Weights or mapping of str to float, optional
    **fields
        Of `SearchSettings`.

    Returns
    -------
    SearchSettings

    Raises
    ------
    InputError
        For a name that is none, or a value that cannot be.

    Examples
    --------
    >>> search_settings(weights={"time": 0.5}, k=5).weights.time
    0.5
    >>> search_settings(rarank=True)
    Traceback (most recent call last):
    landscape.errors.InputError: There is no setting 'rarank'; there are k, method, fusion, ...
    """
    written: object = weights
    if not (written is None or isinstance(written, Weights | Mapping)):
        message = f"The weights are {written!r}; give {{'time': 0.5}}, for example."
        raise InputError(message)
    known = [name for name in SearchSettings.__dataclass_fields__ if name != "weights"]
    strengths = list(Weights.__dataclass_fields__)
    given: dict[str, Any] = {} if weights is None or isinstance(weights, Weights) else dict(weights)
    for kind, names, allowed in (("setting", fields, known), ("weight", given, strengths)):
        unknown = [name for name in names if name not in allowed]
        if unknown:
            message = f"There is no {kind} {unknown[0]!r}; there are {', '.join(allowed)}."
            raise InputError(message)
    chosen = weights if isinstance(weights, Weights) else Weights(**given)
    return SearchSettings(weights=chosen, **fields)
