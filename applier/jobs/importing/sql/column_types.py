"""Converts literals to a snapshot's values: whole columns, by the column's type.

Literals that a type's conversion does not handle are marked, for `literals` to read one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import SchemaError
from applier.jobs.importing.sql import literal_kernel as kernels
from applier.jobs.importing.sql import tuple_kernel as kind
from applier.jobs.importing.sql.spans import (
    LiteralContext,
    LiteralError,
    Literals,
    Values,
    all_unusual,
    byte_values,
    merged,
    nulled,
    number_values,
)
from applier.jobs.importing.sql.temporal_literal_kernel import to_datetimes, to_spans
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.exact_text import exact_text
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values import zero_dates
from applier.mysql.values.addresses import network_text, packed
from applier.mysql.values.byte_columns import fixed_bytes, value_bytes
from applier.mysql.values.decimals import rounded
from jsondiff.normalize import normalize
from jsondiff.values import DocumentError
from keysearch.addresses import address_of

_UTF8 = ("utf8mb4", "utf8mb3", "utf8", "ascii")
_MOST_SCALE = 38


def convert_column(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    """Return the values of a column's literals; `array` is of a type that casts to `arrow_type(column_type)`."""
    return CONVERSIONS[column_type.entry.family](literals, column_type, reading)


def _integers(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    bits = column_type.entry.bits
    return _whole(literals, kernels.INTEGER_KINDS | 1 << kind.TEXT, bits, column_type.unsigned)


def _whole(literals: Literals, allowed: int, bits: int, unsigned: bool) -> Values:
    numbers, states = np.empty(len(literals), np.int64), np.empty(len(literals), np.uint8)
    kernels.to_integers(address_of(literals.data), literals.starts, literals.lengths, literals.kinds, allowed, bits,
                        unsigned, numbers, states)
    return number_values(numbers, states, pa.uint64() if unsigned and bits == 64 else pa.int64())


def _bit(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    """Return numbers, or the bits in the bytes of a text, whatever its characters are."""
    n_bits = column_type.length or 1
    if not literals.seen & (kernels.CHARACTERS | kernels.BYTES):
        return _whole(literals, kernels.INTEGER_KINDS, n_bits, True)
    texts = byte_values(literals, kernels.CHARACTERS | kernels.BYTES, reading)
    offsets, data = value_bytes(texts.array)
    numbers, fits = np.empty(len(literals), np.int64), np.empty(len(literals), np.bool_)
    kernels.big_endian(address_of(data), offsets, n_bits, numbers, fits)
    exact = _whole(literals, kernels.INTEGER_KINDS & ~kernels.BYTES, n_bits, True)
    bits = pa.array(numbers.view(np.uint64) if n_bits == 64 else numbers, mask=~fits)
    if texts.unusual is None:
        return Values(nulled(bits, literals.kinds == kind.NULL), merged(None, ~fits))
    array = pc.if_else(pa.array(texts.unusual), exact.array, nulled(bits, literals.kinds == kind.NULL))
    return Values(array, exact.unusual & texts.unusual | ~fits)


def _year(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    values = _whole(literals, kernels.INTEGER_KINDS & ~kernels.BYTES | 1 << kind.TEXT, 16, True)
    numbers = np.frombuffer(values.array.buffers()[1], np.int64)
    unusual = ((numbers < 1901) | (numbers > 2155)) & (literals.kinds != kind.NULL)
    return Values(nulled(values.array, unusual), merged(values.unusual, unusual))


def _floating(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    texts = byte_values(literals, kernels.NUMBERS | 1 << kind.TEXT, reading)
    try:
        numbers = texts.array.cast(pa.float64())
    except pa.ArrowInvalid:
        return all_unusual(literals, pa.float64())
    exact = (1 << literals.kinds.astype(np.int64)) & kernels.EXACT != 0
    plain = numbers.fill_null(0).to_numpy(zero_copy_only=False)
    # an exact number has no negative zero, nor has any number of MariaDB's
    unsigned_zero = (plain == 0) & (exact | (reading.flavour == "mariadb"))
    out_of_range = (plain < 0) if column_type.unsigned else np.isinf(plain)
    if column_type.base == "float":
        out_of_range |= np.abs(plain) > np.finfo(np.float32).max
    if column_type.scale is not None:
        out_of_range |= np.ones(len(plain), bool)
    if unsigned_zero.any():
        numbers = pc.if_else(pa.array(unsigned_zero), pc.add(numbers, 0.0), numbers)
    unusual = merged(texts.unusual, out_of_range & (literals.kinds != kind.NULL))
    return Values(nulled(numbers, out_of_range).cast(arrow_type(column_type), safe=False), unusual)


def _decimals(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    arrow = arrow_type(column_type)
    if pa.types.is_string(arrow):
        return _wide_decimals(literals, column_type, reading)
    texts = byte_values(literals, kernels.NUMBERS | 1 << kind.TEXT, reading)
    try:
        numbers = texts.array.cast(arrow)
    except pa.ArrowInvalid:
        try:
            long = texts.array.cast(pa.decimal256(76, _MOST_SCALE))
            numbers = rounded(long, arrow.scale).cast(arrow)
        except pa.ArrowInvalid:
            return all_unusual(literals, arrow)
    if column_type.unsigned:
        negative = pc.fill_null(pc.less(numbers, pa.scalar(Decimal(0), arrow)), False).to_numpy(zero_copy_only=False)
        return Values(nulled(numbers, negative), merged(texts.unusual, negative))
    return Values(numbers, texts.unusual)


def _wide_decimals(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    """Return the digits unchanged, if they are in the server's own form."""
    texts = byte_values(literals, kernels.EXACT | 1 << kind.TEXT, reading)
    scale, whole = column_type.scale or 0, (column_type.precision or 10) - (column_type.scale or 0)
    fraction = rf"\.[0-9]{{{scale}}}" if scale else ""
    usual = rf"^{'' if column_type.unsigned else '-?'}(0|[1-9][0-9]{{0,{max(0, whole - 1)}}}){fraction}$"
    array = texts.array.cast(pa.string())
    matches = pc.match_substring_regex(array, usual).fill_null(True).to_numpy(zero_copy_only=False)
    negative_zero = pc.match_substring_regex(array, r"^-[0.]*$").fill_null(False).to_numpy(zero_copy_only=False)
    return Values(array, merged(texts.unusual, ~matches | negative_zero))


def _datetimes(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    numbers, states = np.empty(len(literals), np.int64), np.empty(len(literals), np.uint8)
    with_time = column_type.base != "date"
    to_datetimes(address_of(literals.data), literals.starts, literals.lengths, literals.kinds, with_time,
               column_type.fsp, numbers, states)
    if not with_time:
        return number_values(numbers.astype(np.int32), states, pa.date32())
    values = number_values(numbers, states, pa.timestamp("us"))
    if column_type.base == "timestamp":
        values.array = _to_utc(values.array, reading.time_zone)
    return values


def _to_utc(local: pa.Array, time_zone: str) -> pa.Array:
    """Return datetimes in a session's time zone; an unknown zone (SYSTEM) counts as UTC if all dates are zero
    (InsertColumns). Raises SchemaError for an invalid zone."""
    zone = "UTC" if time_zone.upper() == "SYSTEM" else time_zone
    try:
        at_utc = pc.assume_timezone(zero_dates.as_nulls(local), zone, ambiguous="earliest", nonexistent="latest")
    except pa.ArrowInvalid:
        raise SchemaError(f"TIMESTAMPs in an unknown time zone: {zone[:80]}",
                          hint="dump in UTC, as mysqldump does without `--skip-tz-utc`") from None
    datetimes = at_utc.cast(pa.timestamp("us", "UTC"))
    if not zero_dates.has_any(local):
        return datetimes
    return pc.if_else(pa.array(zero_dates.which(local)), zero_dates.zero(datetimes.type), datetimes)  # it has no other


def _spans(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    numbers, states = np.empty(len(literals), np.int64), np.empty(len(literals), np.uint8)
    to_spans(address_of(literals.data), literals.starts, literals.lengths, literals.kinds, column_type.fsp,
             numbers, states)
    return number_values(numbers, states, pa.duration("us"))


def _text(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    values = _characters(literals, kernels.CHARACTERS | kernels.EXACT, column_type, reading)
    if column_type.base == "char":
        values.array = pc.ascii_rtrim(values.array, characters=" ")
    return Values(values.array, merged(values.unusual, _too_long(values.array, column_type)))


def _characters(literals: Literals, allowed: int, column_type: ColumnType, reading: LiteralContext) -> Values:
    """Return the text of literals of the kinds in `allowed`, and of bytes. Characters are in the session's set, bytes
    in the column's; in the session's set `binary` all are bytes."""
    own = column_type.charset or "utf8mb4"
    session = own if reading.charset == "binary" else reading.charset
    texts = byte_values(literals, allowed | kernels.BYTES, reading)
    if reading.is_guessed:
        _check_text(texts.array, literals)
    if not literals.seen & kernels.BYTES or (session in _UTF8 and own in _UTF8):
        array = exact_text(texts.array, own) if session == own else to_utf8(texts.array, session)
    else:
        of_bytes = pa.array((1 << literals.kinds.astype(np.int64)) & kernels.BYTES != 0)
        empty = pa.scalar(b"", pa.binary())
        array = pc.if_else(of_bytes, exact_text(pc.if_else(of_bytes, texts.array, empty), own),
                           to_utf8(pc.if_else(of_bytes, empty, texts.array), session))
    return Values(array, texts.unusual)


def _check_text(texts: pa.Array, literals: Literals) -> None:
    """Check that text of an unknown character set is UTF-8."""
    try:
        texts.cast(pa.string())
    except pa.ArrowInvalid:
        for row, data in enumerate(texts.to_pylist()):
            if data is not None and not 1 << int(literals.kinds[row]) & kernels.BYTES and not _is_utf8(data):
                raise LiteralError(row, "it is not UTF-8, and the dump does not say in which character set its text "
                                   "is: --default-character-set names it") from None


def _is_utf8(data: bytes) -> bool:
    try:
        return data.decode() is not None
    except UnicodeDecodeError:
        return False


def _too_long(array: pa.Array, column_type: ColumnType) -> np.ndarray:
    """Return which rows have text with more characters than the column."""
    if column_type.length is None or _longest(array) <= column_type.length:
        return np.zeros(len(array), bool)
    longer = pc.greater(pc.utf8_length(array), column_type.length)
    rows: np.ndarray = longer.fill_null(False).to_numpy(zero_copy_only=False)
    return rows


def _longest(array: pa.Array) -> int:
    """Return the number of bytes of the longest value."""
    return int(np.diff(value_bytes(array)[0]).max(initial=0))


def _members(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    """Return labels as in the definition; others, such as numbers, are read one by one."""
    texts = _characters(literals, kernels.CHARACTERS, column_type, reading)
    coded = texts.array.dictionary_encode()
    members = set(column_type.members)
    usual = [value in members or (column_type.base == "set" and _is_set(value, column_type.members))
             for value in coded.dictionary.to_pylist()]
    unusual = pc.invert(pa.array([*usual, True])).take(coded.indices.fill_null(len(usual)))
    return Values(coded.cast(pa.string()), merged(texts.unusual, unusual.to_numpy(zero_copy_only=False)))


def _is_set(text: str, members: tuple[str, ...]) -> bool:
    """True for a SET's value as a server writes it: labels in order."""
    labels = text.split(",") if text else []
    numbers = [members.index(label) for label in labels if label in members]
    return len(numbers) == len(labels) and numbers == sorted(set(numbers))


def _byte_strings(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    texts = byte_values(literals, kernels.CHARACTERS | kernels.BYTES | kernels.EXACT, reading)
    longest, length = _longest(texts.array), column_type.length
    too_long = np.zeros(len(literals), bool)
    if length is not None and longest > length:
        too_long = np.diff(value_bytes(texts.array)[0]) > length
    if column_type.base == "binary" and not too_long.any():
        width = length if length is not None else 1
        padded = fixed_bytes(texts.array, width)
        fixed = pa.Array.from_buffers(pa.binary(width), len(literals), [texts.array.buffers()[0],
                                                                        pa.py_buffer(padded.reshape(-1))])
        return Values(fixed.cast(pa.binary()), texts.unusual)
    return Values(texts.array, merged(texts.unusual, too_long))


def _json(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    texts = byte_values(literals, kernels.CHARACTERS, reading)
    try:
        return Values(normalize(to_utf8(texts.array, reading.charset)), texts.unusual)
    except DocumentError as error:
        where = "" if error.offset is None else f" at byte {error.offset}"
        what = f"no JSON document: {error.what}{where} (MySQL error {error.errno})"
        raise LiteralError(error.row or 0, what) from None


def _vectors(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    texts = byte_values(literals, kernels.BYTES | kernels.CHARACTERS, reading)
    offsets, data = value_bytes(texts.array)
    if (offsets % 4).any():
        return all_unusual(literals, arrow_type(column_type))
    numbers = pa.array(np.frombuffer(data.tobytes(), np.float32))
    nulls = texts.array.is_null()
    vectors = pa.ListArray.from_arrays(pa.array((offsets // 4).astype(np.int32)), numbers, mask=nulls)
    return Values(vectors, texts.unusual)


def _network(literals: Literals, column_type: ColumnType, reading: LiteralContext) -> Values:
    """Return addresses in MariaDB's notation; each distinct one is read once."""
    coded = byte_values(literals, kernels.CHARACTERS, reading)
    distinct = coded.array.dictionary_encode()
    base = column_type.base
    try:
        raw = pa.array([packed(text.decode("ascii"), base) for text in distinct.dictionary.to_pylist()], pa.binary())
    except ValueError:
        return all_unusual(literals, arrow_type(column_type))
    return Values(network_text(raw, base).take(distinct.indices), coded.unusual)


CONVERSIONS: dict[Family, Callable[[Literals, ColumnType, LiteralContext], Values]] = {
    Family.INTEGER: _integers, Family.DECIMAL: _decimals, Family.FLOATING: _floating, Family.BIT: _bit,
    Family.YEAR: _year, Family.DATE: _datetimes, Family.DATETIME: _datetimes, Family.TIME: _spans, Family.TEXT: _text,
    Family.BYTES: _byte_strings, Family.MEMBERS: _members, Family.DOCUMENT: _json, Family.GEOMETRY: _byte_strings,
    Family.NETWORK: _network, Family.VECTOR: _vectors,
}
"""How a column's literals are converted."""
