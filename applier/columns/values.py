"""Converts the decode kernel's output to a snapshot's values: a column's values by its definition.

Row images do not say whether a number is signed, in which character set text is, or what an ENUM's labels are; the
table's definition does. Everything here works on whole columns.

Columns that MariaDB compresses are unpacked first."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns import text_kernel as kernels
from applier.columns.agreement import is_compatible
from applier.columns.replica_cast import (
    convert_integers,
    convert_numbers,
    fitting_bits,
    fitting_bytes,
    fitting_datetimes,
    fitting_text,
)
from applier.errors import CORRUPT_EVENT, ApplierError, ArchiveError
from applier.mysql.character_sets.exact_text import exact_text
from applier.mysql.type_registry import Family
from applier.mysql.types import INTEGERS, MEMBERS, TEMPORAL, TEXT, ColumnType, arrow_type
from applier.mysql.values.addresses import network_text
from applier.mysql.values.byte_columns import beside, fixed_bytes, value_bytes
from applier.mysql.values.doubles import as_shown
from applier.mysql.wire_types import COMPRESSED, FORMS, WireType
from applier.schema.table_parts import Column
from jsondiff.binary import JsonError, to_text
from keysearch.addresses import address_of

MOST_INFLATED = 256 << 20
"""The most bytes of a column's values that are inflated together, except for a single value."""
_LONGEST = 1 << 30
"""max_allowed_packet's limit: no value is longer."""


def inflate(raw: pa.Array) -> pa.Array:
    """Return the plain values of a COMPRESSED column (wire types 140 and 141), pa.binary().

    A value is empty, or begins with a byte: 0 before the plain value; else method (8, zlib) << 4 | 8 for a deflate
    stream without zlib's header | bytes of the length that follows, big-endian, of the plain value. Raises ArchiveError
    (1610) for anything else, and ArrowCapacityError if the values are more than MOST_INFLATED bytes, so that memory is
    bounded, however little they take compressed.
    """
    values, total = [], 0
    for row, value in enumerate(raw.to_pylist()):
        values.append(None if value is None else _inflate(value, row))
        total += len(values[-1] or b"")
        if total > MOST_INFLATED and len(raw) > 1:
            raise pa.ArrowCapacityError(f"{total} bytes in one column; take fewer rows at once")
    return pa.array(values, pa.binary())


def _inflate(value: bytes, row: int) -> bytes:
    if not value or value[0] == 0:
        return value[1:]
    header = value[0]
    if header >> 4 != 8:
        raise ArchiveError(f"a compressed value of the unknown method {header >> 4} in row {row}", errno=CORRUPT_EVENT,
                           hint="the file is damaged, or from a newer server")
    body = 1 + (header & 7)
    length = int.from_bytes(value[1:body])
    if length > _LONGEST:
        raise ArchiveError(f"a compressed value in row {row} claims {length} bytes, more than a server accepts",
                           errno=CORRUPT_EVENT)
    stream = zlib.decompressobj(-zlib.MAX_WBITS if header & 8 else zlib.MAX_WBITS)
    try:
        plain = stream.decompress(value[body:], length + 1)  # never more than it says, whatever the stream holds
    except zlib.error as error:
        raise ArchiveError(f"a compressed value is damaged in row {row}: {error}", errno=CORRUPT_EVENT) from None
    if len(plain) != length or not stream.eof:
        raise ArchiveError(f"a compressed value in row {row} does not have the {length} bytes that it claims",
                           errno=CORRUPT_EVENT)
    return plain


_UNSIGNED = {1: pa.uint8(), 2: pa.uint16(), 4: pa.uint32(), 8: pa.uint64()}  # by bytes


