"""Read papers: the terms that their titles, abstracts and keywords name, and the stems they hold.

This is the part of tagging that looks at one paper at a time: it can be done batch after batch, in
several processes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.coverage import find_stems, stem_terms
from landscape.overlays.thesaurus.matching import arrange_terms, join_matches, match_split
from landscape.overlays.thesaurus.splitting import Lexicon, split_texts

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix

GIVEN, GIVEN_BY_NAME = 1.0, 0.97
"""Scores of a concept that the keywords give by its number, and by a term."""

_NUMBER = re.compile(r"\((\d{1,5}) ?\)")
_PAPERS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Wording:
    """What papers say in the terms of a thesaurus.

    Attributes
    ----------
    n_papers : int
    title, abstract : pandas.DataFrame
        What `landscape.overlays.thesaurus.matching.match` found there.
    given : pandas.DataFrame
        ``row, column, score`` of the concepts that keywords give.
    in_text : scipy.sparse.csr_matrix, shape (n_papers, n_stems)
        Which stems of terms a paper has.
    """

    n_papers: int
    title: pd.DataFrame
    abstract: pd.DataFrame
    given: pd.DataFrame
    in_text: csr_matrix


class Reader:
    """Reads papers batch after batch; what it learns of the words stays for the next batch.

    Parameters
    ----------
    thesaurus : Thesaurus

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> reader = Reader(Thesaurus("", {"1": Concept("1", "Galaxies")}))
    >>> wording = reader.read(["A galaxy"], ["It turns."], [["Galaxies (1)"]])
    >>> wording.title.surface.tolist(), wording.given.score.tolist()
    (['galaxy'], [1.0, 0.97])
    """

    def __init__(self, thesaurus: Thesaurus) -> None:
        self._terms = arrange_terms(thesaurus)
        self._stems = stem_terms(thesaurus)
        self._columns = {one: column for column, one in enumerate(thesaurus.concepts)}
        self._lexicon = Lexicon(self._terms.words, self._stems.stems, self._terms.spellings)

    def read(
        self,
        titles: Sequence[str],
        abstracts: Sequence[str],
        keywords: Sequence[Sequence[str]] | None = None,
    ) -> Wording:
        """Read a batch of papers.

        Parameters
        ----------
        titles, abstracts : sequence of str, shape (n,)
        keywords : sequence of sequence of str, shape (n,), optional

        Returns
        -------
        Wording
        """
        n = len(titles)
        texts = split_texts([*titles, *abstracts], self._lexicon)
        found = match_split(texts, self._terms)
        cut = int(np.searchsorted(found["row"].to_numpy(), n))
        abstract = found.iloc[cut:]
        abstract = abstract.assign(row=abstract["row"] - np.int32(n)).reset_index(drop=True)
        both = replace(texts, rows=texts.rows % max(n, 1))
        return Wording(
            n,
            found.iloc[:cut],
            abstract,
            self._given([] if keywords is None else keywords),
            find_stems(both, self._stems, n=n),
        )

    def _given(self, keywords: Sequence[Sequence[str]]) -> pd.DataFrame:
        """Concepts that keywords give, by number or by term."""
        import pandas as pd

        texts = [" ; ".join(map(str, words)) for words in keywords]
        found = match_split(split_texts(texts, self._lexicon), self._terms)
        named = found.loc[found["times"] > 0, ["row", "column"]].astype(np.int64)
        numbered = [
            (row, self._columns[number])
            for row, text in enumerate(texts)
            for number in _NUMBER.findall(text)
            if number in self._columns
        ]
        pairs = np.array(numbered, dtype=np.int64).reshape(-1, 2)
        both = np.concatenate([pairs, named.to_numpy()])
        scores = np.repeat([GIVEN, GIVEN_BY_NAME], [len(pairs), len(named)])
        return pd.DataFrame({"row": both[:, 0], "column": both[:, 1], "score": scores})


def read_papers(
    titles: Sequence[str],
    abstracts: Sequence[str],
    keywords: Sequence[Sequence[str]] | None,
    thesaurus: Thesaurus,
) -> Wording:
    """Read papers in one process.

    Parameters
    ----------
    titles, abstracts : sequence of str, shape (n,)
    keywords : sequence of sequence of str, shape (n,), optional
    thesaurus : Thesaurus

    Returns
    -------
    Wording
    """
    reader = Reader(thesaurus)
    blocks = [
        slice(start, start + _PAPERS_AT_ONCE)
        for start in range(0, max(len(titles), 1), _PAPERS_AT_ONCE)
    ]
    return join_wordings(
        [
            reader.read(titles[at], abstracts[at], None if keywords is None else keywords[at])
            for at in blocks
        ]
    )


def join_wordings(parts: Sequence[Wording]) -> Wording:
    """Join what was read batch by batch.

    Parameters
    ----------
    parts : sequence of Wording
        At least one; all with the same thesaurus.

    Returns
    -------
    Wording
    """
    import pandas as pd
    from scipy.sparse import vstack

    starts = list(accumulate((one.n_papers for one in parts), initial=0))
    given = [
        one.given.assign(row=one.given["row"] + start)
        for one, start in zip(parts, starts, strict=False)
    ]
    return Wording(
        starts[-1],
        join_matches([one.title for one in parts], starts[:-1]),
        join_matches([one.abstract for one in parts], starts[:-1]),
        pd.concat(given, ignore_index=True),
        vstack([one.in_text for one in parts], format="csr"),
    )
