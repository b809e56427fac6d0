"""The job: write a script that reverts chosen transactions.

    archive → the chosen transactions, and the tables that they changed → for each of these: the steps of its rows, from
    the first chosen one to the end → current and restored rows → SQL, or a binlog file → the proof

All changes come from the same steps as complete changes and histories (jobs.changes, jobs.history): so partial
images, JSON diffs, and rows that foreign keys change outside the log are undone like all others.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from applier.engine import compiling
from applier.errors import SchemaError, UsageError
from applier.io.disk.new_files import new_output
from applier.io.progress import Progress, Silent
from applier.jobs.changes.job import ChangeLog
from applier.jobs.changes.whole.first_images import Unknown
from applier.jobs.guarded_sql.log_file import write_log
from applier.jobs.guarded_sql.table_order import needs_checks_off, parents_first
from applier.jobs.history.commits import Commits
from applier.jobs.undo import sql
from applier.jobs.undo.chosen import Chosen, chosen
from applier.jobs.undo.conflict.conflicts import refusal
from applier.jobs.undo.conflict.no_partition import leave_rows_of_no_partition
from applier.jobs.undo.conflict.references import References
from applier.jobs.undo.conflict.taken_keys import leave_taken_keys
from applier.jobs.undo.objects import notes_on_guards, notes_on_triggers
from applier.jobs.undo.proof import proof
from applier.jobs.undo.result import Undone, UndoneTable, transactions_text
from applier.jobs.undo.rows_to_undo import RowsToUndo
from applier.jobs.undo.table_undo import TableUndo, undo_table
from applier.jobs.undo.trace.traced_table import TracedTable
from applier.jobs.undo.unknown_values import check_format, notes_on_unknown, with_known
from applier.options import UndoOptions
from applier.options.running import REFUSE
from applier.schema.ddl.schema_changes import TableName
from applier.schema.stored_object import comments


def undo(options: UndoOptions, log: ChangeLog, progress: Progress | None = None) -> Undone:
    """Write the file that takes transactions of a log back. Raises UndoRefused if others have changed rows since,
    UsageError if the log has none of the transactions, and the errors of a replay of the log."""
    progress = progress or Silent()
    for job in ("diff", "history"):
        compiling.ensure(job, progress)
    found = chosen(log, options)
    begun = log
    if (later := begun.from_first_images(found.tables, Unknown.NULL)) is not log:
        log, found = later, chosen(later, options)
    with TemporaryDirectory(prefix="applier-undo-") as folder:
        tables = parents_first(_tables(log, found, options, Path(folder), progress))
        if log.has_unknown:
            other = begun.from_first_images(found.tables, Unknown.MADE_UP)
            (beside := Path(folder) / "other").mkdir()
            tables = with_known(tables, lambda: _tables(other, chosen(other, options), options, beside, progress))
            check_format(tables, options.format)
        changed = [one for one in tables if one.rows or one.statements]
        checks_off = needs_checks_off(changed, found.definitions)
        guards = sql.guards(changed, found.definitions, checks_off=checks_off)
        first = [statement for one in changed for statement in one.statements]
        with new_output(options.output) as partial:
            events, probes = partial, sql.probes(changed)
            if options.format == "sql":
                what = transactions_text(found.count, found.gtids, found.times)
                with open(partial, "xb") as file:
                    file.writelines(sql.statements(changed, what, comments(found.lost_objects, "Not restored"), guards,
                                                   checks_off=checks_off))
                events, probes = f"{folder}/undo.000001", iter(())
            else:
                first = [f"SET @guard = {guard.sql}" for guard in guards] + first
            try:
                write_log(changed, first, log.flavour, events, checks_off=checks_off, probes=probes)
                shown = proof(changed, events, Path(folder), options.on_conflict)
            except UsageError as error:
                if options.format != "sql":
                    raise
                shown = (f"No proof: {error.message}.",)
        return Undone(options.output, options.format, found.count, found.gtids, found.times,
                      tuple(_undone(one, log.known_by_changes) for one in tables),
                      tuple(conflict for one in tables for conflict in one.conflicts),
                      tuple(conflict for one in tables for conflict in one.undone_anyway),
                      not checks_off,
                      tuple(sql.checks(changed, found.definitions if checks_off else (), log.known_by_changes)), shown,
                      (*log.notes, *found.notes, *notes_on_unknown(tables), *notes_on_triggers(tables, found.objects),
                       *(notes_on_guards(changed, found.objects) if options.format == "sql" else ())),
                      found.lost_objects)


def _tables(log: ChangeLog, found: Chosen, options: UndoOptions, folder: Path, progress: Progress) -> list[TableUndo]:
    """Return the undo of each table. Raises UndoRefused."""
    rows, commits, names = dict[TableName, RowsToUndo](), Commits(), list(found.tables)
    progress.phase("undo", 0, "tables")
    while names:
        name = names.pop(0)
        of_table, task = log.applied(name)
        table = TracedTable(replace(of_table, wanted=found.wanted), task, found.first_version,
                            found.losses.get(name, {}), commits)
        lost = next((one for one in table.losses if one.is_chosen), None)
        if lost is not None and log.may_have_had_rows(name):
            raise SchemaError("the log does not contain the rows that this statement removed: it begins after the "
                              "table was created",
                              file=log.files[lost.end[0]].name, position=lost.end[1],
                              table=".".join(name), hint="give a --base from before the statement")
        rows[name] = RowsToUndo(table, options.on_conflict, options.where)
        progress.update(len(rows))
        if not len(rows[name].chains):
            table.check_that_it_was_not_dropped_again()
        else:
            names += [other for other in found.connected(name) if other not in rows and other not in names]
    for name in found.divided_anew & rows.keys():
        leave_rows_of_no_partition(rows[name])
    references = References(rows)
    while any([references.leave_broken(), *map(leave_taken_keys, rows.values())]):
        pass  # a row that stays may be in the way of others
    tables = [undo_table(one, folder / str(number), found.databases) for number, one in enumerate(rows.values())
              if len(one.chains) or one.table.is_dropped_by_chosen or one.partitions]
    if options.on_conflict == REFUSE and (counts := {one.definition.full_name: one.in_conflict for one in tables
                                                     if one.in_conflict}):
        raise refusal(tuple(conflict for one in tables for conflict in one.conflicts), counts,
                      notes_on_triggers(tables, found.objects))
    return tables


def _undone(table: TableUndo, known_by_changes: Collection[TableName]) -> UndoneTable:
    is_counted = (table.definition.database, table.definition.name) not in known_by_changes
    return UndoneTable(table.definition.full_name, table.inserted, table.deleted, table.updated, table.recreated,
                       () if table.recreated else table.statements, table.same, table.partly, table.in_conflict,
                       table.rows_after if is_counted else None)
