"""Small readings that several sources share: lists, numbers, names, as they come."""

from __future__ import annotations

import ast
import re
from typing import Any

import orjson


def first(value: Any) -> Any:
    """Return the first of a list (ADS gives titles and DOIs as lists), else the value itself.

    Examples
    --------
    >>> first(["a", "b"]), first([]), first("a")
    ('a', None, 'a')
    """
    if isinstance(value, (list, tuple)):
        return value[0] if value else None
    return value


def names_of(value: Any) -> Any:
    """Read authors from a list, from a list written as text, or from a line of names.

    Parameters
    ----------
    value : object
        ``["Penzias, A."]``, ``"Penzias, A.; Wilson, R."``, ``"A. Penzias and R. Wilson"``...

    Returns
    -------
    list of str, or the value itself where it is neither list nor text

    Examples
    --------
    >>> names_of("Penzias, Arno; Wilson, Robert")
    ['Penzias, Arno', 'Wilson, Robert']
    >>> names_of("A. A. Penzias, R. W. Wilson and A. Nother")
    ['A. A. Penzias', 'R. W. Wilson', 'A. Nother']
    """
    value = list_in_text(value)
    if not isinstance(value, str):
        return value
    if ";" in value:
        pieces = value.split(";")
    else:
        pieces = re.split(r"\s+and\s+|\s+&\s+", value)
        if len(pieces) == 1 or "," in pieces[0]:
            pieces = [name for piece in pieces for name in _by_commas(piece)]
    return [name for piece in pieces if (name := piece.strip())]


def texts_of(value: Any, *, separator: str = r"[;,]") -> Any:
    """Read a list of texts from a list or from one text with separators.

    Examples
    --------
    >>> texts_of("galaxies; dark matter")
    ['galaxies', 'dark matter']
    """
    value = list_in_text(value)
    if not isinstance(value, str):
        return value
    return [piece.strip() for piece in re.split(separator, value) if piece.strip()]


def list_in_text(value: Any) -> Any:
    """Read back a list that a table holds as text, as pandas writes it to CSV."""
    if not (isinstance(value, str) and value.startswith("[") and value.endswith("]")):
        return value
    if len(value) > 1_000_000:
        return value
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        try:
            found = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return found if isinstance(found, list) else value


def _by_commas(piece: str) -> list[str]:
    """Split at commas between full names, but not the one inside ``Penzias, A.``."""
    parts = [part.strip() for part in piece.split(",")]
    full_names = all(re.search(r"\S[\s.]+\S{2,}", part) for part in parts if part)
    return parts if full_names else [piece]
