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
        How well its words match those of the question, 0 to 1; all 0 where the atlas has no word
        vectors, and `likeness` counts instead.
    middle : ndarray of float64
        Cosine to the middle of the best papers, in standard deviations above chance papers.
    searches : ndarray of float64
        Sum of 60 / (60 + rank) over the searches that found it (reciprocal ranks: Cormack, Clarke
        and Buettcher 2009, SIGIR, 758).
    cited, citing, together : ndarray of float64
        Weight of the best papers that cite it, that it cites, and that share citing papers or
        references with it.
    known : ndarray of float64
        Its citations in the graph.
    """

    likeness: Floats
    matches: Floats
    middle: Floats
    searches: Floats
    cited: Floats
    citing: Floats
    together: Floats
    known: Floats

    @property
    def texts(self) -> Floats:
        """What the texts alone say, as columns for the regression, shape (n, 4)."""
        words = self.matches.any() if len(self.matches) else False
        likeness = np.zeros_like(self.likeness) if words else self.likeness
        return np.column_stack([likeness, self.matches, self.middle, self.searches])

    @property
    def links(self) -> Floats:
        """What citations say, as columns, shape (n, 3): what grows without end by its logarithm."""
        columns = [4 * self.cited, 4 * self.together, self.known]
        return np.log1p(np.column_stack(columns))


# Logistic regressions, fitted by `benchmarks/survey.py` on one half of the questions made from the
# real graph of citations (a paper's title as the question, its references as the truth). Papers
# that cite the best ones are newer than such a question and never its references, so that `citing`
# could not be learned and is left out.
_TEXT_INTERCEPT, _TEXT_SLOPES = -6.03, np.array([0.25, 1.93, 0.30, 0.24])
# Long questions match every paper less than short ones: the texts count beside the best of them.
_INTERCEPT, _TEXT_SLOPE, _LINK_SLOPES = -3.70, 0.76, np.array([2.30, 0.92, 0.45])
_BEST = 10  # papers whose texts are the best
_HALF_HEARD = 0.7  # of the probability of the best, by text: there citations count by half
_WITHOUT_WORDS = 0.85  # puts the likeness in the place of the words' match

THRESHOLD = 0.02
"""Probability from which a paper is selected without a model.

The truth of those questions is sparse: few of the papers on a subject are in a list of references,
and few of these in the atlas, so that true probabilities are several times larger. F2, which counts
recall twice, is best at 0.025; read by an astronomer, papers at 0.02 are still on the question."""


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
    >>> matches = np.array([0.3, 0.7])
    >>> far, close = probabilities(Evidence(none, matches, none, none, none, none, none, none))
    >>> bool(close > far)
    True
    """
    said, links = beside_best(probabilities_by_text(evidence), evidence)
    return logistic(_INTERCEPT + _TEXT_SLOPE * said + links @ _LINK_SLOPES)


def beside_best(by_text: Floats, evidence: Evidence) -> tuple[Floats, Floats]:
    """Put what the texts say beside the best texts of the same question, and weigh the links so.

    Parameters
    ----------
    by_text : ndarray of float64, shape (n,)
        As `probabilities_by_text` gives it, or fits it.
    evidence : Evidence
        Of n papers.

    Returns
    -------
    said : ndarray of float64, shape (n,)
        Log odds by text, less those of the ten best.
    links : ndarray of float64, shape (n, 3)
        `Evidence.links`, as far as they are heard.
    """
    odds = np.log(by_text / np.maximum(1 - by_text, 1e-12))
    best = float(np.sort(odds)[-_BEST:].mean()) if len(odds) else 0.0
    share = by_text / max(float(logistic(np.array([best]))[0]), 1e-12)
    return odds - best, heard(share)[:, None] * evidence.links


def heard(share: Floats) -> Floats:
    """Say how far the citations of papers count: fully only where their texts speak for them.

    A paper of another subject, which everybody cites for a constant or a method, would else come
    before the review of the question's own.

    Parameters
    ----------
    share : ndarray of float64
        Probability by text over that of the question's best papers.

    Returns
    -------
    ndarray of float64
        0 to 1.

    Examples
    --------
    >>> heard(np.array([0.0, 0.1, 0.7])).round(2).tolist()
    [0.0, 0.13, 0.5]
    """
    return share / (share + _HALF_HEARD)


def probabilities_by_text(evidence: Evidence) -> Floats:
    """The same from the texts and searches alone, for which papers to trust first."""
    return logistic(_TEXT_INTERCEPT + _shift(evidence) + evidence.texts @ _TEXT_SLOPES)


def _shift(evidence: Evidence) -> float:
    return 0.0 if evidence.matches.any() else _WITHOUT_WORDS


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
