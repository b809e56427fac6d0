"""`history`: every version of every row of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from applier.api.calls.arguments import (
    Key,
    KeyNames,
    PathLike,
    Paths,
    Place,
    Server,
    Time,
    Watcher,
    keys_of_rows,
    path,
    spark_conf,
    watcher,
)
from applier.api.calls.checked import checked
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.api.streams import Stream
from applier.io.encryption.keys import Keys
from applier.options import ChangesOptions
from applier.options.verbs import HISTORY
from applier.schema.table_filter import TableFilter, one_table

if TYPE_CHECKING:
    from applier.jobs.history.job import RowHistory
    from applier.jobs.history.listing import HistoryFiles


class History(Stream):
    """The versions of a table's rows by key, and of each row in time order. If DDL gave the table a key that is not
    comparable with the previous one, the versions under the previous key come first.

    Record batches for any consumer of Arrow streams: DuckDB, Polars, pandas, pyarrow. The table's rows, and the
    locations of its versions, are in memory.
    """

    def __init__(self, versions: RowHistory) -> None:
        super().__init__(versions)
        self._versions = versions

    def side_by_side(self) -> Stream:
        """Return the changes of rows, by key, and of each row in time order, with the old and the new value of each
        column: `old_status`, `new_status`. An insert has no old values, a delete no new ones; an update of the key is
        two rows, since it ends the versions under one key and begins those under another.

        >>> changes = applier.history("backup", "shop.orders", key=5, origins=True).side_by_side().to_arrow()
        >>> [(row["_change_type"], row["old_status"], row["new_status"]) for row in changes.to_pylist()]
        [('insert', None, 'new'), ('update', 'new', 'cancelled')]

        Each has `_change_type`, `_time`, `_commit_version`, `_seq` and `_gtid` as in `changes`; with `origins` also
        `_file`, `_pos` and `_thread`, with `statements` the `_statement` that began a version.

        Raises UsageError for a table without a key, and if `columns` omits columns of the key.
        """
        from applier.jobs.history.side_by_side import SideBySide

        return Stream(SideBySide(self._versions))

    @checked
    def write(self, output: PathLike, *, engine: Literal["local", "auto", "spark"] = "local",
              master: str | None = None, conf: Mapping[str, str] | None = None,
              progress: Watcher | None = None) -> HistoryFiles:
        """Write all versions as Parquet: separate files for versions that have ended and for valid ones, by
        ranges of the key, on all cores.

        output: the directory to create atomically.
        engine: threads of this process, Spark, or whichever suits the work; a master means Spark.
        master, conf: Spark's, as for `replay`.
        progress: called with each Step.

        Raises ApplierError; then the output does not exist.
        """
        from applier.jobs.on_engine import histories
        from applier.options import HistoryFilesOptions

        options = HistoryFilesOptions(self._versions.locations, path(output),
                                      "spark" if master is not None and engine == "local" else engine, master,
                                      spark_conf(conf))
        return histories.write(self._versions, options, watcher(progress))


@public(HISTORY)
def history(
    binlogs: Paths,
    table: str,
    *,
    columns: Sequence[str] | None = None,
    key: Key | list[Key] | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    server: str | Server | None = None,
    defaults_file: PathLike | None = None,
    stop: Place | Time | None = None,
    thread_ids: Iterable[int] = (),
    define_from_log: bool = False,
    system_time_zone: str | None = None,
    statements: bool = False,
    origins: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> History:
    """Return every version of every row of a table, with the time when it was valid.

    >>> history = applier.history("backup", "shop.orders", columns=["id", "status"]).to_arrow()
    >>> [(row["status"], row["_change_type"], row["_ended_by"]) for row in history.to_pylist() if row["id"] == 5]
    [('new', 'insert', 'update'), ('cancelled', 'update', None)]
    >>> made = applier.history("backup", "shop.orders").write("lake/orders")
    >>> made.rows, made.position
    (3643, 'binlog.000003:176495')

    {arguments}

    Each version has `_valid_from` and `_valid_to` (null: still valid; the rows of a base were valid before, since an
    unknown time), `_from_seq` and `_to_seq` (the `_commit_version` of `changes`), `_from_change` and `_to_change` (its
    `_seq`: with the one before, the change that began or ended the version), `_change_type` (what began it: insert,
    update, alter, base), `_ended_by` (update, delete, truncate, drop, alter), `_from_gtid` and `_to_gtid`. The rows as
    of a commit version s are those with `_from_seq <= s AND (_to_seq IS NULL OR _to_seq > s)`: if a transaction made
    several versions of a row, only the last one has such an s.

    Raises ApplierError as `changes` does for complete changes.
    """
    from applier.api.calls.change_logs import opened
    from applier.jobs.history.job import row_history

    options, name = options_of(ChangesOptions, HISTORY, locals(), complete=True), one_table(table)
    with opened(options, server, defaults_file, TableFilter((name,)), watcher(progress)) as log:
        return History(row_history(log, name, None if columns is None else tuple(columns), keys_of_rows(key),
                                   origins=origins, statements=statements))
