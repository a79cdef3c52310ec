"""A build in one process, in several processes and on a Dask cluster gives the same files."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import landscape
from landscape.errors import InputError, LandscapeError

# Private modules: no public function runs single tasks.
from landscape.pipeline import _executor, _rows
from landscape.pipeline._executor import DaskExecutor, Executor, ProcessExecutor, open_executor
from landscape.store import AtlasStore
from tests.timing import time_limit, until

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Address of a scheduler with two workers on this machine."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        memory_limit=0,
        resources={_executor.EMBEDDING: 1},
        silence_logs=50,
    ) as made:
        yield made.scheduler_address


def content(folder: Path) -> dict[str, str]:
    """Return the checksums of all files of an atlas."""
    return {name: one.sha256 for name, one in AtlasStore.open(folder).manifest.files.items()}


def test_all_executors_give_equal_bytes(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    cluster: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = [
        papers_file(tmp_path / "one.jsonl", range(30)),
        papers_file(tmp_path / "two.jsonl", range(20, 60)),
    ]
    monkeypatch.setattr(_executor, "_FEW", 0)  # several processes also for few papers
    monkeypatch.setattr(_rows, "CHUNK", 8)
    landscape.build(inputs, tmp_path / "serial.atlas", **{**quick, "workers": 1})
    landscape.build(inputs, tmp_path / "processes.atlas", **{**quick, "workers": 2})
    monkeypatch.chdir(tmp_path)  # the workers have another working directory
    relative = [path.name for path in inputs]
    landscape.build(relative, "dask.atlas", scheduler=cluster, **quick)
    serial = content(tmp_path / "serial.atlas")
    assert content(tmp_path / "processes.atlas") == serial
    assert content(tmp_path / "dask.atlas") == serial
    assert any(name.startswith("lexical/") and name.endswith(".idx") for name in serial)


def test_an_update_runs_on_a_cluster(
    tmp_path: Path, papers_file: Callable[..., Path], quick: dict[str, Any], cluster: str
) -> None:
    one = papers_file(tmp_path / "one.jsonl", range(30))
    two = papers_file(tmp_path / "two.jsonl", range(30, 40))
    for name, options in (("local", {}), ("dask", {"scheduler": cluster})):
        landscape.build(one, tmp_path / f"{name}.atlas", **quick)
        landscape.update(tmp_path / f"{name}.atlas", two, **options)
    assert content(tmp_path / "dask.atlas") == content(tmp_path / "local.atlas")


def test_the_environment_names_the_scheduler(
    tmp_path: Path,
    few_papers: Path,
    quick: dict[str, Any],
    cluster: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used: list[str] = []
    client = distributed.Client

    def connect(address: str, **options: Any) -> Any:
        used.append(address)
        return client(address, **options)

    monkeypatch.setattr(distributed, "Client", connect)
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", cluster)
    landscape.build(few_papers, tmp_path / "a.atlas", **quick)
    assert used == [cluster]


def slow(task: tuple[int, Path]) -> int:
    """Take a moment, and note that the task has begun."""
    number, folder = task
    (folder / f"{number}-{os.getpid()}").touch()
    time.sleep(0.3)
    return number


@contextmanager
def real_cluster(tmp_path: Path, n_workers: int) -> Iterator[tuple[str, Any, list[Any]]]:
    """Start a scheduler and workers by the commands that users type."""
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = os.environ | {"PYTHONPATH": str(Path(landscape.__file__).parents[1])}
    port = ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = subprocess.Popen([*dask, "scheduler", *port], **quiet)
    assert until(file.is_file, 60)
    import json

    address = json.loads(file.read_text())["address"]
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
    workers = [
        subprocess.Popen([*dask, "worker", address, *options], env=environment, **quiet)
        for _ in range(n_workers)
    ]
    try:
        yield address, scheduler, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def test_tasks_of_a_killed_worker_run_again(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    with real_cluster(tmp_path, 2) as (address, _, workers):
        with distributed.Client(address) as client:
            client.wait_for_workers(2, timeout=time_limit(60))
        with open_executor(tmp_path, n_workers=1, scheduler=address) as executor:
            killed: list[int] = []

            def kill() -> None:
                while len(list(marks.iterdir())) < 4:
                    time.sleep(0.05)
                # A worker that has just begun a task; on a busy machine the other may have none.
                last = max(marks.iterdir(), key=lambda path: path.stat().st_mtime_ns)
                worker = next(one for one in workers if last.name.endswith(f"-{one.pid}"))
                worker.kill()
                killed.append(worker.pid)

            killer = threading.Thread(target=kill)
            killer.start()
            tasks = [(number, marks) for number in range(12)]
            assert [*executor.map(slow, tasks, n_papers=12)] == [*range(12)]
            killer.join()
    assert len(killed) == 1
    assert len(list(marks.iterdir())) > 12  # the task of the killed worker began twice


def test_a_lost_scheduler_is_one_sentence(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    with real_cluster(tmp_path, 1) as (address, scheduler, _):
        tasks = [(number, marks) for number in range(40)]
        with open_executor(tmp_path, n_workers=1, scheduler=address) as executor:
            done = executor.map(slow, tasks, n_papers=40)
            assert next(done) == 0
            scheduler.kill()
            with pytest.raises(LandscapeError, match=r"was lost\..*The same command resumes"):
                list(done)


def test_a_missing_scheduler_is_one_sentence(
    tmp_path: Path, few_papers: Path, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_executor, "_PATIENCE", 1.0)
    with pytest.raises(InputError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"):
        landscape.build(few_papers, tmp_path / "a.atlas", scheduler="tcp://127.0.0.1:9", **quick)
    for wrong in ("slurm:4", "local:many", "local:0"):
        with pytest.raises(InputError, match=f"There is no cluster '{wrong}'"):
            landscape.build(few_papers, tmp_path / "b.atlas", cluster=wrong, **quick)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sees_folder": False}, "cannot see the folder"),
        ({"versions": "Landscape 0.0.1 with Python 3.11"}, "has Landscape 0.0.1 with Python 3.11"),
    ],
)
def test_a_worker_that_cannot_help_is_named(
    tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch, change: Any, message: str
) -> None:
    def facts(self: Any, *_: object) -> dict[str, Any]:
        here = _executor._facts_of_worker(tmp_path)
        known = {"versions": here.versions, "sees_folder": True, "precision": "bfloat16"}
        return {"tcp://node7:1": _executor._WorkerFacts(**{**known, **change})}

    monkeypatch.setattr(distributed.Client, "run", facts)
    with (
        pytest.raises(InputError, match=f"The worker tcp://node7:1 {message}"),
        open_executor(tmp_path, n_workers=1, scheduler=cluster),
    ):
        pass


def fail(task: int) -> int:
    """Raise an error for a task."""
    if task == 3:
        raise InputError("The task 3 is wrong.")
    return task


@pytest.mark.parametrize("kind", ["serial", "processes", "dask"])
def test_an_error_of_a_task_is_raised_as_it_is(
    tmp_path: Path, cluster: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_executor, "_FEW", 0)
    options: dict[str, Any] = {"serial": {"n_workers": 1}, "processes": {"n_workers": 2}}.get(
        kind, {"n_workers": 1, "scheduler": cluster}
    )
    with open_executor(tmp_path, **options) as executor:
        wanted = {"serial": Executor, "processes": ProcessExecutor, "dask": DaskExecutor}[kind]
        assert type(executor) is wanted
        with pytest.raises(InputError, match="The task 3 is wrong"):
            list(executor.map(fail, [*range(9)], n_papers=9))
        assert [*executor.map(fail, [0, 1, 2], n_papers=3)] == [0, 1, 2]


def test_a_worker_with_several_threads_gives_equal_bytes(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    papers = papers_file(tmp_path / "one.jsonl", range(60))
    monkeypatch.setattr(_executor, "ROWS", 5)  # slices of five papers
    landscape.build(papers, tmp_path / "serial.atlas", **quick)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=4, dashboard_address=":0", memory_limit=0, silence_logs=50
    ) as made:
        address = made.scheduler_address
        landscape.build(papers, tmp_path / "threads.atlas", scheduler=address, **quick)
    assert content(tmp_path / "threads.atlas") == content(tmp_path / "serial.atlas")


def test_a_paid_model_is_approved_in_the_process_of_the_user(
    tmp_path: Path,
    few_papers: Path,
    quick: dict[str, Any],
    cluster: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    questions: list[str] = []

    def refuse(question: str) -> bool:
        questions.append(question)
        return False

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    options = {**quick, "embedder": "openai:text-embedding-3-small", "approve": refuse}
    with pytest.raises(InputError, match="Nothing was sent"):
        landscape.build(few_papers, tmp_path / "a.atlas", scheduler=cluster, **options)
    assert len(questions) == 1
    assert "28 papers" in questions[0]


def test_a_late_worker_with_another_version_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"but this build has Landscape 9\.9"):
        _executor._run_on_worker(fail, 1, versions="Landscape 9.9", folder=tmp_path)
    versions = _executor._versions()
    with pytest.raises(InputError, match="cannot see the folder"):
        _executor._run_on_worker(fail, 1, versions=versions, folder=tmp_path / "none")
    assert _executor._run_on_worker(fail, 1, versions=versions, folder=tmp_path) == 1


def test_either_a_scheduler_or_a_cluster(
    tmp_path: Path, few_papers: Path, quick: dict[str, Any], cluster: str
) -> None:
    with pytest.raises(InputError, match="Pass either --scheduler or --cluster"):
        landscape.build(
            few_papers, tmp_path / "a.atlas", scheduler=cluster, cluster="local:2", **quick
        )


def test_umap_of_landmarks_is_the_same_on_all_executors(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    cluster: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    papers = papers_file(tmp_path / "one.jsonl", range(1300))
    vectors = np.random.default_rng(0).normal(size=(1300, 24)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    options = {**quick, "layout": "umap", "seed": 1, "landmarks": 1000}
    options["embedder"] = f"ready:{tmp_path / 'vectors.npy'}"
    said: list[str] = []
    local = landscape.build(papers, tmp_path / "local.atlas", say=said.append, **options)
    landscape.build(papers, tmp_path / "dask.atlas", scheduler=cluster, **options)
    assert content(tmp_path / "dask.atlas") == content(tmp_path / "local.atlas")
    details = local.stages["projection"].details
    assert 1000 <= details["landmarks"] < 1100
    assert details["recall_of_neighbours"] >= 0.99
    assert any("UMAP was fitted to 1,0" in line for line in said)
    options["landmarks"] = 1200
    again = landscape.build(papers, tmp_path / "local.atlas", **options)
    assert again.stages["projection"].details["landmarks"] >= 1200


def wait_long(task: int) -> int:
    """Take much longer than the test, and note that the task has begun."""
    Path(f"begun-{task}").touch()
    time.sleep(time_limit(120))
    return task


def test_processes_end_with_the_build(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from landscape.pipeline._executor import open_executor\n"
        "from tests.pipeline.test_cluster import wait_long\n"
        "if __name__ == '__main__':\n"
        "    with open_executor(Path('.'), n_workers=2) as executor:\n"
        "        list(executor.map(wait_long, [*range(9)], n_papers=10**6))\n"
    )
    (tmp_path / "program.py").write_text(program)
    root = Path(landscape.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": str(root)}
    build = subprocess.Popen(
        [sys.executable, "program.py", str(root)], cwd=tmp_path, env=environment
    )
    process = psutil.Process(build.pid)
    workers: list[psutil.Process] = []
    until(lambda: len([*tmp_path.glob("begun-*")]) >= 2, 60)
    children = process.children(recursive=True)
    workers = [one for one in children if "spawn_main" in " ".join(one.cmdline())]
    build.kill()
    build.wait()
    _, alive = psutil.wait_procs(workers, timeout=time_limit(20))
    for one in alive:
        one.kill()
    assert len(workers) >= 2
    assert not alive


def double(task: int) -> int:
    """Return twice the task."""
    return 2 * task


def listening() -> set[tuple[str, int]]:
    """Return the addresses on which this process and its children accept connections."""
    me = psutil.Process()
    return {
        (one.laddr.ip, one.laddr.port)
        for process in (me, *me.children(recursive=True))
        for one in process.net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    }


def test_a_cluster_of_this_machine_accepts_only_this_build(tmp_path: Path) -> None:
    of_other_tests = listening()
    with open_executor(tmp_path, n_workers=1, cluster="local:1") as executor:
        assert [*executor.map(double, [1, 2], n_papers=2)] == [2, 4]
        client = executor._client  # type: ignore[attr-defined]  # private: the address of the test
        address = client.scheduler_info(n_workers=0)["address"]
        assert address.startswith("tls://127.0.0.1:")
        for protocol in ("tcp", "tls"):
            with pytest.raises((OSError, TypeError, ValueError)):
                distributed.Client(f"{protocol}://{address.partition('://')[2]}", timeout=3)
        places = listening() - of_other_tests
        assert {ip for ip, _ in places} == {"127.0.0.1"}
        for _, port in places:
            for page in ("status", "metrics", "json/counts.json"):
                with pytest.raises(OSError):  # noqa: PT011 - no page, or no HTTP
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=3)


@pytest.mark.parametrize("options", ["n_workers=2", "n_workers=1, cluster='local:2'"])
def test_a_script_that_builds_outside_of_a_main_block_runs_once(
    tmp_path: Path, options: str
) -> None:
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "print('the script runs')\n"
        "from landscape.pipeline._executor import open_executor\n"
        "from tests.pipeline.test_cluster import double\n"
        f"with open_executor(Path('.'), {options}) as executor:\n"
        "    print(list(executor.map(double, [*range(4)], n_papers=10**6)))\n"
        "print(Path(__file__).name, __spec__)\n"
    )
    (tmp_path / "program.py").write_text(program)
    root = Path(landscape.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": str(root)}
    words = [sys.executable, "program.py", str(root)]
    ran = subprocess.run(
        words,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=time_limit(100),
    )
    assert ran.stdout.splitlines() == ["the script runs", "[0, 2, 4, 6]", "program.py None"]
    assert ran.stderr == ""
