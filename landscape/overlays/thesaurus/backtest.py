"""Would the proposals have come true? Propose with an old thesaurus, score against a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from landscape.overlays.periods import paper_years
from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.gaps import Evidence, gather_evidence, merge_spellings, rank_gaps
from landscape.overlays.thesaurus.names import named_forms, word_bag
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd

_METHODS = {"landscape": "score", "frequency": "papers", "compactness": "compactness"}


def backtest_gaps(
    atlas: Any, earlier: Thesaurus, later: Thesaurus, *, limits: tuple[int, ...] = (100, 500, 1000)
) -> Analysis:
    """Score proposals made with an earlier release against what later releases added.

    Parameters
    ----------
    atlas : Atlas
    earlier, later : Thesaurus
        Two releases, with the same ids.
    limits : tuple of int, default (100, 500, 1000)
        How many proposals are judged.

    Returns
    -------
    Analysis
        Table: of each method (``landscape``: the score of `rank_gaps`; ``frequency``: number of
        papers; ``compactness``) and limit ``found`` (added concepts proposed), ``precision``
        with its 95% interval, ``recall`` (of all added concepts) and ``recall_reachable`` (of
        those that any method could have found: named by enough papers of this corpus).
        ``tables["found"]``: ``method, rank, name, concept_id, label``.
    """
    papers = atlas.read_papers(["title", "abstract", "keywords"])
    evidence = gather_evidence(
        papers["keywords"], papers["title"].tolist(), papers["abstract"].tolist(),
        paper_years(atlas), atlas.vectors(),
    )  # fmt: skip
    added = added_forms(earlier, later)
    table, found = score_proposals(evidence, earlier, added, limits=limits)
    labels = {one: concept.label for one, concept in later.concepts.items()}
    bounds = atlas.coverage
    return Analysis(
        "thesaurus_backtest",
        table,
        f"Concepts proposed with thesaurus {earlier.version} against those that {later.version} "
        f"added, in {bounds['title']} ({bounds['first_date']} to {bounds['last_date']}).",
        {"papers": len(papers), "added concepts": len(set(added.values()))},
        bounds,
        ("The papers are not limited to those before the earlier release.",),
        {"found": found.assign(label=found["concept_id"].map(labels))},
    )


def added_forms(earlier: Thesaurus, later: Thesaurus) -> dict[str, str]:
    """Names of concepts that a later release added, as bags of words, without known names.

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> old = Thesaurus("1", {"1": Concept("1", "Stars")})
    >>> new = Thesaurus("2", {"1": old.concepts["1"], "2": Concept("2", "Stellar streams")})
    >>> added_forms(old, new)
    {'star stream': '2'}
    """
    known = named_forms(earlier)
    return {
        bag: one
        for bag, one in named_forms(later).items()
        if one not in earlier.concepts and bag not in known
    }


def score_proposals(
    evidence: Evidence,
    thesaurus: Thesaurus,
    added: dict[str, str],
    *,
    limits: tuple[int, ...] = (100, 500, 1000),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge each method's first proposals, see `backtest_gaps`.

    Parameters
    ----------
    evidence : Evidence
    thesaurus : Thesaurus
    added : dict of str to str
        Id by bag of words of the concepts that were to be found, see `added_forms`.
    limits : tuple of int

    Returns
    -------
    table, found : pandas.DataFrame
    """
    import pandas as pd
    from scipy.stats import binomtest

    named, _ = rank_gaps(evidence, thesaurus, limit=1)
    candidates = named[~named["covered"]]
    reachable = {added[bag] for bag in named["bag"] if bag in added}
    rows: list[dict[str, Any]] = []
    found: list[tuple[str, int, str, str]] = []
    for method, column in _METHODS.items():
        ranked = merge_spellings(candidates.assign(score=candidates[column]), limit=max(limits))
        hits = [
            {added[bag] for bag in (one.bag, *map(word_bag, one.alternatives)) if bag in added}
            for one in ranked.itertuples()
        ]
        for limit in limits:
            concepts = set().union(*hits[:limit])
            right, tried = sum(map(bool, hits[:limit])), min(limit, len(hits))
            low, high = binomtest(right, max(tried, 1)).proportion_ci(method="wilson")
            rows.append({
                "method": method, "proposals": tried, "found": len(concepts),
                "precision": right / max(tried, 1), "precision_low": low, "precision_high": high,
                "recall": len(concepts) / max(len(set(added.values())), 1),
                "recall_reachable": len(concepts & reachable) / max(len(reachable), 1),
            })  # fmt: skip
        found.extend(
            (method, int(rank), str(name), one)
            for rank, name, ids in zip(ranked["rank"], ranked["name"], hits, strict=True)
            for one in sorted(ids)
        )
    return pd.DataFrame(rows), pd.DataFrame(found, columns=["method", "rank", "name", "concept_id"])
