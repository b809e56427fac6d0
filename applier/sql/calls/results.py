"""What calls make: in which character set, bytes or text, and whether its digits are known."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.calls.bytes_beside_text import beside_charset, chosen_of
from applier.sql.calls.registry import NOT_LENGTHENING
from applier.sql.casting.texts import WIDE
from applier.sql.functions import powers
from applier.sql.nodes import Call, Literal
from applier.sql.values import (
    BOOL,
    BYTES,
    TEXT,
    Value,
    as_text,
    has_seconds,
    is_ascii,
    text_type,
    type_of_bytes,
)

_IN_OWN_CHARSET = frozenset({"SOUNDEX", "QUOTE", "CHAR", "JSON_UNQUOTE", "JSON_QUOTE", "JSON_VALUE", "JSON_TYPE",
                             "JSON_COMPACT", "JSON_DETAILED", "JSON_KEYS"})
"""Functions whose text is not in the character set of literals, as text made of numbers is."""
_WITH_DIGITS = frozenset({"ROUND", "TRUNCATE"})
"""Functions that say with how many digits behind the point an exact number is shown."""
_OF_OPERANDS = frozenset({"+", "-", "*", "/", "MOD", "NEG", "ABS"})
"""Functions whose results have as many digits behind the point as their operands."""
_OF_TEXT = frozenset({"json", *BINARY})
"""Types that are text to arithmetic, beside those with a character set."""
_OF_DOUBLES = _OF_OPERANDS | powers.FUNCTIONS.keys() | {"FLOOR", "CEILING", "ROUND", "TRUNCATE"}
"""Functions of which the digits are known that MariaDB's functions show of their doubles."""
_WITHOUT_DIGITS = frozenset({"bigint", "date", "json", *BINARY})
"""Types of results that do not depend on how many digits of a number are shown, as text does not: a function that needs
a number's text does not compute where that is unknown."""
_OF_A_FORMAT = frozenset({"DATE_FORMAT", "TIME_FORMAT", "FROM_UNIXTIME"})
_IN_SESSION_CHARSET = frozenset({
    "HEX", "CONV", "BIN", "OCT", "TO_BASE64", "FORMAT", "INET_NTOA", "INET6_NTOA", "BIN_TO_UUID", "SPACE", "MD5", "SHA",
    "SHA1", "SHA2", "DATE_FORMAT", "TIME_FORMAT", "FROM_UNIXTIME", "MONTHNAME", "DAYNAME"})
"""Functions whose text is in the session's character set, which is a table's own where the table is opened: bytes, if
that is binary."""



def as_bytes_or_text(made: Value, call: Call, arguments: list[Value], given: list[Value], chosen: list[Value]) -> Value:
    """What a call makes, as bytes or text that others read: `given` are the arguments before they were read, `chosen`
    those of which it chooses one. Raises NotComputable."""
    is_explicit, parts = any(value.is_explicit for value in given), chosen or given
    if made.type.base in BINARY and any(value.is_explicit for value in parts) and any(
            value.type.base in {"bit", *BINARY} for value in parts):
        raise NotComputable("bytes beside text with COLLATE, which are text there")
    if made.is_text and made.type.collation is not None and is_explicit:
        made = replace(made, is_explicit=True)
    if made.type is BYTES and call.name in NOT_LENGTHENING:
        made = replace(made, type=type_of_bytes(arguments))
    if made.type.base in BINARY:
        made = replace(made, is_loose=all(value.is_loose for value in arguments if value.type.base in BINARY),
                       beside_charset=beside_charset(chosen_of(call.name, arguments)) if chosen else None)
    return made


