"""What a user asks, as text that can be read."""

from __future__ import annotations

from landscape.errors import InputError

LONGEST_QUERY = 4_000
"""Characters of a query that are read."""


def query_text(query: object) -> tuple[str, tuple[str, ...]]:
    """Tidy a query.

    Parameters
    ----------
    query : object

    Returns
    -------
    text : str
        On one line, no longer than is read.
    notes : tuple of str
        What the reader should know about it.

    Raises
    ------
    InputError
        If it is no text, or empty.

    Examples
    --------
    >>> query_text("  dust  in quasars ")
    ('dust in quasars', ())
    """
    text = " ".join(readable_text("query", query).split())
    if not text:
        message = "The query is empty; ask a question or give some words."
        raise InputError(message)
    cut = f"Only the first {LONGEST_QUERY:,} characters of the query were read."
    return text[:LONGEST_QUERY], (cut,) if len(text) > LONGEST_QUERY else ()


def readable_text(what: str, text: object) -> str:
    """Refuse text that is no Unicode: what a terminal with another encoding hands over.

    Parameters
    ----------
    what : str
        What it is, for the message.
    text : object

    Returns
    -------
    str
        The same.

    Raises
    ------
    InputError
        If it is no text, or holds bytes that are not UTF-8.

    Examples
    --------
    >>> readable_text("query", "dust")
    'dust'
    """
    if not isinstance(text, str):
        message = f"The {what} is {text!r}; it has to be text."
        raise InputError(message)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"The {what} is not UTF-8 text (character {error.start + 1}); write it again."
        raise InputError(message) from error
    return text
