"""A survey in a file, which appears whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from landscape.atlas.storage import write_bytes
from landscape.errors import InputError
from landscape.query.files import write_results

if TYPE_CHECKING:
    from landscape.agents.survey.records import Survey


def _json(survey: Survey) -> str:
    from landscape.query.exporting import plain

    return json.dumps(plain(survey.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)


_FORMS: Mapping[str, Callable[[Survey], str]] = {
    ".csv": lambda survey: survey.to_csv(),
    ".json": _json,
    ".md": lambda survey: survey.to_markdown(),
}
_OF_RESULTS = (".bib", ".ris", ".tex", ".txt")


def write_survey(survey: Survey, path: str | os.PathLike[str]) -> Path:
    """Write a survey into a file.

    Parameters
    ----------
    survey : Survey
    path : path
        Ends in ``.csv`` (every paper judged), ``.json`` (everything), ``.md``, or, for the selected
        papers, ``.bib``, ``.ris``, ``.tex`` or ``.txt`` (bibcodes).

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        For any other ending, or a folder that cannot be written.

    Examples
    --------
    >>> from landscape.agents.survey.records import Survey
    >>> from landscape.query.records import Coverage
    >>> nothing = Survey("?", (), (), (), Coverage("A", 9, 9, {}, None, None))
    >>> write_survey(nothing, "survey.doc")
    Traceback (most recent call last):
    landscape.errors.InputError: A survey cannot be written as 'survey.doc'; use a name that ...
    """
    path = check_ending(path)
    ending = path.suffix.lower()
    if ending in _OF_RESULTS:
        return write_results(survey.results, path)
    text = _FORMS[ending](survey)
    try:
        write_bytes(path, (text if text.endswith("\n") else f"{text}\n").encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error}).") from error
    return path


def check_ending(path: str | os.PathLike[str]) -> Path:
    """Refuse a file of a kind that `write_survey` does not write.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_ending("papers.BIB").name
    'papers.BIB'
    """
    path = Path(path)
    allowed = (*_OF_RESULTS, *_FORMS)
    if path.suffix.lower() not in allowed:
        raise InputError(
            f"A survey cannot be written as {path.name!r}; use a name that ends in one of "
            f"{', '.join(allowed)}."
        )
    return path
