"""Read and change the libraries of papers that users of ADS (SciX) make on its website."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Self, TypeVar

import orjson

from landscape._http import (
    RUN_AGAIN,
    GarbledReplyError,
    HttpClient,
    Reply,
    RetryPolicy,
    ignore_note,
    refuse_web_page,
)
from landscape._wording import count, join_names
from landscape.corpus.fetch import _ads
from landscape.corpus.fetch._ads import ADS_API, ADS_FIELDS, ADS_POLICY
from landscape.errors import InputError, RemoteError

T = TypeVar("T")
#: Items of a page, length of the list, and a value that changes with the list.
_Page = tuple[list[T], int, object]

_MAX_ROWS = 2000  # maximum number of papers per request that ADS allows
_MAX_READINGS = 3  # maximum number of readings of a list that changes meanwhile
_MAX_NAME, _MAX_DESCRIPTION = 50, 200  # characters; ADS cuts longer texts
_ID = re.compile(r"[\w-]{22}", re.ASCII)
_REFUSALS = frozenset({400, 403, 404, 409, 410})


@dataclass(frozen=True)
class AdsLibrary:
    """Library of papers in ADS.

    `permission` is that of the user of the key: "owner", "admin", "write", "read" or "none".
    `owner` is the first part of an e-mail address, and `modified` is a time in ISO 8601 (UTC).
    """

    id: str
    name: str
    description: str
    n_papers: int
    is_public: bool
    permission: str
    owner: str
    modified: str


class AdsLibraries:
    """Client for the libraries of an ADS user, used as a context manager.

    A library is passed as `AdsLibrary`, as its name or as its id. Requests are repeated after
    temporary failures. A repeated request never adds a paper or creates a library twice, but
    the returned number of changes can then be too small.

    Parameters
    ----------
    token : str, optional
        ADS key. The default is the environment variable ADS_API_TOKEN, SCIX_API_TOKEN or
        ADS_DEV_KEY. The key is only sent to `base_url` and never saved.
    base_url : str
        Address of the ADS API.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user, for example about bibcodes that ADS does not know.

    Attributes
    ----------
    unknown : list of str
        Bibcodes of the last call that ADS does not know, or that `remove` did not find.

    Raises
    ------
    InputError
        If there is no key, a library does not exist, or a name is invalid or taken.
    RemoteError
        If ADS cannot be reached, rejects the key, does not permit a change, or the quota is
        exhausted.

    Examples
    --------
    >>> with AdsLibraries(token="a-key") as ads:
    ...     ads.grant("My papers", "anna@example.org", "owner")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: The permission must be read, write or admin, got 'owner'; transfer
    a library to another owner on the ADS website
    """

    def __init__(
        self,
        *,
        token: str | None = None,
        base_url: str = ADS_API,
        policy: RetryPolicy = ADS_POLICY,
        notify: Callable[[str], None] = ignore_note,
    ) -> None:
        self.unknown: list[str] = []
        self._notify = notify
        self._client = HttpClient(
            "ADS",
            base_url,
            policy=policy,
            hints=dict.fromkeys((401, 403), _ads._HOW_TO_GET_KEY),
            headers={"Authorization": f"Bearer {_ads._token(token)}"},
            secret=True,
            notify=notify,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.__exit__(*error)

    def libraries(self) -> list[AdsLibrary]:
        """Return the libraries of the user and those shared with the user, oldest first."""

        def read(answer: Any) -> _Page[AdsLibrary]:
            items = [_to_library(one) for one in answer["libraries"]]
            total = int(answer.get("count", len(items)))
            return items, total, total

        def page(start: int) -> _Page[AdsLibrary]:
            params = {"start": str(start), "rows": "200", "sort": "date_created", "order": "asc"}
            return self._ask("libraries", read, params=params)

        return _read_all(page, "list of libraries")

    def find(self, name: str) -> AdsLibrary:
        """Return the library with an id or a name. Public libraries of others need the id."""
        known = self.libraries()
        by_id = [one for one in known if one.id == name]
        found = by_id or [one for one in known if one.name == name]
        if len(found) > 1:
            ids = join_names([f"{one.id} (of {one.owner})" for one in found])
            raise InputError(f"{len(found)} ADS libraries are named {name!r}; pass an id: {ids}")
        if not found and _ID.fullmatch(name):
            return self._ask(f"libraries/{name}", _read_library, about=name, params={"raw": "true"})
        if not found:
            names = join_names([repr(one.name) for one in known]) or "none"
            raise InputError(f"There is no ADS library {name!r}; the known libraries are: {names}")
        return found[0]

    def bibcodes(self, library: AdsLibrary | str) -> list[str]:
        """Return the bibcodes of all papers of a library, in alphabetical order."""
        one = self._resolve(library)
        self._replace_old_bibcodes(one)

        def read(answer: Any) -> _Page[str]:
            state = answer["metadata"]
            total = int(state["num_documents"])
            codes = [str(code) for code in answer["documents"]]
            return codes, total, (total, state["date_last_modified"])

        def page(start: int) -> _Page[str]:
            # With `raw`, the order is fixed, and papers that the search lacks are included.
            params = {"start": str(start), "rows": str(_MAX_ROWS), "raw": "true"}
            return self._ask(f"libraries/{one.id}", read, about=one, params=params)

        return _read_all(page, f"library {one.name!r}")

    def create(
        self,
        name: str,
        bibcodes: Iterable[str] = (),
        *,
        description: str = "",
        public: bool = False,
    ) -> AdsLibrary:
        """Create a library with papers. Bibcodes that ADS does not know are not added."""
        papers = _unique(bibcodes)
        if not name.strip() or len(name) > _MAX_NAME or len(description) > _MAX_DESCRIPTION:
            raise InputError(
                f"An ADS library needs a name of at most {_MAX_NAME} characters and a description "
                f"of at most {_MAX_DESCRIPTION}, got {name!r} and {description!r}; shorten them"
            )
        created = self._create(name, description, public=public)
        self.add(created, papers)  # afterwards, because ADS does not check those of a new library
        return self.find(created)

    def add(self, library: AdsLibrary | str, bibcodes: Iterable[str]) -> int:
        """Add papers to a library, and return how many it did not contain before."""
        n_added, rejected = self._change(self._resolve(library), "add", _unique(bibcodes))
        # ADS also rejects an old bibcode, although it adds the paper with its new bibcode.
        known = self._new_bibcodes(rejected)
        self._report([code for code in rejected if code not in known])
        return n_added

    def remove(self, library: AdsLibrary | str, bibcodes: Iterable[str]) -> int:
        """Remove papers from a library, and return how many were removed."""
        one = self._resolve(library)
        n_removed, missing = self._change(one, "remove", _unique(bibcodes))
        self._report(missing, f"The library {one.name!r} does not contain")
        return n_removed

    def synchronise(self, library: AdsLibrary | str, bibcodes: Iterable[str]) -> tuple[int, int]:
        """Make a library equal to a list, and return the numbers of added and removed papers.

        Papers that are already in the library are not sent. An empty list empties the library.
        """
        one, wanted = self._resolve(library), _unique(bibcodes)
        stored = dict.fromkeys(self.bibcodes(one))
        others = [code for code in wanted if code not in stored]
        known = self._new_bibcodes(others)
        if wanted and not known and len(others) == len(wanted):
            raise InputError(
                f"ADS knows none of the bibcodes for {one.name!r}, so the library was not changed; "
                f"check them, for example {wanted[0]!r}"
            )
        kept = {*wanted, *known.values()}
        n_added = self.add(one, [code for code in known.values() if code not in stored])
        n_removed = self.remove(one, [code for code in stored if code not in kept])
        self._report([code for code in others if code not in known])
        return n_added, n_removed

    def permissions(self, library: AdsLibrary | str) -> dict[str, list[str]]:
        """Return the permissions of each e-mail address. Owners and admins can read them."""

        def read(answer: Any) -> dict[str, list[str]]:
            return {email: list(given) for person in answer for email, given in person.items()}

        one = self._resolve(library)
        return self._ask(f"permissions/{one.id}", read, about=one)

    def grant(self, library: AdsLibrary | str, email: str, permission: str) -> None:
        """Give a person the permission "read", "write" or "admin". ADS informs the person."""

        def refuse(_: str) -> None:
            raise InputError(f"ADS has no user {email!r}; the person must create an account first")

        if permission not in ("read", "write", "admin"):
            raise InputError(
                f"The permission must be read, write or admin, got {permission!r}; transfer a "
                "library to another owner on the ADS website"
            )
        one, sent = self._resolve(library), {"email": email, "permission": {permission: True}}
        self._ask(f"permissions/{one.id}", lambda _: None, about=one, on={404: refuse}, json=sent)

    def documents(self, bibcodes: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield the ADS documents of papers, one per paper. ADS permits 100 requests a day."""
        wanted, seen, found = _unique(bibcodes), set[str](), set[str]()
        for document in self._search(wanted, ADS_FIELDS):
            found |= {document["bibcode"], *document.get("identifier", ())}
            if document["bibcode"] not in seen:
                seen.add(document["bibcode"])
                yield document
        self._report([code for code in wanted if code not in found])

    def _resolve(self, library: AdsLibrary | str) -> AdsLibrary:
        return library if isinstance(library, AdsLibrary) else self.find(library)

    def _create(self, name: str, description: str, *, public: bool) -> str:
        """Create an empty library, and return its id."""

        def owned() -> list[AdsLibrary]:
            known = self.libraries()
            return [one for one in known if (one.name, one.permission) == (name, "owner")]

        created, sent = "", {"name": name, "description": description, "public": public}
        if not owned():
            created = self._ask("libraries", itemgetter("id"), on={409: lambda _: ""}, json=sent)
            # The name was free, so an attempt whose reply was lost has created this library.
            created = created or "".join(one.id for one in owned() if one.n_papers == 0)
        if not created:
            raise InputError(
                f"You already have an ADS library {name!r}; choose another name, or change that "
                "library with `add` or `synchronise`"
            )
        return created

    def _change(self, library: AdsLibrary, action: str, codes: list[str]) -> tuple[int, list[str]]:
        """Add or remove papers; return their number, and the bibcodes that were not accepted."""
        n_changed, others, path = 0, list[str](), f"documents/{library.id}"
        for chunk in _chunks(codes):
            sent = {"bibcode": chunk, "action": action}
            read, on = partial(_read_change, chunk), {400: _read_rejected}
            n, rejected = self._ask(path, read, about=library, on=on, json=sent)
            n_changed, others = n_changed + n, others + rejected
        return n_changed, others

    def _replace_old_bibcodes(self, library: AdsLibrary) -> None:
        """Let ADS replace old bibcodes, which it does in the pages that are read without `raw`."""
        path, seen, found, n_replaced = f"libraries/{library.id}", set[str](), 1, 0
        while len(seen) < found:
            params = {"start": str(len(seen)), "rows": str(_MAX_ROWS), "sort": "bibcode asc"}
            codes, found, n = self._ask(path, _read_updates, about=library, params=params)
            n_replaced += n
            if codes <= seen:
                break  # the search failed, or a page is repeated
            seen |= codes
        if n_replaced:
            old = count(n_replaced, "old bibcode")
            self._notify(f"ADS replaced {old} in the library {library.name!r} by new ones")

    def _new_bibcodes(self, bibcodes: list[str]) -> dict[str, str]:
        """Return the present bibcode of each bibcode that ADS knows."""
        wanted, known = set(bibcodes), dict[str, str]()
        for document in self._search(bibcodes, ("bibcode", "alternate_bibcode")):
            names = {document["bibcode"], *document.get("alternate_bibcode", ())}
            known |= dict.fromkeys(names & wanted, document["bibcode"])
        return known

    def _search(self, bibcodes: list[str], fields: Sequence[str]) -> Iterator[dict[str, Any]]:
        fixed = {"q": "*:*", "fq": "{!bitset}", "fl": ",".join(fields), "sort": "id asc"}
        for chunk in _chunks(bibcodes):
            start, found = 0, 1
            while start < found:
                page = self._client.request(
                    f"{self._client.base_url}/search/bigquery",
                    params={**fixed, "start": str(start), "rows": str(_MAX_ROWS)},
                    csv="\n".join(["bibcode", *chunk]),
                    read=lambda reply: _ads._read_page(reply, "bigquery"),
                    accept=frozenset({400}),
                )
                yield from (document for document in page.docs if document.get("bibcode"))
                start, found = (
                    start + len(page.docs),
                    min(page.found, len(chunk)) if page.docs else 0,
                )

    def _report(self, bibcodes: list[str], reason: str = "ADS does not know") -> None:
        self.unknown = bibcodes
        if bibcodes:
            self._notify(f"{reason} {count(len(bibcodes), 'bibcode')}: {join_names(bibcodes)}")

    def _ask(
        self,
        path: str,
        read: Callable[[Any], T],
        *,
        about: AdsLibrary | str = "",
        on: Mapping[int, Callable[[str], T]] | None = None,
        **request: Any,
    ) -> T:
        """Send a request about a library. The functions of `on` read refusals, by status."""

        def take(reply: Reply) -> T:
            refuse_web_page(reply, "ADS", "JSON")
            if reply.status in _REFUSALS:
                text = _error_text(reply.content)
                if on and reply.status in on:
                    return on[reply.status](text)
                raise _refusal(reply.status, text, about)
            return _parse(reply.content, read)

        url = f"{self._client.base_url}/biblib/{path}"
        return self._client.request(url, read=take, accept=_REFUSALS, **request)


