"""Servers with the ADS search API and the ADS libraries API: bearer keys, and a daily quota."""

from __future__ import annotations

import base64
import itertools
import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from loopback import Answer, Loopback, Request

KEY = "right-key-0123456789"
OTHER_KEY = "another-key-0123456789"
USERS = {KEY: "anna@example.org", OTHER_KEY: "ben@example.org"}


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


@dataclass
class StoredLibrary:
    id: str
    name: str
    description: str
    public: bool
    modified: int
    bibcode: dict[str, None] = field(default_factory=dict)
    permissions: dict[str, set[str]] = field(default_factory=dict)  # by e-mail address

    def permission(self, user: str) -> str:
        given = self.permissions.get(user, set())
        return next((one for one in ("owner", "admin", "write", "read") if one in given), "none")

    def metadata(self, user: str) -> dict[str, object]:
        owner = next(name for name, given in self.permissions.items() if "owner" in given)
        return {
            "name": self.name,
            "id": self.id,
            "description": self.description,
            "num_documents": len(self.bibcode),
            "date_created": "2024-01-01T00:00:00.000000",
            "date_last_modified": f"2024-01-01T00:00:00.{self.modified:06d}",
            "permission": self.permission(user),
            "public": self.public,
            "num_users": len(self.permissions),
            "owner": owner.partition("@")[0],
        }


