from ._attribution import attribute
from ._draft_check import check_draft
from ._survey import survey_question
from .desk import Desk, as_latex

__all__ = ["Desk", "as_latex", "attribute", "check_draft", "survey_question"]
