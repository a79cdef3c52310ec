"""Invalid input gives a one-sentence error and the right exit status, not a traceback."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from landscape.atlas import open as open_atlas
from landscape.cli import main

Run = Callable[..., tuple[int, str, str]]

QUICK = ["--layout", "pca", "--tagger", "rules", "--workers", "1"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return exit status, standard output and standard error."""

    def command(*words: str | Path) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


def assert_one_sentence(status: int, out: str, err: str, *said: str, exit_status: int = 2) -> None:
    assert status == exit_status
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("landscape: ")]
    assert len(lines) == 1, err
    assert "Traceback" not in err
    assert err.rstrip().endswith(lines[0])
    assert re.fullmatch(r"landscape: [^a-z\n].{20,}", lines[0]), lines[0]
    for words in said:
        assert words in lines[0]


def _gzip_cut_short(path: Path) -> None:
    rows = "".join(
        json.dumps({"title": f"Title {i}", "abstract": f"{os.urandom(40).hex()} galaxies"}) + "\n"
        for i in range(500)
    )
    path.write_bytes(gzip.compress(rows.encode())[:9000])


BAD_FILES: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "no such file": (Path.absolute, ("papers.jsonl",)),
    "a directory": (Path.mkdir, ("papers.jsonl",)),
    "an empty file": (Path.touch, ("papers.jsonl", "empty")),
    "a truncated gzip": (_gzip_cut_short, ("papers.jsonl",)),
    "a binary file": (lambda path: path.write_bytes(bytes(range(256)) * 64), ("papers.jsonl",)),
    "no abstracts at all": (
        lambda path: path.write_text('{"title": "One"}\n{"title": "Two"}\n', encoding="utf-8"),
        ("abstract",),
    ),
    "another kind of text": (
        lambda path: path.write_text("Dear editor,\nplease find attached\n", encoding="utf-8"),
        ("papers.jsonl", "Dear editor"),
    ),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path: Path, run: Run, kind: str) -> None:
    make, said = BAD_FILES[kind]
    source = tmp_path / "papers.jsonl"
    make(source)
    outcome = run("build", source, "--out", tmp_path / "a.atlas", *QUICK)
    assert_one_sentence(*outcome, *said)


