"""Read the manifest, the tables, the layers and the arrays of an atlas."""

from landscape.store._atlas_store import AtlasStore

__all__ = ["AtlasStore"]
