"""Asking a selection alone: an engine that searches no other papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.query.engine import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]


def engine_of(atlas: Any, rows: Rows) -> Engine:
    """An engine that finds only papers of a selection.

    Parameters
    ----------
    atlas : Atlas
    rows : ndarray of int64

    Returns
    -------
    Engine
        On the same indexes, which are not opened again.
    """
    whole = atlas.engine
    engine = Engine(atlas)
    engine._held = _Held(whole._held, np.unique(rows))  # type: ignore[assignment]  # stands in
    engine.__dict__["near_enough"] = whole.near_enough
    return engine


class _Held:
    """Stands in for the holdings of an engine; every filter lets only the selection through."""

    def __init__(self, held: Any, rows: Rows) -> None:
        self._held, self._rows = held, rows

    def rows_that_pass(self, filter_text: str | None) -> Rows:
        allowed = self._held.rows_that_pass(filter_text)
        return self._rows if allowed is None else np.intersect1d(self._rows, allowed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)

    def __len__(self) -> int:
        return len(self._held)
