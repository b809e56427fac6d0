"""DEFAULT clauses and generated columns: the values of columns that are given none.

Source: MySQL manual, "Data Type Default Values", "CREATE TABLE and Generated Columns"; judged by both servers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable, SchemaError
from applier.mysql.character_sets.collations import DEFAULT_COLLATIONS
from applier.mysql.names import folded
from applier.mysql.session import Session
from applier.mysql.types import BINARY, CHARACTER, DATES, MEMBERS
from applier.schema.checks import is_json
from applier.schema.defaults import implicit_scalar, is_temporal_literal
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Default
from applier.sql.assignment.conversion import assigned
from applier.sql.casting.texts import WIDE
from applier.sql.evaluator import Typed, calls_functions, evaluate, number, takes_bytes_of_functions, uses_time, varies
from applier.sql.functions.dates.current import current_timestamp
from applier.sql.same_expressions import literal_of
from applier.sql.tokens import tokenize
from applier.sql.values import BYTES, NULL, TEXT, Value, as_number, as_text, constant

Stored = Callable[[str], pa.Array | pa.ChunkedArray]
"""Finds the values of a stored column of the same rows; KeyError if it does not exist."""
_OF_DOCUMENTS = BINARY | CHARACTER - MEMBERS
"""Types that are documents to MariaDB if a column's constraint is JSON_VALID of it."""
_NOW = re.compile(r"(?:CURRENT_TIMESTAMP|NOW)(?:\((\d)?\))?", re.IGNORECASE)


def default_values(column: Column, definition: TableDefinition, columns: Callable[[str], Typed], n: int,
                   session: Session, *, strict: bool = False) -> pa.Array:
    """Return a column's DEFAULT for n rows, as `arrow_type`; one value if it is the same for all of them. `columns`
    finds the values of the rows' other columns, with their types. With `strict`, a constant has to fit the column.

    Raises NotComputable if it is unknown.
    """
    default, session = column.default, _of_table(session, definition)
    if default is None and not column.nullable and not column.generated and not column.auto_increment:
        return pa.repeat(implicit_scalar(column.type, definition.flavour), 1)
    if column.type.base == "timestamp" and default is not None and default.kind not in ("now", "expression"):
        session = replace(session, time_zone="+00:00")  # the zone in which TIMESTAMP literals are kept
    return assigned(_value(column, definition, columns, n, session), column.type, session, strict=strict)


def _value(column: Column, definition: TableDefinition, columns: Callable[[str], Typed], n: int,
           session: Session) -> Value:
    default = column.default
    if column.generated:
        raise NotComputable(f"it is generated from ({column.expression})")
    if column.auto_increment:
        raise NotComputable("it is AUTO_INCREMENT")
    if default is None:
        return constant(pa.scalar(None), NULL)
    if default.kind == "local" and not default.text.startswith("0000"):
        raise NotComputable(f"{default.text!r} is in the server's own time zone, which only "
                            "--system-time-zone can tell")
    if (fsp := _now_digits(default, column, session.flavour)) is not None:
        return current_timestamp(fsp, session) if column.type.base == "timestamp" else \
            evaluate(f"NOW({fsp})", columns, n, session)
    if default.kind == "expression":
        _check_bytes(column, default.text, definition)
        made = evaluate(default.text, columns, n, session)
        if made.values.null_count and is_temporal_literal(default.text):
            raise NotComputable(f"the literal {default.text}, in a form that is not known")
        if literal_of(default.text) is None:
            return made
        made = replace(made, digits=True) if made.digits is None else made  # of an older definition: MariaDB's 0x41
        is_in_own_set = made.is_text and default.text.startswith("'")  # of the session that said it
        return replace(made, is_loose=False, type=replace(made.type, charset="utf8mb4") if is_in_own_set else made.type)
    return _literal(default, column, session)


def _now_digits(default: Default, column: Column, flavour: str) -> int | None:
    """Return the fractional digits of a CURRENT_TIMESTAMP default; None for any other default. Without a number, it has
    as many as its DATETIME or TIMESTAMP column."""
    found = _NOW.fullmatch(default.text)
    if default.kind not in ("now", "expression") or found is None:
        return None
    if found[1] is None and (default.kind == "now" or flavour == "mariadb") and column.type.base in DATES:
        return column.type.fsp
    return int(found[1] or 0)


