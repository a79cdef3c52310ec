"""Thesaurus of concepts with their hierarchy, and readers for its file formats."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from landscape._io import data_file
from landscape._wording import close_names
from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

MIN_SCORE = 0.25
"""Score of a tag at which the papers of top concepts are as many as the authors' (453 papers)."""
_LISTS = ("alternatives", "broader", "related")


@dataclass(frozen=True)
class Concept:
    """A concept of a thesaurus, with its terms and its links to other concepts."""

    concept_id: str
    label: str
    alternatives: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    definition: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Preferred term and alternative terms."""
        return (self.label, *self.alternatives)


@dataclass(frozen=True)
class Thesaurus:
    """Concepts and their hierarchy, which is a directed acyclic graph."""

    version: str
    concepts: Mapping[str, Concept] = field(repr=False)

    def __post_init__(self) -> None:
        for concept in self.concepts.values():
            for parent in concept.broader:
                if parent not in self.concepts:
                    raise InputError(
                        f"The concept {concept.label!r} ({concept.concept_id}) has the broader "
                        f"concept {parent!r}, which is not in the thesaurus; add it, or remove it "
                        "from the broader concepts."
                    )
        try:
            self._parents_first  # noqa: B018 - raises CycleError
        except CycleError as error:
            cycle = reversed(error.args[1])
            names = " < ".join(f"{self.concepts[one].label} ({one})" for one in cycle)
            raise InputError(
                f"The thesaurus has a cycle: {names}; a concept cannot be broader than itself. "
                "Correct the file or use an official release."
            ) from None
        levels: dict[str, int] = {}
        for one in self._parents_first:
            levels[one] = 1 + max((levels[up] for up in self.concepts[one].broader), default=0)
            if levels[one] > _DEEPEST:
                label = self.concepts[one].label
                raise InputError(
                    f"The thesaurus has more than {_DEEPEST} levels, at {label!r} ({one}). Correct "
                    "the file or use an official release."
                )

    def __len__(self) -> int:
        return len(self.concepts)

    @property
    def top(self) -> tuple[str, ...]:
        """Ids of the concepts that have no broader concept, sorted by name."""
        roots = [concept for concept in self.concepts.values() if not concept.broader]
        return tuple(one.concept_id for one in sorted(roots, key=lambda root: root.label))

    def narrower(self, concept_id: str) -> tuple[str, ...]:
        """Return the ids of the directly narrower concepts."""
        return self._narrower.get(self.find(concept_id).concept_id, ())

    def ancestors(self, concept_id: str) -> frozenset[str]:
        """Return the ids of all broader concepts."""
        return self._ancestors[self.find(concept_id).concept_id]

    def descendants(self, concept_id: str) -> frozenset[str]:
        """Return the ids of all narrower concepts."""
        return self._descendants[self.find(concept_id).concept_id]

    def near(self, concept_id: str) -> frozenset[str]:
        """Return the ids of the directly broader and narrower concepts."""
        concept = self.find(concept_id)
        return frozenset((*concept.broader, *self.narrower(concept.concept_id)))

    def find(self, name_or_id: str | int) -> Concept:
        """Find a concept by id, term or alternative term, ignoring case."""
        given = str(name_or_id).strip()
        if given in self.concepts:
            return self.concepts[given]
        tried = given.rpartition("/uat/")[2].removeprefix("uat:")
        if given.endswith(")"):  # such as "Galaxies (573)"
            tried = given[:-1].rpartition("(")[2]
        found = tried if tried in self.concepts else self._by_name.get(given.casefold())
        if found is None:
            close = [self._written(name) for name in close_names(given, self._by_name)]
            hint = f"; did you mean {' or '.join(close)}?" if close else "."
            raise InputError(
                f"The thesaurus{self.version and ' ' + self.version} has no concept {given!r}{hint}"
            )
        return self.concepts[found]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per concept."""
        import pandas as pd

        columns = [*Concept.__dataclass_fields__, "version"]
        rows = [
            (
                concept.concept_id,
                concept.label,
                *(list(getattr(concept, name)) for name in _LISTS),
                concept.definition,
                self.version,
            )
            for concept in self.concepts.values()
        ]
        return pd.DataFrame(rows, columns=columns)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Thesaurus:
        """Create a thesaurus from a table that `to_frame` returned."""
        version = str(frame["version"].iloc[0]) if len(frame) else ""
        made = {}
        for row in frame.itertuples():
            name, label, text = str(row.concept_id), str(row.label), str(row.definition)
            lists = (tuple(map(str, found)) for found in (getattr(row, one) for one in _LISTS))
            alternatives, broader, related = lists
            made[name] = Concept(name, label, alternatives, broader, related, text)
        return cls(version, made)

    def _written(self, name: str) -> str:
        """Return a term as it is spelled in the thesaurus, with the id of its concept."""
        concept = self.concepts[self._by_name[name]]
        written = next(one for one in concept.names if one.casefold() == name)
        return f"{written} ({concept.concept_id})"

    @cached_property
    def _by_name(self) -> dict[str, str]:
        """Mapping from case-folded names to ids. Preferred terms have priority."""
        found: dict[str, str] = {}
        every = self.concepts.values()
        preferred = ((one.label, one) for one in every)
        others = ((name, one) for one in every for name in one.alternatives)
        for name, one in (*preferred, *others):
            found.setdefault(name.casefold(), one.concept_id)
        return found

    @cached_property
    def _narrower(self) -> dict[str, tuple[str, ...]]:
        below: defaultdict[str, list[str]] = defaultdict(list)
        for concept in self.concepts.values():
            for parent in concept.broader:
                below[parent].append(concept.concept_id)
        return {parent: tuple(children) for parent, children in below.items()}

    @cached_property
    def _parents_first(self) -> list[str]:
        above = {concept.concept_id: concept.broader for concept in self.concepts.values()}
        return list(TopologicalSorter(above).static_order())

    @cached_property
    def _ancestors(self) -> dict[str, frozenset[str]]:
        return _closure(self._parents_first, lambda one: self.concepts[one].broader)

    @cached_property
    def _descendants(self) -> dict[str, frozenset[str]]:
        return _closure(reversed(self._parents_first), lambda one: self._narrower.get(one, ()))


