"""Parse and normalise identifiers of papers (arXiv ids, DOIs, bibcodes) and dates."""

from __future__ import annotations

import datetime as dt
import hashlib
import html
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

Precision = Literal["day", "month", "year"]
KNOWN_CHARACTERS = {"year": 4, "month": 7, "day": 10}  # number of valid characters of the ISO date

EARLIEST_YEAR = 1500  # an earlier year is an error in the source

_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:[T\s]\d.*)?", re.DOTALL)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_WORDS = re.compile(r"(?:(\d{1,2})\.?\s+)?([^\W\d_]{3,10})\.?,?\s+(?:(\d{1,2}),?\s+)?(\d{4})")
_YEAR_FIRST = re.compile(r"(\d{4})[\s/-]+([^\W\d_]{3,10})\.?(?:[\s/-]+(\d{1,2}))?")  # PubMed
_MONTH_YEAR = re.compile(r"(?:(\d{1,2})[/.])?(\d{1,2})[/.](\d{4})")  # ADS: "05/2021"
# Beginnings of the names of months in several languages, from January to December.
_MONTH_NAMES = (
    "jan ene gen|feb fév|mar mär mrz|apr avr abr|may mai mag|jun juin giu|jul juil lug"
    "|aug aoû ago|sep set|oct okt ott|nov|dec dez déc dic"
)
_MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.split("|"), start=1)
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class PaperDate:
    """Date of a paper and its precision."""

    date: dt.date
    precision: Precision

    def covers(self, other: PaperDate) -> bool:
        """Return whether `other` is the same date with a higher precision."""
        known = KNOWN_CHARACTERS[self.precision]
        less = known < KNOWN_CHARACTERS[other.precision]
        return less and str(self.date)[:known] == str(other.date)[:known]


_MOST_DIGITS, _LATEST = 99999999, 5_000_000_000_000  # year, month and day; milliseconds since 1970


def latest_year() -> int:
    """Return the latest valid year. Journal issues can be dated up to two years in the future."""
    return max(dt.datetime.now(dt.UTC).year, 2026) + 2


def parse_date(value: object) -> PaperDate:
    """Parse a date in the formats of all supported sources."""
    if isinstance(value, dt.date):
        return _checked(value.year, value.month, value.day, value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and _MOST_DIGITS < abs(value) < _LATEST:  # as pandas writes them
        value = dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(milliseconds=value)
        return _checked(value.year, value.month, value.day, value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:04d}" if value >= 0 else str(value)
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is not a date")
    return _parse_text(value.strip().rstrip("/"), value)  # RIS: "2021/05/03/"


def _parse_text(text: str, value: object) -> PaperDate:
    if match := _COMPACT.fullmatch(text) or _ISO.fullmatch(text):
        year, month, day = (int(group or 0) for group in match.groups())
        if re.search(r"/\d\d/1$", text):  # ADS writes 2017/06/1 for an unknown day
            day = 0
        return _checked(year, month, day, value)
    if match := _MONTH_YEAR.fullmatch(text):
        day, month = int(match[1] or 0), int(match[2])
        if day and "/" in text and day < 13:  # the United States write the month first
            day, month = (month, day) if month > 12 else (0, 0 if month != day else day)
        return _checked(int(match[3]), month, day, value)
    if match := _WORDS.fullmatch(text):
        named = month_number(match[2])
        if named:
            return _checked(int(match[4]), named, int(match[1] or match[3] or 0), value)
    if (match := _YEAR_FIRST.fullmatch(text)) and (named := month_number(match[2])):
        return _checked(int(match[1]), named, int(match[3] or 0), value)
    try:  # the format of mail headers, used by arXiv
        stamp = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise ValueError(f"{_shown(text)} is not a date") from None
    return _checked(stamp.year, stamp.month, stamp.day, text)


_YEAR_INSIDE = re.compile(
    r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)(?:[-/](0?[1-9]|1[0-2])(?![\d]))?(?:[-/](0?[1-9]|[12]\d|3[01])(?!\d))?"
)
_MONTH_INSIDE = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\b", re.IGNORECASE)


