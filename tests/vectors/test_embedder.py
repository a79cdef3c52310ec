"""The registry, and the rule that a query is embedded by the model of the atlas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from landscape.errors import InputError
from landscape.vectors.embedder import PaidEmbedder, embedder_for, embedding_text, load_embedder
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


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "ready", "model": "mystery"}, "embedded with 'mystery'.*only be embedded with"),
        ({"checksum": "0" * 64}, "of checksum 000.*the same model"),
        ({"dimension": 768}, "of dimension 768"),
    ],
)
def test_any_other_model_is_refused(change: dict[str, object], sentence: str) -> None:
    description = load_embedder().describe() | change
    with pytest.raises(InputError, match=sentence):
        embedder_for(description)
