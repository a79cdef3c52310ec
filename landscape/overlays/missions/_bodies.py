r"""Find the use of facilities and software in the sections of full texts.

Facilities are read in sections on data, acknowledgements, statements on the availability of data,
and the macro ``\facilities`` of AAS journals. There, a name counts as use unless the words beside
it show that it is not: a grant, a fellowship, a team, or thanks for something else than data.
Introductions and discussions mention facilities for many reasons and are not read.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from landscape._io import data_file, read_yaml
from landscape.corpus import find_facility, load_facilities
from landscape.corpus.facilities import find_part
from landscape.errors import InputError
from landscape.overlays.missions._mentions import Mention, find_places
from landscape.text import split_sentences

if TYPE_CHECKING:
    import pandas as pd

READ = ("data", "acknowledgements", "data availability", "facilities")
"""Kinds of sections in which facilities are read."""
SOFTWARE_IN = (*READ[:3], "methods", "software", "appendix")
"""Kinds of sections in which software is read."""
_MAX_TEXT = 60_000  # characters of a section that are read

# Use of data, in sections that describe data; words of `data` sections must show it.
_USES = re.compile(
    r"\b(?:observ|data\b|dataset|archiv|catalog|photometr|spectr|imag|light curve|obtain"
    r"|tak(?:e|en)\b|collect|acquir|gather|download|retriev|cross-?match|measure|monitor|survey|exposure|pointing"
    r"|campaign|allocat|time award|awarded|telescope time|made use|makes? use|we use|using|used)",
    re.IGNORECASE,
)
_PERSON_FOR = re.compile(
    r"\b(?:thank|grateful|indebted|appreciat|acknowledg)\w*\b[^.]{0,400}?\b(?:discussions?|comments?|"
    r"conversations?|reading|input|suggestions?|advice|hospitality|insights?|referee)\b"
    r"|\bfor (?:\w+ ){0,3}(?:discussions?|comments?|information|advice|suggestions?|help)\b",
    re.IGNORECASE,
)
# Words for money. "Funding for the SDSS" is what users of its data are asked to print.
_MONEY = re.compile(
    r"\b(?:support(?:ed|s)?|fund(?:ed|ing|s)?|grants?|awards?|fellowships?|contracts?|financ\w+)\b",
    re.IGNORECASE,
)
_FUNDING_FOR = re.compile(
    r"\b(?:funding|financial support) (?:for|of) (?:the )?(?:\w+ ){0,3}$", re.IGNORECASE
)
# "The X is operated by ..." is also a text that users of the data print.
_SUBJECT = re.compile(r"\W{0,9}(?:The\s)?(?:\w{1,40}[\s-]){0,2}", re.IGNORECASE)
_CREDIT = re.compile(
    r"^[^.;]{0,80}?\b(?:is|are|was|were|(?:has|have) been)\b[^.;]{0,60}?\b(?:operated|supported|"
    r"funded|sponsored|designed|constructed|built|managed|owned|made possible|(?:a|an) (?:joint )?"
    r"(?:\w+ ){0,3}(?:facility|project|[Mm]ission|partnership|collaboration|venture))\b"
)
_PERSONAL = re.compile(r"^[^.;]{0,80}\b(?:Award|[Ff]ellowship|[Ss]cholarship|[Ss]tudentship)\b")
_INSTITUTES = re.compile(r"\b(?:Universit|Institut|Laborator|Academ|College|Ministr|Foundation)\w*")
_MANY_INSTITUTES = 4  # in a sentence that lists the members of a project
_GIVES_DATA = re.compile(
    r"\b(?:observations?|observing (?:time|run|support)|observing (?:\w+ )?with|data products?|"
    r"telescope time|staff|based on|obtained|made use|makes use|archiv\w+|"
    r"data (?:from|of|taken|collected|gathered|acquired)|execut\w+|operators?|"
    r"(?:providing|sending|sharing|access to)[^.]{0,40} (?:data|spectr|imag|photometr)\w*)\b",
    re.IGNORECASE,
)
# After a name: money, people, organisations and software.
_NOT_DATA_AFTER = re.compile(
    r"^[\s)~]{0,3}(?:(?:[A-Z][\w-]{1,40}|and|,|&)[\s,]{1,3}){0,4}?(?:grants?\b|awards?\b|contracts?\b|[Ff]ellow|"
    r"[Pp]ost-?doc|[Tt]eams?\b|[Cc]ollaborations?\b|[Ww]orking [Gg]roup|[Pp]roject [Oo]ffice|"
    r"[Ss]cience (?:[Cc]ent|[Oo]perations|[Ii]nvestigation|[Tt]eam)|[Pp]articipating|prize|"
    r"[Mm]eeting|[Cc]onference|[Ww]orkshop|[Ss]print|[Hh]ack|[Ss]chool|[Ss]ummit|pipeline|code\b|software\b|"
    r"Data Management|[Pp]roject(?! is\b| was\b)|initiative)"
)
_TEAM = re.compile(r"^[\s)~]{0,3}(?:[A-Za-z]+ ){0,2}(?:[Tt]eams?|[Cc]ollaborations?)\b")
_NOT_DATA_BEFORE = re.compile(
    r"(?:\bnon[- ]{0,2}|(?:Academy of Sciences|Institute|University|Laboratory)\s?\(\s?|"
    r"\b(?:grants?|awards?|contract|fellowship|postdoctoral|software|code)\b[^.;]{0,60}|"
    r"\b(?:as part of|member of|on behalf of|within) the\s|"
    r"\b(?:[Mm]eeting|[Cc]onference|[Ww]orkshop|[Pp]rogram on|[Ss]chool|[Ss]print|[Hh]ack)\b"
    r"[^.;]{0,100}|"
    r"\b(?:[Mm]embers are|[Cc]onsortium of)\b[^.]{0,400}|"
    r"(?:\b[A-Z]\.[\s~]?){2}|"
    r"\bfuture\s|\bupcoming\s|\bproposed\s|\bsimulat\w+\s(?:of\s)?)$"
)
_OTHER_PRODUCT = re.compile(
    r"\b(?:response (?:profile|function|curve)s?|filter curves?|bandpass(?:es)?|"
    r"calibration files?)\b[^.]{0,40}$",
    re.IGNORECASE,
)


_SITES_OF_IRAM = ("NOEMA", "PdBI")


class Programme(NamedTuple):
    """Form of the identifiers of observing programmes, and the facility that they belong to."""

    pattern: re.Pattern[str]
    facility: str
    named: str = ""  # a name that the sentence must have


_PROGRAMMES = tuple(
    Programme(re.compile(pattern), facility, named)
    for pattern, facility, named in (
        (r"\b20\d\d\.[A\d]\.\d{5}\.[A-Z]{1,3}\b", "ALMA", ""),
        (r"\b(?:0?[5-9]\d|1[01]\d)\.[A-H]-\d{4}(?:\([A-Z]\))?", "La Silla Paranal Observatory", ""),
        (r"\bG[NS]-20\d\d[AB]-[A-Z]{1,3}-\d{1,3}\b", "Gemini", ""),
        (r"\b(?:HST-)?(?:GO|SNAP|GTO|DD)[- ]?\d{4,5}\b", "HST", "HST"),
        (
            r"\b(?:[Pp]rogram(?:me)?s?|PID|GO|GTO|ERS|DDT)[ #:-]{1,3}(?:ID |IDs )?\d{4,5}\b",
            "JWST",
            "JWST",
        ),
        (r"\b(?:[Pp]rogram(?:me)?|PID)[ #:]{1,3}(?:ID )?\d{2,5}\b", "Spitzer", "Spitzer"),
        (r"\b(?:1[0-9]|2[0-9])[AB]-\d{3}\b", "VLA", "VLA"),
        (r"\bS\d\d[AB]-\d{3}\b", "Subaru", "Subaru"),
        (r"\bG0[1-9]\d{4}\b", "TESS", "TESS"),
    )
)


def find_in_section(kind: str, text: str) -> list[Mention]:
    """Find the facilities that a section mentions, with their roles.

    >>> text = "This work is based on observations with the VLT under programme 098.B-0123."
    >>> [(one.surface, one.role) for one in find_in_section("acknowledgements", text)]
    [('VLT', 'science'), ('098.B-0123', 'science')]
    >>> find_in_section("acknowledgements", "J.S. thanks the Kepler team.")[0].role
    'mention'
    """
    text = text[:_MAX_TEXT]
    if kind == "facilities":
        return [*_listed(text)]
    found: list[Mention] = []
    places = find_places((text,))[0]
    if any(one.facility in _SITES_OF_IRAM for one in places):  # IRAM is then the institute
        places = [one for one in places if text[one.start : one.end] != "IRAM"]
    if not places and not any(one.pattern.search(text) for one in _PROGRAMMES):
        return []
    for start, end in _sentences(text):
        sentence = text[start:end]
        if listed := _LISTED.match(sentence):
            shift = start + listed.end()
            found += [
                one._replace(start=one.start + shift, end=one.end + shift)
                for one in _listed(sentence[listed.end() :])
            ]
            continue
        inside = [one for one in places if start <= one.start < end]
        read = _Sentence(sentence)
        used = [
            _is_used(kind, read, one.start - start, one.end - start)
            and not _is_result(one.facility, text[one.start : one.end])
            for one in inside
        ]
        found += [
            Mention(a, b, text[a:b], name, "science" if is_used else "mention")
            for (a, b, name), is_used in zip(inside, used, strict=True)
        ]
        found += _programmes(sentence, start)
    return found


# Share of the uses and of the other mentions that two readers confirm in acknowledgements
# (`benchmarks.full_texts`); the macro is explicit, and descriptions of data are less clear.
_CERTAIN = {"facilities": 0.99, "data availability": 0.95, "data": 0.8}


def certainty_of(kind: str, sentence: str, *, is_use: bool) -> float:
    """Return how certain it is that a mention in a section is use, or that it is not."""
    if kind != "acknowledgements":
        return _CERTAIN.get(kind, 0.5)
    read = _Sentence(sentence)
    if _LISTED.match(sentence):
        return _CERTAIN["facilities"]
    if is_use:
        return 0.96 if read.gives_data else 0.9
    return 0.95 if read.thanks and not read.gives_data else 0.75


def _is_result(facility: str, surface: str) -> bool:
    """Return whether a name is that of a team, a value or a sample, not of the facility."""
    part = find_part(facility, surface)
    return part is not None and part.is_result


# Grant numbers such as AYA2016-P look like initials, after which no sentence ends.
_NEXT = re.compile(
    r"(?<=[A-Z0-9])\.\s+(?=(?:The|This|We|Based|These|Some|Funding|Part|Observations)\s)"
)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for start, end in split_sentences(text):
        for cut in _NEXT.finditer(text, start, end):
            yield start, cut.start() + 1
            start = cut.end()
        yield start, end


@dataclass(frozen=True)
class _Sentence:
    """A sentence, and what it says; long acknowledgements have many names in one sentence."""

    text: str

    @cached_property
    def gives_data(self) -> bool:
        return _GIVES_DATA.search(self.text) is not None

    @cached_property
    def uses(self) -> bool:
        return _USES.search(self.text) is not None

    @cached_property
    def thanks(self) -> bool:
        """Whether it is about money or about the help of persons."""
        return bool(_MONEY.search(self.text) or _PERSON_FOR.search(self.text))

    @cached_property
    def institutes(self) -> int:
        return len(_INSTITUTES.findall(self.text))


def _is_used(kind: str, sentence: _Sentence, start: int, end: int) -> bool:
    """Return whether a name in a sentence stands for data that the paper uses."""
    before, after = sentence.text[max(0, start - 400) : start], sentence.text[end : end + 400]
    gives_data = sentence.gives_data
    if _NOT_DATA_BEFORE.search(before) or _OTHER_PRODUCT.search(before):
        return False
    if _NOT_DATA_AFTER.match(after) and not (gives_data and _TEAM.match(after)):
        return False
    if kind != "acknowledgements":
        return sentence.uses
    is_credit = start < 100 and _SUBJECT.fullmatch(sentence.text[:start]) and _CREDIT.match(after)
    if is_credit and _PERSONAL.search(after):  # initials of an author
        return False
    if is_credit or _FUNDING_FOR.search(before):
        return True
    if sentence.institutes >= _MANY_INSTITUTES and not gives_data:
        return False
    return gives_data or not sentence.thanks


def _programmes(sentence: str, shift: int) -> Iterator[Mention]:
    """Yield the identifiers of observing programmes, unless the sentence is about money only."""
    if _MONEY.search(sentence) and not _GIVES_DATA.search(sentence):
        return
    for pattern, facility, named in _PROGRAMMES:
        if named and named not in sentence:
            continue
        for match in pattern.finditer(sentence):
            start, end = match.start() + shift, match.end() + shift
            yield Mention(start, end, match[0], facility, "science")


_LISTED = re.compile(r"\s{0,9}Facilit(?:y|ies)\s?:\s{0,9}")
_SEPARATOR = re.compile(r"[,;](?![^()]{0,200}\))|$")


def _items(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items of a list, with their places; commas in brackets do not separate."""
    end = -1
    for match in _SEPARATOR.finditer(text):
        before, end = end + 1, match.start()
        if item := text[before:end].strip(" .{}"):
            yield text.index(item, before), item


