"""The search API of arXiv: Atom feeds, pages, empty pages and errors as the service sends them."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from loopback import Answer, Loopback, Request

FEED = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
  xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <title>arXiv Query: search_query=cat:{category}&amp;id_list=&amp;start={start}</title>
  <updated>2026-06-30T00:00:00Z</updated>
  <link href="https://arxiv.org/api/query" type="application/atom+xml"/>
  <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
{entries}</feed>
"""
ENTRY = """  <entry>
    <id>http://arxiv.org/abs/{id}v2</id>
    <title>Comets and shocks
  number {number} &amp; more</title>
    <updated>2026-06-{day:02d}T17:59:58Z</updated>
    <link href="https://arxiv.org/abs/{id}v2" rel="alternate" type="text/html"/>
    <summary>We study comet {number}, where $x &lt; 3$ holds,
  with spectra of many comets.</summary>
    <category term="{category}" scheme="http://arxiv.org/schemas/atom"/>
    <category term="astro-ph.SR" scheme="http://arxiv.org/schemas/atom"/>
    <published>2026-05-{day:02d}T17:42:11Z</published>
    <arxiv:comment>8 pages</arxiv:comment>
    <arxiv:primary_category term="{category}"/>
    <arxiv:journal_ref>Example J. 12 (2026) 34</arxiv:journal_ref>
    <author><name>Ana B. Suarez</name><arxiv:affiliation>Leiden</arxiv:affiliation></author>
    <author><name>J. van der Berg</name></author>
    <arxiv:doi>10.1000/example.{number}</arxiv:doi>
  </entry>
"""
ERROR = """  <entry>
    <id>https://arxiv.org/api/errors#start_must_be_non-negative</id>
    <title>Error</title>
    <summary>{message}</summary>
  </entry>
"""


class ArxivServer(Loopback):
    """API with `n_papers` papers of one category. Pages above `largest` are sent empty."""

    def __init__(
        self, n_papers: int, *, category: str = "astro-ph.EP", largest: int = 2000
    ) -> None:
        super().__init__()
        self.n_papers, self.category, self.largest = n_papers, category, largest
        self.arrived = 0  # papers that were submitted since the first request

    def ids(self) -> list[str]:
        """Return the identifiers, the newest first."""
        return [f"2605.{i:05d}" for i in range(self.n_papers + self.arrived)][::-1]

    def answer(self, request: Request) -> Answer:
        query = request.query
        start, size = int(query["start"]), int(query["max_results"])
        asked = query["search_query"]
        # A search finds all papers if its words are joined by OR, or are those of every paper.
        is_search = "all:" in asked and (
            " OR " in asked or set(re.findall(r"all:(\w+)", asked)) <= {"comets", "spectra"}
        )
        found = self.ids() if asked == f"cat:{self.category}" or is_search else []
        page = found[start : start + size] if size <= self.largest else []
        entries = "".join(
            ENTRY.format(id=i, number=int(i[5:]), day=1 + int(i[5:]) % 28, category=self.category)
            for i in page
        )
        return self._feed(entries, start, size, len(found))

    def error(self, message: str) -> Answer:
        return self._feed(ERROR.format(message=escape(message)), 0, 1, 1)

    def _feed(self, entries: str, start: int, size: int, total: int) -> Answer:
        text = FEED.format(
            category=self.category, start=start, size=size, total=total, entries=entries
        )
        return Answer(text.encode(), 200, {"Content-Type": "application/atom+xml"})
