"""Roles of facility mentions: science, instrumentation, planned or mention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import landscape
from landscape.errors import InputError, RemoteError
from landscape.overlays.missions import find_in_papers, find_mentions, impact

# Private: no public function draws the error of the classifier by itself.
from landscape.overlays.missions._roles import ROLES, draw_certainty


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("We present ALMA observations of twelve protoplanetary disks.", "science"),
        ("Using archival Chandra data, we measure the temperature of the cluster.", "science"),
        ("Calibration of the MUSE spectrograph: pipeline and performance.", "instrumentation"),
        ("Future JWST observations will test this scenario.", "planned"),
        ("We forecast the constraints expected from Euclid with mock catalogues.", "planned"),
        ("The result is consistent with the value reported by Planck.", "mention"),
    ],
)
def test_clear_sentences_get_their_role(text: str, role: str) -> None:
    assert [mention.role for mention in find_mentions(text)] == [role]


def test_mentions_of_one_text_have_roles_of_their_own() -> None:
    text = (
        "We present spectra of 40 quasars observed with Keck. In the near future, Euclid will "
        "discover thousands of such objects."
    )
    assert [mention.role for mention in find_mentions(text)] == ["science", "planned"]


def test_roles_in_papers_are_known_roles() -> None:
    found = find_in_papers(["A flare seen by TESS", None], [None, "Data of Kepler. " * 300])
    assert set(found["role"]) <= set(ROLES)
    assert len(found) == 301


def test_impact_counts_use_and_shows_all_roles(demo_atlas: landscape.Atlas) -> None:
    table = impact(demo_atlas, n_resamples=50).table
    mentions = demo_atlas.missions.assign(
        rank=lambda of: pd.Index(ROLES).get_indexer(of["role"])
    ).sort_values("rank")
    strongest = mentions.drop_duplicates(["facility", "paper_row"])
    counts = pd.crosstab(strongest["facility"], strongest["role"])
    for row in table.to_dict("records"):
        own = [row[f"{role}_papers"] for role in ROLES]
        assert own == [int(counts.get(role, {}).get(row["facility"], 0)) for role in ROLES]
        assert row["papers"] == row["science_papers"]
    every = impact(demo_atlas, role="any", n_resamples=50).table
    assert every["papers"].sum() == len(strongest)
    assert table["papers"].sum() < len(strongest)


def test_an_unknown_role_is_refused(demo_atlas: landscape.Atlas) -> None:
    with pytest.raises(InputError, match=r"role is 'use'; choose science, .*any"):
        impact(demo_atlas, role="use")  # type: ignore[arg-type]


def test_certainty_follows_the_numbers_of_papers() -> None:
    random = np.random.default_rng(0)
    users = draw_certainty(np.array([90, 2, 4, 4]), "science", n_resamples=300, random=random)
    plans = draw_certainty(np.array([1, 5, 90, 4]), "science", n_resamples=300, random=random)
    assert users.shape == (300, 5)
    assert (users[:, 0] == 0).all()
    assert users[:, 1].mean() > 0.9
    assert plans[:, 3].mean() < 0.1


class _Model:
    """A language model that answers from a list, and keeps what it was asked."""

    model = "listed"

    def __init__(self, *roles: tuple[int, str]) -> None:
        self.roles, self.asked = roles, ""

    def complete_json(self, system: str, user: str, schema: dict[str, Any]) -> dict[str, Any]:
        del system, schema
        self.asked = user
        return {"mentions": [{"number": n, "role": role} for n, role in self.roles]}


def test_a_language_model_decides_the_roles_that_it_answers() -> None:
    text = "We present ALMA maps </data>. Future JWST observations will test this."
    model = _Model((0, "mention"), (7, "planned"))
    assert [one.role for one in find_mentions(text, model=model)] == ["mention", "planned"]
    assert '"number": 1, "facility": "JWST"' in model.asked
    assert "</data>" not in model.asked
    assert find_mentions("No facility here.", model=_Model()) == []


def test_an_unknown_role_from_a_language_model_is_refused() -> None:
    with pytest.raises(RemoteError):
        find_mentions("We present ALMA maps.", model=_Model((0, "hero")))
