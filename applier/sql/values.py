"""The values of an expression's nodes: whole columns, and the type that the server gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql import types
from applier.mysql.character_sets.client_charsets import UTF8, CodedText
from applier.mysql.character_sets.exact_text import shown, with_placeholders, written
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values import decimals
from applier.mysql.values.value_texts import exact_texts
from applier.sql.casting import shown_numbers
from applier.sql.casting.byte_strings import as_ascii, bytes_of_text
from applier.sql.casting.texts import BMP, WIDE, by_distinct, in_charset
from applier.sql.casting.values import SHOWN, convert_values
from applier.sql.nodes import Call

TEXT = SHOWN
JSON = ColumnType("json")
DOUBLE = ColumnType("double")
WHOLE_NUMBER = ColumnType("bigint")
NULL = ColumnType("null")
BOOL = ColumnType("decimal", precision=1, scale=0)
"""The type of 1 and 0 that are true and false in a document; a column of an equal type has numbers."""
PERHAPS_BOOL = replace(BOOL)
"""The type of 1 and 0 that may be true and false in a document."""
BYTES = ColumnType("longblob")
SEVERAL = ""
"""Stands for the collation of text made of texts with different collations."""
WHOLE = pa.decimal128(38, 0)


@dataclass(frozen=True)
class Value:
    """`values` has one for each row, or, if `constant`, one for all of them. `digits`: it was written in hexadecimal
    digits or bits, which are a number where one is needed; None if that is unknown: in MariaDB 0x41 is a number, X'41'
    is not, and definitions of older versions do not distinguish them. `shows`: the number of decimals that a number is
    shown with is known; `is_column`: it is an unchanged column; `is_choice`: it is one of several, as from CASE;
    `is_loose`: it is bytes of a literal or made by a function, which are text beside a column's text. `shown`: the text
    that a column has of each value, where `type` does not tell how many digits that has; functions have it if
    `in_text`. `text_scale`: the decimals with which functions show a number, where `shows` does not hold, or the digits
    of a second that MariaDB expects in text that is not constant, None for six. `is_instant`: it is text to which an
    interval or a time was added, or, in MySQL, the greatest or least (`shown`) of dates and text: where a date, a time
    or a number is needed, it is that, or all its digits. `is_document`: it is a
    document to MariaDB, though its type is that of text or bytes: a column with the constraint JSON_VALID, or a choice
    of such columns. `is_sum`: it is a time of MySQL's ADDTIME, which functions show with six digits of a second if it
    has a fraction, else with none. `is_explicit`: COLLATE says its collation, so text beside it becomes text in
    its character set. `by_row`: `shown` has other digits from row to row, and not only for whole seconds.
    `has_other_number`: where MariaDB needs a number, it does not read it out of this: GREATEST and LEAST of texts then
    choose among numbers, JSON_EXTRACT finds one in text that is no document, and a rounded time has no sign.
    `is_recoded`: it is text that CONVERT … USING made of a number or a date, which MariaDB has where it needs a date.
    `beside_charset`: it is bytes, digits or a BIT chosen beside text of this character set ("" for several), which is
    text to other functions.
    `is_of_dates`: it is a date, a time or a YEAR chosen beside text in MySQL: text only to functions of text.
    `is_of_numbers`: it is a number, a time or a YEAR chosen beside text in MySQL: dates are read out of the chosen one.
    `fewest_decimals`: those of the columns of FLOAT(M,D) and DOUBLE(M,D) from which it was computed.
    """

    values: pa.Array
    type: ColumnType
    constant: bool = False
    digits: bool | None = False
    shows: bool = True
    is_column: bool = False
    is_choice: bool = False
    is_loose: bool = False
    shown: pa.Array | None = None
    in_text: bool = False
    text_scale: int | None = None
    is_instant: bool = False
    is_document: bool = False
    is_sum: bool = False
    is_explicit: bool = False
    by_row: bool = False
    has_other_number: bool = False
    is_recoded: bool = False
    beside_charset: str | None = None
    is_of_dates: bool = False
    is_of_numbers: bool = False
    fewest_decimals: int | None = None

    def of_rows(self, n: int) -> pa.Array:
        """One value for each of n rows."""
        return pa.repeat(self.values[0], n) if self.constant else self.values

    @property
    def is_text(self) -> bool:
        return self.type.base in types.TEXT

    @property
    def is_null(self) -> bool:
        """True for the literal NULL, which has no type."""
        return self.type is NULL


Arguments: TypeAlias = list[Value]
Function: TypeAlias = Callable[[Arguments, Call, Session, int], Value]
"""Computes a call for n rows. Raises NotComputable."""
Compute: TypeAlias = Callable[..., pa.Array]
"""A function of arrays, as pyarrow.compute has them."""


def constant(scalar: pa.Scalar, type_: ColumnType) -> Value:
    """The same value for all rows."""
    return Value(pa.repeat(scalar, 1), type_, constant=True)


def numbers(values: pa.Array, *, constant: bool) -> Value:
    """Exact numbers or doubles as an expression's value."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_floating(values.type):
        return Value(values, DOUBLE, constant)
    if not pa.types.is_decimal(values.type):
        values = values.cast(WHOLE)
    return Value(values, exact_type(values.type.scale), constant)


