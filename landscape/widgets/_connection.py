"""Settings of a language model, and a test of the connection; keys stay in this process."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._wording import count
from landscape.errors import InputError, RemoteError
from landscape.widgets._controls import make_control, panel_texts, quiet_html
from landscape.widgets._panel import Panel

if TYPE_CHECKING:
    from traitlets import Bunch

    from landscape.llm import ChatModel

KEY_VARIABLE = "OPENAI_API_KEY"
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")  # text in another format may be a key
_MAX_TEST = 20.0  # seconds


@dataclass(frozen=True)
class Used:
    """Server and key variable of a language model that was connected."""

    server: str
    key_variable: str


class Connection(Panel):
    """Choose a language model on a server with the OpenAI protocol, and test the connection.

    Empty fields use the environment variables ``OPENAI_BASE_URL``, ``LANDSCAPE_LLM_MODEL`` and
    ``OPENAI_API_KEY``. A typed key is kept only in this process: the widget deletes
    it immediately, so that no notebook, saved widget state or page contains it.

    Parameters
    ----------
    base_url : str, optional
        Address of the server, such as ``"http://localhost:11434/v1"``.
    model : str, optional
        Name of the model on that server.
    key_variable : str, default "OPENAI_API_KEY"
        Environment variable with the key, if no key is typed.

    Raises
    ------
    InputError
        If an argument is not text, or if `key_variable` is not the name of an environment
        variable.

    Examples
    --------
    >>> connection = Connection(base_url="http://localhost:11434/v1", model="qwen3")
    >>> connection.value.model
    'qwen3'
    >>> connection
    <Connection: qwen3 on http://localhost:11434/v1, without a key>
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        model: str | None = None,
        key_variable: str = KEY_VARIABLE,
    ) -> None:
        texts: list[tuple[str, object, str]] = [
            ("base_url", base_url, "http://localhost:11434/v1"),
            ("model", model, "qwen3"),
            ("key_variable", key_variable, KEY_VARIABLE),
        ]
        for name, given, example in texts:
            if not isinstance(given, str | None):
                kind = type(given).__name__
                raise InputError(f"{name} must be text, not {kind}, for example {example}.")
        if key_variable and not _is_variable(key_variable):
            message = (  # the value is not shown, because it may be a key
                "key_variable must be the name of an environment variable, such as "
                f"{KEY_VARIABLE}. Pass the key itself to use_key."
            )
            raise InputError(message)
        self._key = ""
        self._address = ""
        self._used: Used | None = None
        self._made: tuple[tuple[str | None, ...], ChatModel] | None = None
        default = os.environ.get("OPENAI_BASE_URL")
        shown = _shown_address(default) or "such as http://localhost:11434/v1"
        self._server_box = make_control(
            "connection.server", placeholder=shown if default else "OpenAI itself"
        )
        self._model_box = make_control(
            "connection.model",
            value=model or "",
            placeholder=os.environ.get("LANDSCAPE_LLM_MODEL") or "such as gpt-4o-mini or qwen3",
        )
        self._key_box = make_control("connection.key", kind=_SecretBox)
        self._variable_box = make_control("connection.variable", value=key_variable)
        test = make_control("connection.test", self.test)
        self._forget_button = make_control("connection.forget", self.forget_key)
        self._key_state = widgets.HTML()
        super().__init__(
            "Language model",
            [
                self._server_box,
                self._model_box,
                self._key_box,
                self._variable_box,
                self._key_state,
                widgets.HBox([test, self._forget_button]),
            ],
        )
        self._server_box.observe(self._take_address, "value")
        self._key_box.observe(self._take_key, "value")
        self._variable_box.observe(self._take_variable, "value")
        self._server_box.value = base_url or ""
        self._show_key_state()

    def __repr__(self) -> str:
        key = "with a key" if self._key_now() else "without a key"
        if not self.is_configured:
            return "<Connection: no language model is named>"
        if self.fault:
            return "<Connection: the server address cannot be read>"
        model = self._model_box.value.strip() or os.environ.get("LANDSCAPE_LLM_MODEL") or "default"
        return f"<Connection: {model} on {self.server}, {key}>"

    @property
    def is_configured(self) -> bool:
        """Whether a server or a key is given in the panel or in the environment."""
        return bool(self._address or os.environ.get("OPENAI_BASE_URL") or self._key_now())

    @property
    def server(self) -> str:
        """Address of the server, without user, password and query."""
        from landscape.llm.server import server_url

        return server_url(self._address or None)

    @property
    def fault(self) -> str:
        """Error message for an invalid server address, or an empty string."""
        address = self._address or os.environ.get("OPENAI_BASE_URL")
        if not address or _shown_address(address):
            return ""
        which = "The server address" if self._address else "The address in OPENAI_BASE_URL"
        return f"{which} cannot be read. Write an address such as http://localhost:11434/v1."

    @property
    def used(self) -> Used:
        """Server and key variable of the last model that `value` returned."""
        return self._used or Used(self.server, self.key_variable)

    @property
    def key_variable(self) -> str:
        """Environment variable with the key, if no key is typed."""
        return self._variable_box.value.strip() or KEY_VARIABLE

    @property
    def value(self) -> ChatModel | None:
        """The language model, or None if nothing is set. No request is sent.

        Raises
        ------
        InputError
            If a setting is invalid.
        """
        if not self.is_configured:
            return None
        from landscape.llm import default_cache_folder

        asked = (self._address, self._model_box.value.strip(), self._key_now())
        if self._made is None or self._made[0] != asked:
            self._made = (asked, self._connect(cache=default_cache_folder()))
        self._used = Used(self.server, self.key_variable)
        return self._made[1]

    def use_key(self, key: str) -> None:
        """Set the key for this session from code, instead of typing it into the page.

        Parameters
        ----------
        key : str

        Raises
        ------
        InputError
            If the key contains spaces or non-ASCII characters.
        """
        key = key.strip()
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise InputError(
                "This is not a key: it contains spaces or characters outside ASCII. "
                "Copy the key again."
            )
        self._key = key
        self._show_key_state()

    def forget_key(self) -> None:
        """Delete the typed key."""
        self._key, self._made = "", None
        self._show_key_state()

    def test(self) -> None:
        """Send a short request, and show the result as one sentence."""
        self.run("Testing the connection", self._test, self.say)

    def _test(self) -> str:
        if not self.is_configured:
            raise InputError("Nothing to test yet: give a server address, or a key for OpenAI.")
        try:
            model = self._connect(timeout=_MAX_TEST, retries=0)
            began = time.monotonic()
            model.complete("This is a test of a connection. Answer with one word.", "Say yes.")
        except (InputError, RemoteError) as error:
            raise type(error)(_for_the_page(str(error))) from error
        seconds, spent = time.monotonic() - began, count(model.tokens_used, "token")
        return f"{model.model} on {self.server} answered in {seconds:.1f} s ({spent})."

    def _connect(self, **options: Any) -> ChatModel:
        from landscape.llm import connect

        if self.fault:  # do not use OpenAI instead: the key may be for another server
            raise InputError(self.fault)
        return connect(
            base_url=self._address or None,
            model=self._model_box.value.strip() or None,
            api_key=self._key_now(),
            **options,
        )

    def _key_now(self) -> str:
        return self._key or os.environ.get(self.key_variable, "").strip()

    def _take_address(self, change: Bunch) -> None:
        """Store the typed address; remove passwords and queries from the page."""
        typed = change["new"].strip()
        if typed != _shown_address(self._address):  # if equal, the panel has shortened the address
            self._address = typed
            self._server_box.value = _shown_address(typed)

    def _take_key(self, change: dict[str, str]) -> None:
        typed = change["new"].strip()
        if not typed:
            return
        self._key_box.value = ""
        try:
            self.use_key(typed)
        except InputError as error:
            self._show_error(error)

    def _take_variable(self, change: Bunch) -> None:
        typed = change["new"].strip()
        if typed and not _is_variable(typed):  # probably a key: remove it from this field
            self._variable_box.value = change["old"]
            self.say("This is not the name of a variable, so it was taken for the key.")
            self._take_key({"new": typed})
        self._show_key_state()

    def _show_key_state(self) -> None:
        if self._key:
            text = "A key is held in memory. It is not stored in the notebook."
        elif self._key_now():
            text = f"The key comes from the environment variable {self.key_variable}."
        else:
            text = "No key is set. Your own server may not need a key."
        self._key_state.value = quiet_html(text)
        self._forget_button.layout.display = "" if self._key else "none"


class _SecretBox(widgets.Password):
    """A field for a key; the key is never included in a state that is sent or saved."""

    def get_state(self, key: object = None, drop_defaults: bool = False) -> dict[str, object]:
        state: dict[str, Any] = super().get_state(key=key, drop_defaults=drop_defaults)
        if "value" in state:
            state["value"] = ""
        return state


def _is_variable(name: str) -> bool:
    """Return whether a text is the name of an environment variable, rather than a key."""
    return name in os.environ or bool(_NAME.fullmatch(name))


def _shown_address(address: str | None) -> str:
    from landscape.llm.server import server_url

    if not address:
        return ""
    try:
        shown = server_url(address)
    except InputError:
        return ""
    return shown if re.match(r"https?://[^/]", shown) else ""


def _for_the_page(sentence: str) -> str:
    """Replace the names of environment variables in a sentence by the names of fields."""
    for ours, theirs in panel_texts()["connection_words"].items():
        sentence = sentence.replace(ours, theirs)
    return sentence
