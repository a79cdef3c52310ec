"""Embeddings of papers, queries and words, and nearest neighbours in the full dimension.

>>> from landscape import embeddings
>>> embeddings.load_embedder("minilm").dimension
384
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from landscape.embeddings._embedder import (
        Embedder,
        embed_few,
        embedder_for,
        embedding_text,
        load_embedder,
    )
    from landscape.embeddings._minilm import MiniLM
    from landscape.embeddings._neighbours import VectorIndex, nearest
    from landscape.embeddings._openai import OpenAIEmbedder
    from landscape.embeddings._precomputed import ReadyVectors
    from landscape.embeddings._sentence_transformers import SentenceTransformerEmbedder
    from landscape.embeddings._word_vectors import WordVectors, late_interaction

__all__ = [
    "Embedder",
    "MiniLM",
    "OpenAIEmbedder",
    "ReadyVectors",
    "SentenceTransformerEmbedder",
    "VectorIndex",
    "WordVectors",
    "embed_few",
    "embedder_for",
    "embedding_text",
    "late_interaction",
    "load_embedder",
    "nearest",
]

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_embedder": ["Embedder", "embed_few", "embedder_for", "embedding_text", "load_embedder"],
        "_minilm": ["MiniLM"],
        "_neighbours": ["VectorIndex", "nearest"],
        "_openai": ["OpenAIEmbedder"],
        "_precomputed": ["ReadyVectors"],
        "_sentence_transformers": ["SentenceTransformerEmbedder"],
        "_word_vectors": ["WordVectors", "late_interaction"],
    },
)
