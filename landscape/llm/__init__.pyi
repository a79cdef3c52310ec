from ._client import (
    ChatModel,
    LanguageModel,
    WritingModel,
    complete_decided,
    connect,
    connect_from_environment,
    request_reply,
    sample,
)
from .budget import Budget, ReplyCache, default_cache_folder
from .prompts import ReplyForm
from .reranking import HttpReranker, Reranker, load_reranker

__all__ = [
    "Budget",
    "ChatModel",
    "HttpReranker",
    "LanguageModel",
    "ReplyCache",
    "ReplyForm",
    "Reranker",
    "WritingModel",
    "complete_decided",
    "connect",
    "connect_from_environment",
    "default_cache_folder",
    "load_reranker",
    "request_reply",
    "sample",
]
