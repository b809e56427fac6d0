"""Functions that write numbers, bytes and text in other codes, over whole columns: digits of other bases, base64,
addresses and checksums.

Source: MySQL manual, "String Functions and Operators", "Mathematical Functions", "Miscellaneous Functions"; judged by
MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
import zlib
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charset_tables import MULTI_BYTE
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.collations import charset_name
from applier.mysql.session import Session
from applier.mysql.types import BINARY, INTEGERS, MEMBERS, NETWORK, TEMPORAL
from applier.sql.casting.byte_strings import bytes_of_text, read_as_text, to_text
from applier.sql.casting.texts import SINGLE_BYTE, WIDE, by_distinct, in_charset
from applier.sql.functions.collated import EACH_BYTE
from applier.sql.functions.combinations import computed
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    TEXT,
    WHOLE,
    WHOLE_NUMBER,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_number,
    as_text,
    as_truth,
    numbers,
    shown_bytes,
    text_type,
    together,
    truth,
)
from applier.sql.values import constant as constant_of
from applier.sql.whole_numbers import whole_numbers

_DIGITS = string.digits + string.ascii_uppercase
_BASES = range(2, 37)
_NUMBER = re.compile(r"\s*([+-]?)([0-9A-Z]*)")
_WORDS = 1 << 64
_LARGEST = {True: (1 << 63) - 1, False: _WORDS - 1}
_BEYOND = "[\\x{10000}-\\x{10ffff}]"
"""Characters that utf8mb3 does not have."""
_LINE = 76
"""Characters of a line of base64."""


def _of_bytes(function: Callable[[bytes], object], kind: pa.DataType, *, ascii_only: bool = False) -> Function:
    """A function of one argument's bytes; `ascii_only`: of those of its characters, in any character set."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        if ascii_only and value.is_text:
            value = replace(value, values=value.values.cast(pa.binary()), type=BYTES)
        made = by_distinct(as_bytes(value, session), lambda data: None if data is None else function(data), kind)
        if pa.types.is_integer(kind):
            return numbers(made, constant=value.constant)
        return Value(made, BYTES if pa.types.is_binary(kind) else TEXT, value.constant)

    return called