def _closure(
    order: Iterable[str], nearest: Callable[[str], Iterable[str]]
) -> dict[str, frozenset[str]]:
    """Return, for each concept, all concepts that can be reached from it.

    `order` must list the concepts that can be reached from a concept before this concept.
    """
    found: dict[str, frozenset[str]] = {}
    for one in order:
        found[one] = frozenset(nearest(one)).union(*(found[other] for other in nearest(one)))
    return found


_VERSION = re.compile(r"\d{1,6}\.\d{1,6}\.\d{1,6}")
_SKOS = "{http://www.w3.org/2004/02/skos/core#}"
_NAMES = (f"{_SKOS}prefLabel", f"{_SKOS}altLabel")
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_DEPRECATED = "{http://www.w3.org/2002/07/owl#}deprecated"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
EMBEDDED = "uat_subset.csv"
_DEEPEST = 200  # maximum number of levels; the UAT has 11
_MAX_SIZE = 256 * 2**20  # maximum uncompressed size in bytes; the UAT has 3 MB


@dataclass
class _Record:
    """Fields of a concept that are collected while a file is read."""

    label: str = ""
    alternatives: dict[str, None] = field(default_factory=dict)
    broader: dict[str, None] = field(default_factory=dict)
    related: dict[str, None] = field(default_factory=dict)
    definition: str = ""
    deprecated: bool = False


_Records = dict[str, _Record]