def of_seconds(values: pa.Array, *, constant: bool) -> Value:
    """Exact numbers of seconds that MariaDB computes of times with a fraction: a column of text has six digits behind
    the point, or none of whole seconds; functions show those of the type."""
    shown = by_distinct(values, lambda one: f"{one:.6f}".removesuffix(".000000"))
    made = numbers(values, constant=constant)
    return replace(made, shows=False, shown=shown, text_scale=made.type.scale)


def has_seconds(value: Value) -> bool:
    """True for such numbers."""
    return value.type.base == "decimal" and not value.shows and value.shown is not None and \
        value.text_scale == value.type.scale and not value.by_row


def exact_type(scale: int) -> ColumnType:
    """The type of exact numbers with this many decimals."""
    return ColumnType("decimal", precision=38, scale=scale) if scale else WHOLE_NUMBER


def together(values: list[Value], n: int) -> list[pa.Array]:
    """The arrays of some values, all of one length."""
    if all(value.constant for value in values):
        return [value.values for value in values]
    return [value.of_rows(n) for value in values]


def converted(value: Value, type_: ColumnType, session: Session) -> Value:
    """A value converted to another type, as the server does implicitly. Raises NotComputable."""
    if value.is_null:
        return value
    return replace(value, values=convert_values(value.values, value.type, type_, session), type=type_, digits=False)


def as_number(value: Value, session: Session) -> pa.Array:
    """A value's numbers: exact ones as decimal128(38, scale), else doubles. Raises NotComputable."""
    values, base = value.values, value.type.base
    if value.is_null:
        return pa.nulls(len(values), WHOLE)
    check_number(value)
    if value.is_instant and value.is_text:
        if value.is_choice:  # also of other text
            raise NotComputable("chosen text to which an interval was added as a number")
        return digits_of_instants(value).cast(pa.float64())
    if value.digits is None:
        raise NotComputable("hexadecimal digits as a number")
    if value.type.compressed:
        raise NotComputable("a COMPRESSED column as a number")  # functions that read a DECIMAL find 0
    if value.digits:
        if session.flavour == "mysql" and any(not data or int.from_bytes(data, "big") > _OF_DOUBLE
                                              for data in values.drop_null().to_pylist()):
            raise NotComputable("so many hexadecimal digits, or none, as a number")  # some functions take a double
        return pa.array([Decimal(int.from_bytes(data, "big")) for data in values.to_pylist()], WHOLE)
    if base in types.BINARY:
        return convert_values(as_ascii(values, value.type, TEXT, session), TEXT, DOUBLE, session).cast(pa.float64())
    if value.is_text or base in types.MEMBERS:  # whose numbers are exact in MariaDB
        made = convert_values(values, value.type, DOUBLE, session)
        return made.cast(WHOLE if base in types.MEMBERS and session.flavour == "mariadb" else pa.float64())
    if base in types.TEMPORAL:
        exact = ColumnType("decimal", precision=20 + value.type.fsp, scale=value.type.fsp)
        return convert_values(values, value.type, exact, session).cast(pa.decimal128(38, value.type.fsp))
    if pa.types.is_floating(values.type):
        return values.cast(pa.float64())
    if pa.types.is_integer(values.type) and base in {*types.INTEGERS, "year", "bit"}:
        return values.cast(WHOLE)
    if pa.types.is_decimal(values.type):
        return values.cast(pa.decimal128(38, values.type.scale))
    raise NotComputable(f"{base.upper()} as a number")


