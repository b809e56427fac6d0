"""The DDL of a log, and its changes that are logged as statements."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from applier.binlog.locating.sessions import session_of
from applier.binlog.outline.outline import Outline, Statement
from applier.jobs.show.tables import is_about
from applier.jobs.summary.figures import LoggedAsStatements, SummaryStatement
from applier.schema.history.relevance import Relevance
from applier.schema.table_filter import EVERYTHING, TableFilter

MOST_STATEMENTS, MOST_CHARACTERS = 200, 4096
"""Of a summary; of one of its statements."""


@dataclass
class Statements:
    """Takes the statements of outlines, in log order, as `relevance` says. Those of `start_time` or later
    and of these threads (none: all), about tables of `filter`."""

    filter: TableFilter
    start_time: float
    thread_ids: tuple[int, ...] = ()
    found: list[SummaryStatement] = field(default_factory=list)
    n_found: int = 0
    _changes: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def relevance(self) -> Relevance:
        """Which statements outlines are to keep, and which to count."""
        return Relevance(self.filter.wanted, skip_statements=True)

    def add(self, outline: Outline) -> None:
        """Take those of an outline."""
        relevance, flavour = self.relevance, outline.format.flavour
        for table, kinds in outline.skipped.items():
            self._changes.setdefault(table, Counter()).update(kinds)
        for statement in outline.statements:
            relevant = relevance.of(statement, flavour)
            if relevant.skipped is not None:
                table, kind = relevant.skipped
                self._changes.setdefault(table, Counter())[kind] += 1
            elif relevant.is_needed and statement.timestamp >= self.start_time and self._is_about(statement, flavour):
                self._take(outline, statement)

    def _take(self, outline: Outline, statement: Statement) -> None:
        is_shown = len(self.found) < MOST_STATEMENTS
        if not is_shown and not self.thread_ids:
            self.n_found += 1
            return
        described = _described(outline, statement)
        if not self.thread_ids or described.thread_id in self.thread_ids:
            self.n_found += 1
            self.found += [described] * is_shown

    def changes(self) -> tuple[LoggedAsStatements, ...]:
        """Return the changes that are logged as statements, the most first."""
        found = [LoggedAsStatements(table, kind, count) for table, kinds in self._changes.items()
                 for kind, count in kinds.items()]
        return tuple(sorted(found, key=lambda one: (-one.statements, one.table, one.kind)))

    def _is_about(self, statement: Statement, flavour: str) -> bool:
        return self.filter == EVERYTHING or is_about(_text(statement), statement.database, self.filter, flavour)


def _text(statement: Statement) -> str:
    sql = statement.sql
    return sql.decode("utf-8", "backslashreplace") if isinstance(sql, bytes) else sql


def _described(outline: Outline, statement: Statement) -> SummaryStatement:
    session = session_of(outline.uri, statement.position, statement.end)
    context = statement.context
    user = None
    if "invoker_user" in context:
        user = f"'{context['invoker_user']!s}'@'{context.get('invoker_host', '')!s}'"
    return SummaryStatement(outline.name, statement.position, statement.group_start, statement.timestamp,
                            statement.gtid, session.server_id, session.thread_id, user, statement.database,
                            _text(statement)[:MOST_CHARACTERS])
