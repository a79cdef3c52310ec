"""Writing tables of an analysis: CSV for the next program, LaTeX for the paper, JSON for both."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from landscape.outputs import check_output, write_output

if TYPE_CHECKING:
    from landscape.overlays._analysis import Analysis


def save_table(analysis: Analysis, path: str | os.PathLike[str]) -> Path:
    r"""Write the table of an analysis into a file, which appears whole or not at all.

    Parameters
    ----------
    analysis : Analysis
        As the functions of `landscape.overlays` return it.
    path : path
        Ends in ``.csv``, ``.tex`` (needs the package booktabs) or ``.json`` (further tables,
        bounds and warnings too).

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        For any other ending, or a folder that cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from landscape.overlays import Analysis
    >>> found = Analysis("impact", pd.DataFrame({"share": [0.5]}), "Half.", {"papers": 2}, {})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_table(found, f"{folder}/impact.csv").read_text()
    '# Half.\n# Of 2 papers.\nshare\n0.5\n'
    """
    path = check_table_kind(path)
    return write_output(path, _FORMS[path.suffix.lower()](analysis))


def check_table_kind(path: str | os.PathLike[str]) -> Path:
    """Refuse a file that `save_table` cannot write, before anything is computed.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_table_kind("impact.xls")
    Traceback (most recent call last):
    landscape.errors.InputError: A table cannot be written as 'impact.xls'; use a name that ends ...
    """
    return check_output(path, _FORMS, what="A table")


def _json(analysis: Analysis) -> str:
    return json.dumps(analysis.to_dict(), indent=1, ensure_ascii=False) + "\n"


_FORMS: Mapping[str, Callable[[Analysis], str]] = {
    ".csv": lambda analysis: analysis.to_csv(),
    ".tex": lambda analysis: analysis.to_latex(),
    ".json": _json,
}
