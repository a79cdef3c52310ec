"""Properties of readers and cleaning for arbitrary and damaged text."""

from __future__ import annotations

import json
import tempfile
import unicodedata
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from landscape.corpus import clean_text, parse_arxiv_id, parse_bibcode, parse_doi, read_papers
from landscape.corpus.author_lists import read_author_list
from landscape.corpus.cleaning import clean_abstract
from landscape.corpus.identifiers import parse_date
from landscape.corpus.records import Batch, Rejection
from landscape.errors import InputError

PIECES = st.sampled_from(
    [
        *"ab 1\\{}$^_~&<>[]()'`-.,∼≈%\"é ﬁ",
        *("\\frac", "\\rm ", "\\odot", "<SUB>", "</SUB>", "<P />", "&lt;", "&amp;", "$$", "\\("),
        *("\\)", "\\cite{", "\\sc ", "\\^", "{\\it ", "--", "''", "``", "\\sqrt", "\x00"),
        *(
            "\u200b",
            "e\u0301",
            "\\'",
            "\\unicode{x41}",
            "10^6",
            "<i>",
            "</i>",
            " ,",
            "( ",
            "\ud800",
        ),
    ]
)
MARKED_UP = st.one_of(st.text(), st.lists(PIECES, max_size=25).map("".join))


@given(MARKED_UP)
@settings(max_examples=300, deadline=None)
@example("\\$5 and \\$6")
@example("&amp;amp;lt;SUB&gt;")
def test_cleaning_any_text_settles_and_leaves_nothing_invisible(text: str) -> None:
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    assert not [c for c in cleaned if unicodedata.category(c) in ("Cc", "Cf", "Cs")]
    assert "  " not in cleaned
    assert cleaned == cleaned.strip()
    assert unicodedata.is_normalized("NFC", cleaned)


@given(st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1))
def test_plain_words_are_never_touched(text: str) -> None:
    assert clean_text(text) == text


@given(MARKED_UP)
def test_an_abstract_is_none_or_clean(text: str) -> None:
    abstract = clean_abstract(text)
    assert abstract is None or abstract == clean_text(text)


@given(
    st.integers(0, 99),
    st.integers(1, 12),
    st.integers(1, 99999),
    st.sampled_from(["", "arXiv:", "arxiv:", "https://arxiv.org/abs/", "http://arxiv.org/pdf/"]),
    st.one_of(st.just(""), st.integers(1, 40).map("v{}".format)),
)
def test_versions_and_prefixes_of_arxiv_ids_fold(
    year: int, month: int, number: int, prefix: str, version: str
) -> None:
    new, old = (
        f"{year:02d}{month:02d}.{number:05d}",
        f"astro-ph/{year:02d}{month:02d}{number % 1000:03d}",
    )
    for bare in (new, old):
        assert parse_arxiv_id(f"{prefix}{bare}{version}") == bare
        assert parse_arxiv_id(parse_arxiv_id(f"{prefix}{bare}{version}")) == bare


@given(st.text())
def test_parsing_an_identifier_never_raises_and_settles(text: str) -> None:
    for parse in (parse_arxiv_id, parse_doi, parse_bibcode):
        found = parse(text)
        assert found is None or parse(found) == found


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.dates(), st.datetimes()))
def test_a_date_is_read_or_refused_with_a_sentence(value: object) -> None:
    sentence, date = "", None
    try:
        date = parse_date(value)
    except ValueError as error:
        sentence = str(error)
    assert (date is None) == bool(sentence)
    assert len(sentence) < 200
    assert date is None or parse_date(date.date.isoformat()).date == date.date


@given(st.text())
def test_names_are_a_list_of_texts(text: str) -> None:
    names = read_author_list(text)
    assert isinstance(names, list)
    if not text.startswith("["):  # a list written as text is read back as it was
        assert all(isinstance(name, str) and name.strip() for name in names)


def good_lines(n: int) -> list[bytes]:
    return [
        json.dumps(
            {
                "arxiv_id": f"2101.{i:05d}",
                "title": f"Title {i}",
                "abstract": f"Text {{of}} [{i}] \\{i}",
                "categories": ["astro-ph.GA"],
            }
        ).encode()
        for i in range(n)
    ]


@given(
    st.sampled_from(["lines", "array", "csv"]),
    st.lists(st.tuples(st.integers(0, 19), st.binary(min_size=1, max_size=40)), max_size=6),
)
@settings(max_examples=120, deadline=None)
@example("lines", [(1, b",")])
@example("csv", [(1, b"\x0b")])
@example("array", [(1, b"\x0b")])
def test_counts_add_up_and_good_records_survive_any_damage_to_others(
    kind: str, damage: list[tuple[int, bytes]]
) -> None:
    records = good_lines(20)
    # Damage that could not be told from structure is left to the next test.
    bad = {i: b.translate(None, b'\r\n"{}[]\\\x00') for i, b in damage if i > 0}
    if kind == "csv":
        header = [b"arxiv_id,title,abstract"]
        rows = [b"2101.%05d,Title %d,Text %d" % (i, i, i) for i in range(20)]
        lines = [row if i not in bad else bad[i].replace(b",", b"") for i, row in enumerate(rows)]
        content = b"\n".join(header + lines)
    else:
        lines = [bad.get(i, line) for i, line in enumerate(records)]
        content = b"\n".join(lines) if kind == "lines" else b"[" + b",\n".join(lines) + b"]"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        batches = list(read_papers(path))
    kept = [i for batch in batches for i in batch.papers["arxiv_id"].to_pylist()]
    rejections = [rejection for batch in batches for rejection in batch.rejected]
    assert sum(batch.n_read for batch in batches) == len(kept) + len(rejections)
    assert kept == [f"2101.{i:05d}" for i in range(20) if i not in bad]
    # Commas alone are damage in lines, the end of a record in an array, and taken out of a table.
    commas = b"" if kind == "lines" else b","
    blank = [i for i in bad if not bad[i].translate(None, commas).strip(b" \t\r\n")]
    if kind == "array":  # neighbours that are damaged cannot be told apart
        assert bool(rejections) == (len(bad) > len(blank))
    else:
        assert len(rejections) == len(bad) - len(blank)
    assert all(isinstance(rejection, Rejection) and rejection.reason for rejection in rejections)


def read_or_refused(path: Path) -> tuple[list[Batch], str]:
    try:
        return list(read_papers(path)), ""
    except InputError as error:
        return [], str(error)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_damage_whatever_makes_more_than_a_sentence(data: st.DataObject) -> None:
    content = bytearray(b"\n".join(good_lines(8)))
    if data.draw(st.booleans()):
        content = bytearray(b"[" + b",".join(good_lines(8)) + b"]")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        until = data.draw(st.integers(at, min(at + 60, len(content))))
        content[at:until] = data.draw(st.binary(max_size=30))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        batches, sentence = read_or_refused(path)
    assert "\n" not in sentence
    for batch in batches:
        assert batch.n_read == batch.papers.num_rows + len(batch.rejected)


@given(st.binary(max_size=2000))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        _, sentence = read_or_refused(path)
        assert not sentence or str(path) in sentence or "line" in sentence
