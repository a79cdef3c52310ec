"""The main job works in other locales and time zones, without a home, a network or real papers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from landscape.corpus.demo import write_demo
from tests.test_distribution import obey_modes

JOB = """
import socket, sys
from landscape.cli import main

def refuse(*_, **__):
    raise OSError("Network is unreachable")

socket.socket.connect = socket.getaddrinfo = refuse
for words in sys.argv[1:]:
    assert main(["--debug", *words.split()]) == 0, words
"""
BUILD = "build corpus/papers.jsonl.gz --out a.atlas --layout pca --tagger rules --workers 1"
USE = ("search a.atlas galaxies", "figure heatmap a.atlas -o map.png", "table impact a.atlas")


def test_the_main_job_works_in_other_surroundings(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "iş yeri"
    write_demo(work / "corpus", n_papers=60, seed=1)
    home.mkdir(mode=0o500)
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    kept |= {"HOME": str(home), "LANDSCAPE_DATA": str(tmp_path / "none"), "TZ": "America/St_Johns"}
    for locale, commands in (("C", [BUILD, USE[0]]), ("tr_TR.UTF-8", USE)):
        done = subprocess.run(
            [sys.executable, "-c", JOB, *commands],
            cwd=work,
            env={**kept, "LANG": locale, "LC_ALL": locale},
            preexec_fn=obey_modes if sys.platform == "linux" else None,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert " 1. " in done.stdout
    assert (work / "map.png").stat().st_size > 20_000
    assert not [*home.iterdir()]
