from ._attribution import attribute
from ._draft_check import check_draft
from ._survey import survey_question
from .collection import AtlasCollection, as_latex

__all__ = ["AtlasCollection", "as_latex", "attribute", "check_draft", "survey_question"]
