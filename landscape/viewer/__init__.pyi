from .exporting import export
from .settings import PublishSettings, SourceSettings
from .site import publish, single_page
from .source import MapSource

__all__ = ["MapSource", "PublishSettings", "SourceSettings", "export", "publish", "single_page"]