_OF_DOUBLE = 1 << 53


def check_number(value: Value) -> None:
    """Raise NotComputable for a value whose number is another one: GREATEST('9', '10') + 0 is 10."""
    if value.has_other_number:
        raise NotComputable("a number that MariaDB does not read out of a function's result")


def digits_of_instants(value: Value) -> pa.Array:
    """Text of dates and times (`is_instant`) as text of numbers, without what is between the digits."""
    return pc.replace_substring_regex(value.values, "([0-9])[-: ]", r"\1")


def beside_narrow(value: Value, charset: str | None, session: Session) -> Value:
    """Text that MariaDB converts to `charset`, that of a column beside it or one said by COLLATE, with "?" for each
    character of four bytes if the set has none; other values unchanged. Raises NotComputable for a function's text,
    since that of some functions has the other set converted, and if the set is unknown (None)."""
    if session.flavour == "mysql" or charset not in _PERHAPS_NARROW or charset == value.type.charset or not \
            pa.types.is_string(value.values.type) or (made := in_charset(value.values, "ucs2")).equals(value.values):
        return value
    if charset is None or value.type.collation is None:
        raise NotComputable(f"a character of four bytes in {charset or 'a character set that is not known'}")
    return replace(value, values=made)


_PERHAPS_NARROW = BMP | {None}


def is_choice_of_digits(value: Value) -> bool:
    """True for exact numbers that functions show with as many digits as the one with the most has."""
    return value.shown is not None and value.type.base == "decimal" and value.is_choice


def as_text(value: Value, session: Session, charset: str | None = TEXT.charset) -> pa.Array:
    """A value's text, as the server has it in a character set. Only in the value's own set does text keep codes that a
    SELECT does not show (`exact_text`). Raises NotComputable, also for such codes if `charset` is None, an unknown
    set."""
    if value.is_null:
        return pa.nulls(len(value.values), pa.string())
    value = beside_narrow(value, charset, session)
    if value.is_text and charset != value.type.charset:
        if charset is None and with_placeholders(value.values, value.type.charset) is not None:
            raise NotComputable("text that a SELECT does not show in a character set that is not known")
        return written(shown(value.values, value.type.charset), charset)
    if value.type.base in types.MEMBERS and any(
            pc.any(pc.match_substring(value.values, label)).as_py() for label in value.type.members
            if isinstance(label, CodedText)):
        raise NotComputable(f"labels whose bytes are not text in {value.type.charset}")
    if value.type.base in types.MEMBERS and value.type.charset == "binary" and not is_ascii(value.values):
        raise NotComputable("labels that are bytes and not ASCII")
    if value.is_text or value.type.base in (*types.MEMBERS, "json"):
        return value.values
    if is_choice_of_digits(value) and value.in_text:
        return pc.if_else(value.values.is_valid(), value.shown, pa.scalar(None, pa.string()))
    if not value.shows and value.text_scale is not None:
        return exact_texts(decimals.rounded(value.values, value.text_scale))
    if value.type.base in {"bit", *types.BINARY, *types.GEOMETRY} or not (value.shows or is_choice_of_digits(value)):
        raise NotComputable(f"{value.type.base.upper()} as text")
    if value.is_sum and value.type.base == "time":
        exact = convert_values(value.values, ColumnType("time", fsp=6), TEXT, session)
        return pc.replace_substring_regex(exact, r"\.0+$", "")
    if is_computed_double(value):
        return shown_numbers.computed(value.values, session.flavour)
    return convert_values(value.values, value.type, TEXT, session)


def is_computed_double(value: Value) -> bool:
    """Whether a value is a double that is no column's, for which MySQL has fewer characters."""
    return value.type.base == "double" and value.type.scale is None and not value.is_column


def shown_bytes(value: Value) -> pa.Array:
    """Bytes that are ASCII as text, whatever its character set. Raises NotComputable for others."""
    if not is_ascii_data(value.values):
        raise NotComputable("bytes that are not ASCII as text")
    return value.values.cast(pa.string())


