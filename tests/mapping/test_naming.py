"""Names of regions."""

from __future__ import annotations

import numpy as np

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.mapping._naming import choose_names, phrase_table, score_phrases


def test_a_name_of_few_papers_gets_a_second_one() -> None:
    few, many = [["planetary nebulae"]] * 8, [["star-forming regions"]] * 17
    here = few + many + [[f"x {n}"] for n in range(75)]
    elsewhere = [["star-forming regions"]] * 3 + [["comet tails"]] * 97
    table = phrase_table(here + elsewhere)
    region = np.repeat([0, 1], 100)
    ranked = score_phrases(table, region, [[1], [0]])
    names, _ = choose_names(table, ranked, 2)
    assert names == ["Planetary nebulae and star-forming regions", "Comet tails"]
