"""Statements that a history does not need: decided for each independently, wherever it is read.

An archive may have millions of statements that do not concern replayed tables: accounts, temporary tables, changes of
rows of other databases as text. A task that outlines a file omits them, by the parser and the rules of the
history; if a decision depends on earlier statements, only the history can make it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from applier.errors import ApplierError
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import Dml, Ignored, SchemaChange, SessionChange
from applier.schema.history.session import LoggedStatement, parse_arguments, sets_replicas_zone, text_of
from applier.schema.history.table_changes import first_wanted, shorten
from applier.schema.name_case import folded_table
from applier.schema.stored_object import NamedObject

LONG = 64 << 10
"""Characters of a statement that is carried as its beginning if that says the same."""
BEGINNING = 4096
_CLOSERS = "", "'", '"', "`", "*/"


@dataclass(frozen=True)
class Relevant:
    """The effect of a statement on a history. If it `is_needed`, only the history can tell; its text may be `sql`.
    `skipped` is the count that it would raise, by table and kind. `stops`: it stops there, whatever came before."""

    is_needed: bool = True
    sql: str | None = None
    skipped: tuple[str, str] | None = None
    stops: bool = False


@dataclass(frozen=True)
class Relevance:
    """Decides by the options of a replay (SchemaHistory's arguments of these names). Plain data, picklable."""

    wanted: Callable[[str, str], bool]
    rewrites: Mapping[str, str] = field(default_factory=dict)
    skip_statements: bool = False
    system_time_zone: str | None = None

    def of(self, statement: LoggedStatement, flavour: str) -> Relevant:
        """Return the effect on a history of a statement that was not rolled back."""
        try:
            changes = self._parse(statement, flavour)
        except ApplierError:
            return Relevant()
        if all(isinstance(change, SessionChange) or (
                isinstance(change, Ignored) and change.what not in ("ALTER SEQUENCE", "OPTIMIZE", "REPAIR")
                and not any(map(self._may_want, change.objects))) for change in changes):
            return self._unneeded(statement, flavour)
        if len(changes) != 1 or not isinstance(dml := changes[0], Dml):
            return Relevant()
        if dml.empties:
            return Relevant()  # it depends on the table's engine
        concerned = first_wanted(dml.tables, self.wanted)
        if concerned is None and first_wanted(dml.tables and tuple(map(folded_table, dml.tables)), self.wanted):
            return Relevant()  # it depends on the server's lower_case_table_names
        if concerned is None:
            return self._unneeded(statement, flavour)
        if self.skip_statements:
            return replace(self._unneeded(statement, flavour), skipped=(concerned, dml.kind))
        return Relevant(stops=True, sql=self._beginning(statement, flavour, dml))

    @staticmethod
    def _unneeded(statement: LoggedStatement, flavour: str) -> Relevant:
        """A statement without an effect of its own; its time zone may have one, without its text."""
        return Relevant(sql="") if sets_replicas_zone(statement, flavour) else Relevant(is_needed=False)

    def _may_want(self, object: NamedObject) -> bool:
        """Return True if a view, trigger, routine or event may be about a wanted table."""
        if object.kind != "VIEW" and object.table is None:
            return True
        names = object.table or (object.database, object.name)
        return self.wanted(*names) or self.wanted(*folded_table(names))

    def _parse(self, statement: LoggedStatement, flavour: str, sql: str | None = None) -> list[SchemaChange]:
        """The changes that a statement makes, without a history's knowledge of databases and of the server, on which no
        exclusion depends."""
        return parse_statement(text_of(statement) if sql is None else sql, flavour=flavour,
                               **parse_arguments(statement, flavour, self.rewrites, self.system_time_zone))

    def _beginning(self, statement: LoggedStatement, flavour: str, dml: Dml) -> str | None:
        """Text that stops a history with the same words as a long statement; None if the statement is none, or its
        beginning alone does not do that."""
        if len(dml.sql) <= LONG:
            return None
        for closer in _CLOSERS:  # the beginning may end within a text, a name or a comment
            sql = dml.sql[:BEGINNING] + closer
            try:
                [change] = self._parse(statement, flavour, sql)
            except (ApplierError, ValueError):
                continue
            if change == Dml(dml.kind, dml.tables, sql) and shorten(sql) == shorten(dml.sql):
                return sql
        return None
