"""Papers as LaTeX source."""

from __future__ import annotations

import re
from pathlib import Path

from landscape.agents.survey.fulltext.files import text_of, text_of_archive
from landscape.agents.survey.fulltext.sections import Section, identifiers, join_sections

# Every repeat has a bound: a stranger's file of brackets alone must not take minutes.
_LATEX_SECTION = re.compile(
    r"\\(?:sub)?section\*?\s{0,9}(?:\[[^\]]{0,300}\])?\s{0,9}"
    r"\{((?:[^{}]|\{[^{}]{0,300}\}){0,500})\}"
)
_LATEX_CITE = re.compile(
    r"\\[cC]ite[a-zA-Z]{0,30}\*?\s{0,9}(?:\[[^\]]{0,300}\]\s{0,9}){0,2}\{([^{}]{1,5000})\}"
)
_BIBITEM = re.compile(
    r"\\bibitem\s{0,9}(?:\[(?:[^\[\]]|\[[^\]]{0,300}\]){0,500}\])?\s{0,9}\{([^{}]{1,300})\}"
)
_COMMENT = re.compile(r"(?<!\\)%.*")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|[{}$~]")


def read_latex(path: Path) -> list[Section]:
    """Read a LaTeX source, or arXiv's ``.tar.gz`` of one with its ``.bbl``.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    list of Section

    Raises
    ------
    InputError
        If it is too large or cannot be read. Nothing of an archive is written anywhere.
    """
    source = (
        text_of_archive(path) if path.name.endswith((".tar.gz", ".tgz", ".tar")) else text_of(path)
    )
    source = _COMMENT.sub("", source)
    keys = [*_BIBITEM.finditer(source)]
    ends = [*(match.start() for match in keys[1:]), len(source)]
    cited = {
        match[1].strip(): identifiers(source[match.end() : end])
        for match, end in zip(keys, ends, strict=False)  # without keys there is one end
    }
    body = source[: keys[0].start()] if keys else source
    marks = [*_LATEX_SECTION.finditer(body)]
    ends = [*(match.start() for match in marks[1:]), len(body)]
    found = []
    for match, end in zip(marks, ends, strict=False):
        text = body[match.end() : end]
        found.append((_plain(match[1]), text, _keys(text)))
    if not marks:  # a letter
        found.append(("text", body, _keys(body)))
    return join_sections(found, cited)


def _keys(text: str) -> list[str]:
    return [key.strip() for one in _LATEX_CITE.findall(text) for key in one.split(",")]


def _plain(latex: str) -> str:
    return " ".join(_COMMAND.sub(" ", latex).split())
