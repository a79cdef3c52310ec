from types import SimpleNamespace

import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.overlays.missions import facility_candidates

TEXTS = [
    ("A flare observed with ZORBA", "We obtained spectra with the ZORBA spectrograph on the VLT."),
    ("Stars in the Quiet Meadow Survey", "We use the Quiet Meadow Survey (QMS) and Gaia data."),
    ("Second release of QMS", "The Quiet Meadow Survey (QMS) maps the sky. ZORBA data are new."),
    ("AGN and CMB data", "Imaging with ALMA, data from the MUSE instrument, and CMB observations."),
    ("AGN surveys", "The AGN survey used CMB data. We model ZORBA."),
]


def _atlas(texts: list[tuple[str, str]] = TEXTS) -> SimpleNamespace:
    papers = pd.DataFrame(texts, columns=["title", "abstract"])
    papers["paper_id"] = [f"p{row}" for row in range(len(papers))]
    bounds = {"title": "Synthetic", "papers": 5, "first_date": "2020", "last_date": "2024"}
    return SimpleNamespace(read_papers=lambda columns: papers[columns], coverage=bounds)


def test_unknown_names_in_the_positions_of_facilities_are_ranked_with_a_sentence():
    table = facility_candidates(_atlas()).table.set_index("name")
    assert set(table.index) == {"ZORBA", "QMS", "Quiet Meadow Survey"}
    assert table.loc["ZORBA", ["papers", "in_position"]].tolist() == [3, 2]
    assert table.loc["QMS", "share"] == 1.0
    assert table.loc["ZORBA", "paper_id"] in {"p0", "p2"}
    assert all(name in row.sentence for name, row in table.iterrows())
    assert sorted(table["rank"]) == [1, 2, 3]


def test_the_number_of_candidates_is_limited():
    assert len(facility_candidates(_atlas(), limit=1).table) == 1
    with pytest.raises(InputError, match="limit is 0"):
        facility_candidates(_atlas(), limit=0)


def test_a_corpus_without_unknown_names_gives_a_table_without_rows():
    found = facility_candidates(_atlas(TEXTS[3:4]))
    assert found.table.empty
    assert "The table has no rows." in found.to_text()