def without_unknown_digits(made: Value, call: Call, arguments: list[Value], session: Session) -> Value:
    """What a call makes, which does not show its digits if it is unknown how many a server expects."""
    is_told = call.name == "MAKETIME" or (
        call.name in _WITH_DIGITS and made.type.base == "decimal" and len(arguments) > 1 and arguments[1].constant)
    if session.flavour == "mariadb" and made.type.base == "double" and call.name in _OF_OPERANDS and any(
            isinstance(node, Call) and (value.is_text or value.type.base in _OF_TEXT)
            for node, value in zip(call.arguments, arguments, strict=True)):
        return replace(made, shows=False)  # of each function that makes text, MariaDB expects other digits
    if session.flavour == "mariadb" and made.type.base == "double" and call.name in _OF_DOUBLES and all(
            value.shows for value in arguments):
        return made
    if is_told or made.is_text or made.type is BOOL or made.type.base in _WITHOUT_DIGITS or all(
            _shows(value) or (has_seconds(value) and not made.type.scale) for value in arguments):
        return made
    is_sure = made.text_scale is not None and all(_shows(value) or value.text_scale == value.type.scale
                                                  for value in arguments)
    return replace(made, shows=False, text_scale=made.text_scale if is_sure else None)
_IN_FIRST = frozenset({"LPAD", "RPAD", "INSERT", "REPLACE", "REGEXP_REPLACE"})
"""Functions that may keep the character set of an ASCII first argument, whatever the others have (seen on all servers):
it is unknown then."""


def in_its_charset(made: Value, call: Call, arguments: list[Value], session: Session) -> Value:
    """What a call makes, with the character set of text that functions make; MariaDB's documents have that of wide
    text in them."""
    own = session.made_in
    if call.name in _IN_FIRST and own not in UTF8 and made.is_text and made.type.collation is None and \
            not isinstance(call.arguments[0], Literal) and not arguments[0].is_explicit and \
            not is_ascii(made.values) and is_ascii(as_text(arguments[0], session)):
        return replace(made, type=text_type(None, None))
    if session.flavour == "mariadb" and made.is_text and made.type.collation is None and _is_beside_ascii(arguments):
        return replace(made, type=text_type(None, None))
    wide = {value.type.charset for value in arguments} & WIDE
    if made.type.base == "json" and session.flavour == "mariadb" and len(wide) == 1:
        return replace(made, type=replace(made.type, charset=wide.pop()))
    if made.type != TEXT:
        return made
    of_documents = any(value.type.base == "json" and value.type.charset is None for value in arguments)
    if session.flavour == "mariadb" and of_documents and own not in UTF8 and not is_ascii(made.values):
        return replace(made, type=text_type(None, None))
    if session.literals in WIDE:
        return made if call.name in _IN_OWN_CHARSET else replace(made, type=text_type(session.literals, None))
    if own is None or own in WIDE or call.name not in _IN_SESSION_CHARSET:
        return made
    if own == "binary":
        return replace(made, values=made.values.cast(pa.binary()), type=BYTES, is_loose=True)
    if session.flavour == "mysql" and own in UTF8:
        return made
    return replace(made, type=text_type(own if session.flavour == "mariadb" else None, None))


def _is_beside_ascii(arguments: list[Value]) -> bool:
    """True for a literal of a narrow set that is not ASCII beside one in Unicode that is: MariaDB may write both in the
    narrow one."""
    texts = [value for value in arguments if value.is_text and value.type.collation is None and value.constant]
    narrow = [value for value in texts if value.type.charset not in {*UTF8, *WIDE, None}]
    others = [value for value in texts if value.type.charset in UTF8]
    return bool(narrow and others) and all(is_ascii(value.values) for value in others) and not all(
        is_ascii(value.values) for value in narrow)


def without_fraction(made: Value, call: Call, session: Session) -> Value:
    """What a call makes, as text in which MariaDB expects whole seconds if it is a cast or made by a format."""
    expects_none = made.is_text or made.type.base in BINARY
    is_one = call.name in _OF_A_FORMAT or (call.name == "CAST" and not call.word.startswith("CHARSET "))
    return replace(made, text_scale=0) if session.flavour == "mariadb" and expects_none and is_one else made


def _shows(value: Value) -> bool:
    """False also for a FLOAT or DOUBLE with digits of its own, whose results have others."""
    return value.shows and not (pa.types.is_floating(value.values.type) and value.type.scale is not None)
