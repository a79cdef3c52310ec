"""Read and write the numbers of fitted models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FOLDER = Path(__file__).parent


@cache
def read_weights(name: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of a model.

    Parameters
    ----------
    name : str
        Name of the card.

    Returns
    -------
    dict of str to array

    Examples
    --------
    >>> read_weights("word_axes")["axes"].shape
    (384, 64)
    """
    from safetensors.numpy import load_file

    return dict(load_file(_FOLDER / f"{name}.safetensors"))


@cache
def read_numbers(name: str) -> dict[str, Any]:
    """Read the numbers of a small model, for example the weights of a regression.

    Parameters
    ----------
    name : str
        Name of the card.

    Returns
    -------
    dict of str to object

    Examples
    --------
    >>> sorted(read_numbers("verdicts"))
    ['vectors', 'words']
    """
    return dict(json.loads((_FOLDER / f"{name}.json").read_text("utf-8")))


def write_weights(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the arrays that `read_weights` reads; only benchmarks call this."""
    from safetensors.numpy import save_file

    whole = {key: np.array(array, order="C") for key, array in arrays.items()}
    save_file(whole, _FOLDER / f"{name}.safetensors")


def write_numbers(name: str, numbers: Mapping[str, Any]) -> None:
    """Write the numbers that `read_numbers` reads; only benchmarks call this."""
    text = json.dumps(numbers, ensure_ascii=False, separators=(",", ":")) + "\n"
    (_FOLDER / f"{name}.json").write_text(text, "utf-8")
