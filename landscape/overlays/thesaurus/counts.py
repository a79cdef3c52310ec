"""How many papers each concept has, with the concepts below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.overlays.analysis import Analysis
from landscape.overlays.thesaurus.concepts import Thesaurus

if TYPE_CHECKING:
    import pandas as pd


def concept_counts(atlas: Any, *, least_score: float = 0.1) -> Analysis:
    """Count the papers of each concept, rolled up the hierarchy.

    Parameters
    ----------
    atlas : Atlas
    least_score : float, default 0.1
        Score from which a tag counts: the probability that the authors would give it.

    Returns
    -------
    Analysis
        One row a concept that has papers: ``concept_id, label, level, papers`` (tagged with it),
        ``with_narrower`` (tagged with it or a concept below it, each paper once), ``share`` (of
        the corpus, of those with narrower).
    """
    thesaurus: Thesaurus = atlas.thesaurus
    tags = atlas.uat
    counted = tags[tags["score"] >= least_score]
    n = len(atlas.map)
    table = count_concepts(counted["paper_row"], counted["concept_id"], thesaurus, n_papers=n)
    tagged = int(counted["paper_row"].nunique())
    bounds = atlas.coverage
    dates = f"{str(bounds['first_date'])[:10]} to {str(bounds['last_date'])[:10]}"
    release = f" (release {thesaurus.version})" if thesaurus.version else ""
    caption = (
        f"Papers of {bounds['title']} ({dates}) by concept of the Unified Astronomy "
        f"Thesaurus{release}; a paper may have several concepts."
    )
    untagged = n - tagged
    warnings = (
        (f"{untagged:,} papers have no tag with a score of {least_score:g} or more.",)
        if untagged
        else ()
    )
    counts = {"papers": n, "papers with a concept": tagged}
    return Analysis("concepts", table, caption, counts, bounds, warnings)


def count_concepts(
    rows: pd.Series, concept_ids: pd.Series, thesaurus: Thesaurus, *, n_papers: int
) -> pd.DataFrame:
    """Count papers by concept; a paper counts once for each concept above its own.

    Parameters
    ----------
    rows : pandas.Series of int, shape (n_tags,)
    concept_ids : pandas.Series of str, shape (n_tags,)
    thesaurus : Thesaurus
    n_papers : int
        Denominator of the shares.

    Returns
    -------
    pandas.DataFrame
        As `concepts` says; the most papers first.

    Examples
    --------
    >>> import pandas as pd
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> made = {"1": Concept("1", "Stars"), "2": Concept("2", "Dwarfs", broader=("1",))}
    >>> tags = pd.DataFrame({"row": [0, 0, 1], "concept": ["1", "2", "2"]})
    >>> count_concepts(tags.row, tags.concept, Thesaurus("", made), n_papers=4)
      concept_id   label  level  papers  with_narrower  share
    0          1   Stars      0       1              2    0.5
    1          2  Dwarfs      1       2              2    0.5
    """
    import pandas as pd
    from scipy.sparse import csr_matrix

    order = list(thesaurus.concepts)
    column_of = {one: column for column, one in enumerate(order)}
    columns = concept_ids.map(column_of)
    known = columns.notna().to_numpy()
    places = (rows.to_numpy()[known], columns[known].to_numpy(dtype=np.int64))
    ones = np.ones(int(known.sum()), np.int32)
    direct = csr_matrix((ones, places), shape=(n_papers, len(order)))
    rolled = direct @ _upwards(thesaurus, column_of)
    with_narrower = rolled.getnnz(axis=0)
    table = pd.DataFrame(
        {
            "concept_id": order,
            "label": [one.label for one in thesaurus.concepts.values()],
            "level": _levels(thesaurus),
            "papers": direct.getnnz(axis=0),
            "with_narrower": with_narrower,
            "share": with_narrower / max(n_papers, 1),
        }
    )
    found = table[table["with_narrower"] > 0]
    return found.sort_values(
        ["with_narrower", "level", "label"], ascending=[False, True, True], ignore_index=True
    )


def _upwards(thesaurus: Thesaurus, column_of: dict[str, int]) -> Any:
    """From each concept to itself and everything above it."""
    from scipy.sparse import csr_matrix

    pairs = [
        (column, column_of[above])
        for one, column in column_of.items()
        for above in (one, *thesaurus.ancestors(one))
    ]
    lower, upper = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(column_of), len(column_of))
    return csr_matrix((np.ones(len(pairs), np.int32), (lower, upper)), shape=shape)


def _levels(thesaurus: Thesaurus) -> list[int]:
    """Steps from the nearest top concept, 0 for a top concept."""
    level = dict.fromkeys(thesaurus.top, 0)
    waiting = list(thesaurus.top)
    for one in waiting:
        for below in thesaurus.narrower(one):
            if below not in level:
                level[below] = level[one] + 1
                waiting.append(below)
    return [level[one] for one in thesaurus.concepts]
