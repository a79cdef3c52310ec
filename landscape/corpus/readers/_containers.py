"""Readers of JSON, of lines with tags (RIS, EndNote, PubMed, Web of Science) and of XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from landscape.corpus.readers._files import (
    MAX_RECORD,
    checked,
    first_objects,
    is_ads_reply,
    open_input,
    raw_records,
)
from landscape.corpus.readers._formats import Format, fields_of
from landscape.corpus.records import RawRecord, Rejection
from landscape.errors import InputError, require

Records = Iterator[RawRecord | Rejection]
OnBytes = Callable[[int], None] | None


@dataclass(frozen=True)
class JsonReader:
    """Reader of files with one JSON object per paper, and of replies with an array of them."""

    form: Format

    @property
    def name(self) -> str:
        """Name of the format."""
        return self.form.name

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002 - part of the protocol
        """Return whether the file or one of its first objects has the names of this format."""
        if self.name == "ads" and is_ads_reply(head):
            return True
        if self.name == "scilit" and head.lstrip()[:1] in (b"{", b"["):
            return b'"Abstract_Parsed"' in head or any(map(self.form.marks, first_objects(head)))
        return any(map(self.form.marks, first_objects(head)))

    def read(self, path: Path, *, on_bytes: OnBytes = None) -> Records:
        """Yield the papers of the file as records."""

        def record_of(line: int, found: dict[str, Any]) -> RawRecord:
            return RawRecord(line, fields_of(found, self.form))

        return checked(path, raw_records(path, record_of, on_bytes=on_bytes))


@dataclass(frozen=True)
class TaggedReader:
    """Reader of lines that begin with a tag. A tag can be repeated, and a value continued."""

    form: Format

    @property
    def name(self) -> str:
        """Name of the format."""
        return self.form.name

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002 - part of the protocol
        """Return whether most of the first lines have tags, and one begins a record."""
        lines = head[:65536].decode("utf-8", "replace").splitlines()[:100]
        matches = [match for line in lines if line.strip() and (match := self._match(line))]
        return len(matches) > 1 and any(match[1] == self.form.options["start"] for match in matches)

    def read(self, path: Path, *, on_bytes: OnBytes = None) -> Records:
        """Yield the papers of the file as records."""
        return checked(path, self._records(path, on_bytes))

    def _match(self, line: str) -> re.Match[str] | None:
        return re.fullmatch(self.form.options["pattern"], line.rstrip())

    def _records(self, path: Path, on_bytes: OnBytes) -> Records:
        start, end = self.form.options["start"], self.form.options.get("end")
        with open_input(path, on_bytes=on_bytes) as stream:
            entry: dict[str, Any] = {}
            values: list[str] | None = None
            begin = number = 0
            while raw := stream.readline(MAX_RECORD):
                number += 1
                line = raw.decode("utf-8", "replace").lstrip("\ufeff")
                match = self._match(line)
                if match is None:
                    if values and line.strip():  # a value continues
                        values[-1] += f"\n{line.strip()}"
                    continue
                if match[1] in (start, end):
                    if start in entry:
                        yield self._record(begin, entry, is_ended=match[1] == end or end is None)
                    entry, begin = {}, number
                values = entry.setdefault(match[1], [])
                values.append((match[2] or "").strip())
            if start in entry:
                yield self._record(begin, entry, is_ended=end is None)

    def _record(self, line: int, entry: dict[str, Any], *, is_ended: bool) -> RawRecord:
        end = self.form.options.get("end")
        repairs = () if is_ended else (f"the line {end} at the end of the record is missing",)
        entry = {tag: [value for value in values if value] for tag, values in entry.items()}
        single = {tag: v[0] if len(v) == 1 else v for tag, v in entry.items() if v}
        for tag in self.form.names["abstract"]:  # several paragraphs
            if isinstance(text := single.get(tag.upper()), list):
                single[tag.upper()] = " ".join(text)
        for tag in self.form.names["authors"]:  # one name, not two family names
            text = single.get(tag.upper())
            if isinstance(text, str) and text.count(",") == 1 and ";" not in text:
                single[tag.upper()] = [text]
        return RawRecord(line, fields_of(single, self.form), repairs=repairs)


@dataclass(frozen=True)
class XmlReader:
    """Reader of XML files. Entities are not expanded, and nothing is loaded from elsewhere."""

    form: Format

    @property
    def name(self) -> str:
        """Name of the format."""
        return self.form.name

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002 - part of the protocol
        """Return whether the beginning of the file contains an element of a record."""
        opening = rb"<(?:\w+:)?%s[\s>]" % self.form.options["records"].encode()
        contains = self.form.options.get("contains", "").encode()
        return (
            head.lstrip()[:1] == b"<"
            and re.search(opening, head) is not None
            and re.search(contains, head) is not None
        )

    def read(self, path: Path, *, on_bytes: OnBytes = None) -> Records:
        """Yield the papers of the file as records."""
        return checked(path, self._records(path, on_bytes))

    def _records(self, path: Path, on_bytes: OnBytes) -> Records:
        etree = require("lxml.etree", "fetch")
        with open_input(path, on_bytes=on_bytes) as stream:
            first = stream.peek(1000)[:1000]
            if found := re.match(rb"\s*<\?xml[^>]*\?>\s*", first):  # the text is UTF-8 by now
                stream.read(found.end())
            elements = etree.iterparse(
                stream,
                tag=(f"{{*}}{self.form.options['records']}", self.form.options["records"]),
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                recover=True,
                encoding="utf-8",
            )
            n_records = 0
            try:
                for _, element in elements:
                    n_records += 1
                    for style in element.iter("style"):  # EndNote
                        if (face := style.get("face")) in ("superscript", "subscript"):
                            style.tag = face[:3]
                            style.attrib.clear()
                    etree.strip_tags(element, "style")
                    value = _xml_value(element, etree)
                    line = element.sourceline or 0
                    element.clear()
                    while element.getprevious() is not None:  # free the records before this one
                        del element.getparent()[0]
                    if isinstance(value, dict):
                        yield RawRecord(line, fields_of(value, self.form))
            except etree.XMLSyntaxError as error:
                raise _damaged(path, error) from error
            if not n_records:
                raise _damaged(path, "no record is complete")


def _damaged(path: Path, why: object) -> InputError:
    return InputError(f"{path} is damaged XML ({str(why)[:120]}). Download or export it again.")


_MAX_DEPTH = 30
#: Elements inside a text.
_INLINE = {"i", "b", "u", "sub", "sup", "em", "italic", "bold", "p", "sec", "title"}


def _xml_value(element: Any, etree: Any, depth: int = 0) -> Any:
    """Convert an element to its text, or to an object of its children and attributes."""
    children = [child for child in islice(element, 10_000) if isinstance(child.tag, str)]
    texts = [element.text, *(child.tail for child in children)]
    names = [etree.QName(child).localname for child in children]
    is_mixed = bool(children) and any(text and text.strip() for text in texts)
    if depth >= _MAX_DEPTH or is_mixed or (names and set(names) <= _INLINE - {"title"}):
        inner = [etree.tostring(child, encoding="unicode") for child in children]
        return f"{element.text or ''}{''.join(inner)}".strip()
    value: dict[str, Any] = {
        f"@{etree.QName(name).localname}": text for name, text in element.attrib.items()
    }
    if not children:
        return (element.text or "").strip() or value
    for name, child in zip(names, children, strict=True):
        one = _xml_value(child, etree, depth + 1)
        if isinstance(one, str) and (kind := child.get("name")):
            value[f"{name}@name"] = kind
        if one in ("", {}):
            continue
        if name in value:
            value[name] = [*(v if isinstance(v := value[name], list) else [v]), one]
        else:
            value[name] = one
    return value


CONTAINERS: dict[str, Callable[[Format], Any]] = {
    "json": JsonReader,
    "tagged": TaggedReader,
    "xml": XmlReader,
}
"""Readers of formats that are tables of names, by container."""
