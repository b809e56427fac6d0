"""Values of expressions as columns store them.

A constant is read as a literal is (`applier.schema.literals`); what does not fit the column, and all that is no
constant, is converted as values of columns are (`applier.conversion.values`).
"""

from __future__ import annotations

from decimal import InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from applier.conversion.texts import by_distinct
from applier.conversion.values import convert_values
from applier.errors import NotComputable
from applier.schema import literals
from applier.schema.types import BINARY, GEOMETRY, INTEGERS, ColumnType, arrow_type
from applier.sql.documents import unquoted
from applier.sql.session import Session
from applier.sql.values import DOUBLE, TEXT, Value

_NUMBERS = {*INTEGERS, "decimal", "float", "double", "bit"}


def assigned(value: Value, wanted: ColumnType, session: Session, *, strict: bool = False) -> pa.Array:
    """The values in a column of the type `wanted`, of `arrow_type`; one where the value is constant.

    With `strict`, a constant has to fit. Raises NotComputable where it is not known what the column then holds.
    """
    if value.is_null or value.values.null_count == len(value.values):
        return pa.nulls(len(value.values), arrow_type(wanted))
    local = wanted.base == "timestamp" and session.time_zone != "+00:00"  # literals are read as moments in UTC
    if value.constant and _is_literal(value) and not local:
        try:
            return pa.array([literals.convert(_python(value), wanted, session.flavour)], arrow_type(wanted))
        except (ValueError, InvalidOperation, OverflowError, pa.ArrowException) as error:
            if strict:
                raise NotComputable(str(error)) from None
    if value.type == wanted:
        return value.values
    if wanted.base in ("inet4", "inet6", "uuid", "vector"):
        raise NotComputable(f"{value.type.base.upper()} as {wanted.base.upper()}")
    if value.type.base in GEOMETRY or wanted.base in GEOMETRY:
        if value.type.base not in GEOMETRY or wanted.base not in GEOMETRY:
            raise NotComputable(f"{value.type.base.upper()} as {wanted.base.upper()}")
        return value.values
    if value.type.base == "json" and wanted.base != "json":
        return _of_documents(value, wanted, session)
    if value.type.base == wanted.base == "json":
        return value.values
    if value.type.base in BINARY and wanted.base == "json":
        raise NotComputable("bytes as a document")
    return convert_values(value.values, value.type, wanted, session)


def _is_literal(value: Value) -> bool:
    """Whether a constant's value may be read as a literal."""
    return value.is_text or value.type.base in ("decimal", "double") or value.type.base in BINARY


def _python(value: Value) -> literals.Value:
    """A constant as `literals` reads it. Raises ValueError for one of another kind."""
    made: Any = value.values[0].as_py()
    if value.digits:
        return bytes(made)
    if value.type.base in BINARY:
        return bytearray(made)
    if not _is_literal(value):
        raise ValueError(f"{value.type.base.upper()}, whose value is {made}")
    if value.is_text and value.type.charset not in (None, "utf8mb4", "utf8mb3"):
        from applier.conversion.byte_strings import from_text

        [data] = from_text(value.values, value.type, ColumnType("longblob"), Session()).to_pylist()
        return literals.EncodedText(made, data)
    return made


def _of_documents(value: Value, wanted: ColumnType, session: Session) -> pa.Array:
    """MariaDB's documents are text. MySQL's numbers and strings are what they hold, where a number is wanted."""
    if session.flavour == "mariadb" or wanted.base not in _NUMBERS | {"year"}:
        as_text = value.values
        if wanted.base in ("date", "datetime", "timestamp", "time") and session.flavour == "mysql":
            as_text = unquoted(as_text)
        return convert_values(as_text, TEXT, wanted, session)
    text = value.values
    if pc.any(pc.match_substring_regex(text, r"^[\[{n]")).as_py():
        raise NotComputable("a document that is no scalar as a number")
    text = unquoted(text)
    if pc.any(pc.match_substring_regex(value.values, "^[tf]")).as_py():
        text = by_distinct(text, lambda word: {"true": "1", "false": "0"}.get(word, word))
    whole = pc.match_substring_regex(value.values, r"^-?\d{1,19}$")
    if wanted.base in INTEGERS and not pc.all(whole).as_py():
        if pc.any(pc.match_substring_regex(value.values, r'^"|\.5$')).as_py():
            raise NotComputable("a document's text, or a half, as a whole number")
        doubles = text.cast(pa.float64())
        return convert_values(doubles, DOUBLE, wanted, session)
    return convert_values(text, TEXT, wanted, session)