def as_bytes(value: Value, session: Session) -> pa.Array:
    """A value's text as bytes. Raises NotComputable if its character set is unknown."""
    if value.type.base in types.BINARY | types.GEOMETRY:
        return value.values
    charset = value.type.charset if value.is_text or value.type.base in {*types.MEMBERS, "json"} else None
    text = as_text(value, session, charset)
    if charset is not None:
        return bytes_of_text(text, charset)
    if is_ascii(text):
        return text.cast(pa.binary())
    raise NotComputable("the bytes of text in a character set that is not known")


def type_of_bytes(values: Arguments) -> ColumnType:
    """The type of bytes that are not longer than all these values together: VARBINARY if that is surely short enough
    for one, else BYTES, for a type that is unknown."""
    lengths = [_most_bytes(value) for value in values]
    length = len(lengths) * sum(length or 0 for length in lengths)
    return BYTES if None in lengths or length >= NO_VARBINARY else ColumnType("varbinary", length=length)


def _most_bytes(value: Value) -> int | None:
    """An upper bound of the bytes that a server expects in a value; None if it is unknown."""
    if value.constant and (value.is_text or value.type.base in types.BINARY):
        return max((len(one or "") for one in value.values.to_pylist()), default=0) * _CHARACTER
    if value.is_null or value.type.base in types.NUMBERS | types.TEMPORAL:
        return _NUMBER
    return None if value.type.length is None else value.type.length * _CHARACTER


NO_VARBINARY, _CHARACTER, _NUMBER = 1 << 16, 4, 100
"""In bytes: a length that no VARBINARY has, and the most of a character and of a number."""


def text_type(charset: str | None, collation: str | None) -> ColumnType:
    """The type of text with this character set and collation, as far as they are known."""
    return replace(TEXT, charset=charset, collation=collation)


def is_ascii_data(data: pa.Array) -> bool:
    """Return whether all these bytes are ASCII."""
    return all(one is None or one.isascii() for one in data.unique().to_pylist())


def collation_of(values: list[Value]) -> str | None:
    """The collation of text made of these; None if no text among them has one of its own."""
    collations = {value.type.collation for value in values} - {None}
    return None if not collations else collations.pop() if len(collations) == 1 else SEVERAL


def common_charset(values: list[Value]) -> str | None:
    """The character set of text made of these: that of columns, else that of literals; None if it is unknown. Text of
    a function may have its set from a document or from the session."""
    texts = [value for value in values
             if value.is_text or value.type.base in types.MEMBERS or value.type.charset in WIDE]
    if said := next((value.type.charset for value in texts if value.is_explicit), None):
        return said
    own = {value.type.charset for value in texts if value.type.collation is not None}
    made = {value.type.charset for value in texts if value.type.collation is None and not value.constant}
    if own and made and not own <= UTF8:
        return None
    given = {value.type.charset for value in texts if value.type.collation is None and value.constant}
    if made - {*UTF8, *WIDE, None} and given - made and not own:  # of the same standing
        return None
    charsets = own or made or {value.type.charset for value in texts} or {"utf8mb4"}
    wide = charsets & WIDE
    if len(charsets) == 1 or (len(wide) == 1 and not charsets & {*UTF8, None}):
        return (wide or charsets).pop()
    return None if wide else next((widest for widest in _WIDEST if widest in charsets), None)


_WIDEST = ("utf8mb4", "utf8mb3")
"""The sets that text in several of them is converted to; where one of them is beside a wide one, servers differ."""


def is_ascii(text: pa.Array) -> bool:
    """True if all text is ASCII; NULLs do not count."""
    return pc.all(pc.string_is_ascii(text)).as_py() is not False


def as_truth(value: Value, session: Session) -> pa.Array:
    """True if a value is not zero; NULL for NULL."""
    found = as_number(value, session)
    return pc.not_equal(found, pa.scalar(0, found.type) if pa.types.is_floating(found.type) else
                        pa.scalar(Decimal(0), found.type))


def truth(values: pa.Array, *, constant: bool) -> Value:
    """1 and 0."""
    return Value(values.cast(pa.int8()).cast(WHOLE), BOOL, constant)


def one(value: Value) -> Any:
    """The value of a constant in Python. Raises NotComputable if it differs from row to row."""
    if not value.constant:
        raise NotComputable("an argument that is not the same in every row")
    return value.values[0].as_py()
