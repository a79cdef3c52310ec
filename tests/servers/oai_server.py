"""An OAI-PMH 2.0 repository like arXiv, with format arXivRaw and tokens that expire."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from xml.sax.saxutils import escape

from loopback import Answer, Loopback, Request

WORDS = (
    "quasar",
    "outflow",
    "halo",
    "dwarf",
    "shock",
    "lens",
    "pulsar",
    "corona",
    "merger",
    "bar",
    "disc",
    "jet",
)


@dataclass(frozen=True)
class Item:
    id: str
    datestamp: str
    title: str
    deleted: bool = False
    archive: str = "physics:astro-ph"

    def xml(self) -> str:
        status = ' status="deleted"' if self.deleted else ""
        header = (
            f"<header{status}><identifier>oai:arXiv.org:{self.id}</identifier>"
            f"<datestamp>{self.datestamp}</datestamp><setSpec>{self.archive}</setSpec></header>"
        )
        return f"<record>{header}{'' if self.deleted else self._metadata()}</record>"

    def _metadata(self) -> str:
        return f"""<metadata><arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/">
        <id>{self.id}</id><submitter>A. Person</submitter>
        <version version="v1"><date>Mon, 1 Jan 2024 18:30:00 GMT</date><size>12kb</size></version>
        <version version="v2"><date>Fri, 2 Feb 2024 08:00:00 GMT</date><size>14kb</size></version>
        <title>{escape(self.title)}</title>
        <authors>Ana B. Suarez, Chen Wei and J. van der Berg (Leiden)</authors>
        <categories>astro-ph.GA astro-ph.CO</categories><comments>8 pages, 3 figures</comments>
        <journal-ref>Example J. 12 (2024) 34</journal-ref><doi>10.1000/example.{self.id}</doi>
        <license>http://creativecommons.org/licenses/by/4.0/</license>
        <abstract>  We study {escape(self.title)} where x &lt; 3 and
        $\\alpha &amp; \\beta$ hold, with spectra of many galaxies.  </abstract>
        </arXivRaw></metadata>"""


def some_items(n: int, *, first_day: int = 1, a_day: int = 4) -> list[Item]:
    """Return items of January 2024, `a_day` per datestamp; every seventh is deleted."""
    items = []
    for i in range(n):
        title = f"{WORDS[i % 12].capitalize()} and {WORDS[(i // 12) % 12]} number {i} & more"
        day = f"2024-01-{first_day + i // a_day:02d}"
        items.append(Item(f"2401.{i:05d}", day, title, deleted=i % 7 == 6))
    return items


class OaiServer(Loopback):
    """OAI-PMH server that returns `items` in pages. A new `epoch` invalidates earlier tokens."""

    def __init__(self, items: list[Item], *, page_size: int = 5) -> None:
        super().__init__()
        self.items = items
        self.page_size = page_size
        self.epoch = 0
        self.expires: float | None = None  # told in the tokens, seconds since 1970
        self.sorted = True

    def change(self, item_id: str, **changes: object) -> None:
        """Change an item, as after a replacement or a withdrawal."""
        self.items = [replace(i, **changes) if i.id == item_id else i for i in self.items]

    def answer(self, request: Request) -> Answer:
        query = request.query
        if query.get("verb") != "ListRecords":
            return _error("badVerb", "only ListRecords is served")
        if "resumptionToken" in query:
            since, until, archive, skip, epoch = query["resumptionToken"].split("|")
            if int(epoch) != self.epoch:
                return _error("badResumptionToken", "the token is invalid or expired")
        else:
            if query.get("metadataPrefix") != "arXivRaw":
                return _error("cannotDisseminateFormat", "only arXivRaw is served")
            since, until = query.get("from", ""), query.get("until", "")
            archive, skip = query.get("set", ""), "0"
        if archive not in {"", "physics:astro-ph"}:
            return _error("badArgument", f"Set does not exist: {archive}")
        return self._page(since, until, archive, int(skip))

    def _page(self, since: str, until: str, archive: str, skip: int) -> Answer:
        chosen = [i for i in self.items if since <= i.datestamp <= (until or "9999")]
        if self.sorted:
            chosen.sort(key=lambda item: (item.datestamp, item.id))
        page = chosen[skip : skip + self.page_size]
        if not page:
            return _error("noRecordsMatch", "the list is empty")
        resumption = "<resumptionToken/>"
        if skip + self.page_size < len(chosen):
            moment = self.expires and datetime.fromtimestamp(self.expires, tz=UTC)
            expires = f" expires='{moment:%Y-%m-%dT%H:%M:%SZ}'" if moment else ""
            value = "|".join((since, until, archive, str(skip + self.page_size), str(self.epoch)))
            resumption = f"<resumptionToken{expires}>{value}</resumptionToken>"
        records = "\n".join(item.xml() for item in page)
        return _document(f"<ListRecords>{records}{resumption}</ListRecords>")


def _error(code: str, text: str) -> Answer:
    return _document(f'<error code="{code}">{escape(text)}</error>')


def _document(inside: str) -> Answer:
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
        "<responseDate>2024-02-01T00:00:00Z</responseDate>"
        f'<request verb="ListRecords">http://127.0.0.1/oai</request>{inside}</OAI-PMH>'
    )
    return Answer(body.encode(), headers={"Content-Type": "application/xml"})
