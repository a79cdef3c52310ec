"""Columns that panels and LaTeX tables show, with their headings.

The heading of a column is its name in words unless `_HEADINGS` has another. Values of columns with
(%) or (points) are shares, which are multiplied by 100.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_HEADINGS = {
    "a_papers": "Papers of a",
    "a_share": "Share of a (%)",
    "about": "Keywords; for a sea or river, the adjacent regions",
    "alternatives": "Other spellings",
    "area_50": "Area of 50% (%)",
    "area_80": "Area of 80% (%)",
    "b_papers": "Papers of b",
    "b_share": "Share of b (%)",
    "bar": "Minimum",
    "citation_percentile": "Citation percentile (%)",
    "citations_share": "Citations (%)",
    "change_years": "Years of change",
    "cites": "Citations",
    "class": "Trend",
    "concepts.label": "Concept",
    "density_ratio": "Reviews to expected",
    "draft_check.evidence": "Sentence of the paper",
    "draft_check.sentence": "Sentence of the draft",
    "impact.rise": "Rise since first light (points)",
    "label": "Region",
    "fidelity.value": "This picture",
    "fidelity.verdict": "Reached",
    "led": "Found",
    "lettered": "On the map",
    "local_share": "Main regions (%)",
    "main_region": "Most papers in",
    "map_places.technical": "Technical name",
    "n_authors": "Authors",
    "n_papers": "Papers",
    "need": "Absolute need",
    "note": "Meaning",
    "of_facility": "Of the facility's papers (%)",
    "other": "Compared with",
    "other_value": "Value of the other",
    "outside_home": "Outside home (%)",
    "over_in": "More in",
    "paper_id": "Key",
    "papers_after": "Papers since",
    "papers_waiting.title": "Papers newer than the reviews near them",
    "parent": "Broader term",
    "pieces_50": "Pieces of 50%",
    "pieces_80": "Pieces of 80%",
    "q": "False discovery rate",
    "recent_share": "New papers at the peak (%)",
    "region_papers": "All papers",
    "region_share": "Of the region (%)",
    "review_gaps.score": "Relative gap",
    "rise": "Rise (points)",
    "separability_full": "Separability by meaning",
    "separability_map": "Separability on the map",
    "share": "Share (%)",
    "share_after": "Share since (%)",
    "share_before": "Share before (%)",
    "slope": "Change of the log odds per year",
    "step": "Distance from the previous paper",
    "thesaurus_gaps.name": "Proposed term",
    "thesaurus_overlay.label": "Concept",
    "why": "Reason",
}
# A LaTeX table has the first eight of these columns; columns that a table lacks are omitted.
_PLACES = "country papers fractional share effective_regions main_region"
SHOWN = {
    "author": "date title label n_authors step affiliation group",
    "author_summary": "measure value note",
    "before_after": "label papers_before share_before papers_after share_after rise growth",
    "compare": "label a_papers b_papers a_share b_share odds_ratio q over_in",
    "compare_facilities": "measure facility other value other_value difference probability",
    "concepts": "label level papers with_narrower share",
    "countries": _PLACES,
    "draft_check": "line key verdict sentence evidence why",
    "facility_regions": "label papers region_papers share of_facility share_before rise",
    "fidelity": "measure value bar verdict",
    "impact": "period facility papers share local_share citations_share effective_regions "
    "outside_home rise citations citation_percentile bridging",
    "institutions": f"institution {_PLACES}",
    "map_places": "name technical kind n_papers share recent_share lettered about",
    "papers_waiting": "place title year cites paper_id",
    "review_gaps": "rank label papers reviews last_review papers_since growth score need expected "
    "newer_papers citations years_without disagreement",
    "reviews": "label papers reviews expected share density_ratio last_review papers_since "
    "years_without",
    "survey": "decision score title year reason led",
    "thesaurus_gaps": "rank name parent region papers growth novelty score nearest region_share "
    "alternatives",
    "thesaurus_overlay": "label papers share area_50 area_80 pieces_50 separability_full "
    "separability_map pieces_80",
    "trends": "label papers share slope change q class change_years why",
}
_NOT_SHOWN = ("_id", "_row", "_low", "_high")  # ends of names in a table of another kind


def shown_columns(table: pd.DataFrame, kind: str) -> list[str]:
    """Return the names of the columns of a table that are shown, in order."""
    if kind in SHOWN:
        return [name for name in SHOWN[kind].split() if name in table]
    return [str(name) for name in table if not str(name).endswith(_NOT_SHOWN)]


def heading(kind: str, name: str) -> str:
    """Return the heading of a column.

    >>> heading("review_gaps", "score"), heading("survey", "score"), heading("", "share")
    ('Relative gap', 'Score', 'Share (%)')
    """
    words = name[:1].upper() + name[1:].replace("_", " ")
    return _HEADINGS.get(f"{kind}.{name}", _HEADINGS.get(name, words))
