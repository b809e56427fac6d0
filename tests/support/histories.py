"""Made-up histories of a few tables, as binlog files and as what a replica holds after each event group.

The model is a dict a table: key to row. A history mixes full and partial images, statements of several rows that may
be about the same row, keys that move, transactions of several tables, rolled back ones, TRUNCATE, DROP and CREATE, and
files.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import TableDefinition
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

DATABASE = "shop"
EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Kind:
    """A column type: its values as a snapshot reads them, and the way to the raw array that the writer takes."""

    sql: str
    values: st.SearchStrategy
    raw: Callable[[list], pa.Array]


def _unsigned(width: int) -> Callable[[list], pa.Array]:
    return lambda values: pa.array(np.array([int(v) for v in values], f"u{width}").view(f"i{width}"))


INT = Kind("int", st.integers(-4, 12) | st.sampled_from([-2**31, 2**31 - 1]), lambda v: pa.array(v, pa.int32()))
BIG = Kind("bigint unsigned", st.sampled_from([0, 1, 2, 2**63 - 1, 2**63, 2**64 - 1]).map(Decimal), _unsigned(8))
SMALL = Kind("smallint unsigned", st.sampled_from([0, 1, 2, 32767, 32768, 65535]), _unsigned(2))
WORD = Kind("varchar(20)", st.text("abé\0", max_size=6), lambda v: pa.array(v, pa.string()))
TEXT = Kind("text", st.text("xyz", max_size=4) | st.just("long " * 60), lambda v: pa.array(v, pa.string()))
BYTES = Kind("varbinary(8)", st.binary(max_size=3), lambda v: pa.array(v, pa.binary()))
MONEY = Kind("decimal(10,2)", st.integers(-300, 300).map(lambda n: Decimal(n).scaleb(-2)),
             lambda v: pa.array(v, pa.decimal128(10, 2)))
DATETIME = Kind("datetime(3)",
                st.integers(-9, 9).map(lambda n: EPOCH + datetime.timedelta(milliseconds=n * 999_999_937)),
                lambda v: pa.array(v, pa.timestamp("us")))
REAL = Kind("double", st.floats(allow_nan=False, width=64), lambda v: pa.array(v, pa.float64()))


@dataclass(frozen=True)
class Table:
    """A table to be: its columns, those of its key, and the defaults of those that an insert may leave out."""

    name: str
    columns: dict[str, Kind]
    key: tuple[str, ...]
    defaults: dict[str, Any]
    primary: bool = True

    @property
    def sql(self) -> str:
        lines = [f"{name} {kind.sql}{self._attributes(name)}" for name, kind in self.columns.items()]
        lines.append(f"{'PRIMARY' if self.primary else 'UNIQUE'} KEY ({', '.join(self.key)})")
        return f"CREATE TABLE {self.name} ({', '.join(lines)}) CHARSET utf8mb4 COLLATE utf8mb4_bin"

    def _attributes(self, name: str) -> str:
        if name not in self.defaults:
            return " NOT NULL"
        value = self.defaults[name]
        return "" if value is None else f" DEFAULT '{value}'"

    def definition(self, flavour: str) -> TableDefinition:
        return _definition(self.sql, flavour)

    def key_of(self, row: dict) -> tuple:
        return tuple(row[name] for name in self.key)

    def image(self, rows: list[dict], names: list[str]) -> dict[str, pa.Array]:
        return {name: self.columns[name].raw([row[name] for row in rows]) for name in self.columns if name in names}


@cache
def _definition(sql: str, flavour: str) -> TableDefinition:
    [change] = parse_statement(sql, default_database=DATABASE, flavour=flavour)
    return change.definition


TABLES = (
    Table("numbered", {"id": INT, "n": INT, "s": WORD, "r": REAL}, ("id",), {"n": None, "s": "none", "r": 1.5}),
    Table("counted", {"u": BIG, "n": INT, "b": BYTES}, ("u",), {"n": 7, "b": None}, primary=False),
    Table("named", {"t": TEXT, "w": WORD, "id": SMALL, "m": DATETIME}, ("w", "id"), {"t": None, "m": None}),
    Table("priced", {"m": DATETIME, "d": MONEY, "b": BYTES}, ("d",), {"b": b"x".decode(), "m": None}),
)
# A table may come back with other columns.
AGAIN = (Table("numbered", {"s": WORD, "id": INT, "extra": MONEY}, ("id",), {"s": "again", "extra": None}),)


@dataclass
class State:
    """The state of a replica: the tables that exist, each with its rows by key."""

    tables: dict[str, tuple[Table, dict[tuple, dict]]] = field(default_factory=dict)

    def copy(self) -> "State":
        return State({name: (table, dict(rows)) for name, (table, rows) in self.tables.items()})

    def rows(self) -> dict[str, list[dict]]:
        """The rows of each table, in no order."""
        return {f"{DATABASE}.{name}": list(rows.values()) for name, (_, rows) in self.tables.items()}


@dataclass
class History:
    """Files, and the state after each event group, at (file name, position)."""

    files: list[Path]
    states: list[tuple[tuple[str, int], State]]

    @property
    def end(self) -> State:
        return self.states[-1][1]


def write_history(draw: Callable, folder: Path, servers: Sequence[int] = (1,)) -> History:
    """Draw a history and write it: what the last one of `servers` logs, where groups come from any of them."""
    flavour = draw(st.sampled_from(["mysql", "mariadb"]))
    gtids = draw(st.sampled_from(["on", "anonymous", "none"] if flavour == "mysql" else ["on", "none"]))
    state, files, states = State(), [folder / "binlog.000001"], []
    log = BinlogWriter(files[0], flavour=flavour, gtids=gtids, checksum=draw(st.booleans()))

    def ended() -> None:
        states.append(((files[-1].name, log.position), state.copy()))

    for table in TABLES:
        log.query(table.sql, DATABASE)
        state.tables[table.name] = table, {}
        ended()
    for step in draw(st.lists(st.sampled_from(["change"] * 8 + ["rollback", "truncate", "drop", "create", "rotate"]),
                              min_size=1, max_size=14)):
        if step == "rotate":
            files.append(folder / f"binlog.{len(files) + 1:06d}")
            log = log.rotate(files[-1])
            continue
        log.server_id = draw(st.sampled_from(servers))
        if step in ("change", "rollback"):
            _transaction(draw, log, state, flavour, keep=step == "change")
        elif not _define(draw, log, state, step):
            continue
        ended()
    log.close()
    return History(files, states)


def _define(draw: Callable, log: BinlogWriter, state: State, step: str) -> bool:
    """A statement of DDL, if there is something to do."""
    missing = [table for table in (*TABLES, *AGAIN) if table.name not in state.tables]
    if not (missing if step == "create" else state.tables):
        return False
    if step == "create":
        table = draw(st.sampled_from(missing))
        log.query(table.sql, DATABASE)
        state.tables[table.name] = table, {}
        return True
    name = draw(st.sampled_from(sorted(state.tables)))
    log.query(f"{step.upper()} TABLE {name}", DATABASE)
    if step == "drop":
        del state.tables[name]
    else:
        state.tables[name] = state.tables[name][0], {}
    return True


def _transaction(draw: Callable, log: BinlogWriter, state: State, flavour: str, *, keep: bool) -> None:
    trial = state.copy()
    with log.transaction(end="commit" if keep else "rollback"):
        for _ in range(draw(st.integers(1, 4))):
            if trial.tables:
                table, rows = trial.tables[draw(st.sampled_from(sorted(trial.tables)))]
                changes = draw(st.sampled_from([_insert, _insert, _update, _delete]))(draw, table, rows, flavour)
                if changes is not None:
                    log.rows(changes)
    if keep:
        state.tables = trial.tables


def _values(draw: Callable, table: Table, names: list[str]) -> dict:
    return {name: draw(table.columns[name].values if table.defaults.get(name, "") is not None
                       else table.columns[name].values | st.none()) for name in names}


def _insert(draw: Callable, table: Table, rows: dict, flavour: str) -> RowChanges | None:
    names = list(table.columns)
    if draw(st.booleans()):
        names = [name for name in names if name not in table.defaults or draw(st.booleans())]
    defaults = {name: value.encode() if table.columns[name] is BYTES and value else value
                for name, value in table.defaults.items()}
    images = []
    for _ in range(draw(st.integers(1, 6))):
        row = defaults | _values(draw, table, names)
        if table.key_of(row) not in rows:
            rows[table.key_of(row)] = row
            images.append(row)
    return RowChanges(table.definition(flavour), after=table.image(images, names)) if images else None


def _update(draw: Callable, table: Table, rows: dict, flavour: str) -> RowChanges | None:
    """Rows one after the other, each onto what the ones before it left; some move to a key that is free then."""
    assigned = draw(st.lists(st.sampled_from(list(table.columns)), min_size=1, unique=True))
    before, after = [], []
    for _ in range(draw(st.integers(1, 5))):
        if not rows:
            break
        key = draw(st.sampled_from(sorted(rows)))
        row = rows[key] | _values(draw, table, assigned)
        if table.key_of(row) != key and table.key_of(row) in rows:
            continue
        before.append(rows.pop(key))
        after.append(row)
        rows[table.key_of(row)] = row
    if not before:
        return None
    everything = list(table.columns)
    return RowChanges(table.definition(flavour),
                      before=table.image(before, draw(st.sampled_from([everything, list(table.key)]))),
                      after=table.image(after, draw(st.sampled_from([everything, assigned]))))


def _delete(draw: Callable, table: Table, rows: dict, flavour: str) -> RowChanges | None:
    if not rows:
        return None
    keys = draw(st.lists(st.sampled_from(sorted(rows)), min_size=1, max_size=4, unique=True))
    gone = [rows.pop(key) for key in keys]
    names = draw(st.sampled_from([list(table.columns), list(table.key)]))
    return RowChanges(table.definition(flavour), before=table.image(gone, names))
