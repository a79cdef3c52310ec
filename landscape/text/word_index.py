"""Word index of an atlas for BM25 search in titles, abstracts and keywords with tantivy.

Different notations give the same tokens, for example ``H-alpha`` and ``Hα``, ``[O III]`` and
``OIII``, ``NGC 1275`` and ``NGC1275``, ``$S_8$`` and ``S8``, or ``z ~ 2`` and ``z=2``.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from landscape.errors import AtlasError
from landscape.text.words import GREEK, lexicon, normal_form, read_sections, readable

if TYPE_CHECKING:
    import tantivy
    from numpy.typing import NDArray

_GREEK = re.compile("([" + "".join(GREEK) + "ϵϑϕ])")
_GREEK_NAMES = GREEK | {"ϵ": "epsilon", "ϑ": "theta", "ϕ": "phi"}
_LINE_NAMES = "alpha|beta|gamma|delta"
# Words of which a text must have one, a pattern, and its replacement.
_FOLDED: tuple[tuple[Sequence[str], re.Pattern[str], str], ...] = (
    (
        ("sun", "⊙", "☉", "odot", "solar"),
        re.compile(r"m_?\{?(?:⊙|☉|sun|odot)\}?|\bsolar mass(?:es)?\b"),
        " msun ",
    ),
    (
        ("sun", "⊙", "☉", "odot", "solar"),
        re.compile(r"l_?\{?(?:⊙|☉|sun|odot)\}?\b|\bsolar luminosit(?:y|ies)\b"),
        " lsun ",
    ),
    (
        _LINE_NAMES.split("|"),
        re.compile(rf"\b(h|ly|lyman|br|pa)[\s-]?({_LINE_NAMES})\b"),
        r" \1\2 ",
    ),
    (("lyman",), re.compile(r"\blyman(alpha|beta)\b"), r"ly\1"),
    (("]",), re.compile(r"\[?\b([a-z]{1,2})[\s~]?(i{1,3}|iv|v|vi{1,3}|ix|x)\b\]"), r" \1\2 "),
    (
        ("",),
        re.compile(r"\b(h|he|c|n|o|mg|si|s|ca|fe|ne|al)[\s~-](i{1,3}|iv|v|vi{1,3})\b"),
        r" \1\2 ",
    ),
    (("-",), re.compile(r"\b([a-z])-([a-z]+)\b"), r" \1\2 \2 "),  # X-ray, r-process, N-body
    (
        ("ray", "mode", "band", "bod"),
        re.compile(r"\b([xbkn]) (rays?|modes?|bands?|body|bodies)\b"),
        r" \1\2 \2 ",
    ),
    (("21",), re.compile(r"\b21[\s-]?cm\b"), " 21cm "),
    (("cdm",), re.compile(r"\blambda[\s-]cdm\b"), " lambdacdm "),
    (("sn",), re.compile(r"\bsne?\b"), " supernova "),
    (("supernova",), re.compile(r"\bsupernovae?\s+(i[abc]|ii[pnlb])\b"), r" supernova type\1 "),
    (("10",), re.compile(r"\b10\s?\^\s?\{?([-+−]?\d+)\}?"), r" 10e\1 "),
    (("type",), re.compile(r"\btype[\s-](i[abc]?|ii[pnlb]?|[12])\b"), r" type type\1 "),
)
_REDSHIFT = re.compile(r"\b(z|redshifts?)\s?(?:[~≈≃∼=><≲≳≤≥]|of|approx\.?)?\s?(\d+(?:\.\d+)?)\b")
# A symbol with an index, such as S_8, $f_{\\rm NL}$ or $\\sigma_8$; other formulas are not indexed.
_SYMBOL = re.compile(
    rf"(?:\\|(?<![A-Za-z\\_]))((?i:{'|'.join(GREEK.values())})|[A-Za-z])_\{{?"
    r"(?:\\(?:rm|mathrm|text|textrm)\b\s*\{?)?\s*([A-Za-z0-9]{1,4})(?![A-Za-z0-9_])"
)
_TOKEN = re.compile(r"[^\W_]+(?:[.+*](?=\d)[^\W_]+)*[+*]?")
_SENTENCE = 600  # maximum number of characters of a text whose tokens are cached
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT = re.compile("10([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")

STOP_WORDS = frozenset(read_sections("stop")["word"])
"""Common words that are ignored in texts and questions."""


def tokenise(text: str) -> list[str]:
    """Split a text into the tokens of word search.

    Parameters
    ----------
    text : str
        Any text. LaTeX is converted to plain words.

    Returns
    -------
    list of str
        Tokens in reading order, in lower case, in the singular and in American spelling. Stop words
        are omitted. Different spellings of a name give the same tokens.

    Examples
    --------
    >>> tokenise("The Hα lines of NGC 1275")
    ['halpha', 'line', 'ngc1275', 'ngc']
    >>> tokenise("H-alpha line in NGC1275") == tokenise("The Hα lines of NGC 1275")
    True
    >>> tokenise("star-forming galaxies at z ~ 2")
    ['star', 'forming', 'galaxy', 'z2']
    """
    return list(_sentence_tokens(text) if len(text) < _SENTENCE else _tokens_in(text))


@lru_cache(maxsize=4096)
def _sentence_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a sentence. They are cached because sentences are often repeated."""
    return tuple(_tokens_in(text))


