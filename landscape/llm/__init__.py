"""Language models and rerankers on servers or on this machine.

>>> from landscape import llm
>>> llm.connect(base_url="http://localhost:11434/v1", model="qwen3").model
'qwen3'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from landscape.llm._budget import Budget, ReplyCache, default_cache_folder
    from landscape.llm._client import (
        ChatModel,
        LanguageModel,
        WritingModel,
        connect,
        connect_from_environment,
        request_reply,
    )
    from landscape.llm._replies import ReplyForm
    from landscape.llm._reranking import HttpReranker, Reranker, load_reranker

__all__ = [
    "Budget",
    "ChatModel",
    "HttpReranker",
    "LanguageModel",
    "ReplyCache",
    "ReplyForm",
    "Reranker",
    "WritingModel",
    "connect",
    "connect_from_environment",
    "default_cache_folder",
    "load_reranker",
    "request_reply",
]

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_budget": ["Budget", "ReplyCache", "default_cache_folder"],
        "_client": [
            "ChatModel",
            "LanguageModel",
            "WritingModel",
            "connect",
            "connect_from_environment",
            "request_reply",
        ],
        "_replies": ["ReplyForm"],
        "_reranking": ["HttpReranker", "Reranker", "load_reranker"],
    },
)
