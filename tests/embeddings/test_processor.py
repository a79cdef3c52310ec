"""CPU flags are read from the text of ``/proc/cpuinfo``."""

from __future__ import annotations

import pytest

from landscape.embeddings import minilm  # no processor lists the flags of another
from landscape.embeddings.minilm import cpu_flags

SAPPHIRE_RAPIDS = "processor\t: 0\nflags\t\t: fpu avx512f avx512_bf16 amx_bf16 amx_tile\nbugs\t:\n"
SKYLAKE = "processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512vl\n"
NEOVERSE = "processor\t: 0\nFeatures\t: fp asimd sve i8mm bf16\n"


@pytest.mark.parametrize(
    ("cpuinfo", "has"), [(SAPPHIRE_RAPIDS, True), (SKYLAKE, False), (NEOVERSE, True), ("", False)]
)
def test_bf16_instructions_are_read_from_the_flags(cpuinfo: str, has: bool) -> None:
    assert bool(cpu_flags(cpuinfo) & minilm._BF16_INSTRUCTIONS) is has