def _tokens_in(text: str) -> list[str]:
    symbols = "".join(f" {letter}{index} " for letter, index in _SYMBOL.findall(text))
    words = _TOKEN.findall(_fold(readable(text) + symbols))
    return list(chain.from_iterable(map(_tokens_of, words)))


def _fold(text: str) -> str:
    text = _SUPERSCRIPT.sub(lambda found: f"10^{found.group(1).translate(_SUPERSCRIPTS)}", text)
    # Find names before lower() is called: "AT 2018cow" is a name, but "at 2018" is not.
    text = _catalogues().sub(r" \1\2 \1 ", text)
    text = unicodedata.normalize("NFKC", text).lower()
    if not text.isascii():
        text = _GREEK.sub(lambda found: _GREEK_NAMES[found.group(1)], text)
        text = unicodedata.normalize("NFKD", text)
        text = text.translate({ord(m): None for m in set(text) if unicodedata.combining(m)})
        text = re.sub("[‐‑–−]", "-", text)
    for hints, pattern, replacement in _FOLDED:
        if any(hint in text for hint in hints):
            text = pattern.sub(replacement, text)
    return _REDSHIFT.sub(_redshift, text)


def _redshift(match: re.Match[str]) -> str:
    named = "" if match.group(1) == "z" else " redshift"
    return named + f" z{float(match.group(2)):g} ".replace(".", "p")


@cache
def _catalogues() -> re.Pattern[str]:
    names = sorted((name for name in lexicon().catalogues if name.isupper()), key=len)
    either = "|".join(map(re.escape, reversed(names)))
    # The look-ahead saves the comparison of usual words with every name.
    return re.compile(rf"\b(?=[A-Z0-9])({either}|M(?= ?\d{{1,3}}\b))[ -]?([A-Z]?\d[\w.+-]*)")


@lru_cache(maxsize=300_000)
def _tokens_of(word: str) -> tuple[str, ...]:
    if word in STOP_WORDS or (len(word) == 1 and not word.isalnum()):
        return ()
    return tuple(part for part in normal_form(word).split() if part not in STOP_WORDS)


FIELDS: Mapping[str, float] = {"text": 1.0, "keywords": 0.15}
"""Weights of the fields of a paper in a search.

The field "text" contains the title twice and the abstract once. If the fields were separate, a rare
word of the title would outweigh the whole abstract (Robertson et al. 2004, CIKM, 42).
"""

# Maximum memory of the writer in bytes. Usual abstracts need a tenth of it for a segment, which is
# not divided.
_HEAP = 2_000_000_000
_KEY, _ANALYZER = "key", "stemmed"


def paper_key(paper_id: str) -> int:
    """Return the key of a paper in the word index."""
    return int.from_bytes(hashlib.blake2b(paper_id.encode(), digest_size=8).digest()) >> 1


