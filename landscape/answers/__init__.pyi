from ._asking import AskSettings, answer_question
from ._evidence import check_claims
from ._questions import Preset, QuestionKind, classify, preset_for

__all__ = [
    "AskSettings",
    "Preset",
    "QuestionKind",
    "answer_question",
    "check_claims",
    "classify",
    "preset_for",
]