def find_date(text: str) -> PaperDate | None:
    """Return the first date in a text such as ``2021, in press`` or ``2014-05/2014-08``.

    Approximate and partial dates of ISO 8601-2 are read as far as they are known.

    Examples
    --------
    >>> str(find_date("2014-05~/2014-08").date), find_date("n.d.")
    ('2014-05-01', None)
    """
    for match in _YEAR_INSIDE.finditer(text[:200]):
        month = int(match[2] or 0)
        named = _MONTH_INSIDE.search(text)
        if not month and named and "/" not in text:
            month = month_number(named[1]) or 0
        for parts in ((month, int(match[3] or 0)), (month, 0), (0, 0)):
            try:
                return _checked(int(match[1]), *parts, text)
            except ValueError:
                continue
    return None


def month_number(name: str) -> int | None:
    """Return the number of a month from its name, or None if the name is unknown."""
    start = name.strip().lower()[:4]
    return _MONTHS.get(start, _MONTHS.get(start[:3]))


def earliest(dates: list[PaperDate]) -> PaperDate | None:
    """Return the earliest date of a paper. If dates are equal, return the most precise date."""
    best: PaperDate | None = None
    for date in dates:
        more_exact = best is None or best.covers(date)
        if more_exact or (best and not date.covers(best) and date.date < best.date):
            best = date
    return best


def _checked(year: int, month: int, day: int, value: object) -> PaperDate:
    if not EARLIEST_YEAR <= year <= latest_year():
        raise ValueError(
            f"the date {_shown(value)} is outside the years {EARLIEST_YEAR} to {latest_year()}"
        )
    precision: Precision = "day" if month and day else "month" if month else "year"
    try:
        return PaperDate(dt.date(year, month or 1, (day if month else 0) or 1), precision)
    except ValueError:
        raise ValueError(f"{_shown(value)} is not a valid date") from None


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


_ARXIV_PREFIX = re.compile(
    r"^(?:https?://)?(?:(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|format)/|ar5iv\.org/abs/)"
    r"|^(?:https?://)?(?:dx\.)?(?:doi\.org/)?10\.48550/arxiv\.|^(?:oai:arxiv\.org:)|^arxiv[:\s]\s*",
    re.IGNORECASE,
)
_ARXIV_NEW = re.compile(r"(\d{2})(0[1-9]|1[0-2])\.(\d{4,5})(?:v\d+)?(?:\.pdf)?")
_ARXIV_OLD = re.compile(
    r"([a-zA-Z-]{2,16})(?:\.[A-Za-z-]{2,16})?/(\d{2}(?:0[1-9]|1[0-2])\d{3})(?:v\d+)?(?:\.pdf)?"
)
_ARXIV_INSIDE = re.compile(
    r"(?:arxiv[:.\s/]{1,3}(?:org/)?|\babs/|\bpdf/)((?:\d{4}\.\d{4,5}|[a-z-]{2,16}(?:\.[a-z-]{2,16})?/\d{7}))"
    r"|\b((?:astro-ph|cond-mat|gr-qc|hep-(?:ex|lat|ph|th)|math-ph|nucl-(?:ex|th)|physics|quant-ph)"
    r"(?:\.[a-z-]{2,16})?/\d{7})\b",
    re.IGNORECASE,
)
_DOI_PREFIX = re.compile(r"^(?:https?://)?(?:dx\.|www\.)?doi\.org/|^doi\s*[:=]\s*", re.IGNORECASE)
_DOI = re.compile(
    r"10\.\d{4,9}(?:\.\d+)*/(?:[^\s\"<>{}]|<\d+::[^\s\"<>{}]+>)*[^\s\"<>{}.,;]", re.IGNORECASE
)
_BIBCODE = re.compile(r"(1[5-9]|20)\d{2}[A-Za-z][A-Za-z0-9.&]{13}[A-Za-z.:]")
_BIBCODE_URL = re.compile(
    r"^https?://[^/]*(?:adsabs|scixplorer)[^/]*/(?:#?abs/|abs/|full/|cgi-bin/(?:nph-)?bib_query\?(?:bibcode=)?)?",
    re.IGNORECASE,
)
_BIBCODE_LINK = re.compile(r"https?://[^/\s]*(?:adsabs|scixplorer)[^\s{}\"<>]*", re.IGNORECASE)
_EPRINT_BIBCODE = re.compile(r"\d{4}arXiv(\d{4})(\d{4,5}|\.\d{4})[A-Za-z.]")
_OLD_EPRINT_BIBCODE = re.compile(
    r"(\d{4})(astro\.ph|hep\.ph|hep\.th|hep\.ex|hep\.lat|gr\.qc|nucl\.th|nucl\.ex|quant\.ph"
    r"|cond\.mat|math\.ph|physics)(\.*)(\d{1,5})[A-Za-z.]"
)


