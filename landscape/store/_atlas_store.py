"""Open the folder of an atlas and read its tables."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, Self, TypeVar

from landscape._io import BY_USER, refuse_links
from landscape._wording import count
from landscape.errors import AtlasError
from landscape.store.arrays import open_matrix
from landscape.store.manifest import (
    INGEST_DETAILS,
    MANIFEST_NAME,
    Manifest,
    Part,
    StageRecord,
    check_once,
    current_version,
    read_manifest,
)
from landscape.store.tables import (
    BIBLIOGRAPHIES,
    CHANGES,
    LABELS,
    ROLES,
    SECTIONS,
    PaperTable,
    apply_labels,
    apply_roles,
    changes_schema,
    check_rows,
    check_topics,
    read_columns,
    read_layer,
    read_of_papers,
    read_parquet,
    unreadable,
)
from landscape.store.years import UNKNOWN_YEAR, count_years
from landscape.types import INVALID

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.corpus.thesaurus import Thesaurus

T = TypeVar("T")
Topics = TypeVar("Topics", "pd.DataFrame", dict[str, list[Any]])
PAPER_ROWS = "rows.arrow"
_ROWS_BEFORE = "papers.arrow"  # of atlases of earlier versions
_TOPIC_COLUMNS = {"topic_id", "x", "y", "label", "keywords", "n_papers", "parent_id", "level"}
_TOPICS = "topics.parquet"
_STAGES = ("ingest", "keywords", "embeddings", "projection", "topics", "quality", "search")


@dataclass(frozen=True)
class AtlasStore:
    """A finished atlas on disk, opened for reading.

    Tables, layers and vectors are read on first use. The functions behind the methods of
    `landscape.Atlas` take an `AtlasStore`. It has no methods for analysis and writes no files.

    Attributes
    ----------
    path : pathlib.Path
        Folder of the atlas.
    manifest : Manifest
        Inputs, parameters and outputs of every stage.

    Examples
    --------
    >>> store = AtlasStore(Path("galaxies.atlas"), Manifest(title="Galaxies"))
    >>> len(store), store.title
    (0, 'Galaxies')
    """

    path: Path
    manifest: Manifest
    trust_model: bool = False  # whether to load the model that the manifest names

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, trust_model: bool = False) -> Self:
        """Open a finished atlas; `landscape.open` documents the parameters and errors."""
        folder = Path(path)
        while True:
            version = current_version(folder)
            try:
                store = cls(folder, read_manifest(folder), trust_model)
                store._check_files(version[0])
            except AtlasError:
                if version == current_version(folder):
                    raise
            else:
                if version == current_version(folder):
                    return store

    def _check_files(self, place: Path) -> None:
        """Raise AtlasError if the build is not finished, or a file is missing in `place`."""
        folder, manifest = self.path, self.manifest
        refuse_links(folder, but=BY_USER)
        again = "run the same landscape build again"
        if not manifest.complete:
            done = ", ".join(manifest.stages) or "nothing"
            raise AtlasError(
                f"The build of {folder} is not finished (done so far: {done}); {again} to "
                "resume it."
            )
        lacking = [name for name in _STAGES if name not in manifest.stages]
        if lacking:
            raise AtlasError(
                f"{folder / MANIFEST_NAME} is damaged (the build is finished, but the stage "
                f"{lacking[0]!r} is missing): {again}."
            )
        lacking = [name for name in INGEST_DETAILS if name not in manifest.stages["ingest"].details]
        if lacking:
            raise AtlasError(
                f"{folder / MANIFEST_NAME} is damaged (the detail {lacking[0]!r} of the stage "
                f"'ingest' is missing): {again}."
            )
        for name in manifest.files:
            if not (place / name).is_file():
                raise AtlasError(f"{folder} has no file {name}; {again} to restore it.")

    def cached(self, name: str, make: Callable[[Self], T]) -> T:
        """Return ``make(self)``, cached under `name`."""
        if name not in self.__dict__:
            self.__dict__[name] = make(self)
        return self.__dict__[name]

    def read(self, name: str, read: Callable[[Path], T]) -> T:
        """Read a file, or a folder of files, of this version of the atlas.

        On first use, the checksums of the files are verified. If a commit moves the files while
        `read` runs, it runs again with their new folder.

        Parameters
        ----------
        name : str
            Path of the file or folder, relative to the folder of the atlas.
        read : callable
            Function that reads the files. It is called with the folder that contains `name`.

        Returns
        -------
        object
            The result of `read`.

        Raises
        ------
        AtlasError
            If a file differs from its entry in the manifest, or if the atlas was rebuilt since it
            was opened.

        Examples
        --------
        >>> atlas.read("quality.json", lambda folder: (folder / "quality.json").read_text())
        ... # doctest: +SKIP
        """
        while True:
            version = current_version(self.path)
            self.check_unchanged()  # afterwards, so that `version` is of this manifest
            try:
                self._verify(name, version[0])
                result = read(version[0])
            except (AtlasError, OSError):
                if version == current_version(self.path):
                    raise
            else:
                if version == current_version(self.path):
                    return result

    def _verify(self, name: str, folder: Path) -> None:
        """Verify the checksum of a file, or of all files of a folder, on first use."""
        files = {
            one: output
            for one, output in self.manifest.files.items()
            if one == name or one.startswith(f"{name}/")
        }
        if not files and self.manifest.files:
            raise AtlasError(
                f"The manifest of {self.path} lists no file {name}. Build the atlas again."
            )
        for one, output in files.items():
            if problem := check_once(folder / one, output):
                raise AtlasError(
                    f"{problem} Restore the file from a copy, or build the atlas again in a new "
                    "folder."
                )

    @property
    def title(self) -> str:
        """Title of the atlas."""
        return self.manifest.title or self.path.name.removesuffix(".atlas")

    @property
    def parts(self) -> tuple[Part, ...]:
        """Input files of the atlas, in the order of their rows."""
        return self.manifest.parts

    @property
    def stages(self) -> dict[str, StageRecord]:
        """Inputs, parameters, costs and outputs of every stage."""
        return self.manifest.stages

    @property
    def coverage(self) -> dict[str, Any]:
        """Summary of the contents of the atlas, for captions.

        ``title``, ``papers``, ``sources`` (papers by source), ``first_date``, ``last_date``,
        ``generated`` (whether the atlas contains synthetic papers), the numbers of records that
        were ``read``, ``merged``, ``rejected`` and ``repaired``, the papers by ``kind`` and
        ``status``, ``years`` (which years the atlas covers well or in part, such as
        "1993-1994 and May 2023-2026 well, 1995-April 2023 in part") and ``in_part`` (the
        years in part, or ""). A year is covered in part if it has few papers for its time, or
        papers of other categories.
        """
        found = self.manifest.stages["ingest"].details
        names = ("sources", "first_date", "last_date", "generated", "read", "merged", "rejected")
        copied = {name: found[name] for name in names}
        copied["generated"] = found["generated"] > 0
        copied |= {name: found.get(name, {}) for name in ("kind", "status")}
        copied["repaired"] = found.get("repaired", 0)
        return {"title": self.title, "papers": len(self), **copied, **self._years}

    @cached_property
    def _years(self) -> dict[str, str]:
        years, categories = self.paper_table.years_and_categories()
        if set(years) <= {UNKNOWN_YEAR}:
            return {"years": "", "in_part": ""}
        counts = count_years(years, categories, self.paper_table.months())
        return {"years": counts.text, "in_part": counts.in_part}

    @cached_property
    def paper_table(self) -> PaperTable:
        """Memory-mapped table of papers, for fast access to single papers."""
        return self._read_rows(lambda table: table)

    def _read_rows(self, use: Callable[[PaperTable], T]) -> T:
        """Use the table of papers, which is mapped from the files of the current version."""
        if _ROWS_BEFORE in self.manifest.files:
            return self.read(_ROWS_BEFORE, lambda folder: use(PaperTable([folder / _ROWS_BEFORE])))
        names = [f"{part.name}.arrow" for part in self.parts]
        return self.read(
            PAPER_ROWS, lambda folder: use(PaperTable([folder / PAPER_ROWS / n for n in names]))
        )

    @cached_property
    def papers(self) -> pd.DataFrame:
        """Table of all papers with all columns; use `read_papers` to read only some columns."""
        return self.read_papers()

    @cached_property
    def invalid_papers(self) -> NDArray[np.int64]:
        """Rows of retracted and withdrawn papers. They are on the map, but count for nothing."""
        import numpy as np

        counts = self.manifest.stages["ingest"].details.get("status", {})
        if not any(counts.get(status) for status in INVALID):
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.read_papers(["status"])["status"].isin(INVALID))

    def check_unchanged(self) -> None:
        """Raise AtlasError if the atlas was rebuilt or removed since it was opened."""
        if current_version(self.path)[1] != self._known_time:
            self._compare_manifest()

    def read_papers(
        self,
        columns: Sequence[str] | None = None,
        *,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> pd.DataFrame:
        """Read papers in the row order of the map and the vectors.

        Parameters
        ----------
        columns : sequence of str, optional
            Names of the columns; default: all columns.
        rows : sequence of int, optional
            Row numbers of the papers, in the order of the result; default: all papers.

        Returns
        -------
        pandas.DataFrame
            One row per paper. Numbers that can be missing have nullable types.

        Raises
        ------
        InputError
            If a column does not exist.
        AtlasError
            If a file is missing or damaged, or if the atlas was rebuilt.
        """
        if rows is None:
            return self._table("papers.parquet", columns)
        table = self.paper_table
        self.check_unchanged()
        return table.frame(columns, rows)

    @cached_property
    def map(self) -> pd.DataFrame:
        """Map table: ``paper_id, x, y, topic_id``; papers outside every region have topic -1."""
        table = self._table("map.parquet")
        self._check_regions(table["topic_id"].unique().tolist())
        return table

    @cached_property
    def topics(self) -> pd.DataFrame:
        """Continents (level 0) and regions (level 1), with the labels from labels.csv, if any."""
        table, problems = self._labelled_topics
        for problem in problems:
            warnings.warn(problem, stacklevel=2)
        return table

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Regions that were born, split, merged, renamed or changed their size, oldest first.

        The columns are ``date`` (of the build, UTC), ``kind``, ``topic_id``, ``label``, ``papers``,
        ``papers_before`` and ``reason``. The first version of an atlas has no changes.
        """
        if CHANGES not in self.manifest.files:  # an atlas of an earlier version
            return changes_schema().empty_table().to_pandas()
        return self.read(CHANGES, lambda folder: read_parquet(folder, CHANGES))

    @property
    def label_problems(self) -> tuple[str, ...]:
        """Descriptions of the problems found in labels.csv."""
        return self._labelled_topics[1]

    @cached_property
    def missions(self) -> pd.DataFrame:
        """Mentions of facilities, one row per mention.

        The columns are ``paper_id, paper_row, facility, field, start, end, surface, role,
        section``; ``field`` is ``"title"``, ``"abstract"``, or the kind of the section of the full
        text with the number ``section``, and ``paper_row`` is the row in `papers`.
        `landscape.overlays.missions.Mention` explains ``role``; it is missing in an atlas of an
        earlier version.
        """
        return self._layer("missions.parquet")

    @cached_property
    def uat(self) -> pd.DataFrame:
        """Thesaurus concepts of papers, one row per paper and concept.

        The columns are ``paper_id, paper_row, concept_id, score, evidence``. The score is the
        calibrated estimate that the concept is a subject of the paper. The overlays use scores
        of at least 0.25. The names of the concepts are in `thesaurus`.
        """
        return self._layer("uat.parquet")

    @cached_property
    def objects(self) -> pd.DataFrame:
        """Mentions of celestial objects, one row per mention.

        The columns are ``paper_id, paper_row, name, kind, field, start, end, surface, section``,
        as in `missions`; ``name`` is the normal form of the name.
        """
        return self._layer("objects.parquet")

    @cached_property
    def stated_values(self) -> pd.DataFrame:
        """Statements of values in titles and abstracts, one row per statement.

        The columns are ``paper_id, paper_row``, those of `landscape.overlays.values.find_values`,
        ``field`` and ``surface``.
        """
        return self._layer("values.parquet")

    @cached_property
    def reviews(self) -> pd.DataFrame:
        """Papers recognised as reviews: ``paper_id, paper_row, score, evidence``."""
        return self._layer("reviews.parquet")

    @cached_property
    def bibliographies(self) -> pd.DataFrame:
        """Entries of the bibliographies of facilities, one row per entry.

        The columns are ``facility, list, entry, category, uses, paper_id``; ``paper_id`` is missing
        if the atlas lacks the paper. The table is empty if the atlas has no bibliography.
        """
        import pandas as pd

        if BIBLIOGRAPHIES not in self.manifest.files:
            names = ["facility", "list", "entry", "category", "uses", "paper_id"]
            return pd.DataFrame(columns=names).astype({"uses": bool})
        return self.read(BIBLIOGRAPHIES, lambda folder: read_parquet(folder, BIBLIOGRAPHIES))

    @property
    def has_sections(self) -> bool:
        """Whether the atlas has full texts."""
        return any(name.startswith(f"{SECTIONS}/") for name in self.manifest.files)

    def sections(self, rows: Iterable[int], *, kinds: Sequence[str] | None = None) -> pd.DataFrame:
        """Read sections of the full texts of papers.

        Parameters
        ----------
        rows : iterable of int
            Rows of the papers in `papers`.
        kinds : sequence of str, optional
            Kinds of sections, such as ``"data"``; by default all.

        Returns
        -------
        pandas.DataFrame
            ``paper_id, paper_row, number, kind, heading, text, first_page, last_page, references``,
            in the order of the papers and of their text; empty if the atlas has no full texts.
        """
        return self.read_of_papers(SECTIONS, rows, kinds=kinds)

    def read_of_papers(
        self, layer: str, rows: Iterable[int], *, kinds: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Read the rows of a layer of full texts for some papers only."""
        if not self.has_sections:
            return read_layer(self.path, (), layer)
        wanted = sorted({int(row) for row in rows})
        return self.read(
            layer, lambda folder: read_of_papers(folder, self.parts, layer, wanted, kinds)
        )

    @cached_property
    def thesaurus(self) -> Thesaurus:
        """Thesaurus with the concepts assigned to the papers."""
        from landscape.corpus.thesaurus import Thesaurus

        self._check_has_layer("uat")
        name = "thesaurus.parquet"
        frame = self.read(name, lambda folder: read_parquet(folder, name))
        try:
            return Thesaurus.from_frame(frame)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise unreadable(self.path, name, error) from error

    @cached_property
    def quality(self) -> dict[str, float | int | str | None]:
        """Quality measures of the map; see `landscape.mapping.quality.measure_quality`."""
        name = "quality.json"
        try:
            found = dict(json.loads(self.read(name, lambda folder: (folder / name).read_bytes())))
            if wrong := [key for key, one in found.items() if isinstance(one, list | dict)]:
                raise ValueError(f"{wrong[0]!r:.40} is not a number")
            return found
        except (OSError, ValueError, TypeError) as error:
            raise unreadable(self.path, name, error) from error

    def vectors(self) -> NDArray[np.float32]:
        """Embeddings of all papers, L2-normalised, shape (n_papers, n_dims).

        If the atlas has one part, the array is memory-mapped. Otherwise all parts are loaded into
        memory; use `vector_parts` to avoid this.
        """
        import numpy as np

        parts = self.vector_parts()
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def vector_parts(self) -> list[NDArray[np.float32]]:
        """Memory-mapped embeddings, one array of shape (n_papers_in_part, n_dims) per part."""
        return self.read("embeddings", self._open_vectors)

    def _open_vectors(self, folder: Path) -> list[NDArray[np.float32]]:
        opened = []
        for part in self.parts:
            name = f"embeddings/{part.name}.npy"
            try:
                matrix = open_matrix(folder / name)
                if matrix.ndim != 2 or len(matrix) != part.rows or matrix.dtype != "float32":
                    raise ValueError(f"shape {matrix.shape}, {part.rows:,} papers")
                opened.append(matrix)
            except (OSError, ValueError, EOFError, TokenError) as error:
                raise unreadable(self.path, name, error) from error
        return opened

    def __len__(self) -> int:
        return self.manifest.n_papers

    def __repr__(self) -> str:
        made = self.stages and self.stages["ingest"].details["generated"]
        generated = ", generated" if made else ""
        name, papers = type(self).__name__, count(len(self), "paper")
        return f"<{name} {self.title!r}: {papers}{generated}, in {self.path}>"

    @cached_property
    def _labelled_topics(self) -> tuple[pd.DataFrame, tuple[str, ...]]:
        return apply_labels(self._read_topics(read_parquet), self.path / LABELS)

    def _read_topics(self, read: Callable[[Path, str], Topics]) -> Topics:
        topics = self.read(_TOPICS, lambda folder: read(folder, _TOPICS))
        try:
            if missing := sorted(_TOPIC_COLUMNS - set(topics)):
                raise ValueError(f"it has no column {missing[0]!r}")
            check_topics(topics)
        except ValueError as error:
            raise unreadable(self.path, _TOPICS, error) from error
        return topics

    def _check_regions(self, found: Iterable[int]) -> None:
        """Raise AtlasError if the map names a region that the table of regions does not have."""
        unknown = set(found) - {-1, *self._read_topics(read_columns)["topic_id"]}
        if unknown:
            error = ValueError(f"it has the unknown region {min(unknown, key=str)}")
            raise unreadable(self.path, "map.parquet", error)

    @cached_property
    def region_names(self) -> dict[int, str]:
        """Names of the regions by ``topic_id``."""
        is_named = (self.path / LABELS).is_file()
        topics = self.topics if is_named else self._read_topics(read_columns)
        return dict(zip(topics["topic_id"], topics["label"], strict=True))

    @cached_property
    def regions_of_papers(self) -> dict[str, int]:
        """``topic_id`` of each paper on the map by ``paper_id``; -1 outside of every region."""
        columns = ["paper_id", "topic_id"]
        parts = self._read_parts("map.parquet", partial(read_columns, columns=columns))
        self._check_regions({topic for part in parts for topic in part["topic_id"]})
        return {paper: topic for part in parts for paper, topic in zip(*part.values(), strict=True)}

    def read_layer(self, layer: str, columns: Sequence[str]) -> pd.DataFrame:
        """Read some columns of a layer.

        Parameters
        ----------
        layer : str
            ``"missions"``, ``"uat"``, ``"reviews"``, or, with full texts, ``"sections"``,
            ``"references"``, ``"software"`` or ``"full_texts"``.
        columns : sequence of str
            Columns of the layer. The attributes `missions`, `uat` and `reviews` list the columns.

        Returns
        -------
        pandas.DataFrame
            ``paper_row`` and the given columns.

        Raises
        ------
        AtlasError
            If the atlas has no such layer, the layer file is damaged, or the atlas was rebuilt.

        Examples
        --------
        >>> atlas.read_layer("uat", ["concept_id", "score"])  # doctest: +SKIP
        """
        if layer in self.__dict__:
            whole: pd.DataFrame = self.__dict__[layer]
            return whole[["paper_row", *columns]]
        return self._layer(f"{layer}.parquet", columns)

    def _layer(self, layer: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        self._check_has_layer(layer.removesuffix(".parquet"))
        roles = self.path / ROLES
        if layer != "missions.parquet" or not roles.is_file():
            found = self.read(layer, lambda folder: read_layer(folder, self.parts, layer, columns))
            return found[~found["paper_row"].isin(self.invalid_papers)].reset_index(drop=True)
        whole = apply_roles(
            self.read(layer, lambda folder: read_layer(folder, self.parts, layer)), roles
        )
        whole = whole[~whole["paper_row"].isin(self.invalid_papers)].reset_index(drop=True)
        return whole if columns is None else whole[["paper_row", *columns]]

    def _check_has_layer(self, name: str) -> None:
        is_there = any(one.startswith(f"{name}.parquet/") for one in self.manifest.files)
        if name not in self.stages and not is_there:
            raise AtlasError(
                f"{self.path} has no layer {name!r}: it was built by an earlier version; run the "
                "same landscape build again to add the layer."
            )

    def _table(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        import pandas as pd

        frames = self._read_parts(table, partial(read_parquet, columns=columns))
        return pd.concat(frames, ignore_index=True)

    def _read_parts(self, table: str, read: Callable[[Path, str], Topics]) -> list[Topics]:
        def read_part(folder: Path, part: Part) -> Topics:
            name = f"{table}/{part.name}.parquet"
            found = read(folder, name)
            try:
                check_rows(found, part.rows)
            except ValueError as error:
                raise unreadable(self.path, name, error) from error
            return found

        return self.read(table, lambda folder: [read_part(folder, part) for part in self.parts])

    @cached_property
    def _known_time(self) -> int:
        """Modification time of the manifest, cached because reading the manifest is slow."""
        _, time_of_writing = current_version(self.path)
        self._compare_manifest()
        return time_of_writing

    def _compare_manifest(self) -> None:
        current = read_manifest(self.path)
        # Two versions can be written within a second, and a build can leave every file unchanged.
        is_same = all(current.files.get(name) == out for name, out in self.manifest.files.items())
        if current.updated != self.manifest.updated or not is_same:
            raise AtlasError(f"{self.path} was rebuilt since it was opened. Open it again.")
