"""Evaluates SQL expressions over whole columns of rows: those of DEFAULT clauses, generated columns, partitions, and
values of dumps.

Raises NotComputable for expressions that are unknown, among them UUID(), RAND() and other values that a server makes
up. Source: MySQL manual, "Functions and Operators"; judged by both servers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import CHARSETS
from applier.mysql.character_sets.client_charsets import UTF8, encoded
from applier.mysql.character_sets.exact_text import exact_text
from applier.mysql.names import folded
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.doubles import as_stored
from applier.sql.casting.texts import UNICODE, WIDE, in_charset
from applier.sql.functions.dates.current import NOW
from applier.sql.grammar import parse_expression
from applier.sql.nodes import Call, Literal, Name, Node, nodes_of
from applier.sql.sql_modes import ESCAPES, read_as_written
from applier.sql.values import BOOL, BYTES, DOUBLE, NULL, TEXT, Value, constant, numbers

Typed: TypeAlias = tuple[pa.Array | pa.ChunkedArray, ColumnType]
Columns: TypeAlias = Callable[[str], Typed]
"""Finds the values of a column, one for all rows or one for each, and its type; KeyError if there is none."""

_MADE_UP = frozenset({"UUID", "UUID_SHORT", "RAND", "SYSDATE", "SYS_GUID", "RANDOM_BYTES", "NEXTVAL", "LASTVAL"})


def evaluate(sql: str, column: Columns, n: int, session: Session) -> Value:
    """The values of an expression for n rows, with the type that the server gives them. Raises NotComputable if the
    expression, or a value in it, is unknown."""
    try:
        node = parse_expression(sql)
        return Evaluator(column, n, _beside_literals(node, session)).value(node)
    except RecursionError:  # through the columns, whose expressions are bounded
        raise NotComputable("columns that depend on too many others, or on themselves") from None


def _beside_literals(node: Node, session: Session) -> Session:
    """The session without the character set in which MySQL's functions make text, if that does not matter: it is a
    narrow one, and no literal is in such a set, too. Beside text in a form of UTF-8 all is in that."""
    is_narrow = session.made_in not in (None, "binary", *UTF8, *WIDE)
    if session.flavour == "mysql" and is_narrow and not any(
            isinstance(one, Literal) and one.charset not in (None, "binary", "utf8", *UTF8) for one in nodes_of(node)):
        return replace(session, made_in=None)
    return session


def no_columns(name: str) -> Typed:
    """The columns for an expression without columns."""
    raise KeyError(name)


def uses_time(sql: str) -> bool:
    """True if an expression uses the current time."""
    return any(map(_is_time, _nodes(sql)))


def differs_by_row(sql: str) -> bool:
    """True if an expression certainly has different values in different rows: it has a column or something random.
    Unknown functions count as constant."""
    return any(isinstance(node, Name) or (isinstance(node, Call) and node.name in _MADE_UP) for node in _nodes(sql))


def varies(sql: str) -> bool:
    """True if its values differ by row or by time."""
    return differs_by_row(sql) or uses_time(sql)


def calls_functions(sql: str) -> bool:
    """True if an expression is not only a column or a literal."""
    return any(isinstance(node, Call) for node in _nodes(sql))


def takes_bytes_of_functions(sql: str) -> bool:
    """True if a function takes the bytes of text that another one may make."""
    return any(isinstance(node, Call) and (node.name in _OF_TEXTS_BYTES or (node.name == "CAST" and "BINARY" in
                                                                            node.word.upper()))
               and any(isinstance(argument, Call) and argument.name not in _MAKING_BYTES for argument in node.arguments)
               for node in _nodes(sql))


_MAKING_BYTES = frozenset({"UNHEX", "FROM_BASE64", "UUID_TO_BIN", "INET6_ATON"})
_OF_TEXTS_BYTES = frozenset({
    "LENGTH", "BIT_LENGTH", "HEX", "UNHEX", "ASCII", "ORD", "CRC32", "TO_BASE64", "MD5", "SHA1", "SHA2"})


def depends_on_escapes(sql: str) -> bool:
    """True if it has text whose value depends on NO_BACKSLASH_ESCAPES of the session that opens the table: MySQL writes
    expressions with escapes, and reads them again in that session's sql_mode (seen on 9.7)."""
    return any(isinstance(node, Literal) and _has_escapes(node) for node in _nodes(sql))


