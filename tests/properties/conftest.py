"""Fixtures with the small atlas of the pipeline tests."""

from tests.pipeline.conftest import few_papers, finished

__all__ = ["few_papers", "finished"]
