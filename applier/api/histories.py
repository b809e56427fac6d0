"""`history`: every version of every row of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from applier.api.arguments import (
    Key,
    KeyNames,
    PathLike,
    Paths,
    Place,
    Time,
    Watcher,
    keys_of_rows,
    path,
    spark_conf,
    watcher,
)
from applier.api.checked import checked
from applier.api.job_options import options_of
from applier.api.public import public
from applier.api.snapshots import Snapshot
from applier.api.streams import Stream
from applier.io.keys import Keys
from applier.options import ChangesOptions
from applier.options.verbs import HISTORY
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


@public(HISTORY)
def history(
    binlogs: Paths,
    table: str,
    *,
    columns: Sequence[str] | None = None,
    key: Key | list[Key] | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    stop: Place | Time | None = None,
    thread_ids: Iterable[int] = (),
    define_from_log: bool = False,
    statements: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> History:
    """Every version of every row of a table, and from when to when it was valid.

    >>> history = applier.history("backup", "shop.orders", columns=["id", "status"]).to_arrow()
    >>> [(row["status"], row["_change_type"], row["_ended_by"]) for row in history.to_pylist() if row["id"] == 5]
    [('new', 'insert', 'update'), ('cancelled', 'update', None)]
    >>> made = applier.history("backup", "shop.orders").write("lake/orders")
    >>> made.rows, made.position
    (3643, 'binlog.000003:176495')

    {arguments}

    Each version has `_valid_from` and `_valid_to` (null: still valid; a base's rows were there before, it is not known
    since when), `_from_seq` and `_to_seq` (the `_commit_version` of `changes`), `_from_change` and `_to_change` (its
    `_seq`: with the one before, the change that began or ended the version), `_change_type` (what began it: insert,
    update, alter, base), `_ended_by` (update, delete, truncate, drop, alter), `_from_gtid` and `_to_gtid`. The rows as
    of a commit version s are those with `_from_seq <= s AND (_to_seq IS NULL OR _to_seq > s)`: of what a transaction
    made and changed again, only the last version has such an s.

    Raises ApplierError as `changes` does of complete ones.
    """
    from applier.jobs.changes.job import ChangeLog
    from applier.jobs.history.job import row_history

    log = ChangeLog(options_of(ChangesOptions, HISTORY, locals(), complete=True), watcher(progress))
    return History(row_history(log, one_table(table), None if columns is None else tuple(columns), keys_of_rows(key),
                               statements=statements))
