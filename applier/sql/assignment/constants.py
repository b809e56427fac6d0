"""Constants of expressions, which a column reads like literals (`applier.sql.literals`)."""

from __future__ import annotations

import re
from decimal import InvalidOperation

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.character_sets import exact_text
from applier.mysql.character_sets.charset_tables import MULTI_BYTE
from applier.mysql.session import Session
from applier.mysql.types import BINARY, DATES, ColumnType, arrow_type
from applier.sql import literals
from applier.sql.casting.texts import in_charset
from applier.sql.values import Value

_NOTHING = re.compile(rb"(?!)")
_HAS_NOT = {"ascii": re.compile(rb"[\x80-\xff]"), "utf8mb3": re.compile(rb"[\xf0-\xff]")}
"""Bytes that are valid in a larger character set, and not in this one."""


def is_literal(value: Value) -> bool:
    """True if a constant's value may be read as a literal."""
    return value.is_text or value.type.base in ("decimal", "bigint", "double") or value.type.base in BINARY


def read_constant(value: Value, wanted: ColumnType, session: Session, *, strict: bool) -> pa.Array | None:
    """The constant as the column has it; None if it does not fit, so that it is converted like a column's value.
    Raises NotComputable with `strict`, if it does not fit."""
    try:
        plain = _python(value)
        if isinstance(plain, bytes | bytearray):
            keeps = wanted.charset == "ascii" and session.flavour == "mariadb"  # all bytes
            if not keeps and _HAS_NOT.get(wanted.charset or "", _NOTHING).search(plain):
                raise ValueError(f"bytes that are not {wanted.charset}")
            if value.is_loose and wanted.charset in MULTI_BYTE and not strict:
                raise ValueError("bytes that may be no codes")
        made = literals.convert(plain, wanted, session.flavour)
        if isinstance(made, int) and wanted.base in DATES and "NO_ZERO_IN_DATE" in session.sql_mode:
            raise ValueError("a date with a zero in it")
        array = pa.array([made], arrow_type(wanted))
        if wanted.charset and value.is_text and value.type.charset != wanted.charset:
            given, array = array, in_charset(array, wanted.charset)
            if not exact_text.shown(array, wanted.charset).equals(given):
                raise ValueError(f"text with characters that {wanted.charset} does not have")
        return array
    except (ValueError, InvalidOperation, OverflowError, pa.ArrowException) as error:
        if strict:
            raise NotComputable.because(error) from None
    return None


def _python(value: Value) -> literals.Value:
    """A constant as `literals` reads it. Raises ValueError for one of another kind."""
    made = value.values[0].as_py()
    if value.digits is None:
        raise ValueError("hexadecimal digits")
    if value.digits:
        return bytes(made)
    if value.type.base in BINARY:
        return bytearray(made)
    if not is_literal(value):
        raise ValueError(f"{value.type.base.upper()}, whose value is {made}")
    plain: literals.Value = made
    return plain
