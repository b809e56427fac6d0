"""`undo`: what takes transactions back."""

from __future__ import annotations

from typing import Literal

from applier.api.arguments import (
    PathLike,
    Paths,
    Place,
    Tables,
    Time,
    Watcher,
    bound_at,
    chosen_gtids,
    logs,
    path,
    stop_at,
    table_filter,
    watcher,
)
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.jobs.undo.result import Undone
from applier.options import ChangesOptions, UndoOptions


@checked
def undo(
    binlogs: Paths,
    output: PathLike,
    *,
    gtids: str | GtidSet | None = None,
    start: Place | Time | None = None,
    stop: Place | Time | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    where: str | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    until: Place | Time | None = None,
    format: Literal["sql", "binlog"] = "sql",
    on_conflict: Literal["refuse", "skip", "columns", "force"] = "refuse",
    define_from_log: bool = False,
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Undone:
    """Write what takes transactions back on a server: their rows get the values that they had before, and rows that
    others have changed since are found before anything is written.

    >>> undone = applier.undo("backup", "undo.sql", gtids="20810cc3-e548-11f1-a5e4-02fc00000001:1928")
    >>> [(table.name, table.inserted, table.deleted, table.updated) for table in undone.tables]
    [('shop.products', 0, 0, 140)]

    binlogs: the archive, from before the transactions up to where the server stands.
    output: the file to make.
    gtids: the transactions: a set as MySQL writes it, or MariaDB's GTIDs one by one ("0-1-5,0-1-7").
    start: only transactions that begin at this position or later; or a time: of this time or later.
    stop: only transactions that end at this position or before; or a time: of an earlier time.
    tables: only changes to these tables.
    ignore_tables: all but these.
    where: only rows for which this SQL expression on a table's columns is true, before the transactions or after them.
    base: a snapshot to begin with.
    schema: a file of CREATE TABLEs of tables that exist before the first binlog; of their rows, those are known that
        the log changes, from the before-images of their first changes, which have to be whole.
    until: where the server stands, if that is not the end of the archive: a position or a GTID set that it has
        executed, or a time.
    format: sql, or binlog: events with full images, for
        `mysqlbinlog --skip-gtids FILE | mysql`, or `mariadb-binlog FILE | mariadb`.
    on_conflict: what happens if others have changed rows since, have keys of rows that come back, or refer to rows that
        go: refuse, an error that names them; skip: these rows are not undone; columns: of changed ones those columns
        are undone that nobody changed since; force: changed ones are undone as if nobody had.
    define_from_log: whether the log's metadata define the table if nothing else does.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    SQL is one transaction. Each statement changes one row, which it finds by all of its values, and a row that is not
    as the log left it stops all of it.

    Raises UndoRefused; UsageError where the log has none of the transactions; SchemaError where one of them, or a
    statement since, made or altered one of the tables; and what `replay` raises. Of a table or
    partition that was emptied or dropped the rows come back, and the table or partition.
    """
    from applier.jobs.undo import job

    first, last, end = bound_at(start), bound_at(stop), stop_at(until)
    changes = ChangesOptions(
        logs(binlogs, keyring, key_file, key_file_secret),
        base.uri if isinstance(base, Snapshot) else None if base is None else path(base),
        None if schema is None else path(schema), None, end.position, end.gtid, end.time, define_from_log,
        complete=True)
    return job.undo(UndoOptions(
        changes, path(output), format, chosen_gtids(gtids), first.position, last.position, first.time, last.time,
        table_filter(tables, ignore_tables), on_conflict, where), watcher(progress))
