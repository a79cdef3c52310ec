"""Which processor to embed on, and in which precision: asked of the hardware, not of the user."""

from __future__ import annotations

import re
from pathlib import Path

#: Instructions that multiply bf16 matrices in hardware: Intel AMX, AVX-512 BF16, Arm BF16.
_BF16_INSTRUCTIONS = frozenset({"amx_bf16", "avx512_bf16", "bf16"})


def choose_device() -> str:
    """Name the fastest device that PyTorch can use here.

    Returns
    -------
    str
        ``"cuda"``, ``"mps"`` or ``"cpu"``.

    Examples
    --------
    >>> choose_device() in {"cuda", "mps", "cpu"}
    True
    """
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if torch.backends.mps.is_available():
        return "mps"
    return "cpu"


def has_bf16_instructions() -> bool:
    """Tell whether this CPU multiplies bf16 matrices in hardware.

    Returns
    -------
    bool
        False where bf16 would be emulated, which is slower than float32.

    Notes
    -----
    Linux lists the instructions in ``/proc/cpuinfo``. Elsewhere PyTorch's own detection is asked;
    its functions are private, so their absence reads as "no".

    Examples
    --------
    >>> has_bf16_instructions() in {True, False}
    True
    """
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        return bool(_BF16_INSTRUCTIONS & cpu_flags(listed.read_text(errors="replace")))
    import torch

    names = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name, bool)() for name in names)


def cpu_flags(cpuinfo: str) -> frozenset[str]:
    """Read the instruction sets of the first processor in the text of ``/proc/cpuinfo``.

    Parameters
    ----------
    cpuinfo : str

    Returns
    -------
    frozenset of str

    Examples
    --------
    >>> sorted(cpu_flags("flags : avx512f amx_bf16"))
    ['amx_bf16', 'avx512f']
    >>> cpu_flags("processor : 0")
    frozenset()
    """
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, flags=re.MULTILINE)
    return frozenset(found.group(1).split()) if found else frozenset()
