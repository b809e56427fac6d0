"""Calls that are refused before they are computed, by the kinds of their arguments, since their result is unknown."""

from __future__ import annotations

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, NUMBERS, TEMPORAL
from applier.sql.calls.registry import COUNTS, OF_STRINGS
from applier.sql.casting.texts import WIDE
from applier.sql.nodes import Call, Literal, nodes_of
from applier.sql.values import Value

CHOSEN_DATE = "a date beside text, one of which is chosen, as other than text"
_TAKING_CHOSEN_DATES = frozenset({
    "CONCAT", "UPPER", "LOWER", "LENGTH", "CHAR_LENGTH", "BIT_LENGTH", "HEX", "REVERSE", "TRIM", "MD5", "SHA1", "QUOTE",
    "TO_BASE64", "CRC32", "ISNULL", "TIMESTAMPADD", "DATE"})
"""Functions that make the same of a date and of its text."""
_MISREADING = frozenset({"REPEAT", "LEFT", "RIGHT", "SUBSTRING", "UPPER", "LOWER", "REPLACE", "SUBSTRING_INDEX",
                         "SOUNDEX"})
"""Functions for which MySQL takes the ASCII of a number or a date, unless it is constant, for text in the table's wide
character set, and some bytes behind it (seen on 9.7)."""
_OF_SEARCHES = frozenset({"LPAD", "RPAD", "INSERT", "REPLACE", "TRIM", "SUBSTRING_INDEX", "LOCATE", "INSTR",
                          "STRCMP", "FIND_IN_SET"})
"""Functions that see two bytes for a character of a wide literal beside a number in MySQL's tables of bytes (seen on
9.7)."""


def check_misread(call: Call, arguments: list[Value], session: Session) -> None:
    """Raise NotComputable for arguments that servers misread beside wide character sets, and for literals that they
    change."""
    if call.name in _MISREADING and session.flavour == "mysql" and session.made_in in WIDE and \
            not arguments[0].constant and arguments[0].type.base in NUMBERS | TEMPORAL | {"year"}:
        raise NotComputable(f"text of a number or a date, which MySQL misreads in a table in {session.made_in}")
    if call.name in _OF_SEARCHES and session.flavour == "mysql" and session.made_in == "binary" and \
            any(value.type.charset in WIDE for value in arguments) and \
            any(value.type.base in NUMBERS | TEMPORAL | {"year"} for number, value in enumerate(arguments)
                if number not in COUNTS.get(call.name, ())):
        raise NotComputable(f"{call.name} of a number and text in a wide character set in a table of bytes")
    if call.name == "INSERT" and session.flavour == "mariadb" and arguments[0].type.base in BINARY and any(
            isinstance(node, Literal) and node.kind == "bytes" and node.charset is None
            for node in nodes_of(call.arguments[0])):
        raise NotComputable("INSERT into a hexadecimal literal, which MariaDB itself changes with each row")


def check_chosen(call: Call, arguments: list[Value], chosen: list[Value]) -> None:
    """Raise NotComputable for arguments, other than those of which the call chooses one, that are one of several values
    of different kinds."""
    read = [value for value in arguments if not any(value is one for one in chosen)]
    if any(value.beside_charset is not None for value in read):
        raise NotComputable("bytes, digits in another base or a BIT beside text, one of which is chosen")
    takes_dates = call.name in _TAKING_CHOSEN_DATES or (
        call.name in OF_STRINGS and all(value.is_text for value in arguments))
    if any(value.is_of_dates for value in read) and not takes_dates:
        raise NotComputable(CHOSEN_DATE)
