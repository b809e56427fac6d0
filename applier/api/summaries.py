"""`summary`: what binlogs did, at a glance."""

from __future__ import annotations

from applier.api.arguments import (
    PathLike,
    Paths,
    Place,
    Tables,
    Time,
    Watcher,
    bound_at,
    logs,
    stop_at,
    table_filter,
    watcher,
)
from applier.api.checked import checked
from applier.jobs.summary.result import Summary
from applier.options import SummaryOptions


@checked
def summary(
    binlogs: Paths,
    *,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    start: Place | Time | None = None,
    stop: Place | Time | None = None,
    top: int = 10,
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Summary:
    """Sum up what binlogs did: the largest transactions, rows by table, kind and time, DDL, and who.

    >>> summary = applier.summary("backup")
    >>> summary.rows.deletes, summary.transactions
    (662, 2455)
    >>> largest = summary.largest[0]
    >>> print(largest.gtid, largest.words)
    20810cc3-e548-11f1-a5e4-02fc00000001:8 420 inserts into shop.stock, 140 inserts into shop.products
    >>> [table.table for table in summary.tables if table.deletes]
    ['shop.order_items', 'shop.orders', 'shop.carts']
    >>> page = summary.to_html()

    binlogs: the archive, of which rows are counted and not decoded; no schema is needed.
    tables: only these.
    ignore_tables: all but these.
    start: a position to start at, or the time of the first transactions that count.
    stop: a position or a GTID set to stop after, or a time to stop before.
    top: how many of the largest transactions are listed.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    Memory is bounded by the number of tables, and by the largest transaction.

    Raises ApplierError for what cannot be read, as `replay` does; statements stop nothing.
    """
    from applier.jobs.summary.job import summarize

    begin, end = bound_at(start), stop_at(stop)
    return summarize(SummaryOptions(
        logs(binlogs, keyring, key_file, key_file_secret), table_filter(tables, ignore_tables),
        start_position=begin.position, start_datetime=begin.time,
        stop_position=end.position, stop_gtid=end.gtid, stop_datetime=end.time, top=top), watcher(progress))
