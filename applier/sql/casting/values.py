"""Converts columns of values from one type to another, as ALTER TABLE does.

Source: MySQL manual, "Data Types" and "ALTER TABLE Statement"; judged by real servers. A value that does not fit
becomes the nearest one that does, as without strict mode: in strict mode the ALTER fails and is not logged.

MariaDB's INET4, INET6 and UUID are converted from text and bytes, and to them (MariaDB's "INET6", "INET4" and "UUID";
judged by MariaDB 10.5, 10.11 and 11.8). A value that is none of the type
becomes NULL outside of strict mode, or the implicit default in a NOT NULL column.

Geometries come from columns of other geometry types and other SRIDs; other types take their bytes. The servers keep a
value's bytes, its SRID among them, and refuse a statement if the new type does not allow a value; MySQL also if the
value's SRID differs from the column's. Judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets import exact_text
from applier.mysql.session import Session
from applier.mysql.type_registry import AlterClass
from applier.mysql.types import INTEGERS, ColumnType, arrow_type
from applier.mysql.values import zero_dates
from applier.mysql.values.addresses import network_text, packed
from applier.mysql.versions import is_since
from applier.sql.casting import (
    byte_strings,
    invalid_dates,
    members,
    number_texts,
    numbers,
    temporal_numbers,
    temporal_texts,
    temporals,
    texts,
    vectors,
)
from applier.sql.casting.texts import by_distinct

_KIND = slice(5, 9)
"""The offset of the type in a value, after the SRID and the byte order, which is little-endian."""


def to_geometry(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The values unchanged. Raises NotComputable if one has another type than the column: a server may have accepted it
    outside of strict mode."""
    wanted = new.entry.shape  # any of them is a "geometry", which has number 0
    if not wanted or old.entry.shape == wanted:
        return values
    found = pc.unique(pc.binary_slice(values.drop_null(), _KIND.start, _KIND.stop))
    if not np.all([value == wanted.to_bytes(4, "little") for value in found.to_pylist()]):
        raise NotComputable("some of its values have another type")
    return values


_MAPPED = bytes(10) + b"\xff\xff"
_MAPS_INET4 = (11, 3)
_MOST_OF_UUID = 37


def from_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text in the notations that MariaDB reads; from 11.3 on an INET6 may be in that of an INET4. Of a UUID in a
    character set that is not ASCII the server converts the beginning alone; one that its order in a row cannot tell
    from another is none."""
    if new.base == "uuid" and old.charset in temporal_texts.NOT_AS_ASCII:
        values = pc.utf8_slice_codeunits(values, 0, _MOST_OF_UUID)

    def read(text: str) -> bytes | None:
        try:
            return _taken(packed(text, new.base), new)
        except ValueError:
            if new.base != "inet6":
                return None
        try:
            mapped = _MAPPED + packed(text, "inet4")
        except ValueError:
            return None
        if not session.server_version:
            raise NotComputable("addresses of four numbers, which some versions of MariaDB take")
        return mapped if is_since(session.server_version, _MAPS_INET4) else None

    return network_text(by_distinct(values, read, pa.binary()), new.base)


def _taken(data: bytes, new: ColumnType) -> bytes:
    """The bytes of an address or a UUID. Raises NotComputable for UUIDs of version 8 and more with variant 0, which
    newer versions of MariaDB do not take out of text (MDEV-29959; 10.11.19 and 11.8.9 have NULL)."""
    if new.base == "uuid" and _is_ambiguous(data):
        raise NotComputable("a UUID of version 8 and more with variant 0, which some versions of MariaDB take")
    return data


def from_bytes(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Bytes, which must be as many as the type has. Raises NotComputable for a UUID's that a row has in another
    order."""
    size = new.entry.packed

    def read(data: bytes) -> bytes | None:
        if len(data) != size:
            return None
        if new.base == "uuid" and _is_ambiguous(data):
            raise NotComputable("bytes of a UUID that a row has in another order")
        return data

    return network_text(by_distinct(values, read, pa.binary()), new.base)


def _is_ambiguous(uuid: bytes) -> bool:
    """Return whether the bytes are those of a UUID of versions 1 to 7 in the order in which rows have it: MariaDB's
    `mem[6] & -mem[8] & 0x80`. Seen on 10.11 and 11.8."""
    return uuid[6] >= 0x80 and 1 <= uuid[8] <= 0x80


