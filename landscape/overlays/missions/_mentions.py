"""Find mentions of facilities in text. Ambiguous names are checked with the adjacent words.

A mention is a name of a facility, an instrument or a survey that refers to the facility, or to
its data, results or plans. Other uses of the name are not mentions: units and laws (Planck mass,
Kepler's laws), phenomena (Fermi bubbles, Parker spiral), and objects (Kepler-186f,
Swift J1644+57, 2MASS J0523-1403, comet 3I/ATLAS).
"""

from __future__ import annotations

import datetime
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from landscape._io import read_yaml
from landscape.corpus import load_facilities
from landscape.errors import InputError
from landscape.overlays.missions.roles import Place, classify_places, request_roles

if TYPE_CHECKING:
    import pandas as pd

    from landscape.llm import LanguageModel

_JOINTS = ("/", "-")
_FIELDS = ("title", "abstract")
_TO_SPACES = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


class Mention(NamedTuple):
    """Mention of a facility in a text.

    Attributes
    ----------
    start, end : int
        Position of the name: ``text[start:end] == surface``.
    surface : str
        The name as written in the text.
    facility : str
        Canonical name, see `landscape.corpus.load_facilities`.
    role : {"science", "instrumentation", "planned", "mention"}
        Role of the facility in the paper: its data or products are used, the paper is about the
        facility itself, its future use is planned or forecast, or it is only context. A
        classifier assigns the role from the words of the text; ``benchmarks/RESULTS.md`` states
        how often it is right.
    """

    start: int
    end: int
    surface: str
    facility: str
    role: str


class _Candidate(NamedTuple):
    start: int
    end: int
    facility: str
    ambiguous: bool
    owners: tuple[str, ...] = ()  # facilities that share the name


def find_mentions(
    text: str, *, date: datetime.date | None = None, model: LanguageModel | None = None
) -> list[Mention]:
    """Find the facilities that a text mentions.

    Parameters
    ----------
    text : str
        A title, an abstract, or both, with or without LaTeX.
    date : datetime.date, optional
        Date of the paper, by default today. Before the first light of a facility, no paper uses
        its data.
    model : LanguageModel, optional
        Language model that decides the roles. By default a classifier decides, without network.

    Returns
    -------
    list of Mention
        Mentions in the order of the text; they do not overlap.

    Raises
    ------
    RemoteError
        If the language model gives no valid answer.

    Examples
    --------
    >>> text = "We present Hubble spectra. Future JWST data will test the Hubble constant."
    >>> [(mention.surface, mention.facility, mention.role) for mention in find_mentions(text)]
    [('Hubble', 'HST', 'science'), ('JWST', 'JWST', 'planned')]
    >>> find_mentions("Kepler-186f and Swift J1644+57 obey Kepler's laws.")
    []
    """
    return _with_roles((text,), find_places((text,)), model, date)[0]


def find_in_papers(
    titles: Iterable[str | None],
    abstracts: Iterable[str | None],
    dates: Iterable[datetime.date | None] | None = None,
) -> pd.DataFrame:
    """Find the facilities that papers mention.

    Parameters
    ----------
    titles, abstracts : iterable of str or None
        One text per paper. For ambiguous names in the title, the abstract provides context, and
        vice versa.
    dates : iterable of datetime.date or None, optional
        Date of each paper; an unknown date means today.

    Returns
    -------
    pandas.DataFrame
        ``row, field, facility, start, end, surface, role``, one row per mention; ``row`` counts
        papers from 0, ``field`` is "title" or "abstract", and `Mention` explains ``role``.

    Examples
    --------
    >>> print(find_in_papers(["A flare in data from TESS"], [None]).to_string(index=False))
     row field facility  start  end surface    role
       0 title     TESS     21   25    TESS science
    """
    import pandas as pd

    rows = [
        (row, field, one.facility, one.start, one.end, one.surface, one.role)
        for row, (title, abstract, day) in enumerate(
            zip(titles, abstracts, itertools.repeat(None) if dates is None else dates, strict=False)
        )
        for texts in [[title or "", abstract or ""]]
        for field, found in zip(
            _FIELDS, _with_roles(texts, find_places(texts), None, day), strict=True
        )
        for one in found
    ]
    columns = ["row", "field", "facility", "start", "end", "surface", "role"]
    return pd.DataFrame(rows, columns=columns).astype({"row": int, "start": int, "end": int})


