"""The class `Atlas`, whose methods call functions of the subpackages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

# The packages load their modules on first use, so that a search does not import SciPy.
from landscape import agents, answers, mapping, search
from landscape._settings import takes_settings
from landscape.agents.settings import AttributeSettings, SurveySettings
from landscape.answers import AskSettings
from landscape.overlays.citations import citation_graph
from landscape.pipeline import building, demo, updating
from landscape.search import SearchSettings
from landscape.store import AtlasStore
from landscape.store.info import atlas_as_html

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.agents.online_search import OnlineSearch
    from landscape.llm import LanguageModel, Reranker, WritingModel
    from landscape.overlays.citations import CitationGraph
    from landscape.search import Engine
    from landscape.types import Answer, Attribution, FullText, Paper, Results, Step, Survey
    from landscape.types import CitationSuggestions as Citing

P = ParamSpec("P")


class Atlas(AtlasStore):
    """Map of a literature, with papers, keywords, embeddings, coordinates and named regions.

    Use `landscape.build` to make an atlas and `landscape.open` to open it. Tables are read on
    first use.

    Attributes
    ----------
    path : pathlib.Path
        Directory of the atlas.
    manifest : Manifest
        Inputs, parameters and outputs of every stage.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> atlas.search("quenching of satellite galaxies").table  # doctest: +SKIP
    """

    def select(self, filter_text: str) -> NDArray[np.int64]:
        """Return the rows of the papers that pass a filter.

        Parameters
        ----------
        filter_text : str
            Filter such as ``"2015..; author:Hubble; -review"``; see `landscape.search`.

        Returns
        -------
        ndarray of int64
            Rows in `papers`, in ascending order.

        Raises
        ------
        InputError
            If the filter is invalid.
        """
        return search.open_engine(self).select(filter_text)

    @property
    def sources(self) -> pd.DataFrame:
        """Sources of the atlas with their numbers of papers; see `landscape.update`."""
        return updating.sources(self)

    def export_basemap(
        self, path: str | os.PathLike[str], *, landmarks: int = 20_000
    ) -> mapping.Basemap:
        """Write the map of this atlas as a basemap, on which other corpora can be placed.

        Parameters
        ----------
        path : path
            File that ends in ``.basemap``.
        landmarks : int, default 20_000
            Maximum number of papers in the file; see `landscape.mapping.export_basemap`.

        Returns
        -------
        Basemap
            Its ``quality`` tells how well papers are placed.

        Raises
        ------
        InputError
            If the file cannot be written, or the atlas has too few papers or an unknown model.

        Examples
        --------
        >>> import landscape as ls
        >>> ls.open("astro-ph.atlas").export_basemap("astro-ph.basemap")  # doctest: +SKIP
        >>> ls.build("my.bib", "my.atlas", on="astro-ph.basemap")  # doctest: +SKIP
        """
        return mapping.export_basemap(self, path, landmarks=landmarks)

    @takes_settings(SearchSettings)
    def search(
        self,
        query: str,
        *,
        reranker: Reranker | str | None = None,
        expansion: str | None = None,
        hyde: bool = False,
        **settings: Any,
    ) -> Results:
        """Search papers by meaning and by words.

        Parameters
        ----------
        query : str
            A question or keywords.
        reranker : Reranker or str, optional
            Model that reranks the papers: ``"cohere:MODEL"``, ``"cross-encoder:NAME_OR_PATH"``,
            or a `Reranker`. By default, papers are reranked by the built-in comparison of words.
        expansion : str, optional
            Hypothetical abstract that is added to the query.
        hyde : bool, default False
            Whether to let the configured language model write the abstract for `expansion`.
        **settings

        Returns
        -------
        Results
            Papers in the order of the search; ``.table`` is a data frame.

        Raises
        ------
        InputError
            If the query is empty, or the filter or a setting is invalid.
        """
        return search.search_papers(
            self, query, reranker=reranker, expansion=expansion, hyde=hyde, **settings
        )

    def similar(self, paper_ids: str | Sequence[str], **settings: object) -> Results:
        """Find papers similar to one or more given papers.

        Parameters
        ----------
        paper_ids : str or sequence of str
            Keys, bibcodes, arXiv identifiers or DOIs.
        **settings
            Settings ``k``, ``filter`` and ``gamma``; see `search`.

        Returns
        -------
        Results

        Raises
        ------
        InputError
            If a given paper is not in the atlas.
        """
        return search.similar_papers(self, paper_ids, **settings)

    @takes_settings(AskSettings)
    def ask(
        self,
        question: str,
        *,
        model: WritingModel | Literal["auto"] | None = "auto",
        thread: Sequence[Answer] = (),
        on_text: Callable[[str], None] | None = None,
        **settings: object,
    ) -> Answer:
        """Answer a question from the papers, with evidence.

        Parameters
        ----------
        question : str
        model : WritingModel, "auto" or None, default "auto"
            "auto" uses the language model set by the environment variables OPENAI_API_KEY,
            OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL. If None, the answer quotes
            the best sentences of the papers.
        thread : sequence of Answer
            Earlier answers of the same conversation.
        on_text : callable, optional
            Callback that receives each piece of text while the model writes it.
        **settings

        Returns
        -------
        Answer
            Answer with ``.text``, ``.claims`` and their sentences, ``.papers``, ``.consensus``, ...

        Raises
        ------
        InputError
            If the question is empty, or a setting is invalid.
        """
        return answers.answer_question(
            self, question, model=model, thread=thread, on_text=on_text, **settings
        )

    @takes_settings(SurveySettings)
    def survey(
        self,
        question: str,
        *,
        model: WritingModel | Literal["auto"] | None = "auto",
        read: Callable[[Paper], FullText | None] | None = None,
        resume: str | os.PathLike[str] | None = None,
        online: OnlineSearch | None = None,
        on_step: Callable[[str], None] | None = None,
        stop: Callable[[], bool] | None = None,
        **settings: Any,
    ) -> Survey:
        """Collect the papers on a question, by searching and following citations in rounds.

        Parameters
        ----------
        question : str
        model : WritingModel, "auto" or None, default "auto"
            Language model; see `ask`. If None, papers are judged by similarity and citations.
        read : callable, optional
            Function that returns the sections of a paper's full text, such as a
            `landscape.corpus.full_text.FullTextFolder`.
        resume : path, optional
            Log of the model's replies. An interrupted survey resumes from this log.
        online : OnlineSearch, optional
            Search of arXiv or ADS; by default, the service that the setting `search` names.
        on_step : callable, optional
            Called with one line per step.
        stop : callable, optional
            If it returns True, the survey ends and is partial.
        **settings

        Returns
        -------
        Survey
            Result with ``.papers``, ``.table``, ``.beyond`` and ``.searches``. ``.partial`` is True
            if the survey ended early.

        Raises
        ------
        InputError
            If the question is empty, a setting is invalid, or a seed is unknown.
        """
        return agents.survey_question(
            self,
            question,
            model=model,
            read=read,
            resume=resume,
            online=online,
            on_step=on_step,
            stop=stop,
            **settings,
        )

    @property
    def citations(self) -> CitationGraph:
        """Citation graph. If the atlas has no citations, the graph is empty; see its ``note``."""
        return citation_graph(self)

    @takes_settings(AttributeSettings)
    def attribute(
        self,
        excerpt: str,
        *,
        model: LanguageModel | Literal["auto"] | None = "auto",
        on_step: Callable[[Step], None] | None = None,
        trajectory: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> Attribution:
        """Find the paper cited at ``[CITATION]`` in an excerpt.

        Parameters
        ----------
        excerpt : str
        model : LanguageModel, "auto" or None, default "auto"
            Language model; see `ask`. With None, no model is used.
        on_step : callable, optional
            Called with each step of the model.
        trajectory : path, optional
            File of the replies of the model. If it exists, its replies are used again, also
            without a model.
        **settings

        Returns
        -------
        Attribution
            Result with ``.paper`` (None if no paper is selected), ``.guesses``, ``.trace`` and
            ``.table``.

        Raises
        ------
        InputError
            If the excerpt has no citation mark, or a setting is invalid.
        """
        return agents.attribute(
            self, excerpt, model=model, on_step=on_step, trajectory=trajectory, **settings
        )

    def cite(
        self,
        context: str,
        keywords: str | Sequence[str] | None = None,
        *,
        k: int = 10,
        model: WritingModel | Literal["auto"] | None = "auto",
        **settings: Any,
    ) -> Citing:
        """Find papers to cite at the end of a text, with highlighted sentences.

        A language model can also write a citing sentence for each paper.

        Parameters
        ----------
        context : str
            The text before the citation.
        keywords : str or sequence of str, optional
            Keywords that restrict the papers, in the syntax of filters.
        k : int, default 10
            Number of papers.
        model : WritingModel, "auto" or None, default "auto"
            Language model; see `ask`. With None, no model is used.
        **settings
            Settings ``n_highlights`` and ``full_texts``; see
            `landscape.agents.AtlasCollection.cite`.

        Returns
        -------
        Citing
            Result with ``.suggestions``, ``.table`` and ``.to_bibtex()``. Use
            `landscape.agents.AtlasCollection` to combine several corpora.

        Raises
        ------
        InputError
            If both the text and the keywords are empty, or the keywords are invalid.
        """
        return (
            agents.AtlasCollection().add(self).cite(context, keywords, k=k, model=model, **settings)
        )

    @property
    def engine(self) -> Engine:
        """Search engine of this atlas; created on first use."""
        return search.open_engine(self)

    def _repr_html_(self) -> str:
        return atlas_as_html(self)


def open(  # noqa: A001 - users call `landscape.open`
    path: str | os.PathLike[str], *, trust_model: bool = False
) -> Atlas:
    """Open a finished atlas.

    Parameters
    ----------
    path : path
        Directory of an atlas made by `landscape.build`.
    trust_model : bool, default False
        Whether to load the sentence-transformers model named in the atlas, to embed queries.
        Set it to True only for an atlas that you trust. Code of the model is never executed.

    Returns
    -------
    Atlas

    Raises
    ------
    AtlasError
        If the directory is not an atlas, has a newer format, is damaged, or its build is not
        finished.

    Examples
    --------
    >>> open("no-such.atlas")
    Traceback (most recent call last):
    landscape.errors.AtlasError: There is no atlas no-such.atlas; ...
    """
    return Atlas.open(path, trust_model=trust_model)


def _returning_atlas(function: Callable[P, AtlasStore]) -> Callable[P, Atlas]:
    """Wrap a function that returns an `AtlasStore`, so that the function returns an `Atlas`."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Atlas:
        store = function(*args, **kwargs)
        return Atlas(store.path, store.manifest, store.trust_model)

    return wrapped


build = _returning_atlas(building.build)
update = _returning_atlas(updating.update)
add_citations = _returning_atlas(building.add_citations)
open_demo = _returning_atlas(demo.open_demo)
build_demo = _returning_atlas(demo.build_demo)
