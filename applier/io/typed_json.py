"""JSON from outside as dataclasses: `build` accepts values that have each field's type, and nothing else; `plain` is
the way back.

The types are the annotations: str, int, float, bool, bytes (as hex), None, Any, Literal, unions, tuple[X, ...],
tuple[X, Y], list[X], dict[K, X], dataclasses, and Annotated[X, check, …], where a check is a function that returns an
error about a value, or "". A field with a default may be missing; a field that the class does not have is an error. A
class may have a method `complaint`, which returns an inconsistency between its fields, or "".
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from applier.errors import ApplierError

_T = TypeVar("_T")
_SHOWN = 40
"""Characters of a value that an error shows."""

_LISTS = (list, tuple)
"""As a JSON parser gives them, and as dataclasses.asdict does."""
Check = Callable[[Any], str]
"""A check: returns an error about a value, "" for none."""
_Parser = Callable[[Any], Any]


class Mismatch(ValueError):
    """A value that does not have its type. `path` leads to it from the document, as in "tables[3].files[0].rows"."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what, self.path = what, ""

    def within(self, step: str) -> Mismatch:
        """The same mismatch with `step` in front of its path."""
        self.path = step + ("." if self.path and not self.path.startswith("[") else "") + self.path
        return self

    def __str__(self) -> str:
        return f"{self.path} {self.what}" if self.path else self.what


def build(kind: type[_T], value: Any) -> _T:
    """Convert `value`, as a JSON parser or dataclasses.asdict returns it, to type `kind`. Raises Mismatch."""
    built: _T = _parser(kind)(value)
    return built


def plain(value: object) -> Any:
    """The inverse of `build`, of dataclasses, tuples and scalars: the result of dataclasses.asdict, which copies
    scalars and takes several times as long."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    kind: Any = type(value)
    names = _names(kind)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    return str(value) if isinstance(value, str) else value  # without what a subclass keeps beside the text


@cache
def _names(kind: type) -> tuple[str, ...] | None:
    """A dataclass's fields; None for another class."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


def between(low: int, high: int) -> Check:
    """A check that a number is from `low` to `high`."""
    return lambda value: "" if low <= value <= high else f"is {value}, which is not from {low} to {high}"


Count = Annotated[int, between(0, 2**63 - 1)]
"""A count: an integer of at least 0."""
Seconds = Annotated[int, between(0, 253402300799)]
"""Since 1970 UTC, up to the year 9999."""


def loads(text: bytes) -> Any:
    """Parse a JSON document. Raises Mismatch if it is not JSON, or is nested too deeply."""
    import orjson

    try:
        return orjson.loads(text)
    except ValueError as error:  # also for a depth of more than 1,024, and bytes that are not UTF-8
        raise Mismatch(f"is not JSON: {error}") from error


def _parser(kind: Any) -> _Parser:
    """The function that converts JSON to a type."""
    return _new_parser(kind)


@cache
def _new_parser(kind: Any) -> _Parser:
    if kind is Any:
        return lambda value: value
    if kind is None or kind is type(None):
        return _none
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _checked(_parser(arguments[0]), arguments[1:])
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, types.UnionType):
        return _any_of(tuple(_parser(part) for part in arguments if part is not types.NoneType),
                       types.NoneType in arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _fixed(tuple(map(_parser, arguments)))
    if origin in (tuple, list):
        return _array(_parser(arguments[0]), origin)
    if origin is dict:
        return _members(*map(_parser, arguments))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _object(kind)
    raise TypeError(f"JSON has no {kind}")


def _none(value: Any) -> None:
    if value is not None:
        raise Mismatch(f"is {_shown(value)}, not null")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Mismatch(f"is {_shown(value)}, not text")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise Mismatch(f"is {_shown(value)}, not a whole number of 64 bits")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise Mismatch(f"is {_shown(value)}, not a number")
    number: float = value
    return number


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise Mismatch(f"is {_shown(value)}, not true or false")
    return value


def _hex(value: Any) -> bytes:
    try:
        return bytes.fromhex(_text(value))
    except ValueError:
        raise Mismatch(f"is {_shown(value)}, not bytes as hexadecimal digits") from None


_PLAIN: dict[Any, _Parser] = {str: _text, int: _whole, float: _number, bool: _flag, bytes: _hex}


def _checked(parse: _Parser, checks: tuple[Check, ...]) -> _Parser:
    def checked(value: Any) -> Any:
        parsed = parse(value)
        for check in checks:
            if complaint := check(parsed):
                raise Mismatch(complaint)
        return parsed
    return checked


def _one_of(choices: tuple[Any, ...]) -> _Parser:
    def one_of(value: Any) -> Any:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            raise Mismatch(f"is {_shown(value)}, not one of {', '.join(map(str, choices))}")
        return value
    return one_of


def _any_of(parsers: tuple[_Parser, ...], or_none: bool) -> _Parser:
    def any_of(value: Any) -> Any:
        if value is None and or_none:
            return None
        mismatches = []
        for parse in parsers:
            try:
                return parse(value)
            except Mismatch as error:
                mismatches.append(error)
        raise max(mismatches, key=lambda error: len(error.path))  # the innermost
    return any_of


def _array(parse: _Parser, made: type) -> _Parser:
    def array(value: Any) -> Any:
        if type(value) not in _LISTS:
            raise Mismatch(f"is {_shown(value)}, not a list")
        number = 0
        try:
            parsed = []
            for item in value:
                parsed.append(parse(item))
                number += 1
            return made(parsed)
        except Mismatch as error:
            raise error.within(f"[{number}]") from None
    return array


def _fixed(parsers: tuple[_Parser, ...]) -> _Parser:
    def fixed(value: Any) -> tuple[Any, ...]:
        if type(value) not in _LISTS or len(value) != len(parsers):
            raise Mismatch(f"is {_shown(value)}, not a list of {len(parsers)}")
        return tuple(_inside(parse, item, f"[{number}]")
                     for number, (parse, item) in enumerate(zip(parsers, value, strict=True)))
    return fixed


def _members(parse_name: _Parser, parse: _Parser) -> _Parser:
    def members(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Mismatch(f"is {_shown(value)}, not an object")
        return {_inside(parse_name, name, "a name"): _inside(parse, item, _quoted(name))
                for name, item in value.items()}
    return members


def _object(kind: type) -> _Parser:
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    parsers = {field.name: _parser(hints[field.name]) for field in fields}
    needed = [field.name for field in fields
              if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING]
    complaint_of = getattr(kind, "complaint", None)

    def built(value: Any) -> Any:
        if type(value) is not dict:
            raise Mismatch(f"is {_shown(value)}, not an object")
        parts = {}
        name = ""
        try:
            for name, item in value.items():
                parts[name] = parsers[name](item)
        except KeyError:
            raise Mismatch(f"has a field {_quoted(name)} that this program does not know") from None
        except Mismatch as error:
            raise error.within(name) from None
        for name in needed:
            if name not in parts:
                raise Mismatch(f"has no {name}")
        try:
            made = kind(**parts)
        except ApplierError as error:  # the class checks its fields together
            raise Mismatch(error.message) from None
        if complaint_of is not None and (complaint := complaint_of(made)):
            raise Mismatch(complaint)
        return made
    return built


def _inside(parse: _Parser, value: Any, step: str) -> Any:
    try:
        return parse(value)
    except Mismatch as error:
        raise error.within(step) from None


def _quoted(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "…")


def _shown(value: Any) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
