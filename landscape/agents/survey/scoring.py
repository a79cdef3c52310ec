"""How likely a paper belongs to the answer: its own text, and who cites it or is cited by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents.survey.library import Library

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """What is known of n papers, each of shape (n,).

    Attributes
    ----------
    likeness : ndarray of float64
        Cosine to the question, in standard deviations above chance papers.
    matches : ndarray of float64
        How well its words match those of the question, 0 to 1.
    middle : ndarray of float64
        Cosine to the middle of the best papers, in standard deviations above chance papers.
    cited, citing, together : ndarray of float64
        Weight of the best papers that cite it, that it cites, and that share citing papers or
        references with it.
    """

    likeness: Floats
    matches: Floats
    middle: Floats
    cited: Floats
    citing: Floats
    together: Floats

    def features(self) -> Floats:
        """As columns for the regression, shape (n, 6): what grows without end by its logarithm."""
        columns = [
            self.likeness,
            self.matches,
            self.middle,
            np.log1p(4 * self.cited),
            np.log1p(4 * self.citing),
            np.log1p(4 * self.together),
        ]
        return np.column_stack(columns)


# Logistic regression, fitted by `benchmarks/survey.py` on one half of the questions made from the
# real graph of citations (a paper's title as the question, its references as the truth).
_INTERCEPT = -8.4
_SLOPES = np.array([0.11, 4.6, 0.27, 1.0, 0.0, 0.95])
_TEXT_INTERCEPT = -7.55
_TEXT_SLOPES = np.array([0.24, 3.29, 0.44])

THRESHOLD = 0.12
"""Probability from which a paper is selected without a model: where the F1 measure was best on
those questions."""


def probabilities(evidence: Evidence) -> Floats:
    """Estimate the probability that each paper belongs to the answer.

    Parameters
    ----------
    evidence : Evidence
        Of n papers.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> none = np.zeros(2)
    >>> near = Evidence(np.array([1.0, 4.0]), np.array([0.3, 0.7]), none, none, none, none)
    >>> far, close = probabilities(near)
    >>> bool(close > far)
    True
    """
    return logistic(_INTERCEPT + evidence.features() @ _SLOPES)


def probabilities_by_text(likeness: Floats, matches: Floats, middle: Floats) -> Floats:
    """The same from the texts alone, for which papers to trust first."""
    texts = np.column_stack([likeness, matches, middle])
    return logistic(_TEXT_INTERCEPT + texts @ _TEXT_SLOPES)


def logistic(values: Floats) -> Floats:
    """Map numbers to 0 to 1.

    Examples
    --------
    >>> logistic(np.array([0.0])).tolist()
    [0.5]
    """
    return 1.0 / (1.0 + np.exp(-np.clip(values, -50, 50)))


def support(
    library: Library, rows: Rows, best: Rows, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Weigh papers by their links with the best ones.

    Parameters
    ----------
    library : Library
    rows : ndarray of int64, shape (n,)
    best : ndarray of int64, shape (m,)
        Nodes that are trusted.
    weights : ndarray of float64, shape (m,)
        How much each is.

    Returns
    -------
    cited, citing, together : ndarray of float64, each of shape (n,)
        See `Evidence`. A paper between two others counts less the more it links (Adamic and Adar
        2003, Social Networks 25, 211).
    """
    n_nodes = len(library.is_open)
    cited, citing, together = (np.zeros(n_nodes) for _ in range(3))
    via_citing, via_cited = np.zeros(n_nodes), np.zeros(n_nodes)
    for node, weight in zip(best.tolist(), weights.tolist(), strict=True):
        references, citations = library.cites(node), library.cited_by(node)
        cited[references] += weight
        citing[citations] += weight
        via_citing[citations] += weight
        via_cited[references] += weight
    for between, links in ((via_citing, library.cites), (via_cited, library.cited_by)):
        for node in np.flatnonzero(between).tolist():
            ends = links(node)
            together[ends] += between[node] / np.log(2 + len(ends))
    # A trusted paper is not its own witness.
    for node, weight in zip(best.tolist(), weights.tolist(), strict=True):
        for ends, links in (
            (library.cited_by(node), library.cites),
            (library.cites(node), library.cited_by),
        ):
            own = sum(1.0 / np.log(2 + len(links(end))) for end in ends.tolist())
            together[node] -= weight * own
    return cited[rows], citing[rows], np.maximum(together[rows], 0.0)
