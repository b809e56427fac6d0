"""`changes`: the row changes of tables, for any reader of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Unpack, overload

from applier.api.calls.arguments import (
    Key,
    KeyNames,
    PathLike,
    Paths,
    Place,
    Tables,
    Time,
    Watcher,
    keys_of_rows,
    table_filter,
    watcher,
)
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.api.streams import Stream
from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError, worded
from applier.io.encryption.keys import Keys
from applier.options import ChangesOptions
from applier.options.verbs import CHANGES
from applier.schema.table_filter import TableFilter, one_table
from applier.snapshot.manifest import BinlogPosition

if TYPE_CHECKING:
    from applier.jobs.changes.change_feed import ChangeFeed
    from applier.jobs.changes.job import ChangeLog
    from applier.option_texts import KeyValues
    from applier.schema.ddl.schema_changes import TableName


class Changes(Stream):
    """The changes of a table in commit order; an update is two rows, before and after.

    Record batches for any consumer of Arrow streams: DuckDB, Polars, pandas, pyarrow. Memory is bounded, except for
    complete changes, and a consumer that stops early reads no more of the log.
    """

    def __init__(self, feed: ChangeFeed) -> None:
        super().__init__(feed)
        self._position = feed.position

    @property
    def position(self) -> BinlogPosition:
        """The end of the part of the log that was read; pass it as `after` to continue there."""
        return self._position


class TableChanges(Mapping[str, Changes]):
    """The changes of several tables in one part of the log, by name of the table, as "shop.orders".

    The log is outlined once for all of them. `_commit_version` and `_seq` order the changes of different tables.
    """

    def __init__(self, log: ChangeLog, tables: Sequence[TableName], columns: tuple[str, ...] | None = None,
                 keys: KeyValues | None = None, *, statements: bool = False, notes: tuple[str, ...] = ()) -> None:
        self._log, self._tables, self._notes = log, {".".join(name): name for name in tables}, notes
        self._columns, self._keys, self._statements = columns, keys, statements

    @property
    def position(self) -> BinlogPosition:
        """The end of the part of the log that was read; pass it as `after` to continue there."""
        return self._log.ends_at

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: a missing beginning of the archive, a torn end, tables without changes."""
        return tuple(map(worded, (*self._log.notes, *self._notes)))

    def __getitem__(self, table: str) -> Changes:
        feed = self._log.feed(self._tables[table], self._columns, self._keys)
        return Changes(feed.with_statements() if self._statements else feed)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} up to {self.position}: {', '.join(self)}>"


@overload
def changes(
    binlogs: Paths,
    table: str,
    *,
    columns: Sequence[str] | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    start: Place | Time | None = None,
    after: Place | Time | None = None,
    stop: Place | Time | None = None,
    gtids: str | GtidSet | None = None,
    exclude_gtids: str | GtidSet | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    thread_ids: Iterable[int] = (),
    key: Key | list[Key] | None = None,
    define_from_log: bool = False,
    system_time_zone: str | None = None,
    ignore_foreign_keys: bool = False,
    complete: bool = False,
    statements: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Changes: ...


@overload
def changes(
    binlogs: Paths,
    *,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    columns: Sequence[str] | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    start: Place | Time | None = None,
    after: Place | Time | None = None,
    stop: Place | Time | None = None,
    gtids: str | GtidSet | None = None,
    exclude_gtids: str | GtidSet | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    thread_ids: Iterable[int] = (),
    key: Key | list[Key] | None = None,
    define_from_log: bool = False,
    system_time_zone: str | None = None,
    ignore_foreign_keys: bool = False,
    complete: bool = False,
    statements: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> TableChanges: ...


@public(CHANGES)
def changes(
    binlogs: Paths,
    table: str | None = None,
    *,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    columns: Sequence[str] | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    start: Place | Time | None = None,
    after: Place | Time | None = None,
    stop: Place | Time | None = None,
    gtids: str | GtidSet | None = None,
    exclude_gtids: str | GtidSet | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    thread_ids: Iterable[int] = (),
    key: Key | list[Key] | None = None,
    define_from_log: bool = False,
    system_time_zone: str | None = None,
    ignore_foreign_keys: bool = False,
    complete: bool = False,
    statements: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Changes | TableChanges:
    """Read the row changes of tables from binlogs, as columns, in commit order: with `table` as Changes, else as
    TableChanges.

    >>> changes = applier.changes("backup", "shop.orders", columns=["id", "status"]).to_arrow()
    >>> changes["_change_type"].value_counts().to_pylist()[0]
    {'values': 'insert', 'counts': 2227}
    >>> changes.slice(0, 1).select(["id", "status", "_gtid", "_pos"]).to_pylist()
    [{'id': 1, 'status': 'new', '_gtid': '20810cc3-e548-11f1-a5e4-02fc00000001:14', '_pos': 115895}]
    >>> several = applier.changes("backup", tables=["shop.orders", "shop.st*"])
    >>> {name: changes.to_arrow().num_rows for name, changes in several.items()}
    {'shop.orders': 5172, 'shop.stock': 11506}

    {arguments}

    Each change has `_change_type` (insert, update_preimage, update_postimage, delete), `_commit_version` (the total
    order of the archive's transactions), `_seq` (the order of the changes in a transaction), `_commit_timestamp`,
    `_gtid`, `_server_id`, `_thread_id` (null if the log does not have it, as before MariaDB 11.5), `_file`, `_pos`,
    `_row`, `_present`: the columns in the log, if it does not have the whole row; and `_diffs`: the JSON diffs that
    MySQL logs instead of documents (PARTIAL_JSON), as SQL by column in a JSON object. Such a column is null and not in
    `_present`; complete changes have its document.
    `_commit_version` and `_seq` identify a change, whatever part of the log is read and with which filters; the two
    rows of an update have the same. `_pos` does not identify it: a compressed transaction of MySQL has one position. A
    statement that changes rows outside the log is one change without values: truncate (the table was emptied or
    dropped) or alter (its values were converted; complete changes then list all its rows, as inserts).

    The result has the columns of all versions of the table. A renamed column has its last name, and a column whose
    type changed has a type that can hold both (INT and BIGINT: int64). If there is none, as for INT and VARCHAR, or
    the types are of different kinds, such as DECIMAL and INT, the earlier column is separate, NAME__1 (the next one
    NAME__2). In rows of a version without a column, the column is null.

    Raises ApplierError as `replay` does before it applies anything; ArchiveError for damage found while reading; and,
    for complete changes, ReplayStopped where a replica would stop. A program that reads the stream through
    Arrow's C interface, such as DuckDB or Polars, raises its own error, whose text begins with the class of ours.
    """
    from applier.jobs.changes.job import ChangeLog

    if table is not None and (tables is not None or ignore_tables is not None):
        raise UsageError("`table` is one table, and `tables` and `ignore_tables` choose several",
                         hint="give tables=[…], or table alone")
    filter = table_filter(tables, ignore_tables) if table is None else TableFilter((one_table(table),))
    log = ChangeLog(options_of(ChangesOptions, CHANGES, locals()), watcher(progress), filter=filter)
    changed = [] if table is not None else log.tables(filter)
    named = {(one, name) for one, name in filter.tables if isinstance(one, str) and isinstance(name, str)}
    several = TableChanges(log, sorted({*changed, *named}), None if columns is None else tuple(columns),
                           keys_of_rows(key), statements=statements, notes=tuple(
                               f"--tables {entry}: no change is of such a table"
                               for entry in filter.without_match(changed)))
    found = [*several.values()]  # of all tables, so that errors come now
    return several if table is None else found[0]
