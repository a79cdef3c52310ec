from ._ask_panel import AskPanel
from ._citation_panel import CitationPanel
from ._connection import Connection
from ._explorer import MapExplorer
from ._library_panels import DigestPanel, LibraryPanel
from ._outreach_panel import OutreachPanel
from ._overlay_panels import ImpactPanel, ReviewPanel, ThesaurusPanel, TrendsPanel
from ._survey_panel import SurveyPanel
from ._workbench import Workbench
from ._writing_panel import WritingPanel

__all__ = [
    "AskPanel",
    "CitationPanel",
    "Connection",
    "DigestPanel",
    "ImpactPanel",
    "LibraryPanel",
    "MapExplorer",
    "OutreachPanel",
    "ReviewPanel",
    "SurveyPanel",
    "ThesaurusPanel",
    "TrendsPanel",
    "Workbench",
    "WritingPanel",
]