class LibraryServer(AdsServer):
    """Server with bigquery and the libraries of two users.

    The replies are those of the source code of the service (github.com/adsabs/biblib-service).
    `alternates` maps old bibcodes to the present ones of `docs`.
    """

    def __init__(self, docs: list[dict[str, object]], alternates: dict[str, str]) -> None:
        super().__init__(docs)
        self.alternates = alternates
        self.stored: dict[str, StoredLibrary] = {}
        self.sent: list[tuple[str, str, Any]] = []  # method, path and body of each request
        self.max_rows = 2000
        self.search_is_down = False
        self._changes = itertools.count(1)
        self._body = threading.local()
        handler = self._server.RequestHandlerClass
        self._server.RequestHandlerClass = _with_bodies(handler, self._body)

    @property
    def writes(self) -> list[tuple[str, str, Any]]:
        sent = self.sent
        return [one for one in sent if one[0] == "POST" and "/biblib/" in one[1]]

    def store(
        self,
        name: str,
        bibcodes: Iterable[str] = (),
        *,
        owner: str = USERS[KEY],
        public: bool = False,
        description: str = "My ADS library",
    ) -> StoredLibrary:
        n = len(self.stored)
        slug = base64.urlsafe_b64encode((n + 2**120).to_bytes(16, "big")).decode().rstrip("=")
        library = StoredLibrary(slug, name, description, public, next(self._changes))
        library.bibcode = dict.fromkeys(bibcodes)
        library.permissions[owner] = {"owner"}
        self.stored[slug] = library
        return library

    def change(self, library: StoredLibrary, bibcodes: Iterable[str]) -> None:
        library.bibcode = dict.fromkeys(bibcodes)
        library.modified = next(self._changes)

    def answer(self, request: Request) -> Answer:
        text = getattr(self._body, "text", None)
        is_json = text is not None and "big-query" not in request.headers.get("content-type", "")
        body = json.loads(text) if is_json else text
        self.sent.append(("GET" if text is None else "POST", request.path, body))
        user = USERS.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if user is None:
            return self._json({"error": "Unauthorized"}, status=401)
        if self.left <= 0:
            return self._json({"error": "Too many requests"}, status=429)
        if request.path == "/v1/search/query":
            return super().answer(request)
        self.left -= 1
        parts = request.path.removeprefix("/v1/").split("/")
        match parts:
            case ["search", "bigquery"] if text:
                return self._bigquery(text.split("\n")[1:], request.query)
            case ["biblib", "libraries"]:
                return self._list(user, request.query) if body is None else self._new(user, body)
            case ["biblib", kind, slug]:
                return self._library(kind, slug, user, request.query, body)
        return self._json({"error": "Not found"}, status=404)

    def _library(self, kind: str, slug: str, user: str, query: dict[str, str], body: Any) -> Answer:
        library = self.stored.get(slug)
        permission = library.permission(user) if library else "none"
        is_public = library is not None and library.public
        no_permission = "You do not have the correct permissions or the library does not exist."
        if kind == "libraries" and library is None:
            return self._json({"error": "Library specified does not exist."}, status=410)
        needed = {
            "libraries": {"read", "write", "admin", "owner"},
            "documents": {"write", "admin", "owner"},
            "permissions": {"admin", "owner"},
        }[kind]
        if library is None or (
            permission not in needed and not (kind == "libraries" and is_public)
        ):
            return self._json({"error": no_permission}, status=403)
        if kind == "libraries":
            return self._contents(library, user, query)
        if kind == "documents":
            return self._change(library, body)
        if body is None:
            order = ("read", "write", "admin", "owner")
            people = library.permissions.items()
            return self._json(
                [{email: [one for one in order if one in given]} for email, given in people]
            )
        if body["email"] not in USERS.values():
            return self._json({"error": "User does not have an ADS account"}, status=404)
        if body["email"] == user or body["permission"].get("owner"):
            return self._json({"error": no_permission}, status=403)
        given = library.permissions.setdefault(body["email"], set())
        given |= {name for name, value in body["permission"].items() if value}
        return self._json({})

    def _list(self, user: str, query: dict[str, str]) -> Answer:
        mine = [one for one in self.stored.values() if user in one.permissions]
        start, rows = int(query.get("start", 0)), int(query.get("rows", len(mine) or 1))
        page = [one.metadata(user) for one in mine[start : start + min(rows, self.max_rows)]]
        return self._json({"count": len(mine), "libraries": page})

    def _new(self, user: str, body: dict[str, Any]) -> Answer:
        for one in self.stored.values():
            if one.name == body["name"] and one.permission(user) == "owner":
                message = "Library name given already exists and must be unique."
                return self._json({"error": message}, status=409)
        name, description = body["name"], body.get("description") or "My ADS library"
        name = name if len(name) <= 50 else f"{name[:47]}..."
        bibcodes, public = body.get("bibcode", ()), body.get("public", False)
        one = self.store(name, bibcodes, owner=user, public=public, description=description)
        made = {"name": one.name, "id": one.id, "description": one.description}
        return self._json({**made, "bibcode": list(one.bibcode)} if one.bibcode else made)

    def _contents(self, library: StoredLibrary, user: str, query: dict[str, str]) -> Answer:
        start, rows = int(query.get("start", 0)), min(int(query.get("rows", 20)), self.max_rows)
        metadata = library.metadata(user)
        documents = sorted(library.bibcode)[start : start + rows]
        solr: object = "Only the raw library was requested."
        updates: dict[str, object] = {}
        if query.get("raw") != "true" and self.search_is_down:
            solr = "Solr response does not contain the same number of bibcodes as the request."
        elif query.get("raw") != "true":
            docs = self._found(library.bibcode)
            documents = [str(doc["bibcode"]) for doc in docs[start : start + rows]]
            updates = self._update(library, set(documents))
            response = {"numFound": len(docs), "start": start}
            response["docs"] = [{"bibcode": code} for code in documents]
            solr = {"responseHeader": {"status": 0, "QTime": 3}, "response": response}
        return self._json(
            {"documents": documents, "solr": solr, "metadata": metadata, "updates": updates}
        )

    def _update(self, library: StoredLibrary, page: set[str]) -> dict[str, object]:
        """Replace the old bibcodes of the papers of a page."""
        changed = [
            {code: self.alternates[code]}
            for code in library.bibcode
            if self.alternates.get(code) in page
        ]
        before = len(library.bibcode)
        if changed:
            new = (
                self.alternates[code] if self.alternates.get(code) in page else code
                for code in library.bibcode
            )
            self.change(library, new)
        return {
            "num_updated": len(changed),
            "duplicates_removed": before - len(library.bibcode),
            "update_list": changed,
            "updated_notes": [],
        }

    def _change(self, library: StoredLibrary, body: dict[str, Any]) -> Answer:
        codes, before = body["bibcode"], dict(library.bibcode)
        if body["action"] == "remove":
            removed = [code for code in before if code in set(codes)]
            if removed:
                self.change(library, (code for code in before if code not in set(codes)))
            return self._json({"number_removed": len(removed), "bibcodes": removed or ""})
        valid = [str(doc["bibcode"]) for doc in self._found(codes)]
        invalid = sorted(set(codes) - set(valid))
        n_added = len({**before, **dict.fromkeys(valid)}) - len(before)
        if n_added:
            self.change(library, [*before, *valid])
        if invalid and not n_added:
            message = "No specified identifiers were able to be added. invalid_bibcodes: "
            return self._json({"error": f"{message}{invalid}"}, status=400)
        answer = {"invalid_identifiers": invalid} if invalid else {}
        return self._json({**answer, "number_added": n_added})

    def _found(self, codes: Iterable[str]) -> list[dict[str, object]]:
        wanted = {self.alternates.get(code, code) for code in codes}
        return [doc for doc in self.docs if doc["bibcode"] in wanted]

    def _bigquery(self, codes: list[str], query: dict[str, str]) -> Answer:
        old: dict[str, list[str]] = {}
        for code, new in self.alternates.items():
            old.setdefault(new, []).append(code)
        docs: list[dict[str, Any]] = []
        for doc in self._found(codes):
            others = old.get(str(doc["bibcode"]), [])
            names = [*doc["identifier"], doc["bibcode"], *others]
            docs.append({**doc, "identifier": names, "alternate_bibcode": others})
        start, wanted = int(query["start"]), query["fl"].split(",")
        page = docs[start : start + min(int(query["rows"]), self.max_rows)]
        shown = [{name: doc[name] for name in wanted if doc.get(name)} for doc in page]
        return self._json(
            {
                "responseHeader": {"status": 0, "QTime": 3},
                "response": {"numFound": len(docs), "start": start, "docs": shown},
            }
        )


def _with_bodies(handler: type[Any], body: threading.local) -> type[Any]:
    """Return a handler that also accepts POST requests, whose text it keeps in `body`."""

    class Handler(handler):  # type: ignore[misc]
        def do_GET(self) -> None:  # noqa: N802
            body.text = None
            super().do_GET()

        def do_POST(self) -> None:  # noqa: N802
            body.text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            super().do_GET()

    return Handler