def _to_base64(data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return "\n".join(text[at:at + _LINE] for at in range(0, len(text), _LINE))


def _from_base64(data: bytes) -> bytes | None:
    try:
        return base64.b64decode(b"".join(data.split()), validate=True)
    except binascii.Error:
        return None


def _address(data: bytes) -> int | None:
    """INET_ATON: bytes before the last point count from the left, those behind it from the right."""
    parts = data.split(b".")
    if not all(re.fullmatch(rb"\d*", part) for part in parts) or not parts[-1] or any(
            int(part or b"0") > 255 for part in parts):
        return None
    if len(parts) > 4:
        raise NotComputable("INET_ATON of more than four numbers")
    *first, last = (int(part or b"0") for part in parts)
    return sum(number << 8 * (3 - place) for place, number in enumerate(first)) + last


def _dotted(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """INET_NTOA."""
    value = whole_numbers(arguments[0], session)

    def shown(number: Decimal) -> str | None:
        return ".".join(map(str, int(number).to_bytes(4, "big"))) if 0 <= number < 1 << 32 else None

    return Value(computed([value.values], shown, pa.string()), TEXT, value.constant)


def _first_character(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """ORD: the bytes of the first character as one number."""
    [value] = arguments
    charset = value.type.charset or "utf8mb4"
    if value.is_text and charset not in UTF8 | SINGLE_BYTE:
        first = bytes_of_text(pc.utf8_slice_codeunits(value.values, 0, 1), charset)
        return numbers(by_distinct(first, lambda data: None if data is None else int.from_bytes(data), pa.int64()),
                       constant=value.constant)
    if value.type.base in BINARY or charset in SINGLE_BYTE:
        return FUNCTIONS["ASCII"](arguments, call, session, n)
    made = by_distinct(as_text(value, session),
                       lambda text: None if text is None else int.from_bytes(text[:1].encode(), "big"), pa.int64())
    return numbers(made, constant=value.constant)


def _quote(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if session.flavour == "mariadb" and {value.type.charset, session.literals} & WIDE and (
            value.type.base in BINARY or value.values.null_count):
        raise NotComputable("QUOTE of NULL or of bytes in a wide character set")
    if value.type.base in BINARY and session.flavour == "mariadb":
        text = to_utf8(value.values.fill_null(b""), EACH_BYTE)
        made = bytes_of_text(by_distinct(text, lambda one: "'" + one.translate(_QUOTED) + "'"), EACH_BYTE)
        return Value(pc.if_else(value.values.is_valid(), made, b"NULL"), BYTES, value.constant)
    if value.type.base in BINARY and value.digits is not True and session.literals in UTF8 and \
            session.made_in in (None, *UTF8):
        value = Value(shown_bytes(value), TEXT, value.constant)  # ASCII, or not computable
    has_own = value.is_text or value.type.base in MEMBERS
    type_ = text_type(value.type.charset, value.type.collation) if has_own else TEXT
    text = as_text(value, session, type_.charset)
    if type_.charset in MULTI_BYTE:  # through Unicode
        text, exact = as_text(value, session), text
        if session.flavour == "mariadb" and not pc.count_substring(text, "?").equals(pc.count_substring(exact, "?")):
            raise NotComputable(f"QUOTE of codes of {type_.charset} without a character")  # NULL
    made = by_distinct(text.fill_null(""), lambda one: "'" + one.translate(_QUOTED) + "'")
    if type_.charset in MULTI_BYTE:
        made = in_charset(made, type_.charset)
    nulls = [place for place, one in enumerate(text.is_null().to_pylist()) if one] if text.null_count else []
    if nulls:
        made = pa.array(["NULL" if place in set(nulls) else one for place, one in enumerate(made.to_pylist())])
    return Value(made, type_, value.constant)


_QUOTED = str.maketrans({"'": "\\'", "\\": "\\\\", "\0": "\\0", "\x1a": "\\Z"})


_NEXT = 2.0**63


def _characters(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """CHAR: the bytes of numbers, without zero bytes before them; of a character set, if one is named, which MySQL does
    not keep in a table's expressions. Of NULL alone it is empty in MariaDB's tables, but NULL in a new default."""
    values = [whole_numbers(value, session) for value in arguments]
    if any(value.is_column and value.type.base in ("double", "float") and
           pc.any(pc.equal(value.values, _NEXT)).as_py() for value in arguments):
        raise NotComputable("CHAR of a column's 9223372036854775808 in a FLOAT or DOUBLE")

    def data(*given: Decimal | None) -> bytes:
        return b"".join(_shortest(int(number) % (1 << 32)) for number in given if number is not None)

    charset = charset_name(call.word)
    made, constant = computed(together(values, n), data, pa.binary(), of_nulls=True), all(
        value.constant for value in values)
    if charset in ("", "binary") or session.flavour == "mysql":
        return Value(made, BYTES, constant)
    if all(value.is_null for value in values):
        raise NotComputable("CHAR of NULL alone")
    type_ = text_type(charset, None)
    if charset in SINGLE_BYTE - {"ascii", "swe7"}:
        return Value(to_text(made, BYTES, type_, session), type_, constant)
    if charset not in {*UTF8, "ascii"}:
        raise NotComputable(f"CHAR in {charset}")
    return Value(by_distinct(made, partial(read_as_text, charset=charset, session=session)), type_, constant)


def _shortest(number: int) -> bytes:
    return number.to_bytes(max(1, -(-number.bit_length() // 8)), "big")


def _hex(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """HEX: of bytes, and of numbers rounded."""
    [value] = arguments
    if value.type.base in NETWORK:  # of its 16 bytes
        raise NotComputable(f"HEX of {value.type.base.upper()}")
    if value.is_null or value.digits is not False or not _is_number(value):
        return _of_bytes(lambda data: data.hex().upper(), pa.string())(arguments, call, session, n)

    if session.flavour == "mysql" and value.type.base in ("decimal", "bigint"):
        value = whole_numbers(value, session)

    def shown(number: Decimal | float) -> str:
        if isinstance(number, float):
            if abs(number) >= 2.0**63:
                raise NotComputable("HEX of so large a double")
            half = 0.5 if number > 0 else -0.5
            number = Decimal(round(number) if session.flavour == "mysql" else int(number + half))
        whole = int(number.to_integral_value("ROUND_HALF_UP"))
        if session.flavour == "mariadb" and value.type.base not in INTEGERS:
            whole = int(float(number) + (0.5 if number > 0 else -0.5))
        return f"{whole % _WORDS if session.flavour == 'mysql' else _word(whole, value):X}"

    return Value(computed([as_number(value, session)], shown, pa.string()), TEXT, value.constant)


def _word(whole: int, value: Value) -> int:
    """What MariaDB's HEX has of a number: of a DECIMAL that of its double. Raises NotComputable for one of which it is
    not known whether it is a DECIMAL's."""
    double = float(whole)
    if value.type.base in INTEGERS and -_WORDS // 2 <= whole < _WORDS and (
            value.is_column or value.type.unsigned or value.type.base != "bigint" or
            int(double + (0.5 if whole > 0 else -0.5)) == whole):
        return whole % _WORDS
    if value.type.base in INTEGERS and abs(whole) < _WORDS:
        raise NotComputable("HEX of a large number that may be a DECIMAL")
    return int(double) % _WORDS if -_WORDS // 2 < double < _WORDS else _WORDS - 1


def _is_number(value: Value) -> bool:
    return value.type.base in {*INTEGERS, "decimal", "float", "double", "bit", "year"}


def _in_bases(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """CONV, from one base to another. The number is read as text, up to the first non-digit."""
    if len(arguments) != 3:
        raise NotComputable("CONV of so many arguments")
    value, *bases = arguments[0], *(whole_numbers(base, session) for base in arguments[1:])
    if session.flavour == "mysql" and value.constant and value.type.base in TEMPORAL:
        raise NotComputable("a literal of a date in another base")  # MySQL 9.7 shows other values
    if value.type.base == "bit" or (value.digits and session.flavour == "mysql"):  # a number, whatever the base
        value, bases[0] = numbers(as_number(value, session), constant=value.constant), constant_of(
            pa.scalar(Decimal(10), WHOLE), WHOLE_NUMBER)
    read = as_text(value, session).cast(pa.binary()) if value.is_text else as_bytes(value, session)
    text = Value(read, BYTES, value.constant)  # characters, in whatever set

    def shown(data: bytes, source: Decimal, target: Decimal) -> str | None:
        if abs(source) not in _BASES or abs(target) not in _BASES:
            if session.flavour == "mariadb" and 36 < max(abs(source), abs(target)) <= 62:
                raise NotComputable("CONV with a base beyond 36")
            return None
        return _digits(_read(data, int(source), session), int(target)) if data else None

    return Value(computed(together([text, *bases], n), shown, pa.string()), TEXT, all(
        one.constant for one in (text, *bases)))


def _read(data: bytes, base: int, session: Session) -> int:
    """The 64 bits of the number that text begins with."""
    found = _NUMBER.match(data.decode("latin-1").upper())
    sign, digits = found.groups() if found else ("", "")
    valid = re.match(f"[{_DIGITS[:abs(base)]}]*", digits)
    size = int(valid[0], abs(base)) if valid and valid[0] else 0
    largest = _LARGEST[base < 0]
    if size > largest + (base < 0 and sign == "-"):
        if sign == "-" and base > 0:
            raise NotComputable("CONV of so small a number")
        return (1 << 63 if sign == "-" else largest) if base < 0 else largest
    return (-size if sign == "-" else size) % _WORDS


def _digits(bits: int, base: int) -> str:
    sign = ""
    if base < 0 and bits >> 63:
        bits, sign = _WORDS - bits, "-"
    made = ""
    while bits:
        bits, digit = divmod(bits, abs(base))
        made = _DIGITS[digit] + made
    return sign + (made or "0")


def _to_base(base: int) -> Function:
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        bases = [numbers(pa.array([Decimal(one)], pa.decimal128(38, 0)), constant=True) for one in (10, base)]
        return _in_bases([value, *bases], call, session, n)

    return called


_UUID = re.compile(r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})", re.IGNORECASE)
_UUID_FORM = re.compile(r"[^-{}]{32}|[^-{}]{8}(-[^-{}]{4}){3}-[^-{}]{12}|\{[^-{}]{8}(-[^-{}]{4}){3}-[^-{}]{12}\}")


def _uuid_digits(text: str) -> str | None:
    found = _UUID.fullmatch(text.strip("{}")) if _UUID_FORM.fullmatch(text) else None
    return None if found is None else "".join(found.groups()).lower()


def _of_uuid(function: Callable[[str, bool], object], kind: pa.DataType) -> Function:
    """UUID_TO_BIN and BIN_TO_UUID, whose second argument says that the time's parts are swapped."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        value, *swapped = arguments
        if call.name == "UUID_TO_BIN":
            texts = shown_bytes(value) if value.type.base in BINARY else as_text(value, session)
        else:
            texts = by_distinct(as_bytes(value, session), bytes.hex, pa.string())
        given = [Value(texts, TEXT, value.constant), *(replace(one, values=as_truth(one, session).fill_null(False))
                                                       for one in swapped)]
        made = computed(together(given, n), lambda text, swap=False: function(text, swap), kind)
        return Value(made, BYTES if pa.types.is_binary(kind) else TEXT, all(one.constant for one in given))

    return called


def _uuid_to_bytes(text: str, swap: bool) -> bytes:
    digits = _uuid_digits(text)
    if digits is None:
        raise NotComputable("UUID_TO_BIN of text that is no UUID")
    return bytes.fromhex(digits[12:16] + digits[8:12] + digits[:8] + digits[16:] if swap else digits)


def _bytes_to_uuid(digits: str, swap: bool) -> str:
    if len(digits) != 32:
        raise NotComputable("BIN_TO_UUID of other than 16 bytes")
    digits = digits[8:16] + digits[4:8] + digits[:4] + digits[16:] if swap else digits
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _is_uuid(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    made = by_distinct(as_text(value, session), lambda text: None if text is None else _uuid_digits(text) is not None,
                       pa.bool_())
    return truth(made, constant=value.constant)


FUNCTIONS: dict[str, Function] = {
    "TO_BASE64": _of_bytes(_to_base64, pa.string()),
    "FROM_BASE64": _of_bytes(_from_base64, pa.binary(), ascii_only=True),
    "CRC32": _of_bytes(zlib.crc32, pa.int64()), "INET_ATON": _of_bytes(_address, pa.int64(), ascii_only=True),
    "INET_NTOA": _dotted,
    "ASCII": _of_bytes(lambda data: data[0] if data else 0, pa.int64()), "ORD": _first_character,
    "QUOTE": _quote, "CHAR": _characters, "HEX": _hex,
    "CONV": _in_bases, "BIN": _to_base(2), "OCT": _to_base(8),
    "UUID_TO_BIN": _of_uuid(_uuid_to_bytes, pa.binary()), "BIN_TO_UUID": _of_uuid(_bytes_to_uuid, pa.string()),
    "IS_UUID": _is_uuid,
}
