"""Write code that reproduces the result of a panel, as lines or as a notebook."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from landscape._render import neutral_html, render
from landscape._wording import escape_invisible
from landscape.store.manifest import digest

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Answer
    from landscape.widgets._connection import Used


class Name(str):
    """Name of a variable, written without quotes."""


def called(function: str, *arguments: object, **options: object) -> str:
    """Write a call as a line of code."""
    parts = [written(value) for value in arguments]
    parts += [f"{name}={written(value)}" for name, value in options.items()]
    return f"{function}({', '.join(parts)})"


def call(function: str, *arguments: object, **options: object) -> str:
    """Write a call with the atlas as first argument; options that are None are omitted."""
    return called(function, Name("atlas"), *arguments, **_given(options))


def figure_lines(
    analysis: str, kind: str, *arguments: object, printed: str | None = None, **options: object
) -> str:
    """Write the calls for an analysis, its figure on the screen, and its figure for print."""
    of_kind = (kind, Name("atlas"), *arguments)
    screen = called("ls.figures.interactive", *of_kind, **_given(options))
    if printed == "intervals":
        page = called("ls.figures.intervals", *of_kind, **_given(options))
    else:
        page = call(f"ls.figures.{printed or kind}", *arguments, **options)
    return join_lines(f"found = {analysis}", f"figure = {screen}", f"page = {page}")


def _given(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def written(value: object) -> str:
    """Write a value as a Python literal, with double quotes for strings."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, str):
        return escape_invisible(json.dumps(value, ensure_ascii=False))
    if isinstance(value, date):
        return f"date({value.year}, {value.month}, {value.day})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{written(k)}: {written(v)}' for k, v in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(written, value))}]"
    return repr(value)


def connecting(used: Used, name: str | None) -> list[str]:
    """Write the lines that connect the model of a panel; return an empty list if there is none."""
    if name is None:
        return []
    # Without an explicit empty key, OPENAI_API_KEY would be sent to this server.
    key = f'os.environ.get({written(used.key_variable)}, "")'
    made = called("connect", base_url=used.server, model=name, api_key=Name(key))
    return ["import os", "from landscape.llm import connect", f"model = {made}"]


def join_lines(*parts: str | Sequence[str]) -> str:
    """Join lines of code, given as strings or lists, without empty lines."""
    listed = [[part] if isinstance(part, str) else part for part in parts]
    return "\n".join(line for part in listed for line in part if line)


# -- questions


def code_of(question: str, settings: Mapping[str, object], *, with_model: bool = False) -> str:
    """Write the line that asks a question, and the import if it is needed."""
    model = {"model": Name("model")} if with_model else {}
    line = called("atlas.ask", question, **settings, **model)
    needs_date = any(isinstance(value, date) for value in settings.values())
    return f"from datetime import date\n{line}" if needs_date else line


def checksum_of(atlas: Atlas) -> str:
    """Return a checksum of the files of an atlas."""
    return digest({name: written.sha256 for name, written in atlas.manifest.files.items()})


def answer_as_notebook(
    answer: Answer,
    atlas: Atlas,
    thread: Sequence[Answer] = (),
    model: str | None = None,
    used: Used | None = None,
) -> str:
    """Write a notebook that runs a question again with the same settings."""
    text = render(
        "answer_notebook.txt",
        question=_escaped_line(answer.question),
        title=_escaped_line(answer.results.coverage.title),
        model=model and repr(model),
        model_name=_escaped_line(model or ""),
        server=used and repr(used.server),
        key_variable=used and repr(used.key_variable),
        path=repr(str(atlas.path.resolve())),
        checksum=repr(checksum_of(atlas)),
        call=_full_call(answer),
        thread=[_full_call(earlier) for earlier in thread],
        identifiers=repr([paper.paper_id for paper in answer.papers]),
        text_checksum=repr(hashlib.sha256(answer.text.encode()).hexdigest()),
    )
    cells = []
    for place, cell in enumerate(text.removeprefix("%% ").split("\n%% ")):
        kind, _, source = cell.partition("\n")
        code: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
        about = {"id": f"cell-{place}", "cell_type": kind, "metadata": {}}
        cells.append({**about, **code, "source": source.strip("\n")})
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _full_call(answer: Answer) -> str:
    """Write the call that reproduces an answer, with all settings."""
    first = {"model": Name("model"), "thread": Name("list(thread)")}
    settings = {**first, **_given(answer.settings)}
    lines = [written(answer.question), *(f"{k}={written(v)}" for k, v in settings.items())]
    return "\n".join(["atlas.ask(", *(f"    {line}," for line in lines), ")"])


def _escaped_line(text: str) -> str:
    """Write text of a user or a paper as one line, with Markdown characters escaped."""
    flat = neutral_html(" ".join(text.split()))
    return "".join(f"\\{mark}" if mark in "\\`*_[]#$!|" else mark for mark in flat)