def _listed(text: str) -> Iterator[Mention]:
    r"""Yield the facilities of the macro ``\facilities``: "HST (WFC3), VLT:Kueyen, Gaia"."""
    for start, item in _items(text):
        name = re.split(r"[(:]", item)[0].strip()
        for one in dict.fromkeys((name, item)):
            facility = _facility(one)
            if facility:
                yield Mention(start, start + len(name), name, facility, "science")
                break
        else:
            for a, b, facility in find_places((f"Facilities: {item}",))[0]:
                a, b = a - 12 + start, b - 12 + start
                yield Mention(a, b, text[a:b], facility, "science")


@cache
def _facility(name: str) -> str | None:
    try:
        counted = find_facility(name).counted_as
    except InputError:
        return None
    return counted[0] if len(counted) == 1 else None


_MAX_NAME = 40  # characters of the name of software


class SoftwareMention(NamedTuple):
    """Software in a section, and its number in the Astrophysics Source Code Library."""

    start: int
    end: int
    surface: str
    name: str
    ascl: str | None


_ASCL = re.compile(r"\bascl:\s?(\d{4}\.\d{3})\b", re.IGNORECASE)


@cache
def _software() -> tuple[re.Pattern[str], dict[str, tuple[str, str | None]]]:
    """Return a pattern of the names of known software, and the name and number of each."""
    known: dict[str, tuple[str, str | None]] = {}
    for name, entry in read_yaml(data_file("software.yaml")).items():
        for one in (name, *(entry or {}).get("names", ())):
            known[str(one)] = (str(name), (entry or {}).get("ascl"))
    longest = sorted(map(re.escape, known), key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(longest)})(?![\w-]|\.\w)"), known