def to_bytes(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The bytes of values, in the order of their text."""
    data = by_distinct(values, lambda text: packed(text, old.base), pa.binary())
    return byte_strings.to_bytes(data, old, new, session)


_Converter = Callable[[pa.Array, ColumnType, ColumnType, Session], pa.Array]


def convert_values(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Values of `old` as values of `new`, in the types that a snapshot stores.

    Raises NotComputable, with the reason, if this project does not know what the server makes of them.
    """
    if values.null_count == len(values):
        return pa.nulls(len(values), arrow_type(new))
    if zero_dates.has_any(values):
        return invalid_dates.converted(values, old, new, session, convert_values)
    converter = CONVERTERS.get((old.entry.alter_class, new.entry.alter_class))
    if converter is None:
        raise NotComputable("it is not known how the server converts its values")
    if old.base == "char" and "PAD_CHAR_TO_FULL_LENGTH" in session.sql_mode:
        values = _padded(values, old, new, session)
    if new.charset != old.charset and new.entry.alter_class is not AlterClass.BYTES:
        values = exact_text.shown(values, old.charset)
    try:
        return converter(values, old, new, session)
    except pa.ArrowException as error:
        raise NotComputable.because(error) from None


def _padded(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Values of a CHAR with all their spaces, in sql_mode PAD_CHAR_TO_FULL_LENGTH."""
    becomes, padded = new.entry.alter_class, pc.utf8_rpad(values, old.length or 1, " ")
    if becomes in (AlterClass.DAY, AlterClass.TIME, AlterClass.YEAR) and session.flavour == "mysql" and \
            not padded.equals(values):
        raise NotComputable(f"text with its spaces as {new.base.upper()}")
    return padded if becomes in _PADDED else values


_PADDED = (AlterClass.TEXT, AlterClass.BYTES, AlterClass.MEMBER, AlterClass.DOCUMENT, AlterClass.NETWORK)


def _by_text(shown: _Converter, then: _Converter) -> _Converter:
    """Convert values through their text, as the servers show them."""
    def convert(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
        return then(shown(values, old, SHOWN, session), SHOWN, new, session)

    return convert


def _of_text(then: _Converter) -> _Converter:
    """Convert values that a snapshot has as text."""
    return lambda values, old, new, session: then(values, SHOWN, new, session)


def _document_to_number(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Documents by their text, of which a string begins with a quotation mark; in a DECIMAL by their values. Raises
    NotComputable for a string that may be a date, a time or bytes there, whose text does not tell."""
    if new.base == "bit":
        raise NotComputable("documents as bits")
    if new.base != "decimal":
        return number_texts.from_text(values, SHOWN, new, session)
    if pc.any(pc.match_substring_regex(values, _TYPED)).as_py():
        raise NotComputable("a document that may be a date, a time or bytes as DECIMAL")

    def number(text: str) -> str:
        return "1" if text == "true" else json.loads(text) if text[0] == '"' else text

    return number_texts.from_text(by_distinct(values, number), SHOWN, new, session)


def _network_to_number(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Addresses and UUIDs by their text; as bits by its bytes, all of them set if there are too many."""
    if new.base == "bit":
        most = (1 << (new.length or 1)) - 1
        return by_distinct(values, lambda text: min(int.from_bytes(text.encode(), "big"), most), arrow_type(new))
    if new.base not in INTEGERS:
        return number_texts.from_text(values, SHOWN, new, session)
    rounding = replace(session, flavour="mysql")
    return number_texts.from_text(number_texts.without_points(values), SHOWN, new, rounding)


def _network_to_datetime(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Addresses and UUIDs by their text. A UUID's first digits are its year, which is none above 9999; that of zeros is
    no date (seen on MariaDB 10.11 and 11.8)."""
    if old.base == "uuid":
        values = pc.if_else(pc.match_substring_regex(values, _HAS_YEAR), values, pc.utf8_slice_codeunits(values, 0, 0))
    return temporal_texts.to_datetime(values, SHOWN, new, session)


_HAS_YEAR = "^0000.*[1-9a-f]"
_TYPED = r'^"(-?\d+[-:]\d+[-:]|base64:)'

SHOWN = ColumnType("longtext", charset="utf8mb4")
"""The type of values when they are shown: text of any length."""

C = AlterClass
CONVERTERS: dict[tuple[AlterClass, AlterClass], _Converter] = {
    (C.NUMBER, C.NUMBER): numbers.to_number, (C.YEAR, C.NUMBER): numbers.to_number,
    (C.TEXT, C.NUMBER): number_texts.from_text, (C.MEMBER, C.NUMBER): members.to_number,
    (C.BYTES, C.NUMBER): _by_text(byte_strings.as_ascii, number_texts.from_text),
    (C.DAY, C.NUMBER): temporal_numbers.to_number, (C.TIME, C.NUMBER): temporal_numbers.to_number,

    (C.NUMBER, C.YEAR): temporal_numbers.to_year, (C.TEXT, C.YEAR): temporal_numbers.text_to_year,
    (C.MEMBER, C.YEAR): temporal_numbers.member_to_year,
    (C.BYTES, C.YEAR): _by_text(byte_strings.as_ascii, temporal_numbers.text_to_year),
    (C.DAY, C.YEAR): temporal_numbers.datetime_to_year, (C.TIME, C.YEAR): temporal_numbers.datetime_to_year,

    (C.NUMBER, C.TEXT): number_texts.to_text, (C.YEAR, C.TEXT): number_texts.to_text,
    (C.TEXT, C.TEXT): texts.to_text, (C.MEMBER, C.TEXT): byte_strings.labels_to_text,
    (C.BYTES, C.TEXT): byte_strings.to_text,
    (C.DAY, C.TEXT): temporal_texts.to_text, (C.TIME, C.TEXT): temporal_texts.to_text,
    (C.DOCUMENT, C.TEXT): texts.to_text,

    (C.NUMBER, C.BYTES): byte_strings.from_number, (C.YEAR, C.BYTES): byte_strings.from_number,
    (C.TEXT, C.BYTES): byte_strings.from_text, (C.MEMBER, C.BYTES): byte_strings.from_text,
    (C.BYTES, C.BYTES): byte_strings.to_bytes, (C.DOCUMENT, C.BYTES): byte_strings.from_text,
    (C.DAY, C.BYTES): _by_text(temporal_texts.to_text, byte_strings.from_text),
    (C.TIME, C.BYTES): _by_text(temporal_texts.to_text, byte_strings.from_text),

    (C.NUMBER, C.MEMBER): members.from_number, (C.YEAR, C.MEMBER): members.from_number,
    (C.TEXT, C.MEMBER): members.from_text, (C.MEMBER, C.MEMBER): members.from_text,
    (C.BYTES, C.MEMBER): byte_strings.to_members,
    (C.DAY, C.MEMBER): _by_text(temporal_texts.to_text, members.from_text),
    (C.TIME, C.MEMBER): _by_text(temporal_texts.to_text, members.from_text),

    (C.NUMBER, C.DAY): temporal_numbers.to_datetime, (C.YEAR, C.DAY): temporal_numbers.to_datetime,
    (C.TEXT, C.DAY): temporal_texts.to_datetime, (C.MEMBER, C.DAY): temporal_texts.to_datetime,
    (C.BYTES, C.DAY): _by_text(byte_strings.as_ascii, temporal_texts.to_datetime),
    (C.DAY, C.DAY): temporals.to_datetime, (C.TIME, C.DAY): temporals.to_datetime,

    (C.NUMBER, C.TIME): temporal_numbers.to_time, (C.YEAR, C.TIME): temporal_numbers.to_time,
    (C.TEXT, C.TIME): temporal_texts.to_time, (C.MEMBER, C.TIME): temporal_texts.to_time,
    (C.BYTES, C.TIME): _by_text(byte_strings.as_ascii, temporal_texts.to_time),
    (C.DAY, C.TIME): temporals.to_time, (C.TIME, C.TIME): temporals.to_time,

    (C.NETWORK, C.NUMBER): _network_to_number, (C.NETWORK, C.YEAR): _of_text(temporal_numbers.text_to_year),
    (C.NETWORK, C.TEXT): _of_text(texts.to_text), (C.NETWORK, C.BYTES): to_bytes,
    (C.NETWORK, C.MEMBER): _of_text(members.from_text), (C.NETWORK, C.DAY): _network_to_datetime,
    (C.NETWORK, C.TIME): _of_text(temporal_texts.to_time), (C.NETWORK, C.NETWORK): from_text,
    (C.NUMBER, C.NETWORK): _by_text(number_texts.to_text, from_text),
    (C.YEAR, C.NETWORK): _by_text(number_texts.to_text, from_text),
    (C.TEXT, C.NETWORK): from_text, (C.MEMBER, C.NETWORK): from_text,
    (C.BYTES, C.NETWORK): from_bytes,
    (C.DAY, C.NETWORK): _by_text(temporal_texts.to_text, from_text),
    (C.TIME, C.NETWORK): _by_text(temporal_texts.to_text, from_text),

    (C.GEOMETRY, C.GEOMETRY): to_geometry,

    (C.VECTOR, C.VECTOR): vectors.to_vector, (C.BYTES, C.VECTOR): vectors.from_bytes,
    **{(old, C.VECTOR): vectors.zeros for old in (C.NUMBER, C.YEAR, C.DAY, C.TIME, C.TEXT, C.MEMBER, C.DOCUMENT)},
    (C.VECTOR, C.BYTES): vectors.to_bytes, (C.VECTOR, C.TEXT): vectors.to_text,
    (C.VECTOR, C.NUMBER): vectors.to_nothing, (C.VECTOR, C.DAY): vectors.to_nothing,

    (C.TEXT, C.DOCUMENT): texts.to_json, (C.MEMBER, C.DOCUMENT): texts.to_json,
    (C.NUMBER, C.DOCUMENT): _by_text(number_texts.to_text, texts.to_json),
    (C.YEAR, C.DOCUMENT): _by_text(number_texts.to_text, texts.to_json),

    (C.DOCUMENT, C.NUMBER): _document_to_number, (C.DOCUMENT, C.YEAR): _of_text(temporal_numbers.text_to_year),
    (C.DOCUMENT, C.MEMBER): _of_text(members.from_text), (C.DOCUMENT, C.DAY): _of_text(temporal_texts.to_datetime),
    (C.DOCUMENT, C.TIME): _of_text(temporal_texts.to_time),
}


def _of_bytes(then: _Converter) -> _Converter:
    """Convert geometries, of which everything but a geometry takes the bytes."""
    return lambda values, old, new, session: then(values, ColumnType("longblob"), new, session)


CONVERTERS |= {(C.GEOMETRY, new): _of_bytes(then) for (old, new), then in CONVERTERS.items()
               if old is C.BYTES and new is not C.VECTOR}
