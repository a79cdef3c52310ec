"""Tests of Landscape."""

import os

# Each process of pytest-xdist has one core. With more threads than cores, the threads of BLAS wait
# for each other: checking 160 claims takes 35 s of processor time beside another process, and 9 s
# with one thread. Libraries read these variables when they are loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    for _library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