def find_software(kind: str, text: str) -> list[SoftwareMention]:
    r"""Find software in a section; in the macro ``\software``, every item is software.

    >>> [one.name for one in find_software("software", "astropy (Smith 2013), mycode (v2)")]
    ['Astropy', 'mycode']
    """
    pattern, known = _software()
    text = text[:_MAX_TEXT]
    found = [
        SoftwareMention(match.start(), match.end(), match[0], *known[match[0]])
        for match in pattern.finditer(text)
    ]
    numbers = {ascl: name for name, ascl in known.values() if ascl}
    found += [
        SoftwareMention(
            *match.span(), match[0], numbers.get(match[1], f"ascl:{match[1]}"), match[1]
        )
        for match in _ASCL.finditer(text)
    ]
    if kind == "software":
        by_case = {name.casefold(): value for name, value in known.items()}
        for start, whole in _items(text):
            inside = [one for one in found if start <= one.start < start + len(whole)]
            item = re.split(r"[(\[]| v?\d", whole)[0].strip(" ,.")
            if not 1 < len(item) <= _MAX_NAME or any(one.surface in known for one in inside):
                continue
            start += whole.index(item)
            name, ascl = by_case.get(item.casefold(), (item, None))
            number = next((one.ascl for one in inside), None)
            found = [one for one in found if one not in inside]
            found.append(SoftwareMention(start, start + len(item), item, name, ascl or number))
    return sorted(set(found))


