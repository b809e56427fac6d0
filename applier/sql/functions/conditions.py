"""Conditions over whole columns: comparisons and logic.

A condition is NULL where an operand is, except for AND, OR and `<=>`. Source: MySQL manual, "Comparison Functions and
Operators", "Logical Operators"; judged by both servers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, NUMBERS, TEMPORAL
from applier.sql.casting.texts import WIDE
from applier.sql.functions.arithmetic import doubles
from applier.sql.functions.collated import in_any_collation
from applier.sql.functions.compared_forms import (
    check_near_zero,
    comparable_numbers,
    comparable_texts,
    nearly_equal,
    with_years,
    without_century,
)
from applier.sql.functions.date_comparisons import check_written_clocks, comparable_dates
from applier.sql.functions.json_documents.document_comparisons import in_order_of_documents
from applier.sql.nodes import Call, nodes_of
from applier.sql.values import (
    DOUBLE,
    Arguments,
    Compute,
    Function,
    Value,
    as_bytes,
    as_number,
    as_truth,
    together,
    truth,
)


def _logic(function: Compute) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if session.flavour == "mysql":
            check_near_zero(arguments)
        elif call.name == "XOR" and any(_has_fraction(as_number(value, session)) for value in arguments):
            raise NotComputable("XOR of numbers with a fraction")  # which MariaDB 10.5 rounds, and 10.11 does not
        wide = together([replace(value, values=as_truth(value, session)) for value in arguments], n)
        return truth(function(*wide), constant=all(value.constant for value in arguments))

    return computed


def _has_fraction(found: pa.Array) -> bool:
    return not pa.types.is_integer(found.type) and bool(pc.any(pc.not_equal(pc.round(found, 0), found)).as_py())


def _is_null(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if value.values.null_count and any(
            isinstance(node, Call) and node.name == "REPLACE_ORACLE" for node in nodes_of(call)):
        raise NotComputable("REPLACE in sql_mode ORACLE IS NULL, which MariaDB has as never true of a NOT NULL column")
    return truth(value.values.is_null(), constant=value.constant)


def compared(function: Compute, *, by_operator: bool = False) -> Function:
    """Return the function of SQL that compares two values by `function`, in the form in which servers compare them.
    `by_operator`: as an operator compares them, whatever the call is."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        of_document = session.flavour == "mysql" and call.name in _OPERATORS and call.arguments and sum(
            value.type.base == "json" for value in arguments) == 1 and any(value.is_text for value in arguments)
        arrays = in_order_of_documents(arguments, session, n) if of_document else \
            _comparable(arguments, call.name, session, n)
        is_list_of_one = call.name == "IN" and len(call.arguments) == 2
        if by_operator or is_list_of_one or (call.name in _OPERATORS and call.arguments):
            arrays = nearly_equal(arguments, arrays, session)
        return truth(function(*arrays), constant=all(value.constant for value in arguments))

    return in_any_collation(computed)


_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
"""Comparisons that MySQL does by documents; CASE and BETWEEN of one do otherwise (seen on 9.7)."""


def _comparable(arguments: Arguments, name: str, session: Session, n: int) -> list[pa.Array]:
    """Two values in the form in which they are compared: as numbers, as datetimes, or text by its collation, for
    equality only."""
    left, right = arguments
    if left.is_null or right.is_null:
        if name == "<=>":  # whether both are
            return [array.is_null() for array in together(arguments, n)]
        return [pa.nulls(n, pa.int64())] * 2
    texts = [value.is_text or value.type.base in MEMBERS for value in arguments]
    days = [value.type.base in TEMPORAL for value in arguments]
    if all(texts):
        return comparable_texts(arguments, name, session, n)
    if any(days):
        return comparable_dates(arguments, name, session, n)
    if any(value.type.base in BINARY for value in arguments) and all(
            value.type.base in BINARY or is_text for value, is_text in zip(arguments, texts, strict=True)):
        return together([replace(value, values=as_bytes(value, session)) for value in arguments], n)
    of_numbers = sum(value.type.base in NUMBERS for value in arguments) == len(arguments) - 1
    if any(value.type.base in ("json", "geometry") or (
            pa.types.is_binary(value.values.type) and not (value.constant and value.is_loose) and not of_numbers)
           for value in arguments):
        raise NotComputable("documents or bytes compared")
    return comparable_numbers(with_years(arguments, session), session, n)


