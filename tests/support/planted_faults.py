"""Logs that contradict what a replay makes of them: a fault of each kind, planted in the log or in the base."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from applier.binlog.events.format import SQL_FOREIGN_KEY_FLAG
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

TABLE = "id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20)"
CHILD = "id INT NOT NULL PRIMARY KEY, r INT, n INT, FOREIGN KEY (r) REFERENCES d.p (id) ON UPDATE {}"


class Log:
    """A log of small tables, a method a transaction."""

    def __init__(self, path, flavour="mysql"):
        self.path, self.flavour, self.definitions = path, flavour, {}
        self.writer = BinlogWriter(path, flavour=flavour)
        self.writer.query("CREATE DATABASE d")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.writer.close()

    def table(self, columns, name="t"):
        sql = f"CREATE TABLE d.{name} ({columns}) ENGINE=InnoDB"
        self.writer.query(sql)
        self.define(columns, name)

    def define(self, columns, name="t"):
        """Set the definition of the source's table from here on, whatever statement made it."""
        sql = f"CREATE TABLE d.{name} ({columns}) ENGINE=InnoDB"
        self.definitions[name] = parse_statement(sql, flavour=self.flavour)[0].definition

    def change(self, before=None, after=None, name="t", names=None, *, after_names=None, cascaded=False):
        """One change of one row, with the columns in `names` only, or of the after-image those in `after_names`; where
        its transaction begins. `cascaded`: a foreign key made it, as MySQL 9.6 and newer log."""
        definition, begin = self.definitions[name], self.writer.position
        images = []
        for row, wanted in ((before, names), (after, after_names or names)):
            columns = None if row is None else dict(zip([c.name for c in definition.columns], row, strict=True))
            images.append(None if columns is None else {
                column: pa.array([value], pa.string() if isinstance(value, str) else pa.int32())
                for column, value in columns.items() if wanted is None or column in wanted})
        with self.writer.transaction():
            self.writer.rows((_Cascaded if cascaded else RowChanges)(definition, *images))
        return begin


class _Cascaded(RowChanges):
    def header(self, table_id, flags):
        return super().header(table_id, flags | SQL_FOREIGN_KEY_FLAG)


def replayed(log, output, **options):
    return replay_with(ThisProcess(2), ReplayOptions((str(log),), str(output), **options))


@dataclass(frozen=True)
class Fault:
    """A log, the options of its replay, and the difference that the witness finds."""

    log: Path
    options: dict[str, Any]
    column: str
    logged: str
    held: str


def wrong_base(folder):
    """The base's row is not the source's."""
    with Log(folder / "base.000001") as log:
        log.table(TABLE)
        for key in range(1, 4):
            log.change(after=(key, 10 * key, "x"))
    replayed(log.path, folder / "base")
    with Log(folder / "binlog.000001") as log:
        log.define(TABLE)
        first = log.change(before=(3, 30, "x"), after=(3, 31, "x"))
        log.change(before=(1, 11, "x"), after=(1, 12, "x"))
    options = {"base": str(folder / "base"), "start_position": ("binlog.000001", first), "reapply": True}
    return Fault(log.path, options, "n", "11", "10")


def wrong_default(folder):
    """A column that DDL adds: the replay's default is not the source's."""
    with Log(folder / "binlog.000001") as log:
        log.table(TABLE)
        for key in range(3):
            log.change(after=(key, key, "x"))
        log.writer.query("ALTER TABLE d.t ADD c INT DEFAULT 5")
        log.define(TABLE + ", c INT DEFAULT 7")
        log.change(before=(0, 0, "x", 7), after=(0, 1, "x", 7))
    return Fault(log.path, {}, "c", "7", "5")


def wrong_cascade(folder):
    """The source's children kept the parent's old key, where a foreign key gives them another value here."""
    with Log(folder / "binlog.000001", "mariadb") as log:
        log.table("id INT NOT NULL PRIMARY KEY", "p")
        log.table(CHILD.format("CASCADE"), "c")
        log.change(after=(1,), name="p")
        log.change(after=(7, 1, 0), name="c")
        log.change(before=(1,), after=(5,), name="p")
        log.change(before=(7, 1, 0), after=(7, 1, 1), name="c")
    return Fault(log.path, {}, "r", "1", "5")


def wrong_logged_cascade(folder):
    """The log has what a foreign key did to a child that is not the source's."""
    with Log(folder / "binlog.000001") as log:
        log.table("id INT NOT NULL PRIMARY KEY", "p")
        log.table(CHILD.format("CASCADE"), "c")
        log.change(after=(1,), name="p")
        log.change(after=(7, 1, 3), name="c")
        log.change(before=(7, 1, 4), after=(7, 5, 4), name="c", cascaded=True)
        log.change(before=(1,), after=(5,), name="p", cascaded=True)
        log.change(before=(7, 5, 4), after=(7, 5, 9), name="c")
    return Fault(log.path, {}, "n", "4", "3")


def missed_truncate(folder):
    """In idempotent mode a row replaces one that should be gone, and keeps the values that its image omits."""
    with Log(folder / "binlog.000001") as log:
        log.table(TABLE)
        log.change(after=(1, 1, "old"))  # a TRUNCATE followed, which no file has
        log.change(after=(1, 2, ""), names=("id", "n"))
        log.change(before=(1, 2, "new"), after=(1, 3, "new"))
    return Fault(log.path, {"exec_mode": "idempotent"}, "s", "'new'", "'old'")


def wrong_expression(folder):
    """The source's generated column has another value than the expression gives."""
    columns = "id INT NOT NULL PRIMARY KEY, a INT, g INT AS (a + 1) STORED"
    with Log(folder / "binlog.000001") as log:
        log.table(columns)
        log.change(after=(1, 1, 2))
        log.change(after=(2, 1, 7))
    return Fault(log.path, {}, "g", "7", "2")


FAULTS = {made.__name__.replace("_", " "): made for made in (
    wrong_base, wrong_default, wrong_cascade, wrong_logged_cascade, missed_truncate, wrong_expression)}
