"""Supplied lists of reviews, such as all articles of an annual review."""

from __future__ import annotations

import json
import os
from pathlib import Path

from landscape.corpus._identifiers import (
    arxiv_id_of_bibcode,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)
from landscape.errors import InputError


def read_review_list(path: str | os.PathLike[str]) -> frozenset[str]:
    r"""Read the identifiers of known reviews.

    Parameters
    ----------
    path : path
        JSON lines with ``bibcode`` and ``identifier`` (a list), or one identifier a line.

    Returns
    -------
    frozenset of str
        Bibcodes, arXiv ids and DOIs in one spelling each, for the ``known`` of `recognise`.

    Raises
    ------
    InputError
        If the file cannot be read or names no paper.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "reviews.txt"
    >>> _ = path.write_text("1998ARA&A..36..189K\narXiv:astro-ph/9807187\n")
    >>> sorted(read_review_list(path))
    ['1998ARA&A..36..189K', 'astro-ph/9807187']
    """
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"The list of reviews {path} cannot be read ({why}).") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"The list of reviews {path} is not text in UTF-8; give one bibcode, arXiv id or DOI a "
            "line (unpack a compressed file first)."
        ) from error
    found = frozenset(key for line in lines for name in _names(line) for key in spellings(name))
    if not found:
        raise InputError(
            f"The list of reviews {path} names no paper: give one bibcode, arXiv id or DOI a line, "
            'or JSON lines with "bibcode" and "identifier".'
        )
    return found


def spellings(name: str) -> frozenset[str]:
    """An identifier in the spelling of the corpus; several where a bibcode holds an arXiv id.

    Examples
    --------
    >>> sorted(spellings("2021arXiv210101542A")), sorted(spellings("a title"))
    (['2021arXiv210101542A', '2101.01542'], [])
    """
    arxiv_id = parse_arxiv_id(name)
    if arxiv_id:
        return frozenset({arxiv_id})
    bibcode = parse_bibcode(name)
    if bibcode:
        return frozenset(filter(None, (bibcode, arxiv_id_of_bibcode(bibcode))))
    return frozenset(filter(None, (parse_doi(name),)))


def _names(line: str) -> list[str]:
    text = line.strip()
    if not text.startswith("{"):
        return [text]
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or nested without end
        return []
    others = record.get("identifier")
    named = [record.get("bibcode"), *(others if isinstance(others, list) else [others])]
    return [name for name in named if isinstance(name, str)]