def find_places(texts: Sequence[str]) -> list[list[Place]]:
    """Find mentions in the texts of a paper; all texts provide context for ambiguous names."""
    candidates = [_candidates(text) for text in texts]
    if not any(candidates):
        return [[] for _ in texts]
    known = load_facilities()
    foreign = {
        text[one.start : one.end]
        for text, found in zip(texts, candidates, strict=True)
        for one, earlier in zip(found, (None, *found), strict=False)
        if defined_otherwise(text, one.start, one.end)
        # Exclude abbreviations in brackets after a longer name of the same facility.
        and not (earlier and earlier.facility == one.facility and one.start - earlier.end <= 3)
        # Require a name of the facility itself, not of an instrument or a survey.
        and (
            one.ambiguous
            or text[one.start : one.end] in (one.facility, *known[one.facility].aliases)
        )
    }
    sure = {one.facility for found in candidates for one in found if not one.ambiguous}
    candidates = [_owned(found, sure) for found in candidates]
    defined = {
        text[one.start : one.end]
        for text, found in zip(texts, candidates, strict=True)
        for earlier, one in pairwise(found)
        if not earlier.ambiguous
        and earlier.facility == one.facility
        and text[earlier.end : one.start].strip() == "("
    }
    return [
        _joined(text, _accepted(text, found, sure, foreign, defined))
        for text, found in zip(texts, candidates, strict=True)
    ]


def _owned(candidates: list[_Candidate], sure: set[str]) -> list[_Candidate]:
    """Assign a shared name to its only owner that the paper certainly mentions."""
    owned = []
    for one in candidates:
        owners = sure.intersection(one.owners)
        facility = owners.pop() if len(owners) == 1 else one.facility
        if facility:
            owned.append(one._replace(facility=facility))
    return owned


def _candidates(text: str) -> list[_Candidate]:
    """Return the names in a text, without false names and names that overlap an earlier name."""
    known = all_names()
    words = known.first_words.intersection(
        text.encode("utf-8", "replace").translate(_TO_SPACES).split()
    )
    if not words:
        return []
    candidates = [match for word in words for match in pattern_of(word.decode()).finditer(text)]
    candidates.sort(key=lambda match: (match.start(), -match.end()))
    kept, reached = [], 0
    for match in candidates:
        start, end = match.span()
        if start < reached:
            continue
        reached = end
        if match.lastindex is None and not names_an_object(text, start, end):
            kept.append(_Candidate(start, end, *known.surfaces[folded(match.group())]))
    return kept


def _accepted(
    text: str, candidates: list[_Candidate], sure: set[str], foreign: set[str], defined: set[str]
) -> list[_Candidate]:
    """Keep names that are unambiguous, supported by context, or in a list with an accepted name."""
    candidates = [one for one in candidates if text[one.start : one.end] not in foreign]
    good = [
        not one.ambiguous or text[one.start : one.end] in defined or _is_meant(text, one, sure)
        for one in candidates
    ]
    for order in (range(1, len(candidates)), range(len(candidates) - 2, -1, -1)):
        step = order.step
        for i in order:
            first, second = sorted((i - step, i))
            if not good[i] and good[i - step]:
                plain = text[candidates[i].start : candidates[i].end] in _context().plain_words
                good[i] = is_in_list(
                    text, candidates[first].end, candidates[second].start, parted=plain
                )
    return [one for one, accepted in zip(candidates, good, strict=True) if accepted]


