"""Papers as PDF."""

from __future__ import annotations

import re
from pathlib import Path

from landscape.agents.survey.fulltext.files import check_size
from landscape.agents.survey.fulltext.sections import Section, identifiers
from landscape.errors import InputError, require

_MOST_PAGES = 400
_PDF_HEADING = re.compile(
    r"^[^\S\n]{0,80}(?:\d{1,2}(?:\.\d{1,2}){0,2}\.?[^\S\n]{1,9}[A-Z][^\n.]{2,70}"
    r"|(?:INTRODUCTION|METHODS?|RESULTS|DISCUSSION|CONCLUSIONS?|SUMMARY|REFERENCES|"
    r"Introduction|Methods?|Results|Discussion|Conclusions?|Summary|References))[^\S\n]{0,80}$",
    re.MULTILINE,
)


def read_pdf(path: Path) -> list[Section]:
    """Read a PDF; its citations have no keys, so that all identifiers count as one list.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    list of Section

    Raises
    ------
    MissingExtraError
        The package ``pypdf`` is not installed.
    InputError
        If it cannot be read.
    """
    pypdf = require("pypdf", "pdf")
    check_size(path)
    try:
        document = pypdf.PdfReader(path)
        pages = [page.extract_text() or "" for page in document.pages[:_MOST_PAGES]]
    except Exception as error:  # a broken PDF raises whatever its reader tripped over
        raise InputError(f"{path} cannot be read as a PDF ({type(error).__name__}).") from error
    text = "\n".join(pages)
    marks = [*_PDF_HEADING.finditer(text)]
    ends = [*(match.start() for match in marks[1:]), len(text)]
    sections = [
        Section(" ".join(match[0].split()), identifiers(text[match.end() : end]),
                text[match.end() : end])
        for match, end in zip(marks, ends, strict=False)
    ]  # fmt: skip
    return sections or [Section("text", identifiers(text), text)]
