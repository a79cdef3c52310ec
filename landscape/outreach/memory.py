"""Too little memory: smaller tiles first, then the processor instead of the graphics card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from landscape.errors import LandscapeError
from landscape.outreach.tiles import GRAIN

Result = TypeVar("Result")

_SMALLEST = 256  # pixels; a Stable Diffusion model draws nothing sensible on less
_SHARES = (1.0, 0.75, 0.5, 0.375)  # of the tile that was asked for
_SIGNS = ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")


class OutOfMemoryError(LandscapeError):
    """No plan fits into the memory of this machine."""


@dataclass(frozen=True)
class Plan:
    """Where a sheet is drawn, and in tiles of which size.

    Parameters
    ----------
    device : str
        As PyTorch names it: ``"cuda"``, ``"mps"``, ``"cpu"``.
    tile : int
        Longest side of a tile, in pixels.

    Examples
    --------
    >>> str(Plan("cuda", 768))
    'tiles of 768 pixels on the graphics card'
    """

    device: str
    tile: int

    def __str__(self) -> str:
        where = "the processor" if self.device == "cpu" else "the graphics card"
        return f"tiles of {self.tile} pixels on {where}"


def plans(device: str, tile: int) -> list[Plan]:
    """List the ways to draw, from the best to the one that needs the least memory.

    Parameters
    ----------
    device : str
    tile : int
        Longest side of a tile that was asked for, in pixels.

    Returns
    -------
    list of Plan

    Examples
    --------
    >>> [f"{plan.device}:{plan.tile}" for plan in plans("cuda", 1024)]
    ['cuda:1024', 'cuda:768', 'cuda:512', 'cuda:384', 'cpu:1024', 'cpu:768', 'cpu:512', 'cpu:384']
    """
    sizes = [tile]
    for share in _SHARES[1:]:
        smaller = int(tile * share) // GRAIN * GRAIN
        if min(_SMALLEST, tile // 2) <= smaller < sizes[-1]:
            sizes.append(smaller)
    devices = [device] if device == "cpu" else [device, "cpu"]
    return [Plan(where, size) for where in devices for size in sizes]


def is_out_of_memory(error: BaseException) -> bool:
    """Tell a lack of memory from any other error.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    bool
        True also for PyTorch's older RuntimeErrors that only say so in words.

    Examples
    --------
    >>> is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate 9.00 GiB"))
    True
    >>> is_out_of_memory(RuntimeError("sizes of tensors must match"))
    False
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def with_less_memory(
    work: Callable[[Plan], Result], ways: Sequence[Plan], *, note: Callable[[str], None]
) -> tuple[Result, Plan]:
    """Do a piece of work in the first way that fits into memory, and say so where it is not best.

    Parameters
    ----------
    work : callable
        Takes a `Plan`.
    ways : sequence of Plan
        As `plans` lists them.
    note : callable
        Told, in a sentence, each time memory did not suffice.

    Returns
    -------
    result : object
        Of `work`.
    plan : Plan
        The way that fitted.

    Raises
    ------
    OutOfMemoryError
        If none fits.

    Examples
    --------
    >>> def draw(plan):
    ...     if plan.tile > 512:
    ...         raise MemoryError
    ...     return "drawn"
    >>> with_less_memory(draw, plans("cpu", 768), note=print)[0]
    Out of memory with tiles of 768 pixels on the processor: going on with tiles of 576 pixels ...
    Out of memory with tiles of 576 pixels on the processor: going on with tiles of 384 pixels ...
    'drawn'
    """
    for i, plan in enumerate(ways):
        # The error holds the frames, and with them the tensors, of what failed: it is dropped
        # before the next way is tried.
        try:
            return work(plan), plan
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        _let_go()
        if i + 1 < len(ways):
            note(f"Out of memory with {plan}: going on with {ways[i + 1]}.")
    raise OutOfMemoryError(
        f"There is not enough memory to draw even with {ways[-1]}; close other programs, "
        "or use a smaller model."
    )


def _let_go() -> None:
    """Give memory back that PyTorch keeps for later."""
    import gc
    import sys

    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
