"""`summary`, `locate` and `explain`: inspect binlogs without replaying them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

from applier.api.calls.arguments import KeyNames, PathLike, Paths, Place, Tables, Time, Watcher, point, watcher
from applier.api.calls.job_options import logs, options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.binlog.locating.groups import Group
from applier.binlog.locating.place import TIME
from applier.engine import compiling
from applier.io.encryption.keys import Keys
from applier.jobs.summary.result import Summary
from applier.options import ExplainOptions, SummaryOptions
from applier.options.verbs import EXPLAIN, LOCATE, SUMMARY

if TYPE_CHECKING:
    from applier.jobs.explain.job import Explained

@public(SUMMARY)
def summary(
    binlogs: Paths,
    *,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    start: Place | Time | None = None,
    stop: Place | Time | None = None,
    thread_ids: Iterable[int] = (),
    top: int = 10,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Summary:
    """Sum up binlogs: the largest transactions, rows by table, kind and time, DDL, and the threads that made them.

    >>> summary = applier.summary("backup")
    >>> summary.rows.deletes, summary.transactions
    (662, 2455)
    >>> largest = summary.largest[0]
    >>> print(largest.gtid, largest.words)
    20810cc3-e548-11f1-a5e4-02fc00000001:8 420 inserts into shop.stock, 140 inserts into shop.products
    >>> [table.table for table in summary.tables if table.deletes]
    ['shop.order_items', 'shop.orders', 'shop.carts']
    >>> page = summary.to_html()

    {arguments}

    Memory is bounded by the number of tables, and by the largest transaction.

    Raises ApplierError for unreadable input, as `replay` does; statements do not stop it.
    """
    from applier.jobs.summary.job import summarize

    return summarize(options_of(SummaryOptions, SUMMARY, locals()), watcher(progress))


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
    """Report by which key a replay would find the rows of each table, and where definitions come from.

    >>> explained = applier.explain("backup", tables="shop.orders")
    >>> [table.definition.full_name for table in explained.tables]
    ['shop.orders']

    {arguments}

    Raises the errors that a replay would raise before it applies anything.
    """
    from applier.jobs.explain.job import explain as job

    options, watch = options_of(ExplainOptions, EXPLAIN, locals()), watcher(progress)
    compiling.ensure("outline", watch)
    return job(options, watch)
