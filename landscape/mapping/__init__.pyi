from ._density import density_grid
from ._projection import place, project
from ._quality import measure_quality
from ._regions import build_topics

__all__ = ["build_topics", "density_grid", "measure_quality", "place", "project"]