def finish_column(raw: pa.Array, column: Column, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    """Return the values of `raw` as `arrow_type(column.type)`, nulls kept.

    `raw` has the log's type by `layout.plan_column(wire_type, metadata)`; if that is not the column's type, values are
    converted. Values that are the same in a snapshot are not copied, so the result may share `raw`'s buffers. Raises
    ArchiveError (1610), naming the column, for values that no server writes.
    """
    wanted, decode = arrow_type(column.type), DECODERS[column.type.entry.family]
    # MariaDB's JSON is a LONGTEXT
    if column.type.base != "json" and not is_compatible(column.type, wire_type, metadata):
        decode = _converted
    try:
        finished = decode(raw, column.type, wire_type, metadata, flavour)
        return finished if finished.type == wanted else finished.cast(wanted)
    except ApplierError as error:
        error.message = f"column {column.name}: {error.message}"
        raise
    except (ValueError, JsonError, pa.ArrowInvalid) as error:
        hint = "the file is damaged, or the table's definition is not the one it was written with"
        raise ArchiveError(f"column {column.name}: {error}", errno=CORRUPT_EVENT, hint=hint) from error


def _converted(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    """Convert values of another type than the column's (AP-POS). If that is not allowed, the replay stopped before."""
    if kind.base in INTEGERS:
        return convert_integers(raw, kind, wire_type)
    if wire_type == WireType.NEWDECIMAL and pa.types.is_fixed_size_binary(raw.type):
        raw = _decimal(raw, kind, wire_type, metadata, flavour).cast(pa.decimal256(metadata >> 8, metadata & 255))
    if kind.entry.family in (Family.DECIMAL, Family.FLOATING):
        return convert_numbers(raw, kind)
    if kind.base == "bit":
        return _bit(fitting_bits(raw, kind), kind, wire_type, metadata, flavour)
    if kind.base in TEMPORAL:
        return fitting_datetimes(raw, kind)
    if kind.base in MEMBERS:
        return _labels(raw, kind, wire_type, metadata, flavour)
    fitting = fitting_bytes(_inflated(raw, wire_type), kind, wire_type, metadata)
    if kind.base in TEXT:
        return fitting_text(exact_text(fitting, kind.charset or "utf8mb4", flavour), kind, wire_type)
    return _padded(fitting, kind) if kind.base == "binary" else fitting


def _as_it_is(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return raw


def _integer(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    if not kind.unsigned:
        return raw
    if wire_type == WireType.INT24:
        return pc.bit_wise_and(raw, pa.scalar(0xFFFFFF, pa.int32()))
    return raw.view(_UNSIGNED[FORMS[wire_type].width])


def _decimal(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return decimal_texts(raw, metadata >> 8, metadata & 255) if pa.types.is_fixed_size_binary(raw.type) else raw


def decimal_texts(raw: pa.Array, precision: int, scale: int) -> pa.Array:
    """Return DECIMALs in the log's bytes as texts. Raises ValueError where some are none."""
    values = fixed_bytes(raw, raw.type.byte_width)
    out = np.empty(len(raw) * kernels.DECIMAL_CHARACTERS, np.uint8)
    offsets = np.empty(len(raw) + 1, np.int64)
    valid = raw.is_valid().to_numpy(zero_copy_only=False)
    bad = kernels.decimal_text(address_of(values), raw.type.byte_width, valid, precision, scale, address_of(out),
                               offsets)
    if bad != kernels.ALL_ROWS:
        raise ValueError(f"row {bad} is not a DECIMAL")
    return beside(raw, pa.string(), offsets, out)


def _floating(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return as_shown(raw, kind)


def _bit(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return raw if kind.length == 64 else raw.view(pa.int64())


def _labels(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return _enum(raw, kind) if kind.base == "enum" else _set(raw, kind)


def _enum(raw: pa.Array, kind: ColumnType) -> pa.Array:
    """Decode an ENUM. Number 0 is the empty string of an invalid value; a number without a label shows as empty,
    too."""
    known = pc.less_equal(raw, pa.scalar(len(kind.members), raw.type))
    return pa.array(["", *kind.members], pa.string()).take(pc.if_else(known, raw, pa.scalar(0, raw.type)))


def _set(raw: pa.Array, kind: ColumnType) -> pa.Array:
    label_offsets, labels = value_bytes(pa.array(kind.members, pa.string()))
    values = pc.fill_null(raw, pa.scalar(0, pa.uint64())).to_numpy()
    offsets = np.empty(len(raw) + 1, np.int64)
    kernels.set_text(values, address_of(labels), label_offsets, False, 0, offsets)
    out = np.empty(offsets[-1], np.uint8)
    kernels.set_text(values, address_of(labels), label_offsets, True, address_of(out), offsets)
    return beside(raw, pa.string(), offsets, out)


def _text(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return exact_text(_inflated(raw, wire_type), kind.charset or "utf8mb4", flavour)


def _bytes(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return _padded(raw, kind) if kind.base == "binary" else _inflated(raw, wire_type)


def _inflated(raw: pa.Array, wire_type: int) -> pa.Array:
    return inflate(raw) if wire_type in COMPRESSED else raw


def _padded(raw: pa.Array, kind: ColumnType) -> pa.Array:
    width = 1 if kind.length is None else kind.length
    padded = fixed_bytes(raw, width)
    return beside(raw, pa.binary(), np.arange(len(raw) + 1, dtype=np.int64) * width, padded.ravel())


def _json(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    """Decode MySQL's binary documents; MariaDB's JSON is text."""
    return to_text(raw) if wire_type == WireType.JSON else _text(raw, kind, wire_type, metadata, flavour)


def _vector(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    offsets, data = value_bytes(raw)
    if (offsets % 4).any():
        raise ValueError("a VECTOR that does not consist of whole floats")
    numbers = pa.array(np.frombuffer(data.tobytes(), np.float32))
    return pa.ListArray.from_arrays(pa.array((offsets // 4).astype(np.int32)), numbers, mask=raw.is_null())


def _network(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int, flavour: str) -> pa.Array:
    return network_text(raw, kind.base)


_Decoder = Callable[[pa.Array, ColumnType, int, int, str], pa.Array]
DECODERS: dict[Family, _Decoder] = {
    Family.INTEGER: _integer, Family.DECIMAL: _decimal, Family.FLOATING: _floating, Family.BIT: _bit,
    Family.YEAR: _as_it_is, Family.DATE: _as_it_is, Family.DATETIME: _as_it_is, Family.TIME: _as_it_is,
    Family.TEXT: _text, Family.BYTES: _bytes, Family.MEMBERS: _labels, Family.DOCUMENT: _json,
    Family.GEOMETRY: _as_it_is, Family.NETWORK: _network, Family.VECTOR: _vector,
}
"""From raw values to those of a type: of the raw array, the type, the log's wire type and metadata, and the flavour."""