def _is_meant(text: str, candidate: _Candidate, sure: set[str]) -> bool:
    surface = text[candidate.start : candidate.end]
    listed = text.rfind("Facilit", max(0, candidate.start - _LIST_WIDTH), candidate.start)
    if listed >= 0 and _FACILITY_LIST.match(text, listed, candidate.start):
        return True
    if _OBJECT_NUMBER.match(text, candidate.end):
        return False
    if text[max(0, candidate.start - 16) : candidate.end + 10].isupper():  # a heading
        return False
    if not _context().companions.get(candidate.facility, frozenset()).isdisjoint(sure):
        return True
    # At the start of a sentence any word is capitalised.
    starts_sentence = _SENTENCE_START.search(text[max(0, candidate.start - 4) : candidate.start])
    if surface in _context().plain_words:
        if starts_sentence and not surface.isupper():
            return bool(_VEHICLE.match(text, candidate.end))
        return supported(text, candidate.start, candidate.end, strictly=True)
    if candidate.facility in sure or (surface == "Swift" and not starts_sentence):
        return True
    return supported(text, candidate.start, candidate.end)


def _joined(text: str, candidates: list[_Candidate]) -> list[Place]:
    """Return mentions, and merge joined names of one facility, such as ``Swift/XRT``."""
    spans: list[tuple[int, int, str]] = []
    for one in candidates:
        if spans:
            start, end, facility = spans[-1]
            if facility == one.facility and text[end : one.start] in _JOINTS:
                spans[-1] = (start, one.end, facility)
                continue
        spans.append((one.start, one.end, one.facility))
    return [
        Place(start, end, name)
        for start, end, name in spans
        if not _NAMESAKE.match(text[end : end + _SETTINGS.width])
        and not _NOT_BEFORE.search(text[max(0, start - _SETTINGS.width) : start])
        and not (_CITED_BEFORE.search(text[:start][-3:]) and _CITED.match(text[end : end + 9]))
    ]


def _with_roles(
    texts: Sequence[str],
    found: list[list[Place]],
    model: LanguageModel | None,
    day: datetime.date | None,
) -> list[list[Mention]]:
    """Classify the mentions in the texts of a paper, which are read as one text."""
    starts = [0, *itertools.accumulate(len(text) + 1 for text in texts)]
    moved = [
        Place(place.start + start, place.end + start, place.facility)
        for start, places in zip(starts, found, strict=False)
        for place in places
    ]
    together = "\n".join(texts)
    if not moved:
        return [[] for _ in texts]
    roles = iter(
        request_roles(together, moved, model, day)
        if model
        else classify_places(together, moved, day)
    )
    return [
        [Mention(a, b, text[a:b], name, next(roles)) for a, b, name in places]
        for text, places in zip(texts, found, strict=True)
    ]


_WORD = re.compile(r"[A-Za-z0-9]+")
_CHOICE = re.compile(r"\{([^{}]*)\}")

# Matches the number of an object that is named after a facility: Kepler-186f, CoRoT 102699796,
# IRAS 16293. It does not match a band ("IRAS 60 micron") or a year ("Swift 2020").
_NUMBER = (
    r"(?:(?!20[012]\d\b)\d+[A-Za-z]{0,3}\b"
    r"(?![\s~\-]*(?:\\?mu|[µμ]|micron|um\b|[GMk]Hz|k?eV|yr|year|month|day|min|sec|hour|cadence|"
    r"quarter|planet|exoplanet|stars|systems|candidates)))"
)
_GAP = r"(?:[\s~\-–/]|\\[,;]|\$)+"
_HYPHEN = r"(?:-|–|--|\s|~)"
_ENDING = r"(?:s|'s|’s)?"
_LETTER = "[A-Za-z0-9]"
# The short name in "HERMES (AAT)" and in "TNG/HARPS".
_PART = re.compile(r"^(?:([A-Z][A-Z0-9]{2,}) \([^()]+\)|[\w\- ]+/(?!F\d)([A-Z][A-Z0-9]{2,}))$")
_CAPITALISED = re.compile(r"[A-Z][a-z]{4,}$")  # also written in capitals: "HERSCHEL"


class Surface(NamedTuple):
    """Facility of a name, whether the name is ambiguous, and the facilities that share it."""

    facility: str
    ambiguous: bool
    owners: tuple[str, ...] = ()


