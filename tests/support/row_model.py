"""Row events written the slow way: a value at a time, in plain Python, without any of the project's encoders.

A column kind's `values` draw the contents of the raw Arrow array of the decoded column (`to_pylist`); `encode` returns
its bytes in a row image. Formats: MySQL source documentation, "Binlog Event"; `my_time.cc`, `decimal.cc`.
"""

import datetime
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np
from hypothesis import strategies as st

from applier.io.mapping import MappedFile
from applier.mysql.wire_types import WireType
from keysearch.addresses import address_of

INSERT, UPDATE, DELETE = 0, 1, 2
TABLE_MAP, FORMAT = 19, 15
MICROSECOND = datetime.timedelta(microseconds=1)
EPOCH = datetime.datetime(1970, 1, 1)


class Absent:
    """The value of a column that the image does not have, which is not NULL."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()
EXACT = Context(prec=80)


@dataclass(frozen=True)
class Kind:
    """A column type of the log: type code and metadata as parsed, the metadata's bytes, values and their encoding."""

    name: str
    wire_type: int
    metadata: int
    metadata_bytes: bytes
    values: st.SearchStrategy[Any]
    encode: Callable[[Any], bytes]

    def __repr__(self) -> str:
        return self.name


def _integer(name: str, wire_type: int, width: int) -> Kind:
    limit = 1 << (8 * width - 1)
    values = st.integers(-limit, limit - 1) | st.sampled_from((-limit, -1, 0, limit - 1))
    return Kind(name, wire_type, 0, b"", values, lambda value: value.to_bytes(width, "little", signed=True))


def _string(name: str, wire_type: int, longest: int) -> Kind:
    prefix = 1 if longest < 256 else 2
    order = "big" if wire_type == WireType.STRING else "little"
    metadata = longest.to_bytes(2, "little") if order == "little" else string_metadata(longest)
    values = st.binary(max_size=min(longest, 80)) | st.integers(0, min(longest, 700)).map(lambda n: b"x" * n)
    return Kind(name, wire_type, longest, metadata, values, lambda value: len(value).to_bytes(prefix, "little") + value)


def string_metadata(longest: int) -> bytes:
    """CHAR's: its type with two bits of the length, inverted, then the length's low byte (MySQL bug 37426)."""
    return bytes((WireType.STRING ^ (longest >> 8 & 3) << 4, longest & 255))


def _blob(name: str, wire_type: int, prefix: int) -> Kind:
    values = st.binary(max_size=100) | st.integers(0, 200 if prefix == 1 else 3000).map(lambda n: b"\0" * n)
    return Kind(name, wire_type, prefix, bytes((prefix,)), values,
                lambda value: len(value).to_bytes(prefix, "little") + value)


def decimal_bytes(value: Decimal, precision: int, scale: int) -> bytes:
    """decimal2bin: groups of nine digits in four bytes; the sign bit turned, all bits turned where negative."""
    digits = str(int(value.copy_abs().scaleb(scale, EXACT))).zfill(precision)
    whole, part = digits[:precision - scale], digits[precision - scale:]
    left_over = len(whole) % 9
    groups = [whole[:left_over]] * (left_over > 0) + [whole[at:at + 9] for at in range(left_over, len(whole), 9)]
    groups += [part[at:at + 9] for at in range(0, len(part), 9)]
    data = b"".join(int(group).to_bytes((0, 1, 1, 2, 2, 3, 3, 4, 4, 4)[len(group)]) for group in groups)
    data = bytes(byte ^ 0xFF for byte in data) if value < 0 else data
    return bytes((data[0] ^ 0x80,)) + data[1:]


def _decimal(precision: int, scale: int) -> Kind:
    limit = 10**precision - 1
    values = st.integers(-limit, limit).map(lambda n: Decimal(n).scaleb(-scale, EXACT))
    return Kind(f"decimal({precision},{scale})", WireType.NEWDECIMAL, precision << 8 | scale, bytes((precision, scale)),
                values, lambda value: decimal_bytes(value, precision, scale))


