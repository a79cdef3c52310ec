from .basemap import Basemap, export_basemap, read_basemap
from .density import density_grid
from .projection import place, project
from .quality import measure_quality
from .regions import build_topics

__all__ = [
    "Basemap", "build_topics", "density_grid", "export_basemap", "measure_quality", "place",
    "project", "read_basemap",
]  # fmt: skip