def _has_escapes(literal: Literal) -> bool:
    if literal.kind == "bytes" and literal.charset not in (None, "binary"):
        data = bytes.fromhex(literal.text)
        return read_as_written(data, literal.charset) != data
    return literal.kind == "string" and literal.text.translate(ESCAPES) != literal.text


def depends_on_language(sql: str) -> bool:
    """True if it has names of days or months, whose language is the session's."""
    return any(isinstance(node, Call) and node.name in _IN_LANGUAGES for node in _nodes(sql))


_IN_LANGUAGES = frozenset({"DAYNAME", "MONTHNAME", "DATE_FORMAT"})


def reads_dates(sql: str) -> bool:
    """True if a function reads dates or times, of which the session's sql_mode decides what is invalid."""
    # Most tables have no generated column: their replay does not load these.
    from applier.sql.functions.dates import calendars, clock_texts, clocks, forms, sums, times

    of_dates = {"CAST"}.union(*(module.FUNCTIONS for module in (calendars, clock_texts, clocks, forms, sums, times)))
    return any(isinstance(node, Call) and (node.name in of_dates - _OF_NUMBERS or _has_interval(node)) and (
        node.name != "CAST" or node.word.upper().startswith(("DATE", "TIME"))) for node in _nodes(sql))


_OF_NUMBERS = frozenset({"PERIOD_ADD", "PERIOD_DIFF", "MAKEDATE", "FROM_DAYS"})
"""Functions of dates that take whole numbers."""


def _has_interval(call: Call) -> bool:
    return bool(call.arguments) and isinstance(last := call.arguments[-1], Call) and last.name == "INTERVAL"


def _nodes(sql: str) -> list[Node]:
    try:
        return list(nodes_of(parse_expression(sql)))
    except NotComputable:
        return []


def _is_time(node: Node) -> bool:
    return isinstance(node, Call) and (node.name in NOW or (node.name == "UNIX_TIMESTAMP" and not node.arguments))


class Evaluator:
    """Evaluates the trees of expressions."""

    def __init__(self, column: Columns, n: int, session: Session) -> None:
        self._column, self._n, self._session = column, n, session

    def value(self, node: Node) -> Value:
        try:
            if isinstance(node, Literal):
                made = _LITERALS[node.kind](node, self._session)
                is_told_by_form = made.digits and self._session.flavour == "mariadb"
                return replace(made, digits=node.is_number) if is_told_by_form else made
            return self._named(node) if isinstance(node, Name) else self._called(node)
        except (pa.ArrowException, ValueError, TypeError, IndexError, ArithmeticError) as error:
            raise NotComputable.because(error) from None

    def _named(self, node: Name) -> Value:
        try:
            values, type_ = self._column(node.name)
        except KeyError:
            raise NotComputable(f"there is no column {node.name}") from None
        whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if type_.base == "char" and "PAD_CHAR_TO_FULL_LENGTH" in self._session.sql_mode:
            whole = pc.utf8_rpad(whole, type_.length or 1, " ")
        if type_.base == "double":
            whole = as_stored(whole, type_)
        return Value(whole, type_, constant=len(whole) == 1 != self._n, is_column=True,
                     is_document=folded(node.name) in self._session.documents)

    def _called(self, call: Call) -> Value:
        # Most tables have no expression that calls a function: their replay does not load all of them.
        from applier.sql.calls.evaluation import Calls

        made = Calls(self.value, self._n, self._session).called(call)
        if not pa.types.is_floating(made.values.type):
            return made
        scales = [type_.scale for type_ in map(self._type, nodes_of(call)) if type_ is not None and
                  type_.base in ("float", "double") and type_.scale is not None]
        return replace(made, fewest_decimals=min(scales)) if scales else made

    def _type(self, node: Node) -> ColumnType | None:
        try:
            return self._column(node.name)[1] if isinstance(node, Name) else None
        except KeyError:  # of an operand that is not needed
            return None