def _parse(content: bytes, read: Callable[[Any], T]) -> T:
    try:
        return read(orjson.loads(content))
    except orjson.JSONDecodeError as error:
        raise GarbledReplyError("its JSON is damaged or incomplete") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise GarbledReplyError("its response is not that of the libraries service") from error


def _error_text(content: bytes) -> str:
    try:
        return str(orjson.loads(content)["error"])
    except (KeyError, TypeError, ValueError):
        return content.decode(errors="replace")[:300]


def _refusal(status: int, text: str, about: AdsLibrary | str) -> Exception:
    """Return the exception for a refused request, with a sentence about the library."""
    name, reason = about if isinstance(about, str) else about.name, text.rstrip(".")
    what = f"the library {name!r}" if name else "your libraries"
    if status == 403:
        rights = "ask its owner for the permission"
        if isinstance(about, AdsLibrary):
            rights = f"your permission is {about.permission!r}, and its owner is {about.owner}"
        return RemoteError(f"ADS does not permit this for {what} ({reason}); {rights}")
    hint = "check the arguments"
    if status in {404, 410}:
        hint = "it was deleted, or its id is wrong; list the libraries with `libraries`"
    return InputError(f"ADS refuses a request about {what} ({reason}); {hint}")


def _read_all(page: Callable[[int], _Page[T]], what: str) -> list[T]:
    """Read the pages of a list. If the list changes meanwhile, start again."""
    for _ in range(_MAX_READINGS):
        items, total, version = page(0)
        found, n_read, n_before, present = dict.fromkeys(items), len(items), 0, version
        while n_before < len(found) < total and present == version:
            n_before = len(found)
            items, _, present = page(n_read)
            found |= dict.fromkeys(items)
            n_read += len(items)
        if len(found) == total and present == version:
            return list(found)
    raise RemoteError(f"The {what} changed in ADS while it was read; {RUN_AGAIN}")


