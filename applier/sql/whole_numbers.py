"""Arguments that are a number of something, as whole numbers of 64 bits: over whole columns, and of constants."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, TEMPORAL
from applier.mysql.values import decimals
from applier.sql.casting.byte_strings import as_ascii
from applier.sql.casting.number_texts import leading_integers
from applier.sql.values import TEXT, WHOLE, WHOLE_NUMBER, Value, as_number, check_number, converted

_LEAST, _MOST = (pa.scalar(Decimal(bound), WHOLE) for bound in (-1 << 63, (1 << 63) - 1))


def whole_numbers(value: Value, session: Session) -> Value:
    """A value as whole numbers of 64 bits, as an argument that is a number of something. Raises NotComputable."""
    check_number(value)
    if value.type.base in BINARY and value.digits is False:
        value = replace(value, values=as_ascii(value.values, value.type, TEXT, session), type=TEXT)
    if value.is_text and not value.is_instant:  # the digits that it begins with
        made = leading_integers(value.values, value.type.charset, session.flavour, is_column=value.is_column)
        return replace(value, values=made.cast(WHOLE), type=WHOLE_NUMBER)
    if value.type.base in TEMPORAL and session.flavour == "mariadb":  # its seconds are cut
        return replace(value, values=decimals.truncated(as_number(value, session), 0), type=WHOLE_NUMBER)
    if value.type.base in TEMPORAL and value.type.fsp:  # rounded as a time, to the next minute or day
        if value.is_choice:
            raise NotComputable("a chosen time with a fraction as a whole number")
        value = converted(value, WHOLE_NUMBER, session)
    found = as_number(value, session)
    if pa.types.is_floating(found.type):
        found = _of_doubles(pc.round(found, 0, round_mode="half_to_even").cast(WHOLE), value, session)
    found = decimals.rounded(found, 0)
    found = _of_64_bits(found, value) if session.flavour == "mysql" else within_64_bits(found, signed=True)
    return replace(value, values=found, type=WHOLE_NUMBER)


def _of_doubles(found: pa.Array, value: Value, session: Session) -> pa.Array:
    """Whole numbers, of which too large ones are the largest or the least one, and the least one in MySQL if they are a
    FLOAT column's. Raises NotComputable if these may be a FLOAT column's that a function has chosen."""
    is_float = value.type.base == "float" and session.flavour == "mysql"
    if session.flavour == "mysql" and value.is_choice and pc.any(pc.greater(found, _MOST)).as_py():
        raise NotComputable("a chosen number beyond 64 bits as a whole number")
    found = pc.if_else(pc.greater(found, _MOST), _LEAST if is_float else _MOST, found)
    return pc.max_element_wise(found, _LEAST, skip_nulls=False)


def within_64_bits(found: pa.Array, *, signed: bool) -> pa.Array:
    """Whole numbers, of which MariaDB takes those of more than 64 bits, with or without a sign, for the largest one
    with a sign, or of all."""
    most = _MOST if signed else pa.scalar(Decimal(_BEYOND - 1), WHOLE)
    found = pc.if_else(pc.greater_equal(found, pa.scalar(Decimal(_BEYOND), WHOLE)), most, found)
    return pc.max_element_wise(found, _LEAST, skip_nulls=False)


def _of_64_bits(found: pa.Array, value: Value) -> pa.Array:
    """Whole numbers, of which MySQL takes too large ones of a DECIMAL for the largest. Raises NotComputable for one of
    which it is not known whether it is a DECIMAL's."""
    if value.type.base not in ("decimal", "bigint") or (value.type.base == "bigint" and value.type.unsigned):
        return found
    least, most = _LEAST, _MOST
    if value.type.base == "decimal" and value.type.unsigned:
        least, most = pa.scalar(Decimal(0), WHOLE), pa.scalar(Decimal(_BEYOND - 1), WHOLE)
    wide = pc.and_(pc.greater(found, _MOST), pc.less(found, pa.scalar(Decimal(_BEYOND), WHOLE)))
    if value.type.base == "bigint" and pc.any(wide).as_py():
        raise NotComputable("a number of more than 9223372036854775807 that may be a DECIMAL as a whole number")
    return pc.max_element_wise(pc.min_element_wise(found, most, skip_nulls=False), least, skip_nulls=False)


_BEYOND = 1 << 64


def whole_number(value: Value, session: Session) -> int:
    """A constant's whole number. Raises NotComputable."""
    number = as_number(value, session)[0].as_py() if value.constant else None
    if number is None or number != int(number):
        raise NotComputable("an argument that is not a constant whole number")
    return int(number)


