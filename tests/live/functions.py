"""Random expressions become STORED generated columns on running servers and here.

    python -m tests.live.functions mysql://root@127.0.0.1:3306 mariadb://root@127.0.0.1:3307 --count 2000 --seed 7

`--nested 0.6` makes six of ten operands expressions; `--defaults 0.5` makes half of the expressions defaults of a
column that ALTER TABLE adds.

Tables in every character set have a column of every family, of a random type, and rows of random literals. Each
expression (`expressions.Expressions`) is a generated column of such a table, in the sql_modes and time zones of
`literals.SESSIONS`; what it holds is compared with `generated_column` or `completed`. Prints each expression that
differs with a row of its columns, and how many are refused. The servers are nobody's: the database h_functions is
dropped.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
import pymysql

from applier.columns.defaults import completed
from applier.columns.generated_columns import generated_column
from applier.errors import ApplierError, NotComputable
from applier.mysql.character_sets.exact_text import exact_text
from applier.mysql.session import Session
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY, may_have
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import CreateTable
from applier.schema.definition import TableDefinition
from applier.sql.grammar import has_columns
from tests.live.expressions import Expressions
from tests.live.literals import SESSIONS, opened, run
from tests.live.random_history import GRAMMARS, Column
from tests.live.values import CHARSETS, Values
from tests.recorded.differential.server_cells import cell

EXPRESSIONS, ROWS = 40, 12  # of a table
_OF_BYTES = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "binary", "varbinary",
             "tinyblob", "blob", "mediumblob", "longblob")
_FAMILIES = "nnnnsssssbbeddddttjy"
_EXTREMES = ["18446744073709551615", "9223372036854775808", "9223372036854775807", "-9223372036854775808", "-1e20",
             "1e19", "101112.999999", "-0.000001", "59.9999996"]
"""Numbers at the ends of 64 bits, and of a second."""


@dataclass
class Table:
    """A table `t` on a server: its columns, rows and character set."""

    cursor: pymysql.cursors.Cursor
    values: Values
    flavour: str
    version: str
    sql_mode: str
    time_zone: str

    def __post_init__(self) -> None:
        values = self.values
        self.columns = [f"c{number} {self._kind(family)}" for number, family in enumerate(_FAMILIES)]
        self.names = [column.partition(" ")[0] for column in self.columns]
        self.charset = values.pick(CHARSETS)
        self.cursor.execute("DROP TABLE IF EXISTS t")
        self.cursor.execute(self.created("t"))
        for number in range(ROWS):
            row = ", ".join("NULL" if values.chance(0.05) else self._literal(family) for family in _FAMILIES)
            with suppress(pymysql.Error):
                self.cursor.execute(f"INSERT IGNORE INTO t VALUES ({number}, {row})")
        self.kinds = self._kinds("t")
        for name, kind in self.kinds:  # what is zero in a date is not in a cell
            if kind.startswith(("date", "timestamp")):
                self.cursor.execute(f"DELETE FROM t WHERE CAST({name} AS CHAR) LIKE '%-00%' OR {name} LIKE '0000%'")
        self.rows = self._rows("t", self.kinds)
        named = [Column.of(name, kind, "") for name, kind in self.kinds if name != "k"]
        self.named = [replace(one, family=values.pick("nsbdtjey")) for one in named] if values.chance(0.3) else named

    def _kind(self, family: str) -> str:
        """A type that the server has."""
        while True:
            kind = self.values.kind(family)
            with suppress(pymysql.Error):
                self.cursor.execute(f"CREATE TEMPORARY TABLE h (c {kind})")
                self.cursor.execute("DROP TABLE h")
                if kind != "SERIAL":
                    return kind

    def _literal(self, family: str) -> str:
        is_extreme = family == "n" and self.values.chance(0.15)
        return self.values.pick(_EXTREMES) if is_extreme else self.values.literal(family)

    def created(self, name: str, more: str = "") -> str:
        return f"CREATE TABLE {name} (k INT PRIMARY KEY, {', '.join(self.columns)}{more}) CHARACTER SET {self.charset}"

    def stored(self, name: str, definition: TableDefinition) -> pa.Array:
        """A column's values, as a snapshot has them."""
        at = [column for column, _ in self.kinds].index(name.lower())
        values, (_, kind) = [row[at] for row in self.rows], self.kinds[at]
        return arrow_values(values, kind, definition.column(name).type, self.flavour)

    def compared(self, kind: str, expression: str, *, is_default: bool) -> str:
        """Return "alike", "refused" or what differs, or "invalid" if the server has no such column."""
        added = f"g {kind} DEFAULT ({expression})" if is_default else f"g {kind} AS ({expression}) STORED"
        sql = self.created("g", f", {added}")
        try:
            self.cursor.execute("DROP TABLE IF EXISTS g")
            self.cursor.execute(self.created("g") if is_default else sql)
            self._fill()
            if is_default:
                self.cursor.execute(f"ALTER TABLE g ADD {added}, ALGORITHM=COPY")
        except pymysql.Error:
            return "invalid"
        key, *_, (_, kind) = self._kinds("g")
        theirs = list[tuple]()
        with suppress(UnicodeDecodeError):  # MySQL's documents may have bytes that are no text
            theirs = self._rows("g", [key, ("g", kind)])
        if not theirs:
            return "invalid"
        try:
            definition = self._defined(sql)
            type_ = definition.column("g").type
            ours = self._default(definition) if is_default else generated_column(
                definition.column("g"), definition, lambda name: self.stored(name, definition),
                len(self.rows), sql_mode=self.sql_mode, time_zone=self.time_zone)
        except (ApplierError, NotComputable):
            return "refused"
        except Exception as error:  # a crash is a fault, too
            return f"{sql}: {type(error).__name__}: {error}"
        wanted, known = arrow_values([row[1] for row in theirs], kind, type_, self.flavour), {row[0] for row in theirs}
        is_there = pa.array([row[0] in known for row in self.rows])
        differ = [f"row {key}: {one}, and here {two}" for (key, _), one, two in zip(
            theirs, in_snapshot(wanted), in_snapshot(ours.filter(is_there)), strict=True) if not one.equals(two)]
        if not differ:
            return "alike"
        row = next(row for row in self.rows if differ[0].startswith(f"row {row[0]}:"))
        named = {name: value for (name, _), value in zip(self.kinds, row, strict=True)
                 if re.search(rf"\b{name}\b", expression)}
        return "\n    ".join([f"in {self.charset}: {sql}", f"{named}", *differ[:3]])

    def _fill(self) -> None:
        """Have the rows of t in g, too, without those that it refuses."""
        inserted = f"INSERT INTO g ({', '.join(('k', *self.names))}) SELECT * FROM t"
        for where in ("", *(f" WHERE k = {row[0]}" for row in self.rows)):
            with suppress(pymysql.Error):
                self.cursor.execute(inserted + where)
                if not where:
                    break

    def _defined(self, sql: str) -> TableDefinition:
        [change] = parse_statement(sql, default_database="h_functions", flavour=self.flavour, sql_mode=self.sql_mode,
                                   time_zone=self.time_zone)
        assert isinstance(change, CreateTable)
        return change.definition

    def _default(self, definition: TableDefinition) -> pa.Array:
        """The values of a column that an ALTER adds; a MariaDB that copies computes constants before it has a table."""
        column = definition.column("g")
        is_once = self.flavour == "mariadb" and not column.type.entry.prefix and not has_columns(
            str(column.default and column.default.text))
        session = Session(self.flavour, self.sql_mode, self.time_zone, made_in="utf8mb4" if is_once else None,
                          server_version=self.version)
        return completed(column, definition, lambda name: self.stored(name, definition), len(self.rows), session)

    def _kinds(self, table: str) -> list[tuple[str, str]]:
        self.cursor.execute("SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = "
                            f"'h_functions' AND table_name = '{table}' ORDER BY ordinal_position")
        return list(self.cursor.fetchall())

    def _rows(self, table: str, kinds: list[tuple[str, str]]) -> list[tuple]:
        """Values as the server shows them, TIMESTAMP in UTC."""
        self.cursor.execute("SET time_zone = '+00:00'")
        shown = ", ".join(_shown(name, kind) for name, kind in kinds)
        self.cursor.execute(f"SELECT {shown} FROM {table} ORDER BY k")
        rows = list(self.cursor.fetchall())
        self.cursor.execute(f"SET time_zone = '{self.time_zone}'")
        return rows