def parse_arxiv_id(text: object) -> str | None:
    """Parse an arXiv id in any spelling. Versions and prefixes are removed.

    Parameters
    ----------
    text : object
        ``"arXiv:2101.01542v2"``, an arXiv URL, an arXiv DOI, ``"astro-ph/0703001"``...

    Returns
    -------
    str or None
        Identifier such as ``"astro-ph/0703001"``, or None if `text` is not an arXiv id.

    Examples
    --------
    >>> parse_arxiv_id("https://arxiv.org/abs/2101.01542v3"), parse_arxiv_id("math.GT/0309136")
    ('2101.01542', 'math/0309136')
    """
    if not isinstance(text, str):
        return None
    bare = _ARXIV_PREFIX.sub("", text.strip(), count=1)
    bare = re.sub(r"\s*\[[\w.-]+\]$", "", bare.removeprefix("abs/"))
    if match := _ARXIV_NEW.fullmatch(bare):
        return f"{match[1]}{match[2]}.{match[3]}"
    if match := _ARXIV_OLD.fullmatch(bare):
        return f"{match[1].lower()}/{match[2]}"
    return None


def find_arxiv_id(text: str) -> str | None:
    """Return the first arXiv id in a text such as a note, a journal or the URL of a paper.

    Examples
    --------
    >>> find_arxiv_id("arXiv preprint arXiv:1901.00008"), find_arxiv_id("see 1901.00008")
    ('1901.00008', None)
    """
    for match in _ARXIV_INSIDE.finditer(text):
        if _is_own(text, match.start()):
            return parse_arxiv_id(match[1] or match[2])
    return None


def find_doi(text: str) -> str | None:
    r"""Return the first DOI in a text. LaTeX escapes are removed, and DOIs of arXiv are ignored.

    Examples
    --------
    >>> find_doi(r"doi: 10.1007/978-3-540-1\_12, in press")
    '10.1007/978-3-540-1_12'
    """
    plain = _unescaped(text)
    found = (parse_doi(match[0]) for match in _DOI.finditer(plain) if _is_own(plain, match.start()))
    return next((doi for doi in found if doi and not is_eprint_doi(doi)), None)


def _is_own(text: str, at: int) -> bool:
    """Return whether no words are before an identifier, as in "Comment on arXiv:1901.00008"."""
    before = re.split(r"[\n;]", text[max(0, at - _BEFORE) : at])[-1]
    return at < _BEFORE and _NO_WORDS.fullmatch(before) is not None


_BEFORE = 200  # maximum number of characters before an identifier
_NO_WORDS = re.compile(
    r"(?:[\W\d_]|\b(?:accepted|also|as|arxiv|at|available|by|class|corr|doi|dx|e|eprint(?:s|id)?|export|from|href"
    r"|https?|id|in|isbn|journals?|apj|mnras|on|online|or|org|prints?|preprints?|published|see|submitted"
    r"|the|to|url|v|vol|volume|www|xxx|lanl|gov|abs|pdf)\b){0,60}",
    re.IGNORECASE,
)


def find_bibcode(text: str) -> str | None:
    """Return the bibcode in the first link to ADS or SciX in a text."""
    found = (parse_bibcode(match[0]) for match in _BIBCODE_LINK.finditer(_unescaped(text)))
    return next(filter(None, found), None)


def _unescaped(text: str) -> str:
    """Replace LaTeX escapes and HTML entities in an identifier by their characters."""
    if "\\" in text:
        text = re.sub(r"\{?\\(text[a-z]+|[_%&#$<>])(?:\{\}|\}|\s)?", _plain_character, text)
    return html.unescape(text) if "&" in text else text


