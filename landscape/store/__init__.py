"""Read side of an atlas: manifest, tables, layers and arrays."""

from landscape.store._atlas_store import AtlasStore

__all__ = ["AtlasStore"]
