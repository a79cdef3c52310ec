from .density import density_grid
from .projection import place, project
from .quality import measure_quality
from .regions import build_topics

__all__ = ["build_topics", "density_grid", "measure_quality", "place", "project"]
