"""Results in a file, of the kind that its name ends in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from landscape._io import check_output, write_output
from landscape._serializer import to_csv
from landscape._wording import count
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.types import Results


def exported(results: Results, path: Path) -> str:
    """Say how many papers a file holds, and how many it could not take.

    Parameters
    ----------
    results : Results
    path : pathlib.Path
        A list of bibcodes, ``.txt``, holds no papers without one.

    Returns
    -------
    str
    """
    left_out = len(results) - len(results.to_bibcodes().split()) if path.suffix == ".txt" else 0
    without = f"; {left_out:,} have no bibcode and are left out" if left_out else ""
    return f"{path} holds {count(len(results) - left_out, 'paper')}{without}"


def write_results(results: Results, path: str | os.PathLike[str]) -> Path:
    """Write a result into a file, which appears whole or not at all.

    Parameters
    ----------
    results : Results
    path : path
        Ends in ``.bib`` (BibTeX), ``.ris``, ``.tex`` (AASTeX's bibitems), ``.txt`` (bibcodes, one
        a line), ``.csv`` (the table) or ``.json`` (everything).

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        For any other ending, a folder that cannot be written, or when nothing was found: a file
        that is there stays as it is.

    Examples
    --------
    >>> from landscape.types import Coverage, Results
    >>> results = Results("dust", (), Coverage("Demo", 9, 9, {}, None, None))
    >>> write_results(results, "papers.doc")
    Traceback (most recent call last):
    landscape.errors.InputError: Papers cannot be written as 'papers.doc'; use a name that ...
    """
    path = check_results_file(path)
    if not len(results):
        message = f"No paper was found, so {path} is left as it is; ask for something else."
        raise InputError(message)
    text = _FORMS[path.suffix.lower()](results)
    ended = text if text.endswith("\n") or not text else f"{text}\n"
    return write_output(path, ended)


def check_results_file(path: str | os.PathLike[str]) -> Path:
    """Refuse a file that `write_results` cannot write, before anything is searched.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_results_file("papers.BIB").name
    'papers.BIB'
    """
    return check_output(path, _FORMS, what="Papers")


def _json(results: Results) -> str:
    return json.dumps(results.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)


_FORMS: Mapping[str, Callable[[Results], str]] = {
    ".bib": lambda results: results.to_bibtex(),
    ".ris": lambda results: results.to_ris(),
    ".tex": lambda results: results.to_aastex(),
    ".txt": lambda results: results.to_bibcodes(),
    ".csv": lambda results: to_csv(results.table),
    ".json": _json,
}
