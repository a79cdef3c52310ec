"""Embeddings and nearest neighbours in the full dimension."""
