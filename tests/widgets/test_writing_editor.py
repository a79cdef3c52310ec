"""The editor of the writing panel: insertion at the cursor, replacement, keys, and export."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("ipywidgets")

from landscape.agents import AtlasCollection
from landscape.atlas import Atlas
from landscape.errors import InputError
from landscape.types import CitationSuggestions
from landscape.widgets import Connection, WritingPanel
from tests.servers.openai_server import KEY, OpenAIServer
from tests.timing import time_limit
from tests.widgets.asking import inside, page_of

CONTEXT = "Massive stars lose much of their mass in winds."
AFTER = " They explode at the end."


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL", "LANDSCAPE_LLM_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def editor(panel: WritingPanel) -> Any:
    """Return the text area, as the page finds it by its label."""
    (found,) = (one for one in inside(panel) if hasattr(one, "cursor"))
    return found


def text_of(panel: WritingPanel) -> str:
    """Return the exported text without its first line, a comment."""
    comment, text = panel.to_latex().split("\n", 1)
    assert comment == "% The papers cited here are in paragraph.bib."
    return text.rstrip("\n")


def type_text(panel: WritingPanel, text: str, cursor: int | None) -> None:
    """Send a text and a cursor as the page does."""
    editor(panel).set_state({"value": text, "cursor": cursor})


def found(panel: WritingPanel, **given: Any) -> CitationSuggestions:
    panel.cite(**given)
    assert panel.wait(time_limit(60))
    assert panel.value is not None, panel.status
    return panel.value


def keys_of(bibtex: str) -> list[str]:
    return re.findall(r"^@\w+\{([^,]+),", bibtex, re.MULTILINE)


def quoted(suggestions: CitationSuggestions, rank: int) -> str:
    """Return the quotation of a paper of the demo corpus as LaTeX, without special characters."""
    suggestion = suggestions.suggestions[rank - 1]
    key = suggestions.citation_keys[rank - 1]
    assert suggestion.quotation
    return f"{suggestion.quotation.removesuffix('.')}~\\citep{{{key}}}."


def write(server: OpenAIServer, sentence: str) -> None:
    """Let the model write a sentence for the first paper that it is shown, and support it."""

    def reply(body: dict[str, Any]) -> str:
        if "verdicts" not in json.dumps(body["response_format"]):
            one = {"paper": "p1", "sentence": sentence, "evidence": ["p1s1"]}
            return json.dumps({"sentences": [one]})
        shown = json.loads(body["messages"][1]["content"])
        first = {paper["label"]: next(iter(paper["sentences"])) for paper in shown["papers"]}
        return json.dumps(
            {
                "verdicts": [
                    {
                        "claim": claim["claim"],
                        "verdict": "supported",
                        "sentences": [first[claim["cites"][0]]],
                    }
                    for claim in shown["claims"]
                ]
            }
        )

    server.reply = reply


def test_a_quotation_is_inserted_at_the_cursor(demo_atlas: Atlas) -> None:
    panel = WritingPanel(demo_atlas)
    type_text(panel, CONTEXT + AFTER, len(CONTEXT))
    suggestions = found(panel, k=4)
    assert suggestions.context == CONTEXT, "only the text before the cursor is searched for"
    panel.insert(2)
    first = f"{CONTEXT} {quoted(suggestions, 2)}"
    assert text_of(panel) == first + AFTER
    assert editor(panel).cursor == len(first)
    panel._papers.tick("3")
    panel.insert()
    assert text_of(panel) == f"{first} {quoted(suggestions, 3)}{AFTER}", "the ticked paper"


@pytest.mark.parametrize(
    ("text", "cursor", "expected"),
    [
        ("Winds blow. They end.", 11, "Winds blow. NEW They end."),
        ("Winds blow. They end.", 12, "Winds blow. NEW They end."),
        ("Winds blow", None, "Winds blow NEW"),
        ("Winds blow", 99, "Winds blow NEW"),
        ("Winds blow.", 10, "Winds blow. NEW"),
        ("Winds blow here", 3, "Winds NEW blow here"),
        ("See \\citep[e.g.][]{a, b} there", 20, "See \\citep[e.g.][]{a, b} NEW there"),
        ("A \U0001d6fc wind. It ends.", 9, "A \U0001d6fc wind. NEW It ends."),
        ("One.\n\nTwo.", 6, "One.\n\nNEW Two."),
        ("", 0, "NEW"),
    ],
)
def test_words_and_commands_are_kept_whole(
    demo_atlas: Atlas, text: str, cursor: int | None, expected: str
) -> None:
    panel = WritingPanel(demo_atlas)
    suggestions = found(panel, context=CONTEXT, k=1)
    type_text(panel, text, cursor)
    panel.insert(1)
    assert text_of(panel) == expected.replace("NEW", quoted(suggestions, 1))


def test_only_the_last_thousand_characters_are_searched_for(demo_atlas: Atlas) -> None:
    panel = WritingPanel(demo_atlas, context="Filler words stand here. " * 200 + CONTEXT)
    context = found(panel, k=1).context
    assert context.endswith(CONTEXT)
    assert 900 < len(context) <= 1000
    assert context.split()[0] in ("Filler", "words", "stand", "here.")


def test_a_sentence_written_again_replaces_the_inserted_one(demo_atlas: Atlas) -> None:
    panel = WritingPanel(demo_atlas)
    type_text(panel, CONTEXT + AFTER, len(CONTEXT))
    before = found(panel, k=3)
    panel.insert(2)
    sentences = (one.text.rstrip(". ") for one in before.suggestions[1].highlights)
    panel.rewrite(2, next(one for one in sentences if one not in before.suggestions[1].quotation))
    assert panel.wait(time_limit(60))
    assert "“Insert” replaces the sentence of paper 2" in panel.status
    after = panel.value
    assert after is not None
    assert quoted(after, 2) != quoted(before, 2)
    panel.insert()
    assert text_of(panel) == f"{CONTEXT} {quoted(after, 2)}{AFTER}"
    edited = text_of(panel).replace("According to", "As said by")
    type_text(panel, edited, len(CONTEXT))
    panel.insert(2)
    assert text_of(panel).count("\\citep{") == 2, "an edited sentence is the user's"
    assert "As said by" in text_of(panel)


def test_a_new_search_does_not_replace_a_sentence(demo_atlas: Atlas) -> None:
    panel = WritingPanel(demo_atlas)
    type_text(panel, CONTEXT + AFTER, len(CONTEXT))
    paper = found(panel, k=5).papers[0]
    panel.insert(1)
    type_text(panel, text_of(panel), None)
    again = found(panel, keywords="winds", k=20)
    assert paper in again.papers, "the same paper comes twice"
    panel.insert(again.papers.index(paper) + 1)
    cited = re.findall(r"\\citep\{([^}]*)\}", text_of(panel))
    assert len(cited) == 2
    assert len(set(cited)) == 1
    assert keys_of(panel.to_bibtex()) == cited[:1]


def test_a_paper_without_highlights_is_only_cited(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggestions = demo_atlas.cite(CONTEXT, k=1, n_highlights=0, model=None)
    monkeypatch.setattr(AtlasCollection, "cite", lambda *_, **__: suggestions)
    panel = WritingPanel(demo_atlas, context="Winds are driven by light, and end.")
    found(panel)
    cite = f"\\citep{{{suggestions.citation_keys[0]}}}"
    editor(panel).cursor = len("Winds are driven by light")
    panel.insert()
    assert text_of(panel) == f"Winds are driven by light~{cite}, and end."
    editor(panel).cursor = len("Winds are ")
    panel.insert()
    assert text_of(panel) == f"Winds are~{cite} driven by light~{cite}, and end."


def test_papers_with_one_label_have_different_keys(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggestions = demo_atlas.cite(CONTEXT, k=2, model=None)
    one, other = suggestions.suggestions
    code = str(one.paper.bibcode)
    twin = replace(other.paper, paper_id=code.lower(), bibcode=None, arxiv_id=None, doi=None)
    lists = [(one,), (replace(other, rank=1, paper=twin),), (one,)]
    results = iter([replace(suggestions, suggestions=listed) for listed in lists])
    monkeypatch.setattr(AtlasCollection, "cite", lambda *_, **__: next(results))
    panel = WritingPanel(demo_atlas)
    for _ in lists:
        found(panel, context=None if panel.value else CONTEXT)
        panel.insert(1)
    first, second, third = re.findall(r"\\citep\{([^}]*)\}", text_of(panel))
    assert first == third == suggestions.citation_keys[0]
    assert second.lower() == f"{first}-2".lower()
    entries = panel.to_bibtex()
    assert keys_of(entries) == [first, second]
    assert entries.index(one.paper.title[:10]) < entries.index(f"{{{second},")


def test_special_characters_of_a_citing_sentence_are_escaped(
    demo_atlas: Atlas, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    write(server, "Winds & clumps: the {x_i} share in % or $ is high!")
    panel = WritingPanel(demo_atlas, connection=Connection(base_url=server.url, model="small-chat"))
    suggestions = found(panel, context=CONTEXT, k=1)
    panel.insert()
    assert text_of(panel) == (
        rf"{CONTEXT} Winds \& clumps: the \{{x\_i\}} share in \% or \$ is high"
        rf"~\citep{{{suggestions.citation_keys[0]}}}."
    )
    write(server, "Winds slow the rotation.")
    panel.rewrite(1, "rotation")
    assert panel.wait(time_limit(60))
    panel.insert()
    assert text_of(panel).startswith(f"{CONTEXT} Winds slow the rotation~\\citep{{")
    assert "clumps" not in text_of(panel)


def test_the_files_agree_with_the_text(demo_atlas: Atlas) -> None:
    desk = AtlasCollection().add(demo_atlas, "one").add(demo_atlas, "two")
    panel = WritingPanel(demo_atlas, desk=desk)
    with pytest.raises(InputError, match="The text is empty"):
        panel.to_latex()
    with pytest.raises(InputError, match="There is no paper to insert yet"):
        panel.insert()
    assert panel.to_bibtex() == ""
    keys = found(panel, context=CONTEXT, k=3).citation_keys
    with pytest.raises(InputError, match="rank is 4; give a whole number from 1 to 3"):
        panel.insert(4)
    for rank in (3, 1, 2):
        panel.insert(rank)
    assert keys_of(panel.to_bibtex()) == [keys[2], keys[0], keys[1]]
    text = text_of(panel).replace(f"~\\citep{{{keys[2]}}}", "")
    text = text.replace(f"\\citep{{{keys[1]}}}", f"\\citet[see][]{{{keys[1]}, <b>mine}}")
    type_text(panel, f"{text}\n% \\citep{{{keys[2]}}}", None)
    assert keys_of(panel.to_bibtex()) == keys[:2], "a comment does not cite"
    page = page_of(panel)
    assert "download='paragraph.tex'" in page
    assert "download='paragraph.bib'" in page
    assert "did not insert them: &lt;b&gt;mine<" in page


def test_the_editor_has_a_label_and_a_tooltip(demo_atlas: Atlas) -> None:
    area = editor(WritingPanel(demo_atlas))
    assert area.description
    assert area.tooltip
