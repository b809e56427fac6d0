"""Check arguments of public functions by their annotations: a value of the wrong type is a UsageError."""

from __future__ import annotations

import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from functools import cache, wraps
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")
_MOST_SHOWN = 80
_NAMES: dict[Any, str] = {
    str: "text", int: "a whole number", float: "a number", bool: "True or False", bytes: "bytes", type(None): "None",
    os.PathLike: "a path", Mapping: "a dict", Callable: "a function", Iterable: "a list"}


class _Unfit(Exception):
    """Raised for a value of the wrong type; `why` continues the message."""

    def __init__(self, why: str = "") -> None:
        super().__init__(why)
        self.why = why


def checked(function: Callable[P, R], flags: Mapping[str, str] = MappingProxyType({})) -> Callable[P, R]:
    """Return the function with checked arguments: it raises UsageError for an argument that does not match its
    annotation. Iterables become tuples, NumPy's numbers Python's. Defaults are not checked. `flags` are the names of
    arguments on the command line, for messages."""
    signature = inspect.signature(function)

    @cache
    def hints() -> dict[str, Any]:
        own = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
        return typing.get_type_hints(types.SimpleNamespace(__annotations__=own), inspect.unwrap(function).__globals__)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            default = signature.parameters[name].default
            is_default = value is default or (type(value) is type(default) and value == default)
            if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                given.arguments[name] = _named(function.__name__, value, typing.get_args(hints()[name])[0])
            elif name in hints() and not is_default:
                given.arguments[name] = _fitted(flags.get(name) or f"`{name}`", value, hints()[name])
        return function(*given.args, **given.kwargs)

    return call


def _named(function: str, given: dict[str, Any], kinds: type) -> dict[str, Any]:
    """Return arguments by the names of a TypedDict. Raises TypeError for others, as Python does."""
    hints = typing.get_type_hints(kinds)
    if unknown := [name for name in given if name not in hints]:
        raise TypeError(f"{function}() got an unexpected keyword argument {unknown[0]!r}")
    return {name: _fitted(f"`{name}`", value, hints[name]) for name, value in given.items()}


def _fitted(name: str, value: Any, hint: Any) -> Any:
    """Return the value as the function receives it. Raises UsageError, which names the argument `name`."""
    try:
        return _fit(value, hint)
    except _Unfit as unfit:
        raise UsageError(f"{name} cannot be {shown(value)}{unfit.why}", hint=_advice(value, hint)) from None


def shown(value: object) -> str:
    """Return a value for a message: its repr if that is short, else its type."""
    try:
        text = repr(value)
    except Exception:  # of any class that a caller may pass, or a number with too many digits
        text = ""
    return text if 0 < len(text) <= _MOST_SHOWN else f"a value of type {type(value).__name__}"


def _advice(value: Any, hint: Any) -> str:
    """Return the hint for a wrong value: what to give instead."""
    kinds = list(_kinds(hint))
    if datetime in kinds and isinstance(value, date) and not isinstance(value, datetime):
        return "a date does not name one time of that day: give a datetime, as datetime(2026, 3, 14, tzinfo=UTC)"
    if datetime in kinds and isinstance(value, Real):
        return "a number may be a position or a time: give (FILE, POS), or datetime.fromtimestamp(…, UTC)"
    if isinstance(value, bytes) and str in kinds:
        return "decode it: give text"
    if isinstance(value, str) and value and Iterable in kinds and str not in kinds:
        return "give a list of texts, as [\"…\"]"
    names = list(dict.fromkeys(_name_of(kind) for kind in kinds if kind is not type(None)))
    return "it takes " + (f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0])


