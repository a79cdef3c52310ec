"""How likely a paper belongs to the answer: its own text, and who cites it or is cited by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

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
    place : ndarray of float64
        Its place in the search with the whole question, 0 for the first, infinite where that did
        not find it.
    """

    likeness: Floats
    matches: Floats
    middle: Floats
    searches: Floats
    cited: Floats
    citing: Floats
    together: Floats
    known: Floats
    place: Floats

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

    def links_or_usual(self, share: Floats) -> Floats:
        """Put the usual links in the place of none, for papers that nobody in the graph cites.

        A paper may be too new to be cited, or the graph may lack those that do: that it is not
        cited says nothing. It counts like the cited papers whose texts speak for them.

        Parameters
        ----------
        share : ndarray of float64, shape (n,)
            How well each paper's text speaks for it: the weight of the cited ones.

        Returns
        -------
        ndarray of float64, shape (n, 3)
            Like `links`.
        """
        links, is_cited = self.links, self.known > 0
        if is_cited.any() and share[is_cited].sum() > 0:
            usual = np.average(links[is_cited], axis=0, weights=share[is_cited])
            links[~is_cited] = np.maximum(links[~is_cited], usual)
        return links


# Logistic regressions, fitted by `benchmarks/survey.py` on one half of the questions made from the
# real graph of citations (a paper's title as the question, its references as the truth). Papers
# that cite the best ones are newer than such a question and never its references, so that `citing`
# could not be learned and is left out.
_TEXT_INTERCEPT, _TEXT_SLOPES = -6.03, np.array([0.25, 1.93, 0.30, 0.24])
# Long questions match every paper less than short ones: the texts count beside the best of them.
_INTERCEPT, _TEXT_SLOPE, _LINK_SLOPES = -3.70, 0.76, np.array([2.30, 0.92, 0.45])
_BEST = 10  # papers whose texts are the best
# The references that those questions ask for are related work; a reader asks for papers on the
# question itself, which its own search puts first. Chosen by reading the answers to eight
# questions: without it, papers that only share citations come first.
_PLACE_SLOPE, _USUAL_PLACE, _LAST_PLACE = -0.2, 30.0, 200.0
_HALF_HEARD = 0.7  # of the probability of the best, by text: there citations count by half
_WITHOUT_WORDS = 0.85  # puts the likeness in the place of the words' match

THRESHOLD = 0.25
"""Score from which a paper is selected without a model, where its words fit too (`FITTING`).

Of 24 questions whose papers can be told by the words of their subject (`python -m benchmarks.survey
ATLAS subjects`), three in four of the selected papers are on the subject, and two in three of
those that are on it are selected. With a stricter fit little would be left of what citations add
to one search."""

FITTING = 0.75
"""Share of the question's words that a paper matches, beside the ten best, to be selected."""

# Of the words of a question, matched by the ten best papers: where it is less, the atlas holds
# hardly anything on it. Of those 24 questions none has less than 0.74, and of eight on cookery,
# football and the like the best has 0.64. Longer questions match less: with the first sentence of
# an abstract as the question (24 words) the least of 25 is 0.64, with three (76 words) 0.55.
_FEWEST_MATCHES, _OF_WORDS, _LESS_FOR_TWICE = 0.65, 12, 0.05

_LIKELY_FITTING, _VERY_FITTING, _VERY_LIKELY = 0.85, 0.92, 0.5


def scores(evidence: Evidence) -> Floats:
    """Estimate how likely each paper belongs to the answer, beside the best of the same question.

    Parameters
    ----------
    evidence : Evidence
        Of n papers.

    Returns
    -------
    ndarray of float64, shape (n,)
        0 to 1: the probability over the mean of the ten best. Probabilities themselves are those of
        being in a list of references, small for all and different from question to question.

    Examples
    --------
    >>> none = np.zeros(2)
    >>> matches = np.array([0.3, 0.7])
    >>> scores(Evidence(none, matches, *[none] * 7)).round(1).tolist()
    [0.7, 1.0]
    """
    likely = probabilities(evidence)
    return np.minimum(likely / max(float(np.sort(likely)[-_BEST:].mean()), 1e-12), 1.0)


