"""Open an atlas and read its tables."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from landscape.atlas.manifest import (
    MANIFEST_NAME,
    Manifest,
    Part,
    StageRecord,
    read_manifest,
)
from landscape.errors import AtlasError, InputError
from landscape.plural import count

if TYPE_CHECKING:
    from datetime import date

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.agents.attribute.records import Attribution
    from landscape.agents.cite.records import Citing
    from landscape.agents.survey.records import Survey
    from landscape.atlas.citations import CitationGraph
    from landscape.corpus._thesaurus import Thesaurus
    from landscape.llm.models import LanguageModel, WritingModel
    from landscape.query.engine import Engine
    from landscape.query.records import Answer, Results
    from landscape.query.reranking import Reranker
    from landscape.query.weights import Weights

_STAGES = ("ingest", "keywords", "embeddings", "projection", "topics", "quality", "search")


@dataclass(frozen=True)
class Atlas:
    """A map of a literature: papers, keywords, embeddings, coordinates and named regions.

    Made by `landscape.build`, opened by `landscape.open`. Tables are read when first asked for.

    Attributes
    ----------
    path : pathlib.Path
        Its folder.
    manifest : Manifest
        What each stage read, was told and wrote.

    Examples
    --------
    >>> atlas = Atlas(Path("galaxies.atlas"), Manifest(title="Galaxies"))
    >>> len(atlas), atlas.title
    (0, 'Galaxies')
    """

    path: Path
    manifest: Manifest

    @property
    def title(self) -> str:
        """Name of the atlas for people."""
        return self.manifest.title or self.path.name.removesuffix(".atlas")

    @property
    def parts(self) -> tuple[Part, ...]:
        """The sources, in the order of the rows."""
        return self.manifest.parts

    @property
    def stages(self) -> dict[str, StageRecord]:
        """What each stage read, was told, took and wrote."""
        return self.manifest.stages

    @property
    def coverage(self) -> dict[str, Any]:
        """What the atlas holds, for captions: every output should state it.

        ``title``, ``papers``, ``sources`` (papers by source), ``first_date``, ``last_date``,
        ``generated`` (whether any paper is made up), ``read``, ``merged``, ``rejected``.
        """
        found = self.manifest.stages["ingest"].details
        return {
            "title": self.title,
            "papers": len(self),
            "sources": found["sources"],
            "first_date": found["first_date"],
            "last_date": found["last_date"],
            "generated": found["generated"] > 0,
            "read": found["read"],
            "merged": found["merged"],
            "rejected": found["rejected"],
        }

    @cached_property
    def papers(self) -> pd.DataFrame:
        """Every column of every paper; `read_papers` reads fewer columns."""
        return self.read_papers()

    def check_unchanged(self) -> None:
        """Refuse an atlas that was built again: all that is read has to be of the same build.

        Raises
        ------
        AtlasError
            If it was built again since it was opened, or is gone.
        """
        if self._manifest_time() != self._known_time:
            self._compare_manifest()

    def read_papers(
        self, columns: Sequence[str] | None = None, *, rows: Sequence[int] | None = None
    ) -> pd.DataFrame:
        """Read papers, in the order of the map and the vectors.

        Parameters
        ----------
        columns : sequence of str, optional
            Which columns; all when not given.
        rows : sequence of int, optional
            Which papers, in which order; all when not given. A few of many are read at once.

        Returns
        -------
        pandas.DataFrame
            One row a paper. Numbers that may be missing are of pandas' nullable types.

        Raises
        ------
        InputError
            If there is no such column.
        AtlasError
            If a file is missing or damaged, or if the atlas was built again.
        """
        if rows is None:
            return self._table("papers.parquet", columns)
        from landscape.query.shelf import Shelf

        self.check_unchanged()
        return Shelf(self.path / "papers.arrow").frame(columns, rows)

    @cached_property
    def map(self) -> pd.DataFrame:
        """``paper_id, x, y, topic_id`` of every paper; topic -1 is outside every region."""
        return self._table("map.parquet")

    @cached_property
    def topics(self) -> pd.DataFrame:
        """Continents (level 0) and regions (level 1), with hand-made labels from labels.csv."""
        table, problems = self._labelled_topics
        for problem in problems:
            warnings.warn(problem, stacklevel=2)
        return table

    @property
    def label_problems(self) -> tuple[str, ...]:
        """What is wrong with labels.csv, one sentence each."""
        return self._labelled_topics[1]

    @cached_property
    def missions(self) -> pd.DataFrame:
        """Where papers name facilities, one row a mention.

        ``paper_id, paper_row, facility, field, start, end, surface``: ``field`` is ``"title"`` or
        ``"abstract"``, ``paper_row`` the row in `papers`.
        """
        return self._layer("missions.parquet")

    @cached_property
    def uat(self) -> pd.DataFrame:
        """Concepts of the thesaurus that papers are about, one row a concept of a paper.

        ``paper_id, paper_row, concept_id, score, evidence``; the concepts are in `thesaurus`.
        Scores are calibrated: about that share of such tags is what authors would give too. Most
        are low; overlays count those of at least 0.25.
        """
        return self._layer("uat.parquet")

    @cached_property
    def reviews(self) -> pd.DataFrame:
        """Papers recognised as reviews: ``paper_id, paper_row, score, evidence``."""
        return self._layer("reviews.parquet")

    @cached_property
    def thesaurus(self) -> Thesaurus:
        """The thesaurus that papers were tagged with."""
        from landscape.atlas.layers import check_has_layer
        from landscape.corpus._thesaurus import Thesaurus

        check_has_layer(self, "uat.parquet")
        self.check_unchanged()
        name = "thesaurus.parquet"
        frame = _read_parquet(self.path, name)
        try:
            return Thesaurus.from_frame(frame)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise unreadable(self.path, name, error) from error

    def select(self, filter_text: str) -> NDArray[np.int64]:
        """Find the papers that a filter lets through.

        Parameters
        ----------
        filter_text : str
            Such as ``"2015..; author:Hubble; -review"``, see `landscape.query.filters`.

        Returns
        -------
        ndarray of int64
            Rows in `papers`, rising.

        Raises
        ------
        InputError
            If the filter has a mistake.
        """
        return self.engine.select(filter_text)

    @cached_property
    def quality(self) -> dict[str, float | int | str | None]:
        """How far the map can be trusted, see `landscape.mapping.quality.measure_quality`."""
        name = "quality.json"
        try:
            measures: dict[str, float | int | str | None] = json.loads(
                (self.path / name).read_bytes()
            )
        except (OSError, ValueError) as error:
            raise unreadable(self.path, name, error) from error
        return measures

    def vectors(self) -> NDArray[np.float32]:
        """Embeddings of all papers, L2-normalised, shape (n_papers, n_dims).

        Memory-mapped where the atlas has one part; several parts are joined in memory, which
        `vector_parts` avoids.
        """
        import numpy as np

        parts = self.vector_parts()
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def vector_parts(self) -> list[NDArray[np.float32]]:
        """Embeddings of each part, memory-mapped, each of shape (n_papers, n_dims)."""
        from landscape.atlas.matrix import open_matrix

        self.check_unchanged()
        opened = []
        for part in self.parts:
            name = f"embeddings/{part.name}.npy"
            try:
                opened.append(open_matrix(self.path / name))
            except (OSError, ValueError, EOFError) as error:
                raise unreadable(self.path, name, error) from error
        return opened

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        filter: str | None = None,  # noqa: A002 - the word of this field
        weights: Weights | Mapping[str, float] | None = None,
        reranker: Reranker | str | None = None,
        expansion: str | None = None,
        hyde: bool = False,
        **settings: Any,
    ) -> Results:
        """Find papers by meaning and by words.

        Parameters
        ----------
        query : str
            A question or key words.
        k : int, default 10
            Papers wanted.
        filter : str, optional
            Which papers to search, see `landscape.query.filters`.
        weights : Weights or mapping of str to float, optional
            Strengths of ``keyword``, ``time`` and ``citation``, 0 to 1.
        reranker : Reranker or str, optional
            Instead of the built-in comparison word by word: ``"cohere:MODEL"``,
            ``"cross-encoder:NAME_OR_PATH"``, or an object.
        expansion : str, optional
            A hypothetical abstract to search with.
        hyde : bool, default False
            Whether the language model that the environment names writes that abstract.
        **settings
            Further fields of `landscape.query.settings.SearchSettings`: ``method``, ``fusion``,
            ``rerank``, ``gamma``, ``t_now``.

        Returns
        -------
        Results
            ``.table`` is a data frame; a notebook shows the papers.

        Raises
        ------
        InputError
            For an empty query, a filter with a mistake, or a setting that cannot be.
        """
        from landscape.query.searching import search
        from landscape.query.settings import search_settings

        chosen = search_settings(k=k, filter=filter, weights=weights, **settings)
        return search(self.engine, query, chosen, reranker=reranker, expansion=expansion, hyde=hyde)

    def similar(self, paper_ids: str | Sequence[str], *, k: int = 10, **settings: Any) -> Results:
        """Find papers like one or several others.

        Parameters
        ----------
        paper_ids : str or sequence of str
            Keys, bibcodes, arXiv identifiers or DOIs.
        k : int, default 10
            Papers wanted.
        **settings
            ``filter``, ``gamma``: see `search`.

        Returns
        -------
        Results

        Raises
        ------
        InputError
            If one of them is not in the atlas.
        """
        from landscape.query.settings import search_settings

        return self.engine.similar(paper_ids, search_settings(k=k, **settings))

    def ask(
        self,
        question: str,
        *,
        model: WritingModel | Literal["auto"] | None = "auto",
        thread: Sequence[Answer] = (),
        on_text: Callable[[str], None] | None = None,
        **settings: Any,
    ) -> Answer:
        """Answer a question from the papers, with evidence.

        Parameters
        ----------
        question : str
        model : WritingModel, "auto" or None, default "auto"
            "auto" connects the language model that the environment names (OPENAI_API_KEY,
            OPENAI_BASE_URL, LANDSCAPE_LLM_MODEL); without one the best sentences are quoted.
        thread : sequence of Answer
            Earlier answers of the same conversation.
        on_text : callable, optional
            Told the text as it is written.
        **settings
            Fields of `landscape.query.asking.AskSettings`: ``k``, ``style``, ``filter``,
            ``language``, ``audience``, ...

        Returns
        -------
        Answer
            ``.text``, ``.claims`` with their sentences, ``.papers``, ``.consensus``, ...

        Raises
        ------
        InputError
            For an empty question, or a setting that cannot be.
        """
        from landscape.llm.environment import connect_if_told
        from landscape.query.asking import ask, ask_settings

        chosen = ask_settings(**settings)
        connected = connect_if_told() if model == "auto" else model
        return ask(self.engine, question, chosen, model=connected, thread=thread, on_text=on_text)

    def survey(
        self,
        question: str,
        *,
        depth: int = 3,
        breadth: int = 6,
        papers: int = 100,
        before: str | None = None,
        seeds: Sequence[str] = (),
        model: WritingModel | Literal["auto"] | None = "auto",
        **settings: Any,
    ) -> Survey:
        """Survey the papers for a question: search, select, follow citations, and again.

        Parameters
        ----------
        question : str
        depth : int, default 3
            Levels: 1 only searches, 3 follows what it found and what these led to.
        breadth : int, default 6
            Searches made of the question, at most.
        papers : int, default 100
            Papers judged and listed, at most.
        before : str, optional
            Only papers that appeared before this day, month or year, such as "2019-06".
        seeds : sequence of str
            Papers to begin from.
        model : WritingModel, "auto" or None, default "auto"
            As for `ask`; without one, papers are judged by likeness and citations.
        **settings
            Further fields of `landscape.agents.survey.settings.SurveySettings`, such as the
            budgets ``calls``, ``tokens`` and ``money``; and ``read``, ``resume``, ``on_step`` and
            ``stop`` of `landscape.agents.survey.surveying.survey`.

        Returns
        -------
        Survey
            ``.papers``, ``.table``, ``.beyond``, ``.searches``; ``.partial`` tells whether it was
            ended before it was done.

        Raises
        ------
        InputError
            For an empty question, a setting that cannot be, or an unknown seed.
        """
        from landscape.agents.survey.surveying import survey_as_told
        from landscape.llm.environment import connect_if_told

        connected = connect_if_told() if model == "auto" else model
        return survey_as_told(
            self, question, depth=depth, breadth=breadth, papers=papers, before=before,
            seeds=seeds, model=connected, **settings,
        )  # fmt: skip

    @cached_property
    def citations(self) -> CitationGraph:
        """Who cites whom; where the atlas has no citations, empty, and its ``note`` says why."""
        from landscape.atlas.citations import CitationGraph

        return CitationGraph(self)

    def attribute(
        self,
        excerpt: str,
        *,
        source: str | None = None,
        before: date | str | int | None = None,
        max_actions: int = 15,
        model: LanguageModel | Literal["auto"] | None = None,
        demonstration: bool = False,
        **settings: Any,
    ) -> Attribution:
        """Find the one paper that an excerpt cites at ``[CITATION]``.

        Parameters
        ----------
        excerpt : str
        source : str, optional
            The paper that the excerpt is from: never selected, nor anything newer than it.
        before : date, str or int, optional
            Last day, or year, that counts.
        max_actions : int, default 15
            Of the language model.
        model : LanguageModel, "auto" or None
            None works without a model; "auto" connects the one that the environment names.
        demonstration : bool, default False
            Whether the model is shown an example.
        **settings
            ``mark``, ``on_step``: see `landscape.agents.attribute.doors.attribute`.

        Returns
        -------
        Attribution
            ``.paper``, None where it abstains; ``.guesses``, ``.trace``, ``.table``.

        Raises
        ------
        InputError
            If the excerpt has no mark, or a setting cannot be.
        """
        from landscape.agents.attribute.doors import attribute

        return attribute(
            self,
            excerpt,
            source=source,
            before=before,
            max_actions=max_actions,
            model=model,
            demonstration=demonstration,
            **settings,
        )

    def cite(
        self,
        context: str,
        keywords: str | Sequence[str] | None = None,
        *,
        k: int = 10,
        model: WritingModel | Literal["auto"] | None = None,
        **settings: Any,
    ) -> Citing:
        """Find papers to cite behind a text, with highlights and, with a model, sentences.

        Parameters
        ----------
        context : str
            The text before the citation.
        keywords : str or sequence of str, optional
            Which papers are considered, in the syntax of filters.
        k : int, default 10
            Papers wanted.
        model : WritingModel, "auto" or None
            None works without a model; "auto" connects the one that the environment names.
        **settings
            ``n_highlights``, ``full_texts``: see `landscape.agents.cite.citing.cite`.

        Returns
        -------
        Citing
            ``.suggestions``, ``.table``, ``.to_bibtex()``. Several corpora side by side:
            `landscape.agents.Desk`.

        Raises
        ------
        InputError
            If there is neither text nor keywords, or the keywords have a mistake.
        """
        from landscape.agents.cite.desk import Desk

        desk = Desk().add(self)
        return desk.cite(context, keywords, k=k, model=model, **settings)

    @cached_property
    def engine(self) -> Engine:
        """The query engine of this atlas; its indexes are opened once."""
        from landscape.query.engine import Engine

        return Engine(self)

    def __len__(self) -> int:
        return self.manifest.n_papers

    def __repr__(self) -> str:
        generated = ", generated" if self.stages and self.coverage["generated"] else ""
        return f"<Atlas {self.title!r}: {count(len(self), 'paper')}{generated}, in {self.path}>"

    def _repr_html_(self) -> str:
        from landscape.atlas.html import atlas_as_html

        return atlas_as_html(self)

    @cached_property
    def _labelled_topics(self) -> tuple[pd.DataFrame, tuple[str, ...]]:
        from landscape.atlas.labels import LABELS, apply_labels

        self.check_unchanged()
        return apply_labels(_read_parquet(self.path, "topics.parquet"), self.path / LABELS)

    def read_layer(self, layer: str, columns: Sequence[str]) -> pd.DataFrame:
        """Some columns of a layer, without the ids and texts that take most of the time.

        Parameters
        ----------
        layer : str
            ``"missions"``, ``"uat"`` or ``"reviews"``.
        columns : sequence of str
            See the attribute of that name.

        Returns
        -------
        pandas.DataFrame
            ``paper_row`` and the columns; from memory where the whole layer was read before.

        Raises
        ------
        AtlasError
            If the atlas has no such layer, its file is damaged, or the atlas was built again.

        Examples
        --------
        >>> atlas.read_layer("uat", ["concept_id", "score"])  # doctest: +SKIP
        """
        if layer in self.__dict__:
            whole: pd.DataFrame = self.__dict__[layer]
            return whole[["paper_row", *columns]]
        return self._layer(f"{layer}.parquet", columns)

    def _layer(self, layer: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        from landscape.atlas.layers import read_layer

        return read_layer(self, layer, columns)

    def _table(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        import pandas as pd

        self.check_unchanged()
        frames = [
            _read_parquet(self.path, f"{table}/{part.name}.parquet", columns) for part in self.parts
        ]
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def _known_time(self) -> int:
        """When the manifest was written that is this atlas's: reading it takes milliseconds."""
        time_of_writing = self._manifest_time()
        self._compare_manifest()
        return time_of_writing

    def _manifest_time(self) -> int:
        """0 where it is gone."""
        try:
            return (self.path / MANIFEST_NAME).stat().st_mtime_ns
        except OSError:
            return 0

    def _compare_manifest(self) -> None:
        if read_manifest(self.path).updated != self.manifest.updated:
            message = f"{self.path} was built again since it was opened; open it once more."
            raise AtlasError(message)


