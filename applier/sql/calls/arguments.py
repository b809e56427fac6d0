"""The arguments of calls as their functions read them: dates in text, bytes of bits, text beside bytes, formats; and
the collation in which they are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, GEOMETRY, ColumnType
from applier.sql.calls.bytes_beside_text import as_one_kind
from applier.sql.calls.registry import COUNTS, LENGTHENING, NOT_LENGTHENING, OF_BYTES, OF_STRINGS
from applier.sql.casting.byte_strings import bit_bytes
from applier.sql.casting.texts import WIDE
from applier.sql.nodes import Call, Node, nodes_of
from applier.sql.read_times import datetimes
from applier.sql.values import BYTES, TEXT, Value
from keysearch.collation import collation_of

_OF_GEOMETRY = frozenset({"LTRIM", "RTRIM", "HEX"})
"""Others for which a geometry is its bytes."""
_OF_TIMES = frozenset({"TIME", "HOUR", "MINUTE", "SECOND", "MICROSECOND", "EXTRACT", "ADDTIME", "SUBTIME", "TIMEDIFF",
                       "TIME_TO_SEC", "TIME_FORMAT"})
"""Functions that read a time out of text."""
_WITH_FORMATS = frozenset({"STR_TO_DATE", "DATE_FORMAT", "TIME_FORMAT", "FROM_UNIXTIME", "CONVERT_TZ"})
_IN_BASES = frozenset({"CONV", "BIN", "OCT"})
_OF_DOCUMENTS = frozenset(
    f"JSON_{word}" for word in ("TYPE", "UNQUOTE", "QUOTE", "PRETTY", "EXTRACT", "KEYS", "ARRAY", "OBJECT", "SET",
                                "INSERT", "REPLACE", "REMOVE", "ARRAY_APPEND", "ARRAY_INSERT", "MERGE_PATCH",
                                "MERGE_PRESERVE", "MERGE", "SEARCH"))
"""MySQL's functions that make documents, or text in the collation of documents."""


def as_read(call: Call, arguments: list[Value], session: Session) -> list[Value]:
    """The arguments as the function reads them. Raises NotComputable."""
    if call.name in _OF_TIMES:
        arguments = as_instants(call, arguments, session)
    if call.name in OF_BYTES:
        if session.flavour == "mariadb" and any(value.type.base == "bit" and value.is_choice for value in arguments):
            raise NotComputable("a chosen BIT as text, which is its number there")
        arguments = [Value(bit_bytes(value.values, value.type), BYTES, value.constant)
                     if value.type.base == "bit" and number not in COUNTS.get(call.name, ()) else value
                     for number, value in enumerate(arguments)]
    if call.name in OF_BYTES | _OF_GEOMETRY:
        arguments = [replace(value, type=BYTES) if value.type.base in GEOMETRY else value for value in arguments]
    if call.name in OF_STRINGS:
        return as_one_kind(call.name, arguments, COUNTS.get(call.name, ()), session)
    if call.name in _WITH_FORMATS:
        if session.flavour == "mariadb" and session.literals in WIDE and any(
                value.type.base in BINARY for value in arguments):
            raise NotComputable(f"{call.name} of bytes in a table in {session.literals}")
        if session.flavour == "mysql" and any(value.type.charset in WIDE for value in arguments if value.constant):
            raise NotComputable(f"{call.name} by a format in a wide character set")  # its bytes are read one by one
        return [_as_format(argument, call.name) for argument in arguments]
    return arguments


def as_instants(call: Call, arguments: list[Value], session: Session) -> list[Value]:
    """The arguments with text to which an interval was added as dates, which a server has, and not as their text."""
    return [_as_instant(value, call, session) if value.is_text and isinstance(node, Call) and (
        node.name == "TIMESTAMPADD" or (node.name in ("+", "-") and isinstance(node.arguments[-1], Call)
                                        and node.arguments[-1].name == "INTERVAL")) else value
            for node, value in zip(call.arguments, arguments, strict=True)]


def _as_instant(value: Value, call: Call, session: Session) -> Value:
    """Text to which an interval was added as a datetime; for MariaDB's TIMEDIFF a date, if it has no time of day."""
    made, days = datetimes(value, session), pc.equal(pc.utf8_length(value.values), len("2001-02-03"))
    if session.flavour == "mysql" or call.name != "TIMEDIFF" or not pc.any(days).as_py():
        return made
    if not pc.all(days).as_py():
        raise NotComputable("TIMEDIFF of days and datetimes to which an interval was added")
    return replace(made, values=made.values.cast(pa.date32()), type=ColumnType("date"))


def as_digits(node: Node, value: Value) -> Value:
    """A part of a document: in a table in binary, digits in another base are bytes to all functions but to MySQL's
    documents. Raises NotComputable for what other functions make of them."""
    of_digits = [one for one in nodes_of(node) if isinstance(one, Call) and one.name in _IN_BASES]
    if not of_digits or value.type is not BYTES:
        return value
    if of_digits[0] is not node:
        raise NotComputable(f"what a function makes of {of_digits[0].name} in a document, in a table in binary")
    return replace(value, values=value.values.cast(pa.string()), type=TEXT, is_loose=False)


def _as_format(value: Value, name: str) -> Value:
    """A literal of a session whose character set is binary as text, where it is a date or names a format; for
    STR_TO_DATE, all bytes."""
    if value.type.base in BINARY and (
            name == "STR_TO_DATE" or (value.digits is False and value.constant and value.is_loose)):
        return replace(value, values=value.values.cast(pa.string()), type=TEXT, digits=False, is_loose=False)
    return value


def comparing(call: Call, arguments: list[Value], session: Session) -> Session:
    """The session in which a call compares text: in MySQL that of documents has a collation of its own, which only
    columns and CASTs precede (seen on 9.7)."""
    nodes, compared = call.arguments, arguments
    if call.name == "SIMPLE CASE":
        nodes, compared = (nodes[0], *nodes[1:-1:2]), [arguments[0], *arguments[1:-1:2]]
    if call.name == "FIELD":  # whose first value decides
        nodes = nodes[:1]
    if session.flavour != "mysql" or session.literals in WIDE or any(
            value.type.collation is not None or value.type.base in BINARY for value in compared):
        return session
    collation = _collation_of_documents(nodes)
    return session if collation is None else replace(session, compares_in=collation_of(collation, "mysql"))


def _collation_of_documents(nodes: Iterable[Node]) -> str | None:
    """The collation in which text is compared if a document's is among it; None if not, or if a CAST has made some."""
    found: str | None = None
    for node in nodes:
        if isinstance(node, Call) and node.name == "CAST" and node.word != "JSON":
            return None
        if isinstance(node, Call) and (node.name in _OF_DOCUMENTS or node.name == "CAST"):
            found = found or "utf8mb4_bin"
        elif isinstance(node, Call) and node.name == "JSON_VALUE":
            found = found or ("utf8mb4_0900_bin" if node.word == "" else None)
        elif isinstance(node, Call) and node.name in NOT_LENGTHENING | LENGTHENING:
            found = found or _collation_of_documents(node.arguments)
    return found
