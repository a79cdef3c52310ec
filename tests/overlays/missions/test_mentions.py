import gzip
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from landscape.corpus import find_facility
from landscape.corpus.demo import write_demo
from landscape.evaluation import evaluate_facilities
from landscape.overlays.missions import find_in_papers, find_mentions
from tests.timing import assert_cost, assert_growth

LABELS = Path(__file__).with_name("labels.jsonl")
ABSTRACT = (
    "We present ALMA and JWST observations of a disk around a young star. " * 3
    + "The Hubble constant is no part of it and the rest is about dust and gas in it. " * 12
)
QUIET = "The rest is about dust and gas in it, and no instrument has a name here. " * 15


def facilities(text: str) -> list[str]:
    return [mention.facility for mention in find_mentions(text)]


@pytest.mark.parametrize(
    "text",
    [
        "The Hubble constant, the Hubble flow, the Hubble sequence and the Hubble tension.",
        "Kepler's third law and Keplerian rotation around the star.",
        "The Fermi energy, Fermi acceleration and the Fermi paradox.",
        "At the Planck mass the Planck function is no help; a Fokker-Planck equation is.",
        "Einstein rings and Bose-Einstein condensates; Einstein radius.",
        "Inverse Compton scattering in a Newtonian potential.",
        "A swift wind leaves the cluster. Wind and cluster alike.",
        "Kepler-186f, Swift J1644+57, CoRoT-2 b, WASP-12b, K2-18 b and 2MASS J0523-1403.",
        "The dwarfs WISE 0855-0714 and 2MASS 0415, XTE 1701$-$462 and the source 4FGL 0959.6+4606.",
        "The interstellar comet 3I/ATLAS, and comet C/2017 K2 (PanSTARRS).",
        "The Richardson-Lucy algorithm; Auger electrons; a Parker spiral.",
        "Galaxies in the Virgo cluster and towards Virgo.",
        "We use diffusive shock acceleration (DSA), and DSA is efficient.",
        "Simulated with Athena++ and IllustrisTNG.",
        "THE ORIGIN OF COMPACT MASSIVE GALAXIES",
        "Wind measurements of hot stars. Wind data of Wolf-Rayet stars.",
        "See http://www.esa.int/Planck, and ADS/JAO.ALMA#2015.1.00633.S.",
        "We thank A. Roman and B. Webb; a mass estimate ( Spitzer 1987 ); quasi-Kepler rotation.",
    ],
)
def test_what_only_bears_a_name_is_no_mention(text):
    assert find_mentions(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("observed with Hubble and Spitzer", ["HST", "Spitzer"]),
        ("Hubble's WFC3 images", ["HST", "HST"]),
        ("the Vera C. Rubin Observatory's survey", ["Rubin"]),
        ("LIGO, Virgo and KAGRA detectors", ["LIGO", "Virgo", "KAGRA"]),
        ("the magnetometer aboard the Wind spacecraft", ["Wind"]),
        ("the Advanced Composition Explorer (ACE) measured; ACE saw", ["ACE", "ACE", "ACE"]),
        (r"with \textit{Swift} and {\it Kepler}", ["Swift", "Kepler"]),
        ("IRAS 60-micron fluxes of IRAS 16293-2422", ["IRAS"]),
        ("very large array and HUBBLE SPACE TELESCOPE", ["HST"]),
        ("HERSCHEL and EUCLID images", ["Herschel", "Euclid"]),
        ("HERMES at the Anglo-Australian Telescope; HERMES finds", ["AAT", "AAT", "AAT"]),
        ("MFI maps of the QUIJOTE experiment", ["QUIJOTE", "QUIJOTE"]),
        ("the Isaac Newton Telescope (INT). The INT is great", ["INT", "INT", "INT"]),
        ("Facilities: Blanco (Mosaic-II), Shane", ["Blanco 4m", "Blanco 4m", "Shane 3m"]),
        ("XMM Newton, Fermi LAT and eROSITA", ["XMM-Newton", "Fermi", "eROSITA"]),
        (
            "a quasar seen by Einstein Probe and by the Einstein Observatory",
            ["Einstein Probe", "Einstein Observatory"],
        ),
    ],
)
def test_a_facility_is_recognised(text, expected):
    assert facilities(text) == expected