def _shown(name: str, kind: str) -> str:
    if kind.startswith(_OF_BYTES):
        return f"HEX({name})"
    if kind.startswith("double("):  # the one that a SELECT shows
        return f"CAST({name} AS CHAR) * 1e0"
    return name + " * 1e0" * kind.startswith(("float", "double"))


def arrow_values(values: list, kind: str, type_: ColumnType, flavour: str) -> pa.Array:
    """The values that a server shows, as a snapshot has them, with placeholders."""
    wanted = arrow_type(type_)
    if kind.startswith(_OF_BYTES):
        data = pa.array([None if value is None else bytes.fromhex(value) for value in values], pa.binary())
        return data if pa.types.is_binary(wanted) else exact_text(data, type_.charset or "utf8mb4", flavour)
    if kind == "json":
        return pa.array(values, wanted)
    cells = pa.array([None if value is None or (one := cell(kind, value)) is None else str(one) for value in values])
    if pa.types.is_timestamp(wanted):
        return cells.cast(pa.string()).cast(pa.timestamp("us")).cast(pa.int64()).cast(wanted)
    return cells.cast(pa.string()).cast(pa.int64() if pa.types.is_duration(wanted) else wanted).cast(wanted)


def in_snapshot(values: pa.Array) -> pa.Array:
    """Null for what is zero in a date, and durations as numbers, as they compare."""
    if not may_have(values.type):
        return values.cast(pa.int64()) if pa.types.is_duration(values.type) else values
    first = BEFORE_ALL_DAYS * (1 if pa.types.is_date(values.type) else DAY)
    return pc.if_else(pc.less(values.cast(pa.int32() if first == BEFORE_ALL_DAYS else pa.int64()), first), None, values)


def compare(url: str, given: argparse.Namespace) -> bool:
    """Compare on one server; whether anything differs."""
    differs = False
    with opened(url, "h_functions", conv={}) as (cursor, flavour, version):
        for number, (mode, zone) in enumerate(SESSIONS[flavour]):
            cursor.execute(f"SET sql_mode = '{mode}', time_zone = '{zone}'")
            found = Counter[str]()
            values = Values(random.Random(f"{given.seed} {number}"), flavour)
            expressions = Expressions(values, given.nested)
            GRAMMARS[flavour](values, tuple(map(int, version.split(".")))).add_to(expressions)
            for count in range(given.count):
                if count % EXPRESSIONS == 0:
                    table = Table(cursor, values, flavour, version, mode, zone)
                is_default = values.chance(given.defaults)
                answer = table.compared(*expressions.generated(table.named), is_default=is_default)
                if answer not in ("alike", "refused", "invalid"):
                    print(f"{url} {mode!r} {zone}: {answer}", flush=True)
                    answer, differs = "different", True
                found[answer] += 1
            print(f"{url} {mode!r} {zone}: {dict(found)}", flush=True)
    return differs


if __name__ == "__main__":
    run(compare, __doc__, nested=0.12, defaults=0.0)
