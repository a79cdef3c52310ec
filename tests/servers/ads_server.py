"""A server with the ADS search API: bearer keys, Solr cursors or offsets, and a daily quota."""

from __future__ import annotations

import json

from loopback import Answer, Loopback, Request

KEY = "right-key-0123456789"


def some_docs(n: int) -> list[dict[str, object]]:
    return [
        {
            "bibcode": f"2024ApJ...{960 + i // 100}..{i % 100:03d}S",
            "identifier": [f"arXiv:2401.{i:05d}", f"10.3847/example/{i}"],
            "title": [f"Satellite quenching in group number {i}"],
            "abstract": f"We measure the quenched fraction of satellites in group {i}. <P />",
            "author": ["Suarez, Ana B.", "Chen, Wei"],
            "aff": ["University of Somewhere", "-"],
            "date": "2024-01-01T00:00:00Z",
            "pubdate": "2024-01-00",
            "year": "2024",
            "doi": [f"10.3847/example/{i}"],
            "keyword": ["galaxies: evolution"],
            "citation_count": i,
            "read_count": 2 * i,
            "doctype": "article",
            "pub": "The Astrophysical Journal",
            "property": ["ARTICLE", "REFEREED"],
            "arxiv_class": ["astro-ph.GA"],
            "reference": ["2020ApJ...900....1X"],
        }
        for i in range(n)
    ]


class AdsServer(Loopback):
    """Server that finds all `docs` except for the query "nothing"; "((" in a query is an error."""

    def __init__(self, docs: list[dict[str, object]], *, cursors: bool = True) -> None:
        super().__init__()
        self.docs = docs
        self.cursors = cursors
        self.epoch = 0
        self.limit = 5000
        self.left = 5000
        self.renewal = 2_000_000_000

    def answer(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return self._json({"error": "Unauthorized"}, status=401)
        if request.path != "/v1/search/query":
            return self._json({"error": "Not found"}, status=404)
        if self.left <= 0:
            return self._json({"error": "Too many requests"}, status=429)
        self.left -= 1
        query = request.query
        if "((" in query["q"]:
            message = "org.apache.solr.search.SyntaxError: INVALID_SYNTAX cannot parse"
            return self._json({"error": {"msg": message, "code": 400}}, status=400)
        docs = [] if query["q"] == "nothing" else self.docs
        return self._page(docs, query)

    def _page(self, docs: list[dict[str, object]], query: dict[str, str]) -> Answer:
        start = int(query.get("start", "0"))
        cursor = query.get("cursorMark")
        if cursor is not None and self.cursors and cursor != "*":
            at, _, epoch = cursor.partition("@")
            if int(epoch) != self.epoch:
                message = f"Unable to parse 'cursorMark' after totem: {cursor}"
                return self._json({"error": {"msg": message, "code": 400}}, status=400)
            start = int(at)
        wanted = query["fl"].split(",")
        page = docs[start : start + min(int(query["rows"]), 200)]
        shown = [{name: doc[name] for name in wanted if name in doc} for doc in page]
        answer: dict[str, object] = {
            "responseHeader": {"status": 0, "QTime": 3},
            "response": {"numFound": len(docs), "start": start, "docs": shown},
        }
        if cursor is not None and self.cursors:
            ended = not page
            answer["nextCursorMark"] = cursor if ended else f"{start + len(page)}@{self.epoch}"
        return self._json(answer)

    def _json(self, answer: object, *, status: int = 200) -> Answer:
        headers = {
            "Content-Type": "application/json",
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.left)),
            "X-RateLimit-Reset": str(self.renewal),
        }
        return Answer(json.dumps(answer).encode(), status, headers)
