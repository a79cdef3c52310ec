"""Phrases that could be concepts: what the papers show of each, and how alike it is to a concept.

No rule says which phrase deserves a concept, but a thesaurus shows by its own choice what its
makers look for. The phrases of a corpus that it does name are positive examples; all others are
unlabelled, and some of them only wait to be named (Elkan & Noto 2008, KDD, 213).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.mapping._region_names import PhraseTable
from landscape.overlays.thesaurus.measures import (
    count_titles,
    growth,
    later_half,
    mean_cosine,
    mean_cosines,
)
from landscape.overlays.thesaurus.names import bag_of, find_abbreviations, letters_of, words_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_ENOUGH_EXAMPLES = 30
_PRIOR_PAPERS = 5
_FEATURES = (
    "log_papers", "log_papers_squared", "log_titles", "in_title", "abbreviated", "compactness",
    "promise", "one_word", "two_words", "many_words", "name_like", "vague", "head_rate",
    "start_rate", "word_rate",
)  # fmt: skip


def measure_phrases(
    table: PhraseTable,
    vectors: NDArray[np.floating],
    titles: Sequence[str],
    abstracts: Sequence[str],
    years: NDArray[np.integer],
    *,
    fewest: int = 5,
) -> pd.DataFrame:
    """Measure what the papers show of each phrase, whatever a thesaurus says.

    Parameters
    ----------
    table : PhraseTable
    vectors : ndarray of float, shape (n_papers, n_dims)
        Embeddings of unit length.
    titles, abstracts : sequence of str, length n_papers
    years : ndarray of int, shape (n_papers,)
    fewest : int, default 5
        Phrases of fewer papers are left out.

    Returns
    -------
    pandas.DataFrame
        One row a phrase: ``phrase`` (its number in the table), ``name``, ``form``, ``bag``,
        ``papers``, ``compactness`` (mean cosine of pairs of its papers less that of any two
        papers), ``in_title`` (share of its papers that have it in the title), ``abbreviated``
        (logarithm of how often it is abbreviated, plus one), ``acronym`` (how, if it is more
        than once), ``growth`` (odds of a later paper among its papers over those of the
        corpus, see `later_half`), ``growth_low`` (the same less one standard error), and
        features for `concept_likeness`.
    """
    import pandas as pd

    papers = np.bincount(table.phrase, minlength=len(table.forms))
    kept = np.flatnonzero(papers >= fewest)
    frame = pd.DataFrame({"phrase": kept, "name": table.shown[kept], "form": table.forms[kept]})
    words = [words_of(form) for form in frame["form"]]
    frame["bag"] = [bag_of(one) for one in words]
    frame["papers"] = papers[kept]
    frame["compactness"] = (mean_cosines(table, vectors) - mean_cosine(vectors))[kept]
    titled = count_titles(table, titles)[kept]
    frame["in_title"] = titled / frame["papers"]
    frame["log_titles"] = np.log1p(titled)
    defined = find_abbreviations(abstracts)
    none: Counter[str] = Counter()
    frame["abbreviated"] = np.log1p([defined.get(bag, none).total() for bag in frame["bag"]])
    frame["acronym"] = [_usual(defined.get(bag, none)) for bag in frame["bag"]]
    late = later_half(years)
    frame["growth_low"], frame["growth"] = growth(
        papers[kept], np.bincount(table.phrase, late[table.paper], len(papers))[kept], late.mean()
    )
    frame["promise"] = table.promise[kept]
    frame["log_papers"] = np.log(frame["papers"])
    frame["log_papers_squared"] = frame["log_papers"] ** 2
    return frame.assign(**_shape_of_names(frame, words))


def name_phrases(phrases: pd.DataFrame, named: dict[str, str]) -> pd.DataFrame:
    """Add what a thesaurus says of each phrase.

    Parameters
    ----------
    phrases : pandas.DataFrame
        What `measure_phrases` gave.
    named : dict of str to str
        Of `named_forms`.

    Returns
    -------
    pandas.DataFrame
        With ``concept_id`` (empty where no concept has this name), ``covered`` (whether a
        concept has this name, its abbreviation, or a longer name that holds all its words: who
        says "globular cluster" has said "cluster"), ``inside`` (the last of these), and
        ``head_rate``, ``start_rate``, ``word_rate``: how often phrases that share a word with it
        are concepts.
    """
    words = [words_of(form) for form in phrases["form"]]
    ids = [named.get(bag, "") for bag in phrases["bag"]]
    known = np.array([bool(one) for one in ids], dtype=bool)
    inside = _inside_names(phrases["bag"].tolist(), named)
    short = {letters_of(one) for one in phrases.loc[known, "acronym"]} - {""}
    abbreviates = np.array([letters_of(name) in short for name in phrases["name"]], dtype=bool)
    longer = [one if len(one) > 1 else [] for one in words]
    return phrases.assign(
        concept_id=ids,
        inside=inside,
        covered=known | inside | abbreviates,
        head_rate=_rates([one[-1:] for one in longer], known),
        start_rate=_rates([one[:1] for one in longer], known),
        word_rate=_rates([sorted(set(one)) for one in longer], known),
    )


def concept_likeness(phrases: pd.DataFrame) -> NDArray[np.float64]:
    """Score how alike each phrase is to those that the thesaurus already names.

    Parameters
    ----------
    phrases : pandas.DataFrame
        What `name_phrases` gave.

    Returns
    -------
    ndarray of float, shape (n_phrases,)
        Log-odds of a logistic regression, named phrases against the others, in balance. Where
        the thesaurus names fewer than 30 phrases, their compactness in standard deviations.
    """
    features = phrases[list(_FEATURES)].to_numpy(dtype=np.float64)
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    named = (phrases["concept_id"] != "").to_numpy()
    open_ = ~phrases["covered"].to_numpy(dtype=bool)
    # Concepts whose words stand in longer names are the trunk of the tree, which is complete.
    leaves = named & ~phrases["inside"].to_numpy(dtype=bool)
    if min(leaves.sum(), open_.sum()) < _ENOUGH_EXAMPLES:
        return np.asarray(scaled[:, _FEATURES.index("compactness")])
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(class_weight="balanced", C=1.0, max_iter=500)
    used = leaves | open_
    scores: NDArray[np.float64] = model.fit(scaled[used], named[used]).decision_function(scaled)
    return scores


def measure_novelty(table: PhraseTable, phrases: pd.DataFrame) -> NDArray[np.float64]:
    """Measure how little of what else a phrase's papers talk about the thesaurus covers.

    Parameters
    ----------
    table : PhraseTable
    phrases : pandas.DataFrame
        ``phrase`` and ``covered``, see `name_phrases`.

    Returns
    -------
    ndarray of float, shape (n_phrases,)
        Minus the logarithm of the covered share of its papers' other phrases over that of all
        papers; five papers like the mean are added to each.

    Examples
    --------
    >>> import pandas as pd
    >>> from landscape.mapping._region_names import phrase_table
    >>> table = phrase_table([["ring", "arc"]] * 20 + [["star", "sun"]] * 20)
    >>> phrases = pd.DataFrame({"phrase": range(4), "covered": np.isin(table.forms, ["sun"])})
    >>> found = measure_novelty(table, phrases)
    >>> bool(found.min() < 0 < found.max())
    True
    """
    covered = np.zeros(len(table.forms))
    covered[phrases["phrase"]] = phrases["covered"]
    measured = np.zeros(len(table.forms))
    measured[phrases["phrase"]] = 1.0
    total = np.bincount(table.paper, measured[table.phrase], table.n_papers)[table.paper]
    hits = np.bincount(table.paper, covered[table.phrase], table.n_papers)[table.paper]
    others = total - measured[table.phrase]
    mean = covered.sum() and float((hits / np.maximum(total, 1))[total > 0].mean())
    share = np.where(others > 0, (hits - covered[table.phrase]) / np.maximum(others, 1), mean)
    sums = np.bincount(table.phrase, share, len(table.forms))
    papers = np.bincount(table.phrase, minlength=len(table.forms))
    if not mean:
        return np.zeros(len(phrases))
    shrunk = (sums + _PRIOR_PAPERS * mean) / (papers + _PRIOR_PAPERS)
    return np.asarray(-np.log(shrunk / mean)[phrases["phrase"]])


def _usual(abbreviations: Counter[str]) -> str:
    """The most used abbreviation, if it is used more than once."""
    best = max(abbreviations, key=lambda one: (abbreviations[one], one), default="")
    return best if abbreviations[best] > 1 else ""


def _shape_of_names(frame: pd.DataFrame, words: list[list[str]]) -> dict[str, Any]:
    """What the name alone says."""
    from landscape.text._keywords import has_vague_head

    lengths = np.array([len(one) for one in words])
    return {
        "one_word": lengths == 1,
        "two_words": lengths == 2,
        "many_words": lengths > 3,
        "name_like": frame["name"].str.contains(r"[A-Z0-9]"),
        "vague": [has_vague_head(form) for form in frame["form"]],
    }  # fmt: skip


def _rates(groups: list[list[str]], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log of how often phrases with the same word are concepts, the phrase itself left out.

    "stars" ends many concepts; "young" begins many phrases and hardly a concept.
    """
    seen: Counter[str] = Counter(word for one in groups for word in one)
    hits: Counter[str] = Counter(
        word for one, is_known in zip(groups, known, strict=True) if is_known for word in one
    )
    base = float(known.mean())
    rates = [
        np.mean([
            np.log((hits[word] - is_known + 2 * base) / (seen[word] - 1 + 2) / base)
            for word in one
        ]) if one else 0.0
        for one, is_known in zip(groups, known.tolist(), strict=True)
    ]  # fmt: skip
    return np.asarray(rates, dtype=np.float64)


def _inside_names(bags: list[str], named: dict[str, str]) -> NDArray[np.bool_]:
    """Whether all words of a phrase stand in one longer name."""
    names_with: dict[str, set[int]] = {}
    for number, bag in enumerate(named):
        for word in bag.split():
            names_with.setdefault(word, set()).add(number)
    none: set[int] = set()
    shared = [
        len(set.intersection(*(names_with.get(word, none) for word in bag.split()))) for bag in bags
    ]
    own = [bag in named for bag in bags]
    return np.array([n > mine for n, mine in zip(shared, own, strict=True)], dtype=bool)
