from . import agents, errors, figures, outreach, overlays, widgets
from .atlas import Atlas, build, open, open_demo, update  # noqa: A004

__version__: str

__all__ = [
    "Atlas", "__version__", "agents", "build", "errors", "figures", "open", "open_demo",
    "outreach", "overlays", "update", "widgets",
]  # fmt: skip
