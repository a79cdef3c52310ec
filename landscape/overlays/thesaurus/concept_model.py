"""Models for tagging: what papers that name a concept have in common, and what authors choose."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from landscape.corpus.thesaurus import Thesaurus
from landscape.errors import AtlasError
from landscape.models import read_weights, write_weights
from landscape.overlays.thesaurus.matching import TermMatches, rarity
from landscape.store.arrays import read_arrays

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

_RIDGE = 10.0  # penalty of the ridge regression, in squared vector values summed over papers
_SPREAD_POWER = 0.3  # exponent: 0.5 favours rare concepts, 0 favours common concepts
_FEWEST_PAPERS = 4  # minimum number of papers that name a concept with a model
_N_AXES = 256  # of the vectors of words
_ROWS_AT_ONCE = 16_384  # number of papers whose vectors are read at a time


@dataclass(frozen=True)
class Meaning:
    """Linear model that scores concepts for a paper from the embedding of the paper."""

    centre: NDArray[np.float32]
    directions: NDArray[np.float32]

    def scores(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Score papers for each concept, shape (n, n_concepts)."""
        centred = np.asarray(vectors, dtype=np.float32) - self.centre
        return np.asarray(centred @ self.directions, dtype=np.float32)


@dataclass(frozen=True)
class ConceptModel:
    """What is learned from many papers to tag these and other papers.

    `rarity` has a weight for each stem, and `frequency` the logarithm of the share of the papers
    that name each concept. `projection` maps stems to the vectors that `by_words` scores, and
    `meaning` scores embeddings.
    """

    rarity: NDArray[np.float32]
    frequency: NDArray[np.float32]
    projection: NDArray[np.float32]
    by_words: Meaning
    meaning: Meaning | None

    def write(self, file: BinaryIO) -> None:
        """Write the model as an ``.npz`` file."""
        arrays = {
            "rarity": self.rarity,
            "frequency": self.frequency,
            "projection": self.projection,
            "words_centre": self.by_words.centre,
            "words_directions": self.by_words.directions,
        }
        if self.meaning is not None:
            arrays |= {"centre": self.meaning.centre, "directions": self.meaning.directions}
        np.savez(file, **arrays)  # type: ignore[arg-type]  # the names are not its options

    @classmethod
    def read(cls, path: Path) -> ConceptModel:
        """Read a model that `write` has written."""
        stored = read_arrays(path)
        needed = ("rarity", "frequency", "projection", "words_centre", "words_directions")
        if missing := [name for name in needed if name not in stored]:
            raise AtlasError(
                f"{path} has no array {missing[0]!r}; build the atlas again in a new folder."
            )
        known = "centre" in stored
        meaning = Meaning(stored["centre"], stored["directions"]) if known else None
        by_words = Meaning(stored["words_centre"], stored["words_directions"])
        rarity, frequency, projection = (stored[name] for name in needed[:3])
        return cls(rarity, frequency, projection, by_words, meaning)


def learn_model(
    wording: TermMatches, vectors: NDArray[np.float32] | None, thesaurus: Thesaurus
) -> ConceptModel:
    """Fit the model of concepts to papers in which terms have already been found."""
    in_title, in_abstract = named_concepts(wording, len(thesaurus))
    n = wording.n_papers
    papers = (in_title + in_abstract).getnnz(axis=0)
    named = in_title + in_abstract * 0.5
    named.data = np.minimum(named.data, 1.0)
    named.eliminate_zeros()
    weights = rarity(wording.in_text)
    projection = _project_stems(wording.in_text, weights)
    return ConceptModel(
        rarity=weights,
        frequency=np.log1p(1e4 * papers / max(n, 1)).astype(np.float32),
        projection=projection,
        by_words=learn_meaning(word_vectors(wording.in_text, weights, projection), named),
        meaning=None if vectors is None or n == 0 else learn_meaning(vectors, named),
    )


def _weigh(in_text: csr_matrix, weights: NDArray[np.float32]) -> csr_matrix:
    """Return the weights of the stems in each text, with rows of length 1."""
    from scipy.sparse import diags

    weighted = in_text.astype(np.float32) @ diags(weights)
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return (diags(1.0 / np.maximum(lengths, 1e-6)) @ weighted).tocsr()


