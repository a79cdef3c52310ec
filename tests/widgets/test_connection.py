"""Connection of a language model; its key stays in the process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipywidgets")

import ipywidgets as widgets
from ipywidgets.embed import embed_data

from landscape import Atlas
from landscape.errors import InputError, RemoteError
from landscape.widgets import AskPanel, Connection
from tests.servers.openai_server import KEY, OpenAIServer, failing, rate_limited, web_page
from tests.timing import time_limit
from tests.widgets.asking import QUESTION, page_of, script


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
    assert connection.wait(time_limit(30))
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
    assert "has no model 'no-such-model'" in said_by(connection)
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
    assert connection.is_configured
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
    with pytest.raises(InputError, match="not a key"):
        connection.use_key("sk–dash in it")
    connection._key_box.value = "zwölf"
    assert "not a key" in connection.status
    assert connection._key == KEY


def test_a_key_for_openai_goes_to_no_server_that_was_given_another(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    connection = Connection(base_url=server.url, model="small-chat", key_variable="MY_KEY")
    assert "No key is set" in page_of(connection)
    assert repr(connection).endswith("without a key>")
    assert "refused the key" in said_by(connection)
    assert {request.key for request in server.requests} == {"none"}
    monkeypatch.setenv("MY_KEY", KEY)
    assert "answered in" in said_by(connection)


def test_the_code_of_a_panel_sends_no_key_for_openai_to_another_server(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, demo_atlas: Atlas
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("MY_KEY", KEY)
    script(server)
    connection = Connection(base_url=server.url, model="small-chat", key_variable="MY_KEY")
    panel = AskPanel(demo_atlas, connection=connection)
    panel.ask(QUESTION, k=3)
    assert panel.wait(time_limit(90))
    monkeypatch.delenv("MY_KEY")
    server.requests.clear()
    names: dict[str, Any] = {"atlas": demo_atlas}
    *connecting, _ = panel.code.splitlines()
    exec("\n".join(connecting), names)  # noqa: S102 - our own text
    with pytest.raises(RemoteError, match="refused the key"):
        names["model"].complete("Be short.", "Say yes.")
    assert {request.key for request in server.requests} == {"none"}


@pytest.mark.parametrize("key", ["gsk_Ab12Cd34", "hf_AbCdEfGh", "a3f9c0de12b34567", KEY])
def test_a_key_in_place_of_a_variable_is_shown_nowhere(key: str) -> None:
    connection = Connection(base_url="http://localhost:9/v1", key_variable="MY_KEY")
    connection._variable_box.value = key
    assert connection.key_variable == "MY_KEY"
    assert connection._key == key
    assert "taken for the key" in connection.status
    assert key not in json.dumps(widgets.Widget.get_manager_state(), default=str)
    with pytest.raises(InputError, match="name of an environment variable") as told:
        Connection(key_variable=key)
    assert key not in str(told.value)


def test_a_variable_of_small_letters_is_one_where_it_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("my_key", KEY)
    connection = Connection(key_variable="my_key")
    assert connection._key_now() == KEY


def test_an_address_of_the_environment_that_cannot_be_read_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, server: OpenAIServer
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[::1")
    connection = Connection(model="small-chat")
    assert repr(connection) == "<Connection: the server address cannot be read>"
    said = "The address in OPENAI_BASE_URL cannot be read. Write an address such as http"
    assert said in said_by(connection)
    connection.use_key(KEY)
    connection._server_box.value = server.url
    assert "answered in" in said_by(connection)


def test_what_is_no_text_is_one_sentence() -> None:
    with pytest.raises(InputError, match="model must be text, not int, for example qwen3"):
        Connection(model=5)
    with pytest.raises(InputError, match="base_url must be text, not int"):
        Connection(base_url=5)