def index_row(
    paper_id: str, title: str, abstract: str, keywords: Sequence[str] = ()
) -> tuple[int, str, str]:
    """Return a row of the index, with the key, the tokens of the text and of the keywords."""
    named = tokenise(title)
    text = " ".join([*named, *named, *tokenise(abstract)])
    return paper_key(paper_id), text, " ".join(tokenise("; ".join(keywords)))


@dataclass(frozen=True)
class Matches:
    """Keys and BM25 scores of the papers found by a word search."""

    keys: NDArray[np.uint64]
    scores: NDArray[np.float32]


class WordIndex:
    """Index for word search in papers.

    Parameters
    ----------
    folder : pathlib.Path
        Directory of the index.
    create : bool, default False
        Whether to create an empty index in the directory.

    Raises
    ------
    AtlasError
        If the index cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> index = WordIndex(Path(tempfile.mkdtemp()), create=True)
    >>> index.add(["a", "b"], titles=["Dusty quasars", "Cold gas"], abstracts=["", "In quasars."])
    >>> bool(index.search("quasar dust", k=2).keys[0] == paper_key("a"))
    True
    >>> len(index)
    2
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        import tantivy

        with _readable():
            if create:
                folder.mkdir(parents=True, exist_ok=True)
                self._index = tantivy.Index(_schema(), path=str(folder), reuse=False)
            else:
                self._index = self._opened(folder)
            self._searcher = self._index.searcher()
        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        self._analyzer = builder.filter(tantivy.Filter.stemmer("english")).build()
        self._index.register_tokenizer(_ANALYZER, self._analyzer)

    def _opened(self, folder: Path) -> tantivy.Index:
        """Open an index. In a read-only directory, open a copy, because tantivy writes a lock."""
        import tantivy

        if not os.access(folder, os.W_OK):
            self._copy = TemporaryDirectory(prefix="landscape-words-", ignore_cleanup_errors=True)
            for path in folder.iterdir():
                if path.is_symlink() or not path.is_file():
                    raise ValueError(f"{path.name} is not a file")
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
        """Add papers that are not in the index."""
        words = keywords if keywords is not None else [()] * len(titles)
        rows = zip(paper_ids, titles, abstracts, words, strict=True)
        self.write(index_row(*row) for row in rows)

    def write(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """Add papers, which `index_row` has converted to rows."""
        import tantivy

        writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        for key, text, keywords in rows:
            document = tantivy.Document(text=text, keywords=keywords)
            document.add_unsigned(_KEY, key)
            writer.add_document(document)
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
        """Return the search terms of a text, which are the stemmed tokens."""
        return self._analyzer.analyze(" ".join(tokenise(text)))

    def search(
        self,
        query: str | Mapping[str, float],
        *,
        k: int = 100,
        keys: NDArray[np.uint64] | None = None,
        ranges: Sequence[tuple[int, int]] | None = None,
        fields: Mapping[str, float] = FIELDS,
    ) -> Matches:
        """Find the papers with the highest BM25 scores, of some keys or of a few ranges of keys."""
        weights = dict.fromkeys(self.terms(query), 1.0) if isinstance(query, str) else query
        if not weights or not len(self) or k < 1 or (keys is not None and not len(keys)):
            return Matches(np.zeros(0, np.uint64), np.zeros(0, np.float32))
        words = self._query(weights, fields)
        if ranges is not None:
            words = self._in_ranges(words, ranges)
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
        """Return the most distinctive terms of a text with weights, for finding similar texts."""
        weights = {term: math.sqrt(n) for term, n in Counter(self.terms(text)).items()}
        counts = {term: self.count(term) for term in weights}
        worth = {
            term: weight * math.log(1 + len(self) / counts[term])
            for term, weight in weights.items()
            if counts[term] > 1
        }
        return {term: weights[term] for term in sorted(worth, key=lambda t: (-worth[t], t))[:most]}

    def count(self, term: str, *, field: str = "text") -> int:
        """Return the number of papers with a term in the title or abstract, or in the keywords."""
        with _readable():
            return int(self._searcher.doc_freq(field, term))

    def __len__(self) -> int:
        with _readable():
            return int(self._searcher.num_docs)

    def _query(self, weights: Mapping[str, float], fields: Mapping[str, float]) -> tantivy.Query:
        from tantivy import Occur, Query

        term_query = partial(Query.term_query, self._index.schema, index_option="freq")
        clauses = [
            (Occur.Should, Query.boost_query(term_query(field, term), boost * weight))
            for term, weight in weights.items()
            for field, boost in fields.items()
        ]
        return Query.boolean_query(clauses)

    def _in_ranges(self, words: tantivy.Query, ranges: Sequence[tuple[int, int]]) -> tantivy.Query:
        """Restrict a query to keys from each start to before its end; the scores stay the same."""
        from tantivy import FieldType, Occur, Query

        of = partial(Query.range_query, self._index.schema, _KEY, FieldType.Unsigned)
        inside = Query.boolean_query(
            [(Occur.Should, of(start, end, True, False)) for start, end in ranges]
        )
        return Query.boolean_query(
            [(Occur.Must, words), (Occur.Must, Query.boost_query(inside, 0.0))]
        )

    def _matches(self, query: tantivy.Query, limit: int) -> Matches:
        with _readable():
            hits = self._searcher.search(query, limit, count=False).hits
            keys = self._searcher.fast_field_values(_KEY, [address for _, address in hits])
        if None in keys:
            raise AtlasError("The word index has papers without keys; build the atlas again.")
        scores = np.array([score for score, _ in hits], dtype=np.float32)
        return Matches(np.array(keys, dtype=np.uint64), scores)


@dataclass(frozen=True)
class Segment:
    """Part of a word index in files of its own. `name` is the common stem of these files."""

    name: str
    n_papers: int

    def files(self, folder: Path) -> list[Path]:
        """List the files of the segment in a folder."""
        return sorted(folder.glob(f"{self.name}.*"))


_META, _MANAGED = "meta.json", ".managed.json"


def segment_name(content: str) -> str:
    """Return the name of a segment, which depends on a description of its content only."""
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def write_segment(folder: Path, rows: Iterable[tuple[int, str, str]], *, name: str) -> Segment:
    """Write a new index with one segment of the given name.

    Tantivy chooses random names, so that two builds would give different files.
    """
    index = WordIndex(folder, create=True)
    index.write(rows)
    (made,) = read_segments(folder)
    for path in made.files(folder):
        path.rename(path.with_name(f"{name}{path.suffix}"))
    segment = Segment(name, made.n_papers)
    list_segments(folder, [segment])
    return segment


def read_segments(folder: Path) -> list[Segment]:
    """Read the list of the segments of an index, which can be damaged."""
    try:
        listed = json.loads((folder / _META).read_bytes())["segments"]
        return [Segment(UUID(one["segment_id"]).hex, int(one["max_doc"])) for one in listed]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AtlasError(f"The list of segments in {folder} cannot be read ({error}).") from error


def list_segments(folder: Path, segments: Sequence[Segment]) -> None:
    """Write the list of the segments of an index whose files are in a folder.

    A search uses the word counts of all segments together, so its scores do not depend on how the
    papers are divided.
    """
    # A thread of tantivy can still write a lock file while the directory is deleted.
    with TemporaryDirectory(ignore_cleanup_errors=True) as empty:
        WordIndex(Path(empty), create=True)
        meta = json.loads((Path(empty) / _META).read_bytes())
    meta["segments"] = [
        {"segment_id": str(UUID(one.name)), "max_doc": one.n_papers, "deletes": None}
        for one in segments
    ]
    (folder / _META).write_text(json.dumps(meta, indent=1))
    # Tantivy deletes files on this list that no segment needs.
    files = [path.name for one in segments for path in one.files(folder)]
    (folder / _MANAGED).write_text(json.dumps([*files, _META]))


@contextmanager
def _readable() -> Iterator[None]:
    """Raise AtlasError if a file of the index is damaged."""
    try:
        yield
    except BaseException as error:
        # For a damaged file, the error of tantivy does not inherit from Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        why = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        raise AtlasError(
            f"The word index cannot be read ({why}); build the atlas again."
        ) from error


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(_KEY, indexed=True, fast=True)
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name=_ANALYZER, index_option="freq")
    return builder.build()
