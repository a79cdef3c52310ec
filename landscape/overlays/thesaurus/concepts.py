"""A thesaurus: concepts that have names, and broader concepts above them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_LISTS = ("alternatives", "broader", "related")
_NUMBER = re.compile(r"(?:.*/uat/|uat:)?(\d+)")
_NAME_AND_NUMBER = re.compile(r"\s*(.*?)\s*\((\d+)\)\s*")


@dataclass(frozen=True)
class Concept:
    """One concept of a thesaurus.

    Attributes
    ----------
    concept_id : str
        Its number in the thesaurus: ``"573"``.
    label : str
        Preferred term.
    alternatives : tuple of str
        Other terms for it.
    broader : tuple of str
        Ids of the concepts one step above; a concept may have several.
    related : tuple of str
        Ids of concepts beside it.
    definition : str
        What it means, where the thesaurus says so.

    Examples
    --------
    >>> Concept("164", "Blazars", broader=("16",)).label
    'Blazars'
    """

    concept_id: str
    label: str
    alternatives: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    definition: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The preferred term, then the alternative ones."""
        return (self.label, *self.alternatives)


@dataclass(frozen=True)
class Thesaurus:
    """Concepts and the hierarchy that they form: a directed graph without cycles.

    Attributes
    ----------
    version : str
        Release, for example ``"5.1.0"``; empty where it is unknown.
    concepts : mapping of str to Concept
        By id.

    Raises
    ------
    InputError
        If a concept names a broader one that is not there, or if concepts are above themselves.

    Examples
    --------
    >>> stars = Concept("1", "Stars")
    >>> dwarfs = Concept("2", "White dwarf stars", ("White dwarfs",), broader=("1",))
    >>> thesaurus = Thesaurus("", {"1": stars, "2": dwarfs})
    >>> thesaurus.top, thesaurus.narrower("1"), thesaurus.find("white dwarfs").concept_id
    (('1',), ('2',), '2')
    """

    version: str
    concepts: Mapping[str, Concept] = field(repr=False)

    def __post_init__(self) -> None:
        for concept in self.concepts.values():
            for parent in concept.broader:
                if parent not in self.concepts:
                    raise InputError(
                        f"The concept {concept.label!r} ({concept.concept_id}) stands below the "
                        f"concept {parent!r}, which the thesaurus lacks; add it, or take it out "
                        "of the broader ones."
                    )
        cycle = _find_cycle(self.concepts)
        if cycle:
            names = " < ".join(f"{self.concepts[one].label} ({one})" for one in cycle)
            raise InputError(
                f"The thesaurus goes in a circle: {names}; no concept may be above itself, so "
                "mend the file or take an official release."
            )

    def __len__(self) -> int:
        return len(self.concepts)

    @property
    def top(self) -> tuple[str, ...]:
        """Ids of the concepts that have nothing above them, in the order of their names."""
        roots = [one for one in self.concepts.values() if not one.broader]
        return tuple(one.concept_id for one in sorted(roots, key=lambda one: one.label))

    def narrower(self, concept_id: str) -> tuple[str, ...]:
        """Ids of the concepts one step below."""
        return self._narrower.get(self.find(concept_id).concept_id, ())

    def ancestors(self, concept_id: str) -> frozenset[str]:
        """Ids of all concepts above, without itself."""
        return self._ancestors[self.find(concept_id).concept_id]

    def descendants(self, concept_id: str) -> frozenset[str]:
        """Ids of all concepts below, without itself."""
        return self._descendants[self.find(concept_id).concept_id]

    def near(self, concept_id: str) -> frozenset[str]:
        """Ids of the concepts one step above or below, without itself."""
        concept = self.find(concept_id)
        return frozenset((*concept.broader, *self.narrower(concept.concept_id)))

    def find(self, name_or_id: str | int) -> Concept:
        """Find a concept by id, term or alternative term; case does not matter.

        Parameters
        ----------
        name_or_id : str or int
            ``"573"``, ``"Galaxies"``, ``"Galaxies (573)"`` or an address that ends in
            ``/uat/573``.

        Raises
        ------
        InputError
            If there is none; the message names the nearest.
        """
        given = str(name_or_id).strip()
        if given in self.concepts:
            return self.concepts[given]
        number = _NUMBER.fullmatch(given)
        both = _NAME_AND_NUMBER.fullmatch(given)
        tried = number.group(1) if number else both.group(2) if both else ""
        found = tried if tried in self.concepts else self._by_name.get(given.casefold())
        if found is None:
            close = difflib.get_close_matches(given.casefold(), self._by_name, n=3, cutoff=0.6)
            hint = "; the nearest: " + ", ".join(self._said(name) for name in close)
            raise InputError(
                f"The thesaurus{self.version and ' ' + self.version} has no concept {given!r}"
                f"{hint if close else ''}."
            )
        return self.concepts[found]

    def to_frame(self) -> pd.DataFrame:
        """One row a concept, for a Parquet file.

        Returns
        -------
        pandas.DataFrame
            Columns ``concept_id, label, alternatives, broader, related, definition, version``.
        """
        import pandas as pd

        columns = [*Concept.__dataclass_fields__, "version"]
        rows = [
            (one.concept_id, one.label, *(list(getattr(one, name)) for name in _LISTS),
             one.definition, self.version)
            for one in self.concepts.values()
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Thesaurus:
        """Make a thesaurus of what `to_frame` gave."""
        version = str(frame["version"].iloc[0]) if len(frame) else ""
        made = [
            Concept(
                str(row.concept_id),
                str(row.label),
                tuple(map(str, row.alternatives)),
                tuple(map(str, row.broader)),
                tuple(map(str, row.related)),
                str(row.definition),
            )
            for row in frame.itertuples()
        ]
        return cls(version, {one.concept_id: one for one in made})

    def _said(self, name: str) -> str:
        """A term as the thesaurus writes it, with its number."""
        concept = self.concepts[self._by_name[name]]
        written = next(one for one in concept.names if one.casefold() == name)
        return f"{written} ({concept.concept_id})"

    @cached_property
    def _by_name(self) -> dict[str, str]:
        """Id by case-folded name; a preferred term goes before another concept's alternative."""
        found: dict[str, str] = {}
        for one in self.concepts.values():
            found.setdefault(one.label.casefold(), one.concept_id)
        for one in self.concepts.values():
            for name in one.alternatives:
                found.setdefault(name.casefold(), one.concept_id)
        return found

    @cached_property
    def _narrower(self) -> dict[str, tuple[str, ...]]:
        below: dict[str, list[str]] = {}
        for one in self.concepts.values():
            for parent in one.broader:
                below.setdefault(parent, []).append(one.concept_id)
        return {parent: tuple(children) for parent, children in below.items()}

    @cached_property
    def _ancestors(self) -> dict[str, frozenset[str]]:
        return {one: _reached(self.concepts[one].broader, self._above) for one in self.concepts}

    @cached_property
    def _descendants(self) -> dict[str, frozenset[str]]:
        return {one: _reached(self._narrower.get(one, ()), self._narrower) for one in self.concepts}

    @cached_property
    def _above(self) -> dict[str, tuple[str, ...]]:
        return {one.concept_id: one.broader for one in self.concepts.values()}


def _reached(first: Iterable[str], steps: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Everything that can be reached from the first ones."""
    seen: set[str] = set()
    waiting = list(first)
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting.extend(steps.get(one, ()))
    return frozenset(seen)


def _find_cycle(concepts: Mapping[str, Concept]) -> list[str]:
    """Ids along a circle of broader concepts, its first one again at the end; empty if none."""
    done: set[str] = set()
    for start in concepts:
        path: dict[str, None] = {}  # an ordered set: the way up that is being followed
        waiting = [(start, False)]
        while waiting:
            one, leaving = waiting.pop()
            if leaving:
                done.add(one)
                del path[one]
            elif one in path:
                return [*list(path)[list(path).index(one) :], one]
            elif one not in done:
                path[one] = None
                waiting.append((one, True))
                waiting.extend((parent, False) for parent in concepts[one].broader)
    return []
