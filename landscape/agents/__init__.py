"""Literature agents: survey a question, attribute an excerpt, cite papers, check a draft."""

import warnings
from typing import Any

import lazy_loader

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "Desk":  # the name until version 0.1
        warnings.warn("Desk is called AtlasCollection now.", DeprecationWarning, stacklevel=2)
        name = "AtlasCollection"
    return _public(name)