def test_a_wrong_file_among_good_ones_does_not_harm_the_atlas(
    tmp_path: Path, run: Run, atlas_copy: Path, few_papers: Path
) -> None:
    before = (atlas_copy / "manifest.json").read_bytes()
    assert run("build", few_papers, tmp_path / "none", "--out", atlas_copy, *QUICK)[0] == 2
    assert (atlas_copy / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("kind", ["a truncated gzip", "no abstracts at all"])
def test_what_turns_out_unusable_while_it_is_read_does_not_harm_the_atlas(
    tmp_path: Path, run: Run, atlas_copy: Path, few_papers: Path, kind: str
) -> None:
    before = {p: p.read_bytes() for p in atlas_copy.rglob("*") if p.is_file()}
    bad = tmp_path / "papers.jsonl"
    BAD_FILES[kind][0](bad)
    sources = [few_papers, bad] if "gzip" in kind else [bad]
    assert run("build", *sources, "--out", atlas_copy, *QUICK)[0] == 2
    assert {p: p.read_bytes() for p in before} == before
    assert len(open_atlas(atlas_copy)) == 28
    assert run("info", atlas_copy, "--verify")[0] == 0


def test_a_json_array_is_read_or_refused_in_one_sentence(
    tmp_path: Path, run: Run, papers_file: Callable[..., Path]
) -> None:
    lines = papers_file(tmp_path / "lines.jsonl", range(5)).read_text(encoding="utf-8")
    source = tmp_path / "array.json"
    source.write_text("[" + ",\n".join(lines.splitlines()) + "]", encoding="utf-8")
    outcome = run("build", source, "--out", tmp_path / "a.atlas", *QUICK)
    if outcome[0]:
        assert_one_sentence(*outcome, "array.json")
    else:
        assert len(open_atlas(tmp_path / "a.atlas")) == 5


def test_invalid_utf8_is_refused_or_rejected_by_line(
    tmp_path: Path, run: Run, papers_file: Callable[..., Path]
) -> None:
    source = papers_file(tmp_path / "papers.jsonl", range(5))
    bad = b'{"title": "Caf\xe9 galaxies", "abstract": "Latin-1 text about galaxies."}\n'
    source.write_bytes(source.read_bytes() + bad)
    status, _, err = run("build", source, "--out", tmp_path / "a.atlas", *QUICK)
    assert status == 0, err
    atlas = open_atlas(tmp_path / "a.atlas")
    [rejected] = [
        json.loads(line)
        for line in (atlas.path / "rejected.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert rejected["line"] == 6
    assert "UTF-8" in rejected["reason"]
    assert len(atlas) == 5


def test_one_per_cent_of_broken_records_costs_only_those(
    tmp_path: Path, run: Run, papers_file: Callable[..., Path]
) -> None:
    source = papers_file(tmp_path / "papers.jsonl", range(200))
    lines = source.read_text(encoding="utf-8").splitlines()
    lines[50] = lines[50][:40]
    lines[150] = '{"title": 17, "abstract": ["not", "text"]}'
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    status, out, err = run("build", source, "--out", tmp_path / "a.atlas", "--json", *QUICK)
    assert status == 0, err
    facts = json.loads(out)
    assert (facts["read"], facts["papers"], facts["rejected"]) == (200, 198, 2)
    assert "read 200 = kept 198 + merged 0 + rejected 2" in err


def test_a_folder_that_is_not_an_atlas(tmp_path: Path, run: Run, few_papers: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    said = (str(tmp_path), "is not an atlas")
    assert_one_sentence(*run("build", few_papers, "--out", tmp_path), *said)
    assert_one_sentence(*run("info", tmp_path), *said)
    assert_one_sentence(*run("build", few_papers, "--out", few_papers), "is a file, not an atlas")


def test_an_atlas_of_a_newer_format(run: Run, atlas_copy: Path, few_papers: Path) -> None:
    path = atlas_copy / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"format_version": 2}))
    for words in (["info", atlas_copy], ["build", few_papers, "--out", atlas_copy]):
        assert_one_sentence(*run(*words), "format 2", "install a newer Landscape")


@pytest.mark.parametrize("option", ["--thesaurus", "--known-reviews"])
def test_lists_that_are_none_are_refused_before_any_stage_runs(
    tmp_path: Path, run: Run, few_papers: Path, option: str
) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("not a list of anything\n")
    for path in (wrong, tmp_path / "absent.json", tmp_path):
        words = ["build", few_papers, "--out", tmp_path / "new.atlas", option, path]
        assert_one_sentence(*run(*words), path.name)
    assert not (tmp_path / "new.atlas" / "papers.parquet").exists()


def test_one_changed_byte_is_told_by_verify(run: Run, atlas_copy: Path) -> None:
    assert run("info", atlas_copy, "--verify")[0] == 0
    for name in ("embeddings/few.npy", "manifest.json"):
        content = bytearray((atlas_copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        (atlas_copy / name).write_bytes(content)
        assert_one_sentence(*run("info", atlas_copy, "--verify"), name)


def test_verify_as_json_is_one_document_and_still_fails(run: Run, atlas_copy: Path) -> None:
    (atlas_copy / "quality.json").write_bytes(b"{}")
    status, out, _ = run("info", atlas_copy, "--verify", "--json")
    assert status == 2
    assert json.loads(out)["verified"] is False
    assert "quality.json" in json.loads(out)["problems"][0]


def test_a_file_size_limit_is_a_sentence_and_the_build_goes_on_later(
    tmp_path: Path, run: Run, papers_file: Callable[..., Path]
) -> None:
    if not hasattr(signal, "SIGXFSZ"):
        pytest.skip("this system has no limit on the size of files")
    source = papers_file(tmp_path / "papers.jsonl", range(28))
    limited = textwrap.dedent("""
        import resource, signal, sys
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))
        from landscape.cli import main
        sys.exit(main(sys.argv[1:]))
    """)
    words = ["build", str(source), "--out", str(tmp_path / "a.atlas"), *QUICK]
    done = subprocess.run(
        [sys.executable, "-c", limited, *words], capture_output=True, text=True, check=False
    )
    assert_one_sentence(
        done.returncode, done.stdout, done.stderr, "limit", "run the same command", exit_status=1
    )
    status, _, err = run(*words)
    assert status == 0, err
    assert "ingest" not in err, "what was finished before the disk was full was done again"


@pytest.fixture
def tiny_disk(tmp_path: Path):
    """A file system of two megabytes."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.name == "nt" or not mount or not umount or os.geteuid() != 0:
        pytest.skip("a full disk needs root, to mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=2400k", "tmpfs", str(folder)], check=False
    )
    if mounted.returncode:
        pytest.skip("a full disk needs the right to mount a small file system")
    yield folder
    subprocess.run([umount, "-l", str(folder)], check=True)


def test_a_full_disk_is_a_sentence_and_the_build_goes_on_later(
    tmp_path: Path, run: Run, few_papers: Path, tiny_disk: Path
) -> None:
    atlas = tiny_disk / "a.atlas"
    filling = tiny_disk / "filling"
    filling.write_bytes(b"\0" * 2_200_000)
    outcome = run("build", few_papers, "--out", atlas, *QUICK)
    assert_one_sentence(*outcome, "Disk full while writing", "MB are free", exit_status=1)
    assert not [path for path in atlas.rglob("*") if path.suffix == ".part"]
    filling.unlink()
    status, _, err = run("build", few_papers, "--out", atlas, *QUICK)
    assert status == 0, err
    assert len(open_atlas(atlas)) == 28
