"""Compiled code is cached; a failure of the cache has no other effect."""

from __future__ import annotations

import errno

import numba
import pytest
from numba.core.caching import FunctionCache

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.mapping.projection import _keep, umap_with_kept_code


def add_one(number: int) -> int:
    return number + 1


def test_what_takes_arrays_is_kept_and_what_takes_functions_is_not() -> None:
    umap = umap_with_kept_code()
    assert umap.umap_.smooth_knn_dist.stats.cache_path
    assert not umap.distances.chunked_parallel_special_metric.stats.cache_path


def test_a_full_disk_costs_the_next_run_its_time_and_this_one_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    compiled = numba.njit(add_one)
    _keep(compiled)
    assert compiled(1) == 2


def test_without_a_folder_that_can_be_written_it_is_compiled_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nowhere(*_: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    compiled = numba.njit(add_one)
    monkeypatch.setattr(type(compiled), "enable_caching", nowhere)
    _keep(compiled)
    assert compiled(1) == 2
