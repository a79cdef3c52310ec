"""Words of a search are the same in Python and in the browser: both pass one file of cases."""

from __future__ import annotations

import json
from pathlib import Path

from landscape.text import tokenise
from landscape.text.word_index import STOP_WORDS

ROOT = Path(__file__).parents[2]
CASES = ROOT / "landscape/viewer/js/tests/search_words.json"
QUERIES = (
    "dark matter haloes",
    "Star-forming galaxies at z ~ 2",
    "quasars at z > 6.5",
    "redshift 3 galaxies",
    "NGC 1275",
    "NGC1275",
    "M 31",
    "M31 globular clusters",
    "SN 2023ixf",
    "AT 2018cow",
    "GW170817",
    "H alpha emission",
    "Hα emitters",
    "Lyman-alpha forest",
    "Lyman alpha emitters",
    "X-ray binaries",
    "N-body simulations",
    "21 cm cosmology",
    "ΛCDM",
    "supernovae",
    "analyses of spectra",
    "masses of nebulae",
    "indices of colour",
    "ionised gas",
    "Schrödinger Poisson",
    "Gaia DR3",
    "10^9 solar masses",
    "C+ cooling",
    "Sgr A*",
    "What causes the Hubble tension?",
)


def written() -> str:
    """Return the cases: each query with the words that Python searches."""
    cases = [
        {
            "query": query,
            "words": tokenise(query),
            "stop": sorted(STOP_WORDS & set(query.lower().split())),
        }
        for query in QUERIES
    ]
    return json.dumps(cases, ensure_ascii=False, indent=1) + "\n"


def test_the_cases_of_the_browser_are_those_of_python() -> None:
    """To write the file again: python -m tests.viewer.test_search_words."""
    assert CASES.read_text("utf-8") == written()


if __name__ == "__main__":
    CASES.write_text(written(), "utf-8")
