"""`changes`: the row changes of a table, for any reader of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from applier.api.calls.arguments import Key, KeyNames, PathLike, Paths, Place, Time, Watcher, keys_of_rows, watcher
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.api.streams import Stream
from applier.binlog.events.gtid import GtidSet
from applier.io.encryption.keys import Keys
from applier.options import ChangesOptions
from applier.options.verbs import CHANGES
from applier.schema.table_filter import TableFilter, one_table
from applier.snapshot.manifest import BinlogPosition

if TYPE_CHECKING:
    from applier.jobs.changes.change_feed import ChangeFeed


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


@public(CHANGES)
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
) -> Changes:
    """Read the row changes of a table from binlogs, as columns, in commit order.

    >>> changes = applier.changes("backup", "shop.orders", columns=["id", "status"]).to_arrow()
    >>> changes["_change_type"].value_counts().to_pylist()[0]
    {'values': 'insert', 'counts': 2227}
    >>> changes.slice(0, 1).select(["id", "status", "_gtid", "_pos"]).to_pylist()
    [{'id': 1, 'status': 'new', '_gtid': '20810cc3-e548-11f1-a5e4-02fc00000001:14', '_pos': 115895}]

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

    name = one_table(table)
    log = ChangeLog(options_of(ChangesOptions, CHANGES, locals()), watcher(progress), filter=TableFilter((name,)))
    feed = log.feed(name, None if columns is None else tuple(columns), keys_of_rows(key))
    return Changes(feed.with_statements() if statements else feed)
