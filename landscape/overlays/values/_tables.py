"""Tables of the values that papers state, their methods, mean and tension."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape._wording import count, did_you_mean
from landscape.corpus.objects import normal_name, object_key
from landscape.errors import InputError
from landscape.overlays.periods import describe_corpus
from landscape.overlays.values._names import OF_THE_UNIVERSE, PATTERNS, quantities
from landscape.overlays.values._quantities import convert, settings
from landscape.overlays.values._statements import ValueStatement
from landscape.search import open_engine
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore

_COLUMNS = [
    "quantity", "object", "stated", "value", "plus", "minus", "unit", "limit", "status", "own",
    "what", "method", "group", "year", "title", "sentence", "bibcode", "authors", "paper_id",
    "paper_row",
]  # fmt: skip
_COSMOLOGICAL_METHODS = frozenset({
    "weak lensing", "cluster counts", "galaxy clustering", "neutrino experiments",
})  # fmt: skip
_AROUND = 600  # characters of a sentence on each side of its value


def values(
    atlas: AtlasStore,
    *,
    quantity: str = "",
    object: str = "",  # noqa: A002
    filter: str | None = None,  # noqa: A002
    own: bool = False,
) -> Analysis:
    """List the values that titles and abstracts state.

    Parameters
    ----------
    atlas : Atlas
    quantity : str, optional
        One of "H0", "S8", "sigma8", "Omega_m", "neutrino mass", "redshift", "mass", "radius",
        "period", "distance", "age", "temperature", "metallicity" and "rate". All values are then
        in the unit that most of them have.
    object : str, optional
        Only values of this object.
    filter : str, optional
        Only papers that match this filter.
    own : bool, default False
        Only values that a paper reports as its own measurement.

    Returns
    -------
    Analysis
        ``quantity, object, stated, value, plus, minus, unit, limit, status, own, what, method,
        group, year, title, sentence, bibcode, authors, paper_id, paper_row``, the newest first.
        ``stated`` is the value as written, and most other columns are those of `find_values`.
        ``method`` is that of measured values, from the words of the sentence or the abstract.

    Raises
    ------
    InputError
        If the quantity is unknown, or the filter is wrong.
    AtlasError
        If the atlas was built by an earlier version.

    Examples
    --------
    >>> import landscape
    >>> atlas = landscape.open("my.atlas")  # doctest: +SKIP
    >>> landscape.overlays.values.values(atlas, quantity="H0", own=True).table  # doctest: +SKIP
    """
    quantity = _known_quantity(quantity)
    columns = [*ValueStatement._fields, "field", "surface", "method"]
    columns += ["sentence_start", "sentence_end"]
    table = atlas.read_layer("values", columns)
    if quantity:
        table = table[table["quantity"] == quantity]
    if object:
        key = object_key(normal_name(object))
        wanted = [name for name in table["object"].unique() if object_key(name) == key]
        table = table[table["object"].isin(wanted)]
    rows = open_engine(atlas).indexes.rows_that_pass(filter)
    if rows is not None:
        table = table[table["paper_row"].isin(rows)]
    if own:
        table = table[table["own"]]
    if quantity and len(table):
        table = _in_one_unit(table)
    table = _with_papers(atlas, table)
    n_own, n_papers = int(table["own"].sum()), table["paper_row"].nunique()
    of = f" of {normal_name(object)}" if object else ""
    where = f" with {filter}" if filter else ""
    return Analysis(
        kind="values",
        table=table[_COLUMNS],
        caption=f"Values ({quantity or 'all quantities'}{of}) in papers{where} of "
        f"{describe_corpus(atlas)}: {count(len(table), 'statement')} in "
        f"{count(n_papers, 'paper')}, of which {n_own:,} are measurements of the paper itself.",
        denominators={"papers": len(atlas), "papers with such a value": n_papers},
        bounds=atlas.coverage,
    )


def _known_quantity(name: str) -> str:
    names = {one.casefold().replace(" ", "_"): one for one in quantities()}
    if not name:
        return ""
    found = names.get(name.casefold().replace(" ", "_"))
    if found is None:
        hint = did_you_mean(name, quantities(), n=3, cutoff=0.5)
        raise InputError(
            f"There is no quantity {name!r}{hint} The quantities are: {', '.join(quantities())}."
        )
    return found


def _in_one_unit(table: pd.DataFrame) -> pd.DataFrame:
    """Convert values to the unit that most of them have; others keep theirs."""
    unit = table["unit"].value_counts().index[0]
    names = ["value", "plus", "minus", "unit"]
    columns = (table[name].tolist() for name in names)
    rows = [in_unit(row[0], row[1], row[2], row[3], unit) for row in zip(*columns, strict=True)]
    return table.assign(**dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def in_unit(
    value: float, plus: float, minus: float, unit: str, wanted: str
) -> tuple[float, float, float, str]:
    """Convert a value with its errors to another unit, also from its logarithm, if possible.

    >>> in_unit(1.0, 0.1, 0.1, "kpc", "pc")
    (1000.0, 100.0, 100.0, 'pc')
    """
    is_log, wants_log = unit.startswith("dex("), wanted.startswith("dex(")
    linear, wanted_linear = (one[4:-1] if one.startswith("dex(") else one for one in (unit, wanted))
    factor = 1.0 if linear == wanted_linear else convert(1.0, linear, wanted_linear)
    if factor is None or not (linear and wanted_linear):
        return (value, plus, minus, wanted if unit == wanted else unit)
    if is_log and wants_log:
        return value + float(np.log10(factor)), plus, minus, wanted
    ends = np.array([value - minus, value, value + plus])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if is_log:
            ends = 10.0**ends
        ends = ends * factor
        low, middle, high = (np.log10(ends) if wants_log else ends).tolist()
    if not np.isfinite(middle):
        return value, plus, minus, unit
    return middle, high - middle, middle - low, wanted


@cache
def _methods() -> Mapping[str, tuple[str, re.Pattern[str]]]:
    """Return the group and the pattern of each method."""
    return {
        method: (group, re.compile(pattern))
        for group, methods in settings()["methods"].items()
        for method, pattern in methods.items()
    }


def find_method(*texts: str) -> str:
    """Return the method in the first text that names one; "" without one.

    The last name in the first text, which ends with a value, counts, and the first in the others.
    What a value is compared with or independent of is no method.

    >>> find_method("Independent of the CMB, Cepheids give", "The Hubble constant and Planck")
    'Cepheids and supernovae'
    """
    found = (_method_in(text, last=number == 0) for number, text in enumerate(texts))
    return next(filter(None, found), "")


@lru_cache(maxsize=1024)  # the values of a paper share its title and abstract
def _method_in(text: str, *, last: bool) -> str:
    found = [
        (match.start(), -order, name)
        for order, (name, (_, pattern)) in enumerate(_methods().items())
        for match in pattern.finditer(text)
        if not PATTERNS["not_method"].search(text, max(0, match.start() - 48), match.start())
    ]
    if not found:
        return ""
    place = (max if last else min)(start for start, _, _ in found)
    return max(one for one in found if one[0] == place)[2]


def _with_papers(atlas: AtlasStore, table: pd.DataFrame) -> pd.DataFrame:
    """Add the sentences, methods and papers of values, the newest papers first."""
    names = ["paper_id", "title", "abstract", "year", "bibcode", "authors"]
    rows = np.unique(table["paper_row"].to_numpy(np.int64))
    papers = atlas.read_papers(names, rows=rows)
    place = np.searchsorted(rows, table["paper_row"].to_numpy(np.int64))
    found = papers.iloc[place].reset_index(drop=True)
    table = table.reset_index(drop=True)
    starts = np.maximum(table["sentence_start"], table["start"] - _AROUND)
    ends = np.minimum(table["sentence_end"], table["end"] + _AROUND)
    sentences = [
        ((title if field == "title" else abstract) or "")[start:end]
        for title, abstract, field, start, end in zip(
            found["title"], found["abstract"], table["field"], starts, ends, strict=True
        )
    ]
    groups = {method: group for method, (group, _) in _methods().items()}
    # Methods of the early and the late Universe are for cosmological parameters only.
    group = table["method"].map(groups).fillna("")
    of_universe = table["quantity"].isin(OF_THE_UNIVERSE)
    kept = of_universe | ~group.isin(["early", "late"])
    kept &= (
        ~of_universe | group.isin(["early", "late"]) | table["method"].isin(_COSMOLOGICAL_METHODS)
    )
    joint = [
        bool(one) and len(_groups_in(sentence)) > 1
        for one, sentence in zip(of_universe, sentences, strict=True)
    ]
    table = table.assign(
        sentence=sentences,
        stated=table["surface"],
        method=table["method"].where(kept, ""),
        group=group.where(kept & ~np.array(joint, dtype=bool), ""),
        **{name: found[name] for name in ("title", "year", "bibcode", "authors", "paper_id")},
    )
    return table.sort_values(
        ["year", "paper_row"], ascending=False, kind="stable", ignore_index=True
    )


@lru_cache(maxsize=1024)
def _groups_in(sentence: str) -> frozenset[str]:
    """Return which of the early and the late methods a sentence names."""
    found = (group for group, pattern in _methods().values() if pattern.search(sentence))
    return frozenset(found) & {"early", "late"}


class Mean(NamedTuple):
    """Weighted mean of independent values, or the reason why there is none."""

    value: float
    error: float
    n: int
    reason: str


def weighted_mean(atlas: AtlasStore, table: pd.DataFrame) -> Mean:
    """Return the mean of values with weights 1/error², if they are independent.

    Values are independent if they come from different papers that share neither an author nor the
    data of a facility. Otherwise the error of the mean would be too small.

    Parameters
    ----------
    atlas : Atlas
    table : pandas.DataFrame
        Table of `values`.

    Returns
    -------
    Mean
        ``value`` and ``error`` are NaN if `reason` says why no mean is computed.
    """
    own = _with_errors(table)
    nan = float("nan")
    if len(own[["quantity", "unit"]].drop_duplicates()) > 1:
        return Mean(nan, nan, len(own), "No mean: the values have several quantities or units.")
    if not {*own["quantity"]} <= OF_THE_UNIVERSE and (
        len({*own["object"]}) > 1 or "" in {*own["object"]}
    ):
        return Mean(nan, nan, len(own), "No mean: the values are of several objects.")
    if len(own) < 2:
        return Mean(nan, nan, len(own), f"No mean: {count(len(own), 'value')} with errors.")
    if own["paper_row"].duplicated().any():
        n = int(own["paper_row"].duplicated(keep=False).sum())
        return Mean(nan, nan, len(own), f"No mean: {n:,} of {len(own):,} values share their paper.")
    shared = _shared(atlas, own)
    if shared:
        return Mean(nan, nan, len(own), f"No mean: {shared}.")
    value, error = _average(own)[:2]
    return Mean(value, error, len(own), "")


def _with_errors(table: pd.DataFrame) -> pd.DataFrame:
    is_value = table["own"] & (table["limit"] == "") & (table[["plus", "minus"]].max(axis=1) > 0)
    return table[is_value]


def _shared(atlas: AtlasStore, own: pd.DataFrame) -> str:
    """Return which authors or facilities several of the papers of values share, or ""."""
    mentions = atlas.read_layer("missions", ["facility", "role"])
    used = mentions[(mentions["role"] == "science") & mentions["paper_row"].isin(own["paper_row"])]
    data = used.drop_duplicates(["paper_row", "facility"])["facility"].value_counts()
    if len(data) and data.iloc[0] > 1:
        return f"{data.iloc[0]:,} of {len(own):,} values use data of {data.index[0]}"
    authors = own["authors"].explode().dropna().value_counts()
    if len(authors) and authors.iloc[0] > 1:
        return f"{authors.iloc[0]:,} of {len(own):,} values have {authors.index[0]} as an author"
    return ""


def _average(table: pd.DataFrame) -> tuple[float, float, float]:
    """Return the weighted mean, its error for independent and for equal errors of the values."""
    errors = table[["plus", "minus"]].mean(axis=1).to_numpy(float)
    weights = 1 / errors**2
    total = weights.sum()
    mean = float(weights @ table["value"].to_numpy(float) / total)
    return mean, float(total**-0.5), float(weights @ errors / total)


def _one_per_paper(table: pd.DataFrame) -> pd.DataFrame:
    """Return the most precise value of each paper; no error is far below the others."""
    errors = table[["plus", "minus"]].mean(axis=1)
    least = errors.median() / 100
    first = table.assign(error=errors).sort_values("error", kind="stable")
    kept = first.drop_duplicates("paper_row").drop(columns="error")
    return kept.assign(plus=kept["plus"].clip(lower=least), minus=kept["minus"].clip(lower=least))


def tension_text(table: pd.DataFrame) -> str:
    """Return a sentence with the tension of early and late values; "" if a group has no errors."""
    try:
        return tension(table).caption
    except InputError:
        return ""


def tension(table: pd.DataFrame, one: str = "early", other: str = "late") -> Analysis:
    """Compare the values of two groups of methods, such as the early and the late Universe.

    The difference of the weighted means is given in standard errors twice: as if the values of a
    group were independent, and as if they shared all their errors, which is a lower bound.

    Of each paper and group, the value with the smallest error counts; errors below a hundredth of
    the median error of the group count as the hundredth.

    Parameters
    ----------
    table : pandas.DataFrame
        Table of `values` of one quantity.
    one, other : str
        Names of groups of methods, ``"early"`` and ``"late"`` for H0.

    Returns
    -------
    Analysis
        ``group, values, papers, mean, error, error_shared``; the caption gives the tension.

    Raises
    ------
    InputError
        If a group has no measurement with an error, or the values have several units.
    """
    import pandas as pd

    if len(table[["quantity", "unit"]].drop_duplicates()) > 1:
        raise InputError("The values have several quantities or units; choose one quantity.")

    rows = []
    for group in (one, other):
        own = _one_per_paper(_with_errors(table[table["group"] == group]))
        if own.empty:
            raise InputError(f"No measurement with an error is by a method of the group {group!r}.")
        mean, error, shared = _average(own)
        rows.append((group, len(own), own["paper_row"].nunique(), mean, error, shared))
    columns = ["group", "values", "papers", "mean", "error", "error_shared"]
    found = pd.DataFrame(rows, columns=columns)
    difference = abs(found["mean"].diff().iloc[1])
    least, most = (difference / np.hypot(*found[name]) for name in ("error_shared", "error"))
    return Analysis(
        kind="tension",
        table=found,
        caption=f"Tension between {one} and {other} values: {least:.1f}σ if the values of each "
        f"group shared their errors, {most:.1f}σ if they were independent.",
        denominators={"values": int(found["values"].sum())},
        bounds={},
    )