def _literal(default: Default, column: Column, session: Session) -> Value:
    """Return a literal; a TIMESTAMP's is already in UTC, and MariaDB reads that of a TEXT or BLOB like an
    expression's."""
    if default.kind == "null":
        return constant(pa.scalar(None), NULL)
    if default.kind == "bytes":
        return Value(pa.array([bytes.fromhex(default.text)], pa.binary()), BYTES, constant=True, digits=True)
    if default.kind == "number":
        with suppress(NotComputable):
            made = number(default.text)
            is_label = column.type.base in MEMBERS and session.flavour == "mysql"  # of an expression it is a position
            return Value(as_text(made, session), TEXT, constant=True) if is_label else made
    is_read_again = column.type.entry.prefix > 0
    if is_read_again and session.literals == "binary" and session.flavour == "mariadb":
        data = pa.array([default.text.encode("utf-8", "surrogateescape")], pa.binary())
        return Value(data, BYTES, constant=True, is_loose=True)
    return constant(pa.scalar(default.text), replace(TEXT, charset=session.literals) if is_read_again else TEXT)


def default_scalar(column: Column, definition: TableDefinition, *, strict: bool = True) -> pa.Scalar:
    """Return the column's default as a scalar of `arrow_type`, with other columns at their defaults. What does not fit
    is cut unless `strict`.

    Raises SchemaError, naming the column, if the value is not the same for every row and time: CURRENT_TIMESTAMP,
    generated columns, expressions that are not constant.
    """
    return _scalar(column, definition, other_defaults(column, definition), strict=strict)


def _scalar(column: Column, definition: TableDefinition, others: Callable[[str], Typed], *,
            strict: bool = True) -> pa.Scalar:
    default = column.default
    try:
        if default is not None and default.kind == "now":
            raise NotComputable(f"it is {default.text}")
        return default_values(column, definition, others, 1, Session(definition.flavour, time_zone="+00:00"),
                              strict=strict)[0]
    except (NotComputable, ValueError, InvalidOperation, pa.ArrowException) as error:
        why = error.message if isinstance(error, NotComputable) else error
        raise SchemaError(
            f"an INSERT leaves out column {column.name}, and its default cannot be computed: {why or default}",
            table=definition.full_name,
            hint="replay logs written with binlog_row_image=FULL, or leave the table out with --ignore-tables",
        ) from None


def other_defaults(column: Column, definition: TableDefinition) -> Callable[[str], Typed]:
    """Return the other columns with their defaults: a replica computes a default before it has the row's values."""
    made: dict[str, pa.Scalar] = {}

    def known(name: str) -> Typed:
        other = definition.column(name)
        if other is column:
            raise NotComputable(f"it depends on itself: ({column.default.text if column.default else ''})")
        if other.name not in made:
            made[other.name] = implicit_scalar(other.type, definition.flavour) if other.auto_increment else \
                _scalar(other, definition, known)
        return pa.repeat(made[other.name], 1), other.type

    return known


def is_current_timestamp(column: Column) -> bool:
    """Return whether a column's default depends on the current time."""
    default = column.default
    return default is not None and not column.generated and (
        default.kind == "now" or (default.kind == "expression" and uses_time(default.text)))


def is_variable(column: Column) -> bool:
    """Return whether a column's default depends on the row or the time."""
    default = column.default
    return default is not None and (default.kind == "now" or (default.kind == "expression" and varies(default.text)))


_BY_BYTES = re.compile(r"(_FORMAT|\b(CONV|BIN|OCT|SOUNDEX))\s*\(", re.IGNORECASE)
"""Functions that MySQL's wide character sets take byte by byte."""
_BY_BYTES_IN_DOCUMENTS = re.compile(
    r"\bJSON_.*\b((HEX|FORMAT|SPACE|DAYNAME|MONTHNAME|ADDTIME|SUBTIME|TIMESTAMPADD|SOUNDEX|TO_BASE64|INET6?_NTOA|CHARSET|"
    r"COLLATION)\s*\(|INTERVAL\b)", re.IGNORECASE | re.DOTALL)
"""Functions whose text documents take byte by byte, in the table's character set."""


def _check_bytes(column: Column, expression: str, definition: TableDefinition) -> None:
    """Raise NotComputable for what MySQL makes of text by its bytes in a table in a wide character set."""
    if definition.flavour != "mysql" or definition.charset not in WIDE:
        return
    if (calls_functions if column.type.base in BINARY else takes_bytes_of_functions)(expression):
        raise NotComputable(f"bytes of text that functions make in a table in {definition.charset}")
    if any(functions.search(expression) for functions in (_BY_BYTES, _BY_BYTES_IN_DOCUMENTS)):
        raise NotComputable(f"text that MySQL writes byte by byte in a table in {definition.charset}")


def generated_values(column: Column, definition: TableDefinition, values: Stored, n: int,
                     session: Session | None = None) -> pa.Array:
    """Return a generated column for n rows; `values` has their stored columns. Raises NotComputable if the expression,
    or its conversion to the column's type, is unknown."""
    within = _of_generated(session or Session(definition.flavour), definition)
    return _computed(column, definition, row_columns(definition, values, n, within), n, within)


