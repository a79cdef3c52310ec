from ._openai import OpenAIEmbedder
from .embedder import Embedder, load_embedder
from .minilm import MiniLM
from .neighbours import VectorIndex, nearest

__all__ = ["Embedder", "MiniLM", "OpenAIEmbedder", "VectorIndex", "load_embedder", "nearest"]
