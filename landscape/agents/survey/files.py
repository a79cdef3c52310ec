"""A survey in a file, which appears whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from landscape._io import check_output, write_output
from landscape._serializer import plain
from landscape.query.files import write_results

if TYPE_CHECKING:
    from landscape.types import Survey


def as_json(survey: Survey) -> str:
    """Write everything that a survey holds."""
    return json.dumps(plain(survey.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)


_FORMS: Mapping[str, Callable[[Survey], str]] = {
    ".csv": lambda survey: survey.to_csv(),
    ".json": as_json,
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
    >>> from landscape.types import Survey
    >>> from landscape.types import Coverage
    >>> nothing = Survey("?", (), (), (), Coverage("A", 9, 9, {}, None, None))
    >>> write_survey(nothing, "survey.doc")
    Traceback (most recent call last):
    landscape.errors.InputError: A survey cannot be written as 'survey.doc'; use a name that ...
    """
    path = check_survey_file(path)
    ending = path.suffix.lower()
    if ending in _OF_RESULTS:
        return write_results(survey.results, path)
    text = _FORMS[ending](survey)
    return write_output(path, text if text.endswith("\n") else f"{text}\n")


def check_survey_file(path: str | os.PathLike[str]) -> Path:
    """Refuse a file that `write_survey` cannot write.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_survey_file("papers.BIB").name
    'papers.BIB'
    """
    return check_output(path, (*_OF_RESULTS, *_FORMS), what="A survey")
