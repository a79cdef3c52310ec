"""The small atlases of the tests of the build, for the tests of the storage."""

from tests.pipeline.conftest import atlas_copy, few_papers, finished, papers_file, quick, stages_run

__all__ = ["atlas_copy", "few_papers", "finished", "papers_file", "quick", "stages_run"]
