"""umap-learn, whose machine code is kept between runs.

umap-learn is compiled by Numba when it is used, anew in every process: ten to twenty seconds,
before a small map that itself takes half a second. Numba can keep what it compiles beside the
library's files (or, where those cannot be written, in the user's cache folder), and forgets it
when that file changes; umap-learn leaves that off for most of its functions.

Only modules whose functions take arrays and numbers are kept. What takes another function, such as
a distance, is compiled for that very object, and would fill the folder without ever being found
again; so are most functions of pynndescent, which keeps what can be kept by itself.
"""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any

_MODULES = ("umap.umap_", "umap.layouts", "umap.utils")


@functools.cache
def umap_with_kept_code() -> ModuleType:
    """Import umap-learn and have Numba keep what it compiles for it.

    Returns
    -------
    module
        ``umap``.

    Examples
    --------
    >>> umap_with_kept_code().UMAP.__name__
    'UMAP'
    """
    import umap
    from numba.core.dispatcher import Dispatcher

    for name in _MODULES:
        for function in vars(sys.modules[name]).values():
            if not isinstance(function, Dispatcher) or function.signatures:
                continue
            if function.py_func.__module__ in _MODULES:
                _keep(function)
    return umap


def _keep(function: Any) -> None:
    try:
        function.enable_caching()
        save = function._cache.save_overload
    except (RuntimeError, AttributeError):
        return  # no folder that can be written, or another Numba: it compiles anew as before

    def save_if_there_is_room(*arguments: Any) -> None:
        try:
            save(*arguments)
        except OSError:
            return  # a full disk costs the next run its time, not this one its map

    function._cache.save_overload = save_if_there_is_room
