"""Options of figures: unknown ones, known analyses, and axes of the user."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from landscape import Atlas, figures
from landscape.errors import InputError
from landscape.overlays import missions


@pytest.mark.parametrize("draw", [figures.trends, figures.trends.scene, figures.time_slices])
def test_an_unknown_option_is_refused(draw, demo_atlas: Atlas) -> None:
    with pytest.raises(TypeError, match="colour"):
        draw(demo_atlas, colour="dark")


def test_a_figure_of_several_panels_is_not_drawn_into_one_ax(demo_atlas: Atlas) -> None:
    _, ax = plt.subplots()
    with pytest.raises(InputError, match="panels"):
        figures.time_slices(demo_atlas, ax=ax)
    plt.close("all")


def test_a_known_analysis_has_the_period_of_the_figure(demo_atlas: Atlas) -> None:
    known = missions.impact(demo_atlas, ["ALMA"], n_resamples=10)
    assert figures.impact.scene(demo_atlas, analysis=known).table is known.table
    with pytest.raises(InputError, match="2020"):
        figures.impact(demo_atlas, analysis=known, since=2020)


def test_a_table_is_no_analysis(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match="DataFrame"):
        figures.trends(demo_atlas, analysis=demo_atlas.papers)