class Names(NamedTuple):
    """Names and false names (traps) of all facilities, grouped by the first word."""

    first_words: frozenset[bytes]
    names: Mapping[str, list[str]]
    traps: Mapping[str, list[str]]
    surfaces: Mapping[str, Surface]


@cache
def all_names() -> Names:
    """Collect the names and false names (traps) of all facilities."""
    names: dict[str, list[str]] = defaultdict(list)
    traps: dict[str, list[str]] = defaultdict(list)
    surfaces: dict[str, Surface] = {}
    for facility in load_facilities().values():
        for name in facility.names:
            for word in _first_words(name):
                names[word].append(name)
            surfaces.setdefault(folded(name), Surface(facility.name, name in facility.ambiguous))
        for trap in facility.traps:
            parts = _CHOICE.split(trap)  # parts with odd index were in braces
            choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
            for one in map("".join, itertools.product(*choices)):
                for word in _first_words(one):
                    traps[word].append(one)
    for name, own in _other_names().items():
        first = surfaces.get(folded(name))
        if first is None:
            names[name].append(name)
            surfaces[name] = own
        elif first.ambiguous and own.owners and {first.facility} != set(own.owners):
            surfaces[folded(name)] = first._replace(owners=own.owners)
    first_words = frozenset(word.encode() for word in (*names, *traps))
    return Names(first_words, names, traps, surfaces)


def _other_names() -> dict[str, Surface]:
    """Collect names in capitals, and short names that several facilities share."""
    context, others = _context(), {}
    shared: dict[str, list[str]] = defaultdict(list)
    for facility in load_facilities().values():
        for name in facility.names:
            part = _PART.match(name)
            if part and (bare := part[1] or part[2]) not in context.generic:
                shared[bare].append(facility.name)
            if name in facility.ambiguous:
                shared[name].append(facility.name)
            elif _CAPITALISED.match(name) and name not in context.plain_words:
                others[name.upper()] = Surface(facility.name, ambiguous=False)
    return others | {name: Surface("", True, tuple(owners)) for name, owners in shared.items()}


@cache
def pattern_of(word: str) -> re.Pattern[str]:
    """Compile a pattern of the names and traps that begin with a word, the longest first."""
    known = all_names()
    written = {name: _written(name, name[len(word) :]) for name in known.names.get(word, ())}
    for trap in known.traps.get(word, ()):
        # An empty group marks a trap. The name of one facility can be a trap of another.
        written.setdefault(trap, _trap(trap[len(word) :]) + "()")
    longest_first = "|".join(written[name] for name in sorted(written, key=len, reverse=True))
    return re.compile(f"{word}(?<!{_LETTER}{word})(?:{longest_first})(?!{_LETTER}|_{_LETTER})")


def folded(surface: str) -> str:
    """Normalise spaces and hyphens in a name; convert long names of several words to lower case."""
    plain = re.sub(r"[\s~\-–]+", " ", surface)
    return plain.casefold() if _any_case(plain) else plain


def _first_words(name: str) -> set[str]:
    match = _WORD.match(name)
    if match is None:
        raise InputError(f"The name {name!r} in missions.yaml must begin with a letter or digit.")
    word = match.group()
    return {word, word.upper(), word.capitalize()} if _any_case(name) else {word}


def _any_case(name: str) -> bool:
    """Return whether letter case is ignored in a name, because it is long and has several words."""
    is_long = len(name) >= _SETTINGS.long_name and "#" not in name
    return is_long and len(re.split(r"[\s-]+", name)) > 1


def _written(name: str, rest: str) -> str:
    """Return a pattern for a name without the first word; spaces also match hyphens."""
    pattern = "".join(
        _HYPHEN if character == "-" else r"[\s~\-]+" if character == " " else re.escape(character)
        for character in rest
    )
    return f"(?i:{pattern})" if _any_case(name) else pattern


def _trap(rest: str) -> str:
    """Return a pattern for a false name without the first word."""
    words = re.split(r"[\s-]+", rest)
    return _GAP.join([re.escape(words[0]) + _ENDING, *map(_trap_word, words[1:])])


