from . import agents, errors, figures, outreach, overlays, viewer, widgets
from ._bibliography import citation
from .atlas import Atlas, build, open, open_demo, update  # noqa: A004

__version__: str

__all__ = [
    "Atlas", "__version__", "agents", "build", "citation", "errors", "figures", "open",
    "open_demo", "outreach", "overlays", "update", "viewer", "widgets",
]  # fmt: skip
