"""How many papers each concept has, with the concepts below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.extents import LEAST_SCORE
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


def concept_counts(atlas: Any, *, least_score: float = LEAST_SCORE) -> Analysis:
    """Count the papers of each concept, rolled up the hierarchy.

    A paper counts by the rule of `concept_members`, so that this table and the overlay agree.

    Parameters
    ----------
    atlas : Atlas
    least_score : float, default 0.25
        Chance, from which a paper counts, that its authors would give the concept.

    Returns
    -------
    Analysis
        One row a concept that has papers: ``concept_id, label, level, papers`` (tagged with it),
        ``with_narrower`` (tagged with it or a concept below it, each paper once), ``share`` (of
        the corpus, of those with narrower).
    """
    thesaurus: Thesaurus = atlas.thesaurus
    tags = atlas.read_layer("uat", ["concept_id", "score"])
    n = len(atlas.map)
    table = count_concepts(
        tags["paper_row"], tags["concept_id"], thesaurus,
        n_papers=n, scores=tags["score"], least_score=least_score,
    )  # fmt: skip
    tagged = int(tags.loc[tags["score"] >= least_score, "paper_row"].nunique())
    bounds = atlas.coverage
    dates = f"{str(bounds['first_date'])[:10]} to {str(bounds['last_date'])[:10]}"
    release = f" (release {thesaurus.version})" if thesaurus.version else ""
    caption = (
        f"Papers of {bounds['title']} ({dates}) by concept of the Unified Astronomy "
        f"Thesaurus{release}; a paper may have several concepts. It counts where the chance that "
        f"its authors would give the concept, or one below it, is {least_score:g} or more."
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
    rows: pd.Series,
    concept_ids: pd.Series,
    thesaurus: Thesaurus,
    *,
    n_papers: int,
    scores: pd.Series | None = None,
    least_score: float = LEAST_SCORE,
) -> pd.DataFrame:
    """Count papers by concept; a paper counts once for each concept above its own.

    Parameters
    ----------
    rows : pandas.Series of int, shape (n_tags,)
    concept_ids : pandas.Series of str, shape (n_tags,)
    thesaurus : Thesaurus
    n_papers : int
        Denominator of the shares.
    scores : pandas.Series of float, shape (n_tags,), optional
        Chances of the tags, taken as independent; all are sure without.
    least_score : float, default 0.25

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
    sure = np.ones(len(rows)) if scores is None else scores.to_numpy(dtype=np.float64)
    surprise = -np.log1p(-np.clip(sure[known], 0.0, 1 - 1e-9))  # adds up as chances of a miss do
    direct = csr_matrix((surprise, places), shape=(n_papers, len(order)))
    least = -np.log1p(-least_score) - 1e-12
    own = _count_from(direct, least)
    with_narrower = _count_from(direct @ _upwards(thesaurus, column_of), least)
    table = pd.DataFrame(
        {
            "concept_id": order,
            "label": [one.label for one in thesaurus.concepts.values()],
            "level": _levels(thesaurus),
            "papers": own,
            "with_narrower": with_narrower,
            "share": with_narrower / max(n_papers, 1),
        }
    )
    found = table[table["with_narrower"] > 0]
    return found.sort_values(
        ["with_narrower", "level", "label"], ascending=[False, True, True], ignore_index=True
    )


def _count_from(surprise: Any, least: float) -> NDArray[np.int64]:
    """Papers of each column whose surprise is something and not less than the least."""
    enough = (surprise.data >= least) & (surprise.data > 0)
    return np.bincount(surprise.indices[enough], minlength=surprise.shape[1])


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