def _name_of(kind: Any) -> str:
    """Return the name of one of `_kinds`."""
    if isinstance(kind, str):
        return kind
    if kind in _NAMES:
        return _NAMES[kind]
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _kinds(hint: Any) -> Iterable[Any]:
    """Yield the types of a hint: each member of a union, the values of a Literal as text, and generic types without
    their arguments."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        for part in typing.get_args(hint):
            yield from _kinds(part)
    elif origin is Literal:
        yield from map(repr, typing.get_args(hint))
    elif origin is tuple:
        inner = typing.get_args(hint)
        is_position = inner == (str, int)
        yield "(FILE, POS)" if is_position else "a tuple"
    elif origin is None:
        yield hint
    else:
        yield next((kind for kind in (os.PathLike, Callable, Mapping) if origin is kind), Iterable)


def _fit(value: Any, hint: Any) -> Any:
    """Return the value, converted to a type if that is lossless. Raises _Unfit."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in (Any, object):
        return value
    if origin in (typing.Union, types.UnionType):
        return _fit_one(value, inner)
    if origin is Literal:
        if isinstance(value, str) and value in inner:
            return value
    elif origin is tuple:
        return _fit_tuple(value, inner)
    elif origin is list:
        if isinstance(value, list):
            return [_fit(one, inner[0]) for one in value]
    elif origin is os.PathLike:
        if isinstance(value, os.PathLike) and isinstance(path := os.fspath(value), str) and "\0" not in path:
            return value
    elif origin is not None and issubclass(origin, Mapping):
        if isinstance(value, Mapping):
            return {_fit(key, inner[0]): _fit(one, inner[1]) for key, one in value.items()}
    elif origin is not None and issubclass(origin, Iterable):
        return _fit_all(value, inner[0])
    elif origin is not None:
        if callable(value) and not isinstance(value, type):
            return value
    else:
        return _fit_plain(value, hint)
    raise _Unfit()


def _fit_one(value: Any, inner: tuple[Any, ...]) -> Any:
    """Return the value as one of the types of a union. A column's value, which may be bytes, is checked where the
    column's type is known. The empty text is a GTID set without transactions."""
    if bytes in inner:
        return value
    if isinstance(value, str) and str in inner:
        is_path = any(typing.get_origin(one) is os.PathLike for one in inner)
        if GtidSet in inner and not is_path:
            return value
        if is_path and "\0" in value:
            raise _Unfit()
        return _fit_plain(value, str)
    why = ""
    for one in inner:
        try:
            return _fit(value, one)
        except _Unfit as unfit:
            why = why or unfit.why
    raise _Unfit(why)


def _fit_tuple(value: Any, inner: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise _Unfit()
    if Ellipsis in inner:
        return tuple(_fit(one, inner[0]) for one in value)
    if len(value) != len(inner):
        raise _Unfit()
    return tuple(_fit(one, kind) for one, kind in zip(value, inner, strict=True))


def _fit_all(value: Any, kind: Any) -> tuple[Any, ...]:
    """Return the values of an iterable, each converted to a type. Text and dicts do not count as iterables."""
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping):
        raise _Unfit()
    try:
        values = tuple(value)
    except TypeError:
        raise _Unfit() from None
    for one in values:
        try:
            _fit(one, kind)
        except _Unfit as unfit:
            raise _Unfit(unfit.why or f": it has {shown(one)}") from None
    return tuple(_fit(one, kind) for one in values)


def _fit_plain(value: Any, kind: Any) -> Any:
    """Return the value as an instance of a class. NumPy's numbers become Python's."""
    if kind is bool:
        if isinstance(value, bool | np.bool_):
            return bool(value)
    elif kind is int:
        if isinstance(value, Integral) and not isinstance(value, bool):
            return int(value)
    elif kind is float:
        if isinstance(value, Real) and not isinstance(value, bool):
            return float(value) if _is_finite(value) else _refuse()
    elif kind is str:
        if isinstance(value, str):
            return value if value else _refuse(", which is empty")
    elif value is None if kind is type(None) else isinstance(value, kind):
        return value
    raise _Unfit()


def _is_finite(value: Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # of an integer
        return False


def _refuse(why: str = "") -> Any:
    raise _Unfit(why)
