from ._attribution import evaluate_attribution
from ._feedback import read_feedback, write_feedback
from ._layers import evaluate_concepts, evaluate_facilities
from ._making import make_benchmark
from ._questions import Query, read_queries
from ._surveys import evaluate_survey, questions_from_citations
from .citing import evaluate_citing
from .retrieval import evaluate_retrieval

__all__ = [
    "Query",
    "evaluate_attribution",
    "evaluate_citing",
    "evaluate_concepts",
    "evaluate_facilities",
    "evaluate_retrieval",
    "evaluate_survey",
    "make_benchmark",
    "questions_from_citations",
    "read_feedback",
    "read_queries",
    "write_feedback",
]
