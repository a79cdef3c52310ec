"""The demo corpus is deterministic and readable, and records all planted facts."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from landscape.corpus.demo import _sentences as _wording

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus.demo import generate, write_demo
from landscape.corpus.demo._papers import Author, Truth
from landscape.corpus.demo.cards import Measure, load_cards, load_facilities, load_traps
from landscape.errors import InputError

Corpus = tuple[list[dict[str, Any]], Truth]

MATHS = re.compile(r"\$[^$]*\$")
RNG = Random(1)  # noqa: S311  # any draw fits the expected text
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Zµ$z(\d])")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return generate(4000, seed=1)


def sentences(abstract: str) -> list[str]:
    return SENTENCE_END.split(abstract)


def test_writes_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    first = write_demo(tmp_path / "a", n_papers=150, seed=7)
    second = write_demo(tmp_path / "b", n_papers=150, seed=7)
    other = write_demo(tmp_path / "c", n_papers=150, seed=8)
    assert first.papers.read_bytes() == second.papers.read_bytes()
    assert first.truth.read_bytes() == second.truth.read_bytes()
    assert first.papers.read_bytes() != other.papers.read_bytes()


def test_files_say_that_they_are_generated(tmp_path: Path) -> None:
    files = write_demo(tmp_path, n_papers=120, seed=2)
    with gzip.open(files.papers, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    truth = json.loads(files.truth.read_text(encoding="utf-8"))
    assert len(records) == 120
    assert all(r["generated"] is True and r["source"] == "demo" for r in records)
    assert truth["generated"] is True
    assert "invented" in truth["note"]
    assert "invented" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert [p["paper_id"] for p in truth["papers"]] == [r["bibcode"] for r in records]


@pytest.mark.parametrize("n_papers", [1, 3, 64, 200])
def test_small_corpora_work(n_papers: int) -> None:
    records, truth = generate(n_papers, seed=4)
    assert len(records) == truth.n_papers == n_papers
    if n_papers >= 200:
        assert all(theme.n_papers > 0 for theme in truth.themes)


def test_no_papers_is_refused() -> None:
    with pytest.raises(InputError, match="n_papers is 0"):
        generate(0)


def test_themes_cover_the_six_categories(corpus: Corpus) -> None:
    _, truth = corpus
    assert len(truth.themes) >= 41
    assert {theme.category for theme in truth.themes} == {
        f"astro-ph.{name}" for name in ("CO", "EP", "GA", "HE", "IM", "SR")
    }
    assert min(theme.n_papers for theme in truth.themes) >= 30


def test_no_two_abstracts_share_a_sentence(corpus: Corpus) -> None:
    records, _ = corpus
    seen: Counter[str] = Counter()
    for record in records:
        plain = re.sub(r"[\\${}^_ ]", "", record["abstract"].lower())
        seen.update({s for s in re.split(r"(?<=[.?!])(?=[a-z])", plain) if len(s) > 12})
        seen.update({s.lower() for s in sentences(record["abstract"])})
    assert [s for s, n in seen.items() if n > 1] == []


def test_titles_and_bibcodes_are_distinct(corpus: Corpus) -> None:
    records, _ = corpus
    titles = [re.sub(r"\W+", " ", r["title"].lower()) for r in records]
    assert len(set(titles)) == len(records)
    bibcodes = {r["bibcode"] for r in records}
    assert len(bibcodes) == len(records)
    assert all(re.fullmatch(r"\d{4}Demo[.A-Z].{10}", code) for code in bibcodes)
    assert all(r["doi"] is None and r["arxiv_id"] is None for r in records)


def test_abstracts_have_the_length_of_abstracts(corpus: Corpus) -> None:
    for record in corpus[0]:
        assert 90 <= len(record["abstract"].split()) <= 190, record["abstract"]
        assert 5 <= len(sentences(record["abstract"])) <= 10, record["abstract"]


ENGLISH_FAULTS = {
    "doubled word": r"\b([a-z]+) \1\b",
    "two articles": r"\b(?i:a|an|the) (?i:a|an|the)\b(?! dwarf| giant| star)",
    "a before a vowel": r"\b[Aa] (?!eu|one\b|once)(?:[aeio]|u[npls](?!i))[a-z]+",
    "an before a consonant": r"\b[Aa]n (?:[bcdfgjklmnpqrstvwyz][a-z]{2,}|uni|use)",
    "space before a mark": r" [,.;:?]",
    "open slot": r"[{}](?![-\d])|\||\.\.|[\ue000-\ue1ff]",
    "two marks": r"[,;:][,;:.]|\.\.",
    "small letter at the start": r"^(?!z )[a-z]",
    "of of": r"\b(of|in|with|for|from) (of|in|with|for|from) (?!which)",
}


@pytest.mark.parametrize("fault", ENGLISH_FAULTS)
def test_english(corpus: Corpus, fault: str) -> None:
    pattern = re.compile(ENGLISH_FAULTS[fault])
    found = []
    for record in corpus[0]:
        for text in (record["title"], *sentences(record["abstract"])):
            plain = MATHS.sub("0", text)
            if (match := pattern.search(plain)) is not None:
                found.append((match[0], text))
    assert found == []


def test_uncertainties_are_smaller_than_values(corpus: Corpus) -> None:
    number = r"(-?[\d,]+(?:\.\d+)?) (?:±|\$\\pm\$) ([\d,]+(?:\.\d+)?)"
    checked = 0
    for record in corpus[0]:
        for value, error in re.findall(number, record["abstract"]):
            checked += 1
            assert float(error.replace(",", "")) > 0
            assert float(error.replace(",", "")) < abs(float(value.replace(",", ""))) * 1.01
    assert checked > 3000


def test_some_papers_hold_latex_and_some_do_not(corpus: Corpus) -> None:
    share = sum("$" in r["abstract"] for r in corpus[0]) / len(corpus[0])
    assert 0.2 < share < 0.6
    assert all(r["abstract"].count("$") % 2 == 0 for r in corpus[0])


def test_facilities_appear_from_their_first_light(corpus: Corpus) -> None:
    records, truth = corpus
    facilities = load_facilities()
    used = Counter()
    for record, paper in zip(records, truth.papers, strict=True):
        year = float(record["date"][:4])
        month = int(record["date"][5:7]) / 12
        for mention in paper.mentions:
            assert year + month >= facilities[mention.facility].first_light, record["date"]
            used[mention.facility] += 1
    assert len(used) >= 60
    assert sum(used.values()) > 1500


def test_offsets_of_mentions_and_traps_are_exact(corpus: Corpus) -> None:
    records, truth = corpus
    names = {
        key: {name.removeprefix("the ") for name in facility.names}
        for key, facility in load_facilities().items()
    }
    traps = Counter()
    for record, paper in zip(records, truth.papers, strict=True):
        assert record["bibcode"] == paper.paper_id
        for mention in (*paper.mentions, *paper.traps):
            assert record[mention.field][mention.start : mention.end] == mention.surface
        for mention in paper.mentions:
            assert mention.surface in names[mention.facility]
        traps.update(mention.surface for mention in paper.traps)
    assert len(traps) >= 15
    assert sum(traps.values()) > 150


def test_every_facility_name_in_a_text_is_recorded(corpus: Corpus) -> None:
    """A name that is recorded neither as a use nor as a trap would make the truth wrong."""
    names = sorted(
        {n.removeprefix("the ") for f in load_facilities().values() for n in f.names},
        key=len,
        reverse=True,
    )
    pattern = re.compile(r"(?<![\w.])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])")
    records, truth = corpus
    stray = Counter()
    for record, paper in zip(records, truth.papers, strict=True):
        for field in ("title", "abstract"):
            known = [(m.start, m.end) for m in (*paper.mentions, *paper.traps) if m.field == field]
            for match in pattern.finditer(record[field]):
                if not any(s <= match.start() and match.end() <= e for s, e in known):
                    stray[match[0]] += 1
    assert stray == Counter()


def test_traps_name_themes_that_exist() -> None:
    themes = {card.id for card in load_cards().values()}
    for trap in load_traps():
        assert trap.themes & themes, trap.surface
        assert trap.themes <= themes, (trap.surface, trap.themes - themes)


def test_citations_run_backward_and_agree(corpus: Corpus) -> None:
    records, _ = corpus
    dates = {r["bibcode"]: r["date"] for r in records}
    cited: dict[str, set[str]] = {code: set() for code in dates}
    for record in records:
        for reference in record["ref_bibcodes"]:
            assert dates[reference] <= record["date"]
            assert reference != record["bibcode"]
            cited[reference].add(record["bibcode"])
    for record in records:
        assert set(record["cite_bibcodes"]) == cited[record["bibcode"]]
        assert record["cites"] == len(record["cite_bibcodes"])


def test_citations_are_skewed_and_stay_near_their_theme(corpus: Corpus) -> None:
    records, truth = corpus
    counts = sorted((r["cites"] for r in records), reverse=True)
    top = sum(counts[: len(counts) // 10]) / sum(counts)
    assert 0.35 < top < 0.9
    assert counts[len(counts) // 2] < sum(counts) / len(counts)
    theme = {p.paper_id: p.question for p in truth.papers}
    pairs = [(theme[r["bibcode"]], theme[c]) for r in records for c in r["ref_bibcodes"]]
    assert sum(a == b for a, b in pairs) / len(pairs) > 0.6


def test_reviews_and_the_planted_gaps(corpus: Corpus) -> None:
    records, truth = corpus
    reviews = [r for r in records if r["doctype"] == "review"]
    assert 0.05 <= len(reviews) / len(records) <= 0.06
    assert len(truth.review_gaps) == 5
    for theme in truth.themes:
        if theme.id in truth.review_gaps:
            assert theme.n_reviews == 0
            assert theme.activity == "rising"
            assert theme.n_papers >= 60
        else:
            assert theme.n_reviews >= 1, theme.id


def test_the_uncovered_theme_has_no_concept(corpus: Corpus) -> None:
    records, truth = corpus
    assert len(truth.uncovered_themes) == 1
    (uncovered,) = truth.uncovered_themes
    for record, paper in zip(records, truth.papers, strict=True):
        if paper.theme == uncovered:
            assert record["ads_keywords"] == []
    tagged = sum(bool(r["ads_keywords"]) for r in records) / len(records)
    assert 0.5 < tagged < 0.8


def test_concepts_are_real_ones(real_data: Path) -> None:
    document = json.loads((real_data / "uat" / "5.1.0" / "UAT_list.json").read_text("utf-8"))
    labels = {concept["name"].lower().strip() for concept in document}
    labels |= {alt.lower() for concept in document for alt in concept.get("altNames") or ()}
    for card in load_cards().values():
        assert {name.lower() for name in card.uat} <= labels, card.id
        if not card.uat:
            assert not any(card.name.lower().rstrip("s") in label for label in labels)


def test_activity_has_the_recorded_kind(corpus: Corpus) -> None:
    records, truth = corpus
    per_year = Counter(r["year"] for r in records)
    assert set(per_year) == set(range(1990, 2027))
    assert sum(per_year[y] for y in range(2016, 2026)) > 2 * sum(
        per_year[y] for y in range(1991, 2001)
    )
    theme_years: dict[str, list[int]] = {}
    for record, paper in zip(records, truth.papers, strict=True):
        theme_years.setdefault(paper.theme, []).append(record["year"])
    for theme in truth.themes:
        years = theme_years[theme.id]
        assert min(years) >= theme.start
        late = sum(y >= 2015 for y in years) / len(years)
        if theme.activity == "rising":
            assert late > 0.5, theme.id
        elif theme.activity == "falling":
            assert late < 0.45, theme.id
        elif theme.peak is not None:
            near = sum(abs(y - theme.peak) <= 5 for y in years) / len(years)
            assert near > 0.5, theme.id


def test_authors_have_themes_and_careers(corpus: Corpus) -> None:
    records, truth = corpus
    papers_of: dict[str, list[tuple[int, str]]] = {}
    for record, paper in zip(records, truth.papers, strict=True):
        assert len(record["authors"]) == len(record["aff"]) == len(set(record["authors"]))
        for author in record["authors"]:
            assert ", " in author
            papers_of.setdefault(author, []).append((record["year"], paper.theme))
    productive = [papers for papers in papers_of.values() if len(papers) >= 8]
    assert len(productive) > 300
    loyal = [Counter(t for _, t in p).most_common(1)[0][1] / len(p) for p in productive]
    assert sum(loyal) / len(loyal) > 0.6
    assert max(len(r["authors"]) for r in records) >= 25


def test_questions_can_be_told_apart_better_than_themes(corpus: Corpus) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.neighbors import NearestCentroid

    records, truth = corpus
    texts = [f"{r['title']}. {r['abstract']}" for r in records]
    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True, max_features=4000)
    vectors = vectorizer.fit_transform(texts)
    train, test = slice(0, None, 2), slice(1, None, 2)

    def accuracy(labels: list[str]) -> float:
        model = NearestCentroid().fit(vectors[train], labels[train])
        return float((model.predict(vectors[test]) == labels[test]).mean())

    # Papers mix themes, as real papers do, so that no map has a separate blot for each theme.
    assert 0.35 < accuracy([p.theme for p in truth.papers]) < 0.8
    assert accuracy([p.question for p in truth.papers]) > 0.8


def test_objects_are_not_named_before_they_were_found(corpus: Corpus) -> None:
    found = 0
    for record in corpus[0]:
        for year in re.findall(r"\b(?:SN|AT|FRB|[CP]/) ?((?:19|20)\d\d)", record["abstract"]):
            found += 1
            assert int(year) <= record["year"], record["abstract"]
    assert found > 10


# The small operations on English are internal: the corpus as a whole cannot show each rule.
@pytest.mark.parametrize(
    ("write", "arguments", "written"),
    [
        (_wording.spin, ("{one|one} of {3..3} {fields|{fields}}", RNG), "one of 3 fields"),
        (_wording.draw_number, ("2.0", "2.0", RNG), "2.0"),
        (_wording.count, (1234,), "1234"),
        (_wording.count, (56789,), "56,789"),
        (_wording.rounded, (0.7123, 0.031), "0.712 ± 0.031"),
        (_wording.rounded, (812.3, 44.0), "810 ± 40"),
        (_wording.finished, ("the disc is cold .",), "The disc is cold."),
        (_wording.finished, ("z > 6 galaxies are rare",), "z > 6 galaxies are rare"),
        (
            _wording.finished,
            ("a HST image, an UV survey, an uniform disc and a 8 m telescope",),
            "An HST image, a UV survey, a uniform disc and an 8 m telescope",
        ),
        (
            _wording.finished,
            ("A upper limit and an warm layer in a X-ray image",),
            "An upper limit and a warm layer in an X-ray image",
        ),
        (
            _wording.to_latex,
            ("at z ≈ 2 with 10⁹ M⊙ and 3 ± 1 km s⁻¹",),
            r"at z $\approx$ 2 with 10$^{9}$ M$_{\odot}$ and 3 $\pm$ 1 km s$^{-1}$",
        ),
        (_wording.write_value, (Measure("m", "<", 2.0, 2.0, "M⊙", decimals=1), RNG), "2.0 M⊙"),
        (_wording.write_bound, (Measure("n", "=", 1e20, 3e21, "cm⁻²"), 2e20), "2 × 10²⁰"),
    ],
)
def test_words_and_numbers(write: Any, arguments: tuple[Any, ...], written: str) -> None:
    assert write(*arguments) == written


def test_an_author_moves_between_institutes() -> None:
    author = Author("A, B", 0, 1990, 2020, 1.0, ((1990, "P"), (2001, "Q")))
    assert author.affiliation(2005) == "Q"


def test_the_lag_of_first_data() -> None:
    jwst = load_facilities()["jwst"]
    assert not jwst.usable(2020.0)
    assert jwst.usable(2024.0)
