"""A language model is connected and tested, and its key is nowhere but in the process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ipywidgets")

import ipywidgets as widgets
from ipywidgets.embed import embed_data

from landscape.errors import InputError
from landscape.widgets.connection import Connection
from tests.servers.openai_server import KEY, OpenAIServer, failing, rate_limited, web_page
from tests.widgets.asking import page_of


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        running.reply = lambda _: "Yes."
        yield running


@pytest.fixture
def connection(server: OpenAIServer) -> Connection:
    made = Connection(base_url=server.url, model="small-chat")
    made._key_box.value = f" {KEY} "  # as typed
    return made


def said_by(connection: Connection) -> str:
    connection.test()
    assert connection.wait(30)
    return connection.status


def test_a_connection_that_works_says_so(connection: Connection, server: OpenAIServer) -> None:
    said = said_by(connection)
    assert said.startswith(f"small-chat on {server.url} answered in ")
    assert said.endswith("(100 tokens).")
    assert connection.value is connection.value  # one budget
    assert connection.value.complete("Be short.", "Say yes.") == "Yes."


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (failing(), "status 500"),
        (rate_limited(0.01), "limits the rate"),
        (web_page, "Check the server address"),
    ],
)
def test_a_server_that_fails_is_one_sentence(
    connection: Connection, server: OpenAIServer, fault: object, sentence: str
) -> None:
    server.always = fault
    said = said_by(connection)
    assert sentence in said
    assert "Traceback" not in page_of(connection)


def test_what_is_wrong_is_named(connection: Connection, server: OpenAIServer) -> None:
    connection.use_key("sk-wrong")
    said = said_by(connection)
    assert "refused the key" in said
    assert "sk-wrong" not in said
    connection.use_key(KEY)
    connection._model_box.value = "no-such-model"
    assert "does not know the model 'no-such-model'" in said_by(connection)
    connection._server_box.value = "http://127.0.0.1:9/v1"
    assert "cannot be reached" in said_by(connection)
    connection._server_box.value = "http://[::1/v1"
    assert "address cannot be read" in said_by(connection)


def test_nothing_named_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection()
    assert connection.value is None
    assert "Nothing to test yet" in said_by(connection)
    assert repr(connection) == "<Connection: no language model is named>"
    monkeypatch.setenv("MY_KEY", KEY)
    connection._variable_box.value = "MY_KEY"
    assert connection.is_told
    assert "environment variable MY_KEY" in page_of(connection)
    assert connection.value.model == "gpt-4o-mini"


def test_the_environment_is_the_default(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("LANDSCAPE_LLM_MODEL", "small-chat")
    assert "answered in" in said_by(Connection())


def test_a_key_is_in_no_state_that_is_saved(connection: Connection) -> None:
    assert connection._key_box.value == ""
    assert connection._key == KEY
    saved = json.dumps(widgets.Widget.get_manager_state()) + json.dumps(
        embed_data([connection]), default=str
    )
    assert KEY not in saved
    assert KEY not in repr(connection)
    assert KEY not in page_of(connection)
    with connection._key_box.hold_trait_notifications():  # as if it were not yet read
        connection._key_box.value = KEY
        assert KEY not in json.dumps(connection._key_box.get_state())
    assert connection._key_box.value == ""
    connection.forget_key()
    assert connection._key == ""


def test_a_key_in_another_box_does_not_stay_there(server: OpenAIServer) -> None:
    connection = Connection(model="small-chat")
    connection._variable_box.value = KEY
    assert connection._variable_box.value == "OPENAI_API_KEY"
    assert connection._key == KEY
    address = server.url.replace("://", "://me:secret@")
    connection._server_box.value = f"{address}?token=secret"
    assert connection._server_box.value == server.url
    assert "secret" not in json.dumps(widgets.Widget.get_manager_state())
    assert "secret" not in repr(connection)


def test_what_is_no_key_is_refused(connection: Connection) -> None:
    with pytest.raises(InputError, match="no key"):
        connection.use_key("sk–dash in it")
    connection._key_box.value = "zwölf"
    assert "no key" in connection.status
    assert connection._key == KEY
