"""What the places are called: names given, names asked for, and whether fonts can draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from landscape.outreach import everyday, fonts

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel
    from landscape.outreach.about import About
    from landscape.outreach.places import Found


def given_names(
    names: Any,
    model: LanguageModel | None,
    found: list[Found],
    language: str,
    tell: Callable[[str], None],
) -> dict[str, str]:
    """Everyday names by key: those given first, the model's for the rest."""
    known = {one.key: one.technical_name for one in found}
    shown = {one.key: one.name for one in found if one.name}
    given: dict[str, str] = {}
    if isinstance(names, Mapping):
        by_name = everyday.keys_by_name(known, shown)
        for place, name in names.items():
            key = str(place) if str(place) in known else by_name.get(str(place).casefold())
            said = everyday.tidy_name(name)
            if key is None:
                tell(f"No place of this map is called {str(place)[:60]!r}; its name is not used.")
            elif said:
                given[key] = said
    elif names is not None:
        given, problems = everyday.read_names(names, known, shown=shown, language=language)
        for problem in problems:
            tell(problem)
    if model is not None:
        rest = [
            {"key": one.key, "name": one.technical_name, "keywords": one.keywords}
            for one in found
            if one.key not in given
        ]
        given |= everyday.ask_names(model, rest, language=language, note=tell)
    return given | _untwinned(given, found)


def _untwinned(given: Mapping[str, str], found: list[Found]) -> dict[str, str]:
    """Whole names of places that would be called as somebody called another place."""
    said = {name.casefold() for name in given.values()}
    return {
        one.key: one.technical_name
        for one in found
        if one.key not in given and one.called({}).casefold() in said
    }


def drawable_names(
    given: dict[str, str], found: list[Found], tell: Callable[[str], None]
) -> dict[str, str]:
    """Names that fonts can draw: else the technical name, else squares for what is missing."""
    called = {one.key: one.called(given) for one in found}
    lacking = [name for name in called.values() if not fonts.drawable(name)]
    if not lacking:
        return given
    sentence = fonts.missing_fonts(lacking)
    if sentence:
        tell(sentence)
    mended = dict(given)
    for one in found:
        if not fonts.drawable(called[one.key]):
            plain = one.technical_name
            mended[one.key] = plain if fonts.drawable(plain) else fonts.replaced(plain)
    return mended


def drawable_about(about: About, tell: Callable[[str], None]) -> About:
    """The cartouche in words that fonts can draw."""
    sentence = fonts.missing_fonts(about.everything())
    if sentence is None:
        return about
    tell(sentence)
    shown = replace(
        about,
        title=fonts.replaced(about.title),
        corpus=fonts.replaced(about.corpus),
        credits=fonts.replaced(about.credits),
        sources=tuple(fonts.replaced(source) for source in about.sources),
    )
    return replace(shown, language="en") if fonts.missing_fonts(shown.everything()) else shown
