"""A search as users ask for it: rerankers by name, and a hypothetical abstract on request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from landscape.errors import InputError, RemoteError
from landscape.llm._client import connect_from_environment
from landscape.llm._reranking import load_reranker
from landscape.query.expansion import hypothetical_abstract
from landscape.query.filters import parse_filter
from landscape.query.wording import query_text

if TYPE_CHECKING:
    from landscape.llm._client import WritingModel
    from landscape.llm._reranking import Reranker
    from landscape.query.engine import Engine
    from landscape.query.records import Results
    from landscape.query.settings import SearchSettings


def search(
    engine: Engine,
    query: str,
    settings: SearchSettings,
    *,
    reranker: Reranker | str | None = None,
    expansion: str | None = None,
    hyde: bool = False,
    model: WritingModel | None = None,
) -> Results:
    """Find papers.

    Parameters
    ----------
    engine : Engine
    query : str
    settings : SearchSettings
    reranker : Reranker or str, optional
        One as `load_reranker` names it.
    expansion : str, optional
        A hypothetical abstract to search with.
    hyde : bool, default False
        Whether a language model writes that abstract.
    model : WritingModel, optional
        Default: the one that the environment names.

    Returns
    -------
    Results
        Its ``expansion`` is what the model wrote; a model that fails costs a note.

    Raises
    ------
    InputError
        If something is asked for that cannot be, as an abstract where there is no model.
    """
    loaded = load_reranker(reranker) if isinstance(reranker, str) else reranker
    notes: tuple[str, ...] = ()
    if (hyde or expansion) and settings.method == "words":
        message = "A hypothetical abstract is searched by meaning; use method hybrid or semantic."
        raise InputError(message)
    if settings.filter:
        parse_filter(settings.filter)  # a mistake in it is told before a model is paid
    if hyde and expansion is None:
        expansion, notes = _written(query, model)
    found = engine.search(query, settings, reranker=loaded, expansion=expansion)
    coverage = replace(found.coverage, notes=(*notes, *found.coverage.notes))
    return replace(found, coverage=coverage) if notes else found


def _written(query: str, model: WritingModel | None) -> tuple[str | None, tuple[str, ...]]:
    text, _ = query_text(query)
    model = model or connect_from_environment()
    if model is None:
        message = (
            "A hypothetical abstract (HyDE) needs a language model: set OPENAI_API_KEY, or "
            "OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL."
        )
        raise InputError(message)
    try:
        return hypothetical_abstract(text, model), ()
    except RemoteError as error:
        return None, (f"Searched without a hypothetical abstract: {error}",)
