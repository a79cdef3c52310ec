"""Charts of values with intervals: for print and for the browser, from the same rows."""

from __future__ import annotations

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape import figures
from landscape.errors import InputError
from landscape.figures import interactive
from landscape.figures._intervals import KINDS, ask, interval_rows
from landscape.figures.plotly_backend import MAX_MARKS, count_marks
from landscape.overlays.missions import before_after, compare_facilities
from landscape.overlays.reviews import reviews

pytest.importorskip("plotly")
GIVEN = {"before_after": ("HST",), "compare_facilities": (["HST", "ALMA"],)}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_is_drawn_for_print_and_for_the_browser(demo_atlas, kind):
    arguments = GIVEN.get(kind, ())
    sheet = figures.intervals(kind, demo_atlas, *arguments)
    twin = interactive(kind, demo_atlas, *arguments)
    assert sheet.alt_text
    assert len(sheet.axes[0].lines) >= 2
    assert 0 < count_marks(twin) <= MAX_MARKS
    rows = interval_rows(kind, ask(kind, demo_atlas, *arguments)).rows
    drawn = np.concatenate([np.asarray(trace.x, dtype=float) for trace in twin.data])
    assert np.allclose(np.sort(drawn), np.sort(rows["value"].to_numpy()), equal_nan=True)


def test_the_dots_are_the_numbers_of_the_table(demo_atlas):
    found = before_after(demo_atlas, "HST")
    rows = interval_rows("before_after", found).rows.set_index(["label", "group"])
    table = found.table.set_index("label")
    assert rows.index[0][0] == "All regions"
    for label, group in rows.index:
        side = "before" if group == "before" else "after"
        assert rows.loc[(label, group), "value"] == table.loc[label, f"share_{side}"]


def test_differences_are_of_the_first_facility_against_each_other(demo_atlas):
    found = compare_facilities(demo_atlas, ["HST", "ALMA", "Chandra"])
    shown = interval_rows("compare_facilities", found, most=5)
    assert shown.groups == ["HST less ALMA", "HST less Chandra"]
    assert len(shown.labels) == 5
    assert shown.reference == 0


def test_coverage_has_a_dot_for_every_region_that_is_grey_if_it_agrees(demo_atlas):
    found = reviews(demo_atlas)
    found.table[["density_ratio_low", "density_ratio_high"]] = [0.5, 2.0]
    twin = interactive("coverage", demo_atlas, analysis=found)
    assert len(twin.data[0].x) == len(found.table)
    assert len(set(twin.data[0].marker.color)) == 1
    ratio = ["density_ratio", "density_ratio_low", "density_ratio_high"]
    found.table.loc[:1, ratio] = [0.2, 0.1, 0.5]
    twin = interactive("coverage", demo_atlas, analysis=found)
    assert len(set(twin.data[0].marker.color)) == 2
    assert "expected" in twin.data[0].hovertext[0]


def test_unknown_kinds_are_refused(demo_atlas):
    with pytest.raises(InputError, match="Unknown intervals: 'pies'"):
        figures.intervals("pies", demo_atlas)


def test_a_page_is_as_high_as_its_rows_need(demo_atlas):
    few = figures.intervals("facilities", demo_atlas, ["HST"]).get_size_inches()
    many = figures.intervals("uat_gaps", demo_atlas).get_size_inches()
    assert few[0] == many[0] == 11.0
    assert few[1] < many[1] <= 8.5
    chosen = figures.intervals("facilities", demo_atlas, ["HST"], size_inches=(7.0, 5.0))
    assert tuple(chosen.get_size_inches()) == (7.0, 5.0)


def test_no_interval_leaves_its_axis(demo_atlas):
    for kind in KINDS:
        figure = figures.intervals(kind, demo_atlas, *GIVEN.get(kind, ()))
        (axes,) = [axes for axes in figure.axes if axes.get_gid() == "intervals"]
        rows = interval_rows(kind, ask(kind, demo_atlas, *GIVEN.get(kind, ()))).rows
        low, high = axes.get_xlim()
        ends = rows[["low", "value", "high"]].to_numpy()
        assert low <= np.nanmin(ends), kind
        assert np.nanmax(ends) <= high, kind
