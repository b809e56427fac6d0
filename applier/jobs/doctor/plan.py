"""Checks the plan of a replay: whether definitions are known and fit the log, and what it would cost.

The steps are the replay's own (applier.jobs.replay.planning); nothing is applied. Obstacles that only rows show, such
as a missing row, are found only by a replay.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace

from applier.apply.tables.logged_table import LoggedTable
from applier.engine.choice import Choice, choose, choose_by_work
from applier.engine.room import room_for_pass
from applier.errors import NO_SUCH_TABLE, ApplierError, SchemaError, UnsupportedEvent, UnsupportedStatement, UsageError
from applier.io.encryption.keys import keys_of
from applier.io.packing import is_packed
from applier.jobs.doctor.result import Findings
from applier.jobs.replay.outlining import Pass
from applier.jobs.replay.planning import cascades_in, history_of, tables_of, units_of
from applier.options import DoctorOptions
from applier.plan.notes import check_names, notes_on_charsets, notes_on_columns, notes_on_definitions, notes_on_names
from applier.plan.planned import PlannedVersion
from applier.plan.tasks import BASE_ROWS, TASK_BYTES, core_seconds, log_segments, prefers_shuffle, walking_tasks
from applier.plan.used_tables import UsedTable
from applier.schema.history.history import SchemaHistory
from applier.schema.table_filter import TableFilter

_MOST_TABLES = 100
"""Tables without a definition that are looked for, one after another."""
_NAMED = 5


@dataclass(frozen=True)
class Cost:
    """The cost of a replay by its plan: where it runs, bytes of rows events that it applies, rows in memory in all
    tasks, bytes of copies of packed and encrypted files, and bytes that a shuffle leaves on disk."""

    chosen: Choice
    row_bytes: int
    bytes_at_once: int
    copied_bytes: int
    spilled_bytes: int


def look_at_history(findings: Findings, options: DoctorOptions, part: Pass) -> SchemaHistory | None:
    """Return whether a replay can follow the statements of the log; None if it cannot."""
    try:
        history = history_of(options, part)
    except UnsupportedStatement as error:
        findings.problem("formats", error)
        return None
    except UnsupportedEvent as error:
        findings.problem("events", error)
        return None
    except ApplierError as error:
        findings.problem("definitions", error)
        return None
    if history.skipped:
        kinds: Counter[str] = sum(history.skipped.values(), Counter())
        counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        findings.note("formats", f"changes that are logged as statements are left out: {counts} on "
                      f"{_named(sorted(name or 'tables that are not known' for name in history.skipped))}",
                      "SET GLOBAL binlog_format = ROW on the source, and make a new base")
    else:
        findings.ok("formats", "all changes are logged as rows")
    return history


def look_at_definitions(findings: Findings, options: DoctorOptions, part: Pass,
                        history: SchemaHistory) -> list[UsedTable]:
    """Return whether every table is defined that the log has rows of; returns those that are."""
    undefined, errors, filter = list[str](), list[SchemaError](), options.filter
    used = list[UsedTable]()
    while len(undefined) < _MOST_TABLES:
        try:
            known = replace(options, filter=replace(filter, ignored=(*filter.ignored, *map(_entry, undefined))))
            used = tables_of(known, part, history)
            break
        except SchemaError as error:
            if error.mysql_errno != NO_SUCH_TABLE or error.table is None or error.table in undefined:
                findings.problem("definitions", error)
                return []
            errors.append(error)
            undefined.append(error.table)
        except ApplierError as error:
            findings.problem("definitions", error)
            return []
    if errors:
        findings.problem("definitions", errors[0], f"; nor {_named(undefined[1:])}" if undefined[1:] else "")
    _look_at_names(findings, options.filter, history, used)
    return used


def look_at_columns(findings: Findings, options: DoctorOptions, part: Pass, history: SchemaHistory,
                    used: list[UsedTable]) -> list[PlannedVersion]:
    """Return whether the log's columns fit the definitions (1677), and what foreign keys do is known; returns the
    plan."""
    try:
        cascades = cascades_in(options, part.span, history, used)
        versions = units_of(options, part.base, history, used, cascades, None, _cores())
    except ApplierError as error:
        findings.problem("definitions", error)
        return []
    notes = [*notes_on_definitions(history), *notes_on_columns(used), *notes_on_charsets(history, used)]
    differing = 0
    for item in versions:
        maps = [use.table_map for use in item.uses if len(use.versions) == 1]
        if not item.units or not maps:
            continue
        unit = item.units[0]
        try:
            table = LoggedTable(unit.definition, unit.type_conversions, unit.same_columns)
            for table_map in maps:
                table.bind_table_map(table_map)
        except ApplierError as error:
            differing += 1
            if differing <= _NAMED:
                findings.problem("columns", error)
    for note in notes:
        findings.note("columns", note)
    if not differing and not notes and used:
        findings.ok("columns", "the log's columns have the types of the definitions")
    return versions


def look_at_cost(findings: Findings, options: DoctorOptions, part: Pass, versions: list[PlannedVersion]) -> Cost:
    """Report the cost of a replay of the plan, and where it runs."""
    span, cores = part.span, _cores()
    rows = sum(item.bytes for item in versions)
    tasks = walking_tasks(log_segments(span, versions), versions, cores)
    route = options.route
    if route == "auto":
        route = "shuffle" if prefers_shuffle(span, tasks, versions, True) else "walk"
    seconds = core_seconds(tasks, versions, route, True)
    chosen = choose(options)
    if chosen.engine == "auto":
        chosen = choose_by_work(seconds)
    log = sum(outline.end - outline.start for outline in span.files)
    copied = sum(outline.size for outline in span.files if is_packed(outline.uri) or keys_of(outline.uri) is not None)
    n_bytes = options.pass_bytes or room_for_pass(True)
    passes, tables = -(-log // n_bytes), {item.version.definition.full_name for item in versions}
    findings.ok("cost", f"{log:,} bytes of log, {rows:,} of rows of {len(tables):,} tables: about "
                f"{max(seconds, 0.1):.1f} core seconds, on {cores} cores, by route {route}"
                + (f", in {passes:,} passes" if passes > 1 else ""))
    findings.ok("engine", chosen.engine + (f", as {chosen.why}" if chosen.why else ""))
    held = rows + sum(file.bytes for item in versions for unit in item.units for file in unit.base_files) * BASE_ROWS
    return Cost(chosen, rows, min(cores * TASK_BYTES, held), copied, rows if route == "shuffle" else 0)


def _look_at_names(findings: Findings, filter: TableFilter, history: SchemaHistory, used: list[UsedTable]) -> None:
    """Return whether the tables that the user named exist, and all are defined."""
    names = {(version.definition.database, version.definition.name) for version in history.versions()}
    try:
        check_names(names, filter)
    except UsageError as error:
        findings.problem("tables", error)
    for note in notes_on_names(names, filter):
        findings.note("tables", note)
    if not any(check.name == "definitions" for check in findings.checks):
        tables = {version.definition.full_name for use in used for version in use.versions}
        findings.ok("definitions", f"known of {_count(len(tables))} that the log has rows of")


def _count(tables: int) -> str:
    return "the table" if tables == 1 else f"all {tables:,} tables"


def _entry(table: str) -> tuple[str, str]:
    database, _, name = table.partition(".")
    return database, name


def _named(tables: list[str]) -> str:
    more = f" and {len(tables) - _NAMED:,} more" if len(tables) > _NAMED else ""
    return ", ".join(tables[:_NAMED]) + more


def _cores() -> int:
    return os.cpu_count() or 1
