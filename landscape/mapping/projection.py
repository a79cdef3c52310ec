"""Project embeddings to the plane by UMAP or PCA."""

from __future__ import annotations

import functools
import sys
import warnings
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.embeddings import nearest
from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Start = Literal["pca", "spectral"] | np.ndarray
LAYOUTS = ("pca", "umap")

#: With fewer distinct papers the projection is PCA, because a neighbour graph is meaningless.
MIN_FOR_A_GRAPH = 12


def _pca(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Project vectors onto two principal components. If there is only one, y is zero."""
    centred = np.asarray(vectors, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    # The n_dims x n_dims matrix is small for any number of papers.
    _, axes = np.linalg.eigh(centred.T @ centred)
    plane = centred @ axes[:, ::-1][:, :2]
    if plane.shape[1] < 2:
        plane = np.column_stack([plane, np.zeros(len(plane))])
    return plane.astype(np.float32)


def _umap(
    vectors: NDArray[np.float32], seed: int | None, n_neighbors: int, min_dist: float, start: Start
) -> NDArray[np.float32]:
    """Apply UMAP (McInnes, Healy & Melville 2018) with the cosine metric."""
    k = min(n_neighbors, len(vectors) - 1)
    near = _neighbours(vectors, k) if len(vectors) <= _MOST_FOR_EXACT else None
    reducer = umap_with_kept_code().UMAP(
        n_neighbors=k,
        precomputed_knn=(None, None, None) if near is None else (*near, None),
        min_dist=min_dist,
        metric="cosine",
        # spectral decomposition needs many more papers than components
        init=start if len(vectors) > 50 else "random",
        low_memory=True,
        random_state=seed,
        n_jobs=1 if seed is not None else -1,
        unique=False,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"precomputed_knn\[2\]")  # only for `transform`
        return np.asarray(reducer.fit_transform(vectors), dtype=np.float32)


#: The time of an exact search grows with the square of the number of papers.
_MOST_FOR_EXACT = 60_000


def _neighbours(
    vectors: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the nearest papers of each paper and their cosine distances, itself included."""
    rows, similarities = nearest(vectors, np.asarray(vectors), k=k)
    distances = np.maximum(1.0 - similarities, 0.0).astype(np.float32)
    # Rounding would otherwise make UMAP take the paper itself for its nearest neighbour.
    distances[rows == np.arange(len(rows))[:, None]] = 0.0
    return rows.astype(np.int32), distances


def project(
    vectors: NDArray[np.float32],
    *,
    method: str = "umap",
    seed: int | None = None,
    n_neighbors: int = 15,
    min_dist: float = 0.05,
    start: Start = "pca",
) -> NDArray[np.float32]:
    """Project embeddings to a plane where similar papers are close together.

    Parameters
    ----------
    vectors : array of float, shape (n_papers, n_dims)
        L2-normalised embeddings, optionally memory-mapped.
    method : {"umap", "pca"}, default "umap"
        Method of the projection. Fewer than 12 distinct papers are always projected by PCA,
        because the neighbour graph needs more papers.
    seed : int, optional
        Seed of the random numbers. With a seed the map is exactly reproducible, but it is
        computed on one core instead of all cores.
    n_neighbors : int, default 15
        Number of neighbours of each paper. Small values emphasise fine structure, large values
        emphasise global structure.
    min_dist : float, default 0.05
        Minimum distance between papers, in map units.
    start : {"pca", "spectral"} or array of float, shape (n_papers, 2), default "pca"
        Initial positions. PCA is fast for any size and keeps the large-scale structure.

    Returns
    -------
    array of float32, shape (n_papers, 2)
        Map coordinates, centred on the median, with the long axis horizontal. Papers that are
        close on the map are similar; directions and large distances have no meaning.

    Raises
    ------
    InputError
        If the method is unknown or a vector is not finite.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> vectors = rng.normal(size=(8, 5)).astype("float32")
    >>> project(vectors).shape
    (8, 2)
    """
    if method not in LAYOUTS:
        raise InputError(f"There is no layout {method!r}; choose one of: {', '.join(LAYOUTS)}.")
    if len(vectors) == 0:
        return np.zeros((0, 2), dtype=np.float32)
    _check_finite(vectors)
    if method == "pca" or _too_few_distinct(vectors):
        return orient(_pca(vectors))
    return orient(_umap(vectors, seed, n_neighbors, min_dist, start))


def orient(plane: NDArray[np.float32]) -> NDArray[np.float32]:
    """Centre a map on its median and rotate its long axis to the horizontal."""
    if len(plane) < 2:
        return np.zeros_like(plane, dtype=np.float32)
    centred = plane.astype(np.float64) - np.median(plane, axis=0)
    # Omit the farthest papers, so that outliers do not affect the rotation.
    radius = np.hypot(*centred.T)
    bulk = centred[radius <= np.quantile(radius, 0.99)]
    bulk = bulk - bulk.mean(axis=0)  # use the mean, because the median depends on the rotation
    _, axes = np.linalg.eigh(bulk.T @ bulk)
    turned = centred @ axes[:, ::-1]
    # The sign of an axis is arbitrary. Choose it so that the longer tails point right and up.
    tails = np.abs(np.quantile(turned, 0.995, axis=0)) - np.abs(np.quantile(turned, 0.005, axis=0))
    turned *= np.where(tails < 0, -1.0, 1.0)
    return turned.astype(np.float32)


def _check_finite(vectors: NDArray[np.float32], block: int = 65536) -> None:
    for start in range(0, len(vectors), block):
        bad = ~np.isfinite(vectors[start : start + block]).all(axis=1)
        if bad.any():
            row = start + int(np.flatnonzero(bad)[0])
            raise InputError(
                f"The embedding of paper {row} has a value that is not finite; "
                "embed the papers again or drop that row."
            )


def _too_few_distinct(vectors: NDArray[np.float32]) -> bool:
    """Return whether there are fewer than `MIN_FOR_A_GRAPH` different rows."""
    distinct: set[bytes] = set()
    for row in vectors:
        distinct.add(row.tobytes())
        if len(distinct) >= MIN_FOR_A_GRAPH:
            return False
    return True


# Without a cache, Numba compiles umap-learn in every process, which takes 10 to 20 seconds. The
# cache works for functions of arrays and numbers. A function whose argument is another function,
# such as a distance, is compiled again in every process.
_MODULES = ("umap.umap_", "umap.layouts", "umap.utils")


@functools.cache
def umap_with_kept_code() -> ModuleType:
    """Import umap-learn, and enable the Numba cache for the functions of umap-learn."""
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
    from numba.core.caching import FunctionCache

    # umap-learn compiles some functions twice, with and without threads. Numba names the files of
    # its cache after the Python function only, so each version needs a name of its own.
    python: Any = function.py_func
    kind = "parallel" if function.targetoptions.get("parallel") else "serial"
    named = FunctionType(python.__code__, python.__globals__, python.__name__)
    named.__qualname__ = f"{python.__qualname__}_{kind}"
    try:
        function._cache = FunctionCache(named)  # type: ignore[no-untyped-call]
        save = function._cache.save_overload
    except (RuntimeError, AttributeError):
        return  # the folder is read-only, or this version of Numba has no such cache

    def save_unless_disk_is_full(*arguments: object) -> None:
        try:
            save(*arguments)
        except OSError:
            return  # the next run compiles the function again

    function._cache.save_overload = save_unless_disk_is_full


def place(
    new_vectors: NDArray[np.float32],
    vectors: NDArray[np.float32],
    coordinates: NDArray[np.float32],
    *,
    k: int = 15,
) -> NDArray[np.float32]:
    r"""Return map coordinates for new papers; the papers already on the map do not move.

    Each new paper is placed at the weighted mean position of its `k` nearest neighbours in the
    embedding space. The weights are the fuzzy memberships of UMAP (McInnes, Healy & Melville
    2018, eq. 1),
    :math:`w_i = \exp(-\max(0, d_i - \rho)/\sigma)`, where :math:`\rho` is the smallest distance
    and :math:`\sigma` satisfies :math:`\sum_i w_i = \log_2 k`. The method ``transform`` of
    umap-learn starts from the same positions, but it needs a pickled reducer.

    Parameters
    ----------
    new_vectors : array of float, shape (n_new, n_dims)
        Embeddings of the new papers, L2-normalised, from the same model.
    vectors : array of float, shape (n_papers, n_dims)
        Embeddings of the papers on the map, optionally memory-mapped.
    coordinates : array of float, shape (n_papers, 2)
        Map coordinates of the papers on the map.
    k : int, default 15
        Number of neighbours used for each new paper.

    Returns
    -------
    array of float32, shape (n_new, 2)

    Examples
    --------
    >>> vectors = np.eye(3, dtype="float32")
    >>> spots = np.array([[0, 0], [1, 0], [0, 1]], dtype="float32")
    >>> place(vectors[:1], vectors, spots, k=1).tolist()
    [[0.0, 0.0]]
    """
    if len(new_vectors) == 0:
        return np.zeros((0, 2), dtype=np.float32)
    k = min(k, len(vectors))
    return place_between(*nearest(vectors, new_vectors, k=k), coordinates)


def place_between(
    indices: NDArray[np.int64], similarities: NDArray[np.float32], coordinates: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the mean position of the neighbours of each paper; see `place`."""
    weights = memberships(1.0 - similarities)
    placed = np.einsum("ij,ijk->ik", weights, coordinates[indices].astype(np.float64))
    return (placed / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def settle(
    placed: NDArray[np.float32],
    indices: NDArray[np.int64],
    similarities: NDArray[np.float32],
    coordinates: NDArray[np.float32],
    *,
    min_dist: float = 0.05,
) -> NDArray[np.float32]:
    """Move placed papers by the forces of UMAP. The papers of the map do not move.

    A mean position is between the neighbours, where the paper has others as its nearest papers.
    This is the optimisation of the method ``transform`` of umap-learn, with more steps.

    Parameters
    ----------
    placed : array of float, shape (n, 2)
        First positions, for example those of `place`.
    indices, similarities : array, shape (n, k)
        Nearest papers on the map, and their cosine similarities.
    coordinates : array of float, shape (n_papers, 2)
        Map coordinates of the papers on the map.
    min_dist : float, default 0.05
        Setting of UMAP with which the map was made.

    Returns
    -------
    array of float32, shape (n, 2)
        The same for the same input, on any number of cores.

    Examples
    --------
    >>> spots = np.array([[0, 0], [9, 0]], dtype="float32")
    >>> near = np.array([[0], [1]]), np.ones((2, 1), dtype="float32")
    >>> bool(np.abs(settle(spots[[1, 0]], *near, spots) - spots).max() < 2)
    True
    """
    umap = umap_with_kept_code()
    n, k = indices.shape
    if not n:
        return np.zeros((0, 2), dtype=np.float32)
    a, b = umap.umap_.find_ab_params(1.0, min_dist)
    weights = memberships(1.0 - similarities).ravel().astype(np.float32)
    head = np.repeat(np.arange(n, dtype=np.int32), k)
    kept = weights >= weights.max() / _SETTLING
    moved = umap.layouts.optimize_layout_euclidean(
        np.array(placed, dtype=np.float32),
        np.array(coordinates, dtype=np.float32),
        head[kept],
        indices.ravel().astype(np.int32)[kept],
        _SETTLING,
        len(coordinates),
        umap.umap_.make_epochs_per_sample(weights[kept], _SETTLING),
        a,
        b,
        np.array([1, 2, 3], dtype=np.int64),  # state of the random numbers
        initial_alpha=0.25,
        move_other=False,
    )
    return np.asarray(moved, dtype=np.float32)


_SETTLING = 200  # steps, as of UMAP with more than 10,000 papers; benchmarks/scale.py


def choose_landmarks(
    vectors: NDArray[np.float32], n_landmarks: int, *, seed: int = 0
) -> NDArray[np.int64]:
    """Choose papers to which a map is fitted, in proportion to the density of the papers.

    The papers are divided into k-means cells. Each cell has landmarks in proportion to its papers,
    but at least a few, so that sparse subjects are also on the map.

    Parameters
    ----------
    vectors : array of float32, shape (n_papers, n_dims)
        L2-normalised embeddings, optionally memory-mapped.
    n_landmarks : int
        Number of landmarks. It is exceeded by a few percent if many subjects are sparse.
    seed : int, default 0

    Returns
    -------
    array of int64, shape (n,)
        Sorted row numbers.

    Examples
    --------
    >>> vectors = np.random.default_rng(0).normal(size=(500, 4)).astype("float32")
    >>> len(choose_landmarks(vectors, 100))
    100
    """
    import faiss

    n_papers = len(vectors)
    if n_landmarks >= n_papers:
        return np.arange(n_papers)
    rng = np.random.default_rng(seed)
    n_cells = max(1, min(_CELLS, n_landmarks // (2 * _IN_A_CELL)))
    trained_on = np.sort(rng.choice(n_papers, size=min(n_papers, 100 * n_cells), replace=False))
    library: Any = faiss
    kmeans = library.Kmeans(vectors.shape[1], n_cells, niter=10, seed=seed + 1, spherical=True)
    kmeans.train(np.ascontiguousarray(vectors[trained_on], dtype=np.float32))
    cells = np.concatenate(
        [
            kmeans.index.search(np.ascontiguousarray(vectors[start : start + 65_536]), 1)[1][:, 0]
            for start in range(0, n_papers, 65_536)
        ]
    )
    sizes = np.bincount(cells, minlength=n_cells)
    quotas = np.minimum(sizes, np.maximum(_IN_A_CELL, -(-sizes * n_landmarks // n_papers)))
    # The order of the papers within a cell is random.
    shuffled = np.lexsort((rng.random(n_papers), cells))
    place = np.arange(n_papers) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen: NDArray[np.int64] = np.sort(shuffled[place < np.repeat(quotas, sizes)])
    return chosen


_CELLS = 1024  # maximum number of k-means cells from which landmarks are chosen
_IN_A_CELL = 30  # landmarks of a sparse cell: two neighbourhoods of UMAP


def memberships(distances: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the fuzzy memberships of neighbours from their distances."""
    distances = np.asarray(distances, dtype=np.float64)
    excess = np.maximum(distances - distances.min(axis=1, keepdims=True), 0.0)
    target = max(np.log2(distances.shape[1]), 1.0)
    low = np.full(len(distances), 1e-8)
    high = np.full(len(distances), max(excess.max(), 1e-6) * 64)
    for _ in range(64):  # bisection on sigma for all rows at once
        sigma = 0.5 * (low + high)
        too_wide = np.exp(-excess / sigma[:, None]).sum(axis=1) > target
        high = np.where(too_wide, sigma, high)
        low = np.where(too_wide, low, sigma)
    return np.exp(-excess / (0.5 * (low + high))[:, None])