def _fraction(micros: int, digits: int) -> bytes:
    width = (digits + 1) // 2
    return (micros // 10**(6 - 2 * width)).to_bytes(width)


def _whole(value: Any, digits: int) -> Any:
    """Return the value without the part that a fraction of this many digits cannot hold."""
    return value.replace(microsecond=value.microsecond // 10**(6 - digits) * 10**(6 - digits))


def _datetime2(digits: int) -> Kind:
    def encode(value: datetime.datetime) -> bytes:
        packed = (value.year * 13 + value.month) << 22 | value.day << 17 | value.hour << 12 | value.minute << 6
        return ((packed | value.second) + (1 << 39)).to_bytes(5) + _fraction(value.microsecond, digits)

    values = st.datetimes(datetime.datetime(1, 1, 1)).map(lambda value: _whole(value, digits))
    return Kind(f"datetime({digits})", WireType.DATETIME2, digits, bytes((digits,)), values, encode)


def _timestamp2(digits: int) -> Kind:
    def encode(value: datetime.datetime) -> bytes:
        micros = (value.replace(tzinfo=None) - EPOCH) // MICROSECOND
        return (micros // 10**6).to_bytes(4) + _fraction(micros % 10**6, digits)

    first, last = EPOCH + datetime.timedelta(seconds=1), EPOCH + datetime.timedelta(seconds=2**32 - 1)
    values = st.datetimes(first, last, timezones=st.just(datetime.UTC)).map(lambda value: _whole(value, digits))
    return Kind(f"timestamp({digits})", WireType.TIMESTAMP2, digits, bytes((digits,)), values, encode)


def _time2(digits: int) -> Kind:
    width = 3 + (digits + 1) // 2

    def encode(value: datetime.timedelta) -> bytes:
        seconds, micros = divmod(abs(value) // MICROSECOND, 10**6)
        clock = seconds // 3600 << 12 | seconds // 60 % 60 << 6 | seconds % 60
        number = clock << 8 * (width - 3) | int.from_bytes(_fraction(micros, digits))
        return ((1 << 8 * width - 1) + (-number if value < datetime.timedelta() else number)).to_bytes(width)

    step, limit = 10**(6 - digits), 838 * 3600 * 10**6 + 3599 * 10**6
    values = st.integers(-limit // step, limit // step).map(lambda n: n * step * MICROSECOND)
    return Kind(f"time({digits})", WireType.TIME2, digits, bytes((digits,)), values, encode)


def _old_datetime(value: datetime.datetime) -> bytes:
    return int(value.strftime("%Y%m%d%H%M%S").zfill(14)).to_bytes(8, "little")


def _old_time(value: datetime.timedelta) -> bytes:
    seconds = abs(value) // datetime.timedelta(seconds=1)
    number = seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60
    return (-number if value < datetime.timedelta() else number).to_bytes(3, "little", signed=True)


def _plain(name: str, wire_type: int, values: st.SearchStrategy[Any], encode: Callable[[Any], bytes]) -> Kind:
    return Kind(name, wire_type, 0, b"", values, encode)


def _packed(kind: str) -> Callable[[Any], bytes]:
    return lambda value: struct.pack(kind, value)


def _code(name: str, wire_type: int, width: int, most: int) -> Kind:
    return Kind(name, wire_type, width, bytes((wire_type, width)), st.integers(0, most),
                lambda value: value.to_bytes(width, "little"))


def _bit(bits: int) -> Kind:
    metadata = bits // 8 << 8 | bits % 8
    return Kind(f"bit({bits})", WireType.BIT, metadata, metadata.to_bytes(2, "little"), st.integers(0, 2**bits - 1),
                lambda value: value.to_bytes((bits + 7) // 8))


_DATES = st.dates(datetime.date(1, 1, 1))
_SECONDS = st.datetimes(datetime.datetime(1000, 1, 1)).map(lambda value: value.replace(microsecond=0))
KINDS = (
    _integer("tinyint", WireType.TINY, 1), _integer("smallint", WireType.SHORT, 2),
    _integer("mediumint", WireType.INT24, 3), _integer("int", WireType.LONG, 4),
    _integer("bigint", WireType.LONGLONG, 8),
    Kind("float", WireType.FLOAT, 4, b"\4", st.floats(width=32, allow_nan=False), _packed("<f")),
    Kind("double", WireType.DOUBLE, 8, b"\10", st.floats(allow_nan=False), _packed("<d")),
    _plain("year", WireType.YEAR, st.just(0) | st.integers(1901, 2155),
           lambda value: bytes((value - 1900 if value else 0,))),
    _plain("date", WireType.DATE, _DATES,
           lambda value: (value.year << 9 | value.month << 5 | value.day).to_bytes(3, "little")),
    _plain("old datetime", WireType.DATETIME, _SECONDS, _old_datetime),
    _plain("old timestamp", WireType.TIMESTAMP, st.integers(1, 2**32 - 1).map(
        lambda seconds: datetime.datetime.fromtimestamp(seconds, datetime.UTC)),
        lambda value: int(value.timestamp()).to_bytes(4, "little")),
    _plain("old time", WireType.TIME, st.integers(-3020399, 3020399).map(lambda n: datetime.timedelta(seconds=n)),
           _old_time),
    *(make(digits) for make in (_datetime2, _timestamp2, _time2) for digits in range(7)),
    *(_decimal(*size) for size in ((1, 0), (5, 5), (9, 2), (10, 0), (18, 9), (20, 1), (38, 0), (38, 38), (37, 13))),
    _bit(1), _bit(8), _bit(9), _bit(63), _bit(64),
    _code("enum", WireType.ENUM, 1, 255), _code("long enum", WireType.ENUM, 2, 65535),
    *(_code(f"set of {width} bytes", WireType.SET, width, 2**(8 * width) - 1) for width in (1, 2, 3, 4, 8)),
    _string("varchar(255)", WireType.VARCHAR, 255), _string("varchar(256)", WireType.VARCHAR, 256),
    _string("varchar(60000)", WireType.VARCHAR, 60000), _string("char(20)", WireType.STRING, 20),
    _string("char(1020)", WireType.STRING, 1020), _string("char(300)", WireType.STRING, 300),
    *(_blob(f"blob{prefix}", WireType.BLOB, prefix) for prefix in (1, 2, 3, 4)),
    _blob("json", WireType.JSON, 4), _blob("geometry", WireType.GEOMETRY, 4), _blob("vector", WireType.VECTOR, 4),
)
BY_NAME = {kind.name: kind for kind in KINDS}


def packed_length(number: int) -> bytes:
    return bytes((number,)) if number < 251 else b"\xfc" + number.to_bytes(2, "little")


def bitmap(bits: Sequence[Any], spare: int = 0) -> bytes:
    """Bit i of the bytes is bits[i]; `spare` is the value of the bits beyond the last."""
    padded = [*map(bool, bits), *[bool(spare)] * (-len(bits) % 8)]
    return bytes(sum(padded[at + i] << i for i in range(8)) for at in range(0, len(padded), 8))


def table_map_body(kinds: Sequence[Kind], database: str = "d", table: str = "t", optional: bytes = b"") -> bytes:
    """A TABLE_MAP body after the table id. ENUM and SET hide in CHAR's metadata, as servers write them."""
    types = bytes(WireType.STRING if kind.wire_type in (WireType.ENUM, WireType.SET) else kind.wire_type
                  for kind in kinds)
    names = b"".join(bytes((len(name.encode()),)) + name.encode() + b"\0" for name in (database, table))
    metadata = b"".join(kind.metadata_bytes for kind in kinds)
    return (b"\1\0" + names + packed_length(len(types)) + types + packed_length(len(metadata)) + metadata
            + bitmap([1] * len(kinds)) + optional)


def event(kind: int, body: bytes) -> bytes:
    """An event without a checksum."""
    return struct.pack("<IBIIIH", 1, kind, 1, 19 + len(body), 0, 0) + body


def table_map_event(table_id: int, body: bytes) -> bytes:
    return event(TABLE_MAP, table_id.to_bytes(6, "little") + body)


def image(kinds: Sequence[Kind], values: Sequence[Any], spare: int = 0) -> bytes:
    """A row image: NULL bits and cells of the columns that are not ABSENT."""
    here = [(kind, value) for kind, value in zip(kinds, values, strict=True) if value is not ABSENT]
    cells = b"".join(b"" if value is None else kind.encode(value) for kind, value in here)
    return bitmap([value is None for _, value in here], spare) + cells


def rows_body(operation: int, table_id: int, columns: int, before: Sequence[Any] | None, after: Sequence[Any] | None,
              rows: bytes, *, version: int = 2, extra: bytes = b"", spare: int = 0) -> bytes:
    """The body of a rows event; `before` and `after` say which columns the images have."""
    head = table_id.to_bytes(6, "little") + b"\1\0"
    head += (2 + len(extra)).to_bytes(2, "little") + extra if version == 2 else b""
    bitmaps = b"".join(bitmap(present, spare) for present in (before, after) if present is not None)
    return head + packed_length(columns) + bitmaps + rows


def rows_event(operation: int, *arguments: Any, version: int = 2, **options: Any) -> bytes:
    kind = (30 if version == 2 else 23) + operation
    return event(kind, rows_body(operation, *arguments, version=version, **options))


def as_file(*events: bytes) -> MappedFile:
    """Events in memory as a file, after the four bytes that begin one."""
    array = np.frombuffer(b"\xfebin" + b"".join(events), np.uint8)
    return MappedFile("binlog.000001", len(array), array, address_of(array))
