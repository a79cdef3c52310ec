"""What a manifest may hold: types as declared, and names that stay inside the atlas."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.atlas.manifest import Manifest

_PART_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def check_manifest(manifest: Manifest) -> None:
    """Refuse a manifest that no build can have written.

    Parameters
    ----------
    manifest : Manifest
        As it was read from a file that anybody may have written.

    Raises
    ------
    ValueError
        Saying which value is wrong. The names of parts become names of files that a build
        replaces and removes, so one that leads out of the atlas would be dangerous.

    Examples
    --------
    >>> from landscape.atlas.manifest import Manifest
    >>> check_manifest(Manifest(title=5))
    Traceback (most recent call last):
    ValueError: title is 5
    """
    _check(manifest, type(manifest), "manifest")
    names = [part.name for part in manifest.parts]
    for name in names:
        if not _PART_NAME.fullmatch(name) or names.count(name) > 1:
            raise ValueError(f"a part is named {name!r}")
    for stage in manifest.stages.values():
        for path in stage.outputs:
            _check_path(path)
    ingest = manifest.stages.get("ingest")
    ready = ingest.details.get("ready", {}) if ingest else {}
    _check(ready, dict[str, dict[str, str]], "ready")
    for brought in ready.values():
        for path in brought.values():
            _check_path(path)


def _check_path(path: str) -> None:
    pure = PurePosixPath(path)
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or re.search(r"[\\:\0]", path):
        raise ValueError(f"a file is named {path!r}")


def _check(value: Any, kind: Any, name: str) -> None:
    """Compare a value with its declared type, through dictionaries, tuples and dataclasses."""
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin is Any:
        return
    if origin is types.UnionType:  # a type or None
        if value is not None:
            _check(value, inner[0], name)
        return
    # JSON has one kind of numbers; True and False are no numbers.
    allowed: Any = (int, float) if origin is float else origin
    if not isinstance(value, allowed) or (isinstance(value, bool) and origin is not bool):
        raise ValueError(f"{name} is {value!r:.50}")
    if origin is int and value < 0:
        raise ValueError(f"{name} is {value}")
    if origin is dict:
        for key, one in value.items():
            _check(key, inner[0], name)
            _check(one, inner[1], key)
    elif origin is tuple:
        for one in value:
            _check(one, inner[0], name)
    elif dataclasses.is_dataclass(origin):
        for field, declared in typing.get_type_hints(origin).items():
            _check(getattr(value, field), declared, field)
