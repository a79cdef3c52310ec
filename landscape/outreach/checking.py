"""What is refused before anything is drawn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from landscape.errors import InputError
from landscape.outputs import check_output, is_file
from landscape.outreach.writing import gazetteer_of

KINDS = (".png", ".pdf", ".svg", ".html")


def check_target(path: str | os.PathLike[str]) -> Path:
    """Refuse a file that cannot be written, before anything is drawn.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_target("map.jpg")
    Traceback (most recent call last):
    landscape.errors.InputError: An outreach map cannot be written as 'map.jpg'; use a name that ...
    """
    return check_output(path, KINDS, what="An outreach map")


def check_names_file(names: Any, target: Path | None) -> None:
    """Refuse a table of names that is not there, or that the gazetteer would replace."""
    if names is None or isinstance(names, Mapping):
        return
    if not is_file(Path(names)):
        raise InputError(
            f"There is no table of names at {names}; make a CSV file with the columns "
            "region,name, or give the path of one."
        )
    if target is not None and Path(names).resolve() == gazetteer_of(target).resolve():
        raise InputError(
            f"The gazetteer of {target.name} would replace your table of names, {names}; give "
            "the table or the map another name."
        )
