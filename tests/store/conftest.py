"""Fixtures with the small atlases of the pipeline tests, for the tests of the store."""

from tests.pipeline.conftest import atlas_copy, few_papers, finished, papers_file, quick, stages_run

__all__ = ["atlas_copy", "few_papers", "finished", "papers_file", "quick", "stages_run"]
