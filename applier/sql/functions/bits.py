"""Operators of bits over whole columns: of whole numbers with 64 bits, in two's complement if they are negative; the
result has no sign. Bytes are the number that they begin with in MariaDB. Source: MySQL manual, "Bit Functions and
Operators"; judged by both servers.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, ColumnType
from applier.mysql.values import decimals
from applier.sql.nodes import Call
from applier.sql.values import WHOLE, Arguments, Function, Value, as_number, together
from applier.sql.whole_numbers import whole_numbers, within_64_bits

UNSIGNED = ColumnType("bigint", unsigned=True)
_ALL = (1 << 64) - 1


def _of_bits(function: Callable[..., np.ndarray]) -> Function:
    """A function of arrays of uint64; NULL where an operand is."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if session.flavour == "mysql" and any(value.type.base in BINARY for value in arguments):
            raise NotComputable(f"{call.name} of bytes")
        found = [Value(_whole(value, session), UNSIGNED, value.constant) for value in arguments]
        arrays = together(found, n)
        is_null = np.logical_or.reduce([np.asarray(array.is_null()) for array in arrays])
        made = function(*(_words(array) for array in arrays))
        numbers = pa.array([Decimal(word) for word in made.tolist()], WHOLE, mask=is_null) if len(made) else \
            pa.nulls(0, WHOLE)
        return Value(numbers, UNSIGNED, all(value.constant for value in arguments))

    return computed


def _whole(value: Value, session: Session) -> pa.Array:
    """Numbers rounded: halves of doubles to even in MySQL, others away from zero. MySQL cuts the numbers of text, and
    rounds times as such."""
    if session.flavour == "mysql":
        return whole_numbers(value, session).values
    found = as_number(value, session)
    if pa.types.is_floating(found.type):
        found = pc.round(found, 0, round_mode="half_towards_infinity")
        if pc.any(pc.greater_equal(pc.abs(found), 2.0**63)).as_py():
            raise NotComputable("bits of so large a double")
        return found.cast(WHOLE)
    return within_64_bits(decimals.rounded(found, 0), signed=False)


def _words(array: pa.Array) -> np.ndarray:
    return np.array([0 if number is None else int(number) & _ALL for number in array.to_pylist()], np.uint64)


_Shift = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _shifted(function: _Shift) -> _Shift:
    def shifted(words: np.ndarray, counts: np.ndarray) -> np.ndarray:
        made: np.ndarray = np.where(counts < 64, function(words, np.minimum(counts, np.uint64(63))), np.uint64(0))
        return made

    return shifted


def _count(words: np.ndarray) -> np.ndarray:
    counts: np.ndarray = np.bitwise_count(words).astype(np.uint64)
    return counts


FUNCTIONS: dict[str, Function] = {
    "|": _of_bits(np.bitwise_or), "&": _of_bits(np.bitwise_and), "^": _of_bits(np.bitwise_xor),
    "~": _of_bits(np.bitwise_not), "<<": _of_bits(_shifted(np.left_shift)), ">>": _of_bits(_shifted(np.right_shift)),
    "BIT_COUNT": _of_bits(_count),
}
