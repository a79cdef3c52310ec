from ._ask_panel import AskPanel
from ._citation_panel import CitationPanel
from ._connection import Connection
from ._explorer import MapExplorer
from ._impact_panel import ImpactPanel
from ._outreach_panel import OutreachPanel
from ._review_panel import ReviewPanel
from ._survey_panel import SurveyPanel
from ._thesaurus_panel import ThesaurusPanel
from ._trends_panel import TrendsPanel
from ._writing_panel import WritingPanel

__all__ = [
    "AskPanel",
    "CitationPanel",
    "Connection",
    "ImpactPanel",
    "MapExplorer",
    "OutreachPanel",
    "ReviewPanel",
    "SurveyPanel",
    "ThesaurusPanel",
    "TrendsPanel",
    "WritingPanel",
]
