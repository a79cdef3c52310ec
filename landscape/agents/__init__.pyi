from ._attribution import attribute
from ._desk import Desk, as_latex
from ._draft_check import check_draft
from ._survey import survey_question

__all__ = ["Desk", "as_latex", "attribute", "check_draft", "survey_question"]
