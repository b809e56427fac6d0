"""The form that a value of an expression has for a column: text in which character set, bytes, how many digits."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets import exact_text
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, DATES, GEOMETRY, MEMBERS, NETWORK, NUMBERS, TEMPORAL, ColumnType
from applier.sql.casting import members
from applier.sql.casting.shown_numbers import written
from applier.sql.casting.texts import WIDE, by_distinct, in_charset
from applier.sql.values import BYTES, DOUBLE, TEXT, Value, as_bytes, as_text, is_ascii_data

FIELDS = frozenset({"char", "varchar", "binary", "varbinary"})
"""Types that are converted from a column's number, not from the text that it is shown as: a FLOAT's double, a YEAR
without zeros."""
_OF_OTHER_PARTS = [{"time", base} for base in sorted(DATES)]
"""A TIME and a type of dates, which hold other parts of a text."""


def in_charset_of(value: Value, wanted: ColumnType, session: Session) -> Value:
    """The value as text of the column's character set, or as its bytes. Raises NotComputable for bytes that may be
    text."""
    if value.is_text and value.type.charset != wanted.charset and wanted.base not in BINARY:
        value = replace(value, values=exact_text.shown(value.values, value.type.charset))
        if any("?" in member for member in wanted.members):
            value = replace(value, values=in_charset(value.values, wanted.charset or "utf8mb4"))
    if wanted.base in BINARY and value.type.base in NETWORK and not value.is_column:
        value = Value(as_text(value, session), TEXT, value.constant)  # of a column, its 16 bytes
    if value.type.base in GEOMETRY and is_string(wanted) and value.is_column and session.flavour == "mariadb":
        value = replace(value, type=BYTES)
    if wanted.base in BINARY and (value.is_text or value.type.charset in WIDE):
        value = Value(as_bytes(value, session), BYTES, value.constant)
    if value.beside_charset is not None and is_string(wanted) and wanted.base not in BINARY and not (
            value.beside_charset == wanted.charset or {value.beside_charset, wanted.charset} <= UTF8
            or is_ascii_data(value.values)):
        raise NotComputable("text beside bytes, one of which is chosen, and which is not ASCII")
    if wanted.charset in WIDE and value.type.base in BINARY and value.digits is False and value.is_loose and not (
            wanted.charset in ("ucs2", "utf16") and session.flavour == "mysql"):
        raise NotComputable("bytes that functions make as text in a wide character set")
    return value


def as_chosen_and_shown(value: Value, wanted: ColumnType, session: Session) -> Value:
    """The value as the text that it is shown as, where the column gets this text and not the value; a double that is
    computed has all of its digits. Raises NotComputable."""
    if value.shown is not None and wanted.base not in MEMBERS and (wanted.charset or wanted.base in BINARY):
        shown = pc.if_else(value.values.is_valid(), value.shown, pa.scalar(None, pa.string()))
        width = (value.type.base == "double" and wanted.base in FIELDS and wanted.length) or 0
        if width and pc.any(pc.greater(pc.utf8_length(shown), width)).as_py():
            shown = by_distinct(value.values, lambda number: written(number, width))
        value = Value(shown, TEXT, value.constant)
    if value.is_choice and value.type.base in TEMPORAL and session.flavour == "mysql" and (
            wanted.base in NUMBERS | {"year"} or {value.type.base, wanted.base} in _OF_OTHER_PARTS):
        value = Value(as_text(value, session), TEXT, value.constant)  # MariaDB converts it by its value
    if value.is_choice and value.type.base in MEMBERS:  # of NULLIF, whose label counts
        value = Value(as_text(value, session), TEXT, value.constant)
    if value.type.base == "double" and not value.is_column and (session.flavour == "mysql" or not value.shows) and (
            is_string(wanted) or wanted.base in TEMPORAL):
        value = replace(value, type=DOUBLE, shows=True)  # it has all digits, however many a function shows
    return value


def is_string(wanted: ColumnType) -> bool:
    """True for columns of text or of bytes."""
    return wanted.base in BINARY or (wanted.charset is not None and wanted.base not in {*MEMBERS, "json"})


def is_no_number(value: Value, wanted: ColumnType, session: Session) -> bool:
    """Return whether digits count as text only, and not as the number of a member: text that gets into a wide character
    set, or out of one, and bytes. Raises NotComputable for digits in a table in a wide character set."""
    if not value.is_text:
        return value.type.base in BINARY and wanted.charset in WIDE
    is_apart = not members.are_read_alike(value.type, wanted)
    if is_apart and {session.made_in, session.literals} & WIDE and pc.any(pc.utf8_is_digit(value.values)).as_py():
        raise NotComputable("a member's number in text that functions may make in a wide character set")
    return is_apart
