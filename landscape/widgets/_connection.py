"""The settings of a language model, and a test of the connection; keys never leave this process."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._wording import count
from landscape.errors import InputError, RemoteError
from landscape.widgets._panel import OpenedPanel, Panel

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.llm._client import ChatModel

KEY_VARIABLE = "OPENAI_API_KEY"
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")  # keys look like most other names
_LONGEST_TEST = 20.0  # seconds
_WIDE = {"description_width": "130px"}


@dataclass(frozen=True)
class Used:
    """Where a language model was connected."""

    server: str
    key_variable: str


class Connection(Panel):
    """Choose a language model on any server that speaks the OpenAI protocol, and test it.

    What is left empty is taken from the environment (``OPENAI_BASE_URL``, ``LANDSCAPE_LLM_MODEL``,
    ``OPENAI_API_KEY``). A key that is typed is kept in this process alone: the widget forgets it at
    once, so that no notebook, no saved widget state and no page holds it.

    Parameters
    ----------
    base_url : str, optional
        Address of the server, such as ``"http://localhost:11434/v1"``.
    model : str, optional
        Its name there.
    key_variable : str, default "OPENAI_API_KEY"
        The environment variable that holds the key, where none is typed.

    Raises
    ------
    InputError
        What is given is no text, or no name of an environment variable.

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
        _check_text("base_url", base_url, such="http://localhost:11434/v1")
        _check_text("model", model, such="qwen3")
        _check_text("key_variable", key_variable, such=KEY_VARIABLE)
        if key_variable and not _is_variable(key_variable):
            message = (  # without the value, which may be a key
                "key_variable must be the name of an environment variable, such as "
                f"{KEY_VARIABLE}; a key itself is given with use_key."
            )
            raise InputError(message)
        self._key = ""
        self._address = ""
        self._used: Used | None = None
        self._is_shortening = False
        self._made: tuple[tuple[str | None, ...], ChatModel] | None = None
        wide = widgets.Layout(width="100%", max_width="620px")
        self._server_box = widgets.Text(
            description="Server address", style=_WIDE, layout=wide, continuous_update=False,
            placeholder=_default_address(),
            tooltip="Address of a server that speaks the OpenAI protocol; empty for OpenAI itself",
        )  # fmt: skip
        self._model_box = widgets.Text(
            value=model or "", description="Model", style=_WIDE, layout=wide,
            placeholder=os.environ.get("LANDSCAPE_LLM_MODEL") or "such as gpt-4o-mini or qwen3",
            tooltip="Name of the model on that server",
        )  # fmt: skip
        self._key_box = _SecretBox(
            description="Key", style=_WIDE, layout=wide, continuous_update=False,
            placeholder="press Enter after it; it is not saved",
            tooltip="The key; kept in this process alone, never in the notebook",
        )  # fmt: skip
        self._variable_box = widgets.Text(
            description="or key variable", style=_WIDE, layout=wide, continuous_update=False,
            value=key_variable, placeholder=KEY_VARIABLE,
            tooltip="Name of the environment variable that holds the key, where none is typed",
        )  # fmt: skip
        self._test_button = widgets.Button(
            description="Test the connection", icon="plug", layout=widgets.Layout(width="190px"),
            tooltip="Send a request of a few words and say what happened",
        )  # fmt: skip
        self._forget_button = widgets.Button(
            description="Forget the key", layout=widgets.Layout(width="140px", display="none"),
            tooltip="Forget the key that was typed",
        )  # fmt: skip
        self._held = widgets.HTML()
        buttons = widgets.HBox([self._test_button, self._forget_button])
        super().__init__(
            "Language model",
            [self._server_box, self._model_box, self._key_box, self._variable_box, self._held,
             buttons],
        )  # fmt: skip
        self._server_box.observe(self._take_address, "value")
        self._key_box.observe(self._take_key, "value")
        self._variable_box.observe(self._take_variable, "value")
        self._test_button.on_click(lambda _: self.test())
        self._forget_button.on_click(lambda _: self.forget_key())
        self._server_box.value = base_url or ""
        self._tell_key()

    def __repr__(self) -> str:
        key = "with a key" if self._key_now() else "without a key"
        if not self.is_told:
            return "<Connection: no language model is named>"
        if self.fault:
            return "<Connection: the server address cannot be read>"
        model = self._model_box.value.strip() or os.environ.get("LANDSCAPE_LLM_MODEL") or "default"
        return f"<Connection: {model} on {self.server}, {key}>"

    @property
    def is_told(self) -> bool:
        """Whether a server or a key is named, here or in the environment."""
        return bool(self._address or os.environ.get("OPENAI_BASE_URL") or self._key_now())

    @property
    def server(self) -> str:
        """The server's address, without user, password and query."""
        from landscape.llm._server import server_url

        return server_url(self._address or None)

    @property
    def fault(self) -> str:
        """What is wrong with the server's address, in one sentence; empty where nothing is."""
        address = self._address or os.environ.get("OPENAI_BASE_URL")
        if not address or _shown_address(address):
            return ""
        which = "The server address" if self._address else "The address in OPENAI_BASE_URL"
        return f"{which} cannot be read; write http://localhost:11434/v1, say."

    @property
    def used(self) -> Used:
        """Where the model that `value` gave last was connected, whatever was typed since."""
        return self._used or Used(self.server, self.key_variable)

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key, where none is typed."""
        return self._variable_box.value.strip() or KEY_VARIABLE

    @property
    def value(self) -> ChatModel | None:
        """The language model; None where nothing is named. Nothing is sent yet.

        Raises
        ------
        InputError
            For settings that cannot be.
        """
        if not self.is_told:
            return None
        from landscape.llm._budget import default_cache_folder

        asked = (self._address, self._model_box.value.strip(), self._key_now())
        if self._made is None or self._made[0] != asked:
            self._made = (asked, self._connect(cache=default_cache_folder()))
        self._used = Used(self.server, self.key_variable)
        return self._made[1]

    def use_key(self, key: str) -> None:
        """Take a key for this session, without the page.

        Parameters
        ----------
        key : str

        Raises
        ------
        InputError
            It holds what no key holds.
        """
        key = key.strip()
        if not (key.isascii() and key.isprintable() and " " not in key):
            message = "This is no key: it holds spaces or characters outside of ASCII."
            raise InputError(message)
        self._key = key
        self._tell_key()

    def forget_key(self) -> None:
        """Forget the key that was typed."""
        self._key, self._made = "", None
        self._tell_key()

    def test(self) -> None:
        """Send a request of a few words, and say in one sentence what happened."""
        self.run("Testing the connection", self._test, self.say)

    def _test(self) -> str:
        if not self.is_told:
            message = "Nothing to test yet: give a server address, or a key for OpenAI."
            raise InputError(message)
        try:
            model = self._connect(timeout=_LONGEST_TEST, retries=0)
            began = time.monotonic()
            model.complete("This is a test of a connection. Answer with one word.", "Say yes.")
        except (InputError, RemoteError) as error:
            raise type(error)(_for_the_page(str(error))) from error
        seconds = time.monotonic() - began
        tokens = model.tokens_used
        spent = count(tokens, "token")
        return f"{model.model} on {self.server} answered in {seconds:.1f} s ({spent})."

    def _connect(self, **options: Any) -> ChatModel:
        from landscape.llm._client import connect

        if self.fault:  # never OpenAI in its place: the key may be for another server
            raise InputError(self.fault)
        return connect(
            base_url=self._address or None,
            model=self._model_box.value.strip() or None,
            api_key=self._key_now(),
            **options,
        )

    def _key_now(self) -> str:
        return self._key or os.environ.get(self.key_variable, "").strip()

    def _take_address(self, change: dict[str, Any]) -> None:
        """Keep an address; what it holds of secrets does not stay in the page."""
        typed = change["new"].strip()
        if self._is_shortening:
            return
        self._address = typed
        self._is_shortening = True
        try:
            self._server_box.value = _shown_address(typed)
        finally:
            self._is_shortening = False

    def _take_key(self, change: dict[str, Any]) -> None:
        typed = change["new"].strip()
        if not typed:
            return
        self._key_box.value = ""
        try:
            self.use_key(typed)
        except InputError as error:
            self._tell(error)

    def _take_variable(self, change: dict[str, Any]) -> None:
        typed = change["new"].strip()
        if typed and not _is_variable(typed):  # a key in the wrong box must not stay there
            self._variable_box.value = change["old"]
            self.say("That is no name of an environment variable, so it was taken for the key.")
            self._take_key({"new": typed})
        self._tell_key()

    def _tell_key(self) -> None:
        if self._key:
            text = "A key is held in memory; it is not in the notebook."
        elif self._key_now():
            text = f"The key comes from the environment variable {self.key_variable}."
        else:
            text = "No key is set; a server of your own may need none."
        self._held.value = f"<span class='landscape-quiet'>{text}</span>"
        self._forget_button.layout.display = "" if self._key else "none"


class _SecretBox(widgets.Password):
    """A box for a key that is never part of any state that is sent or saved."""

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        state: dict[str, Any] = super().get_state(key=key, drop_defaults=drop_defaults)
        if "value" in state:
            state["value"] = ""
        return state


def _check_text(name: str, given: object, *, such: str) -> None:
    if not isinstance(given, str | None):
        message = f"{name} must be text, not {type(given).__name__}; write {such}, say."
        raise InputError(message)


def _is_variable(name: str) -> bool:
    """Whether this names an environment variable, and is no key."""
    return name in os.environ or bool(_NAME.fullmatch(name))


def _default_address() -> str:
    """The server used when the address is empty."""
    address = os.environ.get("OPENAI_BASE_URL")
    if not address:
        return "OpenAI itself"
    return _shown_address(address) or "such as http://localhost:11434/v1"


def _shown_address(address: str | None) -> str:
    from landscape.llm._server import server_url

    if not address:
        return ""
    try:
        shown = server_url(address)
    except InputError:
        return ""
    return shown if re.match(r"https?://[^/]", shown) else ""


def _for_the_page(sentence: str) -> str:
    """Name the fields of the panel instead of environment variables."""
    return (
        sentence.replace("Check OPENAI_API_KEY.", "Check the key.")
        .replace("the network and OPENAI_BASE_URL", "the network and the server address")
        .replace("check OPENAI_BASE_URL", "check the server address")
        .replace("Check OPENAI_BASE_URL.", "Check the server address.")
        .replace("Set the environment variable LANDSCAPE_LLM_MODEL to its name.", "Name it above.")
    )


# Seconds: a page holds back the letters typed last while the kernel is busy with those before, but
# not the Enter, or the click, that follows them.
_LAST_KEYS = 0.25


class AtlasPanel(OpenedPanel):
    """A panel that asks something of an atlas, with a language model or without."""

    def __init__(self, verb: str, atlas: Atlas, *, connection: Connection | None) -> None:
        super().__init__(verb, atlas, [])
        self.connection = connection if connection is not None else Connection()

    def _try(self, do: Callable[[], Any]) -> None:
        """Run the action of a control; show an error as one sentence."""
        try:
            do()
        except Exception as error:  # noqa: BLE001 - in a timer, nobody else would tell it
            Panel._tell(self, error)

    def _on_enter(self, box: widgets.Text, do: Callable[[], Any]) -> None:
        def entered(_widget: Any, content: Any, _buffers: Any) -> None:
            if isinstance(content, dict) and content.get("event") == "submit":
                self._soon(do)

        box.on_msg(entered)

    def _soon(self, do: Callable[[], Any]) -> None:
        """Do what a control asks for once the boxes beside it hold all that was typed."""
        threading.Timer(_LAST_KEYS, lambda: self._try(do)).start()