def _plain_character(macro: re.Match[str]) -> str:
    named = {"textless": "<", "textgreater": ">", "textunderscore": "_"}
    return named.get(macro[1], macro[1] if len(macro[1]) == 1 else "")


def arxiv_id_of_bibcode(bibcode: str) -> str | None:
    """Return the arXiv id in the bibcode of an e-print, or None for other bibcodes."""
    if match := _EPRINT_BIBCODE.fullmatch(bibcode):
        return parse_arxiv_id(f"{match[1]}.{match[2].lstrip('.')}")
    if match := _OLD_EPRINT_BIBCODE.fullmatch(bibcode):
        number = match[4].zfill(5)
        return parse_arxiv_id(f"{match[2].replace('.', '-')}/{match[1][2:]}{number}")
    return None


def arxiv_month(arxiv_id: str) -> PaperDate | None:
    """Return the month encoded in an arXiv id, or None if the month is invalid, such as 2090-01."""
    digits = arxiv_id.rpartition("/")[2]
    century = "19" if digits[:2] >= "91" else "20"
    return _possible_date(f"{century}{digits[:2]}-{digits[2:4]}")


def bibcode_year(bibcode: str) -> PaperDate | None:
    """Return the year encoded in a bibcode, or None if the year is invalid."""
    return _possible_date(bibcode[:4])


@lru_cache(maxsize=1024)
def _possible_date(text: str) -> PaperDate | None:
    try:
        return parse_date(text)
    except ValueError:
        return None


def _visible(text: str) -> str:
    """Remove unprintable characters, because they can change how an id is displayed."""
    return text if text.isprintable() else "".join(c for c in text if c.isprintable())


def parse_doi(text: object) -> str | None:
    """Parse a DOI or the URL of a DOI, and return the DOI in lower case.

    Examples
    --------
    >>> parse_doi("https://doi.org/10.1051/0004-6361/202039988")
    '10.1051/0004-6361/202039988'
    >>> parse_doi("see the journal") is None
    True
    """
    if not isinstance(text, str):
        return None
    bare = _DOI_PREFIX.sub("", _unescaped(_visible(text)).strip(" {}\t\n"), count=1)
    if (second := bare.lower().find("10.48550/arxiv.", 1)) > 0:  # ADS joins two DOIs
        bare = bare[:second]
    match = _DOI.match(_visible(unquote(bare)) if "%2" in bare else bare)
    return match[0].lower() if match else None


def is_eprint_doi(doi: str) -> bool:
    """Return whether a DOI was assigned by arXiv."""
    return doi.startswith("10.48550/arxiv.")


def without_version(doi: str | None) -> str | None:
    """Return a DOI without the version that preprint servers and Cochrane reviews append."""
    return re.sub(r"(?:\.pub|[./]v)\d{1,3}$", "", doi) if doi else None


def parse_bibcode(text: object) -> str | None:
    """Parse an ADS bibcode (19 characters) or the ADS URL of a paper.

    Examples
    --------
    >>> parse_bibcode("https://ui.adsabs.harvard.edu/abs/2021A%26A...645L..11A/abstract")
    '2021A&A...645L..11A'
    >>> parse_bibcode("2021A&A") is None
    True
    """
    if not isinstance(text, str):
        return None
    bare = _BIBCODE_URL.sub("", _visible(text).strip(), count=1).partition("/")[0]
    bare = unquote(bare) if "%" in bare else bare
    return bare if _BIBCODE.fullmatch(bare) else None


def is_eprint_bibcode(bibcode: str) -> bool:
    """Return whether a bibcode belongs to an e-print."""
    return arxiv_id_of_bibcode(bibcode) is not None


def content_id(content: str) -> str:
    """Return a hash of the text of a paper, as the key of a paper without identifiers."""
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
    return f"sha256:{digest[:16]}"


WHOLE_TEXT = "key_whole_text"
"""Column of `whole_text_hash`, by which results of an earlier version of an atlas are found."""


def whole_text_hash(title: str, abstract: str) -> bytes:
    """Return the 128-bit hash of a title and abstract. A collision is unlikely for 1e9 papers."""
    text = f"{title}. {abstract}".encode("utf-8", "replace")
    return hashlib.blake2b(text, digest_size=16).digest()
