from ._evidence import check_claims
from ._regions import describe_regions
from .asking import answer_question
from .questions import Preset, QuestionKind, classify, preset_for
from .settings import AskSettings
from .verdicts import check_claim

__all__ = [
    "AskSettings",
    "Preset",
    "QuestionKind",
    "answer_question",
    "check_claim",
    "check_claims",
    "classify",
    "describe_regions",
    "preset_for",
]
