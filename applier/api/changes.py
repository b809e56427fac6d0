"""`changes`: the row changes of a table, for whatever reads Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from applier.api.arguments import (
    Key,
    PathLike,
    Paths,
    Place,
    Time,
    Watcher,
    bound_at,
    chosen_gtids,
    keys,
    logs,
    path,
    stop_at,
    watcher,
)
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.api.streams import Stream
from applier.binlog.events.gtid import GtidSet
from applier.options import ChangesOptions
from applier.schema.table_filter import one_table


class Changes(Stream):
    """The changes of a table in commit order, an update as two: the row before and the row after.

    Record batches for whatever takes Arrow streams: DuckDB, Polars, pandas, pyarrow. Memory is bounded, but
    for complete changes, and who stops early has read no more.
    """


@checked
def changes(
    binlogs: Paths,
    table: str,
    *,
    columns: Sequence[str] | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    start: Place | Time | None = None,
    stop: Place | Time | None = None,
    gtids: str | GtidSet | None = None,
    exclude_gtids: str | GtidSet | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    key: Key | list[Key] | None = None,
    define_from_log: bool = False,
    ignore_foreign_keys: bool = False,
    complete: bool = False,
    statements: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Changes:
    """Read the row changes of a table from binlogs, as columns, in commit order.

    >>> changes = applier.changes("backup", "shop.orders", columns=["id", "status"]).to_arrow()
    >>> changes["_change_type"].value_counts().to_pylist()[0]
    {'values': 'insert', 'counts': 2227}
    >>> changes.slice(0, 1).select(["id", "status", "_gtid", "_pos"]).to_pylist()
    [{'id': 1, 'status': 'new', '_gtid': '20810cc3-e548-11f1-a5e4-02fc00000001:14', '_pos': 115895}]

    binlogs: the archive.
    table: its name, as "shop.orders".
    columns: only these of its columns; the others are not decoded.
    base: a snapshot that has the table's definition; changes are those after it.
    schema: a file of CREATE TABLEs of tables that exist before the first binlog.
    start: a position to start at, whatever comes before it and wherever the base stands; or a time, to begin with the
        first transaction of this time or later.
    stop: a position or a GTID set to stop after, or a time to stop before.
    gtids: only the changes of these transactions: a set as MySQL writes it, or MariaDB's GTIDs one by one
        ("0-1-5,0-1-7"). Of others, nothing is decoded, but for `complete`. The GTID of an XA COMMIT chooses what it
        commits. `notes` count those that the log does not have.
    exclude_gtids: all changes but those of these transactions. `notes` count those that the log does not have.
    server_ids, ignore_server_ids: only the changes of transactions that come from these servers; none that come from
        these. Of complete changes, what is left out is applied all the same.
    key: only the changes of the row with this value of the primary key, or of the first unique key without NULLs; a
        tuple for a key of several columns, a list for several rows. Values compare as on the server. An update that
        gives a row another key is a change of both. Of other rows, only the key is decoded, but for `complete`. What
        rows were while the table lacked a column of its last key, or had it with a type that made it a column of its
        own (NAME__1), is left out, and `notes` say so.
    define_from_log: whether the log's metadata define the table if nothing else does.
    ignore_foreign_keys: whether to leave out what foreign keys change below the log; else that is an error.
    complete: whether to apply the changes to what was there before, for whole rows before and after each, JSON
        documents instead of diffs, and what foreign keys change (`_cascaded`). The table's rows are then in memory,
        and other transactions and rows may be decoded, too.
    statements: whether to add `_statement`: the SQL behind a change where the log has it (MySQL's with
        binlog_rows_query_log_events, MariaDB's with binlog_annotate_row_events), else null. Changes of a
        compressed transaction have one place in the log: with several statements it has none. A text may be long, and
        is there once for many rows, in a dictionary: cut it before it is copied for each, as by left(_statement, 200).
    unsigned_bigint: what BIGINT UNSIGNED is: decimals, int64 (what does not fit is an error) or uint64.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    Each change has `_change_type` (insert, update_preimage, update_postimage, delete), `_commit_version` (the total
    order of the archive's transactions), `_seq` (the order of the changes in a transaction), `_commit_timestamp`,
    `_gtid`, `_file`, `_pos`, `_row`, and `_present`: where the log has less than the whole row, the columns that it
    has. `_commit_version` and `_seq` identify a change, whatever part of the log is read and with which filters; the
    two rows of an update have the same. `_pos` does not: a compressed transaction of MySQL has one. A statement that
    changes rows below the log is one change without values: truncate (the table was emptied or dropped) or alter (its
    values were converted; complete changes go on with all its rows, as inserts).

    There are the columns of all of the table's versions. One that was renamed has its last name, and one whose type was
    changed has a type with the values of both (INT and BIGINT: int64). Where there is none, as of INT and VARCHAR, or
    they are of another kind, as DECIMAL and INT, the earlier one is a column of its own, NAME__1 (the next one
    NAME__2). A column that a version lacks is null in it.

    Raises ApplierError as `replay` does before it applies anything; ArchiveError for damage while it is read, and, of
    complete changes, ReplayStopped for one that a replica would stop at. A program that reads the stream through
    Arrow's C interface, as DuckDB and Polars, raises an error of its own, whose text begins with the kind of ours.
    """
    from applier.jobs.changes.job import ChangeLog

    begin, end = bound_at(start), stop_at(stop)
    options = ChangesOptions(
        logs(binlogs, keyring, key_file, key_file_secret),
        base.uri if isinstance(base, Snapshot) else None if base is None else path(base),
        None if schema is None else path(schema), begin.position, end.position, end.gtid, end.time, define_from_log,
        ignore_foreign_keys, complete, unsigned_bigint, begin.time, chosen_gtids(gtids),
        exclude_gtids=chosen_gtids(exclude_gtids), server_ids=tuple(server_ids),
        ignore_server_ids=tuple(ignore_server_ids))
    log = ChangeLog(options, watcher(progress))
    feed = log.feed(one_table(table), None if columns is None else tuple(columns), keys(key))
    return Changes(feed.with_statements() if statements else feed)
