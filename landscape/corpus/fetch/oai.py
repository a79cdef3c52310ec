"""OAI-PMH 2.0, the part that harvesting needs: pages of records, tokens and errors.

Read with httpx and lxml rather than with sickle, because sickle parses in recovery mode (a page
cut in half counts as a short one, and its records are lost without a word), waits only for
Retry-After in whole seconds, and does not tell when a resumption token expires.

References
----------
.. [1] The Open Archives Initiative Protocol for Metadata Harvesting, version 2.0,
   http://www.openarchives.org/OAI/openarchivesprotocol.html
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from landscape.corpus.fetch.replies import GarbledError, Reply, expect_no_web_page
from landscape.errors import require

OAI = "{http://www.openarchives.org/OAI/2.0/}"


class OaiError(Exception):
    """The error element of an OAI-PMH response.

    Attributes
    ----------
    code : str
        One of the protocol's codes, for example ``"badResumptionToken"``.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text or code)
        self.code = code


@dataclass(frozen=True)
class OaiRecord:
    """One record of a page.

    Attributes
    ----------
    identifier : str
        The item's name at the repository, for example ``"oai:arXiv.org:2401.00001"``.
    datestamp : str
        When the record last changed there, ISO 8601.
    deleted : bool
        The repository no longer has it.
    metadata : lxml element or None
        The root element of the record's own format; None where deleted.
    """

    identifier: str
    datestamp: str
    deleted: bool
    metadata: Any


@dataclass(frozen=True)
class OaiPage:
    """One response to ListRecords.

    Attributes
    ----------
    records : list of OaiRecord
        In the order of the server.
    token : str or None
        Asks for the next page; None on the last one.
    expires : float or None
        When the token stops to be valid, in seconds since 1970.
    """

    records: list[OaiRecord]
    token: str | None
    expires: float | None


def read_page(reply: Reply) -> OaiPage:
    """Parse a response to ListRecords; nothing half-read is returned.

    Entities are not expanded, and a document that declares any is refused.

    Raises
    ------
    OaiError
        Where the response holds an error element.
    GarbledError
        Where it is not well-formed or not OAI-PMH.
    RemoteError
        Where it is a web page.

    Examples
    --------
    >>> page = b'''<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record>
    ... <header status="deleted"><identifier>oai:a:1</identifier><datestamp>2024-01-01</datestamp>
    ... </header></record><resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>'''
    >>> read = read_page(Reply(200, {}, page))
    >>> read.records[0].deleted, read.token
    (True, 't')
    """
    expect_no_web_page(reply, "The OAI-PMH server", "XML")
    root = _parse(reply.content)
    error = root.find(f"{OAI}error")
    if error is not None:
        raise OaiError(error.get("code", "unknown"), (error.text or "").strip())
    listing = root.find(f"{OAI}ListRecords")
    if root.tag != f"{OAI}OAI-PMH" or listing is None:
        raise GarbledError("its answer is not an OAI-PMH list of records")
    token = listing.find(f"{OAI}resumptionToken")
    attributes = {} if token is None else dict(token.attrib)
    return OaiPage(
        records=[_record(element) for element in listing.iterfind(f"{OAI}record")],
        token=None if token is None else (token.text or "").strip() or None,
        # The standard says expirationDate; arXiv says expires.
        expires=_seconds(attributes.get("expirationDate") or attributes.get("expires")),
    )


def _parse(content: bytes) -> Any:
    etree = require("lxml.etree", "fetch")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=False, huge_tree=False
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise GarbledError(f"its XML is damaged or cut off ({error.msg})") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise GarbledError("its XML declares a document type, which OAI-PMH never does")
    return root


def _record(element: Any) -> OaiRecord:
    header = element.find(f"{OAI}header")
    if header is None:
        raise GarbledError("a record of its answer has no header")
    metadata = element.find(f"{OAI}metadata")
    return OaiRecord(
        identifier=(header.findtext(f"{OAI}identifier") or "").strip(),
        datestamp=(header.findtext(f"{OAI}datestamp") or "").strip(),
        deleted=header.get("status") == "deleted",
        metadata=None if metadata is None else next(metadata.iterchildren("*"), None),
    )


def _seconds(timestamp: str | None) -> float | None:
    """An ISO 8601 time as seconds since 1970; None where there is none to read."""
    if not timestamp:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
