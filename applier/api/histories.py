"""`history`: every version of every row of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from applier.api.arguments import (
    Key,
    PathLike,
    Paths,
    Place,
    Time,
    Watcher,
    keys,
    logs,
    path,
    spark_conf,
    stop_at,
    watcher,
)
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.api.streams import Stream
from applier.options import ChangesOptions
from applier.schema.table_filter import one_table

if TYPE_CHECKING:
    from applier.jobs.history.job import RowHistory
    from applier.jobs.history.listing import HistoryFiles


class History(Stream):
    """The versions of a table's rows by key, and of each row in the order of time; where DDL gave the table a key that
    does not compare with the one before, first those under that one.

    Record batches for whatever takes Arrow streams: DuckDB, Polars, pandas, pyarrow. The table's rows, and where its
    versions are, are in memory.
    """

    def __init__(self, versions: RowHistory) -> None:
        super().__init__(versions)
        self._versions = versions

    @checked
    def write(self, output: PathLike, *, engine: Literal["local", "auto", "spark"] = "local",
              master: str | None = None, conf: Mapping[str, str] | None = None,
              progress: Watcher | None = None) -> HistoryFiles:
        """Write all versions as Parquet: files of those that have ended, and files of those that are still valid, by
        ranges of the key, which all cores work on.

        output: the directory to make, which is complete or not there.
        engine: threads of this process, Spark, or what suits the work; a master means Spark.
        master, conf: Spark's, as for `replay`.
        progress: called with each Step.

        Raises ApplierError; then there is no output.
        """
        from applier.jobs.on_engine import histories
        from applier.options import HistoryFilesOptions

        options = HistoryFilesOptions(self._versions.places, path(output),
                                      "spark" if master is not None and engine == "local" else engine, master,
                                      spark_conf(conf))
        return histories.write(self._versions, options, watcher(progress))


@checked
def history(
    binlogs: Paths,
    table: str,
    *,
    columns: Sequence[str] | None = None,
    key: Key | list[Key] | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    stop: Place | Time | None = None,
    define_from_log: bool = False,
    statements: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> History:
    """Every version of every row of a table, and from when to when it was valid.

    >>> history = applier.history("backup", "shop.orders", columns=["id", "status"]).to_arrow()
    >>> [(row["status"], row["_change_type"], row["_ended_by"]) for row in history.to_pylist() if row["id"] == 5]
    [('new', 'insert', 'update'), ('cancelled', 'update', None)]
    >>> made = applier.history("backup", "shop.orders").write("lake/orders")
    >>> made.rows, made.position
    (3643, 'binlog.000003:176495')

    binlogs: the archive.
    table: its name, as "shop.orders".
    columns: only these of its columns.
    key: only the versions of the row with this key, or of several rows, as `changes` takes it and leaves out what
        lacks the key; others are not kept in memory where one key finds all rows.
    base: a snapshot to begin with: its rows are the first versions.
    schema: a file of CREATE TABLEs of tables that exist before the first binlog; of their rows, those are known that
        the log changes, from the before-images of their first changes, which have to be whole.
    stop: a position or a GTID set to stop after, or a time to stop before.
    define_from_log: whether the log's metadata define the table if nothing else does.
    statements: whether to add `_statement`: the SQL that began a version, where the log has it, as `changes` has it.
    unsigned_bigint: what BIGINT UNSIGNED is: decimals, int64 (what does not fit is an error) or uint64.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    Each version has `_valid_from` and `_valid_to` (null: still valid; a base's rows were there before, it is not known
    since when), `_from_seq` and `_to_seq` (the `_commit_version` of `changes`), `_from_change` and `_to_change` (its
    `_seq`: with the one before, the change that began or ended the version), `_change_type` (what began it: insert,
    update, alter, base), `_ended_by` (update, delete, truncate, alter), `_from_gtid` and `_to_gtid`. The rows as of a
    commit version s are those with `_from_seq <= s AND (_to_seq IS NULL OR _to_seq > s)`: of what a transaction made
    and changed again, only the last version has such an s.

    Raises ApplierError as `changes` does of complete ones.
    """
    from applier.jobs.changes.job import ChangeLog
    from applier.jobs.history.job import row_history

    end = stop_at(stop)
    options = ChangesOptions(
        logs(binlogs, keyring, key_file, key_file_secret),
        base.uri if isinstance(base, Snapshot) else None if base is None else path(base),
        None if schema is None else path(schema), None, end.position, end.gtid, end.time, define_from_log,
        complete=True, unsigned_bigint=unsigned_bigint)
    log = ChangeLog(options, watcher(progress))
    return History(row_history(log, one_table(table), None if columns is None else tuple(columns), keys(key),
                               statements=statements))
