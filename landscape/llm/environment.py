"""The language model that the environment names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from landscape.llm.models import WritingModel


def connect_if_told() -> WritingModel | None:
    """Connect the language model that the environment names, if it names one.

    Returns
    -------
    WritingModel or None
        None where neither ``OPENAI_API_KEY`` nor ``OPENAI_BASE_URL`` is set.
    """
    if not (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")):
        return None
    from landscape.llm.cache import default_folder
    from landscape.llm.client import connect

    return connect(cache=default_folder())
