"""The statements for a server, for any client that prints one row per line, with tabs between values.

    TAG position GTID_SET                                          the server's position
    TAG sums TABLE RANGE ROWS ROW_SUM COLUMN_SUM…                  a range: NULL is the sum of no rows
    TAG end                                                        the answer is complete
    TAG row TABLE RANGE KEY HASH…                                  a row of a range that differs

Values are digits, hexadecimal digits and percent-encoded names, which all clients write alike. In a table without a
key the KEY of a row is its hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from applier.jobs.verify.canonical import sql_value
from applier.jobs.verify.plan import ComparedTable, ComparisonPlan
from applier.mysql.client_sql import HEAD, for_clients
from applier.mysql.types import quote_name, quote_text
from applier.schema.table_parts import Column

SESSION = ("SET NAMES utf8mb4", "SET SESSION sql_mode = ''", "SET SESSION time_zone = '+00:00'")
"""The statements that begin every session: text, numbers and times are then the same everywhere."""
_ONE_STATE = ("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT")
_POSITIONS = {"mariadb": "@@GLOBAL.gtid_current_pos", "mysql": "REPLACE(@@GLOBAL.gtid_executed, '\\n', '')"}


def file_of(statements: Iterable[str]) -> str:
    """Return statements as a file for a client. Raises SchemaError for a name that it could misread."""
    return HEAD + "".join(f"{for_clients(statement)};\n" for statement in statements)


def sums(plan: ComparisonPlan) -> Iterator[str]:
    """Yield the statements that ask for sums, without ends."""
    yield from SESSION
    if (position := _POSITIONS.get(plan.snapshot.position.flavour)) is not None:
        yield f"SELECT '{plan.tag}' AS applier, 'position' AS kind, {position} AS gtids"
    yield from _ONE_STATE
    yield from (statement for _, statement in table_sums(plan))
    yield f"SELECT '{plan.tag}' AS applier, 'end' AS kind"
    yield "COMMIT"


def table_sums(plan: ComparisonPlan) -> Iterator[tuple[ComparedTable, str]]:
    """Yield those of the tables alone."""
    for table in plan.tables:
        if table.buckets > 1:
            yield table, f"{_sums(plan, table, table.bucket)} GROUP BY {table.bucket}"
            continue
        for number in range(table.ranges):
            yield table, f"{_sums(plan, table, str(number))}{_where(table.condition(number))}"


def rows(plan: ComparisonPlan, wanted: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Yield the statements that ask for the keys and hashes of all rows of ranges, by the name of the table."""
    yield from SESSION
    yield from _ONE_STATE
    for table in plan.tables:
        for number in wanted.get(table.full_name, ()):
            yield row_hashes(plan, table, number)
    yield "COMMIT"


def row_hashes(plan: ComparisonPlan, table: ComparedTable, number: int) -> str:
    """Return the statement that asks for the keys and hashes of the rows of a range."""
    hashes = ", ".join(map(table.value_hash, range(len(table.columns))))
    return (f"SELECT '{plan.tag}' AS applier, 'row' AS kind, {quote_text(table.label)} AS name, {number} AS part, "
            f"{row_key(table)} AS row_key, {hashes} FROM {_from(table)}{_where(table.condition(number))}")


def row_values(table: ComparedTable, number: int, keys: Sequence[str]) -> str:
    """Return the statement that asks for the values of rows of a range with these keys, each as the bytes that are
    hashed."""
    found = f"{row_key(table)} IN ({', '.join(map(quote_text, keys) if table.key else keys)})"
    where = " AND ".join(filter(None, (table.condition(number), found)))
    return f"SELECT {row_key(table)}, {values_text(table.columns)} FROM {_from(table)} WHERE {where}"


def row_key(table: ComparedTable) -> str:
    """Return the text that identifies a row, as SQL."""
    if not table.key:
        return table.row_hash
    return key_text([table.columns[number] for number in table.key])


def key_text(columns: Iterable[Column]) -> str:
    """Return the columns of a key as one text, as SQL."""
    return "CONCAT_WS('.', " + ", ".join(f"HEX(CAST({sql_value(column)} AS BINARY))" for column in columns) + ")"


def values_text(columns: Iterable[Column]) -> str:
    """Return the values of columns as the bytes that are hashed, as SQL."""
    return ", ".join(f"CAST({sql_value(column)} AS BINARY)" for column in columns)


def _sums(plan: ComparisonPlan, table: ComparedTable, part: str) -> str:
    columns = ", ".join(f"SUM({table.value_hash(number)})" for number in range(len(table.columns)))
    return (f"SELECT '{plan.tag}' AS applier, 'sums' AS kind, {quote_text(table.label)} AS name, {part} AS part, "
            f"COUNT(*) AS row_count, SUM({table.row_hash}) AS row_sum, {columns} FROM {_from(table)}")


def _from(table: ComparedTable) -> str:
    return f"{quote_name(table.entry.database)}.{quote_name(table.entry.name)}"


def _where(condition: str) -> str:
    return f" WHERE {condition}" if condition else ""