def _trap_word(word: str) -> str:
    """Return a pattern for a word of a false name; ``#`` matches the number of an object."""
    if "#" in word:
        return _NUMBER.join(re.escape(part) for part in word.split("#"))
    first = f"[{word[0].lower()}{word[0].upper()}]" if word[:1].isalpha() else re.escape(word[:1])
    return f"{first}{re.escape(word[1:])}{_ENDING}"


@dataclass(frozen=True)
class MentionSettings:
    """Lengths in characters, tuned on the development half of ``landscape evaluate mentions``."""

    width: int = 48  # length of the context on each side of a name
    farthest_in_list: int = 24
    long_name: int = 14  # minimum length of names whose letter case is ignored


_SETTINGS = MentionSettings()

_WITH = re.compile(r"\b(?:with|from)(?: the)?[\s~]$")
_ITALIC_BEFORE = re.compile(
    r"(?:\\(?:emph|textit|textsl|it|sl|em|rm|mathit)\s*\{?|\{\\(?:it|sl|em|sc)\s*)\s*$|(?<!\d)\$$"
)
_MARKUP_AFTER = re.compile(r"^[}$]+(?:\\/)?")
_MARKUP_BEFORE = re.compile(r"(?:\{?\\[a-z]+\s*\{?|[${])\s*$")
_VEHICLE = re.compile(r"(?:['’]s)?[\s~](?:[\w-]+[\s~])?(?:spacecraft|satellite|mission|telescope)")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n)$")
_LIST = re.compile(
    r"^(?:[\s~,/+&\-–();}{$]|and|or|as well as|the|with|from|both|\\(?:it|emph|textit|rm))*$"
)
_COMET = re.compile(r"(?:\b[CPAI]/\d{4}(?:[\s~]\w+)?|\b\d+[PI])[\s~/]*\(?(?:[\w]+[-–])?$")
_NAMED_OBJECT = re.compile(
    r"^(?:-[A-Z]{1,4})?(?:[\s~\-–]|\\[,;])*(?:J|GRB|SNR?|CXO)[\s~]?\d{3,}|^[\s~]*J\d|^\$?\^|"
    r"^[\s~]et[\s~]al\b|"
    # Hours and minutes of right ascension, as in "SDSS 1137", but not a year, a count or a band.
    r"^[\s~](?!19|20)(?:[01]\d|2[0-3])[0-5]\d\b"
    r"(?!(?:\.\d+)?[\s~\-]*\$?(?:[µμÅ\\]|AA?\b|[GMk]Hz|s\b|\w{2,}[^s\W]s\b))"
)
_FACILITY_LIST = re.compile(
    r"Facilit(?:y|ies)\s?:[^.]*(?:\.\d[^.]*)*$"
)  # of journals of the American Astronomical Society
_LIST_WIDTH = 300  # characters before a name in which the start of a list is searched
_OBJECT_NUMBER = re.compile(r"[-–]\d{2,}\b(?![\s~]?(?:[µμ]|micron|m\b|cm\b|[GM]Hz))")
# An author, a citation or an address that contains the name of a facility.
_NOT_BEFORE = re.compile(
    r"(?:(?:^|[,;(]\s?|\b(?:and|by|thank)\s)[A-Z]\.[\s~]?|https?://\S*|www\.\S*|JAO\.\s?|\b[Qq]uasi[-\s])$"
)
_CITED_BEFORE = re.compile(r"[(;\[]\s?$")
_CITED = re.compile(r"^[\s~]?(?:\()?(?:19|20)\d\d[a-z]?\s?[;,)]")
# An organisation, a grant or software that has the name of a facility.
_NAMESAKE = re.compile(
    r"^[\s~]?(?:[\-–][A-Z]\w+ |[\-–]DESC )?[\s~]?(?:[Cc]ollaborations?\b|[Cc]onsorti(?:um|a)\b|"
    r"Data (?:Processing|Analysis|Management)|Multilateral|Operations,|"
    r"(?:X-ray |Science )?Center\b|Guest (?:Observ|Invest)|Award|IRAF|Fellow|Challenge|Foundation|"
    r"Project (?:Office|codes?)|project codes?|[Pp]roduction team|Workshop|"
    r"(?:[Pp]recursors?|[Pp]athfinders?)\b|Interactive Processing|GO program|"
    r"partnership\b|(?:Science Collab|(?:[A-Z]\w+ ){0,2}Team\b|Shared Memory|Theory Network)|"
    r"(?:1D |processing )?pipeline\b|cutout tool|"
    r"[\-–]?[\s~]?(?:GO|AR|HF|SNAP)[\d\-]|supercomputer)"
)


