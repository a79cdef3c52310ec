"""Questions made from an atlas's own papers, for a first look where nobody has written any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscape.errors import InputError
from landscape.evaluation.queries import Query

if TYPE_CHECKING:
    from landscape.store._atlas_store import AtlasStore

_KEYWORDS = 4


def known_items(atlas: AtlasStore, *, n: int = 100, seed: int = 1) -> list[Query]:
    """Make questions to which one paper each is the answer: its own first key words.

    They are easier than what people ask, and they favour methods that compare words, because a
    paper's key words stand in it. They can show that a search is broken, hardly that it is good;
    write questions of your own for that.

    Parameters
    ----------
    atlas : AtlasStore
    n : int, default 100
        How many, or as many as there are papers with key words enough.
    seed : int, default 1
        Of the draw.

    Returns
    -------
    list of Query

    Raises
    ------
    InputError
        If `n` is not positive, or no paper has key words enough.

    Examples
    --------
    >>> import landscape as ls
    >>> known_items(ls.open("my.atlas"), n=2)  # doctest: +SKIP
    """
    import numpy as np

    if n < 1:
        raise InputError(f"n is {n}: at least one question is needed.")
    papers = atlas.read_papers(["paper_id", "keywords"])
    keywords = [() if words is None else tuple(words) for words in papers["keywords"]]
    able = np.flatnonzero([len(words) >= _KEYWORDS for words in keywords])
    if not len(able):
        raise InputError(
            f"No paper of {atlas.path} has {_KEYWORDS} key words to make questions of."
        )
    drawn = np.random.default_rng(seed).permutation(able)[:n]
    return [
        Query(str(row), ", ".join(keywords[row][:_KEYWORDS]), (str(papers["paper_id"].iloc[row]),))
        for row in sorted(drawn.tolist())
    ]