def find_in_sections(
    sections: pd.DataFrame, dates: Sequence[datetime.date | None]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Find facilities and software in sections of full texts.

    Parameters
    ----------
    sections : pandas.DataFrame
        ``row, number, kind, text``, one row per section; ``row`` is the place of the paper in
        `dates`.
    dates : sequence of datetime.date or None
        Date of each paper; before the first light of a facility, no paper uses its data.

    Returns
    -------
    mentions : pandas.DataFrame
        ``row, field, facility, start, end, surface, role, section`` as in `find_in_papers`, where
        ``field`` is the kind of the section and ``section`` its number.
    software : pandas.DataFrame
        ``row, name, ascl, section, start, end, surface``.

    Examples
    --------
    >>> import pandas as pd
    >>> text = "We use data from TESS, and lightkurve."
    >>> row = {"row": 0, "number": 3, "kind": "data", "text": text}
    >>> mentions, software = find_in_sections(pd.DataFrame([row]), [None])
    >>> mentions[["facility", "role", "section"]].to_numpy().tolist(), software["name"].tolist()
    ([['TESS', 'science', 3]], ['lightkurve'])
    """
    import pandas as pd

    mentions: list[tuple[object, ...]] = []
    software: list[tuple[object, ...]] = []
    known = load_facilities()
    columns = (sections[name].tolist() for name in ("row", "number", "kind", "text"))
    for row, number, kind, text in zip(*columns, strict=True):
        day = dates[row] or datetime.date.today()
        for one in find_in_section(kind, text) if kind in READ else ():
            has_data = one.facility not in known or known[one.facility].first_light <= day
            role = one.role if has_data or one.role != "science" else "planned"
            mentions.append(
                (row, kind, one.facility, one.start, one.end, one.surface, role, number)
            )
        software += [
            (row, used.name, used.ascl, number, used.start, used.end, used.surface)
            for used in (find_software(kind, text) if kind in SOFTWARE_IN else ())
        ]
    names = ["row", "field", "facility", "start", "end", "surface", "role", "section"]
    found = pd.DataFrame(mentions, columns=names).astype({"row": int, "section": "Int32"})
    names = ["row", "name", "ascl", "section", "start", "end", "surface"]
    return found, pd.DataFrame(software, columns=names).astype({"row": int})
