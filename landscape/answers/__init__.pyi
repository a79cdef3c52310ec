from ._asking import AskSettings, answer_question, ask, ask_settings
from ._evidence import check_claims, judge_consensus
from ._generation import answer, rewrite
from ._questions import Preset, QuestionKind, classify, preset_for, read_kind

__all__ = [
    "AskSettings",
    "Preset",
    "QuestionKind",
    "answer",
    "answer_question",
    "ask",
    "ask_settings",
    "check_claims",
    "classify",
    "judge_consensus",
    "preset_for",
    "read_kind",
    "rewrite",
]