def test_names_joined_by_a_slash_are_one_mention_and_offsets_hold():
    text = "Spectra of VLT/MUSE, Swift/XRT and Subaru/HSC."
    found = find_mentions(text)
    assert [one.surface for one in found] == ["VLT/MUSE", "Swift/XRT", "Subaru/HSC"]
    assert all(text[one.start : one.end] == one.surface for one in found)


def test_a_title_helps_to_understand_the_abstract():
    titles = ["Pulsars with the Five-hundred-meter Aperture Spherical radio Telescope", "Rotation"]
    abstracts = ["A sensitivity only FAST has.", "Rotation is FAST here."]
    found = find_in_papers(titles, abstracts)
    assert found[["row", "field"]].to_numpy().tolist() == [[0, "title"], [0, "abstract"]]


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "Hubble" * 20_000, "(" * 50_000, "é–\ud800 JWST"]
)
def test_odd_text_does_no_harm(text):
    found = find_mentions(text)
    assert [one.facility for one in found] == (["JWST"] if "JWST" in text else [])


def test_an_empty_corpus_has_the_columns_all_the_same():
    assert list(find_in_papers([], []).columns) == [
        "row",
        "field",
        "facility",
        "start",
        "end",
        "surface",
        "role",
    ]


def test_the_demo_corpus_is_read_almost_perfectly(tmp_path):
    write_demo(tmp_path, n_papers=300)
    truth = json.loads((tmp_path / "truth.json").read_text("utf-8"))["papers"]
    with gzip.open(tmp_path / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    planted, trapped = set(), set()
    rows = {_key(paper): row for row, paper in enumerate(papers)}
    for paper in truth:
        row = rows[paper["paper_id"]]
        for one in paper["mentions"]:
            facility = find_facility(one["surface"]).counted_as[0]
            planted.add((row, one["field"], one["start"], facility))
        trapped |= {(row, one["field"], one["start"]) for one in paper["traps"]}
    found = find_in_papers([p["title"] for p in papers], [p["abstract"] for p in papers])
    got = set(found[["row", "field", "start", "facility"]].itertuples(index=False, name=None))
    assert planted
    assert len(got & planted) >= 0.97 * len(planted)
    assert len(got & planted) >= 0.97 * len(got)
    assert not {one[:3] for one in got} & trapped


def _key(paper: dict) -> str:
    return paper.get("paper_id") or paper.get("bibcode") or paper["arxiv_id"]


def test_labelled_mentions_of_real_papers_are_found(real_papers):
    wanted = {json.loads(line)["arxiv_id"] for line in LABELS.read_text().splitlines()}
    with gzip.open(real_papers, "rt", encoding="utf-8") as lines:
        read = map(json.loads, lines)
        papers = pd.DataFrame([paper for paper in read if paper["arxiv_id"] in wanted])
    papers["paper_id"] = papers["arxiv_id"]
    atlas = SimpleNamespace(read_papers=papers.get, title="Real papers", coverage={})
    table = evaluate_facilities(atlas, LABELS).table.set_index(["method", "half"])
    ours = table.loc["with context"]
    assert ours["labelled"].sum() >= 300
    assert ours["traps"].sum() >= 100
    assert (ours[["precision", "recall"]] >= 0.97).all(axis=None)
    assert (table.loc["plain matching"]["precision"] < ours["precision"]).all()


def test_the_time_to_find_mentions_grows_with_the_papers_and_with_their_length():
    def find(abstracts):
        return find_in_papers(["Dust in a disk"] * len(abstracts), abstracts)

    assert_growth(find, lambda n: [ABSTRACT] * n, 200)
    assert_growth(find, lambda n: [ABSTRACT * n], 40)


def test_finding_is_fast_enough_for_a_big_corpus():
    def find(abstract):
        return lambda: find_in_papers(["Dust in a disk"] * 200, [abstract] * 200)

    def words(abstract):
        return lambda: [re.findall(r"\w+", abstract) for _ in range(200)]  # a plain pass over it

    assert_cost(find(ABSTRACT), words(ABSTRACT), most=60)
    assert_cost(find(QUIET), words(QUIET), most=2)  # most papers name no facility
