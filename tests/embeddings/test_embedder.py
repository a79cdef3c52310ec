"""The registry, and the rule that a query is embedded by the model of the atlas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from landscape.embeddings import load_embedder
from landscape.embeddings.embedder import PaidEmbedder, embedder_for, embedding_text, identity
from landscape.errors import InputError
from tests.servers.openai_server import OpenAIServer, vector_of


def test_the_default_is_offline() -> None:
    assert load_embedder().describe()["name"] == "minilm"
    assert not isinstance(load_embedder(), PaidEmbedder)


@pytest.mark.parametrize("spec", ["glove", "minilm:large", "st:", "ready:", "st:./none"])
def test_what_cannot_be_loaded_is_said(spec: str) -> None:
    with pytest.raises(InputError):
        load_embedder(spec)


def test_a_missing_abstract_leaves_the_title() -> None:
    assert embedding_text("Title", None) == embedding_text("Title", "") == "Title. "


def test_a_query_is_embedded_by_the_model_of_the_atlas(server: OpenAIServer) -> None:
    built = load_embedder("openai:text-embedding-3-small", confirm=lambda _: True)
    query = embedder_for(built.describe()).embed(["dark matter"])
    assert np.allclose(query[0], vector_of("dark matter"), atol=1e-6)


def test_ready_vectors_of_a_known_model_can_be_queried(
    server: OpenAIServer, tmp_path: Path
) -> None:
    np.save(tmp_path / "v.npy", np.eye(3, 1536, dtype=np.float32))
    ready = load_embedder(f"ready:{tmp_path / 'v.npy'}", model="text-embedding-3-small")
    assert embedder_for(ready.describe()).embed(["dark matter"]).shape == (1, 1536)


def test_a_ready_file_can_name_its_model(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    plain, named = (load_embedder(f"ready:{tmp_path / 'v.npy'}{end}") for end in ("", "@BAAI/bge"))
    assert (plain.model, named.model) == ("unknown", "BAAI/bge")


def test_another_server_is_another_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for address in ("http://one.example/v1", "http://me:secret@two.example/v1?key=secret"):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        found.append(identity("openai:some-model"))
    assert found == [{"server": "http://one.example/v1"}, {"server": "http://two.example/v1"}]


@pytest.mark.parametrize("changed", ["model.safetensors", "1_Pooling/config.json"])
def test_other_weights_or_settings_in_the_folder_are_another_embedder(
    changed: str, tmp_path: Path
) -> None:
    (tmp_path / "1_Pooling").mkdir()
    for name in ("model.safetensors", "1_Pooling/config.json", "README.md"):
        (tmp_path / name).write_text("as it was")
    before = identity(f"st:{tmp_path}")
    (tmp_path / "README.md").write_text("another text")
    assert identity(f"st:{tmp_path}") == before
    (tmp_path / changed).write_text("not as it was")
    assert identity(f"st:{tmp_path}") != before
    assert identity("st:BAAI/bge-small-en-v1.5") == {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "ready", "model": "mystery"}, "embedded with 'mystery'.*needs the same model"),
        ({"checksum": "0" * 64}, "checksum 000.*the same model"),
        ({"dimension": 768}, "dimension 768"),
    ],
)
def test_any_other_model_is_refused(change: dict[str, object], sentence: str) -> None:
    description = load_embedder().describe() | change
    with pytest.raises(InputError, match=sentence):
        embedder_for(description)