def _project_stems(in_text: csr_matrix, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the main axes of the stems (Deerwester et al. 1990), shape (n_stems, n_axes)."""
    from scipy.linalg import eigh

    weighted = _weigh(in_text, weights)
    products = (weighted.T @ weighted).toarray().astype(np.float64)
    n = len(products)
    first = max(n - _N_AXES, 0)
    return np.asarray(eigh(products, subset_by_index=(first, n - 1))[1], dtype=np.float32)


def word_vectors(
    in_text: csr_matrix, weights: NDArray[np.float32], projection: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return vectors of the stems in texts, shape (n, n_axes)."""
    return np.asarray(_weigh(in_text, weights) @ projection, dtype=np.float32)


def learn_meaning(vectors: NDArray[np.float32], named: csr_matrix) -> Meaning:
    """Fit the linear model by ridge regression to papers that name concepts."""
    n, dims = vectors.shape
    centre = np.zeros(dims)
    for start in range(0, n, _ROWS_AT_ONCE):
        centre += np.asarray(vectors[start : start + _ROWS_AT_ONCE], dtype=np.float64).sum(0)
    centre /= max(n, 1)
    products = np.zeros((dims, dims))
    targets = np.zeros((dims, named.shape[1]))
    for start in range(0, n, _ROWS_AT_ONCE):
        block = np.asarray(vectors[start : start + _ROWS_AT_ONCE], dtype=np.float32)
        block = block - centre.astype(np.float32)
        products += block.T @ block
        targets += (named[start : start + _ROWS_AT_ONCE].T @ block).T
    directions = np.linalg.solve(products + _RIDGE * np.eye(dims), targets)
    variance = (directions * (products / max(n, 1) @ directions)).sum(0)
    directions /= (variance + 1e-9) ** _SPREAD_POWER
    directions[:, np.diff(named.tocsc().indptr) < _FEWEST_PAPERS] = 0.0
    return Meaning(centre.astype(np.float32), directions.astype(np.float32))


@dataclass(frozen=True)
class Ranking:
    """Networks with one hidden layer that compute the log-odds that authors choose a concept.

    `hidden` has the weights of each feature for each unit (n_features, n_units), `shift` the
    constants of the units, and `output` their weights. Features beyond `low` and `high`, the limits
    in the papers of the fit, count as these limits, because networks extrapolate badly.
    """

    hidden: NDArray[np.floating]
    shift: NDArray[np.floating]
    output: NDArray[np.floating]
    intercept: float
    low: NDArray[np.floating]
    high: NDArray[np.floating]

    def limited(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return features within their limits."""
        return np.clip(values, self.low, self.high)

    def log_odds(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the log-odds for features of shape (n, n_features)."""
        units = np.maximum(self.limited(values) @ self.hidden + self.shift, 0.0)
        return np.asarray(units @ self.output, dtype=np.float64) + self.intercept


@cache
def read_ranking(name: str) -> Ranking:
    """Read the ranking ``with_vectors`` or ``without_vectors`` of the package."""
    stored = read_weights("concept_rankings")
    hidden, shift, output, intercept, low, high = (
        stored[f"{name}_{part.name}"] for part in fields(Ranking)
    )
    return Ranking(hidden, shift, output, float(intercept), low, high)


def write_rankings(rankings: dict[str, Ranking]) -> None:
    """Write the rankings that the package reads."""
    arrays = {
        f"{name}_{part.name}": np.asarray(getattr(ranking, part.name), dtype=np.float32)
        for name, ranking in rankings.items()
        for part in fields(Ranking)
    }
    write_weights("concept_rankings", arrays)


def named_concepts(wording: TermMatches, n_concepts: int) -> tuple[csr_matrix, csr_matrix]:
    """Return the concepts named in titles and in abstracts, each of shape (n, n_concepts)."""
    shape = (wording.n_papers, n_concepts)
    both = wording.title, wording.abstract
    in_title, in_abstract = (pair_matrix(table, table["times"] > 0, shape) for table in both)
    return in_title, in_abstract


def pair_matrix(table: pd.DataFrame, values: pd.Series, shape: tuple[int, int]) -> csr_matrix:
    """Return a sparse matrix of papers and concepts with the values of the rows of a table."""
    from scipy.sparse import csr_matrix

    places = (table["row"].to_numpy(), table["column"].to_numpy())
    made = csr_matrix((values.to_numpy(np.float32), places), shape=shape)
    made.eliminate_zeros()
    return made
