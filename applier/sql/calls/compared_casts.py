"""Casts to dates and times as MariaDB compares them: what is not a date compares as zero, though its cast is NULL.

Judged by MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.types import TEMPORAL, arrow_type
from applier.mysql.values import zero_dates
from applier.sql.nodes import Call, Node
from applier.sql.values import Value, together

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "IN", "BETWEEN", "SIMPLE CASE", "GREATEST", "LEAST"})
_CHOOSING = frozenset({"CASE", "SIMPLE CASE", "IF", "NULLIF"})
_CASTS = frozenset({"DATE", "TIME", "TIMESTAMP"})


def as_compared(call: Call, arguments: list[Value], value: Callable[[Node], Value], n: int) -> list[Value]:
    """The arguments of a call for n rows, with zero for each cast that is NULL because of what it casts; `value`
    evaluates that. Raises NotComputable for such a cast that a function has chosen."""
    if call.name not in _COMPARISONS:
        return arguments
    if any(isinstance(node, Call) and node.name in _CHOOSING and any(_cast_of(one) is not one for one in node.arguments)
           and argument.type.base in TEMPORAL and argument.values.null_count
           for node, argument in zip(call.arguments, arguments, strict=True)):
        raise NotComputable("a chosen date that may be NULL because of what it casts, compared")
    return [_or_zero(argument, value(given), n)
            if given is not node and argument.type.base in TEMPORAL and argument.values.null_count else argument
            for node, given, argument in zip(call.arguments, map(_cast_of, call.arguments), arguments, strict=True)]


def _cast_of(node: Node) -> Node:
    """What is cast to a date or a time, by however many casts; the node itself if it is no such cast."""
    while isinstance(node, Call) and len(node.arguments) == 1 and (
            node.name in _CASTS or (node.name == "CAST" and node.word.startswith(("DATE", "TIME")))):
        node = node.arguments[0]
    return node


def _or_zero(cast: Value, given: Value, n: int) -> Value:
    zero = pa.scalar(0, pa.duration("us")) if cast.type.base == "time" else zero_dates.zero(arrow_type(cast.type))
    if cast.constant and given.constant:
        is_there = given.values.is_valid()
    else:
        [is_there, values] = together([replace(given, values=given.values.is_valid()), cast], n)
        cast = replace(cast, values=values, constant=False)
    return replace(cast, values=pc.if_else(pc.and_(cast.values.is_null(), is_there), zero, cast.values))
