"""What a paper is called elsewhere: arXiv ids, DOIs and bibcodes, in one spelling each."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from urllib.parse import unquote

from landscape.corpus.dates import PaperDate, parse_date

_ARXIV_PREFIX = re.compile(
    r"^(?:https?://)?(?:(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|format)/|ar5iv\.org/abs/)"
    r"|^(?:https?://)?(?:dx\.)?(?:doi\.org/)?10\.48550/arxiv\.|^(?:oai:arxiv\.org:)|^arxiv[:\s]\s*",
    re.IGNORECASE,
)
_ARXIV_NEW = re.compile(r"(\d{2})(0[1-9]|1[0-2])\.(\d{4,5})(?:v\d+)?(?:\.pdf)?")
_ARXIV_OLD = re.compile(
    r"([a-zA-Z-]{2,16})(?:\.[A-Za-z-]{2,16})?/(\d{2}(?:0[1-9]|1[0-2])\d{3})(?:v\d+)?(?:\.pdf)?"
)
_DOI_PREFIX = re.compile(r"^(?:https?://)?(?:dx\.|www\.)?doi\.org/|^doi\s*[:=]\s*", re.IGNORECASE)
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"<>]*[^\s\"<>.,;]", re.IGNORECASE)
_BIBCODE = re.compile(r"(1[5-9]|20)\d{2}[A-Za-z][A-Za-z0-9.&]{13}[A-Za-z.:]")
_BIBCODE_URL = re.compile(r"^https?://[^/]*adsabs[^/]*/(?:#?abs/|abs/)?", re.IGNORECASE)
_EPRINT_BIBCODE = re.compile(r"\d{4}arXiv(\d{4})(\d{4,5}|\.\d{4})[A-Za-z.]")
_OLD_EPRINT_BIBCODE = re.compile(
    r"(\d{4})(astro\.ph|hep\.ph|hep\.th|hep\.ex|hep\.lat|gr\.qc|nucl\.th|nucl\.ex|quant\.ph"
    r"|cond\.mat|math\.ph|physics)(\.*)(\d{1,5})[A-Za-z.]"
)


def parse_arxiv_id(text: object) -> str | None:
    """Read an arXiv id in any spelling; versions and prefixes are dropped.

    Parameters
    ----------
    text : object
        ``"arXiv:2101.01542v2"``, an arXiv URL, an arXiv DOI, ``"astro-ph/0703001"``...

    Returns
    -------
    str or None
        ``"2101.01542"`` or ``"astro-ph/0703001"``; None where it is no arXiv id.

    Examples
    --------
    >>> parse_arxiv_id("https://arxiv.org/abs/2101.01542v3"), parse_arxiv_id("math.GT/0309136")
    ('2101.01542', 'math/0309136')
    """
    if not isinstance(text, str):
        return None
    bare = _ARXIV_PREFIX.sub("", text.strip(), count=1)
    bare = re.sub(r"\s*\[[\w.-]+\]$", "", bare)
    if match := _ARXIV_NEW.fullmatch(bare):
        return f"{match[1]}{match[2]}.{match[3]}"
    if match := _ARXIV_OLD.fullmatch(bare):
        return f"{match[1].lower()}/{match[2]}"
    return None


def arxiv_id_of_bibcode(bibcode: str) -> str | None:
    """Return the arXiv id that an e-print's bibcode encodes, None for any other bibcode.

    Examples
    --------
    >>> arxiv_id_of_bibcode("2021arXiv210101542A"), arxiv_id_of_bibcode("2001astro.ph..1234K")
    ('2101.01542', 'astro-ph/0101234')
    """
    if match := _EPRINT_BIBCODE.fullmatch(bibcode):
        return parse_arxiv_id(f"{match[1]}.{match[2].lstrip('.')}")
    if match := _OLD_EPRINT_BIBCODE.fullmatch(bibcode):
        number = match[4].zfill(5)
        return parse_arxiv_id(f"{match[2].replace('.', '-')}/{match[1][2:]}{number}")
    return None


def arxiv_month(arxiv_id: str) -> PaperDate:
    """Month in which an arXiv id was given out.

    Examples
    --------
    >>> arxiv_month("astro-ph/9301002").date
    datetime.date(1993, 1, 1)
    """
    return _month_of(arxiv_id.rpartition("/")[2][:4])


@lru_cache(maxsize=1024)
def _month_of(digits: str) -> PaperDate:
    century = "19" if digits[:2] >= "91" else "20"
    return parse_date(f"{century}{digits[:2]}-{digits[2:4]}")


def parse_doi(text: object) -> str | None:
    """Read a DOI in any spelling: lower case, no URL, the first where there are several.

    Examples
    --------
    >>> parse_doi("https://doi.org/10.1051/0004-6361/202039988")
    '10.1051/0004-6361/202039988'
    >>> parse_doi("see the journal") is None
    True
    """
    if not isinstance(text, str):
        return None
    bare = _DOI_PREFIX.sub("", text.strip(), count=1)
    match = _DOI.match(unquote(bare) if "%2" in bare else bare)
    return match[0].lower() if match else None


def is_eprint_doi(doi: str) -> bool:
    """Whether a DOI is arXiv's own, which names the e-print and not the published paper."""
    return doi.startswith("10.48550/arxiv.")


def parse_bibcode(text: object) -> str | None:
    """Read an ADS bibcode (19 characters, see the ADS documentation), bare or from an ADS URL.

    Examples
    --------
    >>> parse_bibcode("https://ui.adsabs.harvard.edu/abs/2021A%26A...645L..11A/abstract")
    '2021A&A...645L..11A'
    >>> parse_bibcode("2021A&A") is None
    True
    """
    if not isinstance(text, str):
        return None
    bare = _BIBCODE_URL.sub("", text.strip(), count=1).partition("/")[0]
    bare = unquote(bare) if "%" in bare else bare
    return bare if _BIBCODE.fullmatch(bare) else None


def is_eprint_bibcode(bibcode: str) -> bool:
    """Whether a bibcode names an e-print, not a published paper.

    Examples
    --------
    >>> is_eprint_bibcode("2021arXiv210101542A"), is_eprint_bibcode("2021A&A...645L..11A")
    (True, False)
    """
    return arxiv_id_of_bibcode(bibcode) is not None


def paper_id(
    *,
    bibcode: str | None,
    arxiv_id: str | None,
    doi: str | None,
    given: str | None = None,
    content: str,
) -> str:
    """Choose the stable key of a paper.

    Parameters
    ----------
    bibcode, arxiv_id, doi : str or None
        Preferred in this order.
    given : str or None
        What the source itself calls a paper that has none of these.
    content : str
        Text that only this paper has; hashed where there is nothing else.

    Returns
    -------
    str

    Examples
    --------
    >>> paper_id(bibcode=None, arxiv_id="2101.01542", doi="10.1/x", content="")
    '2101.01542'
    >>> paper_id(bibcode=None, arxiv_id=None, doi=None, content="a title and an abstract")
    'sha256:e983c41783ef2d67'
    """
    return bibcode or arxiv_id or doi or given or content_id(content)


def content_id(content: str) -> str:
    """Key of a paper that nothing but its own text identifies."""
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
    return f"sha256:{digest[:16]}"
