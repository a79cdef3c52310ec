"""Compare a value with the values that papers measure, and find out if it is an outlier."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.overlays.values._names import OF_THE_UNIVERSE
from landscape.overlays.values._quantities import unit_text
from landscape.overlays.values._statements import ValueStatement, find_values
from landscape.overlays.values._tables import in_unit, values
from landscape.text.word_index import STOP_WORDS
from landscape.types import Analysis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

MANY_SIGMA = 3.0  # sigma of an outlier
_SCATTER = 1.4826  # standard deviation of a normal distribution in median absolute deviations
_DECADES = 100  # ratio of the largest to the smallest value that are compared by logarithms
_FEWEST = 5  # values of which a distribution is described


def compare_value(atlas: AtlasStore, text: str | ValueStatement) -> Analysis:
    """Compare a value with the values that papers measure, and find out if it is an outlier.

    Parameters
    ----------
    atlas : Atlas
    text : str or ValueStatement
        A statement, such as ``"H0 = 70 ± 1 km/s/Mpc"`` or ``"mass of K2-18 b = 8.6 Earth masses"``.

    Returns
    -------
    Analysis
        The measured values, those farthest from the given one last, with ``sigma``: the difference
        in units of the combined error; ``tables["given"]`` has the given ``value``, ``error`` and
        ``unit``, converted to the unit of the others, and ``deviations`` from their median in
        standard deviations, which is missing for less than five values. The caption says whether
        the value is an outlier: more than three standard deviations (robust, with the error of
        the value) from the median. Each paper counts with one value of an object. Positive values
        over more than two decades are compared by their logarithms.

    Raises
    ------
    InputError
        If the text has no value, a limit, or no object where the quantity needs one, or if the
        atlas has no measurement of the quantity.

    Examples
    --------
    >>> import landscape
    >>> atlas = landscape.open("my.atlas")  # doctest: +SKIP
    >>> landscape.overlays.values.compare_value(atlas, "H0 = 70 ± 1 km/s/Mpc")  # doctest: +SKIP
    """
    import pandas as pd

    if isinstance(text, str):  # "b = 8.6" is an impact parameter elsewhere
        text = re.sub(r"(?<= [b-k])\s?=\s?", " is ", text)
    found = [text] if isinstance(text, ValueStatement) else find_values(text, plausible=False)
    if not found:
        raise InputError(
            f"No value is found in {text!r}. Write the quantity, the value and the unit, such as "
            "'H0 = 70 ± 1 km/s/Mpc'."
        )
    given = found[0]
    if given.limit in {"upper", "lower"}:
        raise InputError(f"{text!r} is a limit; give a value with an error to compare.")
    if not given.object and given.quantity not in {*OF_THE_UNIVERSE, "rate"}:
        raise InputError(
            f"Values of {given.quantity} are compared for one object; name it, such as "
            f"'{given.quantity} of K2-18 b = ...'."
        )
    unknown = re.match(r"\s*([^\W\d_]+)", text[given.end :]) if isinstance(text, str) else None
    if unknown and unknown[1] not in STOP_WORDS:
        raise InputError(f"{unknown[1]!r} after the value in {text!r} is not a known unit.")
    stated = values(atlas, quantity=given.quantity, object=given.object, own=True).table
    stated = stated[(stated["limit"] == "") & (stated["what"].map(_scale) == _scale(given.what))]
    stated = stated.drop_duplicates(["paper_row", "object"])
    if stated.empty:
        of = f" of {given.object}" if given.object else ""
        raise InputError(f"No paper of this atlas measures {given.quantity}{of} without a limit.")
    unit = stated["unit"].value_counts().index[0]
    stated = stated[stated["unit"] == unit]
    value, plus, minus, own_unit = in_unit(given.value, given.plus, given.minus, given.unit, unit)
    if own_unit != unit:
        raise InputError(
            f"The unit of {text!r} is {own_unit or 'missing'}; give a unit such as {unit}."
        )
    plus, minus = np.nan_to_num(np.array([plus, minus]), nan=0.0)
    error = float((plus + minus) / 2)
    others = stated["value"].to_numpy(float)
    theirs = np.where(others < value, stated["plus"], stated["minus"]).astype(float)
    combined = np.hypot(np.nan_to_num(theirs, nan=0.0), np.where(others < value, minus, plus))
    sigma = np.divide(
        others - value, combined, out=np.full(len(others), np.nan), where=combined > 0
    )
    ordered = stated.assign(sigma=sigma, distance=abs(others - value)).sort_values("distance")
    deviations, caption = _verdict(given, value, unit, error, others)
    own = {"value": value, "error": error, "unit": unit, "deviations": deviations}
    return Analysis(
        kind="value",
        table=ordered.drop(columns="distance").reset_index(drop=True),
        caption=caption,
        denominators={"papers": len(atlas), "measured values": len(others)},
        bounds=atlas.coverage,
        tables={"given": pd.DataFrame([own])},
    )


def _scale(what: str) -> str:
    """Return the scale of a metallicity: "[Fe/H]", "12 + log(O/H)" and "Z" are different ones."""
    return "[" if "[" in what else "12" if what.startswith("12") else ""


def _verdict(
    given: ValueStatement, value: float, unit: str, error: float, others: NDArray[np.float64]
) -> tuple[float, str]:
    """Return the robust deviation of a value from others, and a sentence about it."""
    of = f" of {given.object}" if given.object else ""
    unit = unit_text(unit)
    name = f"{given.quantity}{of} = {value:.4g} {unit}".strip()
    n, median = len(others), float(np.median(others))
    if n < _FEWEST:
        middle = f"{median:.4g} {unit}".strip()
        return float("nan"), (
            f"{name}: {count(n, 'measured value')}, median {middle}; too few to judge."
        )
    below = float((others < value).mean())
    low, high = np.quantile(others, [0.05, 0.95])
    place, places, size = value, others, error
    if min(value, float(others.min())) > 0 and others.max() > _DECADES * others.min():
        place, places, size = np.log10(value), np.log10(others), error / value / np.log(10)
    centre = float(np.median(places))
    scatter = _SCATTER * float(np.median(abs(places - centre)))
    width = float(np.hypot(scatter, size))
    if width == 0:
        return float("nan"), (
            f"{name}: most of the {n:,} measured values are {median:.4g} {unit}".rstrip()
            + "; without errors, the difference cannot be judged."
        )
    far = float(abs(place - centre) / width)
    verdict = "an outlier" if far > MANY_SIGMA else "no outlier"
    return far, (
        f"{name} is {verdict}: {far:.1f} standard deviations from the median of {n:,} measured "
        f"values ({f'{median:.4g} {unit}'.strip()}; 90% are between {low:.4g} and {high:.4g}), "
        f"larger than {below:.0%} of them."
    )