def number(text: str) -> Value:
    """A literal's number. Raises NotComputable for one of more than 38 digits."""
    if "e" in text.lower():
        return constant(pa.scalar(float(text), pa.float64()), DOUBLE)
    exact = Decimal(text)
    scale = max(0, -int(exact.as_tuple().exponent))
    try:
        return numbers(pa.array([exact], pa.decimal128(38, min(38, scale))), constant=True)
    except pa.ArrowInvalid as error:
        raise NotComputable.because(error) from None


def _string(literal: Literal, session: Session) -> Value:
    charset = literal.charset or session.literals
    if charset == "binary":  # empty: others are kept as bytes
        return Value(pa.array([literal.text.encode()], pa.binary()), BYTES, constant=True, is_loose=True)
    if literal.charset == "utf8mb3" and literal.text and max(literal.text) > "\uffff":
        raise NotComputable("a character of four bytes in utf8mb3")
    type_ = TEXT if charset == "utf8mb4" else ColumnType("longtext", charset=charset)
    if charset not in UNICODE and session.flavour == "mariadb":  # older versions read utf8mb3 with question marks
        return Value(in_charset(pa.array([literal.text]), "utf8mb3"), type_, constant=True)
    is_read_as_written = session.flavour == "mysql" and "NO_BACKSLASH_ESCAPES" in session.sql_mode
    return constant(pa.scalar(literal.text.translate(ESCAPES) if is_read_as_written else literal.text), type_)


def _bytes(literal: Literal, session: Session) -> Value:
    data = pa.array([bytes.fromhex(literal.text)], pa.binary())
    if literal.charset is None:
        return Value(data, BYTES, constant=True, digits=True, is_loose=True)
    if literal.charset == "binary":
        return Value(data, BYTES, constant=True, is_loose=True)
    charset = "utf8mb3" if literal.charset == "utf8" else literal.charset
    if charset not in CHARSETS:
        raise NotComputable(f"_{charset} x'{literal.text[:40]}'")
    if charset == "utf8mb3" and max(bytes.fromhex(literal.text), default=0) >= 0xF0:
        raise NotComputable("a character of four bytes in utf8mb3")
    if charset in UTF8:
        bytes.fromhex(literal.text).decode()  # or ValueError: a server keeps other bytes unchanged
    if session.flavour == "mysql" and "NO_BACKSLASH_ESCAPES" in session.sql_mode:
        if charset in WIDE:  # MySQL may convert it before it is written
            raise NotComputable(f"text in {charset} with NO_BACKSLASH_ESCAPES")
        data = pa.array([read_as_written(data[0].as_py(), charset)], pa.binary())
    text = exact_text(data, charset)
    if charset in WIDE and encoded(text[0].as_py(), charset) != data[0].as_py():
        raise NotComputable(f"bytes that are no text in {charset}")
    return Value(text, ColumnType("longtext", charset=charset), constant=True)


_LITERALS: dict[str, Callable[[Literal, Session], Value]] = {
    "number": lambda literal, _: number(literal.text), "string": _string, "bytes": _bytes,
    "null": lambda *_: Value(pa.nulls(1), NULL, constant=True),
    "bool": lambda literal, session: Value(
        pa.array([Decimal(literal.text)], pa.decimal128(38, 0)),
        BOOL if session.flavour == "mysql" else replace(BOOL), constant=True),
}
