"""The word index of an atlas: BM25 over titles, abstracts and keywords.

It is kept by tantivy: an embedded index of files, memory-mapped, that takes additions and deletions
without a rebuild, and comes as one wheel without a server or a JVM.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import AtlasError
from landscape.text.tokens import tokenise

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIELDS: Mapping[str, float] = {"text": 1.0, "keywords": 0.15}
"""How much a word counts by where it stands.

Title and abstract are one field with the title taken twice: with fields of their own a rare word in
a title of ten words outweighs all that the abstract says (Robertson et al. 2004, CIKM, 42).
"""

_HEAP = 100_000_000  # bytes that the writer may hold before it writes a segment
_KEY, _ANALYZER = "key", "stemmed"


def paper_key(paper_id: str) -> int:
    """Give the number under which the word index knows a paper.

    Parameters
    ----------
    paper_id : str

    Returns
    -------
    int
        63 bits of a hash: among a million papers two share one with odds of 1 in 10 million.

    Examples
    --------
    >>> paper_key("2024ApJ...1..1A") == paper_key("2024ApJ...1..1A") < 2**63
    True
    """
    return int.from_bytes(hashlib.blake2b(paper_id.encode(), digest_size=8).digest()) >> 1


def index_row(
    paper_id: str, title: str, abstract: str, keywords: Sequence[str] = ()
) -> tuple[int, str, str]:
    """Work out what the index holds of a paper.

    Parameters
    ----------
    paper_id, title, abstract : str
    keywords : sequence of str, optional

    Returns
    -------
    key : int
    text, keywords : str
        Tokens, the title's twice, with blanks between.

    Examples
    --------
    >>> index_row("a", "Cold gas", "Gas cools.", ["cold gas"])[1:]
    ('cold gas cold gas gas cool', 'cold gas')
    """
    named = tokenise(title)
    text = " ".join([*named, *named, *tokenise(abstract)])
    return paper_key(paper_id), text, " ".join(tokenise("; ".join(keywords)))


@dataclass(frozen=True)
class Matches:
    """Papers that a word search found.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n,)
        See `paper_key`; best first.
    scores : ndarray of float32, shape (n,)
        BM25 summed over the fields.
    """

    keys: NDArray[np.uint64]
    scores: NDArray[np.float32]


class WordIndex:
    """Word search over papers.

    Parameters
    ----------
    folder : pathlib.Path
        Where the index lies.
    create : bool, default False
        Whether to make an empty one there.

    Raises
    ------
    AtlasError
        If there is no index that can be read.

    Examples
    --------
    >>> import tempfile
    >>> index = WordIndex(Path(tempfile.mkdtemp()), create=True)
    >>> index.add(["a", "b"], titles=["Dusty quasars", "Cold gas"], abstracts=["", "In quasars."])
    >>> bool(index.search("quasar dust", k=2).keys[0] == paper_key("a"))
    True
    >>> index.delete(["a"])
    >>> len(index)
    1
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        import tantivy

        try:
            if create:
                folder.mkdir(parents=True, exist_ok=True)
                self._index = tantivy.Index(_schema(), path=str(folder), reuse=False)
            else:
                self._index = self._opened(folder)
        except (ValueError, OSError) as error:
            message = f"The word index {folder} cannot be read ({error}); build the atlas again."
            raise AtlasError(message) from error
        self._analyzer = _analyzer()
        self._index.register_tokenizer(_ANALYZER, self._analyzer)
        self._searcher = self._index.searcher()

    def _opened(self, folder: Path) -> Any:
        """Open an index; where this user may not write, a copy of it, since opening locks."""
        import tantivy

        if not os.access(folder, os.W_OK):
            self._copy = TemporaryDirectory(prefix="landscape-words-")
            for path in folder.iterdir():
                shutil.copyfile(path, Path(self._copy.name) / path.name)
            folder = Path(self._copy.name)
        return tantivy.Index.open(str(folder))

    def add(
        self,
        paper_ids: Sequence[str],
        *,
        titles: Sequence[str],
        abstracts: Sequence[str],
        keywords: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Add papers; one that is there already is replaced.

        Parameters
        ----------
        paper_ids, titles, abstracts : sequence of str, shape (n,)
        keywords : sequence of sequence of str, shape (n,), optional
        """
        words = keywords if keywords is not None else [()] * len(titles)
        rows = zip(paper_ids, titles, abstracts, words, strict=True)
        self.write(index_row(*row) for row in rows)

    def write(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """Add papers whose tokens are known.

        Parameters
        ----------
        rows : iterable of (int, str, str)
            As `index_row` gives them.
        """
        import tantivy

        writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        replacing = len(self) > 0
        for key, text, keywords in rows:
            if replacing:
                self._remove(writer, key)
            document = tantivy.Document(text=text, keywords=keywords)
            document.add_unsigned(_KEY, key)
            writer.add_document(document)
        self._finish(writer)

    def delete(self, paper_ids: Iterable[str]) -> None:
        """Take papers out.

        Parameters
        ----------
        paper_ids : iterable of str
        """
        self.remove(paper_key(paper_id) for paper_id in paper_ids)

    def remove(self, keys: Iterable[int]) -> None:
        """Take papers out whose keys are known.

        Parameters
        ----------
        keys : iterable of int
        """
        writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        for key in keys:
            self._remove(writer, key)
        self._finish(writer)

    def _remove(self, writer: Any, key: int) -> None:
        from tantivy import Query

        # delete_documents_by_term takes every number for a signed one, and so finds none
        writer.delete_documents_by_query(Query.term_query(self._index.schema, _KEY, key))

    def _finish(self, writer: Any) -> None:
        try:
            writer.commit()
            writer.wait_merging_threads()
        except ValueError as error:
            if "StorageFull" in str(error) or "os error 28" in str(error):
                raise OSError(errno.ENOSPC, str(error)) from error
            raise
        self._index.reload()
        self._searcher = self._index.searcher()

    def terms(self, text: str) -> list[str]:
        """Cut a text into the terms of the index: its tokens, stemmed.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of str
        """
        found: list[str] = self._analyzer.analyze(" ".join(tokenise(text)))
        return found

    def search(
        self,
        query: str | Mapping[str, float],
        *,
        k: int = 100,
        keys: NDArray[np.uint64] | None = None,
        fields: Mapping[str, float] = FIELDS,
    ) -> Matches:
        """Find the papers whose words fit best.

        Parameters
        ----------
        query : str, or mapping of str to float
            A text, or the weight of each term (see `terms`).
        k : int, default 100
            Most papers.
        keys : ndarray of uint64, optional
            Papers to choose among; all when not given.
        fields : mapping of str to float
            Weight of each field.

        Returns
        -------
        Matches
            Fewer than `k` only where fewer papers hold any of the words.
        """
        weights = dict.fromkeys(self.terms(query), 1.0) if isinstance(query, str) else query
        if not weights or not len(self) or k < 1 or (keys is not None and not len(keys)):
            return Matches(np.zeros(0, np.uint64), np.zeros(0, np.float32))
        words = self._query(weights, fields)
        if keys is None:
            return self._matches(words, k)
        share = max(1, len(keys)) / len(self)
        allowed = np.sort(keys)
        limit = min(len(self), int(2 * k / share) + 10)
        while True:
            found = self._matches(words, limit)
            place = np.minimum(np.searchsorted(allowed, found.keys), len(allowed) - 1)
            kept = allowed[place] == found.keys
            if kept.sum() >= k or len(found.keys) < limit or limit >= len(self):
                return Matches(found.keys[kept][:k], found.scores[kept][:k])
            limit = min(len(self), 4 * limit)

    def distinctive_terms(self, text: str, *, most: int = 40) -> dict[str, float]:
        """Choose the terms that tell a text from others, to search for texts like it.

        Parameters
        ----------
        text : str
        most : int, default 40
            Terms; a whole abstract has some 150, and the common ones take the time and say little.

        Returns
        -------
        dict of str to float
            Weight of each: the square root of how often it stands in the text. Chosen by that times
            its inverse document frequency, as Lucene's MoreLikeThis does; terms that only one paper
            has find nothing and are left out.
        """
        weights = {term: math.sqrt(n) for term, n in Counter(self.terms(text)).items()}
        counts = {term: self.count(term) for term in weights}
        worth = {
            term: weight * math.log(1 + len(self) / counts[term])
            for term, weight in weights.items()
            if counts[term] > 1
        }
        return {term: weights[term] for term in sorted(worth, key=lambda t: (-worth[t], t))[:most]}

    def count(self, term: str) -> int:
        """Count the papers whose title or abstract has a term.

        Parameters
        ----------
        term : str
            As `terms` gives it.

        Returns
        -------
        int
        """
        return int(self._searcher.doc_freq("text", term))

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def _query(self, weights: Mapping[str, float], fields: Mapping[str, float]) -> Any:
        from tantivy import Occur, Query

        schema = self._index.schema
        clauses = [
            (
                Occur.Should,
                Query.boost_query(
                    Query.term_query(schema, field, term, index_option="freq"), boost * weight
                ),
            )
            for term, weight in weights.items()
            for field, boost in fields.items()
        ]
        return Query.boolean_query(clauses)

    def _matches(self, query: Any, limit: int) -> Matches:
        try:
            hits = self._searcher.search(query, limit, count=False).hits
            keys = self._searcher.fast_field_values(_KEY, [address for _, address in hits])
        except BaseException as error:
            # A damaged file makes the library panic, which is no Exception.
            if isinstance(error, KeyboardInterrupt):
                raise
            message = (
                f"The word index cannot be read ({type(error).__name__}); build the atlas again."
            )
            raise AtlasError(message) from error
        if None in keys:
            message = "The word index has lost the numbers of its papers; build the atlas again."
            raise AtlasError(message)
        scores = np.array([score for score, _ in hits], dtype=np.float32)
        return Matches(np.array(keys, dtype=np.uint64), scores)


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(_KEY, indexed=True, fast=True)
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name=_ANALYZER, index_option="freq")
    return builder.build()


def _analyzer() -> Any:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build()