class _Context(NamedTuple):
    """Patterns for words next to names, and names with special rules, from ``context.yaml``."""

    after: re.Pattern[str]
    strictly_after: re.Pattern[str]
    before: re.Pattern[str]
    strictly_before: re.Pattern[str]
    facility_word: re.Pattern[str]
    companions: Mapping[str, frozenset[str]]
    plain_words: frozenset[str]
    generic: frozenset[str]


@cache
def _context() -> _Context:
    stored = read_yaml(Path(__file__).with_name("context.yaml"))
    companions = {name: frozenset(of) for name, of in stored.pop("companions").items()}
    plain_words = frozenset(stored.pop("plain_words"))
    generic = frozenset(stored.pop("generic"))
    patterns = {
        name: re.compile(
            f"{of.get('start', '')}(?:{'|'.join(of['words'])}){of.get('end', '')}",
            re.IGNORECASE if of.get("ignore_case") else 0,
        )
        for name, of in stored.items()
    }
    return _Context(**patterns, companions=companions, plain_words=plain_words, generic=generic)


def supported(text: str, start: int, end: int, *, strictly: bool = False) -> bool:
    """Return whether the words next to an ambiguous name show that it refers to a facility."""
    before, after = text[max(0, start - _SETTINGS.width) : start], text[end : end + _SETTINGS.width]
    if _ITALIC_BEFORE.search(before) and after[:1] in {"}", "$"} and not strictly:
        return True
    before = _MARKUP_BEFORE.sub("", before)
    after = _MARKUP_AFTER.sub("", after)
    beside = _context()
    if strictly:
        return bool(beside.strictly_after.match(after) or beside.strictly_before.search(before))
    found = beside.after.match(after) or beside.before.search(before) or _WITH.search(before)
    return bool(found)


def is_in_list(text: str, end: int, start: int, *, parted: bool = False) -> bool:
    """Return whether the text between two names separates items of a list."""
    between = text[end:start]
    near = 0 < len(between) <= _SETTINGS.farthest_in_list and bool(_LIST.match(between))
    return near and bool(between.strip() or not parted)


def names_an_object(text: str, start: int, end: int) -> bool:
    """Return whether a name is part of the name of a star, source, comet or symbol."""
    return bool(
        _NAMED_OBJECT.match(text[end : end + 16]) or _COMET.search(text[max(0, start - 30) : start])
    )


def defined_otherwise(text: str, start: int, end: int) -> bool:
    """Return whether the words before an acronym in brackets define a different meaning."""
    if text[start - 1 : start] != "(":
        return False
    letters = [letter for letter in text[start:end].lower() if letter.isalpha()]
    if len(letters) < 2:
        return False
    words = re.findall(r"[A-Za-z]+", text[max(0, start - 110) : start])[-len(letters) - 2 :]
    spelled = _spells(words, letters)
    return spelled is not None and not _context().facility_word.search(" ".join(spelled))


def _spells(words: list[str], letters: list[str]) -> list[str] | None:
    """Return the last words whose initials form the letters; up to two words may be skipped."""
    for skipped in range(3):
        tail = words[len(words) - len(letters) - skipped :] if len(words) >= len(letters) else []
        initials = iter([word[0].lower() for word in tail])
        if (
            tail
            and tail[0][0].lower() == letters[0]
            and all(letter in initials for letter in letters)
        ):
            return tail
    return None
