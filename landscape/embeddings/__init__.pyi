from ._minilm import MiniLM
from .embedder import Embedder, load_embedder
from .neighbours import VectorIndex, nearest

__all__ = ["Embedder", "MiniLM", "VectorIndex", "load_embedder", "nearest"]
