"""A benchmark replaces its own section of the report."""

from __future__ import annotations

from pathlib import Path

from benchmarks.results import update_report


def test_a_section_is_added_and_replaced_and_the_others_are_kept(tmp_path: Path) -> None:
    report = tmp_path / "RESULTS.md"
    for name, text in [("search", "old"), ("keywords", "| a |\n| --- |"), ("search", "new")]:
        update_report(name, text, report=report)
    introduction, *sections = report.read_text("utf-8").split("\n## ")
    assert introduction.startswith("# Results of the benchmarks")
    assert sections == ["keywords\n\n| a |\n| --- |\n", "search\n\nnew\n"]
