"""Vectors of unit length, or the reason why they cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def normalised(vectors: ArrayLike) -> NDArray[np.float32]:
    """Scale rows to unit length.

    Parameters
    ----------
    vectors : array_like
        (n, d) numbers.

    Returns
    -------
    numpy.ndarray
        (n, d) float32, L2-normalised.

    Raises
    ------
    ValueError
        Naming the first row that is not finite, or is zero and so has no direction.

    Examples
    --------
    >>> normalised([[3.0, 4.0]]).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    >>> normalised([[1.0, 0.0], [0.0, float("nan")]])
    Traceback (most recent call last):
    ValueError: row 1 is not finite
    """
    rows = np.asarray(vectors, dtype=np.float64)  # no overflow in the squares
    if rows.ndim != 2:
        message = f"shape {rows.shape} is not one row a text"
        raise ValueError(message)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    for wrong, reason in ((~np.isfinite(lengths), "is not finite"), (lengths == 0, "is zero")):
        if wrong.any():
            message = f"row {int(np.argmax(wrong))} {reason}"
            raise ValueError(message)
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit
