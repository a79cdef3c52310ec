"""Tables of values and objects of an atlas: units, means, tension, outliers, and one object."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import landscape
from landscape.atlas import Atlas
from landscape.cli import main
from landscape.errors import InputError
from landscape.figures import save_table
from landscape.overlays.objects import describe_object, objects
from landscape.overlays.values import (
    compare_value,
    find_method,
    in_unit,
    tension,
    tension_text,
    values,
    weighted_mean,
)

H0 = {
    "Cepheids": (73.0, 1.0),
    "the tip of the red giant branch": (70.0, 1.7),
    "water masers": (74.0, 3.0),
    "the CMB": (67.4, 0.5),
    "BAO": (68.0, 1.0),
    "gravitational-wave sirens": (72.0, 9.0),
}
_AUTHORS = ("Ames, A.", "Brun, B.", "Chen, C.", "Diaz, D.", "Egli, E.", "Faro, F.")


def papers() -> list[dict[str, Any]]:
    """Return papers that measure H0 by six methods, and papers on objects."""
    listed = [
        {
            "title": f"The expansion from {method}",
            "abstract": f"From {method} we measure H0 = {value} ± {error} km/s/Mpc.",
            "authors": [author],
        }
        for author, (method, (value, error)) in zip(_AUTHORS, H0.items(), strict=True)
    ]
    listed += [
        {
            "title": "The planet WASP-19b",
            "abstract": "We find that WASP-19b has a mass of 1.15 ± 0.05 M_J. The CMB is not.",
            "authors": ["Gray, G."],
        },
        {
            "title": "A transit of WASP-19 b",
            "abstract": "WASP-19 b has a mass of 350 ± 20 Earth masses and a radius of 1.4 R_J.",
            "authors": ["Hahn, H."],
        },
        {
            "title": "M31 and NGC 224",
            "abstract": "The Andromeda galaxy hosts SDSS J004244.33+411607.5 (J0042).",
            "authors": ["Iven, I."],
        },
        {
            "title": "A simulated value",
            "abstract": "LISA will measure H0 = 70 ± 2 km/s/Mpc. We assume H0 = 100 km/s/Mpc.",
            "authors": ["Jung, J."],
        },
    ]
    listed += [
        {
            "title": f"On dust {n}",
            "abstract": f"Dust grain number {n} cools by lines.",
            "authors": [],
        }
        for n in range(40)
    ]
    return [
        {"arxiv_id": f"2{n // 12:03d}.{n:05d}", "date": f"{2010 + n // 12}-{n % 12 + 1:02d}-03",
         "categories": ["astro-ph.CO"], **paper}
        for n, paper in enumerate(listed)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    folder = tmp_path_factory.mktemp("values")
    (folder / "papers.jsonl").write_text("\n".join(map(json.dumps, papers())))
    return landscape.build(folder / "papers.jsonl", folder / "values.atlas")


def test_values_are_listed_with_their_papers(atlas: Atlas) -> None:
    found = values(atlas, quantity="h0")
    assert len(found.table) == len(H0) + 2
    own = found.table[found.table["own"]]
    assert sorted(own["value"]) == sorted(value for value, _ in H0.values())
    assert set(found.table.loc[~found.table["own"], "status"]) == {"forecast", "assumed"}
    for row in own.itertuples():
        assert row.stated in row.sentence
        assert row.method
    assert own.groupby("group").size().to_dict() == {"early": 2, "late": 4}


def test_values_of_an_object_are_in_one_unit(atlas: Atlas) -> None:
    mass = values(atlas, quantity="mass", object="WASP-19b").table
    assert set(mass["unit"]) in ({"jupiterMass"}, {"earthMass"})
    assert mass["value"].max() / mass["value"].min() < 1.1
    assert in_unit(1.0, 0.1, 0.1, "kpc", "pc") == (1000.0, 100.0, 100.0, "pc")
    value, plus, minus, unit = in_unit(10.0, 0.3, 0.3, "dex(solMass)", "solMass")
    assert (value, plus, minus) == pytest.approx((1e10, 9.953e9, 4.988e9), rel=1e-3)
    assert unit == "solMass"
    shifted = in_unit(9.5, 0.2, 0.2, "dex(solMass)", "dex(earthMass)")
    assert shifted[0] == pytest.approx(9.5 + math.log10(332_946), abs=1e-3)
    assert shifted[1:] == (0.2, 0.2, "dex(earthMass)")
    assert in_unit(1e9, 0.0, 0.0, "solMass", "dex(solMass)")[0] == pytest.approx(9.0)
    assert in_unit(-2.3, 0.1, 0.1, "", "") == (-2.3, 0.1, 0.1, "")


def test_unlike_values_have_no_mean_and_no_tension(atlas: Atlas) -> None:
    table = values(atlas, quantity="H0", own=True).table
    mixed = table.assign(unit=["dex(solMass)", *table["unit"].iloc[1:]])
    assert "several quantities or units" in weighted_mean(atlas, mixed).reason
    with pytest.raises(InputError, match="several quantities or units"):
        tension(mixed)
    no_errors = table.assign(plus=np.nan, minus=np.nan)
    assert tension_text(no_errors) == ""


def test_a_paper_counts_once_in_a_tension(atlas: Atlas) -> None:
    table = values(atlas, quantity="H0", own=True).table
    many = pd.concat([table] * 50, ignore_index=True)
    assert tension(many).caption == tension(table).caption
    tiny = table.assign(plus=np.where(table["method"] == "CMB", 1e-9, table["plus"]))
    tiny = tiny.assign(minus=tiny["plus"])
    assert tension(tiny).table["error"].iloc[0] > 1e-3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda atlas: values(atlas, quantity="HO"), "There is no quantity 'HO'"),
        (lambda atlas: compare_value(atlas, "nothing"), "No value is found in 'nothing'"),
        (lambda atlas: compare_value(atlas, "S8 = 0.8"), "No paper of this atlas measures S8"),
        (lambda atlas: compare_value(atlas, "H0 > 70 km/s/Mpc"), "is a limit"),
        (lambda atlas: compare_value(atlas, "a mass of 3 M⊙"), "compared for one object"),
        (lambda atlas: compare_value(atlas, "H0 = 70 ± 1 furlong"), "'furlong' after the value"),
        (lambda atlas: describe_object(atlas, "  "), "Give the name of an object"),
        (lambda atlas: objects(atlas, limit=0), "limit is 0"),
        (
            lambda atlas: landscape.figures.values(atlas, mine="WASP-19b has a mass of 1 M_J"),
            "is no value of H0",
        ),
        (lambda atlas: describe_object(atlas, "M32"), "No paper of this atlas names NGC 221"),
        (lambda atlas: objects(atlas, kind="plant"), "No object is a 'plant'"),
    ],
)
def test_wrong_names_are_one_sentence(
    atlas: Atlas, call: Callable[[Atlas], object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        call(atlas)


def test_a_mean_needs_independent_values(atlas: Atlas) -> None:
    table = values(atlas, quantity="H0", own=True).table
    mean = weighted_mean(atlas, table)
    numbers = np.array(list(H0.values()))
    weights = 1 / numbers[:, 1] ** 2
    assert mean.value == pytest.approx(weights @ numbers[:, 0] / weights.sum())
    assert mean.error == pytest.approx(weights.sum() ** -0.5)
    twice = pd.concat([table, table.head(1)], ignore_index=True)
    assert weighted_mean(atlas, twice).reason == "No mean: 2 of 7 values share their paper."
    shared = table.assign(authors=[["Ames, A."]] * len(table))
    assert "Ames, A. as an author" in weighted_mean(atlas, shared).reason


def test_tension_is_between_two_bounds(atlas: Atlas) -> None:
    found = tension(values(atlas, quantity="H0", own=True).table)
    early = found.table.set_index("group").loc["early"]
    assert early["mean"] == pytest.approx((67.4 / 0.25 + 68.0) / (1 / 0.25 + 1))
    assert (found.table["error"] < found.table["error_shared"]).all()
    assert "σ if the values of each group shared their errors" in found.caption


def test_only_cosmological_values_are_of_the_early_or_late_universe(atlas: Atlas) -> None:
    assert {*values(atlas, quantity="H0", own=True).table["group"]} == {"early", "late"}
    masses = values(atlas, object="WASP-19 b").table
    assert not {*masses["group"]} & {"early", "late"}
    assert "CMB" not in {*masses["method"]}


@pytest.mark.parametrize(("given", "verdict"), [("70 ± 1", "no outlier"), ("95 ± 1", "an outlier")])
def test_an_outlier_is_named(atlas: Atlas, given: str, verdict: str) -> None:
    found = compare_value(atlas, f"H0 = {given} km/s/Mpc")
    assert f"is {verdict}:" in found.caption
    nearest = found.table["value"].iloc[0]
    assert abs(nearest - float(given[:2])) == (found.table["value"] - float(given[:2])).abs().min()


def test_few_values_are_not_judged(atlas: Atlas) -> None:
    assert "too few to judge" in compare_value(atlas, "WASP-19b has a mass of 9 M_J").caption


def test_objects_are_counted_together_in_all_forms(atlas: Atlas) -> None:
    found = objects(atlas).table.set_index("name")
    assert found.loc["NGC 224", "papers"] == 1
    assert found.loc["WASP-19 b", ["papers", "measured", "kind"]].tolist() == [2, 2, "planet"]
    star = found.loc["SDSS J004244.33+411607.5"]
    assert (star["ra"], star["dec"]) == pytest.approx((10.68471, 41.26875), abs=1e-4)
    assert objects(atlas, kind="planet").table["name"].tolist() == ["WASP-19 b"]
    assert objects(atlas, filter="year<=1990").table.empty


def test_the_report_on_an_object(atlas: Atlas) -> None:
    found = describe_object(atlas, "WASP-19b")
    assert found.tables["measured"]["quantity"].tolist().count("mass") == 2
    assert found.tables["years"]["papers"].sum() == 2
    assert found.tables["papers"]["title"].tolist()[0] in {
        "The planet WASP-19b",
        "A transit of WASP-19 b",
    }
    assert "planet" in found.to_text()


def test_the_filter_finds_all_forms_of_a_name(atlas: Atlas) -> None:
    assert len(atlas.select('object:"M 31"')) == len(atlas.select("object:(Andromeda galaxy)")) == 1
    assert len(atlas.select("object:WASP-19")) == 2  # the star of the planet
    assert len(atlas.select('-object:"M 31"')) == len(atlas) - 1


def test_a_votable_is_read_by_astropy(atlas: Atlas, tmp_path: Path) -> None:
    from astropy.table import Table

    file = save_table(objects(atlas), tmp_path / "objects.vot")
    table = Table.read(io.BytesIO(file.read_bytes()), format="votable")
    assert str(table["ra"].unit) == "deg"
    assert "WASP-19 b" in list(table["name"])


def test_a_question_for_a_value_is_answered_from_the_table(atlas: Atlas) -> None:
    found = atlas.ask("What is the value of the Hubble constant?", model=None)
    assert not found.abstained
    assert "6 papers measure H0: median 71 km Mpc⁻¹ s⁻¹" in found.text
    assert "73.0 ± 1.0 km/s/Mpc, Cepheids and supernovae" in found.text
    labels = {paper.label for paper in found.papers}
    assert all(label in labels for claim in found.claims for label in claim.citations)
    massive = atlas.ask("How massive is WASP-19 b?", model=None).text
    assert "2 papers measure mass of WASP-19 b" in massive
    assert "measure" not in atlas.ask("How massive is NGC 1068?", model=None).text.splitlines()[0]


@pytest.mark.parametrize(
    "question", ["How does WASP-19b lose its mass?", "What determines the mass of WASP-19b?"]
)
def test_a_question_for_a_cause_is_not_answered_with_a_value(atlas: Atlas, question: str) -> None:
    assert "papers measure" not in atlas.ask(question, model=None).text


def test_check_names_an_outlier(atlas: Atlas, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "d.bib").write_text("@article{a, title={T}, author={A, B}, year={2020}}")
    (tmp_path / "d.tex").write_text(
        r"\begin{document}We find $H_0 = 95 \pm 1$ km/s/Mpc.\end{document}"
    )
    words = ["check", str(tmp_path / "d.tex"), str(tmp_path / "d.bib"), "--no-model"]
    assert main([*words, "--atlas", str(atlas.path)]) == 0
    assert "is an outlier" in " ".join(capsys.readouterr().out.split())


def test_commands(atlas: Atlas, tmp_path: Path, capsys: Any) -> None:
    assert main(["object", "WASP-19b", str(atlas.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "object"
    assert main(["object", "WASP-19b", str(atlas.path)]) == 0
    assert "Measured" in capsys.readouterr().out
    assert (
        main(["value", "H0 = 70 ± 1 km/s/Mpc", str(atlas.path), "-o", str(tmp_path / "v.html")])
        == 0
    )
    assert "no outlier" in (tmp_path / "v.html").read_text()


def test_the_forest_plot_shows_every_measured_value(atlas: Atlas) -> None:
    from landscape.figures import values as draw

    sheet = draw(atlas, mine="H0 = 70 ± 1 km/s/Mpc")
    assert len(sheet.table) == len(H0)
    assert "Forest plot" in sheet.alt_text
    assert "no outlier" in sheet.alt_text
    with pytest.raises(InputError, match="No paper of this atlas measures S8"):
        draw(atlas, quantity="S8")


def test_the_method_is_the_nearest_that_is_used() -> None:
    title, abstract = "The Hubble constant from Cepheids", "Independent of the CMB, and more."
    assert find_method("Independent of the CMB, we find H0 = ", title) == (
        "Cepheids and supernovae"
    )
    assert find_method("In contrast to Planck, ", abstract, title) == "Cepheids and supernovae"
    assert find_method("The CMB is old; from water masers we find ", title) == "megamasers"
