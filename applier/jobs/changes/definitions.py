"""The definitions of a log's tables over time, of as many tables as a job needs: the statements on other tables may be
ones that cannot be followed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from applier.errors import ApplierError, SchemaError
from applier.jobs.changes.whole.related_tables import only, related
from applier.options import ChangesOptions, ReplayOptions
from applier.plan.log import read_history
from applier.plan.span import LogSpan, Wanted
from applier.schema.ddl.schema_changes import TableName
from applier.schema.history.history import SchemaHistory
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot.manifest import Snapshot


@dataclass(frozen=True, eq=False)
class LogDefinitions:
    """The definitions of a part of a log. `base` is the snapshot before it, `sql` has CREATE statements of tables that
    are older than the log. With `replaying`, they are those that this replay applies."""

    span: LogSpan
    base: Snapshot | None
    sql: str | None
    options: ChangesOptions
    replaying: ReplayOptions | None

    @cached_property
    def everything(self) -> SchemaHistory | None:
        """The history of all tables, so that statements are parsed once; None if one of them cannot be followed."""
        try:
            return self._read(EVERYTHING.wanted)
        except ApplierError:
            return None

    def wanted(self, filter: TableFilter) -> SchemaHistory:
        """Return the history of the wanted tables, or of all if rows of others pass to them. Raises SchemaError if
        statements on them cannot be followed."""
        try:
            return self._read(filter.wanted)
        except SchemaError:
            if self.everything is None:
                raise
            return self.everything

    def of_table(self, table: TableName) -> SchemaHistory:
        """Return the history of a table, and of those that its foreign keys refer to, or that its rows come from."""
        return self.closure({table})[0]

    def closure(self, names: set[TableName]) -> tuple[SchemaHistory, set[TableName]]:
        """Return the history of these tables, and of those that their foreign keys refer to, or that their rows come
        from; and the names of all of these."""
        while not (more := related(history := self.of(names), names)) <= names:
            names = names | more
        return history, names

    def of(self, names: set[TableName]) -> SchemaHistory:
        """Return the history of these tables. Statements on others need not be understood, unless rows come from
        them."""
        if self.everything is not None and all(EVERYTHING.wanted(*name) for name in names):
            return self.everything.of(self.replayed(only(*names)))
        return self._read(only(*names))

    def replayed(self, wanted: Wanted) -> Wanted:
        """Return a filter for those of the wanted tables that are replayed."""
        if self.replaying is None:
            return wanted
        replayed = self.replaying.filter.wanted
        return lambda database, table: wanted(database, table) and replayed(database, table)

    def _read(self, wanted: Wanted) -> SchemaHistory:
        rewrites = {} if self.replaying is None else dict(self.replaying.rewrites)
        return read_history(self.span, self.replayed(wanted), self.base, self.sql, rewrites,
                            define_from_log=self.options.define_from_log,
                            system_time_zone=self.options.system_time_zone)
