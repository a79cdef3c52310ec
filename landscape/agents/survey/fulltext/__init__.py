"""Sections of a paper's full text and what each cites: arXiv's HTML, LaTeX source, a user's PDF."""

from landscape.agents.survey.fulltext.folder import FolderReader
from landscape.agents.survey.fulltext.html import read_html
from landscape.agents.survey.fulltext.latex import read_latex
from landscape.agents.survey.fulltext.pdf import read_pdf
from landscape.agents.survey.fulltext.sections import Reader, Section, identifiers

__all__ = [
    "FolderReader", "Reader", "Section", "identifiers", "read_html", "read_latex", "read_pdf",
]  # fmt: skip