def read_thesaurus(path: str | Path, *, version: str | None = None) -> Thesaurus:
    """Read a thesaurus from a file. The format is detected from the content.

    The table ``thesaurus.parquet`` of an atlas is read as well.
    """
    file = Path(path)
    if file.suffix == ".parquet":
        return _read_stored(file)
    text = _content(file)
    try:
        readers = {"<": _read_rdf, "{": _read_tree, "[": _read_list}
        concepts = _concepts(readers.get(text.lstrip()[:1], _read_csv)(text))
        for concept in concepts.values():  # encode() raises an error for lone surrogates
            for text in (
                concept.concept_id,
                *concept.names,
                *concept.broader,
                *concept.related,
                concept.definition,
            ):
                text.encode()
    except (ValueError, csv.Error, ElementTree.ParseError, RecursionError) as error:
        raise _foreign(file, str(error)) from error
    if not concepts:
        raise _foreign(file, "it has no concepts")
    named = _VERSION.findall(str(file.absolute()))
    return Thesaurus(version if version is not None else (named or [""])[-1], concepts)


@cache
def embedded_thesaurus() -> Thesaurus:
    """Return the subset of the Unified Astronomy Thesaurus (release 5.1.0) in the package."""
    return read_thesaurus(data_file(EMBEDDED), version="5.1.0 (abridged)")


def _read_stored(file: Path) -> Thesaurus:
    import pandas as pd

    try:
        return Thesaurus.from_frame(pd.read_parquet(file))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _foreign(file, str(error).splitlines()[0]) from error


def _content(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            packed = stream.read(2) == b"\x1f\x8b"
        with gzip.open(file) if packed else file.open("rb") as stream:
            raw = stream.read(_MAX_SIZE + 1)
        if len(raw) > _MAX_SIZE:
            raise _foreign(file, f"it has more than {_MAX_SIZE // 2**20} MB")
        return raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"The thesaurus {file} cannot be read ({why}); pass a file such as UAT.json, "
            "which landscape fetch uat downloads."
        ) from error
    except UnicodeDecodeError as error:
        raise _foreign(file, "it is not text in UTF-8") from error


def _foreign(file: Path, why: str) -> InputError:
    return InputError(
        f"{file} is not a thesaurus that can be read ({why}); pass UAT.json, UAT_list.json, "
        "UAT.csv or UAT.rdf of an official release (landscape fetch uat downloads one)."
    )


def _read_tree(text: str) -> _Records:
    """Read ``{"children": [{"name", "uri", "altLabels", "children": [...]}]}``."""
    records: _Records = {}
    waiting: list[tuple[object, str, int]] = [(json.loads(text), "", 0)]
    while waiting:
        node, parent, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError(f"its tree is more than {_DEEPEST} levels deep")
        here = ""
        if isinstance(node, dict) and isinstance(node.get("name"), str):
            here = _add(records, node, alternatives="altLabels")
            if parent:
                records[here].broader[parent] = None
        waiting += [(child, here, depth + 1) for child in reversed(_listed(node, "children"))]
    return records


def _read_list(text: str) -> _Records:
    """Read ``[{"name", "uri", "altNames", "broader": [{"uri"}], "status"}, ...]``."""
    records: _Records = {}
    for node in json.loads(text):
        if isinstance(node, dict) and isinstance(node.get("name"), str):
            here = records[_add(records, node, alternatives="altNames")]
            here.broader.update(dict.fromkeys(map(_id, _listed(node, "broader"))))
    return records


def _add(records: _Records, node: dict[str, Any], *, alternatives: str) -> str:
    """Add the fields of a JSON object to its concept and return the id."""
    concept_id = _id(node)
    here = records.setdefault(concept_id, _Record(node["name"].strip()))
    here.alternatives.update(dict.fromkeys(_texts(_listed(node, alternatives))))
    here.related.update(dict.fromkeys(map(_id, _listed(node, "related"))))
    here.definition = here.definition or str(node.get("definition") or "")
    here.deprecated = here.deprecated or node.get("status") == "deprecated"
    return concept_id


