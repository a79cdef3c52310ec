"""Request names of regions from a language model, and check them."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from landscape._io import data_file, read_yaml
from landscape.errors import RemoteError
from landscape.llm._client import LanguageModel, request_reply
from landscape.llm.prompts import ReplyForm, prompt

MAX_NAME = 60  # maximum number of characters on the map; the prompt contains this number too

_REGIONS_AT_ONCE = 20
_PHRASE_LENGTH = 80  # characters
#: Maximum number of texts of each list, and of characters of each text.
_LISTS = {"keywords": (12, _PHRASE_LENGTH), "titles": (6, 200), "neighbours": (6, _PHRASE_LENGTH)}


class _RegionName(ReplyForm):
    id: int
    name: str


class _RegionNames(ReplyForm):
    names: list[_RegionName]


def polish_names(
    model: LanguageModel,
    regions: Sequence[Mapping[str, Any]],
    *,
    note: Callable[[str], None] | None = None,
) -> dict[int, str]:
    """Request better names of regions from a language model; return the names that pass checks."""
    from landscape.text.words import normal_form

    taken = {normal_form(region["name"]): region["id"] for region in regions}
    accepted: dict[int, str] = {}
    failed = Counter[str]()
    for start in range(0, len(regions), _REGIONS_AT_ONCE):
        some = regions[start : start + _REGIONS_AT_ONCE]
        try:
            answer = request_reply(model, prompt("name_regions"), naming_data(some), _RegionNames)
        except RemoteError as error:
            if start == 0:
                raise
            failed[str(error).rstrip(".")] = len(regions) - start
            break
        unnamed = {region["id"]: region for region in some}
        for proposal in answer.names:
            region = unnamed.pop(proposal.id, None)
            if region is None or proposal.name == region["name"]:
                continue
            name = allowed_name(proposal.name)
            if name is None:
                failed["the proposal was too long or not plain text"] += 1
            elif not is_grounded(name, region):
                failed["the proposal has words that the topic does not have"] += 1
            elif taken.setdefault(normal_form(name), region["id"]) != region["id"]:
                failed["the proposal was the name of another topic"] += 1
            elif name != region["name"]:
                accepted[region["id"]] = name
        failed["there was no proposal"] += len(unnamed)
    if note is not None and failed.total():
        reasons = "; ".join(f"{reason} ({n})" for reason, n in failed.items() if n)
        note(f"{failed.total()} of {len(regions)} names of topics were not changed: {reasons}.")
    return accepted


def naming_data(regions: Sequence[Mapping[str, Any]]) -> str:
    """Return regions as JSON of limited size: printable ASCII without angle brackets."""
    listed = []
    for region in regions:
        shown = {"id": region["id"], "name": region["name"][:_PHRASE_LENGTH]}
        for field, (most, length) in _LISTS.items():
            shown[field] = [text[:length] for text in region.get(field, ())[:most]]
        listed.append(shown)
    return json.dumps(listed).replace("<", "\\u003c").replace(">", "\\u003e")


def allowed_name(name: str) -> str | None:
    """Return a proposed name with single spaces, or None if it is too long or not plain text."""
    plain = " ".join(name.split())
    if not 3 <= len(plain) <= MAX_NAME or "://" in plain or "www." in plain.lower():
        return None
    if not any(c.isalpha() for c in plain):
        return None
    # Allow only letters, digits, accents, punctuation marks and symbols.
    is_text = all(c == " " or unicodedata.category(c)[0] in "LNPSM" for c in plain)
    return plain if is_text and not _MARKUP & set(plain) else None


def is_grounded(name: str, region: Mapping[str, Any]) -> bool:
    """Return whether all words of a name occur in its region; ignore plurals, case and hyphens."""
    own = [region["name"], *region.get("keywords", ()), *region.get("titles", ())]
    content = _words(name) - _function_words()
    return bool(content) and content <= set().union(*map(_words, own))


@cache
def _function_words() -> frozenset[str]:
    return frozenset(read_yaml(data_file("phrases.yaml"))["words_of_names"].split())


def _words(text: str) -> set[str]:
    """Return the words of a text in the singular, such as gamma, ray, burst."""
    from landscape.text.words import normal_form, normal_forms

    return set(normal_forms(normal_form(text).split()))


_MARKUP = frozenset('<>{}[]`*_#|\\$~^@"')