def fits(evidence: Evidence) -> Floats:
    """Say how well the words of each paper match those of the question, beside the ten best.

    Parameters
    ----------
    evidence : Evidence
        Of n papers.

    Returns
    -------
    ndarray of float64, shape (n,)
        1 for all where the atlas has no word vectors: the scores have to do.
    """
    best = matched(evidence)
    return np.ones(len(evidence.matches)) if best is None else evidence.matches / best


def words_of(scores: Floats, fitting: Floats, *, threshold: float = THRESHOLD) -> list[str]:
    """Say in words how likely papers belong.

    Parameters
    ----------
    scores, fitting : ndarray of float64, shape (n,)
        As `scores` and `fits` give them.
    threshold : float
        Score from which they are selected; below they are unlikely.

    Returns
    -------
    list of str

    Examples
    --------
    >>> words_of(np.array([0.9, 0.3, 0.9, 0.1]), np.array([1.0, 0.9, 0.8, 0.9]))
    ['very likely', 'likely', 'possible', 'unlikely']
    """
    chosen = (scores >= threshold) & (fitting >= FITTING)
    words = np.where(chosen, "possible", "unlikely")
    words = np.where(chosen & (fitting >= _LIKELY_FITTING), "likely", words)
    is_very = chosen & (scores >= _VERY_LIKELY) & (fitting >= _VERY_FITTING)
    words = np.where(is_very, "very likely", words)
    return [str(word) for word in words]


def matched(evidence: Evidence) -> float | None:
    """How much of the question's words the ten best papers match, 0 to 1; None without words."""
    return float(np.sort(evidence.matches)[-_BEST:].mean()) if evidence.matches.any() else None


def fewest_matches(question: str) -> float:
    """Say how much of a question's words the ten best papers match where an atlas holds any on it.

    Examples
    --------
    >>> fewest_matches("What powers fast radio bursts?"), fewest_matches("dust " * 48)
    (0.65, 0.55)
    """
    times = max(len(question.split()) / _OF_WORDS, 1.0)
    return round(_FEWEST_MATCHES - _LESS_FOR_TWICE * float(np.log2(times)), 3)


def probabilities(evidence: Evidence) -> Floats:
    """Estimate the probability that each paper is in the list of references to a question.

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
    >>> far, close = probabilities(Evidence(none, matches, *[none] * 7))
    >>> bool(close > far)
    True
    """
    said, share = beside_best(probabilities_by_text(evidence))
    links = heard(share)[:, None] * evidence.links_or_usual(share)
    place = np.log1p(np.minimum(evidence.place, _LAST_PLACE)) - np.log1p(_USUAL_PLACE)
    odds = _INTERCEPT + _TEXT_SLOPE * said + links @ _LINK_SLOPES + _PLACE_SLOPE * place
    return np.asarray(expit(odds), dtype=np.float64)


def beside_best(by_text: Floats) -> tuple[Floats, Floats]:
    """Put what the texts say beside the best texts of the same question.

    Parameters
    ----------
    by_text : ndarray of float64, shape (n,)
        As `probabilities_by_text` gives it, or fits it.

    Returns
    -------
    said : ndarray of float64, shape (n,)
        Log odds by text, less those of the ten best.
    share : ndarray of float64, shape (n,)
        The probabilities over that of the ten best.
    """
    odds = np.log(by_text / np.maximum(1 - by_text, 1e-12))
    best = float(np.sort(odds)[-_BEST:].mean()) if len(odds) else 0.0
    return odds - best, by_text / max(float(expit(best)), 1e-12)


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
    shift = 0.0 if evidence.matches.any() else _WITHOUT_WORDS
    odds = _TEXT_INTERCEPT + shift + evidence.texts @ _TEXT_SLOPES
    return np.asarray(expit(odds), dtype=np.float64)


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
