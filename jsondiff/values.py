"""JSON documents in Python, with all the types that MySQL tells apart.

    NULL None · BOOLEAN bool · INTEGER int · UNSIGNED INTEGER Unsigned · DOUBLE float · STRING str
    ARRAY list · OBJECT dict · values of SQL types that JSON does not have (DECIMAL, DATE, BLOB, …) Opaque

To Python's == 1, 1.0 and True are equal: equality.equal compares as SQL does. MySQL keeps and prints the members of an
object by `member_order`, in whatever order they were given.
"""

import base64
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

MAX_DEPTH = 100  # JSON_DOCUMENT_MAX_DEPTH of MySQL
INVALID_TEXT, INVALID_BINARY, VALUE_TOO_BIG, KEY_TOO_BIG, TOO_DEEP = 3140, 3142, 3150, 3151, 3157
"""MySQL's error numbers: ER_INVALID_JSON_TEXT and so on."""

TIMESTAMP, DATE, TIME, DATETIME, DECIMAL, VAR_STRING = 7, 10, 11, 12, 246, 253
"""Column types (enum_field_types) of opaque values; the text of all others is their bytes in base64. A VAR_STRING's is
its bytes as UTF-8, if they are that."""

# The server has nine words of nine digits for a DECIMAL in a document.
_MAX_PRECISION, _MAX_SCALE = 81, 30
_DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)  # bytes that hold 0-9 digits of a DECIMAL
_BASE64_LINE = 76


class DocumentError(ValueError):
    """A value is not a JSON document, or one that MySQL refuses.

    `what` says why, `errno` is MySQL's error number, `offset` the byte of the document where it was found, `row` the
    document's index in its column; None if unknown."""

    def __init__(self, what: str, errno: int, offset: int | None = None, row: int | None = None):
        super().__init__(what, errno, offset, row)
        self.what, self.errno, self.offset, self.row = what, errno, offset, row

    def __str__(self) -> str:
        at = "" if self.offset is None else f" at byte {self.offset}"
        row = "" if self.row is None else f"row {self.row}: "
        return f"{row}{self.what}{at} (MySQL error {self.errno})"


class Unsigned(int):
    """An UNSIGNED INTEGER: documents distinguish it from the INTEGER of the same value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Unsigned({int(self)})"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a type that JSON does not have: `kind` is the column type (enum_field_types), `data` its bytes.

    A DECIMAL has the bytes precision and scale and its packed form, a date or time MySQL's packed integer of 64 bits.
    """

    kind: int
    data: bytes

    @property
    def is_number(self) -> bool:
        """True for a DECIMAL, whose text has no quotes."""
        return self.kind == DECIMAL

    def text(self) -> str:
        """The value as documents show it, without the quotes: the digits of a DECIMAL, 2024-02-29, 12:00:00.000000,
        base64:type252:/w==. Raises DocumentError if the bytes are malformed."""
        if self.kind == DECIMAL:
            return _decimal_text(self.data)
        if self.kind in (DATE, TIME, DATETIME, TIMESTAMP):
            return _temporal_text(self.kind, self.data)
        if self.kind == VAR_STRING:
            with suppress(UnicodeDecodeError):
                return self.data.decode()
        digits = base64.b64encode(self.data).decode()
        lines = (digits[at : at + _BASE64_LINE] for at in range(0, len(digits), _BASE64_LINE))
        return f"base64:type{self.kind}:" + "\n".join(lines)


Array: TypeAlias = list["Document"]
Object: TypeAlias = dict[str, "Document"]
Document: TypeAlias = bool | int | float | str | Opaque | Array | Object | None


def utf8(text: str) -> bytes:
    """The bytes of text. Raises DocumentError if it has surrogates."""
    if not isinstance(text, str):
        raise TypeError(f"a key is a {type(text).__name__}, not text")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise DocumentError("a string has a surrogate without its other half", INVALID_BINARY) from None


def member_order(key: str) -> tuple[int, bytes]:
    """The sort key of an object's members: shorter names first, then by their bytes (Json_key_comparator)."""
    name = utf8(key)
    return len(name), name


def in_order(members: Object) -> Object:
    """The members of an object by `member_order`; the same dict if they have that order."""
    names = sorted(members, key=member_order)
    return members if names == list(members) else {name: members[name] for name in names}


def _decimal_text(data: bytes) -> str:
    """The digits of a packed DECIMAL (decimal2bin in strings/decimal.cc): groups of nine digits in big-endian words, a
    shorter group first and last, the sign in the top bit, all bits inverted if negative."""
    precision, scale = data[:2] if len(data) > 2 else (0, 0)
    whole = precision - scale
    widths = [whole % 9] + whole // 9 * [9] + scale // 9 * [9] + [scale % 9]
    sizes = [_DIGIT_BYTES[width] for width in widths]
    packed = data[2:]
    if precision > _MAX_PRECISION or scale > _MAX_SCALE or whole < 0 or not packed or len(packed) != sum(sizes):
        raise _malformed("DECIMAL")
    negative = packed[0] < 128
    number = int.from_bytes(packed, "big") ^ 128 << 8 * (len(packed) - 1)
    if negative:
        number ^= (1 << 8 * len(packed)) - 1
    digits, packed, at = "", number.to_bytes(len(packed), "big"), 0
    for width, size in zip(widths, sizes):
        group = int.from_bytes(packed[at : at + size], "big")
        if group >= 10**width:
            raise _malformed("DECIMAL")
        digits += f"{group:0{width}}" if width else ""
        at += size
    text = digits[:whole].lstrip("0") or "0"
    return ("-" if negative else "") + text + ("." + digits[whole:] if scale else "")


def _temporal_text(kind: int, data: bytes) -> str:
    """A packed date or time as text (TIME_to_longlong_…_packed in sql-common/my_time.cc): from the lowest bit on 24
    bits of microseconds, 6 seconds, 6 minutes, then hours; with a date 5 hours, 5 days and year × 13 + month."""
    packed = int.from_bytes(data, "little", signed=True)
    negative, packed = packed < 0, abs(packed)
    micros, clock = packed & 0xFFFFFF, packed >> 24
    second, minute, hour = clock & 63, clock >> 6 & 63, clock >> 12 & (1023 if kind == TIME else 31)
    if len(data) != 8 or micros > 999_999 or second > 59 or minute > 59 or hour > (838 if kind == TIME else 23):
        raise _malformed("date or time")
    time = f"{hour:02}:{minute:02}:{second:02}.{micros:06}"
    if kind == TIME:
        if clock >> 22:
            raise _malformed("date or time")
        return ("-" if negative else "") + time
    day, (year, month) = clock >> 17 & 31, divmod(clock >> 22, 13)
    if negative or year > 9999:
        raise _malformed("date or time")
    return f"{year:04}-{month:02}-{day:02}" + ("" if kind == DATE else " " + time)


def _malformed(what: str) -> DocumentError:
    return DocumentError(f"a {what} value is malformed", INVALID_BINARY)