def _id(node: object) -> str:
    """Return the id of a concept: the number at the end of its URI, or its name."""
    if isinstance(node, dict):
        node = node.get("uri") or node.get("name") or ""
    return str(node).rstrip("/").rpartition("/")[2] if "://" in str(node) else str(node).strip()


def _listed(node: object, key: str) -> list[object]:
    found = node.get(key) if isinstance(node, dict) else None
    return found if isinstance(found, list) else [found] if isinstance(found, str | dict) else []


def _texts(found: Iterable[object]) -> list[str]:
    return [one.strip() for one in found if isinstance(one, str) and one.strip()]


def _read_csv(text: str) -> _Records:
    rows = csv.reader(io.StringIO(text))
    header = [name.strip().casefold() for name in next(rows, [])]
    if {"concept_id", "label", "broader"} <= set(header):
        return _read_table(header, rows)
    if not header or not all(name.startswith("level ") for name in header):
        raise ValueError(
            "its first line has neither the columns 'level 1', 'level 2', ... nor 'concept_id', "
            "'label' and 'broader'"
        )
    records: _Records = {}
    for row in rows:  # a row is a path from the broadest to the narrowest term
        path = [term.strip() for term in row if term.strip()]
        for term in path:
            records.setdefault(term, _Record(term))
        if len(path) > 1:
            records[path[-1]].broader[path[-2]] = None
    return records


def _read_table(header: list[str], rows: Iterable[list[str]]) -> _Records:
    """Read a table with one concept per row. Terms and ids in a cell are separated by ``|``."""
    records: _Records = {}
    for row in rows:
        cells = dict(zip(header, row, strict=False))
        if not cells.get("concept_id", "").strip():
            continue
        record = records.setdefault(cells["concept_id"].strip(), _Record())
        record.label = cells.get("label", "").strip()
        for name in _LISTS:
            getattr(record, name).update(dict.fromkeys(_texts(cells.get(name, "").split("|"))))
        record.definition = cells.get("definition", "").strip()
    return records


def _read_rdf(text: str) -> _Records:
    """Read SKOS in RDF/XML. Several elements can describe the same concept."""
    if "<!ENTITY" in text:
        raise ValueError("it defines XML entities, which are not supported")
    records: _Records = {}
    root = ElementTree.fromstring(text)  # noqa: S314 - entities are rejected above
    if root.tag != f"{_RDF}RDF":
        raise ValueError(f"its root is <{root.tag.rpartition('}')[2]}>, not <rdf:RDF>")
    for node in root:
        about = _id(node.get(f"{_RDF}about", ""))
        if about:
            record = records.setdefault(about, _Record())
            for element in node:
                _add_element(record, element)
    return records


def _add_element(record: _Record, element: ElementTree.Element) -> None:
    text = (element.text or "").strip()
    other = _id(element.get(f"{_RDF}resource", ""))
    language = element.get(_LANGUAGE, "en")
    if language.partition("-")[0] != "en":
        return
    if element.tag == f"{_SKOS}prefLabel" and language == "en":
        record.label = text
    elif element.tag in _NAMES and text:  # includes British preferred terms
        record.alternatives[text] = None
    elif element.tag == f"{_SKOS}definition":
        record.definition = text
    elif element.tag in (f"{_SKOS}broader", f"{_SKOS}related") and other:
        getattr(record, element.tag.removeprefix(_SKOS))[other] = None
    elif element.tag == _DEPRECATED:
        record.deprecated = text.casefold() == "true"


def _concepts(records: _Records) -> dict[str, Concept]:
    """Convert records to concepts. Deprecated concepts and links to them are omitted."""
    live = {one: found for one, found in records.items() if found.label and not found.deprecated}
    return {
        one: Concept(
            one,
            record.label,
            tuple(name for name in record.alternatives if name != record.label),
            tuple(filter(live.__contains__, record.broader)),
            tuple(filter(live.__contains__, record.related)),
            record.definition,
        )
        for one, record in live.items()
    }
