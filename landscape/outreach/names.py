"""Texts of the map in several languages, and everyday names from a table or a model."""

from __future__ import annotations

import csv
import json
import os
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._io import data_file, read_yaml
from landscape._wording import one_line
from landscape.errors import InputError, RemoteError
from landscape.figures.labels import shortened
from landscape.llm.prompts import prompt
from landscape.text.words import normal_form

if TYPE_CHECKING:
    from landscape.llm import LanguageModel


MAX_LENGTH = 80  # maximum number of characters of a name
_AT_ONCE = 25  # number of places per request
_MAX_PHRASE = 48  # maximum length of a name from the model; also in the prompt
_MARKUP = re.compile(r"[<>{}\[\]*_`|\\]|https?:|www\.")  # not allowed in a name
_JOINERS = "\u200c\u200d"  # joiners used by Persian and Indian scripts

_SCHEMA = {
    "type": "object",
    "properties": {
        "names": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "phrase": {"type": "string"}},
                "required": ["id", "phrase"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["names"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Wording:
    """Texts of the map sheet in one language, with placeholders in braces for values."""

    papers: str
    between: str
    half: str
    few_to_many: tuple[str, str]
    old_to_new: tuple[str, str]
    mountains: str
    coasts: str
    coasts_in_ink: str
    water: str
    rivers: str
    near: str
    generated: str
    sources: str
    strait: str
    sea: str
    drawn: str
    repainted: str
    plain: str
    thousands: str = ","

    def count(self, n: int) -> str:
        """Write a number with the thousands separator of the language."""
        return f"{n:,}".replace(",", self.thousands)


LANGUAGES = ("en", "de", "fr", "es", "ar", "hi", "zh")


@cache
def _wordings() -> dict[str, Wording]:
    texts = read_yaml(data_file("outreach_texts.yaml"))
    pairs = ("few_to_many", "old_to_new")
    return {
        language: Wording(**{**entry, **{name: tuple(entry[name]) for name in pairs}})
        for language, entry in texts.items()
    }


def wording(language: str) -> Wording:
    """Return the texts of a language, such as ``"de"`` or ``"pt-BR"``; English if unknown."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _wordings().get(code, _wordings()["en"])


def tidy_name(name: object, *, most: int = MAX_LENGTH) -> str:
    """Remove control characters and bidirectional formatting characters, but keep joiners."""
    text = one_line(unicodedata.normalize("NFC", str(name)), keep=_JOINERS, control="")
    return shortened(text, most=most)


def read_names(
    path: str | os.PathLike[str], known: Mapping[str, str], *, language: str = "en"
) -> tuple[dict[str, str], list[str]]:
    """Read everyday names from a CSV table; return them by key, and messages on problems."""
    table = Path(path)
    try:
        with table.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            columns = {str(column).strip().lower(): column for column in reader.fieldnames or ()}
            which = _first(columns, ("place", "topic_id", "technical_name", "region", "label"))
            what = _first(columns, (f"name_{language}".lower(), "name", "phrase", "everyday"))
            if which is None or what is None or which == what:
                raise InputError(
                    f"{table} needs a column 'topic_id' or 'region' and a column 'name' in its "
                    f"first line; it has: {one_line(', '.join(columns))[:200] or 'nothing'}."
                )
            rows = [(row[which] or "", row[what] or "") for row in reader]
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            f"There is no table of names at {table}. Create a CSV file with the columns "
            "region,name, or pass the path of an existing table."
        ) from None
    except (OSError, ValueError, csv.Error) as error:  # not UTF-8, or an invalid file name
        raise InputError(
            f"{table} cannot be read as a table of names ({error}); save it as CSV in UTF-8."
        ) from error
    by_name = {name.casefold(): key for key, name in known.items()}
    names, unknown = {}, []
    for place, name in rows:
        wanted = tidy_name(place.strip().removeprefix("'"))
        key = wanted if wanted in known else by_name.get(wanted.casefold())
        everyday = tidy_name(name.removeprefix("'"))
        if key is None and wanted and everyday:
            unknown.append(wanted)
        elif key is not None and everyday:
            names[key] = everyday
    problems = []
    if unknown:
        problems.append(
            f"{table.name}: {len(unknown)} of {len(rows)} rows have an unknown place "
            f"(the first is {unknown[0]!r}). These rows are ignored."
        )
    return names, problems


def ask_names(
    model: LanguageModel,
    places: Sequence[Mapping[str, Any]],
    *,
    language: str = "en",
    note: Callable[[str], None] | None = None,
) -> dict[str, str]:
    """Request everyday names from a language model, and return the valid names by key."""
    names: dict[str, str] = {}
    used: set[str] = set()
    for start in range(0, len(places), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        regions = [
            {
                "id": str(place["key"]),
                "name": tidy_name(place["name"]),
                "keywords": [tidy_name(word, most=60) for word in list(place["keywords"])[:8]],
            }
            for place in some
        ]
        asked = json.dumps({"language": language, "regions": regions}, ensure_ascii=False)
        try:
            reply = model.complete_json(prompt("everyday_names"), asked, _SCHEMA)
        except RemoteError as error:
            if note:
                note(f"The language model gave no names, so the technical names are used. {error}")
            return names
        keys = {str(place["key"]) for place in some}
        entries = reply.get("names") if isinstance(reply, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict):
                continue
            key, phrase = str(entry.get("id")), tidy_name(entry.get("phrase", ""))
            fits = 0 < len(phrase) <= _MAX_PHRASE and normal_form(phrase) not in used
            fits = fits and not _MARKUP.search(phrase)
            if key in keys and key not in names and fits:
                names[key] = phrase
                used.add(normal_form(phrase))
    if note and len(names) < len(places):
        note(
            f"The language model named {len(names)} of {len(places)} places. The other places "
            "keep their technical names."
        )
    return names


def _first(columns: Mapping[str, str], wanted: Sequence[str]) -> str | None:
    return next((columns[name] for name in wanted if name in columns), None)