def _null_safe_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    same = pc.equal(left, right)
    return pc.if_else(same.is_valid(), same, pc.and_(left.is_null(), right.is_null()))


_FOUR_DIGITS = re.compile("[0-9]{4}")


def _in(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    first, *others = arguments
    _check_text_among_dates(arguments, session)
    if session.flavour == "mysql" and len(others) > 1 and first.type.base == "year":
        if all(value.is_text for value in others) and any(
                value.constant and not _FOUR_DIGITS.fullmatch(str(value.values[0].as_py())) for value in others):
            raise NotComputable("a YEAR in a list of texts")
        first = without_century(first, session)
    others = [without_century(value, session) for value in others]
    if first.type.base == "year" and not all(value.constant for value in others):
        first = without_century(first, session)
    elif first.type.base == "year" and len({value.type.base for value in others}) > 1:
        raise NotComputable("a YEAR in a list of values of several types")
    found = [compared(pc.equal)([first, other], call, session, n) for other in others]
    return _logic(lambda *arrays: reduce(pc.or_kleene, arrays))(found, call, session, n)


def _check_text_among_dates(arguments: Arguments, session: Session) -> None:
    """Raise NotComputable for text in IN and BETWEEN of dates and other text, all of which MySQL reads as dates, except
    beside constants in a wide set."""
    first, *others = arguments
    are_dates = {value.type.base in TEMPORAL for value in others}
    is_by_text = first.type.charset in WIDE and all(value.constant for value in others)
    if session.flavour == "mysql" and first.is_text and len(are_dates) > 1 and not is_by_text:
        raise NotComputable("text compared with dates and other values at once")


def _check_bounds(arguments: Arguments) -> None:
    """Raise NotComputable for dates and times in BETWEEN whose bounds are of two kinds: each decides how all are
    compared."""
    kinds = ["time" if value.type.base == "time" else "day" if value.type.base in TEMPORAL else
             "number" if value.type.base in NUMBERS else "text" for value in arguments]
    if {"day", "time"} & {*kinds} and kinds[1] != kinds[2] and not any(value.is_null for value in arguments):
        raise NotComputable("BETWEEN of dates and other values")


def _between(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, *bounds = arguments
    if value.type.base == "year":
        if any(bound.type.base in TEMPORAL for bound in bounds):
            raise NotComputable("a YEAR between dates")
        bounds = [with_years([value, bound], session)[1] for bound in bounds]
    value, low, high = arguments = [without_century(one, session) for one in (value, *bounds)]
    check_written_clocks(arguments, session)
    _check_text_among_dates(arguments, session)
    _check_bounds(arguments)
    are_texts = [one.is_text or one.type.base in MEMBERS | BINARY for one in arguments]
    if any(are_texts) and any(one.type.base in NUMBERS for one in arguments):  # all are compared as numbers then
        value, low, high = (Value(doubles(one, session), DOUBLE, one.constant) if is_text else one
                            for one, is_text in zip(arguments, are_texts, strict=True))
    sides = [FUNCTIONS[name]([value, bound], Call(name), session, n) for name, bound in ((">=", low), ("<=", high))]
    return _logic(pc.and_kleene)(sides, call, session, n)


FUNCTIONS: dict[str, Function] = {
    "AND": _logic(pc.and_kleene), "OR": _logic(pc.or_kleene), "NOT": _logic(pc.invert), "XOR": _logic(pc.xor),
    "ISNULL": _is_null, "=": compared(pc.equal), "<>": compared(pc.not_equal), "<": compared(pc.less),
    "<=": compared(pc.less_equal), ">": compared(pc.greater), ">=": compared(pc.greater_equal),
    "<=>": compared(_null_safe_equal), "IN": _in, "BETWEEN": _between,
}
DECIDED_BY = {"AND": False, "OR": True}
"""The truth of an operand that is also that of the whole, whatever the other operand is."""
