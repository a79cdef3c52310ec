"""What of an atlas its terrain is made of: years, regions and citations, where it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def years_of(atlas: Any, n_papers: int) -> NDArray[np.float64]:
    """Year of each paper, NaN where unknown; atlases without years have none."""
    if not hasattr(atlas, "read_papers"):
        return np.full(n_papers, np.nan)
    return np.asarray(atlas.read_papers(["year"])["year"].to_numpy(np.float64, na_value=np.nan))


def topics_of(atlas: Any, n_papers: int) -> NDArray[np.int64]:
    """Region of each paper, -1 outside; atlases without regions have none."""
    if "topic_id" not in atlas.map:
        return np.full(n_papers, -1)
    return np.asarray(atlas.map["topic_id"], dtype=np.int64)


def citations_of(atlas: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of citing and cited papers, for citations with both ends in the atlas."""
    graph = getattr(atlas, "citations", None)
    if graph is None or not graph.n_links:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    links = graph.reference_links
    citing = np.repeat(np.arange(links.n_nodes), links.degrees)
    cited = np.asarray(links.targets, dtype=np.int64)
    both = (citing < len(atlas.map)) & (cited < len(atlas.map))
    return citing[both], cited[both]


def digest_of(*columns: NDArray[Any]) -> str:
    """Digest of columns of numbers: the same numbers, the same digest."""
    import hashlib

    whole = hashlib.sha256()
    for column in columns:
        whole.update(np.ascontiguousarray(column).tobytes())
    return whole.hexdigest()[:32]
