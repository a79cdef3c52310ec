"""Papers, indexes and tables of an atlas, which are opened on first use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from landscape._author_names import parse_name
from landscape._wording import did_you_mean
from landscape.corpus import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.libraries import MARKS, find_library
from landscape.corpus.objects import normal_name, object_key
from landscape.corpus.thesaurus import MIN_SCORE
from landscape.embeddings import VectorIndex
from landscape.embeddings.embedder import embedder_for
from landscape.embeddings.neighbours import read_index
from landscape.embeddings.vectors import gather_words
from landscape.errors import AtlasError, InputError
from landscape.search._filter_fields import BY_NAME, LAYERS, apply_filter, columns_needed
from landscape.search._filters import parse_filter
from landscape.search.settings import readable_text
from landscape.store.arrays import COUNTS, WORDS, open_words
from landscape.store.facility_lists import decide_mentions
from landscape.store.tables import read_limited, unreadable
from landscape.text import WordIndex
from landscape.text.word_index import paper_key
from landscape.types import Coverage

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.corpus.libraries import Library, LibraryEntry
    from landscape.embeddings import Embedder
    from landscape.embeddings.vectors import WordVectors
    from landscape.store import AtlasStore
    from landscape.store.tables import PaperTable
    from landscape.types import Paper

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

_FILTERS_KEPT = 8  # number of last filters whose papers are kept in memory
_CITED = re.compile(
    r"(?<![\w'’-])([A-ZÀ-Þ][\w'’-]{1,40}+)(?:(,? et al\.?)| (?:and|&) ([A-ZÀ-Þ][\w'’-]{1,40}+))?"
    r",? (\(?)((?:19|20)\d\d)[a-z]?\)?(?![\w-])"
)


_IN_LIBRARY = re.compile(r"\bin\s{0,9}:", re.IGNORECASE)


def _is_same(entry: LibraryEntry, paper: Paper) -> bool:
    """Return whether an entry and a paper with its title have the same first author, or a year."""
    names = [parse_name(one.authors[0]).family.casefold() for one in (entry, paper) if one.authors]
    if len(names) == 2:
        return names[0] == names[1]
    return not (entry.year and paper.year) or abs(entry.year - paper.year) <= _YEARS_APART


_YEARS_APART = 3  # between a preprint and its publication


def names_of_paper(name: str) -> list[str]:
    """Return an identifier and its normalised forms as bibcode, arXiv id and DOI, if valid."""
    readings = (parse_bibcode(name), parse_arxiv_id(name), parse_doi(name))
    return [name, *filter(None, readings)]


class SearchIndexes:
    """Indexes of one atlas; they are safe to use from several threads."""

    def __init__(self, atlas: AtlasStore, *, embedder: Embedder | None = None) -> None:
        self._atlas, self._given = atlas, embedder
        # The same filter is often used for several wordings of a question.
        self._passed = lru_cache(maxsize=_FILTERS_KEPT)(self._pass)

    def check_unchanged(self) -> None:
        """Raise an error if the atlas was rebuilt since it was opened."""
        self._atlas.check_unchanged()

    @cached_property
    def embedder(self) -> Embedder:
        """Embedder of queries; by default the embedder of the atlas."""
        if self._given is not None:
            return self._given
        stage = self._atlas.stages["embeddings"]
        if stage.model is None:
            raise AtlasError(
                f"{self._atlas.path} does not name the model of its vectors. Build the atlas again."
            )
        embedder = embedder_for(stage.model, trust=self._atlas.trust_model)
        of_parts = stage.details.get("models")
        checksums = of_parts.values() if isinstance(of_parts, dict) else ()
        if any(one != stage.model.get("checksum") for one in checksums):
            raise AtlasError(
                f"The parts of {self._atlas.path} were embedded with different models, so their "
                "vectors cannot be compared. Build the atlas again."
            )
        return embedder

    @cached_property
    def vectors(self) -> VectorIndex:
        """Index for the nearest neighbours of a vector."""
        details = self._atlas.stages["search"].details
        parts = self._atlas.vector_parts()
        if details.get("exact", True):
            return VectorIndex(parts)
        n_papers, dimension = len(self._atlas), parts[0].shape[1]
        name = "index.faiss"
        index = self._atlas.read(
            name, lambda folder: read_index(folder / name, n_papers=n_papers, dimension=dimension)
        )
        return VectorIndex(parts, index=index, n_probe=details["n_probe"])

    @cached_property
    def words(self) -> WordIndex:
        """Word index. Its results are keys of papers, which `rows_of_keys` converts to rows."""
        return self._atlas.read("lexical", lambda folder: WordIndex(folder / "lexical"))

    @cached_property
    def paper_table(self) -> PaperTable:
        """Texts and metadata of the papers."""
        return self._atlas.paper_table

    @cached_property
    def cutoffs(self) -> NDArray[np.float32]:
        """Distances beyond which papers are outliers; see `landscape.search.outliers`."""
        import pyarrow.parquet as pq

        name = "cutoffs.parquet"

        def read(folder: Path) -> pa.Table:
            with pq.ParquetFile(folder / name) as file:  # this class does not import pandas
                return read_limited(file, folder / name)

        try:
            table = self._atlas.read(name, read)
            return np.array(table["d95"].to_pylist(), dtype=np.float32)
        except (OSError, ValueError, KeyError) as error:  # errors of Arrow are subclasses of these
            raise unreadable(self._atlas.path, name, error) from error

    @cached_property
    def coverage(self) -> Coverage:
        """Papers, sources and years that a search covers."""
        facts = self._atlas.coverage
        return Coverage(
            title=facts["title"],
            n_papers=facts["papers"],
            n_searched=facts["papers"],
            sources=facts["sources"],
            first_date=facts["first_date"],
            last_date=facts["last_date"],
            generated=facts["generated"],
            in_part=facts["in_part"],
        )

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """Keys of the papers in the word index, shape (n_papers,)."""
        ids = self.paper_table.column("paper_id", np.arange(len(self.paper_table)))
        return np.array([paper_key(paper_id) for paper_id in ids], dtype=np.uint64)

    def rows_of_keys(self, keys: NDArray[np.uint64]) -> Rows:
        """Convert keys of the word index to rows of papers."""
        known, order = self._by_key
        place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
        if len(keys) and not (known[place] == keys).all():
            error = ValueError("the word index has papers that are not in the atlas")
            raise unreadable(self._atlas.path, "lexical", error)
        return order[place]

    def row_of(self, name: str) -> int:
        """Return the row of a paper from its key, bibcode, arXiv identifier, DOI or URL."""
        spellings = names_of_paper(readable_text("paper", name))
        row = next((self._rows_by_name[s] for s in spellings if s in self._rows_by_name), None)
        if row is None:
            raise InputError(
                f"There is no paper {name!r} in {self._atlas.path}; "
                "give its bibcode, arXiv identifier, DOI or key."
            )
        return row

    def rows_that_pass(self, filter_text: str | None) -> Rows | None:
        """Return the rows that match a filter, or None if there is no filter."""
        if filter_text is None or not readable_text("filter", filter_text).strip():
            return None
        # A library can change between two uses of a filter.
        return (self._pass if _IN_LIBRARY.search(filter_text) else self._passed)(filter_text)

    def _pass(self, filter_text: str) -> Rows:
        parsed = parse_filter(filter_text)
        stages = self._atlas.stages
        layers = {
            column
            for column, stage in (("facilities", "missions"), ("is_review", "reviews"))
            if stage in stages
        }
        needed = columns_needed(parsed, layers)
        made = {one for one in needed if one in LAYERS or one.partition(":")[0] in BY_NAME}
        frame = self.paper_table.frame(sorted(needed - made))
        for column in made:
            frame[column] = self._column(column)
        rows = np.flatnonzero(apply_filter(parsed, frame)).astype(np.int64)
        rows.setflags(write=False)  # the array is cached
        return rows

    def _column(self, name: str) -> pd.Series | NDArray[np.bool_]:
        """Return the facilities of papers, or the mask of reviews, of a concept or of a region."""
        if name == "facilities":
            return self._facilities
        field, _, text = name.partition(":")
        if field == "region":
            return self._in_region(text)
        if field == "in":
            return self._in_library(text)
        if field == "object":
            return self._of_object(text)
        layer = "reviews" if name == "is_review" else "uat"
        rows = self._atlas.read_layer(layer, [] if layer == "reviews" else ["concept_id", "score"])
        if layer == "uat":
            concept = self._atlas.thesaurus.find(text).concept_id
            wanted = {concept, *self._atlas.thesaurus.descendants(concept)}
            rows = rows[rows["concept_id"].astype(str).isin(wanted) & (rows["score"] >= MIN_SCORE)]
        return np.isin(np.arange(len(self)), rows["paper_row"])

    def _in_region(self, text: str) -> NDArray[np.bool_]:
        """Return the mask of papers in a continent, region or subregion, by name or number."""
        topics, places = self._atlas.topics, self._atlas.map
        names = topics["label"].str.casefold()
        is_named = (
            topics["topic_id"].astype(str) == text
            if text.isdecimal()
            else (names == text.casefold())
        )
        if not is_named.any():
            hint = did_you_mean(text, topics["label"], n=3, cutoff=0.5)
            raise InputError(f"There is no region {text!r} on this map{hint} See atlas.topics.")
        wanted = set(topics["topic_id"][is_named])
        wanted |= set(topics["topic_id"][topics["parent_id"].isin(wanted) & (topics["level"] == 1)])
        inside: NDArray[np.bool_] = places["topic_id"].isin(wanted).to_numpy()
        if "subregion_id" in places:
            inside |= places["subregion_id"].isin(wanted).to_numpy()
        return inside

    def _of_object(self, text: str) -> NDArray[np.bool_]:
        """Return the mask of papers that name an object, or a planet of a star."""
        mentions = self._atlas.read_layer("objects", ["name"])
        key = object_key(normal_name(text))
        wanted = {
            name for name in mentions["name"].unique()
            if (own := object_key(name)) == key or (own[:-1] == key and own[-1] in "bcdefghijk")
        }  # fmt: skip
        rows = mentions.loc[mentions["name"].isin(wanted), "paper_row"]
        return np.isin(np.arange(len(self)), rows)

    def _in_library(self, text: str) -> NDArray[np.bool_]:
        """Return the mask of the papers of a library, its collection, its tag or its marks."""
        name, _, part = text.partition("/")
        library = find_library(name)
        mask = np.zeros(len(self), dtype=bool)
        if part in MARKS:
            mask[self.rows_of_marks(library, part)] = True
            return mask
        rows = self.rows_of_entries(library.part(part) if part else library.entries)
        mask[rows[rows >= 0]] = True
        return mask

    def rows_of_marks(self, library: Library, mark: str) -> Rows:
        """Return the rows of the papers with a mark of a library."""
        known = (self._rows_by_name.get(one) for one in library.marked(mark))
        return np.array(sorted({row for row in known if row is not None}), dtype=np.int64)

    def rows_of_entries(self, entries: Sequence[LibraryEntry]) -> Rows:
        """Return the row of each entry of a library, or -1 if the atlas lacks the paper.

        An entry that has no identifier of the atlas is found by its title, if one paper only has
        this title, and its first author or its year.
        """
        found = (next(iter(self.rows_of_entry(entry)), -1) for entry in entries)
        return np.fromiter(found, np.int64, len(entries))

    def rows_of_entry(self, entry: LibraryEntry) -> list[int]:
        """Return the rows of papers with an identifier of an entry, or else with its title."""
        names = (spelling for name in entry.names for spelling in names_of_paper(name))
        known = (self._rows_by_name[one] for one in names if one in self._rows_by_name)
        if found := list(dict.fromkeys(known)):
            return found
        row = self._rows_by_title.get(entry.title_key) if entry.title_key else None
        is_same = row is not None and _is_same(entry, self.paper_table.papers([row])[0])
        return [row] if row is not None and is_same else []

    def row_of_title(self, entry: LibraryEntry) -> int | None:
        """Return the row of the only paper with the title of an entry, whoever wrote it."""
        return self._rows_by_title.get(entry.title_key) if entry.title_key else None

    @cached_property
    def _rows_by_title(self) -> dict[int, int]:
        """Return the rows of papers by the hash of their titles, without titles that repeat."""
        keys = self.title_keys()
        known, first, counts = np.unique(keys, return_index=True, return_counts=True)
        single = (counts == 1) & (known != 0)
        return dict(zip(known[single].tolist(), first[single].tolist(), strict=True))

    def title_keys(self) -> NDArray[np.uint64]:
        """Return the hashes of the titles of all papers, shape (n_papers,)."""
        import pyarrow.parquet as pq

        def read(folder: Path) -> list[NDArray[np.uint64]]:
            files = self._atlas.manifest.part_files(folder, "keys.parquet")
            found = (pq.read_table(file, columns=["key_title"]) for file in files)
            return [np.asarray(table["key_title"], dtype=np.uint64) for table in found]

        try:
            return np.concatenate([*self._atlas.read("keys.parquet", read), np.zeros(0, np.uint64)])
        except (OSError, ValueError, KeyError) as error:
            raise unreadable(self._atlas.path, "keys.parquet", error) from error

    def papers_of_person(self, name: str) -> tuple[str, Rows]:
        """Return an author's name as family and initial, and the rows of the papers.

        The rows are empty unless a paper has the given name in full. Papers with other given names
        of the same initial count too, as in ADS: Avi Loeb also signs as Abraham Loeb.
        """
        none = name, np.zeros(0, dtype=np.int64)
        full = self.rows_that_pass(f'author:"{name}"')
        if full is None or not len(full):
            return none
        *given, family = name.split() if "," not in name else name.split(",")[::-1]
        if all(len(part.strip(".")) < 2 for part in " ".join(given).split()):  # initials alone
            return name.rstrip("."), full
        short = f"{family.strip()}, {given[0].strip()[0]}"
        rows = self.rows_that_pass(f'author:"{short}"')
        if rows is None or not len(rows):
            return none
        given_name = re.compile(rf"\b{re.escape(given[0].split()[0])}\b", re.IGNORECASE)
        bylines = self.paper_table.column("authors", rows)
        signed = (one for names in bylines for one in names or () if family.strip() in one)
        return (short, rows) if any(map(given_name.search, signed)) else none

    def papers_named(self, query: str) -> tuple[Rows, tuple[str, ...], str]:
        """Find the papers that a query names by an identifier, or as "Author et al. 2015".

        Returns their rows, the identifiers of which the atlas has no paper, and the other words.
        """
        rows: dict[int, None] = {}
        missing, rest = [], []
        for word in query.split():
            name = word.strip("()[],;?!\"'“”").rstrip(".:")
            names = names_of_paper(name)
            row = next((self._rows_by_name[s] for s in names if s in self._rows_by_name), None)
            if row is not None and (len(names) > 1 or not name.isalpha()):
                rows[row] = None
            elif len(names) > 1 and not name.isdecimal():
                missing.append(name)
            else:
                rest.append(word)
        text = " ".join(rest)
        cited = _CITED.search(text)
        # In a longer text, a name and a year can be something else, as in "Gaia 2022".
        if cited and not rows and (any(cited.group(2, 3, 4)) or cited[0] == text.strip(" ?.!")):
            people = [f'author:"^{cited[1]}"', *([f'author:"{cited[3]}"'] if cited[3] else [])]
            by = self.rows_that_pass(";".join([*people, f"date:{cited[5]}"]))
            if by is not None and len(by):
                return by, (), text.replace(cited[0], " ").strip(" ?.!")
        return np.array([*rows], dtype=np.int64), tuple(missing), " ".join(rest)

    def texts(self, rows: Rows) -> list[str]:
        """Return the title and the abstract of each paper as one text."""
        titles, abstracts = (self.paper_table.column(name, rows) for name in ("title", "abstract"))
        return [f"{title}. {text}" for title, text in zip(titles, abstracts, strict=True)]

    def ages(self, rows: Rows, *, today: date) -> Floats:
        """Return the ages of papers in years, with nan for unknown dates."""
        dates = self.paper_table.column("date", rows)
        days = [(today - day).days if day else np.nan for day in dates]
        return np.array(days, dtype=float) / 365.25

    def citations(self, rows: Rows) -> Floats:
        """Return the citation counts of papers, with nan for unknown counts."""
        counts = self.paper_table.column("cites", rows)
        return np.array([np.nan if n is None else n for n in counts], dtype=float)

    def word_vectors(self, rows: Rows) -> WordVectors | None:
        """Return the word vectors of papers, or None if the atlas has no word vectors."""
        if self._word_parts is None:
            return None
        parts = np.searchsorted(self._starts, rows, side="right") - 1
        places = zip(parts.tolist(), (rows - self._starts[parts]).tolist(), strict=True)
        return gather_words(*self._word_parts, list(places))

    def rarity(self, spellings: Sequence[str]) -> NDArray[np.float32]:
        """Return the inverse document frequency of each word, with 0 for stop words."""
        n = max(1, len(self.words))
        weights = []
        for spelling in spellings:
            counts = [self.words.count(term) for term in self.words.terms(spelling)]
            weights.append(max((np.log(1 + (n - c + 0.5) / (c + 0.5)) for c in counts), default=0))
        return np.array(weights, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._atlas)

    @cached_property
    def _facilities(self) -> pd.Series:
        """Return the mentions in each paper: facility, role and words on three lines."""
        import pandas as pd
        import pyarrow as pa

        columns = ["facility", "role", "surface"]
        named = self._atlas.read_layer("missions", columns).drop_duplicates()
        named = decide_mentions(self._atlas, named).sort_values("paper_row", kind="stable")
        starts = np.searchsorted(named["paper_row"], np.arange(len(self) + 1)).astype(np.int32)
        # In atlases of earlier versions, which have no roles, all mentions count as use.
        roles = named["role"].astype(object).fillna("science").astype(str)
        lines = named["facility"].astype(str) + "\n" + roles + "\n" + named["surface"].astype(str)
        lists = pa.ListArray.from_arrays(starts, pa.array(lines, pa.string()))
        return pd.Series(lists, dtype=pd.ArrowDtype(lists.type))

    @cached_property
    def _word_parts(self) -> tuple[list[WordVectors], list[NDArray[np.int64]]] | None:
        names = [f"{WORDS}/{part.name}.npy" for part in self._atlas.parts]
        if not all(name in self._atlas.manifest.files for name in names):
            return None  # the embedder has no word vectors
        self._atlas.read(COUNTS, lambda _: None)  # verifies the checksums
        parts = self._atlas.read(WORDS, self._open_words)
        return parts, [np.cumsum(part.lengths) for part in parts]

    def _open_words(self, folder: Path) -> list[WordVectors]:
        parts = []
        for part in self._atlas.parts:
            name = f"{WORDS}/{part.name}.npy"
            try:
                words = open_words(folder / name, folder / COUNTS / f"{part.name}.npy")
                if len(words) != part.rows or words.lengths.sum() != len(words.vectors):
                    raise ValueError("the word vectors do not match the papers")
            except (OSError, ValueError, EOFError, IndexError) as error:
                raise unreadable(folder, name, error) from error
            parts.append(words)
        return parts

    @cached_property
    def _starts(self) -> Rows:
        return np.cumsum([0, *(part.rows for part in self._atlas.parts)])

    @cached_property
    def _by_key(self) -> tuple[NDArray[np.uint64], Rows]:
        order = np.argsort(self.keys)
        return self.keys[order], order

    @cached_property
    def _rows_by_name(self) -> dict[str, int]:
        names: dict[str, int] = {}
        every = np.arange(len(self.paper_table))
        for column in ("doi", "arxiv_id", "bibcode", "paper_id"):
            given = enumerate(self.paper_table.column(column, every))
            spelt = str.lower if column == "doi" else str
            names.update({spelt(name): row for row, name in given if name})
        return names
