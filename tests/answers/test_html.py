"""HTML for notebooks: no scripts, no external content, and marked evidence."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from landscape.types import Answer, Results
from tests.answers.sample_results import HOSTILE, sample_answer, sample_results

ALLOWED = {
    "style",
    "div",
    "h3",
    "h4",
    "p",
    "ol",
    "li",
    "b",
    "br",
    "a",
    "span",
    "details",
    "summary",
    "blockquote",
    "mark",
    "code",
    "ul",
}


class Page(HTMLParser):
    """Parser that collects the tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.marked: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        if "mark" in self.open:
            self.marked[-1] += data


def assert_harmless(page: str) -> Page:
    read = Page(page)
    assert read.open == []
    assert {tag for tag, _ in read.tags} <= ALLOWED
    for tag, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert "src" not in attributes
        if tag == "a":
            assert str(attributes["href"]).startswith("https://")
            assert "noopener" in str(attributes["rel"])
    assert "@import" not in page
    assert "url(" not in page
    assert "mathjax_ignore" in page
    return read


@pytest.fixture
def results() -> Results:
    return sample_results()


@pytest.fixture
def answer() -> Answer:
    return sample_answer()


def test_results_are_harmless_and_complete(results: Results) -> None:
    read = assert_harmless(results._repr_html_())
    assert read.text.count(HOSTILE) >= 2  # shown as text: title and abstract
    assert "4 papers for “is it <i>cold</i>?”" in read.text
    assert "30 of 1,200 papers" in read.text
    assert "outlier" in read.text


def test_clicking_a_claim_shows_its_sentences(answer: Answer) -> None:
    read = assert_harmless(answer._repr_html_())
    assert read.marked[:3] == ["It cools.", "β < 3", " and"]  # overlaps are marked once
    classes = [a.get("class") for tag, a in read.tags if tag == "details"]
    assert classes[:4] == ["supported", "contradicted", "not-found", "not-found"]
    for badge in ("✓ supported", "✗ contradicted", "? not found", "✓ supports"):
        assert badge in read.text  # a word and a sign, not colour alone
    assert "No sentence of the papers was found" in read.text
    assert "run it in ADS" in read.text


def test_an_answer_without_claims_shows_its_text(answer: Answer) -> None:
    silent = replace(answer, claims=(), text="I do not know.\n\n" + HOSTILE, abstained=True)
    assert "I do not know." in assert_harmless(silent._repr_html_()).text


def test_made_up_papers_are_called_so(answer: Answer) -> None:
    assert "do not exist" not in answer._repr_html_()
    coverage = replace(answer.results.coverage, generated=True)
    made_up = replace(answer, results=replace(answer.results, coverage=coverage))
    assert "Generated demo corpus" in made_up._repr_html_()
    assert "Generated demo corpus" in made_up.results._repr_html_()


def test_control_characters_are_dropped_from_text_and_links(results: Results) -> None:
    hit = results.hits[0]
    paper = replace(
        hit.paper, title="Dust\x1b]0;x\x07", bibcode=None, arxiv_id=None, doi="10.1/a\x1b[2J\n b"
    )
    page = replace(results, hits=(replace(hit, paper=paper),))._repr_html_()
    assert "\x1b" not in page
    assert "\x07" not in page
    assert 'href="https://doi.org/10.1/a[2Jb"' in page


def test_parts_of_an_answer_are_harmless_too(answer: Answer) -> None:
    claims = assert_harmless(answer.to_html("claims"))
    assert claims.marked[0] == "It cools."
    assert "run it in ADS" not in claims.text
    assert "✓ supports" in assert_harmless(answer.to_html("consensus")).text
    method = assert_harmless(answer.to_html("method"))
    assert "run it in ADS" in method.text
    assert HOSTILE in method.text  # a note
    papers = [assert_harmless(hit.to_html()) for hit in answer.results.hits]
    assert [a["href"] for tag, a in papers[0].tags if tag == "a"] == [
        "https://ui.adsabs.harvard.edu/abs/2022ApJ...931L..10S/abstract",
        "https://arxiv.org/abs/2205.00001",
        "https://doi.org/10.3847/2041-8213/ac1",
    ]
    assert "outlier" in papers[2].text