def _to_library(one: Mapping[str, Any]) -> AdsLibrary:
    text = {key: str(value) for key, value in one.items()}
    n_papers, is_public = int(one["num_documents"]), bool(one["public"])
    rights = text["permission"], text["owner"], text["date_last_modified"]
    return AdsLibrary(text["id"], text["name"], text["description"], n_papers, is_public, *rights)


def _read_updates(answer: Any) -> tuple[set[str], int, int]:
    """Return the papers of a page, and the numbers of found papers and replaced bibcodes."""
    if not isinstance(answer["solr"], dict):  # a sentence if the search failed
        return set(), 0, 0
    found = int(answer["solr"]["response"]["numFound"])
    return set(answer["documents"]), found, int(answer["updates"].get("num_updated", 0))


def _read_library(answer: Any) -> AdsLibrary:
    return _to_library(answer["metadata"])


def _read_change(chunk: list[str], answer: Any) -> tuple[int, list[str]]:
    if "number_added" in answer:
        # The documentation and the service have different names for the rejected bibcodes.
        rejected = answer.get("invalid_identifiers") or answer.get("invalid_bibcodes") or []
        return int(answer["number_added"]), list(rejected)
    n, removed = int(answer["number_removed"]), set(answer.get("bibcodes") or ())
    return n, [code for code in chunk if n < len(chunk) and code not in removed]


def _read_rejected(text: str) -> tuple[int, list[str]]:
    """Read the refusal to add bibcodes if some are rejected and all others are there already."""
    _, mark, rejected = text.partition("invalid_bibcodes:")
    if not mark:
        raise InputError(f"ADS refuses to change the library ({text.rstrip('.')}); check its id")
    return 0, re.findall(r"'([^']+)'", rejected)


def _unique(bibcodes: Iterable[str]) -> list[str]:
    """Return bibcodes without spaces around them and without repetitions."""
    if isinstance(bibcodes, str):
        raise InputError(f"Bibcodes must be a list, got the text {bibcodes!r}; pass [{bibcodes!r}]")
    codes = [code.strip() for code in bibcodes]
    for code in codes:
        if len(code.split()) != 1:
            raise InputError(
                f"{code!r} is not a bibcode, such as '2024ApJ...960....1S'; correct it"
            )
    return list(dict.fromkeys(codes))


def _chunks(bibcodes: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(bibcodes), _MAX_ROWS):
        yield bibcodes[start : start + _MAX_ROWS]
