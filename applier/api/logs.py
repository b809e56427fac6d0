"""`locate` and `explain`: what is in binlogs, without replaying them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from applier.api.arguments import KeyNames, PathLike, Paths, Tables, Time, Watcher, point, watcher
from applier.api.job_options import logs, options_of
from applier.api.public import public
from applier.api.snapshots import Snapshot
from applier.binlog.locating.groups import Group
from applier.binlog.locating.place import TIME
from applier.engine import compiling
from applier.io.keys import Keys
from applier.options import ExplainOptions
from applier.options.verbs import EXPLAIN, LOCATE

if TYPE_CHECKING:
    from applier.jobs.explain.job import Explained


@public(LOCATE)
def locate(
    binlogs: Paths,
    *,
    gtid: str | None = None,
    time: str | Time | None = None,
    xid: int | None = None,
    group_id: int | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> tuple[Group, ...]:
    """Find event groups in binlogs, without reading rows.

    >>> [group] = applier.locate("backup", time=datetime(2026, 3, 14, 10, 30, tzinfo=UTC))
    >>> group.file, group.start
    ('binlog.000002', 745606)

    {arguments}

    To stop a replay before a group, give its file and start; after it, its file and end.

    Raises ArchiveError (1236) if there is none.
    """
    from applier.binlog.locating import search
    from applier.binlog.locating.targets import target_of

    archive = [*logs(locals())]
    target = target_of(gtid, None if time is None else point(time, TIME), xid, group_id)
    watch = watcher(progress)
    compiling.ensure("outline", watch)
    return tuple(search.locate(archive, target, watch))


@public(EXPLAIN)
def explain(
    binlogs: Paths,
    *,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    define_from_log: bool = False,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Explained:
    """Say by which key a replay would find the rows of each table, and where definitions come from.

    >>> explained = applier.explain("backup", tables="shop.orders")
    >>> [table.definition.full_name for table in explained.tables]
    ['shop.orders']

    {arguments}

    Raises what a replay would raise before it applies anything.
    """
    from applier.jobs.explain.job import explain as job

    options, watch = options_of(ExplainOptions, EXPLAIN, locals()), watcher(progress)
    compiling.ensure("outline", watch)
    return job(options, watch)
