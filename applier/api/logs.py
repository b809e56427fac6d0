"""`locate` and `explain`: what is in binlogs, without replaying them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from applier.api.arguments import PathLike, Paths, Tables, Time, Watcher, logs, path, point, table_filter, watcher
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.binlog.locating.groups import Group
from applier.binlog.locating.place import TIME
from applier.engine import compiling
from applier.options import ExplainOptions

if TYPE_CHECKING:
    from applier.jobs.explain.job import Explained


@checked
def locate(
    binlogs: Paths,
    *,
    gtid: str | None = None,
    time: str | Time | None = None,
    xid: int | None = None,
    group_id: int | None = None,
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> tuple[Group, ...]:
    """Find event groups in binlogs, without reading rows.

    >>> [group] = applier.locate("backup", time=datetime(2026, 3, 14, 10, 30, tzinfo=UTC))
    >>> group.file, group.start
    ('binlog.000002', 745606)

    binlogs: the archive, whose index is used if it has one.
    gtid: the group of this transaction.
    time: the first group of this time or later, where `replay` stops for it.
    xid: the groups with this number in their XID event.
    group_id: the group with this id, in logs whose events have them.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    To stop a replay before a group, give its file and start; after it, its file and end.

    Raises ArchiveError (1236) if there is none.
    """
    from applier.binlog.locating import search
    from applier.binlog.locating.targets import target_of

    target = target_of(gtid, None if time is None else point(time, TIME), xid, group_id)
    watch = watcher(progress)
    compiling.ensure("outline", watch)
    return tuple(search.locate(list(logs(binlogs, keyring, key_file, key_file_secret)), target, watch))


@checked
def explain(
    binlogs: Paths,
    *,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    define_from_log: bool = False,
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Explained:
    """Say by which key a replay would find the rows of each table, and where definitions come from.

    >>> explained = applier.explain("backup", tables="shop.orders")
    >>> [table.definition.full_name for table in explained.tables]
    ['shop.orders']

    binlogs: the archive, of which only headers, table maps and DDL are read.
    base: the snapshot that a replay would start from.
    schema: a file of CREATE TABLEs of tables that exist before the first binlog.
    tables: only these.
    ignore_tables: all but these.
    define_from_log: whether the log's metadata define tables that nothing else does.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    Raises what a replay would raise before it applies anything.
    """
    from applier.jobs.explain.job import explain as job

    options = ExplainOptions(logs(binlogs, keyring, key_file, key_file_secret),
                             base.uri if isinstance(base, Snapshot) else None if base is None else path(base),
                             None if schema is None else path(schema), table_filter(tables, ignore_tables),
                             define_from_log)
    watch = watcher(progress)
    compiling.ensure("outline", watch)
    return job(options, watch)