def passes(check: str, definition: TableDefinition, values: Stored, n: int, session: Session) -> np.ndarray:
    """Return which of n rows pass a CHECK constraint, whose value is not 0 in them: bool[n]. Raises NotComputable."""
    within = _of_generated(session, definition)
    value = evaluate(check, row_columns(definition, values, n, within), n, within)
    made: np.ndarray = np.asarray(pc.not_equal(as_number(value, within).cast(pa.float64()), 0.0).fill_null(True))
    return np.repeat(made, n) if len(made) != n else made


def _of_table(session: Session, definition: TableDefinition) -> Session:
    """Return the session for a table's expressions: functions make text in the table's character set, in which MariaDB
    reads literals, too, or in one that the session has."""
    session = replace(session, made_in=session.made_in or definition.charset)
    if definition.flavour == "mysql":
        return replace(session, collation=session.collation or DEFAULT_COLLATIONS["mysql"][session.literals])
    documents = frozenset(folded(column.name) for column in definition.columns
                          if column.type.base in _OF_DOCUMENTS and is_json(column.check, column.name))
    return replace(session, literals=session.made_in or "utf8mb4", documents=documents)


def _of_generated(session: Session, definition: TableDefinition) -> Session:
    """The same for generated columns: MariaDB compares their literals in the table's collation, and those of defaults
    in the collation of the session that defined them."""
    made = _of_table(session, definition)
    return made if definition.flavour == "mysql" else replace(made, collation=definition.collation)


def _computed(column: Column, definition: TableDefinition, known: Callable[[str], Typed], n: int,
              session: Session) -> pa.Array:
    _check_bytes(column, column.expression or "", definition)
    made = assigned(evaluate(column.expression or "", known, n, session), column.type, session)
    if made.null_count and not column.nullable:
        made = made.fill_null(_nothing(column, session.flavour))
    return pa.repeat(made[0], n) if len(made) != n else made


def sources(column: Column, definition: TableDefinition) -> set[str]:
    """Return the words in a generated column's expression, and in those of VIRTUAL columns that it names, in lower
    case: they include the names of all columns that it depends on."""
    return {word for words in expressions(column, definition).values() for word in words}


def expressions(column: Column, definition: TableDefinition) -> dict[str, set[str]]:
    """Return a generated column's expression, and those of VIRTUAL columns that it names, with their words in lower
    case."""
    found: dict[str, set[str]] = {}
    more = [column.expression or ""]
    while more:
        expression = more.pop()
        words = found[expression] = {folded(token.text) for token in tokenize(expression)
                                     if token.kind in ("word", "name")}
        more += [other.expression or "" for other in definition.columns
                 if other.generated == "virtual" and folded(other.name) in words and other.expression not in found]
    return found


def row_columns(definition: TableDefinition, values: Stored, n: int, session: Session) -> Callable[[str], Typed]:
    """Return the columns of n rows: `values` has the stored ones, and VIRTUAL ones are computed once."""
    made: dict[str, pa.Array] = {}
    session = _of_generated(session, definition)

    def known(name: str) -> Typed:
        found = definition.column(name)
        if found.generated != "virtual":
            return values(found.name), found.type
        if found.name not in made:
            made[found.name] = _computed(found, definition, known, n, session)
        return made[found.name], found.type

    return known


def _nothing(column: Column, flavour: str) -> pa.Scalar:
    """Return the value that a NOT NULL column takes instead of a NULL."""
    return pa.scalar("") if column.type.base == "enum" and flavour == "mysql" else implicit_scalar(column.type, flavour)


def completed(column: Column, definition: TableDefinition, values: Stored, n: int, session: Session) -> pa.Array:
    """Return a column without a given value, in n rows of a table: its default, or its type's implicit default if that
    is NULL and the column is NOT NULL. Raises NotComputable."""
    made = default_values(column, definition, row_columns(definition, values, n, session), n, session)
    if made.null_count and not column.nullable:
        now = column.type.base == "timestamp" and definition.flavour == "mariadb" and session.now_us is not None
        made = made.fill_null(current_timestamp(column.type.fsp, session).values[0] if now else
                              _nothing(column, definition.flavour))
    return pa.repeat(made[0], n) if len(made) != n else made


_OF_SESSIONS = frozenset({"unix_timestamp", "from_unixtime", "monthname", "dayname", "date_format"})
"""Functions, in lower case, that depend on the session's time zone or language."""


def depends_on_session(column: Column, definition: TableDefinition, sql_mode: str = "") -> bool:
    """Return whether a generated column, computed again, may have another value in another session; `sql_mode` is that
    of the one that computes it."""
    names = sources(column, definition)
    if names & _OF_SESSIONS:
        return True
    bases = {"timestamp"} | ({"char"} if "PAD_CHAR_TO_FULL_LENGTH" in sql_mode else set())
    return any(other.type.base in bases for other in definition.columns if folded(other.name) in names)
