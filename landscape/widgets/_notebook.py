"""An answer as a notebook that asks again, and says whether the same comes out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from landscape._render import neutral_html
from landscape.store._manifest import digest

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Answer

_FORMAT = (4, 5)  # of notebooks


def checksum_of(atlas: Atlas) -> str:
    """Tell one build of an atlas from another by what is in its files."""
    return digest({name: written.sha256 for name, written in atlas.manifest.files.items()})


def answer_as_notebook(
    answer: Answer,
    atlas: Atlas,
    *,
    thread: Sequence[Answer] = (),
    model: str | None = None,
    server: str | None = None,
    key_variable: str = "OPENAI_API_KEY",
) -> str:
    """Write the notebook that asks a question again as it was asked."""
    cells = [
        _prose(f"# {_one_line(answer.question)}", _introduction(answer, model)),
        _code(
            "from datetime import date",
            "",
            "import landscape as ls",
            "",
            f"atlas = ls.open({str(atlas.path.resolve())!r})",
            "atlas",
        ),
        _prose(
            "## Is it the same atlas?", "Built again with other papers, it may answer otherwise."
        ),
        _code(*_atlas_check(atlas)),
        _prose("## Ask again", "Every setting is written down, also those chosen by `auto`."),
        _code(*_asking(answer, thread, model, server, key_variable)),
        _prose("## Does the same come out?"),
        _code(*_answer_check(answer)),
        _code("answer.results.table"),
    ]
    document = {
        "cells": [cell | {"id": f"cell-{place}"} for place, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": _FORMAT[0],
        "nbformat_minor": _FORMAT[1],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def code_of(question: str, settings: Mapping[str, Any], *, with_model: bool = False) -> str:
    """Write the line that asks a question, and before it what it needs."""
    given = "".join(f", {name}={_literal(value)}" for name, value in settings.items())
    needed = any(isinstance(value, date) for value in settings.values())
    call = f"atlas.ask({question!r}{given}{', model=model' if with_model else ''})"
    return f"from datetime import date\n{call}" if needed else call


def _introduction(answer: Answer, model: str | None) -> str:
    by = f"the language model `{_one_line(model)}`" if model else "quoting sentences of the papers"
    kept = (
        " Replies of a model are kept on this computer; where they are gone, it is asked again and "
        "may word the answer differently."
    )
    return (
        f"An answer from the atlas *{_one_line(answer.results.coverage.title)}*, given by {by}. "
        f"Run all cells to get it again.{kept if model else ''}"
    )


def _atlas_check(atlas: Atlas) -> list[str]:
    return [
        "from landscape.store._manifest import digest",
        "",
        "files = {name: written.sha256 for name, written in atlas.manifest.files.items()}",
        f"same_atlas = digest(files) == {checksum_of(atlas)!r}",
        'print("The same atlas." if same_atlas else "The atlas was built again since.")',
    ]


def _asking(
    answer: Answer,
    thread: Sequence[Answer],
    model: str | None,
    server: str | None,
    key_variable: str,
) -> list[str]:
    lines = ["model = None  # sentences are quoted"]
    if model is not None:
        lines = [
            "import os",
            "",
            "from landscape.llm import connect, default_cache_folder",
            "",
            "model = connect(",
            f"    model={model!r},",
            f"    base_url={server!r},",
            f"    api_key=os.environ.get({key_variable!r}, ''),  # the key is not in this notebook",
            "    cache=default_cache_folder(),",
            ")",
        ]
    lines += ["thread = []"]
    for said in thread:
        lines += [f"thread.append({_call(said)})"]
    return [*lines, f"answer = {_call(answer)}", "answer"]


def _call(said: Answer) -> str:
    given = [f"    {name}={_literal(value)}," for name, value in said.settings.items()
             if value is not None]  # fmt: skip
    first = [f"    {said.question!r},", "    model=model,", "    thread=list(thread),"]
    return "\n".join(["atlas.ask(", *first, *given, ")"])


def _answer_check(answer: Answer) -> list[str]:
    identifiers = [paper.paper_id for paper in answer.papers]
    text = hashlib.sha256(answer.text.encode()).hexdigest()
    return [
        "import hashlib",
        "",
        f"then = {identifiers!r}",
        "now = [paper.paper_id for paper in answer.papers]",
        "same = len(set(now) & set(then))",
        'some = f"{same} of {len(then)} papers are the same."',
        'print("The same papers." if now == then else some)',
        f"same_text = hashlib.sha256(answer.text.encode()).hexdigest() == {text!r}",
        'print("The same text." if same_text else "The text differs.")',
    ]


def _literal(value: Any) -> str:
    if isinstance(value, date):
        return f"date({value.year}, {value.month}, {value.day})"
    return repr(dict(value)) if isinstance(value, Mapping) else repr(value)


def _one_line(text: str) -> str:
    """Text of a user or a paper in Markdown: neither markup nor a second line."""
    flat = neutral_html(" ".join(text.split()))
    return "".join(f"\\{mark}" if mark in "\\`*_[]#$!|" else mark for mark in flat)


def _prose(*paragraphs: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(paragraphs)}


def _code(*lines: str) -> dict[str, Any]:
    source = "\n".join(lines)
    return {
        "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
        "source": source,
    }  # fmt: skip
