"""Functions of several columns of values, computed once for each distinct combination of these.

A column has few distinct values where an expression is worth computing so, and a combination is found by whole columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.byte_strings import bytes_of_text
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    TEXT,
    Arguments,
    Compute,
    Function,
    Value,
    as_bytes,
    as_text,
    collation_of,
    common_charset,
    is_ascii,
    text_type,
    together,
)
from applier.sql.whole_numbers import whole_numbers

_EACH_BYTE = "latin1"
"""The character set in which every byte is a character: bytes are cut and searched as such text."""


def computed(arrays: list[pa.Array], function: Callable[..., object], kind: pa.DataType, *,
             of_nulls: bool = False) -> pa.Array:
    """The function's results for the rows of some arrays of one length; NULL where one of them is, unless it computes
    `of_nulls`."""
    first, places = _combinations(arrays)
    rows = zip(*(array.take(first).to_pylist() for array in arrays), strict=True)
    made = [function(*row) if of_nulls or None not in row else None for row in rows]
    return pa.array(made, kind).take(places)


def _combinations(arrays: list[pa.Array]) -> tuple[pa.Array, pa.Array]:
    """The first row of each distinct combination, and the number of its combination for each row."""
    codes = np.zeros(len(arrays[0]), np.int64)
    for array in arrays:
        coded = array.dictionary_encode(null_encoding="encode")
        own = np.asarray(coded.indices).astype(np.int64)
        _, codes = np.unique(codes * max(1, len(coded.dictionary)) + own, return_inverse=True)
    _, first, places = np.unique(codes, return_index=True, return_inverse=True)
    return pa.array(first), pa.array(places)


def of_values(function: Callable[..., str | None], *kinds: str) -> Function:
    """A function of texts and whole numbers, as `kinds` says ("text", "whole"); "text?" and "whole?" need not be given.
    Of bytes it computes as if each were a character, and makes bytes."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        given, made_of = _read(arguments, kinds, call, session)
        constant = all(value.constant for value in given)
        made = computed(together(given, n), function, pa.string())
        return _result(made, made_of, constant=constant)

    return called


def of_columns(function: Compute, *kinds: str) -> Function:
    """The same for a function of a whole column of text, its first argument, and of values in Python."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        given, made_of = _read(arguments, kinds, call, session)
        text, *others = given
        if all(value.constant for value in others):
            values = [value.values[0].as_py() for value in others]
            made = function(text.values, *values) if None not in values else pa.nulls(len(text.values), pa.string())
            return _result(made, made_of, constant=text.constant)
        arrays = together(given, n)
        made = _by_groups(arrays[0], arrays[1:], function)
        return _result(made, made_of, constant=False)

    return called


def _by_groups(text: pa.Array, others: list[pa.Array], function: Compute) -> pa.Array:
    """Compute the rows of each distinct combination of the others together."""
    first, places = _combinations(others)
    combinations = list(zip(*(array.take(first).to_pylist() for array in others), strict=True))
    order = np.argsort(np.asarray(places), kind="stable")
    ends = np.cumsum(np.bincount(np.asarray(places), minlength=len(combinations)))
    made = []
    for values, rows in zip(combinations, np.split(order, ends[:-1]), strict=True):
        part = text.take(pa.array(rows))
        made.append(pa.nulls(len(part), pa.string()) if None in values else function(part, *values))
    return pa.concat_arrays(made).take(pa.array(np.argsort(order, kind="stable")))


def _read(arguments: Arguments, kinds: tuple[str, ...], call: Call, session: Session) -> tuple[list[Value], Arguments]:
    """The arguments as text and whole numbers, and those that are text."""
    needed = [kind for kind in kinds if not kind.endswith("?")]
    if not len(needed) <= len(arguments) <= len(kinds):
        raise NotComputable(f"{call.name} of so many arguments")
    named = [kind.removesuffix("?") for kind in kinds]
    texts = [value for value, kind in zip(arguments, named, strict=False) if kind == "text"]
    if session.flavour == "mysql" and call.name in _OF_PLACES and _are_bytes(texts) and texts[0].is_text and not \
            is_ascii(texts[0].values):
        raise NotComputable(f"{call.name} of text that is not ASCII and bytes")  # it counts characters
    if session.flavour == "mysql" and call.name in _OF_PLACES and session.made_in == "binary" and not (
            texts[0].is_text or texts[0].type.base in BINARY) and not all(is_ascii(as_text(value, session))
                                                                          for value in texts[1:]):
        raise NotComputable(f"{call.name} of a number and text that is not ASCII in a table of bytes")
    if session.flavour == "mysql" and len(texts) > 1 and not _are_bytes(texts):  # all in that of the first one
        type_ = text_type(common_charset(texts[:1]), collation_of(texts))
        texts = [Value(as_text(texts[0], session, type_.charset), type_)]
    as_characters = partial(_characters, session=session) if _are_bytes(texts) else \
        partial(_text, session=session, charset=common_charset(texts))
    return [as_characters(value) if kind == "text" else whole_numbers(value, session)
            for value, kind in zip(arguments, named, strict=False)], texts


_OF_PLACES = frozenset({"LPAD", "RPAD", "INSERT"})


def _are_bytes(texts: Arguments) -> bool:
    return any(value.type.base in BINARY for value in texts)


def _text(value: Value, session: Session, charset: str | None) -> Value:
    return Value(as_text(value, session, charset), TEXT, value.constant)


def _characters(value: Value, session: Session) -> Value:
    return Value(to_utf8(as_bytes(value, session), _EACH_BYTE), TEXT, value.constant)


def _result(made: pa.Array, texts: Arguments, *, constant: bool) -> Value:
    if _are_bytes(texts):
        return Value(bytes_of_text(made, _EACH_BYTE), BYTES, constant)
    return Value(made, text_type(common_charset(texts), collation_of(texts)), constant)