def open_atlas(path: str | os.PathLike[str]) -> Atlas:
    """Open an atlas.

    Parameters
    ----------
    path : path
        The folder that `landscape.build` wrote.

    Returns
    -------
    Atlas

    Raises
    ------
    AtlasError
        If the folder is not an atlas, is of a newer format, is damaged, or if its build was not
        finished.

    Examples
    --------
    >>> open_atlas("no-such.atlas")
    Traceback (most recent call last):
    landscape.errors.AtlasError: There is no atlas no-such.atlas; ...
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if not manifest.complete:
        done = ", ".join(manifest.stages) or "nothing"
        raise AtlasError(
            f"The build of {folder} is not finished (done so far: {done}); run the same "
            "landscape build again, it goes on from there."
        )
    lacking = [name for name in _STAGES if name not in manifest.stages]
    if lacking:
        raise AtlasError(
            f"{folder / MANIFEST_NAME} is damaged (it says that the build is finished, but has no "
            f"stage {lacking[0]!r}): run the same landscape build again."
        )
    for name in manifest.files:
        if not (folder / name).is_file():
            raise AtlasError(
                f"{folder} has lost its file {name}; run the same landscape build again to make "
                "it anew."
            )
    return Atlas(folder, manifest)


def _read_parquet(folder: Path, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """One Parquet file of an atlas as a data frame."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / name
    # Citation and read counts may be unknown: whole numbers with gaps, not floating-point ones.
    counts = {pa.int32(): pd.Int32Dtype()} if name.startswith("papers") else {}
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            unknown = [column for column in columns or () if column not in names]
            known = None if columns is None else [one for one in columns if one in names]
            table = file.read(columns=known)
        frame: pd.DataFrame = table.to_pandas(date_as_object=False, types_mapper=counts.get)
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise unreadable(folder, name, error) from error
    if unknown:
        raise InputError(
            f"There is no column {unknown[0]!r} in {path.parent.name}; it has: {', '.join(names)}."
        )
    return frame


def unreadable(folder: Path, name: str, error: Exception) -> AtlasError:
    """Say that a file of an atlas cannot be used, and how to see what is damaged."""
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return AtlasError(
        f"{folder / name} cannot be read ({why}); see what is damaged with: "
        f"landscape info {folder} --verify"
    )
