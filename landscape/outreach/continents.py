"""What continents are called: a field of the thesaurus, or a half of their own name.

The atlas names a continent after its two most telling topics ("Dark energy and inflation"), which
are often the names of its largest regions too. A map says nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import AtlasError
from landscape.mapping.naming import capitalised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_JOINED = " and "
_DEEPEST = 1  # levels of the thesaurus below its top: further down are subjects, not fields
_SURE = (0.6, 0.25)  # claim and share from which a field names a continent whatever it was called
_LIKELY = (0.3, 0.12)  # the same where the continent's own name will not do
_OWN = 2.0  # how many times as often papers there bear the concept itself as papers elsewhere
_REACH = 0.2  # of all papers of a field: one that lies mostly elsewhere names no continent
_FEWEST = 20  # papers that bear the concept itself
_FEWEST_LETTERS = 4
_PARTED = 0.002  # added to shares: rare concepts do not tell


@dataclass(frozen=True)
class Field:
    """A concept that a continent may be called after.

    Attributes
    ----------
    label : str
    claim : float
        How well it tells the continent: its share times the logarithm of how many times as common
        it is there as elsewhere.
    share : float
        Of the continent's papers.
    level : int
        Levels below the top of the thesaurus.
    """

    label: str
    claim: float
    share: float
    level: int


def continent_names(
    labels: Mapping[int, str],
    regions: Mapping[int, str],
    fields: Mapping[int, Sequence[Field]],
    chosen: Collection[str] = (),
) -> tuple[dict[int, str], frozenset[int]]:
    """Name continents so that no region's name is said again.

    Parameters
    ----------
    labels : mapping of int to str
        What the atlas calls each continent, the largest first.
    regions : mapping of int to str
        What it calls each region.
    fields : mapping of int to sequence of Field
        Fields that tell each continent; absent without a thesaurus.
    chosen : collection of str
        What somebody called other continents.

    Returns
    -------
    names : dict of int to str
    silent : frozenset of int
        Regions whose name their continent bears.

    Examples
    --------
    >>> labels = {1: "Dark energy and inflation", 2: "Stars and molecular clouds", 3: "Comets"}
    >>> regions = {7: "Dark energy", 8: "Inflation", 9: "Molecular clouds"}
    >>> continent_names(labels, regions, {1: [Field("Cosmology", 0.63, 0.56, 0)]})
    ({1: 'Cosmology', 2: 'Stars', 3: 'Comets'}, frozenset())
    >>> continent_names(labels, regions, {})
    ({1: 'Dark energy', 2: 'Stars', 3: 'Comets'}, frozenset({7}))
    """
    names: dict[int, str] = {}
    silent: set[int] = set()
    carriers: dict[str, int] = {}
    for number, label in regions.items():
        for half in (label, *label.split(_JOINED)):
            carriers.setdefault(half.casefold(), number)
    taken = {label.casefold() for label in (*regions.values(), *chosen)}
    # Wide fields first, then the best claim: no two continents are called alike.
    claims = [(number, field) for number in labels for field in fields.get(number, ())]
    claims.sort(key=lambda one: (one[1].level, -one[1].claim, one[0]))

    def call_by_field(least_claim: float, least_share: float) -> None:
        for number, field in claims:
            is_free = number not in names and field.label.casefold() not in taken
            if is_free and field.claim >= least_claim and field.share >= least_share:
                names[number] = field.label
                taken.add(field.label.casefold())

    halves = {number: _halves(label) for number, label in labels.items()}
    free = {
        number: [half for half in own if half.casefold() not in carriers]
        for number, own in halves.items()
    }
    call_by_field(*_SURE)
    for number, own in halves.items():
        name = _JOINED.join(free[number])
        if number not in names and own[0] in free[number] and name.casefold() not in taken:
            names[number] = name
            taken.add(name.casefold())
    call_by_field(*_LIKELY)
    for number, own in halves.items():
        if number not in names:
            called = {name.casefold() for name in (*names.values(), *chosen)}
            name = next((half for half in free[number] or own if half.casefold() not in called), "")
            names[number] = capitalised(name) or labels[number]
            if name and not free[number]:
                silent.add(carriers[name.casefold()])
    return {number: names[number] for number in labels}, frozenset(silent)


def fields_of(atlas: Any, continents: Ints) -> dict[int, list[Field]]:
    """Find the fields of the thesaurus that tell continents.

    A concept counts with everything below it, and only where papers bear the concept itself: in a
    thesaurus with many parents, papers on black holes stand below "Cosmic inflation" too.

    Parameters
    ----------
    atlas : Atlas
    continents : ndarray of int64, shape (n_papers,)
        Continent of each paper; -1 for none.

    Returns
    -------
    dict of int to list of Field
        Empty where the atlas has no thesaurus.
    """
    from landscape.overlays.thesaurus._extents import LEAST_SCORE

    try:
        thesaurus, tags = atlas.thesaurus, atlas.read_layer("uat", ["concept_id", "score"])
    except AtlasError:
        return {}
    levels = _levels(thesaurus)
    wide = {concept: place for place, concept in enumerate(levels)}
    tags = tags[tags["score"] >= LEAST_SCORE]
    codes, concepts = tags["concept_id"].astype(str).factorize()
    rows = tags["paper_row"].to_numpy(np.int64)
    above = [
        [wide[one] for one in (name, *thesaurus.ancestors(name)) if one in wide]
        if name in thesaurus.concepts
        else []
        for name in concepts
    ]
    itself = np.array([wide.get(name, -1) for name in concepts], dtype=np.int64)
    counts = np.array([len(one) for one in above], dtype=np.int64)
    flat = np.array([place for one in above for place in one], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    each = counts[codes]
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    borne = flat[np.repeat(starts[codes], each) + within]

    numbers, place_of = np.unique(continents, return_inverse=True)
    held = _papers(np.repeat(rows, each), borne, place_of, (len(numbers), len(wide)))
    own = itself[codes] >= 0
    direct = _papers(rows[own], itself[codes][own], place_of, (len(numbers), len(wide)))
    papers = np.bincount(place_of, minlength=len(numbers)).astype(float)[:, None]
    share, elsewhere = _shares(held, papers)
    near, far = _shares(direct, papers)
    reach = held / np.maximum(held.sum(axis=0), 1)
    claim = share * np.log((share + _PARTED) / (elsewhere + _PARTED))
    tells = (near >= _OWN * far) & (direct.sum(axis=0) >= _FEWEST) & (claim >= _LIKELY[0])
    tells &= reach >= _REACH
    found: dict[int, list[Field]] = {}
    names, depths = [thesaurus.concepts[one].label for one in levels], list(levels.values())
    for row, column in np.argwhere(tells).tolist():
        number = int(numbers[row])
        if number >= 0:
            field = Field(
                names[column], float(claim[row, column]), float(share[row, column]), depths[column]
            )
            found.setdefault(number, []).append(field)
    return found


def _papers(rows: Ints, concepts: Ints, place_of: Ints, shape: tuple[int, int]) -> Floats:
    """Count the papers of each continent that bear each concept, each once."""
    pairs = np.unique(rows * shape[1] + concepts)
    cells = place_of[pairs // shape[1]] * shape[1] + pairs % shape[1]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def _shares(counts: Floats, papers: Floats) -> tuple[Floats, Floats]:
    """Share of the papers of each continent, and of those elsewhere."""
    elsewhere = (counts.sum(axis=0) - counts) / np.maximum(papers.sum() - papers, 1)
    return counts / np.maximum(papers, 1), elsewhere


def _levels(thesaurus: Any) -> dict[str, int]:
    """Concepts near the top of a thesaurus, and how many levels below it each is."""
    levels = dict.fromkeys(thesaurus.top, 0)
    rank = list(levels)
    for level in range(1, _DEEPEST + 1):
        rank = [below for one in rank for below in thesaurus.narrower(one) if below not in levels]
        levels |= dict.fromkeys(rank, level)
    return levels


def _halves(label: str) -> list[str]:
    """The topics of a name; a symbol such as σ₈ is none, unless there is nothing else."""
    halves = label.split(_JOINED)
    telling = [half for half in halves if sum(c.isalpha() for c in half) >= _FEWEST_LETTERS]
    return telling or [label]
