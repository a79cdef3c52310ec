from ._embedder import Embedder, load_embedder
from ._minilm import MiniLM
from ._neighbours import VectorIndex, nearest

__all__ = ["Embedder", "MiniLM", "VectorIndex", "load_embedder", "nearest"]
