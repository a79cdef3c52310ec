"""Messages between the viewer in a notebook and the kernel are the same on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from landscape.errors import InputError
from landscape.viewer import messages

FILE = Path(messages.__file__).parent / "js" / "src" / "messages.d.ts"


def test_javascript_has_the_declarations_of_python() -> None:
    assert FILE.read_text() == messages.typescript()


def test_a_request_has_the_fields_of_its_class() -> None:
    sent = {"do": "search", "query": "dust", "method": "words", "k": 3, "years": None}
    assert messages.read_request(sent) == messages.Search("dust", "words", 3, None)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"do": "serch"},
        {"do": "select"},
        {"do": "reload", "rows": []},
        {"do": ["select"]},
        {"do": "select", "filter": 3},
        {"do": "search", "query": "dust", "method": "words", "k": "3", "years": None},
        {"do": "search", "query": "dust", "method": "words", "k": 3, "years": [2000]},
        {"do": "search", "query": "dust", "method": "words", "k": True, "years": None},
    ],
)
def test_another_message_is_refused(message: dict[str, object]) -> None:
    with pytest.raises(InputError):
        messages.read_request(message)


if __name__ == "__main__":
    FILE.write_text(messages.typescript())
