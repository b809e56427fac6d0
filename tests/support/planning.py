"""Logs that the tests of planning share, and a plan of them without a replay."""

from pathlib import Path

import pyarrow as pa

from applier.binlog.outline.outline_pass import outline_file
from applier.plan.cascades import cascades_of
from applier.plan.log import read_history
from applier.plan.span import span_of
from applier.plan.units import changed_versions, divide
from applier.plan.used_tables import used_tables
from applier.schema.ddl.ddl import parse_statement
from applier.schema.table_filter import TableFilter
from applier.snapshot.publish import begin
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter


def table(name="t", columns="id int PRIMARY KEY, a int"):
    [change] = parse_statement(f"CREATE TABLE d.{name} ({columns})", server_charset="utf8mb4")
    return change.definition


class Log(BinlogWriter):
    """A log of tables (id, a), with the positions of its events."""

    def insert(self, definition, *ids, end="commit"):
        """A transaction of one row each; where it begins and ends."""
        start, values = self.position, pa.array(ids, pa.int32())
        with self.transaction(end):
            self.rows(RowChanges(definition, after={"id": values, "a": values}))
        return start, self.position

    def delete(self, definition, *ids):
        """The same of deletes."""
        start, values = self.position, pa.array(ids, pa.int32())
        with self.transaction():
            self.rows(RowChanges(definition, before={"id": values, "a": values}))
        return start, self.position

    def create(self, definition):
        self.query(definition.to_sql(), definition.database)
        return self.position


def plan(folder: Path, paths, *, cores=2, split_bytes=64 << 20, ignored=(), base=None):
    """(span, history, planned versions) of files that continue from a base, if there is one."""
    wanted = TableFilter(ignored=ignored).wanted
    span = span_of([outline_file(str(path), split_bytes=split_bytes) for path in paths])
    history = read_history(span, wanted, base, None)
    used = used_tables(span, history, wanted)
    cascades = cascades_of(history, used, idempotent=False, compressed=False)
    versions = changed_versions(used, history, cascades)
    with begin(str(folder / "out")) as staging:
        divide(versions, base, staging, cores, idempotent=False, cascades=cascades)
    return span, history, versions
