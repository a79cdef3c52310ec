"""Settings that are declared once, with type, default, bounds and one line of help.

The command line, the fields of panels, the schemas of MCP tools, and the signatures and docstrings
of the documented functions are made from these declarations.
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from numbers import Integral, Real
from operator import or_
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from landscape._wording import did_you_mean
from landscape.errors import InputError


def is_whole(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether a value is a finite number of Python or NumPy."""
    return isinstance(value, Real) and math.isfinite(value)


def _whole(value: object) -> object:
    if isinstance(value, str):  # of a command line or a form
        return int(value)
    if value is not None and not is_whole(value):
        raise ValueError("not a whole number")
    return value if value is None else int(value)  # type: ignore[call-overload]


def _number(value: object) -> object:
    number = float(value) if isinstance(value, str) else value
    if number is not None and not is_number(number):
        raise ValueError("not a number")
    return number if number is None else float(number)  # type: ignore[arg-type]


Whole = Annotated[int, BeforeValidator(_whole)]
"""Integer of Python or NumPy."""
Number = Annotated[float, BeforeValidator(_number)]
"""Finite number of Python or NumPy."""


class Settings(BaseModel):
    """Base class of settings. A field is declared with `pydantic.Field`.

    Raises
    ------
    InputError
        If a name is unknown or a value is invalid.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Cutout(Settings):
    ...     radius: Whole = Field(3, ge=1, le=60, description="radius in arcminutes")
    >>> Cutout(radius=0)
    Traceback (most recent call last):
    landscape.errors.InputError: radius is 0; choose a whole number from 1 to 60.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    kind: ClassVar[str] = "setting"
    subject: ClassVar[str] = "{name}"  # of the sentence about an invalid value

    def __init__(self, **given: object) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise InputError(_describe(type(self), error, given)) from None

    def replaced(self, **changes: object) -> Self:
        """Return a copy with other values, which are checked."""
        return type(self)(**{**vars(self), **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return self.model_dump(mode="json")


def field(settings: type[Settings], name: str) -> FieldInfo:
    """Return the declaration of a setting."""
    return settings.model_fields[name]


def help_of(settings: type[Settings], name: str) -> str:
    """Return the help of a setting as a sentence without a final full stop."""
    return (field(settings, name).description or "").rstrip(".")


def bounds(settings: type[Settings], name: str) -> tuple[Any, Any]:
    """Return the smallest and the largest value of a setting; None means no bound."""
    least = most = None
    for rule in field(settings, name).metadata:
        least = getattr(rule, "ge", least)
        most = getattr(rule, "le", most)
    return least, most


def choices(settings: type[Settings], name: str) -> tuple[Any, ...]:
    """Return the values of a setting that is a `Literal`; empty for other settings."""
    for kind in _kinds(field(settings, name).annotation):
        if get_origin(kind) is Literal:
            return get_args(kind)
    return ()


def _kinds(annotation: object) -> tuple[Any, ...]:
    """Return the members of a union without None, without their validators."""
    is_union = get_origin(annotation) in (Union, UnionType)
    members = get_args(annotation) if is_union else (annotation,)
    bare = [get_args(m)[0] if get_origin(m) is Annotated else m for m in members]
    return tuple(kind for kind in bare if kind is not type(None))


def _describe(settings: type[Settings], error: ValidationError, given: Mapping[str, object]) -> str:
    """Write the first problem as a sentence with the value and the values that are possible."""
    problem = error.errors(include_url=False)[0]
    own = problem.get("ctx", {}).get("error")
    if isinstance(own, InputError):
        return str(own)
    name = str(problem["loc"][0])
    if problem["type"] == "extra_forbidden":
        known = ", ".join(settings.model_fields)
        hint = did_you_mean(name, settings.model_fields)
        return f"Unknown {settings.kind} {name!r}{hint} Use one of {known}."
    value, allowed = given[name], choices(settings, name)
    if allowed:
        return f"Unknown {name} {value!r}; use one of {', '.join(map(str, allowed))}."
    subject = settings.subject.format(name=name)
    return f"{subject} is {repr(value)[:60]}; {_cure(settings, name)}."


def _cure(settings: type[Settings], name: str) -> str:
    """Describe the values that a setting may have."""
    least, most = bounds(settings, name)
    kinds = _kinds(field(settings, name).annotation)
    what = {int: "a whole number", float: "a number", bool: "True or False", str: "text"}
    chosen = next((what[kind] for kind in kinds if kind in what), None)
    if chosen is None:
        examples = field(settings, name).examples
        return f"give {examples[0]}" if examples else f"give a value of {kinds[0]}"
    if least is not None and most is not None:
        return f"choose {chosen} from {least:,} to {most:,}"
    return f"choose {chosen}" + ("" if least is None else f" of at least {least:,}")


F = TypeVar("F", bound=Callable[..., Any])


def takes_settings(settings: type[Settings], *, without: Sequence[str] = ()) -> Callable[[F], F]:
    """Show the fields of settings in the signature and the docstring of a function.

    The function takes them as ``**settings``. In its docstring, the line ``**settings`` of the
    section "Parameters" is replaced.
    """

    def shown(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        names = [n for n in settings.model_fields if n not in {*without, *signature.parameters}]
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field(settings, name).get_default(call_default_factory=True),
                annotation=bare_type(settings, name),
            )
            for name in names
        ]
        function.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        document = function.__doc__ or ""
        place = re.search(r"^( *)\*\*settings\n", document, re.MULTILINE)
        if place is not None:
            rows = "".join(_document(settings, name, place[1]) for name in names)
            function.__doc__ = document[: place.start()] + rows + document[place.end() :]
        return function

    return shown


def bare_type(settings: type[Settings], name: str) -> Any:
    """Return the type of a setting, without its validators."""
    annotation = field(settings, name).annotation
    kinds: tuple[Any, ...] = _kinds(annotation)
    optional = [None] if type(None) in get_args(annotation) else []
    return reduce(or_, [*kinds, *optional])


def _document(settings: type[Settings], name: str, indent: str) -> str:
    """Write a parameter of a docstring as numpydoc does."""
    declared, allowed = field(settings, name), choices(settings, name)
    kinds = _kinds(declared.annotation)
    names = [getattr(k, "__name__", str(k)) if get_origin(k) is None else str(k) for k in kinds]
    what = f"{{{', '.join(map(repr, allowed))}}}" if allowed else " or ".join(names)
    default = declared.get_default(call_default_factory=False)
    of_type = what.replace("collections.abc.", "").replace("pathlib.", "").replace("typing.", "")
    usual = "optional" if default in (None, ()) else f"default {default!r}"
    least, most = bounds(settings, name)
    text = f"{help_of(settings, name)}."
    if most is not None and most < 10**9:  # a larger bound is technical
        text += f" From {least:,} to {most:,}."
    lines = textwrap.wrap(text[0].upper() + text[1:], 92 - len(indent))
    return "".join(
        [f"{indent}{name} : {of_type}, {usual}\n", *(f"{indent}    {line}\n" for line in lines)]
    )
