"""Survey a question as a scholar does: search, select, follow citations, and again.

>>> from landscape.agents.survey.settings import SurveySettings
>>> SurveySettings().depth
3
"""
