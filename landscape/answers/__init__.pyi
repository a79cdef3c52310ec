from ._asking import AskSettings, answer_question
from ._evidence import check_claims
from ._questions import Preset, QuestionKind, classify, preset_for
from ._regions import describe_regions

__all__ = [
    "AskSettings",
    "Preset",
    "QuestionKind",
    "answer_question",
    "check_claims",
    "classify",
    "describe_regions",
    "preset_for",
]
