"""Reads the values of an INSERT's columns: whole columns at once, and unusual literals one by one, each distinct one
once, as applier.sql.literals reads them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa

from applier.columns.defaults import default_scalar
from applier.errors import ApplierError
from applier.jobs.importing.sql import literal_kernel as kernels
from applier.jobs.importing.sql import tuple_kernel as kind
from applier.jobs.importing.sql.column_types import convert_column
from applier.jobs.importing.sql.spans import LiteralContext, LiteralError, Literals, Values, byte_values
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.session import Session
from applier.mysql.types import MEMBERS, arrow_type
from applier.mysql.values import zero_dates
from applier.schema.ddl.cursor import StatementContext
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column
from applier.sql.assignment.conversion import assigned
from applier.sql.evaluator import evaluate, no_columns
from applier.sql.literals import Value, by_number, convert


def column_values(literals: Literals, column: Column, definition: TableDefinition, reading: LiteralContext) -> Values:
    """Return the values of one column of an INSERT, as `arrow_type(column.type)`. Raises LiteralError."""
    wanted = arrow_type(column.type)
    values = convert_column(literals, column.type, reading)
    array = values.array if values.array.type == wanted else values.array.cast(wanted)
    if values.unusual is not None and values.unusual.any():
        array = _with_unusual_ones(array, np.flatnonzero(values.unusual), literals, column, definition, reading)
    if array.null_count and not column.nullable and literals.seen & 1 << kind.NULL:
        row = int(np.flatnonzero(literals.kinds == kind.NULL)[0])
        raise LiteralError(row, "NULL, and the column is NOT NULL")
    return Values(array, zero_dates=int(zero_dates.which(array).sum()) if zero_dates.has_any(array) else 0)


def _with_unusual_ones(array: pa.Array, rows: np.ndarray, literals: Literals, column: Column,
                   definition: TableDefinition, reading: LiteralContext) -> pa.Array:
    known: dict[tuple[int, bytes], Any] = {}
    values = []
    for row in rows.tolist():
        literal = int(literals.kinds[row]), literals.text(row)
        if literal not in known:
            try:
                known[literal] = _read(*literal, column, definition, reading)
            except (ValueError, InvalidOperation, OverflowError, ApplierError) as error:
                said = error.message if isinstance(error, ApplierError) else error
                raise LiteralError(row, str(said)) from None
        values.append(known[literal])
    picks = np.arange(len(array))
    picks[rows] = len(array) + np.arange(len(rows))
    return pa.concat_arrays([array, pa.array(values, array.type)]).take(pa.array(picks))


def _read(what: int, span: bytes, column: Column, definition: TableDefinition, reading: LiteralContext) -> Any:
    """Return one literal as the column's value."""
    if what == kind.DEFAULT:
        return zero_dates.to_python_number(default_scalar(column, definition))
    column_type = column.type
    if what == kind.EXPRESSION:
        session = Session(reading.flavour, time_zone=reading.time_zone)
        computed = evaluate(span.decode("utf-8", "replace"), no_columns, 1, session)
        return zero_dates.to_python_number(assigned(computed, column_type, session, strict=True)[0])
    value = _literal(what, span, reading)
    if value is None:
        return None
    if column_type.base in MEMBERS and isinstance(value, Decimal):
        return by_number(int(value), column_type)
    if column_type.base == "enum" and value == "":
        return ""  # the value that a server stores for an invalid one
    converted = convert(value, column_type, reading.flavour)
    if column_type.base == "timestamp" and not isinstance(converted, int):
        utc = StatementContext(time_zone=reading.time_zone).to_utc(converted.replace(tzinfo=None))
        return converted if utc is None else utc.replace(tzinfo=converted.tzinfo)
    return converted


def _literal(what: int, span: bytes, reading: LiteralContext) -> Value:
    if what in (kind.TRUE, kind.FALSE):
        return Decimal(what == kind.TRUE)
    if what in (kind.INTEGER, kind.DECIMAL):
        return Decimal(span.decode())
    if what == kind.DOUBLE:
        return float(span)
    if what == kind.HEX_TEXT:
        reading = replace(reading, charset="utf8mb4")
    one = Literals(np.frombuffer(b"'" + span, np.uint8), np.array([1]), np.array([len(span)]),
                   np.array([what], np.uint8), 1 << what)
    [data] = byte_values(one, 1 << what, reading).array.to_pylist()
    if what in (kind.HEX, kind.BITS):
        return bytes(data)
    if 1 << what & kernels.BYTES:
        return bytearray(data)
    text: str = to_utf8(pa.array([data]), reading.charset)[0].as_py()
    return text
